"""dma: the transfer engine 235."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.dma.engine import Dma
from macaw.emu.dma.fast import FastDma

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


ENGINES = {"fast": FastDma, "reference": Dma}


def build(device: Device) -> list[Core]:
    """The one dma of a device."""
    dma = ENGINES[device.engine](device)
    device.copier = dma
    return [dma]
