"""The command `macaw test`: runs golden tests and compares the results with recordings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.commands.options import FileName, OutputName, file_option, plain_option
from macaw.commands.warning_option import chosen_warnings, warning_option
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS, EXIT_WRONG_INPUT, InputError
from macaw.terminal import console

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice
    from macaw.golden_tests import Outcome

_VERDICTS = {
    "passed": "ok      ",
    "differs": "DIFFERS ",
    "wrong": "WRONG   ",
    "recorded": "recorded",
    "same": "same    ",
}


@click.command("test", short_help="Run golden tests and compare the results with recordings.")
@click.argument("paths", nargs=-1, required=True, type=FileName(), metavar="PATH...")
@click.option("--update", is_flag=True, help="Record the present results.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Run N processes at a time; the output is the same.",
)
@click.option(
    "-k",
    "expression",
    default="",
    metavar="EXPR",
    help="Run only folders whose paths match, such as 'conv and not gru', as in pytest.",
)
@file_option("--junit", "junit_file", text="Write the results as JUnit XML.", kind=OutputName())
@warning_option
@plain_option
def command(
    paths: tuple[str, ...],
    update: bool,
    jobs: int,
    expression: str,
    junit_file: str | None,
    choice: WarningChoice | None,
) -> int:
    """Run all golden tests in and below PATHs and compare the results with `expected/`.

    A golden test is a folder with a golden.toml. With --update, the command records the current
    results and prints the changes. Warnings are not printed. With -Werror, a test whose program has
    a warning is wrong.
    """
    from macaw import files, golden_tests, name_expression
    from macaw.terminal.progress_bar import ProgressBar

    check_warnings = partial(chosen_warnings, choice=choice)
    matches = name_expression.parse(expression)
    found = list(golden_tests.find_folders(map(Path, paths)))
    folders = [folder for folder in found if matches(folder.as_posix())]
    if not folders:
        raise InputError(
            f"-k '{expression}' matches none of {len(found):,} golden tests",
            f"a word is part of a path, as {found[0]}",
        )
    if junit_file is not None:
        inputs = (path for folder in folders for path in golden_tests.files_of(folder))
        files.refuse_overwriting([junit_file], inputs, "--junit names another")
    outcomes: list[Outcome] = []
    with ProgressBar("golden tests", len(folders)) as bar:
        for outcome in golden_tests.run_folders(
            folders, update=update, workers=jobs, on_load=check_warnings
        ):
            outcomes.append(outcome)
            print(f"{_VERDICTS[outcome.status]} {console.printable(str(outcome.folder))}")
            for line in outcome.lines:
                print(f"  {console.printable(line)}")
            bar.count += 1
    if junit_file is not None:
        from macaw.golden_junit import junit_xml

        files.write_bytes(junit_file, junit_xml(outcomes))
    failed = sum(outcome.failed for outcome in outcomes)
    left_out = len(found) - len(folders)
    print(
        f"{len(outcomes) - failed} {'recorded' if update else 'passed'}, {failed} failed"
        + (f", {left_out} deselected" if left_out else "")
    )
    if any(outcome.status == "wrong" for outcome in outcomes):
        return EXIT_WRONG_INPUT
    return EXIT_FAILURE if failed else EXIT_SUCCESS
