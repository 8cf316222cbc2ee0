"""`macaw --help` beside the help of an empty click group."""

from __future__ import annotations

import sys

from benchmarks.measure import middle, side_by_side, table, target

_EMPTY = """
import click
@click.group()
def cli(): pass
cli()
"""


def main() -> None:
    """Measure and print."""
    costs = side_by_side(
        {
            "macaw --help": [sys.executable, "-c", "from macaw.cli import main; main()", "--help"],
            "an empty click group's --help": [sys.executable, "-c", _EMPTY, "--help"],
            "python -c pass": [sys.executable, "-c", "pass"],
        },
        21,
    )
    found = {name: middle(taken).seconds for name, taken in costs.items()}
    print("### Start\n\nMilliseconds, median of 21.\n")
    print(table(["", "ms"], [[name, f"{1000 * x:.1f}"] for name, x in found.items()]))
    part = found["macaw --help"] / found["an empty click group's --help"]
    print(target(f"{part:.2f} times an empty click group's, at most 1.30", part <= 1.3))


if __name__ == "__main__":
    main()
