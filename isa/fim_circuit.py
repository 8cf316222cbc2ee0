"""The function-in-memory circuit as data: operations, ALU functions, arrangements, registers.

An arrangement is the way in which the ALU combines its operands. The ten operations are those of
seed 004, Fig. 1C. Macaw defines their numbers, the numbers of functions, and the map of
memory-mapped registers. `isa/fim.py` uses these tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from macaw.isa.activities import ADD, LOGIC, MULTIPLY, SPECIAL
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import ISLAND_SHIFT
from macaw.isa.typed_records import NamedTuple

COLUMN_BITS = 256
COLUMN_BYTES = COLUMN_BITS // 8
COLUMNS = 32  # of a row
SLOTS = 16  # slices of the largest Rz; also slots of Rz for results of dot, if lanes are not more
TENSOR_SIDE = 4

IOSA, GIO, ROP, RZ = "iosa", "gio", "rop", "rz"


@dataclass(frozen=True)
class Operation:
    """One of the ten operations of the circuits (seed 004 Fig. 1C).

    If `right` is empty, the operation moves `left` to `to`. Otherwise the ALU applies its current
    function to `left` and `right`, and the result goes to `to`.
    """

    to: str
    left: str
    right: str = ""

    @cached_property
    def computes(self) -> bool:
        """Whether the operation uses the ALU."""
        return bool(self.right)

    @cached_property
    def has_column(self) -> bool:
        """Whether the operation reads or writes a column of the open row."""
        return IOSA in (self.to, self.left, self.right)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The registers that the operation reads, except the ALU's accumulator."""
        return tuple(filter(None, (self.left, self.right)))

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The registers that the operation reads or writes, except the ALU's accumulator."""
        return *self.reads, self.to


OPERATIONS = (
    Operation(GIO, IOSA),
    Operation(IOSA, GIO),
    Operation(ROP, IOSA),
    Operation(ROP, GIO),
    Operation(IOSA, RZ),
    Operation(GIO, RZ),
    Operation(RZ, ROP, IOSA),
    Operation(RZ, ROP, GIO),
    Operation(RZ, IOSA, GIO),
    Operation(ROP, RZ),
)


@dataclass(frozen=True)
class Function:
    """A function of the ALU (set by `mmr op`). If `operands` is 1, it takes only the left one.

    In a source, `symbol` is between or before the operands; if it is empty, a source writes
    `name(operand)`. `cycles` is the default of the setting with the latency. `arithmetic` is the
    kind of work as rooflines and energies count it. If `is_real`, most results are no integers,
    even if the operands are integers.
    """

    name: str
    symbol: str  # written between or before operands; empty: a source writes `name(operand)`
    cycles: int  # the default of the setting that has its latency
    arithmetic: str  # what it computes, as rooflines and energies count it
    meaning: str
    operands: int = 2  # the number of its operands
    is_real: bool = False  # whether most of its results are no integers, even of integers


# fmt: off
FUNCTIONS = (
    Function("add",     "+", 2,  ADD,      "left + right, rounded (IEEE 754)"),
    Function("sub",     "-", 2,  ADD,      "left - right, rounded (IEEE 754)"),
    Function("mul",     "*", 3,  MULTIPLY, "left x right, rounded (IEEE 754); the one of dot, outer and tensor"),
    Function("div",     "/", 12, SPECIAL,  "left / right, rounded (IEEE 754)",                        2, True),
    Function("and",     "&", 1,  LOGIC,    "bits in both"),
    Function("or",      "|", 1,  LOGIC,    "bits in either"),
    Function("xor",     "^", 1,  LOGIC,    "bits in exactly one of them"),
    Function("not",     "~", 1,  LOGIC,    "the bits of left inverted",                               1),
    Function("relu",    "",  1,  LOGIC,    "left where it is above 0, else +0; NaN stays",            1),
    Function("vssqr",   "",  3,  MULTIPLY, "left x left, rounded",                                    1),
    Function("vssqrt",  "",  12, SPECIAL,  "the square root of left, rounded; NaN below 0",           1, True),
    Function("sigmoid", "",  8,  SPECIAL,  "1 / (1 + exp(-left)), rounded once",                      1, True),
    Function("tanh",    "",  8,  SPECIAL,  "the hyperbolic tangent of left, rounded once",            1, True),
)
# fmt: on
FUNCTION_NAMES = tuple(row.name for row in FUNCTIONS)
MUL = FUNCTION_NAMES.index("mul")


