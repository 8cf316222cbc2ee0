"""Draws the memory panel: bytes in hexadecimal and as characters."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, MemoryRow
from macaw.debugger.views.area import ADDRESS, FAINT, NAME, Area, change_style, line


def view(frame: Frame, area: Area) -> list[Text]:
    """Return rows of 16 bytes; in a narrow area, rows of 8 or 4 bytes."""
    part: tuple[MemoryRow, ...] = frame.parts["memory"]
    if not part:
        message = "nothing is in memory there; x ADDRESS looks elsewhere"
        return [line((area.cut(message, area.width), FAINT))]
    count = 16 if area.width >= 9 + 3 * 16 else 8 if area.width >= 9 + 3 * 8 else 4
    rows = [
        (row, at) for row in part for at in range(0, len(row.data), count)
    ]  # (row of the part, its first byte)
    return [_row(*rows[at], count, area) for at in area.window(len(rows))]


def _row(row: MemoryRow, at: int, count: int, area: Area) -> Text:
    parts: list[str | tuple[str, str]] = [(f"{row.address + at:08x}", ADDRESS)]
    data, ages = row.data[at : at + count], row.ages[at : at + count]
    cells = 8 + 3 * len(data)
    for byte, age in zip(data, ages, strict=True):
        text = "--" if byte is None else f"{byte:02x}"
        parts += [" ", (text, change_style(age) or (FAINT if not byte else ""))]
    name_width = 12 if row.name else 0
    if area.width - cells > count + name_width:
        cells += 1 + len(data)
        parts.append(" ")
        for byte, age in zip(data, ages, strict=True):
            char = chr(byte) if byte is not None and 0x20 <= byte < 0x7F else "."
            parts.append((char, change_style(age) or (FAINT if char == "." else "")))
    left = area.width - cells - 1
    if not at and row.name and left >= 6:
        parts.append((" " + area.cut(row.name, left), NAME))
    return line(*parts)
