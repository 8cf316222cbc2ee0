"""Balancers 517: load balancing between neighbours, cycle by cycle (seed 000, Fig. 5b, ¶98-100).

A load refers to a weight and an activation to multiply. A PE gives a load to its left neighbour if
its own load queue 1 contains many more loads than the neighbour's queue 1. The PE pushes the load
into the neighbour's queue 1, with a mark (`loads.FROM_NEIGHBOUR`). The PE that gives the load is
the load's owner. The neighbour has copies of the owner's weight queue 503 and input buffer 504. The
same bus beats fill the originals and the copies, so the emulator stores their contents only once,
in the owner. The neighbour adds the products of the loads that it was given to its helper
accumulators until the sums are handed over (`balancing.hand_over`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.balancing import FREE_PLACES
from macaw.emu.pe.loads import FROM_NEIGHBOUR
from macaw.emu.pe.pe_arrays import PeArrays

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]


class Balancers:
    """The balancers of all PEs of a row."""

    def __init__(self, arrays: PeArrays) -> None:
        self.arrays, self.state, self.shape = arrays, arrays.state, arrays.shape
        self.has_left = arrays.pes % self.shape.pes != 0

    @property
    def active(self) -> bool:
        """Whether any cluster executes a mac with `balance`."""
        return bool(np.count_nonzero(self.state.balancing))

    def givers(self, moves: Mask) -> Numbers:
        """Return the numbers of the PEs that give a load to their left neighbour in this cycle.

        `moves` is a mask of the PEs that also move the load at the head of queue 1 to queue 2. Such
        a PE gives the load after the head. A PE never passes on a load that was given to it.
        """
        count = self.arrays.q1_count
        left_count = np.roll(count, 1)
        able = self.has_left & np.repeat(self.state.balancing, self.shape.pes)
        able &= count - left_count >= self.shape.balance_threshold
        able &= self.shape.load_queue_1 - left_count >= FREE_PLACES
        able &= count - moves >= 1
        return np.asarray(np.flatnonzero(able & (self._next_load(moves) < FROM_NEIGHBOUR)))

    def _next_load(self, moves: Mask) -> Numbers:
        arrays = self.arrays
        place = (arrays.q1_head + moves) % self.shape.load_queue_1
        return np.asarray(arrays.q1[arrays.q1_row + place])

    def give(self, givers: Numbers, moves: Mask, pushed: Numbers) -> None:
        """Copy one load of each PE in `givers` to the tail of its left neighbour's load queue 1.

        `moves` is the mask that `givers` got. `pushed` (PEs,) is the number of loads that each PE's
        own comparator finds in this cycle. The given load is stored after these loads.
        """
        arrays, takers = self.arrays, givers - 1
        tail = arrays.q1_head[takers] + arrays.q1_count[takers] + pushed[takers]
        place = arrays.q1_row[takers] + tail % self.shape.load_queue_1
        arrays.q1[place] = self._next_load(moves)[givers] | FROM_NEIGHBOUR

    def finished(self, is_drained: Mask) -> Mask:
        """Return a mask of the clusters whose mac ends in this cycle.

        `is_drained` is the mask of clusters whose PEs have no work left. A drained cluster may have
        helper sums, which PEs have added up for their neighbours. Then its mac does not end yet:
        the cluster hands these sums over to the neighbours in the next cycle.
        """
        owing = is_drained & self.state.given.any(axis=1)
        self.state.handing |= owing
        return np.asarray(is_drained & ~owing)
