"""The data of a trace block: its declared state, its counters, and the records not yet complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from macaw.emu.spans import Spans
from macaw.emu.state import StateField
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.trace import ALL, GROUP, INSTRUCTION, OCCURRENCES, PARAMETERS

Place = tuple[int, int, int]


def _place(occurrence: str) -> Place:
    """Return the indices of the three registers of a group that record an occurrence.

    The first register has the number of occurrences, the second the cycle in which the first one
    begins, the third the cycle after the last one. If a group does not have one of these registers,
    its index is -1.
    """
    found = {row.takes: place for place, row in enumerate(GROUP) if row.of == occurrence}
    return found["count"], found.get("first", -1), found.get("last", -1)


COUNTERS = len(GROUP)
TAKEN = {row.name: _place(row.name) for row in OCCURRENCES if row.name != INSTRUCTION}
BEGIN, END = (
    next(place for place, row in enumerate(GROUP) if (row.of, row.takes) == (INSTRUCTION, takes))
    for takes in ("first", "last")
)
ARRAY = TAKEN["array"][0]
_CLIPPED = tuple(row.takes == "count" for row in GROUP)


def fields(config: Mapping[str, Any]) -> tuple[StateField, ...]:
    """Return the rows that declare the state of one trace block."""
    return _fields(int(config["trace.groups"]))


@cache
def _fields(groups: int) -> tuple[StateField, ...]:
    return (
        *(StateField(row.name, "int", meaning=row.meaning) for row in PARAMETERS),
        StateField("trace_origin", "int", meaning="the cycle from which the trace's times count"),
        StateField("trace_counting", "bool", meaning="the timer of the trace runs"),
        StateField("trace_executed", "int", meaning="instructions that have begun, for the trace"),
        StateField("trace_counters", "int64", (groups, COUNTERS), "by group and register"),
        StateField(
            "trace_recordings",
            "object",
            meaning="by group: what it records",
            initial=[None] * groups,
        ),
    )


@dataclass(slots=True)
class Recording:
    """The instructions that register group number `group` is recording, with their counters.

    They are the instructions `first` to `stop` - 1; if `stop` is ENDLESS, the recording ends at a
    marker. `starts` says how many of them have started, `ends` how many have ended. In auto mode a
    group records every `trace_overhead` instructions; `loop` is the number of this recording, from
    0. `work` are the cycles in which the array works.
    """

    group: int
    counters: list[int]
    loop: int
    first: int
    stop: int
    starts: int = 0
    ends: int = 0
    work: Spans | None = None

    def plain(self) -> tuple[Any, ...]:
        """Return the recording as a plain value, without its group and counters."""
        work = None if self.work is None else self.work.plain()
        return self.loop, self.first, self.stop, self.starts, self.ends, work

    @classmethod
    def from_plain(cls, group: int, counters: list[int], value: tuple[Any, ...]) -> Recording:
        """Return the recording of a register group from the plain value that `plain` returned.

        `group` is the number of the group, `counters` are its counters.
        """
        loop, first, stop, starts, ends, spans = value
        work = None if spans is None else Spans(spans)
        return cls(group, counters, loop, first, stop, starts, ends, work)


def register_values(counters: Sequence[int]) -> Sequence[int]:
    """Return the counters of a group in the form of its 32-bit registers.

    If a count needs more bits, its register has the greatest 32-bit number. If a time needs more
    bits, its register has the low 32 bits.
    """
    if max(counters) <= ALL:
        return counters
    return [
        value if value <= ALL else ALL if clipped else value & ALL
        for clipped, value in zip(_CLIPPED, counters, strict=True)
    ]


def add(counters: list[int], taken: Place, begin: int, end: int, count: int) -> None:
    """Add `count` occurrences of one kind, from `begin` to `end`, to the counters of a group.

    `taken` has the indices of the counters that record this kind (from `TAKEN`). Times are cycles
    since the start of the trace block's timer.
    """
    counted, first, last = taken
    if first >= 0:
        if begin < counters[first] or not counters[counted]:
            counters[first] = begin
        if end > counters[last]:
            counters[last] = end
    counters[counted] += count


def add_uses(counters: list[int], uses: Iterable[tuple[str, int, int, int]], origin: int) -> None:
    """Add occurrences of several kinds to the counters of a group.

    Each item of `uses` is for one kind: its name, the cycle in which the first occurrence begins,
    the cycle after the last one, and the number of occurrences. `origin` is the cycle in which the
    trace block's timer started.
    """
    for what, begin, end, count in uses:
        if count:
            add(counters, TAKEN[what], begin - origin, end - origin, count)
