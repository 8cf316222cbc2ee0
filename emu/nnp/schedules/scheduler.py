"""Computes when vectors pass the units of nnp, for many iterations of a chain at once.

The fast engine and the predictions of the lowering use this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Progress, Schedule, entries_ready, wait_cycles
from macaw.emu.nnp.schedules.timing import (
    MFUS,
    MULTIPLY,
    READ,
    WRITE,
    Times,
    Timing,
    enter,
    handover,
)
from macaw.isa.nnp_entries import Access


class FastScheduler:
    """The fast implementation of `macaw.emu.nnp.schedules.schedule.Scheduler`."""

    def __init__(self, state: Progress, timing: Timing) -> None:
        self.state, self.timing = state, timing

    def reads(self, chain: Chain, first: int, count: int, now: int) -> tuple[Times, Times]:
        """Return when the vectors of `count` iterations are read, and how long each read takes.

        The iterations are those of `chain` from number `first` on; no vector is read before cycle
        `now`. Both arrays have shape (iterations, vectors).
        """
        addresses = chain.addresses(chain.source, first, count)
        rates = self._rates(chain.source, addresses)
        arrivals = entries_ready(self.state, chain.source, addresses)
        arrivals = np.maximum(arrivals, now).ravel()
        times = enter(arrivals, rates.ravel(), int(self.state.free[READ]))
        return times.reshape(count, -1), rates

    def _rates(self, access: Access, addresses: NDArray[np.int64]) -> Times:
        """Return how many cycles each read by `access` takes, in the shape of `addresses`."""
        timing = self.timing
        if access.memory.setting:
            return np.full(addresses.shape, timing.rate, np.int64)
        beats = timing.beats(self.state.base + addresses * timing.vector_bytes, timing.vector_bytes)
        return np.where(
            addresses < 0, timing.rate, np.maximum(timing.rate, timing.channel(beats, tiles=False))
        )

    def vectors(
        self, chain: Chain, first: int, reads: Times, rates: Times, counts_waits: bool
    ) -> Schedule:
        """Return the schedule of a chain's iterations from `first` on, for vectors read at `reads`.

        `macaw.emu.nnp.schedules.schedule.Scheduler.vectors` explains the arguments.
        """
        timing, state = self.timing, self.state
        count = len(reads)
        free = {READ: int(reads[-1, -1] + rates[-1, -1])}
        waits = 0
        if counts_waits and not chain.source.memory.queue:
            waits = wait_cycles(reads, state.asked, rates, int(state.free[READ]))
        times, before = reads, rates
        depth = timing.read + (0 if chain.source.memory.setting else timing.latency)
        ends = None
        if chain.product is not None:
            arrivals = times + handover(depth, before, timing.pass_cycles)
            starts, product_waits = self._products(chain, first, arrivals, counts_waits)
            waits += product_waits
            ends = starts + timing.product(chain)
            free[MULTIPLY] = int(ends[-1])
            times = starts[:, None] + timing.passes(chain) * timing.pass_cycles
            before, depth = np.full(times.shape, timing.pass_cycles, np.int64), timing.multiplier
        rate = np.full(times.shape, timing.rate, np.int64)
        for unit, name in MFUS:
            operations = chain.of_unit(name)
            arrived = arrivals = times + handover(depth, before, rate)
            for item in operations:
                if item.operand is not None:
                    places = chain.addresses(item.operand, first, count)
                    arrivals = np.maximum(arrivals, state.ready(item.operand.memory)[places])
            if any(item.does == "v_softmax" for item in operations):
                arrived, arrivals = (
                    np.broadcast_to(x.max(axis=1, keepdims=True), x.shape)
                    for x in (arrived, arrivals)
                )
            unit_free = int(state.free[unit])
            times = enter(arrivals.ravel(), rate.ravel(), unit_free).reshape(rate.shape)
            if counts_waits and any(item.operand is not None for item in operations):
                waits += wait_cycles(times, arrived, rate, unit_free)
            free[unit] = int(times[-1, -1] + timing.rate)
            before, depth = rate, timing.depth(operations)
        rate = self._write_rates(chain, first, times.shape)
        arrivals = times + handover(depth, before, rate)
        times = enter(arrivals.ravel(), rate.ravel(), int(state.free[WRITE])).reshape(rate.shape)
        free[WRITE] = int(times[-1, -1] + rate[-1, -1])
        readable = times + timing.write + rate
        is_stored = any(not access.memory.setting for access in chain.writes)
        stored = int(readable.max()) + timing.latency if is_stored else 0
        return Schedule(reads[:, 0], free, readable, stored, reads, rates, times, ends, waits)

    def _products(
        self, chain: Chain, first: int, arrivals: Times, counts_waits: bool
    ) -> tuple[Times, int]:
        """Return the start cycle of the product in each iteration, and the waits for tiles.

        The waits are one number: the cycles that the products of all iterations wait for tiles; 0
        without `counts_waits`. The iterations are those of `chain` from number `first` on.
        `arrivals` (iterations, vectors) are the cycles in which the vectors can enter the
        multiplier.
        """
        assert chain.product is not None
        timing, state = self.timing, self.state
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        begins = timing.tile_passes(rows, cols) * timing.pass_cycles
        arrived = (arrivals - begins[0]).max(axis=1)
        tiles = chain.addresses(chain.product, first, len(arrivals))
        ready = (state.ready(chain.product.memory)[tiles] - begins.ravel()).max(axis=1)
        spans = np.full(arrived.shape, timing.product(chain), np.int64)
        unit_free = int(state.free[MULTIPLY])
        times = enter(np.maximum(arrived, ready), spans, unit_free)
        waits = wait_cycles(times, arrived, spans, unit_free) if counts_waits else 0
        return times, waits

    def _write_rates(self, chain: Chain, first: int, shape: tuple[int, ...]) -> Times:
        """Return the cycles for which each vector occupies the writing unit, of shape `shape`.

        The shape is (iterations, vectors); the iterations are those of `chain` from `first` on.
        """
        timing = self.timing
        total = np.zeros(shape, np.int64)
        for access in chain.writes:
            if not access.memory.setting:
                places = chain.addresses(access, first, shape[0]) * timing.vector_bytes
                beats = timing.beats(self.state.base + places, timing.vector_bytes)
                total += timing.channel(beats, tiles=False)
        return np.maximum(total, timing.rate)
