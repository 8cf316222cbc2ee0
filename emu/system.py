"""The system: what a core knows of the device around it, and the services that it may call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from macaw.emu.agents import Agent, Clock
from macaw.emu.faults import Fault
from macaw.emu.jitter import Jitter
from macaw.emu.memory import Memory
from macaw.isa.memory_map import HALF_SHIFT

T = TypeVar("T")


class Startable(Agent):
    """An agent that runs a program of its own."""

    @abstractmethod
    def start(self, entry: int, time: int) -> None:
        """Start at the address `entry` at cycle `time`: set `running` and `self.time` (>= time).

        It is idle. Raises `Fault`.
        """


class Dispatchable(Agent):
    """An agent that runs packet lists of its on-chip unit."""

    confined = True  # while it runs, its own ports to that unit are all that it reaches

    @abstractmethod
    def dispatch(self, offset: int, time: int) -> None:
        """Run the list at `offset` in the feeding half of its unit, from cycle `time` on.

        It is idle. Raises `Fault`.
        """


class Operable(Agent):
    """An agent that executes operations which other cores send to its memory."""

    @abstractmethod
    def operate(self, memory: str, offset: int, number: int, mask: int, time: int) -> int:
        """Execute the operation `number`, sent at cycle `time`: the cycle of its command.

        It is sent to the byte at `offset` of a memory of this agent; `mask` says which units
        execute it, 0: the one to which the byte belongs. Raises `Fault`, `WindowNotReady`.
        """


class Copier(Protocol):
    """The core that moves memory, as the one that commands it sees it."""

    number: int

    def submit(self, time: int, address: int, by: Agent) -> int | None:
        """Queue the transfer described at `address`: its ticket, or None if the queue is full.

        Raises `Fault` for a description that cannot be read or rows outside of memory.
        """

    def finished(self, ticket: int) -> bool:
        """Return whether the transfer with this ticket is done; 0: whether all are.

        Raises `Fault` (bad mask) for a ticket that was never issued.
        """


class System(Clock):
    """The clock, the memory and the other cores, as a core uses them.

    `engine` is the name of the simulation engine (`macaw.emu.engines.ENGINES`), `jitter` the seed
    of noise in the timing of DRAM, None without noise.
    """

    order: Sequence[Agent]  # by number
    by_number: Mapping[int, Agent]
    focus: Agent | None = None  # of a step: the core whose instructions are counted

    def __init__(self, config: Mapping[str, Any], engine: str, jitter: int | None) -> None:
        self.config = config
        self.engine = engine
        self.jitter = jitter
        self.stdout: Callable[[bytes], object] = _discard  # what a program writes
        self.stderr: Callable[[bytes], object] = _discard
        self.copier: Copier | None = None
        self.last_change = 0  # the last cycle that a core has named in `changed`
        self.memory = Memory(self, config, self.jitter_of(0))

    def select(self, engines: Mapping[str, T]) -> T:
        """Return the one of a core's engines, by name, that this device simulates with."""
        return engines[self.engine]

    def jitter_of(self, place: int) -> Jitter | None:
        """Return the noise of a DRAM: 0 is external memory, a core's own has the core's number."""
        return None if self.jitter is None else Jitter(self.jitter, place, self.config)

    @property
    def acting(self) -> Agent | None:
        """The core that acts now, or has acted last; None: the arbiter of on-chip memory."""
        return self.by_number.get(self.turn)

    # Services that cores call in their own `advance`. Those that return a mask return the cores
    # to wait for; then nothing was done.

    def swap(self, mask: int) -> int:
        """Exchange ping and pong of the units in `mask`, unless cores run on them: their mask.

        Raises `Fault` (bad mask).
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
        """Let the cores of the units in `mask` run a list, unless some of them run: their mask.

        The list is at `offset` of the feeding half; an address in the half will do. Raises `Fault`
        (bad mask; out-of-range access; or a fault of the core's `dispatch`).
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
        """Start the core `number` at `entry`, unless it runs: its mask. Raises `Fault`."""
        core = self.by_number.get(number)
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
        """Send an operation to the core that owns the memory at an address: its command's cycle.

        `mask` is that of `Operable.operate`. Raises `Fault`; `WindowNotReady` if it has to be sent
        again.
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
        """Return those cores of `mask` (bit = core number) that run. Raises `Fault` (bad mask)."""
        known = sum(1 << number for number in self.by_number)
        if mask & ~known:
            missing = (mask & ~known).bit_length() - 1
            raise self._no_core(f"the mask {mask:#x} has bit {missing} set", missing)
        return mask & _running(self.order)

    def changed(self, core: Agent, time: int) -> None:
        """Wake the cores that wait for `core`, which ended something in cycle `time`.

        They try again in the next cycle.
        """
        self.last_change = max(self.last_change, time)
        bit = 1 << core.number
        for other in self.order:
            waiting = other.waiting
            if waiting is not None and waiting.cores & bit and other.time > time + 1:
                other.time = other.aligned(time + 1)

    def _users(self, mask: int, what: str) -> dict[int, Agent]:
        """Return the cores of the units in a mask, by unit."""
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


def _running(cores: Iterable[Agent]) -> int:
    """Return the mask of those cores that run."""
    return sum(1 << core.number for core in cores if core.running)


def _discard(data: bytes) -> None:
    """Take output of a program that nothing reads."""
