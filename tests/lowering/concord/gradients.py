"""Tests PyTorch modules of generated files: bits, straight-through gradients, fine-tuning.

    python -m tests.lowering.concord.gradients

It needs PyTorch, and scikit-learn for the training images. `make test-extras` runs it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

import macaw
from macaw.asm.source import Source
from tests.lowering.concord import programs

ROOT = Path(__file__).resolve().parents[3]

CELL = """
        .device tiny
        .setting nnp.vector_bits, {bits}
        .setting nnp.matrix_bits, {bits}
        .input  x, float16, 3, 4, at=netin
        .output y, float16, 3, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 4, 4
        .hint   tensor b, AddSubVrf0, 0, 1, 4
        .hint   tensor s, MulVrf, 0, 1, 4
        .hint   tensor x, NetInQ, 0, 3, 4
        .hint   tensor y, NetOutQ, 0, 3, 4
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 4
        v_wr    AddSubVrf0, 0
        v_rd    Dram, 5
        v_wr    MulVrf, 0
        SetIterations(3)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        vv_mul  0
        v_tanh
        v_wr    NetOutQ
        end_chain
        .data
        .zero   48
"""


def module_of(text, weights):
    space: dict[str, Any] = {"__name__": "layer"}
    exec(text, space)
    return space, space["Layer"](weights)


def random_modules(count: int) -> None:
    """Modules of random programs give the results of their function `layer` without gradients."""
    rng = np.random.default_rng(4)
    compared = 0
    for _ in range(count):
        config = programs.device(rng)
        text = programs.program(rng, config, *programs.lengths(rng))
        found = macaw.concord(macaw.assemble(Source(text, "random.s"), device=config), "torch")
        data = programs.tensors(rng, found)
        space, module = module_of(found.text, {})
        tensors = {name: torch.from_numpy(np.array(x)) for name, x in data.items()}
        try:
            with torch.no_grad():
                plain = space["layer"](**tensors)
        except ValueError:  # a quantiser met a NaN
            continue
        tracked = module(**{k: x.to(torch.float64).requires_grad_() for k, x in tensors.items()})
        for name, value in plain.items():
            other = tracked[name].detach().to(value.dtype)
            same = (value == other) | (value.isnan() & other.isnan())
            assert bool(same.all()), name
            assert bool((value.signbit() == other.signbit())[~value.isnan()].all()), name
            compared += value.numel()
    print(f"{compared} elements of {count} random modules have the bits of the layers")


def gradients() -> None:
    """Gradients are those of the layer at the quantised numbers, as if nothing were rounded."""
    rng = np.random.default_rng(1)
    for bits in (3, 8, 16):
        found = macaw.concord(macaw.assemble(Source(CELL.format(bits=bits), "cell.s")), "torch")
        weights = {n: rng.normal(size=t.shape) / 2 for n, t in found.inputs.items() if n != "x"}
        x = rng.normal(size=(3, 4)).astype(np.float16)
        space, module = module_of(found.text, weights)
        y = module(x=torch.from_numpy(x))["y"]
        y.square().sum().backward()
        with torch.no_grad():
            w = space["requantise_matrix"](module.W.to(torch.float16).to(torch.float64))
            v = space["requantise"](torch.from_numpy(x).to(torch.float64))
        plain = {
            name: torch.tensor(value.astype(np.float16).astype(np.float64), requires_grad=True)
            for name, value in module.weights().items()
        }
        w.requires_grad_()
        total = torch.tanh((v @ w.T + plain["b"]) * plain["s"])
        total.square().sum().backward()
        pairs = ((module.W.grad, w.grad), *((getattr(module, n).grad, plain[n].grad) for n in "bs"))
        for found_gradient, expected in pairs:
            assert torch.allclose(found_gradient.to(torch.float64), expected, rtol=0.01, atol=0.01)
            assert float(expected.abs().max()) > 0.1
    print("gradients are those of the layer without its roundings")


def fine_tuning() -> None:
    """Fine-tuning with three bits raises the accuracy from 78% to at least 95%.

    Prints whether the weights equal the stored weights. Another version of PyTorch may give other
    weights.
    """
    folder = ROOT / "programs/digits_nnp"
    before = dict(np.load(folder / "three_bits.npz"))
    made = Path(tempfile.mkdtemp()) / "three_bits.npz"
    words = [sys.executable, str(folder / "finetune.py"), str(made)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    print(done.stdout, end="")
    assert "before: 78.00%" in done.stdout
    assert float(done.stdout.split("after: ")[1].split("%")[0]) >= 95
    after = dict(np.load(made))
    same = all(np.array_equal(before[name], after[name]) for name in before)
    print(f"the weights are {'those' if same else 'not those'} that are committed")


if __name__ == "__main__":
    gradients()
    random_modules(20)
    fine_tuning()
