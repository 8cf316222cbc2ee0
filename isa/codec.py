"""Encodes, decodes and prints instruction words and memory structures by the cores' tables."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from macaw.isa.kinds import OperandError
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core, Structure
from macaw.isa.rows import Instruction, Operand, PseudoOperand, Row


class DecodeError(ValueError):
    """The error for a word that is not an instruction of the core.

    `kind` is the fault that a core raises for the word: "illegal instruction" or "reserved bit
    set".
    """

    def __init__(self, core: str, word: int, kind: str, detail: str, address: int | None) -> None:
        where = "" if address is None else f" at {address:#010x}"
        super().__init__(f"{core}: {kind}: {word:#x}{where}{detail}")
        self.core, self.word, self.kind, self.address = core, word, kind, address
        self.detail = detail.removeprefix(": ")  # which bits or which operand are wrong, if known


class StructureError(ValueError):
    """The error for a memory structure that cannot be packed or unpacked.

    The bytes end too early, a member is unknown, or a member's value is illegal.
    """


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded instruction: its table row, and the field value of each operand by operand name."""

    row: Instruction
    values: Mapping[str, int]


def encode(row: Instruction, values: Mapping[str, int]) -> int:
    """Return the word of `row` with the given field values, by operand name.

    Operands without a value take their defaults. The value of a relative operand is the distance in
    bytes from the instruction. Raises `OperandError` with the operand's name and range.
    """
    word = row.match
    for operand in row.operands:
        value = values.get(operand.name, operand.default)
        if value is None:
            raise OperandError(f"{row.mnemonic} needs the operand {operand.name}")
        try:
            operand.kind.check(value)
        except OperandError as error:
            raise OperandError(f"{operand.name}: {error}") from None
        word |= operand.field.insert(value)
    return word


@cache
def _index(core: Core, width: int) -> tuple[tuple[int, dict[int, Instruction]], ...]:
    """Return the decoding table of a core for words of `width` bits.

    The table has one pair for each mask: the mask, and the rows that fix exactly the bits of this
    mask. The rows are in a dict, by the values of these bits. A word matches at most one row,
    because rows do not overlap.
    """
    masks: dict[int, dict[int, Instruction]] = {}
    for row in core.instructions:
        if row.format.width == width:
            masks.setdefault(row.mask, {})[row.match] = row
    return tuple(masks.items())


def decode(core: Core, word: int, width: int = 32, address: int | None = None) -> Decoded:
    """Return the instruction that a `word` of `width` bits encodes on `core`.

    Raises `DecodeError`, which names the core, the word and the address.
    """
    for mask, rows in _index(core, width):
        row = rows.get(word & mask)
        if row is None or word >> width:
            continue
        if word & row.reserved:
            detail = f": bits {word & row.reserved:#x} of {row.mnemonic} must be zero"
            raise DecodeError(core.name, word, "reserved bit set", detail, address)
        values = {operand.name: operand.field.extract(word) for operand in row.operands}
        for operand in row.operands:
            try:
                operand.kind.check(values[operand.name])
            except OperandError as error:
                detail = f": {row.mnemonic} {operand.name}: {error}"
                raise DecodeError(core.name, word, error.fault, detail, address) from None
        return Decoded(row, values)
    raise DecodeError(core.name, word, "illegal instruction", "", address)


def format_operand(operand: Operand, value: int, target: str | None) -> str:
    """Return the source text of one operand with the field value `value`.

    If `target` is not None, it is the text of the address that a relative operand means, and
    replaces the text of `value`.
    """
    text = target if target is not None else operand.kind.format(value)
    return f"{operand.name}={text}" if operand.named else text


def describe(
    decoded: Decoded,
    address: int = 0,
    symbol: Callable[[int], str | None] | None = None,
) -> str:
    """Return the source text of a decoded instruction at `address`.

    `symbol` returns the name of the symbol at a jump target's address. If it returns None, the
    target is printed as a number.
    """
    texts: list[str] = []
    for operand in decoded.row.operands:
        value, target = decoded.values[operand.name], None
        if value == operand.kind.unprinted:
            continue
        if operand.kind.relative:
            place = address + value & 0xFFFF_FFFF
            target = (symbol(place) if symbol else None) or hex(place)
        text = format_operand(operand, value, target)
        if operand.inside:
            texts[-1] += f"({text})"
        elif text:
            texts.append(text)
    return f"{decoded.row.mnemonic} {', '.join(texts)}".rstrip()


