"""Performance counters, with what has come to them since the last stop."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Counter, Frame
from macaw.debugger.views.room import FAINT, NAME, Room, changed, line


def view(frame: Frame, room: Room) -> list[Text]:
    """A row a counter that is not 0, below the name of its core."""
    part: tuple[Counter, ...] = frame.parts["counters"]
    if not part:
        return [line((room.cut("nothing was counted yet", room.width), FAINT))]
    rows: list[Text] = []
    core = ""
    for row in part:
        if row.core != core:
            core = row.core
            rows.append(line((core, NAME)))
        rows.append(_row(row, room))
    return [rows[at] for at in room.window(len(rows))]


def _row(row: Counter, room: Room) -> Text:
    change = f"{row.change:+,}" if row.change else ""
    names = max(8, room.width - 14 - 11 - 1)
    found = line(
        " " + room.cut(row.name, names - 1).ljust(names - 1),
        f"{row.value:,}".rjust(14),
        (f" {change}".rjust(11), changed(0 if row.change else 9).replace("reverse ", "")),
    )
    if room.width - found.cell_len > len(row.unit) + 1:
        found.append(f" {row.unit}", FAINT)
    return found
