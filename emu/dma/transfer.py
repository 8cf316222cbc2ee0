"""A transfer: what moves where, in which beats, and whether it may."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from macaw.emu.faults import Fault
from macaw.isa.dma import TRANSFER
from macaw.isa.memory_map import EXTERNAL

if TYPE_CHECKING:
    from macaw.emu.memory import Memory
    from macaw.emu.windows import Window

DESCRIPTION = TRANSFER.size  # bytes


class Transfer(NamedTuple):
    """`rows` rows of `row_bytes`; row r: src + r * src_stride to dst + r * dst_stride.

    Rows are moved in order, each as by memmove: its destination gets what its source
    held when the row began, also if they overlap; a later row sees what an
    earlier one wrote. A stride may be 0 or negative. No bytes at all are a legal transfer.
    """

    ticket: int
    dst: int
    src: int
    row_bytes: int
    rows: int
    dst_stride: int
    src_stride: int
    by: str  # the core that asked for it
    address: int  # its instruction, -1 if none is known

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return self.row_bytes * self.rows

    @property
    def overlaps(self) -> bool:
        """Whether some row may read what another one writes."""
        return _meet(self._span(self.src, self.src_stride), self._span(self.dst, self.dst_stride))

    def _span(self, first: int, stride: int) -> tuple[int, int]:
        last = first + (self.rows - 1) * stride
        return min(first, last), max(first, last) + self.row_bytes

    @property
    def anchor(self) -> tuple[int, int]:
        """Address and stride of the side at whose lines rows are cut, in one memory each."""
        if self.src >= EXTERNAL > self.dst:
            return self.src, self.src_stride
        return self.dst, self.dst_stride

    def text(self) -> str:
        """All values, for the message of a fault."""
        return (
            f"transfer {self.ticket} of {self.by}: dst={self.dst:#010x}, src={self.src:#010x},"
            f" row_bytes={self.row_bytes}, rows={self.rows},"
            f" dst_stride={self.dst_stride}, src_stride={self.src_stride}"
        )

    def values(self) -> dict[str, int | str]:
        """All values, for a program that looks at the fault."""
        return self._asdict()

    def check(self, memory: Memory) -> None:
        """Raise `Fault` unless every row lies within one memory, on both sides."""
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
            # All rows up to the edge of this memory are good: go on behind them.
            if stride > 0:
                row += (size - self.row_bytes - offset) // stride + 1
            elif stride < 0:
                row += offset // -stride + 1
            else:
                break

    def windows(self, memory: Memory) -> dict[Window, tuple[Window, str, int]]:
        """The windows that bytes go through: window, "read" or "write", address."""
        found = {}
        for what, address in (("read", self.src), ("write", self.dst)) if self.size else ():
            window = memory.window(address, self.row_bytes)
            if window is not None:
                found[window] = (window, what, address)
        return found

    def beat(self, row: int, position: int, width: int) -> tuple[int, int, int, int]:
        """The beat that follows `position` moved bytes of a row: (src, dst, length, new position).

        A row is cut where its destination is a multiple of `width`, or its source if
        that alone is external memory. It goes upwards, or downwards if its
        destination overlaps its source from above.
        """
        src = self.src + row * self.src_stride
        dst = self.dst + row * self.dst_stride
        anchor = src if src >= EXTERNAL > dst else dst
        size = self.row_bytes
        if src < dst < src + size:
            end = size - position
            begin = max(0, (anchor + end - 1) // width * width - anchor)
            return src + begin, dst + begin, end - begin, size - begin
        length = min(size - position, width - (anchor + position) % width)
        return src + position, dst + position, length, position + length


def _meet(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] < second[1] and second[0] < first[1]
