"""The dma: the engine that copies between memories (seed 000, 235)."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.dma.fast.core import FastDma
from macaw.emu.dma.reference import ReferenceDma
from macaw.emu.system import System

ENGINES = {"fast": FastDma, "reference": ReferenceDma}


def build(device: System) -> list[Core]:
    """Return a list with the one dma of a device."""
    dma = device.select(ENGINES)(device)
    device.copier = dma
    return [dma]
