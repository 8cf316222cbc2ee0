"""The memory map: what lies where, the on-chip units and their halves, and the ports into it.

| from | what |
|---|---|
| `0x0000_0000` | local memory of cp |
| `0x1000_0000 + unit<<20 + half<<19` | on-chip unit, half 0 (ping) or 1 (pong) |
| `0x2000_0000 + core<<12` | registers of each core (`macaw.isa.common.REGISTERS`) |
| where a core's table says | its own memories and windows (`macaw.isa.model.Memory`, `Window`) |
| `0x8000_0000` | external memory |

Every other address is the fault "out-of-range access".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.emu.banks import Banks
from macaw.emu.faults import Fault
from macaw.emu.jitter import NoisyChannel
from macaw.emu.pages import Pages
from macaw.emu.ports import COUNTS, MAPPED, ONCHIP, REGION_SHIFT, Channel, Port
from macaw.emu.state import State, StateField
from macaw.emu.windows import Window
from macaw.isa import trace
from macaw.isa.common import REGISTERS as REGISTER_ROWS
from macaw.isa.memory_map import (
    CORE_SHIFT,
    EXTERNAL,
    HALF_SHIFT,
    LOCAL,
    REGISTERS,
    UNIT_SHIFT,
    UNITS,
)

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.isa.model import SpecialRegister

_REGISTERS = {row.address: row for row in REGISTER_ROWS}
_TRACE = {row.address: row.name for row in trace.mapped()}


class Region(NamedTuple):
    """A memory or window of a core's own in the memory map."""

    start: int
    end: int
    name: str  # `instructions of nnp`
    pages: Pages | None  # of a memory
    window: Window | None = None


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
        self.channel = self._channel(config)
        self.banks = Banks(
            self, int(config["mem.banks"]), int(config["mem.bank_width"]), self.onchip_latency
        )
        self.local_bytes = int(config["mem.local_bytes"])
        self.external_bytes = int(config["mem.external_bytes"])
        self.users: list[Core] = []  # by unit: the core that feeds from it
        self.feeding: list[int] = []
        self.ports: list[Port] = []
        self.halves: list[Pages] = []  # ping of unit 0, pong of unit 0, ping of unit 1, ...
        self.own: dict[tuple[int, str], Pages] = {}  # by core number and name of the table's row
        self.keepers: dict[Pages, tuple[Core, str]] = {}  # the same the other way round
        self.regions: list[Region] = []  # these, and the windows, by address
        self.starts: list[int] = []
        self.windowed: frozenset[int] = frozenset()  # the regions (`REGION_SHIFT`) with windows
        self.state = State(())

    # Building

    def _channel(self, config: Mapping[str, Any]) -> Channel:
        latency, width = int(config["mem.external_latency"]), int(config["mem.external_width"])
        jitter = self.device.jitter_of(0)
        return Channel(latency, width) if jitter is None else NoisyChannel(latency, width, jitter)

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
        fields += self._own_fields()
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
        self._map_own()
        # The order of taking stays within a core: sort is stable.
        self.ports.sort(key=lambda port: port.core.number)
        for place, port in enumerate(self.ports):
            port.place = place
        self.banks.build(len(self.halves), len(self.ports))
        self.reset()

    def _own_fields(self) -> list[StateField]:
        """The memories that cores bring."""
        return [
            StateField(
                f"{row.name}{core.number}",
                "memory",
                (row.bytes(self.device.config, core.number - core.table.number),),
                f"{row.name} of {core.name}",
            )
            for core in self.device.order
            for row in core.table.memories
        ]

    def _map_own(self) -> None:
        """Note where the memories and windows of cores lie."""
        for core in self.device.order:
            for row in core.table.memories:
                pages: Pages = getattr(self.state, f"{row.name}{core.number}")
                self.own[core.number, row.name] = pages
                self.keepers[pages] = core, row.name
                start = row.start(core.number - core.table.number)
                self.regions.append(
                    Region(start, start + pages.size, f"{row.name} of {core.name}", pages)
                )
            for item in core.table.windows:
                window = Window(item, core)
                self.regions.append(Region(window.start, window.end, window.name, None, window))
        self.regions.sort(key=lambda region: region.start)
        for one, other in pairwise(self.regions):
            if other.start < one.end:
                raise ValueError(f"{one.name} and {other.name} overlap in the memory map")
        self.starts = [region.start for region in self.regions]
        windows = (region for region in self.regions if region.window is not None)
        self.windowed = frozenset(region.start >> REGION_SHIFT for region in windows)

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
        else:
            region = self.region(address)
            if region is not None and region.pages and address + length <= region.end:
                return region.pages, address - region.start
        raise self._outside(address, length, what)

    def region(self, address: int) -> Region | None:
        """The memory or window of a core's own in which an address lies."""
        place = bisect_right(self.starts, address) - 1
        if place < 0 or address >= self.regions[place].end:
            return None
        return self.regions[place]

    def window(self, address: int, length: int) -> Window | None:
        """The window in which the bytes lie; None if they are not all in one."""
        region = self.region(address)
        return None if region is None or address + length > region.end else region.window

    def extent(self, address: int, length: int, what: str) -> tuple[int, int]:
        """As `locate`, of windows too: (offset in what lies there, its size)."""
        window = self.window(address, length)
        if window is not None:
            return address - window.start, window.end - window.start
        pages, offset = self.locate(address, length, what)
        return offset, pages.size

    def address(self, field: str, offset: int) -> int:
        """The address of a byte of one of the memories, by its field of `state`."""
        pages = getattr(self.state, field)
        if pages in self.halves:
            return UNITS + (self.halves.index(pages) << HALF_SHIFT) + offset
        if pages in self.keepers:
            core, name = self.keepers[pages]
            row = next(row for row in core.table.memories if row.name == name)
            return row.start(core.number - core.table.number) + offset
        return (LOCAL if pages is self.local else EXTERNAL) + offset

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
        region = (
            self.regions[max(0, bisect_right(self.starts, address) - 1)] if self.regions else None
        )
        if region is not None and region.start >> REGION_SHIFT == address >> REGION_SHIFT:
            text = f"{region.name} is {region.start:#010x} to {region.end - 1:#010x}"
            return f"{text}, a window" if region.window is not None else text
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
        if pages.sleeper is not None:
            pages.sleeper.sync()
        return pages.read(offset, length)

    def poke(self, address: int, data: bytes) -> None:
        """Replace bytes at `address`; costs no time. Raises `Fault` outside of memory."""
        pages, offset = self.locate(address, len(data), "write")
        if self.banks.alone:
            self.device.sync()  # what was read until now is what was there
        pages.write(offset, data)

    def spill(self, address: int, data: bytes) -> None:
        """Write a record of a trace; costs no time, and nobody is told. Raises `Fault`.

        It goes to external memory, or one of a core's own: the banks have no port for it.
        """
        offset = address - EXTERNAL
        if 0 <= offset <= self.external_bytes - len(data):
            self.external.write(offset, data)
            return
        pages, offset = self.locate(address, len(data), "write")
        if address >> REGION_SHIFT == ONCHIP:
            raise Fault(
                "out-of-range access",
                f"a record of a trace at {address:#010x}, in on-chip memory, where none can go",
                {"address": address, "size": len(data)},
            )
        pages.write(offset, data)

    # Registers

    def read_register(self, address: int, size: int, time: int) -> int:
        """The word at `address` of the cores' registers at cycle `time`. Raises `Fault`."""
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.device.by_number.get(number)
        row = _REGISTERS.get(offset)
        if core is None or size != 4:
            raise self._no_register("load", address, size)
        if row is None and offset in _TRACE:
            self.device.cycle = time  # up to which the core has to tell
            return core.read_trace(_TRACE[offset])
        if row is None:
            return core.read_register(self._own_register("load", address).name, time)
        if row.name == "id":
            return core.number
        if row.name == "status":
            return int(core.running) | int(core.waiting is not None) << 1
        if row.name == "next":
            return core.next_address or 0
        cycles = time // core.divider
        return cycles >> (32 if row.name == "cyclesh" else 0) & 0xFFFF_FFFF

    def write_register(self, address: int, size: int, value: int, time: int) -> None:
        """Set the register of a core's own at `address` at cycle `time`. Raises `Fault`."""
        core = self.device.by_number.get(address - REGISTERS >> CORE_SHIFT)
        if core is None or size != 4 or address & (1 << CORE_SHIFT) - 1 in _REGISTERS:
            raise self._no_register("store", address, size)
        offset = address & (1 << CORE_SHIFT) - 1
        if offset in _TRACE:
            self.device.cycle = time
            core.write_trace(_TRACE[offset], value)
            return
        row = self._own_register("store", address)
        if row.access != "rw":
            raise self._no_register("store", address, size)
        core.write_register(row.name, value, time)

    def _own_register(self, what: str, address: int) -> SpecialRegister:
        """The row of a register that only its core has. Raises `Fault`."""
        core = self.device.by_number[address - REGISTERS >> CORE_SHIFT]
        offset = address & (1 << CORE_SHIFT) - 1
        for row in core.table.registers:
            if row.address == offset:
                return row
        raise self._no_register(what, address, 4)

    def _no_register(self, what: str, address: int, size: int) -> Fault:
        number, offset = address - REGISTERS >> CORE_SHIFT, address & (1 << CORE_SHIFT) - 1
        core = self.device.by_number.get(number)
        row = _REGISTERS.get(offset & ~3)
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
            f"{what} of {size} bytes at {address:#010x}: {reason}",
            {"address": address, "size": size},
        )
