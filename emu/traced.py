"""What a core tells its trace block, and how its registers are read and written.

Every core has a trace block, `trace`, with registers (docs/isa/trace.md); it is part of the core's
state. While `tracing`, the core tells it of its instructions (`begin`, `end`) and their
occurrences; at other times the block needs nothing, and does not count instructions either:
`start_count` says how many there were. Ports report the accesses that they see, those of the
instruction that began last or of number `port.instruction`. A core may tell all of it later, up
to its `sync`: a fast engine does, and the dma, which adds up the uses of a transfer.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from macaw.emu.agents import Agent


class Units(NamedTuple):
    """The compute units of a core, as the formulas of seed 001 have them."""

    of_array: int  # c: units of the array
    width: int  # p: bytes of data that a unit takes in a use at most
    beat: int = 0  # m: bytes of a beat of what it reads; 0: as wide as external memory
    spacing: int = 0  # cycles of an access that count as blocked in the densest stream, too
    store: int = 0  # bytes of its widest write of external memory; 0: as wide as that is


class Traced(Agent):
    """An agent with a trace block."""

    numbers_markers = True  # a marker is an instruction, with a number in the trace

    @property
    @abstractmethod
    def start_count(self) -> int:
        """Instructions that the core has started since reset, as `macaw.isa.trace` counts."""

    def units(self) -> Units:
        """Return the compute units whose uses are the occurrences "unit" and "array"."""
        return Units(1, 4, store=4)

    def count_occurrence(
        self, what: str, time: int, until: int, count: int = 1, number: int | None = None
    ) -> None:
        """See `Agent.count_occurrence`."""
        self.trace.count_occurrence(what, time, until, count, number)

    def trace_changed(self) -> None:
        """Learn that `tracing` is another than before."""
        return

    def mark(self, begins: bool, group: int, time: int, until: int) -> None:
        """Execute a marker of `group` from `time` to `until`. Raises `Fault` (bad mask).

        `start_count` does not count it yet.
        """
        self.trace.executed = self.start_count
        self.trace.mark(begins, group, time, until, self.numbers_markers)

    def read_trace(self, name: str) -> int:
        """Return the present value of a register of the trace block. Raises `Fault`."""
        self.sync()
        return self.trace.read(name)
