"""The contract of a core: what the clock, memory, debugger and profiler may use of it.

Each table of `isa` names a module (`macaw.isa.registry.module`). The folder of `emu` with that name
offers `build(device) -> list[Core]`, and the device finds its cores in no other way
(docs/adding-a-core.md). `build` makes the cores: one for cp, one for each row of pe.
`device.select` chooses their class from `ENGINES` of the folder. A core gets a port by
`device.memory.port(core)`. If an on-chip unit feeds a core, the core calls
`device.memory.add_unit(number, core)`. If the rest of the device reaches a core only by its number
and by addresses, its folder declares `ON_DEMAND = True`, and imports table and engines in `build`:
the device then makes the core when it is first used (`macaw.emu.core_set`).

`Core` has what every core needs. For what only some cores can do, a core extends further classes:

- `Startable`, `Dispatchable` and `Operable` (`macaw.emu.system`)
- `Windowed` (`macaw.emu.windows`) and `Guarded` (`macaw.emu.address_space`)
- `Breakable` and `Instrumented` (`macaw.emu.breaks`)

`Core` itself extends one class for each purpose: waits (`macaw.emu.waiter`), the trace
(`macaw.emu.traced`) and the questions of the debugger (`macaw.emu.inspection`).

**Time.** All times are device cycles from reset. `core.time` is the cycle of the core's next act;
it is `NEVER` while the core waits or idles. The clock always advances the core with the least
(time, number), up to `limit`. At that moment all earlier acts are done, and no later act is done.
So inside `advance` a core may read the present contents of memory, registers and other cores. For
cp an act is the execution of an instruction, for vc the issue of an instruction, for the array a
cycle. An instruction that executes in cycle t and takes c cycles has all its effects in t. The core
sets `time` to t + c * divider. If a result may be used only later, the core's state contains the
first cycle in which it may be used (vc's scoreboard). An access to on-chip memory has its effect
when the arbiter grants it.

**Returning.** `advance(limit)` acts while `self.time < limit`. It returns earlier, right after an
act because of which another core may act earlier than planned. Such acts are

- a request to on-chip memory (`port.beat`, or `port.load`/`store` that returned None),
- a device service (`swap`, `dispatch`, `start`, `changed`, a transfer),
- and an access to a register of another core.

The arbiter of on-chip memory acts after all cores of a cycle. So a core that requests a beat at t
must not act at t + 1 in the same call.

**Its own memory and registers.** Rows of the core's table (`memories`, `registers`) define its part
of the memory map. The device stores the bytes (`device.memory.own`). A register is the field of the
core's state with the same name, unless the core overrides `read_register` and `write_register`.

**Engines.** A fast engine may put acts off and do several of them together, later than the rules
above say. Until it has done them, its state is that of an earlier cycle. No other part of the
device may notice the difference:

- `sync` brings `self.state` to `device.frontier(self)`, the first cycle in which the core has not
  had its turn. If another core faults, the device calls `sync` in the middle of the fault's cycle.
- A fault is raised in its own cycle. With `listeners` every act is announced in its cycle.
- A core that uses a half of on-chip memory without requests puts a callback into
  `memory.banks.exclusive`. The arbiter calls it when another core requests that half.
- A core that puts acts off may be the `sleeper` (`macaw.emu.pages.Sleeper`) of a memory or of the
  channel: whoever uses these first wakes the sleeper, which then does its acts. The dma may be the
  sleeper of the channel, and of memories to which it has yet to write. Ports, `peek`, fetches and
  services of the device wake it. It sleeps only while every running core with a higher number
  accesses nothing but its on-chip unit (`Dispatchable.confined`). A row may be the sleeper of the
  half that feeds it.
- A core that acts for several cycles in one call sets `device.cycle = self.time` before it calls a
  service or returns a stop.

**Announcements.** These are the kinds, with their values in parentheses:

- "instruction" (address): a core announces it before the instruction acts. If the instruction word
  alone does not determine which registers the instruction uses, the values `reads` and `writes` are
  masks of the registers of the core's one file. A value named as the plural of a level
  (`macaw.isa.model.Core.levels`) is a mask of the units that execute the instruction together.
- "read" and "write" (address, size): a port announces them when bytes move. "blocked" (address,
  of): the arbiter announces it in each cycle in which a bank was taken; `of` is
  "reads_blocked" or "writes_blocked".
- "begin" and "end": a core announces them for work that is longer than an instruction: a transfer
  of the dma and, in each cluster, an exe of the array. For an exe, `left` is the number of other
  clusters that have yet to end it. A chain and an island's block announce only their end.
- "packet" (address, order, clusters): a row requests the first beat of a packet.
- "done" (begin, until): a core announces it after an instruction that took the cycles `begin` to
  `until` - 1, if its accountant asks for it. "beats" (of, begin, until, count) comes after an
  access to external memory, "swap" (mask) after an exchange of ping and pong.
- "delayed" (block, since): a block of an island cannot execute its next word yet; the delay began
  in cycle `since`. "advanced" (block, address, since): a block did or tried a word, which it began
  in cycle `since`. "operated" (banks, since, until): the host sent an operation to some banks.

A core may announce further kinds of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping

from macaw.emu import recordings, trace
from macaw.emu.endpoints import Endpoint, Requester
from macaw.emu.faults import DeviceError, Stop
from macaw.emu.inspection import Inspectable
from macaw.emu.origins import Origins
from macaw.emu.state import State, StateField
from macaw.emu.system import System
from macaw.emu.traced import Traced
from macaw.emu.waiter import Waiter
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core as Table


@dataclass(frozen=True)
class Event:
    """An announcement of a core, as its listeners get it."""

    kind: str  # "instruction", "read", "write", "blocked", "begin", "end", ...
    core: Core
    time: int
    values: Mapping[str, int | str]


Listener = Callable[[Event], None]


# The state of every core begins with these fields.
CONTRACT = (
    StateField("time", "int", meaning="cycle of the next act", initial=NEVER),
    StateField("running", "bool", meaning="it has a program, list or transfer that is not done"),
    StateField("waiting", "object", meaning="what it waits for: on, since, cores; or None"),
    StateField("retired", "int", meaning="instructions or transfers that are done"),
    StateField("waited", "int", meaning="cycles of completed waits for other cores"),
)


class Core(Requester, Waiter, Traced, Inspectable):
    """The base class of everything that executes instructions, and of the dma.

    A subclass defines `advance` and `next_address`, usually `granted` and `counters`, and extends
    the ability classes that it needs.

    The fields in `CONTRACT` are the state that every core has. If a subclass has more state, it
    passes this state to `__init__`: either as rows, or as a state of its own class that begins with
    `CONTRACT`. Between calls an engine may have state in its own attributes. `sync` writes these
    attributes into `self.state`, and `reload` reads them from there; overrides of `sync` and
    `reload` call `super()`. An attribute that they do not handle is lost when the device is
    restored.
    """

    def __init__(
        self,
        device: System,
        table: Table,
        name: str,
        number: int,
        state: State | Iterable[StateField] = (),
    ) -> None:
        super().__init__(table, name, number)
        self.device = device
        # the cycles after which `advance` returns, so that the clock can test for interrupts
        self.burst = 4096
        self.state = state if isinstance(state, State) else State((*CONTRACT, *state))
        self.state.add(recordings.fields(device.config))
        self.listeners: list[Listener] = []  # a core announces its acts only if this is not empty
        self.origins: Origins | None = None
        self.tracing = False
        self.trace = trace.TraceBlock(
            number, name, device.config, device.memory.spill, self.state, self._retrace
        )

    @abstractmethod
    def advance(self, limit: int) -> Stop | None:
        """Act while `self.time < limit`. The module's docstring describes when to return earlier.

        The device calls this only with `self.time < limit`. Returns a stop (exit, breakpoint) or
        None. Raises `Fault`.
        """

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take the answer to a beat of on-chip memory that the core requested at `port`.

        `Requester.granted` explains the arguments. Cores that request beats override this.
        """
        raise NotImplementedError(f"{self.name} takes no answer from memory")

    def read_register(self, name: str, time: int) -> int:
        """Return the memory-mapped register `name`: the field of the state with this name.

        This class does not use `time`, the cycle of the access.
        """
        return int(getattr(self.state, name))

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the memory-mapped register `name`: the field of the state with this name.

        This class does not use `time`, the cycle of the access. Overrides may raise `Fault`.
        """
        setattr(self.state, name, value)

    def counters(self) -> dict[str, int]:
        """Return the core's own counters by name. The device adds the counters of the ports."""
        return {}

    def remember(self, number: Callable[[], int]) -> Origins:
        """Record from now on which step made each value (`macaw.emu.origins`). Return the record.

        Only reference engines support this. `number()` must return the number of announcements so
        far.
        """
        self.origins = Origins(number)
        return self.origins

    @property
    def start_count(self) -> int:
        return self.retired

    def _retrace(self) -> None:
        self.tracing = self.trace.on
        self.trace_changed()

    def write_trace(self, name: str, value: int) -> None:
        """Set the parameter `name` of the trace block. Raises `Fault` for a wrong name or value."""
        self.sync()
        self.trace.executed = self.start_count
        self.trace.write(name, value)
        for core in self.device.present:
            core.areas_changed()

    def announce(self, kind: str, **values: int | str) -> None:
        """Send an event of this kind to all listeners."""
        event = Event(kind, self, min(self.time, self.device.cycle), values)
        for listener in tuple(self.listeners):
            listener(event)

    # State

    def reset(self) -> None:
        """Set the state to its values after reset, then call `reload`."""
        self.state.reset()
        self.reload()

    def sync(self) -> None:
        """Bring `self.state` up to date: write the engine's attributes into it."""
        state = self.state
        state.time = self.time
        state.running = self.running
        state.waiting = None if self.waiting is None else tuple(self.waiting)
        state.retired = self.retired
        state.waited = self.waited
        self.trace.sync()

    def reload(self) -> None:
        """Set the engine's attributes from `self.state`."""
        state = self.state
        self.time = state.time
        self.running = state.running
        self.waiting = None if state.waiting is None else Waiting(*state.waiting)
        self.retired = state.retired
        self.waited = state.waited
        self.trace.reload()


def check_cores(cores: Iterable[Core]) -> list[Core]:
    """Return the cores as a list. Raises `DeviceError` if a caller has given other values."""
    found = list(cores) if isinstance(cores, Iterable) else [cores]
    for core in found:
        if not isinstance(core, Core):
            kind = type(core).__name__
            raise DeviceError(f"cores are values of device.cores, not a value of type {kind}")
    return found
