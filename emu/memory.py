"""The memory of a device as a whole: address space, arbiter, channel, and the cores' ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.agents import Agent, Clock
from macaw.emu.banks import Banks
from macaw.emu.channel import Channel, NoisyChannel
from macaw.emu.endpoints import COUNTS, Requester
from macaw.emu.faults import Fault
from macaw.emu.jitter import Jitter
from macaw.emu.ports import MemorySystem, Port
from macaw.emu.registers import MappedRegisters
from macaw.emu.state import State, StateField
from macaw.isa.memory_map import EXTERNAL


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
        self.registers = MappedRegisters(clock)
        self.ports: list[Port] = []
        self.agents: Sequence[Agent] = ()
        self.state = State(())

    # Building

    def port(self, core: Requester) -> Port:
        """Make a new port of `core` and return it."""
        port = Port(self, core)
        self.ports.append(port)
        return port

    def build(self, agents: Sequence[Agent]) -> None:
        """Create on-chip units, ports and state. The device calls this once, with all its cores."""
        self.agents = agents
        self.registers.agents = {agent.number: agent for agent in agents}
        fields = [
            StateField("local", "memory", (self.local_bytes,), "local memory"),
            StateField("external", "memory", (self.external_bytes,), "external memory"),
        ]
        for unit in range(len(self.users)):
            for half in ("ping", "pong"):
                meaning = f"{half} of on-chip unit {unit}"
                fields.append(StateField(f"{half}{unit}", "memory", (self.half_bytes,), meaning))
        own = {
            (core.number, row.name): StateField(
                f"{row.name}{core.number}",
                "memory",
                (row.bytes(self.config, core.number - core.table.number),),
                f"{row.name} of {core.name}",
            )
            for core in agents
            for row in core.table.memories
        }
        fields += [
            *own.values(),
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
        self.own = {key: getattr(self.state, row.name) for key, row in own.items()}
        self.map_own(agents)
        # A core's ports keep the order in which they were made, because the sort is stable.
        self.ports.sort(key=lambda port: port.core.number)
        for place, port in enumerate(self.ports):
            port.place = place
        self.banks.build(len(self.halves), len(self.ports))
        self.reset()

    # State

    def reset(self) -> None:
        """Zero all bytes and counts, let half 1 of each unit feed the array, and drop requests."""
        self.state.reset()
        self.feeding = [1] * len(self.users)
        self.banks.reset()
        self.channel.free = 0
        for port in self.ports:
            port.clear()

    def sync(self) -> None:
        """Write into `self.state` what the memory system keeps in attributes during a run."""
        self.state.feeding = list(self.feeding)
        self.state.arbiter = self.banks.plain()
        self.state.free = self.channel.free
        self.state.traffic = [list(port.counts().values()) for port in self.ports]

    def reload(self) -> None:
        """Set the memory system's attributes from the values that `sync` wrote into `state`."""
        self.feeding = list(self.state.feeding)
        self.banks.take(self.state.arbiter, self.ports)
        self.channel.free = self.state.free
        for port, values in zip(self.ports, self.state.traffic, strict=True):
            for name, value in zip(COUNTS, values, strict=True):
                setattr(port, name, value)

    # Accesses that take no time: by the loader, the host program, the debugger

    def address(self, field: str, offset: int) -> int:
        """Return the address of the byte at `offset` in the memory of `state`'s field `field`."""
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
            for agent in self.agents:
                # a sleeping dma first does its earlier reads, which must see the old bytes
                agent.sync()
        pages.write(offset, data)

    def spill(self, address: int, data: bytes) -> None:
        """Write a trace record to `address`; this takes no time, and listeners do not see it.

        The address must be in external memory or in a core's own memory, because the banks of
        on-chip memory have no port for records. Raises `Fault` otherwise.
        """
        offset = address - EXTERNAL
        if 0 <= offset <= self.external_bytes - len(data):
            self.external.write(offset, data)
            return
        pages, offset = self.locate(address, len(data), "write")
        if address >> REGION_SHIFT == ONCHIP:
            raise Fault(
                "out-of-range access",
                f"a trace cannot write a record at {address:#010x}, in on-chip memory",
                {"address": address, "size": len(data)},
            )
        pages.write(offset, data)
