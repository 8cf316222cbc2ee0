"""Compares results of random graphs with a NumPy model of islands, and cycles with predictions.

    python -m tests.lowering.fim.random_graphs --count 100 --seed 0

Each graph is lowered twice: with options chosen in advance, and chosen at run time. Figures are
printed at the end.
"""

from __future__ import annotations

import argparse
import random

import numpy as np

import macaw
from macaw.isa.fim_circuit import FORMATS, NumberFormat
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph, Tensor
from tests.lowering.fim.running import modelled, numpy_type, with_bf16

SIDE = 40  # of a tensor, at most
ONE = ("relu", "sigmoid", "tanh")
TWO = ("add", "sub", "mul")


def made(rng: random.Random, tasks: int, form: int = 0) -> Graph:
    """A random graph of products, functions, gathers, scatters and views."""
    graph = Graph(form)
    there = [graph.tensor(name, rng.randint(1, SIDE), rng.randint(1, SIDE)) for name in "ab"]
    while len(graph.tasks) < tasks:
        x = rng.choice(there[-3:])
        there.append(_next(rng, graph, there, x))
    return graph


def _next(rng: random.Random, graph: Graph, there: list[Tensor], x: Tensor) -> Tensor:
    kind = rng.random()
    if kind < 0.4:
        fitting = [tensor for tensor in there if tensor.rows == x.columns]
        if fitting and rng.random() < 0.5:
            return graph.product(x, rng.choice(fitting))
        return graph.product(x, constant(rng, graph, x.columns, rng.randint(1, SIDE)))
    if kind < 0.6:
        alike = [tensor for tensor in there if (tensor.rows, tensor.columns) == (x.rows, x.columns)]
        other = rng.choice([*alike, constant(rng, graph, x.rows, x.columns, alike=True)])
        sides = [x, other]
        rng.shuffle(sides)
        return graph.pointwise(rng.choice(TWO), *sides)
    if kind < 0.75:
        return graph.pointwise(rng.choice(ONE), x)
    if kind < 0.8:
        return windows(rng, graph, x)
    if kind < 0.85:
        return graph.gather(x, [rng.randrange(x.rows) for _ in range(rng.randint(1, SIDE))])
    if kind < 0.9:
        height = x.rows + rng.randint(0, 9)
        return graph.scatter(x, rng.sample(range(height), x.rows), height)
    return graph.transposed(x) if kind < 0.95 else graph.view(x, x.columns, x.rows)


def windows(rng: random.Random, graph: Graph, x: Tensor) -> Tensor:
    """A product whose rows are overlapping segments of a tensor, as in a convolution."""
    width = rng.choice([n for n in (1, 4, 8, 16, 32) if n <= x.numbers])
    step = rng.choice([n for n in (1, 2, 4, 16, x.columns) if n <= x.numbers])
    rows, segments = rng.randint(1, SIDE), rng.randint(1, 4)
    last = (x.numbers - width) // step
    places = [rng.randint(0, last) * step for _ in range(rows * segments)]
    if rng.random() < 0.5:  # one after the other
        places = [(number % (last + 1)) * step for number in range(rows * segments)]
    a = graph.segments(x, places, width, (rows, segments * width))
    return graph.product(a, constant(rng, graph, a.columns, rng.randint(1, SIDE)))


def constant(
    rng: random.Random, graph: Graph, rows: int, columns: int, *, alike: bool = False
) -> Tensor:
    """A constant of numbers of about 1 / sqrt(rows); with `alike`, all rows are equal."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    shape = (1 if alike else rows, columns)
    data = numbers.standard_normal(shape) / (1 if alike else np.sqrt(rows))
    whole = np.broadcast_to(data, (rows, columns)).astype(numpy_type(FORMATS[graph.form]))
    return graph.constant(f"c{len(graph.tensors)}", np.ascontiguousarray(whole))


def checked(seed: int, form: NumberFormat = FORMATS[0]) -> tuple[int, int, int]:
    """Check a random graph; return its predicted and its emulated cycles.

    The third result is the emulated cycles if the program chooses options at run time. For bf16 the
    device is `with_bf16`, and both engines run the program.
    """
    rng = random.Random(seed)
    graph = made(rng, rng.randint(1, 6), FORMATS.index(form))
    numbers, device = np.random.default_rng(seed), with_bf16() if form.name == "bf16" else "base"
    given = {
        tensor.name: numbers.uniform(-1, 1, (tensor.rows, tensor.columns)).astype(numpy_type(form))
        for tensor in graph.inputs
    }
    found = macaw.lower_graph(graph, device=device)
    program = found.assemble()
    done = macaw.run(program, given)
    for name, wanted in modelled(found.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    if form.name == "bf16":
        slow = macaw.run(program, given, engine="reference")
        assert slow.cycles == done.cycles
        for name, array in slow.outputs.items():
            np.testing.assert_array_equal(array.view("u4"), done.outputs[name].view("u4"))
    late = macaw.run(macaw.lower_graph(graph, device=device, dynamic=True).assemble(), given)
    exact = graph.evaluate(given)
    part = 0.02 if form.name == "fp16" else 0.16  # of the greatest number; bf16 has 3 digits less
    for tensor in graph.results:
        most = np.abs(exact[tensor.name]).max()
        np.testing.assert_allclose(
            late.outputs[tensor.name], exact[tensor.name], rtol=0, atol=part * most + 1e-6
        )
    return found.cycles, done.cycles, late.cycles


def main() -> None:
    """Check many graphs, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for seed in range(options.seed, options.seed + options.count):
        try:
            rows.append(checked(seed))
        except (macaw.InputError, LowerError) as error:
            print(f"{seed}: {error}")
    off = sorted(abs(guess - real) / real for guess, real, _ in rows)
    late = sorted(run / real for _, real, run in rows)
    print(f"{len(rows)} graphs, bits and numbers as they shall be")
    print(f"predicted: {off[len(off) // 2]:.2%} off in the middle, at most {off[-1]:.2%}")
    print(f"decided at run time: {late[len(late) // 2]:.2f} times the cycles in the middle")


if __name__ == "__main__":
    main()