@dataclass(frozen=True)
class NumberFormat:
    """A number type of the ALU's lanes (set by `mmr format`).

    `dtype` is the name that sources use for the type of the elements in memory. `numbers` is the
    NumPy type of arrays with such numbers. NumPy has no bfloat16, so an array with bfloat16 numbers
    has the type float32. `sums` is the NumPy type of the results in Rz, the circuit's register of
    results. For floating point it is the same as `numbers`. Results of int8 are sums of 32 bits;
    each becomes an int8 when it leaves Rz. `size` is the number of bytes of an element, `sum_size`
    the number of bytes of a result in Rz.
    """

    name: str
    dtype: str  # the name of the type of its elements in memory, as sources have it
    size: int  # bytes
    numbers: str
    sums: str
    sum_size: int  # bytes of a result in Rz

    @property
    def lanes(self) -> int:
        """The number of lanes: the count of numbers of this type in a 32-byte column."""
        return COLUMN_BYTES // self.size

    @property
    def slots(self) -> int:
        """The number of slots of Rz for results of dot: 16, or `lanes` if that is larger."""
        return max(SLOTS, self.lanes)

    @property
    def slice_bytes(self) -> int:
        """The size in bytes of a slice of Rz: one result for each lane."""
        return self.lanes * self.sum_size

    @property
    def is_integer(self) -> bool:
        """Whether the numbers are integers, and the results in Rz wider integers."""
        return self.sums != self.dtype


FORMATS = (
    NumberFormat("fp16", "float16", 2, "float16", "float16", 2),
    NumberFormat("fp32", "float32", 4, "float32", "float32", 4),
    NumberFormat("bf16", "bfloat16", 2, "float32", "bfloat16", 2),
    NumberFormat("int8", "int8", 1, "int8", "int32", 4),
)
FORMAT_NAMES = tuple(row.name for row in FORMATS)


class Work(NamedTuple):
    """The work of one ALU operation: the numbers of products, results and levels of additions."""

    products: int
    results: int
    levels: int  # the levels of the adder tree that adds the products; 0 if it adds none


@dataclass(frozen=True)
class Arrangement:
    """A way in which the ALU combines its operands (set by `mmr arrange`; seed 004 Fig. 3).

    `formats` are the names of the number formats that the operands can have.
    """

    name: str
    meaning: str
    formats: tuple[str, ...] = FORMAT_NAMES  # the number formats that it can use

    def work(self, lanes: int) -> Work:
        """Return the work of one ALU operation whose operands are columns of `lanes` numbers."""
        match self.name:
            case "dot":
                return Work(lanes, 1, lanes.bit_length() - 1)
            case "outer":
                return Work(lanes * lanes, lanes * lanes, 0)
            case "tensor":
                return Work(TENSOR_SIDE**3, TENSOR_SIDE**2, TENSOR_SIDE.bit_length() - 1)
            case _:
                return Work(lanes, lanes, 0)


ARRANGEMENTS = (
    Arrangement("elementwise", "lane by lane, any function, into the slice RZ_SLOT of Rz"),
    Arrangement("dot", "the sum of the products, one number into the slot RZ_SLOT, which advances"),
    Arrangement(
        "outer",
        "each of left times each of right, row by row into Rz from its start",
        ("fp16", "fp32", "bf16"),  # 32 x 32 sums of int8 would not fit into Rz
    ),
    Arrangement(
        "tensor",
        "the product of 4x4 matrices, row by row into the slice RZ_SLOT of Rz",
        ("fp16", "bf16"),
    ),
)
ARRANGEMENT_NAMES = tuple(row.name for row in ARRANGEMENTS)
ELEMENTWISE, DOT, OUTER, TENSOR = range(4)
TRANSPOSES = ("none", "a", "b")  # what a tensor product transposes: AB, AᵀB, ABᵀ
# Registers on which the result of an arrangement depends, besides `accumulate`; and the register
# that selects a part of Rz.
SETTINGS_OF = {
    name: ("op", "arrange", "format") + (("transpose",) if name == "tensor" else ())
    for name in ARRANGEMENT_NAMES
}
SLICED = ("rz_slot",)
SCALED = ("rz_shift",)  # the register on which an int8 number depends that was a sum in Rz
STEP_OF = {"rz_slot": "rz_step"}  # the register that each operation adds to it, except dot


