"""What a scalar core that does one instruction after the other tells its trace block.

The compute unit of such a core is its ALU with multiplier and divider, an array of one: every
instruction that it works on is a use, from the instruction's begin to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.core import Event
from emu.ports import ONCHIP, REGION_SHIFT
from emu.trace import TraceBlock
from isa.trace import MARK

if TYPE_CHECKING:
    from emu.scalar.hart import Hart

COMPUTING = frozenset({"register", "immediate", "upper", "multiply", "divide"})  # families


class Tracing:
    """Listens to a core while its block may record: at other times it costs nothing."""

    def __init__(self, hart: Hart, block: TraceBlock) -> None:
        self.hart = hart
        self.block = block

    def attach(self) -> None:
        """Listen, or listen no more, as the block wants it."""
        listening = self.heard in self.hart.listeners
        if listening and not self.block.wanted:
            self.hart.listeners.remove(self.heard)
        elif not listening and self.block.wanted:
            self.hart.listeners.append(self.heard)

    def mark(self, begins: bool, group: int, until: int) -> None:
        """A marker executes, and ends at cycle `until`. Raises `Fault` (bad mask)."""
        self.block.check(group)
        if self.block.state.trace_mode == MARK:
            self.block.executed = self.hart.retired
            self.block.mark(begins, group, self.hart.time, until)
            self.changed()

    def changed(self) -> None:
        """The block may want something else than before."""
        self.attach()
        self.hart.ask()

    def heard(self, event: Event) -> None:
        """Pass an announcement on."""
        values, block = event.values, self.block
        if event.kind == "instruction":
            if not self._marker():
                block.executed = self.hart.retired
                block.begin(self.hart.time)
        elif event.kind == "done":
            if not self._marker():
                self._done(int(values["until"]))
        elif event.kind == "beats":
            begin, until = int(values["begin"]), int(values["until"])
            block.occurred(str(values["of"]), begin, until, int(values["count"]))
        elif event.kind == "blocked":
            block.occurred(str(values["of"]), event.time)
        elif event.kind in ("read", "write") and int(values["address"]) >> REGION_SHIFT == ONCHIP:
            block.occurred(f"{event.kind}s", event.time)

    def _done(self, until: int) -> None:
        """The instruction at `pc` ends at cycle `until`."""
        number = self.hart.retired
        if self.hart.code.fetch(self.hart.pc).row.family in COMPUTING:
            for what in ("unit", "array"):
                self.block.occurred(what, self.hart.time, until, number=number)
        self.block.end(until, number)
        self.attach()

    def _marker(self) -> bool:
        """Whether the instruction at `pc` is a marker that the block learns of as one."""
        row = self.hart.code.fetch(self.hart.pc).row
        return self.block.state.trace_mode == MARK and row.writes == "trace"
