"""`macaw --help` beside an empty click group's, `macaw asm` beside Python with the same imports."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import middle, output_of, side_by_side, table, target

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


def main() -> None:
    """Measure and print."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have the bytecode of an installation
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
            21,
        )
    found = {name: middle(taken).seconds for name, taken in costs.items()}
    print("### Start\n\nMilliseconds, median of 21.\n")
    print(table(["", "ms"], [[name, f"{1000 * x:.1f}"] for name, x in found.items()]))
    part = found["macaw --help"] / found["an empty click group's --help"]
    print(target(f"{part:.2f} times an empty click group's, at most 1.30", part <= 1.3))
    part = found["macaw asm of an empty program"] / found["python with its standard imports"]
    print(target(f"{part:.2f} times Python with the same imports, at most 2.50", part <= 2.5))


if __name__ == "__main__":
    main()
