"""The contract of a core: what the clock, the debugger and the profiler may ask of it.

A folder of `emu` with the name of a table's module (`macaw.isa.registry.module`) offers
`build(device) -> list[Core]`; the device knows no core by any other means
(docs/adding-a-core.md). `build` makes the cores (one of cp, one a row of pe), of the class
for `device.engine` if there are several; a core takes its ports
(`device.memory.port(core)`), and if it feeds from an on-chip unit, that is
announced with `device.memory.add_unit(number, core)`.

**Time.** All times are device cycles from reset. `core.time` is the cycle of
the core's next act; `NEVER` while it waits or idles. The clock always advances
the core with the least (time, number), and lets it go on to `limit`:
everything that acts earlier has acted, nothing that acts later has, so inside
`advance` memory, other cores and registers may be looked at as they are.
What a core acts in at once is its own: an instruction (cp: executed; vc: issued), of
the array a cycle. An instruction that executes at cycle t and costs c has all its effects at t
and leaves `time = t + c * divider`; results that can be used only later are
marked so in the core's state (vc's scoreboard), an access to on-chip memory has its effect
when it is granted.

**Returning.** `advance(limit)` acts while `self.time < limit`. It returns
earlier right after anything that may change when another core acts: a request
to on-chip memory (`port.beat`, or `port.load`/`store` that returned None) and any
device service (`swap`, `dispatch`, `start`, `changed`, a transfer), or an access to a register of
another core. The arbiter of the on-chip memory acts after all cores of a cycle, so a core that
posted a request at t must not act at t + 1 in the same call.

**Waiting.** An instruction that cannot finish because another core is busy calls
`self.wait(on, cores)` and returns, `next_address` unchanged. When one of `cores`
announces `device.changed(self)` at cycle t, the waiting core's time becomes
t + 1 and it tries the same instruction again, which may wait again. When the try
succeeds it calls `self.proceed()`. So a core that finishes at t lets its waiters
continue at t + 1, whatever their numbers. A core that waits for its own port
calls `self.wait(on)`; `granted` then sets its time. A window (`macaw.isa.model.Window`) that cannot
let bytes pass makes the port raise `WindowNotReady`: the requester calls `self.postpone` and tries
again, as above; the window's core calls `device.changed` when it took or gave something. A core
that waits for its own window calls `self.wait(on)`, and sets its time when the bytes come
(`push`) or go (`pull`).

**Its own memory and registers.** Rows of the table (`memories`, `registers`) are all that the
memory map needs. Bytes are kept with those of all memories (`device.memory.own` gives them); a
register is the field of the core's state that has its name, if the core does not say otherwise.
A memory with a timing of its own, or that others cannot reach at times, says so in `reached`.

**Engines.** A fast engine may leave its own state behind the clock and act less often, as
long as nobody can tell: `sync` brings `self.state` to `device.frontier(self)`, the first cycle
in which the core has not had its turn (in the middle of a cycle too, if another core
faults there); a fault comes in its own cycle; while there are `listeners` all is announced in its
cycle. Who uses on-chip memory without asking stands in `memory.banks.exclusive` for
that half, and is called when somebody else asks for it. The dma, which uses more, is also the
`sleeper` (`macaw.emu.pages.Sleeper`) of the channel and of the memories that it has yet to write:
ports, `peek`, fetches and devices' services tell it. It sleeps only while every core that runs
and comes after it is `confined`. A core that has gone on for several cycles says where it is,
`device.cycle = self.time`, before it asks for a service or returns a stop.

**Announcements.** "instruction" (address) before it acts; where the word alone does not say them,
`reads` and `writes` are masks of the registers of the core's one file, and a level's name with an s
(`macaw.isa.model.Core.levels`) is a mask of the units that do it together. By the ports "read" and
"write" (address, size) when bytes move, and "blocked" (address) in each cycle that lost a bank. A
core that works on longer things announces "begin" and "end" of them (transfers of the dma,
exes of the array in each cluster, where `left` says how many other clusters have yet to end it;
of a chain and of an island's block the end alone), and what else its folder names. "packet"
(address, order, clusters) comes when a row asks for the first beat of one. "done" (until) follows
an instruction of cp and vc, "beats" (of, begin, until, count) an access to external memory, "swap"
(mask) that of ping and pong.

**Trace.** Every core has a trace block, `core.trace`, with its registers (docs/isa/trace.md); it
is part of the core's state. The core tells it of its instructions, `begin` and `end`, and of what
they use, `occurred`, if `core.tracing`: at other times nothing that it could be told matters, and
instructions are not counted by it either, so `begun` says how many there were. Ports tell of the
accesses that they see: those of the instruction that began last, or of number `port.instruction`.
A core may tell it all later, up to its `sync`: an engine does that is fast, and the dma, which adds
up what a transfer uses (`occurred` is its own). A marker is told by `core.mark` at any time.
The profiler asks `current` what the core is at, and is told of waits that end (`on_wait`).

**Questions.** `stalls` says what the core and its parts are at and who could end their waits;
`remember` begins to keep where values come from (`macaw.emu.origins`), on the reference engine.

**Breaks.** `breaks` holds the addresses before whose instruction the core stops
(`set_breaks`; `halts` says whether it can, without listeners): where an instruction
would begin, and was not tried yet, the core asks `halted(address)` and returns the stop that it
gives. A resumed run passes the instruction, for `halted` says it once for each coming to it
(`moment`). `following` are the instructions that begin next.

**Probes.** `probes` are asked behind each instruction that reads or writes one of their registers
(`set_probes`; `probed` says whether the core can, without listeners; `macaw.isa.touching` which
these are). If one holds, it is told and the core returns to the clock right behind that act.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu import recordings, trace
from macaw.emu.block_diagram import Box
from macaw.emu.breaks import Break, Probe
from macaw.emu.endpoints import Endpoint, Requester
from macaw.emu.faults import Stop
from macaw.emu.formats import MemoryFormat
from macaw.emu.origins import Origins
from macaw.emu.state import State, StateField
from macaw.emu.system import System
from macaw.emu.waits import NEVER, Waiting
from macaw.emu.windows import WindowNotReady
from macaw.isa.model import Core as Table
from macaw.isa.model import Queue

__all__ = ["CONTRACT", "NEVER", "Core", "Event", "Listener", "Stall", "Units", "Waiting"]


class Stall(NamedTuple):
    """What a core is at, or a part of it that has waits of its own: a block, a bus, a sequence."""

    part: str = ""  # its name in the core; empty: the core as a whole
    on: str = ""  # what would end its wait; empty: it does not wait
    since: int = NEVER
    address: int | None = None
    cores: int = 0  # mask of the cores that could end the wait
    parts: tuple[tuple[str, int | None], ...] = ()  # parts of this core that could; by which word
    until: int = NEVER  # the cycle in which it goes on by itself, if it is known
    ended: bool = False
    note: str = ""


class Units(NamedTuple):
    """The compute units of a core, as the formulas of seed 001 have them."""

    of_array: int  # c: units of the array
    width: int  # p: bytes of data that a unit takes in a use at most
    beat: int = 0  # m: bytes of a beat of what it reads; 0: as wide as external memory
    spacing: int = 0  # cycles of an access that count as blocked in the densest stream, too
    store: int = 0  # bytes of its widest write of external memory; 0: as wide as that is


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


class Core(Requester):
    """Anything that executes instructions, and the dma.

    A subclass gives `advance`, `next_address`, usually `granted`, `counters`, and
    `start` or `dispatch` if cp may start it. Fields beside `CONTRACT` are rows that it
    passes to `__init__`, or a state of its own class that begins with `CONTRACT`.
    An engine may hold state in attributes of its own between calls; `sync` writes
    them into `self.state`, `reload` takes them from there (both call `super()`),
    and whatever survives neither is lost at a restore.
    """

    halts = False  # it looks at `breaks`
    probed = False  # it asks `probes`
    asks = False  # a listener can have it return to the clock after the present act (`ask`)
    inlines = ""  # the register file whose live values the attribute of that name is a list of
    shows_begun = False  # `current` is the instruction of the trace that began last
    numbers_markers = True  # a marker is an instruction, with a number in the trace

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
        self.burst = 4096  # cycles that it goes on for before the clock looks at interrupts again
        self.state = state if isinstance(state, State) else State((*CONTRACT, *state))
        self.state.add(recordings.fields(device.config))
        self.listeners: list[Listener] = []  # announce only if there are some
        self.retired = 0
        self.waited = 0
        self.on_wait: Callable[[Waiting, int], object] | None = None  # told of waits that end
        self.origins: Origins | None = None
        self.breaks: Mapping[int, Break] = {}
        self.probes: tuple[Probe, ...] = ()
        self.passed: object = None  # the moment of the break that was met last
        self.tracing = False  # whether the trace block has to be told anything
        self.trace = trace.TraceBlock(
            number, name, device.config, device.memory.spill, self.state, self._retrace
        )

    # What a core must offer

    @abstractmethod
    def advance(self, limit: int) -> Stop | None:
        """Act while `self.time < limit`; see the module's text for when to return earlier.

        Called with `self.time < limit` only. Returns a stop (exit, breakpoint) or
        None. Raises `Fault`.
        """

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """See `Requester.granted`."""
        raise NotImplementedError(f"{self.name} takes no answer from memory")

    def read_register(self, name: str, time: int) -> int:
        """The value of a memory-mapped register of the table at cycle `time`."""
        return int(getattr(self.state, name))

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set such a register, one that can be written. Raises `Fault` for a value it cannot be."""
        setattr(self.state, name, value)

    def current(self) -> tuple[str, int | None]:
        """What it is at: a text, empty where the instruction says all, and that one's address.

        Before a cycle in which an instruction of the trace begins it is that one, or in the next
        cycle (`shows_begun`).
        """
        return "", self.next_address

    def stalls(self) -> Sequence[Stall]:
        """What it is at and waits for, and who could end it; a record of each part that it has.

        `sync` was called before. Whoever has its own windows waits there for any other core.
        """
        if not self.running:
            return (Stall(ended=True),)
        doing, address = self.current()[0], self.next_address
        if self.waiting is None:
            return (Stall(address=address, until=self.time, note=doing),)
        on, since, cores = self.waiting
        until = self.time
        if self.device.memory.banks.has_request_of(self):
            until, doing = self.device.memory.banks.time, "on-chip memory answers"
        elif not cores and self.table.windows and until == NEVER:
            cores = sum(1 << other.number for other in self.device.order if other is not self)
        return (Stall("", on, since, address, cores, (), until, False, doing),)

    def unit(self, units: tuple[int, ...]) -> Stall:
        """What a unit is at, by its index at each of the table's levels; `sync` was called before.

        A unit that has nothing to do has `ended`.
        """
        return self.stalls()[0]

    def remember(self, number: Callable[[], int]) -> Origins:
        """Keep from now on where values come from, until the device is made anew.

        `macaw.emu.origins` says how it is kept. For the reference engine. `number()` is that of
        the announcement of the moment.
        """
        self.origins = Origins(number)
        return self.origins

    @property
    def boxes(self) -> Sequence[Box]:
        """What a unit of the deepest level consists of; `sync` comes before they are looked at."""
        return ()

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """What a queue holds in a unit, from its head on; None: the state has it in that order."""
        return None

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """How it reads bytes of memory as numbers of its own, by names of formats."""
        return {}

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which of its real numbers are none, where the types of registers do not say it.

        By a name for people; the first axes are the core's levels.
        """
        return {}

    # The trace block

    @property
    def begun(self) -> int:
        """Instructions that the core has started since reset, as `macaw.isa.trace` counts."""
        return self.retired

    def units(self) -> Units:
        """The compute units whose uses are the trace's occurrences "unit" and "array"."""
        return Units(1, 4, store=4)

    def occurred(
        self, what: str, time: int, until: int, count: int = 1, number: int | None = None
    ) -> None:
        """Tell the trace, if `tracing`, of an access that a port has seen."""
        self.trace.occurred(what, time, until, count, number)

    def trace_changed(self) -> None:
        """Learn that `tracing` is another than before."""
        return

    def _retrace(self) -> None:
        self.tracing = self.trace.on
        self.trace_changed()

    def read_trace(self, name: str) -> int:
        """The value of a register of the trace block, now. Raises `Fault`."""
        self.sync()
        return self.trace.read(name)

    def write_trace(self, name: str, value: int) -> None:
        """Set a parameter of the trace block, from now on. Raises `Fault`."""
        self.sync()
        self.trace.executed = self.begun
        self.trace.write(name, value)
        for core in self.device.order:
            core.areas_changed()

    def mark(self, begins: bool, group: int, time: int, until: int) -> None:
        """A marker of `group` executes from `time` to `until`. Raises `Fault` (bad mask).

        `begun` does not count it yet.
        """
        self.trace.executed = self.begun
        self.trace.mark(begins, group, time, until, self.numbers_markers)

    def counters(self) -> dict[str, int]:
        """Values of the table's counters by name; the ports' traffic is added by the device."""
        return {}

    def reset(self) -> None:
        """To the state after reset. Calls `reload`."""
        self.state.reset()
        self.reload()

    def sync(self) -> None:
        """Write what the engine holds into `self.state`."""
        state = self.state
        state.time = self.time
        state.running = self.running
        state.waiting = None if self.waiting is None else tuple(self.waiting)
        state.retired = self.retired
        state.waited = self.waited
        self.trace.sync()

    def reload(self) -> None:
        """Take what the engine holds from `self.state`."""
        state = self.state
        self.time = state.time
        self.running = state.running
        self.waiting = None if state.waiting is None else Waiting(*state.waiting)
        self.retired = state.retired
        self.waited = state.waited
        self.passed = None
        self.trace.reload()

    def ask(self) -> None:
        """Return to the clock after this act, if it `asks`: others do so while listened to."""
        assert not self.asks

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        """Stop before the instructions at these addresses, and at no others."""
        self.breaks = dict(breaks)

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Ask these behind the instructions that they are about, and no others."""
        self.probes = tuple(probes)

    # What a core may use

    def wait(self, on: str, cores: int = 0) -> None:
        """Wait until one of the cores in the mask changes (or until the own port answers)."""
        since = self.time if self.waiting is None else self.waiting.since
        self.waiting = Waiting(on, since, cores)
        self.time = NEVER

    def postpone(self, later: WindowNotReady) -> None:
        """Wait until a window may be tried again."""
        self.wait(later.on, later.cores)
        if later.time < NEVER:
            self.time = self.aligned(later.time)

    def proceed(self) -> None:
        """The wait is over, now (at `self.time`); nothing happens if there was none."""
        if self.waiting is not None:
            self.went_on(self.time)

    def went_on(self, time: int) -> None:
        """The wait that there was ended at cycle `time`."""
        assert self.waiting is not None
        self.waited += time - self.waiting.since
        if self.on_wait is not None:
            self.on_wait(self.waiting, time)
        self.waiting = None

    def moment(self, address: int) -> object:
        """What tells this coming to the instruction at `address` from all others."""
        return self.retired

    @property
    def following(self) -> tuple[int, ...]:
        """The addresses of the instructions that begin next, and were not tried yet."""
        address = self.next_address
        return () if address is None or self.waiting is not None else (address,)

    def halted(self, address: int) -> Stop | None:
        """The stop before the instruction at `address`, if there is a break that holds.

        Call it as `if self.breaks`, before anything of the instruction is done. The answer
        is None for an instruction that waited, and for one whose stop was returned already.
        """
        found = self.breaks.get(address)
        if found is None or self.waiting is not None or self.passed == self.moment(address):
            return None
        self.device.cycle = self.time
        if found.test is not None and not found.test():
            return None
        self.passed = self.moment(address)
        message = f"{self.name}: breakpoint at {address:#010x}"
        return Stop("breakpoint", self.time, message, None, None, self.name, address, before=True)

    def announce(self, kind: str, **values: int | str) -> None:
        """Tell the listeners. Call it as `if self.listeners: self.announce(...)`."""
        event = Event(kind, self, min(self.time, self.device.cycle), values)
        for listener in tuple(self.listeners):
            listener(event)
