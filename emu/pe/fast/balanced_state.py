"""Loads and sums of balanced macs, derived from their counts (see `balanced_plan`).

The number of loads that move in each cycle (`queue_occupancy`) gives the order in which loads enter
and leave the queues. The loads of a PE form one sequence: its own, and between them those that its
right neighbour gave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.balancing import GIVEN
from macaw.emu.pe.fast.queue_occupancy import Bools, Cycles, Flow, laid_out

if TYPE_CHECKING:
    from macaw.emu.pe.fast.balanced_plan import BalancedPlan

Ints = NDArray[np.int64]


@dataclass
class After:
    """How far each PE is after some cycles, (PEs,); `last` has an element a cluster."""

    examined: Ints  # weight entries
    found: Ints  # effectual loads of these
    got: Ints  # loads from the right neighbour
    gave: Ints  # loads to the left one
    moved: Ints  # loads from queue 1 to queue 2
    taken: Ints  # loads that the MAC took
    most: Ints  # loads that queue 1 held at most
    busy: Ints  # cycles in which it had something to do
    filling: Ints  # of these, those before its first load was at the MAC
    last: Ints  # the last of them of a cluster's PEs, -1: none

    def part(self, columns: slice) -> After:
        """Of some PEs."""
        return After(*(getattr(self, field.name)[columns] for field in fields(self)))

    def shaped(self, shape: tuple[int, ...]) -> After:
        """The same as arrays (..., clusters, PEs)."""
        *counts, last = (getattr(self, field.name) for field in fields(self))
        return After(*[*(count.reshape(shape) for count in counts), last.reshape(shape[:-1])])


class Sums:
    """An accumulator of each PE on its way through those of its loads that it takes.

    `values` are the products of all loads that the MACs take, PE after PE from `first` on;
    `mine` tells which go to this accumulator.
    """

    def __init__(self, old: NDArray[Any], values: NDArray[Any], first: Ints, mine: Bools) -> None:
        self.old, self.first = old, first
        self.floating = old.dtype.kind == "f"
        if not self.floating:
            # Over all PEs; the sums of one are differences.
            self.running: NDArray[Any] = np.zeros(values.size + 1, np.int64)
            np.cumsum(np.where(mine, values, 0), dtype=np.int64, out=self.running[1:])
            return
        self.number = np.zeros(values.size + 1, np.int64)
        np.cumsum(mine, out=self.number[1:])
        pe = np.repeat(np.arange(first.size), np.diff(first, append=values.size))[mine]
        place = np.arange(pe.size) - self.number[first][pe]
        # One addition after the other. A missing product is -0, which changes no sum.
        sums = np.full((first.size, int(place.max(initial=-1)) + 2), -0.0, old.dtype)
        sums[:, 0] = old
        sums[pe, place + 1] = values[mine]
        self.running = np.add.accumulate(sums, axis=1)

    def after(self, columns: slice, taken: Ints) -> NDArray[Any]:
        """The sums of some PEs when so many loads of each were taken."""
        first = self.first[columns]
        if self.floating:
            number = self.number[first + taken] - self.number[first]
            return np.asarray(self.running[np.arange(self.first.size)[columns], number])
        gained = self.running[first + taken] - self.running[first]
        return np.asarray(self.old[columns] + gained.astype(self.old.dtype))


class Course:
    """The macs of some plans, side by side, to their ends or for some `cycles` alone."""

    def __init__(self, plans: Sequence[BalancedPlan], cycles: int | None = None) -> None:
        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(plan, name) for plan in plans])

        self.shape = plans[0].shape
        self.q1_count, self.q2_count = joined("q1_count"), joined("q2_count")
        self.left, self.reached = joined("left"), joined("reached")
        loads, total = joined("loads"), joined("total")
        self.cycles = self._flow(plans, loads, np.cumsum(total) - total).run(cycles)
        values = self._find_loads(loads, joined("products"), total)
        helping = self.macs >= GIVEN
        self.own = Sums(joined("old"), values, self.mac_first, ~helping)
        self.helps = Sums(joined("old_helps"), values, self.mac_first, helping)
        if cycles is None:
            self.at_end = self.after(slice(0, self.left.size), self.cycles.moves.shape[0])
            self._find_ends(joined("given"), joined("handing"))

    def _flow(self, plans: Sequence[BalancedPlan], loads: Ints, first: Ints) -> Flow:
        """The counts to begin with."""
        parts, begins, size = [], [], 0
        for plan in plans:
            hit = plan.hit.view(np.uint8)
            part = laid_out(hit[:, ::2] + hit[:, 1::2])
            parts.append(part.reshape(-1))
            begins.append(size + np.arange(part.shape[0]) * part.shape[1])
            size += part.size
        begin = np.concatenate(begins)
        gifts = np.zeros(begin.size, np.uint64)
        for place in range(int(self.q1_count.max())):
            pes = np.flatnonzero(self.q1_count > place)
            word = loads[first[pes] + self.q2_count[pes] + place]
            gifts[pes] |= (word >= GIVEN).astype(np.uint64) << np.uint64(place)
        return Flow(
            self.shape,
            np.concatenate(parts),
            begin,
            begin + (self.left + 1) // 2,
            self.q1_count,
            self.q2_count,
            gifts,
            np.arange(begin.size) % self.shape.pes != 0,
        )

    def _find_loads(self, loads: Ints, products: NDArray[Any], total: Ints) -> NDArray[Any]:
        """`words`: each PE's stream, from `first` on; `macs`: what of it its MAC takes.

        The first ones of a stream are in queue 2, then in queue 1. Returns the products of `macs`.
        """
        cycles, q2, held = self.cycles, self.q2_count, self.q1_count + self.q2_count
        by_pe = np.ascontiguousarray(cycles.given[:, :-1].T)
        gave = np.count_nonzero(by_pe, axis=1)
        giver, when = np.divmod(np.flatnonzero(by_pe), by_pe.shape[1])
        number = np.arange(giver.size) - (np.cumsum(gave) - gave)[giver]  # of a PE's gifts
        size = total + np.append(gave[1:], 0)
        self.first = first = np.cumsum(size) - size
        # A gift is what stood behind the load that was moved, and goes behind the found ones.
        source = (first + q2)[giver] + cycles.moved[when, giver] + number
        target = (first + held)[giver - 1] + cycles.found[when, giver - 1] + number
        own, stays = np.ones(int(size.sum()), np.bool_), np.ones(int(size.sum()), np.bool_)
        own[target] = stays[source] = False
        self.words = np.empty(own.size, np.int64)
        self.words[own] = loads
        self.words[target] = self.words[source] | GIVEN
        values = np.empty(own.size, products.dtype)
        values[own] = products
        values[target] = values[source]
        self.macs = self.words[stays]
        self.mac_first = np.cumsum(size - gave) - (size - gave)
        return values[stays]

    def _find_ends(self, given: Ints, handing: Bools) -> None:
        """By cluster: `ends`, the last cycle, and `handing`, that of handing over or -1."""
        pes = self.shape.pes
        last = np.maximum(self.at_end.last, 0)
        owing = (given + self.at_end.gave).reshape(-1, pes).any(axis=1)
        self.handing = np.where(handing, 0, np.where(owing, last + 1, -1))
        self.ends = np.where(owing, self.handing, last)

    def after(self, columns: slice, cycles: int) -> After:
        """How far some PEs are after so many cycles; there must have been one."""
        return after(
            self.cycles.part(columns, cycles),
            self.q2_count[columns] > 0,
            self.left[columns],
            self.reached[columns],
            self.shape.pes,
        )


def after(done: Cycles, first: Bools, left: Ints, reached: Bools, pes: int) -> After:
    """How far PEs are after some cycles, clusters of `pes` of them.

    `first` tells whose queue 2 held a load to begin with, `left` how many entries the
    comparators had to look at, `reached` at whose MAC a load had been before.
    """
    ready: Bools = np.concatenate([first[None], done.moves[:-1]])  # a load stands in queue 2
    busy: Bools = ready | (done.held[:-1] > 0) | done.left
    gave = np.count_nonzero(done.given, axis=0)
    taken = first.astype(np.int64)
    filling = busy[0] & ~first
    if len(busy) > 1:
        taken += done.moved[-2]
        filling = filling + np.count_nonzero(busy[1:] & (done.moved[:-1] == 0), axis=0) * ~first
    return After(
        examined=np.minimum(2 * np.count_nonzero(done.free, axis=0), left),
        found=done.found[-1].astype(np.int64),
        got=gave[1:],
        gave=gave[:-1],
        moved=done.moved[-1].astype(np.int64),
        taken=taken,
        most=done.held[1:].max(axis=0).astype(np.int64),
        busy=np.count_nonzero(busy, axis=0),
        filling=np.where(reached, 0, filling),
        last=_last(busy, pes),
    )


def _last(busy: Bools, pes: int) -> Ints:
    """By cluster, the last cycle in which a PE of it has something to do, -1: none."""
    work = np.asarray(busy.reshape(busy.shape[0], -1, pes).any(axis=2))
    return np.where(work.any(axis=0), busy.shape[0] - 1 - work[::-1].argmax(axis=0), -1)
