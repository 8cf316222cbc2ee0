"""Plans of macs: all their cycles and sums, from a given cycle to the end.

A mac is an instruction in which each PE multiplies its weights by activations and adds the
products. A weight is effectual if its activation is not zero; only then does the comparator make a
load of it, a reference to both factors. A plan depends only on the contents of the PEs when it is
made: these determine which weights are effectual, the sequence of the loads, and every sum. Nothing
else changes these contents while the macs execute. The cycles come from `comparator_tables`. A plan
can start at any cycle of a mac, and it can write the state of any later cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.comparator_tables import OUTCOMES, tables
from macaw.emu.pe.loads import INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.mac_outcome import MacOutcome
from macaw.emu.pe.pe_arrays import PeArrays

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_NEVER = -(1 << 40)


class Unplannable(Exception):
    """Raised for macs that cannot be planned; the engine simulates them cycle by cycle."""


class Plan:
    """The macs that `clusters` execute, from cycle `start` on.

    Inside the class, cycle 0 is `start`. Only `ends`, the last cycle of each cluster's mac, has
    cycles of the row. A load refers to a weight and an activation to multiply. The loads of a PE
    form one sequence: those in queue 2, those in queue 1, then those that the comparator will find.
    The constructor raises `Unplannable` if the macs must be simulated cycle by cycle.
    """

    def __init__(self, context: RowContext, clusters: list[int], start: int) -> None:
        self.arrays, self.shape, self.adder = context.arrays, context.shape, context.adder
        self.clusters, self.start = clusters, start
        pes = self.shape.pes
        self.pes = (np.array(clusters)[:, None] * pes + np.arange(pes)).reshape(-1)
        self.entries_left = self.arrays.mac_left[self.pes]
        self.q1_count = self.arrays.q1_count[self.pes]
        self.q2_count = self.arrays.q2_count[self.pes]
        self.has_multiplied = self.arrays.mac_reached[self.pes]
        direct = self.shape.direct
        # The number of entries of each PE: the greatest of all PEs, rounded up to whole blocks.
        self.tables = None if direct else tables(self.shape.load_queue_1, self.shape.load_queue_2)
        block = 1 if self.tables is None else 2 * self.tables.pairs
        self.width = -(-max(int(self.entries_left.max()), 1) // block) * block
        self._find_loads()
        self._add_up()
        if self.tables is None:
            self._time_direct()
        else:
            self._time_queued()
        last = np.maximum(self.end.reshape(-1, pes).max(axis=1), 0)
        self.ends = dict(zip(clusters, (start + last).tolist(), strict=True))

    # Loads and sums

    def _find_loads(self) -> None:
        """Find the weight entries whose activation is not zero (`hit`), and the loads of each PE.

        A load is made for each such entry, and some loads are in the queues already. The loads of a
        PE are `total` elements of `loads` from index `first` on. Raises `Unplannable` if an entry
        refers to an activation that is not loaded.
        """
        arrays, pes, width = self.arrays, self.pes, self.width
        number = np.arange(width)
        place = arrays.mac_next[pes][:, None] + number
        if place[:, -1].max() >= self.shape.weight_queue:
            place %= self.shape.weight_queue
        index = arrays.weight_index.take(arrays.weight_row[pes][:, None] + place)
        index = index + arrays.mac_base[pes][:, None]
        valid = number < self.entries_left[:, None]
        limit = arrays.mac_limit[pes]
        if index.max() >= limit.min() and (valid & (index >= limit[:, None])).any():
            raise Unplannable
        self.hit = arrays.bitmask.take(arrays.input_row[pes][:, None] + index, mode="clip") & valid
        self.new = np.count_nonzero(self.hit, axis=1)
        queue_counts = self.q1_count + self.q2_count
        if queue_counts.any():
            mask, before = self._held_loads()
            mask = np.concatenate([mask, self.hit], axis=1)
            loads = np.concatenate([before, place << PLACE_SHIFT | index], axis=1)
            self.loads = loads[mask]
        else:
            hits = np.flatnonzero(self.hit)
            self.loads = place.reshape(-1)[hits] << PLACE_SHIFT | index.reshape(-1)[hits]
        self.total = self.new + queue_counts
        self.first = np.cumsum(self.total) - self.total

    def _held_loads(self) -> tuple[Bools, Ints]:
        """Return the loads that are in the queues when the plan starts.

        The result is a mask and the loads, both of shape (PEs, queue entries), in the order of
        processing. The mask says which entries contain a load.
        """
        arrays, pes = self.arrays, self.pes
        masks, loads = [], []
        queues = (
            (arrays.q2, arrays.q2_row, arrays.q2_head, self.q2_count, self.shape.load_queue_2),
            (arrays.q1, arrays.q1_row, arrays.q1_head, self.q1_count, self.shape.load_queue_1),
        )
        for queue, row, head, count, depth in queues:
            number = np.arange(depth)
            masks.append(number < count[:, None])
            loads.append(queue[row[pes][:, None] + (head[pes][:, None] + number) % depth])
        return np.concatenate(masks, axis=1), np.concatenate(loads, axis=1)

    def _add_up(self) -> None:
        """Set `running`, from which `_sums` computes each PE's sum after any number of its loads.

        Raises `Unplannable` if a sum might leave its range or is not a finite number.
        """
        arrays, pes, adder = self.arrays, self.pes, self.adder
        self.where = arrays.sum_row[pes] + arrays.mac_sum[pes]
        self.old = arrays.accumulators[self.where]
        owner = np.repeat(np.arange(pes.size), self.total)
        of = pes[owner]
        weight = arrays.weight_value[arrays.weight_row[of] + (self.loads >> PLACE_SHIFT)]
        activation = arrays.activations[arrays.input_row[of] + (self.loads & INDEX_MASK)]
        product, wrong = adder.product(weight, activation)
        if wrong is not None:
            raise Unplannable
        if adder.floating:
            self._add_floating(product, owner)
            return
        # Running sums over the products of all PEs; a PE's sums are differences of these.
        self.running = np.zeros(product.size + 1, np.int64)
        np.cumsum(product, dtype=np.int64, out=self.running[1:])
        if adder.overflow != "wrap" and product.size:
            most = int(np.abs(product).max()) * int(self.total.max())
            most += max(abs(int(self.old.max())), abs(int(self.old.min())))
            if most > int(np.iinfo(adder.dtype).max):
                raise Unplannable

    def _add_floating(self, product: NDArray[Any], owner: Ints) -> None:
        """Set `running`: in each PE, add one product after the other.

        `product` has all products; `owner` has the index of the PE of each one. -0 stands for a
        missing product of a PE, because it changes no sum. Raises `Unplannable` if a sum is not
        finite.
        """
        sums = np.full((self.pes.size, int(self.total.max()) + 1), -0.0, self.adder.dtype)
        sums[:, 0] = self.old
        sums[owner, np.arange(owner.size) - self.first[owner] + 1] = product
        self.running = np.add.accumulate(sums, axis=1)
        if not np.isfinite(self.running).all():
            raise Unplannable

    def _sums(self, rows: slice, count: Ints) -> NDArray[Any]:
        """Return the accumulators of the PEs in `rows`, each after its first `count` loads."""
        if self.adder.floating:
            return np.asarray(self.running[np.arange(self.pes.size)[rows], count])
        first = self.first[rows]
        gained = self.running[first + count] - self.running[first]
        return np.asarray(self.old[rows] + gained.astype(self.old.dtype))

    # Times

    def _time_direct(self) -> None:
        """Compute the times of macs in design 5a (seed 000, Fig. 5a), which has no load queue 1.

        The comparator examines one entry in each cycle; the load of the entry reaches the MAC in
        the next cycle.
        """
        entry = np.arange(self.width)
        last_hit = np.where(self.hit, entry + 1, -1).max(axis=1)
        has_load = self.q2_count > 0
        self.end = np.maximum(
            np.maximum(self.entries_left - 1, last_hit), np.where(has_load, 0, -1)
        )
        self.first_taken = np.where(has_load, 0, self.hit.argmax(axis=1) + 1)

    def _time_queued(self) -> None:
        """Compute the times of macs in design 5b (seed 000, Fig. 5b), which has two load queues.

        A block is several pairs of weights. A row of `tables` has the cycles that a block takes,
        and the loads that it leaves in the queues. The method sets `keys`, the index of this row
        for each block and PE, and `begins`, the first cycle of each block.
        """
        table = self.tables
        assert table is not None
        rows, blocks = self.pes.size, self.width // (2 * table.pairs)
        pairs = self.hit.reshape(rows, blocks, table.pairs, 2)
        effectual = pairs[..., 0].astype(np.intp) + pairs[..., 1]
        number = effectual[..., 0]
        for pair in range(1, table.pairs):
            number = number * OUTCOMES + effectual[..., pair]
        self.keys = np.ascontiguousarray(number.T) * table.states  # (blocks, PEs)
        state = initial = self.q1_count * 2 + self.q2_count
        for key in self.keys:
            key += state
            state = table.following.take(key)
        self.begins = np.zeros((blocks + 1, rows), np.int64)
        np.cumsum(table.length.take(self.keys), axis=0, out=self.begins[1:])
        self.most = table.most.take(self.keys).max(axis=0)

        # The cycle of the last pair, and the state of the queues after it.
        pairs_left = (self.entries_left + 1) // 2
        block, pair = np.divmod(np.maximum(pairs_left - 1, 0), table.pairs)
        row = np.arange(rows)
        key = self.keys[block, row]
        has_pairs = pairs_left > 0
        last = np.where(has_pairs, self.begins[block, row] + table.offset[key, pair], -1)
        self.end = last + table.drain[np.where(has_pairs, table.after[key, pair], initial)]
        # Until a PE has its first load, its comparator never waits.
        to_come = self.hit.argmax(axis=1) // 2 + 2
        self.first_taken = np.where(self.q2_count > 0, 0, np.where(self.q1_count > 0, 1, to_come))

    # Outcomes

    def _outcome(self, rows: slice, cycles: int) -> MacOutcome:
        """Return the effects of the first `cycles` cycles of the plan in the PEs of the slice
        `rows`.
        """
        end = self.end[rows]
        outcome = (
            self._whole_macs(rows) if cycles > int(end.max()) else self._first_cycles(rows, cycles)
        )
        outcome.mac_cycles = cycles
        outcome.busy_cycles = np.minimum(end + 1, cycles)
        first = np.minimum(outcome.busy_cycles, self.first_taken[rows])
        filling = np.where(self.total[rows] > 0, first, outcome.busy_cycles)
        outcome.filling_cycles = np.where(self.has_multiplied[rows], 0, filling)
        outcome.q2_most = outcome.queue_moves > 0
        return outcome

    def _whole_macs(self, rows: slice) -> MacOutcome:
        """Return the effects of whole macs in the PEs of `rows`; the caller sets the counts of
        cycles.
        """
        new = self.new[rows]
        return _loads(
            weights_examined=self.entries_left[rows],
            effectual_loads=new,
            queue_moves=new if self.tables is None else self.q1_count[rows] + new,
            products=self.total[rows],
            q1_most=0 if self.tables is None else self.most[rows],
        )

    def _first_cycles(self, rows: slice, cycles: int) -> MacOutcome:
        """Return the effects of the first `cycles` cycles in the PEs of `rows`.

        The caller sets the counts of cycles.
        """
        products_before = self.q2_count[rows] * (cycles > 0)
        hit = self.hit[rows]
        if self.tables is None:
            hits = np.count_nonzero(hit[:, :cycles], axis=1)
            products = np.count_nonzero(hit[:, : max(cycles - 1, 0)], axis=1) + products_before
            return _loads(np.minimum(self.entries_left[rows], cycles), hits, hits, products, 0)
        times, q1_loads = self._pair_times(rows)
        is_over = times < cycles
        number = np.arange(times.shape[1])
        pairs = np.count_nonzero(
            is_over & (number < (self.entries_left[rows, None] + 1) // 2), axis=1
        )
        entry = np.repeat(times, 2, axis=1)
        moves, mask = self._moves(rows, entry)
        return _loads(
            weights_examined=np.minimum(2 * pairs, self.entries_left[rows]),
            effectual_loads=np.count_nonzero(hit & (entry < cycles), axis=1),
            queue_moves=np.count_nonzero(mask & (moves < cycles), axis=1),
            products=np.count_nonzero(mask & (moves + 1 < cycles), axis=1) + products_before,
            q1_most=np.where(is_over, q1_loads, 0).max(axis=1),
        )

    def _pair_times(self, rows: slice) -> tuple[Ints, Ints]:
        """Return the cycle in which each pair of weights is examined, and queue 1's loads after it.

        Both arrays have shape (PEs, pairs); the PEs are those of `rows`.
        """
        table = self.tables
        assert table is not None
        keys = self.keys[:, rows].T
        times = self.begins[:-1, rows].T[:, :, None] + table.offset[keys]
        q1_loads = table.after[keys] >> 1
        count = keys.shape[0]
        return times.reshape(count, -1), q1_loads.reshape(count, -1)

    def _moves(self, rows: slice, entry: Ints) -> tuple[Ints, Bools]:
        """Return the cycle in which each load moves from queue 1 to 2, and a mask of the loads.

        Both arrays have a row for each PE in `rows`. They have a column for each entry of queue 1
        (loads that are there at the start), then a column for each weight. The mask says in which
        columns there is a load. `entry` (PEs, weights) is the cycle in which each weight is
        examined.
        """
        table = self.tables
        assert table is not None
        count = self.q1_count[rows, None]
        slots = np.arange(self.shape.load_queue_1)
        mask = np.concatenate([slots < count, self.hit[rows]], axis=1)
        ready = np.concatenate([np.zeros((count.size, slots.size), np.int64), entry + 1], axis=1)
        before = np.cumsum(mask, axis=1) - 1  # the number of loads that move before this one
        ready = np.where(mask, ready - table.gap * before, _NEVER)
        if table.gap > 1:  # a load in the only entry of queue 2 delays the first move by a cycle
            ready = np.maximum(ready, self.q2_count[rows, None])
        return np.maximum.accumulate(ready, axis=1) + table.gap * before, mask

    # The state

    def write(self, clusters: list[int], now: int) -> None:
        """Write the state at the start of cycle `now` to the PEs of some of the plan's clusters."""
        pes = self.shape.pes
        for cluster in clusters:
            place = self.clusters.index(cluster)
            # the PEs of the cluster in the arrays of the plan
            rows = slice(place * pes, (place + 1) * pes)
            self._write(rows, self.arrays.cluster(cluster), now - self.start)

    def _write(self, rows: slice, pes: PeArrays, cycles: int) -> None:
        outcome = self._outcome(rows, cycles)
        self.arrays.accumulators[self.where[rows]] = self._sums(rows, outcome.products)
        if cycles <= int(self.end[rows].max()):  # otherwise the queues are empty
            q1, q2, first = self.q1_count[rows], self.q2_count[rows], self.first[rows]
            if self.tables is not None:
                pes.append_loads(1, self.loads, first + q2 + q1, outcome.effectual_loads)
            pes.append_loads(2, self.loads, first + q2, outcome.queue_moves)
        outcome.add_to(pes)


def _loads(
    weights_examined: Ints,
    effectual_loads: Ints,
    queue_moves: Ints,
    products: Ints,
    q1_most: Ints | int,
) -> MacOutcome:
    """Return a `MacOutcome` with these numbers; the caller sets its counts of cycles."""
    none = np.zeros_like(products)
    return MacOutcome(
        products, weights_examined, effectual_loads, queue_moves, none, none, q1_most=q1_most
    )
