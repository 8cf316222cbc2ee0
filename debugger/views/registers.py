"""Registers of the focus in as many columns as fit."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from macaw.debugger.frame import Frame, Register
from macaw.debugger.views.room import FAINT, Room, changed, line

GAP = 2
LONG = 16  # digits: a wider register has a row of its own


def view(frame: Frame, room: Room) -> list[Text]:
    """Short ones down the columns, long ones below them, a row each."""
    part: tuple[Register, ...] = frame.parts["registers"]
    if not part:
        return [line((room.cut(f"{frame.focus} has no registers", room.width), FAINT))]
    short = [row for row in part if cell_len(row.text) <= LONG]
    long = [row for row in part if cell_len(row.text) > LONG]
    rows = _columns(short, room) + [_long(row, long, room) for row in long]
    return [rows[at] for at in room.window(len(rows))]


def _columns(short: list[Register], room: Room) -> list[Text]:
    if not short:
        return []
    names = max(cell_len(row.name) for row in short)
    wide = names + 1 + max(cell_len(row.text) for row in short)
    count = max(1, (room.width + GAP) // (wide + GAP))
    high = -(-len(short) // count)
    found = []
    for at in range(high):
        text = line()
        for row in short[at::high]:
            if text.cell_len:
                text.append(" " * GAP)
            text.append(row.name.rjust(names) + " ")
            value = room.cut(row.text, max(1, room.width - names - 1))
            is_zero = set(row.text) <= {"0"}
            text.append(value, changed(row.age) or (FAINT if is_zero else ""))
            text.append(" " * (wide - names - 1 - cell_len(value)))
        text.rstrip()
        found.append(text)
    return found


def _long(row: Register, long: list[Register], room: Room) -> Text:
    names = max(cell_len(one.name) for one in long)
    value = room.cut(row.text, room.width - names - 1)
    is_zero = set(row.text) <= {"0", " "}
    return line(
        row.name.rjust(names) + " ", (value, changed(row.age) or (FAINT if is_zero else ""))
    )
