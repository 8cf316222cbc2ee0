"""Draws the panels: a function for each panel makes rows (`Text` of rich) from a frame and an area.

The functions never parse texts as markup of rich, because operands and values look like markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from macaw.debugger.views import (
    against,
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
from macaw.debugger.views.area import cut_text

if TYPE_CHECKING:
    from rich.text import Text

    from macaw.debugger.frame import Frame
    from macaw.debugger.views.area import Area, Signs

View = Callable[["Frame", "Area"], list["Text"]]

Need = Callable[["Frame", int, "Signs"], int]

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
    "against": against.view,
}


NEEDS: Mapping[str, Need] = {
    "registers": registers.need,
    "output": output.need,
    "grid": grid.need,
    "counters": counters.need,
    "timeline": timeline.need,
    "against": against.need,
}
LISTS = ("queues", "stalls", "watches")  # panels with one row for each item


def need(panel: str, frame: Frame, width: int, signs: Signs) -> int | None:
    """Return how many rows the panel `panel` needs at a width.

    The result is None if the panel can fill any number of rows.
    """
    if panel not in frame.parts:
        return None
    if panel in LISTS:
        return max(1, len(frame.parts[panel]))
    return NEEDS[panel](frame, width, signs) if panel in NEEDS else None


def draw(panel: str, frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the panel `panel`, cut to its area."""
    rows = VIEWS[panel](frame, area)
    area.hidden[1] += len(rows) - len(rows[: area.height])
    rows = rows[: area.height]
    return [cut_text(row, area.width, area.signs) for row in rows]
