"""The ways of a chain's vectors through the units: one call times many iterations at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.state import FIRST, MULTIPLY, READ, SECOND, TILES, WRITE
from macaw.emu.nnp.timing import Times, handed, through

if TYPE_CHECKING:
    from macaw.emu.nnp.iterations import Iterations
    from macaw.isa.nnp_entries import Access

_MFUS = ((FIRST, "mfu0"), (SECOND, "mfu1"))


class Flow(NamedTuple):
    """When what of some iterations happens. `written` is (iterations, vectors or tiles)."""

    starts: Times  # by iteration: its first vector is read
    free: dict[int, int]  # by unit: free again
    written: Times  # it can be read in the register files that it is written to
    stored: int  # all of it is in Dram; 0: nothing goes there
    reads: Times  # by iteration and vector or tile: it is read, and for how long
    rates: Times
    writes: Times  # by iteration and vector or tile: it enters the unit that writes
    products: Times | None = None  # by iteration: the multiplier needs the tiles no more
    read_waits: int = 0  # cycles of waits for entries to be written, if somebody counts them
    write_waits: int = 0  # for entries of MatrixRf that a product still needs


def reading(core: Iterations, chain: Chain, first: int, count: int) -> tuple[Times, Times]:
    """When the vectors of `count` iterations are read, at the earliest now, and their rates."""
    addresses = chain.addresses(chain.source, first, count)
    rates = _rates(core, chain.source, addresses)
    arrivals = _ready(core, chain.source, addresses)
    arrivals = np.maximum(arrivals, core.time).ravel()
    times = through(arrivals, rates.ravel(), int(core.state.free[READ]))
    return times.reshape(count, -1), rates


def _ready(core: Iterations, access: Access, addresses: NDArray[np.int64]) -> Times:
    """The cycles from which entries can be read; zeros of a padding always can."""
    if access.memory.setting:
        found = core.state.ready(access.memory)[np.maximum(addresses, 0)]
    else:
        found = np.full(addresses.shape, core.state.stored_before, np.int64)
    return np.where(addresses < 0, 0, found)


def _rates(core: Iterations, access: Access, addresses: NDArray[np.int64]) -> Times:
    """The cycles for which each vector takes the unit that reads or writes it."""
    timing = core.timing
    if access.memory.setting:
        return np.full(addresses.shape, timing.rate, np.int64)
    beats = timing.beats(core.state.base + addresses * timing.vector_bytes, timing.vector_bytes)
    return np.where(addresses < 0, timing.rate, np.maximum(timing.rate, timing.channel(beats)))


def vectors(core: Iterations, chain: Chain, first: int, reads: Times, rates: Times) -> Flow:
    """The way of the vectors that are read in cycles `reads`: (iterations, vectors)."""
    timing, state = core.timing, core.state
    count = len(reads)
    free = {READ: int(reads[-1, -1] + rates[-1, -1])}
    waits = 0
    if core.counting and not chain.source.memory.queue:
        waits = waited_for(reads, core.state.asked, rates, int(state.free[READ]))
    times, before = reads, rates
    depth = timing.read + (0 if chain.source.memory.setting else timing.latency)
    ends = None
    if chain.product is not None:
        arrivals = times + handed(depth, before, timing.a_pass)
        starts, waited = _products(core, chain, first, arrivals)
        waits += waited
        ends = starts + timing.product(chain)
        free[MULTIPLY] = int(ends[-1])
        times = starts[:, None] + timing.passes(chain) * timing.a_pass
        before, depth = np.full(times.shape, timing.a_pass, np.int64), timing.multiplier
    rate = np.full(times.shape, timing.rate, np.int64)
    for unit, name in _MFUS:
        operations = chain.of_unit(name)
        come = arrivals = times + handed(depth, before, rate)
        for item in operations:
            if item.operand is not None:
                places = chain.addresses(item.operand, first, count)
                arrivals = np.maximum(arrivals, state.ready(item.operand.memory)[places])
        if any(item.does == "v_softmax" for item in operations):
            come, arrivals = (
                np.broadcast_to(x.max(axis=1, keepdims=True), x.shape) for x in (come, arrivals)
            )
        times = through(arrivals.ravel(), rate.ravel(), int(state.free[unit])).reshape(rate.shape)
        if core.counting and any(item.operand is not None for item in operations):
            waits += waited_for(times, come, rate, int(state.free[unit]))
        free[unit] = int(times[-1, -1] + timing.rate)
        before, depth = rate, timing.depth(operations)
    rate = _writing(core, chain, first, times.shape)
    arrivals = times + handed(depth, before, rate)
    times = through(arrivals.ravel(), rate.ravel(), int(state.free[WRITE])).reshape(rate.shape)
    free[WRITE] = int(times[-1, -1] + rate[-1, -1])
    written = times + timing.write + rate
    is_stored = any(not access.memory.setting for access in chain.writes)
    stored = int(written.max()) + timing.latency if is_stored else 0
    return Flow(reads[:, 0], free, written, stored, reads, rates, times, ends, waits)


def waited_for(times: Times, come: int | Times, rates: Times, free: int) -> int:
    """The cycles in which vectors could have entered a unit but for an entry.

    They come at `come`, and enter at `times`; `free` is when the unit could take the first one.
    """
    entered = times.ravel()
    before = np.concatenate(([free], (entered + rates.ravel())[:-1]))
    return int((entered - np.maximum(np.ravel(come), before)).sum())


def _products(core: Iterations, chain: Chain, first: int, arrivals: Times) -> tuple[Times, int]:
    """When each iteration's product begins, and cycles of waits for tiles alone."""
    assert chain.product is not None
    timing, state = core.timing, core.state
    columns = np.arange(arrivals.shape[1]) // timing.engines * timing.a_pass
    come = needed = (arrivals - columns).max(axis=1)
    tiles = chain.addresses(chain.product, first, len(arrivals))
    passes = np.arange(tiles.shape[1]) // timing.engines * timing.a_pass
    needed = np.maximum(needed, (state.ready(chain.product.memory)[tiles] - passes).max(axis=1))
    spans = np.full(needed.shape, timing.product(chain), np.int64)
    times = through(needed, spans, int(state.free[MULTIPLY]))
    waits = waited_for(times, come, spans, int(state.free[MULTIPLY])) if core.counting else 0
    return times, waits


