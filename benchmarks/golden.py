"""`macaw test` of the sample programs in two processes and in one: wall-clock time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import HIGHER, LOWER, Effort, Figure, ratio

ROUNDS = 5
PROGRAMS = Path(__file__).parents[1] / "programs"
SMALL = "layer or hello"


def seconds(jobs: int, chosen: str) -> float:
    """Return the wall-clock seconds of the command with `jobs` processes, with their start.

    `chosen` is the value of -k; an empty text means all tests.
    """
    command = [sys.executable, "-m", "macaw", "test", str(PROGRAMS), "--jobs", str(jobs)]
    start = time.perf_counter()
    subprocess.run(
        [*command, "-k", chosen] if chosen else command, check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of one process and of two, and the ratio round by round."""
    chosen = SMALL if effort.small else ""
    rounds = [(seconds(1, chosen), seconds(2, chosen)) for _ in range(effort.rounds(ROUNDS))]
    one, two = ([pair[place] for pair in rounds] for place in (0, 1))
    yield Figure("programs", "one process, s", tuple(one), LOWER)
    yield Figure("programs", "two processes, s", tuple(two), LOWER)
    yield ratio("programs", "times one process", one, two, HIGHER, "one process")
