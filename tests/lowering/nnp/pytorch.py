"""Compiles modules of PyTorch for nnp, by way of ONNX. `make test-extras` runs this.

python -m tests.lowering.nnp.pytorch
"""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
import onnx
import torch
from torch import nn

from tests.lowering.nnp.running import check

CLOSE = 0.005  # of the greatest number
DEVICE = "base"


class Attention(nn.Module):  # type: ignore[misc]  # mypy runs without PyTorch
    """An attention of four heads over (steps, width), written with linear layers."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.heads, self.each = heads, width // heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            part(x).reshape(-1, self.heads, self.each).transpose(0, 1) for part in self.parts[:3]
        )
        shares = torch.softmax(q @ k.transpose(1, 2) / self.each**0.5, dim=-1)
        mixed = (shares @ v).transpose(0, 1).reshape(-1, self.heads * self.each)
        result: torch.Tensor = self.parts[3](mixed)
        return result


class Last(nn.Module):  # type: ignore[misc]  # mypy runs without PyTorch
    """A recurrent layer, and a linear layer on the results of the last step."""

    def __init__(self, layer: nn.Module, width: int) -> None:
        super().__init__()
        self.layer, self.linear = layer, nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.softmax(self.linear(self.layer(x)[0][-1]), dim=-1)
        return result


def modules() -> Mapping[str, tuple[nn.Module, torch.Tensor]]:
    """Modules with an input for each, by name."""
    image = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)
    )
    return {
        "perceptron": (
            nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 10), nn.Sigmoid()),
            torch.randn(8, 40),
        ),
        "RNN": (Last(nn.RNN(16, 24), 24), torch.randn(9, 1, 16)),
        "LSTM": (Last(nn.LSTM(16, 40), 40), torch.randn(9, 1, 16)),
        "GRU": (Last(nn.GRU(16, 40), 40), torch.randn(9, 1, 16)),
        "two bidirectional LSTMs": (
            Last(nn.LSTM(16, 20, num_layers=2, bidirectional=True), 40), torch.randn(7, 1, 16),
        ),
        "attention": (Attention(64, 4), torch.randn(12, 64)),
        "image": (image, torch.randn(1, 3, 8, 8)),
    }  # fmt: skip


def exported(module: nn.Module, x: torch.Tensor) -> onnx.ModelProto:
    """Export the module as an ONNX model."""
    stream = io.BytesIO()
    names = {"input_names": ["x"], "output_names": ["y"]}
    torch.onnx.export(module, (x,), stream, dynamo=True, verbose=False, **names)
    return onnx.load_model_from_string(stream.getvalue())


def main() -> None:
    """Run all modules on nnp; compare with concordant software bit by bit, and with PyTorch."""
    torch.manual_seed(1)
    for name, (module, x) in modules().items():
        module.eval()
        made = exported(module, x)
        run = check(made, {"x": x.numpy()}, DEVICE).run
        with torch.no_grad():
            expected = module(x).numpy()
        error = np.abs(run.outputs["y"] - expected).max() / np.abs(expected).max()
        assert error < CLOSE, (name, error)
        print(f"{name}: equal to concordant software; {error:.5f} from PyTorch", flush=True)


if __name__ == "__main__":
    main()
