"""What a core with one instruction at a time does between two borders of its trace.

Between the instructions at which a register group opens or closes, all groups that are open take
the same: a core may add it up and let its block have it at once (`emu.trace.TraceBlock.absorb`).
"""

from __future__ import annotations

from isa.trace import OCCURRENCES

INDEX = {row.name: place for place, row in enumerate(OCCURRENCES)}
UNIT, ARRAY = INDEX["unit"], INDEX["array"]
NEVER = -1  # a time that has not come
_NOTHING = (0,) * len(OCCURRENCES)


class Tally:
    """Counts, first begins and last ends of occurrences, by their place in `OCCURRENCES`.

    `begin` is that of the first instruction, `NEVER` if none has begun; `until` their greatest end.
    """

    __slots__ = ("begin", "counts", "first", "last", "until")

    def __init__(self) -> None:
        self.begin = self.until = NEVER
        self.counts = [0] * len(OCCURRENCES)
        self.first = [0] * len(OCCURRENCES)  # of what was counted
        self.last = [0] * len(OCCURRENCES)

    def clear(self) -> None:
        """Nothing has happened."""
        self.begin = self.until = NEVER
        self.counts[:] = self.last[:] = _NOTHING

    def began(self, time: int) -> None:
        """An instruction has begun, after those that were told before."""
        if self.begin < 0:
            self.begin = time

    def ended(self, until: int) -> None:
        """An instruction ends at cycle `until`."""
        if until > self.until:
            self.until = until

    def occurred(self, place: int, time: int, until: int, count: int) -> None:
        """Something happens `count` times from cycle `time` to `until`; never before another."""
        if not self.counts[place]:
            self.first[place] = time
        self.counts[place] += count
        if until > self.last[place]:
            self.last[place] = until
