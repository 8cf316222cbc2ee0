"""Writes C macros for a core's own instructions, with the `.insn` directive of GNU as and clang.

The macros are statement expressions, not `static inline` functions, so that a debugger shows the
caller's line. If an operand is a general register, the macro takes a C value, which the compiler
puts into a register. If an operand is a vector register, the macro takes its number. All other
operands are constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from textwrap import fill

from macaw.isa import registry
from macaw.isa.kinds import Immediate, Register
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Operand
from macaw.isa.typed_records import NamedTuple

HELPERS = """\
#define MACAW_TEXT_(text) #text
#define MACAW_TEXT(text) MACAW_TEXT_(text)
#ifdef __cplusplus
#define MACAW_CHECK(condition, text) static_assert(condition, text)
#else
#define MACAW_CHECK(condition, text) _Static_assert(condition, text)
#endif
"""
# The registers of 64-bit values. A compiler could choose a pair that begins with an odd register.
_PAIRS = (("a2", "a3"), ("a4", "a5"), ("a6", "a7"))
_SLOTS = {"rd": 7, "rs1": 15, "rs2": 20, "rs3": 27}  # the first bit of each register field
_SLOT_BITS = 5
_WIDTH = 96  # characters in a line of a comment
_ENDS = ("_low", "_high")  # the ends of the names of a pair's words


def own(core: Core) -> tuple[Instruction, ...]:
    """Return the instructions of a core except those that all cores with the same base have.

    The base is the instruction set that such cores extend: RV32IM for cp and vc.
    """
    tables = [other.instructions for other in registry.cores() if other.base == core.base]
    shared = set.intersection(*map(set, tables))
    return tuple(row for row in core.instructions if row not in shared)


def macros(core: Core) -> dict[str, str]:
    """Return the C definitions of the macros for a core's own instructions, by the macro's name.

    An instruction with an operand that may be a vector register or a general register has two
    macros. The name of the one for a general register ends with `_general`.
    """
    found = {}
    for row in own(core):
        name = "macaw_" + row.mnemonic.replace(".", "_")
        uses = {operand.name: _use(core, operand) for operand in row.operands}
        found[name] = _definition(row, name, uses)
        for word, use in uses.items():
            if use.general and not use.is_value:
                general = {**uses, word: replace(use, is_value=True)}
                found[f"{name}_general"] = _definition(row, f"{name}_general", general)
    return found


@dataclass(frozen=True)
class _Use:
    """How a macro treats one operand of its instruction.

    If `is_value`, the operand is a general register that holds a C value; else the operand is a
    constant. `general` are the values of the operand's field that mean general registers.
    `constants` is the (least, greatest) of all other values.
    """

    operand: Operand
    general: tuple[int, ...]
    constants: tuple[int, int]  # the least and the greatest
    is_value: bool

    @property
    def first_general(self) -> int:
        """The value of the operand's field that means the first general register."""
        return self.general[0]

    @cached_property
    def is_pair(self) -> bool:
        """Whether the operand is a 64-bit value in two registers."""
        return (
            bool(self.is_value)
            and len(self.operand.kind.stands_for(self.first_general, False) or ()) > 1
        )

    @property
    def words(self) -> list[str]:
        """The names of the operand's 32-bit words in the text of `.insn`, low word first."""
        return [self.operand.name + end for end in (_ENDS if self.is_pair else ("",))]

    @cached_property
    def slot(self) -> str | None:
        """The register field of `.insn` (`rd`, `rs1`, `rs2`, `rs3`) that stores the operand.

        None if the operand's bits are elsewhere in the word. The macro then adds them to the number
        operand of `.insn`.
        """
        places = {first: name for name, first in _SLOTS.items()}
        for piece in self.operand.field.slices:
            is_alone = self.is_value or len(self.operand.field.slices) == 1
            if piece.value == 0 and piece.width <= _SLOT_BITS and is_alone:
                return places.get(piece.word)
        return None


def _definition(row: Instruction, name: str, uses: Mapping[str, _Use]) -> str:
    """Return the C definition of the macro `name` for an instruction, with a comment above it.

    `uses` says how the macro uses each operand, by the operand's name.
    """
    written, read = row.writes.split(), row.reads.split()
    result = next((word for word, use in uses.items() if use.is_value and word in written), "")
    insn, constants = _insn(row, uses)
    lines: list[str] = []
    outputs: list[str] = []
    inputs: list[str] = []
    pairs = iter(_PAIRS)
    for word, use in uses.items():
        if use.is_value and word == result:
            lines += _variables(word, next(pairs), "") if use.is_pair else []
            start = f" = (int32_t)({word})" if word in read else ""
            lines += [] if use.is_pair else [f"int32_t {_local(word)}{start};"]
            sign = "+r" if word in read else "=r"
            outputs += [f'[{_local(x)}] "{sign}"({_local(x)})' for x in use.words]
        elif use.is_pair:
            lines += _variables(word, next(pairs), word)
            inputs += [f'[{_local(x)}] "r"({_local(x)})' for x in use.words]
        elif use.is_value:
            inputs.append(f'[{_local(word)}] "r"({word})')
        else:
            low, high = use.constants
            text = f"{word}: a constant from {low} to {high}"
            lines.append(f'MACAW_CHECK(({word}) >= {low} && ({word}) <= {high}, "{text}");')
            inputs += [f'[{_local(word)}] "i"({word})'] if word in constants else []
    lines.append(f'__asm__ volatile("{insn}"')
    lines.append(f'  : {", ".join(outputs)} : {", ".join(inputs)} : "memory");')
    if result:
        *first, last = map(_local, uses[result].words)
        lines.append(f"(int64_t)((uint64_t){last} << 32 | {first[0]});" if first else f"{last};")
    parameters = [word for word in uses if word != result or word in read]
    head = f"#define {name}({', '.join(parameters)}) __extension__ ({{"
    body = " \\\n".join([head, *(f"  {line}" for line in lines), "})"])
    comment = fill(f"/* {row.mnemonic}: {row.meaning} */", _WIDTH, subsequent_indent="   ")
    return f"{comment}\n{body}"


