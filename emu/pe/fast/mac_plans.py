"""The plans of the macs that a row executes now."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.balanced_plan import BalancedPlan, settle
from macaw.emu.pe.fast.mac_plan import Plan
from macaw.emu.waits import NEVER


class MacPlans:
    """The plans of the macs that one row executes now, by cluster.

    `peers` returns the `MacPlans` of all rows, because the ends of balanced macs of all rows are
    computed together.
    """

    def __init__(self, context: RowContext, peers: Callable[[], Iterable[MacPlans]]) -> None:
        self.context, self.peers = context, peers
        self.by_cluster: dict[int, Plan] = {}
        self.unsettled: list[BalancedPlan] = []  # the balanced plans whose ends are not known yet

    def clear(self) -> None:
        """Drop all plans."""
        self.by_cluster, self.unsettled = {}, []

    def add(self, clusters: list[int], balanced: bool, start: int) -> None:
        """Plan the macs that `clusters` execute, from cycle `start` on.

        `balanced` says whether they are balanced macs. Raises `Unplannable`.
        """
        if balanced:
            plan = BalancedPlan(self.context, clusters, start)
            self.unsettled.append(plan)
            self.by_cluster.update(dict.fromkeys(clusters, plan))
        else:
            self.by_cluster.update(dict.fromkeys(clusters, Plan(self.context, clusters, start)))

    def first_end(self) -> int:
        """Return the first cycle in which a mac ends or may end; NEVER if there is no plan."""
        plans = self.by_cluster.items()
        return min((plan.ends[cluster] for cluster, plan in plans), default=NEVER)

    def end(self, now: int) -> list[int]:
        """Write the state of the macs that end in cycle `now`, and drop their plans.

        Return the numbers of their clusters, sorted.
        """
        if any(plan.first_end() <= now for plan in self.unsettled):
            self._settle()
        plans = self.by_cluster.items()
        ending = sorted(cluster for cluster, plan in plans if plan.ends[cluster] == now)
        self.write(ending, now + 1)
        return ending

    def _settle(self) -> None:
        """Compute the ends of those balanced macs of all rows for which only a lower bound is
        known.
        """
        peers = list(self.peers())
        settle([plan for plans in peers for plan in plans.unsettled])
        for plans in peers:
            plans.unsettled.clear()

    def write(self, clusters: list[int], now: int) -> None:
        """Write the state of the clusters' macs at the start of cycle `now`; drop their plans."""
        groups: dict[Plan, list[int]] = {}
        for cluster in clusters:
            groups.setdefault(self.by_cluster.pop(cluster), []).append(cluster)
        for plan, members in groups.items():
            plan.write(members, now)
        if self.unsettled:
            self.unsettled = [plan for plan in self.unsettled if plan not in groups]

    def write_all(self, now: int) -> None:
        """Write the state of all planned macs at the start of cycle `now`, and drop their plans."""
        self.write(list(self.by_cluster), now)
