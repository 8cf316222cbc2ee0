"""The scheduler of the reference engine, which tries one cycle after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Schedule
from macaw.emu.nnp.schedules.timing import MFUS, MULTIPLY, READ, WRITE, Times, Timing
from macaw.emu.nnp.state import NnpState
from macaw.isa.nnp_entries import Access


class ReferenceScheduler:
    """The reference implementation of `macaw.emu.nnp.schedules.schedule.Scheduler`.

    It schedules one iteration at a time.
    """

    def __init__(self, state: NnpState, timing: Timing) -> None:
        self.state, self.timing = state, timing
        self._waits = 0  # the cycles that this iteration has waited for entries

    def _first(
        self, earliest: int, arrives: Callable[[int], bool], is_ready: Callable[[int], bool]
    ) -> int:
        """Return the first cycle from `earliest` on in which both conditions are true.

        The arguments `arrives` and `is_ready` are the conditions. Only cycles of the core's clock
        are tried. A cycle in which `arrives` is true, but `is_ready` is false, counts as a wait for
        entries.
        """
        step = self.timing.divider
        cycle = -(-earliest // step) * step
        while True:
            arrived = arrives(cycle)
            if arrived and is_ready(cycle):
                return cycle
            self._waits += step if arrived else 0
            cycle += step

    def _entry_ready(self, access: Access, place: int | None) -> int:
        """Return the cycle from which an access can read the entry with the number `place`.

        It is 0 for NetInQ and for padding (None).
        """
        if access.memory.queue or place is None:
            return 0
        if not access.memory.setting:
            return self.state.stored_before
        return int(self.state.ready(access.memory)[place])

    def _rate(self, access: Access, place: int | None) -> int:
        """Return the cycles for which a vector occupies the unit that reads it.

        `access` reads the vector from the entry `place`; None means padding.
        """
        timing = self.timing
        if access.memory.setting or place is None:
            return timing.rate
        start = self.state.base + place * timing.vector_bytes
        runs = {byte // timing.width for byte in range(start, start + timing.vector_bytes)}
        cycles = 0
        while runs:
            for _ in range(min(timing.channels, len(runs))):
                runs.pop()
            cycles += timing.divider
        return max(cycles, timing.rate)

    def reads(self, chain: Chain, first: int, count: int, now: int) -> tuple[Times, Times]:
        """Return when the vectors of `count` iterations are read, and how long each read takes.

        The iterations are those of `chain` from number `first` on; no vector is read before cycle
        `now`. Both arrays have shape (iterations, vectors).
        """
        assert count == 1
        free = int(self.state.free[READ])
        times, rates = [], []
        for place in chain.source.addresses(first, chain.volume):
            ready = self._entry_ready(chain.source, place)

            def arrives(cycle: int, free: int = free) -> bool:
                return cycle >= free

            def is_ready(cycle: int, ready: int = ready) -> bool:
                return cycle >= ready

            times.append(self._first(max(now, free), arrives, is_ready))
            rates.append(self._rate(chain.source, place))
            free = times[-1] + rates[-1]
        return np.array([times], np.int64), np.array([rates], np.int64)

    def vectors(
        self, chain: Chain, first: int, reads: Times, rates: Times, counts_waits: bool
    ) -> Schedule:
        """Return the schedule of iteration `first` of a chain, for vectors read at `reads`.

        `macaw.emu.nnp.schedules.schedule.Scheduler.vectors` explains the arguments. This class
        counts waits also without `counts_waits`.
        """
        timing = self.timing
        times, before = reads[0].tolist(), rates[0].tolist()
        self._waits = 0 if chain.source.memory.queue else self._idle_cycles(times, before)
        free = {READ: times[-1] + before[-1]}
        depth = timing.read + (0 if chain.source.memory.setting else timing.latency)
        ends = None
        if chain.product is not None:
            times, free[MULTIPLY] = self._product(chain, first, times, before, depth)
            ends = np.array([free[MULTIPLY]], np.int64)
            before, depth = [timing.pass_cycles] * len(times), timing.multiplier
        for unit, name in MFUS:
            operations = chain.of_unit(name)
            ready = [0] * len(times)
            for item in operations:
                if item.operand is not None:
                    places = item.operand.addresses(first, chain.volume)
                    entries = [self._entry_ready(item.operand, place) for place in places]
                    ready = [max(pair) for pair in zip(ready, entries, strict=True)]
            rate = [timing.rate] * len(times)
            together = any(item.does == "v_softmax" for item in operations)
            times = self._enter(unit, times, before, depth, rate, ready, together)
            free[unit] = times[-1] + timing.rate
            before, depth = rate, timing.depth(operations)
        rate = self._write_rates(chain, first, len(times))
        times = self._enter(WRITE, times, before, depth, rate, [0] * len(times), False)
        free[WRITE] = times[-1] + rate[-1]
        readable = [t + timing.write + r for t, r in zip(times, rate, strict=True)]
        is_stored = any(not access.memory.setting for access in chain.writes)
        stored = max(readable) + timing.latency if is_stored else 0
        done, writes = (np.array([x], np.int64) for x in (readable, times))
        return Schedule(reads[:, 0], free, done, stored, reads, rates, writes, ends, self._waits)

    def _idle_cycles(self, times: list[int], rates: list[int]) -> int:
        """Return in how many cycles the reading unit was free but could not read the next vector.

        `times` and `rates` say when each vector was read, and for how many cycles.
        """
        occupied = {
            cycle
            for time, rate in zip(times, rates, strict=True)
            for cycle in range(time, time + rate)
        }
        begin = max(self.state.asked, int(self.state.free[READ]))
        return sum(cycle not in occupied for cycle in range(begin, times[-1]))

    def _arrives_in_time(self, cycle: int, time: int, depth: int, before: int, rate: int) -> bool:
        """Return whether a vector can enter a unit in cycle `cycle`.

        The vector entered the previous unit in cycle `time`. `depth` is the depth of that unit,
        `before` the vector's rate there, and `rate` its rate in this unit. The vector can enter if
        its first elements have arrived in cycle `cycle`, and if its last elements arrive before
        this unit needs them.
        """
        return cycle >= time + depth and cycle + rate >= time + depth + before

    def _enter(
        self, unit: int, times: list[int], before: list[int], depth: int,
        rate: list[int], ready: list[int], together: bool,
    ) -> list[int]:  # fmt: skip
        """Return the cycles in which vectors enter a unit.

        `unit` is the index of this unit. `times` has the cycles in which the vectors entered the
        previous unit, whose depth is `depth`. `before` has the vectors' rates in the previous
        unit; `rate` has their rates in this unit. `ready` has the cycles from which the vectors'
        operands can be read. With `together` the first vector waits for all others (softmax).
        """
        free = int(self.state.free[unit])
        entered: list[int] = []
        for place in range(len(times)):
            group = range(len(times)) if together else (place,)

            def arrives(cycle: int, free: int = free, group: Any = group) -> bool:
                return cycle >= free and all(
                    self._arrives_in_time(cycle, times[k], depth, before[k], rate[k]) for k in group
                )

            def is_ready(cycle: int, group: Any = group) -> bool:
                return all(cycle >= ready[k] for k in group)

            earliest = entered[-1] if entered else times[0]
            entered.append(self._first(earliest, arrives, is_ready))
            free = entered[-1] + rate[place]
        return entered

    def _product(
        self, chain: Chain, first: int, times: list[int], before: list[int], depth: int
    ) -> tuple[list[int], int]:
        """Return the starts of the passes with the last tile of each row, and the product's end.

        In a pass, each tile engine multiplies one tile by one vector. For each row of tiles, the
        list has the cycle in which the pass with the row's last tile starts. The end is the cycle
        after the product's last pass. The product belongs to iteration `first` of the chain.
        `times` has the cycles in which the vectors entered the reading unit, `before` their rates
        there. `depth` is the depth of the reading unit.
        """
        assert chain.product is not None
        timing, state = self.timing, self.state
        cycles = timing.pass_cycles
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        entries = chain.product.addresses(first, chain.volume)
        ready = [self._entry_ready(chain.product, place) for place in entries]
        queues: list[list[int]] = [[] for _ in range(timing.engines)]
        for tile in range(rows * cols):
            row, column = divmod(tile, cols)
            number = {"tiles": tile, "rows": row, "columns": column}[timing.mapping]
            queues[number % timing.engines].append(tile)
        offsets = {tile: number * cycles for tiles in queues for number, tile in enumerate(tiles)}

        def arrives(cycle: int) -> bool:
            """Return whether each vector arrives in time if the product starts in cycle `cycle`.

            It must arrive before the first pass that needs it, and the multiplier must be free.
            """
            return cycle >= state.free[MULTIPLY] and all(
                self._arrives_in_time(
                    cycle + offsets[tile], times[tile], depth, before[tile], cycles
                )
                for tile in range(cols)
            )

        def is_ready(cycle: int) -> bool:
            """Return whether each tile is ready in time if the product starts in cycle `cycle`.

            It must be possible to read the tile when the pass of the tile starts.
            """
            return all(cycle + offset >= ready[tile] for tile, offset in offsets.items())

        begin = self._first(times[0], arrives, is_ready)
        starts = [
            begin + max(offsets[row * cols + column] for column in range(cols))
            for row in range(rows)
        ]
        return starts, max(starts) + cycles

    def _write_rates(self, chain: Chain, first: int, count: int) -> list[int]:
        """Return the cycles for which each of `count` vectors occupies the writing unit.

        The chain writes these vectors in iteration `first`.
        """
        timing = self.timing
        rates = [0] * count
        for access in chain.writes:
            if access.memory.setting:
                continue
            for k, place in enumerate(access.addresses(first, chain.volume)):
                assert place is not None
                start = self.state.base + place * timing.vector_bytes
                end = start + timing.vector_bytes - 1
                runs = end // timing.width - start // timing.width + 1
                rates[k] += -(-runs // timing.channels) * timing.divider
        return [max(rate, timing.rate) for rate in rates]
