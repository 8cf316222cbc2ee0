"""Questions of debugger and profiler: what a core executes, what it holds, who could wake it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.agents import Agent
from macaw.emu.block_diagram import Box
from macaw.emu.formats import MemoryFormat
from macaw.emu.system import System
from macaw.emu.waits import NEVER
from macaw.isa.model import Queue


class Stall(NamedTuple):
    """What a core does, or a part of it that has waits of its own: a block, a bus, a sequence."""

    part: str = ""  # its name in the core; empty: the core as a whole
    on: str = ""  # what would end its wait; empty: it does not wait
    since: int = NEVER
    address: int | None = None
    cores: int = 0  # mask of the cores that could end the wait
    parts: tuple[tuple[str, int | None], ...] = ()  # parts of this core that could; by which word
    until: int = NEVER  # the cycle in which it continues by itself, if that is known
    ended: bool = False
    note: str = ""


class Inspectable(Agent):
    """An agent that answers such questions; `sync` is called before each of them."""

    device: System
    shows_begun = False  # `current` is the instruction of the trace that began last

    def current(self) -> tuple[str, int | None]:
        """Return what the core executes: a text, and the address of the instruction.

        The text is empty where the instruction says all. Before a cycle in which an instruction
        of the trace begins it is that instruction; with `shows_begun`, in the next cycle.
        """
        return "", self.next_address

    def moment(self, address: int) -> object:
        """Return what identifies the present arrival at the instruction at `address`."""
        return self.retired

    @property
    def next_addresses(self) -> tuple[int, ...]:
        """The addresses of the instructions that begin next, and were not tried yet."""
        address = self.next_address
        return () if address is None or self.waiting is not None else (address,)

    def stalls(self) -> Sequence[Stall]:
        """Return what the core does and waits for, and who could wake it; a record of each part.

        A core that waits at its own window waits for any other core.
        """
        if not self.running:
            return (Stall(ended=True),)
        doing, address = self.current()[0], self.next_address
        if self.waiting is None:
            return (Stall(address=address, until=self.time, note=doing),)
        on, since, cores = self.waiting
        until = self.time
        banks = self.device.memory.banks
        if banks.has_request_of(self):
            until, doing = banks.time, "on-chip memory answers"
        elif not cores and self.table.windows and until == NEVER:
            cores = sum(1 << other.number for other in self.device.order if other is not self)
        return (Stall("", on, since, address, cores, (), until, False, doing),)

    def unit(self, units: tuple[int, ...]) -> Stall:
        """Return what a unit does, by its index at each of the table's levels.

        A unit that has nothing to do has `ended`.
        """
        return self.stalls()[0]

    @property
    def boxes(self) -> Sequence[Box]:
        """The block diagram of a unit of the deepest level."""
        return ()

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """Return the entries of a queue of a unit, the head first; None: as the state has them."""
        return None

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """The core's own formats of numbers in memory, by name."""
        return {}

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return which real numbers are NaN, where the types of registers do not say it.

        By a name for people; the first axes are the core's levels.
        """
        return {}
