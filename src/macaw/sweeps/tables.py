"""A sweep as text: a table for a terminal, CSV, and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from macaw.errors import InputError
from macaw.isa import config
from macaw.isa.config import Value
from macaw.phrases import plural
from macaw.sweeps.points import Outcome
from macaw.sweeps.results import Sweep, pareto, plain_number
from macaw.terminal.plain import record

FORMAT = 1
DEFAULT_METRICS = ("cycles", "predicted", "macs", "external_bytes", "picojoules")
MOST_REFUSED = 8  # refused points in the table
SMALL = 0.1  # smaller numbers have three digits that count, not three decimal places
FRONT = "*"


def table(
    sweep: Sweep,
    metrics: Sequence[str] = (),
    front: Sequence[str] = (),
    limit: int | None = None,
    *,
    plain: bool = False,
) -> str:
    """Return a table with one line for each combination of settings, and a summary.

    A line has the means over all repetitions of its combination. `metrics` are columns of the
    table, by default those of `DEFAULT_METRICS` that the points have. A star marks the lines on the
    Pareto front of the columns `front`, in which small values are good. At most `limit`
    combinations are shown. Below them are the refused points and the summary.

    With `plain`, each cell of a line comes after its heading, and the columns are not aligned.
    Raises `InputError` for a metric that no point has, for a setting among `metrics`, and for a
    setting in `front` whose values are not numbers.
    """
    settings = {name: sweep.column(name) for name in sweep.settings}
    for name in check_settings(settings, metrics, front):
        sweep.check_metric(name)
    names = list(metrics) or [name for name in DEFAULT_METRICS if name in sweep.metrics]
    groups = _groups(sweep)
    marks = _front(groups, front) if front else [False] * len(groups)
    repeats = max((len(rows) for rows in groups), default=1)
    headings = [*sweep.settings, *names]
    if repeats > 1:
        headings.append("cycles from to")
    cells = [
        [
            *(config.shown(value) for _, value in rows[0].point.settings),
            *(_number(_mean(rows, name)) for name in names),
            *([_range(rows)] if repeats > 1 else []),
        ]
        for rows in groups
    ]
    lines = list(_lines(headings, cells[:limit], marks, plain=plain))
    if limit is not None and len(cells) > limit:
        lines.append(f"{plural(len(cells) - limit, 'more point')} not shown")
    lines += _refused_lines(sweep)
    if any(marks[:limit]):
        lines.append(
            f"{FRONT} no other point is better in one and worse in none of: {', '.join(front)}"
        )
    return "\n".join([*lines, _summary(sweep)])


def check_settings(
    settings: Mapping[str, Sequence[Value]], metrics: Sequence[str], front: Sequence[str]
) -> list[str]:
    """Return those columns of `metrics` and `front` that are no settings.

    `settings` has the values of each setting. Raises `InputError` for a setting among `metrics`,
    and for a setting in `front` whose values are not numbers.
    """
    for name in metrics:
        if name in settings:
            raise InputError(f"{name} is a setting, of which the table has a column already")
    for name in front:
        if any(isinstance(value, str) for value in settings.get(name, ())):
            raise InputError(f"the values of {name} are no numbers: none is less than another")
    return [name for name in (*metrics, *front) if name not in settings]


def _groups(sweep: Sweep) -> list[list[Outcome]]:
    groups: dict[Any, list[Outcome]] = {}
    for outcome in sweep.measured:
        groups.setdefault(outcome.point.settings, []).append(outcome)
    return list(groups.values())


def _mean(rows: Sequence[Outcome], name: str) -> float:
    return fmean(row.metrics.get(name, 0) for row in rows)


def _front(groups: Sequence[Sequence[Outcome]], names: Sequence[str]) -> list[bool]:
    values = []
    for rows in groups:
        settings = dict(rows[0].point.settings)
        values.append(
            [
                float(settings[name])
                if isinstance(settings.get(name), int | float)
                else _mean(rows, name)
                for name in names
            ]
        )
    return pareto(values)


def _number(value: float) -> str:
    if value.is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= SMALL else f"{value:.3g}"


def _range(rows: Sequence[Outcome]) -> str:
    cycles = [row.metrics["cycles"] for row in rows]
    return f"{min(cycles):,.0f} {max(cycles):,.0f}"


def _lines(
    headings: Sequence[str], cells: Sequence[Sequence[str]], marks: Sequence[bool], *, plain: bool
) -> Iterator[str]:
    if plain:
        for row, mark in zip(cells, marks, strict=False):
            yield record((*headings, ""), (*row, FRONT if mark else ""))
        return
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    for row, mark in zip((headings, *cells), (False, *marks), strict=False):
        text = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield f"{text}  {FRONT}" if mark else text


def _refused_lines(sweep: Sweep) -> Iterator[str]:
    refused = [outcome for outcome in sweep.outcomes if outcome.refused]
    if refused:
        yield f"refused: {plural(len(refused), 'point')}"
    for outcome in refused[:MOST_REFUSED]:
        yield f"  {outcome.point.name}: {outcome.refused}"
    if len(refused) > MOST_REFUSED:
        yield f"  {len(refused) - MOST_REFUSED:,} more"


def _summary(sweep: Sweep) -> str:
    reused = sum(outcome.reused for outcome in sweep.outcomes)
    words = f"{plural(len(sweep.outcomes), 'point')} of {sweep.subject}"
    return f"{words}; {reused:,} of an earlier sweep" if reused else words


def csv_text(sweep: Sweep) -> str:
    """Return the sweep as CSV: a line of names, then one line for each point, refused or not."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*sweep.settings, "repeat", "refused", *sweep.metrics])
    for outcome in sweep.outcomes:
        settings = [value for _, value in outcome.point.settings]
        numbers = [plain_number(outcome.metrics.get(name, 0)) for name in sweep.metrics]
        metrics = [""] * len(numbers) if outcome.refused else numbers
        writer.writerow([*settings, outcome.point.repeat, outcome.refused, *metrics])
    return out.getvalue()


def json_text(sweep: Sweep) -> str:
    """Return the sweep as the text of a JSON object.

    Its field `format` has the version of the file format (docs/compatibility.md).
    """
    return json.dumps(
        {
            "format": FORMAT,
            "subject": sweep.subject,
            "settings": list(sweep.settings),
            "metrics": list(sweep.metrics),
            "points": [
                {
                    "settings": dict(outcome.point.settings),
                    "repeat": outcome.point.repeat,
                    "seed": outcome.point.seed,
                    "refused": outcome.refused or None,
                    "metrics": {
                        name: plain_number(value) for name, value in outcome.metrics.items()
                    },
                }
                for outcome in sweep.outcomes
            ],
        },
        indent=1,
    )
