"""The reference engine of the dma, which does one cycle in each call of `advance`."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.origins import TransferOrigins
from macaw.emu.faults import Stop
from macaw.emu.origins import Origins


class ReferenceDma(DmaCore):
    """The dma that does the work of one cycle in each act."""

    def advance(self, limit: int) -> Stop | None:
        """Do the work of one cycle. Raises `Fault`."""
        self.act()
        return None

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record which transfer wrote each byte. Return the record.

        `number` returns how many events the device has announced to listeners so far.
        """
        self.origins = TransferOrigins(self, number)
        self.on_request = self.origins.record_request
        return self.origins
