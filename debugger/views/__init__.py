"""The panels: each a function of a frame and its room, giving rich `Text` of one row each.

Texts are never read as markup: operands and values look like it.
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
    from macaw.debugger.views.room import Room

View = Callable[["Frame", "Room"], list["Text"]]

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


def draw(panel: str, frame: Frame, room: Room) -> list[Text]:
    """The rows of a panel, cut to its room."""
    found = VIEWS[panel](frame, room)[: room.height]
    for row in found:
        if row.cell_len > room.width:
            row.truncate(room.width)
    return found
