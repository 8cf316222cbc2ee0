"""Displays with their values, watches and breakpoints."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Watched
from macaw.debugger.views.room import FAINT, NAME, Room, changed, line


def view(frame: Frame, room: Room) -> list[Text]:
    """A row each: what it is, its text, its value or hits."""
    part: tuple[Watched, ...] = frame.parts["watches"]
    if not part:
        return [line((room.cut("display E shows a value here, watch E stops", room.width), FAINT))]
    names = max(len(row.name) for row in part)
    return [_row(part[at], names, room) for at in room.window(len(part))]


def _row(row: Watched, names: int, room: Room) -> Text:
    left = max(2, room.width - names - 2)
    text = room.cut(row.text, left // 2)
    value = room.cut(row.value, left - len(text))
    return line((row.name.ljust(names) + " ", NAME), f"{text} ", (value, changed(row.age)))
