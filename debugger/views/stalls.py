"""Who waits for what, and for whom."""

from __future__ import annotations

from rich.text import Text

from debugger.frame import Frame, Stall
from debugger.views.room import BAD, FAINT, NAME, Room, line


def view(frame: Frame, room: Room) -> list[Text]:
    """A tree: below a core that waits stand those that could end it."""
    part: tuple[Stall, ...] = frame.parts["stalls"]
    if not part:
        return [line((room.cut("no core waits", room.width), FAINT))]
    return [_row(part[at], room) for at in room.window(len(part))]


def _row(row: Stall, room: Room) -> Text:
    indent = "  " * max(0, row.depth - 1) + (room.signs.below if row.depth else "")
    text = f"waits for {row.text}" if row.waits else {"run": "runs"}.get(row.text, row.text)
    text += " (a circle)" if row.again else ""
    head = f"{row.core} "
    cut = room.cut(text, max(1, room.width - len(indent) - len(head)))
    return line((indent, FAINT), (head, NAME), (cut, BAD if row.again else ""))
