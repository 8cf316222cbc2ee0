"""Computes how much sooner the chains of a program would end in another order.

Chains execute in the order of the program. So a chain that waits for results also delays the chains
after it, even if their operands are known. `cycles_saved` moves chains before such a chain, by list
scheduling: of the chains whose operands are ready, it takes the chain with the longest path of
chains that depend on it. A chain that writes entries may move before a chain that reads these
entries, because the program could write other entries instead. Chains that use the same queue stay
in their order, because the data in the queue are in this order.
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
from macaw.emu.nnp.schedules.timing import MULTIPLY, READ, TILES, UNITS, Timing
from macaw.isa.nnp_layouts import BY_NAME, Memory

_Numbers = NDArray[np.int64]
# a memory, the entries that are read, and the numbers of the results in them; for Dram the numbers
# are in no order
_Operand = tuple[str, _Numbers, _Numbers]
_LATE = 1 << 40  # a cycle after all others


@dataclass
class _Piece:
    """Iterations of a chain, `count` from number `first` on.

    Each vector or tile that a piece writes has a number; `results` are these numbers. `before` has
    the numbers of the pieces whose results this piece reads, `follows` the pieces that used the
    same queue just before it, and `behind` the pieces that must come after it. `_find_paths`
    explains `cycles`, `path` and the values of `before`.
    """

    chain: Chain
    first: int
    count: int
    operands: list[_Operand]
    results: slice
    # by number of a piece whose results this piece reads: the cycles from the time when these
    # results are ready to the end of this piece
    before: dict[int, int]
    follows: set[int]  # other pieces that used the same queue just before
    # the pieces that read results of this one or that follow it
    behind: list[int] = field(default_factory=list)
    cycles: int = 0  # from its first read to its last result, if it waits for nothing
    path: int = 0  # cycles of the longest path from its first read


class _Units:
    """The units and register files of nnp, as a scheduler sees them.

    For each unit the class has the cycle from which the unit is free, and for each entry of a file
    the cycle from which the entry is ready.
    """

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
        # the same of Dram: by address of a tile, for each of the vectors that the tile covers
        self.stored: dict[int, _Numbers] = {}
        self.last: dict[str, int] = {}  # by queue: the last piece that used it

    def add(self, chain: Chain, first: int, count: int) -> None:
        """Add `count` iterations of a chain, from number `first` on."""
        number, begin = len(self.pieces), len(self.makers)
        operands = self._operands(chain, first, count)
        size = 0
        queues = {chain.source.memory.name} if chain.source.memory.queue else set()
        for access in chain.writes:
            places = chain.addresses(access, first, count)
            size = places.size
            numbers = np.arange(begin, begin + size, dtype=np.int64)
            if access.memory.queue:
                queues.add(access.memory.name)
            elif access.memory.setting:
                self.entries[access.memory.name][places] = numbers.reshape(places.shape)
            else:
                self._store(chain.is_tiles, places.ravel(), numbers)
        self.makers += [number] * size
        makers = (self.makers[item] for _, _, found in operands for item in found.tolist())
        before = dict.fromkeys((maker for maker in makers if maker >= 0), 0)
        follows = {self.last[name] for name in queues if name in self.last} - before.keys()
        self.last.update(dict.fromkeys(queues, number))
        for item in (*before, *follows):
            self.pieces[item].behind.append(number)
        self.pieces.append(
            _Piece(chain, first, count, operands, slice(begin, begin + size), before, follows)
        )

    def _store(self, is_tiles: bool, places: _Numbers, numbers: _Numbers) -> None:
        """Record which results a chain writes to the addresses `places` of Dram.

        `numbers` has the number of each result. `is_tiles` says whether these are tiles or vectors.
        """
        native = self.timing.native
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            if is_tiles:
                self.stored[place] = np.full(native, number, np.int64)
                continue
            tile, vector = divmod(place, native)
            if tile not in self.stored:
                self.stored[tile] = np.zeros(native, np.int64)
            self.stored[tile][vector] = number

    def _loaded(self, is_tiles: bool, places: _Numbers) -> _Numbers:
        """Return which results of pieces are now at the addresses `places` of Dram.

        A piece is some iterations of a chain. Each result has a number; the array has these
        numbers, each once. `is_tiles` says whether the addresses are of tiles or of vectors.
        """
        found = {0}
        if is_tiles:
            for place in places.tolist():
                found.update(self.stored[place].tolist() if place in self.stored else ())
        else:
            for place in places.tolist():
                tile, vector = divmod(place, self.timing.native)
                if tile in self.stored:
                    found.add(int(self.stored[tile][vector]))
        return np.array(sorted(found), np.int64)

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
                numbers = self._loaded(chain.is_tiles, places)
            found.append((access.memory.name, places, numbers))
        return found

    # The times of orders

    def cycles_saved(self) -> int:
        """Return how many cycles sooner all chains would end in the better of two other orders.

        Both are made by list scheduling (`_by_path`). The result is 0 if no chain waits in the
        present order.
        """
        present = _Simulation(self, counts_waits=True)
        for piece in self.pieces:
            present.execute(piece)
        if not present.waits:
            return 0
        self._find_paths()
        ends = [present.done]
        for products_last in (False, True):
            other = _Simulation(self)
            for piece in self._by_path(other, products_last):
                other.execute(piece)
            ends.append(other.done)
        return present.done - min(ends)

    def cycles_of_issue(self) -> int:
        """Return how many cycles sooner all chains would end if neighbouring chains were joined.

        Chains can be joined if each has one iteration and the same instructions, if none needs
        results of another one, and if their addresses have equal distances: one chain with several
        iterations could then replace them. Only the first chain takes the cycles in which its
        instructions are issued. The result is 0 if no chains can be joined.
        """
        joined = self._joined()
        if not joined:
            return 0
        present, other = _Simulation(self), _Simulation(self)
        for number, piece in enumerate(self.pieces):
            for simulation in (present, other):
                if piece.first == 0 and not (simulation is other and number in joined):
                    issued = simulation.began + self.timing.issue * len(piece.chain.rows)
                    simulation.now = max(simulation.now, issued)
                simulation.execute(piece)
        return present.done - other.done

    def _joined(self) -> set[int]:
        """Return the numbers of the pieces that can be joined to the piece right before them.

        A piece is some iterations of a chain.
        """
        found: set[int] = set()
        run = {0}
        steps: tuple[int, ...] = ()
        for number, piece in enumerate(self.pieces[1:], 1):
            distances = _distances(self.pieces[number - 1], piece)
            fits = distances is not None and piece.before.keys().isdisjoint(run)
            if not fits or (len(run) > 1 and distances != steps):
                run = {number}
                continue
            run.add(number)
            found.add(number)
            steps = distances or ()
        return found

    def _find_paths(self) -> None:
        """Set `cycles`, `before` and `path` of each piece (some iterations of a chain).

        `cycles` is how long the piece takes if it waits for nothing. `before` has the earlier
        pieces whose results the piece reads; for each it gets the cycles from these results to the
        end of the piece. `path` is the length in cycles of the longest path that begins with the
        piece: on a path, each piece depends on the one before.
        """
        alone = _Simulation(self)
        # by chain, iterations, and the operands that come late: when the piece ends
        ends: dict[tuple[Any, ...], int] = {}
        for piece in self.pieces:
            same = id(piece.chain), piece.first, piece.count
            if same not in ends:
                ends[same] = alone.end(piece)
            piece.cycles = ends[same]
            for number in piece.before:
                results = self.pieces[number].results
                late = []
                for memory, _, found in piece.operands:
                    is_late = (found >= results.start) & (found < results.stop)
                    # one late result delays all of a read from Dram
                    late.append(is_late.tobytes() if memory in self.entries else is_late.any())
                key = *same, *late
                if key not in ends:
                    alone.times[results] = _LATE
                    ends[key] = alone.end(piece) - _LATE
                    alone.times[results] = 0
                piece.before[number] = ends[key]
        # by piece: cycles from its results, or from its first read, to the end of the path after it
        after, behind = [0] * len(self.pieces), [0] * len(self.pieces)
        for number, piece in reversed([*enumerate(self.pieces)]):
            piece.path = max(piece.cycles + after[number], behind[number])
            for item, cycles in piece.before.items():
                after[item] = max(after[item], cycles - piece.cycles + piece.path)
            for item in piece.follows:
                behind[item] = max(behind[item], piece.path)

    def _by_path(self, simulation: _Simulation, products_last: bool) -> Iterator[_Piece]:
        """Yield the pieces (iterations of chains) in the order of a list scheduling.

        Of the pieces whose operands are ready, the one with the longest `path` is next. The caller
        executes it in `simulation` before the next one is chosen. With `products_last`, pieces
        without a product come before pieces with a product: each unit takes the pieces in this
        order, so a piece after a product would wait until the product's results have passed the
        unit.
        """
        left = [len(piece.before) + len(piece.follows) for piece in self.pieces]
        early: list[tuple[int, int]] = []  # when the operands are ready, and the piece
        # whether the piece comes later, its path with a minus sign, and its number
        ready: list[tuple[bool, int, int]] = []
        fresh: Iterable[int] = [number for number, count in enumerate(left) if not count]
        for _ in self.pieces:
            for number in fresh:
                piece = self.pieces[number]
                start = simulation.end(piece) - piece.cycles if piece.before else 0
                heappush(early, (start, number))
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


def _distances(one: _Piece, other: _Piece) -> tuple[int, ...] | None:
    """Return the distances between the addresses of two chains of one iteration each.

    The result is None if the chains differ in more than their addresses.
    """
    chains = one.chain, other.chain
    accesses = []
    for chain in chains:
        if chain.iterations > 1 or chain.is_tiles:
            return None
        found = [chain.source, *chain.writes, *(item.operand for item in chain.operations)]
        accesses.append([item for item in found if item is not None])
    names = [[row.row.mnemonic for row in chain.rows] for chain in chains]
    products = [None if chain.product is None else chain.product.base for chain in chains]
    memories = [[item.memory.name for item in found] for found in accesses]
    pairs = (names, products, memories, [chain.scalars for chain in chains])
    if any(first != second for first, second in pairs):
        return None
    return tuple(item.base - before.base for before, item in zip(*accesses, strict=True))


class _Simulation:
    """Executes pieces (iterations of chains) one after the other, and computes when they end.

    A piece must come after all pieces in its `before` and `follows`. `waits` counts the cycles in
    which pieces waited, if `counts_waits`.
    """

    def __init__(self, order: ChainOrder, counts_waits: bool = False) -> None:
        self.timing, self.units = order.timing, _Units(order.config)
        self.scheduler = FastScheduler(self.units, order.timing)
        # by number of a result: when it is ready
        self.times = np.zeros(len(order.makers), np.int64)
        self.now = 0  # no piece starts before
        self.began = 0  # the first read of the piece that was executed last
        self.done = self.waits = 0
        self.counts_waits = counts_waits

    def end(self, piece: _Piece) -> int:
        """Return the cycle in which `piece` would end if all units were free from cycle 0 on.

        A piece is some iterations of a chain.
        """
        busy, self.units.free = self.units.free, np.zeros(len(UNITS), np.int64)
        schedule = self._schedule(piece, 0)
        self.units.free = busy
        return max(int(schedule.readable.max()), schedule.stored)

    def execute(self, piece: _Piece) -> None:
        """Execute `piece`, iterations of a chain, after the pieces of all earlier calls."""
        schedule = self._schedule(piece, self.now)
        self.waits += schedule.read_waits
        for unit, free in schedule.free.items():
            self.units.free[unit] = free
        self.times[piece.results] = schedule.stored or schedule.readable.ravel()
        self.began = int(schedule.starts[0])
        units_free = int(self.units.free[READ]), int(self.units.free[MULTIPLY]) - self.timing.read
        self.now = max(self.now, int(schedule.starts[-1]), *units_free)
        self.done = max(self.done, int(schedule.readable.max()), schedule.stored)

    def _schedule(self, piece: _Piece, now: int) -> Schedule:
        """Return the times at which the vectors or tiles of a piece pass the units.

        The piece, some iterations of a chain, starts in cycle `now` or later.
        """
        units, chain = self.units, piece.chain
        units.stored_before = 0
        for name, places, numbers in piece.operands:
            times = self.times[numbers]
            if name in units.files:
                units.files[name][places] = times
            else:
                units.stored_before = int(times.max(initial=0))
        rate, counts = self.timing.rate, self.counts_waits
        if chain.is_tiles:
            arrivals: list[int] = []
            if chain.source.memory.queue:  # the tiles are in the queue
                begin = max(now, int(units.free[TILES]))
                arrivals = [begin + rate * number for number in range(chain.input_count)]
            return tile_schedule(units, self.timing, chain, arrivals, now, counts)
        if not chain.source.memory.queue:
            reads, rates = self.scheduler.reads(chain, piece.first, piece.count, now)
            return self.scheduler.vectors(chain, piece.first, reads, rates, counts)
        # the vectors are in the queue
        begin = max(now, int(units.free[READ]))
        shape = piece.count, chain.input_count
        reads = begin + rate * np.arange(piece.count * chain.input_count).reshape(shape)
        rates = np.full(shape, rate, np.int64)
        return self.scheduler.vectors(chain, piece.first, reads, rates, counts)
