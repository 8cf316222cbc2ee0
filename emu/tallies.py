"""Tallies: counts that a core adds up itself, before it gives them to its trace block.

A border is an instruction at which a register group opens or closes. Between two borders all open
groups count the same things. So the core may count by itself, and give the sums to its trace block
at the border (`macaw.emu.trace.TraceBlock.absorb`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from macaw.emu.recordings import BEGIN, COUNTERS, END, TAKEN, add

INDEX = {name: place for place, name in enumerate(TAKEN)}
UNIT, ARRAY = INDEX["unit"], INDEX["array"]
NEVER = -1  # the time of an event that has not occurred
PLACES = tuple(TAKEN.values())


class Use(NamedTuple):
    """Occurrences of one kind. Times are device cycles from the start of a pass through a loop."""

    what: int  # index of the kind in `TAKEN`
    begin: int  # the cycle in which the first one begins
    until: int  # the cycle after the last one
    number: int  # how many they are


class Part:
    """Successive instructions of a pass, as a tally sees them; times as in `Use`.

    `begin` is the cycle in which the first one begins, `until` the first cycle after all of them.
    `uses` has each use with the indices of its counters before it.
    """

    __slots__ = ("begin", "until", "uses")

    def __init__(self, begin: int, until: int, uses: Sequence[Use]) -> None:
        self.begin, self.until = begin, until
        self.uses = tuple((*PLACES[x.what], x.begin, x.until, x.number) for x in uses)


class Tally:
    """Counts and times of some instructions, in the form of a register group's counters.

    Times are device cycles. `begin` is the cycle in which the first instruction begins, or `NEVER`.
    `until` is the first cycle after all of them. `values` is indexed like `macaw.isa.trace.GROUP`.
    """

    __slots__ = ("_parts", "begin", "until", "values")

    def __init__(self) -> None:
        # by part: the starts of the first and the last pass, and the number of passes
        self._parts: dict[Part, list[int]] = {}
        self.clear()

    def clear(self) -> None:
        """Reset the tally, which then contains no instruction."""
        self.begin = self.until = NEVER
        self.values = [0] * COUNTERS
        if self._parts:
            self._parts.clear()

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

    def add_passes(self, part: Part, time: int, last: int, passes: int) -> None:
        """Count a part of each of `passes` passes through a loop.

        The first pass begins in cycle `time`, the last one in cycle `last`. No call has an earlier
        `time` than the previous call.
        """
        if self.begin < 0:
            self.begin = time + part.begin
        sums = self._parts.get(part)
        if sums is None:
            self._parts[part] = [time, last, passes]
        else:
            sums[1] = last
            sums[2] += passes

    def _add_parts(self) -> None:
        """Add the parts of passes to `values` and `until`."""
        values, latest = self.values, self.until
        for part, (time, last, passes) in self._parts.items():
            if last + part.until > latest:
                latest = last + part.until
            for counted, first, end, begin, until, number in part.uses:
                if first >= 0:
                    if not values[counted] or time + begin < values[first]:
                        values[first] = time + begin
                    if last + until > values[end]:
                        values[end] = last + until
                values[counted] += passes * number
        self.until = latest
        self._parts.clear()

    def take(self, origin: int) -> list[int]:
        """Return the counters of a group that contains only the instructions of this tally.

        The tally must have at least one instruction, and is cleared. Times in the result are
        relative to `origin`.
        """
        if self._parts:
            self._add_parts()
        if origin:
            found = [0] * COUNTERS
            self.add_to(found, origin, True)
        else:
            found = self.values
            found[BEGIN] = self.begin
            found[END] = self.until if self.until > 0 else 0
        self.begin = self.until = NEVER
        self.values = [0] * COUNTERS
        return found

    def add_to(self, counters: list[int], origin: int, is_first: bool) -> None:
        """Add the tally to the counters of a group, whose times are relative to `origin`.

        `is_first` says that the group had no instruction before those of the tally.
        """
        if self._parts:
            self._add_parts()
        if is_first and self.begin >= 0:
            counters[BEGIN] = self.begin - origin
        if self.until - origin > counters[END]:
            counters[END] = self.until - origin
        values = self.values
        for taken in PLACES:
            counted, first, last = taken
            if values[counted]:
                add(counters, taken, values[first] - origin, values[last] - origin, values[counted])
