"""Draws the registers panel: registers of the focus in as many columns as fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from macaw.debugger.frame import OLD, Frame, Register
from macaw.debugger.views.area import FAINT, Area, Signs, change_style, line

GAP = 2
LONG = 16  # a register with more digits has its own rows
Parts = list[str | tuple[str, str]]  # of a row: texts, and pairs (text, style)
FEW = 4  # up to so many long registers are shown with all their digits


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows all registers need."""
    return max(1, _count_rows(frame.parts["registers"], Area(width, 1, signs)))


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the panel: short registers in columns, then the long registers.

    In an area that is too small, registers that are 0 are left out until the user scrolls; the last
    row then says how many are left out.
    """
    part: tuple[Register, ...] = frame.parts["registers"]
    if not part:
        return [line((area.cut(f"{frame.focus} has no registers", area.width), FAINT))]
    zeros = [at for at, row in enumerate(part) if _is_zero(row) and row.age >= OLD]
    is_full = _count_rows(part, area) > area.height > 1
    if is_full and not area.scroll and not area.active and zeros:

        def others(count: int) -> list[Register]:
            left_out = set(zeros[len(zeros) - count :])
            return [row for at, row in enumerate(part) if at not in left_out]

        # Each count up to the right one leaves too many rows; the search draws none of them.
        counts = range(1, len(zeros))
        count = 1 + bisect_left(
            counts, True, key=lambda count: _count_rows(others(count), area) < area.height
        )
        rows = _rows(others(count), area)
        shown = replace(area, height=area.height - 1).window(len(rows))
        text = area.cut(f"{count} more registers are 0", area.width)
        return [*(line(*rows[at]) for at in shown), line((text, FAINT))]
    rows = _rows(part, area)
    return [line(*rows[at]) for at in area.window(len(rows))]


def _split(part: Sequence[Register]) -> tuple[list[Register], list[Register]]:
    """Return (short registers, which share rows, and long registers)."""
    short = [row for row in part if cell_len(row.text) <= LONG]
    return short, [row for row in part if cell_len(row.text) > LONG]


def _count_rows(part: Sequence[Register], area: Area) -> int:
    """Return how many rows of the panel the registers `part` need."""
    short, long = _split(part)
    rows = -(-len(short) // _shape(short, area)[2])
    return rows + (len(long) if len(long) > FEW else sum(map(len, _wrapped(long, area))))


def _rows(part: Sequence[Register], area: Area) -> list[Parts]:
    """Return the rows of the panel, each as texts and pairs (text, style) for `line` to join."""
    short, long = _split(part)
    rows, names = _columns(short, area), _name_width(long)
    for row, pieces in zip(long, _wrapped(long, area), strict=True):
        rows += _long(row, pieces, names)
    return rows


def _is_zero(row: Register) -> bool:
    return set(row.text) <= {"0", " "}


def _shape(short: Sequence[Register], area: Area) -> tuple[int, int, int]:
    """Return (width of a name, width of a column, number of columns) for short registers."""
    names = max((cell_len(row.name) for row in short), default=0)
    wide = names + 1 + max((cell_len(row.text) for row in short), default=0)
    return names, wide, max(1, (area.width + GAP) // (wide + GAP))


def _columns(short: Sequence[Register], area: Area) -> list[Parts]:
    names, wide, count = _shape(short, area)
    high = -(-len(short) // count)
    rows = []
    for at in range(high):
        parts: Parts = []
        gap = ""
        for row in short[at::high]:
            value = area.cut(row.text, max(1, area.width - names - 1))
            style = change_style(row.age) or (FAINT if _is_zero(row) else "")
            parts += [gap + row.name.rjust(names) + " ", (value, style)]
            gap = " " * (GAP + wide - names - 1 - cell_len(value))
        rows.append(parts)
    return rows


def _wrapped(long: Sequence[Register], area: Area) -> list[list[str]]:
    """Return a list of rows, as texts, for each long register.

    If there are more than `FEW` long registers, each has one row, which is cut at the panel's edge.
    """
    width = max(1, area.width - _name_width(long) - 1)
    if len(long) > FEW:
        return [[area.cut(row.text, width)] for row in long]
    return [wrap(row.text, width) for row in long]


def _name_width(long: Sequence[Register]) -> int:
    return max((cell_len(row.name) for row in long), default=0)


def _long(row: Register, pieces: Sequence[str], names: int) -> list[Parts]:
    """Return the rows that show a long register: one row for each text in `pieces`.

    The first row begins with the register's name, right-aligned in `names` cells; the other rows
    are indented as far.
    """
    style = change_style(row.age) or (FAINT if _is_zero(row) else "")
    heads = [row.name, *[""] * (len(pieces) - 1)]
    return [
        [head.rjust(names) + " ", (piece, style)] for head, piece in zip(heads, pieces, strict=True)
    ]
