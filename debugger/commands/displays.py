"""Computes the values of `display`, which the interpreter shows after each stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import instructions
from macaw.debugger.commands.formats import Format, format_value
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import display_value, element_type, symbol_at
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.places import PlaceError
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context


def display_answers(context: Context) -> tuple[Answer, ...]:
    """Return one table with the values of the enabled displays; an empty tuple without displays."""
    displays = context.displays
    numbers = [number for number in displays.rows if number not in displays.disabled]
    rows = [(number, *_row(context, number)) for number in numbers]
    return (answers.table(answers.DISPLAY, rows),) if rows else ()


def _row(context: Context, number: int) -> tuple[str, Any]:
    text, form = context.displays.rows[number]
    try:
        return text, display_cell(context, text, form)
    except (ExpressionError, PlaceError, CommandError, SessionError) as error:
        return text, f"({error})"


def display_cell(context: Context, text: str, form: Format) -> Any:
    """Return the value of the expression `text` in a format.

    With the format `i`, the value is an address, and the result has the instructions there.
    Raises `CommandError`, `ExpressionError`.
    """
    session = context.session
    if form.letter == "i":
        place = session.read(f"({text}) + 0")
        if not isinstance(place, int):
            raise CommandError(f"{text} is no address")
        rows = instructions(session, place, form.count or 1)
        return "\n".join(f"{row.mark:2} {row.where}  {row.text}" for row in rows)
    source = session.expression(text)
    value = display_value(session, source)
    return format_value(value, form, symbol_names(context), element_type(source))


def symbol_names(context: Context) -> Callable[[int], str]:
    """Return a function that returns the name of an address: the symbol before it and a distance.

    That function returns an empty text if no symbol is near.
    """
    return lambda address: symbol_at(context.session, address)
