"""Six graphs on islands: how much of the time the islands compute.

    python -m benchmarks.fim_graphs

The mean occupancy is the sum of the cycles in which each island executes blocks, divided by the
cycles of the run and the number of islands of `base`. Graphs have random weights; inputs are random.
"At least" is a lower bound of the cycles of any plan with the same options, which counts copies and
blocks: the longest path of dependent tasks, the work of the dma and the islands, or the sum of
these for the stages between tasks that nothing overlaps (`macaw.lowering.fim.bounds`). "At most" is
the occupancy that the plan's blocks would have if the run took only these cycles.

With `--resident BYTES`, the constants that exceed this budget are copied at each run. With `--late`,
each step copies all of its constants when it begins, never while earlier tasks compute, and no step
uses the constants of an earlier one again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.measure import table
from macaw.commands.lower_fim import budget
from macaw.fim_lowering import GraphLowering, GraphMeasurement
from macaw.isa.config import load
from macaw.lowering.fim.graph import Graph, Tensor
from macaw.lowering.fim.planning import Planner


class _Weights:
    """Random constants of a graph, with the variance that keeps sums small."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.random = graph, np.random.default_rng(0)

    def matrix(self, name: str, rows: int, columns: int) -> Tensor:
        numbers = self.random.standard_normal((rows, columns)) / np.sqrt(rows)
        return self.graph.constant(name, numbers.astype(np.float16))

    def row(self, name: str, rows: int, columns: int) -> Tensor:
        """Return a constant of `rows` equal rows of `columns` random numbers."""
        numbers = self.random.standard_normal((1, columns)) / 8
        return self.graph.constant(name, np.repeat(numbers, rows, axis=0).astype(np.float16))


def mlp() -> Graph:
    """Return three layers of 512 outputs with biases and relu, one of 64 outputs; 16 samples."""
    graph = Graph()
    weights, x = _Weights(graph), graph.tensor("x", 16, 512)
    for number, width in enumerate((512, 512, 512, 64)):
        x = graph.product(x, weights.matrix(f"w{number}", 512, width))
        x = graph.pointwise("add", x, weights.row(f"b{number}", 16, width))
        if number < 3:
            x = graph.pointwise("relu", x)
    return graph


def gru(steps: int = 4, size: int = 128, batch: int = 8) -> Graph:
    """Return a GRU of 128 units over four time steps; 8 samples."""
    graph = Graph()
    weights = _Weights(graph)
    w = {side + gate: weights.matrix(side + gate, size, size) for side in "wu" for gate in "rzn"}
    one = graph.constant("one", np.ones((batch, size), np.float16))
    h = graph.tensor("h", batch, size)
    for number in range(steps):
        h = graph.gru(graph.tensor(f"x{number}", batch, size), h, w, one)
    return graph


def lstm(steps: int = 4, size: int = 128, batch: int = 8) -> Graph:
    """Return an LSTM of 128 units over four time steps; 8 samples."""
    graph = Graph()
    weights = _Weights(graph)
    w = {side + gate: weights.matrix(side + gate, size, size) for side in "wu" for gate in "ifgo"}
    h, c = graph.tensor("h", batch, size), graph.tensor("c", batch, size)
    for number in range(steps):
        x = graph.tensor(f"x{number}", batch, size)
        gates = {}
        for gate in "ifgo":
            both = graph.product(x, w["w" + gate]), graph.product(h, w["u" + gate])
            function = "tanh" if gate == "g" else "sigmoid"
            gates[gate] = graph.pointwise(function, graph.pointwise("add", *both))
        kept = graph.pointwise("mul", gates["f"], c)
        c = graph.pointwise("add", kept, graph.pointwise("mul", gates["i"], gates["g"]))
        h = graph.pointwise("mul", gates["o"], graph.pointwise("tanh", c))
    return graph


def attention(heads: int = 4, length: int = 32, width: int = 256) -> Graph:
    """Return attention: four heads, 32 tokens of 256 numbers, a sigmoid in place of a softmax."""
    graph = Graph()
    weights, x, each = _Weights(graph), graph.tensor("x", length, width), width // heads
    parts = []
    for head in range(heads):
        q, k, v = (graph.product(x, weights.matrix(f"{m}{head}", width, each)) for m in "qkv")
        scores = graph.pointwise("sigmoid", graph.product(q, graph.transposed(k)))
        parts.append(
            graph.product(graph.product(scores, v), weights.matrix(f"o{head}", each, width))
        )
    left, right = (graph.pointwise("add", *parts[n : n + 2]) for n in (0, 2))
    graph.pointwise("add", left, right)
    return graph


