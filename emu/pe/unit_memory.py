"""The memory of a row: reads and writes the half of an on-chip unit that feeds the row.

The row takes its packets from this half and stores its results there.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.core import Core
from macaw.emu.memory import Memory

Ranges = Sequence[tuple[int, int]]  # offset in the half, number of bytes


class UnitMemory:
    """The half of on-chip unit `number` that now feeds the row, with a read port and a write
    port.
    """

    def __init__(self, memory: Memory, core: Core, number: int, half_bytes: int) -> None:
        self.memory, self.core, self.number, self.half_bytes = memory, core, number, half_bytes
        self.read_port, self.return_port = memory.port(core), memory.port(core)

    @property
    def base(self) -> int:
        """The memory address of the half that feeds the row now."""
        return self.memory.feeding_address(self.number)

    @property
    def waits_for_grant(self) -> bool:
        """Whether a requested beat waits for its grant."""
        return self.read_port.busy or self.return_port.busy

    def peek(self, offset: int, length: int) -> bytes:
        """Return `length` bytes at `offset` of the half, in no simulated time.

        Raises `Fault` (out-of-range access) unless the half contains all bytes.
        """
        return self.memory.peek(self.base + offset, length)

    def read(self, ranges: Ranges, instruction: int) -> None:
        """Request the read of a beat from `ranges` of the half.

        A range is a pair (offset, bytes). `instruction` is the number of the exe in the trace.
        """
        base = self.base
        self.read_port.instruction = instruction
        self.read_port.beat(self.core.time, [(base + at, length) for at, length in ranges])

    def write(self, ranges: Ranges, data: bytes) -> None:
        """Request the write of `data`, a beat of the return bus, to `ranges` of the half."""
        base = self.base
        ranges = [(base + at, length) for at, length in ranges]
        self.return_port.beat(self.core.time, ranges, data)
