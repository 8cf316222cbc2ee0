"""`python -m tests.quick`: choose the tests of `make quick` and write tests/quick.txt.

The recording of `python -m tests.mutants --map` says which test executes which lines of the
product, and for how long. Each choice is the test function that executes most new lines in a
second, so the first tests of the list execute most lines.
"""

from __future__ import annotations

import argparse
import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.mutants.choosing import Lines, RecordedTest
from tests.mutants.paths import LINES, ROOT

LIST = ROOT / "tests" / "quick.txt"
OVERHEAD = 0.02  # seconds of pytest itself for each case
OF_A_FILE = 0.2  # seconds: two processes import it


def functions(tests: Sequence[RecordedTest]) -> list[RecordedTest]:
    """The test functions of Python files, each with the seconds and the lines of all its cases."""
    cases: dict[str, list[RecordedTest]] = defaultdict(list)
    for test in tests:
        if test.file.endswith(".py"):
            cases[test.function].append(test)
    return [
        replace(
            of[0],
            name=name,
            seconds=sum(test.seconds + OVERHEAD for test in of),
            places=np.unique(np.concatenate([test.places for test in of])),
        )
        for name, of in cases.items()
    ]


def choose(
    tests: Sequence[RecordedTest], places: int, budget: float
) -> tuple[list[RecordedTest], int]:
    """Tests within `budget` seconds of processor time, and how many of the `places` they execute."""
    executed = np.zeros(places, bool)
    files: set[str] = set()
    left = dict(enumerate(tests))

    def cost(test: RecordedTest) -> float:
        return test.seconds + (0 if test.file in files else OF_A_FILE)

    def rate(number: int) -> tuple[float, int]:
        """A key for sorting: the test with most new lines in a second comes first."""
        test = left[number]
        return -np.count_nonzero(~executed[test.places]) / cost(test), number

    heap = [rate(number) for number in left]
    heapq.heapify(heap)
    chosen: list[RecordedTest] = []
    while heap:
        _, number = heapq.heappop(heap)
        if number not in left or cost(left[number]) > budget:
            continue
        now = rate(number)
        if now[0] == 0:
            continue
        if heap and now > heap[0]:  # an old estimate: another test may be better now
            heapq.heappush(heap, now)
            continue
        test = left.pop(number)
        budget -= cost(test)
        executed[test.places] = True
        chosen.append(test)
        if test.file not in files:  # its other tests cost less now
            files.add(test.file)
            for other, each in left.items():
                if each.file == test.file:
                    heapq.heappush(heap, rate(other))
    return chosen, int(np.count_nonzero(executed))


def write(tests: Sequence[RecordedTest], path: Path = LIST) -> None:
    """Write a line for each test, in the form that `pytest @FILE` reads."""
    path.write_text("".join(f"{test.name}\n" for test in tests), "utf-8")


def main() -> None:
    """Write the list, and print how many lines its tests execute."""
    parser = argparse.ArgumentParser(prog="python -m tests.quick", description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0, help="of processor time, of all")
    arguments = parser.parse_args()
    lines = Lines(LINES)
    tests = functions(lines.tests)
    chosen, executed = choose(tests, len(lines.numbers), arguments.seconds)
    write(chosen)
    seconds = sum(test.seconds for test in chosen)
    print(
        f"{len(chosen)} of {len(tests)} test functions, {seconds:.0f} s of processor time, execute"
        f" {executed:,} of the {len(lines.numbers):,} lines that all of them execute"
    )


if __name__ == "__main__":
    main()
