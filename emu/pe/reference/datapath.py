"""Simulates one cycle of all PEs of a row: index comparator, load queues, MAC (seed 000 ¶94-¶102).

The PEs of a row are one vector. Every stage uses the numbers of loads at the start of the cycle. So
if one stage puts a load into a queue, the next stage can use it one cycle later. A PE without a mac
has no entries to examine and empty queues, so it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.balancing import hand_over
from macaw.emu.pe.loads import FROM_NEIGHBOUR, INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.mac_outcome import MacOutcome
from macaw.emu.pe.pe_arrays import PeArrays
from macaw.emu.pe.reference.balancers import Balancers, Mask

_PAIR = np.array([[0], [1]])  # the two entries that the comparator examines in a cycle


class Datapath:
    """The data path of all PEs of a row.

    In each cycle it calls `on_multiply`, if set, with two arrays that have one entry for each PE.
    The first array says whether the PE multiplies. The second array has the load at the head of the
    PE's load queue 2; this element is meaningless if the PE does not multiply.
    """

    def __init__(self, arrays: PeArrays, adder: Adder) -> None:
        self.arrays, self.adder = arrays, adder
        self.state, self.shape = arrays.state, arrays.shape
        self.on_multiply: Callable[[Mask, NDArray[Any]], None] | None = None
        self.cycle = self._cycle_direct if self.shape.direct else self._cycle_queued
        self.balancers = Balancers(arrays)

    def _busy_pes(self) -> Mask:
        """Return a mask of the PEs that have entries to examine or loads in a queue."""
        arrays = self.arrays
        return np.asarray(arrays.mac_left + arrays.q1_count + arrays.q2_count > 0)

    def _cycle_queued(self) -> list[int]:
        """Simulate one cycle of design 5b (two load queues). Return the clusters whose mac ended.

        Raises `Fault`.
        """
        arrays, shape, state = self.arrays, self.shape, self.state
        takes_part = None
        if np.count_nonzero(state.handing):  # for few elements much faster than `any`
            takes_part = hand_over(state, self.adder, state.handing.copy())
        is_busy = self._busy_pes()
        multiplies = arrays.q2_count > 0
        moves = (arrays.q1_count > 0) & (arrays.q2_count < shape.load_queue_2)
        free = arrays.q1_count <= shape.load_queue_1 - 2

        givers = self.balancers.givers(moves) if self.balancers.active else arrays.pes[:0]
        self._multiply(multiplies)
        self._fill_queue_2(moves)
        if np.count_nonzero(arrays.mac_left):
            counts, hits = self._compare(free)
        else:
            counts = hits = np.zeros_like(arrays.mac_left)
        outcome = self._outcome(is_busy, multiplies, counts, hits, moves)
        if givers.size:
            self.balancers.give(givers, moves, hits)
            gives, receives = np.zeros((2, is_busy.size), np.int8)
            gives[givers] = receives[givers - 1] = 1
            outcome.loads_given, outcome.loads_received = gives, receives
        if takes_part is not None:
            outcome.handing_cycles = takes_part.reshape(-1).view(np.int8)
        return self._end_cycle(outcome)

    def _multiply(self, multiplies: Mask) -> None:
        """Multiply a load from load queue 2 in the MAC 506 of each PE in the mask `multiplies`.

        If the right neighbour, the owner, gave a load, its weight and activation are in the
        memories of the owner. The MAC adds the product of such a load to the helper accumulator
        that has the number of the owner's accumulator.
        """
        arrays = self.arrays
        load = arrays.q2[arrays.q2_row + arrays.q2_head]
        if self.on_multiply is not None:
            self.on_multiply(multiplies, load)
        helping = (load >= FROM_NEIGHBOUR) & multiplies if self.balancers.active else None
        inputs, weights, sums = arrays.input_row, arrays.weight_row, arrays.mac_sum
        if helping is not None:
            owner = arrays.pes + helping
            inputs, weights, sums = inputs[owner], weights[owner], sums[owner]
        activation = arrays.activations[inputs + (load & INDEX_MASK)]
        weight = arrays.weight_value[weights + (load >> PLACE_SHIFT & INDEX_MASK)]
        product, wrong = self.adder.product(weight, activation)
        where = arrays.sum_row + sums
        old = arrays.accumulators[where]
        if helping is not None:
            old = np.where(helping, arrays.helpers[where], old)
        total, overflow = self.adder.total(old, product)
        if overflow is not None and wrong is not None:
            overflow = overflow | wrong
        elif overflow is None:
            overflow = wrong
        if overflow is not None and np.count_nonzero(overflow & multiplies):
            raise self._overflow(int(np.flatnonzero(overflow & multiplies)[0]), load, old)
        if helping is None:
            arrays.accumulators[where] = np.where(multiplies, total, old)
            return
        own = multiplies & ~helping
        arrays.accumulators[where[own]] = total[own]
        arrays.helpers[where[helping]] = total[helping]

    def _fill_queue_2(self, moves: Mask) -> None:
        """Copy one load from load queue 1 to load queue 2 in each PE of the mask `moves`."""
        arrays, (pes,) = self.arrays, moves.nonzero()
        if pes.size:
            tail = (arrays.q2_head + arrays.q2_count) % self.shape.load_queue_2
            heads = arrays.q1[(arrays.q1_row + arrays.q1_head)[pes]]
            arrays.q2[(arrays.q2_row + tail)[pes]] = heads

    def _compare(self, free: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Examine up to two weights in the index comparator 505 of each PE in the mask `free`.

        A weight whose activation is not zero is effectual, and becomes a load at the tail of queue
        1. Return two arrays of shape (PEs,): the number of entries that each PE examined, and how
        many of them were effectual.
        """
        arrays = self.arrays
        examines = (arrays.mac_left > _PAIR) & free
        place = (arrays.mac_next + _PAIR) % self.shape.weight_queue
        index = arrays.weight_index[arrays.weight_row + place] + arrays.mac_base
        self._check_indices(index, examines)
        hit = arrays.bitmask.take(arrays.input_row + index, mode="clip") & examines
        # If two loads are effectual, the second one is stored after the first.
        tail = arrays.q1_head + arrays.q1_count + hit[0] * _PAIR
        slot = arrays.q1_row + tail % self.shape.load_queue_1
        (hits,) = hit.reshape(-1).nonzero()
        if hits.size:
            arrays.q1[slot.reshape(-1)[hits]] = (place << PLACE_SHIFT | index).reshape(-1)[hits]
        return examines[0].astype(np.int64) + examines[1], hit[0].astype(np.int64) + hit[1]

    def _cycle_direct(self) -> list[int]:
        """Simulate one cycle of design 5a (no load queue 1). Return the clusters whose mac ended.

        The comparator examines one weight and feeds the MAC through a latch. In the state this
        latch is a load queue 2 with one entry. Raises `Fault`.
        """
        arrays = self.arrays
        is_busy = self._busy_pes()
        multiplies = arrays.q2_count > 0
        self._multiply(multiplies)
        examines = arrays.mac_left > 0
        index = arrays.weight_index[arrays.weight_row + arrays.mac_next] + arrays.mac_base
        self._check_indices(index, examines)
        hit = arrays.bitmask.take(arrays.input_row + index, mode="clip") & examines
        arrays.q2[...] = np.where(hit, arrays.mac_next << PLACE_SHIFT | index, arrays.q2)
        hits = hit.view(np.int8)
        return self._end_cycle(
            self._outcome(is_busy, multiplies, examines.view(np.int8), hits, hit)
        )

    def _outcome(
        self, is_busy: Mask, multiplies: Mask, counts: NDArray[Any], hits: NDArray[Any], moves: Mask
    ) -> MacOutcome:
        """Return the outcome of this cycle for all PEs; the arguments have shape (PEs,).

        `is_busy`, `multiplies` and `moves` are masks of the PEs that have work, that multiply, and
        that move a load to queue 2. `counts` and `hits` are results of `_compare`: the examined and
        the effectual weights.
        """
        return MacOutcome(
            products=multiplies.astype(np.int64),
            weights_examined=counts,
            effectual_loads=hits,
            queue_moves=moves.astype(np.int64),
            busy_cycles=is_busy.view(np.int8),
            filling_cycles=(is_busy & ~multiplies & ~self.arrays.mac_reached).view(np.int8),
            mac_cycles=self.state.computing.repeat(self.shape.pes).view(np.int8),
        )

    def _end_cycle(self, outcome: MacOutcome) -> list[int]:
        """Add the outcome of this cycle to the state. Return the clusters whose mac has ended."""
        outcome.add_to(self.arrays)
        remain = self._busy_pes().reshape(self.shape.clusters, -1).any(axis=1)
        ends = self.state.computing & ~remain
        if np.count_nonzero(ends) and self.balancers.active:
            ends = self.balancers.finished(ends)
        return [int(cluster) for cluster in ends.nonzero()[0]]

    def _check_indices(self, index: NDArray[Any], examines: Mask) -> None:
        """Raise `Fault` if, where `examines` is true, `index` is past the loaded activations."""
        arrays = self.arrays
        wrong = (index >= arrays.mac_limit) & examines
        if not np.count_nonzero(wrong):
            return
        pe = int(np.flatnonzero(wrong.reshape(-1, arrays.pes.size).any(axis=0))[0])
        worst = np.where(wrong, index, 0).reshape(-1, arrays.pes.size)[:, pe]
        at, base, limit = int(worst.max()), int(arrays.mac_base[pe]), int(arrays.mac_limit[pe])
        reason = f"activations end before {limit}" if limit > base else "nothing is loaded there"
        raise self._fault(
            "index out of range",
            f"weight index {at - base} + base {base} = {at}, {reason}",
            pe,
            {"index": at - base, "base": base, "limit": limit},
        )

    def _overflow(self, pe: int, load: NDArray[Any], old: NDArray[Any]) -> Fault:
        arrays, word = self.arrays, int(load[pe])
        owner = pe + (word >= FROM_NEIGHBOUR)
        place = arrays.weight_row[owner] + (word >> PLACE_SHIFT & INDEX_MASK)
        weight = arrays.weight_value[place]
        activation = arrays.activations[arrays.input_row[owner] + (word & INDEX_MASK)]
        number = int(arrays.mac_sum[owner])
        return self._fault(
            "accumulator overflow",
            f"accumulator {number} holds {old[pe]!s}, to be added: {weight!s} * {activation!s}",
            pe,
            {"accumulator": number, "weight": str(weight), "activation": str(activation)},
        )

    def _fault(self, kind: str, message: str, pe: int, values: dict[str, int | str]) -> Fault:
        """Return a fault of PE number `pe` of the row. The caller adds the fault's address.

        `kind`, `message` and `values` are arguments of `Fault`.
        """
        cluster, place = divmod(pe, self.shape.pes)
        return Fault(
            kind,
            f"cluster {cluster}, PE {place}: {message}",
            {"cluster": cluster, "pe": place, **values},
        )
