"""The table of fim, memory banks with circuits that calculate: the words of their programs.

A program is a sequence of blocks and ends with `endall`. A block begins with `block` and ends with
`end`. In seed 004, the host sends the number of an operation on four spare bits of a DRAM command
(¶46); Macaw defines words, registers and pointers. `isa/fim_circuit.py` describes what the circuits
can do, `isa/fim_islands.py` the islands.
"""

from __future__ import annotations

from macaw.isa import common, memory_map
from macaw.isa.descriptors.fim import DESCRIPTOR
from macaw.isa.fim_circuit import (
    BUFFERS,
    CIRCUIT_REGISTERS,
    COLUMN_BITS,
    COLUMNS,
    FIRST_ROW_REGISTER,
    GIO,
    ISLANDS,
    MAX_ROWS,
    OPERATIONS,
    REGISTERS,
    ROP,
    ROW_REGISTERS,
    RZ,
    SLOTS,
)
from macaw.isa.fim_islands import MAX_BANKS, WAITS, BankMemory
from macaw.isa.fim_moves import OperationNumber
from macaw.isa.kinds import Flag, Hexadecimal, Immediate, Named, Register
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import (
    Core,
    Counter,
    Directive,
    Fault,
    Memory,
    RegisterFile,
    SpecialRegister,
    checked,
)
from macaw.isa.rows import Field, Format, Instruction

NUMBER = DESCRIPTOR.number  # the number of island 0
POINTERS_BASE = 0x100  # offset in an island's memory-mapped registers
LOOP_DEPTH = 8  # the greatest number of nested loops
_BUFFER = Immediate(3, high_limit=BUFFERS - 1)
PUSHED = (RZ, GIO, ROP)  # the operands of push and pull, by number
PULLED = (ROP, GIO)
_PUSHED = Register(tuple((name,) for name in PUSHED), "register for push")
_PULLED = Register(tuple((name,) for name in PULLED), "register for pull")
_MAPPED = tuple((row.name, number) for number, row in REGISTERS.items())


@dataclass(frozen=True)
class Operation(OperationNumber):
    """The operand kind for one of the ten operations of the circuits.

    A source gives its number, or writes a move such as `rop <- iosa[3]` instead.
    """

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        operation = OPERATIONS[value]
        if written:
            return (operation.to,)
        return (*operation.reads, operation.to) if operation.to == RZ else operation.reads


@dataclass(frozen=True)
class MappedValue(Immediate):
    """The operand kind for the value that `mmr` writes to a memory-mapped register."""

    def describe(self) -> str:
        words = (f"{row.name}: {', '.join(row.words)}" for row in REGISTERS.values() if row.words)
        return f"a number; {'; '.join(words)}; of a buffer's registers the address of a column"


# The row registers as operands of `act`, with their numbers in its field `row`.
_ROW_OPERANDS = tuple(
    (REGISTERS[FIRST_ROW_REGISTER + number].name, MAX_ROWS + number)
    for number in range(ROW_REGISTERS)
)


@dataclass(frozen=True)
class RowOperand(Named):
    """The operand kind for the row of DRAM that `act` opens: its number, or a row register."""

    def format(self, value: int) -> str:
        return str(value) if value < MAX_ROWS else super().format(value)

    def describe(self) -> str:
        names = self.names
        return f"a row, 0 to {MAX_ROWS - 1}, or a row register, {names[0][0]} to {names[-1][0]}"


@dataclass(frozen=True)
class RowIncrement(Immediate):
    """The operand kind for the number that the instruction `act` adds to a row register."""

    unprinted = 0


@dataclass(frozen=True)
class MappedNames(Named):
    """The operand kind for the name of a memory-mapped register."""

    def describe(self) -> str:
        return f"a memory-mapped register, {self.names[0][0]} to {self.names[-1][0]}"


def _format(name: str, *fields: Field) -> Format:
    """Return the word format `name`, for any word but `mmr`.

    Bit 31 is 0, bits 30 to 26 are the opcode, and all other bits outside of `fields` are reserved.
    """
    used = sum(field.mask for field in fields)
    assert used < 1 << 26
    free = [bit for bit in range(25, -1, -1) if not used >> bit & 1]
    runs: list[tuple[int, int]] = []
    for bit in free:
        if runs and runs[-1][1] == bit + 1:
            runs[-1] = runs[-1][0], bit
        else:
            runs.append((bit, bit))
    reserved = [
        Field(f"reserved{number}" if number else "reserved", f"{high}:{low}")
        for number, (high, low) in enumerate(runs)
    ]
    head = (Field("mmr", "31"), Field("opcode", "30:26"))
    return Format(name, 32, (*head, *fields, *reserved), 4)


