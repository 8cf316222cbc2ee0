"""fim: islands of banks with function-in-memory circuits (seed 004)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.engines import ENGINES
from macaw.emu.fim.processor import FastIsland, Island
from macaw.isa.fim_islands import geometry

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


def build(device: Device) -> list[Core]:
    """The islands of a device."""
    memory = geometry(device.config)
    kind = FastIsland if device.engine == ENGINES[0] else Island
    return [kind(device, number, memory) for number in range(device.config["fim.islands"])]
