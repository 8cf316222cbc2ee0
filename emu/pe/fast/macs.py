"""The macs of a row in the fast engine: it plans them if possible, else it simulates each cycle."""

from __future__ import annotations

import numpy as np

from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.mac_plans import MacPlans
from macaw.emu.pe.reference.macs import CycleMacs


class PlannedMacs:
    """Plans macs when they begin, and writes their results when they end.

    While a mac runs that cannot be planned, all macs of the row are simulated cycle by cycle.
    """

    def __init__(self, context: RowContext, controls: ClusterControls, plans: MacPlans) -> None:
        self.state, self.controls, self.plans = context.state, controls, plans
        self.by_cycle = CycleMacs(context, controls)
        self.unplanned: set[int] = set()  # clusters with a mac that cannot be planned
        self.computed = 0  # the first cycle that the PEs of the row have not done

    def clear(self) -> None:
        """Drop all plans, because the caller has replaced the declared state.

        The declared state is that at the start of cycle `state.reached`.
        """
        self.plans.clear()
        self.unplanned = set()
        self.computed = self.state.reached

    def cycle(self, now: int) -> None:
        """Simulate cycle `now` of the PEs. Raises `Fault`."""
        if np.count_nonzero(self.state.computing):
            self._compute(now)
        self.computed = now + 1

    def _compute(self, now: int) -> None:
        if not self.unplanned:
            at_work: list[int] = self.state.computing.nonzero()[0].tolist()
            new = [cluster for cluster in at_work if cluster not in self.plans.by_cluster]
            if new:
                self._plan(new, now)
        if self.unplanned:
            self.by_cycle.cycle(now)
            self.unplanned = {number for number in self.unplanned if self.state.computing[number]}
            return
        for cluster in self.plans.end(now):
            self.controls.units[cluster].end_mac(now)

    def _plan(self, clusters: list[int], now: int) -> None:
        balanced = [cluster for cluster in clusters if self.state.balancing[cluster]]
        plain = [cluster for cluster in clusters if cluster not in balanced]
        try:
            if plain:
                self.plans.add(plain, False, now)
            if balanced:
                self.plans.add(balanced, True, now)
        except Unplannable:
            self.unplanned = set(clusters)
            self.plans.write_all(now)

    @property
    def needs_next_cycle(self) -> bool:
        """Whether a cluster executes a mac that has no plan."""
        return bool(np.count_nonzero(self.state.computing) > len(self.plans.by_cluster))

    def next_end(self) -> int:
        """Return the first cycle in which a planned mac ends or may end; NEVER if there is none."""
        return self.plans.first_end()
