"""The cell magic `%%macaw`: assembles and runs the text of a notebook's cell.

It has those options of `macaw run` that are useful in a notebook; inputs are Python expressions. An
error is shown as the command shows it, with its position in the cell and without a traceback, and
the cell fails like any other cell that raises an exception.
"""

from __future__ import annotations

import keyword
import shlex
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

import click

from macaw import api, execution, run_report
from macaw.asm.diagnostics import AssemblyError, first
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.emu.engines import ENGINES
from macaw.errors import InputError, RunError
from macaw.execution import Run
from macaw.isa.errors import MacawError
from macaw.phrases import plural
from macaw.terminal.diagnostics_output import print_diagnostics, styled_text, warnings_of

MAGIC = "macaw"
_CYAN, _BLUE = "\x1b[36m", "\x1b[34m"


class Shell(Protocol):
    """The attributes and methods of an IPython shell that the magic uses."""

    user_ns: dict[str, Any]
    execution_count: int

    def ev(self, expr: str) -> Any:
        """Return the value of an expression in the user's namespace."""

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        """Add `func` as the magic `magic_name` of the kind `magic_kind`, such as "cell"."""


def register(shell: Shell) -> None:
    """Add `%%macaw` to a shell."""

    def macaw(line: str, cell: str) -> Run | Program | None:
        return run_cell(shell, line, cell)

    macaw.__doc__ = _help_text()
    shell.register_magic_function(macaw, "cell", MAGIC)


def _cell_number(shell: Shell) -> int:
    """Return the number of the cell that is executed.

    In some versions of IPython `execution_count` is already the number of the next cell.
    """
    result = getattr(getattr(shell, "displayhook", None), "exec_result", None)
    number = getattr(result, "execution_count", None)
    return shell.execution_count if number is None else int(number)


def run_cell(shell: Shell, line: str, cell: str) -> Run | Program | None:
    """Assemble and run the text `cell` with the options in `line`; return what the cell displays.

    That is the `Run`, or with --no-run the `Program`, or with --quiet None. Raises `MacawError` and
    `click.ClickException`, which a shell shows without a traceback.
    """
    # The line of the magic is the first line of the cell.
    source = Source(f"\n{cell}", f"In[{_cell_number(shell)}]", Path.cwd())
    try:
        values = _parse(line)
        return None if values is None else _assemble_and_run(shell, source, **values)
    except (MacawError, click.ClickException, execution.RunInterrupted) as error:
        text = _error_text(error, source)
        # IPython shows these lines instead of a traceback; the type of errors has no such member.
        error._render_traceback_ = lambda: text.splitlines()  # type: ignore[union-attr]
        raise


def _assemble_and_run(
    shell: Shell,
    source: Source,
    inputs: tuple[str, ...],
    result: str | None,
    program_name: str | None,
    device: str | None,
    engine: str,
    max_cycles: int | None,
    jitter: int | None,
    no_run: bool,
    quiet: bool,
) -> Run | Program | None:
    for option, name in (("--result", result), ("--program", program_name)):
        if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
            raise InputError(f"{option} '{name}': this is no name of a variable")
    arrays = _arrays(shell, inputs)
    # A name of the namespace may stand for a Configuration.
    target = shell.user_ns.get(device, device) if device is not None else None
    program = api.assemble(source, device=target)
    print_diagnostics(warnings_of(program))
    if program_name is not None:
        shell.user_ns[program_name] = program
    if no_run:
        return None if quiet else program
    _check_inputs(program, arrays)
    run = execution.run(
        program, arrays, device=target, engine=engine, max_cycles=max_cycles, jitter=jitter
    )
    if result is not None:
        shell.user_ns[result] = run
    return None if quiet else run


def _check_inputs(program: Program, arrays: Mapping[str, Any]) -> None:
    """Raise `InputError` if an input is missing, with a hint for users of notebooks."""
    missing = [item.name for item in program.inputs if item.name not in arrays]
    if missing:
        text = f"{plural(len(missing), 'input')} not given: {', '.join(missing)}"
        name = missing[0]
        raise InputError(text, f"-i {name} binds the variable {name}, -i {name}=EXPR a value")


