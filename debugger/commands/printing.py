"""Commands that show values: `print`, `x`, `display`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import instructions
from macaw.debugger.commands.displays import display_answers, display_cell, symbol_names
from macaw.debugger.commands.formats import LETTERS, MOST, UNITS, Format, format_value, read
from macaw.debugger.commands.line import CommandError, Line, parse_ranges
from macaw.debugger.commands.operands import (
    address,
    address_text,
    assign,
    element_type,
    evaluate,
    expression,
)
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import counted
from macaw.debugger.commands.usage import Argument, Piece
from macaw.debugger.places import compact
from macaw.debugger.user_values import add_printed, set_variable
from macaw.debugger.values import VIEWS, numbers_of
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context
    from macaw.emu.formats import MemoryFormat

_OF_MEMORY = "si"  # letters that `x` takes, but `print` does not
_LETTERS = [f"{letter} {name}" for letter, name in LETTERS.items() if letter not in _OF_MEMORY]
ROW = 16  # bytes in one line of `x`
TEXT = 64  # bytes that are read at a time to find the end of a text
MOST_BYTES = 1 << 20  # the greatest number of bytes that one command reads in a core's own format


@command(
    "print [E [= V]]",
    "look",
    "print the value of an expression; with V: set it first; without E: print the last value",
    suffix="F",
    aliases=("p", "inspect", "call"),
    details=f"F: {', '.join(_LETTERS[:6])},\n{', '.join(_LETTERS[6:])};\n"
    f"or a type: {', '.join(VIEWS)}",
)
def _print(context: Context, line: Line) -> Answer:
    if line.get("E") is None:
        line = replace(line, arguments=(Argument("E", "$", (0, 1), Piece("E")),))
    form, text = read(line.suffix), line.get("E") or ""
    if form.count is not None:
        hint = f"x/{form} ADDRESS shows units of memory"
        raise CommandError("print shows one value, without a count", hint)
    if line.get("V") is not None:
        assign(context, line)
    result = evaluate(context, line, plainly=False)
    dtype = element_type(expression(context, line))
    add_printed(context.session.user_values, result, dtype)
    if text.startswith("&") and not form.letter:
        form = replace(form, letter="a")
    value = format_value(result, form, symbol_names(context), dtype)
    if isinstance(value, Mapping):
        rows = [(f"{text}.{name}", item) for name, item in value.items()]
        return answers.table(answers.VALUE, rows)
    return answers.table(answers.VALUE, [(text, value)])


@command(
    "x [E]",
    "look",
    "print memory at an address; without E: the next units, as many as before",
    suffix="NFU",
    repeats=True,
    alone=True,
    details="N: number of units; F: as for print; "
    + "; ".join(f"{letter}: {LETTERS[letter]}" for letter in _OF_MEMORY)
    + ";\nU: size of a unit, "
    + ", ".join(f"{letter} {size}" for letter, size in UNITS.items())
    + " bytes;\n"
    "or a type: x/8f16 y; or a special format of a core: bfp (the codes of a native vector and\n"
    "their shared exponent; bfp_matrix: as matrices are quantised), tiles (4 x 4 numbers of\n"
    "fp16; tiles_fp32, tiles_bf16)",
)
def _x(context: Context, line: Line) -> Answer:
    last = context.cursor
    own = _core_formats(context)
    form = read(line.suffix, last.form, own)
    if line.get("E") is None and form.count is None:
        form = replace(form, count=last.form.count)  # as many as the last `x`
    if line.get("E") is None and last.next is None:
        raise CommandError("x needs an address the first time", "x/8xw y")
    place = address(context, line) if line.get("E") is not None else last.next
    assert place is not None
    count = form.count or 1
    if form.own:
        answer, size = _in_format(context, place, count, own[form.own])
    elif form.letter == "i":
        rows = instructions(context.session, place, count)
        size = rows[-1].next - place if rows else 0
        answer = answers.table(
            ("", "address", "instruction"), [(row.mark, row.where, row.text) for row in rows]
        )
    elif form.letter == "s":
        answer, size = _strings(context, place, count)
    else:
        answer, size = _units(context, place, count, form)
    last.form, last.next = form, place + size
    if size:
        _note_address(context, place, size, form, count)
    return answer


def _note_address(context: Context, place: int, size: int, form: Format, count: int) -> None:
    """Set `$_` to the address of the last unit that `x` has shown, and `$__` to its value.

    `x` has shown `count` units, together `size` bytes, from the address `place` on, in the format
    `form`.
    """
    unit = size // count if form.letter not in ("i", "s") else 4
    last = place + max(0, size - unit)
    values = context.session.user_values
    set_variable(values, "_", last)
    try:
        data = context.session.device.memory.peek(last, min(unit, 8))
    except Fault:
        values.variables.pop("__", None)
    else:
        set_variable(values, "__", int.from_bytes(data, "little"))


def _text(context: Context, place: int) -> bytes:
    """Return the bytes from the address `place` up to the next zero byte.

    Raises `CommandError`.
    """
    data, piece = b"", TEXT
    while len(data) < MOST:
        try:
            more = context.session.device.memory.peek(place + len(data), piece)
        except Fault:  # the memory may end right after the text
            more, piece = _peek(context, place + len(data), 1), 1
        end = more.find(0)
        if end >= 0:
            return data + more[:end]
        data += more
    return data[:MOST]


def _core_formats(context: Context) -> Mapping[str, MemoryFormat]:
    """Return the formats that cores of the device define, by name."""
    order = context.session.device.order
    return {name: form for core in order for name, form in core.formats.items()}


def _peek(context: Context, place: int, length: int) -> bytes:
    try:
        context.session.device.sync()
        return context.session.device.memory.peek(place, length)
    except Fault as fault:
        raise CommandError(fault.message) from None


def _units(context: Context, place: int, count: int, form: Format) -> tuple[Answer, int]:
    dtype = form.dtype
    size = count * dtype.itemsize
    values = numbers_of(np.frombuffer(_peek(context, place, size), dtype))
    each = max(1, ROW // dtype.itemsize)
    one = Format(letter=form.letter or ("" if form.type else "x"), unit=dtype.itemsize)
    rows = []
    for at in range(0, count, each):
        context.session.interrupts.check()
        items = [
            format_value(value, one, symbol_names(context)) for value in values[at : at + each]
        ]
        rows.append((address_text(context, place + at * dtype.itemsize), *items))
    width = max(map(len, rows))
    cells = [(*row, *[None] * (width - len(row))) for row in rows]
    return answers.table(
        ("address", *[f"+{n * dtype.itemsize}" for n in range(width - 1)]), cells
    ), size


def _strings(context: Context, place: int, count: int) -> tuple[Answer, int]:
    rows, at = [], place
    for _ in range(count):
        context.session.interrupts.check()
        data = _text(context, at)
        rows.append((address_text(context, at), _quoted(data)))
        at += len(data) + 1
    return answers.table(("address", "text"), rows), at - place


def _quoted(data: bytes) -> str:
    """Return a text in quotation marks; bytes that are no UTF-8 as they are written in a string."""
    try:
        return repr(data.decode("utf-8"))
    except UnicodeDecodeError:
        return repr(data)[1:]


def _in_format(context: Context, place: int, count: int, form: MemoryFormat) -> tuple[Answer, int]:
    """Show `count` units of memory, from the address `place` on, in the format `form` of a core.

    Return the answer and the number of bytes that the answer shows. Raises `CommandError`.
    """
    size = count * form.size
    if size > MOST_BYTES:
        raise CommandError(f"{count} units of {form.size} bytes are too many")
    data = _peek(context, place, size)
    rows = []
    for at in range(0, size, form.size):
        context.session.interrupts.check()
        try:
            lines = form.rows(data[at : at + form.size])
        except ValueError as error:
            raise CommandError(f"at {address_text(context, place + at)}: {error}") from None
        rows += [(address_text(context, place + at + inside), *cells) for inside, cells in lines]
    return answers.table(("address", *form.columns), rows, form.meaning), size


@command(
    "display [E]",
    "look",
    "show a value after each stop; without E: show all displays now",
    suffix="F",
)
def _display(context: Context, line: Line) -> Answer:
    text = line.get("E")
    if text is None:
        return Answer("done", answers=display_answers(context))
    form = read(line.suffix)
    if form.letter == "i":
        value = display_cell(context, text, form)
    else:
        dtype = element_type(expression(context, line))
        value = evaluate(context, line, plainly=False)
        value = format_value(value, form, symbol_names(context), dtype)
    number = context.displays.add(
        text, form, compact(context.session.device, context.session.focus)
    )
    return answers.table(answers.DISPLAY, [(number, text, value)])


@command("undisplay [N...]", "look", "remove displays; without N: all")
def _undisplay(context: Context, line: Line) -> Answer:
    displays = context.displays
    numbers = parse_ranges(line.all("N"), "displays") or list(displays.rows)
    for one in numbers:
        if one not in displays.rows:
            raise CommandError(f"there is no display {one}")
    displays.remove(dict.fromkeys(numbers))
    return answers.message(f"{counted(len(displays.rows), 'display')} left")
