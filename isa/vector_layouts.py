"""The components of vc's rows: element types, operand kinds, formats, and layouts of operations.

A layout is a function that takes an element type and the code of an operation. It returns the
format of the instruction word, and the values of its fixed fields: `opcode`, `funct3` and so on.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.isa import scalar
from macaw.isa.kinds import Flag, Immediate, Kind, OperandError, Register, ReservedBitError
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import RegisterFile
from macaw.isa.rows import Field, Format
from macaw.isa.typed_records import NamedTuple

PMAC_OPCODE, REGISTER_OPCODE, MEMORY_OPCODE = 0x2B, 0x5B, 0x7B
VECTOR_BYTES = 16
REGISTERS = RegisterFile(
    "vr",
    8 * VECTOR_BYTES,
    tuple((f"vr{i}",) for i in range(16)),
    "Vector registers: arrays of 8, 16, 32 or 64 bits, lane 0 the lowest bits (seed 002 ¶47).",
)


class Element(NamedTuple):
    """An element type of a vector register, for example `b` for lanes of 8 bits."""

    name: str
    bits: int
    meaning: str

    @property
    def lanes(self) -> int:
        return 8 * VECTOR_BYTES // self.bits


ELEMENTS = {
    element.name: element
    for element in (
        Element("b", 8, "16 lanes of 8 bits"),
        Element("h", 16, "8 lanes of 16 bits"),
        Element("w", 32, "4 lanes of 32 bits"),
        Element("d", 64, "2 lanes of 64 bits"),
        Element("f16", 16, "8 lanes of binary16"),
        Element("f32", 32, "4 lanes of binary32"),
        Element("", 128, "the whole register"),
    )
}


# Kinds


@dataclass(frozen=True)
class VectorRegister(Register):
    """The operand kind for a vector register: a field of five bits, the highest of which is 0."""

    def check(self, value: int) -> None:
        if value >> 4:
            raise ReservedBitError(f"{value} is no vector register: the field's top bit is zero")
        super().check(value)


def _odd(text: str) -> str:
    """Return a hint if the text is an odd register where an even one is needed, else ""."""
    number = scalar.REGISTER.parse(text)
    if number is None or not number & 1:
        return ""
    return f"a pair is named by its even register, {scalar.REGISTER.format(number - 1)}"


def _pair(number: int) -> tuple[str, ...]:
    """Return the names of general register `number` and of the next one."""
    return tuple(names[0] for names in scalar.REGISTERS.names[number : number + 2])


@dataclass(frozen=True)
class Pair(Register):
    """The operand kind for a pair of general registers that hold 64 bits.

    The even register has the low word, the next one the high word.
    """

    def check(self, value: int) -> None:
        super().check(value)
        if value & 1:
            raise OperandError(f"a pair begins with an even register, not with {value}")

    def hint(self, text: str) -> str:
        return _odd(text)

    def describe(self) -> str:
        return "the even register of an even-odd pair, low word in the even one"

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        return _pair(value)


@dataclass(frozen=True)
class Order(Register):
    """The operand kind for an order: the permutation of lanes in pmac.

    The value is the number of a vector register, or 32 plus the number of a general register. If
    `paired`, the general register is the even register of a pair.
    """

    paired: bool = False

    def check(self, value: int) -> None:
        if 16 <= value < 32:
            raise ReservedBitError(f"{value} is no vector register: the field's top bit is zero")
        if self.paired and value & 33 == 33:
            raise OperandError(f"16 lanes take a pair; {value} names an odd register")
        super().check(value)

    def hint(self, text: str) -> str:
        return _odd(text) if self.paired else ""

    def describe(self) -> str:
        general = "the even register of a pair of general ones" if self.paired else "a general one"
        return f"a vector register, vr0 to vr15, or {general}"

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        return _pair(value - GENERAL) if self.paired and value >= GENERAL else self.names[value][:1]


GENERAL = 32  # in an Order: the value that means general register 0
_NONE: tuple[tuple[str, ...], ...] = ((),)
_EVEN = tuple(names if i % 2 == 0 else () for i, names in enumerate(scalar.REGISTERS.names))
VECTOR = VectorRegister(REGISTERS.names, "vector register")
PAIR = Pair(_EVEN, "even register of a pair")
ORDER = Order(REGISTERS.names + _NONE * 16 + scalar.REGISTERS.names, "register for an order")
ORDER_16 = Order(REGISTERS.names + _NONE * 16 + _EVEN, "register for an order of 16", paired=True)


def _up_to(bits: int, high: int) -> Immediate:
    return Immediate(bits, high_limit=high)


# Formats

_OPCODE, _FUNCT2 = Field("opcode", "6:0"), Field("funct2", "26:25")
_FUNCT3, _FUNCT7 = Field("funct3", "14:12"), Field("funct7", "31:25")
_ACC = Field("acc", "25", Flag("acc"))


def _places(**kinds: Kind) -> tuple[Field, ...]:
    """Return the word fields of the register operands `kinds`, at the bits that RISC-V uses."""
    where = {"rd": "11:7", "rs1": "19:15", "rs2": "24:20", "rs3": "31:27"}
    return tuple(Field(name, where[name], kind) for name, kind in kinds.items())


def _format(name: str, *fields: Field, **kinds: Kind) -> Format:
    return Format(name, 32, (*fields, *_places(**kinds), _FUNCT3, _OPCODE), 4)


GENERAL_REGISTER = scalar.REGISTER
_SIGNED_12 = scalar.SIGNED_12


def _pmac_type(order: Order) -> Format:
    field = Field("rs3", "26=5 31:27=4:0", order)
    return _format("pmac", field, _ACC, rs2=VECTOR, rs1=VECTOR, rd=VECTOR)


PMAC, PMAC_16 = _pmac_type(ORDER), _pmac_type(ORDER_16)
PMAC_GR = _format(
    "pmac.gr",
    Field("signed", "26"),
    _ACC,
    rs3=GENERAL_REGISTER,
    rs2=GENERAL_REGISTER,
    rs1=GENERAL_REGISTER,
    rd=GENERAL_REGISTER,
)
R = _format("V", _FUNCT7, rs2=VECTOR, rs1=VECTOR, rd=VECTOR)
R4 = _format("V4", _FUNCT2, rs3=VECTOR, rs2=VECTOR, rs1=VECTOR, rd=VECTOR)
LOAD = _format(
    "VI",
    Field("imm", "31:20", _SIGNED_12, True, scalar.LOW_OF_LOAD),
    rs1=GENERAL_REGISTER,
    rd=VECTOR,
)
STORE = _format(
    "VS",
    Field("imm", "31:25=11:5 11:7=4:0", _SIGNED_12, True, scalar.LOW_OF_STORE),
    rs2=VECTOR,
    rs1=GENERAL_REGISTER,
)
STRIDED_LOAD = _format("VL", _FUNCT7, rs2=GENERAL_REGISTER, rs1=GENERAL_REGISTER, rd=VECTOR)
STRIDED_STORE = _format(
    "VT", _FUNCT7, Field("rs3", "11:7", VECTOR), rs2=GENERAL_REGISTER, rs1=GENERAL_REGISTER
)
HALF = _format("VH", _FUNCT7, Field("half", "24:20", _up_to(5, 1)), rs1=VECTOR, rd=VECTOR)


def _lane_field(element: Element) -> Field:
    return Field("lane", "24:20", _up_to(5, element.lanes - 1))


def _general(element: Element) -> Kind:
    """Return the operand kind for one element in general registers: a pair for 64 bits."""
    return PAIR if element.bits == 64 else GENERAL_REGISTER


_WHOLE = tuple(element for element in ELEMENTS.values() if element.name in "bhwd" and element.name)
_EXTRACT = {
    e.name: _format("VX", _FUNCT7, _lane_field(e), rs1=VECTOR, rd=_general(e)) for e in _WHOLE
}
_INSERT = {
    e.name: _format("VN", _FUNCT7, _lane_field(e), rs1=_general(e), rd=VECTOR) for e in _WHOLE
}
_SPLAT = {
    e.name: _format("VG", _FUNCT7, Field("rs2", "24:20"), rs1=_general(e), rd=VECTOR)
    for e in _WHOLE
}
_SHIFT = {
    e.name: _format("VC", Field("funct6", "31:26"), Field("shamt", "25:20", _up_to(6, e.bits - 1)),
                    rs1=VECTOR, rd=VECTOR) for e in _WHOLE
}  # fmt: skip
_NARROW = {
    e.name: _format("VW", Field("shamt", "31:27", _up_to(5, e.bits - 1)), _FUNCT2,
                    rs2=VECTOR, rs1=VECTOR, rd=VECTOR) for e in _WHOLE[1:3]
}  # fmt: skip

# funct3 of custom-2
_FUNCT3_OF = {"b": 0, "h": 1, "w": 2, "d": 3, "f16": 4, "f32": 4, "": 6}
_FUNCT3_NARROW, _FUNCT3_R4, FUNCT3_PMAC_GR = 5, 6, 7
_F32 = 0x40  # bit 6 of funct7 among floating elements

Layout = Callable[[Element, int], tuple[Format, dict[str, int]]]


def _fixed(element: Element, code: int, **more: int) -> dict[str, int]:
    code |= _F32 if element.name == "f32" else 0
    return {"opcode": REGISTER_OPCODE, "funct3": _FUNCT3_OF[element.name], "funct7": code, **more}


def binary(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code` on two vector registers.

    The lanes of the registers have the type `element`.
    """
    return R, _fixed(element, code)


