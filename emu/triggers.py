"""The trigger circuit of a trace block: in auto mode it decides when groups start to record."""

from __future__ import annotations

from macaw.emu.state import State

ENDLESS = 1 << 62  # no instruction has this number


class Trigger:
    """Decides with which instruction each register group starts to record next.

    `next` is the least of these instruction numbers, or `ENDLESS` if no group starts to record any
    more. `state` has the fields of `macaw.emu.recordings.fields`.
    """

    def __init__(self, state: State, groups: int) -> None:
        self._state = state
        self._starts = [ENDLESS] * groups  # by group: the instruction with which it starts
        self._loops = [0] * groups  # by group: the loop in which it starts there, from 0
        self.next = ENDLESS

    def rest(self) -> None:
        """Stop the trigger, so that no group starts to record."""
        self._starts = [ENDLESS] * len(self._starts)
        self.next = ENDLESS

    def aim(self, number: int) -> None:
        """Compute from the parameters the instruction with which each group starts to record.

        This instruction is instruction `number` or a later one.
        """
        state = self._state
        overhead, loops = state.trace_overhead, state.trace_loops
        for group in range(len(self._starts)):
            first = state.trace_begin + group * state.trace_step
            loop = max(0, -(-(number - first) // overhead)) if overhead else 0
            start = first + loop * overhead
            goes_on = number <= start and (loop < loops or not loops)
            self._starts[group] = start if goes_on else ENDLESS
            self._loops[group] = loop
        self.next = min(self._starts)

    def fire(self) -> tuple[int, int]:
        """Return (group, loop) of a group that starts to record with instruction `next`.

        A group starts every `trace_overhead` instructions; `loop` is the number of this start, from
        0. The method also computes with which later instruction the group starts again.
        """
        state, starts, number = self._state, self._starts, self.next
        group = starts.index(number)
        loop = self._loops[group]
        self._loops[group] = loop + 1
        overhead, loops = state.trace_overhead, state.trace_loops
        goes_on = overhead and (loop + 1 < loops or not loops)
        starts[group] = number + overhead if goes_on else ENDLESS
        self.next = min(starts)
        return group, loop
