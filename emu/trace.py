"""The trace block of a core: which register group records what, and where records go (seed 001).

A block knows no core. It is fed: `begin` and `end` of instructions, `occurred` for what they do,
`mark` for markers; all times are device cycles. Recording costs no cycle; records reach memory
by a side band. Which of all that a core tells its block is the core's affair.

The seed leaves open, and here it is so:

- Instructions are numbered from 0 in the order in which they begin; a marker has a number too if
  it is an instruction of its core (it is none of the array and of nnp).
- A group records one run of instructions at a time. In auto mode a run whose first instruction
  begins while the group still records is left out (it can only be if the runs of a group
  overlap, `trace_num` > `trace_overhead`, or if instructions do).
- A record ends when the last of its instructions has ended; what an instruction does later is
  in none.
- A core that knows at once when an instruction will end (vc, when it issues) tells it then, and
  the group is free from then on.
- What an instruction waits for before it can begin is not part of it: it begins with the try that
  succeeds.
- Times are of the device's clock; an end is the first cycle that is free again. A time of something
  that never occurred is 0, and its count is 0.
- In mark mode markers are not recorded themselves. `trace_begin` of a group that still records
  ends that record first; `trace_end` of one that does not is nothing.
- Records go to external memory or a core's own; one that would go to on-chip memory is a fault.
- A record is spilled as a whole, or not at all when the area has no room for it: then the flag is
  set, and nothing in the area is touched until it is given anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from emu.faults import Fault
from emu.spans import Spans
from emu.state import State, StateField
from emu.tallies import Tally
from isa import trace
from isa.trace import (
    ALL,
    AUTO,
    FULL,
    GROUP,
    INSTRUCTION,
    OCCURRENCES,
    PARAMETERS,
    RECORD,
    RECORDING,
)

Write = Callable[[int, bytes], None]  # bytes to an address; raises `Fault` outside of memory
Place = tuple[int | None, int | None, int | None]

_PLACES = trace.places()
_PARAMETERS = {row.name: row for row in PARAMETERS}
_COUNTERS = len(GROUP)
ENDLESS = 1 << 62  # a number that no instruction has
_PACK = Struct(f"<{len(RECORD.members)}I").pack  # of a record: all its members are u32
_CLIPPED = tuple(row.takes == "count" for row in GROUP)


def _place(occurrence: str) -> Place:
    """Where a group counts an occurrence, notes its first begin and its last end."""
    found = {row.takes: place for place, row in enumerate(GROUP) if row.of == occurrence}
    return found.get("count"), found.get("first"), found.get("last")


_TAKEN = {row.name: _place(row.name) for row in OCCURRENCES}
_TAKEN_AT = tuple(enumerate(_TAKEN[row.name] for row in OCCURRENCES))[1:]  # as a tally has them
_BEGIN, _END = (
    next(place for place, row in enumerate(GROUP) if (row.of, row.takes) == (INSTRUCTION, takes))
    for takes in ("first", "last")
)
_ARRAY = _TAKEN["array"][0] or 0


def fields(config: Mapping[str, Any]) -> tuple[StateField, ...]:
    """The declared state of a block."""
    groups = int(config["trace.groups"])
    return (
        *(StateField(row.name, "int", meaning=row.meaning) for row in PARAMETERS),
        StateField("trace_origin", "int", meaning="the cycle from which the trace's times count"),
        StateField("trace_counting", "bool", meaning="the timer of the trace runs"),
        StateField("trace_executed", "int", meaning="instructions that have begun, for the trace"),
        StateField("trace_counters", "int64", (groups, _COUNTERS), "by group and register"),
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

    loop: int
    first: int  # number of the first instruction
    stop: int | None  # of the one behind the last; None: until a marker says so
    begun: int = 0  # instructions
    ended: int = 0
    worked: Spans = field(default_factory=Spans)  # cycles in which the array did

    def holds(self, number: int) -> bool:
        """Whether the instruction of that number belongs to it."""
        return number >= self.first and (self.stop is None or number < self.stop)

    def plain(self) -> tuple[Any, ...]:
        """As a plain value."""
        counts = self.loop, self.first, self.stop, self.begun, self.ended
        return *counts, self.worked.plain()

    @classmethod
    def from_plain(cls, value: tuple[Any, ...]) -> Recording:
        """Back from `plain`."""
        loop, first, stop, begun, ended, worked = value
        return cls(loop, first, stop, begun, ended, Spans(worked))


class TraceBlock:
    """Register groups, configuration and trigger circuit of one core.

    `state` is declared (rows: `fields`), the block's own or its core's; the block holds
    counters and recordings itself while it runs: `sync` writes them to the state, `reload` takes
    them from there. `on` says whether the core has to tell it anything.

    A group opens with instruction `open_at` at the earliest, and closes when all before
    `close_at` have ended. A core that does one instruction after the other may tell
    only of stretches between these borders: `absorb`, then `close` and `open` at a border.
    """

    def __init__(
        self,
        core: int,
        name: str,
        config: Mapping[str, Any],
        write: Write,
        state: State | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`core` and `name` are those of the core; `write` is the side band to memory.

        `state` is a state with the rows `fields(config)`, the core's (None: one of its own);
        `changed` is called when `on` has changed.
        """
        self.core = core
        self.name = name
        self.recording = bool(config["trace.recording"])
        self.write_memory = write
        self.state = State(fields(config)) if state is None else state
        self.on = False
        self.open_at = self.close_at = ENDLESS
        self._changed = changed
        self.reload()

    @property
    def groups(self) -> int:
        """How many register groups there are."""
        return len(self.counters)

    @property
    def wanted(self) -> bool:
        """Whether anything may be recorded before the next marker or write of a register."""
        return self.open_at < ENDLESS or any(self.recordings)

    def _starts_from(self, number: int) -> list[int]:
        """By group: the first instruction from this one on with which it opens in auto mode."""
        state = self.state
        groups = len(self.recordings)
        if not self.recording or not state.trace_counting:
            return [ENDLESS] * groups
        if state.trace_mode != AUTO or not state.trace_num:
            return [ENDLESS] * groups
        overhead, loops = state.trace_overhead, state.trace_loops
        found = []
        for group in range(groups):
            first = state.trace_begin + group * state.trace_step
            loop = max(0, -(-(number - first) // overhead)) if overhead else 0
            start = first + loop * overhead
            found.append(start if number <= start and (loop < loops or not loops) else ENDLESS)
        return found

    def _update(self) -> None:
        """Parameters have changed, or the timer: so may all that comes next."""
        self._starts = self._starts_from(self.executed)
        self._settle()

    def _settle(self) -> None:
        """Find the next borders, and whether there are any."""
        self.open_at, self.close_at = min(self._starts), ENDLESS
        on = self.open_at < ENDLESS
        for recording in self.recordings:
            if recording is not None:
                on = True
                if recording.stop is not None and recording.stop < self.close_at:
                    self.close_at = recording.stop
        if on != self.on:
            self.on = on
            self._changed()

    # State

    def reset(self) -> None:
        """To the state after reset: mark mode, every register 0, the timer at rest."""
        self.state.reset()
        self.reload()

    def sync(self) -> None:
        """Write what the block holds into `self.state`."""
        self.state.trace_executed = self.executed
        self.state.trace_counters[...] = self.counters
        self.state.trace_recordings = [None if x is None else x.plain() for x in self.recordings]

    def reload(self) -> None:
        """Take what the block holds from `self.state`."""
        self.executed: int = self.state.trace_executed
        self.counters: list[list[int]] = self.state.trace_counters.tolist()
        self.recordings: list[Recording | None] = [
            None if x is None else Recording.from_plain(x) for x in self.state.trace_recordings
        ]
        self._update()

    # The timer

    def start(self, time: int) -> None:
        """The traced program starts: times count from `time`, instructions from 0."""
        self.stop()
        self.state.trace_origin = time
        self.state.trace_counting = True
        self.executed = 0
        self._update()

    def stop(self) -> None:
        """The traced program has ended: so have all records, and the timer is cleared."""
        for group, recording in enumerate(self.recordings):
            if recording is not None:
                self._finish(group, recording)
        self.state.trace_origin = 0
        self.state.trace_counting = False
        self._update()

    # What the core tells

    def begin(self, time: int, number: int | None = None) -> int:
        """An instruction begins at cycle `time`; returns its number.

        `number` is given by a core that has not told of those before (None: the next one).
        """
        if number is None:
            number = self.executed
        self.executed = number + 1
        if number >= self.open_at:
            self._trigger(number)
        for group, recording in enumerate(self.recordings):
            if recording is not None and recording.holds(number):
                if not recording.begun:
                    self.counters[group][_BEGIN] = time - self.state.trace_origin
                recording.begun += 1
        return number

    def end(self, time: int, number: int) -> None:
        """The instruction of that number is done, `time` is the first cycle after it."""
        self.did(number, (), time)

    def did(self, number: int, uses: Sequence[tuple[str, int, int, int]], until: int = 0) -> None:
        """What an instruction uses, as `occurred` has it; it ends at `until` (0: not yet)."""
        for group, recording in enumerate(self.recordings):
            if recording is None or not recording.holds(number):
                continue
            counters = self.counters[group]
            for what, begin, end, count in uses:
                if count:
                    self._count(counters, _TAKEN[what], begin, end, count)
            if until:
                counters[_END] = max(counters[_END], until - self.state.trace_origin)
                recording.ended += 1
                self._close(group, recording)

    def occurred(
        self,
        what: str,
        time: int,
        until: int | None = None,
        count: int = 1,
        number: int | None = None,
    ) -> None:
        """`count` times an occurrence (`isa.trace.OCCURRENCES`) from cycle `time` to `until`.

        `until` is the first cycle after it (None: `time` + 1), `number` the instruction that
        does it (None: the one that began last).
        """
        if number is None:
            number = self.executed - 1
        for group, recording in enumerate(self.recordings):
            if recording is not None and recording.holds(number):
                end = time + 1 if until is None else until
                self._count(self.counters[group], _TAKEN[what], time, end, count)

    def records(self, number: int) -> bool:
        """Whether a group records the instruction of that number."""
        return any(x is not None and x.holds(number) for x in self.recordings)

    def worked(self, begins: Sequence[int], ends: Sequence[int], number: int) -> None:
        """The array works for an instruction in some stretches of cycles of its core.

        For cores whose instructions overlap: a cycle is one use for all that a group records.
        """
        for group, recording in enumerate(self.recordings):
            if recording is not None and recording.holds(number):
                self.counters[group][_ARRAY] += recording.worked.add_all(begins, ends)

    def forget(self, before: int) -> None:
        """No stretch that `worked` will be told of begins before this cycle."""
        for recording in self.recordings:
            if recording is not None:
                recording.worked.forget(before)

    def mark(self, begins: bool, group: int, time: int, until: int, numbered: bool = True) -> None:
        """A marker of `group` executes from cycle `time` to `until`. Raises `Fault` (bad mask).

        `numbered` says whether it is an instruction; in auto mode it is nothing else.
        """
        self.check(group)
        if self.state.trace_mode == AUTO:
            if numbered:
                self.end(until, self.begin(time))
            return
        recording = self.recordings[group]
        if recording is not None:
            if begins:
                self._finish(group, recording)
            elif recording.stop is None:
                recording.stop = self.executed
                self._close(group, recording)
        self.executed += int(numbered)
        if begins and self.recording and self.state.trace_counting:
            self._open(group, Recording(0, self.executed, None))
            self._settle()

    def check(self, group: int) -> None:
        """Raise `Fault` (bad mask) unless there is such a group."""
        if group >= self.groups:
            raise Fault(
                "bad mask",
                f"register group {group}: the trace block of {self.name} has {self.groups}",
                {"group": group},
            )

    # What a core tells that does one instruction after the other

    def open(self, number: int) -> None:
        """Open what begins with the instruction of this number, the next one."""
        self._trigger(number)

    def close(self, number: int) -> None:
        """End the records of which all instructions are before this number; they have ended."""
        for group, recording in enumerate(self.recordings):
            if recording is not None and recording.stop is not None and recording.stop <= number:
                self._finish(group, recording)

    def absorb(self, tally: Tally, executed: int, flying: int = 0) -> None:
        """Let all open groups take what happened since the last time, and clear it.

        `executed` instructions have begun now; the last `flying` of them have not ended.
        """
        told, origin = executed - self.executed, self.state.trace_origin
        self.executed = executed
        for group, recording in enumerate(self.recordings):
            if recording is None:
                continue
            counters = self.counters[group]
            if tally.begin >= 0 and not recording.begun:
                counters[_BEGIN] = tally.begin - origin
            recording.begun += told
            recording.ended = recording.begun - flying
            if tally.until - origin > counters[_END]:
                counters[_END] = tally.until - origin
            for place, taken in _TAKEN_AT:
                if tally.counts[place]:
                    self._count(counters, taken, tally.first[place], tally.last[place],
                                tally.counts[place])  # fmt: skip
        tally.clear()

    # Registers

    def read(self, name: str) -> int:
        """The value of a register, 32 bits, by its name in `isa.trace`.

        Times are the low 32 bits, counts stay at the largest number. Raises `Fault` (out-of-range
        access): a group that this block does not have.
        """
        if name in _PARAMETERS:
            active = RECORDING if name == "trace_status" and any(self.recordings) else 0
            return int(getattr(self.state, name)) & ALL | active
        group, place = _PLACES[name]
        if group >= self.groups:
            text = f"{name}: the trace block of {self.name} has {self.groups} groups"
            raise Fault("out-of-range access", text, {"group": group})
        return self._shown(group)[place]

    def write(self, name: str, value: int) -> None:
        """Set a parameter. Raises `Fault`: one that cannot be written, or not to that value."""
        row = _PARAMETERS.get(name)
        if row is None or row.access != "rw":
            text = f"{name} of the trace block of {self.name} is read-only"
            raise Fault("out-of-range access", text, {"value": value})
        if not 0 <= value <= row.high:
            text = f"{name} of {self.name} is 0 to {row.high}, not {value}"
            raise Fault("out-of-range access", text, {"value": value})
        if value % row.step:
            text = f"{name} of {self.name} is a multiple of {row.step}, not {value:#010x}"
            raise Fault("misaligned access", text, {"value": value})
        state = self.state
        if name == "trace_mode" and value != state.trace_mode:
            self._cut()
        setattr(state, name, value)
        if name in ("trace_spill", "trace_spill_end"):
            state.trace_next, state.trace_lost, state.trace_status = state.trace_spill, 0, 0
        self._update()

    def _shown(self, group: int) -> list[int]:
        """The counters of a group as its registers show them."""
        if max(self.counters[group]) <= ALL:
            return self.counters[group]
        return [
            value if value <= ALL else ALL if clipped else value & ALL
            for clipped, value in zip(_CLIPPED, self.counters[group], strict=True)
        ]

    # The trigger circuit

    def _trigger(self, number: int) -> None:
        """Open every group of which a run begins with this instruction (auto mode)."""
        state = self.state
        overhead, loops = state.trace_overhead, state.trace_loops
        if self.open_at < number:
            self._starts = self._starts_from(number)
        for group, start in enumerate(self._starts):
            if start != number:
                continue
            first = state.trace_begin + group * state.trace_step
            loop = (number - first) // overhead if overhead else 0
            if self.recordings[group] is None:
                self._open(group, Recording(loop, number, number + state.trace_num))
            goes_on = overhead and (loop + 1 < loops or not loops)
            self._starts[group] = number + overhead if goes_on else ENDLESS
        self._settle()

    def _open(self, group: int, recording: Recording) -> None:
        """Clear a group; it records from now on."""
        self.counters[group] = [0] * _COUNTERS
        self.recordings[group] = recording

    def _count(self, counters: list[int], taken: Place, time: int, until: int, count: int) -> None:
        """Note an occurrence in the counters of a group."""
        counted, first, last = taken
        assert counted is not None
        if first is not None and last is not None:
            begun, ended = time - self.state.trace_origin, until - self.state.trace_origin
            counters[first] = min(counters[first], begun) if counters[counted] else begun
            counters[last] = max(counters[last], ended)
        counters[counted] += count

    def _cut(self) -> None:
        """Let no group take further instructions; those that have begun go on to their end."""
        for group, recording in enumerate(self.recordings):
            if recording is not None:
                stop = self.executed if recording.stop is None else recording.stop
                recording.stop = min(stop, self.executed)
                self._close(group, recording)

    def _close(self, group: int, recording: Recording) -> None:
        """End the record of a group if its last instruction has ended."""
        over = recording.stop is not None and self.executed >= recording.stop
        if over and recording.ended == recording.begun:
            self._finish(group, recording)

    def _finish(self, group: int, recording: Recording) -> None:
        """The record of a group is whole: spill it. Raises `Fault`: no record can go there."""
        self.recordings[group] = None
        self._settle()
        state = self.state
        if state.trace_spill >= state.trace_spill_end:
            return  # there is no area: the record stays in its registers until the next one
        if state.trace_next + RECORD.size > state.trace_spill_end:
            state.trace_status = FULL
            state.trace_lost += 1
            return
        record = _PACK(
            self.core,
            group,
            recording.loop & ALL,
            recording.first & ALL,
            recording.begun & ALL,
            *self._shown(group),
        )
        self.write_memory(state.trace_next, record)
        state.trace_next += RECORD.size
