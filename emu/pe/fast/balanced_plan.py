"""Plans of macs with `balance`, from a given cycle to their end.

The PEs of a cluster depend on each other, but clusters are independent. A new plan therefore knows
only the earliest cycle in which its macs can end. When that cycle comes, `settle` counts the cycles
of all open plans of all rows at once (`queue_occupancy`), even if they began at different times.
The counts determine which PE took which loads, and hence the sums (`balanced_state`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from macaw.emu.pe.balancing import GIVEN
from macaw.emu.pe.fast.balanced_state import After, Course
from macaw.emu.pe.fast.mac_plan import Plan, Unplannable, put
from macaw.emu.pe.fast.queue_occupancy import DEEPEST
from macaw.emu.pe.reference.datapath import INDEX_MASK, PLACE_SHIFT, Datapath

_MOST = 1 << 22  # loads, and pairs of weights, that are settled at once


class BalancedPlan(Plan):
    """The macs with `balance` at work in `clusters`, from cycle `start` on. Raises `Unplannable`.

    Until it is settled, `ends` has the first cycle in which each cluster's mac may end.
    """

    course: Course | None = None  # where it is settled
    offset = 0  # of its first PE there

    def __init__(self, datapath: Datapath, clusters: list[int], start: int) -> None:
        if datapath.shape.direct or datapath.shape.load_queue_1 > DEEPEST:
            raise Unplannable
        super().__init__(datapath, clusters, start)
        self.size = int(self.total.sum() + self.hit.size)

    def _add_up(self) -> None:
        """The product of each load, if no sum of any of them leaves the range."""
        path, pes, adder = self.datapath, self.pes, self.datapath.adder
        if (self.q2_count > 1).any():
            raise Unplannable
        of = np.repeat(pes, self.total) + (self.loads >= GIVEN)
        weight = path.weight_value[path.weight_row[of] + (self.loads >> PLACE_SHIFT & INDEX_MASK)]
        activation = path.activations[path.input_row[of] + (self.loads & INDEX_MASK)]
        self.products, wrong = adder.product(weight, activation)
        # A helper has the number of its owner's sum; the last PE of a cluster helps nobody.
        owners = pes + (np.arange(pes.size) % self.shape.pes < self.shape.pes - 1)
        self.where = path.sum_row[pes] + path.sum[pes]
        self.helper = path.sum_row[pes] + path.sum[owners]
        self.given, self.handing = path.balancers.given[pes], path.state.handing[self.clusters]
        self.old, self.old_helps = path.accumulators[self.where], path.helpers[self.helper]
        if wrong is not None or not self._in_range():
            raise Unplannable

    def _in_range(self) -> bool:
        """Whether no sum can leave the range, whoever adds what in whatever order."""
        adder = self.datapath.adder
        if not adder.floating and adder.overflow == "wrap":
            return True
        product, own, helped = (
            float(np.abs(values.astype(np.float64)).max(initial=0))
            for values in (self.products, self.old, self.old_helps)
        )
        loads = int(self.total.max()) + self.shape.load_queue_1 + self.shape.load_queue_2
        most = np.finfo(adder.dtype).max if adder.floating else np.iinfo(adder.dtype).max
        return product * loads + own + helped < float(most) / 2

    def _time_queued(self) -> None:
        """`end`: not before each comparator has seen its weights and the MACs had room for all."""
        pes = self.shape.pes
        empty = (self.q1_count + self.q2_count).reshape(-1, pes).max(axis=1) == 0
        loads = -(-self.total.reshape(-1, pes).sum(axis=1) // pes)
        loads += 2 * (empty & (loads > 0))
        looks = (self.left.reshape(-1, pes).max(axis=1) + 1) // 2
        last = np.maximum(loads, looks) - 1
        self.end = np.repeat(np.where(self.handing, 0, last), pes)

    def first_end(self) -> int:
        """The first cycle in which one of the macs ends, or may end."""
        first: int = min(self.ends.values())
        return first

    def write(self, clusters: list[int], now: int) -> None:
        """Bring the PEs of some of the clusters to the start of cycle `now`."""
        cycles = now - self.start
        if not cycles:
            return
        if self.course is None and now > self.first_end():
            settle([self])
        course = self.course or Course([self], cycles)
        for cluster in clusters:
            place = self.clusters.index(cluster) * self.shape.pes
            columns = slice(self.offset + place, self.offset + place + self.shape.pes)
            over = self.course is not None and now > self.ends[cluster]
            done = course.at_end.part(columns) if over else course.after(columns, cycles)
            self._write_cluster(course, cluster, columns, done, cycles)

    def _write_cluster(
        self, course: Course, cluster: int, columns: slice, done: After, cycles: int
    ) -> None:
        path, pes = self.datapath, self.shape.pes
        to = slice(cluster * pes, (cluster + 1) * pes)
        rows = slice(columns.start - self.offset, columns.stop - self.offset)
        self._write_loads(course, columns, to, done)
        path.left[to] -= done.examined
        path.next[to] = (path.next[to] + done.examined) % self.shape.weight_queue
        path.accumulators[self.where[rows]] = course.own.after(columns, done.taken)
        path.helpers[self.helper[rows]] = course.helps.after(columns, done.taken)
        self._count_cycles(to, done, cycles)
        if course is self.course and course.handing[columns.start // pes] >= 0:
            self._hand_over(cluster, to, cycles - int(course.handing[columns.start // pes]))

    def _write_loads(self, course: Course, columns: slice, to: slice, done: After) -> None:
        path, depth_1, depth_2 = self.datapath, self.shape.load_queue_1, self.shape.load_queue_2
        q1, q2 = course.q1_count[columns], course.q2_count[columns]
        came, gone = done.found + done.got, done.moved + done.gave
        head, first = path.q1_head[to], course.first[columns] + q2 + q1
        put(path.q1, (path.q1_row[to], head + q1, depth_1), course.words, first, came)
        path.q1_head[to] = (head + gone) % depth_1
        path.q1_count[to] = q1 + came - gone
        head, first = path.q2_head[to], course.mac_first[columns] + q2
        put(path.q2, (path.q2_row[to], head + q2, depth_2), course.macs, first, done.moved)
        path.q2_head[to] = (head + done.taken) % depth_2
        path.q2_count[to] = q2 + done.moved - done.taken

    def _count_cycles(self, to: slice, done: After, cycles: int) -> None:
        path = self.datapath
        path.q1_high[to] = np.maximum(path.q1_high[to], done.most)
        path.q2_high[to] = np.maximum(path.q2_high[to], done.moved > 0)
        path.reached[to] |= done.taken > 0
        path.cycles_mac[to] += done.taken
        path.macs[to] += done.taken
        path.cycles_filling[to] += done.filling
        path.cycles_no_load[to] += done.busy - done.taken - done.filling
        path.cycles_early[to] += cycles - done.busy
        path.examined[to] += done.examined
        path.effectual[to] += done.found
        path.balancers.given[to] += done.gave
        path.balancers.loads_given[to] += done.gave
        path.balancers.loads_taken[to] += done.got

    def _hand_over(self, cluster: int, to: slice, since: int) -> None:
        """Owners get their sums back, if that is to be done or begun `since` cycles ago."""
        state, balancers = self.datapath.state, self.datapath.balancers
        if since <= 0:
            state.handing[cluster] = since == 0
            return
        clusters = np.zeros(self.shape.clusters, np.bool_)
        clusters[cluster] = True
        handed = balancers.hand_over(clusters)[cluster]
        self.datapath.cycles_early[to] -= handed


def settle(plans: Iterable[BalancedPlan]) -> None:
    """Find the ends of macs, of as many together as is reasonable."""
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
    course = Course(plans)
    offset = 0
    for plan in plans:
        plan.course, plan.offset = course, offset
        first = offset // plan.shape.pes
        ends = plan.start + course.ends[first : first + len(plan.clusters)]
        plan.ends = dict(zip(plan.clusters, ends.tolist(), strict=True))
        offset += plan.pes.size
