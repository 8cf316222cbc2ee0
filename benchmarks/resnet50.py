"""ResNet-50 on the device `base`: compiled, and run with one image; each layer is compared.

The network is that of the package onnx with random weights (`python -m benchmarks.networks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import macaw
from benchmarks.figures import LOWER, Effort, Figure, Skipped, count
from benchmarks.measure import timed
from benchmarks.models import UnavailableError
from benchmarks.networks import light

ROW, SMALL = "ResNet-50, one image", "digits, one image"
NETWORK = Path(__file__).parents[1] / "programs" / "network"


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the seconds to compile and to run, and the cycles."""
    if effort.small:
        pixels = np.load(NETWORK / "pixels.npy")[:1].transpose(0, 3, 1, 2).astype(np.float32) / 127
        yield from _measured(SMALL, onnx.load(NETWORK / "digits_int8.onnx"), pixels)
        return
    try:
        case = light("resnet50", 0.0)
    except UnavailableError as error:
        yield Skipped(ROW, str(error))
        return
    model = macaw.quantise(case.model, case.samples[1:]).model
    yield from _measured(ROW, model, case.samples[:1])


def _measured(row: str, model: onnx.ModelProto, sample: NDArray[Any]) -> Iterator[Figure]:
    networks: list[macaw.CompiledNetwork] = []
    runs: list[macaw.NetworkRun] = []
    compiled = timed(lambda: networks.append(macaw.compile(model, device="base", name="network")))
    inputs = {model.graph.input[0].name: sample}
    seconds = timed(lambda: runs.append(networks[0].run(inputs)))
    layers = runs[0].layers
    equal = sum(layer.equal for layer in layers)
    if equal != len(layers):
        raise SystemExit(f"{row}: {equal} of {len(layers)} layers are equal")
    yield count(row, "layers", equal)
    yield count(row, "device cycles", runs[0].cycles)
    yield Figure(row, "compiled, s", (compiled,), LOWER)
    yield Figure(row, "run, s", (seconds,), LOWER)
