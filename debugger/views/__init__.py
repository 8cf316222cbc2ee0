"""Draws the panels: one function for each makes rows (`Text` of rich) from a frame and an area.

The functions never parse text as markup, because operands and values look like markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from macaw.debugger.views import (
    code,
    counters,
    grid,
    memory,
    output,
    queues,
    registers,
    stalls,
    timeline,
    watches,
)

if TYPE_CHECKING:
    from rich.text import Text

    from macaw.debugger.frame import Frame
    from macaw.debugger.views.area import Area

View = Callable[["Frame", "Area"], list["Text"]]

VIEWS: Mapping[str, View] = {
    "code": code.view,
    "registers": registers.view,
    "queues": queues.view,
    "output": output.view,
    "memory": memory.view,
    "grid": grid.view,
    "counters": counters.view,
    "stalls": stalls.view,
    "timeline": timeline.view,
    "watches": watches.view,
}


def draw(panel: str, frame: Frame, area: Area) -> list[Text]:
    """Return the rows of a panel, cut to its area."""
    rows = VIEWS[panel](frame, area)[: area.height]
    for row in rows:
        if row.cell_len > area.width:
            row.truncate(area.width)
    return rows
