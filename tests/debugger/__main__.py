"""Random walks: `python -m tests.debugger [--count N] [--seed N] [--moves N]`.

Each walk has its own seed. Prints the outcomes. If a walk differs from the oracle, the commands of
the walk are printed, too, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.debugger.walks import Walk

REPORT = 30.0  # seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.debugger", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="walks")
    parser.add_argument("--seed", type=int, default=1, help="of the first one")
    parser.add_argument("--moves", type=int, default=20, help="moves of each")
    parser.add_argument("--all", action="store_true", help="go on after one that differs")
    given = parser.parse_args()
    begin = said = time.monotonic()
    wrong = stops = met = 0
    courses: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.count):
        walk = Walk(seed)
        courses[f"{walk.course.folder} {walk.course.focus}"] += 1
        try:
            walk.go(given.moves)
        except AssertionError as error:
            wrong += 1
            print(f"walk {seed} differs from the oracle:\n{error}\n", flush=True)
            if not given.all:
                return 1
        stops, met = stops + walk.stops, met + walk.met
        if time.monotonic() > said + REPORT:
            said = time.monotonic()
            print(
                f"{sum(courses.values())} walks, {stops} stops, {met} hits, {wrong} differ",
                flush=True,
            )
    seconds = time.monotonic() - begin
    print(f"{given.count} walks, {stops} stops, {met} hits, {wrong} differ, {seconds:.0f} s")
    for name, count in courses.items():
        print(f"    {name:<16} {count}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
