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

from collections.abc import Sequence

from macaw.emu.recordings import (
    ARRAY,
    BEGIN,
    COUNTERS,
    END,
    TAKEN,
    add,
)
from macaw.emu.spans import Spans
from macaw.emu.tallies import Tally
from macaw.emu.trace_groups import Groups
from macaw.emu.triggers import ENDLESS
from macaw.isa.trace import AUTO

BEFORE = -1  # of a begin: it was told


class TraceBlock(Groups):
    """Register groups, configuration and trigger circuit of one core.

    A core that does one instruction after the other may tell only of stretches between the borders,
    `open_at` and `close_at`: `absorb`, then `close` and `open` at a border.
    """

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
        """`count` times an occurrence (`macaw.isa.trace.OCCURRENCES`) from cycle `time` to `until`.

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
