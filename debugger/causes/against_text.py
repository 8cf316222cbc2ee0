"""Writes the result of `against` as plain records and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from macaw.debugger.causes.against import Agreement, Step, Walk
from macaw.debugger.causes.cause_text import setting_text, step_text
from macaw.debugger.causes.finder import Cause
from macaw.debugger.causes.references import Verdict

MOST = 24  # greatest number of steps that the text shows
NAMED = 2  # the greatest number of unwritten values that the text names
ENDS = 8  # the greatest number of values without a reference that the text names


def record(walk: Walk) -> dict[str, Any]:
    """Return the result of a search as a record for JSON.

    It has all wrong values on the way back, and the details of the earliest one (`Walk.first`).
    """
    if walk.checked is not None:
        return {"agrees": _verdict(walk.checked)}
    first = walk.first
    return {
        "stages": [_verdict(item.verdict) | _cause(item.cause) for item in walk.stages],
        "steps": [_step(item) for item in first.steps],
        "readers": [_step(item) for item in walk.readers],
        "agree": [
            {"name": x.reference.name, "file": x.reference.source, "count": x.count}
            | {"elements": x.elements, "last": x.last and _cause(x.last)}
            for x in first.agreements
        ],
        "unwritten": [
            {"name": end.name, "near": [_cause(x) for x in near]} for end, near in first.unwritten
        ],
        "not_compared": [_cause(item) for item in _distinct(first.unknown)],
        "complete": walk.is_complete,
    }


def _step(step: Step) -> dict[str, Any]:
    settings = [_cause(x) for x in step.settings.values()]
    return _cause(step.cause) | {"count": step.count, "settings": settings}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    record = {"element": verdict.name, "file": verdict.reference.source}
    return record | {"found": verdict.found, "expected": verdict.expected}


def _cause(cause: Cause) -> dict[str, Any]:
    record = {"role": cause.role, "name": cause.name, "value": cause.value, "how": cause.how}
    record |= {"core": cause.core, "cycle": cause.cycle, "instruction": cause.instruction}
    return record | {"where": cause.where}


def lines(walk: Walk, text: str) -> Iterator[str]:
    """Yield the result of a search as lines; `text` is the expression that was compared."""
    if walk.checked is not None:
        what = walk.checked.reference
        yield f"{text} agrees with {what.source}"
        return
    for depth, stage in enumerate(walk.stages):
        yield f"{'  ' * depth}{_difference(stage.verdict)}: {step_text(stage.cause)}"
    first = walk.first
    yield f"the first difference is {first.verdict.name}, made by"
    yield from _steps_lines(first.steps)
    if walk.readers:
        yield "it was read by"
        yield from _steps_lines(walk.readers)
    shown: set[tuple[str, ...]] = set()
    for end, near in first.unwritten:
        steps = [Step(x, dict(enumerate(y for y in x.causes if y.setting))) for x in near]
        near_lines = tuple(line for step in steps for line in _step_lines(step))
        if near_lines not in shown and len(shown) < NAMED:
            yield f"nothing wrote {end.name}" + (", but next to it" if near else "")
            yield from near_lines
        shown.add(near_lines)
    if not first.agreements:
        yield "nothing before it could be compared"
    for item in first.agreements:
        yield _agreement(item)
    ends = [x for x in _distinct(first.unknown) if x.how not in ("instruction", "begin", "empty")]
    if ends:
        yield "not compared"
        yield from _ends(ends)
    if not walk.is_complete:
        yield "the way is longer; name more places to compare"


def _difference(verdict: Verdict) -> str:
    found = "other bytes" if verdict.found is None else verdict.found
    return f"{verdict.name} = {found}, {verdict.reference.source} has {verdict.expected}"


def _steps_lines(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps[:MOST]:
        yield from _step_lines(step)
    if len(steps) > MOST:
        yield f"  and {len(steps) - MOST} more steps"


def _step_lines(step: Step) -> Iterator[str]:
    times = f" ({step.count} values)" if step.count > 1 else ""
    yield f"  {step_text(step.cause)}{times}"
    for item in step.settings.values():
        yield f"    {setting_text(item)}"


def _agreement(item: Agreement) -> str:
    names = ", ".join(item.elements)
    more = item.count - len(item.elements)
    text = f"{names} and {more} more agree" if more else f"{names} agrees"
    if not more and len(item.elements) > 1:
        text = f"{names} agree"
    text += f" with {item.reference.source}"
    if item.last is not None and item.last.cycle is not None:
        text += f", last {step_text(item.last)}"
    return text


def _ends(ends: Sequence[Cause]) -> Iterator[str]:
    """Yield lines with the names of `ends`: causes that no reference contains."""
    by_line: dict[object, Cause] = {}
    for end in ends:
        where = end.where
        by_line.setdefault((where.file, where.line) if where and where.file else end.name, end)
    yield from (f"  {_end(x)}" for x in list(by_line.values())[:ENDS])
    if len(by_line) > ENDS:
        yield f"  and {len(by_line) - ENDS} more"


def _end(end: Cause) -> str:
    where = end.where
    place = f" {where.file}:{where.line}" if where is not None and where.file else ""
    return (end.name or end.role) + place


def _distinct(causes: Sequence[Cause]) -> list[Cause]:
    return list({(item.name, item.how, item.role): item for item in causes}.values())
