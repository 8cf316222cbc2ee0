"""Commands that print texts, values without a name, and types: `echo`, `printf`, `whatis` ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.displays import symbol_names
from macaw.debugger.commands.formats import format_value, read
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import (
    element_type,
    evaluate,
    expression,
)
from macaw.debugger.commands.points import split_values
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import value_text
from macaw.debugger.dprintf import check_format, format_values, quoted_text, unescape
from macaw.debugger.expressions import Expression, ExpressionError
from macaw.debugger.point import PointError
from macaw.debugger.values import type_text

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

_PRINTF = re.compile(r'\s*"(?P<form>(?:[^"\\]|\\.)*)"\s*(?P<rest>,.*)?', re.DOTALL)


@command("echo TEXT", "rest", r"print a text; \n starts a line, \t is a tab")
def _echo(context: Context, line: Line) -> Answer:
    return _lines(unescape(line.get("TEXT") or ""))


@command(
    "printf TEXT",
    "rest",
    "print values in a format of C",
    details='TEXT has the form "s0 is %d\\n", s0',
)
def _printf(context: Context, line: Line) -> Answer:
    match = _PRINTF.fullmatch(line.get("TEXT") or "")
    if match is None:
        raise CommandError("that is no format with values", 'printf "s0 is %d\\n", s0')
    texts = split_values(match["rest"] or "")
    session = context.session
    try:
        check_format(match["form"], len(texts))
        own = [quoted_text(session.program, text) for text in texts]
        values = [session.read(x) if y is None else y for x, y in zip(texts, own, strict=True)]
        return _lines(format_values(unescape(match["form"]), values))
    except ExpressionError as error:
        raise CommandError(error.message, error.hint) from None
    except (PointError, ValueError) as error:
        raise CommandError(str(error)) from None


def _lines(text: str) -> Answer:
    return answers.text(text.removesuffix("\n").split("\n"))


@command("output E", "look", "print a value without its name", suffix="F")
def _output(context: Context, line: Line) -> Answer:
    form = read(line.suffix)
    value, dtype = evaluate(context, line, plainly=False), element_type(expression(context, line))
    value = format_value(value, form, symbol_names(context), dtype)
    return answers.text([value_text(value)])


@command(
    "whatis E",
    "look",
    "say what kind of value an expression has: its type, its size, its bits",
    aliases=("ptype",),
)
def _whatis(context: Context, line: Line) -> Answer:
    source = expression(context, line)
    try:
        kind = _kind(source, source.value())
    except ExpressionError as error:
        raise CommandError(error.message, error.hint, line.place("E")) from None
    return answers.table(("", "value"), [(line.get("E"), kind)])


def _kind(source: Expression, value: Any) -> str:
    """Return a phrase for the type of an expression's value."""
    where, dtype = "", element_type(source)
    if source.target is not None and source.target[0].memory:
        begin, size = source.extents()[-1]
        where = f", {size} byte{'s' * (size != 1)} at {begin:#010x}"
    if isinstance(value, np.ndarray):
        return f"{type_text(value, dtype)}[{', '.join(map(str, value.shape))}]{where}"
    if where and dtype is not None:  # an element of a tensor
        return f"{type_text(np.zeros((), dtype), dtype)}{where}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(map(str, value)) + "}"
    if isinstance(value, list | tuple):
        return f"list of {len(value)}"
    if isinstance(value, bytes | bytearray):
        return f"{len(value)} bytes"
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, float):
        return f"real number{where}"
    if source.target is not None and source.target[0].bits < 64:
        return f"whole number of {source.target[0].bits} bits{where}"
    return f"whole number of 64 bits{where}"


@command(
    "show NAME [TEXT]",
    "rest",
    "show values that print has shown, your variables or commands, lines, or the version",
    details="NAME: values, convenience, user, commands, version",
)
def _show(context: Context, line: Line) -> Answer:
    name = line.get("NAME") or ""
    kinds = (
        [kind for kind in _SHOWN if kind.startswith(name)] if name != "conv" else ["convenience"]
    )
    if len(kinds) != 1:
        raise CommandError(f"show has no '{name}'", f"show takes {', '.join(_SHOWN)}")
    return _SHOWN[kinds[0]](context, line.get("TEXT") or "")


def _shown_values(context: Context, text: str) -> Answer:
    values = context.session.user_values
    rows = [
        (f"${values.dropped + at + 1}", _cell(value)) for at, value in enumerate(values.printed)
    ]
    return answers.table(("", "value"), rows[-LISTED:])


def _variables(context: Context, text: str) -> Answer:
    values = context.session.user_values.variables
    return answers.table(("", "value"), [(f"${name}", _cell(x)) for name, x in values.items()])


def _cell(value: Any) -> Any:
    return format_value(value, read(""), lambda address: "")


def _user_commands(context: Context, text: str) -> Answer:
    chosen = [x for name, x in context.user_commands.items() if not text or name == text]
    lines = [line for x in chosen for line in (f"{x.name}:", *(f"  {y}" for y in x.lines))]
    return answers.text(lines)


def _typed_lines(context: Context, text: str) -> Answer:
    first = max(0, len(context.history) - LISTED)
    rows = [(first + at + 1, line) for at, line in enumerate(context.history[first:])]
    return answers.table(("", "line"), rows)


def _version(context: Context, text: str) -> Answer:
    from importlib.metadata import version

    return answers.text([f"macaw {version('macaw-npu')}"])


LISTED = 20  # the greatest number of values and lines that `show` lists
_SHOWN = {
    "values": _shown_values,
    "convenience": _variables,
    "user": _user_commands,
    "commands": _typed_lines,
    "version": _version,
}