NOTHING = _format("nothing")
ROW = _format(
    "row",
    Field("row", "12:0", RowOperand(13, high_limit=_ROW_OPERANDS[-1][1], names=_ROW_OPERANDS)),
    Field("inc", "25:13", RowIncrement(13, signed=True), signed=True),
)
FIM = _format(
    "fim",
    Field("n", "25:22", Operation(4, high_limit=len(OPERATIONS) - 1)),
    Field("col", "21:17", Immediate(5)),
    Field("inc", "16:11", Immediate(6, signed=True), signed=True),
    Field("repeat", "10:0", Immediate(11, low_limit=1)),
)
LOOP = _format("loop", Field("n", "15:0", Immediate(16, low_limit=1)))
BLOCK = _format("block", Field("banks", "15:0", Hexadecimal(MAX_BANKS, low_limit=1)))
PUSH = _format("push", Field("buffer", "2:0", _BUFFER), Field("register", "4:3", _PUSHED))
PULL = _format(
    "pull",
    Field("buffer", "2:0", _BUFFER),
    Field("register", "4:3", _PULLED),
    Field("all", "5", Flag("all")),
)
LOCK = _format("lock", Field("buffer", "2:0", _BUFFER))
MARKER = _format("marker", Field("begin", "5"), Field("g", "4:0", Immediate(5)))
MMR = Format(
    "mmr",
    32,
    (
        Field("mmr", "31"),
        Field("register", "30:24", MappedNames(7, high_limit=len(_MAPPED) - 1, names=_MAPPED)),
        Field("value", "23:0", MappedValue(24)),
    ),
    4,
)

I = Instruction

