"""Prints the assembler's errors and warnings on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from macaw.terminal.console import STYLES, after_results, print_error_text
from macaw.terminal.highlighting import highlight, shows_colours
from macaw.terminal.plain import is_plain

if TYPE_CHECKING:
    from rich.text import Text

    from macaw.asm.diagnostics import Diagnostic
    from macaw.asm.program import Program


def print_diagnostics(
    diagnostics: Sequence[Diagnostic], style: str = "text", most: int | None = None
) -> None:
    """Print each diagnostic with its source line, or all as one JSON list (style "json").

    At most `most` errors and `most` warnings are printed; 0 means no limit, None means
    `MOST_ERRORS`. The last line says how many diagnostics were not printed.
    """
    from macaw.asm.diagnostics import MOST_ERRORS, first, to_json

    diagnostics, left_out = first(diagnostics, MOST_ERRORS if most is None else most)
    if left_out:
        left_out += " not shown"
    if style == "json":
        with after_results():
            print(to_json(diagnostics, left_out), file=sys.stderr)
        return
    if not diagnostics:
        return  # before rich is loaded
    from rich.text import Text

    colours = shows_colours(sys.stderr)
    for item in diagnostics:
        print_error_text(styled_text(item, colours), end="")
    if left_out:
        print_error_text(Text(f"macaw: {left_out}"))


def styled_text(diagnostic: Diagnostic, colours: bool = True) -> Text:
    """Return the printed form of a diagnostic, in which each piece has the style of its kind.

    With `colours`, the words of its source line are coloured as in a source. Plain output has the
    column as a number in place of carets.
    """
    from rich.text import Text

    from macaw.asm.diagnostics import pieces

    text = Text()
    for name, piece in pieces(diagnostic):
        if name == "source" and colours:
            text.append_text(highlight(piece))
        elif name != "caret" or not is_plain():
            text.append(piece, STYLES.get(name, ""))
    return text


def warnings_of(program: Program) -> list[Diagnostic]:
    """Return the warnings that the assembler has stored in the program."""
    from macaw.asm.diagnostics import Diagnostic

    return [item for item in program.warnings if isinstance(item, Diagnostic)]
