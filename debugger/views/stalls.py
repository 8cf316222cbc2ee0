"""Who waits for what, and for whom."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Stall
from macaw.debugger.views.room import BAD, FAINT, NAME, Room, line


def view(frame: Frame, room: Room) -> list[Text]:
    """A tree: below somebody who waits stand those that could end it; then the true causes."""
    part: tuple[Stall, ...] = frame.parts["stalls"]
    if not part:
        return [line((room.cut("no core runs", room.width), FAINT))]
    return [_row(part[at], room) for at in room.window(len(part))]


def _row(row: Stall, room: Room) -> Text:
    indent = "  " * max(0, row.depth - 1) + (room.signs.below if row.depth else "")
    head = f"{row.who} " if row.who else ""
    cut = room.cut(row.text, max(1, room.width - len(indent) - len(head)))
    return line((indent, FAINT), (head, NAME), (cut, BAD if row.final else ""))
