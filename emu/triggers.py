"""The trigger circuit of a trace block: in auto mode it decides when groups start to record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, cycle, islice, repeat

from macaw.emu.state import State

ENDLESS = 1 << 62  # no instruction has this number


class Trigger:
    """Decides with which instruction each register group starts to record next.

    `next` is the least of these instruction numbers, or `ENDLESS` if no group starts to record any
    more. `state` has the fields of `macaw.emu.recordings.fields`.

    The parameters may let the groups start in turn, endlessly: every `trace_step` instructions
    the next group starts. Then the trigger computes only the next start.
    """

    def __init__(self, state: State, groups: int) -> None:
        self._state = state
        self._starts = [ENDLESS] * groups  # by group: the instruction with which it starts
        self._loops = [0] * groups  # by group: the loop in which it starts there, from 0
        self.next = ENDLESS
        # If the groups start in turn: how many instructions each one starts after the previous one
        # (else 0), and the further starts.
        self._step = 0
        self._turns = _turns(groups, 0)

    def rest(self) -> None:
        """Stop the trigger, so that no group starts to record."""
        self._starts = [ENDLESS] * len(self._starts)
        self.next = ENDLESS
        self._step = 0

    def aim(self, number: int) -> None:
        """Compute from the parameters the instruction with which each group starts to record.

        This instruction is instruction `number` or a later one.
        """
        state, groups = self._state, len(self._starts)
        overhead, loops = state.trace_overhead, state.trace_loops
        begin, step = state.trace_begin, state.trace_step
        self._step = step if overhead == groups * step and not loops else 0
        if self._step:
            starts = max(0, -(-(number - begin) // step))  # before instruction `number`
            self.next = begin + starts * step
            self._turns = _turns(groups, starts)
            return
        for group in range(groups):
            first = begin + group * step
            loop = max(0, -(-(number - first) // overhead)) if overhead else 0
            start = first + loop * overhead
            goes_on = number <= start and (loop < loops or not loops)
            self._starts[group] = start if goes_on else ENDLESS
            self._loops[group] = loop
        self.next = min(self._starts)

    def fire(self, number: int) -> Sequence[tuple[int, int]]:
        """Return (group, loop) of each group that starts to record with instruction `number`.

        A group starts every `trace_overhead` instructions; `loop` is the number of this start, from
        0. The method also computes with which later instruction these groups start again. If
        earlier instructions than `number` were to start groups, those starts are left out.
        """
        if self.next < number:
            self.aim(number)
        if self.next != number:
            return ()
        if self._step:
            self.next = number + self._step
            return next(self._turns)
        starts, fired = self._starts, []
        overhead, loops = self._state.trace_overhead, self._state.trace_loops
        for group, start in enumerate(starts):
            if start == number:
                loop = self._loops[group]
                self._loops[group] = loop + 1
                goes_on = overhead and (loop + 1 < loops or not loops)
                starts[group] = number + overhead if goes_on else ENDLESS
                fired.append((group, loop))
        self.next = min(starts)
        return fired


def _turns(groups: int, starts: int) -> Iterator[tuple[tuple[int, int]]]:
    """Return an endless iterator over the starts of `groups` groups, which start in turn.

    Each item is ((group, loop),): `loop` is the number of starts that the group has had before. The
    first `starts` starts are left out.
    """
    loop, first = divmod(starts, groups)
    loops = chain.from_iterable(map(repeat, count(loop), repeat(groups)))
    return islice(zip(zip(cycle(range(groups)), loops)), first, None)
