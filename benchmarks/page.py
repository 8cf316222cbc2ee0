"""Writes docs/benchmarks.md from the recorded results: the goals, then the tables of each case.

No figure on the page is written by hand. The texts are benchmarks/texts.py and those of the goals.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import texts
from benchmarks.figures import Figure
from benchmarks.goals import AT_LEAST, GOALS, Goal
from benchmarks.measure import table
from benchmarks.results import LOADED, Origin, Result, read

Results = Mapping[str, Result]
MEASURED = "measured"
LOAD, LOADED_RESULTS = "with a load of {}", "benchmarks-load-{}.json"  # processes beside


def page(folder: Path) -> str:
    """Return the page for the results in a folder."""
    results = read(folder / "benchmarks.json")
    others = {}
    for path in sorted(folder.glob(LOADED_RESULTS.format("*"))):
        others[LOAD.format(path.stem.split("-")[-1])] = read(path)
    for path in sorted(folder.glob("benchmarks-3.*.json")):
        others[f"Python {path.stem.removeprefix('benchmarks-')}"] = read(path)
    parts = [texts.HEAD, _origins(results), *_others(others), _goals(results, others)]
    parts += [texts.PUBLISHED, texts.CALIBRATION]
    parts += [_section(name, results[name]) for name in texts.SECTIONS if name in results]
    return "\n".join([*parts, texts.END])


def verdict(goal: Goal, results: Results) -> bool | None:
    """Return whether the figures meet a goal; None if the figures were not measured."""
    found = worst(goal, results)
    if found is None:
        return None
    return found[1] >= goal.value if goal.sense == AT_LEAST else found[1] <= goal.value


def worst(goal: Goal, results: Results) -> tuple[str, float] | None:
    """Return the row that is furthest from the goal, and its value.

    Returns None if not all rows of the goal were measured. The value is calibrated if the goal is.
    """
    if goal.case not in results:
        return None
    result = results[goal.case]
    found = {
        x.row: x.median
        for x in result.figures
        if (x.column, x.table) == (goal.column, goal.table)
        and (not goal.rows or x.row in goal.rows)
    }
    if not found or not found.keys() >= set(goal.rows):
        return None
    pick = min if goal.sense == AT_LEAST else max
    row = pick(found, key=lambda x: found[x])
    return row, _calibrated(goal, found[row], result.origin)


def _calibrated(goal: Goal, value: float, origin: Origin) -> float:
    """Return `value` as a machine of speed 1.0 has it if the goal is calibrated, else as it is."""
    if not goal.calibrated:
        return value
    speed = origin.speed[goal.calibrated]
    return value / speed if goal.sense == AT_LEAST else value * speed


def _goals(results: Results, others: Mapping[str, Results]) -> str:
    """Return the table of the goals."""
    head = ["what", "peer", "goal", MEASURED, *others, "", "floor", "what limits"]
    rows = []
    for goal in GOALS:
        cells = [_worst_cell(goal, x) for x in (results, *others.values())]
        sense = f"{goal.sense} {number(goal.value)}" + " (calibrated)" * bool(goal.calibrated)
        judged = _judged(goal, results, others)
        what = [goal.what, goal.peer, sense, *cells, judged, _floor(goal, results), goal.limits]
        rows.append(what)
    words = ("peer", "goal", "", "what limits")
    return f"## Goals\n\n{texts.GOALS}\n{table(head, rows, words)}"


def _judged(goal: Goal, results: Results, others: Mapping[str, Results]) -> str:
    met = verdict(goal, results)
    if met is None:
        return "not measured"
    loaded = [verdict(goal, x) for name, x in others.items() if name.startswith(LOAD.format(""))]
    if met and False in loaded:
        return "met when idle"
    return "met" if met else "missed"


def _worst_cell(goal: Goal, results: Results) -> str:
    found = worst(goal, results)
    if found is None:
        return ""
    row, value = found
    several = len(goal.rows) != 1
    return number(value) + (f" ({row})" if several else "")


def _floor(goal: Goal, results: Results) -> str:
    if goal.floor is None or goal.floor[0] not in results:
        return ""
    case, row, column = goal.floor
    for figure in results[case].figures:
        if (figure.row, figure.column) == (row, column):
            value = _calibrated(goal, figure.median, results[case].origin)
            return f"{number(value)} ({row})"
    return ""


def _origins(results: Results) -> str:
    """Return the machine, the versions and the commits of all results."""
    origins = [x.origin for x in results.values()]
    machines = ", ".join(sorted({x.machine for x in origins}))
    commits = ", ".join(sorted({x.commit for x in origins}))
    dates = sorted({x.date for x in origins})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    loads = [x for origin in origins for x in origin.load]
    seconds = sum(x.seconds or 0 for x in origins)
    versions: dict[str, str] = {}
    for origin in origins:
        versions |= origin.versions
    facts = [f"machine: {machines}", f"date: {when}", f"commit: {commits}"]
    facts += [f"versions: {', '.join(f'{name} {x}' for name, x in sorted(versions.items()))}"]
    facts += [f"load average: {min(loads)} to {max(loads)}"] if loads else []
    facts += [f"speed ({kind}): {_range(origins, kind)}" for kind in ("interpreter", "NumPy")]
    facts += [f"time: {seconds / 60:.0f} minutes"]
    if loads and max(loads) > LOADED:
        facts.append("other work ran beside some benchmarks: their sections have the load average")
    return "".join(f"{line}\n" for line in _wrapped([f"- {x}" for x in facts]))


def _range(origins: Sequence[Origin], kind: str) -> str:
    known = sorted(x.speed[kind] for x in origins if kind in x.speed)
    if not known:
        return "unknown"
    return (
        number(known[0]) if known[0] == known[-1] else f"{number(known[0])} to {number(known[-1])}"
    )


def _others(others: Mapping[str, Results]) -> Iterator[str]:
    for name, results in others.items():
        yield f"The column *{name}*:\n\n{_origins(results)}"


def _section(name: str, result: Result) -> str:
    """Return the tables of a case."""
    heading, text = texts.SECTIONS[name]
    origin = result.origin
    facts = [origin.date, f"commit {origin.commit}", origin.machine]
    facts += (
        [f"load average {' before and '.join(map(str, origin.load))} after"] if origin.load else []
    )
    facts += [f"took {origin.seconds:.0f} s"] if origin.seconds is not None else []
    parts = [f"## {heading}\n", text, f"Measured: {', '.join(facts)}.\n"]
    names = list(dict.fromkeys(x.table for x in result.figures))
    for title in names:
        if title:
            parts.append(f"*{title}*\n")
        parts.append(_table([x for x in result.figures if x.table == title]))
    for item in result.skipped:
        parts.append(f"- not measured: {item.what}: {item.reason}\n")
    return "\n".join(parts)


def _table(figures: Sequence[Figure]) -> str:
    columns = list(dict.fromkeys(x.column for x in figures))
    cells = {(x.row, x.column): number(x.median) for x in figures}
    rows = list(dict.fromkeys(x.row for x in figures))
    body = [[row, *(cells.get((row, column), "") for column in columns)] for row in rows]
    return table(["", *columns], body)


def number(value: float) -> str:
    """Return a number as text with three digits, or more if more are before the point."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _wrapped(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, wrapped to at most 120 characters."""
    for line in lines:
        indent = "  " if line.startswith("- ") else ""
        yield from textwrap.wrap(line, 120, subsequent_indent=indent, break_on_hyphens=False)
