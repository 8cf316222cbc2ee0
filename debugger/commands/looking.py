"""Values: `print`, `x`, `display`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from debugger.commands import answers
from debugger.commands.answers import Answer
from debugger.commands.code import instructions
from debugger.commands.formats import LETTERS, MOST, UNITS, Format, read, shown
from debugger.commands.keeping import naming
from debugger.commands.table import CommandError, Line, command
from debugger.commands.values import address, evaluated, symbol_at
from debugger.values import VIEWS
from emu.faults import Fault

if TYPE_CHECKING:
    from debugger.commands.interpreter import Interpreter

ROW = 16  # bytes to a line of `x`
_TILE = (4, 4)  # numbers of fp16: a column of an island


@command(
    "print E",
    "look",
    "the value of an expression",
    suffix="F",
    aliases=("p", "inspect", "output"),
    details=f"F: {', '.join(f'{letter} {name}' for letter, name in LETTERS.items())};\n"
    f"or a type: {', '.join(VIEWS)}",
)
def _print(interpreter: Interpreter, line: Line) -> Answer:
    form = read(line.suffix)
    value = shown(evaluated(interpreter, line), form, naming(interpreter))
    return answers.table(("", "value"), [(line.get("E"), value)])


@command(
    "x [E]",
    "look",
    "memory at an address; without one, go on",
    suffix="NFU",
    repeats=True,
    alone=True,
    details="N units; F as of print, or tiles of 4 x 4 fp16; U: "
    + ", ".join(f"{letter} {size}" for letter, size in UNITS.items())
    + " bytes; or a type: x/8f16 y",
)
def _x(interpreter: Interpreter, line: Line) -> Answer:
    last = interpreter.looked
    tiles = line.suffix.endswith("tiles")
    form = Format(_count(line.suffix[:-5])) if tiles else read(line.suffix, last.form)
    if line.get("E") is None and last.next is None:
        raise CommandError("x needs an address the first time", "x/8xw y")
    place = address(interpreter, line) if line.get("E") is not None else last.next
    assert place is not None
    count = form.count or 1
    if tiles:
        found, size = _tiles(interpreter, place, count)
    elif form.letter == "i":
        rows = instructions(interpreter.session, place, count)
        size = rows[-1].next - place if rows else 0
        found = answers.table(
            ("", "address", "instruction"), [(row.mark, row.where, row.text) for row in rows]
        )
    elif form.letter == "s":
        found, size = _strings(interpreter, place, count)
    else:
        found, size = _units(interpreter, place, count, form)
    last.form, last.next = form, place + size
    return found


def _count(text: str) -> int:
    found = read(text).count
    return 1 if found is None else found


def _peek(interpreter: Interpreter, place: int, length: int) -> bytes:
    try:
        interpreter.session.device.sync()
        return interpreter.session.device.memory.peek(place, length)
    except Fault as fault:
        raise CommandError(fault.message) from None


def _units(interpreter: Interpreter, place: int, count: int, form: Format) -> tuple[Answer, int]:
    dtype = form.dtype
    size = count * dtype.itemsize
    values = np.frombuffer(_peek(interpreter, place, size), dtype)
    each = max(1, ROW // dtype.itemsize)
    one = Format(letter=form.letter or ("" if form.type else "x"), unit=dtype.itemsize)
    rows = []
    for at in range(0, count, each):
        items = [shown(value, one, naming(interpreter)) for value in values[at : at + each]]
        rows.append((_where(interpreter, place + at * dtype.itemsize), *items))
    width = max(map(len, rows))
    cells = [(*row, *[None] * (width - len(row))) for row in rows]
    return answers.table(
        ("address", *[f"+{n * dtype.itemsize}" for n in range(width - 1)]), cells
    ), size


def _where(interpreter: Interpreter, place: int) -> str:
    name = symbol_at(interpreter.session, place)
    return f"{place:#010x}" + (f" <{name}>" if name else "")


def _strings(interpreter: Interpreter, place: int, count: int) -> tuple[Answer, int]:
    rows, at = [], place
    for _ in range(count):
        data = bytearray()
        while len(data) < MOST and (byte := _peek(interpreter, at + len(data), 1)) != b"\0":
            data += byte
        rows.append((_where(interpreter, at), repr(data.decode("utf-8", "backslashreplace"))))
        at += len(data) + 1
    return answers.table(("address", "text"), rows), at - place


def _tiles(interpreter: Interpreter, place: int, count: int) -> tuple[Answer, int]:
    """Tiles of 4 x 4 numbers of fp16, a row of a tile to a line."""
    across = _TILE[1]
    size = 2 * _TILE[0] * across
    values = np.frombuffer(_peek(interpreter, place, count * size), "<f2").reshape(-1, *_TILE)
    rows = [
        (_where(interpreter, place + tile * size) if not number else "", *map(float, row))
        for tile, matrix in enumerate(values)
        for number, row in enumerate(matrix)
    ]
    return answers.table(("address", *map(str, range(across))), rows), count * size


@command("display [E]", "look", "show a value after each stop; alone: show all now", suffix="F")
def _display(interpreter: Interpreter, line: Line) -> Answer:
    text = line.get("E")
    if text is None:
        return Answer("done", answers=interpreter.displays.shown(interpreter))
    form = read(line.suffix)
    value = shown(evaluated(interpreter, line), form, naming(interpreter))
    number = interpreter.displays.add(text, form)
    return answers.table(("", "display", "value"), [(number, text, value)])


@command("undisplay [N...]", "look", "show these no more; alone: none")
def _undisplay(interpreter: Interpreter, line: Line) -> Answer:
    displays = interpreter.displays
    numbers = [int(x, 0) for x in line.all("N")] or list(displays.rows)
    for number in numbers:
        if number not in displays.rows:
            raise CommandError(f"there is no display {number}")
    for number in numbers:
        del displays.rows[number]
    return answers.done(f"{len(displays.rows)} displays left")
