"""Requests that Macaw's adapter adds to the protocol: queues, grid of units, causes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from macaw.debugger.causes import cause_text
from macaw.debugger.dap.arguments import text, whole
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.threads import source_record
from macaw.debugger.places import Place, places
from macaw.debugger.state_paths import Members, count_items
from macaw.debugger.stops import plain

if TYPE_CHECKING:
    from macaw.debugger.heat_map import HeatMap
    from macaw.debugger.session import Session

MOST_QUEUES = 1000  # the greatest number of items of one response
MOST_ROWS = 400  # the greatest number of lines of causes in one response


def queues(session: Session, place: Place, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queues of the `places` in a request; without `places`, the queues of `place`."""
    names = text(arguments, "places", "")
    rows: list[dict[str, Any]] = []
    for chosen in places(session.device, names) if names else (place,):
        members = Members(session.device, chosen)
        for queue in members.table.queues:
            if len(rows) < MOST_QUEUES:
                level = count_items(members.find((queue.name, "level")).read())
                capacity = int(members.find((queue.name, "capacity")).read())
                rows.append({"place": str(chosen), "name": queue.name, "level": level,
                             "capacity": capacity, "meaning": queue.meaning})  # fmt: skip
    return {"queues": rows}


def grid(heat: HeatMap, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value that an expression has in each unit of the cores that `heat` chooses.

    Raises `RequestError`.
    """
    found = heat.grid(text(arguments, "expression", ""))
    if found.message:
        raise RequestError(found.message)
    rows = [
        {"name": name, "values": list(values), "places": list(names)}
        for (name, values), names in zip(found.rows, found.places, strict=True)
    ]
    focus = [str(place) for place in heat.session.focus]
    return {"expression": found.heat, "rows": rows, "focus": focus}


def why(session: Session, place: Place, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the causes of a value as records, rows and text.

    Short names in the expression refer to `place`. Raises `RequestError`, and the errors of
    `Session.why`.
    """
    expression = text(arguments, "expression")
    depth = whole(arguments, "depth", cause_text.DEPTH, 1, cause_text.DEEPEST)
    with session.focused(str(place)):
        causes = session.why(expression)
    rows = list(islice(cause_text.rows(causes, depth), MOST_ROWS))
    return {
        "causes": plain(cause_text.tree(causes, depth)),
        "rows": [_row(row) for row in rows],
        "lines": ["  " * row.indent + row.text for row in rows],
    }


def _row(row: cause_text.CauseRow) -> dict[str, Any]:
    """Return a row of causes as a record, with the source line and the cycle of its step."""
    record: dict[str, Any] = {"depth": row.indent, "text": row.text}
    if row.cause is None:
        return record
    where = row.cause.where
    if where is not None and where.file is not None and where.line is not None:
        record |= {"source": source_record(where.file), "line": where.line}
    return record if row.cause.cycle is None else {**record, "cycle": row.cause.cycle}
