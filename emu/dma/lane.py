"""Where the beats of a transfer come from and go to, for the fast engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macaw.emu.dma.cut import Cut, Place, cut_of
from macaw.emu.dma.transfer import Transfer
from macaw.emu.ports import ONCHIP, REGION_SHIFT
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, UNITS

if TYPE_CHECKING:
    from macaw.emu.memory import Memory
    from macaw.emu.pages import Pages
    from macaw.emu.ports import Port

_FEW = 8  # rows that are moved one by one


class Side:
    """The source or the destination of a transfer: all on-chip memory, or all external."""

    def __init__(self, memory: Memory, first: int, stride: int, transfer: Transfer) -> None:
        self.memory, self.first, self.stride = memory, first, stride
        last = first + (transfer.rows - 1) * stride
        self.low = min(first, last)
        self.end = max(first, last) + transfer.row_bytes
        self.external = self.low >= EXTERNAL
        self.onchip = self.low >> REGION_SHIFT == self.end - 1 >> REGION_SHIFT == ONCHIP
        self.halves: tuple[int, ...] = ()
        # Its only memory, and the address at which that begins.
        self.pages: Pages | None = None
        if self.external:
            self.pages, self.base = memory.external, EXTERNAL
        elif self.onchip:
            half = half_of(self.low)
            if half == half_of(self.end - 1):
                self.halves = (half,)
                self.pages, self.base = memory.halves[half], memory.half_address(half)
            else:
                rows = range(self.low, self.end, abs(stride) or transfer.row_bytes)
                self.halves = tuple({half_of(address) for address in rows})

    def at(self, place: Place) -> int:
        """The address of a place."""
        return self.first + place[0] * self.stride + place[1]

    def where(self, address: int) -> tuple[Pages, int]:
        """The memory in which an address lies, and the offset there."""
        if self.pages is not None:
            return self.pages, address - self.base
        return self.memory.locate(address, 0)

    def all_pages(self) -> list[Pages]:
        """The memories in which it lies."""
        return [self.pages] if self.pages else [self.memory.halves[half] for half in self.halves]


class Lane:
    """A transfer whose beats take a cycle each on both sides, if nobody else is there."""

    def __init__(self, transfer: Transfer, cut: Cut, src: Side, dst: Side) -> None:
        self.transfer, self.cut, self.src, self.dst = transfer, cut, src, dst
        self.beats = cut.number(transfer.rows, 0)
        self.external = src.external or dst.external
        self.halves = (*src.halves, *dst.halves)
        self.written = dst.all_pages()

    def left(self, row: int, position: int) -> int:
        """How many beats are still to be read from a place on."""
        return self.beats - self.cut.number(row, position)

    def holds_code(self) -> bool:
        """Whether somebody has decoded what may be written."""
        dst = self.dst
        if dst.pages is None:
            return any(pages.holds() for pages in self.written)
        return dst.pages.holds(dst.low - dst.base, dst.end - dst.base)

    # Bytes

    def read(self, place: Place, length: int) -> bytes:
        """Bytes of the source."""
        pages, offset = self.src.where(self.src.at(place))
        return pages.read(offset, length)

    def write(self, address: int, data: bytes) -> None:
        """Bytes of the destination."""
        pages, offset = self.dst.where(address)
        pages.write(offset, data)

    def move(self, begin: Place, end: Place) -> None:
        """All bytes from one place to another."""
        row, position = begin
        last, until = end
        if position and row < last:
            self._move(row, position, self.transfer.row_bytes)
            row, position = row + 1, 0
        if row < last:
            self._move_rows(row, last)
        if position < until:
            self._move(last, position, until)

    def _move(self, row: int, begin: int, end: int) -> None:
        src, offset = self.src.where(self.src.at((row, begin)))
        dst, to = self.dst.where(self.dst.at((row, begin)))
        dst.write(to, src.bytes[offset : offset + end - begin])

    def _move_rows(self, first: int, end: int) -> None:
        """Whole rows, in one go if none is written over by another one."""
        src, dst, size = self.src, self.dst, self.transfer.row_bytes
        if end - first < _FEW or not (src.pages and dst.pages and abs(dst.stride) >= size):
            for row in range(first, end):
                self._move(row, 0, size)
            return
        shape = (end - first, size)
        offset, to = src.at((first, 0)) - src.base, dst.at((first, 0)) - dst.base
        source = np.ndarray(shape, np.uint8, src.pages.array, offset, (src.stride, 1))
        np.ndarray(shape, np.uint8, dst.pages.array, to, (dst.stride, 1))[...] = source
        dst.pages.mark_rows(to, size, end - first, dst.stride)

    # Grants

    def granted(self, side: Side, port: Port, first: int, count: int, time: int, step: int) -> None:
        """Beats from `first` on were granted to a port on a side, from `time` on, `step` apart."""
        cut, writes = self.cut, side is self.dst
        end = first + count
        number = first
        while number < end:
            row, _ = cut.place(number)
            following = end if len(side.halves) == 1 else min(end, cut.number(row + 1, 0))
            last = time + (following - 1 - first) * step
            half = half_of(side.at((row, 0)))
            beats = following - number
            side.memory.banks.moved_alone(
                port, half, last, reads=0 if writes else beats, writes=beats if writes else 0
            )
            number = following


def half_of(address: int) -> int:
    """The half in which an on-chip address lies."""
    return address - UNITS >> HALF_SHIFT


def lane_of(transfer: Transfer, width: int, memory: Memory) -> Lane | None:
    """The lane of a transfer with beats of at most `width` bytes, whose rows do not overlap.

    None if its beats do not take a cycle each, or may meet each other.
    """
    banks = memory.banks
    src = Side(memory, transfer.src, transfer.src_stride, transfer)
    dst = Side(memory, transfer.dst, transfer.dst_stride, transfer)
    if not (src.onchip or (src.external and dst.onchip)) or not (dst.onchip or dst.external):
        return None
    if (src.external or dst.external) and memory.channel.width % width:
        return None
    if set(src.halves) & set(dst.halves) or -(-(width - 1) // banks.width) + 1 > banks.count:
        return None
    return Lane(transfer, cut_of(transfer, width), src, dst)
