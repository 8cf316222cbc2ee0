"""The dma: the engine that copies between memories (seed 000, 235)."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.core import Core
from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.fast.core import FastDma
from macaw.emu.system import System


def _reference() -> type[DmaCore]:
    from macaw.emu.dma.reference import ReferenceDma

    return ReferenceDma


ENGINES: dict[str, Callable[[], type[DmaCore]]] = {"fast": lambda: FastDma, "reference": _reference}


def build(device: System) -> list[Core]:
    """Return a list with the one dma of a device."""
    dma = device.select(ENGINES)(device)
    device.copier = dma
    return [dma]