# fmt: off
INSTRUCTIONS = (
    I("endall",      NOTHING, {"mmr": 0, "opcode": 0},               "",                            "End the program of the island: no block follows. If a source has none, the assembler adds it.",                                                                                                                                                                                                                                     "",                     "",                        "block",     "none",                                                            "endall",                                                          "ours", "stop"),
    I("block",       BLOCK,   {"mmr": 0, "opcode": 1},               "banks",                       "Begin a block of the banks in a mask. Their circuits execute its words in lock-step, in parallel with the other blocks. `.block` writes this word.",                                                                                                                                                                                "",                     "",                        "block",     "none: all blocks begin when the island is started",               "block 0x000f",              "ours"),
    I("end",         NOTHING, {"mmr": 0, "opcode": 2},               "",                            "The block ends when its last operation has ended; then the host can access its banks.",                                                                                                                                                                                                                                              "",                     "",                        "block",     "until results, written and pushed columns are stored and pulled columns are there",             "end",                       "ours", "stop"),
    I("act",         ROW,     {"mmr": 0, "opcode": 3},               "row, inc=0",                  "Open a row of each bank of the block; an open row is closed first. For a row register, row0 to row3, open the row that it contains, then add inc to it, so that a loop can go over rows. A row that the bank does not have is a fault. A row written as a number takes no inc.",            "registers",            "row-buffer registers",    "memory",    "1, as soon as t_rp and t_rc allow it; if they are set, t_rrds, t_rrdl and t_faw must allow it, too; an open row is closed before it, as by pre", "act row0, inc=1",           "seed 004 ¶47"),
    I("pre",         NOTHING, {"mmr": 0, "opcode": 4},               "",                            "Close the open row of each bank of the block, if a row is open.",                                                                                                                                                                                                                                                                   "",                     "row-buffer",              "memory",    "1, as soon as t_ras and t_wr (and t_rtp if it is set) allow it",                             "pre",                       "seed 004 ¶46"),
    I("fim",         FIM,     {"mmr": 0, "opcode": 5},               "n, col=0, inc=0, repeat=1",   "Do one of the ten operations in each bank; repeat is the number of times. The column grows by inc each time; a column outside of 0 to 31 is a fault. An operation without a column takes neither col nor inc.",                                                                                                                                               "row-buffer rop gio rz registers", "row-buffer rop gio rz", "operation", "1 for each repeat, as soon as t_rcdrd or t_rcdwr, t_ccdl and the ALU allow it; results come after the latency of the function, of the adder tree and of accumulating", "fim 6, col=16, inc=1, repeat=4", "seed 004 ¶46-47, Fig. 1C"),
    I("mmr",         MMR,     {"mmr": 1},                            "register, value",             "Write a memory-mapped register of each circuit of the block, a row register of the block, or a pointer of a buffer of the island.",                                                                                                                                                                                                                              "",                     "registers",               "operation", "1; before it, an mmr of a buffer's low or end waits until all pushed columns are stored, an mmr of end also until the block's own writes have ended",                                                               "mmr op, mul",               "seed 004 ¶47"),
    I("loop",        LOOP,    {"mmr": 0, "opcode": 6},               "n",                           f"Do the words before the matching endloop n times; {LOOP_DEPTH} loops may be nested.",                                                                                                                                                                                                                                            "",                     "loops",                   "block",     "1",                                                               "loop 4",                    "ours"),
    I("endloop",     NOTHING, {"mmr": 0, "opcode": 7},               "",                            "End the body of the innermost loop. While passes are left, continue with the body's first word.",                                                                                                                                                                                                                                                                                                        "loops",                "loops",                   "block",     "1",                                                               "endloop",                   "ours", "branch"),
    I("push",        PUSH,    {"mmr": 0, "opcode": 8},               "register, buffer=0",          "Append a register of each bank (of Rz the slice rz_slot) to the buffer, in the order of the banks. The end moves past each column when its data are stored. A push never waits for room; a push beyond the buffer's size is a fault.",                                                                                                                                                            "rz gio rop registers", "buffer",                  "buffer",    "1 or more for each bank: a column write over the island's channel; the column is stored wl + burst cycles after its write",      "push rz",                   "seed 004 ¶48-51"),
    I("pull",        PULL,    {"mmr": 0, "opcode": 9},               "register, buffer=0, [all]",   "Take a column for each bank, in the order of the banks (all: one column for all banks), from the start of the buffer into a register, and move the start. Wait until these columns are stored.",                                                                                                                                                      "buffer",               "rop gio buffer",          "buffer",    "1 or more for each column: a read over the island's channel, as soon as the columns are stored; the next use of the register waits for the data", "pull rop, all", "seed 004 ¶49-51"),
    I("lock",        LOCK,    {"mmr": 0, "opcode": 10},              "buffer=0",                    "Take the lock of a buffer, and wait while another block has this lock. While a lock is taken, only its owner may write the buffer's columns and move the buffer's pointers by mmr.",                                                                                                                                                                                                                          "buffer",               "buffer",                  "buffer",    "1",                                                               "lock",                      "seed 004 ¶50"),
    I("unlock",      LOCK,    {"mmr": 0, "opcode": 11},              "buffer=0",                    "Give the lock of a buffer back.",                                                                                                                                                                                                                                                                                                   "buffer",               "buffer",                  "buffer",    "1",                                                               "unlock",                    "seed 004 ¶50"),
    I("trace_begin", MARKER,  {"mmr": 0, "opcode": 12, "begin": 1},  "g",                           "Begin to record in a register group of the trace block.",                                                                                                                                                                                                                                                                           "",                     "trace",                   "block",     "1",                                                               "trace_begin 0",             "seed 001"),
    I("trace_end",   MARKER,  {"mmr": 0, "opcode": 12, "begin": 0},  "g",                           "End recording in a register group of the trace block.",                                                                                                                                                                                                                                                                             "",                     "trace",                   "block",     "1",                                                               "trace_end 0",               "seed 001"),
)
# fmt: on

DIRECTIVES = (
    Directive(
        ".block",
        ".block banks=RANGE, or banks=(RANGE, ...)",
        "Begin a block for banks, each a number or a range `0-3`. Its words are the lines up to `end`.",
        ".block banks=0-3\n  mmr op, mul\n  act 12\n  rop <- iosa[0]\n  rz <- rop * iosa[16]\nend",
        end="end",
    ),
)

FILES = (
    RegisterFile(
        "rop", COLUMN_BITS, ((ROP,),), "The left operand of operations 6 and 7, of each bank."
    ),
    RegisterFile("gio", COLUMN_BITS, ((GIO,),), "The global I/O register of each bank."),
    RegisterFile(
        "rz",
        SLOTS * COLUMN_BITS,
        ((RZ,),),
        "Rz of each bank, for results: rz_slices slices, each as large as a column.",
    ),
)

