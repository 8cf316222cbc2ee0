"""Predicts the cycles of dma copies between external memory, cp's local memory and banks.

The dma starts at most one read and one write in a cycle, and reads ahead into a buffer. A bank
takes one column in tCCDL cycles; external memory takes one beat in a cycle (docs/memory.md,
docs/timing-fim.md). Copies are simulated beat by beat, or, where the cycles are the same, all
columns in a row of a bank together. The simulation skips rows of a copy that repeat the cycles of
earlier rows. It is done once for copies with equal sizes, strides, alignment and states of banks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import gcd, lcm
from typing import NamedTuple

from macaw.emu.rules.fim_dram import PAST, align_up
from macaw.emu.rules.transfers import beat_length, channel_beats, transfer_end
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.lowering.fim.bank_timing import BankState, BankTiming

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

    def row(self, number: int) -> Copy:
        """Return the copy of row `number` alone."""
        dst, src = self.dst.at(number * self.dst_stride), self.src.at(number * self.src_stride)
        return Copy(dst, src, self.row_bytes)

    @property
    def side(self) -> tuple[Location, int]:
        """The location and the stride of one side of the copy.

        It is the source if the source is in an island, else the destination.
        """
        if self.src.memory == ISLAND:
            return self.src, self.src_stride
        return self.dst, self.dst_stride

    @property
    def from_external(self) -> bool:
        """Whether the copy reads external memory and writes another memory: beats end where
        aligned blocks of the source do, and elsewhere those of the destination.
        """
        return self.src.memory == EXTERNAL != self.dst.memory

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


class _Dma(NamedTuple):
    """The settings of the dma and of the memories outside islands; times are device cycles."""

    step: int  # the cycles of a cycle of the dma
    setup: int
    width: int  # the bytes of a beat
    depth: int  # the beats in the buffer
    onchip: int  # the latency of local memory
    latency: int  # the latency of external memory
    line: int  # the bytes that external memory transfers in a cycle

    @classmethod
    def of(cls, config: Configuration) -> _Dma:
        """Return the settings of a device."""
        names = (
            "dma.divider", "dma.setup", "dma.width", "dma.buffer",
            "mem.onchip_latency", "mem.external_latency", "mem.external_width",
        )  # fmt: skip
        step, setup, *rest = (int(config[name]) for name in names)
        return cls(step, setup * step, *rest)

    @property
    def period(self) -> int:
        """The number of bytes after which beats and lines have the same alignment again."""
        return lcm(self.width, self.line)


class _Beats:
    """Simulates the beats of a copy."""

    def __init__(self, dma: _Dma, copy: Copy, begin: int, banks: Mapping[int, BankTiming]) -> None:
        self._dma, self._dst, self._src, self._banks = dma, copy.dst, copy.src, banks
        self._from_external = copy.from_external
        self._read = self._write = begin + dma.setup  # the first cycle for the next read, write
        self._latest = begin  # the first cycle after all data
        self._writes = deque([PAST] * dma.depth, dma.depth)  # the cycles of the last writes
        writes = copy.dst.memory == ISLAND
        self._is_late = writes and banks[copy.dst.island].are_independent
        self._command = PAST  # the last command to banks
        self.prompt = 0  # writes to banks whose requests came after the previous command

    def row(self, dst: int, src: int, size: int) -> None:
        """Simulate the beats of `size` bytes at the offsets `dst` and `src`."""
        dma, writes = self._dma, self._writes
        anchor, position = src if self._from_external else dst, 0
        while position < size:
            length = beat_length(anchor, position, size, dma.width)
            read = align_up(max(self._read, writes[0]), dma.step)
            ready, self._read = self._reach(self._src, src + position, length, read, False)
            write = align_up(max(self._write, ready), dma.step)
            there, self._write = self._reach(self._dst, dst + position, length, write, True)
            writes.append(write)
            self._latest = max(self._latest, there)
            position += length

    def _reach(
        self, place: Location, offset: int, length: int, time: int, writes: bool
    ) -> tuple[int, int]:
        """Return two cycles: when the data of a beat have arrived, and when the next may start.

        The beat reads or writes `length` bytes at byte `offset` of the memory of `place`, and
        starts in cycle `time`.
        """
        if place.memory == EXTERNAL:
            beats = channel_beats(offset, length, self._dma.line)
            return time + self._dma.latency + beats, time + max(1, beats)
        if place.memory == LOCAL:
            return time + (1 if writes else self._dma.onchip), time + 1
        if writes:
            self.prompt += time > self._command
        banks = self._banks[place.island]
        ready, command = time, time
        for column in range(offset // COLUMN_BYTES, (offset + length - 1) // COLUMN_BYTES + 1):
            where = banks.geometry.place(column * COLUMN_BYTES)
            command, ready = banks.access(where.bank, where.row, command, writes)
        self._command = command
        return ready, time + 1

    def state(self) -> tuple[int, int, tuple[object, ...]]:
        """Return the first cycle of the next read, that of a command, and the state of the dma.

        A request that comes before the previous command to the same bank has the effect of one in
        the cycle of this command. The state is relative to the two cycles. With that of the banks,
        it determines the times of all further beats.
        """
        now = command = align_up(self._read, self._dma.step)
        if self._is_late:
            command = max(self._write, self._command)
        writes = [time - now if time > now else 0 for time in self._writes]
        return now, command, (self._write - now, self._latest - command, *writes)

    def skip(self, cycles: int, later: int) -> None:
        """Add `cycles` to the times of the dma, and `later` to those of the banks."""
        self._read += cycles
        self._write += cycles
        self._latest += later
        self._command += later
        self._writes = deque([time + cycles for time in self._writes], self._dma.depth)

    def end(self) -> int:
        """Return the first cycle after the copy."""
        last = max(self._writes[-1], self._latest - 1)
        return transfer_end(align_up(last, self._dma.step), self._latest)


class _Columns:
    """Simulates a plain copy (`DmaTiming._plain`), all columns in a row of a bank at once."""

    def __init__(self, dma: _Dma, copy: Copy, begin: int, banks: Mapping[int, BankTiming]) -> None:
        self._writes = copy.dst.memory == ISLAND
        place, other = (copy.dst, copy.src) if self._writes else (copy.src, copy.dst)
        self._banks, self._depth = banks[place.island], dma.depth
        self._pitch = self._banks.timings.channel_period
        external = other.memory == EXTERNAL
        self._before = dma.latency + 1 if external else dma.onchip  # from a read to its write
        self._after = dma.latency + 1 if external else 1  # from a write to the end of its data
        self._read = begin + dma.setup  # the first cycle for the next read
        self._last = self._latest = begin  # the last write, the first cycle after all data
        self._is_late = self._writes and self._banks.are_independent
        self._command = PAST  # the last command to banks
        self.prompt = 0  # writes to banks whose requests came after the previous command
        # Only for reads of banks: the beats that can still be in the buffer. Each item describes
        # the beats from one row of a bank: their number, and the cycle in which the dma writes the
        # first of them. The dma writes the others after it, `_pitch` cycles apart.
        self._runs = deque[tuple[int, int]]()
        self._beats = 0  # the beats in `_runs`

    def row(self, dst: int, src: int, size: int) -> None:
        """Simulate the beats of `size` bytes at the offsets `dst` and `src`."""
        banks, offset = self._banks, dst if self._writes else src
        geometry, end = banks.geometry, offset + size
        while offset < end:
            bank, rest = divmod(offset, geometry.bank_bytes)
            row, start = divmod(rest, geometry.row_bytes)
            part = min(end - offset, geometry.row_bytes - start)
            count = -(-part // COLUMN_BYTES)
            if self._writes:
                time = self._read + self._before
                self.prompt += time > self._command
                _, self._command = banks.columns_of(bank, row, time, count, True)
                self._read += count
                self._last = self._read + self._before - 1
                self._latest = banks.timings.data_end(self._command, True)
            else:
                self._read = max(self._read, self._room(self._depth))
                first, last = banks.columns_of(bank, row, self._read, count, False)
                self._add(count, banks.timings.data_end(first, False))
                self._read = max(self._read + count - 1, self._room(self._depth + 1)) + 1
                self._last = banks.timings.data_end(last, False)
                self._latest = self._last + self._after
            offset += part

    def _add(self, count: int, time: int) -> None:
        while self._runs and self._beats - self._runs[0][0] > self._depth:
            self._beats -= self._runs.popleft()[0]
        self._runs.append((count, time))
        self._beats += count

    def _room(self, back: int) -> int:
        """Return the cycle in which the dma writes the beat that it read `back` beats ago.

        The result is 0 if there is no such beat. Then or in this cycle the buffer has room.
        """
        if back > self._beats:
            return 0
        for count, time in reversed(self._runs):
            if back <= count:
                return time + (count - back) * self._pitch
            back -= count
        raise AssertionError

    def state(self) -> tuple[int, int, tuple[object, ...]]:
        """Return two cycles and the state of the dma, as `_Beats.state` does."""
        now = command = self._read
        if self._is_late:
            command = max(self._read + self._before, self._command)
        runs = [(count, time - now) for count, time in self._runs]
        return now, command, (self._last - now, self._latest - command, *runs)

    def skip(self, cycles: int, later: int) -> None:
        """Add `cycles` to the times of the dma, and `later` to those of the banks."""
        self._read += cycles
        self._last += cycles
        self._latest += later
        self._command += later
        self._runs = deque((count, time + cycles) for count, time in self._runs)

    def end(self) -> int:
        """Return the first cycle after the copy."""
        return transfer_end(self._last, self._latest)


class _Access(NamedTuple):
    """What a copy accesses in an island: some `banks`, and in them `rows` rows from `row` on."""

    timing: BankTiming
    banks: Sequence[int]
    row: int
    rows: int

    @classmethod
    def of(cls, timing: BankTiming, offset: int, size: int, rows: int, stride: int) -> _Access:
        """Return the access to `rows` rows of `size` bytes, of which the first is at `offset`."""
        memory = timing.geometry
        bank, first = divmod(offset, memory.bank_bytes)
        row, end = first // memory.row_bytes, first + size - 1
        last = end + (rows - 1) * stride
        if last < memory.bank_bytes:
            return cls(timing, (bank,), row, last // memory.row_bytes - row + 1)
        step, rest = divmod(stride, memory.bank_bytes)
        if end < memory.bank_bytes and not rest:
            banks = range(bank, bank + rows * step, step)
            return cls(timing, banks, row, end // memory.row_bytes - row + 1)
        return cls(timing, range(memory.banks), 0, memory.rows)

    def state(self, now: int) -> BankState:
        """Return what determines the times of the access if it begins in cycle `now`."""
        return self.timing.state(self.banks, now, self.row, self.rows)


_MOST_SHAPES = 1 << 13
_LONG = 4  # a row of so many times the bytes after which alignments repeat is long


@lru_cache(maxsize=64)
def _known_copies(config: Configuration) -> dict[tuple[object, ...], tuple[int, BankState | None]]:
    """Return a dictionary in which timing models store the cycles of copies by shape and state.

    It is empty at first. An item also has the state in which the copy leaves the banks. Timing
    models of the same device share the dictionary. They clear it before it would have more than
    `_MOST_SHAPES` items.
    """
    return {}


class DmaTiming:
    """A timing model of the dma, which makes copies one after the other.

    `banks` has the timing of the banks by island; copies to and from banks change it. A copy must
    not begin before an earlier copy of the same island.
    """

    def __init__(self, config: Configuration, banks: dict[int, BankTiming]) -> None:
        self._banks, self._dma = banks, _Dma.of(config)
        self.setup, self._period = self._dma.setup, self._dma.period
        self._alike = _known_copies(config)

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
        begin = align_up(begin, self._dma.step)
        dst, src = copy.dst, copy.src
        access = self._access(copy)
        if src.memory == dst.memory == ISLAND or (access and access.timing.is_complex(begin)):
            return self._follow(copy, begin)
        key = (
            src.memory, self._place(src, access), dst.memory, self._place(dst, access),
            copy[2:], access and access.state(begin),
        )  # fmt: skip
        found = self._alike.get(key)
        if found is None:
            end = self._follow(copy, begin)
            if len(self._alike) >= _MOST_SHAPES:
                self._alike.clear()
            after = access and access.timing.state(access.banks, end, access.row)
            self._alike[key] = end - begin, after
            return end
        cycles, after = found
        if access and after:
            access.timing.put(access.banks, after, begin + cycles, access.row)
        return begin + cycles

    def _access(self, copy: Copy) -> _Access | None:
        """Return what a copy accesses in an island; None if it accesses no island."""
        place, stride = copy.side
        if place.memory != ISLAND:
            return None
        banks = self._banks[place.island]
        return _Access.of(banks, place.offset, copy.row_bytes, copy.rows, stride)

    def _place(self, place: Location, access: _Access | None) -> int:
        """Return an offset with the alignment of `place`; in an island, also with its bank."""
        if access and place.memory == ISLAND:
            return place.offset - access.row * access.timing.geometry.row_bytes
        return place.offset % self._period

    def _plain(self, copy: Copy) -> bool:
        """Return whether the fast calculation of `_Columns` is exact for a copy.

        It is exact if each beat is one column of a bank, and beats wait only for the bank.
        """
        dma, sides = self._dma, ((copy.src, copy.src_stride), (copy.dst, copy.dst_stride))
        if copy.src.memory == copy.dst.memory or (dma.step, dma.width) != (1, COLUMN_BYTES):
            return False
        if ISLAND not in (copy.src.memory, copy.dst.memory) or dma.line % COLUMN_BYTES:
            return False
        banks = next(self._banks[x.island] for x, _ in sides if x.memory == ISLAND)
        if dma.depth < max(dma.latency + 1, dma.onchip, banks.timings.data_end(0, False)):
            return False
        return not any(x.offset % COLUMN_BYTES or stride % COLUMN_BYTES for x, stride in sides)

    def _follow(self, copy: Copy, begin: int) -> int:
        """Return the first cycle after a copy that starts in cycle `begin`, by a simulation."""
        walk = (_Columns if self._plain(copy) else _Beats)(self._dma, copy, begin, self._banks)
        for part in self._parts(copy):
            self._rows(walk, part)
        return walk.end()

    def _parts(self, copy: Copy) -> Iterator[Copy]:
        """Yield copies that together have the beats of `copy`, but no long rows.

        The body of a long row is divided into equal rows, each with whole rows of a bank.
        """
        size, unit, width = copy.row_bytes, self._unit(copy.side[0]), self._dma.width
        if size < _LONG * unit:
            yield copy
            return
        for number in range(copy.rows):
            row = copy.row(number)
            first = -row.side[0].offset % unit
            anchor = row.src if row.from_external else row.dst
            first += -(anchor.offset + first) % width
            count = (size - first) // unit
            last = first + count * unit
            yield row._replace(row_bytes=first)
            yield Copy(row.dst.at(first), row.src.at(first), unit, count, unit, unit)
            yield Copy(row.dst.at(last), row.src.at(last), size - last)

    def _rows(self, walk: _Beats | _Columns, copy: Copy) -> None:
        """Simulate the rows of a copy, which is a part of the copy of `walk`.

        Let the state before a row be the state before an earlier row, and both rows be in the same
        bank. Then the rows from this one on repeat the cycles of those from the earlier one on, to
        the end of the bank, and the function skips whole repetitions.
        """
        period, stride = self._row_period(copy), copy.side[1]
        seen: dict[tuple[object, ...], tuple[int, int, int, int]] = {}
        number = 0
        while number < copy.rows:
            row = copy.row(number)
            if number % period == 0 and (left := self._left(copy, number)) > period:
                (now, command, state), access = walk.state(), self._access(row)
                banks = access and access.timing.state(access.banks, command, access.row)
                key = state, access and access.banks, banks
                first, then, before, prompt = seen.setdefault(
                    key, (number, now, command, walk.prompt)
                )
                cycles, later, turns = now - then, command - before, 0
                # Requests that come ever earlier have no effect if they had none before.
                repeats = cycles == later or (cycles < later and walk.prompt == prompt)
                if number > first and repeats:
                    turns = left // (number - first)
                if turns:
                    walk.skip(turns * cycles, turns * later)
                    skipped = turns * (number - first)
                    number += skipped
                    if access and banks:
                        moved = access.row + skipped * stride // access.timing.geometry.row_bytes
                        access.timing.put(access.banks, banks, command + turns * later, moved)
                    continue
            walk.row(row.dst.offset, row.src.offset, copy.row_bytes)
            number += 1

    def _row_period(self, copy: Copy) -> int:
        """Return the number of rows after which a row has the same alignment again."""
        period = 1
        for place, stride in (copy.dst, copy.dst_stride), (copy.src, copy.src_stride):
            unit = self._unit(place)
            period = lcm(period, unit // gcd(unit, stride))
        return period

    def _unit(self, place: Location) -> int:
        """Return the number of bytes after which addresses have the same alignment again."""
        if place.memory != ISLAND:
            return self._period
        return lcm(self._period, self._banks[place.island].geometry.row_bytes)

    def _left(self, copy: Copy, number: int) -> int:
        """Return how many rows of a copy from row `number` on are in the same bank.

        For a copy between islands the result is 0.
        """
        place, stride = copy.side
        if copy.dst.memory == copy.src.memory == ISLAND:
            return 0
        left = copy.rows - number
        if place.memory == ISLAND and stride:
            size = self._banks[place.island].geometry.bank_bytes
            room = size - (place.offset + number * stride) % size - copy.row_bytes
            left = min(left, room // stride + 1)
        return left
