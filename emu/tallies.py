"""What a core with one instruction at a time does between two borders of its trace.

Between the instructions at which a register group opens or closes, all groups that are open take
the same: a core may add it up and let its block have it at once
(`macaw.emu.trace.TraceBlock.absorb`).
"""

from __future__ import annotations

from macaw.emu.recordings import BEGIN, COUNTERS, END, TAKEN, add

INDEX = {name: place for place, name in enumerate(TAKEN)}
UNIT, ARRAY = INDEX["unit"], INDEX["array"]
NEVER = -1  # a time that has not come
PLACES = tuple(TAKEN.values())


class Tally:
    """What happened, counted as a register group counts it, with times of the device's clock.

    `begin` is that of the first instruction, `NEVER` if none has begun; `until` their greatest
    end. `values` has what occurred, by the places of `macaw.isa.trace.GROUP`.
    """

    __slots__ = ("begin", "until", "values")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing has happened."""
        self.begin = self.until = NEVER
        self.values = [0] * COUNTERS

    def begin_instruction(self, time: int) -> None:
        """An instruction has begun, after those that were told before."""
        if self.begin < 0:
            self.begin = time

    def end_instruction(self, until: int) -> None:
        """An instruction ends at cycle `until`."""
        if until > self.until:
            self.until = until

    def occurred(self, place: int, time: int, until: int, count: int) -> None:
        """Something happens `count` times from cycle `time` to `until`; never before another."""
        counted, first, last = PLACES[place]
        values = self.values
        if first >= 0:
            if not values[counted]:
                values[first] = time
            if until > values[last]:
                values[last] = until
        values[counted] += count

    def counters(self, origin: int) -> list[int]:
        """As `add_to` leaves the counters of a group that had nothing; something has begun."""
        if origin:
            found = [0] * COUNTERS
            self.add_to(found, origin, True)
        else:
            found = self.values.copy()
            found[BEGIN], found[END] = self.begin, max(self.until, 0)
        return found

    def add_to(self, counters: list[int], origin: int, is_first: bool) -> None:
        """Let the counters of a group have it, whose times are relative to `origin`.

        `is_first` says that no instruction of what it records had begun before.
        """
        if is_first and self.begin >= 0:
            counters[BEGIN] = self.begin - origin
        if self.until - origin > counters[END]:
            counters[END] = self.until - origin
        values = self.values
        for taken in PLACES:
            counted, first, last = taken
            if values[counted]:
                add(counters, taken, values[first] - origin, values[last] - origin, values[counted])
