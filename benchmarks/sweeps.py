"""`macaw sweep` of digits_mlp in two processes and in one: equal points, wall-clock time.

`python -m benchmarks.sweeps 200` measures 200 points once and prints the figures; it writes no
file. The machine must be idle.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figures import HIGHER, LOWER, Effort, Figure, ratio

ROOT = Path(__file__).parents[1]
ROUNDS = 5
PROGRAM, POINTS = "digits_mlp", 10
SMALL = "layer"  # both sweeps of it take 2 s of CPU time, those of digits_mlp 14 s
WIDTHS = (16, 32)  # of the dma; the other setting has half as many values as points


def seconds(program: str, points: int, jobs: int) -> float:
    """Return the wall-clock seconds of a sweep of `points` points of `program`.

    They include the start of the `jobs` processes.
    """
    setups = ",".join(str(1 + n) for n in range(points // len(WIDTHS)))
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "macaw", "sweep", str(ROOT / "programs" / program),
            "--set", f"dma.width={','.join(map(str, WIDTHS))}", "--set", f"dma.setup={setups}",
            "--jobs", str(jobs), "--csv", str(Path(folder, "points.csv")), "--limit", "0",
        ]  # fmt: skip
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = time.perf_counter() - start
        lines = Path(folder, "points.csv").read_text("utf-8").splitlines()
    if len(lines) != points + 1 or any(line.split(",")[3] for line in lines[1:]):
        raise RuntimeError(f"{len(lines) - 1} points instead of {points}, or refused ones")
    return found


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of one process and of two, and the ratio round by round."""
    program, points = (SMALL, 2) if effort.small else (PROGRAM, POINTS)
    one: list[float] = []
    two: list[float] = []
    for _ in range(effort.rounds(ROUNDS)):
        one.append(seconds(program, points, 1))
        two.append(seconds(program, points, 2))
    yield from figures(f"{points} points of {program}", one, two)


def figures(row: str, one: Sequence[float], two: Sequence[float]) -> Iterator[Figure]:
    """Yield the seconds of one process and of two in each round, and their ratio."""
    yield Figure(row, "one process, s", tuple(one), LOWER)
    yield Figure(row, "two processes, s", tuple(two), LOWER)
    yield ratio(row, "times one process", one, two, HIGHER, "one process")


def main(points: int, program: str = PROGRAM) -> None:
    """Print the figures of one sweep of `points` points in two processes and in one."""
    two, one = (seconds(program, points, jobs) for jobs in (2, 1))
    for figure in figures(f"{points} points of {program}", [one], [two]):
        print(f"{figure.name}: {figure.median:.3g}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