def _convolution(
    graph: Graph, weights: _Weights, x: Tensor, side: int, name: str, to: int
) -> Tensor:
    """Return the 3 x 3 convolution of `x` with a frame of zeros, plus a bias; `to` channels.

    `x` has shape (side x side, channels).
    """
    channels, wide = x.columns, side + 2
    inside = [(row + 1) * wide + 1 + column for row in range(side) for column in range(side)]
    framed = graph.scatter(x, inside, wide * wide)
    windows = [
        (row + dy) * wide + column + dx
        for row in range(side)
        for column in range(side)
        for dy in range(3)
        for dx in range(3)
    ]
    rows = graph.segments(
        framed, np.asarray(windows) * channels, channels, (side * side, 9 * channels)
    )
    y = graph.product(rows, weights.matrix(f"w{name}", 9 * channels, to))
    return graph.pointwise("add", y, weights.row(f"b{name}", side * side, to))


def resnet(side: int = 8, channels: int = 64) -> Graph:
    """Return a residual block: two 3 x 3 convolutions of 64 channels over 8 x 8, and a sum."""
    graph = Graph()
    weights, x = _Weights(graph), graph.tensor("x", side * side, channels)
    y = graph.pointwise("relu", _convolution(graph, weights, x, side, "0", channels))
    y = graph.pointwise("add", x, _convolution(graph, weights, y, side, "1", channels))
    graph.pointwise("relu", y)
    return graph


def mobilenet(side: int = 8, channels: int = 32, inside: int = 128) -> Graph:
    """Return an inverted residual block over 8 x 8, from 32 channels to 128 and back, and a sum.

    The convolution of the 128 channels is depthwise, 3 x 3.
    """
    graph = Graph()
    weights, count = _Weights(graph), side * side
    x = graph.tensor("x", count, channels)
    y = graph.product(x, weights.matrix("expand", channels, inside))
    y = graph.pointwise("relu", graph.pointwise("add", y, weights.row("b0", count, inside)))
    wide = side + 2
    places = [(row + 1) * wide + 1 + column for row in range(side) for column in range(side)]
    framed, total = graph.scatter(y, places, wide * wide), None
    for tap in range(9):
        dy, dx = divmod(tap, 3)
        shifted = [(row + dy) * wide + column + dx for row in range(side) for column in range(side)]
        part = graph.pointwise(
            "mul", graph.gather(framed, shifted), weights.row(f"tap{tap}", count, inside)
        )
        total = part if total is None else graph.pointwise("add", total, part)
    assert total is not None
    y = graph.pointwise("relu", graph.pointwise("add", total, weights.row("b1", count, inside)))
    y = graph.product(y, weights.matrix("project", inside, channels))
    y = graph.pointwise("add", y, weights.row("b2", count, channels))
    graph.pointwise("add", x, y)
    return graph


GRAPHS: Mapping[str, Callable[[], Graph]] = {
    "MLP": mlp,
    "GRU": gru,
    "LSTM": lstm,
    "attention": attention,
    "MobileNet block": mobilenet,
    "ResNet block": resnet,
}


def occupancy(measured: GraphMeasurement, islands: int) -> float:
    """Return the share of cycles in which islands execute blocks, over all islands."""
    return _busy(measured) / (measured.cycles * islands)


def most(measured: GraphMeasurement, least: int, islands: int) -> float:
    """Return an upper bound of the occupancy, from `least`, a lower bound of the cycles."""
    return min(1.0, _busy(measured) / (least * islands))


def _busy(measured: GraphMeasurement) -> int:
    return sum(step.end - step.begin for step in measured.steps)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=GRAPHS, help="the name of a graph")
    parser.add_argument("--resident", default="50%", help="as of macaw compile --core fim")
    parser.add_argument("--late", action="store_true", help="copy no constants in advance")
    options = parser.parse_args()
    config = load("base")
    islands = config["fim.islands"]
    planner = Planner(config, "graph", resident=budget(options.resident), early=not options.late)
    rows = []
    for name, make in GRAPHS.items():
        if options.only not in (None, name):
            continue
        begin = time.process_time()
        plan, program = planner.best(make())
        lowered = GraphLowering("graph", plan.graph, config, plan, program)
        planned = time.process_time() - begin
        measured = lowered.measure()
        share = occupancy(measured, islands)
        off = abs(lowered.cycles / measured.cycles - 1)
        limit = most(measured, lowered.least_cycles, islands)
        cells = [f"{measured.cycles:,}", f"{lowered.least_cycles:,}", f"{share:.1%}"]
        cells += [f"{limit:.1%}", f"{off:.2%}", f"{planned:.1f}"]
        rows.append([name, *cells])
        print(*rows[-1], f"{measured.error:.2g}", flush=True)
    names = ["graph", "cycles", "at least", "occupancy", "at most", "prediction off"]
    print(table([*names, "planned in, s CPU"], rows))


if __name__ == "__main__":
    main()
