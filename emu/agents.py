"""Agents: what memory, the clock and other cores know of a core (`macaw.emu.core.Core`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from macaw.emu.state import State
from macaw.emu.trace import TraceBlock
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.model import Core as Table


class Clock:
    """The device time: everything before `cycle` has happened, and of `cycle` what `turn` says."""

    cycle = 0
    turn = -1  # the number of the agent that acted last in `cycle`; NEVER: all, and the arbiter

    def had_turn(self, agent: Agent) -> bool:
        """Return whether `agent` comes before the one that acts now, or is it."""
        return agent.number <= self.turn

    def frontier(self, agent: Agent) -> int:
        """Return the first cycle in which `agent` has not had its turn, needed or not."""
        return self.cycle + int(self.had_turn(agent))

    @property
    def arbitrated(self) -> bool:
        """Whether the arbiter of on-chip memory has acted in `cycle`."""
        return self.turn == NEVER

    @property
    def position(self) -> tuple[int, int]:
        """(cycle, turn): all acts before it, in the order of (time, number), are done."""
        return self.cycle, min(self.turn, NEVER - 1) + 1


class Agent(ABC):
    """A numbered part of a device that acts in cycles of the device's clock: a core or the dma.

    It owns the data that others read: who it is, when it acts next, what it waits for.
    """

    state: State
    trace: TraceBlock
    listeners: Sequence[object]  # an agent announces its acts only if there are some
    tracing: bool  # whether the trace block records, or may begin to

    def __init__(self, table: Table, name: str, number: int) -> None:
        self.table = table
        self.name = name  # "cp", "pe[0]"
        self.number = number  # of addresses, masks and ties
        self.divider = 1  # device cycles to a cycle of this agent
        self.time = NEVER  # the cycle of its next act
        self.running = False
        self.waiting: Waiting | None = None
        self.retired = 0  # instructions or transfers that are done

    @property
    @abstractmethod
    def next_address(self) -> int | None:
        """The address of the instruction that it executes next, None if it has none."""

    @abstractmethod
    def announce(self, kind: str, **values: int | str) -> None:
        """Send an event to all listeners. Call it as `if self.listeners: self.announce(...)`."""

    @abstractmethod
    def count_occurrence(
        self, what: str, time: int, until: int, count: int = 1, number: int | None = None
    ) -> None:
        """Count for the trace an access that a port has seen. Call it only if `tracing`.

        `TraceBlock.count_occurrence` explains the arguments.
        """

    @abstractmethod
    def sync(self) -> None:
        """Bring `state` to the present (`Clock.frontier`)."""

    @abstractmethod
    def read_trace(self, name: str) -> int:
        """Return the present value of a register of the trace block. Raises `Fault`."""

    @abstractmethod
    def write_trace(self, name: str, value: int) -> None:
        """Set a parameter of the trace block. Raises `Fault`."""

    def areas_changed(self) -> None:
        """Learn that the trace of some core may write its records elsewhere from now on."""
        return

    @abstractmethod
    def read_register(self, name: str, time: int) -> int:
        """Return the value of a memory-mapped register of the table at cycle `time`."""

    @abstractmethod
    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the memory-mapped register `name` to `value` in cycle `time`. Raises `Fault`."""

    def aligned(self, time: int) -> int:
        """Return the first cycle of this agent's clock that is not before `time`."""
        return -(-time // self.divider) * self.divider
