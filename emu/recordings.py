"""Register groups of a trace block: their declared state, what they record, how they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from macaw.emu.spans import Spans
from macaw.emu.state import StateField
from macaw.isa.trace import ALL, GROUP, INSTRUCTION, OCCURRENCES, PARAMETERS

Place = tuple[int, int, int]


def _place(occurrence: str) -> Place:
    """Where a group counts an occurrence, notes its first begin and its last end (-1: nowhere)."""
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
    """The declared state of a block."""
    groups = int(config["trace.groups"])
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
    """A group's run of instructions while it is recorded."""

    group: int
    counters: list[int]  # of the group
    loop: int
    first: int  # number of the first instruction
    stop: int  # of the one behind the last; ENDLESS: until a marker says so
    begun: int = 0  # instructions
    ended: int = 0
    worked: Spans | None = None  # cycles in which the array did

    def plain(self) -> tuple[Any, ...]:
        """As a plain value, but for the group and its counters."""
        worked = None if self.worked is None else self.worked.plain()
        return self.loop, self.first, self.stop, self.begun, self.ended, worked

    @classmethod
    def from_plain(cls, group: int, counters: list[int], value: tuple[Any, ...]) -> Recording:
        """Back from `plain`."""
        loop, first, stop, begun, ended, spans = value
        worked = None if spans is None else Spans(spans)
        return cls(group, counters, loop, first, stop, begun, ended, worked)


def shown(counters: Sequence[int]) -> Sequence[int]:
    """The counters of a group as its registers show them."""
    if max(counters) <= ALL:
        return counters
    return [
        value if value <= ALL else ALL if clipped else value & ALL
        for clipped, value in zip(_CLIPPED, counters, strict=True)
    ]


def add(counters: list[int], taken: Place, begin: int, end: int, count: int) -> None:
    """Note an occurrence in the counters of a group; times are relative to the timer's start."""
    counted, first, last = taken
    if first >= 0:
        if begin < counters[first] or not counters[counted]:
            counters[first] = begin
        if end > counters[last]:
            counters[last] = end
    counters[counted] += count
