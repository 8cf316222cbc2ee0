"""The table of nnp, the block-floating-point matrix-vector processor (seed 003).

Its instructions form chains: the first one reads vectors, others multiply or apply functions, the
last ones write. `STEPS` gives the role of each row in a chain and the block of a unit that it uses.
`isa/nnp_chains.py` derives the rules for chains from `STEPS`. Macaw defines names, numbers and
packing where the seed does not (its tables were lost).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from macaw.isa import common, memory_map
from macaw.isa.descriptors.nnp import DESCRIPTOR, vector_bytes
from macaw.isa.kinds import Choice, Immediate, OperandError, Register
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import (
    Core,
    Counter,
    Directive,
    Fault,
    Member,
    Queue,
    RegisterFile,
    Rule,
    SpecialRegister,
    Structure,
    Window,
    checked,
)
from macaw.isa.model import Memory as ModelMemory
from macaw.isa.nnp_layouts import (
    MARKER,
    PLAIN,
    TILE,
    VECTOR,
    MemoryKind,
    at,
    at_inc,
    memories,
    own,
    own_inc,
    queue_alone,
)
from macaw.isa.rows import Alternative, Field, Format, Instruction, Pseudo


@dataclass(frozen=True)
class Scalar:
    """A register that the instruction s_wr sets. It keeps its value until the next s_wr to it.

    `code` is the register's number in the word of s_wr, and `alias` the pseudo-instruction that
    sets only this register. `reset` is the value after reset, `low` the least legal value. An s_wr
    to it gives the same value to the register `vertical`, if there is one, and resets the registers
    in `resets`.
    """

    name: str
    code: int  # the number of the register in the word of s_wr
    alias: str  # the pseudo-instruction that sets only this register
    meaning: str
    reset: int = 1  # the value after reset
    low: int = 1  # the least legal value
    vertical: str = ""  # the register for the vertical direction, which gets the same value
    resets: tuple[str, ...] = ()  # registers that get their values after reset


# fmt: off
SCALARS = (
    Scalar("rows",       1,  "SetRows",         "vectors that a product returns; rows of tiles of a matrix"),
    Scalar("cols",       2,  "SetCols",         "vectors that a chain reads; columns of tiles of a matrix (column scaling)"),
    Scalar("iterations", 3,  "SetIterations",   "times that each following chain runs"),
    Scalar("valid",      4,  "SetValid",        "elements of the chain's vectors over which v_softmax is computed"),
    Scalar("width",      5,  "SetWindowWidth",  "width of the volume that windows slide over, in positions"),
    Scalar("height",     6,  "SetWindowHeight", "height of the volume that windows slide over, in positions"),
    Scalar("kernel",     7,  "SetKernel",       "number of positions of a window in x direction; a write sets kernel_y to the same value, dilation and dilation_y to 1", vertical="kernel_y", resets=("dilation", "dilation_y")),
    Scalar("stride",     8,  "SetStride",       "positions from a window to the next one in x direction; a write sets stride_y to the same value", vertical="stride_y"),
    Scalar("pad",        9,  "SetPad",          "positions of zeros to the left and right of the volume; a write sets pad_y to the same value", 0, 0, vertical="pad_y"),
    Scalar("depth",      10, "SetDepth",        "native vectors at each position of the volume that windows slide over"),
    Scalar("unit",       11, "SetIncrementUnit", "native vectors (for mv_mul_inc: native tiles) by which an address advances for each unit of inc"),
    Scalar("kernel_y",   12, "SetKernelY",      "number of positions of a window in y direction"),
    Scalar("stride_y",   13, "SetStrideY",      "positions from a row of windows to the next one, in y direction"),
    Scalar("pad_y",      14, "SetPadY",         "positions of zeros above and below the volume", 0, 0),
    Scalar("dilation",   15, "SetDilation",     "positions of the volume from a position of a window to the next one in x direction; a write sets dilation_y to the same value", vertical="dilation_y"),
    Scalar("dilation_y", 16, "SetDilationY",    "positions of the volume from a position of a window to the next one in y direction"),
)
# fmt: on
SQUARE = ("width", "height", "kernel", "stride", "pad", "depth")  # as Set2dWindows orders them
WINDOW = (*SQUARE, "kernel_y", "stride_y", "pad_y", "dilation", "dilation_y")
RESET = {scalar.name: scalar.reset for scalar in SCALARS}
FILE = RegisterFile(
    "scalars",
    16,
    tuple((scalar.name,) for scalar in SCALARS),
    "The registers that s_wr sets. At reset all are 1, except pad and pad_y, which are 0. Their numbers in a word begin with 1.",
    tuple(scalar.meaning for scalar in SCALARS),
)


class ScalarKind(Register):
    """The operand kind for the name of a register of s_wr. Registers are numbered from 1."""

    def check(self, value: int) -> None:
        if not 1 <= value < len(self.names) or not self.names[value]:
            raise OperandError(f"no {self.file} has the number {value}, 1 to {len(SCALARS)}")

    def describe(self) -> str:
        return "one of " + ", ".join(self.words())


_CODES = {scalar.code: (scalar.name,) for scalar in SCALARS}
_REGISTER = ScalarKind(tuple(_CODES.get(code, ()) for code in range(max(_CODES) + 1)))
SCALAR = Format(
    "scalar",
    32,
    (
        Field("op", "31:24"),
        Field("reg", "23:16", _REGISTER),
        Field("value", "15:0", Immediate(16)),
    ),
    4,
)

_READ = memories(
    "a chain cannot begin there",
    "Dram", "MulVrf", "NetInQ", "InitialVrf", "AddSubVrf0", "AddSubVrf1",
)  # fmt: skip
_WRITE = memories(
    "a chain cannot be written there",
    "Dram", "MulVrf", "NetOutQ", "InitialVrf", "AddSubVrf0", "AddSubVrf1",
)  # fmt: skip
_TILES_IN = memories("tiles are not read from there", "Dram", "NetInQ", "MatrixRf")
_TILES_OUT = memories("tiles are not written there", "Dram", "MatrixRf")
_ADD_SUB = memories("the operand comes from AddSubVrf0 or AddSubVrf1", "AddSubVrf0", "AddSubVrf1")

BEGIN, STAGE, WRITE, BETWEEN, FINISH = "begin", "stage", "write", "between", "finish"


@dataclass(frozen=True)
class Step:
    """The role of an instruction in a chain: where it may be, and which block of a unit it uses.

    `role` says where it may be: it begins a chain (BEGIN), writes the chain's results (WRITE), is a
    step between these (STAGE), or is outside of chains (BETWEEN, FINISH). A STAGE uses the block
    `block` of one of the compute units `units`. `does` is the mnemonic without `_inc`. `elements`
    says whether the chain consists of vectors or of tiles; empty: either. `memory` is the memory
    that the instruction uses if no operand names one. `scalars` are the registers of s_wr that
    affect its result.
    """

    does: str  # the mnemonic of the form without _inc
    role: str  # BEGIN, STAGE or WRITE in a chain; BETWEEN chains; FINISH
    elements: str = ""  # what the chain consists of: VECTOR or TILE; empty: either
    block: str = ""  # of a STAGE: the block that it uses
    units: tuple[str, ...] = ()  # of a STAGE: the units that may execute it
    memory: str = ""  # the memory that it uses, if no operand names it
    scalars: tuple[str, ...] = ()  # registers of s_wr that affect its result


STEPS: dict[str, Step] = {}

# fmt: off
_RULES = (
    Rule("begin",    "A chain of vectors begins with v_rd or v_rd_inc, a chain of tiles with m_rd."),
    Rule("written",  "A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains."),
    Rule("tiles",    "m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target."),
    Rule("order",    "A chain passes the matrix-vector multiplier, MFU0 and MFU1 in this order; within a unit, its instructions may have any order."),
    Rule("blocks",   "A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises."),
    Rule("queue",    "A queue has no addresses: its operands are 0."),
    Rule("entries",  "Over all its iterations, a chain does not both read and write the same entry of a register file."),
    Rule("in place", "A chain that reads entries of InitialVrf does not write them."),
    Rule("range",    "Every entry that a chain needs is in its register file."),
    Rule("windows",  "The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth."),
    Rule("valid",    "v_softmax covers only elements that the chain has."),
    Rule("value",    "The value of an s_wr is at least 1; for pad and pad_y it is at least 0."),
    Rule("end",      "A part ends with end_chain."),
)
# fmt: on
RULES = {rule.name: rule.meaning for rule in _RULES}
_MOVED = "The address advances by inc * unit in each iteration."
# v_rd_inc does not read windows, so the text of v_rd from here on is not for it.
_IF_WINDOWS = " If windows are set,"
_STEPPED = (
    "The address advances by inc * unit in each iteration. If windows are set, it advances by"
    " stride * inc * unit from a window to the next one, and by stride_y * width * inc * unit from a"
    " row of windows to the next one."
)


def _row(
    mnemonic: str, step: Step, form: Format, fixed: dict[str, int], syntax: str, meaning: str,
    reads: str, writes: str, family: str, cycles: str, example: str, source: str = "ours",
) -> Instruction:  # fmt: skip
    """Return an instruction row, and store `step`, its role in a chain, in `STEPS`.

    The other arguments are the fields of `Instruction`; `example` has the example's operands.
    """
    STEPS[mnemonic] = step
    return Instruction(
        mnemonic, form, fixed, syntax, meaning, reads, writes, family, cycles,
        f"{mnemonic} {example}".rstrip(), source,
    )  # fmt: skip


def _addressed(
    mnemonic: str, op: int, op_inc: int | None, step: Step, kind: MemoryKind | str, meaning: str,
    reads: str, writes: str, family: str, cycles: str, example: str,
) -> Iterable[Instruction]:  # fmt: skip
    """Return the row of an instruction, and the row of its form with an advancing address.

    `op` and `op_inc` are the operation codes of the two rows; if `op_inc` is None, return only the
    first row. `kind` is the kind of the operand `mem`. If the instruction can use only one memory,
    `kind` is the name of its address operand. The other arguments are those of `_row`.
    """
    name = kind if isinstance(kind, str) else "a"
    plain = own(name) if isinstance(kind, str) else at(kind)
    syntax = name if isinstance(kind, str) else "mem, a"
    yield _row(
        mnemonic, step, plain, {"op": op}, syntax, meaning, reads, writes, family, cycles, example
    )
    if op_inc is not None:
        moved = _MOVED if step.role == WRITE or step.block == "product" else _STEPPED
        moving = own_inc(name) if isinstance(kind, str) else at_inc(kind)
        yield _row(
            f"{mnemonic}_inc", step, moving, {"op": op_inc}, f"{syntax}, inc",
            f"{meaning.partition(_IF_WINDOWS)[0]} {moved}", reads, writes, family, cycles, f"{example}, 1",
        )  # fmt: skip


def _adds(does: str) -> Step:
    return Step(does, STAGE, VECTOR, "add", ("mfu0", "mfu1"))


def _activates(does: str, *units: str, scalars: tuple[str, ...] = ()) -> Step:
    return Step(does, STAGE, VECTOR, "activate", units or ("mfu0", "mfu1"), scalars=scalars)


_FLOWS = "and ceil(native / vector_lanes) for each native vector"
_MULTIPLIES = Step("mv_mul", STAGE, VECTOR, "product", ("mvm",), "MatrixRf", ("rows", "cols"))
_QUANTISES = Step("v_quantise", STAGE, VECTOR, "quantise", ("mfu0", "mfu1"))
_SCALES = Step("vv_mul", STAGE, VECTOR, "multiply", ("mfu0",), "MulVrf")
_ROUNDED = "Each result is rounded once, half to even."

# fmt: off
INSTRUCTIONS = (
    _row("s_wr", Step("s_wr", BETWEEN), SCALAR, {"op": 0}, "reg, value", "Set a register of the core, which keeps its value until it is set again. Setting kernel, stride, pad or dilation also sets the register for the y direction. Setting kernel also sets dilation and dilation_y to 1. Only allowed between chains.", "", "reg", "scalar", "issue_cycles", "rows, 4"),

    # mnemonic, op, op of the _inc form, step in a chain, memories, meaning, reads, writes, family, cycles, example
    *_addressed("v_rd",       2,  16,   Step("v_rd", BEGIN, VECTOR, scalars=("cols",)),  _READ,      "Begin a chain: read native vectors, the first one at an address; cols is their number. If windows are set, v_rd reads the window of the iteration: kernel * kernel_y * depth vectors in the order y, x, depth. Padding is read as zeros.", "mem scalars", "chain", "vector", f"read_depth, {_FLOWS}", "InitialVrf, 0"),
    *_addressed("v_wr",       5,  17,   Step("v_wr", WRITE, VECTOR),  _WRITE,     "Write the chain's vectors, the first one at an address. A chain may have several v_wr; each writes all vectors.", "chain scalars", "mem", "vector", f"write_depth, {_FLOWS}", "InitialVrf, 8"),
    *_addressed("m_rd",       3,  None, Step("m_rd", BEGIN, TILE, scalars=("rows", "cols")),    _TILES_IN,  "Read rows * cols native tiles, row by row. The next instruction must be m_wr. MatrixRf is either the source or the target.", "mem scalars", "chain", "matrix", "until its last tile is there", "Dram, 0"),
    *_addressed("m_wr",       6,  None, Step("m_wr", WRITE, TILE),    _TILES_OUT, "Write the tiles that m_rd read. MatrixRf stores them quantised.", "chain scalars", "mem", "matrix", "until its last tile is written", "MatrixRf, 0"),
    *_addressed("mv_mul",     7,  27,   _MULTIPLIES,                  "m",        "Multiply by a matrix: y[r] is the sum over c of M[m + r * cols + c] * x[c]. cols is the number of native vectors of x, rows that of y. Exact in the quantised numbers, rounded once to the host format.", "chain MatrixRf scalars", "chain", "product", "multiplier_depth, and ceil(rows * cols / engines) * ceil(native / lanes); mapping may change the first factor", "0"),
    *_addressed("vv_add",     8,  18,   _adds("vv_add"),              _ADD_SUB,   f"Add the register's vectors to the chain's. {_ROUNDED}", "chain mem", "chain", "function", f"add_depth, {_FLOWS}", "AddSubVrf0, 0"),
    *_addressed("vv_a_sub_b", 9,  32,   _adds("vv_a_sub_b"),          _ADD_SUB,   f"Subtract: the chain's vectors minus the register's. {_ROUNDED}", "chain mem", "chain", "function", f"add_depth, {_FLOWS}", "AddSubVrf0, 0"),
    *_addressed("vv_b_sub_a", 10, 33,   _adds("vv_b_sub_a"),          _ADD_SUB,   f"Subtract: the register's vectors minus the chain's. {_ROUNDED}", "chain mem", "chain", "function", f"add_depth, {_FLOWS}", "AddSubVrf1, 0"),
    *_addressed("vv_max",     15, 19,   _adds("vv_max"),              _ADD_SUB,   "The greater of each element of the chain and the element of the register file at its position.", "chain mem", "chain", "function", f"add_depth, {_FLOWS}", "AddSubVrf1, 0"),
    *_addressed("vv_mul",     11, 29,   _SCALES,                      "a",        f"Multiply element by element by the vectors of MulVrf. {_ROUNDED}", "chain MulVrf", "chain", "function", f"multiply_depth, {_FLOWS}", "0"),

    _row("v_sigm",    _activates("v_sigm"),            PLAIN, {"op": 12}, "", "The sigmoid of each element, correctly rounded.",                                                                                              "chain",         "chain", "function", f"activation_depth, {_FLOWS}", "", "seed 003, Fig. 3"),
    _row("v_tanh",    _activates("v_tanh"),            PLAIN, {"op": 13}, "", "The hyperbolic tangent of each element, correctly rounded.",                                                                                   "chain",         "chain", "function", f"activation_depth, {_FLOWS}", "", "seed 003, Fig. 3"),
    _row("v_relu",    _activates("v_relu"),            PLAIN, {"op": 14}, "", "The greater of each element and +0; a NaN stays a NaN.",                                                                                                       "chain",         "chain", "function", f"activation_depth, {_FLOWS}", "", "seed 003, Fig. 3"),
    _row("v_softmax", _activates("v_softmax", "mfu0", scalars=("valid",)), PLAIN, {"op": 28}, "", "The softmax over the first elements of the chain's vectors; valid is their number. The exponentials are rounded, their sum is exact, each quotient is rounded once. The other elements become 0.", "chain scalars", "chain", "function", f"softmax_depth, {_FLOWS}", "", "seed 003, Fig. 3"),

    _row("v_quantise", _QUANTISES,                    PLAIN, {"op": 34}, "", "Quantise each native vector with the vector quantiser, and convert it back to the host format.",                                                 "chain",         "chain", "function", f"quantise_depth, {_FLOWS}", "", "seed 003, Fig. 2"),

    _row("trace_begin", Step("trace_begin", BETWEEN), MARKER, {"op": 15, "ends": 0}, "g",      "Begin to record in a register group of the trace block. Only allowed between chains.", "", "trace", "marker", "issue_cycles", "0", "seed 001"),
    _row("trace_end",   Step("trace_end", BETWEEN),   MARKER, {"op": 15, "ends": 1}, "g",      "End recording in a register group of the trace block. Only allowed between chains.", "", "trace", "marker", "issue_cycles", "0", "seed 001"),
    _row("end_chain",   Step("end_chain", FINISH),    PLAIN,  {"op": 255},          "",       "End a chain (the start of the next chain ends it, too). If the next word is 0, the program ends: the core stops when everything is written.", "chain", "", "scalar", "issue_cycles", ""),
)
# fmt: on


def _sets() -> Iterable[Pseudo]:
    for scalar in SCALARS:
        yield Pseudo(
            scalar.alias, "n", {"n": Immediate(16, low_limit=scalar.low)},
            (Alternative((f"s_wr {scalar.name}, {{n}}",)),),
            f"Set {scalar.name}: {scalar.meaning}.", example=f"{scalar.alias}(4)",
        )  # fmt: skip


def _set_all(mnemonic: str, names: Iterable[str], meaning: str, example: str) -> Pseudo:
    kinds = {name: Immediate(16, low_limit=RESET[name]) for name in names}
    lines = tuple(f"s_wr {name}, {{{name}}}" for name in kinds)
    return Pseudo(
        mnemonic, ", ".join(kinds), kinds, (Alternative(lines),), meaning, example=example
    )


def _queued(mnemonic: str, kind: MemoryKind, meaning: str) -> Pseudo:
    """Return a pseudo-instruction that accesses a queue, so that the source needs no address.

    `kind` accepts the memories of the instruction `mnemonic`, one of which is the queue.
    """
    queue = queue_alone(kind, f"{mnemonic} mem, a")
    (name,) = queue.words()
    return Pseudo(
        mnemonic, "mem", {"mem": queue}, (Alternative((f"{mnemonic} {{mem}}, 0",)),), meaning,
        example=f"{mnemonic} {name}", overloads=True,
    )  # fmt: skip


PSEUDOS = (
    *_sets(),
    _set_all("SetRowsCols", ("rows", "cols"), "Set rows and cols.", "SetRowsCols(2, 3)"),
    _set_all(
        "Set2dWindows", SQUARE,
        "Set the volume and its windows, which are square. Windows count as set as long as at"
        f" least one of the registers {', '.join(WINDOW)} differs from its value after reset.",
        "Set2dWindows(8, 8, 3, 1, 1, 2)",
    ),
    _queued("v_rd", _READ, "Begin a chain with cols vectors of a queue."),
    _queued("v_wr", _WRITE, "Write the chain's vectors into a queue."),
    _queued("m_rd", _TILES_IN, "Read rows * cols tiles of a queue."),
    Pseudo(
        "v_add_inc", "mem, a, inc",
        {"mem": _ADD_SUB, "a": Immediate(16), "inc": Immediate(4)},
        (Alternative(("vv_add_inc {mem}, {a}, {inc}",)),),
        "The seed's spelling of vv_add_inc.", example="v_add_inc AddSubVrf0, 0, 1",
    ),
)  # fmt: skip

HOST_TYPES = {"fp16": "float16", "fp32": "float32"}


def host_type(config: Mapping[str, Any]) -> str:
    """Return the element type of tensors in the number format of memory, such as `float16`."""
    return HOST_TYPES[config["nnp.host_format"]]


MESSAGE = Structure(
    "message",
    (
        Member("vectors", "u16", "native vectors that follow for NetInQ; a tile is N of them"),
        Member("scalars", "u8", "words of s_wr that follow before them"),
        Member("control", "u8", "whether the message starts a program", Choice(("data", "start"))),
        Member("entry", "u32", "for start: the address at which the program begins"),
    ),
    "A message through the window message. It takes effect when the core is idle: it sets registers"
    " and may start a program.",
    "words of s_wr, then the vectors, N host values each",
)

NUMBER = DESCRIPTOR.number
_SPACE = memory_map.INSTRUCTIONS + (NUMBER << memory_map.SPACE_SHIFT)
# fmt: off
REGISTERS = (
    SpecialRegister("base", 0x100, "rw", "address at which Dram begins; at reset that of external memory"),
)
MEMORY = (
    ModelMemory("program", _SPACE, memory_map.SPACE_SHIFT, "nnp.instructions", "instructions", True, 4),
)
WINDOWS = (
    Window("netin",  _SPACE + 0x8_0000, memory_map.SPACE_SHIFT, 0x2_0000, "in",  "NetInQ: each native vector that is whole is pushed", vector_bytes, host_type),
    Window("message", _SPACE + 0xA_0000, memory_map.SPACE_SHIFT, 0x2_0000, "in", "messages: control and scalar data, and vectors for NetInQ", lambda config: 4),
    Window("netout", _SPACE + 0xC_0000, memory_map.SPACE_SHIFT, 0x4_0000, "out", "NetOutQ: the vectors pop in the order of their writes", vector_bytes, host_type),
)
# fmt: on

HINT = Directive(
    ".hint",
    ".hint tensor NAME, mem, addr, rows, cols",
    "Name a tensor in a memory, for macaw concord. In a memory of vectors or a queue, rows is"
    " the number of vectors and cols the number of elements of each; every vector is padded to whole"
    " native vectors. In MatrixRf, they are the height and width of a matrix, which is padded to"
    " whole tiles. The core ignores hints.",
    ".hint tensor bias, AddSubVrf0, 0, 1, 8",
)

QUEUES = (
    Queue("NetInQ", "nnp.net_in", "native vectors that other cores sent to nnp", "net_in"),
    Queue("NetOutQ", "nnp.net_out", "native vectors that chains wrote for other cores", "net_out"),
)

COUNTERS = (
    Counter("instructions", "instructions done", "instructions"),
    Counter("chains", "chains done; each iteration counts as one", "chains"),
    Counter("tiles", "products of a native tile and a native vector", "products"),
    Counter("vectors", "native vectors that chains wrote", "vectors"),
    Counter("cycles_waiting", "cycles in which a chain waited for a queue", "cycles"),
    *common.TRAFFIC,
)

FAULTS = (
    *common.FAULTS,
    Fault("broken chain", "A chain breaks a rule, which the message names."),
    Fault("not a number", "The input of a quantiser is a NaN."),
    Fault("accumulator overflow", "A sum of products does not fit q34.40."),
)

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=4,
        instructions=INSTRUCTIONS,
        pseudos=PSEUDOS,
        files=(FILE,),
        registers=REGISTERS,
        memories=MEMORY,
        windows=WINDOWS,
        directives=(HINT,),
        structures=(MESSAGE,),
        queues=QUEUES,
        counters=COUNTERS,
        faults=FAULTS,
        piece="end",
        rules=_RULES,
        called=True,
        order=("scalar", "matrix", "vector", "product", "function", "marker"),
        unit="a lane of a tile engine of the multiplier; there are engines * lanes. A lane is used in each cycle in which it multiplies a column of a tile, the array in each cycle of a product. MFUs do not count",
    )
)
