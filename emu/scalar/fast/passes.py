"""The times of a block whose passes all take the same time, for the tally of its instructions.

A pass is one execution of the block's code, which loops. Such a block counts nothing for the trace
while it executes. Afterwards the block reports the number of complete passes and the position in
the last pass. From this report `PassTimes` computes the tally of a range of the executed
instructions. So a block does many passes at once even while the trace records, and the trace may
begin or end to record inside of these passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from macaw.emu.tallies import Part, Tally, Use
from macaw.isa.typed_records import NamedTuple

Span = tuple[int, int]  # the first byte of a range, and the byte after its last one


class Timed(NamedTuple):
    """The times and uses of an instruction in a pass. Times count from the start of the pass."""

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
    are the accesses to external memory, whose addresses each pass moves by constants; None if a
    pass moves an address in another way.
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
        # By instructions of a pass, and whether the last one is a branch that is taken.
        self._joined = cache(self._join)
        self._short_part = cache(self._make_short_part)
        self._long_part = cache(self._make_long_part)

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
            row, end_row = first // length, end // length
            if row > passes:
                row = passes
            if end_row > passes:
                end_row = passes
            first -= row * length
            end -= end_row * length
            begin, time, rows = time + row * cycles, time + end_row * cycles, end_row - row
            if rows > 1 or (rows and end >= first):
                part = self._long_part(first, end, taken)
                if part is not None:
                    tally.add_part(part, begin, time, rows)
                    return
            if rows > 1:
                part = self._long_part(first, 0, False)
                assert part is not None
                tally.add_part(part, begin, time, rows)
                first = 0
            elif rows:
                tally.add_part(self._short_part(first, length, True), begin, begin, 0)
                first = 0
            if not end:
                return
        tally.add_part(self._short_part(first, end, taken), time, time, 0)

    def _make_short_part(self, first: int, end: int, taken: bool) -> Part:
        """Return the part with the instructions `first` to `end` - 1 of one pass.

        `taken` says whether the last of them is a branch that is taken.
        """
        until, uses = self._joined(first, end, taken)
        return Part(self.instructions[first].begin, until, uses.values())

    def _make_long_part(self, first: int, end: int, taken: bool) -> Part | None:
        """Return the part that begins in one pass and ends in a later one.

        The part begins with instruction `first` of its first pass, which is complete. It ends
        before instruction `end` of its last pass, and has at least as many instructions as a pass.
        `taken` says whether its last instruction is a branch that is taken. The result is None if
        only the last pass has uses of some kind.
        """
        length, cycles = self.length, self.cycles
        before, whole = self._joined(0, length, True)
        _, heads = self._joined(first, length, True)
        until, tails = self._joined(0, end, taken)
        if not tails.keys() <= whole.keys():
            return None
        uses = []
        for what, use in whole.items():
            head = heads.get(what) or Use(what, use.begin + cycles, 0, 0)
            tail = tails.get(what) or Use(what, 0, use.until - cycles, 0)
            last = max(tail.until, use.until - cycles)
            number = head.number + tail.number - use.number
            uses.append(Use(what, head.begin, last, number, use.number))
        return Part(self.instructions[first].begin, max(until, before - cycles), uses)

    def _join(self, first: int, end: int, taken: bool) -> tuple[int, Mapping[int, Use]]:
        """Return the first cycle after instructions `first` to `end` - 1 of a pass, and their uses.

        All uses of one kind are joined to one. It lasts from the begin of the first to the end of
        the last, and has the sum of their numbers. The uses are returned by their kind. `taken`
        says whether the last instruction is a branch that is taken.
        """
        until, uses = 0, dict[int, Use]()
        for place in range(first, end):
            item = self.instructions[place]
            until = max(until, item.taken if taken and place == end - 1 else item.until)
            for use in item.uses:
                old = uses.get(use.what)
                if old is not None:
                    last, number = max(old.until, use.until), old.number + use.number
                    use = Use(use.what, old.begin, last, number)
                uses[use.what] = use
        return until, uses
