"""Inspection: what the debugger and the profiler can ask a core, for example who could wake it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.agents import Agent
from macaw.emu.block_diagram import Box
from macaw.emu.formats import MemoryFormat
from macaw.emu.system import System
from macaw.emu.waits import NEVER
from macaw.isa.model import Queue
from macaw.isa.typed_records import NamedTuple


class Stall(NamedTuple):
    """The present work or wait of a core, or of one of its parts.

    A part is a component of a core that waits by itself: a block of an island, a bus, or the run of
    an instruction sequence. `part` is its name, empty for the core as a whole. `on` is a phrase for
    what would end its wait, empty if the part does not wait. `since` is the cycle in which the wait
    began. `cores` is the mask of the cores that could end the wait. `parts` are the parts of the
    same core that could end it, each with the address of the word that would. `whom` names these
    parts, or the unit of the core for which the part waits. In cycle `until` the part continues by
    itself. `note` is a phrase for what the part does or tries to do. `cause` is a leaf of
    `macaw.isa.causes`: the cause of its present cycles. `ended` says whether the part is idle.
    """

    part: str = ""
    on: str = ""
    since: int = NEVER
    address: int | None = None  # of the instruction that works or waits
    cores: int = 0
    parts: tuple[tuple[str, int | None], ...] = ()
    until: int = NEVER  # NEVER: unknown
    ended: bool = False
    note: str = ""
    cause: str = ""  # empty if none is known
    whom: str = ""


class Caution(NamedTuple):
    """A problem at an instruction that is no fault, but may make the results useless.

    `what` says what happened, for example "in fp16 overflowed"; it happened to `results` results.
    `where` names the parts of the core, such as "banks 0-3".
    """

    address: int  # of the instruction
    what: str
    results: int
    where: str


class Inspectable(Agent):
    """A core that answers questions of the debugger, which calls `sync` first."""

    device: System
    shows_begun = False  # whether `current` returns an instruction only one cycle after it began

    def current(self) -> tuple[str, int | None]:
        """Return the instruction that the core executes: a text, and the instruction's address.

        The text is empty if the address is enough. The profiler stops a run before the cycle in
        which a recorded instruction begins, and calls this method, which must return that
        instruction. A core that can return it only one cycle later sets `shows_begun`, and the
        profiler then stops the run one cycle later.
        """
        return "", self.next_address

    def moment(self, address: int) -> object:
        """Return a value that changes when the core has finished the instruction at `address`.

        If two calls return equal values, the core has not finished the instruction between them.
        So the debugger can tell that a core still waits there, and has not come to the address
        again.
        """
        return self.retired

    @property
    def next_addresses(self) -> tuple[int, ...]:
        """The addresses of the instructions that the core executes next and has not tried yet."""
        address = self.next_address
        return () if address is None or self.waiting is not None else (address,)

    def stalls(self) -> Sequence[Stall]:
        """Return, for each part of the core, its work or wait, and the cores that can wake it.

        If a core waits at its own window, any other core may wake it.
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
        """Return the present work or wait of one unit of the core.

        `units` has an index for each level of the core's table, such as cluster and PE. The result
        has `ended` set if the unit is idle.
        """
        return self.stalls()[0]

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes of the block diagram of a unit; empty if the core has no diagram.

        The unit is at the deepest level of the core's table, such as a PE.
        """
        return ()

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """Return the entries of a queue of a unit, the oldest first.

        `units` has an index for each level of the core's table. Return None if the declared state
        already has the entries in this order.
        """
        return None

    def special_register(self, address: int) -> int | None:
        """Return the bits of the control and status register `address`, which the core's table has.

        This has no effects on the core, in contrast to a read by a program. The result is None if
        the register has no value now.
        """
        return None

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """The core's own number formats in memory, by name."""
        return {}

    def number_type(self, units: tuple[int, ...], register: str) -> str:
        """Return the type of the numbers in `register`, whose declared type is bytes.

        The result is a name that `macaw.emu.bfloat16.element_type` takes. It is "" if the bytes are
        not numbers, or if the units of the core have numbers of several types. `register` is the
        register's name in the state. `units` are the indices of the unit whose register is meant;
        () stands for all units of the core.
        """
        return ""

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return masks of the NaNs in registers that hold floating-point numbers as raw bits.

        The declared type of such a register does not show which of its elements are NaN. The keys
        are the register names that users see. The first axes of each mask are the levels of the
        core's table, such as cluster and PE.
        """
        return {}


class PortlessMover:
    """A core that moves bytes of memory without its ports, so that its listeners do not hear it.

    A tool that must see these moves starts the record of the core's origins (`Core.remember`), and
    sets its function `Origins.on_move`, which the record calls for each move.
    """


class Cautioned(ABC):
    """A core that records problems that are no faults, such as overflows."""

    @abstractmethod
    def cautions(self) -> Sequence[Caution]:
        """Return the problems since the core was reset, in the order of their addresses."""
