"""`macaw test`: golden folders, recorded and compared."""

from __future__ import annotations

from pathlib import Path

import click

from macaw.errors import DONE, FAILED, WRONG
from macaw.isa.errors import MacawError
from macaw.terminal import console


@click.command("test", short_help="Run golden folders and compare with what was recorded.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option("--update", is_flag=True, help="Record what the programs do now.")
def command(paths: tuple[str, ...], update: bool) -> int:
    """Run every golden folder at and below PATHs and compare with its `expected/`.

    A golden folder has a golden.toml. With --update the results are recorded and the
    changes shown.
    """
    from macaw import golden_tests
    from macaw.terminal.progress_bar import ProgressBar

    folders = list(golden_tests.find(map(Path, paths)))
    failed = wrong = 0
    with ProgressBar("golden tests", len(folders)) as bar:
        for folder in folders:
            try:
                differences = golden_tests.check(folder, update=update)
            except MacawError as error:
                wrong += 1
                print(f"WRONG    {console.printable(str(folder))}")
                _indented(error.message.splitlines())
                if error.hint:
                    _indented([f"hint: {error.hint}"])
            else:
                failed += bool(differences) and not update
                print(f"{_verdict(differences, update)} {console.printable(str(folder))}")
                _indented(differences)
            bar.done += 1
    passed = len(folders) - failed - wrong
    print(f"{passed} {'recorded' if update else 'passed'}, {failed + wrong} failed")
    return WRONG if wrong else FAILED if failed else DONE


def _verdict(differences: list[str], update: bool) -> str:
    if update:
        return "recorded" if differences else "same    "
    return "DIFFERS " if differences else "ok      "


def _indented(lines: list[str]) -> None:
    for line in lines:
        print(f"  {console.printable(line)}")
