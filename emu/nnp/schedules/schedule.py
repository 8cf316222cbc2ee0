"""Schedules: when vectors or tiles of a chain's iterations pass the units (docs/timing-nnp.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.timing import TILES, Times, Timing, enter
from macaw.isa.nnp_entries import Access
from macaw.isa.nnp_layouts import Memory
from macaw.isa.typed_records import NamedTuple


class Schedule(NamedTuple):
    """The times of some iterations of a chain, in device cycles.

    For each iteration, `starts` has the cycle in which its first vector is read, and `product_ends`
    the cycle from which the multiplier no longer needs the tiles. For each vector or tile of an
    iteration, `reads` has the cycle in which it is read, `read_rates` how long this takes, `writes`
    the cycle in which it enters the writing unit, and `readable` the cycle from which the result
    can be read. `free` has, for each unit, the cycle from which it is free again; `stored` is the
    cycle from which all writes to Dram can be read. `read_waits` and `write_waits` are sums of
    waits.
    """

    starts: Times  # (iterations): when the first vector is read
    free: dict[int, int]  # by unit: the cycle from which it is free again
    readable: Times  # (iterations, vectors or tiles): from when the result can be read
    stored: int  # the cycle from which all writes to Dram can be read; 0: no writes
    reads: Times  # (iterations, vectors or tiles): when each is read
    read_rates: Times  # the number of cycles that the read takes
    writes: Times  # (iterations, vectors or tiles): when each enters the writing unit
    # (iterations): the cycle from which the multiplier no longer needs the tiles
    product_ends: Times | None = None
    read_waits: int = 0  # cycles in which reads waited until entries were written, if counted
    # cycles in which writes waited until a product had used an entry of MatrixRf
    write_waits: int = 0


class Progress(Protocol):
    """What a scheduler needs of nnp's state after earlier chains; all times are device cycles.

    Dram begins at the address `base`. The chain could start in cycle `asked` if its entries were
    ready. Earlier writes to Dram can be read from cycle `stored_before` on. `free` has, for each
    unit, the first cycle in which it can take another vector. `used_matrix` has, for each tile of
    MatrixRf, the cycle from which no earlier product needs it.
    """

    base: int
    asked: int
    stored_before: int
    free: NDArray[np.int64]
    used_matrix: NDArray[np.int64]

    def ready(self, memory: Memory) -> NDArray[np.int64]:
        """Return, for each entry of the register file `memory`, when the entry can be read.

        The result has cycles, in shape (entries,).
        """


class Scheduler(Protocol):
    """The interface of a scheduler, which computes when vectors pass the units.

    Each engine has its own implementation. For tiles all engines use `tile_schedule`.
    """

    def reads(self, chain: Chain, first: int, count: int, now: int) -> tuple[Times, Times]:
        """Return when the vectors of a chain's iterations are read, and how long each read takes.

        These are `count` iterations from number `first` on. No vector is read before cycle `now`.
        The second array has the cycles for which each vector occupies the reading unit. Both arrays
        have shape (iterations, vectors).
        """

    def vectors(
        self, chain: Chain, first: int, reads: Times, rates: Times, counts_waits: bool
    ) -> Schedule:
        """Return the schedule of a chain's iterations from `first` on, for vectors read at `reads`.

        `rates` are the cycles for which each of these vectors occupies the reading unit. `reads`
        and `rates` have shape (iterations, vectors). Without `counts_waits` the schedule need not
        contain waits.
        """


SchedulerFactory = Callable[[Any, Timing], Scheduler]


def tile_schedule(
    state: Progress, timing: Timing, chain: Chain, arrivals: list[int], now: int, counts_waits: bool
) -> Schedule:
    """Return the schedule of an iteration of `chain` that moves tiles, from cycle `now` on.

    The iteration starts at cycle `now` or later, after the accesses of earlier chains (`state`) on
    which it depends. `arrivals` has the cycles in which each tile from NetInQ was complete; it is
    empty for another source. Without `counts_waits` the waits are 0.
    """
    write = chain.writes[0]
    sources = chain.addresses(chain.source, 0, 1)[0]
    targets = chain.addresses(write, 0, 1)[0]
    rates = np.full(sources.shape, timing.rate, np.int64)
    if arrivals:
        earliest = ready = enters = np.array(arrivals)
    else:
        earliest = np.full(sources.shape, state.asked, np.int64)
        ready = np.maximum(earliest, entries_ready(state, chain.source, sources))
        enters = np.maximum(ready, now)
    latency = 0
    for access, places in ((chain.source, sources), (write, targets)):
        if access.memory.setting:
            continue
        latency += timing.latency
        beats = timing.beats(state.base + places * timing.tile_bytes, timing.tile_bytes)
        rates = np.maximum(rates, timing.channel(beats, tiles=True))
    depth = timing.read + timing.write + latency
    if write.memory.setting:
        enters = np.maximum(enters, state.used_matrix[targets] - timing.read)
    free = 0 if arrivals else int(state.free[TILES])
    times = enter(enters, rates, free)
    read_waits = write_waits = 0
    if counts_waits:
        write_waits = wait_cycles(times, ready, rates, free)
        read_waits = wait_cycles(times, earliest, rates, free) - write_waits
    readable = (times + depth + rates)[None]
    return Schedule(
        times[:1],
        {TILES: int(times[-1] + rates[-1])},
        readable,
        stored=0 if write.memory.setting else int(readable.max()),
        reads=times[None],
        read_rates=rates[None],
        writes=times[None] + timing.read,
        read_waits=read_waits,
        write_waits=write_waits,
    )


def entries_ready(state: Progress, access: Access, addresses: NDArray[np.int64]) -> Times:
    """Return the cycle from which an access can read each of the entries at `addresses`.

    The result has the shape of `addresses`. An element is 0 for padding (a negative address).
    `state` has the cycles.
    """
    if access.memory.setting:
        ready = state.ready(access.memory)[np.maximum(addresses, 0)]
    else:
        ready = np.full(addresses.shape, state.stored_before, np.int64)
    return np.where(addresses < 0, 0, ready)


def wait_cycles(times: Times, arrivals: int | Times, rates: Times, free: int) -> int:
    """Return the sum of the cycles in which vectors waited although the unit was free.

    The vectors arrived at the cycles `arrivals`, entered at `times`, and occupied the unit for
    `rates` cycles. `free` is the cycle from which the unit could take the first vector.
    """
    entered = times.ravel()
    before = np.concatenate(([free], (entered + rates.ravel())[:-1]))
    return int((entered - np.maximum(np.ravel(arrivals), before)).sum())