def _variables(word: str, registers: tuple[str, str], start: str) -> Iterator[str]:
    """Yield C declarations for the 64-bit operand named `word`, which needs two registers.

    The variable of the operand's low half is in `registers[0]`, that of its high half in
    `registers[1]`. `start` is the C expression of the operand's initial value; empty if the operand
    has none.
    """
    low = high = ""
    if start:
        yield f"uint64_t {_local(word)} = (uint64_t)({start});"
        low, high = f" = (uint32_t){_local(word)}", f" = (uint32_t)({_local(word)} >> 32)"
    for end, register, value in zip(_ENDS, registers, (low, high), strict=True):
        yield f'register uint32_t {_local(word + end)} __asm__("{register}"){value};'


def _local(name: str) -> str:
    """Return the name of a macro's local variable. Its prefix avoids the names of the caller."""
    return f"macaw_{name}_"


def _use(core: Core, operand: Operand) -> _Use:
    """Return how a macro uses an operand of a core.

    An operand that may be a vector register or a general register counts here as a vector register,
    whose number is a constant.
    """
    kind = operand.kind
    if isinstance(kind, Immediate):
        return _Use(operand, (), (kind.low, kind.high), False)
    if not isinstance(kind, Register):
        return _Use(operand, (), (0, (1 << operand.field.width) - 1), False)
    file = core.files[0].names
    numbers = [number for number, names in enumerate(kind.names) if names]
    general = tuple(number for number in numbers if kind.names[number] in file)
    others = [number for number in numbers if number not in general]
    limits = (others[0], others[-1]) if others else (0, 0)
    return _Use(operand, general, limits, not others)


class _Layout(NamedTuple):
    """A format of `.insn`: its name, its register fields, and its number operand.

    The number operand fills the field of `width` bits that begins at bit `low` of the word.
    """

    name: str
    registers: tuple[str, ...]
    low: int
    width: int


_FOUR = _Layout("r4", ("rd", "rs1", "rs2", "rs3"), 25, 2)
_THREE = _Layout("r", ("rd", "rs1", "rs2"), 25, 7)
_TWO = _Layout("i", ("rd", "rs1"), 20, 12)


def _insn(row: Instruction, uses: Mapping[str, _Use]) -> tuple[str, set[str]]:
    """Return the text of `.insn` for the instruction `row`, and the names of some of its operands.

    These are the operands whose bits are in the number that `.insn` takes (an immediate). `uses`
    says how the macro uses each operand, by the operand's name.
    """
    code = f"{row.match & 0x7F:#x}, {row.match >> 12 & 7}"
    places = {use.slot: use for use in uses.values()}
    for word, use in uses.items():
        if use.operand.field.signed and len(use.operand.field.slices) > 1:
            second, first = (_register(row, places, name) for name in ("rs2", "rs1"))
            return f".insn s {code}, {second}, %[{_local(word)}]({first})", {word}
    values = {use.slot for use in uses.values() if use.is_value}
    layout = _FOUR if "rs3" in values else _THREE if "rs2" in values else _TWO
    registers = ", ".join(_register(row, places, name) for name in layout.registers)
    number, names = _number(row, uses, layout)
    if layout is _TWO:
        return f".insn i {code}, {registers}, {number}", names
    head, *rest = code.split(", ")
    return f".insn {layout.name} {head}, {rest[0]}, {number}, {registers}", names


def _register(row: Instruction, places: Mapping[str | None, _Use], name: str) -> str:
    """Return what the macro of `row` writes for the register field `name` of `.insn`.

    `places` has the operand in each register field (`rd`, `rs1`, ...), as a `_Use`. For a field
    without an operand, the result is the register number that the instruction fixes, such as `x0`.
    """
    use = places.get(name)
    if use is None:
        return f"x{row.match >> _SLOTS[name] & 31}"
    word = use.operand.name
    if use.is_value:
        return f"%[{_local(use.words[0])}]"
    return f'x" MACAW_TEXT({word}) "'


def _number(row: Instruction, uses: Mapping[str, _Use], layout: _Layout) -> tuple[str, set[str]]:
    """Return the number operand of `.insn` for the instruction `row`, and the operands in it.

    The second result has the names of the instruction's operands whose bits the number contains.
    `uses` says how the macro uses each operand, `layout` which bits of the word the number fills.
    """
    fixed, terms, names = row.match, [], set()
    for word, use in uses.items():
        for piece in use.operand.field.slices:
            mask = (1 << piece.width) - 1
            if use.is_value:
                fixed |= (use.first_general >> piece.value & mask) << piece.word
            elif use.slot not in layout.registers and use.constants[1] >> piece.value:
                names.add(word)
                place = piece.word - layout.low
                if piece.width == layout.width:
                    return f"%[{_local(word)}]", names
                terms.append(f"%[{_local(word)}]" + (f" << {place}" if place else ""))
    bits = (1 << layout.width) - 1
    sign = bits + 1 >> 1 if layout is _TWO else 0  # the sign bit of the number
    value = fixed >> layout.low & bits
    if not terms:
        return f"{(value ^ sign) - sign}", names
    text = " | ".join([f"{value:#x}", *(f"({term})" for term in terms)])
    return f"0 + (({text}) ^ {sign:#x}) - {sign:#x}" if sign else f"0 + ({text})", names
