"""Draws the against panel: two runs side by side, with the items in which they differ."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Against, Frame, Side
from macaw.debugger.views.area import FAINT, NAME, Area, Signs, line

DIFFERENT = "bold yellow"


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the panel needs."""
    part: Against = frame.parts["against"]
    return len(part.rows) + 2 if part.rows else 1


def view(frame: Frame, area: Area) -> list[Text]:
    """Return rows with the names of the runs and both texts of each item; then what is equal."""
    part: Against = frame.parts["against"]
    if not part.rows:
        return [line((area.cut(part.message, area.width), FAINT))]
    heads = Side("", *part.names)
    names = min(max(len(row.name) for row in part.rows), max(4, area.width // 4))
    sides = max(1, (area.width - names - 2) // 2)
    widest = max(len(row.this) for row in (heads, *part.rows))
    this = min(widest, max(sides, area.width - names - 2 - max(len(x.other) for x in part.rows)))
    rows = [_row(heads, names, this, area, NAME)]
    for row in part.rows:
        rows.append(_row(row, names, this, area, "" if row.this == row.other else DIFFERENT))
    rows.append(line((area.cut(part.message, area.width), FAINT)))
    return [rows[at] for at in area.window(len(rows))]


def _row(row: Side, names: int, this: int, area: Area, style: str) -> Text:
    left = max(1, area.width - names - this - 2)
    return line(
        (area.cut(row.name, names).ljust(names) + " ", NAME),
        (area.cut(row.this, this).ljust(this) + " ", style),
        (area.cut(row.other, left), style),
    )
