"""Writes answers as plain text, for scripts and for terminals without a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from macaw.debugger.commands.answers import DISPLAY, VALUE, Answer
from macaw.debugger.frame import visible
from macaw.debugger.stops import Hit, StopRecord, Where
from macaw.debugger.values import differences

WIDEST = 100  # the greatest number of characters in a cell of a table
BRIEF = 8  # the greatest number of an array's elements in a line
TableLines = Callable[[Sequence[str], Iterable[Sequence[Any]]], Iterator[str]]


def answer_text(answer: Answer, line: str = "", table: TableLines | None = None) -> str:
    """Return the text of an answer; an error shows the command line with its wrong part marked.

    `line` is the command line. `table` returns the lines of a table from its columns and rows; the
    default is `table_lines`.
    """
    return "\n".join(_lines(answer, line, table or table_lines))


def both(this: Answer, other: Answer, this_name: str, other_name: str) -> Answer:
    """Return the answers of two runs to the same line as one answer.

    If the texts of both answers are equal except for the names of the runs, return `this`.
    Otherwise return `this` with the other answer in `answers`; both then name their runs.
    """
    same = answer_text(other).replace(other_name, this_name) == answer_text(this)
    if this.kind == other.kind and same:
        return this
    theirs = replace(other, run=other_name)
    return replace(this, run=this_name, answers=(*this.answers, theirs))


def _lines(answer: Answer, line: str, table: TableLines) -> Iterator[str]:
    if answer.run:
        yield f"{answer.run}:"
    if answer.kind == "error":
        for other in answer.answers:
            yield from _lines(other, "", table)
        yield f"error: {answer.message}"
        if answer.mark is not None and line:
            end = min(max(answer.mark.end, answer.mark.begin + 1), len(line) + 1)
            yield f"  {line}"
            yield "  " + " " * answer.mark.begin + "^" * max(1, end - answer.mark.begin)
        if answer.hint:
            yield f"hint: {answer.hint}"
    if answer.title:
        yield answer.title
    if answer.stopped is not None and not answer.silent:
        yield from stop_lines(answer.stopped)
    if answer.kind == "table" and answer.columns == VALUE:
        yield from value_lines(answer.rows)
    elif answer.kind == "table" and answer.columns == DISPLAY:
        yield from (f"{at}: {name} = {cell_text(value)}" for at, name, value in answer.rows)
    elif answer.kind == "table":
        yield from table(answer.columns, answer.rows)
    yield from answer.lines
    for other in answer.answers if answer.kind != "error" else ():
        yield from _lines(other, "", table)


def stop_lines(stop: StopRecord) -> Iterator[str]:
    """Yield lines that say why and where a run has stopped."""
    yield f"{_reason(stop)} at cycle {stop.cycle:,}"
    for hit in stop.hits:
        yield f"  {hit_text(hit)}"
    if stop.fault is not None:
        yield f"  {stop.fault['kind']}: {stop.fault['message']}"
    for wait in stop.waits:
        who = f" ({', '.join(wait.cores)})" if wait.cores else ""
        yield f"  {wait.core} waits for {wait.on}{who} since cycle {wait.since:,}"
    if stop.where is not None and stop.where.address is not None:
        yield f"  {where_text(stop.where)}"


def _reason(stop: StopRecord) -> str:
    if stop.at_start:
        return "start of the program"
    if stop.reason == "exit":
        return f"exit with code {stop.exit_code or 0}"
    if stop.reason == "step" and stop.done > 1:
        return f"{stop.done} steps done"
    return {"step": "step done", "limit": "cycle limit", "arrived": "arrived"}.get(
        stop.reason, stop.reason
    )


def counted(number: int, what: str) -> str:
    """Return a number with the noun `what`, in the plural if needed: `1 point`, `2 points`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def hit_text(hit: Hit) -> str:
    """Return the hit of a point as one line of text."""
    text = f"{hit.kind} {hit.number}: {hit.text}" if hit.number else hit.text
    if hit.kind in ("watch", "rwatch", "awatch"):
        is_change = hit.old is not None or "access" not in hit.values
        text += f": {_change_text(hit.old, hit.new) if is_change else brief(hit.new)}"
    if "access" in hit.values:
        text += f", {hit.values['access']}"
    elif hit.kind == "catch":
        text += _event_text(hit.values)
    if hit.by:
        text += f" by {hit.by}"
    if "error" in hit.values and hit.kind != "catch":  # which says it itself
        text += f" ({hit.values['error']})"
    return text


