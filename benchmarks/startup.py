"""The start of `macaw --help` and an empty click group, `macaw asm` and Python with its imports."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import LOWER, Effort, Figure, ratio
from benchmarks.measure import output_of, side_by_side

ROUNDS = 21

_EMPTY = """
import click
@click.group()
def cli(): pass
cli()
"""
_MODULES = """
import sys
from macaw.cli import run_command
run_command(sys.argv[1:])
print(*(name for name in sys.modules if name.split(".")[0] in sys.stdlib_module_names))
"""
_IMPORTS = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    if name != "__main__":
        import_module(name)
"""


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the milliseconds of each start."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "empty.s")
        source.write_text("        .core cp\n        ret\n")
        assemble = ["asm", str(source), "-o", str(Path(name, "empty.elf"))]
        modules = output_of([sys.executable, "-c", _MODULES, *assemble]).split()
        costs = side_by_side(
            {
                "macaw --help": [
                    sys.executable,
                    "-c",
                    "from macaw.cli import main; main()",
                    "--help",
                ],
                "an empty click group's --help": [sys.executable, "-c", _EMPTY, "--help"],
                "macaw asm of an empty program": [sys.executable, "-m", "macaw", *assemble],
                "python with its standard imports": [sys.executable, "-c", _IMPORTS, *modules],
                "python -c pass": [sys.executable, "-c", "pass"],
            },
            effort.rounds(ROUNDS),
        )
    found = {name: tuple(1000 * x.seconds for x in taken) for name, taken in costs.items()}
    for name, values in found.items():
        yield Figure(name, "ms", values, LOWER)
    for ours, theirs in (
        ("macaw --help", "an empty click group's --help"),
        ("macaw asm of an empty program", "python with its standard imports"),
    ):
        yield ratio(ours, "times its peer", found[ours], found[theirs], LOWER, theirs)
