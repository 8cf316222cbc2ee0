"""How much sooner the chains of a program would end in another order.

Chains execute in the order of the program. So a chain that waits for results also delays the chains
after it, even if their operands are known. `cycles_saved` moves chains before such a chain, by list
scheduling: of the chains whose operands are ready, the one with the longest path of dependent
chains behind it comes first. A chain may move before one that reads the entries that it writes,
because a program can let it write other entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Schedule, tile_schedule
from macaw.emu.nnp.schedules.scheduler import FastScheduler
from macaw.emu.nnp.schedules.timing import MULTIPLY, READ, UNITS, Timing
from macaw.isa.nnp_layouts import BY_NAME, Memory

_Numbers = NDArray[np.int64]
_Operand = tuple[str, _Numbers, _Numbers]  # memory, places, and the numbers of what is there
_LATE = 1 << 40  # a cycle after all others


@dataclass
class _Piece:
    """Iterations of a chain, `count` from number `first` on.

    Each vector or tile that a piece writes has a number; `results` are these numbers.
    """

    chain: Chain
    first: int
    count: int
    operands: list[_Operand]
    results: slice
    before: dict[int, int]  # by piece whose results this one reads: cycles from then to its end
    behind: list[int] = field(default_factory=list)  # the pieces that read results of this one
    cycles: int = 0  # from its first read to its last result, if it waits for nothing
    path: int = 0  # cycles of the longest path from its first read


class _Units:
    """The units and register files of nnp, for a scheduler: from when each is free or ready."""

    base = asked = 0

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.stored_before = 0
        self.free = np.zeros(len(UNITS), np.int64)
        self.files = {
            memory.name: np.zeros(int(config[memory.setting]), np.int64)
            for memory in BY_NAME.values()
            if memory.setting and not memory.queue
        }
        self.used_matrix = np.zeros(len(self.files["MatrixRf"]), np.int64)

    def ready(self, memory: Memory) -> _Numbers:
        return self.files[memory.name]


class ChainOrder:
    """The chains of a program, in the order in which they executed. Times are device cycles."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config, self.timing = config, Timing(config)
        self.pieces: list[_Piece] = []
        self.makers = [-1]  # by number of a result: the piece that makes it; 0 is no result
        # by memory: the number of the result in each entry
        self.entries = {
            name: np.zeros(len(file), np.int64) for name, file in _Units(config).files.items()
        }
        # the same of Dram, by address; those of tiles count tiles
        self.stored: dict[tuple[bool, int], int] = {}

    def add(self, chain: Chain, first: int, count: int) -> None:
        """Add `count` iterations of a chain, from number `first` on."""
        number, begin = len(self.pieces), len(self.makers)
        operands = self._operands(chain, first, count)
        size = 0
        for access in chain.writes:
            places = chain.addresses(access, first, count)
            size = places.size
            numbers = np.arange(begin, begin + size, dtype=np.int64)
            if access.memory.name in self.entries:
                self.entries[access.memory.name][places] = numbers.reshape(places.shape)
            elif not access.memory.queue:
                keys = ((chain.is_tiles, place) for place in places.ravel().tolist())
                self.stored.update(zip(keys, numbers.tolist(), strict=True))
        self.makers += [number] * size
        makers = (self.makers[item] for _, _, found in operands for item in found.tolist())
        before = dict.fromkeys((maker for maker in makers if maker >= 0), 0)
        for item in before:
            self.pieces[item].behind.append(number)
        self.pieces.append(
            _Piece(chain, first, count, operands, slice(begin, begin + size), before)
        )

    def _operands(self, chain: Chain, first: int, count: int) -> list[_Operand]:
        reads = [item.operand for item in chain.operations if item.operand is not None]
        reads += [chain.source] + ([] if chain.product is None else [chain.product])
        found = []
        for access in reads:
            if access.memory.queue:
                continue
            places = np.unique(chain.addresses(access, first, count))
            places = places[places >= 0]
            if access.memory.setting:
                numbers = self.entries[access.memory.name][places]
            else:
                keys = [(chain.is_tiles, place) for place in places.tolist()]
                numbers = np.array([self.stored.get(key, 0) for key in keys], np.int64)
            found.append((access.memory.name, places, numbers))
        return found

    # The times of orders

    def cycles_saved(self) -> int:
        """Return how many cycles sooner all chains would end in the other order."""
        alone = _Simulation(self)
        for piece in self.pieces:
            piece.cycles = alone.end(piece)
            for number in piece.before:
                results = self.pieces[number].results
                alone.times[results] = _LATE
                piece.before[number] = alone.end(piece) - _LATE
                alone.times[results] = 0
        after = [0] * len(self.pieces)
        for number, piece in reversed([*enumerate(self.pieces)]):
            piece.path = piece.cycles + after[number]
            for item, cycles in piece.before.items():
                after[item] = max(after[item], cycles + after[number])
        present = _Simulation(self)
        for piece in self.pieces:
            present.execute(piece)
        ends = [present.done]
        for products_last in (False, True):
            other = _Simulation(self)
            for piece in self._by_path(other, products_last):
                other.execute(piece)
            ends.append(other.done)
        return present.done - min(ends)

    def _by_path(self, simulation: _Simulation, products_last: bool) -> Iterator[_Piece]:
        """Yield the pieces in the other order; the simulation has to execute each at once.

        With `products_last`, pieces without a product come before those with one, because they
        would pass the other units only after it.
        """
        left = [len(piece.before) for piece in self.pieces]
        early: list[tuple[int, int]] = []  # when the operands are ready, and the piece
        # whether it comes later, less the longest path, and the piece
        ready: list[tuple[bool, int, int]] = []
        fresh: Iterable[int] = [number for number, count in enumerate(left) if not count]
        for _ in self.pieces:
            for number in fresh:
                piece = self.pieces[number]
                heappush(early, (simulation.end(piece) - piece.cycles, number))
            if not ready:
                simulation.now = max(simulation.now, early[0][0])
            while early and early[0][0] <= simulation.now:
                number = heappop(early)[1]
                piece = self.pieces[number]
                is_later = products_last and piece.chain.product is not None
                heappush(ready, (is_later, -piece.path, number))
            number = heappop(ready)[-1]
            yield self.pieces[number]
            fresh = []
            for item in self.pieces[number].behind:
                left[item] -= 1
                if not left[item]:
                    fresh.append(item)