def _event_text(values: Mapping[str, Any]) -> str:
    """Return a text with the place of an event and the event's other values."""
    where = [f"{values['of']} of {values['place']}"] if "of" in values else []
    if values.get("element"):
        where[0] += f" {values['element']}"
    if "on" in values:
        where.append(f"{values['place']} for {values['on']}")
    others = ("place", "of", "element", "on", "since", "address", "error")
    where += [f"{name} {value}" for name, value in values.items() if name not in others]
    if "error" in values:
        where.append(str(values["error"]))
    return ": " + ", ".join(where) if where else ""


def _change_text(old: Any, new: Any) -> str:
    """Return a text with the old and the new value.

    For arrays of one shape, the text has the number of elements that differ, and the first of them.
    """
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape:
        differ = differences(old, new)
        if len(differ):
            at = tuple(differ[0].tolist())
            first = f"{value_text(old[at].item())} -> {value_text(new[at].item())}"
            return f"{len(differ):,} of {new.size:,} elements, first {list(at)}: {first}"
    return f"{brief(old)} -> {brief(new)}"


def brief(value: Any) -> str:
    """Return a value as a short text; for an array, its first elements."""
    if isinstance(value, np.ndarray):
        more = ", ..." if value.size > BRIEF else ""
        return f"[{', '.join(map(value_text, value.ravel()[:BRIEF].tolist()))}{more}]"
    return value_text(value)


def where_text(where: Where) -> str:
    """Return one line of text with the instruction and the source line of a `Where`."""
    text = where.core
    if where.address is not None:
        text += f" at {where.address:#010x}"
    if where.symbol:
        text += f" <{where.symbol}>"
    if where.file:
        text += f" {where.file}:{where.line}"
    if where.layer:
        text += f", layer {visible(where.layer)}"
    return text


def value_text(value: Any) -> str:
    """Return a value as text, for example `-` for None and `yes` for True."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} {value_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return str(value)


def value_lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield lines `NAME = VALUE` for rows (name, value); each row of an array gets its own line."""
    for name, value in rows:
        if isinstance(value, list):
            yield from _array_lines(f"{name} =", value, 0)
        else:
            first, *more = value_text(value).splitlines() or [""]
            yield f"{name} = {first}"
            yield from (f"  {line}" for line in more)


def _array_lines(head: str, value: list[Any], width: int) -> Iterator[str]:
    """Yield lines with the array `value` after the text `head`.

    Numbers have `width` characters; with 0, those of an array of rows are as wide as its longest.
    Each row of the array begins a line, and lines are wrapped at `WIDEST` characters.
    """
    if value and isinstance(value[0], list):
        yield head
        width = width or _widest(value)
        places = len(str(len(value) - 1)) + 2
        for at, row in enumerate(value):
            head = f"[{at}]".rjust(places)
            yield from (f"  {line}" for line in _array_lines(head, row, width))
        return
    line = f"{head} ["
    for at, item in enumerate(map(value_text, value)):
        text = item.rjust(width) + ("," if at < len(value) - 1 else "]")
        if len(line) + len(text) > WIDEST:
            yield line.rstrip()
            line = "  "
        line += f"{text} "
    yield line.rstrip() + ("" if value else "]")


def _widest(value: Any) -> int:
    """Return the number of characters in the longest number of an array."""
    if isinstance(value, list):
        return max(map(_widest, value), default=0)
    return len(value_text(value))


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table, with columns of numbers aligned to the right.

    Columns that have neither a name nor values are left out. For a table without rows, the only
    line is `none`.
    """
    raw = [list(row) for row in rows]
    if not raw:
        yield "none"
        return
    is_shown = [
        name or any(x is not None for x in x) for name, *x in zip(columns, *raw, strict=True)
    ]
    columns, *raw = (list(compress(row, is_shown)) for row in (columns, *raw))
    cells = [[cell_text(cell) for cell in row] for row in raw]
    right = [
        all(isinstance(row[at], int | float) or row[at] is None for row in raw)
        for at in range(len(columns))
    ]
    widths = [max(len(name), *(len(row[at]) for row in cells)) for at, name in enumerate(columns)]
    for row in [list(columns), *cells]:
        parts = [
            text.rjust(width) if side else text.ljust(width)
            for text, width, side in zip(row, widths, right, strict=True)
        ]
        yield "  ".join(parts).rstrip()


def cell_text(value: Any) -> str:
    """Return the text of a table's cell, cut at `WIDEST` characters."""
    text = value_text(value)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
