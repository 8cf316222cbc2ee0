"""Sums, results and counters of the macs of a lockstep group (`lockstep_group`).

While a cluster belongs to the group, the declared state of its PEs does not change. This module
holds what that state will become, for all clusters at once, and writes it when a cluster leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.resident_weights import Counts, Weights, Whole

if TYPE_CHECKING:
    from macaw.emu.pe.fast.row import FastRow

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Mac:
    """A mac of all clusters: number `at` of those computed together as `whole`."""

    whole: Whole
    at: int
    base: int
    accumulator: int
    limit: Ints  # (clusters,): where its activations end


class Sums:
    """Accumulators, output queues and counters of the PEs of `clusters`."""

    def __init__(self, row: FastRow, clusters: list[int], weights: Weights) -> None:
        self.row, self.state, self.shape = row, row.state, row.shape
        self.clusters, self.entries = clusters, weights.entries.reshape(weights.grid)
        self.adder = row.datapath.adder
        # No product is greater, and no sum takes more of them.
        bits = 8 * np.dtype(self.shape.value_type).itemsize - 1
        loads = int(self.entries.max()) + self.shape.load_queue_1 + self.shape.load_queue_2
        self.most = (1 << 2 * bits) * loads
        self.accumulators = self.state.accumulators[clusters]
        self.output = self.state.output[clusters]
        self.written = self.state.output_written[clusters]
        self.buffer = self.state.buffer[clusters]
        self.moves = 0
        self.macs: list[Mac] = []
        self._counts: Counts | None = None

    def mac(self, mac: Mac) -> None:
        """The next mac. Raises `Unplannable` if its sums might leave the range."""
        old = self.accumulators[..., mac.accumulator]
        if self.adder.overflow != "wrap":
            held = max(abs(int(old.max())), abs(int(old.min())))
            end = int(np.iinfo(self.adder.dtype).max)
            # The limit of `BalancedPlan`, which takes over if the group splits during the mac.
            if held + self.most > (end // 2 - 1 if mac.whole.balances else end):
                raise Unplannable
        old += mac.whole.sums[mac.at]
        self.macs.append(mac)

    def move(self, source: int, target: int) -> None:
        """The next result moves out; see `Results.move`."""
        values = self.accumulators[..., source]
        self.buffer[...] = values
        self.output[..., target] = values
        values[...] = 0
        size = self.shape.output_block
        self.written[..., target] = True
        self.written[..., target + 1 : -(-(target + 1) // size) * size] = False
        self.moves += 1

    # Into the declared state

    def write(self, place: int) -> None:
        """The cluster at `place` of the gang has done all of it."""
        state, c = self.state, self.clusters[place]
        state.accumulators[c] = self.accumulators[place]
        state.output[c] = self.output[place]
        state.output_written[c] = self.written[place]
        state.buffer[c] = self.buffer[place]
        state.output_writes[c] += self.moves
        if not self.macs:
            return
        if self._counts is None:
            self._counts = self._all_counts()
        self._count(place, self._counts)
        state.weights_examined[c] += self.entries[place] * len(self.macs)
        self.start(place, self.macs[-1])
        self.end(place, self.macs[-1])

    def start(self, place: int, mac: Mac) -> None:
        """A mac of a cluster begins: what the comparators then hold of it."""
        state, c = self.state, self.clusters[place]
        state.mac_left[c] = self.entries[place]
        state.mac_next[c] = state.weight_head[c]
        state.mac_base[c] = mac.base
        state.mac_sum[c] = mac.accumulator
        state.mac_limit[c] = mac.limit[place]
        state.mac_reached[c] = False
        state.balancing[c] = mac.whole.balances

    def end(self, place: int, mac: Mac) -> None:
        """What the comparators hold when it has ended."""
        state, c = self.state, self.clusters[place]
        state.mac_left[c] = 0
        state.mac_next[c] = (state.weight_head[c] + self.entries[place]) % self.shape.weight_queue
        state.mac_reached[c] = mac.whole.taken[mac.at, place] > 0
        state.computing[c] = False

    def apply(self, place: int, number: int) -> None:
        """A cluster has done this one mac, which began in the declared state."""
        mac = self.macs[number]
        c, whole = self.clusters[place], mac.whole
        self.state.accumulators[c, :, mac.accumulator] += whole.sums[mac.at, place]
        self._count(place, whole.counts(slice(mac.at, mac.at + 1)))
        self.state.weights_examined[c] += self.entries[place]
        self.end(place, mac)

    def products(self) -> Ints:
        """How many each mac has taken, (macs, clusters)."""
        wholes = {id(mac.whole): mac.whole for mac in self.macs}
        found = {key: whole.taken.sum(axis=2) for key, whole in wholes.items()}
        return np.array([found[id(mac.whole)][mac.at] for mac in self.macs])

    def _all_counts(self) -> Counts:
        """The counts of all macs, in one."""
        found: list[Counts] = []
        for whole in {id(mac.whole): mac.whole for mac in self.macs}.values():
            used = [mac.at for mac in self.macs if mac.whole is whole]
            assert used == list(range(used[0], used[0] + len(used)))  # one after the other
            some = slice(used[0], used[0] + len(used))
            found.append(whole.counts(some))
        return Counts(
            {name: _added([one.added[name] for one in found]) for name in found[0].added},
            gone=_added([one.gone for one in found]),
            most=np.concatenate([one.most for one in found]).max(axis=0)[None],
        )

    def _count(self, place: int, counts: Counts) -> None:
        """Counts of one mac, or of all in one, of the cluster at `place`."""
        state, c = self.state, self.clusters[place]
        for name, count in counts.added.items():
            getattr(state, name)[c] += count[0, place]
        taken = counts.added["macs"][0, place]
        if not self.shape.direct:
            gone = state.q1_head[c] + counts.gone[0, place]
            state.q1_head[c] = gone % self.shape.load_queue_1
            state.q1_high[c] = np.maximum(state.q1_high[c], counts.most[0, place])
        state.q2_head[c] = (state.q2_head[c] + taken) % self.shape.load_queue_2
        state.q2_high[c] = np.maximum(state.q2_high[c], taken > 0)


def _added(counts: list[Ints]) -> Ints:
    """The sum over macs, as one mac."""
    found: Ints = np.concatenate(counts).sum(axis=0)[None]
    return found
