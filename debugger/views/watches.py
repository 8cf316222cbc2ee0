"""Draws the watches panel: displays with their values, and points with their hits."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, WatchRow
from macaw.debugger.views.area import FAINT, NAME, Area, change_style, line


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a row for each display or point: kind and number, text, value or hits."""
    part: tuple[WatchRow, ...] = frame.parts["watches"]
    if not part:
        return [line((area.cut("display E shows a value here, watch E stops", area.width), FAINT))]
    names = max(len(row.name) for row in part)
    return [_row(part[at], names, area) for at in area.window(len(part))]


def _row(row: WatchRow, names: int, area: Area) -> Text:
    left = max(2, area.width - names - 2)
    text = area.cut(row.text, left // 2)
    value = area.cut(row.value, left - len(text))
    return line((row.name.ljust(names) + " ", NAME), f"{text} ", (value, change_style(row.age)))
