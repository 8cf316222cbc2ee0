"""Computes the loads and sums of balanced macs from the numbers of loads in their load queues.

A load refers to a weight and an activation that are to be multiplied. The numbers of loads that
move in each cycle (`queue_occupancy`) determine the order in which loads enter and leave the
queues. The loads of a PE form one sequence: its own loads, with loads from its right neighbour
between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.fast.queue_occupancy import Bools, LoadCounts, QueueOccupancy, padded
from macaw.emu.pe.loads import FROM_NEIGHBOUR
from macaw.emu.pe.mac_outcome import MacOutcome
from macaw.emu.pe.state import Shape
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BalancedMacs:
    """The state of the macs of whole clusters, in the cycle in which their plan starts.

    Arrays have shape (PEs,) unless a comment says otherwise. `loads` has the loads of all PEs,
    `total` the number of loads of each PE. The loads of a PE are in the order in which they reach
    its MAC or its left neighbour: first the loads in queue 2, then the loads in queue 1, then the
    loads that its comparator will find. `hit` says which weight entries become loads, because their
    activation is not zero. `handing` says which clusters hand sums over to their owners now.
    """

    shape: Shape
    entries_left: Ints  # weight entries that the comparator has yet to examine
    hit: Bools  # (PEs, entries): whether each entry is effectual
    q1_count: Ints  # loads in queue 1
    q2_count: Ints  # loads in queue 2
    total: Ints  # number of loads in the queues or still to be found
    loads: Ints  # (loads,): the loads of all PEs
    products: NDArray[Any]  # (loads,): the product of each load
    sums: NDArray[Any]  # the sums in the accumulators
    helper_sums: NDArray[Any]  # the sums in the helper accumulators
    has_multiplied: Bools  # whether the mac has multiplied before
    given_before: Ints  # number of loads that the mac has given to the left neighbour
    handing: Bools  # (clusters,): whether sums are handed over in this cycle


class RunningSums:
    """The values of one accumulator of each PE after any number of the PE's loads.

    `old` has the sums before the first load. `values` has the products of all loads that the MACs
    take; the products of PE p begin at index `first[p]`. `is_own` is a mask of those products that
    are added to this accumulator.
    """

    def __init__(self, old: NDArray[Any], values: NDArray[Any], first: Ints, is_own: Bools) -> None:
        self.old, self.first = old, first
        self.floating = old.dtype.kind == "f"
        if not self.floating:
            # Running sums over the products of all PEs; a PE's sums are differences of these.
            self.running: NDArray[Any] = np.zeros(values.size + 1, np.int64)
            np.cumsum(np.where(is_own, values, 0), dtype=np.int64, out=self.running[1:])
            return
        self.number = np.zeros(values.size + 1, np.int64)
        np.cumsum(is_own, out=self.number[1:])
        pe = np.repeat(np.arange(first.size), np.diff(first, append=values.size))[is_own]
        place = np.arange(pe.size) - self.number[first][pe]
        # One addition after the other. -0 stands for a missing product, because it changes no sum.
        sums = np.full((first.size, int(place.max(initial=-1)) + 2), -0.0, old.dtype)
        sums[:, 0] = old
        sums[pe, place + 1] = values[is_own]
        self.running = np.add.accumulate(sums, axis=1)

    def after(self, columns: slice, count: Ints) -> NDArray[Any]:
        """Return the sums of the PEs in `columns`, each after its first `count` (PEs,) loads."""
        first = self.first[columns]
        if self.floating:
            number = self.number[first + count] - self.number[first]
            return np.asarray(self.running[np.arange(self.first.size)[columns], number])
        gained = self.running[first + count] - self.running[first]
        return np.asarray(self.old[columns] + gained.astype(self.old.dtype))


class BalancedState:
    """The state of several macs in any cycle up to their ends, or up to cycle `cycles`.

    `loads` has the loads of all PEs. The loads of PE p begin at index `first[p]`: its own loads,
    and the loads that its neighbour gave it. `mac_loads` has the loads that the MACs take; the
    loads for the MAC of PE p begin at index `mac_first[p]`. If `cycles` is None, there are also two
    arrays with an element for each cluster: `ends` has the last cycle of its mac, and `handing` the
    cycle in which it hands sums over to their owners, or -1 if it hands none over. Cycles are
    counted from the start of the macs.
    """

    def __init__(self, macs: Sequence[BalancedMacs], cycles: int | None = None) -> None:
        def join(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in macs])

        self.shape = macs[0].shape
        self.q1_count, self.q2_count = join("q1_count"), join("q2_count")
        self.entries_left, self.has_multiplied = join("entries_left"), join("has_multiplied")
        loads, total = join("loads"), join("total")
        self.counts = self._occupancy(macs, loads, np.cumsum(total) - total).run(cycles)
        values = self._place_loads(loads, join("products"), total)
        helping = self.mac_loads >= FROM_NEIGHBOUR
        self.sums = RunningSums(join("sums"), values, self.mac_first, ~helping)
        self.helper_sums = RunningSums(join("helper_sums"), values, self.mac_first, helping)
        if cycles is None:
            every_pe = slice(0, self.entries_left.size)
            self.at_end, last = self._progress(every_pe, self.counts.moves.shape[0])
            self._find_ends(np.maximum(last, 0), join("given_before"), join("handing"))

    def _occupancy(self, macs: Sequence[BalancedMacs], loads: Ints, first: Ints) -> QueueOccupancy:
        """Return the object that simulates the load queues of all PEs from the start of the macs.

        `loads` has the loads of all PEs. `first` has, for each PE, the index of its first load.
        """
        parts, begins, size = [], [], 0
        for part_macs in macs:
            hit = part_macs.hit.view(np.uint8)
            part = padded(hit[:, ::2] + hit[:, 1::2])
            parts.append(part.reshape(-1))
            begins.append(size + np.arange(part.shape[0]) * part.shape[1])
            size += part.size
        begin = np.concatenate(begins)
        gifts = np.zeros(begin.size, np.uint64)
        for place in range(int(self.q1_count.max())):
            pes = np.flatnonzero(self.q1_count > place)
            load = loads[first[pes] + self.q2_count[pes] + place]
            gifts[pes] |= (load >= FROM_NEIGHBOUR).astype(np.uint64) << np.uint64(place)
        return QueueOccupancy(
            self.shape,
            np.concatenate(parts),
            begin,
            begin + (self.entries_left + 1) // 2,
            self.q1_count,
            self.q2_count,
            gifts,
            np.arange(begin.size) % self.shape.pes != 0,
        )

    def _place_loads(self, loads: Ints, products: NDArray[Any], total: Ints) -> NDArray[Any]:
        """Set the attributes `loads` and `mac_loads`; return the products of `mac_loads`.

        The parameter `loads` has the PEs' own loads, and `total` (PEs,) their number for each PE.
        A load that a PE gives away is put into the sequence of the neighbour that receives it.
        """
        counts, q2, queue_counts = self.counts, self.q2_count, self.q1_count + self.q2_count
        by_pe = np.ascontiguousarray(counts.gives[:, :-1].T)
        gift_counts = np.count_nonzero(by_pe, axis=1)
        giver, when = np.divmod(np.flatnonzero(by_pe), by_pe.shape[1])
        number = (
            np.arange(giver.size) - (np.cumsum(gift_counts) - gift_counts)[giver]
        )  # by given load: its number among the loads that its giver gives
        size = total + np.append(gift_counts[1:], 0)
        self.first = first = np.cumsum(size) - size
        # A PE gives away the load after the moved one; the neighbour gets it after the new loads
        # that the neighbour's comparator finds.
        source = (first + q2)[giver] + counts.queue_moves[when, giver] + number
        target = (first + queue_counts)[giver - 1] + counts.effectual[when, giver - 1] + number
        own, stays = np.ones(int(size.sum()), np.bool_), np.ones(int(size.sum()), np.bool_)
        own[target] = stays[source] = False
        self.loads = np.empty(own.size, np.int64)
        self.loads[own] = loads
        self.loads[target] = self.loads[source] | FROM_NEIGHBOUR
        values = np.empty(own.size, products.dtype)
        values[own] = products
        values[target] = values[source]
        self.mac_loads = self.loads[stays]
        self.mac_first = np.cumsum(size - gift_counts) - (size - gift_counts)
        return values[stays]

    def _find_ends(self, last: Ints, given_before: Ints, handing: Bools) -> None:
        """Set the attributes `ends` and `handing`, which the docstring of the class explains.

        A cluster whose PEs gave loads away needs one further cycle, in which it hands the sums of
        these loads over to the owners. `last` (clusters,) is the last cycle in which a PE of the
        cluster works. `given_before` (PEs,) is the number of loads that each PE gave away before
        the first cycle. The parameter `handing` is a mask of the clusters that hand sums over in
        the first cycle.
        """
        owing = (given_before + self.at_end.loads_given).reshape(-1, self.shape.pes).any(axis=1)
        self.handing = np.where(handing, 0, np.where(owing, last + 1, -1))
        self.ends = np.where(owing, self.handing, last)

    def outcome(self, columns: slice, cycles: int) -> MacOutcome:
        """Return the outcome of macs in the PEs of `columns` after `cycles` cycles, 1 or more."""
        return self._progress(columns, cycles)[0]

    def _progress(self, columns: slice, cycles: int) -> tuple[MacOutcome, Ints]:
        return progress(
            self.counts.part(columns, cycles),
            self.q2_count[columns] > 0,
            self.entries_left[columns],
            self.has_multiplied[columns],
            self.shape.pes,
        )


def progress(
    counts: LoadCounts, first: Bools, entries_left: Ints, has_multiplied: Bools, pes: int
) -> tuple[MacOutcome, Ints]:
    """Return what macs did in the cycles of `counts`, and the last busy cycle of each cluster.

    `first` says which PEs had a load in queue 2 at the start. `entries_left` is the number of
    entries that each comparator still had to examine. `has_multiplied` says which MACs had
    multiplied before. A cluster has `pes` PEs. Its last busy cycle is -1 if it never has work. The
    outcome lacks two counts, which the caller adds: the cycles of the mac, and the cycles in which
    sums are handed over.
    """
    ready: Bools = np.concatenate([first[None], counts.moves[:-1]])  # whether a load is in queue 2
    is_busy: Bools = ready | (counts.q1_loads[:-1] > 0) | counts.examines
    gift_counts = np.count_nonzero(counts.gives, axis=0)
    products = first.astype(np.int64)
    filling = is_busy[0] & ~first
    if len(is_busy) > 1:
        products += counts.queue_moves[-2]
        filling = (
            filling
            + np.count_nonzero(is_busy[1:] & (counts.queue_moves[:-1] == 0), axis=0) * ~first
        )
    moves = counts.queue_moves[-1].astype(np.int64)
    outcome = MacOutcome(
        products=products,
        weights_examined=np.minimum(2 * np.count_nonzero(counts.has_room, axis=0), entries_left),
        effectual_loads=counts.effectual[-1].astype(np.int64),
        queue_moves=moves,
        busy_cycles=np.count_nonzero(is_busy, axis=0),
        filling_cycles=np.where(has_multiplied, 0, filling),
        loads_given=gift_counts[:-1],
        loads_received=gift_counts[1:],
        q1_most=counts.q1_loads[1:].max(axis=0).astype(np.int64),
        q2_most=moves > 0,
    )
    return outcome, _last(is_busy, pes)


def _last(is_busy: Bools, pes: int) -> Ints:
    work = np.asarray(is_busy.reshape(is_busy.shape[0], -1, pes).any(axis=2))
    return np.where(work.any(axis=0), is_busy.shape[0] - 1 - work[::-1].argmax(axis=0), -1)
