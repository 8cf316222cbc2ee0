"""Instructions, each below its line of source."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Code, CodeRow, Frame
from macaw.debugger.views.room import ADDRESS, BAD, FAINT, NAME, Room, line


def view(frame: Frame, room: Room) -> list[Text]:
    """The rows around the present instruction, which stands at a third of the height."""
    part: Code = frame.parts["code"]
    if not part.rows:
        return [line((room.cut(part.message, room.width), FAINT))]
    shown = room.window(len(part.rows), part.current - room.height // 3)
    return [_row(part.rows[at], room) for at in shown]


def _row(row: CodeRow, room: Room) -> Text:
    if row.address is None:
        place = room.cut(row.where, 18)
        return line((f"{place} ", NAME), (room.cut(row.text, room.width - len(place) - 1), FAINT))
    signs = room.signs
    point = {"on": signs.point, "off": signs.off}.get(row.point, " ")
    here = signs.here if row.current else signs.other if row.mark else " "
    label = row.where if row.where and "+" not in row.where else ""
    digits = f"{row.address:08x} "
    tail = f" {row.mark}" if row.mark and not row.current else ""
    room_left = room.width - 2 - len(digits) - len(tail)
    text = room.cut(row.text, room_left)
    found = line(
        (point, BAD),
        (here, "bold green"),
        (digits, ADDRESS),
        (text, "bold reverse" if row.current else ""),
        (tail, "green"),
    )
    left = room.width - found.cell_len - 2
    if label and left > len(label) + 3:
        found.append(" " * (left - len(label) - 1) + f"<{label}>", NAME)
    return found
