"""The memory-mapped registers of all cores: of trace blocks, and of the cores' tables."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.agents import Agent, Clock
from macaw.emu.faults import Fault, amount
from macaw.isa import trace
from macaw.isa.common import REGISTERS as ROWS
from macaw.isa.memory_map import CORE_SHIFT, REGISTERS
from macaw.isa.model import SpecialRegister

_COMMON = {row.address: row for row in ROWS}
_TRACE = {row.address: row.name for row in trace.mapped()}
_EVERY = _COMMON | {row.address: row for row in trace.mapped()}  # those of each core


class MappedRegisters:
    """The memory-mapped registers of all cores, which programs read and write by address."""

    def __init__(self, clock: Clock, find: Callable[[int], Agent | None]) -> None:
        self.clock = clock
        self.find = find  # returns the core with a number; None if there is none

    def read(self, address: int, size: int, time: int) -> int:
        """Return the value of the 32-bit register at `address` in cycle `time`.

        Raises `Fault` if there is no such register, or if `size` is not 4 bytes.
        """
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.find(number)
        row = _COMMON.get(offset)
        if core is None or size != 4:
            raise self._no_register("load", address, size)
        if row is None and offset in _TRACE:
            self.clock.cycle = time  # the core must report to its trace block up to this cycle
            return core.read_trace(_TRACE[offset])
        if row is None:
            return core.read_register(self._own("load", address).name, time)
        if row.name == "id":
            return core.number
        if row.name == "status":
            return int(core.running) | int(core.waiting is not None) << 1
        if row.name == "next":
            return core.next_address or 0
        cycles = time // core.divider
        return cycles >> (32 if row.name == "cyclesh" else 0) & 0xFFFF_FFFF

    def write(self, address: int, size: int, value: int, time: int) -> None:
        """Set the 32-bit register at `address` to `value` in cycle `time`.

        Raises `Fault` if no such register can be written, or if `size` is not 4 bytes.
        """
        core = self.find(address - REGISTERS >> CORE_SHIFT)
        offset = address & (1 << CORE_SHIFT) - 1
        if core is None or size != 4 or offset in _COMMON:
            raise self._no_register("store", address, size)
        if offset in _TRACE:
            self.clock.cycle = time
            core.write_trace(_TRACE[offset], value)
            return
        row = self._own("store", address)
        if row.access != "rw":
            raise self._no_register("store", address, size)
        core.write_register(row.name, value, time)

    def _own(self, what: str, address: int) -> SpecialRegister:
        """Return the row of the register at `address` in its core's table.

        Raises `Fault`, whose message begins with `what`, if there is no such register.
        """
        core = self.find(address - REGISTERS >> CORE_SHIFT)
        offset = address & (1 << CORE_SHIFT) - 1
        for row in () if core is None else core.table.registers:
            if row.address == offset:
                return row
        raise self._no_register(what, address, 4)

    def _no_register(self, what: str, address: int, size: int) -> Fault:
        """Return the fault for an access to an address without a register, or with a wrong size.

        `what` is "load" or "store".
        """
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.find(number)
        row = _EVERY.get(offset & ~3)
        if row is None and core is not None:
            own = (x for x in core.table.registers if x.address == offset & ~3)
            row = next(own, None)
        if core is None:
            reason = f"there is no core {number}"
        elif row is None:
            reason = f"{core.name} has no register at offset {offset:#x}"
        elif what == "store" and row.access != "rw":
            reason = f"the register {row.name} of {core.name} is read-only"
        else:
            done = "written" if what == "store" else "read"
            reason = f"the register {row.name} of {core.name} is {done} as a whole word of 4 bytes"
        return Fault(
            "out-of-range access",
            f"{what} of {amount(size, 'byte')} at {address:#010x}: {reason}",
            {"address": address, "size": size},
        )
