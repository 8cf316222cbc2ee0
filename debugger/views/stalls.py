"""Draws the stalls panel: which core waits for what, and for which other cores."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Stall
from macaw.debugger.views.area import BAD, FAINT, NAME, Area, line


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the stall trees, followed by the causes.

    The cores that could end a core's wait are below this core.
    """
    part: tuple[Stall, ...] = frame.parts["stalls"]
    if not part:
        return [line((area.cut("no core runs", area.width), FAINT))]
    return [_row(part[at], area) for at in area.window(len(part))]


def _row(row: Stall, area: Area) -> Text:
    indent = "  " * max(0, row.depth - 1) + (area.signs.below if row.depth else "")
    head = f"{row.who} " if row.who else ""
    cut = area.cut(row.text, max(1, area.width - len(indent) - len(head)))
    return line((indent, FAINT), (head, NAME), (cut, BAD if row.final else ""))
