"""Tallies: counts that a core adds up itself, before it gives them to its trace block.

A trace block has several groups of registers, each of which records a range of the core's
instructions. A border is an instruction at which a group begins or ends to record. Between two
borders all recording groups count the same things. So the core may count by itself, and give the
sums to its trace block at the border (`macaw.emu.trace.TraceBlock.absorb`).
"""

from __future__ import annotations

from collections.abc import Iterable

from macaw.emu.recordings import BEGIN, COUNTERS, END, TAKEN, add
from macaw.isa.typed_records import NamedTuple

INDEX = {name: place for place, name in enumerate(TAKEN)}
UNIT, ARRAY = INDEX["unit"], INDEX["array"]
READS, WRITES, PARTIAL = (INDEX[f"external_{what}"] for what in ("reads", "writes", "partial"))
NEVER = -1  # the time of an event that has not occurred
PLACES = tuple(TAKEN.values())
_UNITS, _FIRST_UNIT, _LAST_UNIT = TAKEN["unit"]
_ARRAYS = TAKEN["array"][0]  # the array has no times of its own


def single_counters(begin: int, until: int, units: int) -> list[int]:
    """Return the counters of a group with one instruction, which lasts from `begin` to `until`.

    Both count from the timer's start. The instruction uses `units` compute units, one after the
    other, for as long as it takes.
    """
    found = [0] * COUNTERS
    found[BEGIN], found[END] = begin, until
    if units:
        found[_UNITS] = found[_ARRAYS] = units
        found[_FIRST_UNIT], found[_LAST_UNIT] = begin, until
    return found


class Use(NamedTuple):
    """Occurrences of one kind, such as granted reads, in a pass through a loop of the program.

    `what` is the index of the kind in `TAKEN`. One pass has `number` occurrences; each further pass
    adds `more`. The first one begins in cycle `begin`, and `until` is the cycle after the last one,
    both counted from the start of the pass.
    """

    what: int
    begin: int
    until: int
    number: int
    more: int = 0


class Part:
    """The times and uses of successive instructions of a loop, for `Tally.add_part`.

    The first of these instructions is in one pass through the loop; the last one is in the same
    pass or some passes later. `begin` is the cycle in which the first one begins, counted from the
    start of its pass. `until` is the first cycle after all of them, counted from the start of the
    last one's pass. Each item of `uses` has seven numbers: three indices of counters (from
    `PLACES`), then `begin`, `until`, `number` and `more` of a `Use`. Each item of `counts` is for a
    use without times: the index of its counter, `number` and `more`.
    """

    __slots__ = ("begin", "counts", "until", "uses")

    def __init__(self, begin: int, until: int, uses: Iterable[Use]) -> None:
        self.begin, self.until = begin, until
        placed = [(*PLACES[x.what], x.begin, x.until, x.number, x.more) for x in uses]
        self.uses = tuple(use for use in placed if use[1] >= 0)
        self.counts = tuple((use[0], *use[5:]) for use in placed if use[1] < 0)


class Tally:
    """Counts and times of some instructions, in the form of a register group's counters.

    Times are device cycles. `begin` is the cycle in which the first instruction begins, `until` the
    first cycle after all of them; both are `NEVER` if there is no instruction. `values` has a
    number for each register in `macaw.isa.trace.GROUP`, in that order.
    """

    __slots__ = ("begin", "until", "values")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Reset the tally, which then contains no instruction."""
        self.begin = self.until = NEVER
        self.values = [0] * COUNTERS

    def begin_instruction(self, time: int) -> None:
        """Count an instruction that begins in cycle `time`. Callers pass ascending times."""
        if self.begin < 0:
            self.begin = time

    def end_instruction(self, until: int) -> None:
        """Count the end of an instruction; `until` is the first cycle after it."""
        if until > self.until:
            self.until = until

    def count_occurrence(self, place: int, time: int, until: int, count: int) -> None:
        """Count `count` occurrences from cycle `time` up to (excluding) `until`.

        `place` is the index of the occurrence in `TAKEN`. Callers pass ascending `time`.
        """
        counted, first, last = PLACES[place]
        values = self.values
        if first >= 0:
            if not values[counted]:
                values[first] = time
            if until > values[last]:
                values[last] = until
        values[counted] += count

    def count_units(self, time: int, until: int, units: int, arrays: int) -> None:
        """Count `units` uses of compute units, and `arrays` uses of their array.

        They last from cycle `time` up to (excluding) `until`. Callers pass ascending `time`.
        """
        values = self.values
        if not values[_UNITS]:
            values[_FIRST_UNIT] = time
        if until > values[_LAST_UNIT]:
            values[_LAST_UNIT] = until
        values[_UNITS] += units
        values[_ARRAYS] += arrays

    def repeat(self, place: int, count: int, delay: int) -> None:
        """Count `count` further occurrences of a kind that the tally already has.

        The last of them ends `delay` cycles after the last one so far. `place` is the index of the
        kind in `TAKEN`. If `count` is 0, the tally need not have the kind.
        """
        if count:
            counted, _, last = PLACES[place]
            self.values[counted] += count
            if last >= 0:
                self.values[last] += delay

    def add_part(self, part: Part, time: int, last: int, passes: int) -> None:
        """Add the uses and times of a part of a loop.

        The pass with the part's first instruction begins in cycle `time`. The pass with its last
        instruction begins in cycle `last`, and is `passes` passes later. Callers pass ascending
        times.
        """
        values, end = self.values, last + part.until
        if end > self.until:
            self.until = end
        if self.begin < 0:  # then the tally is empty
            self.begin = time + part.begin
            for counted, first, end, begin, until, number, more in part.uses:
                values[first] = time + begin
                values[end] = last + until
                values[counted] = number + more * passes
        else:
            for counted, first, end, begin, until, number, more in part.uses:
                if not values[counted]:
                    values[first] = time + begin
                if last + until > values[end]:
                    values[end] = last + until
                values[counted] += number + more * passes
        for counted, number, more in part.counts:
            values[counted] += number + more * passes

    def take(self, origin: int) -> list[int]:
        """Return the counters of a group that contains only the instructions of this tally.

        The tally must have at least one instruction, and is cleared. Times in the result are
        relative to `origin`.
        """
        if origin:
            found = [0] * COUNTERS
            self.add_to([(found, True)], origin)
        else:
            found = self.values
            found[BEGIN] = self.begin
            found[END] = self.until if self.until > 0 else 0
        self.begin = self.until = NEVER
        self.values = [0] * COUNTERS
        return found

    def add_to(self, groups: Iterable[tuple[list[int], bool]], origin: int) -> None:
        """Add the tally to the counters of groups, whose times are relative to `origin`.

        Each item has the counters of a group, and whether the group had no instruction before those
        of the tally.
        """
        values, begin, until = self.values, self.begin - origin, self.until - origin
        uses = [
            (taken, values[taken[1]] - origin, values[taken[2]] - origin, values[taken[0]])
            for taken in PLACES
            if values[taken[0]]
        ]
        for counters, is_first in groups:
            if is_first and self.begin >= 0:
                counters[BEGIN] = begin
            if until > counters[END]:
                counters[END] = until
            for taken, first, last, count in uses:
                add(counters, taken, first, last, count)
