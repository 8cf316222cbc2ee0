"""The command processor: the scalar base, and the commands of Xcp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu import trace
from emu.cp import semantics
from emu.faults import Fault
from emu.scalar.hart import Hart
from emu.scalar.tracing import Tracing
from isa.cp import CORE

if TYPE_CHECKING:
    from emu.device import Copier, Device


class Processor(Hart):
    """The one core of the table cp."""

    def __init__(self, device: Device) -> None:
        rows = trace.fields(device.config)
        super().__init__(device, CORE, CORE.name, CORE.number, (semantics,), rows)
        config, poke = device.config, device.memory.poke
        self.trace = self.block = trace.TraceBlock(self.number, self.name, config, poke, self.state)
        self.tracing = Tracing(self, self.block)

    def sync(self) -> None:
        super().sync()
        self.block.sync()

    def reload(self) -> None:
        super().reload()
        self.block.reload()
        self.tracing.attach()

    def write_trace(self, name: str, value: int) -> None:
        super().write_trace(name, value)
        self.tracing.changed()

    @property
    def copier(self) -> Copier:
        """The dma. Raises `Fault` (bad mask) if the device has none."""
        if self.device.copier is None:
            raise Fault("bad mask", "this device has no dma")
        return self.device.copier
