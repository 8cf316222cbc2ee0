"""The trigger circuit of a trace block: when groups begin to record in auto mode."""

from __future__ import annotations

from collections.abc import Iterator

from emu.state import State

ENDLESS = 1 << 62  # a number that no instruction has


class Trigger:
    """By group the next instruction with which it begins to record, `ENDLESS` if there is none.

    `state` has the rows of `emu.recordings.fields`.
    """

    def __init__(self, state: State, groups: int) -> None:
        self._state = state
        self.starts = [ENDLESS] * groups

    @property
    def next(self) -> int:
        """The next instruction with which a group begins."""
        return min(self.starts)

    def rest(self) -> None:
        """No group begins by itself."""
        self.starts = [ENDLESS] * len(self.starts)

    def aim(self, number: int) -> None:
        """Find, by the parameters, what begins with this instruction or a later one."""
        state = self._state
        overhead, loops = state.trace_overhead, state.trace_loops
        for group in range(len(self.starts)):
            first = state.trace_begin + group * state.trace_step
            loop = max(0, -(-(number - first) // overhead)) if overhead else 0
            start = first + loop * overhead
            goes_on = number <= start and (loop < loops or not loops)
            self.starts[group] = start if goes_on else ENDLESS

    def fire(self, number: int) -> Iterator[tuple[int, int]]:
        """The groups that begin with this instruction, each with its loop; then they aim again."""
        state = self._state
        overhead, loops = state.trace_overhead, state.trace_loops
        for group, start in enumerate(self.starts):
            if start != number:
                continue
            first = state.trace_begin + group * state.trace_step
            loop = (number - first) // overhead if overhead else 0
            goes_on = overhead and (loop + 1 < loops or not loops)
            self.starts[group] = number + overhead if goes_on else ENDLESS
            yield group, loop
