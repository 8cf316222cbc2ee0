"""dma: the transfer engine 235."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.dma.engine import Dma

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


def build(device: Device) -> list[Core]:
    """The one dma of a device."""
    dma = Dma(device)
    device.copier = dma
    return [dma]
