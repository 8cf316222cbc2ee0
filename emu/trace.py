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
from typing import Any

from emu.recordings import (
    ARRAY,
    BEGIN,
    COUNTERS,
    END,
    TAKEN,
    Recording,
    add,
    fields,
)
from emu.spans import Spans
from emu.spilling import Spill, Write
from emu.state import State
from emu.tallies import Tally
from emu.trace_registers import Registers
from emu.triggers import ENDLESS, Trigger
from isa.trace import AUTO

BEFORE = -1  # of a begin: it was told


class TraceBlock(Registers):
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
        self.state = State(fields(config)) if state is None else state
        self.on = False
        self.open_at = self.close_at = ENDLESS
        self._changed = changed
        # The groups that are open from an instruction on of which nothing was told yet: its
        # number; groups and loops. Nothing else is open then.
        self._noted: tuple[int, list[tuple[int, int]]] | None = None
        self._area = Spill(self.state, write)
        self._trigger = Trigger(self.state, int(config["trace.groups"]))
        self.reload()

    def _settle_rest(self) -> None:
        """The trigger has fired: find the border that follows."""
        self.open_at = self._trigger.next
        if self.open_at == ENDLESS and not self.active:
            self._settle()

    @property
    def active(self) -> bool:
        return bool(self._active) or self._noted is not None

    def _update(self) -> None:
        """Parameters have changed, or the timer: so may all that comes next."""
        state = self.state
        waits = self.recording and state.trace_counting
        if waits and state.trace_mode == AUTO and state.trace_num:
            self._trigger.aim(self.executed)
        else:
            self._trigger.rest()
        self._settle()

    def _settle(self) -> None:
        """Find the next borders, and whether there are any."""
        self._active = [recording for recording in self.recordings if recording is not None]
        self.open_at = self._trigger.next
        self.close_at = min((recording.stop for recording in self._active), default=ENDLESS)
        on = self.open_at < ENDLESS or bool(self._active)
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
        self._open_noted()
        self.state.trace_executed = self.executed
        self.state.trace_counters[...] = self.counters
        self.state.trace_recordings = [None if x is None else x.plain() for x in self.recordings]

    def reload(self) -> None:
        """Take what the block holds from `self.state`."""
        self._noted = None
        self.executed: int = self.state.trace_executed
        self.counters: list[list[int]] = self.state.trace_counters.tolist()
        self.recordings: list[Recording | None] = [
            None if value is None else Recording.from_plain(group, self.counters[group], value)
            for group, value in enumerate(self.state.trace_recordings)
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
        self._open_noted()
        for recording in self._active:
            self._finish(recording)
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
            self._fire(number)
        for recording in self._active:
            if recording.first <= number < recording.stop:
                if not recording.begun:
                    recording.counters[BEGIN] = time - self.state.trace_origin
                recording.begun += 1
        return number

    def end(self, time: int, number: int) -> None:
        """The instruction of that number is done, `time` is the first cycle after it."""
        self.did(number, (), time)

    def did(
        self,
        number: int,
        uses: Sequence[tuple[str, int, int, int]],
        until: int = 0,
        begun: int = BEFORE,
    ) -> None:
        """What an instruction uses, as `occurred` has it; it ends at `until` (0: not yet).

        It begins at cycle `begun`, if that was not told `BEFORE`.
        """
        origin = self.state.trace_origin
        if begun != BEFORE:
            self.executed = number + 1
            if number >= self.open_at:
                if until and self.state.trace_num == 1 and not self._active:
                    self.open(number)
                    found = [0] * COUNTERS
                    found[BEGIN], found[END] = begun - origin, until - origin
                    for what, begin, end, count in uses:
                        if count:
                            add(found, TAKEN[what], begin - origin, end - origin, count)
                    self._record(found)
                    return
                self._fire(number)
        for recording in self._active:
            if not recording.first <= number < recording.stop:
                continue
            counters = recording.counters
            if begun != BEFORE:
                if not recording.begun:
                    counters[BEGIN] = begun - origin
                recording.begun += 1
            for what, begin, end, count in uses:
                if count:
                    add(counters, TAKEN[what], begin - origin, end - origin, count)
            if until:
                if until - origin > counters[END]:
                    counters[END] = until - origin
                recording.ended += 1
                if self.executed >= recording.stop and recording.ended == recording.begun:
                    self._finish(recording)

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
        origin = self.state.trace_origin
        end = (time + 1 if until is None else until) - origin
        for recording in self._active:
            if recording.first <= number < recording.stop:
                add(recording.counters, TAKEN[what], time - origin, end, count)

    def records(self, number: int) -> bool:
        """Whether a group records the instruction of that number."""
        return any(x.first <= number < x.stop for x in self._active)

    def worked(self, begins: Sequence[int], ends: Sequence[int], number: int) -> None:
        """The array works for an instruction in some stretches of cycles of its core.

        For cores whose instructions overlap: a cycle is one use for all that a group records.
        """
        for recording in self._active:
            if recording.first <= number < recording.stop:
                if recording.worked is None:
                    recording.worked = Spans()
                recording.counters[ARRAY] += recording.worked.add_all(begins, ends)

    def forget(self, before: int) -> None:
        """No stretch that `worked` will be told of begins before this cycle."""
        for recording in self._active:
            if recording.worked is not None:
                recording.worked.forget(before)

    def mark(self, begins: bool, group: int, time: int, until: int, numbered: bool = True) -> None:
        """A marker of `group` executes from cycle `time` to `until`. Raises `Fault` (bad mask).

        `numbered` says whether it is an instruction; in auto mode it is nothing else.
        """
        self.check(group)
        self._open_noted()
        if self.state.trace_mode == AUTO:
            if numbered:
                self.end(until, self.begin(time))
            return
        recording = self.recordings[group]
        if recording is not None:
            if begins:
                self._finish(recording)
            elif recording.stop == ENDLESS:
                recording.stop = self.executed
                self._close(recording)
        self.executed += int(numbered)
        if begins and self.recording and self.state.trace_counting:
            self._open(group, 0, self.executed, ENDLESS)
            self._settle()

    # What a core tells that does one instruction after the other

    def open(self, number: int) -> None:
        """Open what begins with the instruction of this number, the next one."""
        if self._active or self._noted is not None:
            self._open_noted()
            self._fire(number)
            return
        trigger, fired = self._trigger, []
        if trigger.next < number:
            trigger.aim(number)
        while trigger.next == number:
            fired.append(trigger.fire())
        if fired:
            self._noted, self.close_at = (number, fired), number + self.state.trace_num
            self.open_at = trigger.next
        else:
            self._settle_rest()

    def _open_noted(self) -> None:
        """Open the groups of which `open` has only taken note."""
        if self._noted is not None:
            (number, fired), self._noted = self._noted, None
            for group, loop in fired:
                self._open(group, loop, number, number + self.state.trace_num)

    def close(self, number: int) -> None:
        """End the records of which all instructions are before this number; they have ended."""
        for recording in self._active:
            if recording.stop <= number:
                self._finish(recording)

    def turn(self, tally: Tally, number: int) -> None:
        """All before this instruction have ended: `absorb`, then `close` and `open`."""
        self.absorb(tally, number)
        if number >= self.close_at:
            self.close(number)
        if number >= self.open_at:
            self.open(number)

    def absorb(self, tally: Tally, executed: int, flying: int = 0) -> None:
        """Let all open groups take what happened since the last time, and clear it.

        `executed` instructions have begun now; the last `flying` of them have not ended.
        """
        origin = self.state.trace_origin
        if self._noted is not None:
            if executed == self.close_at and not flying and tally.begin >= 0:
                found = tally.counters(origin)
                tally.clear()
                self.executed = executed
                self._record(found)
                return
            self._open_noted()
        told = executed - self.executed
        self.executed = executed
        for recording in self._active:
            counters = recording.counters
            if recording.begun or tally.begin < 0 or any(counters):
                tally.add_to(counters, origin, not recording.begun)
            else:
                counters[:] = tally.counters(origin)
            recording.begun += told
            recording.ended = recording.begun - flying
        tally.clear()

    # Registers

    def read(self, name: str) -> int:
        """See `Registers.read`."""
        self._open_noted()
        return super().read(name)

    def set(self, name: str, value: int) -> None:
        """See `Registers.set`."""
        self._open_noted()
        state = self.state
        if name == "trace_mode" and value != state.trace_mode:
            self._cut()
        setattr(state, name, value)
        if name in ("trace_spill", "trace_spill_end"):
            self._area.empty()
        self._update()

    # The trigger circuit

    def _fire(self, number: int) -> None:
        """Open every group of which a run begins with this instruction (auto mode)."""
        trigger = self._trigger
        if trigger.next < number:
            trigger.aim(number)
        recordings, stop = self.recordings, number + self.state.trace_num
        while trigger.next == number:
            group, loop = trigger.fire()
            if recordings[group] is None:
                self._open(group, loop, number, stop)
        self._settle_rest()

    def _record(self, found: list[int]) -> None:
        """All that the noted groups record is told: these are their counters."""
        if self._noted is not None:
            (number, fired), self._noted = self._noted, None
            self.close_at = ENDLESS
            if self.open_at == ENDLESS:
                self._settle()
            for group, loop in fired:
                self.counters[group] = counters = found.copy()
                head = self.core, group, loop, number, self.state.trace_num
                self._area.take(head, counters)

    def _open(self, group: int, loop: int, first: int, stop: int) -> None:
        """Clear a group; it records from now on."""
        self.counters[group] = counters = [0] * COUNTERS
        self.recordings[group] = recording = Recording(group, counters, loop, first, stop)
        if not self._active or self._active[-1].group < group:
            self._active = [*self._active, recording]
            self.close_at = min(self.close_at, stop)
        else:
            self._settle()

    def _cut(self) -> None:
        """Let no group take further instructions; those that have begun go on to their end."""
        for recording in self._active:
            recording.stop = min(recording.stop, self.executed)
            self._close(recording)

    def _close(self, recording: Recording) -> None:
        """End a record if its last instruction has ended."""
        if self.executed >= recording.stop and recording.ended == recording.begun:
            self._finish(recording)

    def _finish(self, recording: Recording) -> None:
        """A record is whole: spill it. Raises `Fault`: no record can go there."""
        self.recordings[recording.group] = None
        if len(self._active) > 2 or self.open_at == ENDLESS:
            self._settle()
        else:
            self._active = [other for other in self._active if other is not recording]
            self.close_at = self._active[0].stop if self._active else ENDLESS
        head = self.core, recording.group, recording.loop, recording.first, recording.begun
        self._area.take(head, recording.counters)
