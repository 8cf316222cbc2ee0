"""The times of a block whose passes all take the same time, for the tally of its instructions.

A pass is one execution of the block's code, which loops. Such a block counts nothing for the trace
while it executes. Afterwards the block reports the number of complete passes and the position in
the last pass. From this report `PassTimes` computes the tally of a range of the executed
instructions. So a block does many passes at once even while the trace records, and the trace may
begin or end to record inside of these passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from macaw.emu.tallies import Part, Tally, Use

Span = tuple[int, int]  # the first byte of a range, and the byte after its last one


class Timed(NamedTuple):
    """When an instruction begins and ends, and its uses of units; times are as in `Use`."""

    begin: int
    until: int  # its end; for a branch, the end if it is not taken
    taken: int  # its end if it is a branch that is taken
    uses: Sequence[Use]


class Walk(NamedTuple):
    """A group of accesses to external memory whose addresses each pass moves by a constant.

    The constant is `by`; the addresses are relative to `register`. `span` has the bytes of the
    first pass, relative to the value of the register before the pass.
    """

    register: int
    span: Span
    by: int


def any_meets(walks: Iterable[Walk], span: Span, x: Sequence[int], passes: int) -> bool:
    """Return whether accesses in `passes` successive passes may touch a byte of `span`.

    `x` has the values of the general registers before the first pass.
    """
    begin, end = span
    more = passes - 1
    for register, (low, high), by in walks:
        base = x[register]
        if by < 0:
            low += by * more
        else:
            high += by * more
        if begin < base + high and base + low < end:  # an area is mostly after all data
            return True
    return False


class PassTimes:
    """The times of a block's instructions.

    `instructions` has the times of each instruction of the block, in a pass that goes through the
    whole block. A complete pass is one that branches back: it ends with instruction number `length`
    - 1, and takes `cycles` device cycles; `length` is 0 if the block does not branch back. `walks`
    are all accesses to external memory; None if a pass does not move each of them by a constant.
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
        self._last_part = cache(self._make_last_part)
        self._final_part = cache(self._make_final_part)
        self._short_part = cache(self._make_short_part)
        self._long_part = cache(self._make_long_part)
        self._start, self._end = cache(self._make_start), cache(self._make_end)

    def limit_within(self, time: int, lead: int, room: int) -> int:
        """Return the limit with which a call in cycle `time` executes at most `room` instructions.

        The limit is a cycle, an argument of the block's function. `lead` is the number of cycles
        from the start of a pass to its last instruction (`macaw.emu.scalar.fast.blocks.Block`).
        `room` must be at least the length of the block.
        """
        if not self.length:
            return time + lead + 1
        passes = (room - len(self.instructions)) // self.length + 1
        return time + passes * self.cycles + lead

    def add(self, tally: Tally, time: int, passes: int, first: int, end: int, taken: bool) -> None:
        """Add instructions to the tally: those with the numbers `first` to `end` - 1.

        The block began in cycle `time`, and its instructions are numbered through all passes, from
        0. It has done `passes` complete passes. `taken` says whether the last of the instructions
        is a branch that was taken, other than the branch back.
        """
        if passes:
            length, cycles = self.length, self.cycles
            whole = passes * length
            if first < whole:
                row, at = divmod(first, length)
                begin, rows = time + row * cycles, passes - row
                if end > whole and (rows > 1 or not at):
                    final = self._final_part(at, end - whole, taken)
                    if final is not None:
                        tally.add_part(final, begin, time + passes * cycles, rows)
                        return
                count = (end if end < whole else whole) - first
                if count < length:
                    tally.add_part(self._short_part(at, count), begin, begin, 0)
                else:
                    rows, last = divmod(at + count, length)
                    part = self._long_part(at, last)
                    tally.add_part(part, begin, begin + rows * cycles, rows)
                if end <= whole:
                    return
                first = whole
            first -= whole
            end -= whole
            time += passes * cycles
        tally.add_part(self._last_part(first, end, taken), time, time, 0)

    def _make_last_part(self, first: int, end: int, taken: bool) -> Part:
        """Return the part with the instructions `first` to `end` - 1 of the last pass.

        `taken` says whether the last of them is a branch that is taken.
        """
        timed, until = self._last(first, end, taken)
        return Part(timed[0].begin, until, _merge(use for item in timed for use in item.uses))

    def _last(self, first: int, end: int, taken: bool) -> tuple[Sequence[Timed], int]:
        """Return the times of instructions of the last pass, and the first cycle after all of them.

        The arguments are those of `_make_last_part`.
        """
        timed = self.instructions[first:end]
        ends = [item.until for item in timed[:-1]]
        ends.append(timed[-1].taken if taken else timed[-1].until)
        return timed, max(ends)

    def _make_final_part(self, first: int, end: int, taken: bool) -> Part | None:
        """Return the part that begins in some complete pass and ends in the last pass.

        It begins with the instruction with index `first` of its first pass, and ends before the
        instruction with index `end` of the last pass. It contains at least one complete pass as a
        whole. `taken` is as in `_make_last_part`. The result is None if only the last pass has uses
        of some kind.
        """
        starts, (timed, until) = self._start(first), self._last(0, end, taken)
        before = [self._passed(number) for number in range(-self.length, 0)]
        last = {use.what: use.number for use in _merge(use for item in timed for use in item.uses)}
        ends = _merge(use for item in (*before, *timed) for use in item.uses)
        uses = []
        for start, use in zip(starts.uses, sorted(ends), strict=False):
            number = last.get(use.what, 0) - start.number
            uses.append(Use(use.what, start.begin, use.until, number, start.more))
        if len(ends) > len(uses):
            return None
        return Part(starts.begin, max(until, *(item.until for item in before)), uses)

    # Parts of complete passes

    def _make_short_part(self, first: int, count: int) -> Part:
        """Return the part with `count` instructions, from instruction `first` of a pass on.

        `count` is less than the number of instructions of a pass, but the part may go on in the
        next pass. All times count from the start of the pass with `first`.
        """
        timed = [self._passed(number) for number in range(first, first + count)]
        uses = _merge(use for item in timed for use in item.uses)
        return Part(timed[0].begin, max(item.until for item in timed), uses)

    def _make_long_part(self, first: int, end: int) -> Part:
        """Return the part that begins in some pass and ends in a later pass.

        It begins with the instruction with index `first` of its first pass, and ends before the
        instruction with index `end` of its last pass. It has at least as many instructions as a
        pass.
        """
        starts, ends, uses = self._start(first), self._end(end), []
        for start, last in zip(starts.uses, ends.uses, strict=True):
            number = last.number - start.number
            uses.append(Use(start.what, start.begin, last.until, number, start.more))
        return Part(starts.begin, ends.until, uses)

    def _make_start(self, first: int) -> Timed:
        """Return when the instructions from `first` on begin, and when each kind of use begins.

        The result has a use for each kind, ordered by kind. `number` of a use counts the uses by
        the instructions before `first` in a pass; the caller subtracts it from the number in the
        result of `_make_end`. `more` of a use counts the uses by all instructions of a pass.
        """
        timed = [self._passed(number) for number in range(first, first + self.length)]
        uses = _merge(use for item in timed for use in item.uses)
        before = (self._before(use.what, first) for use in uses)
        found = (x._replace(number=y, more=x.number) for x, y in zip(uses, before, strict=True))
        return timed[0]._replace(uses=sorted(found))

    def _make_end(self, end: int) -> Timed:
        """Return when the instructions before `end` have ended, and when each kind of use ends.

        The result has a use for each kind, ordered by kind. Its `number` counts the uses by the
        instructions before `end` in a pass.
        """
        timed = [self._passed(number) for number in range(end - self.length, end)]
        uses = _merge(use for item in timed for use in item.uses)
        found = [use._replace(number=self._before(use.what, end)) for use in uses]
        until = max(item.until for item in timed)
        return timed[-1]._replace(until=until, uses=sorted(found))

    def _before(self, what: int, end: int) -> int:
        """Return how many uses of the kind `what` the first `end` instructions of a pass have."""
        timed = self.instructions[:end]
        return sum(use.number for item in timed for use in item.uses if use.what == what)

    def _passed(self, number: int) -> Timed:
        """Return the times of instruction `number`, which are counted from the start of pass 0.

        Numbers count through complete passes: those of passes before pass 0 are negative.
        """
        row, place = divmod(number, self.length)
        timed, moved = self.instructions[place], row * self.cycles
        until = timed.taken if place == self.length - 1 else timed.until
        uses = [x._replace(begin=x.begin + moved, until=x.until + moved) for x in timed.uses]
        return Timed(timed.begin + moved, until + moved, until + moved, uses)


def _merge(uses: Iterable[Use]) -> list[Use]:
    """Return one use for each kind, which joins all uses of this kind: first begin, last end, sum.

    The uses in `uses` begin one after the other.
    """
    sums: dict[int, Use] = {}
    for use in uses:
        old = sums.get(use.what)
        if old is not None:
            until = max(old.until, use.until)
            use = Use(use.what, old.begin, until, old.number + use.number)
        sums[use.what] = use
    return list(sums.values())
