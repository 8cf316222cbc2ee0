"""Flat views of the state of PEs, which the engines read and write to compute macs."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.state import Shape
from macaw.emu.state import State
from macaw.isa.pe import PE_COUNTERS

Ints = NDArray[np.int64]
# The arrays with one element for each PE.
_OF_PES = (
    *("pes", "weight_row", "input_row", "q1_row", "q2_row", "sum_row"),
    *("q1_head", "q1_count", "q2_head", "q2_count", "given"),
    *("mac_left", "mac_next", "mac_base", "mac_limit", "mac_sum", "mac_reached"),
)


class PeArrays:
    """Views of the state of all PEs of a row, or of a cluster (`cluster`). Nothing is copied.

    The memories of the PEs (queues, buffers, accumulators) are flat arrays of the whole row.
    `weight_row`, `input_row`, `q1_row`, `q2_row` and `sum_row`, of shape (PEs,), have the index at
    which the memory of each PE begins. All other arrays have one element for each PE.
    """

    def __init__(self, state: State, shape: Shape) -> None:
        self.state, self.shape = state, shape

        def flat(name: str) -> NDArray[Any]:
            view: NDArray[Any] = getattr(state, name).reshape(-1)
            return view

        self.weight_index, self.weight_value = flat("weight_index"), flat("weight_value")
        self.activations, self.bitmask = flat("activations"), flat("bitmask")
        self.accumulators, self.helpers = flat("accumulators"), flat("helpers")
        self.q1, self.q2 = flat("q1"), flat("q2")
        self.pes = pes = np.arange(shape.clusters * shape.pes)
        self.weight_row = pes * shape.weight_queue
        self.input_row = pes * shape.input_buffer
        self.q1_row = pes * shape.load_queue_1
        self.q2_row = pes * shape.load_queue_2
        self.sum_row = pes * state.accumulators.shape[-1]
        self.q1_head, self.q1_count = flat("q1_head"), flat("q1_count")
        self.q2_head, self.q2_count = flat("q2_head"), flat("q2_count")
        self.mac_left, self.mac_next = flat("mac_left"), flat("mac_next")
        self.mac_base, self.mac_limit = flat("mac_base"), flat("mac_limit")
        self.mac_sum, self.mac_reached = flat("mac_sum"), flat("mac_reached")
        self.given = flat("given")
        self.counters = {row.name: flat(row.name) for row in PE_COUNTERS}
        self._clusters: dict[int, PeArrays] = {}

    def cluster(self, number: int) -> PeArrays:
        """Return the views of the PEs of a cluster; the arrays of memories remain whole."""
        if number not in self._clusters:
            part = slice(number * self.shape.pes, (number + 1) * self.shape.pes)
            self._clusters[number] = self._select(lambda values: values[part])
        return self._clusters[number]

    def copies(self, clusters: list[int]) -> PeArrays:
        """Return copies of the arrays with one element for each PE, for some clusters.

        The copies have shape (clusters, PEs). The arrays of memories are not copied.
        """
        pes = self.shape.pes
        return self._select(lambda values: values.reshape(-1, pes)[clusters])

    def _select(self, select: Callable[[NDArray[Any]], NDArray[Any]]) -> PeArrays:
        """Return the arrays with `select` applied to those with one element for each PE."""
        found = copy(self)
        for name in _OF_PES:
            setattr(found, name, select(getattr(self, name)))
        found.counters = {name: select(values) for name, values in self.counters.items()}
        return found

    def start_mac(
        self,
        cluster: int,
        base: NDArray[Any] | int,
        total: NDArray[Any] | int,
        limit: NDArray[Any] | int,
        balance: bool,
    ) -> None:
        """Set the state of a cluster to the start of a mac.

        `base`, `total` (the accumulator) and `limit` (the end of the activations) have shape
        (PEs,), or are one number for all PEs. `balance` says whether the mac is balanced. The mac
        examines entries from the head of the weight queue on. The caller has set their number,
        `mac_left`.
        """
        state = self.state
        state.mac_next[cluster] = state.weight_head[cluster]
        state.mac_base[cluster] = base
        state.mac_sum[cluster] = total
        state.mac_limit[cluster] = limit
        state.mac_reached[cluster] = False
        state.balancing[cluster] = balance

    def clear_free_places(self) -> None:
        """Set the entries of the load queues that contain no load to 0.

        So the state of the queues does not depend on loads that have left them.
        """
        queues = (
            (self.q1, self.q1_head, self.q1_count, self.shape.load_queue_1),
            (self.q2, self.q2_head, self.q2_count, self.shape.load_queue_2),
        )
        for queue, head, count, depth in queues:
            places = queue.reshape(-1, depth)
            places[(np.arange(depth) - head[:, None]) % depth >= count[:, None]] = 0

    def append_loads(self, queue: int, loads: Ints, first: Ints, count: Ints) -> None:
        """Append `count` loads of each PE to the tail of load queue 1 or 2.

        The loads of PE p are elements of `loads` from index `first[p]` on. There may be more loads
        than the queue has entries, because the first loads have already left the queue. Then only
        the last loads are stored.
        """
        if queue == 1:
            places, row, tail = self.q1, self.q1_row, self.q1_head + self.q1_count
            depth = self.shape.load_queue_1
        else:
            places, row, tail = self.q2, self.q2_row, self.q2_head + self.q2_count
            depth = self.shape.load_queue_2
        number = count[:, None] - depth + np.arange(depth)
        remains = number >= 0
        place = row[:, None] + (tail[:, None] + number) % depth
        places[place[remains]] = loads[(first[:, None] + number)[remains]]
