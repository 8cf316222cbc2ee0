"""Transfers of the dma: their rows, beats, windows and checks."""

from __future__ import annotations

from typing import NamedTuple

from macaw.emu.faults import Fault
from macaw.emu.memory import Memory
from macaw.emu.rules.transfers import beat_length
from macaw.emu.windows import Window
from macaw.isa.dma import TRANSFER
from macaw.isa.memory_map import EXTERNAL

DESCRIPTION = TRANSFER.size  # bytes


class Transfer(NamedTuple):
    """A copy of `rows` rows of `row_bytes` bytes.

    Row r is copied from src + r * src_stride to dst + r * dst_stride. Rows are moved one after the
    other. A row is moved as C's memmove does it: its destination gets what its source contained
    when the row started, even if both overlap. A later row reads what an earlier row wrote. A
    stride may be 0 or negative. A transfer of no bytes is legal.
    """

    ticket: int
    dst: int
    src: int
    row_bytes: int
    rows: int
    dst_stride: int
    src_stride: int
    by: str  # name of the core that started it
    address: int  # of the instruction that started it, -1 if unknown

    @property
    def size(self) -> int:
        """The number of bytes in all rows."""
        return self.row_bytes * self.rows

    @property
    def overlaps(self) -> bool:
        """Whether a row may read what another row writes."""
        return _intersect(
            self._span(self.src, self.src_stride), self._span(self.dst, self.dst_stride)
        )

    def _span(self, first: int, stride: int) -> tuple[int, int]:
        last = first + (self.rows - 1) * stride
        return min(first, last), max(first, last) + self.row_bytes

    @property
    def anchor(self) -> tuple[int, int]:
        """The first address and the stride of the side whose alignment divides rows into beats.

        That side is the destination, or the source if only the source is external memory.
        """
        if self.src >= EXTERNAL > self.dst:
            return self.src, self.src_stride
        return self.dst, self.dst_stride

    def text(self) -> str:
        """Return all fields as a text for a fault's message."""
        return (
            f"transfer {self.ticket} of {self.by}: dst={self.dst:#010x}, src={self.src:#010x},"
            f" row_bytes={self.row_bytes}, rows={self.rows},"
            f" dst_stride={self.dst_stride}, src_stride={self.src_stride}"
        )

    def values(self) -> dict[str, int | str]:
        """Return all fields by name, for the values of a fault or an announcement."""
        return self._asdict()

    def check(self, memory: Memory) -> None:
        """Raise `Fault` unless each row is inside one memory, in the source and the destination."""
        if self.size:
            self._check_side(memory, "source", self.src, self.src_stride)
            self._check_side(memory, "destination", self.dst, self.dst_stride)

    def _check_side(self, memory: Memory, side: str, first: int, stride: int) -> None:
        row = 0
        while row < self.rows:
            address = first + row * stride
            try:
                offset, size = memory.extent(address, self.row_bytes, f"{side} of row {row},")
            except Fault as fault:
                message = f"{fault.message}; {self.text()}"
                raise Fault(fault.kind, message, self.values() | {"row": row}) from None
            # All rows up to the end of this memory are good: go on after them.
            if stride > 0:
                row += (size - self.row_bytes - offset) // stride + 1
            elif stride < 0:
                row += offset // -stride + 1
            else:
                break

    def windows(self, memory: Memory) -> dict[Window, tuple[Window, str, int]]:
        """Return the windows through which the bytes pass.

        The result maps each window to a tuple: the window, "read" or "write", and the address of
        the access.
        """
        windows = {}
        for what, address in (("read", self.src), ("write", self.dst)) if self.size else ():
            window = memory.window(address, self.row_bytes)
            if window is not None:
                windows[window] = (window, what, address)
        return windows

    def beat(self, row: int, position: int, width: int) -> tuple[int, int, int, int]:
        """Return the next beat of a row of which `position` bytes have moved.

        The result is (source address, destination address, bytes, position after it). A beat ends
        where the address on the anchor side (`anchor`) is a multiple of `width`. Beats have
        ascending addresses, or descending ones if the row's destination starts inside its source.
        """
        src = self.src + row * self.src_stride
        dst = self.dst + row * self.dst_stride
        anchor = src if src >= EXTERNAL > dst else dst
        size = self.row_bytes
        if src < dst < src + size:
            end = size - position
            begin = max(0, (anchor + end - 1) // width * width - anchor)
            return src + begin, dst + begin, end - begin, size - begin
        length = beat_length(anchor, position, size, width)
        return src + position, dst + position, length, position + length


def _intersect(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] < second[1] and second[0] < first[1]
