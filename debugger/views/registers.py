"""Draws the registers panel: registers of the focus in as many columns as fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from macaw.debugger.frame import OLD, Frame, Register
from macaw.debugger.views.area import FAINT, Area, Signs, change_style, line

GAP = 2
LONG = 16  # a register with more digits has its own rows
FEW = 4  # up to so many long registers are shown with all their digits


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows all registers need."""
    return max(1, len(_rows(frame.parts["registers"], Area(width, 1, signs))))


def view(frame: Frame, area: Area) -> list[Text]:
    """Return short registers in columns, followed by the long registers.

    In an area that is too small, registers that are 0 are left out until the user scrolls; the last
    row then says how many are left out.
    """
    part: tuple[Register, ...] = frame.parts["registers"]
    if not part:
        return [line((area.cut(f"{frame.focus} has no registers", area.width), FAINT))]
    rows = _rows(part, area)
    zeros = [row for row in part if _is_zero(row) and row.age >= OLD]
    if len(rows) > area.height > 1 and not area.scroll and not area.active and zeros:
        for count in range(1, len(zeros) + 1):
            others = _rows([row for row in part if row not in zeros[-count:]], area)
            if len(others) < area.height:
                break
        shown = replace(area, height=area.height - 1).window(len(others))
        text = area.cut(f"{count} more registers are 0", area.width)
        return [*(others[at] for at in shown), line((text, FAINT))]
    return [rows[at] for at in area.window(len(rows))]


def _rows(part: Sequence[Register], area: Area) -> list[Text]:
    short = [row for row in part if cell_len(row.text) <= LONG]
    long = [row for row in part if cell_len(row.text) > LONG]
    return _columns(short, area) + [piece for row in long for piece in _long(row, long, area)]


def _is_zero(row: Register) -> bool:
    return set(row.text) <= {"0", " "}


def _columns(short: Sequence[Register], area: Area) -> list[Text]:
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
            text.append(value, change_style(row.age) or (FAINT if _is_zero(row) else ""))
            text.append(" " * (wide - names - 1 - cell_len(value)))
        text.rstrip()
        rows.append(text)
    return rows


def _long(row: Register, long: Sequence[Register], area: Area) -> list[Text]:
    """Return the rows of a long register. If there are many long registers, each has one row."""
    names = max(cell_len(one.name) for one in long)
    width = max(1, area.width - names - 1)
    pieces = wrap(row.text, width) if len(long) <= FEW else [area.cut(row.text, width)]
    style = change_style(row.age) or (FAINT if _is_zero(row) else "")
    heads = [row.name, *[""] * (len(pieces) - 1)]
    return [
        line(head.rjust(names) + " ", (piece, style))
        for head, piece in zip(heads, pieces, strict=True)
    ]
