"""The times of a block whose passes all take the same time, for the tally of its instructions.

Such a block counts nothing for the trace while it executes. Afterwards the block reports the number
of complete passes and the position in the last pass. From this report `PassTimes` computes the
tally of a range of the executed instructions. So a block does many passes at once even while the
trace records, and borders of the trace may be inside of these passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from macaw.emu.tallies import Part, Tally, Use

Span = tuple[int, int]  # the first byte of a range, and the byte after its last one


class Timed(NamedTuple):
    """The begin, the end and the uses of an instruction; times are as in `Use`."""

    begin: int
    until: int  # its end; for a branch, the end if it is not taken
    taken: int  # its end if it is a branch that is taken
    uses: Sequence[Use]


class Walk(NamedTuple):
    """Accesses to external memory, which move by a constant in each pass."""

    register: int  # their base
    span: Span  # their bytes in the first pass, from the value of the register before the pass
    by: int  # what each pass adds


def any_meets(walks: Iterable[Walk], span: Span, x: Sequence[int], passes: int) -> bool:
    """Return whether the accesses of `passes` passes touch bytes of `span`.

    `x` has the values of the general registers before the first pass.
    """
    begin, end = span
    for register, (low, high), by in walks:
        base, last = x[register], by * (passes - 1)
        if last < 0:
            low += last
        else:
            high += last
        if base + low < end and begin < base + high:
            return True
    return False


class PassTimes:
    """The times of a block's instructions.

    `instructions` are those of a pass that does not branch back. A complete pass ends with
    instruction number `length` - 1, and takes `cycles` device cycles; `length` is 0 if the block
    does not branch back. `walks` are all accesses to external memory; None if a pass does not move
    each of them by a constant.
    """

    def __init__(
        self,
        instructions: Sequence[Timed],
        length: int,
        cycles: int,
        walks: Sequence[Walk] | None,
    ) -> None:
        self.instructions = instructions
        self.length, self.cycles, self.walks = length, cycles, walks
        self._part = cache(self._sum)

    def limit_within(self, time: int, lead: int, room: int) -> int:
        """Return the limit with which a call in cycle `time` executes at most `room` instructions.

        The limit is a cycle, an argument of the block's function. `lead` is as in
        `macaw.emu.scalar.fast.blocks.Block`; `room` must be at least the length of the block.
        """
        if not self.length:
            return time + lead + 1
        passes = (room - len(self.instructions)) // self.length + 1
        return time + passes * self.cycles + lead

    def add(self, tally: Tally, time: int, passes: int, first: int, end: int, taken: bool) -> None:
        """Add instructions to the tally: those with the numbers `first` to `end` - 1.

        The block began in cycle `time`, and its instructions are numbered from there. It has done
        `passes` complete passes. `taken` says whether the last of the instructions is a branch that
        was taken, other than the branch back.
        """
        if passes:
            length, cycles = self.length, self.cycles
            row, last = first // length, end // length
            if row > passes:
                row = passes
            if last > passes:
                last = passes
            first -= row * length
            end -= last * length
            if row < last:
                begin, until = time + row * cycles, time + (last - 1) * cycles
                if first:
                    tally.add_passes(self._part(first, length, True), begin, begin, 1)
                    row, first = row + 1, 0
                    begin += cycles
                if row < last:
                    tally.add_passes(self._part(0, length, True), begin, until, last - row)
            time += last * cycles
        if first < end:
            tally.add_passes(self._part(first, end, taken), time, time, 1)

    def _sum(self, first: int, end: int, taken: bool) -> Part:
        """Return instructions `first` to `end` - 1 of a pass as a part.

        `taken` says whether the last of them is a branch that is taken.
        """
        timed = self.instructions[first:end]
        ends = [item.until for item in timed[:-1]]
        ends.append(timed[-1].taken if taken else timed[-1].until)
        sums: dict[int, Use] = {}
        for use in (use for item in timed for use in item.uses):
            old = sums.get(use.what)
            if old is not None:
                until = max(old.until, use.until)
                use = Use(use.what, old.begin, until, old.number + use.number)
            sums[use.what] = use
        return Part(timed[0].begin, max(ends), tuple(sums.values()))
