"""The trace block of a core: it records what ranges of instructions do and how long they take.

Seed 001 describes trace blocks. A block has several groups of registers; each group records one
range of the core's instructions at a time, and writes a record when the range ends. A block knows
no core. The core calls `begin` and `end` for instructions, `count_occurrence` for their
occurrences, and `mark` for markers. All times are device cycles. Recording takes no simulated time;
records are written to memory without a port.

The seed leaves some questions open. Macaw decides them so:

- Instructions are numbered from 0 in the order in which they begin. A marker has a number, too, if
  it is an instruction of its core (markers of the array and of nnp are not).
- A group records one run of instructions at a time. In auto mode it leaves out a run whose first
  instruction begins while the group still records. This happens if instructions overlap, or if the
  runs of a group overlap. (Runs overlap if a run has more instructions, `trace_num`, than there are
  between the starts of two runs, `trace_overhead`.)
- A record ends when the last of its instructions has ended. Later effects of an instruction are in
  no record.
- If a core knows in advance when an instruction will end (vc, when it issues), it reports the end
  then. From then on the group can record again.
- If an instruction has to wait before it can begin, it begins with the attempt that succeeds. The
  wait is not part of it.
- Times are cycles of the device's clock. An end is the first cycle after the last one used. For an
  occurrence that never happened, time and count are 0.
- In mark mode markers are not recorded themselves. If a group still records, its `trace_begin`
  first ends that record. If a group does not record, its `trace_end` has no effect.
- Records are written to external memory, local memory or a core's own memory; a record for on-chip
  memory is a fault.
- A record is written as a whole, or not at all if the area has no room for it. In the second case a
  flag is set, and nothing in the area changes until the program sets the area again.
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
    add_uses,
)
from macaw.emu.spans import Spans
from macaw.emu.tallies import Tally
from macaw.emu.trace_groups import Groups
from macaw.emu.triggers import ENDLESS
from macaw.isa.trace import AUTO

BEFORE = -1  # in place of a start that was reported earlier


class TraceBlock(Groups):
    """The trace block of one core: its register groups, parameters and trigger circuit.

    A core that executes one instruction after the other need not report each of them. It may report
    only at the instructions `open_at` and `close_at`: there it calls `absorb` with the counts that
    it has added up since the last call (`Tally`), then `close` and `open`. A method that ends a
    record writes it to memory. It raises `Fault` if the place of the record is in no memory or in
    on-chip memory.
    """

    # The timer

    def start(self, time: int) -> None:
        """End all records, start the timer in cycle `time`, and number instructions from 0."""
        self.stop()
        self.state.trace_origin = time
        self.state.trace_counting = True
        self.executed = 0
        self._update()

    def stop(self) -> None:
        """End all records and clear the timer, because the traced program has ended.

        Raises `Fault` if a record cannot be written.
        """
        self._open_lazy()
        for recording in self._active:
            self._finish(recording)
        self.state.trace_origin = 0
        self.state.trace_counting = False
        self._update()

    # Reports of the core

    def begin(self, time: int, number: int | None = None) -> int:
        """Report that an instruction begins in cycle `time`; return its number.

        A core that has not yet reported all earlier instructions passes the `number` itself.
        """
        if number is None:
            number = self.executed
        self.executed = number + 1
        if number >= self.open_at:
            self._fire(number)
        for recording in self._active:
            if recording.first <= number < recording.stop:
                if not recording.starts:
                    recording.counters[BEGIN] = time - self.state.trace_origin
                recording.starts += 1
        return number

    def end(self, time: int, number: int) -> None:
        """Report that instruction `number` has ended; `time` is the first cycle after it."""
        self.report(number, (), time)

    def report(
        self,
        number: int,
        uses: Sequence[tuple[str, int, int, int]],
        until: int,
        begin: int = BEFORE,
    ) -> None:
        """Report what instruction `number` uses, and possibly its start and end.

        Each item of `uses` has the first four arguments of `count_occurrence`: an occurrence that
        the instruction causes. No two items have the same kind. `begin` is the cycle in which the
        instruction begins, or `BEFORE` if its start was reported earlier. `until` is the first
        cycle after it, or 0 if it has not ended.
        """
        origin = self.state.trace_origin
        if begin != BEFORE:
            self.executed = number + 1
            if number >= self.open_at:
                if until and self._records_one(number):
                    found = [0] * COUNTERS
                    found[BEGIN], found[END] = begin - origin, until - origin
                    if uses:
                        add_uses(found, uses, origin)
                    self._record_one(number, found)
                    return
                self._fire(number)
        for recording in self._active:
            if not recording.first <= number < recording.stop:
                continue
            counters = recording.counters
            if begin != BEFORE:
                if not recording.starts:
                    counters[BEGIN] = begin - origin
                recording.starts += 1
            add_uses(counters, uses, origin)
            if until:
                if until - origin > counters[END]:
                    counters[END] = until - origin
                recording.ends += 1
                if self.executed >= recording.stop and recording.ends == recording.starts:
                    self._finish(recording)

    def report_tally(self, tally: Tally, number: int) -> None:
        """Report what instruction `number` uses, and possibly its start and end; clear the tally.

        The tally has the start of the instruction unless this was reported earlier, and its end if
        the instruction has ended.
        """
        origin, begins, ends = self.state.trace_origin, tally.begin >= 0, tally.until >= 0
        if begins:
            self.executed = number + 1
            if number >= self.open_at:
                if ends and self._records_one(number):
                    self._record_one(number, tally.take(origin))
                    return
                self._fire(number)
        active = [x for x in self._active if x.first <= number < x.stop]
        tally.add_to([(x.counters, not x.starts) for x in active], origin)
        tally.clear()
        for recording in active:
            recording.starts += begins
            if ends:
                recording.ends += 1
                self._close(recording)

    def count_occurrence(
        self,
        what: str,
        time: int,
        until: int | None = None,
        count: int = 1,
        number: int | None = None,
    ) -> None:
        """Count the occurrence `what` (`macaw.isa.trace.OCCURRENCES`) `count` times.

        The occurrence lasts from cycle `time` up to (excluding) `until`; if `until` is None, it
        lasts one cycle. `number` is the instruction that causes it; None means the instruction that
        began last.
        """
        if number is None:
            number = self.executed - 1
        origin = self.state.trace_origin
        end = (time + 1 if until is None else until) - origin
        for recording in self._active:
            if recording.first <= number < recording.stop:
                add(recording.counters, TAKEN[what], time - origin, end, count)

    def records(self, number: int) -> bool:
        """Return whether any group records instruction number `number`."""
        return any(x.first <= number < x.stop for x in self._active)

    def count_work(self, begins: Sequence[int], ends: Sequence[int], number: int) -> None:
        """Count the cycles in which the array works for instruction `number`.

        A stretch of these cycles goes from an item of `begins` up to (excluding) the same item of
        `ends`. This is for cores whose instructions overlap: a group counts each cycle only once.
        """
        for recording in self._active:
            if recording.first <= number < recording.stop:
                if recording.work is None:
                    recording.work = Spans()
                recording.counters[ARRAY] += recording.work.add_all(begins, ends)

    def forget(self, before: int) -> None:
        """Forget which of the cycles before `before` were counted by `count_work`.

        The counts themselves stay. From now on the caller must not count work that begins before
        this cycle.
        """
        for recording in self._active:
            if recording.work is not None:
                recording.work.forget(before)

    def mark(self, begins: bool, group: int, time: int, until: int, numbered: bool = True) -> None:
        """Execute a marker of group `group`, from cycle `time` to `until`.

        `begins` distinguishes `trace_begin` from `trace_end`. `numbered` says whether the marker is
        an instruction. In auto mode a marker neither starts nor ends a record; it only counts as an
        instruction, if it is one. Raises `Fault` (bad mask).
        """
        self.check(group)
        self._open_lazy()
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

    # Reports of a core that executes one instruction after the other

    def pass_border(self, tally: Tally, number: int) -> int:
        """Add the tally to all groups that record; then end and begin records.

        `number` is the number of the next instruction. A group ends its record if its last
        instruction is number `number` - 1, and begins a record if its first instruction is number
        `number`. Return the number of the next instruction at which a group may do so.
        """
        self.finish(tally, number)
        if number >= self.open_at:
            self.open(number)
        return self.open_at if self.open_at < self.close_at else self.close_at

    def records_alone(self, number: int) -> bool:
        """Return whether the records from instruction `number` on have one instruction each.

        The result is False if an earlier instruction is in an open record.
        """
        opened = self._lazy is None or self._lazy[0] == number
        return opened and self.state.trace_num == 1 and not self._active

    def record_alone(self, number: int, counters: list[int]) -> None:
        """Report instruction `number` as a whole, after `records_alone` has returned True.

        `counters` are those of a group that contains only this instruction.
        """
        self.executed = number + 1
        if self._lazy is not None:
            self._record(counters)
        elif number >= self.open_at:
            self._record_one(number, counters)

    def finish(self, tally: Tally, number: int) -> None:
        """Add the tally to all open groups, then close those whose record ends before `number`.

        All instructions before instruction `number` must have ended.
        """
        if self._lazy is not None and number == self.close_at and tally.begin >= 0:
            self.executed = number
            self._record(tally.take(self.state.trace_origin))
        else:
            self.absorb(tally, number)
            if number >= self.close_at:
                self.close(number)

    def absorb(self, tally: Tally, executed: int, flying: int = 0) -> None:
        """Add the tally since the last call to all open groups, then clear it.

        `executed` instructions have begun so far; the last `flying` of them have not ended yet.
        """
        origin = self.state.trace_origin
        if self._lazy is not None:
            if executed == self.close_at and not flying and tally.begin >= 0:
                self.executed = executed
                self._record(tally.take(origin))
                return
            self._open_lazy()
        count = executed - self.executed
        self.executed = executed
        tally.add_to([(x.counters, not x.starts) for x in self._active], origin)
        for recording in self._active:
            recording.starts += count
            recording.ends = recording.starts - flying
        tally.clear()
