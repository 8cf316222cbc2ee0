"""Bytes of memory, and as characters."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, MemoryRow
from macaw.debugger.views.room import ADDRESS, FAINT, NAME, Room, changed, line


def view(frame: Frame, room: Room) -> list[Text]:
    """A row for 16 bytes, 8 where there is no room."""
    part: tuple[MemoryRow, ...] = frame.parts["memory"]
    if not part:
        message = "nothing is in memory there; x ADDRESS looks elsewhere"
        return [line((room.cut(message, room.width), FAINT))]
    count = 16 if room.width >= 9 + 3 * 16 else 8 if room.width >= 9 + 3 * 8 else 4
    rows = [
        (row, at) for row in part for at in range(0, len(row.data), count)
    ]  # each begins at a byte of a part's row
    return [_row(*rows[at], count, room) for at in room.window(len(rows))]


def _row(row: MemoryRow, at: int, count: int, room: Room) -> Text:
    found = line((f"{row.address + at:08x}", ADDRESS))
    data, ages = row.data[at : at + count], row.ages[at : at + count]
    for byte, age in zip(data, ages, strict=True):
        found.append(" ")
        text = "--" if byte is None else f"{byte:02x}"
        found.append(text, changed(age) or (FAINT if not byte else ""))
    named = 12 if row.name else 0
    if room.width - found.cell_len > count + named:
        found.append(" ")
        for byte, age in zip(data, ages, strict=True):
            char = chr(byte) if byte is not None and 0x20 <= byte < 0x7F else "."
            found.append(char, changed(age) or (FAINT if char == "." else ""))
    left = room.width - found.cell_len - 1
    if not at and row.name and left >= 6:
        found.append(" " + room.cut(row.name, left), NAME)
    return found
