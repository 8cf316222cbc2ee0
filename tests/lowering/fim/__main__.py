"""Compares predicted and emulated cycles of random products, for each (island, layout) pair.

    python -m tests.lowering.fim --count 200 --seed 1

A is an input and C an output, both row by row; B is a constant. The test emulates the pair with the
fewest predicted cycles, and pairs within `--within` percent of it.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option
from macaw.lowering.fim.shape import Shape
from tests.lowering.fim.running import BASE, alone, operands, product, rounded, run


def one(shape: Shape, within: float) -> list[tuple[Option, int, bool]]:
    """The options near the best, with their measured cycles and whether C has the right bits."""
    a, b = operands(shape, seed=shape.m)
    graph = product(a, b)
    found = [x for x in options(graph.tasks, BASE) if isinstance(x, Option)]
    least = min(option.total for option in found)
    rows = []
    for option in sorted(found, key=lambda option: option.total):
        if option.total <= least * (1 + within):
            done = run(alone(graph, option), graph, BASE, "base", a=a)
            right = np.array_equal(done.outputs["c"], rounded(a, b, option.layout))
            rows.append((option, done.cycles, right))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--low", type=int, default=16)
    parser.add_argument("--high", type=int, default=256)
    parser.add_argument("--within", type=float, default=30, help="percent")
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    begin, worst, emulated, best, wrong = time.time(), 0.0, 0, 0, 0
    for _ in range(asked.count):
        m, k, n = random.integers(asked.low, asked.high + 1, 3).tolist()
        rows = one(Shape(m, k, n), asked.within / 100)
        emulated += len(rows)
        wrong += sum(not right for _, _, right in rows)
        errors = [abs(option.total / cycles - 1) for option, cycles, _ in rows]
        worst = max(worst, *errors)
        least = min(cycles for _, cycles, _ in rows)
        best += rows[0][1] == least
        text = "; ".join(f"{option.name} {option.total} / {cycles}" for option, cycles, _ in rows)
        print(f"{m} x {k} x {n}: {text}", flush=True)
    print(
        f"{asked.count} products, {emulated} pairs emulated, {wrong} results wrong;"
        f" worst prediction {worst:.3%} off; best pair predicted for {best} ({best / asked.count:.1%});"
        f" {time.time() - begin:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