def _arrays(shell: Shell, inputs: tuple[str, ...]) -> dict[str, Any]:
    """Evaluate the options NAME and NAME=EXPRESSION in `inputs`; return the values by name."""
    arrays = {}
    for text in inputs:
        name, equals, expression = text.partition("=")
        if not name or (equals and not expression):
            raise InputError(f"-i '{text}' is not NAME or NAME=EXPRESSION")
        if name in arrays:
            raise InputError(f"-i: input {name} is given twice")
        try:
            arrays[name] = shell.ev(expression or name)
        except Exception as error:  # whatever the user's expression raises
            what = f"{type(error).__name__}: {error}"
            raise InputError(f"-i '{text}': {what}", "the value is a Python expression") from None
    return arrays


# The options ---------------------------------------------------------------------------------


@click.command(MAGIC, add_help_option=False)
@click.option(
    "-i",
    "inputs",
    multiple=True,
    metavar="NAME[=EXPR]",
    help="Bind an input to a Python expression; without one, to the variable NAME.",
)
@click.option("-r", "--result", metavar="NAME", help="Assign the run to the variable NAME.")
@click.option("-p", "--program", "program_name", metavar="NAME", help="Assign the program to NAME.")
@click.option(
    "--device", metavar="DEVICE", help="Run on this device: a name, a file, or a variable."
)
@click.option("--engine", type=click.Choice(ENGINES), default=ENGINES[0], help="The engine.")
@click.option("--max-cycles", type=click.IntRange(min=1), metavar="N", help="Stop after N cycles.")
@click.option("--jitter", type=click.IntRange(min=0), metavar="SEED", help="Add noise to DRAM.")
@click.option("--no-run", is_flag=True, help="Assemble only.")
@click.option("-q", "--quiet", is_flag=True, help="Display nothing.")
def _options(**values: Any) -> dict[str, Any]:
    """Assemble and run the text of the cell.\f

    This first sentence is the help of `%%macaw`. The function itself only returns the values of
    the options, by parameter.
    """
    return values


def _parse(line: str) -> dict[str, Any]:
    """Return the values of the options in `line`, by parameter.

    Raises `click.ClickException` or `InputError` for a line that is not correct.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InputError(f"%%{MAGIC} {line}: {error}".replace("No closing", "no closing")) from None
    values: dict[str, Any] = _options.main(words, prog_name=f"%%{MAGIC}", standalone_mode=False)
    return values


def _help_text() -> str:
    context = click.Context(_options, info_name=f"%%{MAGIC}", max_content_width=100)
    return _options.get_help(context)


# Errors --------------------------------------------------------------------------------------


def _error_text(error: BaseException, source: Source) -> str:
    """Return the text of an error with ANSI colours, which notebooks show.

    `source` is the text of the cell, which the messages quote.
    """
    if isinstance(error, AssemblyError):
        shown, left_out = first(error.diagnostics)
        note = f"macaw: {left_out} not shown" if left_out else ""
        return _in_colours(shown) + note
    if isinstance(error, RunError):
        diagnostic = run_report.failure_diagnostic(error, {source.name: source.text})
        if diagnostic is not None:
            return _in_colours([diagnostic])
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    hint = getattr(error, "hint", "")
    return f"macaw: error: {message}" + (f"\nhint: {hint}" if hint else "")


def _in_colours(diagnostics: Any) -> str:
    from rich.console import Console

    stream = StringIO()
    console = Console(
        file=stream, force_terminal=True, force_jupyter=False, color_system="standard"
    )
    for item in diagnostics:
        console.print(styled_text(item), end="", soft_wrap=True)
    # On the red ground of an error, the cyan of Jupyter's light theme cannot be read.
    return stream.getvalue().replace(_CYAN, _BLUE)
