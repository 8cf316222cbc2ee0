"""Computes the macs of a lockstep group (`lockstep_group`) in their order, several at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.data_loading import DataLoading
from macaw.emu.pe.fast.lockstep_accumulate import LockstepMac
from macaw.emu.pe.fast.lockstep_ahead import ComingSegments
from macaw.emu.pe.fast.resident_weights import ResidentMacs, ResidentWeights
from macaw.isa.pe import BLOCKS

Ints = NDArray[np.int64]
_LOOKUPS = 1 << 20  # the greatest number of look-ups for macs that are computed at once


class LockstepMacs:
    """The macs of `clusters` over their resident weights, and the cycles in which they execute.

    `times` has the first and the last cycle of each mac so far, as arrays (clusters,). `waits`
    (clusters,) counts the cycles in which the PEs waited for a mac. `since` (clusters,) is the
    first cycle that `waits` does not include.
    """

    def __init__(
        self,
        context: RowContext,
        loading: DataLoading,
        clusters: list[int],
        weights: ResidentWeights,
    ) -> None:
        self.state, self.shape = context.state, context.shape
        self.clusters, self.weights = clusters, weights
        self.coming = ComingSegments(context, loading, clusters)
        self.times: list[tuple[Ints, Ints]] = []
        self.since = self.state.doing_since[clusters]
        self.waits = np.zeros_like(self.since)
        # Macs that were computed together, and the activations that they read. The activations of
        # the first `_read` macs were in the input buffers, those of later macs are predicted.
        self._batch: ResidentMacs | None = None
        self._activations: NDArray[Any] = np.zeros((0, 0, 0))
        self._read = 0
        self._predicts = True  # False after a prediction in which no mac was right
        self._at = 0  # how many macs of the batch have been taken
        # For the macs from number `_first` of the batch on: their base addresses and limits. These
        # macs read the activations that the batch has for them.
        self._first = 0
        self._bases: Sequence[int] = ()
        self._limits: Ints = np.zeros((0, 0), np.int64)

    @property
    def most(self) -> int:
        """The greatest number of macs that are computed at once."""
        return max(1, _LOOKUPS // max(self.weights.at.size, 1))

    @property
    def computed(self) -> int:
        """The number of macs that `multiply` has computed and `take` has not returned yet.

        Macs that were only predicted do not count.
        """
        return self._first + len(self._bases) - self._at

    def multiply(self, bases: Sequence[int], coming: Sequence[int]) -> None:
        """Compute the next macs, whose base addresses are `bases`.

        `coming` has the segments of activations that the bus has not delivered yet; the macs that
        multiply them are predicted. If the predictions of all macs of `bases` are right, these macs
        are not computed again. Raises `Unplannable` or `Fault`.
        """
        limits = self._find_limits(np.array(bases))
        activations = self.weights.gather(bases, limits)
        predicted = self._activations[:, self._at : self._at + len(bases)]
        if not np.array_equal(predicted, activations):
            self._compute(activations, coming)
        self._bases, self._limits, self._first = bases, limits, self._at

    def _compute(self, activations: NDArray[Any], coming: Sequence[int]) -> None:
        """Compute the macs that read `activations`, and macs that read segments in `coming`.

        The macs that read segments in `coming` are only a prediction. Raises `Fault`.
        """
        read, predicted = activations.shape[1], None
        if self._at == self._read < self._activations.shape[1]:
            self._predicts = False
        if self._predicts and read < self.most:
            predicted = self.coming.predict(coming[: self.most - read], self.weights)
        if predicted is not None:
            activations = np.concatenate([activations, predicted], axis=1)
        self._batch, self._activations = self.weights.multiply(activations), activations
        self._at, self._read = 0, read

    def cycles(self, count: int) -> Ints:
        """Return the cycles of the next `count` macs, of shape (macs, clusters)."""
        assert self._batch is not None  # the macs are computed
        return self._batch.cycles[self._at : self._at + count]

    def take(self, base: int, accumulator: int) -> LockstepMac:
        """Return the next mac, which has the base address `base` and adds to `accumulator`."""
        at, self._at = self._at, self._at + 1
        assert self._batch is not None
        number = at - self._first
        assert self._bases[number] == base  # macs are taken in the order of `multiply`
        return LockstepMac(self._batch, at, base, accumulator, self._limits[number])

    def foresee(self, bases: Sequence[int], coming: Sequence[int]) -> int:
        """Compute macs before the bus has brought their activations. Return how many were computed.

        `bases` are the base addresses of the macs. The first mac reads the input buffers from its
        base on. Each later mac reads the next segment of `coming`; its contents are read from
        memory as they are now. Raises `Unplannable` or `Fault`.
        """
        before = self._batch
        self.multiply(bases[:1], coming)
        count: int = min(len(bases), self._activations.shape[1] - self._at)
        if self._batch is before and count > 1:  # the prediction is older
            predicted = self.coming.predict(coming[: count - 1], self.weights)
            old = self._activations[:, self._at + 1 : self._at + count]
            if predicted is None or not np.array_equal(predicted, old):
                return 1
        return count

    def expect(self, bases: Sequence[int], targets: Sequence[int], elements: int) -> None:
        """Prepare to take the macs with these `bases`, which `foresee` has computed.

        After mac i the bus brings `elements` activations to each PE, which stores them from element
        `targets[i]` of its input buffer on.
        """
        size = self.shape.input_block
        loaded, limits = self.state.block_loaded[self.clusters, 0], list[Ints]()
        known: dict[tuple[bytes, int], Ints] = {}
        for base, target in zip(bases, targets, strict=True):
            key = loaded.tobytes(), base
            if key not in known:
                known[key] = self._limits_in(loaded, np.array([base]))[0]
            limits.append(known[key])
            end = target + elements
            last = -(-end // size)  # the block after the last one that is written
            loaded[:, target // size : last] = size
            loaded[:, last - 1] -= -end % size
        self._bases, self._limits, self._first = bases, np.array(limits), self._at

    def record(self, start: Ints, end: Ints) -> None:
        """Record the first and last cycles of macs, `start` and `end` (macs, clusters)."""
        if not len(start):
            return
        free = np.concatenate([self.since[None], end[:-1] + 1])
        self.waits += (start - free).sum(axis=0)
        self.since = end[-1] + 1
        self.times += zip(start, end, strict=True)

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """The first cycle of each mac, and the cycle after the mac; both of shape (macs, clusters).

        The caller ensures that all macs are recorded.
        """
        begin, end = (np.array(times) for times in zip(*self.times, strict=True))
        return begin, end + 1

    def oldest(self, now: int) -> int:
        """Return the earliest start of the macs that execute in cycle `now`; `now` if none do."""
        starts = [start[(start <= now) & (end >= now)] for start, end in self.times]
        return int(min((part.min() for part in starts if part.size), default=now))

    def _find_limits(self, bases: Ints) -> Ints:
        """Return the first element from each base on that is not a loaded activation.

        The result has shape (bases, clusters). All PEs of a cluster have loaded the same blocks.
        """
        return self._limits_in(self.state.block_loaded[self.clusters, 0], bases)

    def _limits_in(self, loaded: NDArray[Any], bases: Ints) -> Ints:
        """Return, for each base and cluster, the first element from the base on that is not loaded.

        `loaded` has the number of loaded elements of each block, in shape (clusters, blocks). The
        result has shape (bases, clusters).
        """
        size = self.shape.input_block
        ends = np.full((len(self.clusters), BLOCKS + 1), BLOCKS * size)
        ends[:, :-1] = np.where(loaded < size, np.arange(BLOCKS) * size + loaded, BLOCKS * size)
        ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        limits: Ints = np.maximum(ends[:, bases // size].T, bases[:, None])
        return limits