def syntax(row: Row) -> str:
    """Return the syntax of a row, for example `lw rd, imm(rs1)`."""
    return f"{row.mnemonic} {row.syntax}".rstrip()


def select(rows: Sequence[Row], written: Sequence[tuple[str, str | None]]) -> tuple[Row, bool]:
    """Return the row of a mnemonic that fits the operands in a source, and whether it fits.

    `written` has one pair for each operand of the source: its text, and the text in brackets after
    it or None. For example, `8(sp)` is `("8", "sp")`. A row fits if it has the same number of
    operands, brackets at the same operands, and operand kinds that accept the written words. The
    result is the first row that fits. If no row fits, it is the most similar row, for the error
    message.
    """

    def score(row: Row) -> tuple[bool, int, int]:
        outer, inner = _in_and_outside_of_brackets(row)
        shaped = fitting = 0
        for operand, (text, bracket) in zip(outer, written, strict=False):
            base = inner.get(operand.name)
            if (base is None) != (bracket is None):
                continue
            shaped += 1
            if not operand.kind.by_name or operand.kind.parse(text) is not None:
                fitting += base is None or bracket is None or base.kind.parse(bracket) is not None
        return len(outer) == len(written), shaped, fitting

    nearest, best = rows[0], (False, -1, -1)
    for row in rows:
        result = score(row)
        if result == (True, len(written), len(written)):
            return row, True
        if result > best:
            nearest, best = row, result
    return nearest, False


@cache
def _in_and_outside_of_brackets(
    row: Row,
) -> tuple[Sequence[Operand | PseudoOperand], Mapping[str, Operand | PseudoOperand]]:
    """Return a row's operands outside of brackets, and its operands inside of brackets.

    The second result maps the name of the operand before the brackets to the operand inside.
    """
    operands: Sequence[Operand | PseudoOperand] = row.operands
    inner = {operand.inside: operand for operand in operands if operand.inside}
    return [operand for operand in operands if not operand.inside], inner


_CODES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i"}


@cache
def codes(structure: Structure) -> str:
    """Return the format letters of a structure's members in order, as `struct` and NumPy use them.

    Callers read many records at once with these letters.
    """
    return "".join(_CODES[member.type] for member in structure.members)


@cache
def _layout(structure: Structure) -> struct.Struct:
    return struct.Struct("<" + codes(structure))


@cache
def _record(structure: Structure) -> tuple[struct.Struct, tuple[str, ...], bool]:
    """Return (layout, names of the members, whether a member's type allows illegal values).

    `unpack` needs to check the values only if the third result is true.
    """
    names = tuple(member.name for member in structure.members)
    kinds = any(member.kind is not None for member in structure.members)
    restricted = kinds or any(name.startswith("reserved") for name in names)
    return _layout(structure), names, restricted


def pack(structure: Structure, values: Mapping[str, int]) -> bytes:
    """Return the bytes of a record of type `structure` with the member values in `values`, by name.

    Members without a value take their defaults. Raises `StructureError` for an unknown name or an
    illegal value.
    """
    unknown = set(values) - set(structure.offsets)
    if unknown:
        raise StructureError(f"{structure.name} has no member {', '.join(sorted(unknown))}")
    numbers = [values.get(member.name, member.default) for member in structure.members]
    _check_members(structure, numbers)
    try:
        return _layout(structure).pack(*numbers)
    except struct.error:  # its text differs between versions of Python
        raise StructureError(f"{structure.name}: a number does not fit its member") from None


def unpack(structure: Structure, data: bytes | memoryview, offset: int = 0) -> dict[str, int]:
    """Return the member values of a record of type `structure` at `offset` of `data`, by name.

    `offset` is in bytes. Raises `StructureError` if `data` ends before the record does, or if a
    value is illegal.
    """
    if offset < 0 or offset + structure.size > len(data):
        raise StructureError(f"{structure.name} at offset {offset:#x} is cut off")
    layout, names, is_restricted = _record(structure)
    numbers = layout.unpack_from(data, offset)
    if is_restricted:
        _check_members(structure, numbers)
    return dict(zip(names, numbers, strict=True))


def _check_members(structure: Structure, numbers: list[int] | tuple[int, ...]) -> None:
    for member, number in zip(structure.members, numbers, strict=True):
        if member.name.startswith("reserved") and number:
            raise StructureError(f"{structure.name}: {member.name} must be zero, not {number:#x}")
        if member.kind is not None:
            try:
                member.kind.check(number)
            except OperandError as error:
                raise StructureError(f"{structure.name}: {member.name}: {error}") from None
