"""Commands for two runs side by side: `compare`, and `other`, `this` and `both`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.causes import cause_text
from macaw.debugger.causes.place_names import state_name
from macaw.debugger.causes.record import CauseError
from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.context import OtherRun
from macaw.debugger.commands.line import CommandError, Line, parse_number
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import both, value_text, where_text
from macaw.debugger.comparison.first_difference import Difference, Equal, first_difference
from macaw.debugger.comparison.observations import Observation, Write
from macaw.debugger.comparison.paired_causes import PairedStep, paired_walk
from macaw.debugger.comparison.subjects import (
    CYCLES,
    MEMORY,
    REGISTERS,
    CompareError,
    subjects_of,
)
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.instruction_texts import InstructionTexts
from macaw.debugger.stops import plain
from macaw.debugger.where import where_of
from macaw.emu.bfloat16 import element_type, numbers
from macaw.emu.copies import original
from macaw.emu.origins import Place

if TYPE_CHECKING:
    from macaw.debugger.causes.finder import Cause
    from macaw.debugger.commands.context import Context
    from macaw.debugger.session import Session

LISTED = 4  # the text shows at most this number of registers, and twice as many members of packets


def other_of(context: Context) -> OtherRun:
    """Return the second run. Raises `CommandError` if there is none."""
    if context.other is None:
        raise CommandError(
            "there is no other run", "macaw debug FILE --against FILE starts two runs"
        )
    return context.other


@command("other COMMAND", "two", "execute a command in the other run alone")
def _other(context: Context, line: Line) -> Answer:
    return other_of(context).execute(_command(line))


@command("this COMMAND", "two", "execute a command in this run alone")
def _this(context: Context, line: Line) -> Answer:
    assert context.execute_here is not None
    return context.execute_here(_command(line))


def _command(line: Line) -> str:
    """Return the operand COMMAND. Raises `CommandError` if the line does not have it."""
    text = line.get("COMMAND")
    if not text:
        raise CommandError("a command is needed", f"usage: {line.command} COMMAND")
    return text


@command("both COMMAND", "two", "execute a command in both runs, for example `both set a0 = 1`")
def _both(context: Context, line: Line) -> Answer:
    other, text = other_of(context), _command(line)
    assert context.execute_here is not None
    one = context.execute_here(text)
    if one.kind == "error":
        return one
    return both(one, other.execute(text), other.this_name, other.name)


@command(
    "compare E [from CYCLE]",
    "two",
    "run both programs to the first difference of memory, registers, packets, transfers or cycles",
    details="E: an expression for memory (`compare y`), `memory`, `registers [PLACES]`,\n"
    "`packets`, `transfers` or `cycles [PLACES]`. If both programs have a tensor or array called\n"
    "cycles, `compare cycles` is about the tensor, and `compare cycles *` about the cycles of all\n"
    "cores. Both runs continue from where they are. The n-th instruction, packet or transfer of\n"
    "one run is compared with the n-th of the other run, in whatever cycles they are; for memory,\n"
    "the n-th value of each byte. The answer shows both sides, and both runs stop there.\n"
    "Breakpoints and watches do not stop a comparison. from CYCLE: go to that cycle first. With\n"
    "--batch the exit status is 1 if there is a difference.",
)
def _compare(context: Context, line: Line) -> Answer:
    other = other_of(context)
    runs = context.session, other.session
    text = line.get("E") or ""
    if line.has("from"):
        for session in runs:
            session.goto(parse_number(line.get("CYCLE") or ""))
    try:
        subjects = subjects_of(text, runs)
        result = first_difference(*runs, subjects)
    except (CompareError, ExpressionError) as error:
        raise CommandError(str(error), at=line.place("E")) from None
    if isinstance(result, Equal):
        return _equal(result, other, text, line)
    for session, side in zip(runs, result.sides, strict=True):
        if side is not None:
            session.goto(*side.position)
        elif session.device.stopped is None:
            session.goto(max(x.position for x in result.sides if x is not None)[0])
    columns = "", other.this_name, other.name
    table = answers.table(columns, _rows(runs, result), _title(result))
    return replace(table, differs=True, data=_record(result))


def _equal(result: Equal, other: OtherRun, text: str, line: Line) -> Answer:
    """Return the answer for two runs without a difference.

    Raises `CommandError` if no write to the memory was observed, because then nothing was compared.
    """
    if not result.count and result.subject.kind == MEMORY:
        raise CommandError(
            f"nothing of {text.strip()} was compared: no write to it was observed in either run",
            "compare compares writes, not contents; diff E FILE compares the contents of one run",
            line.place("E"),
        )
    lines = [
        f"no difference of {text.strip()} up to the ends of both runs ({result.count:,} compared)"
    ]
    if result.ends[0] != result.ends[1] or result.cycles[0] != result.cycles[1]:
        for name, end, cycle in zip(
            (other.this_name, other.name), result.ends, result.cycles, strict=True
        ):
            lines.append(f"  {name}: {end} at cycle {cycle:,}")
    return answers.message(*lines)


def _title(result: Difference) -> str:
    first, second = result.sides
    subject = result.subject
    if subject.kind == MEMORY:
        what = element_text(result)
        if first is None or second is None:
            return f"{what} is written once more in one run"
        return f"the first difference of {subject.text.strip()} is {what}"
    side = first or second
    assert side is not None
    if first is None or second is None:
        return f"{side.core} does more in one run"
    nouns = {REGISTERS: "registers", CYCLES: "the cycle"}
    noun = nouns.get(subject.kind, subject.kind)
    return f"the first difference of {noun} is in {side.core}, number {result.number:,}"


def element_text(result: Difference) -> str:
    """Return the name of the element of memory that differs between the two runs."""
    areas = {area.name: area for area in result.subject.areas}
    area = areas.get(result.stream)
    if area is None:
        return f"mem[{result.offset:#010x}]"
    if not area.shape:
        return area.name if area.size <= area.width else f"{area.name}, byte {result.offset}"
    number = result.offset // area.width
    at = np.unravel_index(number, area.shape)
    return f"{area.name}[{', '.join(str(int(x)) for x in at)}]"


def _rows(runs: tuple[Session, Session], result: Difference) -> list[tuple[Any, ...]]:
    """Return the rows of the table for a difference."""
    sides = result.sides
    rows: list[tuple[Any, ...]] = []
    if result.subject.kind == MEMORY:
        rows.append(("value", *(_value(x, result) for x in sides)))
    elif result.subject.kind == REGISTERS:
        rows += _register_rows(runs, sides, result.fields)
    elif result.subject.kind != CYCLES:
        rows += _item_rows(sides)
    rows.append(("by", *(None if x is None else x.core for x in sides)))
    rows.append(("cycle", *(None if x is None else x.time for x in sides)))
    after = "after" if result.subject.kind == REGISTERS else "at"
    rows.append((after, *(_place(run, x) for run, x in zip(runs, sides, strict=True))))
    texts = [_instruction(run, x) for run, x in zip(runs, sides, strict=True)]
    rows.append(("instruction", *(x or None for x in texts)))
    return rows


def _value(side: Observation | None, result: Difference) -> str | None:
    if side is None:
        return None
    assert isinstance(side, Write)
    dtype = next((x.dtype for x in result.subject.areas if x.name == result.stream), "uint8")
    width = element_type(dtype).itemsize
    first = result.offset - result.offset % width - side.first
    data = side.item[max(0, first) : first + width]
    if first < 0 or len(data) < width:  # only a part of an element was written
        return "0x" + bytes(reversed(data)).hex()
    return value_text(numbers(np.frombuffer(data, element_type(dtype)))[0].item())


def _register_rows(
    runs: tuple[Session, Session],
    sides: tuple[Observation | None, Observation | None],
    fields: tuple[str, ...],
) -> list[tuple[Any, ...]]:
    """Return rows (name, value in the first run, value in the second) for registers that differ.

    `sides` are the observations of the two runs in which the first difference was found; the
    registers of their core are compared. `fields` has the names of the fields of state that have
    these registers. The result is empty if one run has no observation (None) or has ended.
    """
    if None in sides or any(run.device.stopped for run in runs):
        return []
    name = next(x.core for x in sides if x is not None)
    cores = [run.device.cores[name] for run in runs]
    rows: list[tuple[Any, ...]] = []
    for core in cores:
        core.sync()
    for field in fields:
        one, two = (np.asarray(getattr(core.state, field)) for core in cores)
        if one.shape != two.shape:
            rows.append((f"{name}.{field}", *(_size_text(x) for x in (one, two))))
        elif one.dtype == object:
            texts = [value_text(plain(x.tolist())) for x in (one, two)]
            rows += [(f"{name}.{field}", *texts)] if texts[0] != texts[1] else []
        else:
            for at in np.argwhere(one != two).tolist():
                first = int(np.ravel_multi_index(at, one.shape)) if at else 0
                label = state_name(cores[0], Place(field, first * one.itemsize, one.itemsize))
                rows.append((label, *(value_text(x[tuple(at)].item()) for x in (one, two))))
                if len(rows) == LISTED:
                    return rows
    return rows


def _size_text(values: np.ndarray[Any, Any]) -> str:
    """Return the shape of a register file as text, such as `4 x 8 elements`."""
    return f"{' x '.join(map(str, values.shape)) or 1} elements"


def _item_rows(sides: tuple[Observation | None, ...]) -> list[tuple[Any, ...]]:
    """Return rows for those parts of two packets or transfers that differ."""
    one, two = ({} if x is None else x.item for x in sides)
    rows = []
    for name in dict.fromkeys((*one, *two)):
        left, right = one.get(name), two.get(name)
        if left != right:
            rows += list(_parts(name, left, right))
    return rows[: 2 * LISTED]


def _parts(name: str, left: Any, right: Any) -> list[tuple[Any, ...]]:
    """Return rows for those members of a structure that differ, by path: `segments[1].offset`.

    `name` is the path of the structure, `left` and `right` are its values in the two runs.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        both = [(f"{name}.{x}", left.get(x), right.get(x)) for x in dict.fromkeys((*left, *right))]
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        both = [(f"{name}[{at}]", *pair) for at, pair in enumerate(zip(left, right, strict=True))]
    else:
        shown = [value_text(plain(x)) for x in (left, right)]
        return [(name, *shown)] if left != right else []
    return [row for one in both if one[1] != one[2] for row in _parts(*one)]


