"""Writes the causes of a value as plain records and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from macaw.debugger.causes.finder import Cause

DEPTH = 6  # steps back that are shown by default
DEEPEST = 200  # steps back at most
WIDTH = 12  # causes of one step that the text shows
MOST = 20_000  # causes that one record holds


def tree(causes: list[Cause], depth: int = DEPTH) -> list[dict[str, Any]]:
    """Return the causes as plain records, `depth` steps back, at most `MOST` records."""
    left = MOST

    def plain_of(cause: Cause, deep: int) -> dict[str, Any]:
        nonlocal left
        left -= 1
        record: dict[str, Any] = {"role": cause.role, "name": cause.name, "value": cause.value}
        record |= {"how": cause.how, "core": cause.core, "cycle": cause.cycle, "by": cause.by}
        record |= {"where": cause.where, "memory": cause.memory, "setting": cause.setting}
        if deep > 0 and left > 0 and not cause.ends:
            record["causes"] = some_of(cause.causes, deep - 1)
        elif not cause.ends:
            record["deeper"] = True
        return record

    def some_of(several: list[Cause], deep: int) -> list[dict[str, Any]]:
        records = []
        for cause in several:
            if left <= 0:
                break
            records.append(plain_of(cause, deep))
        return records

    return some_of(causes, depth)


def lines(causes: list[Cause], depth: int = DEPTH) -> Iterator[str]:
    """Yield the causes as lines of text; the values that a step has read are indented below it."""
    for cause in causes:
        yield from _lines(cause, depth, "")


def _lines(cause: Cause, depth: int, indent: str) -> Iterator[str]:
    yield indent + _line(cause)
    if cause.ends:
        return
    if depth <= 0:
        yield f"{indent}  ..."
        return
    below = [item for item in cause.causes if not item.setting]
    for item in cause.causes:
        if item.setting:
            yield from _lines(item, depth - 1, indent + "  ")
    for item in below[:WIDTH]:
        yield from _lines(item, depth - 1, indent + "  ")
    if len(below) > WIDTH:
        yield f"{indent}  and {len(below) - WIDTH} more"


def _line(cause: Cause) -> str:
    same = cause.role.replace(" ", "") == cause.name.replace(" ", "")
    text = cause.role if same or not cause.name else f"{cause.role} {cause.name}"
    if cause.setting:
        text = f"with {cause.role}"
    if cause.value is not None:
        text += f" = {cause.value}"
    if cause.setting and cause.name:
        text += f" of {cause.name}"
    if cause.ends:
        place = (
            f" {cause.where.file}:{cause.where.line}" if cause.where and cause.where.file else ""
        )
        text += _ENDED[cause.how] + place
        if cause.how == "set":
            text += f" at cycle {cause.cycle:,}" + (f", {cause.by}" if cause.by else "")
        return text
    text += f": {cause.core} {cause.how}"
    if cause.by:
        text += f" of {cause.by}"
    if cause.cycle is not None:
        text += f" at cycle {cause.cycle:,}"
    if cause.where is not None and cause.where.address is not None:
        text += f", {cause.where.address:#010x}"
        if cause.where.file:
            text += f" {cause.where.file}:{cause.where.line}"
    return text


_ENDED = {
    "input": ": an input",
    "program": ": of the program",
    "begin": ": there from the begin",
    "empty": ": nothing is there",
    "set": ": set by hand",
    "instruction": ": in the instruction",
    "window": ": through a window, whose core does not say what of",
}
