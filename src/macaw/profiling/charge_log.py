"""The charges of a run with their times: when each core worked, waited for others, and why.

A log has a bounded size: it adds up the charges of each period of the run, and keeps only the
intervals of work and the waits one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from macaw.emu.charges import Charge
from macaw.isa.causes import BY_NAME
from macaw.profiling.model import Interval

MOST_PERIODS = 8192  # of a log


class LoggedWait(NamedTuple):
    """A wait of a core for other cores."""

    begin: int
    end: int
    charge: Charge


@dataclass
class ChargeLog:
    """The charges of one core. Its accountant calls `add` for each of them.

    `period` is the length of a period in cycles. The keys of `cycles` are (number of a period,
    charge), its values are cycles times units, without waits for other cores. `busy` has the
    intervals in which the core worked. They are sorted once `close` has been called.
    """

    period: int
    busy: list[Interval] = field(default_factory=list)
    waits: list[LoggedWait] = field(default_factory=list)
    cycles: dict[tuple[int, Charge], float] = field(default_factory=dict)

    def add(self, begin: int, end: int, charge: Charge, cycles: int) -> None:
        """Log `cycles`, times units, of the time from `begin` to `end`."""
        if BY_NAME[charge.cause].parent == "others":
            self.waits.append(LoggedWait(begin, end, charge))
            return
        if self.busy and self.busy[-1][0] <= begin <= self.busy[-1][1]:
            self.busy[-1] = self.busy[-1][0], max(self.busy[-1][1], end)
        else:
            self.busy.append((begin, end))
        first, last = begin // self.period, (end - 1) // self.period
        if first >= last:
            self.cycles[first, charge] = self.cycles.get((first, charge), 0) + cycles
            return
        density = cycles / (end - begin)
        for number in range(first, last + 1):
            inside = min(end, (number + 1) * self.period) - max(begin, number * self.period)
            key = number, charge
            self.cycles[key] = self.cycles.get(key, 0) + inside * density

    def close(self, cycles: int) -> None:
        """Sort the log, and remove all cycles after the end of the run in cycle `cycles`."""
        joined: list[Interval] = []
        for begin, end in sorted(self.busy):
            end = min(end, cycles)
            if joined and begin <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], end)
            elif begin < end:
                joined.append((begin, end))
        self.busy = joined
        waits = (wait._replace(end=min(wait.end, cycles)) for wait in self.waits)
        self.waits = sorted(wait for wait in waits if wait.begin < wait.end)
        last = (cycles - 1) // self.period
        self.cycles = {key: count for key, count in self.cycles.items() if key[0] <= last}


def period_of(cycles: int) -> int:
    """Return the length of a period for a run of about `cycles`."""
    return max(1, -(-cycles // MOST_PERIODS))
