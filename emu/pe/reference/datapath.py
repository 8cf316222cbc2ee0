"""A cycle of all PEs of a row: index comparator, load queues, MAC (seed 000 ¶94-¶102).

The PEs of a row are one vector. All stages see the counts that hold at the
start of the cycle, so what one stage puts into a queue the next one sees in the
cycle after. A PE without a mac at work has nothing left to examine and empty
queues, hence does nothing. A load in a queue is a number: the weight's place
in the weight queue times 65536, plus the input index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.balancing import GIVEN, Balancers, Mask
from macaw.emu.pe.state import Shape
from macaw.emu.state import State

PLACE_SHIFT = 16  # of the weight's place in a load
INDEX_MASK = 0xFFFF
_PAIR = np.array([[0], [1]])  # the comparator's two entries of a cycle


class Datapath:
    """The PEs of a row while they multiply. It owns views of `state`, nothing else."""

    def __init__(self, state: State, shape: Shape, adder: Adder) -> None:
        self.state, self.shape, self.adder = state, shape, adder
        self.told: Callable[[Mask, NDArray[Any]], None] | None = None  # of what is multiplied
        self.cycle = self._cycle_direct if shape.direct else self._cycle_queued
        self.balancers = Balancers(state, shape, adder, shape.balance_threshold)
        self.pes = pes = np.arange(shape.clusters * shape.pes)
        # Where a PE's part of each flat array begins.
        self.weight_row = pes * shape.weight_queue
        self.input_row = pes * shape.input_buffer
        self.q1_row = pes * shape.load_queue_1
        self.q2_row = pes * shape.load_queue_2
        self.sum_row = pes * state.accumulators.shape[-1]

        def flat(name: str) -> NDArray[Any]:
            view: NDArray[Any] = getattr(state, name).reshape(-1)
            return view

        self.weight_index, self.weight_value = flat("weight_index"), flat("weight_value")
        self.activations, self.bitmask = flat("activations"), flat("bitmask")
        self.accumulators, self.helpers = flat("accumulators"), flat("helpers")
        self.q1, self.q1_head, self.q1_count = flat("q1"), flat("q1_head"), flat("q1_count")
        self.q2, self.q2_head, self.q2_count = flat("q2"), flat("q2_head"), flat("q2_count")
        self.left, self.next = flat("mac_left"), flat("mac_next")
        self.base, self.limit = flat("mac_base"), flat("mac_limit")
        self.sum, self.reached = flat("mac_sum"), flat("mac_reached")
        self.cycles_mac, self.macs = flat("cycles_mac"), flat("macs")
        self.cycles_filling, self.cycles_no_load = flat("cycles_filling"), flat("cycles_no_load")
        self.cycles_early = flat("cycles_early")
        self.examined, self.effectual = flat("weights_examined"), flat("effectual_loads")
        self.q1_high, self.q2_high = flat("q1_high"), flat("q2_high")

    def start(
        self,
        cluster: int,
        base: NDArray[Any],
        total: NDArray[Any],
        limit: NDArray[Any],
        balance: bool,
    ) -> None:
        """A mac begins in `cluster`: base, accumulator and end of the activations by PE.

        It examines the entries of the segment at the head of the weight queue, whose
        number by PE stands in `mac_left` already.
        """
        state = self.state
        state.mac_next[cluster] = state.weight_head[cluster]
        state.mac_base[cluster] = base
        state.mac_sum[cluster] = total
        state.mac_limit[cluster] = limit
        state.mac_reached[cluster] = False
        state.computing[cluster] = True
        state.balancing[cluster] = balance

    def clear_places(self) -> None:
        """Set places of the load queues that hold nothing to 0: what lay there is gone."""
        queues = (
            (self.q1, self.q1_head, self.q1_count, self.shape.load_queue_1),
            (self.q2, self.q2_head, self.q2_count, self.shape.load_queue_2),
        )
        for queue, head, count, depth in queues:
            places = queue.reshape(-1, depth)
            places[(np.arange(depth) - head[:, None]) % depth >= count[:, None]] = 0

    def _busy(self) -> NDArray[np.bool_]:
        """PEs that have entries to examine or loads in a queue."""
        return np.asarray(self.left + self.q1_count + self.q2_count > 0)

    def _cycle_queued(self) -> list[int]:
        """A cycle of design 5b; the clusters whose mac ended in it."""
        depth_1, depth_2 = self.shape.load_queue_1, self.shape.load_queue_2
        handing = self.state.handing
        handed = self.balancers.hand_over(handing.copy()) if handing.any() else None
        busy = self._busy()
        taken = self.q2_count > 0
        moved = (self.q1_count > 0) & (self.q2_count < depth_2)
        free = self.q1_count <= depth_1 - 2

        givers = self.balancers.givers(moved) if self.balancers.at_work else self.pes[:0]
        self._multiply(taken)
        self._fill_queue_2(moved)
        pushed = self._compare(free) if self.left.any() else np.zeros_like(self.left)
        if givers.size:
            self.balancers.give(givers, moved, pushed)
        self.q1_count += pushed

        self.q2_head += taken
        self.q2_head %= depth_2
        self.q2_count -= taken
        self.q2_count += moved
        self.q1_head += moved
        self.q1_head %= depth_1
        self.q1_count -= moved
        np.maximum(self.q1_high, self.q1_count, out=self.q1_high)
        np.maximum(self.q2_high, self.q2_count, out=self.q2_high)
        return self._end_cycle(busy, taken, handed)

    def _multiply(self, taken: NDArray[np.bool_]) -> None:
        """3. Load queue 2 gives a load to the MAC 506 of each PE in `taken`.

        Of a given load, weight and activation are the right neighbour's, and the product goes
        to the helper accumulator with the number of the owner's.
        """
        load = self.q2[self.q2_row + self.q2_head]
        if self.told is not None:
            self.told(taken, load)
        helping = (load >= GIVEN) & taken if self.balancers.at_work else None
        owner = self.pes if helping is None else self.pes + helping
        activation = self.activations[self.input_row[owner] + (load & INDEX_MASK)]
        place = load >> PLACE_SHIFT & INDEX_MASK
        weight = self.weight_value[self.weight_row[owner] + place]
        product, wrong = self.adder.product(weight, activation)
        where = self.sum_row + self.sum[owner]
        old = self.accumulators[where]
        if helping is not None:
            old = np.where(helping, self.helpers[where], old)
        total, over = self.adder.total(old, product)
        if over is not None and wrong is not None:
            over = over | wrong
        elif over is None:
            over = wrong
        if over is not None and (over & taken).any():
            self._overflow(int(np.flatnonzero(over & taken)[0]), load, old)
        if helping is None:
            self.accumulators[where] = np.where(taken, total, old)
            return
        own = taken & ~helping
        self.accumulators[where[own]] = total[own]
        self.helpers[where[helping]] = total[helping]

    def _fill_queue_2(self, moved: NDArray[np.bool_]) -> None:
        """2. Load queue 1 gives one load to load queue 2 of each PE in `moved`."""
        pes = np.flatnonzero(moved)
        if pes.size:
            tail = (self.q2_head + self.q2_count) % self.shape.load_queue_2
            self.q2[(self.q2_row + tail)[pes]] = self.q1[(self.q1_row + self.q1_head)[pes]]

    def _compare(self, free: NDArray[np.bool_]) -> NDArray[np.int64]:
        """1. The index comparator 505 of each PE in `free` looks at up to two weights.

        Pushes effectual loads behind those that queue 1 held at the start of the
        cycle, and returns how many.
        """
        examined = (self.left > _PAIR) & free
        place = (self.next + _PAIR) % self.shape.weight_queue
        index = self.weight_index[self.weight_row + place] + self.base
        self._check_indices(index, examined)
        hit = self.bitmask.take(self.input_row + index, mode="clip") & examined
        # The second of two effectual loads goes behind the first.
        tail = self.q1_head + self.q1_count + hit[0] * _PAIR
        slot = self.q1_row + tail % self.shape.load_queue_1
        hits = np.flatnonzero(hit)
        if hits.size:
            self.q1[slot.reshape(-1)[hits]] = (place << PLACE_SHIFT | index).reshape(-1)[hits]
        pushed: NDArray[np.int64] = hit[0].astype(np.int64) + hit[1]
        self._advance(examined[0].astype(np.int64) + examined[1])
        self.effectual += pushed
        return pushed

    def _cycle_direct(self) -> list[int]:
        """A cycle of design 5a: the comparator looks at one weight and feeds the MAC.

        A latch stands between them, held as load queue 2 with one place.
        """
        busy = self._busy()
        taken = self.q2_count > 0
        self._multiply(taken)
        examined = self.left > 0
        index = self.weight_index[self.weight_row + self.next] + self.base
        self._check_indices(index, examined)
        hit = self.bitmask.take(self.input_row + index, mode="clip") & examined
        self.q2[...] = np.where(hit, self.next << PLACE_SHIFT | index, self.q2)
        self.q2_count[...] = hit
        self._advance(examined.astype(np.int64))
        self.effectual += hit
        np.maximum(self.q2_high, self.q2_count, out=self.q2_high)
        return self._end_cycle(busy, taken, None)

    def _advance(self, examined: NDArray[np.int64]) -> None:
        """Weight entries that the comparators are done with."""
        self.left -= examined
        self.next += examined
        self.next %= self.shape.weight_queue
        self.examined += examined

    def _end_cycle(self, busy: Mask, taken: Mask, handed: Mask | None) -> list[int]:
        """Count the cycle of each PE in one class; the clusters whose last PE is done now."""
        state, clusters = self.state, self.shape.clusters
        self.cycles_mac += taken
        self.macs += taken
        waits = busy & ~taken
        self.cycles_no_load += waits & self.reached
        self.cycles_filling += waits & ~self.reached
        self.reached |= taken
        early = ~busy.reshape(clusters, -1) & state.computing[:, None]
        if handed is not None:
            early &= ~handed
        self.cycles_early += early.reshape(-1)
        ended = state.computing & ~self._busy().reshape(clusters, -1).any(axis=1)
        if ended.any() and self.balancers.at_work:
            ended = self.balancers.ended(ended)
        return [int(cluster) for cluster in np.flatnonzero(ended)] if ended.any() else []

    def _check_indices(self, index: NDArray[Any], examined: NDArray[np.bool_]) -> None:
        """Raise `Fault` for an input index past the loaded activations."""
        wrong = (index >= self.limit) & examined
        if not wrong.any():
            return
        pe = int(np.flatnonzero(wrong.reshape(-1, self.base.size).any(axis=0))[0])
        worst = np.where(wrong, index, 0).reshape(-1, self.base.size)[:, pe]
        at, base, limit = int(worst.max()), int(self.base[pe]), int(self.limit[pe])
        loaded = f"activations end before {limit}" if limit > base else "nothing is loaded there"
        raise self._fault(
            "index out of range",
            f"weight index {at - base} + base {base} = {at}, {loaded}",
            pe,
            {"index": at - base, "base": base, "limit": limit},
        )

    def _overflow(self, pe: int, load: NDArray[Any], old: NDArray[Any]) -> None:
        word = int(load[pe])
        owner = pe + (word >= GIVEN)
        weight = self.weight_value[self.weight_row[owner] + (word >> PLACE_SHIFT & INDEX_MASK)]
        activation = self.activations[self.input_row[owner] + (word & INDEX_MASK)]
        number = int(self.sum[owner])
        raise self._fault(
            "accumulator overflow",
            f"accumulator {number} holds {old[pe]!s}, to be added: {weight!s} * {activation!s}",
            pe,
            {"accumulator": number, "weight": str(weight), "activation": str(activation)},
        )

    def _fault(self, kind: str, message: str, pe: int, values: dict[str, int | str]) -> Fault:
        """A fault of a PE; the control unit adds the address."""
        cluster, place = divmod(pe, self.shape.pes)
        return Fault(
            kind,
            f"cluster {cluster}, PE {place}: {message}",
            {"cluster": cluster, "pe": place, **values},
        )