def unary(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code` on one vector register.

    The lanes of the register have the type `element`.
    """
    return R, _fixed(element, code, rs2=0)


def copy(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code`, which copies a vector register.

    `element` is not used, because the operation copies the whole register.
    """
    return R, {"opcode": REGISTER_OPCODE, "funct3": 0, "funct7": code, "rs2": 0}


def half(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code` on one half of a register's lanes.

    The lanes have the type `element`.
    """
    return HALF, _fixed(element, code)


def extract(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code`, which moves a lane.

    The operation moves a lane of type `element` to one or more general registers.
    """
    return _EXTRACT[element.name], _fixed(element, code)


def insert(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code`, which sets a lane.

    The operation moves a number of the type `element` from general registers to the lane.
    """
    return _INSERT[element.name], _fixed(element, code)


def splat(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code`, which sets all lanes.

    The operation copies a number of the type `element` from general registers to each lane.
    """
    return _SPLAT[element.name], _fixed(element, code, rs2=0)


def shift(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code` on a register and a constant.

    The register is a vector register with lanes of type `element`.
    """
    fixed = _fixed(element, 0)
    del fixed["funct7"]
    return _SHIFT[element.name], {**fixed, "funct6": code}


def narrow(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code`, which halves the width of lanes.

    It shifts the lanes of two vector registers by a constant, and writes one vector register with
    lanes of half the width. `element` is the type of the lanes that are shifted.
    """
    code |= 1 if element.name == "w" else 0
    fixed = {"opcode": REGISTER_OPCODE, "funct3": _FUNCT3_NARROW, "funct2": code}
    return _NARROW[element.name], fixed


def four(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of operation `code` on three vector registers.

    The operation uses bytes or bits of the whole registers, so `element` is not used.
    """
    return R4, {"opcode": REGISTER_OPCODE, "funct3": _FUNCT3_R4, "funct2": code}


def load(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of the word that loads a vector register.

    `code` is the value of funct3; `element` is not used.
    """
    return LOAD, {"opcode": MEMORY_OPCODE, "funct3": code}


def store(element: Element, code: int) -> tuple[Format, dict[str, int]]:
    """Return the format and the fixed fields of the word that stores a vector register.

    `code` is the value of funct3; `element` is not used.
    """
    return STORE, {"opcode": MEMORY_OPCODE, "funct3": code}


def strided(which: Format) -> Layout:
    """Return the layout of loads or stores whose lanes are a constant distance apart in memory.

    `which` is the format, `STRIDED_LOAD` or `STRIDED_STORE`.
    """

    def layout(element: Element, code: int) -> tuple[Format, dict[str, int]]:
        size = _FUNCT3_OF[element.name]
        return which, {"opcode": MEMORY_OPCODE, "funct3": code, "funct7": size}

    return layout
