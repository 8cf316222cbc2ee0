"""Agents: the part of each core that memory, the clock and other cores use.

`macaw.emu.core.Core` extends `Agent` and adds the rest of a core.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from macaw.emu.state import State
from macaw.emu.trace import TraceBlock
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.model import Core as Table


class Clock:
    """The device time, and the number of the core that acts now or acted last.

    All acts before `cycle` are done. Within `cycle` the cores act in the order of their numbers;
    `turn` is the number of the core that acts now or, between two acts, of the one that acted last.
    """

    cycle = 0
    # the number of the agent that acted last in `cycle`; NEVER: all agents and the arbiter have
    # acted
    turn = -1

    def had_turn(self, agent: Agent) -> bool:
        """Return whether `agent` has had its turn in the present cycle, or has it now."""
        return agent.number <= self.turn

    def frontier(self, agent: Agent) -> int:
        """Return the first cycle in which `agent` has not had its turn yet.

        A core has its turn in every cycle, even if it has nothing to do.
        """
        return self.cycle + int(self.had_turn(agent))

    @property
    def is_arbitrated(self) -> bool:
        """Whether the arbiter of on-chip memory has already acted in `cycle`."""
        return self.turn == NEVER

    @property
    def position(self) -> tuple[int, int]:
        """The position of the run: the pair (`cycle`, `turn` + 1).

        After the arbiter has acted in `cycle`, the second number is `NEVER`. An act of a core has
        the pair (time, core number). The acts with a lower pair than the position are done; the
        others are not.
        """
        return self.cycle, min(self.turn, NEVER - 1) + 1


class Agent(ABC):
    """The base class of all cores: a core has a number and acts in cycles of the device's clock.

    The data here are for memory, the clock and other cores: the core's name and number, the cycle
    of its next act, and the cores for which it waits.
    """

    state: State
    trace: TraceBlock
    listeners: Sequence[object]  # an agent announces its acts only if this is not empty
    tracing: bool  # whether the trace block records, or may start to record

    def __init__(self, table: Table, name: str, number: int) -> None:
        self.table = table
        self.name = name  # "cp", "pe[0]"
        # the number in addresses and masks; in a cycle, lower numbers act first
        self.number = number
        self.divider = 1  # device cycles in one cycle of this agent
        self.time = NEVER  # the cycle of its next act
        self.running = False
        self.waiting: Waiting | None = None
        self.retired = 0  # the number of instructions or transfers that are done

    @property
    @abstractmethod
    def next_address(self) -> int | None:
        """The address of the instruction that this core executes next; None if it has none."""

    @abstractmethod
    def announce(self, kind: str, **values: int | str) -> None:
        """Send an event of this kind to all listeners.

        To save time, callers first test whether there are listeners:
        `if self.listeners: self.announce(...)`.
        """

    @abstractmethod
    def count_occurrence(
        self, what: str, time: int, until: int, count: int, number: int | None = None
    ) -> None:
        """Count `count` occurrences of the kind `what` in the trace block.

        They last from cycle `time` to `until` - 1. The ports of the core call this for their
        accesses, and only if `tracing` is set. `number` is the number of the accessing
        instruction; None means the instruction that began last.
        """

    @abstractmethod
    def sync(self) -> None:
        """Bring `state` up to date: it becomes the core's state at cycle `Clock.frontier`."""

    @abstractmethod
    def read_trace(self, name: str) -> int:
        """Return the present value of the register `name` of the trace block.

        Raises `Fault` if the block does not have the register's group.
        """

    @abstractmethod
    def write_trace(self, name: str, value: int) -> None:
        """Set the parameter `name` of the trace block. Raises `Fault` for a wrong name or value."""

    def areas_changed(self) -> None:
        """React to a change of the parameters of any core's trace block.

        The block may now write its records to another area of memory. An engine that moves many
        bytes in one step must not do so in this area.
        """
        return

    @abstractmethod
    def read_register(self, name: str, time: int) -> int:
        """Return the value that the memory-mapped register `name` has at cycle `time`.

        The register is a row of this core's table.
        """

    @abstractmethod
    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the memory-mapped register `name` to `value` in cycle `time`. Raises `Fault`."""

    def aligned(self, time: int) -> int:
        """Return the first cycle of this agent's own clock that is not before device cycle `time`.

        That is `time` or the next multiple of `divider`.
        """
        return -(-time // self.divider) * self.divider
