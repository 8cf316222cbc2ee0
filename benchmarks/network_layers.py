"""Layers of networks on the array: emulated dense MACs a second, without bias, with bias, K split.

Each layer is lowered in three forms: sums that start at zero; sums with a bias, relu and
requantise; and the second form with the inputs split over the clusters, which add their partial
sums (split f). The ratio of the cycles says how much of the loss is the split's own. An image is
smaller than in its network if the full size would only make the run longer. Runs are whole: cp and
the dma included. The results of each run are compared with NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import macaw
from benchmarks.figures import HIGHER, Effort, Figure, count, ratio
from benchmarks.measure import timed
from macaw.emu.device import Device
from macaw.layer_lowering import Lowering
from macaw.lowering import reference

# Name: operation, shape of the weights, side of the image, stride, padding.
Layer = tuple[str, tuple[int, ...], int, int, int]
LAYERS: dict[str, Layer] = {
    "ResNet-50, 7×7 / 2, 3 → 64 at 56²": ("conv2d", (64, 7, 7, 3), 56, 2, 3),
    "ResNet-50, 1×1, 64 → 64 at 28²": ("conv2d", (64, 1, 1, 64), 28, 1, 0),
    "ResNet-50, 1×1, 64 → 256 at 28²": ("conv2d", (256, 1, 1, 64), 28, 1, 0),
    "ResNet-50, 1×1, 256 → 64 at 28²": ("conv2d", (64, 1, 1, 256), 28, 1, 0),
    "ResNet-50, 3×3, 64 → 64 at 28²": ("conv2d", (64, 3, 3, 64), 28, 1, 1),
    "ResNet-50, 3×3, 128 → 128 at 14²": ("conv2d", (128, 3, 3, 128), 14, 1, 1),
    "ResNet-50, 3×3, 256 → 256 at 7²": ("conv2d", (256, 3, 3, 256), 7, 1, 1),
    "ResNet-50, 1×1, 1024 → 256 at 7²": ("conv2d", (256, 1, 1, 1024), 7, 1, 0),
    "MobileNet, 3×3 depthwise, 32 at 48²": ("depthwise", (32, 3, 3), 48, 1, 1),
    "MobileNet, 5×5 depthwise, 64 at 24²": ("depthwise", (64, 5, 5), 24, 1, 2),
    "MobileNet, 1×1, 16 → 96 at 24²": ("conv2d", (96, 1, 1, 16), 24, 1, 0),
    "MobileNet, 1×1, 96 → 24 at 24²": ("conv2d", (24, 1, 1, 96), 24, 1, 0),
}
ROUNDS = 5
SMOKE: dict[str, Layer] = {"1×1, 32 → 8 at 6²": ("conv2d", (8, 1, 1, 32), 6, 1, 0)}
K_SPLIT = "f"
DEEP = 64  # input channels from which a layer is also measured with them split


def lowered(layer: Layer, device: str, bias: bool, split: str | None) -> Lowering:
    """Return the lowered layer, with random weights without zeros.

    With `bias`, the layer has a bias, relu and requantisation; `split` is the split to use.
    """
    operation, shape, side, stride, padding = layer
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 10, shape).astype(np.int8)
    return macaw.lower(
        operation,
        weights,
        image=(side, side),
        stride=stride,
        padding=padding,
        bias=rng.integers(-99, 100, shape[0]).astype(np.int32) if bias else None,
        activation="relu",
        shift=8,
        split=split,
        device=device,
    )


def rates(forms: Sequence[Lowering], rounds: int) -> tuple[list[list[float]], list[int]]:
    """Return the dense MACs a second of each form, one run of each after the other, and its cycles.

    The cycles are those of the last run.
    """
    times: list[list[float]] = [[] for _ in forms]
    cycles = [0] * len(forms)
    programs = [form.assemble() for form in forms]
    for _ in range(rounds):
        for number, (form, program, taken) in enumerate(zip(forms, programs, times, strict=True)):
            device = Device(form.config)
            device.load(program)
            x = np.random.default_rng(2).integers(0, 10, form.product.shapes[0]).astype(np.int8)
            device.write_tensor("x", x)
            taken.append(timed(device.run))
            cycles[number] = device.cycle
            wanted = reference.result(form.product, form.config, x)
            assert np.array_equal(device.read_tensor("y"), wanted)
    found = [
        [form.product.macs / x for x in taken] for form, taken in zip(forms, times, strict=True)
    ]
    return found, cycles


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the rates of each layer in its forms, and their ratios to the rate without a bias."""
    device, layers = ("tiny", SMOKE) if effort.small else ("base", LAYERS)
    for name, layer in layers.items():
        forms = [lowered(layer, device, bias, None) for bias in (False, True)]
        if layer[0] == "conv2d" and layer[1][3] >= DEEP:
            forms.append(lowered(layer, device, True, K_SPLIT))
        yield count(name, "MACs", forms[0].product.macs)
        found, cycles = rates(forms[:2], effort.rounds(ROUNDS))
        others, other_cycles = rates(forms[2:], 1)  # those take long
        found += others
        for column, values in zip(("without bias", "with bias", "split f"), found, strict=False):
            yield Figure(name, column, tuple(x / 1e6 for x in values), HIGHER)
        for column, values in zip(("bias, ratio", "split f, ratio"), found[1:], strict=False):
            yield ratio(name, column, values, found[0], HIGHER, "without bias")
        for more in other_cycles:
            yield Figure(name, "split f, ratio of cycles", (cycles[0] / more,), HIGHER)