def factors(arrange: int, number: int, lanes: int, transpose: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs (left lane, right lane) whose products add up to result `number`.

    `arrange` and `transpose` are the values that `mmr` writes; `lanes` is the number of lanes of
    the format (Fig. 3).
    """
    if arrange == ELEMENTWISE:
        yield number, number
    elif arrange == DOT:
        yield from ((lane, lane) for lane in range(lanes))
    elif arrange == OUTER:
        yield divmod(number, lanes)
    else:
        side = TENSOR_SIDE
        row, column = divmod(number, side)
        turned = TRANSPOSES[transpose]
        for k in range(side):
            left = k * side + row if turned == "a" else row * side + k
            yield left, column * side + k if turned == "b" else k * side + column


TRANSPOSED = "transposed"  # the word in an island's abilities for AᵀB and ABᵀ

BUFFERS = 8  # buffers of an island
BUFFER_REGISTERS = 7  # the number of the first register of buffer 0
BUFFER_PARTS = ("low", "high", "start", "end")
ROW_REGISTERS = 4  # row registers of a block
FIRST_ROW_REGISTER = BUFFER_REGISTERS + BUFFERS * len(BUFFER_PARTS)  # the number of row0
SHIFT_REGISTER = FIRST_ROW_REGISTER + ROW_REGISTERS  # the number of shift
MOST_SHIFT = 31  # a sum of 32 bits has no more bits below its sign
MAX_ROWS = 4096  # of a bank
ISLANDS = 8
# The bits of a column's address in the memory map: island, bank, row and column.
ADDRESS_BITS = ISLAND_SHIFT + ISLANDS.bit_length() - 1 - (COLUMN_BYTES.bit_length() - 1)


@dataclass(frozen=True)
class MappedRegister:
    """A memory-mapped register that the instruction `mmr` writes.

    It belongs to a circuit, to a buffer or to a block of the program. A source may write the names
    in `words` for the values 0, 1, ... Without such names, `high` is the greatest value. If
    `address`, the value is a column of an island; a source writes it as an address.
    """

    name: str
    meaning: str
    words: tuple[str, ...] = ()  # names of its values, from 0
    high: int = 0  # the greatest value
    address: bool = False  # its value is an island's column, written as an address

    @property
    def greatest(self) -> int:
        """The greatest legal value of the register."""
        return len(self.words) - 1 if self.words else self.high


def _buffer(number: int) -> tuple[MappedRegister, ...]:
    meanings = {
        "low": "first column; a write also sets start and end to it",
        "high": "the column after the last one",
        "start": "the column that pull takes next",
        "end": "the column after the last one that is stored",
    }
    top = (1 << ADDRESS_BITS) - 1
    return tuple(
        MappedRegister(f"b{number}_{part}", f"buffer {number}: {meaning}", high=top, address=True)
        for part, meaning in meanings.items()
    )


# fmt: off
REGISTERS = dict(
    (
        (0, MappedRegister("op",         "function of operations 6, 7 and 8", FUNCTION_NAMES)),
        (1, MappedRegister("arrange",    "arrangement of operations 6, 7 and 8", ARRANGEMENT_NAMES)),
        (2, MappedRegister("transpose",  "which operand of a tensor product is transposed", TRANSPOSES)),
        (3, MappedRegister("accumulate", "1: results of products are added to what Rz holds", high=1)),
        (4, MappedRegister("format",     "number type of the lanes", FORMAT_NAMES)),
        (5, MappedRegister("rz_slot",    "slot of Rz that dot fills next; also the slice of Rz that elementwise and tensor fill, and that operations 4, 5 and 9 and push move", high=SLOTS - 1)),
        (6, MappedRegister("rz_step",    "added to rz_slot after each operation that uses a slice of Rz, modulo 16; dot always adds 1", high=SLOTS - 1)),
        *((BUFFER_REGISTERS + len(BUFFER_PARTS) * number + place, row)
          for number in range(BUFFERS) for place, row in enumerate(_buffer(number))),
        *((FIRST_ROW_REGISTER + number, MappedRegister(f"row{number}", "row register of a block: the row that `act` opens", high=MAX_ROWS - 1))
          for number in range(ROW_REGISTERS)),
        (SHIFT_REGISTER, MappedRegister("rz_shift", "int8: the power of two by which a sum of 32 bits is divided when it leaves Rz, by operations 4, 5 and 9 and push", high=MOST_SHIFT)),
    )
)
# fmt: on
REGISTER_NAMES = tuple(
    REGISTERS[place].name if place in REGISTERS else "" for place in range(max(REGISTERS) + 1)
)
# By number: the place of a register among those that each circuit has.
CIRCUIT_PLACES = {
    number: place for place, number in enumerate((*range(BUFFER_REGISTERS), SHIFT_REGISTER))
}
CIRCUIT_REGISTERS = tuple(REGISTERS[number].name for number in CIRCUIT_PLACES)

SIDES = ("a", "b", "c")  # of a product: left operand, right operand, result
GROUP_SIDE = 4  # half of a DRAM row has 4 x 4 tiles of a matrix (Fig. 3A)


def tile_shape(layout: str, side: str, lanes: int) -> tuple[int, int]:
    """Return the shape (rows, columns) of a tile: the piece of a matrix that an operation takes.

    `layout` is the name of an arrangement. `side` is "a" or "b" for an operand, "c" for the result.
    `lanes` is the number of elements in a column of 32 bytes. A tile of an operand is one column of
    memory. A tile of the result is what Rz contains after one product of two tiles. The exception
    is dot, whose product of two tiles is a single number: there, a tile of the result has the
    numbers of 16 products, or of 32 products if there are 32 lanes (seed 004 Fig. 3).
    """
    row, column, block = (1, lanes), (lanes, 1), (TENSOR_SIDE, TENSOR_SIDE)
    dots = TENSOR_SIDE, max(SLOTS, lanes) // TENSOR_SIDE
    shapes = {
        "elementwise": (row, row, row),
        "dot": (row, column, dots),
        "outer": (column, row, (lanes, lanes)),
        "tensor": (block, block, block),
    }
    return shapes[layout][SIDES.index(side)]
