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

ROUNDS = 5
# Each layer has a shape of its own, so that no process can reuse the plan of another layer.
LAYERS, SIDE, CHANNELS = 24, 14, 16
_STEP = 5  # has no factor in common with LAYERS
# Compiles with one process, then prints the wall-clock seconds of the search for plans.
_SEARCH = """
import atexit, sys, time
from macaw import cli
from macaw.lowering.net import layer_plans
choose, seconds = layer_plans.choose_plan, 0.0
def timed(task):
    global seconds
    start = time.perf_counter()
    choice = choose(task)
    seconds += time.perf_counter() - start
    return choice
layer_plans.choose_plan = timed
atexit.register(lambda: print(seconds, file=sys.stderr))
cli.main()
"""


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


def seconds(model: Path, jobs: int) -> float:
    """Return the wall-clock seconds of the command with `jobs` processes, with their start."""
    return _compiled(["-m", "macaw"], model, jobs)[0]


def search_seconds(model: Path) -> tuple[float, float]:
    """Return the wall-clock seconds of the command with one process, and of its search for plans.

    The search is that for the plans of all layers.
    """
    total, text = _compiled(["-c", _SEARCH], model, 1)
    return total, float(text.splitlines()[-1])


def _compiled(start: list[str], model: Path, jobs: int) -> tuple[float, str]:
    """Run the command in Python, with the arguments `start`.

    Return the wall-clock seconds and the standard error. The command writes into a new folder: to
    replace files takes longer, because some file systems then wait for the disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *start, "compile", str(model), "-o", str(Path(folder, "net"))]
        begin = time.perf_counter()
        done = subprocess.run(
            [*command, "--jobs", str(jobs)], check=True, capture_output=True, text=True
        )
        return time.perf_counter() - begin, done.stderr


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of one process, of two, and of the search, and the ratios of a round."""
    layers, side = (2, 6) if effort.small else (LAYERS, SIDE)
    row = f"{layers} convolutions"
    with tempfile.TemporaryDirectory() as name:
        sample = np.random.default_rng(2).normal(size=(1, CHANNELS, side, side))
        model = Path(name, "model.onnx")
        quantised = macaw.quantise(chain(layers, side), [sample.astype(np.float32)])
        onnx.save(quantised.model, model)
        rounds = [
            (seconds(model, 1), seconds(model, 2), *search_seconds(model))
            for _ in range(effort.rounds(ROUNDS))
        ]
    one, two, total, search = zip(*rounds, strict=True)
    # Two processes need at least half of the search, and all other work of one process.
    least = [whole - half / 2 for whole, half in zip(total, search, strict=True)]
    yield Figure(row, "one process, s", one, LOWER)
    yield Figure(row, "two processes, s", two, LOWER)
    yield ratio(row, "times one process", one, two, HIGHER, "one process")
    yield Figure(row, "search for plans, s", search, LOWER)
    yield ratio(row, "at most", total, least, HIGHER, "one process")
