"""Draws the counters panel: performance counters with their changes since the last stop."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Counter, Frame
from macaw.debugger.views.area import FAINT, NAME, Area, change_style, line


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a row for each counter that is not 0, below the name of its core."""
    part: tuple[Counter, ...] = frame.parts["counters"]
    if not part:
        return [line((area.cut("nothing was counted yet", area.width), FAINT))]
    rows: list[Text] = []
    core = ""
    for row in part:
        if row.core != core:
            core = row.core
            rows.append(line((core, NAME)))
        rows.append(_row(row, area))
    return [rows[at] for at in area.window(len(rows))]


def _row(row: Counter, area: Area) -> Text:
    change = f"{row.change:+,}" if row.change else ""
    names = max(8, area.width - 14 - 11 - 1)
    text = line(
        " " + area.cut(row.name, names - 1).ljust(names - 1),
        f"{row.value:,}".rjust(14),
        (f" {change}".rjust(11), change_style(0 if row.change else 9).replace("reverse ", "")),
    )
    if area.width - text.cell_len > len(row.unit) + 1:
        text.append(f" {row.unit}", FAINT)
    return text
