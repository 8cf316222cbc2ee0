"""A toy core that follows a script, for tests of services that cores share; devices of toys."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import macaw.emu.dma
from macaw.emu.address_space import MAPPED, REGION_SHIFT
from macaw.emu.core import Core
from macaw.emu.device import Builder, Device
from macaw.emu.endpoints import Endpoint
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault, Stop
from macaw.emu.state import StateField
from macaw.emu.system import Dispatchable, Startable
from macaw.emu.windows import WindowNotReady
from macaw.isa.model import Core as Table

Step = tuple[Any, ...]
UNIT = 0x1000_0000
HALF = 1 << 19
MULTICAST = 1 << 24  # bit of a destination address: one more unit gets the same bytes
EXTERNAL = 0x8000_0000

CONFIG: dict[str, Any] = {
    "trace.groups": 4,
    "trace.recording": True,
    "mem.local_bytes": 1 << 20,
    "mem.unit_half_bytes": 8192,
    "mem.banks": 16,
    "mem.bank_width": 8,
    "mem.onchip_latency": 2,
    "mem.external_bytes": 1 << 20,
    "mem.external_latency": 20,
    "mem.external_width": 32,
    "jitter.refresh_interval": 190,
    "jitter.refresh": 30,
    "jitter.others_interval": 64,
    "jitter.others": 12,
    "dma.setup": 4,
    "dma.queue": 16,
    "dma.width": 32,
    "dma.buffer": 64,
    "dma.divider": 1,
}


class Toy(Core, Startable, Dispatchable):
    """Executes `script[entry:]`; step number n is an instruction at address 4 n.

    `state.log` gets (time of the step, result) at the end of each step that has a result.
    """

    confined = False

    def __init__(
        self, device: Device, number: int, script: Sequence[Step], entry: int | None, divider: int
    ) -> None:
        """Make a toy; with `entry` None it is idle until it is started."""
        table = Table(f"toy{number}", "toy", number, "", True)
        fields = (
            StateField("pc", "int"),
            StateField("log", "object", initial=[]),
            StateField("issued", "int"),
        )
        super().__init__(device, table, table.name, number, fields)
        self.script, self.entry, self.divider = list(script), entry, divider
        self.port = device.memory.port(self)

    def reset(self) -> None:
        super().reset()
        if self.entry is not None:
            self.start(self.entry, 0)

    @property
    def next_address(self) -> int | None:
        return 4 * self.state.pc if self.running else None

    def start(self, entry: int, time: int) -> None:
        self.running, self.state.pc = True, entry
        self.time = self.aligned(time)

    def dispatch(self, offset: int, time: int) -> None:
        self.start(offset, time + 4)

    def counters(self) -> dict[str, int]:
        return {"steps": self.retired}

    def advance(self, limit: int) -> Stop | None:
        while self.time < limit and self.running:
            name, *operands = self.script[self.state.pc]
            if self.listeners:
                self.announce("instruction", address=0, name=name)
            outcome = getattr(self, f"_{name}")(*operands)
            if isinstance(outcome, Stop):
                return outcome
            if outcome == "shared":
                return None
        return None

    def _finish(self, ready: int, result: Any = None) -> None:
        if result is not None:
            self.state.log.append((self.time, result))
        self.proceed()
        self.state.pc += 1
        self.retired += 1
        self.time = self.aligned(max(ready, self.time + self.divider))

    def _work(self, cycles: int) -> None:
        self._finish(self.time + cycles * self.divider)

    def _record(self, address: int) -> None:
        """Write a record as a trace block does, and end the step."""
        self.device.memory.spill(address, bytes([self.retired & 0xFF]) * 88)
        self._finish(self.time)

    def _mark(self) -> None:
        self._finish(self.time, "mark")

    def _jump(self, place: int) -> None:
        self._finish(self.time)
        self.state.pc = place

    def _load(self, address: int, size: int) -> str | None:
        try:
            answer = self.port.load(self.time, address, size)
        except WindowNotReady as later:
            self.postpone(later)
            return "shared"
        done = self._answered(answer and answer[1], answer and answer[0])
        return "shared" if self._looked(address, size) else done

    def _store(self, address: int, size: int, value: int) -> str | None:
        try:
            ready = self.port.store(self.time, address, size, value)
        except WindowNotReady as later:
            self.postpone(later)
            return "shared"
        done = self._answered(ready, "stored")
        return "shared" if self._looked(address, size) else done

    def _looked(self, address: int, size: int) -> bool:
        """Return whether the address belongs to a window or a register: other cores may act now."""
        return address >> REGION_SHIFT == MAPPED or self.port.window(address, size) is not None

    def _beat(self, ranges: Sequence[tuple[int, int]], data: bytes | None = None) -> str | None:
        self.port.beat(self.time, ranges, data)
        return self._answered(None, None)

    def _answered(self, ready: int | None, result: Any) -> str | None:
        self.state.issued = self.time
        if ready is None:
            self.wait("on-chip memory")
            return "shared"
        self._finish(ready, (result, ready))
        return None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        self.time = self.state.issued
        self._finish(ready, (data.hex() or "stored", ready))

    def _retry(self, busy: int, on: str, result: Any = None) -> str:
        if busy:
            self.wait(on, busy)
        else:
            self._finish(self.time, result)
        return "shared"

    def _swap(self, mask: int) -> str:
        return self._retry(self.device.swap(mask), f"mem.swap {mask:#x}", "swapped")

    def _dispatch(self, mask: int, offset: int) -> str:
        busy = self.device.dispatch(mask, offset, self.time)
        return self._retry(busy, f"dispatch {mask:#x}", "dispatched")

    def _start(self, number: int, entry: int) -> str:
        return self._retry(self.device.start(number, entry, self.time), "core.start", "started")

    def _join(self, mask: int) -> str:
        return self._retry(self.device.busy(mask), f"core.wait {mask:#x}", "joined")

    def _copy(self, address: int) -> str:
        copier = self.device.copier
        assert copier is not None
        ticket = copier.submit(self.time, address, self)
        return self._retry(1 << copier.number if ticket is None else 0, "dma.copy", ticket)

    def _await(self, ticket: int) -> str:
        copier = self.device.copier
        assert copier is not None
        busy = 0 if copier.finished(ticket) else 1 << copier.number
        return self._retry(busy, f"dma.wait {ticket}", "done")

    def _end(self) -> str:
        self.running, self.time, time = False, 1 << 62, self.time
        self.device.changed(self, time)
        return "shared"

    def _exit(self, code: int) -> Stop:
        self.device.cycle = self.time
        self._finish(self.time)
        return Stop("exit", self.time, f"exit {code}", exit_code=code, core=self.name)

    def _break(self) -> Stop:
        address = self.next_address
        self.device.cycle = self.time
        self._finish(self.time)
        return Stop("breakpoint", self.time, core=self.name, address=address)

    def _fault(self) -> None:
        raise Fault("illegal instruction", "the script says so", {"word": 1})


def toy(
    number: int,
    script: Sequence[Step],
    *,
    idle: bool = False,
    unit: int | None = None,
    divider: int = 1,
) -> Builder:
    """A builder of one toy; `idle` waits for a start, `unit` is the unit from which it is fed."""

    def build(device: Device) -> list[Core]:
        core = Toy(device, number, script, None if idle else 0, divider)
        if unit is not None:
            device.memory.add_unit(unit, core)
        return [core]

    return build


def make(
    *builders: Builder,
    units: int = 2,
    dma: bool = True,
    engine: str = ENGINES[0],
    jitter: int | None = None,
    **changes: Any,
) -> Device:
    """A device of toys with a dma; idle toys 30, 31, ... own the units that no other toy has."""
    config = CONFIG | {name.replace("__", "."): value for name, value in changes.items()}

    def fill(device: Device) -> list[Core]:
        made: list[Core] = []
        for unit in range(len(device.memory.users), units):
            made += toy(30 + unit, [("end",)], idle=True, unit=unit)(device)
        return made

    return Device(
        config, [*builders, fill, *([macaw.emu.dma.build] if dma else [])], engine, jitter
    )


def times(device: Device, name: str = "toy0") -> list[tuple[int, Any]]:
    """The log of a toy: (time, result) of each step that has a result."""
    log: list[tuple[int, Any]] = device.cores[name].state.log
    return log


def describe(
    dst: int, src: int, row_bytes: int, rows: int = 1, dst_stride: int = 0, src_stride: int = 0
) -> bytes:
    """The six words of a transfer's description."""
    return struct.pack("<4I2i", dst, src, row_bytes, rows, dst_stride, src_stride)
