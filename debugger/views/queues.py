"""Queues: how full they are, were and have been at most."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Queue
from macaw.debugger.views.room import BAD, FAINT, GOOD, NAME, Room, bar, changed, line, spark


def view(frame: Frame, room: Room) -> list[Text]:
    """A row a queue: name, bar, level of capacity, high-water mark; its past if there is room."""
    part: tuple[Queue, ...] = frame.parts["queues"]
    if not part:
        return [line((room.cut(f"{frame.focus} has no queues", room.width), FAINT))]
    names = min(max(len(row.name) for row in part), max(6, room.width // 3))
    digits = max(len(str(row.capacity)) for row in part)
    return [_row(part[at], names, digits, room) for at in room.window(len(part))]


def _row(row: Queue, names: int, digits: int, room: Room) -> Text:
    used = names + 1 + 2 * digits + 2
    high = "" if row.high is None else f"max {row.high}".rjust(digits + 4)
    left = room.width - used - (digits + 5) - 1
    width = max(0, min(10, left // 2))
    past = max(0, min(40, left - width - 1))
    style = BAD if row.level >= row.capacity else GOOD
    found = line(
        (room.cut(row.name, names).ljust(names) + " ", NAME),
        (bar(row.level / max(1, row.capacity), width, room.signs), style),
        (" " if width else "") + "",
        (str(row.level).rjust(digits), changed(row.age)),
        f"/{row.capacity}".ljust(digits + 1),
    )
    found.append(f" {high}".ljust(digits + 6), FAINT)
    if past > 3:
        found.append(spark(row.past, row.capacity, past, room.signs), style)
    return found
