"""Measures the figures of docs/scheduling-fim.md and docs/timing-fim.md about whole programs.

    python -m tests.lowering.fim.figures

The figures are emulated cycles. `python -m tests.lowering.fim` and `python -m
tests.lowering.fim.random_graphs` give the other figures of these pages.
"""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.isa import config
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option
from tests.lowering.fim.running import BASE, alone, run
from tests.programs.fim_chain import cycles_of_chain
from tests.programs.fim_programs import run_chain
from tests.programs.scripts import PROGRAMS, script

Numbers = NDArray[np.float16]
RANDOM = np.random.default_rng(0)


def numbers(*shape: int) -> Numbers:
    return (RANDOM.standard_normal(shape) / 4).astype(np.float16)


def pair(m: int, k: int, n: int, p: int) -> tuple[int, int, str, str]:
    """Return cycles of (A B) C in two steps and as a pair, the pair's option, and an error.

    The error is the larger error of the two predictions of cycles, in percent.
    """
    graph = Graph()
    first = graph.product(graph.tensor("a", m, k), graph.constant("b", numbers(k, n)), name="ab")
    graph.product(first, graph.constant("c", numbers(n, p)), name="y")
    a = numbers(m, k)
    copied = macaw.lower_graph(graph, together=False, resident=0)
    apart = macaw.run(copied.assemble(), a=a).cycles
    found = [row for row in options(tuple(graph.tasks), BASE) if isinstance(row, Option)]
    best = min(found, key=lambda option: option.total)
    both = run(alone(graph, best), graph, BASE, "base", a=a).cycles
    off = max(abs(copied.cycles / apart - 1), abs(best.total / both - 1))
    return apart, both, best.name, f"{off:.2%} off"


def cell() -> onnx.ModelProto:
    """A GRU cell of 16 numbers with batch 8, biases, and the previous state as an input."""
    known = {"w": numbers(1, 48, 16), "r": numbers(1, 48, 16), "b": numbers(1, 96)}
    given = {"x": (1, 8, 16), "h": (1, 8, 16)}
    node = helper.make_node(
        "GRU", ["x", "w", "r", "b", "", "h"], ["", "y"], hidden_size=16, linear_before_reset=1
    )
    kind, info = TensorProto.FLOAT, helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "cell", [info(name, kind, shape) for name, shape in given.items()],
        [info("y", kind, (1, 8, 16))],
        [numpy_helper.from_array(x.astype(np.float32), name) for name, x in known.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])


def main() -> None:
    """Print the tables."""
    print("A, B, C: apart, as a producer and a consumer")
    for m, k, n, p in ((33, 20, 17, 40), (64, 64, 64, 64), (100, 30, 64, 30)):
        print(f"{m} x {k}, {k} x {n}, {n} x {p}:", *pair(m, k, n, p))
    print("beforehand, at run time")
    both = [
        macaw.lower_graph(PROGRAMS / "digits_fim" / "digits.onnx", dynamic=dynamic)
        for dynamic in (False, True)
    ]
    images, _ = script("digits_nnp/reference.py").test_set()
    for divider in (BASE["fim.island.3.divider"], 8, 16):
        device = config.load("base").changed({"fim.island.3.divider": divider})
        x = images.reshape(5, 80, 64)[0]
        cycles = [macaw.run(found.assemble(), x=x, device=device).cycles for found in both]
        print(f"digits, island 3 with a divider of {divider}:", *cycles)
    relu = Graph()
    relu.pointwise("relu", relu.tensor("x", 1, 3), name="y")
    print("relu of 3 numbers:", macaw.lower_graph(relu).measure().cycles)
    x, h = numbers(1, 8, 16), numbers(1, 8, 16)
    both = [macaw.lower_graph(cell(), dynamic=dynamic) for dynamic in (False, True)]
    print("a GRU cell:", *(macaw.run(found.assemble(), x=x, h=h).cycles for found in both))
    print("rows of A of a chain: speed-up")
    for rows in (16, 64, 256):
        apart, together = (
            max(time for time, _ in run_chain(rows, one)[0]) for one in (True, False)
        )
        print(f"{rows}: {apart / together:.2f}")
    print("side of a chain: one after the other, together, speed-up")
    for side in (16, 32, 64, 96):
        apart, together = (cycles_of_chain(side, apart=one) for one in (True, False))
        print(f"{side}: {apart} {together} {apart / together:.3f}", flush=True)


if __name__ == "__main__":
    main()
