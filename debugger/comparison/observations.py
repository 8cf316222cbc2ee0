"""Observes one of the two compared runs, on a separate device.

The session's own device does not change. The observed run begins at the session's present position,
with its present state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.comparison.subjects import (
    CYCLES,
    MEMORY,
    PACKETS,
    REGISTERS,
    TRANSFERS,
    Subject,
)
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.faults import Fault
from macaw.emu.inspection import PortlessMover

if TYPE_CHECKING:
    from macaw.debugger.history import Position
    from macaw.debugger.session import Session
    from macaw.emu.core import Core
    from macaw.emu.faults import Stop

# For a packet: the members that come from the program. The others are the progress of the core.
_PACKET = ("address", "mnemonic", "buffer", "shift", "last", "clusters", "segments", "out")
_TRANSFER = ("dst", "src", "row_bytes", "rows", "dst_stride", "src_stride")
_KINDS = {
    REGISTERS: ("instruction",),
    PACKETS: ("packet",),
    TRANSFERS: ("begin",),
    CYCLES: ("instruction", "packet", "begin"),
}


@dataclass(slots=True)
class Observation:
    """An action of one run, such as a write, to compare with an action of the other run.

    `item` is what is compared: bytes, a digest of registers, a record or a cycle. `stream` is the
    key of the stream to which the observation belongs: observation k of a stream in one run is
    compared with observation k of the same stream in the other run. The key is a core's name, or
    (core name, kind of action). For writes, it is the name of an `Area` of memory, in which each
    byte is compared separately.
    """

    stream: Any
    item: Any
    time: int
    core: str
    address: int | None  # the address of the instruction that the core was executing
    position: Position  # the first position at which a session shows the effect of the action


@dataclass(slots=True)
class Write(Observation):
    """A write to memory: `item` has the bytes, `first` is the first byte's offset in the area."""

    first: int = 0


class ObservedRun:
    """A run whose actions are observed, and its observations so far.

    Only actions of one subject count: writes to memory, changes of registers, packets, transfers or
    cycles.
    """

    def __init__(
        self,
        session: Session,
        subject: Subject,
        pause: Callable[[], bool],
        engine: str,
        fields: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Prepare to run from the session's present position.

        The device calls `pause` repeatedly and stops when `pause` returns True. `engine` is
        the engine of the separate device. For the subject `registers`, `fields` has the fields to
        compare by core name.
        """
        self.session = session
        self.subject = subject
        self.fields = fields
        self.items: list[Observation] = []
        self.stop: Stop | None = None  # the stop at the end of the run
        self.interrupted = False
        self.device = Device(session.device.config, engine=engine)
        self.device.load(session.program)
        for core in self.device.order if subject.kind == MEMORY else ():
            if isinstance(core, PortlessMover):
                core.remember(lambda: 0).on_move = partial(self._note_move, core)
        self.device.restore(session.device.snapshot())
        self.device.pause = pause
        self._at: dict[str, int] = {}
        # writes whose bytes may not be in memory yet
        self._announced: list[tuple[Event, int, int]] = []
        self.device.listen(self._hear)

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.stop is not None

    def advance(self, cycle: int) -> None:
        """Run up to a cycle, or to the end of the program if that comes first."""
        if self.over:
            return
        stop = self.device.run(until=cycle)
        self._read_written()
        if stop.reason == "interrupt":
            self.interrupted = True
        elif stop.reason != "cycle limit":
            self.stop = stop
            if self.subject.kind == REGISTERS:
                for name in sorted(self.subject.cores & self._at.keys()):
                    self._add_registers(self.device.cores[name])

    def _hear(self, event: Event) -> None:
        self._read_written()
        core, kind, values = event.core, event.kind, event.values
        if self.subject.kind == MEMORY:
            if kind == "write":
                self._announced.append((event, int(values["address"]), int(values["size"])))
        elif core.name in self.subject.cores and kind in _KINDS[self.subject.kind]:
            self._add(event)
        if kind == "instruction":
            self._at[core.name] = int(values["address"])

    def _note_move(self, core: Core, kind: str, time: int, address: int, size: int) -> None:
        """Note a write by a core that does not announce its writes (`PortlessMover`).

        The record of the core's origins calls this method for each read and write; reads are
        ignored. The written bytes are in memory only at the next announcement.
        """
        if kind == "write":
            self._announced.append((Event(kind, core, time, {}), address, size))

    def _add(self, event: Event) -> None:
        core, kind, time = event.core, event.kind, event.time
        if self.subject.kind == REGISTERS:
            self._add_registers(core)
            return
        address = self._address(core)
        item: Any = None
        if kind in ("packet", "instruction"):
            address = int(event.values["address"])
        if self.subject.kind == CYCLES:
            item = time
        elif kind == "packet":
            packet = getattr(core.state, kind, None) or {}
            item = {name: packet[name] for name in _PACKET if name in packet}
        elif "ticket" in event.values:
            item = {name: event.values[name] for name in _TRANSFER}
        else:
            return  # the event is of another kind of work
        stream = core.name, kind
        position = (time + 1, 0)
        self.items.append(Observation(stream, item, time, core.name, address, position))

    def _add_registers(self, core: Core) -> None:
        core.sync()
        digest = hashlib.blake2b(digest_size=16)
        for name in self.fields[core.name]:
            value = getattr(core.state, name)
            digest.update(
                value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            )
        time = min(core.time, self.device.cycle)
        position = (time, core.number) if self.stop is None else (self.device.cycle + 1, 0)
        at = self._at.get(core.name)
        self.items.append(Observation(core.name, digest.digest(), time, core.name, at, position))

    def _address(self, core: Core) -> int | None:
        address = self._at.get(core.name)
        return core.current()[1] if address is None else address

    def _read_written(self) -> None:
        """Add observations for the announced writes, because memory now has their bytes."""
        for event, address, size in self._announced:
            for stream, first, begin, length in self._pieces(address, size):
                try:
                    data = self.device.memory.peek(begin, length)
                except Fault:  # a window has no bytes that could be read
                    continue
                at = self._address(event.core)
                position = (event.time + 1, 0)
                self.items.append(
                    Write(stream, data, event.time, event.core.name, at, position, first)
                )
        self._announced.clear()

    def _pieces(self, address: int, size: int) -> list[tuple[str, int, int, int]]:
        """Return those parts of a write that are in the memory to compare.

        Each item is (name of an area, offset in the area, address, number of bytes). If the
        comparison is not limited to areas, there is one item for the whole write; its name is
        empty, and its offset is the address.
        """
        if not self.subject.areas:
            return [("", address, address, size)]
        pieces = []
        for area in self.subject.areas:
            low = max(address, area.address)
            high = min(address + size, area.address + area.size)
            if low < high:
                pieces.append((area.name, low - area.address, low, high - low))
        return pieces


def registers(config: Mapping[str, Any], engine: str) -> dict[str, tuple[str, ...]]:
    """Return, by core name, the fields of the core's state that are registers or queues.

    These are the core's register files, and the fields whose origins (the steps that made their
    values) the core can record with this engine.
    """
    device = Device(config, engine=engine)  # a device is slow while it records origins
    fields = {}
    for core in device.order:
        names = {file.name for file in core.table.files} | core.remember(lambda: 0).fields
        known = {row.name for row in core.state.fields if row.dtype != "memory"}
        fields[core.name] = tuple(sorted(names & known))
    return fields
