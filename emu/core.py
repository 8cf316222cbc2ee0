"""The contract of a core: what clock, memory, debugger and profiler may use of it.

A folder of `emu` with the name of a table's module (`macaw.isa.registry.module`) offers
`build(device) -> list[Core]`; the device knows no core by any other means
(docs/adding-a-core.md). `build` makes the cores (one of cp, one a row of pe), of the class that
`device.select` finds in `ENGINES` of the folder. A core takes its ports
(`device.memory.port(core)`); one that feeds from an on-chip unit is added with
`device.memory.add_unit(number, core)`.

`Core` has what every core needs. What only some cores can do is a class each, which they extend:
`Startable`, `Dispatchable` and `Operable` (`macaw.emu.system`), `Windowed` (`macaw.emu.windows`),
`Guarded` (`macaw.emu.address_space`), `Breakable` and `Instrumented` (`macaw.emu.breaks`). What a
core has for one purpose is a class that `Core` extends: waits (`macaw.emu.waiter`), the trace
(`macaw.emu.traced`), questions of the debugger (`macaw.emu.inspection`).

**Time.** All times are device cycles from reset. `core.time` is the cycle of
the core's next act; `NEVER` while it waits or idles. The clock always advances
the core with the least (time, number), up to `limit`: all earlier acts are done and no later one
is, so inside `advance` a core may read memory, other cores and registers as they are.
An act is an instruction (cp: executed; vc: issued), of the array a cycle. An instruction that
executes at cycle t and costs c has all its effects at t and leaves `time = t + c * divider`;
results that can be used only later are marked so in the core's state (vc's scoreboard). An access
to on-chip memory has its effect when it is granted.

**Returning.** `advance(limit)` acts while `self.time < limit`. It returns
earlier right after any act after which another core may act earlier: a request
to on-chip memory (`port.beat`, or `port.load`/`store` that returned None), a device service
(`swap`, `dispatch`, `start`, `changed`, a transfer), an access to a register of
another core. The arbiter of the on-chip memory acts after all cores of a cycle, so a core that
requests a beat at t must not act at t + 1 in the same call.

**Its own memory and registers.** The memory map is made of rows of the table (`memories`,
`registers`). The device keeps the bytes (`device.memory.own`); a register is the field of the
core's state that has its name, unless the core overrides `read_register` and `write_register`.

**Engines.** A fast engine may let its own state lag the clock and act less often if no other part
of the device can notice: `sync` brings `self.state` to `device.frontier(self)`, the first cycle
in which the core has not had its turn (in the middle of a cycle, too, if another core
faults there); a fault comes in its own cycle; with `listeners` every act is announced in its
cycle. A core that uses a half of on-chip memory without requests puts a callback into
`memory.banks.exclusive`, which is called when another core requests that half. The dma may also be
the `sleeper` (`macaw.emu.pages.Sleeper`) of the channel and of memories that it has yet to write:
ports, `peek`, fetches and services of the device wake it. It sleeps only while every running core
after it is `confined` (`Dispatchable`). A core that acts for several cycles in one call sets
`device.cycle = self.time` before it calls a service or returns a stop.

**Announcements.** "instruction" (address) before it acts; where the word alone does not say them,
`reads` and `writes` are masks of the registers of the core's one file, and a level's name with an s
(`macaw.isa.model.Core.levels`) is a mask of the units that execute it together. Ports announce
"read" and "write" (address, size) when bytes move, and "blocked" (address) in each cycle that lost
a bank. A core that works on longer things announces their "begin" and "end" (transfers of the dma,
exes of the array in each cluster, where `left` says how many other clusters have yet to end it;
of a chain and of an island's block the end alone), and others of its own. "packet"
(address, order, clusters) comes when a row requests the first beat of one. "done" (until) follows
an instruction of cp and vc, "beats" (of, begin, until, count) an access to external memory, "swap"
(mask) that of ping and pong.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from macaw.emu import recordings, trace
from macaw.emu.endpoints import Endpoint, Requester
from macaw.emu.faults import Stop
from macaw.emu.inspection import Inspectable
from macaw.emu.origins import Origins
from macaw.emu.state import State, StateField
from macaw.emu.system import System
from macaw.emu.traced import Traced
from macaw.emu.waiter import Waiter
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.model import Core as Table


@dataclass(frozen=True)
class Event:
    """An announcement of a core to its listeners."""

    kind: str  # "instruction", "read", "write", "blocked", "begin", "end", ...
    core: Core
    time: int
    values: Mapping[str, int | str]


Listener = Callable[[Event], None]


# Every core's state begins with these.
CONTRACT = (
    StateField("time", "int", meaning="cycle of the next act", initial=NEVER),
    StateField("running", "bool", meaning="it has a program, list or transfer that is not done"),
    StateField("waiting", "object", meaning="what it waits for: on, since, cores; or None"),
    StateField("retired", "int", meaning="instructions or transfers that are done"),
    StateField("waited", "int", meaning="cycles of waits for other cores that are over"),
)


class Core(Requester, Waiter, Traced, Inspectable):
    """Anything that executes instructions, and the dma.

    A subclass has `advance` and `next_address`, usually `granted` and `counters`, and the
    abilities that it extends. Fields beside `CONTRACT` are rows that it passes to `__init__`, or
    a state of its own class that begins with `CONTRACT`.
    An engine may have state in attributes of its own between calls; `sync` writes
    them into `self.state`, `reload` takes them from there (both call `super()`),
    and an attribute that neither handles is lost at a restore.
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
        self.burst = 4096  # cycles for which it acts before the clock tests for interrupts
        self.state = state if isinstance(state, State) else State((*CONTRACT, *state))
        self.state.add(recordings.fields(device.config))
        self.listeners: list[Listener] = []  # announce only if there are some
        self.origins: Origins | None = None
        self.tracing = False
        self.trace = trace.TraceBlock(
            number, name, device.config, device.memory.spill, self.state, self._retrace
        )

    @abstractmethod
    def advance(self, limit: int) -> Stop | None:
        """Act while `self.time < limit`; the module's text says when to return earlier.

        Called with `self.time < limit` only. Returns a stop (exit, breakpoint) or
        None. Raises `Fault`.
        """

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """See `Requester.granted`."""
        raise NotImplementedError(f"{self.name} takes no answer from memory")

    def read_register(self, name: str, time: int) -> int:
        """See `Agent.read_register`."""
        return int(getattr(self.state, name))

    def write_register(self, name: str, value: int, time: int) -> None:
        """See `Agent.write_register`."""
        setattr(self.state, name, value)

    def counters(self) -> dict[str, int]:
        """Return the table's counters by name; the device adds the ports' traffic."""
        return {}

    def remember(self, number: Callable[[], int]) -> Origins:
        """Record the origins of values from now on (`macaw.emu.origins`), until a new device.

        For the reference engine. `number()` is the number of the present announcement.
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
        """See `Agent.write_trace`."""
        self.sync()
        self.trace.executed = self.start_count
        self.trace.write(name, value)
        for core in self.device.order:
            core.areas_changed()

    def announce(self, kind: str, **values: int | str) -> None:
        """See `Agent.announce`."""
        event = Event(kind, self, min(self.time, self.device.cycle), values)
        for listener in tuple(self.listeners):
            listener(event)

    # State

    def reset(self) -> None:
        """Go to the state after reset. Calls `reload`."""
        self.state.reset()
        self.reload()

    def sync(self) -> None:
        """Write what the engine has in attributes into `self.state` (`Agent.sync`)."""
        state = self.state
        state.time = self.time
        state.running = self.running
        state.waiting = None if self.waiting is None else tuple(self.waiting)
        state.retired = self.retired
        state.waited = self.waited
        self.trace.sync()

    def reload(self) -> None:
        """Take what the engine has in attributes from `self.state`."""
        state = self.state
        self.time = state.time
        self.running = state.running
        self.waiting = None if state.waiting is None else Waiting(*state.waiting)
        self.retired = state.retired
        self.waited = state.waited
        self.trace.reload()
