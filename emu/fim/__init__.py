"""fim: islands of banks with function-in-memory circuits (seed 004)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.engines import ENGINES
from emu.faults import DeviceError
from emu.fim.processor import FastIsland, Island
from isa.fim_islands import GeometryError, geometry

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


def build(device: Device) -> list[Core]:
    """The islands of a device. Raises `DeviceError` for settings that cannot go together."""
    try:
        memory = geometry(device.config)
    except GeometryError as error:
        raise DeviceError(str(error)) from None
    kind = FastIsland if device.engine == ENGINES[0] else Island
    return [kind(device, number, memory) for number in range(device.config["fim.islands"])]
