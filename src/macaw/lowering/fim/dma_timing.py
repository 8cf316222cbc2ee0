"""Predicts the cycles of dma copies between external memory, cp's local memory and banks.

The dma starts at most one read and one write in a cycle, and reads ahead into a buffer. A bank
takes one column in tCCDL cycles; external memory takes one beat in a cycle (docs/memory.md,
docs/timing-fim.md). Copies to and from banks are simulated beat by beat, or row by row where the
cycles are the same. Other copies are simulated once for each combination of sizes, strides and
alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from macaw.emu.rules.fim_dram import align_up
from macaw.emu.rules.transfers import beat_length, channel_beats, transfer_end
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.lowering.fim.bank_timing import BankTiming

EXTERNAL, LOCAL, ISLAND = "external", "local", "island"


class Location(NamedTuple):
    """The address of a byte: `offset` bytes after a symbol in external memory or in cp's local
    memory, or after the first byte of an island. `memory` is EXTERNAL, LOCAL or ISLAND.
    """

    memory: str
    symbol: str = ""
    offset: int = 0
    island: int = 0

    def at(self, offset: int) -> Location:
        """Return the location `offset` bytes after this one."""
        return Location(self.memory, self.symbol, self.offset + offset, self.island)


class Copy(NamedTuple):
    """A transfer of the dma: `rows` rows of `row_bytes` bytes each; strides are in bytes."""

    dst: Location
    src: Location
    row_bytes: int
    rows: int = 1
    dst_stride: int = 0
    src_stride: int = 0

    @property
    def dense(self) -> Copy:
        """The same copy, as a single row if its rows are contiguous on both sides."""
        size = self.row_bytes
        if self.rows > 1 and self.dst_stride == self.src_stride == size:
            return Copy(self.dst, self.src, size * self.rows)
        return self

    def words(self) -> tuple[int, int, int, int]:
        """Return the words of the structure `transfer` that follow the two addresses.

        They are the bytes of a row, the rows, and the strides of destination and source in bytes.
        """
        return self.row_bytes, self.rows, self.dst_stride, self.src_stride


_MOST_SHAPES = 1 << 14


@lru_cache(maxsize=64)
def _cycles_of_shapes(settings: tuple[int, ...]) -> dict[tuple[object, ...], int]:
    """Return a dictionary in which timing models store the cycles of copies by shape.

    It is empty at first. It is for copies that neither read nor write banks. Timing models with the
    same settings share the dictionary. They clear it before it would have more than `_MOST_SHAPES`
    items.
    """
    return {}


class DmaTiming:
    """A timing model of the dma, which makes copies one after the other.

    `banks` has the timing of the banks by island; copies to and from banks change it.
    """

    def __init__(self, config: Configuration, banks: dict[int, BankTiming]) -> None:
        self._banks = banks
        self._step = int(config["dma.divider"])
        self.setup = int(config["dma.setup"]) * self._step
        self._width = int(config["dma.width"])
        self._depth = int(config["dma.buffer"])
        self._onchip = int(config["mem.onchip_latency"])
        self._latency = int(config["mem.external_latency"])
        self._line = int(config["mem.external_width"])
        settings = (self._step, self.setup, self._width, self._depth)
        latencies = (self._onchip, self._latency, self._line)
        self._alike = _cycles_of_shapes(settings + latencies)

    def copies(self, several: Iterable[Copy], begin: int) -> int:
        """Return the first cycle after the last of several copies; `begin` if there are none.

        The dma starts the first copy in cycle `begin` and makes them one after the other.
        """
        return self.ends(several, begin)[-1]

    def ends(self, several: Iterable[Copy], begin: int) -> list[int]:
        """Return `begin`, and for each of several copies the first cycle after it (`copies`)."""
        return list(accumulate(several, lambda end, copy: self.copy(copy, end), initial=begin))

    def copy(self, copy: Copy, begin: int) -> int:
        """Return the first cycle after a copy that starts in cycle `begin`."""
        begin = align_up(begin, self._step)
        if ISLAND in (copy.src.memory, copy.dst.memory):
            if self._plain(copy):
                return self._by_rows(copy, begin)
            return self._follow(copy, begin)
        width = max(self._width, self._line)
        key = (
            copy.src.memory, copy.dst.memory, copy.src.offset % width, copy.dst.offset % width,
            copy.src_stride % width, copy.dst_stride % width, copy.row_bytes, copy.rows,
        )  # fmt: skip
        if key not in self._alike:
            if len(self._alike) >= _MOST_SHAPES:
                self._alike.clear()
            self._alike[key] = self._follow(copy, 0)
        return begin + self._alike[key]

    def _plain(self, copy: Copy) -> bool:
        """Return whether the fast calculation `_by_rows` is exact for a copy.

        It is exact if each beat is one column of a bank, and beats wait only for the bank.
        """
        sides = (copy.src, copy.src_stride), (copy.dst, copy.dst_stride)
        if copy.src.memory == copy.dst.memory or (self._step, self._width) != (1, COLUMN_BYTES):
            return False
        if self._line % COLUMN_BYTES:
            return False
        banks = next(self._banks[x.island] for x, _ in sides if x.memory == ISLAND)
        if self._depth < max(self._latency + 1, self._onchip, banks.timings.data_end(0, False)):
            return False
        return not any(x.offset % COLUMN_BYTES or stride % COLUMN_BYTES for x, stride in sides)

    def _by_rows(self, copy: Copy, begin: int) -> int:
        """Return the first cycle after a plain copy (`_plain`) that starts in cycle `begin`.

        The calculation does not go beat by beat: it takes all columns in a row of a bank at once.
        """
        writes = copy.dst.memory == ISLAND
        place, stride = (copy.dst, copy.dst_stride) if writes else (copy.src, copy.src_stride)
        other = copy.src if writes else copy.dst
        external = other.memory == EXTERNAL
        banks = self._banks[place.island]
        pitch = banks.timings.channel_period
        after = self._latency + 1 if external else self._onchip
        read, latest, number = begin + self.setup, begin, 0
        # for reads of banks: the number of a beat, and when it is written
        runs: list[tuple[int, int]] = []
        for row in range(copy.rows):
            offset, left = place.offset + row * stride, copy.row_bytes
            while left > 0:
                size = min(left, banks.geometry.row_bytes - offset % banks.geometry.row_bytes)
                count = -(-size // COLUMN_BYTES)
                where = banks.geometry.place(offset)
                if writes:
                    _, last = banks.columns_of(where.bank, where.row, read + after, count, True)
                    read += count
                    latest = max(latest, banks.timings.data_end(last, True))
                else:
                    read = max(read, self._room(runs, number, pitch))
                    first, last = banks.columns_of(where.bank, where.row, read, count, False)
                    runs.append((number, banks.timings.data_end(first, False)))
                    number += count
                    room = self._room(runs, number - 1, pitch)
                    read = max(read + count - 1, room) + 1
                    last_write = banks.timings.data_end(last, False)
                    latest = last_write + (self._latency + 1 if external else 1)
                offset, left = offset + size, left - size
        last = read + after - 1 if writes else last_write
        return transfer_end(last, latest)

    def _room(self, runs: list[tuple[int, int]], number: int, pitch: int) -> int:
        """Return the first cycle in which the dma's buffer has room for beat `number`.

        Each element of `runs` stands for the beats from one row of a bank: it has the number of the
        first beat, and the cycle in which the dma writes this beat. The writes of further beats
        follow, `pitch` cycles apart.
        """
        leaving = number - self._depth
        if leaving < 0:
            return 0
        first, time = next(run for run in reversed(runs) if run[0] <= leaving)
        return time + (leaving - first) * pitch

    def _follow(self, copy: Copy, begin: int) -> int:
        step, depth = self._step, self._depth
        read_free = write_free = begin + self.setup
        writes: list[int] = []
        latest = begin
        for number, (src, dst, length) in enumerate(self._beats(copy)):
            if number >= depth:
                read_free = max(read_free, writes[number - depth])
            read = align_up(read_free, step)
            ready, read_free = self._reach(copy.src, src, length, read, False)
            write = align_up(max(write_free, ready), step)
            there, write_free = self._reach(copy.dst, dst, length, write, True)
            writes.append(write)
            latest = max(latest, there)
        return transfer_end(align_up(max(writes[-1], latest - 1), step), latest)

    def _reach(
        self, place: Location, offset: int, length: int, time: int, writes: bool
    ) -> tuple[int, int]:
        """Return two cycles: when the data of a beat have arrived, and when the next may start.

        The beat reads or writes `length` bytes, starting at byte `offset` after `place`, and starts
        in cycle `time`.
        """
        if place.memory == EXTERNAL:
            beats = channel_beats(offset, length, self._line)
            return time + self._latency + beats, time + max(1, beats)
        if place.memory == LOCAL:
            return time + (1 if writes else self._onchip), time + 1
        banks = self._banks[place.island]
        ready, command = time, time
        for column in range(offset // COLUMN_BYTES, (offset + length - 1) // COLUMN_BYTES + 1):
            where = banks.geometry.place(column * COLUMN_BYTES)
            command, ready = banks.access(where.bank, where.row, command, writes)
        return ready, time + 1

    def _beats(self, copy: Copy) -> Iterator[tuple[int, int, int]]:
        """Yield source offset, destination offset and length of each beat, in bytes."""
        width = self._width
        from_external = copy.src.memory == EXTERNAL != copy.dst.memory
        for row in range(copy.rows):
            src = copy.src.offset + row * copy.src_stride
            dst = copy.dst.offset + row * copy.dst_stride
            anchor = src if from_external else dst
            position = 0
            while position < copy.row_bytes:
                length = beat_length(anchor, position, copy.row_bytes, width)
                yield src + position, dst + position, length
                position += length