# fmt: off
COUNTERS = (
    Counter("instructions",     "words done, of all blocks",                                        "words"),
    Counter("operations",       "operations of circuits: a fim counts repeat times in each bank",   "operations"),
    Counter("activations",      "rows that were opened, in each bank",                              "rows"),
    Counter("reopened",         "rows opened again because an access to a buffer in the same bank or a refresh had closed them, in each bank", "rows"),
    Counter("column_reads",     "columns that circuits and channel read, in each bank",             "columns"),
    Counter("column_writes",    "columns that circuits and channel wrote, in each bank",            "columns"),
    Counter("pushed",           "columns pushed",                                                   "columns"),
    Counter("pulled",           "columns pulled",                                                   "columns"),
    Counter("host_columns",     "columns that the host read or wrote",                              "columns"),
    Counter("channel_rows",     "rows that accesses over the channel opened: the host's columns, pushed, pulled", "rows"),
    Counter("cycles_pull",      "cycles in which a block waited for columns in a buffer, or for columns that it had pulled",        "cycles"),
    Counter("cycles_lock",      "cycles in which a block waited for a lock",                        "cycles"),
    Counter("cycles_alu",       "cycles in which a block waited for its ALUs",                      "cycles"),
    Counter("overflows",        "numbers that became infinite or NaN although their operands were finite", "numbers"),
    *WAITS,
)

FAULTS = (
    *common.FAULTS,
    Fault("no open row",     "An operation on a column of a bank that has no open row."),
    Fault("buffer overflow", "A push past the end of the buffer."),
    Fault("lock violation",  "A block locks a buffer twice, unlocks a buffer that it has not locked, or changes a column or pointer of a buffer that another block has locked. Without a lock: a buffer has two producers, or another block than the producer writes a column of it."),
    Fault("not available",   "A function, arrangement, format or slice of Rz that the island does not have, or that do not go together."),
    Fault("bad block",       "A block has no end, a bank is in two blocks or not on the island, or loops do not nest."),
)
# fmt: on

MEMORIES = (
    Memory(
        "words",
        memory_map.INSTRUCTIONS + (NUMBER << memory_map.SPACE_SHIFT),
        memory_map.SPACE_SHIFT,
        "fim.instructions",
        "the blocks of the island's program",
        instructions=True,
        unit=4,
    ),
    BankMemory(
        "banks",
        memory_map.ISLANDS,
        memory_map.ISLAND_SHIFT,
        "fim.rows",
        "the banks of the island; each has fim.rows rows of 32 columns of 32 bytes",
    ),
)


def _numbered(words: tuple[str, ...]) -> str:
    """Return ` (0 WORD, 1 WORD, ...)`, where word i of `words` is the name of the value i.

    Return an empty text if `words` is empty.
    """
    named = ", ".join(f"{number} {word}" for number, word in enumerate(words))
    return f" ({named})" if words else ""


# Addresses of columns in an island's buffers, which the host may read.
POINTERS = tuple(
    SpecialRegister(row.name, POINTERS_BASE + 4 * place, "ro", row.meaning)
    for place, row in enumerate(row for row in REGISTERS.values() if row.address)
)
# For host operations. A write sets the register of every circuit that no block uses; a read gives
# the register of bank 0.
CIRCUITS = tuple(
    SpecialRegister(
        row.name,
        POINTERS_BASE + 4 * (len(POINTERS) + place),
        "rw",
        f"{row.meaning}; of the circuits that no block works with" + _numbered(row.words),
    )
    for place, row in enumerate(row for row in REGISTERS.values() if row.name in CIRCUIT_REGISTERS)
)

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=5,
        instructions=INSTRUCTIONS,
        directives=DIRECTIVES,
        files=FILES,
        specials=tuple(
            SpecialRegister(row.name, number, "rw", row.meaning)
            for number, row in REGISTERS.items()
        ),
        counters=COUNTERS,
        faults=FAULTS,
        registers=POINTERS + CIRCUITS,
        memories=MEMORIES,
        piece="end",
        levels=("bank",),
        order=("block", "memory", "operation", "buffer"),
        unit="a lane of a circuit's ALU; there are fim.island.I.lanes. Each product, or each result of another function, is a use; sums are not. The array is the ALU: one use for each cycle in which any of its lanes works",
    )
)
assert ISLANDS + CORE.number <= 16  # the core numbers from 16 on belong to the rows of the array
assert COLUMNS == 1 << 5
