"""The registers, scoreboard and counters of vc, and the end of its accesses to memory."""

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
    """The core vc without its instructions, which the interpreter and the engines add."""

    def __init__(self, device: System) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, FIELDS)
        self.timing: Timing = Timing(device.config, CORE.name)
        self.vr = self.state.vr  # the engine and a restore change it in place
        self.ready = [0] * PLACES
        self.cycles_operands = self.cycles_memory = self.cycles_branches = self.products = 0

    @property
    def stack_end(self) -> int:
        """The end of external memory, where the stack of vc starts."""
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
        # Write a time in the past as 0, because engines need not store it.
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
        """Return the stop of `ecall` 93 (exit), which ends the program with exit code `code`.

        The result is None for exit code 0, which ends only this core.
        """
        if code:
            return super().exit(code)
        self.running = False
        return None

    def units(self) -> Units:
        """Return the sizes of compute units (byte lanes) and accesses, for the trace."""
        return Units(VECTOR_BYTES, 1, store=VECTOR_BYTES)

    def uses(self, row: Instruction) -> int:
        return units_used(row)

    # Ends of accesses

    def retire_access(self, time: int, ready: int) -> None:
        """End an access that memory accepted in cycle `time`.

        The next instruction may issue in the next cycle of the core. In the trace the access lasts
        until cycle `ready`.
        """
        following = self.aligned(time + 1)
        self.cycles_memory += (following - self.time) // self.divider - 1
        self.retire(following, max(following, ready))

    def retire_load(self, place: int, time: int, ready: int) -> None:
        """End a load that memory accepted in cycle `time`. Its register is ready in cycle `ready`.

        `place` is the register's place on the scoreboard.
        """
        ready = self.aligned(ready)
        if place:
            self.ready[place] = ready
        self.retire_access(time, ready)

    def retire_store(self, time: int, ready: int) -> None:
        """End a store that memory accepted in cycle `time`.

        Memory has the data in cycle `ready`.
        """
        ready = self.aligned(ready)
        self.ready[LAST_STORE] = max(self.ready[LAST_STORE], ready)
        self.retire_access(time, ready)

    def await_banks(self, what: str, place: int | None, size: int, signed: bool) -> None:
        """Wait until the banks of on-chip memory are granted to an access.

        `what` describes the access. `place` is the scoreboard place of the register to be loaded;
        None for a store. `size` is the number of bytes of a loaded number, `signed` whether it is
        signed.
        """
        self.pending = (place, size, signed)
        self.await_answer(what)
