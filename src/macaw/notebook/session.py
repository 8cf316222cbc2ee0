"""Shows a debugging session in a notebook: position, reason of the stop, points, cores, queues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from macaw.debugger.commands.text import stop_lines
from macaw.debugger.places import Place
from macaw.debugger.session import Session
from macaw.debugger.state_paths import Members, count_items
from macaw.notebook.device import device_parts
from macaw.notebook.markup import (
    CHART_COLUMNS,
    Cell,
    Column,
    Markup,
    column_maxima,
    output,
    paragraph,
    section,
    step_chart,
    table,
)

LEAST_MOMENTS = 3  # of a chart: checkpoints and the present


def session_html(session: Session) -> str:
    """Return the HTML of a session at its current position."""
    title, *reasons = [line.strip() for line in stop_lines(session.last_stop)]
    parts = [*map(paragraph, reasons), _points(session), _past(session)]
    text = b"".join(data for _position, _stream, data in session.output)
    if text:
        parts.append(output("Output", text.decode("utf-8", "replace")))
    names = ", ".join(PurePath(name).name for name in session.program.source_files)
    heading = f"Session of {names or 'a program'} on {session.program.device}: {title}"
    return section(heading, [*parts, *device_parts(session.device)])


def _points(session: Session) -> Markup:
    columns = [Column("number", True), Column("kind"), Column("at"), Column("condition"),
               Column("hits", True), Column("enabled")]  # fmt: skip
    rows = [
        [str(point.number), point.kind, point.text, point.condition, f"{point.hits:,}",
         "yes" if point.enabled else "no"]
        for point in session.points
    ]  # fmt: skip
    return table(columns, rows, "Breakpoints, watches and events")


def _past(session: Session) -> Markup:
    """Return a table of queues: a chart of their levels at the checkpoints, and the level now.

    Queues that were empty at all these moments are left out. The table is empty if there are fewer
    than `LEAST_MOMENTS` moments.
    """
    columns = [
        Column("queue"),
        Column("level at checkpoints"),
        Column("now", True),
        Column("capacity", True),
    ]
    rows: list[list[Cell]] = []
    cycle = session.device.cycle
    for name, capacity, points in _levels(session):
        levels = column_maxima(points, cycle + 1, CHART_COLUMNS)
        greatest = max(level for _cycle, level in points)
        if greatest and len(points) >= LEAST_MOMENTS:
            chart = step_chart(levels, greatest, f"{name}: at most {greatest:,.0f}")
            rows.append([name, chart, f"{points[-1][1]:,.0f}", f"{capacity:,}"])
    return table(columns, rows, f"Queues from cycle 0 to {cycle:,}")


def _levels(session: Session) -> Iterator[tuple[str, int, list[tuple[int, float]]]]:
    """Yield (name, capacity, levels) of each queue.

    The levels are pairs (cycle, fill level): one for each checkpoint before the present position,
    and the present one last.
    """
    device = session.device
    device.sync()
    earlier = [item for item in session.checkpoints if item.position < device.position]
    for core in device.order:
        members = Members(device, Place(core.name))
        for queue in core.table.queues:
            points = [
                (
                    item.snapshot.cycle,
                    float(count_items(item.snapshot.cores[core.name][queue.contents])),
                )
                for item in earlier
            ]
            points.append(
                (device.cycle, float(count_items(members.find((queue.name, "level")).read())))
            )
            capacity = int(members.find((queue.name, "capacity")).read())
            yield f"{core.name}.{queue.name}", capacity, points
