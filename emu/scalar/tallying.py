"""What a scalar core tells its trace block: a tally of what it did since the last border.

While something records, whatever does an instruction adds to the tally; the block has it at a
border: the instruction with which a register group opens, or behind which one closes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from macaw.emu.address_space import MAPPED, ONCHIP, REGION_SHIFT
from macaw.emu.core import Core
from macaw.emu.faults import Fault
from macaw.emu.state import StateField
from macaw.emu.tallies import ARRAY, INDEX, UNIT, Tally
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.model import Core as Table
from macaw.isa.rows import Instruction
from macaw.isa.trace import MARK

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.scalar.code import Code

NO_BORDER = -1
COMPUTING = frozenset({"register", "immediate", "upper", "multiply", "divide"})  # families


class Tallying(Core):
    """A core with one instruction at a time, and its tally."""

    traced: Code  # of which the tally is kept while it runs

    def __init__(
        self,
        device: Device,
        table: Table,
        name: str,
        number: int,
        fields: Iterable[StateField],
    ) -> None:
        super().__init__(device, table, name, number, fields)
        self.tally = Tally()
        self._marks = False  # the instruction is a marker, and not recorded
        self.refused: Fault | None = None  # a record that had no place, while a block ran
        self._pending: tuple[int | None, int, bool] | None = None  # an access not answered yet
        self._shared = False  # something was asked of others: advance must return

    @property
    def begun(self) -> int:
        return self.retired + (self._pending is not None)

    def uses(self, row: Instruction) -> int:
        """How many compute units the instruction uses, all of them from its begin to its end."""
        return int(row.family in COMPUTING)

    def mark(self, begins: bool, group: int, time: int, until: int) -> None:
        """See `Core.mark`. In auto mode a marker is told as any other instruction."""
        self.trace.check(group)
        if self.trace.state.trace_mode == MARK:
            self.flush()
            self._marks = True
            super().mark(begins, group, time, until)

    def ending(self, until: int, uses: int) -> None:
        """Tell trace and listeners that the instruction ends at cycle `until`."""
        if self._marks:
            self._marks = False
        elif self.tracing:
            tally, time = self.tally, self.time
            if tally.begin < 0:
                tally.begin = time
            if until > tally.until:
                tally.until = until
            if uses:
                tally.occurred(UNIT, time, until, uses)
                tally.occurred(ARRAY, time, until, 1)
        if self.listeners:
            self.announce("done", begin=self.time, until=until)

    def beginning(self, address: int) -> None:
        """An access is tried. One that may have to be tried again begins when it succeeds."""
        if self.tracing and (address >= EXTERNAL or address >> REGION_SHIFT in (ONCHIP, MAPPED)):
            self.tally.began(self.time)

    def occurred(
        self, what: str, time: int, until: int, count: int = 1, number: int | None = None
    ) -> None:
        """See `Core.occurred`."""
        self.tally.occurred(INDEX[what], time, until, count)

    def trace_changed(self) -> None:
        self.tally.clear()
        self.ask()

    def flush(self) -> None:
        """Let the block have what was counted."""
        if self.tracing:
            self.trace.absorb(self.tally, self.begun, int(self._pending is not None))

    def told(self, begun: int, until: int, uses: int, first: int, used: int) -> None:
        """Add to the tally what a block did: its begin and end, uses of the unit and when."""
        tally = self.tally
        if tally.begin < 0:
            tally.begin = begun
        tally.until = until
        if uses:
            tally.occurred(UNIT, first, used, uses)
            tally.occurred(ARRAY, first, used, uses)

    def border(self, done: int) -> int:
        """A block has come to a border; it has told what it did, `done` instructions.

        Returns how many there are to the next border, or `NO_BORDER`: the block has to end.
        """
        self.retired = number = self.retired + done
        trace, changes = self.trace, self.traced.changes
        try:
            trace.turn(self.tally, number)
        except Fault as fault:
            self.refused = fault
            return NO_BORDER
        if self._shared or not self.tracing or self.traced.changes != changes:
            return NO_BORDER
        border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
        return border - number

    def open_groups(self) -> None:
        """Groups that begin with the next instruction record from now on."""
        if self.tally.begin >= 0:
            self.flush()
        self.trace.open(self.retired)

    def close_groups(self) -> None:
        """The last instruction of a group's record has ended. Raises `Fault`: it has no place."""
        self.flush()
        self.trace.close(self.retired)

    def ask(self) -> None:
        """Something is asked of the device that may change when others act."""
        self._shared = True
