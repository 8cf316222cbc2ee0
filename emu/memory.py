"""The memory map: what lies where, the on-chip units and their halves, and the ports into it.

| from | what |
|---|---|
| `0x0000_0000` | local memory of cp |
| `0x1000_0000 + unit<<20 + half<<19` | on-chip unit, half 0 (ping) or 1 (pong) |
| `0x2000_0000 + core<<12` | registers of each core (`isa.common.REGISTERS`) |
| `0x8000_0000` | external memory |

Every other address is the fault "out-of-range access".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from emu.banks import Banks
from emu.faults import Fault
from emu.pages import Pages
from emu.ports import COUNTS, MAPPED, ONCHIP, REGION_SHIFT, Channel, Port
from emu.state import State, StateField
from isa.common import REGISTERS as REGISTER_ROWS
from isa.memory_map import (
    CORE_SHIFT,
    EXTERNAL,
    HALF_SHIFT,
    LOCAL,
    REGISTERS,
    UNIT_SHIFT,
    UNITS,
)

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device

_REGISTERS = {row.address: row for row in REGISTER_ROWS}


class Memory:
    """All memory of a device, built from its configuration and from the units that cores add.

    `feeding[unit]` is the half that feeds the array; the DMA fills the other one. Half 1
    feeds after reset, so that half 0 is filled first.
    """

    local: Pages
    external: Pages

    def __init__(self, device: Device, config: Mapping[str, Any]) -> None:
        self.device = device
        self.onchip_latency = int(config["mem.onchip_latency"])
        self.half_bytes = int(config["mem.unit_half_bytes"])
        self.channel = Channel(
            int(config["mem.external_latency"]), int(config["mem.external_width"])
        )
        self.banks = Banks(
            self, int(config["mem.banks"]), int(config["mem.bank_width"]), self.onchip_latency
        )
        self.local_bytes = int(config["mem.local_bytes"])
        self.external_bytes = int(config["mem.external_bytes"])
        self.users: list[Core] = []  # by unit: the core that feeds from it
        self.feeding: list[int] = []
        self.ports: list[Port] = []
        self.halves: list[Pages] = []  # ping of unit 0, pong of unit 0, ping of unit 1, ...
        self.state = State(())

    # Building

    def add_unit(self, number: int, user: Core) -> None:
        """Add the on-chip unit `number` (from 0, without gaps), from which `user` feeds."""
        if number != len(self.users):
            raise ValueError(f"unit {number} comes after {len(self.users)} units")
        self.users.append(user)

    def port(self, core: Core) -> Port:
        """A new port of `core`."""
        port = Port(self, core)
        self.ports.append(port)
        return port

    def build(self) -> None:
        """Called by the device when all cores are there: set up units, ports and state."""
        fields = [
            StateField("local", "memory", (self.local_bytes,), "local memory"),
            StateField("external", "memory", (self.external_bytes,), "external memory"),
        ]
        for unit in range(len(self.users)):
            for half in ("ping", "pong"):
                meaning = f"{half} of on-chip unit {unit}"
                fields.append(StateField(f"{half}{unit}", "memory", (self.half_bytes,), meaning))
        fields += [
            StateField("feeding", "object", meaning="by unit: the half that feeds"),
            StateField("arbiter", "object", meaning="its time, pending requests, last grants"),
            StateField("free", "int", meaning="first cycle in which the external channel is free"),
            StateField("traffic", "object", meaning="counts of each port"),
        ]
        self.state = State(fields)
        self.local, self.external = self.state.local, self.state.external
        self.halves = [
            getattr(self.state, f"{half}{unit}")
            for unit in range(len(self.users))
            for half in ("ping", "pong")
        ]
        # The order of taking stays within a core: sort is stable.
        self.ports.sort(key=lambda port: port.core.number)
        for place, port in enumerate(self.ports):
            port.place = place
        self.banks.build(len(self.halves), len(self.ports))
        self.reset()

    # State

    def reset(self) -> None:
        """All bytes zero, half 1 of each unit feeding, nothing under way."""
        self.state.reset()
        self.feeding = [1] * len(self.users)
        self.banks.reset()
        self.channel.free = 0
        for port in self.ports:
            port.clear()

    def sync(self) -> None:
        """Write what changes while running into `self.state`."""
        self.state.feeding = list(self.feeding)
        self.state.arbiter = self.banks.plain()
        self.state.free = self.channel.free
        self.state.traffic = [list(port.counts().values()) for port in self.ports]

    def reload(self) -> None:
        """Take what changes while running from `self.state`."""
        self.feeding = list(self.state.feeding)
        self.banks.take(self.state.arbiter)
        self.channel.free = self.state.free
        for port, values in zip(self.ports, self.state.traffic, strict=True):
            for name, value in zip(COUNTS, values, strict=True):
                setattr(port, name, value)

    # Addresses

    def locate(self, address: int, length: int, what: str = "access") -> tuple[Pages, int]:
        """The memory in which `length` bytes at `address` lie, and the offset there.

        Registers are no memory. Raises `Fault` (out-of-range access) if not all bytes lie in one
        memory; `what` begins its message.
        """
        if address >= EXTERNAL:
            offset = address - EXTERNAL
            if offset + length <= self.external_bytes:
                return self.external, offset
        elif address >= 0 and address + length <= self.local_bytes:
            return self.local, address
        elif address >> REGION_SHIFT == ONCHIP:
            index = address - UNITS >> HALF_SHIFT
            offset = address & (1 << HALF_SHIFT) - 1
            if index < len(self.halves) and offset + length <= self.half_bytes:
                return self.halves[index], offset
        raise self._outside(address, length, what)

    def locate_half(self, address: int, length: int, what: str = "access") -> tuple[int, int]:
        """As `locate`, of on-chip memory only: (index of the half: 2 * unit + half, offset)."""
        index = address - UNITS >> HALF_SHIFT
        offset = address & (1 << HALF_SHIFT) - 1
        if 0 <= index < len(self.halves) and offset + length <= self.half_bytes:
            return index, offset
        raise self._outside(address, length, what)

    def _outside(self, address: int, length: int, what: str) -> Fault:
        size = "a byte" if length == 1 else f"{length} bytes"
        return Fault(
            "out-of-range access",
            f"{what} of {size} at {address:#010x}: {self.describe(address)}",
            {"address": address, "size": length},
        )

    def describe(self, address: int) -> str:
        """What lies at an address, in words that help to see why an access failed."""
        if address >= EXTERNAL:
            end = EXTERNAL + self.external_bytes
            return f"external memory is {EXTERNAL:#010x} to {end - 1:#010x}"
        if address >> REGION_SHIFT == LOCAL:
            return f"local memory is {LOCAL:#010x} to {self.local_bytes - 1:#010x}"
        if address >> REGION_SHIFT == ONCHIP:
            unit, half = address - UNITS >> UNIT_SHIFT, address >> HALF_SHIFT & 1
            if unit >= len(self.users):
                return f"there is no on-chip unit {unit}, {self._units()}"
            start = self.half_address(2 * unit + half)
            end = start + self.half_bytes - 1
            return f"half {half} of unit {unit} is {start:#010x} to {end:#010x}"
        if address >> REGION_SHIFT == MAPPED:
            return "registers of the cores are there, no memory"
        return "the device has no memory there"

    def _units(self) -> str:
        count = len(self.users)
        return "the device has none" if not count else f"units are 0 to {count - 1}"

    def half_address(self, index: int) -> int:
        """The first address of a half; `index` is 2 * unit + half."""
        return UNITS + (index << HALF_SHIFT)

    def feeding_address(self, unit: int) -> int:
        """The first address of the half that feeds."""
        return self.half_address(2 * unit + self.feeding[unit])

    def holder(self, address: int) -> Core | None:
        """The running core that feeds from the half in which an on-chip `address` lies."""
        index = address - UNITS >> HALF_SHIFT
        if not 0 <= index < len(self.halves) or self.feeding[index >> 1] != index & 1:
            return None
        user = self.users[index >> 1]
        return user if user.running else None

    # Without time: the loader, the host program, the debugger

    def peek(self, address: int, length: int) -> bytes:
        """Bytes at `address`; costs no time. Raises `Fault` outside of memory."""
        pages, offset = self.locate(address, length, "read")
        return pages.read(offset, length)

    def poke(self, address: int, data: bytes) -> None:
        """Replace bytes at `address`; costs no time. Raises `Fault` outside of memory."""
        pages, offset = self.locate(address, len(data), "write")
        if self.banks.alone:
            self.device.sync()  # what was read until now is what was there
        pages.write(offset, data)

    # Registers

    def read_register(self, address: int, size: int, time: int) -> int:
        """The word at `address` of the cores' registers at cycle `time`. Raises `Fault`."""
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.device.by_number.get(number)
        row = _REGISTERS.get(offset)
        if core is None or row is None or size != 4:
            raise self._no_register("load", address, size)
        if row.name == "id":
            return core.number
        if row.name == "status":
            return int(core.running) | int(core.waiting is not None) << 1
        if row.name == "next":
            return core.next_address or 0
        cycles = time // core.divider
        return cycles >> (32 if row.name == "cyclesh" else 0) & 0xFFFF_FFFF

    def write_register(self, address: int) -> None:
        """Raises `Fault`: no register can be written yet."""
        raise self._no_register("store", address, 4)

    def _no_register(self, what: str, address: int, size: int) -> Fault:
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.device.by_number.get(number)
        row = _REGISTERS.get(offset & ~3)
        if core is None:
            reason = f"there is no core {number}"
        elif row is None:
            reason = f"{core.name} has no register at offset {offset:#x}"
        elif what == "store":
            reason = f"the register {row.name} of {core.name} is read-only"
        else:
            reason = f"the register {row.name} of {core.name} is read as a whole word of 4 bytes"
        return Fault(
            "out-of-range access",
            f"{what} of {size} bytes at {address:#010x}: {reason}",
            {"address": address, "size": size},
        )
