"""Draws the registers panel: registers of the focus in as many columns as fit."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from macaw.debugger.frame import Frame, Register
from macaw.debugger.views.area import FAINT, Area, change_style, line

GAP = 2
LONG = 16  # digits: a wider register has a row of its own


def view(frame: Frame, area: Area) -> list[Text]:
    """Return short registers in columns, followed by one row for each long register."""
    part: tuple[Register, ...] = frame.parts["registers"]
    if not part:
        return [line((area.cut(f"{frame.focus} has no registers", area.width), FAINT))]
    short = [row for row in part if cell_len(row.text) <= LONG]
    long = [row for row in part if cell_len(row.text) > LONG]
    rows = _columns(short, area) + [_long(row, long, area) for row in long]
    return [rows[at] for at in area.window(len(rows))]


def _columns(short: list[Register], area: Area) -> list[Text]:
    if not short:
        return []
    names = max(cell_len(row.name) for row in short)
    wide = names + 1 + max(cell_len(row.text) for row in short)
    count = max(1, (area.width + GAP) // (wide + GAP))
    high = -(-len(short) // count)
    rows = []
    for at in range(high):
        text = line()
        for row in short[at::high]:
            if text.cell_len:
                text.append(" " * GAP)
            text.append(row.name.rjust(names) + " ")
            value = area.cut(row.text, max(1, area.width - names - 1))
            is_zero = set(row.text) <= {"0"}
            text.append(value, change_style(row.age) or (FAINT if is_zero else ""))
            text.append(" " * (wide - names - 1 - cell_len(value)))
        text.rstrip()
        rows.append(text)
    return rows


def _long(row: Register, long: list[Register], area: Area) -> Text:
    names = max(cell_len(one.name) for one in long)
    value = area.cut(row.text, area.width - names - 1)
    is_zero = set(row.text) <= {"0", " "}
    return line(
        row.name.rjust(names) + " ", (value, change_style(row.age) or (FAINT if is_zero else ""))
    )