def _writing(core: Iterations, chain: Chain, first: int, shape: tuple[int, ...]) -> Times:
    """The cycles for which each vector takes the unit that writes."""
    total = np.zeros(shape, np.int64)
    for access in chain.writes:
        if not access.memory.setting:
            places = core.state.base + (
                chain.addresses(access, first, shape[0]) * core.timing.vector_bytes
            )
            total += core.timing.channel(core.timing.beats(places, core.timing.vector_bytes))
    return np.maximum(total, core.timing.rate)


def tiles(core: Iterations, chain: Chain, popped: list[int]) -> Flow:
    """The way of one iteration's tiles; of those from NetInQ `popped` is when each was whole."""
    timing, state = core.timing, core.state
    write = chain.writes[0]
    sources = chain.addresses(chain.source, 0, 1)[0]
    targets = chain.addresses(write, 0, 1)[0]
    rates = np.full(sources.shape, timing.rate, np.int64)
    come = np.array(popped) if popped else np.full(sources.shape, state.asked, np.int64)
    there = come if popped else np.maximum(come, _ready(core, chain.source, sources))
    latency = 0
    for access, places in ((chain.source, sources), (write, targets)):
        if access.memory.setting:
            continue
        latency += timing.latency
        beats = timing.beats(state.base + places * timing.tile_bytes, timing.tile_bytes)
        rates = np.maximum(rates, timing.channel(beats, tiles=True))
    depth = timing.read + timing.write + latency
    arrivals = there if popped else np.maximum(there, core.time)
    if write.memory.setting:
        arrivals = np.maximum(arrivals, state.used_matrix[targets] - timing.read)
    free = int(state.free[TILES]) if not popped else 0
    times = through(arrivals, rates, free)
    waits = [waited_for(times, x, rates, free) if core.counting else 0 for x in (come, there)]
    written = (times + depth + rates)[None]
    return Flow(
        times[:1],
        {TILES: int(times[-1] + rates[-1])},
        written,
        stored=0 if write.memory.setting else int(written.max()),
        reads=times[None],
        rates=rates[None],
        writes=times[None] + timing.read,
        read_waits=waits[0] - waits[1],
        write_waits=waits[1],
    )
