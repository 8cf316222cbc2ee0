"""Draws the code panel: instructions below their lines of source."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Code, CodeRow, Frame
from macaw.debugger.views.area import ADDRESS, BAD, FAINT, NAME, Area, line


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows around the current instruction, which is at a third of the height."""
    part: Code = frame.parts["code"]
    if not part.rows:
        return [line((area.cut(part.message, area.width), FAINT))]
    window = area.window(len(part.rows), part.current - area.height // 3)
    return [_row(part.rows[at], area) for at in window]


def _row(row: CodeRow, area: Area) -> Text:
    if row.address is None:
        place = area.cut(row.where, 18)
        return line((f"{place} ", NAME), (area.cut(row.text, area.width - len(place) - 1), FAINT))
    signs = area.signs
    point = {"on": signs.point, "off": signs.off}.get(row.point, " ")
    here = signs.here if row.current else signs.other if row.mark else " "
    label = row.where if row.where and "+" not in row.where else ""
    digits = f"{row.address:08x} "
    tail = f" {row.mark}" if row.mark and not row.current else ""
    cells_left = area.width - 2 - len(digits) - len(tail)
    text = area.cut(row.text, cells_left)
    text_row = line(
        (point, BAD),
        (here, "bold green"),
        (digits, ADDRESS),
        (text, "bold reverse" if row.current else ""),
        (tail, "green"),
    )
    left = area.width - text_row.cell_len - 2
    if label and left > len(label) + 3:
        text_row.append(" " * (left - len(label) - 1) + f"<{label}>", NAME)
    return text_row
