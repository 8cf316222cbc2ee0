"""Draws the counters panel: performance counters with their changes since the last stop."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import OLD, Counter, Frame
from macaw.debugger.views.area import FAINT, NAME, Area, Signs, change_style, line

LEAST = 8  # cells that a name has at least


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the panel needs."""
    part: tuple[Counter, ...] = frame.parts["counters"]
    return max(1, len(part) + len({row.core for row in part}))


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the panel: for each core its name, then its counters that are not 0."""
    part: tuple[Counter, ...] = frame.parts["counters"]
    if not part:
        return [line((area.cut("nothing was counted yet", area.width), FAINT))]
    rows: list[Counter | str] = []
    core = ""
    widths = tuple(max(map(len, column)) for column in zip(*map(_cells, part), strict=True))
    for row in part:
        if row.core != core:
            core = row.core
            rows.append(core)
        rows.append(row)
    return [_any_row(rows[at], widths, area) for at in area.window(len(rows))]


def _cells(row: Counter) -> tuple[str, str, str, str]:
    """Return the texts of a row: name, value, change since the last stop, unit."""
    return row.name, f"{row.value:,}", f"{row.change:+,}" if row.change else "", row.unit


def _any_row(row: Counter | str, widths: tuple[int, ...], area: Area) -> Text:
    """Return the row of a counter, or of the name of a core."""
    if isinstance(row, str):
        return line((area.cut(row, area.width), NAME))
    return _row(row, widths, area)


def _row(row: Counter, widths: tuple[int, ...], area: Area) -> Text:
    name, value, change, unit = _cells(row)
    rest = sum(widths[1:3]) + 3 + 2 * bool(unit)  # the unit has at least two cells
    names = max(LEAST, min(widths[0], area.width - rest))
    text = line(
        " " + area.cut(name, names).ljust(names),
        value.rjust(1 + widths[1]),
        (
            change.rjust(1 + widths[2]),
            change_style(0 if row.change else OLD).replace("reverse ", ""),
        ),
    )
    left = area.width - text.cell_len - 1
    if unit:  # without room, `draw` cuts the row and marks the cut
        text.append(" " + area.cut(unit, max(1, left)), FAINT)
    return text
