"""The critical path of a run: for each cycle the core that the run waited for, and its charge.

The path goes back from the end of the run. It follows a core as long as this core has something to
do. Where the core waits for another core, the path continues with that core. Where it is idle, the
path continues with the first core that is not idle: mostly the core that commands the others and
has started this one. So work that overlaps other work is on the path only if the run could not have
continued without it. Each cycle is on the path once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from macaw.emu.charges import IDLE, Charge, CoreLog

# The least shares of all cycles for which a line or an instruction has heat 2, 3 and 4. With a
# smaller share it has heat 1, without any cycles heat 0.
HEAT_SHARES = (0.01, 0.05, 0.2)

Step = tuple[int, Charge | None]  # number of a core and what it did; None: no core did anything


class _Cursor:
    """A position in the log of a core. It only moves to earlier cycles."""

    def __init__(self, log: CoreLog) -> None:
        self.log, self.at = log, len(log.begins) - 1

    def seek(self, cycle: int) -> int:
        """Move to the entry of the log for cycle `cycle`; return the first cycle of the entry."""
        begins = self.log.begins
        while begins[self.at] > cycle:
            self.at -= 1
        return begins[self.at]

    @property
    def charge(self) -> Charge | None:
        number = self.log.numbers[self.at]
        return None if number == IDLE else self.log.charges[number]


def critical_path(logs: Mapping[int, CoreLog], cycles: int) -> dict[Step, int]:
    """Return the number of cycles that each step (core, charge) is on the critical path of a run.

    `logs` has the log of each core by the core's number; the core with the least number commands
    the others. The values add up to `cycles`.
    """
    cursors = {number: _Cursor(logs[number]) for number in sorted(logs)}
    path: dict[Step, int] = {}
    core = next(iter(cursors))
    while cycles:
        core, charge, begin = _step(cursors, core, cycles - 1)
        path[core, charge] = path.get((core, charge), 0) + cycles - begin
        cycles = begin
    return path


def heat_of(cycles: int, all_cycles: int) -> int:
    """Return how hot a source line is, from 0 to 4, by its share of all cycles.

    0 means no cycles, 1 less than 1%, 2 at least 1%, 3 at least 5%, 4 at least 20%.
    """
    if not cycles:
        return 0
    return 1 + sum(cycles >= share * all_cycles for share in HEAT_SHARES)


def _step(cursors: Mapping[int, _Cursor], core: int, cycle: int) -> tuple[int, Charge | None, int]:
    """Return the core on the path in cycle `cycle`, its charge, and since when both are the same.

    `cursors` has a cursor in the log of each core, by the core's number. The search for the core
    begins with `core`, which is on the path in the next cycle. From a core that waits in `cycle`
    the search goes on to a core for which it waits, from an idle core to the core with the least
    number that is not idle. It ends at a core that neither waits nor is idle. If there is none, the
    result is the first core of the search that is not idle, or `core` if all cores are idle.
    """
    chain: list[tuple[int, Charge | None]] = []  # cores, each of which waits for the next one
    begin = 0
    while True:
        begin = max(begin, cursors[core].seek(cycle))
        charge = cursors[core].charge
        chain.append((core, charge))
        seen = [number for number, _ in chain]
        for other in _awaited(cursors, charge):
            if other in seen:
                continue
            begin = max(begin, cursors[other].seek(cycle))
            if cursors[other].charge is not None:
                core = other
                break
        else:
            break
    if charge is None or charge.cores:
        core, charge = next((step for step in chain if step[1] is not None), (core, charge))
    return core, charge, begin


def _awaited(cursors: Iterable[int], charge: Charge | None) -> Iterable[int]:
    """Return the numbers of the cores for which a core with this charge may wait.

    The result has only cores in `cursors`. With the charge None, the core is idle and may wait for
    any core.
    """
    if charge is None:
        return cursors
    return (number for number in cursors if charge.cores >> number & 1)
