"""The table of vc, the SIMD core (seed 002): RV32IM with Zicsr, and the vector instructions Xvc.

Macaw defines the encodings of Xvc. `pmac`, the permuted multiply-accumulate of vector registers,
uses the RISC-V opcode custom-1 (R4 layout, funct3 is the format). All other instructions on
registers use custom-2; in most of them funct3 is the element and funct7 the operation. Vector loads
and stores use custom-3. Markers have the encodings that they have in cp. A line with `_each`
declares one row for each of its element types; `OPERATIONS` gives the operation of each mnemonic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from macaw.isa import common, scalar
from macaw.isa.activities import ADD, LOGIC, MULTIPLY, SPECIAL
from macaw.isa.descriptors.vector import DESCRIPTOR
from macaw.isa.kinds import Immediate, Register
from macaw.isa.model import Core, Counter, Fault, checked
from macaw.isa.rows import Alternative, Format, Instruction, Pseudo
from macaw.isa.typed_records import NamedTuple
from macaw.isa.vector_layouts import (
    ELEMENTS,
    FUNCT3_PMAC_GR,
    GENERAL_REGISTER,
    PAIR,
    PMAC,
    PMAC_16,
    PMAC_GR,
    PMAC_OPCODE,
    REGISTER_OPCODE,
    REGISTERS,
    STRIDED_LOAD,
    STRIDED_STORE,
    VECTOR,
    VECTOR_BYTES,
    Element,
    Layout,
    binary,
    copy,
    extract,
    four,
    half,
    insert,
    load,
    narrow,
    shift,
    splat,
    store,
    strided,
    unary,
)


class Operation(NamedTuple):
    """The operation of an Xvc instruction, and its element type.

    The function of `emu/vector` that computes it has the same name.
    """

    name: str
    element: str  # a key of ELEMENTS, or a format of pmac


OPERATIONS: dict[str, Operation] = {}


def _words(row_format: Format, syntax: str) -> tuple[list[str], str]:
    """Return the register operands in `syntax`, and operands for an example, in source order.

    For "rd, rs1, shamt" these are ["rd", "rs1"] and, for instance, "vr3, vr0, 1". `row_format` has
    the fields of the operands.
    """
    names, texts = [], []
    for item in syntax.replace("(", ", ").replace(")", "").split(", "):
        kind = row_format.by_name[item.strip("[]")].kind
        if isinstance(kind, Register):
            names.append(item)
            general = {"rd": "a0", "rs1": "a2", "rs2": "a1"}
            vector = {"rd": "vr3", "rs1": "vr0", "rs2": "vr1", "rs3": "vr2"}
            texts.append(general[item] if kind in (GENERAL_REGISTER, PAIR) else vector[item])
        else:
            texts.append("16" if item == "imm" else kind.format(1) if kind else "")
    if "(" in syntax:
        texts[-2:] = [f"{texts[-2]}({texts[-1]})"]
    return names, ", ".join(texts)


def _lanes(element: Element, row_format: Format, names: Sequence[str], family: str) -> str:
    """Return the sentence that says which vector registers have lanes of the type `element`.

    `names` are the register operands of a row.
    """
    having = [
        name
        for name in sorted(names)
        if row_format.by_name[name].kind is VECTOR and (name != "rd" or family not in _OTHER_RESULT)
    ]
    *before, last = having
    subject = f"{', '.join(before)} and {last}" if before else last
    return f"{subject} {'have' if before else 'has'} {element.meaning}."


def _each(
    name: str, elements: str, layout: Layout, code: int, syntax: str, family: str, meaning: str,
    cycles: str = "vector_cycles", reads: str = "", writes: str = "rd", source: str = "ours",
    arithmetic: str = "",
) -> Iterable[Instruction]:  # fmt: skip
    """Yield a row `name.element` for each element type, or a row `name` if `elements` is empty.

    `layout` and the operation's `code` give the row's format and fixed fields. If `arithmetic` is
    empty, the family determines it (`_ARITHMETIC`). The other arguments are the fields of
    `Instruction`.
    """
    for key in elements.split() or [""]:
        element = ELEMENTS[key]
        mnemonic = f"{name}.{key}".rstrip(".")
        row_format, fixed = layout(element, code)
        names, example = _words(row_format, syntax)
        all_reads = " ".join(
            [*(word for word in names if word not in writes.split()), *reads.split()]
        )
        OPERATIONS[mnemonic] = Operation(name, key)
        text = f"{meaning} {_lanes(element, row_format, names, family)}" if key else meaning
        yield Instruction(
            mnemonic, row_format, fixed, syntax, text, all_reads, writes, family, cycles,
            f"{mnemonic} {example}", source, arithmetic=arithmetic or _ARITHMETIC.get(family, LOGIC),
        )  # fmt: skip


# By family; instructions of other families are logic, those of memory compute nothing.
_ARITHMETIC = {
    "vector memory": "", "vector arithmetic": ADD, "vector compare": ADD, "vector sum": ADD,
    "vector division": SPECIAL,
}  # fmt: skip
# The families whose rd has lanes of another type than their sources; `meaning` describes rd.
_OTHER_RESULT = ("vector width", "vector compare", "vector convert", "vector sum")
_INTEGER, _FLOAT = "b h w", "f16 f32"
_LOADED = (
    "until the data arrive; the next instruction issues when the memory has accepted the access"
)
_STORED = "1; the next instruction issues when the memory has accepted the access"
_ROUNDED = "Rounded once, half to even; subnormals are kept, a NaN is the canonical one."

# fmt: off
SIMD = (
    # name, elements, layout, code, syntax, family, meaning
    *_each("vld",      "",         load,                   0, "rd, imm(rs1)",         "vector memory", "Load 16 bytes; the address must be a multiple of 16.",                                                 _LOADED, reads="memory"),
    *_each("vst",      "",         store,                  1, "rs2, imm(rs1)",        "vector memory", "Store 16 bytes; the address must be a multiple of 16.",                                                _STORED, writes="memory"),
    *_each("vlds",     "b h w d",  strided(STRIDED_LOAD),  2, "rd, rs1, rs2",         "vector memory", "Load lane i of rd from address rs1 + i * rs2. Each address must be a multiple of the element's size.",                               _LOADED, reads="memory"),
    *_each("vsts",     "b h w d",  strided(STRIDED_STORE), 3, "rs3, rs1, rs2",        "vector memory", "Store lane i of rs3 to address rs1 + i * rs2. Each address must be a multiple of the element's size.",                                _STORED, writes="memory"),

    *_each("vmov",     "",         copy,                0x00, "rd, rs1",              "vector move",   "Copy a vector register."),
    *_each("vsplat",   "b h w",    splat,               0x01, "rd, rs1",              "vector move",   "Put the low bits of the general register rs1 into every lane of rd."),
    *_each("vsplat",   "d",        splat,               0x01, "rd, rs1",              "vector move",   "Put the 64 bits of the pair of general registers rs1 into every lane of rd."),
    *_each("vins",     "b h w",    insert,              0x02, "rd, rs1, lane",        "vector move",   "Put the low bits of the general register rs1 into one lane of rd; the other lanes stay.",           reads="rd"),
    *_each("vins",     "d",        insert,              0x02, "rd, rs1, lane",        "vector move",   "Put the 64 bits of the pair of general registers rs1 into one lane of rd; the other lane stays.",           reads="rd"),
    *_each("vext",     "b h",      extract,             0x03, "rd, rs1, lane",        "vector move",   "Take one lane of rs1 into the general register rd, sign-extended."),
    *_each("vext",     "w",        extract,             0x03, "rd, rs1, lane",        "vector move",   "Take one lane of rs1 into the general register rd."),
    *_each("vext",     "d",        extract,             0x03, "rd, rs1, lane",        "vector move",   "Take one lane of rs1 into the pair of general registers rd."),
    *_each("vextu",    "b h",      extract,             0x04, "rd, rs1, lane",        "vector move",   "Take one lane of rs1 into the general register rd, zero-extended."),
    *_each("vperm",    "",         four,                   0, "rd, rs1, rs2, rs3",    "vector move",   "Byte i of rd is byte rs3[i] of the 32 bytes of rs1 (0 to 15) and rs2 (16 to 31); an index above 31 faults."),

    *_each("vadd",     _INTEGER,   binary,              0x08, "rd, rs1, rs2",         "vector arithmetic", "Add each lane of rs2 to that of rs1; a sum wraps."),
    *_each("vadd",     _FLOAT,     binary,              0x08, "rd, rs1, rs2",         "vector arithmetic", f"Add each lane of rs2 to that of rs1. {_ROUNDED}"),
    *_each("vsub",     _INTEGER,   binary,              0x09, "rd, rs1, rs2",         "vector arithmetic", "Subtract each lane of rs2 from that of rs1; a difference wraps."),
    *_each("vsub",     _FLOAT,     binary,              0x09, "rd, rs1, rs2",         "vector arithmetic", f"Subtract each lane of rs2 from that of rs1. {_ROUNDED}"),
    *_each("vmul",     _INTEGER,   binary,              0x0A, "rd, rs1, rs2",         "vector arithmetic", "Multiply each lane of rs1 by that of rs2; rd has the low half of each product.", arithmetic=MULTIPLY),
    *_each("vmul",     _FLOAT,     binary,              0x0A, "rd, rs1, rs2",         "vector arithmetic", f"Multiply each lane of rs1 by that of rs2. {_ROUNDED}", arithmetic=MULTIPLY),
    *_each("vmin",     _INTEGER,   binary,              0x0B, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the smaller of rs1 and rs2, signed."),
    *_each("vmin",     _FLOAT,     binary,              0x0B, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the smaller of rs1 and rs2; -0 is below 0. If one of them is a NaN, the result is the other; if both are, it is the canonical NaN."),
    *_each("vminu",    _INTEGER,   binary,              0x0C, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the smaller of rs1 and rs2, unsigned."),
    *_each("vmax",     _INTEGER,   binary,              0x0D, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the greater of rs1 and rs2, signed."),
    *_each("vmax",     _FLOAT,     binary,              0x0D, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the greater of rs1 and rs2; 0 is above -0. If one of them is a NaN, the result is the other; if both are, it is the canonical NaN."),
    *_each("vmaxu",    _INTEGER,   binary,              0x0E, "rd, rs1, rs2",         "vector arithmetic", "In each lane, the greater of rs1 and rs2, unsigned."),
    *_each("vabs",     _INTEGER,   unary,               0x0F, "rd, rs1",              "vector arithmetic", "The absolute value of each lane of rs1, signed; the least integer stays as it is."),
    *_each("vabs",     _FLOAT,     unary,               0x0F, "rd, rs1",              "vector arithmetic", "The absolute value of each lane of rs1: its sign bit is cleared, also that of a NaN."),
    *_each("vneg",     _INTEGER,   unary,               0x10, "rd, rs1",              "vector arithmetic", "The negative of each lane of rs1; the least integer stays as it is."),
    *_each("vneg",     _FLOAT,     unary,               0x10, "rd, rs1",              "vector arithmetic", "The negative of each lane of rs1: its sign bit is inverted, also that of a NaN."),

    *_each("vmulh",    "w",        binary,              0x15, "rd, rs1, rs2",         "vector arithmetic", "Multiply each lane of rs1 by that of rs2, signed; rd has the high half of each product.", arithmetic=MULTIPLY),
    *_each("vmulhu",   "w",        binary,              0x16, "rd, rs1, rs2",         "vector arithmetic", "Multiply each lane of rs1 by that of rs2, unsigned; rd has the high half of each product.", arithmetic=MULTIPLY),

    *_each("vdiv",     "f32",      binary,              0x12, "rd, rs1, rs2",         "vector division", f"Divide each lane of rs1 by that of rs2; a number by 0 is infinite, 0 by 0 a NaN. {_ROUNDED}", "vector_div_cycles"),
    *_each("vsqrt",    "f32",      unary,               0x13, "rd, rs1",              "vector division", f"The square root of each lane of rs1; of a number below 0 it is a NaN, of -0 it is -0. {_ROUNDED}", "vector_div_cycles"),
    *_each("vexp",     "f32",      unary,               0x14, "rd, rs1",              "vector division", "e to the power of each lane of rs1, by the rule of docs/timing-vc.md; at most 0.500001 units in the last place off; a NaN is the canonical one.", "vector_div_cycles"),

    *_each("vsll",     "b h w d",  binary,              0x18, "rd, rs1, rs2",         "vector shift",  "Shift each lane of rs1 left by the number in that lane of rs2, modulo the bits of a lane."),
    *_each("vsrl",     "b h w d",  binary,              0x19, "rd, rs1, rs2",         "vector shift",  "Shift each lane of rs1 right by the number in that lane of rs2, modulo the bits of a lane; zeros come in."),
    *_each("vsra",     "b h w d",  binary,              0x1A, "rd, rs1, rs2",         "vector shift",  "Shift each lane of rs1 right by the number in that lane of rs2, modulo the bits of a lane; copies of the sign come in."),
    *_each("vslli",    "b h w d",  shift,               0x20, "rd, rs1, shamt",       "vector shift",  "Shift each lane of rs1 left by shamt bits."),
    *_each("vsrli",    "b h w d",  shift,               0x21, "rd, rs1, shamt",       "vector shift",  "Shift each lane of rs1 right by shamt bits; zeros come in."),
    *_each("vsrai",    "b h w d",  shift,               0x22, "rd, rs1, shamt",       "vector shift",  "Shift each lane of rs1 right by shamt bits; copies of the sign come in."),

    *_each("vwiden",   "b h",      half,                0x28, "rd, rs1, half",        "vector width",  "Take the low (half 0) or high (half 1) half of the lanes of rs1, sign-extended to the lanes of rd, which are twice as wide."),
    *_each("vwidenu",  "b h",      half,                0x29, "rd, rs1, half",        "vector width",  "Take the low (half 0) or high (half 1) half of the lanes of rs1, zero-extended to the lanes of rd, which are twice as wide."),
    *_each("vnarrow",  "h w",      narrow,                 0, "rd, rs1, rs2, shamt",  "vector width",  "Shift the signed lanes of rs1, then those of rs2, right by shamt bits, rounded half to even, and clamp them to the signed lanes of rd, which are half as wide."),
    *_each("vnarrowu", "h w",      narrow,                 2, "rd, rs1, rs2, shamt",  "vector width",  "Shift the signed lanes of rs1, then those of rs2, right by shamt bits, rounded half to even, and clamp them to the unsigned lanes of rd, which are half as wide."),

    *_each("vceq",     _INTEGER,   binary,              0x30, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 equals that of rs2, else zeros."),
    *_each("vceq",     _FLOAT,     binary,              0x30, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 equals that of rs2, else zeros; a NaN equals nothing."),
    *_each("vclt",     _INTEGER,   binary,              0x31, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is below that of rs2, signed, else zeros."),
    *_each("vclt",     _FLOAT,     binary,              0x31, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is below that of rs2, else zeros; with a NaN zeros."),
    *_each("vcltu",    _INTEGER,   binary,              0x32, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is below that of rs2, unsigned, else zeros."),
    *_each("vcle",     _INTEGER,   binary,              0x33, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is not above that of rs2, signed, else zeros."),
    *_each("vcle",     _FLOAT,     binary,              0x33, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is not above that of rs2, else zeros; with a NaN zeros."),
    *_each("vcleu",    _INTEGER,   binary,              0x34, "rd, rs1, rs2",         "vector compare", "All ones in each lane of rd where the lane of rs1 is not above that of rs2, unsigned, else zeros."),
    *_each("vsel",     "",         four,                   1, "rd, rs1, rs2, rs3",    "vector compare", "Take each bit of rd from rs1 where the bit of rs3 is 1, else from rs2.", arithmetic=LOGIC),

    *_each("vcvt.f32", "w",        unary,               0x36, "rd, rs1",              "vector convert", "Convert the signed lanes of rs1 to binary32, rounded half to even."),
    *_each("vcvt.w",   "f32",      unary,               0x36, "rd, rs1",              "vector convert", "Convert the lanes of rs1 to signed integers of 32 bits, rounded half to even; numbers out of range are clamped, a NaN gives the greatest integer."),
    *_each("vcvt.f32", "f16",      half,                0x37, "rd, rs1, half",        "vector convert", "Convert the low (half 0) or high (half 1) half of the lanes of rs1 to binary32; exact, a NaN is the canonical one."),
    *_each("vcvt.f16", "f32",      binary,              0x37, "rd, rs1, rs2",         "vector convert", f"Convert the lanes of rs1, then those of rs2, to binary16. {_ROUNDED}"),

    *_each("vsum",     _INTEGER,   unary,               0x38, "rd, rs1",              "vector sum",    "Add all lanes of rs1, signed. The sum has twice as many bits as a lane; it is in the low bits of rd, with zeros above."),
    *_each("vsum",     _FLOAT,     unary,               0x38, "rd, rs1",              "vector sum",    "Add all lanes of rs1 in binary32, one after the other from lane 0; each sum is rounded half to even. The last sum is in the low 32 bits of rd, with zeros above; a NaN is the canonical one."),
    *_each("vsumu",    _INTEGER,   unary,               0x39, "rd, rs1",              "vector sum",    "Add all lanes of rs1, unsigned. The sum has twice as many bits as a lane; it is in the low bits of rd, with zeros above."),
)
# fmt: on


class PmacFormat(NamedTuple):
    """A format of pmac: the lanes of rs1 and of rs2, and the sums in rd.

    `lanes` is the number of lanes of a source, `results` the number of sums.
    """

    lanes: int
    results: int
    meaning: str

    @property
    def bits(self) -> int:
        return 8 * VECTOR_BYTES // self.lanes

    @property
    def order_bits(self) -> int:
        """The number of bits, 2 or 4, of a lane's number in an order in general registers.

        An order is a permutation of lanes, a list of their numbers.
        """
        return 2 if self.lanes == 4 else 4


# In the order of funct3. A result is as wide as its sources together (seed 002 ¶73).
PMAC_FORMATS = {
    "u8": PmacFormat(16, 4, "16 unsigned lanes of 8 bits, rd has 4 sums of 32 bits"),
    "s8": PmacFormat(16, 4, "16 signed lanes of 8 bits, rd has 4 sums of 32 bits"),
    "u16": PmacFormat(8, 2, "8 unsigned lanes of 16 bits, rd has 2 sums of 64 bits"),
    "s16": PmacFormat(8, 2, "8 signed lanes of 16 bits, rd has 2 sums of 64 bits"),
    "s32": PmacFormat(4, 1, "4 signed lanes of 32 bits, rd has one sum of 128 bits"),
    "f16": PmacFormat(
        8, 2, "8 lanes of binary16, rd has 2 sums of binary32, each with 32 zeros above"
    ),
    "f32": PmacFormat(4, 1, "4 lanes of binary32, rd has one sum of binary32 with 96 zeros above"),
    "u32": PmacFormat(4, 1, "4 unsigned lanes of 32 bits, rd has one sum of 128 bits"),
}
_PERMUTED = (
    "In each group of four lanes, add the products of lane i of rs1 and lane rs3[i] of rs2; with acc,"
    " also add the sum in rd. rs1 and rs2 have"
)
_FLOATING = " Each operation is rounded once: rd + (((m0 + m1) + m2) + m3)."


def _pmac() -> Iterable[Instruction]:
    for code, (name, form) in enumerate(PMAC_FORMATS.items()):
        mnemonic = f"pmac.{name}"
        OPERATIONS[mnemonic] = Operation("pmac", name)
        meaning = f"{_PERMUTED} {form.meaning}.{_FLOATING if name[0] == 'f' else ''}"
        yield Instruction(
            mnemonic, PMAC_16 if form.lanes == 16 else PMAC,
            {"opcode": PMAC_OPCODE, "funct3": code}, "rd, rs1, rs2, rs3, [acc]", meaning,
            "rs1 rs2 rs3 rd", "rd", "pmac", "pmac_cycles", f"{mnemonic} vr3, vr0, vr1, vr2, acc",
            "seed 002 ¶60-¶75", arithmetic=MULTIPLY,
        )  # fmt: skip


def _pmac_gr() -> Iterable[Instruction]:
    for signed, name in enumerate(("u8", "s8")):
        mnemonic = f"pmac.gr.{name}"
        OPERATIONS[mnemonic] = Operation("pmac_gr", name)
        fixed = {"opcode": REGISTER_OPCODE, "funct3": FUNCT3_PMAC_GR, "signed": signed}
        meaning = (
            f"{_PERMUTED} 4 {'signed' if signed else 'unsigned'} lanes of 8 bits, rd has one sum of"
            " 32 bits; an entry of rs3 has 2 bits."
        )
        yield Instruction(
            mnemonic, PMAC_GR, fixed, "rd, rs1, rs2, rs3, [acc]", meaning, "rs1 rs2 rs3 rd", "rd",
            "pmac", "pmac_cycles", f"{mnemonic} a0, a1, a2, a3", "seed 002 ¶57",
            arithmetic=MULTIPLY,
        )  # fmt: skip


XVC = (*_pmac(), *_pmac_gr(), *SIMD)
GROUP = 4  # products that pmac adds to one result (seed 002 ¶68)


def units_used(row: Instruction) -> int:
    """Return how many of the vector unit's `VECTOR_BYTES` compute units an instruction uses.

    Each unit computes one byte of a register. An instruction on one lane of a register uses as many
    units as the lane has bytes. pmac.gr uses four, the bytes of a general register. The other
    instructions of Xvc use all of them. Memory accesses and instructions of the scalar base use
    none.
    """
    operation = OPERATIONS.get(row.mnemonic)
    if operation is None or row.family == "vector memory":
        return 0
    if operation.name == "pmac_gr":
        return GROUP
    return ELEMENTS[operation.element].bits // 8 if "lane" in row.format.by_name else VECTOR_BYTES


_KINDS = {
    "vd": VECTOR,
    "vs": VECTOR,
    "rd": GENERAL_REGISTER,
    "rs": GENERAL_REGISTER,
    "lane": Immediate(3),
}


def _alias(mnemonic: str, syntax: str, line: str, meaning: str, example: str) -> Pseudo:
    kinds = {**_KINDS, "lane": Immediate(2 if "f32" in mnemonic else 3)}
    return Pseudo(mnemonic, syntax, kinds, (Alternative((line,)),), meaning, example=example)


# fmt: off
PSEUDOS = (
    _alias("vsplat.f16", "vd, rs",       "vsplat.h {vd}, {rs}",        "Put the bits of a binary16 into every lane.", "vsplat.f16 vr3, a0"),
    _alias("vsplat.f32", "vd, rs",       "vsplat.w {vd}, {rs}",        "Put the bits of a binary32 into every lane.", "vsplat.f32 vr3, a0"),
    _alias("vins.f16",   "vd, rs, lane", "vins.h {vd}, {rs}, {lane}",  "Put the bits of a binary16 into one lane.",   "vins.f16 vr3, a0, 1"),
    _alias("vins.f32",   "vd, rs, lane", "vins.w {vd}, {rs}, {lane}",  "Put the bits of a binary32 into one lane.",   "vins.f32 vr3, a0, 1"),
    _alias("vext.f16",   "rd, vs, lane", "vextu.h {rd}, {vs}, {lane}", "Take the bits of a binary16 from one lane.",  "vext.f16 a0, vr3, 1"),
    _alias("vext.f32",   "rd, vs, lane", "vext.w {rd}, {vs}, {lane}",  "Take the bits of a binary32 from one lane.",  "vext.f32 a0, vr3, 1"),
)

COUNTERS = (
    Counter("instructions",     "instructions done",                                                   "instructions"),
    Counter("cycles_operands",  "cycles in which the next instruction waited for a register",          "cycles"),
    Counter("cycles_memory",    "cycles in which an access waited until the memory took it",           "cycles"),
    Counter("cycles_branches",  "cycles lost to branches and jumps",                             "cycles"),
    Counter("products",         "products of pmac",                                                    "products"),
    *common.TRAFFIC,
)

FAULTS = (
    *scalar.FAULTS,
    Fault("bad order index", "An entry of an order, or of vperm's third register, that names no lane."),
)
# fmt: on

MARKER = "marker"  # a family

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=3,
        unit="the 16 one-byte lanes of the vector unit. An instruction of Xvc on registers uses the array from its issue to its result, and the lanes that it works on: all 16; for pmac.gr 4; for vins and vext those of one element",
        instructions=scalar.INSTRUCTIONS + XVC + scalar.markers(MARKER),
        pseudos=scalar.PSEUDOS + PSEUDOS,
        files=(scalar.REGISTERS, REGISTERS),
        specials=scalar.SPECIALS,
        directives=(scalar.INSN,),
        counters=COUNTERS,
        faults=FAULTS,
        order=(*scalar.FAMILIES, *dict.fromkeys(row.family for row in XVC), MARKER),
    )
)
