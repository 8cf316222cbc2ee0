"""Transfers of the dma: the class that computes their rows, beats and windows, and checks them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.faults import Fault
from macaw.emu.memory import Memory
from macaw.emu.rules.transfers import beat_length
from macaw.emu.windows import Window
from macaw.isa.codec import unpack
from macaw.isa.dma import TRANSFER
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, MORE_SHIFT, MOST_UNITS, UNIT_SHIFT
from macaw.isa.typed_records import NamedTuple

# the fields of a transfer from `dst` to `src_stride`
Shape = tuple[int, int, int, int, int, int]
DESCRIPTION = TRANSFER.size  # the size of the description in memory, in bytes


@lru_cache(maxsize=256)
def described(description: bytes) -> Shape:
    """Return the shape of a transfer from the bytes of its description in memory.

    The shape is (destination, source, bytes of a row, rows, destination stride, source stride).
    """
    values = unpack(TRANSFER, description)
    return (
        values["dst"], values["src"], values["row_bytes"], values["rows"],
        values["dst_stride"], values["src_stride"],
    )  # fmt: skip


class Layout(NamedTuple):
    """Where all transfers of one shape write their copies, and whether the order of rows matters.

    `offsets` has the distance in bytes of each copy from the first copy; only a multicast has
    several copies. `ordered` says whether a row may read what another row writes.
    """

    offsets: tuple[int, ...]
    ordered: bool


class Transfer(NamedTuple):
    """A copy of `rows` rows of `row_bytes` bytes each.

    The dma copies row r from src + r * src_stride to dst + r * dst_stride, one row after the other.
    Within a row, source and destination may overlap: the destination then gets the bytes that the
    source had when the row started, as with C's memmove. A later row reads what an earlier row
    wrote. A stride may be 0 or negative. A transfer may have no bytes.

    A multicast writes each row to the same place in several units of on-chip memory, which have
    consecutive numbers. Bits 27:24 of its `dst` say how many units follow the first one. All rows
    of a multicast are in one half of a unit.
    """

    ticket: int
    dst: int
    src: int
    row_bytes: int
    rows: int
    dst_stride: int
    src_stride: int
    by: str  # name of the core that started it
    address: int  # the address of the instruction that started it; -1 if unknown

    @property
    def size(self) -> int:
        """The number of bytes in all rows."""
        return self.row_bytes * self.rows

    @property
    def further_units(self) -> int:
        """The number of units of a multicast after the first one; 0 for another transfer."""
        if self.dst >> REGION_SHIFT != ONCHIP:
            return 0
        return self.dst >> MORE_SHIFT & MOST_UNITS - 1

    @property
    def first_copy(self) -> Transfer:
        """The transfer to the first unit of a multicast; for any other transfer, itself."""
        further = self.further_units
        return self._replace(dst=self.dst - (further << MORE_SHIFT)) if further else self

    def copies(self) -> tuple[Transfer, ...]:
        """Return the transfers to the single units of a multicast, in the order of the units.

        For another transfer, return a tuple of this transfer alone.
        """
        further = self.further_units
        if not further:
            return (self,)
        first = self.first_copy
        units = range(1, further + 1)
        return (first, *(first._replace(dst=first.dst + (unit << UNIT_SHIFT)) for unit in units))

    @property
    def shape(self) -> Shape:
        """All fields that say which bytes the transfer copies."""
        fields: tuple[Any, ...] = self
        return fields[SHAPE]

    def layout(self) -> Layout:
        """Return the layout: the places of all copies, and whether rows may depend on others."""
        offsets = tuple(unit << UNIT_SHIFT for unit in range(self.further_units + 1))
        low, end = self._span(self.src, self.src_stride)
        first, until = self._span(self.first_copy.dst, self.dst_stride)
        ordered = False
        for offset in offsets:
            ordered = ordered or (low < until + offset and first + offset < end)
        return Layout(offsets, ordered)

    def _span(self, first: int, stride: int) -> tuple[int, int]:
        last = first + (self.rows - 1) * stride
        return min(first, last), max(first, last) + self.row_bytes

    @property
    def anchor(self) -> tuple[int, int]:
        """The first address and the stride on the side whose alignment divides rows into beats.

        That side is the source if only the source is external memory; otherwise it is the
        destination.
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
        """Raise `Fault` unless each row is inside one memory, in the source and the destination.

        All rows of a multicast must be in one half of a unit.
        """
        if not self.size:
            return
        self._check_side(memory, "source", self.src, self.src_stride)
        copies = self.copies()
        for copy in copies:
            self._check_side(memory, "destination", copy.dst, self.dst_stride)
        if len(copies) == 1:
            return
        low, end = copies[0]._span(copies[0].dst, self.dst_stride)
        if low >> HALF_SHIFT != end - 1 >> HALF_SHIFT:
            message = "the rows of a multicast are in several halves of units"
            raise Fault("out-of-range access", f"{message}; {self.text()}", self.values())

    def _check_side(self, memory: Memory, side: str, first: int, stride: int) -> None:
        row = 0
        while row < self.rows:
            address = first + row * stride
            try:
                offset, size = memory.extent(address, self.row_bytes, f"{side} of row {row},")
            except Fault as fault:
                message = f"{fault.message}; {self.text()}"
                raise Fault(fault.kind, message, self.values() | {"row": row}) from None
            # All rows up to the end of this memory are valid, so continue after them.
            if stride > 0:
                row += (size - self.row_bytes - offset) // stride + 1
            elif stride < 0:
                row += offset // -stride + 1
            else:
                break

    def windows(self, memory: Memory) -> dict[Window, tuple[Window, str, int]]:
        """Return the windows through which the transfer reads or writes.

        `memory` has the memory map. Each value of the result is a tuple: the window that is also
        its key, "read" or "write", and the address of the access.
        """
        windows: dict[Window, tuple[Window, str, int]] = {}
        places = {self.src >> REGION_SHIFT, self.dst >> REGION_SHIFT}
        if not self.size or memory.windowed.isdisjoint(places):
            return windows
        for what, address in (("read", self.src), ("write", self.first_copy.dst)):
            if address >> REGION_SHIFT in memory.windowed:
                window = memory.window(address, self.row_bytes)
                if window is not None:
                    windows[window] = (window, what, address)
        return windows

    def beat(
        self, row: int, position: int, width: int, offsets: Sequence[int] = (0,)
    ) -> tuple[int, int, int, int]:
        """Return the next beat of a row, after the first `position` bytes of the row.

        `self` is a transfer to one place. `offsets` are the distances in bytes from there to all
        places to which the dma copies the row.

        The result is (source address, destination address, bytes, position after it). A beat ends
        where the address is a multiple of `width`: the source address if only the source is
        external memory, otherwise the destination address (`anchor`). Beats have ascending
        addresses, or descending ones if the row's destination starts inside its source.
        """
        src = self.src + row * self.src_stride
        dst = self.dst + row * self.dst_stride
        anchor = src if src >= EXTERNAL > dst else dst
        size = self.row_bytes
        inside = src < dst < src + size
        if len(offsets) > 1:
            inside = any(src < dst + offset < src + size for offset in offsets)
        if inside:
            end = size - position
            begin = max(0, (anchor + end - 1) // width * width - anchor)
            return src + begin, dst + begin, end - begin, size - begin
        length = beat_length(anchor, position, size, width)
        return src + position, dst + position, length, position + length


# the fields of the shape in a transfer, or in the tuple of its fields
SHAPE = slice(Transfer._fields.index("dst"), Transfer._fields.index("src_stride") + 1)
