"""The reference engine: one iteration at a time, cycle by cycle, element by element.

It shares with the fast engine what a program sees of the core (instructions, chains, queues, the
state); when vectors enter a unit is looked for here one cycle after the other, and their elements
are computed by `macaw.emu.nnp.plain_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from macaw.emu.nnp.arithmetic import Arithmetic
from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.flow import Flow
from macaw.emu.nnp.iterations import WORD
from macaw.emu.nnp.origins import ChainOrigins
from macaw.emu.nnp.plain_numbers import PlainArithmetic
from macaw.emu.nnp.processor import Processor
from macaw.emu.nnp.queues import registers_of
from macaw.emu.nnp.state import FIRST, MULTIPLY, READ, SECOND, WRITE, NnpState
from macaw.emu.nnp.streams import part
from macaw.emu.nnp.timing import Times
from macaw.emu.origins import Origins
from macaw.isa.nnp import MESSAGE, SCALARS
from macaw.isa.nnp_entries import Access

_HEAD = "head"  # of a message: no window of its own


class Reference(Processor):
    """The one core of the table nnp, plainly."""

    batches = False
    _waits = 0  # of the iteration whose way is looked for

    def arithmetic_of(self, config: Mapping[str, Any], state: NnpState) -> Arithmetic:
        """Python's integers and fractions."""
        return PlainArithmetic(config, state)

    # Where values come from

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = self.remembered = self.execution.told = ChainOrigins(self, number)
        return self.origins

    def push(self, window: str, data: bytes, time: int) -> None:
        """See `Windowed.push`."""
        state, told = self.state, self.remembered
        if told is None:
            super().push(window, data, time)
            return
        stream = _HEAD if window == "message" and not state.payload else window
        told.coming.came(stream, told.number() - 1, len(data))
        before = len(state.net_in)
        super().push(window, data, time)
        for _ in range(len(state.net_in) - before):
            told.coming.push(stream)

    def _deliver(self, time: int) -> None:
        before = self.state.message
        super()._deliver(time)
        if self.remembered is None or not before or self.state.message:
            return
        pieces = self.remembered.coming.cut(_HEAD, len(before))
        self.remembered.message(
            [
                (SCALARS[place].name, value, part(pieces, MESSAGE.size + WORD * number, WORD))
                for number, (place, value) in enumerate(registers_of(before))
            ]
        )

    def pull(self, window: str, length: int, time: int) -> bytes:
        """See `Windowed.pull`."""
        before = self.state.leaving
        data = super().pull(window, length, time)
        if self.remembered is not None:
            self.remembered.pulled(before, length)
        return data

    # Cycle by cycle

    def _first(
        self, earliest: int, comes: Callable[[int], bool], there: Callable[[int], bool]
    ) -> int:
        """The first cycle of the core's clock from `earliest` on in which both hold.

        Those in which only the first does are counted: entries that are read are not there.
        """
        cycle = self.aligned(earliest)
        while True:
            come = comes(cycle)
            if come and there(cycle):
                return cycle
            self._waits += self.divider if come else 0
            cycle += self.divider

    def _entry(self, access: Access, place: int | None) -> int:
        """The cycle from which an entry can be read."""
        if access.memory.queue or place is None:
            return 0
        if not access.memory.setting:
            return self.state.stored_before
        return int(self.state.ready(access.memory)[place])

    def _rate(self, access: Access, place: int | None) -> int:
        """The cycles for which a vector takes the unit that reads or writes it."""
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

    def reading(self, chain: Chain, count: int) -> tuple[Times, Times]:
        """See `Processor.reading`."""
        assert count == 1
        state = self.state
        free = int(state.free[READ])
        times, rates = [], []
        for place in chain.source.addresses(state.iteration, chain.volume):
            ready = self._entry(chain.source, place)

            def comes(cycle: int, free: int = free) -> bool:
                return cycle >= free

            def there(cycle: int, ready: int = ready) -> bool:
                return cycle >= ready

            times.append(self._first(self.time, comes, there))
            rates.append(self._rate(chain.source, place))
            free = times[-1] + rates[-1]
        return np.array([times], np.int64), np.array([rates], np.int64)

    def way(self, chain: Chain, reads: Times, rates: Times) -> Flow:
        """See `Processor.way`."""
        timing, iteration = self.timing, self.state.iteration
        times, before = reads[0].tolist(), rates[0].tolist()
        self._waits = 0 if chain.source.memory.queue else self._gaps(times, before)
        free = {READ: times[-1] + before[-1]}
        depth = timing.read + (0 if chain.source.memory.setting else timing.latency)
        ends = None
        if chain.product is not None:
            begin, times = self._product(chain, times, before, depth)
            passes = -(-chain.scalars["rows"] * chain.scalars["cols"] // timing.engines)
            free[MULTIPLY] = begin + passes * timing.a_pass
            ends = np.array([free[MULTIPLY]], np.int64)
            before, depth = [timing.a_pass] * len(times), timing.multiplier
        for unit, name in ((FIRST, "mfu0"), (SECOND, "mfu1")):
            operations = chain.of_unit(name)
            needed = [0] * len(times)
            for item in operations:
                if item.operand is not None:
                    places = item.operand.addresses(iteration, chain.volume)
                    entries = [self._entry(item.operand, place) for place in places]
                    needed = [max(pair) for pair in zip(needed, entries, strict=True)]
            rate = [timing.rate] * len(times)
            together = any(item.does == "v_softmax" for item in operations)
            times = self._pass(unit, times, before, depth, rate, needed, together)
            free[unit] = times[-1] + timing.rate
            before, depth = rate, timing.depth(operations)
        rate = self._write_rates(chain, len(times))
        times = self._pass(WRITE, times, before, depth, rate, [0] * len(times), False)
        free[WRITE] = times[-1] + rate[-1]
        written = [t + timing.write + r for t, r in zip(times, rate, strict=True)]
        is_stored = any(not access.memory.setting for access in chain.writes)
        stored = max(written) + timing.latency if is_stored else 0
        ways = [np.array([x], np.int64) for x in (written, times)]
        return Flow(reads[:, 0], free, ways[0], stored, reads, rates, ways[1], ends, self._waits)

    def _gaps(self, times: list[int], rates: list[int]) -> int:
        """The cycles in which reading was free, and nothing was read."""
        taken = {
            cycle
            for time, rate in zip(times, rates, strict=True)
            for cycle in range(time, time + rate)
        }
        begin = max(self.state.asked, int(self.state.free[READ]))
        return sum(cycle not in taken for cycle in range(begin, times[-1]))

    def _handed(self, cycle: int, time: int, depth: int, before: int, rate: int) -> bool:
        """Whether a vector can enter a unit: its begin is there, and its end when it is needed."""
        return cycle >= time + depth and cycle + rate >= time + depth + before

    def _pass(
        self, unit: int, times: list[int], before: list[int], depth: int,
        rate: list[int], needed: list[int], together: bool,
    ) -> list[int]:  # fmt: skip
        """When vectors that entered the unit before at `times` enter this one."""
        free = int(self.state.free[unit])
        found: list[int] = []
        for place in range(len(times)):
            waits = range(len(times)) if together else (place,)

            def comes(cycle: int, free: int = free, waits: Any = waits) -> bool:
                return cycle >= free and all(
                    self._handed(cycle, times[k], depth, before[k], rate[k]) for k in waits
                )

            def there(cycle: int, waits: Any = waits) -> bool:
                return all(cycle >= needed[k] for k in waits)

            found.append(self._first(found[-1] if found else times[0], comes, there))
            free = found[-1] + rate[place]
        return found

    def _product(
        self, chain: Chain, times: list[int], before: list[int], depth: int
    ) -> tuple[int, list[int]]:
        """When the multiplier begins, and when each row of the result enters it."""
        assert chain.product is not None
        timing, state = self.timing, self.state
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        entries = chain.product.addresses(state.iteration, chain.volume)
        ready = [self._entry(chain.product, place) for place in entries]
        passes = [range(k, min(k + timing.engines, rows * cols))
                  for k in range(0, rows * cols, timing.engines)]  # fmt: skip

        begins = {
            tile: number * timing.a_pass for number, tiles in enumerate(passes) for tile in tiles
        }

        def comes(cycle: int) -> bool:
            """Whether every pass that begins then finds, in row 0, its vectors."""
            return cycle >= state.free[MULTIPLY] and all(
                self._handed(cycle + begins[tile], times[tile], depth, before[tile], timing.a_pass)
                for tile in range(cols)
            )

        def there(cycle: int) -> bool:
            """Whether every pass finds its tiles."""
            return all(cycle + begin >= ready[tile] for tile, begin in begins.items())

        begin = self._first(times[0], comes, there)
        found = []
        for row in range(rows):
            last = next(n for n, tiles in enumerate(passes) if (row + 1) * cols - 1 in tiles)
            found.append(begin + last * timing.a_pass)
        return begin, found

    def _write_rates(self, chain: Chain, count: int) -> list[int]:
        """The cycles for which each vector takes the unit that writes."""
        timing = self.timing
        rates = [0] * count
        for access in chain.writes:
            if access.memory.setting:
                continue
            for k, place in enumerate(access.addresses(self.state.iteration, chain.volume)):
                assert place is not None
                start = self.state.base + place * timing.vector_bytes
                end = start + timing.vector_bytes - 1
                runs = end // timing.width - start // timing.width + 1
                rates[k] += -(-runs // timing.channels) * timing.divider
        return [max(rate, timing.rate) for rate in rates]
