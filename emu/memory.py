"""The memory of a device as a whole: address space, arbiter, channel, and the cores' ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.agents import Agent, Clock
from macaw.emu.banks import Banks
from macaw.emu.channel import Channel, NoisyChannel
from macaw.emu.core_set import CoreSet
from macaw.emu.endpoints import COUNTS, Requester
from macaw.emu.faults import Fault
from macaw.emu.jitter import Jitter
from macaw.emu.pages import Pages
from macaw.emu.ports import MemorySystem, Port
from macaw.emu.registers import MappedRegisters
from macaw.emu.state import State, StateField

# the fields of the state that are no memory; they come after all memories
_BOOKS = (
    StateField("feeding", "object", meaning="by unit: the half that feeds"),
    StateField("arbiter", "object", meaning="its time, pending requests, last grants"),
    StateField("free", "int", meaning="first cycle in which the external channel is free"),
    StateField("traffic", "object", meaning="counts of each port"),
)


class Memory(MemorySystem):
    """All memory of a device, built from its configuration and the on-chip units that cores add."""

    def __init__(self, clock: Clock, config: Mapping[str, Any], jitter: Jitter | None) -> None:
        super().__init__(
            int(config["mem.local_bytes"]),
            int(config["mem.external_bytes"]),
            int(config["mem.unit_half_bytes"]),
        )
        self.config = config
        self.onchip_latency = int(config["mem.onchip_latency"])
        latency, width = int(config["mem.external_latency"]), int(config["mem.external_width"])
        self.channel = (
            Channel(latency, width) if jitter is None else NoisyChannel(latency, width, jitter)
        )
        self.banks = Banks(
            self, int(config["mem.banks"]), int(config["mem.bank_width"]), self.onchip_latency
        )
        self.registers = MappedRegisters(clock, lambda number: self.core_set.find(number))
        self.ports: list[Port] = []
        self._state = State(())

    # Building

    def port(self, core: Requester) -> Port:
        """Make a new port of `core` and return it."""
        port = Port(self, core)
        self.ports.append(port)
        return port

    def build(self, core_set: CoreSet[Any]) -> None:
        """Create the on-chip units and the state, and add the cores that exist.

        The device calls this once. When it makes further cores, it calls `add`.
        """
        self.core_set = core_set
        fields = [
            StateField("local", "memory", (self.local_bytes,), "local memory"),
            StateField("external", "memory", (self.external_bytes,), "external memory"),
        ]
        for unit in range(len(self.users)):
            for half in ("ping", "pong"):
                meaning = f"{half} of on-chip unit {unit}"
                fields.append(StateField(f"{half}{unit}", "memory", (self.half_bytes,), meaning))
        self._state = State((*fields, *_BOOKS))
        self.local, self.external = self._state.local, self._state.external
        self.halves = [
            getattr(self._state, f"{half}{unit}")
            for unit in range(len(self.users))
            for half in ("ping", "pong")
        ]
        self.banks.build(len(self.halves))
        self.add(core_set.present)
        self.reset()

    def add(self, cores: Iterable[Agent]) -> None:
        """Add the own memories and windows, and the ports, of cores that the device has made.

        The result does not depend on the order in which the device makes its cores.
        """
        cores = list(cores)
        own = {
            (core.number, row.name): StateField(
                f"{row.name}{core.number}",
                "memory",
                (row.bytes(self.config, core.number - core.table.number),),
                f"{row.name} of {core.name}",
            )
            for core in cores
            for row in core.table.memories
        }
        books = [row.name for row in _BOOKS]
        before = [row.name for row in self._state.fields if row.name not in books]
        self._state.add(own.values())
        self.own |= {key: getattr(self._state, row.name) for key, row in own.items()}
        shared = before[: len(before) - len(self.own) + len(own)]
        owners = sorted(self.own, key=lambda key: key[0])
        names = [f"{name}{number}" for number, name in owners]
        self._state.arrange((*shared, *names, *books))
        self.map_own(cores)
        # A core's ports keep the order in which they were made, because the sort is stable.
        self.ports.sort(key=lambda port: port.core.number)
        self.banks.add_ports([port.place for port in self.ports])
        for place, port in enumerate(self.ports):
            port.place = place

    # State

    @property
    def state(self) -> State:
        """The declared state: the bytes of all memories, also of the memories of all cores."""
        self.core_set.all()
        return self._state

    def reset(self) -> None:
        """Zero all bytes and counts, let half 1 of each unit feed the array, and drop requests."""
        self._state.reset()
        self.feeding = [1] * len(self.users)
        self.banks.reset()
        self.channel.free = 0
        for port in self.ports:
            port.clear()

    def sync(self) -> None:
        """Write the attributes of the memory system into `state`."""
        self._state.feeding = list(self.feeding)
        self._state.arbiter = self.banks.plain()
        self._state.free = self.channel.free
        self._state.traffic = [list(port.counts().values()) for port in self.ports]

    def reload(self) -> None:
        """Set the memory system's attributes from the values that `sync` wrote into `state`."""
        self.feeding = list(self._state.feeding)
        self.banks.take(self._state.arbiter, self.ports)
        self.channel.free = self._state.free
        for port, values in zip(self.ports, self._state.traffic, strict=True):
            for name, value in zip(COUNTS, values, strict=True):
                setattr(port, name, value)

    # Accesses that take no time: by the loader, the host program, the debugger

    def address(self, field: str, offset: int) -> int:
        """Return the address of byte `offset` of the array in the field `field` of `state`."""
        return self.address_in(getattr(self.state, field), offset)

    def peek(self, address: int, length: int) -> bytes:
        """Return `length` bytes at `address`; this takes no simulated time.

        Raises `Fault` unless memory contains all of them.
        """
        pages, offset = self.locate(address, length, "read")
        if pages.sleeper is not None:
            pages.sleeper.sync()
        return pages.read(offset, length)

    def poke(self, address: int, data: bytes) -> None:
        """Replace the bytes at `address`; this takes no simulated time.

        Raises `Fault` unless memory contains all of them.
        """
        pages, offset = self.locate(address, len(data), "write")
        if self.banks.exclusive:
            for agent in self.core_set.present:
                # a sleeping dma first does its earlier reads, which must see the old bytes
                agent.sync()
        pages.write(offset, data)

    def spill(self, address: int, data: bytes) -> tuple[Pages, int]:
        """Write `data`, a trace record, to `address`, in no time and without a notice to listeners.

        Return the memory that contains `address`, and the offset of `address` in it. Raises `Fault`
        if a byte is in on-chip memory, whose banks have no port for records, or if no memory
        contains all bytes.
        """
        pages, offset = self.locate(address, len(data), "write")
        if address >> REGION_SHIFT == ONCHIP:
            raise Fault(
                "out-of-range access",
                f"a trace cannot write a record at {address:#010x}, in on-chip memory",
                {"address": address, "size": len(data)},
            )
        pages.write(offset, data)
        return pages, offset
