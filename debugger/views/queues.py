"""Draws the queues panel: levels of queues, past levels and high-water marks."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Queue
from macaw.debugger.views.area import BAD, FAINT, GOOD, NAME, Area, bar, change_style, line, spark

LEAST_NAME, LEAST_BAR = 6, 5  # width in cells


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a row for each queue: name, bar, level, capacity, high-water mark, past levels."""
    part: tuple[Queue, ...] = frame.parts["queues"]
    if not part:
        return [line((area.cut(f"{frame.focus} has no queues", area.width), FAINT))]
    digits = max(len(str(row.capacity)) for row in part)
    numbers = 2 * digits + 2 + digits + 6
    most = max(LEAST_NAME, area.width - numbers - LEAST_BAR)
    names = min(max(len(row.name) for row in part), most)
    return [_row(part[at], names, digits, area) for at in area.window(len(part))]


def _row(row: Queue, names: int, digits: int, area: Area) -> Text:
    used = names + 1 + 2 * digits + 2
    high = "" if row.high is None else f"max {row.high}".rjust(digits + 4)
    left = area.width - used - (digits + 5) - 1
    width = max(0, min(10, left // 2))
    past = max(0, min(40, left - width - 1))
    style = BAD if row.level >= row.capacity else GOOD
    text = line(
        (area.cut(row.name, names).ljust(names) + " ", NAME),
        (bar(row.level / max(1, row.capacity), width, area.signs), style),
        (" " if width else "") + "",
        (str(row.level).rjust(digits), change_style(row.age)),
        f"/{row.capacity}".ljust(digits + 1),
    )
    text.append(f" {high}".ljust(digits + 6), FAINT)
    if past > 3:
        text.append(spark(row.past, row.capacity, past, area.signs), style)
    return text
