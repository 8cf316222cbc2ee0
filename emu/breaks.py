"""Breaks and probes: tests that a core makes by itself before and after its instructions.

The debugger's breakpoints and watches use them. Without them a core would have to call the debugger
for each instruction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from macaw.emu.agents import Agent
from macaw.emu.faults import Stop
from macaw.emu.inspection import Inspectable
from macaw.isa.touching import Place


class Break(NamedTuple):
    """The condition under which a core stops before the instruction at some address."""

    test: Callable[[], bool] | None = None  # called when the core is there; None: always true
    # The test as an expression of Python, for translated code: `x[N]` are registers of the file
    # `Instrumented.inlines`, other names are in `names`. Empty: only `test` has it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Probe(NamedTuple):
    """A test that a core makes after each instruction that reads or writes certain registers."""

    registers: frozenset[Place]
    reads: bool  # after those that read one
    writes: bool  # after those that write one
    met: Callable[[int], object]  # called with the instruction's address if the test is true
    test: Callable[[], bool] | None = None  # None: always true
    # The test as an expression of Python, as `Break` has it; empty: only `test` has it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Breakable(Inspectable):
    """A core that stops by itself before the instructions at the addresses in `breaks`.

    Before the core tries an instruction for the first time, it calls `break_stop`. If that returns
    a stop, `advance` returns this stop. When the run continues, the core executes the instruction.
    So the core stops once for each arrival.
    """

    breaks: Mapping[int, Break] = MappingProxyType({})
    last_break: object = None  # the arrival (`moment`) of the last stop

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        """Replace all breaks by `breaks`, which has them by instruction address."""
        self.breaks = dict(breaks)

    def break_stop(self, address: int) -> Stop | None:
        """Return the stop before the instruction at `address`, or None if the core must not stop.

        The core must stop if `breaks` has the address and the test of the break is true. It must
        not stop if the instruction has already waited, or if the core has already stopped in this
        arrival. The core calls this as `if self.breaks: ...`, before any effect of the instruction.
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
    """A core that tests probes by itself; its translated code contains their tests as text."""

    probes: tuple[Probe, ...] = ()
    inlines: str  # the register file whose present values are the list of that name

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Replace all probes by `probes`."""
        self.probes = tuple(probes)

    @abstractmethod
    def ask(self) -> None:
        """Make `advance` return after the present act, so that the clock can test for a stop.

        Other cores return after each act while there are listeners, so they do not need this
        method.
        """


def live_values(core: Agent, file: str) -> Any | None:
    """Return the list in which `core` has the present values of a register file, or None.

    Only an `Instrumented` core has such a list, and only for the file that `inlines` names.
    """
    if isinstance(core, Instrumented) and core.inlines == file:
        return getattr(core, file)
    return None
