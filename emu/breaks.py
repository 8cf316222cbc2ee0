"""Breaks before instructions and probes after them, and the cores that test them themselves."""

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
    """A break before an instruction."""

    test: Callable[[], bool] | None = None  # called when the core is there; None: always true
    # The test as an expression of Python, for translated code: `x[N]` are registers of the file
    # `Instrumented.inlines`, other names are in `names`. Empty: only `test` has it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Probe(NamedTuple):
    """A test after each instruction that reads or writes one of some registers."""

    registers: frozenset[Place]
    reads: bool  # after those that read one
    writes: bool  # after those that write one
    met: Callable[[int], object]  # called with the instruction's address if the test is true
    test: Callable[[], bool] | None = None  # None: always true
    # The test as an expression of Python, as `Break` has it; empty: only `test` has it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Breakable(Inspectable):
    """An agent that stops before instructions at the addresses of `breaks`.

    Where an instruction would begin that was not tried yet, it calls `break_stop` and returns the
    stop, if there is one. A run that is resumed passes the instruction: each arrival stops once.
    """

    breaks: Mapping[int, Break] = MappingProxyType({})
    last_break: object = None  # the arrival (`moment`) of the last stop

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        """Stop before the instructions at these addresses, and at no others."""
        self.breaks = dict(breaks)

    def break_stop(self, address: int) -> Stop | None:
        """Return the stop before the instruction at `address`, if there is a break that holds.

        Call it as `if self.breaks`, before any effect of the instruction. The result is None for
        an instruction that waited, and for an arrival whose stop was returned already.
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
    """An agent that tests probes itself, and whose translated code contains tests as text."""

    probes: tuple[Probe, ...] = ()
    inlines: str  # the register file whose present values are the list of that name

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Test these probes after the instructions that they are about, and no others."""
        self.probes = tuple(probes)

    @abstractmethod
    def ask(self) -> None:
        """Return to the clock after the present act; others do so while they have listeners."""


def live_values(core: Agent, file: str) -> Any | None:
    """Return the list of a register file's present values, None if the core keeps no such list."""
    if isinstance(core, Instrumented) and core.inlines == file:
        return getattr(core, file)
    return None
