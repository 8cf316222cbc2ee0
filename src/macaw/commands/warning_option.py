"""The option -W of commands that assemble sources: it silences warnings or makes them errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from macaw.asm.diagnostics import Diagnostic
    from macaw.asm.program import Program
    from macaw.asm.warnings import WarningChoice

Command = TypeVar("Command", bound=Callable[..., Any])


def warning_option(command: Command) -> Command:
    """Add -W to a command, as the parameter `choice`: a `WarningChoice`, or None without -W."""
    return click.option(
        "-W",
        "choice",
        multiple=True,
        callback=_choice,
        metavar="error|no-NAME|error=NAME",
        help="-Werror: treat warnings as errors; -Werror=NAME: one kind; -Wno-NAME: leave one out;"
        " -WNAME: take it in again. -Whelp lists the names.",
    )(command)


def _choice(
    ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> WarningChoice | None:
    if not values:
        return None
    from macaw.asm.warnings import WARNINGS, WarningNameError, choice_of

    if "help" in values:
        for name, meaning in WARNINGS.items():
            click.echo(f"-W{name:<18} {meaning}")
        ctx.exit()
    try:
        return choice_of(values)
    except WarningNameError as error:
        raise click.BadParameter(str(error)) from None


def chosen_warnings(program: Program, choice: WarningChoice | None) -> list[Diagnostic]:
    """Return those warnings of a program that the command prints.

    Raises `AssemblyError` with these warnings if `choice` makes one of them an error.
    """
    from macaw.asm.diagnostics import ERROR, AssemblyError
    from macaw.asm.warnings import apply
    from macaw.terminal.diagnostics_output import warnings_of

    warnings = apply(choice, warnings_of(program))
    if any(item.severity == ERROR for item in warnings):
        raise AssemblyError(warnings)
    return warnings


@contextmanager
def chosen_errors(choice: WarningChoice | None) -> Iterator[None]:
    """Apply the option -W (`choice`) to an `AssemblyError` that the `with` block raises.

    The context manager raises a new `AssemblyError` in place of the first one. The new error lacks
    the warnings that `choice` silences, and has as errors the warnings that `choice` makes errors.
    """
    from macaw.asm.diagnostics import AssemblyError
    from macaw.asm.warnings import apply

    try:
        yield
    except AssemblyError as error:
        raise AssemblyError(apply(choice, error.diagnostics)) from None
