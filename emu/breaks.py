"""Breaks and probes: tests that a core makes by itself before and after its instructions.

The debugger's breakpoints and watches use breaks and probes. Without these tests a core would have
to call the debugger for each instruction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from macaw.emu.agents import Agent
from macaw.emu.faults import Stop
from macaw.emu.inspection import Inspectable
from macaw.isa.touching import Place
from macaw.isa.typed_records import NamedTuple


class Break(NamedTuple):
    """A reason to stop a core before the instruction at one address, with an optional test.

    `Breakable.breaks` maps addresses to breaks. The core calls `test` when it reaches the address;
    None means that it always stops. `text` is the same test as a Python expression, for the code to
    which a fast engine translates the program. In it, `x[N]` is register N of the file
    `Instrumented.inlines`, and `names` has the other names. Without a text the core calls `test`.
    """

    test: Callable[[], bool] | None = None
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Probe(NamedTuple):
    """A test that a core makes after each instruction that reads or writes certain registers.

    If the test is true, the core calls `met` with the address of the instruction; `met` may stop
    the run. `reads` and `writes` say which accesses to the `registers` count. `test` makes the
    test; None means that it is always true. `text` is the same test as a Python expression for
    translated code, and `names` has the names in it (see `Break`).
    """

    registers: frozenset[Place]
    reads: bool
    writes: bool
    met: Callable[[int], object]
    test: Callable[[], bool] | None = None
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Breakable(Inspectable):
    """A core that stops by itself before the instructions at the addresses in `breaks`.

    Before the core first tries an instruction, it calls `break_stop`. If the result is a stop,
    `advance` returns this stop. When the run continues, the core executes the instruction without a
    second stop. So a break stops the core at most once each time that the core comes to the
    address.
    """

    breaks: Mapping[int, Break] = MappingProxyType({})
    last_break: object = None  # the arrival (`moment`) of the last stop

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        """Replace all breaks by `breaks`, a mapping from instruction address to break."""
        self.breaks = dict(breaks)

    def break_stop(self, address: int) -> Stop | None:
        """Return the stop before the instruction at `address`, or None if the core must not stop.

        The core must stop if `breaks` has a break for the address whose test is true. But it must
        not stop if it has already tried this instruction and waits, or if it has already stopped
        here since it came to the address. The core calls this method before the instruction has any
        effect, and only if `breaks` is not empty.
        """
        found = self.breaks.get(address)
        if found is None or self.waiting is not None or self.last_break == self.moment(address):
            return None
        self.device.cycle = self.time
        if found.test is not None and not found.test():
            return None
        self.last_break = self.moment(address)
        message = f"{self.name}: breakpoint at {address:#010x}"
        return Stop("breakpoint", self.time, message, None, None, self.name, address, before=True)


class Instrumented(Breakable):
    """A core that tests probes by itself.

    A fast engine puts the text of a probe (a Python expression) into its translated code. In such
    a text `x[N]` is register N of the register file with the name `inlines`.
    """

    probes: tuple[Probe, ...] = ()
    inlines: str

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Replace all probes by `probes`."""
        self.probes = tuple(probes)

    @abstractmethod
    def ask(self) -> None:
        """Make `advance` return after the present act, so that the clock can test for a stop.

        Only instrumented cores need this. Other cores return after each act if there are listeners.
        """


def live_values(core: Agent, file: str) -> Any | None:
    """Return the list in which `core` keeps the present values of the register file `file`.

    Only an `Instrumented` core has such a list, and only for the one file that `core.inlines`
    names. For other cores and files the result is None.
    """
    if isinstance(core, Instrumented) and core.inlines == file:
        return getattr(core, file)
    return None