def _place(run: Session, side: Observation | None) -> str | None:
    """Return where the instruction of an observation is in the source, as text for a table's cell.

    Folders are left out to keep it short. The result is None without an observation or address.
    """
    if side is None or side.address is None:
        return None
    where = where_of(run.program, run.device.cores[side.core], side.address)
    if where.file:
        where = replace(where, file=PurePath(where.file).name)
    return where_text(where).removeprefix(f"{side.core} at ")


def _instruction(run: Session, side: Observation | None) -> str:
    if side is None or side.address is None:
        return ""
    at = original(run.program, run.device.cores[side.core], side.address)
    return InstructionTexts(run.program).at(at)


def _record(result: Difference) -> dict[str, Any]:
    sides = [
        None
        if x is None
        else {"core": x.core, "cycle": x.time, "address": x.address, "value": plain(x.item)}
        for x in result.sides
    ]
    subject = result.subject
    record = {"subject": subject.kind, "number": result.number, "sides": sides}
    return record | ({"element": element_text(result)} if subject.kind == MEMORY else {})


def why_against_other(context: Context, line: Line) -> Answer:
    """Execute `why E against other` and return the answer.

    Raises `CauseError`, `CommandError`.
    """
    other, text = other_of(context), line.get("E") or ""
    try:
        walk = paired_walk(context.session.causes, other.session.causes, text)
    except ExpressionError as error:
        raise CauseError(f"{text} in {other.name}: {error}") from None
    if not walk.steps:
        return Answer("done", lines=(f"{text} is equal in both runs",), is_of_both=True)
    names = other.this_name, other.name
    lines = [f"{text} differs:"]
    lines += [f"  {_pair_text(step)}" for step in walk.steps[:-1]]
    lines.append(_reasons[walk.reason])
    last = walk.steps[-1]
    for name, cause, others in zip(names, _sides(last), _sides(last)[::-1], strict=True):
        lines.append(f"  {name}: {_cause_text(cause)}")
        lines += [f"    {_cause_text(item)}" for item in _own_settings(cause, others)]
    if walk.detail is not None and walk.reason != "setting" and walk.detail is not last:
        lines.append("because of")
        for name, cause in zip(names, _sides(walk.detail), strict=True):
            lines.append(f"  {name}: {_cause_text(cause)}")
    data = {
        "reason": walk.reason,
        "steps": [_pair_record(step) for step in walk.steps],
        "detail": None if walk.detail is None else _pair_record(walk.detail),
    }
    return Answer("text", lines=tuple(lines), data=data, differs=True, is_of_both=True)


