"""Declared state of an island, and what a block of its program is between two words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import NEVER
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.tracing import UNKNOWN, Ahead
from macaw.emu.rules.dram import CLOSED
from macaw.emu.state import StateField
from macaw.isa.fim_circuit import CIRCUIT_REGISTERS, COLUMN_BYTES, COLUMNS, GIO, ROP, RZ, SLOTS

NOBODY = -1
NOWHERE = -1  # a pointer that no word has set
HOST = -2  # the number of a block of what the host sends
_MODE = tuple(map(CIRCUIT_REGISTERS.index, ("op", "arrange", "transpose", "accumulate", "format")))
OWN_COUNTS = (
    "operations", "activations", "reopened", "column_reads", "column_writes", "pushed", "pulled",
    "host_columns", "cycles_pull", "cycles_lock", "cycles_alu",
)  # fmt: skip


def fields(banks: int) -> tuple[StateField, ...]:
    """The rows of an island of so many banks."""
    return (
        StateField(ROP, "uint8", (banks, COLUMN_BYTES), "the register Rop of each bank"),
        StateField(GIO, "uint8", (banks, COLUMN_BYTES), "the global I/O register of each bank"),
        StateField(RZ, "uint8", (banks, SLOTS * COLUMN_BYTES), "the register Rz of each bank"),
        StateField("iosa", "uint8", (banks, COLUMNS, COLUMN_BYTES), "the open row of each bank"),
        StateField("blocks", "object", meaning="of the program: banks, pc, time, loops, registers"),
        StateField(
            "buffers", "object", meaning="of each: pointers, owner, producer, columns on their way"
        ),
        StateField("circuits", "object", meaning="of each bank between blocks: registers, times"),
        StateField("sent", "int", meaning="when what the host has sent is done", initial=NEVER),
        StateField("dram", "object", meaning="rows, last commands, waits"),
        StateField("counts", "object", meaning="counters"),
    )


@dataclass
class Buffer:
    """A range of columns, as pointers count them; `owner` and `producer` are blocks' numbers.

    The last columns before `end` are on their way: `arrivals` has the cycle from which on each is
    stored, the earliest first. The end pointer that others see is before these (seed 004 ¶50).
    """

    low: int = NOWHERE
    high: int = NOWHERE
    start: int = NOWHERE
    end: int = NOWHERE  # after the last column that a push has taken
    owner: int = NOBODY
    producer: int = NOBODY
    arrivals: list[int] = field(default_factory=list)

    def plain(self) -> list[Any]:
        """The buffer as lists and numbers."""
        pointers = (self.low, self.high, self.start, self.end)
        return [*pointers, self.owner, self.producer, list(self.arrivals)]

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Buffer:
        """The buffer that `plain` gave."""
        low, high, start, end, owner, producer, arrivals = plain
        return cls(low, high, start, end, owner, producer, list(arrivals))


@dataclass
class Circuit:
    """The circuit of a bank while no block works with it: registers as `mmr` writes them, times."""

    time: int = 0  # of the next operation at the earliest
    rz_ready: int = 0
    alu_free: int = 0
    registers: list[int] = field(default_factory=lambda: [0] * len(CIRCUIT_REGISTERS))

    def plain(self) -> list[Any]:
        """The circuit as lists and numbers."""
        return [self.time, self.rz_ready, self.alu_free, list(self.registers)]

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Circuit:
        """The circuit that `plain` gave."""
        time, rz_ready, alu_free, registers = plain
        return cls(time, rz_ready, alu_free, list(registers))


@dataclass
class Block:
    """A block of a program: banks in lock-step. Times are device cycles."""

    index: int
    banks: list[int]
    pc: int
    time: int  # of its next word; NEVER: it waits or has ended
    running: bool = True
    row: int = CLOSED  # what its act has opened
    loops: list[list[int]] = field(default_factory=list)  # begin of the body, passes left
    registers: list[int] = field(default_factory=lambda: [0] * len(CIRCUIT_REGISTERS))
    rz_ready: int = 0  # the first cycle in which Rz may be read
    alu_free: int = 0
    rop_ready: int = 0  # the first cycle in which what was pulled is there
    gio_ready: int = 0
    stored: int = 0  # the first cycle in which all that it has pushed is stored
    repeat: int = 0  # times that the present fim has been done
    waiting: str = ""  # what would end its wait, in words
    key: str = ""  # the same, as what changes it says it
    since: int = NEVER
    number: int = UNKNOWN  # of the fim that is not done, for the trace
    ahead: Ahead | None = None  # what the trace was not told of it

    def __post_init__(self) -> None:
        self.places: NDArray[np.intp] = np.array(self.banks, np.intp)
        self.mode = Mode()
        self.registers_changed()

    def registers_changed(self) -> None:
        """Take what the circuits' registers say of an operation."""
        self.mode = Mode(*(self.registers[place] for place in _MODE))

    @property
    def moment(self) -> object:
        """What tells this coming to a word from all others: the word, and passes of loops left."""
        return (self.index, self.pc, *(left for _, left in self.loops))

    def pulled(self, registers: Iterable[str]) -> int:
        """The first cycle in which nothing is on its way to any of these registers."""
        ready = {ROP: self.rop_ready, GIO: self.gio_ready}
        return max((ready.get(name, 0) for name in registers), default=0)

    def plain(self) -> list[Any]:
        """The block as lists and numbers."""
        known = self.repeat > 0 or self.ahead is not None
        return [
            self.index, list(self.banks), self.pc, self.time, self.running, self.row,
            [list(loop) for loop in self.loops], list(self.registers), self.rz_ready,
            self.alu_free, self.rop_ready, self.gio_ready, self.stored, self.repeat, self.waiting, self.key, self.since,
            self.number if known else UNKNOWN, None if self.ahead is None else self.ahead.plain(),
        ]  # fmt: skip

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Block:
        """The block that `plain` gave."""
        values = list(plain)
        values[1], values[7] = list(values[1]), list(values[7])
        values[6] = [list(loop) for loop in values[6]]
        values[-1] = None if values[-1] is None else Ahead(*values[-1])
        return cls(*values)
