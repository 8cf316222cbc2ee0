"""The declared state of an island, and the classes of its buffers, circuits and blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import CONTRACT
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.repeats import UNKNOWN, Batch
from macaw.emu.rules.fim_circuits import Latency
from macaw.emu.rules.fim_dram import CLOSED
from macaw.emu.state import State, StateField
from macaw.emu.waits import NEVER
from macaw.isa.fim_circuit import (
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
    COLUMNS,
    GIO,
    ROP,
    ROW_REGISTERS,
    RZ,
    SLOTS,
)
from macaw.isa.lazy_dataclass import dataclass

_mode = lru_cache(maxsize=256)(Mode)  # a mode keeps what is derived from it
NOBODY = -1
NOWHERE = -1  # the value of a pointer that no word has set
HOST = -2  # the index of the temporary block that does a host operation
_MODE = tuple(map(CIRCUIT_REGISTERS.index, ("op", "arrange", "transpose", "accumulate", "format")))
OWN_COUNTS = (
    "operations", "activations", "reopened", "column_reads", "column_writes", "pushed", "pulled",
    "host_columns", "channel_rows", "cycles_pull", "cycles_lock", "cycles_alu",
)  # fmt: skip


def fields(banks: int) -> tuple[StateField, ...]:
    """Return the declared fields of an island with `banks` banks."""
    return (
        StateField(ROP, "uint8", (banks, COLUMN_BYTES), "the register Rop of each bank"),
        StateField(GIO, "uint8", (banks, COLUMN_BYTES), "the global I/O register of each bank"),
        StateField(RZ, "uint8", (banks, SLOTS * COLUMN_BYTES), "the register Rz of each bank"),
        StateField("iosa", "uint8", (banks, COLUMNS, COLUMN_BYTES), "the open row of each bank"),
        StateField(
            "blocks", "object", meaning="blocks of the program: banks, pc, time, loops, registers"
        ),
        StateField(
            "buffers",
            "object",
            meaning="pointers, owner, producer, columns not stored yet, of each buffer",
        ),
        StateField(
            "circuits", "object", meaning="registers and times of each bank that no block uses"
        ),
        StateField(
            "sent", "int", meaning="cycle in which all host operations are done", initial=NEVER
        ),
        StateField("dram", "object", meaning="open rows, last commands and waits of the banks"),
        StateField("counts", "object", meaning="counters"),
        StateField(
            "overflows",
            "object",
            meaning="of each word with overflows: address, format, count, banks",
        ),
    )


class IslandState(State):
    """The declared state of an island; `fields` says what each attribute means."""

    rop: NDArray[np.uint8]
    gio: NDArray[np.uint8]
    rz: NDArray[np.uint8]
    iosa: NDArray[np.uint8]
    blocks: list[list[Any]]
    buffers: list[list[Any]]
    circuits: list[list[Any]]
    sent: int
    dram: list[Any]
    counts: list[int]
    overflows: list[list[int]]

    def __init__(self, banks: int) -> None:
        super().__init__((*CONTRACT, *fields(banks)))


@dataclass
class Buffer:
    """A buffer: a range of columns of an island, with four pointers.

    A pointer is the number of a column, counted from the first column of island 0 through all
    islands. `owner` is the number of the block that has the lock, `producer` that of the block that
    last pushed a column or moved `end`. The last columns before `end` may not be stored yet;
    `arrivals` has the cycles in which they will be stored, the earliest first. Other blocks see an
    end pointer that is before all columns that are not stored (seed 004 ¶50).
    """

    low: int = NOWHERE  # the first column that the buffer may use
    high: int = NOWHERE  # the column after the last one that the buffer may use
    start: int = NOWHERE  # the first column that was not pulled yet
    end: int = NOWHERE  # the column after the last one that was pushed
    owner: int = NOBODY
    producer: int = NOBODY
    arrivals: list[int] = field(default_factory=list)

    def plain(self) -> list[Any]:
        """Return the buffer as a plain value, for a snapshot."""
        pointers = (self.low, self.high, self.start, self.end)
        return [*pointers, self.owner, self.producer, list(self.arrivals)]

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Buffer:
        """Return the buffer from `plain`, a value that the method `plain` returned."""
        low, high, start, end, owner, producer, arrivals = plain
        return cls(low, high, start, end, owner, producer, list(arrivals))


@dataclass
class Circuit:
    """The circuit of a bank while no block uses the bank: its times, and its registers.

    Words `mmr` of blocks, and stores of the host, set these registers. The next host operation can
    begin in cycle `time` at the earliest. From cycle `rz_ready` on, Rz may be read; from `alu_free`
    on, the ALU may start an operation; from `columns_ready` on, the circuit has the columns that
    were read last.
    """

    time: int = 0
    rz_ready: int = 0
    alu_free: int = 0
    columns_ready: int = 0
    registers: list[int] = field(default_factory=lambda: [0] * len(CIRCUIT_REGISTERS))

    def plain(self) -> list[Any]:
        """Return the circuit as a plain value, for a snapshot."""
        times = (self.time, self.rz_ready, self.alu_free, self.columns_ready)
        return [*times, list(self.registers)]

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Circuit:
        """Return the circuit from `plain`, a value that the method `plain` returned."""
        time, rz_ready, alu_free, columns_ready, registers = plain
        return cls(time, rz_ready, alu_free, columns_ready, list(registers))


@dataclass
class Block:
    """A block of a program: it controls banks in lock-step. Times are device cycles."""

    index: int  # the number of the block in its program
    banks: list[int]  # the numbers of its banks
    pc: int  # the address of its next word
    time: int  # the time of its next word; NEVER if it has ended or waits until an unknown cycle
    running: bool = True  # whether it has not ended
    row: int = CLOSED  # the row that its `act` has opened
    # for each loop: the address of the body's first word, and the passes left
    loops: list[list[int]] = field(default_factory=list)
    registers: list[int] = field(default_factory=lambda: [0] * len(CIRCUIT_REGISTERS))
    rows: list[int] = field(default_factory=lambda: [0] * ROW_REGISTERS)  # the row registers
    rz_ready: int = 0  # the first cycle in which Rz may be read
    alu_free: int = 0  # the first cycle in which the ALU may start an operation
    rop_ready: int = 0  # the first cycle in which pulled columns are in Rop
    gio_ready: int = 0  # the first cycle in which pulled columns are in Rgio
    columns_ready: int = 0  # the first cycle in which the circuits have the columns last read
    stored: int = 0  # the first cycle in which all its pushed columns are stored
    repeat: int = 0  # number of repeats of the present fim that are done
    waiting: str = ""  # a phrase for what would end its wait
    key: str = ""  # the key of its wait in `progress.wake`
    since: int = NEVER  # the cycle in which its wait began
    number: int = UNKNOWN  # the trace's number of its `fim` word that has repeats left
    pending: Batch | None = None  # repeats that are not yet reported to the trace

    def __post_init__(self) -> None:
        self.places: NDArray[np.intp] = np.array(self.banks, np.intp)
        self.mode = Mode()
        self.registers_changed()
        if self.pending is not None:
            self.put_off(self.pending)

    def put_off(self, repeats: Batch) -> None:
        """Store `repeats` as `pending`, to be reported to the trace later.

        Also set `due`, the cycle for which the last of them is requested.
        """
        self.pending, self.due = repeats, repeats.last_requested

    def registers_changed(self) -> None:
        """Compute `mode`, the mode of operations, after the circuits' registers have changed."""
        self.mode = _mode(*[self.registers[place] for place in _MODE])
        # of operations in this mode; None before the first one
        self.latency: Latency | None = None
        self.is_checked = False  # whether the circuits are known to be able to compute in this mode

    @property
    def moment(self) -> object:
        """A value that identifies the present execution of a word.

        It has the block's number, the word's address, and the remaining passes of its loops.
        """
        return (self.index, self.pc, *(left for _, left in self.loops))

    def pull_ready(self, registers: Collection[str]) -> int:
        """Return the first cycle in which all columns pulled into `registers` have arrived."""
        rop = self.rop_ready if ROP in registers else 0
        gio = self.gio_ready if GIO in registers else 0
        return rop if rop > gio else gio

    def plain(self) -> list[Any]:
        """Return the block as a plain value, for a snapshot."""
        known = self.repeat > 0 or self.pending is not None
        return [
            self.index, list(self.banks), self.pc, self.time, self.running, self.row,
            [list(loop) for loop in self.loops], list(self.registers), list(self.rows),
            self.rz_ready,
            self.alu_free, self.rop_ready, self.gio_ready, self.columns_ready, self.stored, self.repeat, self.waiting, self.key, self.since,
            self.number if known else UNKNOWN, None if self.pending is None else self.pending.plain(),
        ]  # fmt: skip

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Block:
        """Return the block from `plain`, a value that the method `plain` returned."""
        values = list(plain)
        for place in (1, 7, 8):
            values[place] = list(values[place])
        values[6] = [list(loop) for loop in values[6]]
        values[-1] = None if values[-1] is None else Batch(*values[-1])
        return cls(*values)
