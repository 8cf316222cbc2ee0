"""Computes the values of `display`, which the interpreter shows after each stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.formats import format_value
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import display_value, symbol_at
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.places import PlaceError
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context


def display_answers(context: Context) -> tuple[Answer, ...]:
    """Return one table of all displays with their present values, or nothing without displays."""
    rows = [(number, *_row(context, number)) for number in context.displays.rows]
    return (answers.table(answers.DISPLAY, rows),) if rows else ()


def _row(context: Context, number: int) -> tuple[str, Any]:
    text, form = context.displays.rows[number]
    try:
        session = context.session
        value = display_value(session, session.expression(text))
        return text, format_value(value, form, symbol_names(context))
    except (ExpressionError, PlaceError, CommandError, SessionError) as error:
        return text, f"({error})"


def symbol_names(context: Context) -> Callable[[int], str]:
    """Return a function that names addresses by the symbol before them.

    It returns an empty text if no symbol is near.
    """
    return lambda address: symbol_at(context.session, address)
