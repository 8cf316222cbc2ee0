"""The registers, scoreboard and counters of vc, and how an access to memory ends."""

from __future__ import annotations

from macaw.emu.faults import Stop
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.system import System
from macaw.emu.traced import Units
from macaw.emu.vector.scoreboard import Timing
from macaw.emu.vector.state import FIELDS, PLACES
from macaw.emu.vector.state import STORES as LAST_STORE
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.rows import Instruction
from macaw.isa.vector import CORE, units_used
from macaw.isa.vector_layouts import VECTOR_BYTES


class VectorCore(ScalarCore):
    """The one core of the table vc, without its instructions."""

    def __init__(self, device: System) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, FIELDS)
        self.timing: Timing = Timing(device.config, CORE.name)
        self.vr = self.state.vr  # changed in place, by the engine and by a restore
        self.ready = [0] * PLACES
        self.cycles_operands = self.cycles_memory = self.cycles_branches = self.products = 0

    @property
    def stack_end(self) -> int:
        """The end of external memory, from which vc executes."""
        return EXTERNAL + self.device.memory.external_bytes

    def counters(self) -> dict[str, int]:
        return {
            "instructions": self.retired,
            "cycles_operands": self.cycles_operands,
            "cycles_memory": self.cycles_memory,
            "cycles_branches": self.cycles_branches,
            "products": self.products,
        }

    def sync(self) -> None:
        super().sync()
        # A time in the past is written as 0: engines need not keep it.
        now = self.time if self.waiting is None else self.waiting.since
        self.state.ready[:] = [time if time > now else 0 for time in self.ready]
        for name, value in self.counters().items():
            if name != "instructions":
                setattr(self.state, name, value)

    def reload(self) -> None:
        super().reload()
        self.ready = self.state.ready.tolist()
        self.cycles_operands = self.state.cycles_operands
        self.cycles_memory = self.state.cycles_memory
        self.cycles_branches = self.state.cycles_branches
        self.products = self.state.products

    def exit(self, code: int) -> Stop | None:
        """Return the stop of `ecall` 93; with code 0 only this core ends."""
        if code:
            return super().exit(code)
        self.running = False
        return None

    def units(self) -> Units:
        """See `Traced.units`: the lanes of a byte of the vector unit."""
        return Units(VECTOR_BYTES, 1, store=VECTOR_BYTES)

    def uses(self, row: Instruction) -> int:
        return units_used(row)

    # The end of an access

    def retire_access(self, time: int, ready: int) -> None:
        """End an access that the memory accepted in cycle `time`: the next instruction follows."""
        following = self.aligned(time + 1)
        self.cycles_memory += (following - self.time) // self.divider - 1
        self.retire(following, max(following, ready))

    def retire_load(self, place: int, time: int, ready: int) -> None:
        """End a load that was accepted in cycle `time`; its register is ready from `ready` on."""
        ready = self.aligned(ready)
        if place:
            self.ready[place] = ready
        self.retire_access(time, ready)

    def retire_store(self, time: int, ready: int) -> None:
        """End a store that was accepted in cycle `time`; memory has it from `ready` on."""
        ready = self.aligned(ready)
        self.ready[LAST_STORE] = max(self.ready[LAST_STORE], ready)
        self.retire_access(time, ready)

    def await_banks(
        self, what: str, place: int | None, size: int = 0, signed: bool = False
    ) -> None:
        """Wait for the banks; `place` is that of the register to be loaded, None of a store."""
        self.pending = (place, size, signed)
        self.await_answer(what)
