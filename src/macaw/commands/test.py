"""The command `macaw test`: runs golden tests and compares the results with recordings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.commands.warning_option import chosen_warnings, warning_option
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS, EXIT_WRONG_INPUT
from macaw.isa.errors import MacawError
from macaw.terminal import console

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice


@click.command("test", short_help="Run golden tests and compare the results with recordings.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option("--update", is_flag=True, help="Record the present results.")
@warning_option
def command(paths: tuple[str, ...], update: bool, choice: WarningChoice | None) -> int:
    """Run all golden tests in and below PATHs and compare the results with `expected/`.

    A golden test is a folder with a golden.toml. With --update, record the present results and
    print the changes. Warnings are not printed; with -Werror a test whose program has any is wrong.
    """
    from macaw import golden_tests
    from macaw.terminal.progress_bar import ProgressBar

    check_warnings = partial(chosen_warnings, choice=choice)
    folders = list(golden_tests.find_folders(map(Path, paths)))
    failures = errors = 0
    with ProgressBar("golden tests", len(folders)) as bar:
        for folder in folders:
            try:
                differences = golden_tests.check(folder, update=update, on_load=check_warnings)
            except MacawError as error:
                errors += 1
                print(f"WRONG    {console.printable(str(folder))}")
                _print_indented(error.message.splitlines())
                if error.hint:
                    _print_indented([f"hint: {error.hint}"])
            else:
                failures += bool(differences) and not update
                print(f"{_verdict(differences, update)} {console.printable(str(folder))}")
                _print_indented(differences)
            bar.count += 1
    passed = len(folders) - failures - errors
    print(f"{passed} {'recorded' if update else 'passed'}, {failures + errors} failed")
    return EXIT_WRONG_INPUT if errors else EXIT_FAILURE if failures else EXIT_SUCCESS


def _verdict(differences: list[str], update: bool) -> str:
    if update:
        return "recorded" if differences else "same    "
    return "DIFFERS " if differences else "ok      "


def _print_indented(lines: list[str]) -> None:
    for line in lines:
        print(f"  {console.printable(line)}")
