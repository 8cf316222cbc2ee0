"""Writes the causes of a value as plain records and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from macaw.debugger.causes.finder import COPIED, Cause

DEPTH = 6  # steps back that are shown by default
DEEPEST = 200  # the greatest number of steps back
WIDTH = 12  # the greatest number of causes of one step that the text shows
MOST = 20_000  # the greatest number of causes in one record


class CauseRow(NamedTuple):
    """A line of the text: its depth of indentation, its text, and its cause.

    The cause is None for a line that stands for causes which are not shown, such as `...`.
    """

    indent: int
    text: str
    cause: Cause | None = None


def tree(causes: list[Cause], depth: int = DEPTH) -> list[dict[str, Any]]:
    """Return the causes and their causes, `depth` levels back, as plain records."""
    left = MOST

    def plain_of(cause: Cause, deep: int) -> dict[str, Any]:
        nonlocal left
        left -= 1
        record: dict[str, Any] = {"role": cause.role, "name": cause.name, "value": cause.value}
        record |= {"how": cause.how, "core": cause.core, "cycle": cause.cycle, "by": cause.by}
        record |= {"where": cause.where, "instruction": cause.instruction}
        record |= {"memory": cause.memory, "setting": cause.setting}
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
    """Yield the causes and their causes, `depth` levels back, as indented lines of text."""
    for row in rows(causes, depth):
        yield "  " * row.indent + row.text


def rows(causes: list[Cause], depth: int = DEPTH) -> Iterator[CauseRow]:
    """Yield a row (indentation, text, cause) for each cause, and for their causes below it.

    The rows go `depth` levels back. A setting of a step (`Cause.setting`) appears at its first use
    and not again. The rows below a setting show the steps with which a core computed its value.
    Settings that the text of the instruction shows are left out.
    """
    shown: set[Any] = set()
    for cause in causes:
        yield from _rows(cause, depth, 0, shown)


def _rows(cause: Cause, depth: int, indent: int, shown: set[Any]) -> Iterator[CauseRow]:
    yield CauseRow(indent, _line(cause), cause)
    if cause.ends or (cause.setting and _is_copied(cause)):
        return
    if depth <= 0 and not cause.setting:
        yield CauseRow(indent + 1, "...")
        return
    below = [item for item in cause.causes if not item.setting]
    if cause.setting:
        yield from _makers(cause, indent + 1)
        return
    for item in cause.causes:
        key = item.role, str(item.value), item.name, item.where
        if not item.setting or key in shown or (cause.instruction and item.how == "instruction"):
            continue
        shown.add(key)
        yield from _rows(item, depth - 1, indent + 1, shown)
    for item in below[:WIDTH]:
        yield from _rows(item, depth - 1, indent + 1, shown)
    if len(below) > WIDTH:
        yield CauseRow(indent + 1, f"and {len(below) - WIDTH} more")


def _makers(cause: Cause, indent: int) -> Iterator[CauseRow]:
    """Yield a row for each source line whose steps computed `cause`, a setting of a step."""
    makers: dict[Any, Cause] = {}
    for item in cause.causes:
        if not item.setting and not _is_copied(item):
            makers.setdefault(item.where and (item.where.file, item.where.line), item)
    for item in makers.values():
        yield CauseRow(indent, _line(item), item)


def _is_copied(cause: Cause) -> bool:
    """Return whether no step computed the value: steps have only copied it, for example an input.

    The copies must lead back to an end of the search (`Cause.ends`). If the value has several
    pieces, return True only if this is true for each piece.
    """
    data = [item for item in cause.causes if not item.setting]
    if cause.ends:
        return True
    if cause.setting:
        return bool(data) and all(_is_copied(item) for item in data)
    return len(data) == 1 and data[0].role == COPIED and _is_copied(data[0])


def _line(cause: Cause) -> str:
    same = cause.role.replace(" ", "") == cause.name.replace(" ", "")
    text = cause.role if same or not cause.name else f"{cause.role} {cause.name}"
    if cause.setting:
        text = f"with {cause.role}"
    if cause.value is not None:
        text += f" = {cause.value}"
    if cause.setting and cause.name:
        text += f" of {cause.name}"
    return text if cause.how == "words" else f"{text}: {step_text(cause)}"


def setting_text(cause: Cause) -> str:
    """Return a line of text for `cause`, a setting of a step: its value, and what made it."""
    return _line(cause)


def step_text(cause: Cause) -> str:
    """Return a text for the step that made a value, with its cycle and its source line.

    If no recorded step made the value, the text says where the value comes from.
    """
    where = cause.where
    if cause.ends:
        text = _ENDED[cause.how]
        if where is not None and where.file:
            text += f" {where.file}:{where.line}"
            text += f" ({where.symbol})" if where.symbol else ""
        if cause.how == "set":
            text += f" at cycle {cause.cycle:,}" + (f", {cause.by}" if cause.by else "")
        return text
    text = f"{cause.core} {_step(cause)}"
    if cause.cycle is not None:
        text += f" at cycle {cause.cycle:,}"
    if where is not None and where.address is not None:
        text += f", {where.address:#010x}"
        if where.file:
            text += f" {where.file}:{where.line}"
        if where.layer:
            text += f", layer {where.layer}"
    return text


def _step(cause: Cause) -> str:
    """Return a text for the step of a cause: its instruction with operands, or its description."""
    if cause.by:  # the instruction that requested the step has only registers as operands
        return f"{cause.how} of {cause.by}"
    if not cause.instruction:
        return cause.how
    text = cause.instruction.removeprefix("packet ")
    return text if cause.is_mnemonic else f"{cause.how}: {text}"


_ENDED = {
    "input": "an input",
    "program": "of the program",
    "begin": "there from the start",
    "empty": "nothing is there",
    "set": "set by hand",
    "instruction": "in the instruction",
    "window": "through a window, whose core does not say what of",
}
