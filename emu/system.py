"""The system: what a core sees of the device around it, and the services that it may call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from macaw.emu.agents import Agent, Clock
from macaw.emu.core_set import CoreSet
from macaw.emu.faults import Fault
from macaw.emu.jitter import Jitter
from macaw.emu.memory import Memory
from macaw.isa.memory_map import HALF_SHIFT

T = TypeVar("T")


class Startable(Agent):
    """A core that another core can start on a program of its own."""

    @abstractmethod
    def start(self, entry: int, time: int) -> None:
        """Start at the address `entry`: set `running`, and set `self.time` to `time` or later.

        The system calls this only while the core is idle. Raises `Fault`.
        """


class Dispatchable(Agent):
    """A core that runs packet lists from its on-chip unit: a row of the array of PEs.

    A packet list is the program of a row.
    """

    # whether, while it runs, it accesses only its on-chip unit, through its own ports
    confined = True

    @abstractmethod
    def dispatch(self, offset: int, time: int) -> None:
        """Run the packet list at `offset` of the half that feeds this core, from cycle `time` on.

        The system calls this only while the core is idle. Raises `Fault`.
        """


class Operable(Agent):
    """A core that executes operations that other cores send to an address in its memory."""

    @abstractmethod
    def operate(self, memory: str, offset: int, number: int, mask: int, time: int) -> int:
        """Execute an operation that was sent in cycle `time`.

        Return the cycle of the operation's command to the DRAM. `number` is the number of the
        operation. It was sent to the byte at `offset` of this core's memory `memory`. `mask` says
        which units of the core execute it; 0 means the unit to which the byte belongs. Raises
        `Fault`, and `WindowNotReady` if the sender must try again later.
        """


class Copier(Protocol):
    """The dma as other cores see it: they send transfers, and ask whether a transfer is done."""

    number: int

    def submit(self, time: int, address: int, by: Agent) -> int | None:
        """Queue the transfer described at `address` for the core `by`, in cycle `time`.

        Return the transfer's ticket, or None if the queue is full. Raises `Fault` if the
        description cannot be read or if its rows are outside of memory.
        """

    def finished(self, ticket: int) -> bool:
        """Return whether the transfer with this ticket is done.

        For ticket 0, return whether all transfers are done. Raises `Fault` (bad mask) for a ticket
        that was never issued.
        """


class System(Clock):
    """The clock, the memory and the other cores, as one core sees them.

    `engine` is the name of the simulation engine (`macaw.emu.engines.ENGINES`). `jitter` is the
    seed of noise in the timing of DRAM, or None without noise.
    """

    core_set: CoreSet[Any]
    focus: Agent | None = None  # during a step: the core whose instructions are counted

    def __init__(self, config: Mapping[str, Any], engine: str, jitter: int | None) -> None:
        self.config = config
        self.engine = engine
        self.jitter = jitter
        self.stdout: Callable[[bytes], object] = _discard  # called with what a program writes
        self.stderr: Callable[[bytes], object] = _discard
        self.copier: Copier | None = None
        self.last_change = 0  # the latest cycle that a core has passed to `changed`
        self.memory = Memory(self, config, self.jitter_of(0))

    def select(self, engines: Mapping[str, Callable[[], T]]) -> T:
        """Return the class of a core for the engine that simulates this device.

        `engines` has functions by engine name. Each returns the class of one engine; the function
        for the reference engine imports it, because most runs do not need it.
        """
        return engines[self.engine]()

    def jitter_of(self, place: int) -> Jitter | None:
        """Return the noise of one DRAM, or None if the device has no jitter.

        `place` is 0 for external memory; for a core's own memory it is the core's number.
        """
        return None if self.jitter is None else Jitter(self.jitter, place, self.config)

    @property
    def order(self) -> list[Any]:
        """All cores, ordered by number."""
        return self.core_set.all()

    @property
    def by_number(self) -> dict[int, Any]:
        """All cores by number."""
        return {core.number: core for core in self.order}

    @property
    def present(self) -> list[Any]:
        """The cores that were made; all others are idle, in their state after reset."""
        return self.core_set.present

    @property
    def acting(self) -> Agent | None:
        """The core that acts now or acted last; None if that is the arbiter of on-chip memory."""
        return self.core_set.by_number.get(self.turn)

    # Services, which cores call in their own `advance`. If a service returns a mask of cores that
    # is not 0, it has done nothing, and the caller waits for these cores.

    def swap(self, mask: int) -> int:
        """Exchange the halves of the units in `mask`, unless one of them feeds a running core.

        After the exchange, the half of a unit that was filled feeds the core, and the other half
        can be filled.

        Return 0 if the halves were exchanged. Otherwise return the mask of the running cores, for
        which the caller has to wait. Raises `Fault` (bad mask).
        """
        users = self._users(mask, "mem.swap")
        busy = _running(users.values())
        if not busy:
            for unit in users:
                self.memory.feeding[unit] ^= 1
            acting = self.acting
            if acting is not None and acting.listeners:
                acting.announce("swap", mask=mask)
        return busy

    def dispatch(self, mask: int, offset: int, time: int) -> int:
        """Start a packet list in the cores that the units in `mask` feed, unless one of them runs.

        The dispatch is in cycle `time`. The list is at `offset` of each feeding half; the high bits
        of a full address are dropped. Return the mask of the running cores, for which the caller
        has to wait; 0 if the lists were started. Raises `Fault` (bad mask; out-of-range access; a
        fault of the core's `dispatch`).
        """
        users = self._users(mask, "dispatch")
        offset &= (1 << HALF_SHIFT) - 1
        if offset >= self.memory.half_bytes:
            raise Fault(
                "out-of-range access",
                f"dispatch of the list at offset {offset:#x}:"
                f" half a unit has {self.memory.half_bytes:#x} bytes",
                {"offset": offset},
            )
        busy = _running(users.values())
        if not busy:
            for unit, core in users.items():
                self.memory.banks.revoke(time, 2 * unit + self.memory.feeding[unit])
                if not isinstance(core, Dispatchable):
                    text = f"core {core.number}, {core.name}, takes no packet list"
                    raise Fault("bad mask", text, {"core": core.number, "offset": offset})
                core.dispatch(offset, time)
        return busy

    def start(self, number: int, entry: int, time: int) -> int:
        """Start the core `number` at the address `entry` in cycle `time`, unless this core runs.

        Return 0 if the core was started. If it runs, return its mask, and the caller waits for it.
        Raises `Fault` (bad mask; a fault of the core's `start`).
        """
        core = self.core_set.find(number)
        if core is None:
            raise self._no_core(f"core.start of core {number}", number)
        if core.running:
            return 1 << number
        self.memory.banks.revoke(time)
        if not isinstance(core, Startable):
            text = f"core {number}, {core.name}, has no program of its own to start"
            raise Fault("bad mask", text, {"core": number, "entry": entry})
        core.start(entry, time)
        return 0

    def operate(self, number: int, address: int, mask: int, time: int) -> int:
        """Send operation `number` to the core that owns the memory at `address`.

        Return the cycle of the operation's command to the DRAM. `Operable.operate` explains `mask`.
        Raises `Fault`, and `WindowNotReady` if the caller has to send the operation again.
        """
        pages, offset = self.memory.locate(address, 1, "an operation")
        keeper = self.memory.keepers.get(pages)
        if keeper is None:
            raise Fault(
                "bad mask",
                f"operation {number} sent to {address:#010x}, where no core takes any",
                {"number": number, "address": address},
            )
        core, name = keeper
        if not isinstance(core, Operable):
            text = f"operation {number} sent to {name} of {core.name}, which takes none"
            raise Fault("bad mask", text, {"number": number})
        return core.operate(name, offset, number, mask, time)

    def busy(self, mask: int) -> int:
        """Return `mask` without the bits of cores that do not run; bit n is that of core number n.

        Raises `Fault` (bad mask) if a bit has no core.
        """
        if mask & ~_mask(self.present):
            unknown = mask & ~_mask(self.order)
            if unknown:
                missing = unknown.bit_length() - 1
                raise self._no_core(f"the mask {mask:#x} has bit {missing} set", missing)
        return mask & _running(self.present)

    def changed(self, core: Agent, time: int) -> None:
        """Wake the cores that wait for `core`, which has finished something in cycle `time`.

        They try their instruction again in the next cycle of their clocks.
        """
        self.last_change = max(self.last_change, time)
        bit = 1 << core.number
        for other in self.present:
            waiting = other.waiting
            if waiting is not None and waiting.cores & bit and other.time > time + 1:
                other.time = other.aligned(time + 1)

    def _users(self, mask: int, what: str) -> dict[int, Agent]:
        """Return the cores that the on-chip units in a mask feed, by unit number.

        Raises `Fault` (bad mask), whose message begins with `what`.
        """
        users = self.memory.users
        if mask >> len(users):
            raise Fault(
                "bad mask",
                f"{what} with the mask {mask:#x}: there is no unit {mask.bit_length() - 1},"
                f" the device has {len(users)}",
                {"mask": mask},
            )
        return {unit: core for unit, core in enumerate(users) if mask >> unit & 1}

    def _no_core(self, what: str, number: int) -> Fault:
        known = ", ".join(f"{core.number} {core.name}" for core in self.order)
        return Fault("bad mask", f"{what}: there is no such core, only {known}", {"core": number})


def _mask(cores: Iterable[Agent]) -> int:
    """Return the mask of these cores; bit n is that of core number n."""
    return sum(1 << core.number for core in cores)


def _running(cores: Iterable[Agent]) -> int:
    """Return a mask of the running cores among `cores`."""
    return _mask(core for core in cores if core.running)


def _discard(data: bytes) -> None:
    """Ignore `data`, output of a program, because the caller has set no function for output."""
