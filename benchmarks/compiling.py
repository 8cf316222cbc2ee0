"""`macaw compile` of a chain of convolutions in two processes beside one: wall-clock time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import macaw
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, ratio

ROUNDS = 3
# Each layer has a shape of its own, so that no process can reuse the plan of another layer.
LAYERS, SIDE, CHANNELS = 24, 14, 16
_STEP = 5  # has no factor in common with LAYERS


def chain(layers: int, side: int, seed: int = 1) -> onnx.ModelProto:
    """Return a chain of 3×3 convolutions with relu, with random weights, on `side`² positions."""
    rng = np.random.default_rng(seed)
    nodes, constants, name, channels = [], [], "x", CHANNELS
    for number in range(layers):
        outputs = CHANNELS + 4 * (number * _STEP % layers + 1)
        weights = rng.normal(size=(outputs, channels, 3, 3)) / np.sqrt(9 * channels)
        constants.append(numpy_helper.from_array(weights.astype(np.float32), f"w{number}"))
        nodes += [
            helper.make_node("Conv", [name, f"w{number}"], [f"c{number}"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"c{number}"], [f"r{number}"]),
        ]
        name, channels = f"r{number}", outputs
    first = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, CHANNELS, side, side])]
    last = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, side, side])]
    graph = helper.make_graph(nodes, "chain", first, last, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def seconds(model: Path, folder: Path, jobs: int) -> float:
    """Return the wall-clock seconds of the command with `jobs` processes, with their start."""
    output = folder / f"net{jobs}"
    command = [sys.executable, "-m", "macaw", "compile", str(model), "-o", str(output)]
    start = time.perf_counter()
    subprocess.run([*command, "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of one process and of two, and the ratio round by round."""
    layers, side = (2, 6) if effort.small else (LAYERS, SIDE)
    row = f"{layers} convolutions"
    with tempfile.TemporaryDirectory() as name:
        sample = np.random.default_rng(2).normal(size=(1, CHANNELS, side, side))
        model = Path(name, "model.onnx")
        quantised = macaw.quantise(chain(layers, side), [sample.astype(np.float32)])
        onnx.save(quantised.model, model)
        rounds = [
            (seconds(model, Path(name), 1), seconds(model, Path(name), 2))
            for _ in range(effort.rounds(ROUNDS))
        ]
    one, two = ([pair[place] for pair in rounds] for place in (0, 1))
    yield Figure(row, "one process, s", tuple(one), LOWER)
    yield Figure(row, "two processes, s", tuple(two), LOWER)
    yield ratio(row, "times one process", one, two, HIGHER, "one process")
