"""Traced cores: how a core reports to its trace block, how programs use the block's registers.

Every core has a trace block, `trace`, which is part of its state. docs/isa/trace.md describes the
registers of the block. While `tracing` is set, the core reports its instructions (`begin`, `end`)
and their occurrences. At other times it reports nothing, and the block does not count instructions;
`start_count` has their number. Ports report the accesses that they see. An access belongs to the
instruction `port.instruction`, or to the instruction that began last.

A core may report late, but not later than its `sync`. Fast engines report late. The dma does so,
too, because it adds up the uses of a transfer.
"""

from __future__ import annotations

from abc import abstractmethod

from macaw.emu.agents import Agent
from macaw.isa.typed_records import NamedTuple


class Units(NamedTuple):
    """The sizes of a core's compute units and accesses, which the formulas of seed 001 use.

    `of_array` is the number of compute units in the array (c in the seed), `width` the greatest
    number of bytes that a unit takes in one use (p). `beat` is the number of bytes that the core
    reads in one beat (m). `store` is the number of bytes of its widest write to external memory; 0
    means the width of external memory. `spacing` is the least number of cycles between two
    accesses. The trace counts these cycles as blocked, although the core cannot avoid them.
    """

    of_array: int
    width: int
    beat: int = 0
    spacing: int = 0
    store: int = 0


class Traced(Agent):
    """A core with a trace block."""

    numbers_markers = True  # whether a marker is an instruction, with a number in the trace

    @property
    @abstractmethod
    def start_count(self) -> int:
        """The number of instructions that the core has started since reset, for the trace.

        `macaw.isa.trace` says which instructions count.
        """

    def units(self) -> Units:
        """Return the sizes of the core's compute units and accesses.

        The formulas of seed 001 need them, together with the uses that the trace counts: "unit" for
        each compute unit that works, "array" for all of them together.
        """
        return Units(1, 4, store=4)

    def count_occurrence(
        self, what: str, time: int, until: int, count: int, number: int | None = None
    ) -> None:
        """Count `count` occurrences of `what` for the trace, in the cycles `time` to `until` - 1.

        `number` is the instruction that causes them; None means the instruction that began last.
        """
        self.trace.count_occurrence(what, time, until, count, number)

    def trace_changed(self) -> None:
        """React to a change of `tracing`."""
        return

    def mark(self, begins: bool, group: int, time: int, until: int) -> None:
        """Execute a marker of register group `group`, from cycle `time` to `until`.

        A marker is an instruction that starts (`trace_begin`, `begins` is true) or ends
        (`trace_end`) what the group records. The core calls this before
        `start_count` includes the marker. Raises `Fault` (bad mask).
        """
        self.trace.executed = self.start_count
        self.trace.mark(begins, group, time, until, self.numbers_markers)

    def read_trace(self, name: str) -> int:
        """Return the present value of the register `name` of the trace block.

        Raises `Fault` if the block does not have the register's group.
        """
        self.sync()
        return self.trace.read(name)
