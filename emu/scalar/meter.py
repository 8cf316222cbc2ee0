"""The meter of a scalar core: it counts how often each instruction was executed."""

from __future__ import annotations

from macaw.emu.core import Event
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.emu.scalar.core import ScalarCore
from macaw.isa.activities import computing
from macaw.isa.rows import Instruction

REGISTER_BYTES = 4
Work = tuple[tuple[str, int], ...]  # activities with their counts


def scalar_work(row: Instruction) -> Work:
    """Return the operations of an instruction of RV32IM; none, for example, for a load."""
    return ((computing(row.arithmetic, "int32"), 1),) if row.arithmetic else ()


class ScalarMeter(Meter):
    """Counts executed instructions, and at the end of the run the operations in them."""

    core: ScalarCore

    def __init__(self, core: ScalarCore, memory: MeteredMemory) -> None:
        super().__init__(core, memory)
        self.executed: dict[tuple[int, int], int] = {}  # by address and layer

    def hear(self, event: Event) -> None:
        if event.kind == "instruction" and self.begins():
            self.address = int(event.values["address"])
            key = self.address, self.layer
            self.executed[key] = self.executed.get(key, 0) + 1
        else:
            super().hear(event)

    def begins(self) -> bool:
        """Return whether this is the first try of the announced instruction, which may be tried
        again.
        """
        return True

    def work(self, row: Instruction) -> Work:
        """Return the operations of an instruction."""
        return scalar_work(row)

    def close(self) -> None:
        for (address, layer), times in self.executed.items():
            self.layer = layer
            self.add("instructions", times, address)
            row = self.core.decoder.fetch(address).row
            for activity, count in self.work(row):
                self.add(activity, count * times, address)

    @property
    def peak_operations(self) -> float:
        return 1 / self.core.divider

    @property
    def access_bytes(self) -> float:
        return REGISTER_BYTES / self.core.divider
