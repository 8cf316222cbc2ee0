"""Records from which bytes the dma copied the bytes that it wrote."""

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

_NEAR = 4096  # bytes after its destination that a transfer of no bytes may have been meant for


class TransferOrigins(Origins):
    """The record of the transfer to which each write of the dma belongs."""

    def __init__(self, dma: DmaCore, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.dma = dma
        self._writes: dict[int, tuple[int, Transfer]] = {}
        # By ticket, of transfers out of a window: the first byte of each read within the transfer,
        # and the read's number. Its address says nothing: bytes come in the order of the reads.
        self._reads: dict[int, tuple[list[int], list[int]]] = {}
        self._pushes: dict[int, tuple[int, int]] = {}  # by number of a write there: byte, address
        self._progress: dict[tuple[str, int], int] = {}  # bytes so far, by direction and ticket
        # By ticket: number of announcements when it was requested, address of its description.
        self._requests: dict[int, tuple[int, int]] = {}

        self._empty: list[Origin] = []  # transfers of no bytes
        self._empty_to: list[int] = []  # their destinations

    def record_request(self, transfer: Transfer, address: int) -> None:
        """Record that a requested transfer is described at `address`."""
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
        """Yield the description, and the source bytes of `size` destination bytes at `address`.

        The source bytes come row by row. `number` is the number of the announcement of the write.
        """
        yield from self._description(transfer)
        if number in self._pushes:
            first, begin = self._pushes[number]
            first += address - begin
            row, inside = divmod(first, transfer.row_bytes)
            source = transfer.src + row * transfer.src_stride + inside
            yield from self._pieces(transfer, number, source, first, size)
            return
        copies = transfer.copies()
        if len(copies) > 1:  # each of them is in one unit
            copies = tuple(x for x in copies if x.dst >> UNIT_SHIFT == address >> UNIT_SHIFT)
        for row in range(transfer.rows) if copies else ():
            begin = copies[0].dst + row * transfer.dst_stride
            low, high = max(begin, address), min(begin + transfer.row_bytes, address + size)
            if low < high:
                source = transfer.src + row * transfer.src_stride + low - begin
                first = row * transfer.row_bytes + low - begin
                yield from self._pieces(transfer, number, source, first, high - low)
                if not transfer.dst_stride:
                    return  # all rows went to the same place

    def _description(self, transfer: Transfer) -> Iterator[Source]:
        """Yield the six words that describe a transfer as a setting of it."""
        request = self._requests.get(transfer.ticket)
        if request is None:
            return
        number, address = request
        shown: dict[str, Any] = {"dst": Extent(transfer.dst), "src": Extent(transfer.src)}
        shown |= {"row_bytes": transfer.row_bytes, "rows": transfer.rows}
        if transfer.rows > 1:
            shown |= {"dst_stride": transfer.dst_stride, "src_stride": transfer.src_stride}
        memory = (address, DESCRIPTION)
        yield Source("description", number, memory, None, None, shown, setting=True)

    def _pieces(
        self, transfer: Transfer, number: int, address: int, first: int, size: int
    ) -> Iterator[Source]:
        """Yield `size` source bytes of a transfer, from its byte `first` on.

        If they came through a window, each read of the window gives a source of its own.
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
