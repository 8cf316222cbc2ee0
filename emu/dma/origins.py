"""Where bytes that the transfer engine wrote came from: the rows of the transfer at work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from emu.dma.transfer import Transfer
from emu.origins import Origin, Origins, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu.dma.engine import Dma


class Transfers(Origins):
    """Remembers for each write which transfer it was of."""

    def __init__(self, dma: Dma, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.dma = dma
        self._of: dict[int, tuple[int, Transfer]] = {}

    def heard(self, kind: str, time: int, values: dict[str, Any]) -> None:
        if kind == "write":
            self._of[self.number()] = time, self.dma.transfer

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        found = self._of.get(number)
        if found is None:
            return
        time, transfer = found
        at = None if transfer.address < 0 else transfer.address
        sources = partial(_sources, transfer, number, address, size)
        yield Origin(number, time, f"transfer {transfer.ticket}", at, transfer.by, None, sources)


def _sources(transfer: Transfer, number: int, address: int, size: int) -> Iterator[Source]:
    """The bytes from which a run of destination bytes was copied, row by row."""
    for row in range(transfer.rows):
        begin = transfer.dst + row * transfer.dst_stride
        low, high = max(begin, address), min(begin + transfer.row_bytes, address + size)
        if low < high:
            source = transfer.src + row * transfer.src_stride + low - begin
            yield Source("copied from", number, (source, high - low))
            if not transfer.dst_stride:
                return  # all rows went to the same place
