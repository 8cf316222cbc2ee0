"""`python -m tests.quick`: choose the tests of `make quick` and write tests/quick.txt.

Takes the recording of `python -m tests.mutants --map`: which test executes which lines of the
product, and for how long. Each test is chosen for the lines a second that no earlier one executes,
so the first tests of the list find most.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.mutants.choosing import Lines, Test
from tests.mutants.paths import LINES, ROOT

LIST = ROOT / "tests" / "quick.txt"
OVERHEAD = 0.02  # seconds of pytest itself for each test


def choose(tests: Sequence[Test], places: int, budget: float) -> tuple[list[Test], int]:
    """Tests within `budget` seconds of processor time, and how many of the `places` they execute."""
    executed = np.zeros(places, bool)
    heap = [(-len(test.places) / (test.seconds + OVERHEAD), n) for n, test in enumerate(tests)]
    heapq.heapify(heap)
    chosen: list[Test] = []
    while heap:
        _, number = heapq.heappop(heap)
        test = tests[number]
        cost = test.seconds + OVERHEAD
        rate = -np.count_nonzero(~executed[test.places]) / cost
        if rate == 0 or cost > budget:
            continue
        if heap and rate > heap[0][0]:  # an estimate of before: others may be better now
            heapq.heappush(heap, (rate, number))
            continue
        budget -= cost
        executed[test.places] = True
        chosen.append(test)
    return chosen, int(np.count_nonzero(executed))


def write(tests: Sequence[Test], path: Path = LIST) -> None:
    """A line a test, in the form that `pytest @FILE` reads."""
    path.write_text("".join(f"{test.name}\n" for test in tests), "utf-8")


def main() -> None:
    """Write the list and say what it is worth."""
    parser = argparse.ArgumentParser(prog="python -m tests.quick", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time, of all")
    arguments = parser.parse_args()
    lines = Lines(LINES)
    tests = [test for test in lines.tests if "\n" not in test.name]
    chosen, executed = choose(tests, len(lines.numbers), arguments.seconds)
    write(chosen)
    seconds = sum(test.seconds for test in chosen)
    print(
        f"{len(chosen)} of {len(tests)} tests, {seconds:.0f} s of processor time, execute"
        f" {executed:,} of the {len(lines.numbers):,} lines that all of them execute"
    )


if __name__ == "__main__":
    main()
