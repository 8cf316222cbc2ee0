"""The fast engine of a row: the same state in the same cycles, without a look at each of them.

Macs are planned (`emu.pe.plan`) when they begin, and a cycle in which nothing but planned macs
is at work is not simulated. What they have done so far is written into the state when they
end, or when somebody looks: `sync` leaves exactly what the reference would. Macs in which
something unusual happens run cycle by cycle in the reference's own data path, and all
macs of the row with them, so that faults come in the same cycle with the same state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu.core import NEVER
from emu.pe.plan import Plan, Unplannable
from emu.pe.row import Row

if TYPE_CHECKING:
    from emu.device import Device


class FastRow(Row):
    """Fast engine of a row."""

    def __init__(self, device: Device, row: int) -> None:
        super().__init__(device, row)
        self._plans: dict[int, Plan] = {}  # by cluster
        self._loose: set[int] = set()  # clusters with a mac that cannot be planned
        self._acted = 0  # the last cycle in which the row had something to do
        self._computed = 0  # the first one after it that the PEs have not had

    # The contract

    def counters(self) -> dict[str, int]:
        """The table's counters."""
        self._settle()
        return super().counters()

    def sync(self) -> None:
        """Bring the declared state up to date."""
        self._settle()
        super().sync()

    def reload(self) -> None:
        """Go on from the declared state."""
        super().reload()
        self._plans, self._loose = {}, set()

    # A cycle

    def _cycle(self, now: int) -> None:
        self._acted = self._computed = now
        super()._cycle(now)

    def _compute(self, now: int) -> None:
        at_work: list[int] = self.state.computing.nonzero()[0].tolist()
        if not self._loose:
            new = [cluster for cluster in at_work if cluster not in self._plans]
            if new:
                self._plan(new, now)
        if self._loose:
            super()._compute(now)
            self._loose = {cluster for cluster in self._loose if self.state.computing[cluster]}
        else:
            self._end_macs(now)
        self._computed = now + 1

    def _plan(self, clusters: list[int], now: int) -> None:
        try:
            if self.state.balancing[clusters].any():
                raise Unplannable  # neighbours depend on each other
            plan = Plan(self.datapath, clusters, now)
        except Unplannable:
            self._loose = set(clusters)
            self._write(list(self._plans), now)
            return
        self._plans.update(dict.fromkeys(clusters, plan))

    def _end_macs(self, now: int) -> None:
        ended = [cluster for cluster, plan in self._plans.items() if plan.ends[cluster] == now]
        ended.sort()
        self._write(ended, now + 1)
        for cluster in ended:
            self.controls[cluster].mac_ended(now)

    def _write(self, clusters: list[int], now: int) -> None:
        """Bring planned macs to the start of cycle `now`; their plans are over."""
        for cluster in clusters:
            self._plans.pop(cluster).write([cluster], now)

    def _settle(self) -> None:
        """Bring the PEs to the present cycle: nothing is planned then."""
        if not self._plans:
            return
        now = -(-self.device.frontier(self) // self.divider)
        if now <= self._acted + 1:
            now = self._computed  # in the middle of a cycle, if that one faults or is looked at
        self.state.reached = max(self.state.reached, now)
        self.time = min(self.time, now * self.divider)
        self._write(list(self._plans), now)

    def _computes(self) -> bool:
        """Whether the PEs have to be looked at in the next cycle."""
        state: Any = self.state
        return int(state.computing.sum()) > len(self._plans)

    def _next_end(self) -> int:
        return min((plan.ends[cluster] for cluster, plan in self._plans.items()), default=NEVER)
