"""The command processor: the scalar base, and the commands of Xcp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.cp import semantics
from macaw.emu.faults import Fault
from macaw.emu.scalar.hart import Hart
from macaw.isa.cp import CORE

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.system import Copier


class Processor(Hart):
    """The one core of the table cp."""

    def __init__(self, device: Device) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, (semantics,))

    @property
    def copier(self) -> Copier:
        """The dma. Raises `Fault` (bad mask) if the device has none."""
        if self.device.copier is None:
            raise Fault("bad mask", "this device has no dma")
        return self.device.copier
