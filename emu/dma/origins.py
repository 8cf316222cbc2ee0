"""Origins of the dma's writes: records from which bytes each written byte was copied."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from macaw.emu.address_space import REGION_SHIFT
from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.transfer import DESCRIPTION, Transfer
from macaw.emu.origins import Extent, Origin, Origins, Source
from macaw.isa.memory_map import UNIT_SHIFT

# How far, in bytes, the destination of a transfer of no bytes may be before an address that the
# transfer should have written.
_NEAR = 4096


class TransferOrigins(Origins):
    """Finds, for each write of the dma, the transfer to which the write belongs."""

    def __init__(self, dma: DmaCore, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.dma = dma
        self._writes: dict[int, tuple[int, Transfer]] = {}
        # By ticket, for transfers that read from a window: the number of each read, and the first
        # byte of the transfer that it returned. The address of a read does not determine its bytes,
        # because a window returns them in the order of the reads.
        self._reads: dict[int, tuple[list[int], list[int]]] = {}
        # by number of a write to a window: first byte in the transfer, and address
        self._pushes: dict[int, tuple[int, int]] = {}
        # by direction ("read" or "write") and ticket: bytes moved through windows so far
        self._progress: dict[tuple[str, int], int] = {}
        # By ticket: the number of announcements at its request, and the address of its description.
        self._requests: dict[int, tuple[int, int]] = {}

        self._empty: list[Origin] = []  # the transfers of no bytes
        self._empty_to: list[int] = []  # the destinations of `_empty`

    def record_request(self, transfer: Transfer, address: int) -> None:
        """Record a requested transfer, and that its description is at `address`."""
        number = self.number()
        self._requests[transfer.ticket] = number, address
        if not transfer.size:
            at = None if transfer.address < 0 else transfer.address
            what, sources = f"transfer {transfer.ticket}", partial(self._description, transfer)
            time = self.dma.device.cycle
            self._empty.append(Origin(number, time, what, at, transfer.by, None, sources))
            self._empty_to.append(transfer.dst)

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        if kind not in ("read", "write"):
            return
        number, transfer = self.number(), self.dma.transfer
        if kind == "write":
            self._writes[number] = time, transfer
        address = int(values["address"])
        if address >> REGION_SHIFT not in self.dma.device.memory.windowed:
            return
        first = self._progress.get((kind, transfer.ticket), 0)
        self._progress[kind, transfer.ticket] = first + int(values["size"])
        if kind == "write":
            self._pushes[number] = first, address
            return
        begins, numbers = self._reads.setdefault(transfer.ticket, ([], []))
        begins.append(first)
        numbers.append(number)

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        write = self._writes.get(number)
        if write is None:
            return
        time, transfer = write
        at = None if transfer.address < 0 else transfer.address
        sources = partial(self._sources, transfer, number, address, size)
        yield Origin(number, time, f"transfer {transfer.ticket}", at, transfer.by, None, sources)

    def without_effect(self, address: int, size: int) -> Iterator[Origin]:
        for origin, first in zip(self._empty, self._empty_to, strict=True):
            if first < address + size <= first + _NEAR:
                yield origin

    def _sources(
        self, transfer: Transfer, number: int, address: int, size: int
    ) -> Iterator[Source]:
        """Yield the transfer's description, and the sources of `size` bytes written to `address`.

        The sources come in the order of the rows. `number` is the number of the write's
        announcement.
        """
        yield from self._description(transfer)
        # Bytes through a window are counted from the start of the transfer.
        self.require(number not in self._pushes and transfer.ticket not in self._reads)
        if number in self._pushes:
            first, begin = self._pushes[number]
            first += address - begin
            row, inside = divmod(first, transfer.row_bytes)
            source = transfer.src + row * transfer.src_stride + inside
            yield from self._pieces(transfer, number, source, first, size)
            return
        copies = transfer.copies()
        if len(copies) > 1:  # a multicast: each copy is in one unit
            copies = tuple(x for x in copies if x.dst >> UNIT_SHIFT == address >> UNIT_SHIFT)
        for row in range(transfer.rows) if copies else ():
            begin = copies[0].dst + row * transfer.dst_stride
            low, high = max(begin, address), min(begin + transfer.row_bytes, address + size)
            if low < high:
                source = transfer.src + row * transfer.src_stride + low - begin
                first = row * transfer.row_bytes + low - begin
                yield from self._pieces(transfer, number, source, first, high - low)
                if not transfer.dst_stride:
                    return  # all rows were written to the same addresses

    def _description(self, transfer: Transfer) -> Iterator[Source]:
        """Yield the description of a transfer in memory as one source, with the fields by name."""
        request = self._requests.get(transfer.ticket)
        self.require(request is not None)
        if request is None:
            return
        number, address = request
        shown: dict[str, Any] = {"dst": Extent(transfer.dst), "src": Extent(transfer.src)}
        shown |= {"row_bytes": transfer.row_bytes, "rows": transfer.rows}
        if transfer.rows > 1:
            shown |= {"dst_stride": transfer.dst_stride, "src_stride": transfer.src_stride}
        memory = (address, DESCRIPTION)
        yield Source("description", number, memory, None, None, shown, True, at_once=True)

    def _pieces(
        self, transfer: Transfer, number: int, address: int, first: int, size: int
    ) -> Iterator[Source]:
        """Yield the sources of `size` bytes that a transfer has moved, from its byte `first` on.

        `address` is the address from which these bytes were read, `number` the number of the
        write's announcement. Bytes that came through a window get one source for each read of the
        window.
        """
        begins, numbers = self._reads.get(transfer.ticket, ((), ()))
        at = bisect_right(begins, first) - 1
        if at < 0:
            yield Source("copied from", number, (address, size))
            return
        end = first + size
        while first < end:
            until = min(end, begins[at + 1]) if at + 1 < len(begins) else end
            yield Source("copied from", numbers[at], (address, until - first))
            address, first, at = address + until - first, until, at + 1
