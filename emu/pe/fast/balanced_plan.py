"""Plans of macs with `balance`, from a given cycle to their end.

With `balance`, a PE can give loads (references to a weight and an activation to multiply) to its
neighbour. So the PEs of a cluster depend on each other, but clusters are independent. At first a
plan has only a lower bound for the cycle in which its macs end. When that cycle comes, `settle`
simulates how many loads are in the queues (`queue_occupancy`). It does so for all open plans of all
rows together, even if they began at different times. These numbers determine which PE took which
loads, and so the sums (`balanced_state`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from macaw.emu.pe.balancing import hand_over, participants
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.balanced_state import BalancedMacs, BalancedState
from macaw.emu.pe.fast.mac_plan import Plan, Unplannable
from macaw.emu.pe.fast.queue_occupancy import DEEPEST
from macaw.emu.pe.loads import FROM_NEIGHBOUR, INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.mac_outcome import MacOutcome

_MOST = 1 << 22  # the greatest number of loads, and of pairs of weights, that are settled at once


class BalancedPlan(Plan):
    """The balanced macs that `clusters` execute, from cycle `start` on. Raises `Unplannable`.

    At first, `ends` has a lower bound for the end of each cluster's mac. After `settle` has
    simulated the plan (`settlement`), it has the exact ends.
    """

    # the settlement of its macs, and of those of other plans
    settlement: BalancedState | None = None
    offset = 0  # the index of its first PE there

    def __init__(self, context: RowContext, clusters: list[int], start: int) -> None:
        if context.shape.direct or context.shape.load_queue_1 > DEEPEST:
            raise Unplannable
        self.state = context.state
        super().__init__(context, clusters, start)
        self.size = int(self.total.sum() + self.hit.size)

    def _add_up(self) -> None:
        """Compute the product of each load, and set `macs`, the state at the start of the plan.

        A load refers to a weight and an activation. Raises `Unplannable` if a sum might leave its
        range.
        """
        arrays, pes = self.arrays, self.pes
        if (self.q2_count > 1).any():
            raise Unplannable
        of = np.repeat(pes, self.total) + (self.loads >= FROM_NEIGHBOUR)
        place = arrays.weight_row[of] + (self.loads >> PLACE_SHIFT & INDEX_MASK)
        activation = arrays.activations[arrays.input_row[of] + (self.loads & INDEX_MASK)]
        products, wrong = self.adder.product(arrays.weight_value[place], activation)
        # A helper sum has the index of its owner's sum; the last PE has no right neighbour.
        owners = pes + (np.arange(pes.size) % self.shape.pes < self.shape.pes - 1)
        self.where = arrays.sum_row[pes] + arrays.mac_sum[pes]
        self.helper = arrays.sum_row[pes] + arrays.mac_sum[owners]
        self.macs = BalancedMacs(
            shape=self.shape,
            entries_left=self.entries_left,
            hit=self.hit,
            q1_count=self.q1_count,
            q2_count=self.q2_count,
            total=self.total,
            loads=self.loads,
            products=products,
            sums=arrays.accumulators[self.where],
            helper_sums=arrays.helpers[self.helper],
            has_multiplied=self.has_multiplied,
            given_before=arrays.given[pes],
            handing=self.state.handing[self.clusters],
        )
        if wrong is not None or not self._in_range():
            raise Unplannable

    def _in_range(self) -> bool:
        """Return whether no sum can leave its range, in whatever order its products are added."""
        adder, macs = self.adder, self.macs
        if not adder.floating and adder.overflow == "wrap":
            return True
        product, own, helped = (
            float(np.abs(values.astype(np.float64)).max(initial=0))
            for values in (macs.products, macs.sums, macs.helper_sums)
        )
        loads = int(self.total.max()) + self.shape.load_queue_1 + self.shape.load_queue_2
        most = np.finfo(adder.dtype).max if adder.floating else np.iinfo(adder.dtype).max
        return product * loads + own + helped < float(most) / 2

    def _time_queued(self) -> None:
        """Set `end`, a lower bound for the last cycle of each mac, relative to the plan's start.

        A mac ends after its comparators have examined all entries and its MACs have taken all
        loads.
        """
        pes = self.shape.pes
        empty = (self.q1_count + self.q2_count).reshape(-1, pes).max(axis=1) == 0
        loads = -(-self.total.reshape(-1, pes).sum(axis=1) // pes)
        loads += 2 * (empty & (loads > 0))
        looks = (self.entries_left.reshape(-1, pes).max(axis=1) + 1) // 2
        last = np.maximum(loads, looks) - 1
        self.end = np.repeat(np.where(self.macs.handing, 0, last), pes)

    def first_end(self) -> int:
        """Return the first cycle in which one of the macs ends.

        Before `settle` has simulated the plan, this is a lower bound.
        """
        first: int = min(self.ends.values())
        return first

    def write(self, clusters: list[int], now: int) -> None:
        """Write the state of some of the plan's clusters at the start of cycle `now` to the PEs."""
        cycles = now - self.start
        if not cycles:
            return
        if self.settlement is None and now > self.first_end():
            settle([self])
        state = self.settlement or BalancedState([self.macs], cycles)
        for cluster in clusters:
            place = self.clusters.index(cluster) * self.shape.pes
            columns = slice(self.offset + place, self.offset + place + self.shape.pes)
            if self.settlement is not None and now > self.ends[cluster]:
                outcome = state.at_end.part(columns)
            else:
                outcome = state.outcome(columns, cycles)
            outcome.mac_cycles = cycles
            self._write_loads(state, cluster, columns, outcome)
            pes, handing = self.arrays.cluster(cluster), self._handing(cluster)
            if handing < 0 or cycles <= handing:
                outcome.add_to(pes)
                self.state.handing[cluster] = cycles == handing
                continue
            outcome.handing_cycles = participants(pes.given + outcome.loads_given)
            outcome.add_to(pes)
            mask = np.zeros(self.shape.clusters, np.bool_)
            mask[cluster] = True
            hand_over(self.state, self.adder, mask)

    def _write_loads(
        self, state: BalancedState, cluster: int, columns: slice, outcome: MacOutcome
    ) -> None:
        arrays, pes = self.arrays, self.arrays.cluster(cluster)
        rows = slice(columns.start - self.offset, columns.stop - self.offset)
        q1, q2 = state.q1_count[columns], state.q2_count[columns]
        arrived = np.asarray(outcome.effectual_loads + outcome.loads_received, np.int64)
        pes.append_loads(1, state.loads, state.first[columns] + q2 + q1, arrived)
        pes.append_loads(2, state.mac_loads, state.mac_first[columns] + q2, outcome.queue_moves)
        arrays.accumulators[self.where[rows]] = state.sums.after(columns, outcome.products)
        arrays.helpers[self.helper[rows]] = state.helper_sums.after(columns, outcome.products)

    def _handing(self, cluster: int) -> int:
        """Return the cycle in which a cluster hands sums over, counted from the plan's start.

        At the end of a balanced mac, a PE that has added products for its neighbour gives it their
        sum. The result is -1 if the cluster hands no sums over, or if `settle` has not simulated
        the plan yet.
        """
        if self.settlement is None:
            return -1
        first = self.offset // self.shape.pes
        return int(self.settlement.handing[first + self.clusters.index(cluster)])


def settle(plans: Iterable[BalancedPlan]) -> None:
    """Simulate plans to the ends of their macs, and store these ends in the plans.

    The function simulates as many plans together as a memory limit allows.
    """
    group: list[BalancedPlan] = []
    size = 0
    for plan in plans:
        if group and size + plan.size > _MOST:
            _settle(group)
            group, size = [], 0
        group.append(plan)
        size += plan.size
    _settle(group)


def _settle(plans: list[BalancedPlan]) -> None:
    state = BalancedState([plan.macs for plan in plans])
    offset = 0
    for plan in plans:
        plan.settlement, plan.offset = state, offset
        first = offset // plan.shape.pes
        ends = plan.start + state.ends[first : first + len(plan.clusters)]
        plan.ends = dict(zip(plan.clusters, ends.tolist(), strict=True))
        offset += plan.pes.size
