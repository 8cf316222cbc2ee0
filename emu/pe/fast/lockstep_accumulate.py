"""Computes sums, results and counters of the macs of a lockstep group (`lockstep_group`).

While a cluster belongs to the group, the declared state of its PEs does not change. This module
keeps the state that all clusters will have, and writes a cluster's part to the declared state when
the cluster leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, count, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.resident_weights import ResidentMacs, ResidentWeights
from macaw.emu.pe.mac_outcome import MacOutcome
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ACCUMULATORS
from macaw.isa.typed_records import NamedTuple

Ints = NDArray[np.int64]
_LOAD_QUEUES = ("q1_head", "q1_count", "q2_head", "q2_count")


class LockstepMac(NamedTuple):
    """One mac of all clusters of the group: mac number `at` of `batch`.

    The macs of `batch` were computed together. `base` is the mac's base address, the same in all
    PEs. `limit` (clusters,) is the element at which the loaded activations end. The mac adds to
    accumulator number `accumulator`.
    """

    batch: ResidentMacs
    at: int
    base: int
    accumulator: int
    limit: Ints


@dataclass(frozen=True)
class SumsStep:
    """A step of every iteration of a loop: a mac, a load of sums, or a move.

    A mac or a move uses `accumulator`. A load from the output queues reads them from entry `entry`
    on. A load from segments writes to them from this entry on; `sums` has the sums that it loads,
    in the shape (iterations, clusters, PEs, sums). A move writes in each iteration to another
    entry: `targets` has one entry for each iteration.
    """

    name: str  # "mac", "ld_queue", "ld" or "move"
    accumulator: int = 0
    entry: int = 0
    targets: Sequence[int] = ()
    sums: NDArray[Any] | None = None


@dataclass(frozen=True)
class RepeatedSums:
    """The steps of `count` iterations of a loop, and the macs of all iterations in order."""

    count: int
    steps: Sequence[SumsStep]
    macs: Sequence[LockstepMac]


class LockstepAccumulator:
    """The accumulators, output queues and counters of the PEs of `clusters`."""

    def __init__(self, context: RowContext, clusters: list[int], weights: ResidentWeights) -> None:
        self.arrays, self.state, self.shape = context.arrays, context.state, context.shape
        self.clusters, self.entries = clusters, weights.entries.reshape(weights.grid)
        self.adder = context.adder
        # The greatest magnitude of a product, and the greatest number of products in a sum.
        bits = 8 * np.dtype(self.shape.value_type).itemsize - 1
        loads = int(self.entries.max()) + self.shape.load_queue_1 + self.shape.load_queue_2
        self.most = (1 << 2 * bits) * loads
        self.accumulators = self.state.accumulators[clusters]
        self.output = self.state.output[clusters]
        self.output_written = self.state.output_written[clusters]
        self.buffer = self.state.buffer[clusters]
        self.output_writes = 0  # results written to the queue of each PE
        self.output_reads = np.zeros((len(clusters), self.shape.pes), np.int64)
        self.macs: list[LockstepMac] = []

    def mac(self, mac: LockstepMac) -> None:
        """Add the sums of `mac` to the accumulators. Call it in the order of the macs.

        Raises `Unplannable` if a sum may overflow.
        """
        old = self.accumulators[..., mac.accumulator]
        greatest = self._greatest(old) + self.most
        if self.adder.overflow != "wrap" and greatest > self._limit(mac.batch.balances):
            raise Unplannable
        old += mac.batch.sums[mac.at]
        self.macs.append(mac)

    def move(self, source: int, target: int) -> None:
        """Move accumulator `source` of each PE to entry `target` of the output queue of the PE.

        The accumulator becomes 0, and the later entries of the same block become "not written".
        """
        values = self.accumulators[..., source]
        self.buffer[...] = values
        self.output[..., target] = values
        values[...] = 0
        self._mark_written(target, target + 1)

    def load(self, target: int, sums: NDArray[Any]) -> None:
        """Write partial sums to the output queues, from entry `target` on, and accumulate them.

        `sums` has shape (clusters, PEs, elements); element i is added to accumulator i. Raises
        `Unplannable` if a sum leaves its range.
        """
        end = target + sums.shape[2]
        self.output[..., target:end] = sums
        self._mark_written(target, end)
        for number in range(sums.shape[2]):
            self._add(number, sums[..., number])

    def load_from_queue(self, source: int) -> None:
        """Add four entries of each output queue, from entry `source` on, to accumulators 0 to 3.

        Entries that were never written are left out. Raises `Unplannable` if a cluster has written
        none of the entries, or if a sum leaves its range.
        """
        added = self._queue_sums(source)
        written = self.output_written[..., source : source + ACCUMULATORS]
        self.output_reads += written.sum(axis=2)
        for number, values in added.items():
            self._add(number, values)

    def _add(self, number: int, values: NDArray[Any]) -> None:
        total, overflow = self.adder.total(self.accumulators[..., number], values)
        if overflow is not None:
            raise Unplannable
        self.accumulators[..., number] = total

    def _mark_written(self, start: int, end: int, times: int = 1) -> None:
        """Mark entries `start` to `end` - 1 of the output queues as written; count the writes.

        Each of these entries was written `times` times. The later entries of the last block become
        "not written".
        """
        size = self.shape.output_block
        self.output_written[..., start:end] = True
        self.output_written[..., end : -(-end // size) * size] = False
        self.output_writes += times * (end - start)

    # Iterations

    def repeat(self, loop: RepeatedSums) -> None:
        """Execute the steps of all iterations of a loop.

        The caller ensures that loads read no entries to which the loop moves sums. Raises
        `Unplannable` if a sum might leave its range.
        """
        if self._repeat_at_once(loop):
            self.macs += loop.macs
            return
        macs = iter(loop.macs)
        for number in range(loop.count):
            for step in loop.steps:
                if step.name == "mac":
                    self.mac(next(macs))
                elif step.name == "ld_queue":
                    self.load_from_queue(step.entry)
                elif step.sums is not None:
                    self.load(step.entry, step.sums[number])
                else:
                    self.move(step.accumulator, step.targets[number])

    def _repeat_at_once(self, loop: RepeatedSums) -> bool:
        """Execute a loop at once if it moves each accumulator out exactly once in each iteration.

        Return False, without an effect, for another loop, or if a sum might leave its range.
        """
        totals, open_sums = dict[int, NDArray[Any]](), set[int]()
        greatest = self._greatest(self.accumulators)
        for step, added in zip(loop.steps, self._added(loop), strict=True):
            if step.name == "move":
                if step.accumulator in totals and step.accumulator not in open_sums:
                    return False  # the loop moves it out twice
                open_sums.discard(step.accumulator)
                totals.setdefault(step.accumulator, np.zeros_like(self.accumulators[None, ..., 0]))
            elif step.name == "mac":
                greatest += self.most
            else:
                greatest += max(map(self._greatest, added.values()), default=0)
            for number, values in added.items():
                if number in totals and number not in open_sums:
                    return False  # an earlier step moved it out
                totals[number] = totals.get(number, 0) + values
                open_sums.add(number)
        balances = bool(loop.macs) and loop.macs[0].batch.balances
        if open_sums or (self.adder.overflow != "wrap" and greatest > self._limit(balances)):
            return False
        for number, total in totals.items():
            totals[number] = np.broadcast_to(total, (loop.count, *total.shape[1:])).copy()
            totals[number][0] += self.accumulators[..., number]
            self.accumulators[..., number] = 0
        for step in loop.steps:
            if step.name == "ld_queue":
                written = self.output_written[..., step.entry : step.entry + ACCUMULATORS]
                self.output_reads += loop.count * written.sum(axis=2)
            elif step.sums is not None:
                end = step.entry + step.sums.shape[3]
                self.output[..., step.entry : end] = step.sums[-1]
                self._mark_written(step.entry, end, loop.count)
        for step in loop.steps:
            if step.name == "move":
                values = totals[step.accumulator]
                self.output[..., step.targets] = np.moveaxis(values, 0, -1)
                self.buffer[...] = values[-1]
        moves = [step.targets for step in loop.steps if step.name == "move"]
        start = end = 0
        for target in chain.from_iterable(zip(*moves, strict=True)):
            if target != end:  # each range of consecutive targets is marked at once
                self._mark_written(start, end)
                start = target
            end = target + 1
        self._mark_written(start, end)
        return True

    def _added(self, loop: RepeatedSums) -> Iterator[dict[int, NDArray[Any]]]:
        """Yield, for each step of a loop, the sums that it adds, by the number of the accumulator.

        The sums have shape (iterations, clusters, PEs), or (1, clusters, PEs) if they are the same
        in all iterations. Raises `Unplannable` if a cluster has written none of the entries that a
        load from the output queues reads.
        """
        places = count(0)
        multiplied = sum(step.name == "mac" for step in loop.steps)
        for step in loop.steps:
            if step.name == "mac":
                batch, first = loop.macs[0].batch, loop.macs[0].at + next(places)
                end = loop.macs[0].at + len(loop.macs)
                yield {step.accumulator: batch.sums[first:end:multiplied]}
            elif step.name == "ld_queue":
                loaded = self._queue_sums(step.entry)
                yield {number: values[None] for number, values in loaded.items()}
            elif step.sums is not None:
                yield dict(enumerate(np.moveaxis(step.sums, 3, 0)))
            else:
                yield {}

    def _queue_sums(self, source: int) -> dict[int, NDArray[Any]]:
        """Return, by accumulator, the sums that a load from the output queues adds.

        The load begins at entry `source`; the sums have shape (clusters, PEs). Raises `Unplannable`
        if a cluster has written none of the entries.
        """
        written = self.output_written[..., source : source + ACCUMULATORS]
        if not written.any(axis=(1, 2)).all():
            raise Unplannable
        numbers: list[int] = np.flatnonzero(written.any(axis=(0, 1))).tolist()
        values = self.output[..., source : source + ACCUMULATORS]
        values = np.where(written, values, values.dtype.type(0))
        return {number: values[..., number] for number in numbers}

    def _greatest(self, values: NDArray[Any]) -> int:
        return max(abs(int(values.max())), abs(int(values.min())))

    def _limit(self, balances: bool) -> int:
        """Return the greatest magnitude that sums may reach after a mac of the group.

        `balances` says whether the mac is balanced. If the group splits during a balanced mac, a
        `BalancedPlan` takes over, which allows only about half of the range. So the limit is the
        same here.
        """
        limit = int(np.iinfo(self.adder.dtype).max)
        return limit // 2 - 1 if balances else limit

    # Writing the declared state

    def write(self, place: int) -> None:
        """Write the state of cluster `clusters[place]` after all macs, moves and loads of sums."""
        state, c = self.state, self.clusters[place]
        state.accumulators[c] = self.accumulators[place]
        state.output[c] = self.output[place]
        state.output_written[c] = self.output_written[place]
        state.buffer[c] = self.buffer[place]
        state.output_writes[c] += self.output_writes
        state.output_reads[c] += self.output_reads[place]
        if not self.macs:
            return
        for name, values in self._after_macs.items():
            getattr(state, name)[c] = values[place]
        mac = self.macs[-1]
        self.arrays.start_mac(c, mac.base, mac.accumulator, mac.limit[place], mac.batch.balances)
        self._end_mac(place, mac)

    def apply(self, place: int, number: int) -> None:
        """Write the state of cluster `clusters[place]` after mac `number`.

        The declared state of the cluster must be its state at the start of this mac.
        """
        mac = self.macs[number]
        accumulator = self.state.accumulators[self.clusters[place], :, mac.accumulator]
        accumulator += mac.batch.sums[mac.at, place]
        outcome = mac.batch.outcome.part((mac.at, place))
        outcome.add_to(self.arrays.cluster(self.clusters[place]))
        self._end_mac(place, mac)

    @cached_property
    def _after_macs(self) -> dict[str, NDArray[Any]]:
        """The load queues and counters of all PEs after all macs, by the names of their fields.

        The arrays have shape (clusters, PEs). The declared state of all clusters of the group must
        be that from before the macs.
        """
        pes, outcome = self.arrays.copies(self.clusters), self._all_macs()
        outcome.add_to(pes)
        names = (*outcome.counters(), *outcome.peaks(pes))
        queues = {name: getattr(pes, name) for name in _LOAD_QUEUES}
        return queues | {name: pes.counters[name] for name in names}

    def _end_mac(self, place: int, mac: LockstepMac) -> None:
        """Set the comparators of cluster `clusters[place]` to the end of a mac."""
        state, c = self.state, self.clusters[place]
        state.mac_left[c] = 0
        state.mac_next[c] = (state.weight_head[c] + self.entries[place]) % self.shape.weight_queue
        state.mac_reached[c] = np.asarray(mac.batch.outcome.products[mac.at, place]) > 0
        state.given[c] = 0  # sums are handed over at the end of the mac
        state.computing[c] = False

    def products(self) -> Ints:
        """Return the number of products of each mac in each cluster, of shape (macs, clusters)."""
        batches = {id(mac.batch): mac.batch for mac in self.macs}
        sums = {key: batch.outcome.products.sum(axis=2) for key, batch in batches.items()}
        return np.array([sums[id(mac.batch)][mac.at] for mac in self.macs])

    def _all_macs(self) -> MacOutcome:
        """Return the outcome of all macs together, as arrays of shape (clusters, PEs)."""
        parts: list[MacOutcome] = []
        for _, macs in groupby(self.macs, lambda mac: id(mac.batch)):
            first, *others = macs  # the macs of a batch are consecutive
            parts.append(first.batch.outcome.part(slice(first.at, first.at + 1 + len(others))))
        return MacOutcome.concatenate(parts).total()
