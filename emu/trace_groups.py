"""Opens and closes the register groups of a trace block, which record instructions.

A group opens at the first instruction that it records, and closes after the last one. These places
are the borders. First `open` only remembers which groups are open. If the core then reports all
instructions up to the next border by a single call, the block writes their record at once. The
block makes a `Recording` for a remembered group only if the core reports single instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from macaw.emu.recordings import COUNTERS, Recording, fields
from macaw.emu.spilling import Spill, Write
from macaw.emu.state import State
from macaw.emu.trace_registers import Registers
from macaw.emu.triggers import ENDLESS, Trigger
from macaw.isa.trace import AUTO


class Groups(Registers):
    """The part of a trace block that opens and closes register groups at instruction numbers.

    `state` has the fields of `macaw.emu.recordings.fields`. During a run the block has counters and
    recordings in attributes: `sync` writes them into the state, `reload` reads them from there.
    `on` says whether the core has to report instructions. The next group opens at instruction
    `open_at` or later. The next group closes when all instructions before `close_at` have ended.
    """

    executed: int  # number of instructions that have begun, as far as the core has reported

    def __init__(
        self,
        core: int,
        name: str,
        config: Mapping[str, Any],
        write: Write,
        state: State | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Create the groups of the core with the number `core` and the name `name`.

        `write` writes bytes to memory and takes no simulated time. `state` is the core's state,
        which has the fields of `macaw.emu.recordings.fields`; None creates a state for the groups
        alone. The block calls `changed` when `on` has changed.
        """
        self.core = core
        self.name = name
        self.recording = bool(config["trace.recording"])
        self.state = State(fields(config)) if state is None else state
        self.on = False
        self.open_at = self.close_at = ENDLESS
        self._free_at = 0  # no open group records this instruction or a later one
        self._changed = changed
        # The open groups for which no instruction was reported yet: the number of their first
        # instruction, the groups, and their loops. While there are such groups, no other groups are
        # open.
        self._lazy: tuple[int, Sequence[tuple[int, int]]] | None = None
        self._area = Spill(core, self.state, write)
        self._trigger = Trigger(self.state, int(config["trace.groups"]))
        self.reload()

    @property
    def active(self) -> bool:
        return bool(self._active) or self._lazy is not None

    @property
    def area(self) -> tuple[int, int]:
        """The memory for further records: (address of the next one, end of the area)."""
        return self.state.trace_next, self.state.trace_spill_end

    def _update(self) -> None:
        """Compute when groups will open, after the parameters or the timer have changed."""
        state = self.state
        waits = self.recording and state.trace_counting
        if waits and state.trace_mode == AUTO and state.trace_num:
            self._trigger.aim(self.executed)
        else:
            self._trigger.rest()
        self._settle()

    def _settle(self) -> None:
        """Compute where groups next open and close, and whether the core reports to the trace.

        `open_at` and `close_at` are the numbers of these instructions. `on` says whether the core
        reports: it does if a group records now or will record later.
        """
        self._active = [recording for recording in self.recordings if recording is not None]
        self.open_at = self._trigger.next
        stops = [recording.stop for recording in self._active]
        if self._lazy is None:
            self.close_at = min(stops, default=ENDLESS)
        self._free_at = max(stops, default=0)
        on = self.open_at < ENDLESS or self.active
        if on != self.on:
            self.on = on
            self._changed()

    # State

    def reset(self) -> None:
        """Set the state after reset: mark mode, all registers 0, the timer stopped."""
        self.state.reset()
        self.reload()

    def sync(self) -> None:
        """Write counters and recordings into `self.state`."""
        self._open_lazy()
        self.state.trace_executed = self.executed
        self.state.trace_counters[...] = self.counters
        self.state.trace_recordings = [None if x is None else x.plain() for x in self.recordings]

    def reload(self) -> None:
        """Set counters and recordings from `self.state`."""
        self._lazy = None
        self._area.forget()
        self.executed: int = self.state.trace_executed
        self.counters: list[list[int]] = self.state.trace_counters.tolist()
        self.recordings: list[Recording | None] = [
            None if value is None else Recording.from_plain(group, self.counters[group], value)
            for group, value in enumerate(self.state.trace_recordings)
        ]
        self._update()

    # Opening and closing

    def open(self, number: int) -> None:
        """Open the groups that record from the next instruction on; its number is `number`."""
        if self._active or self._lazy is not None:
            self._open_lazy()
            self._fire(number)
            return
        trigger = self._trigger
        fired = trigger.fire(number)
        if fired:
            self._lazy = number, fired
            self.close_at = number + self.state.trace_num
        self.open_at = trigger.next
        if self.open_at == ENDLESS:
            self._settle()

    def _open_lazy(self) -> None:
        """Make recordings for the groups that `open` has only remembered so far."""
        if self._lazy is not None:
            (number, fired), self._lazy = self._lazy, None
            for group, loop in fired:
                self._open(group, loop, number, number + self.state.trace_num)

    def close(self, number: int) -> None:
        """End the records whose instructions all have numbers below `number`.

        The caller must make sure that all these instructions have ended.
        """
        for recording in self._active:
            if recording.stop <= number:
                self._finish(recording)

    def _fire(self, number: int) -> None:
        """Open each free group that starts to record with instruction `number` (auto mode)."""
        trigger = self._trigger
        for group, loop in trigger.fire(number):
            if self.recordings[group] is None:
                self._open(group, loop, number, number + self.state.trace_num)
        self.open_at = trigger.next
        if self.open_at == ENDLESS:
            self._settle()

    def _record(self, found: list[int]) -> None:
        """Write a record for each group that `open` has remembered.

        `found` has the counters, which are the same for all these groups.
        """
        lazy = self._lazy
        if lazy is None:
            return
        self._lazy = None
        self.close_at = ENDLESS
        if self.open_at == ENDLESS:
            self._settle()
        number, fired = lazy
        for group, loop in fired:
            counters = found if len(fired) == 1 else found.copy()
            self.counters[group] = counters
            self._area.take(group, loop, number, self.state.trace_num, counters)

    def _records_one(self, number: int) -> bool:
        """Return whether a record that begins with instruction `number` has only this instruction,
        and all open records end before it.
        """
        return self.state.trace_num == 1 and self._lazy is None and number >= self._free_at

    def _record_one(self, number: int, found: list[int]) -> None:
        """Write a record of instruction `number` for each free group that starts to record with it.

        `found` has the counters of this instruction, which has ended. `_records_one` must be true.
        """
        trigger = self._trigger
        fired = trigger.fire(number)
        self.open_at = trigger.next
        if self.open_at == ENDLESS:
            self._settle()
        for group, loop in fired:
            if self.recordings[group] is None:
                counters = found if len(fired) == 1 else found.copy()
                self.counters[group] = counters
                self._area.take(group, loop, number, 1, counters)

    def _open(self, group: int, loop: int, first: int, stop: int) -> None:
        """Clear a group's counters; from now on it records instructions `first` to `stop` - 1.

        In auto mode a group opens every `trace_overhead` instructions; `loop` is the number of this
        opening, from 0. In mark mode it is 0.
        """
        self.counters[group] = counters = [0] * COUNTERS
        self.recordings[group] = recording = Recording(group, counters, loop, first, stop)
        if stop > self._free_at:
            self._free_at = stop
        if not self._active or self._active[-1].group < group:
            self._active = [*self._active, recording]
            if stop < self.close_at:
                self.close_at = stop
        else:
            self._settle()

    def _cut(self) -> None:
        """Shorten the present record of each group to the instructions that have already started.

        If all of these have ended, end the record.
        """
        for recording in self._active:
            recording.stop = min(recording.stop, self.executed)
            self._close(recording)

    def _close(self, recording: Recording) -> None:
        """End a record if the last of its instructions has ended."""
        if self.executed >= recording.stop and recording.ends == recording.starts:
            self._finish(recording)

    def _finish(self, recording: Recording) -> None:
        """Write a complete record to memory. Raises `Fault` if the spill area is not in memory."""
        self.recordings[recording.group] = None
        active = self._active
        if len(active) > 2 or self.open_at == ENDLESS:
            self._settle()
        elif len(active) == 2:
            other = active[active[0] is recording]
            self._active, self.close_at = [other], other.stop
        else:
            self._active, self.close_at = [], ENDLESS
        first, number = recording.first, recording.starts
        self._area.take(recording.group, recording.loop, first, number, recording.counters)

    # Registers

    def read(self, name: str) -> int:
        """Return the 32-bit value of the register `name` of the trace block.

        Raises `Fault` if the block does not have the register's group.
        """
        self._open_lazy()
        return super().read(name)

    def set(self, name: str, value: int) -> None:
        """Set the parameter `name` to a value that was checked, and recompute the trigger."""
        self._open_lazy()
        state = self.state
        if name == "trace_mode" and value != state.trace_mode:
            self._cut()
        setattr(state, name, value)
        if name in ("trace_spill", "trace_spill_end"):
            self._area.empty()
        self._update()
