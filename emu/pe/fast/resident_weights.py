"""Computes macs over resident weights, which stay in the weight queues, for many base addresses.

The entries of the weight queues and their input indices are looked up once. A mac with a new base
then looks up only activations, for all PEs and several bases at once. The cycles of a mac come
from `comparator_tables`. This module computes only whole macs. If the engine has to stop in the
middle of a mac, it makes a `Plan` of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.comparator_tables import OUTCOMES, Tables, tables
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.mac_outcome import MacOutcome
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]
_GATHERED = 1 << 14  # look-ups at once; with more, the processor's caches do not hold their data
_NEAR = 8  # in this many rows of counts, nearly every column has a count that is not 0


@dataclass(frozen=True)
class ResidentMacs:
    """Whole macs over the same weights, one for each of several base addresses.

    `cycles` has the number of cycles of each mac in each cluster. `balances` says whether these are
    macs with `balance`.
    """

    cycles: Ints  # (bases, clusters): the cycles of each mac
    sums: NDArray[Any]  # (bases, clusters, PEs): what each mac adds to the accumulators
    outcome: MacOutcome  # (bases, clusters, PEs)
    balances: bool


class ResidentWeights:
    """The resident weights of `clusters`, read from the weight queues once.

    `entries` (clusters, PEs) says how many entries of each queue are resident, from the head on.
    """

    def __init__(self, context: RowContext, clusters: Sequence[int], entries: Ints) -> None:
        self.arrays, self.shape = context.arrays, context.shape
        pes = self.shape.pes
        self.grid = (len(clusters), pes)
        of = (np.array(clusters)[:, None] * pes + np.arange(pes)).reshape(-1)
        self.entries = entries.reshape(-1)
        self.tables = None if self.shape.direct else tables(*self._depths)
        # A row has one entry of each PE. There are as many rows as the PE with the most entries
        # needs, in whole blocks.
        block = 1 if self.tables is None else 2 * self.tables.pairs
        width = -(-max(int(self.entries.max()), 1) // block) * block
        number = np.arange(width)[:, None]
        head = context.state.weight_head.reshape(-1)[of]
        place = (head + number) % self.shape.weight_queue + self.arrays.weight_row[of]
        valid = number < self.entries
        index = np.where(valid, self.arrays.weight_index.take(place), 0).astype(np.int64)
        self.reach = np.where(self.entries > 0, index.max(axis=0), -1).reshape(self.grid)
        self.valid = None if valid.all() else valid
        self.index, self.at = index, index + self.arrays.input_row[of]
        values = np.where(valid, self.arrays.weight_value.take(place), 0)
        self.values = values.astype(context.adder.dtype)

    @property
    def _depths(self) -> tuple[int, int]:
        return self.shape.load_queue_1, self.shape.load_queue_2

    def gather(self, bases: Sequence[int], limits: Ints) -> NDArray[Any]:
        """Return the activations that macs with the base addresses `bases` read.

        The shape is (entries, macs, PEs of all clusters). `limits` (bases, clusters) has the
        element at which the loaded activations end. Raises `Unplannable` if a mac would read past
        this end.
        """
        base = np.array(bases)
        reads = self.reach + base[:, None, None]
        beyond = (reads >= limits[:, :, None]) & (self.reach >= 0)
        if beyond.any() or base.min() < 0 or base.max() >= self.shape.input_buffer:
            raise Unplannable
        source = self.arrays.activations
        found = np.empty((len(self.at), base.size, self.at.shape[1]), source.dtype)
        count = max(_GATHERED // self.at.size, 1)
        for first in range(0, base.size, count):
            if count == 1:
                found[:, first] = source[bases[first] :].take(self.at)
                continue
            at = self.at[:, None] + base[first : first + count, None]
            found[:, first : first + count] = source.take(at)
        return found

    def read(self, contents: NDArray[Any], slices: NDArray[np.intp]) -> NDArray[Any] | None:
        """Return the activations that macs would read if `contents` were in the input buffers.

        `contents`, of shape (macs, slices, elements), has for each mac the elements from its base
        on; `slices` has the number of the slice of each PE. The result has shape (entries, macs,
        PEs of all clusters). It is None if a mac would read more elements than `contents` has.
        """
        if int(self.reach.max()) >= contents.shape[2]:
            return None
        at = slices * contents.shape[2] + self.index
        by_element = np.ascontiguousarray(contents.reshape(len(contents), -1).T)
        return np.ascontiguousarray(by_element.take(at, axis=0).swapaxes(1, 2))

    def find(self, activations: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return a mask of the weight entries that are multiplied, and the sums of the macs.

        An entry is multiplied (effectual) if its activation is not zero. `activations` (entries,
        macs, PEs of all clusters) are the values that the macs read. The mask has shape (entries,
        macs · PEs of all clusters), the sums (macs, clusters, PEs).
        """
        hit = activations != 0  # this gives the bitmask of what is loaded
        if self.valid is not None:
            hit &= self.valid[:, None]
        sums = np.einsum("wr,wir->ir", self.values, activations, dtype=self.values.dtype)
        return hit.reshape(len(hit), -1), sums.reshape(-1, *self.grid)

    def multiply(self, activations: NDArray[Any]) -> ResidentMacs:
        """Compute the macs that read `activations`.

        The array `activations` has the shape (entries, macs, PEs of all clusters).
        """
        hit, sums = self.find(activations)
        count = len(sums)
        products = hit.view(np.uint8).sum(axis=0, dtype=np.uint32).astype(np.int64)
        entries = np.tile(self.entries, count)
        if self.tables is None:
            busy_cycles, first, most = self._direct(hit, entries)
        else:
            busy_cycles, first, most = self._queued(hit, entries, self.tables)
        shape = (count, *self.grid)
        filling_cycles = np.where(
            products > 0, np.minimum(busy_cycles, first), busy_cycles
        ).reshape(shape)
        busy_cycles, products = busy_cycles.reshape(shape), products.reshape(shape)
        cycles = np.maximum(busy_cycles.max(axis=2), 1)
        outcome = MacOutcome(
            products=products,
            weights_examined=entries.reshape(shape),
            effectual_loads=products,
            queue_moves=products,
            busy_cycles=busy_cycles,
            filling_cycles=filling_cycles,
            mac_cycles=np.broadcast_to(cycles[:, :, None], shape),
            q1_most=most.reshape(shape),
            q2_most=products > 0,
        )
        return ResidentMacs(cycles, sums, outcome, balances=False)

    def _direct(self, hit: NDArray[np.bool_], entries: Ints) -> tuple[Ints, Ints, Ints]:
        """Return how long the macs take in each PE of design 5a (which has no load queue 1).

        `hit` is a mask of the weight entries whose activation is not zero, `entries` the number of
        entries of each PE. The result has three arrays, with a number for each PE of each mac: the
        busy cycles, the cycles before the first product, and 0 (where `_queued` returns the
        greatest number of loads in load queue 1).
        """
        number = np.arange(1, len(hit) + 1)[:, None]
        last = np.where(hit, number, -1).max(axis=0)
        busy_cycles = np.maximum(entries, last + 1)
        return busy_cycles, _before(hit.view(np.uint8)) + 1, np.zeros_like(busy_cycles)

    def _queued(
        self, hit: NDArray[np.bool_], entries: Ints, table: Tables
    ) -> tuple[Ints, Ints, Ints]:
        """Return how long the macs take in each PE of design 5b (which has two load queues).

        `hit` is a mask of the weight entries whose activation is not zero, `entries` the number of
        entries of each PE. The result has three arrays, with a number for each PE of each mac: the
        busy cycles, the cycles before the first product, and the greatest number of loads in load
        queue 1. Each block of pairs takes one look-up in `table`.
        """
        bits = hit.view(np.uint8)
        effectual = bits[0::2] + bits[1::2]
        blocks = effectual.reshape(-1, table.pairs, effectual.shape[1])
        number = blocks[:, 0].astype(np.uint16)  # there are fewer than 2**16 blocks
        for pair in range(1, table.pairs):
            number *= OUTCOMES
            number += blocks[:, pair]
        keys = number.astype(np.intp) * table.states
        state: NDArray[Any] = np.zeros(keys.shape[1], np.intp)
        for key in keys:
            key += state
            state = table.following.take(key)
        length = np.zeros((len(keys), keys.shape[1]), np.int64)  # cycles of the earlier blocks
        np.cumsum(table.length.take(keys[:-1]), axis=0, out=length[1:])
        most = table.most.take(keys).max(axis=0)
        # The cycle of the last pair, and the state of the queues after it.
        pairs = (entries + 1) // 2
        block, within = np.divmod(np.maximum(pairs - 1, 0), table.pairs)
        of = np.arange(len(pairs))
        row = keys[block, of]
        end = length[block, of] + table.offset[row, within] + table.drain[table.after[row, within]]
        return np.where(pairs > 0, end + 1, 0), _before(effectual) + 2, most


def _before(counts: NDArray[np.uint8]) -> Ints:
    """Return, for each column of `counts`, how many zeros come before the first other number."""
    still = np.ones(counts.shape[1], np.bool_)
    count = np.zeros(counts.shape[1], np.int64)
    for row in counts[:_NEAR]:
        still &= row == 0
        if not still.any():
            return count
        count += still
    rest = counts[_NEAR:, still] != 0
    if len(rest):
        count[still] += np.where(rest.any(axis=0), rest.argmax(axis=0), len(rest))
    return count