_reasons = {
    "instruction": "the first step with different instructions is",
    "setting": "the first step with different settings is",
    "source": "the first step that read other places is",
    "step": "the first step that made different values of equal ones is",
    "origin": "the values differ from their begin:",
    "long": "the values differ as far back as this:",
}


def _sides(pair: PairedStep) -> tuple[Cause | None, Cause | None]:
    return pair.this, pair.other


def _own_settings(cause: Cause | None, other: Cause | None) -> list[Cause]:
    """Return the settings that the step of `cause` has and the step of `other` does not.

    A setting is a value that only says how a step computes.
    """
    if cause is None:
        return []
    theirs = [] if other is None else other.causes
    known = {(x.role, str(x.value), x.name) for x in theirs if x.setting}
    own = [x for x in cause.causes if x.setting and x.how != "instruction"]
    return [x for x in own if (x.role, str(x.value), x.name) not in known]


def _cause_text(cause: Cause | None) -> str:
    if cause is None:
        return "nothing"
    if cause.setting:
        return cause_text.setting_text(cause)
    value = "" if cause.value is None else f" = {cause.value}"
    return f"{cause.name or cause.role}{value}: {cause_text.step_text(cause)}"


def _pair_text(pair: PairedStep) -> str:
    one, two = pair.this, pair.other
    assert one is not None
    assert two is not None
    values = "" if one.value is None is two.value else f" = {one.value} / {two.value}"
    return f"{one.name or one.role}{values}: {cause_text.step_text(one)}"


def _pair_record(pair: PairedStep) -> list[dict[str, Any] | None]:
    return [
        None
        if x is None
        else {"role": x.role, "name": x.name, "value": x.value, "how": x.how, "where": x.where}
        | {"instruction": x.instruction}
        for x in _sides(pair)
    ]