class _Simulation:
    """Executes pieces in any order in which each comes after those whose results it reads."""

    def __init__(self, order: ChainOrder) -> None:
        self.timing, self.units = order.timing, _Units(order.config)
        self.scheduler = FastScheduler(self.units, order.timing)
        # by number of a result: when it is ready
        self.times = np.zeros(len(order.makers), np.int64)
        self.now = 0  # no piece starts before
        self.done = 0

    def end(self, piece: _Piece) -> int:
        """Return when a piece would end if all units were free; its operands are known."""
        busy, self.units.free = self.units.free, np.zeros(len(UNITS), np.int64)
        schedule = self._schedule(piece, 0)
        self.units.free = busy
        return max(int(schedule.readable.max()), schedule.stored)

    def execute(self, piece: _Piece) -> None:
        """Execute a piece after the ones before it."""
        schedule = self._schedule(piece, self.now)
        for unit, free in schedule.free.items():
            self.units.free[unit] = free
        self.times[piece.results] = schedule.stored or schedule.readable.ravel()
        units_free = int(self.units.free[READ]), int(self.units.free[MULTIPLY]) - self.timing.read
        self.now = max(self.now, int(schedule.starts[-1]), *units_free)
        self.done = max(self.done, int(schedule.readable.max()), schedule.stored)

    def _schedule(self, piece: _Piece, now: int) -> Schedule:
        """Return the schedule of a piece that starts at `now` or later."""
        units, chain = self.units, piece.chain
        units.stored_before = 0
        for name, places, numbers in piece.operands:
            times = self.times[numbers]
            if name in units.files:
                units.files[name][places] = times
            else:
                units.stored_before = int(times.max(initial=0))
        if chain.is_tiles:
            return tile_schedule(units, self.timing, chain, [], now, False)
        if not chain.source.memory.queue:
            reads, rates = self.scheduler.reads(chain, piece.first, piece.count, now)
            return self.scheduler.vectors(chain, piece.first, reads, rates, False)
        # the vectors are in the queue
        begin = max(now, int(units.free[READ]))
        shape, rate = (piece.count, chain.input_count), self.timing.rate
        reads = begin + rate * np.arange(piece.count * chain.input_count).reshape(shape)
        rates = np.full(shape, rate, np.int64)
        return self.scheduler.vectors(chain, piece.first, reads, rates, False)
