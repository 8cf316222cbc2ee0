"""Routes: the source and destination memories of a transfer that the dma can move in bursts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.dma.fast.beats import BeatMap, Position, beat_map
from macaw.emu.dma.transfer import Transfer
from macaw.emu.endpoints import Endpoint
from macaw.emu.memory import Memory
from macaw.emu.pages import Pages
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, UNITS

_FEW = 8  # if there are fewer rows, the dma copies them one by one


class Side:
    """The source or the destination of a transfer.

    `external` says whether all of its bytes are in external memory, `onchip` whether all are in
    on-chip memory. `pages` is the memory that contains all of its bytes, or None if they are in
    several memories. `halves` has the indices of the on-chip halves that contain them.
    """

    def __init__(self, memory: Memory, first: int, stride: int, transfer: Transfer) -> None:
        self.memory, self.first, self.stride = memory, first, stride
        last = first + (transfer.rows - 1) * stride
        self.low = min(first, last)
        self.end = max(first, last) + transfer.row_bytes
        self.external = self.low >= EXTERNAL
        self.onchip = self.low >> REGION_SHIFT == self.end - 1 >> REGION_SHIFT == ONCHIP
        self.halves: tuple[int, ...] = ()
        self.pages: Pages | None = None
        if self.external:
            self.pages, self.base = memory.external, EXTERNAL  # the address at which `pages` starts
        elif self.onchip:
            half = half_of(self.low)
            if half == half_of(self.end - 1):
                self.halves = (half,)
                self.pages, self.base = memory.halves[half], memory.half_address(half)
            else:
                rows = range(self.low, self.end, abs(stride) or transfer.row_bytes)
                self.halves = tuple({half_of(address) for address in rows})

    def address(self, position: Position) -> int:
        """Return the address of a position, which is a row number and a byte number in this row."""
        return self.first + position[0] * self.stride + position[1]

    def locate(self, address: int) -> tuple[Pages, int]:
        """Return the memory that contains an address, and the offset of the address in it."""
        if self.pages is not None:
            return self.pages, address - self.base
        return self.memory.locate(address, 0)

    def overwrites_code(self) -> bool:
        """Return whether a core has decoded some bytes of this side as instructions."""
        if self.pages is None:
            return any(pages.is_watched(0) for pages in self.all_pages())
        return self.pages.is_watched(self.low - self.base, self.end - self.base)

    def all_pages(self) -> list[Pages]:
        """Return all memories that contain bytes of this source or destination."""
        return [self.pages] if self.pages else [self.memory.halves[half] for half in self.halves]


class Route:
    """The memories of a transfer whose reads and writes take one cycle for each beat.

    While no other core uses these memories, such a transfer moves one beat in each cycle.
    """

    def __init__(
        self, transfer: Transfer, beats: BeatMap, src: Side, destinations: Sequence[Side]
    ) -> None:
        self.transfer, self.beats, self.src = transfer, beats, src
        self.destinations = destinations  # one, or for a multicast one for each unit
        self.dst = destinations[0]
        self.count = beats.number(transfer.rows, 0)
        self.external = src.external or self.dst.external
        self.halves = (*src.halves, *(half for dst in destinations for half in dst.halves))
        self.written = [pages for dst in destinations for pages in dst.all_pages()]

    def remaining(self, row: int, byte: int) -> int:
        """Return how many beats are left to read, from byte `byte` of row `row` on."""
        if row == self.transfer.rows:
            return 0
        return self.count - self.beats.number(row, byte)

    def overwrites_code(self) -> bool:
        """Return whether a core has decoded some bytes of the destination as instructions."""
        return any(dst.overwrites_code() for dst in self.destinations)

    # Bytes

    def read(self, position: Position, length: int) -> bytes:
        """Return `length` bytes of the source, from position `position` on."""
        pages, offset = self.src.locate(self.src.address(position))
        return pages.read(offset, length)

    def write(self, address: int, data: bytes) -> None:
        """Write bytes to `address` in the first destination, and to the same offset in others."""
        for dst in self.destinations:
            pages, offset = dst.locate(address + dst.first - self.dst.first)
            pages.write(offset, data)

    def move(self, begin: Position, end: Position) -> int:
        """Copy the bytes of positions `begin` to `end` - 1 to all destinations.

        Return the number of these bytes.
        """
        for dst in self.destinations:
            row, byte = begin
            last, until = end
            if byte and row < last:
                self._move(dst, row, byte, self.transfer.row_bytes)
                row, byte = row + 1, 0
            if row < last:
                self._move_rows(dst, row, last)
            if byte < until:
                self._move(dst, last, byte, until)
        return (end[0] - begin[0]) * self.transfer.row_bytes + end[1] - begin[1]

    def _move(self, to: Side, row: int, begin: int, end: int) -> None:
        src, offset = self.src.locate(self.src.address((row, begin)))
        dst, place = to.locate(to.address((row, begin)))
        dst.write(place, src.bytes[offset : offset + end - begin])

    def _move_rows(self, dst: Side, first: int, end: int) -> None:
        """Copy rows `first` to `end` - 1 to `dst`, by one NumPy assignment if possible.

        One assignment is possible if the source is in one memory, the destination is in one memory,
        and the rows of the destination do not overlap.
        """
        src, size = self.src, self.transfer.row_bytes
        if end - first < _FEW or not (src.pages and dst.pages and abs(dst.stride) >= size):
            for row in range(first, end):
                self._move(dst, row, 0, size)
            return
        shape = (end - first, size)
        offset, to = src.address((first, 0)) - src.base, dst.address((first, 0)) - dst.base
        source = np.ndarray(shape, np.uint8, src.pages.array, offset, (src.stride, 1))
        np.ndarray(shape, np.uint8, dst.pages.array, to, (dst.stride, 1))[...] = source
        dst.pages.mark_rows(to, size, end - first, dst.stride)

    # Grants

    def grant(
        self, side: Side, port: Endpoint, first: int, count: int, time: int, step: int
    ) -> None:
        """Record in the banks' counters that `port` was granted `count` beats on one side.

        They are the beats from number `first` on. The first of them is granted in cycle `time`,
        each further one `step` cycles later.
        """
        beats, banks, writes = self.beats, side.memory.banks, side is not self.src
        end = first + count
        number = first
        while number < end:
            if len(side.halves) == 1:
                half, following = side.halves[0], end
            else:
                row, _ = beats.position(number)
                half = half_of(side.address((row, 0)))
                following = min(end, beats.number(row + 1, 0))
            last = time + (following - 1 - first) * step
            granted = following - number
            reads_writes = (0, granted) if writes else (granted, 0)
            banks.count_exclusive(port, half, last, *reads_writes)
            number = following


def half_of(address: int) -> int:
    """Return the index of the half that contains an on-chip address: 2 * unit + half."""
    return address - UNITS >> HALF_SHIFT


def burst_route(transfer: Transfer, width: int, memory: Memory) -> Route | None:
    """Return the route of a transfer with beats of at most `width` bytes, or None.

    The result is None if a beat may take more than one cycle, or if the transfer's own reads and
    writes may compete for a memory. The caller ensures that the rows do not overlap.
    """
    banks = memory.banks
    src = Side(memory, transfer.src, transfer.src_stride, transfer)
    copies = transfer.copies()
    destinations = [Side(memory, copy.dst, copy.dst_stride, copy) for copy in copies]
    dst = destinations[0]
    if not (src.onchip or (src.external and dst.onchip)) or not (dst.onchip or dst.external):
        return None
    # beats are aligned by address, the channel's blocks by offset in external memory
    if (src.external or dst.external) and (memory.channel.width % width or EXTERNAL % width):
        return None
    if not banks.serve_at_once(width):
        return None
    if src.halves and any(set(src.halves) & set(side.halves) for side in destinations):
        return None
    return Route(transfer, beat_map(copies[0], width), src, destinations)
