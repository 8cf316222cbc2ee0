"""`macaw sweep` of digits_mlp in two processes beside one: the same points, wall-clock time.

`python -m benchmarks.sweeps 200` measures 200 points, as issue O asks; by default there are 20.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import table, target

ROOT = Path(__file__).parents[1]
POINTS, GOAL = 20, 1.8
WIDTHS = (16, 32)  # of the dma; the other setting has half as many values as there are points


def seconds(points: int, jobs: int) -> float:
    """Wall-clock seconds of a sweep, with the start of its processes."""
    setups = ",".join(str(1 + n) for n in range(points // len(WIDTHS)))
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "macaw", "sweep", str(ROOT / "programs" / "digits_mlp"),
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


def main() -> None:
    """Measure and print."""
    points = int(sys.argv[1]) if len(sys.argv) > 1 else POINTS
    one, two = seconds(points, 1), seconds(points, 2)
    rows = [
        (f"{points} points of digits_mlp, one process", f"{one:.1f} s"),
        (f"{points} points of digits_mlp, two processes", f"{two:.1f} s"),
    ]
    print(table(("", "wall-clock time"), rows))
    ratio = one / two
    print(target(f"two processes at {ratio:.2f} times one (at least {GOAL})", ratio >= GOAL))


if __name__ == "__main__":
    main()
