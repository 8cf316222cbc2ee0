"""Accountants: each charges every cycle of one core to a cause (`macaw.isa.causes`).

An accountant listens to its core, so a run without accountants costs nothing. It charges the cycles
in ascending order and leaves none out: `at` is the first cycle that is not charged yet. If a core
has several units, such as the PEs of a row, it charges each cycle once for each unit. So at the end
of a run the charges of a core add up to the cycles of the run, times the number of its units. Cores
announce different things, so the folders of cores in `emu` have accountants of their own, in the
module `accountant`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from macaw.emu.charges import Charge, CoreLog
from macaw.emu.core import Core, Event
from macaw.emu.moves import Move
from macaw.emu.system import Dispatchable, Operable, Startable
from macaw.emu.waits import Waiting

BEFORE, BETWEEN, TAIL = "before", "between", "tail"


class Accountant:
    """Charges the cycles of a core, from reset to the end of a run.

    `units` is the number of the core's units, such as the PEs of a row. `charges` maps each charge
    to the sum of its cycles over all units. `log` has one charge for each cycle. This class charges
    each cycle as work, as a wait for other cores or as idle; the accountants of the cores extend
    it. It knows the work of a core that announces "instruction" and "done" for each instruction.
    `mendable` has the causes of lost cycles for which `macaw.isa.advice` has advice that programs
    of this core can follow.
    """

    mendable: tuple[str, ...] = ()

    def __init__(self, core: Core, units: int = 1) -> None:
        self.core, self.units = core, units
        self.charges: dict[Charge, int] = {}
        # by cause: the cycles that the core's work takes even without any cycle of this cause
        self.least: dict[str, int] = {}
        # By address of a step that the units of a cluster take together, then by (packet list,
        # place of the weights, cluster): the work of each unit, for a mac its number of weights.
        self.steps: dict[int, dict[tuple[int, int, int], list[int]]] = {}
        # the share of its work that no other core of its row could do instead
        self.undivided = 1.0
        # by charge: those of its cycles in which the core, without this charge, would have waited
        # for something else
        self.hidden: dict[Charge, int] = {}
        # addresses of instructions that a program needs even if it follows the advice
        self.needed: set[int] = set()
        # By charge: the cycles of other charges of the core that vanish together with its cycles.
        self.along: dict[Charge, Counter[Charge]] = defaultdict(Counter)
        # By address of an instruction that commands another core's work, then by address of any
        # instruction of this core: the share of its executions that only serve this work.
        self.errands: dict[int, dict[int, float]] = {}
        # the core's transfers, and the other cores that announced a read
        self.moves: list[Move] = []
        self.readers: set[str] = set()
        self.log = CoreLog()
        self.at = 0
        self.address: int | None = None  # of the instruction that the core executes now
        self.has_worked = False
        self.ended_waits: list[tuple[Waiting, int]] = []  # not yet charged, with their ends
        self._last: list[tuple[Charge, int]] = []  # charges that `_cut` may take back
        self._idle = 0  # cycles after the last work, times units
        core.listeners.append(self.hear)
        core.on_wait = lambda waiting, time: self.ended_waits.append((waiting, time))

    # What cores announce

    def hear(self, event: Event) -> None:
        """React to an announcement (`event`) of the core."""
        if event.kind == "instruction":
            self.address = int(event.values["address"])
        elif event.kind == "done":
            self.waits(self.address)
            self.idle(int(event.values["begin"]))
            self.span("work", int(event.values["until"]), self.address)

    def acted(self) -> None:
        """React after the core has acted, that is, after the device has called its `advance`."""

    def close(self, cycles: int) -> None:
        """Charge all remaining cycles of the run, which ended in cycle `cycles`."""
        self.settle(cycles)
        if self.at < cycles:
            self.rest(cycles)
        self._cut(cycles)
        self._charge(Charge(TAIL if self.has_worked else BEFORE), self._idle)
        self._idle = 0

    def settle(self, time: int) -> None:
        """Charge the cycles before `time` for which the accountant already knows the cause.

        This class does nothing here; the accountants of some cores override the method.
        """

    def rest(self, time: int) -> None:
        """Charge the cycles from `self.at` to `time`, the end of the run, as wait, work or idle."""
        waiting = self.core.waiting
        if waiting is not None:
            self.wait_of(waiting, time, self.core.next_address)
        elif self.core.running:
            self.span("work", time)
        else:
            self.idle(time)

    # Charges

    def span(
        self,
        cause: str,
        until: int,
        address: int | None = None,
        whom: str = "",
        producer: int | None = None,
        cores: int = 0,
    ) -> None:
        """Charge the cycles from `self.at` to `until` - 1 to `cause`, once for each unit.

        Then set `self.at` to `until`. The other arguments are the fields of `Charge`.
        """
        if until <= self.at:
            return
        charge = Charge(cause, address, whom, producer, cores)
        self.log.add(self.at, charge)
        self.add(charge, (until - self.at) * self.units)
        self.at = until

    def add(self, charge: Charge, cycles: int) -> None:
        """Charge `cycles`, a sum over all units of the core; `self.at` does not change."""
        if not cycles:
            return
        if self._idle:
            self._charge(Charge(BETWEEN if self.has_worked else BEFORE), self._idle)
            self._idle = 0
        self.has_worked = True
        self._charge(charge, cycles)
        self._last.append((charge, cycles))

    def idle(self, until: int) -> None:
        """Charge the cycles from `self.at` to `until` as idle: the core had nothing to do."""
        if until > self.at:
            self.log.add(self.at, None)
            self._idle += (until - self.at) * self.units
            self.at = until

    def parts(self, until: int, address: int | None, parts: Iterable[tuple[str, int]]) -> int:
        """Charge the cycles from `self.at` to `until` to the causes in `parts`, one after another.

        `parts` has pairs (cause, number of cycles), `address` is the address of the instruction.
        Return the number of cycles before `until` for which `parts` has no cause.
        """
        for cause, cycles in parts:
            self.span(cause, min(self.at + max(cycles, 0), until), address)
        return max(0, until - self.at)

    def wait_of(self, waiting: Waiting, until: int, address: int | None) -> None:
        """Charge the cycles from `self.at` to `until` as `waiting`, a wait for other cores.

        `address` is the address of the instruction that waits.
        """
        cores = [core for core in self.core.device.order if waiting.cores >> core.number & 1]
        whom = ", ".join(core.name for core in cores) or waiting.on
        if not cores or self.core.table.windows:
            cause = "data"
        elif any(isinstance(core, Startable | Dispatchable | Operable) for core in cores):
            cause = "cores"
        else:
            cause = "transfers"
        self.span(cause, until, address, whom, cores=waiting.cores)

    def waits(self, address: int | None) -> None:
        """Charge the waits in `ended_waits` one after another, from `self.at` on.

        These are the waits that have ended since the last call; the list is then cleared. `address`
        is the address of the instruction that waited.
        """
        for waiting, end in self.ended_waits:
            self.wait_of(waiting, self.at + end - max(waiting.since, self.at), address)
        self.ended_waits.clear()

    def keep_charges(self) -> None:
        """Make all charges so far final: `close` can no longer take them back (`_cut`)."""
        self._last.clear()

    def _charge(self, charge: Charge, cycles: int) -> None:
        if cycles:
            self.charges[charge] = self.charges.get(charge, 0) + cycles

    def _cut(self, cycles: int) -> None:
        """Take back the charges from cycle `cycles` on, because the run has ended in this cycle."""
        self._take_back(self._last, (self.at - cycles) * self.units)
        self.at = min(self.at, cycles)

    def _take_back(self, latest: list[tuple[Charge, int]], excess: int) -> None:
        """Reduce the charges in `latest` by `excess` cycles in total, the last charge first.

        `latest` has pairs of a charge and its cycles; the method removes the pairs that it uses.
        """
        while excess > 0 and latest:
            charge, count = latest.pop()
            less = min(count, excess)
            self.charges[charge] -= less
            excess -= less
            if not self.charges[charge]:
                del self.charges[charge]
