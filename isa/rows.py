"""The rows of an instruction table: formats and fields, instructions, pseudo-instructions.

Formats, instructions and pseudo-instructions are compared by identity, so two of them are never
equal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property

from macaw.isa.kinds import Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern


class TableError(ValueError):
    """The error for a table that contradicts itself; the message gives the core and the row."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive bits of a field, and where the word stores them.

    Bits `value` to `value` + `width` - 1 of the field's value are bits `word` to `word` + `width` -
    1 of the instruction word.
    """

    word: int
    value: int
    width: int


@dataclass(frozen=True)
class Field:
    """A named part of an instruction word, in one piece or in several (RISC-V immediates).

    `place` gives the field's bits in the word: `"11:7"`. If there are several pieces, `place` also
    gives the bits of the value for each piece: `"31=12 30:25=10:5 11:8=4:1 7=11"`. `kind` says what
    a source may write for the field. A field without a kind is a part of the opcode or is reserved.
    Each row fixes the values of the parts of its opcode. The name of a reserved field starts with
    `reserved`, and its value is 0. `relocations` has the ELF relocation numbers with which a linker
    completes the field, each with the operator (`%hi`, or none) that asks for it.
    """

    name: str
    place: str
    kind: Kind | None = None
    signed: bool = False
    relocations: tuple[tuple[str, int], ...] = ()

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        def bounds(text: str) -> tuple[int, int]:
            high, _, low = text.partition(":")
            return int(high), int(low or high)

        pieces = []
        for piece in self.place.split():
            where, _, what = piece.partition("=")
            high, low = bounds(where)
            value_high, value_low = bounds(what) if what else (high - low, 0)
            if high < low or value_high - value_low != high - low:
                raise TableError(f"field {self.name}: '{piece}' is not a run of bits")
            pieces.append(Slice(low, value_low, high - low + 1))
        return tuple(pieces)

    @cached_property
    def width(self) -> int:
        """The number of bits of the field's value.

        It includes low bits that no word stores, such as bit 0 of a branch's distance.
        """
        return max(piece.value + piece.width for piece in self.slices)

    @cached_property
    def mask(self) -> int:
        """The mask of the bits that the field has in the word."""
        return sum(((1 << piece.width) - 1) << piece.word for piece in self.slices)

    def insert(self, value: int) -> int:
        """Return a word in which the field stores `value`, modulo its range; other bits are 0."""
        word = 0
        for piece in self.slices:
            word |= (value >> piece.value & (1 << piece.width) - 1) << piece.word
        return word

    def extract(self, word: int) -> int:
        """Return the field's value in `word`, sign-extended if the field is signed."""
        value = 0
        for piece in self.slices:
            value |= (word >> piece.word & (1 << piece.width) - 1) << piece.value
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        return value


@dataclass(frozen=True, eq=False)
class Format:
    """The fields of an instruction word of `width` bits.

    In memory the word has `size` bytes in little-endian order.
    """

    name: str
    width: int
    fields: tuple[Field, ...]
    size: int

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        return {item.name: item for item in self.fields}

    def check(self) -> None:
        """Raise `TableError` unless each bit of the word belongs to exactly one field."""
        covered = 0
        for item in self.fields:
            if covered & item.mask:
                raise TableError(f"format {self.name}: field {item.name} overlaps another")
            covered |= item.mask
        if covered != (1 << self.width) - 1:
            missing = (1 << self.width) - 1 & ~covered
            raise TableError(f"format {self.name}: bits {missing:#x} belong to no field")


@dataclass(frozen=True)
class Operand:
    """An operand of an instruction: its name, the field that stores it, and its kind.

    `default` is the value if a source omits the operand; None if every source must write it. A
    disassembly prints a `named` operand as `name=value`. If a source writes the operand in
    brackets, as rs1 in `imm(rs1)`, `inside` is the name of the operand before the brackets.
    """

    name: str
    field: Field
    kind: Kind
    default: int | None = None  # the value if the source omits it; None: required
    named: bool = False  # printed as name=value
    inside: str = ""  # for rs1 of `imm(rs1)`: imm, the operand before the brackets


_SYNTAX = lazy_pattern(r"(\[)?(\w+)(?:(=)(-?\w+)?)?\]?(?:\((\w+)\))?$")
_PLACEHOLDER = lazy_pattern(r"\{(\w+)\}")


@cache
def _operands(form: Format, syntax: str) -> tuple[Operand, ...]:
    """Return the operands for a format and a syntax. Raises `TableError`.

    Rows with the same format and the same syntax share the operands.
    """
    operands = []
    for item in filter(None, (text.strip() for text in syntax.split(","))):
        match = _SYNTAX.match(item)
        if not match:
            raise TableError(f"'{item}' is not an operand's syntax")
        _flag, name, equals, default, inner = match.groups()
        if inner and default is None:
            default = "0"  # `lw a0, (a1)`
        operands.append(_operand(form, name, named=bool(equals), default=default))
        if inner:
            operands.append(_operand(form, inner, inside=name))
    return tuple(operands)


def _operand(
    form: Format, name: str, *, named: bool = False, default: str | None = None, inside: str = ""
) -> Operand:
    try:
        where = form.by_name[name]
    except KeyError:
        raise TableError(f"format {form.name} has no field {name}") from None
    if where.kind is None:
        raise TableError(f"field {name} has no kind and cannot be an operand")
    value = None if default is None else where.kind.parse(default)
    if default is not None and value is None:
        value = int(default, 0)
    if value is None and where.kind.optional:
        value = 0
    return Operand(name, where, where.kind, value, named, inside)


@dataclass(frozen=True, eq=False)
class Instruction:
    """A row of an instruction table: the bits of an instruction, its operands and its meaning.

    `fixed` gives the fields that have the same value in all words of this row. `syntax` lists the
    operands in source order, for example `rd, imm(rs1)`. In the syntax, `base=0` is an operand that
    is written with its name and has the default 0; `[balance]` is a flag. `reads` and `writes` name
    operands or other state, separated by spaces. `carries` has (form, meaning) of operands that a
    source writes with the instruction, but that the word does not contain. `source` says where the
    row comes from: a paragraph of a seed, or Macaw. `flow` is "branch", "jump", "call", "return",
    "stop" or empty. `arithmetic` is what the instruction computes, one of
    `macaw.isa.activities.ARITHMETIC`.
    """

    mnemonic: str
    format: Format
    fixed: Mapping[str, int]
    syntax: str = ""
    meaning: str = ""
    reads: str = ""
    writes: str = ""
    family: str = ""
    cycles: str = ""
    example: str = ""
    source: str = ""  # where the rule comes from: `seed 000 ¶118`
    flow: str = ""  # "", "branch", "jump", "call", "return", "stop" (asm, debugger)
    carries: tuple[
        tuple[str, str], ...
    ] = ()  # operands of a source that are not in the word: form, meaning
    arithmetic: str = ""  # what it computes, of `macaw.isa.activities.ARITHMETIC`

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        try:
            return _operands(self.format, self.syntax)
        except TableError as error:
            raise TableError(f"{self.mnemonic}: {error}") from None

    @cached_property
    def mask(self) -> int:
        """The mask of the bits that identify this row: its fixed fields except reserved ones."""
        return sum(
            self.format.by_name[name].mask for name in self.fixed if not name.startswith("reserved")
        )

    @cached_property
    def match(self) -> int:
        return sum(
            self.format.by_name[name].insert(value)
            for name, value in self.fixed.items()
            if not name.startswith("reserved")
        )

    @cached_property
    def reserved(self) -> int:
        """The mask of the bits that must be 0; the decoder refuses words in which one is 1."""
        return sum(
            item.mask
            for item in self.format.fields
            if item.name.startswith("reserved") and item.name not in self.fixed
        )

    def check(self) -> None:
        """Raise `TableError` unless each bit is fixed, part of an operand, or reserved.

        Also raise it if a fixed field is unknown, is too small for its value, or is an operand; if
        an operand occurs twice; or if the meaning is empty.
        """
        names = [operand.name for operand in self.operands]
        for name in self.fixed:
            if name not in self.format.by_name:
                raise TableError(f"{self.mnemonic}: format {self.format.name} has no field {name}")
        for name in self.fixed:
            if name in names:
                raise TableError(f"{self.mnemonic}: field {name} is fixed and an operand")
            if self.format.by_name[name].extract(self.match) != self.fixed[name]:
                raise TableError(f"{self.mnemonic}: {self.fixed[name]} does not fit field {name}")
        if len(set(names)) != len(names):
            raise TableError(f"{self.mnemonic}: an operand occurs twice in '{self.syntax}'")
        for item in self.format.fields:
            if item.name.startswith("reserved"):
                continue
            if item.name not in self.fixed and item.name not in names:
                raise TableError(f"{self.mnemonic}: the bits of field {item.name} are unspecified")
        if not self.meaning:
            raise TableError(f"{self.mnemonic}: has no meaning")


@dataclass(frozen=True)
class Alternative:
    """One expansion of a pseudo-instruction.

    It applies if `when` accepts the value of the operand `Pseudo.choose`, or if `when` is None.
    """

    lines: tuple[str, ...]  # source lines; {name} stands for an operand's text
    when: Callable[[int], bool] | None = None  # tests the value of `choose`; None: applies


@dataclass(frozen=True)
class PseudoOperand:
    """An operand of a pseudo-instruction; it has no field, because no word stores it directly.

    The fields have the same meanings as in `Operand`.
    """

    name: str
    kind: Kind
    default: int | None = None
    inside: str = ""


@dataclass(frozen=True, eq=False)
class Pseudo:
    """A pseudo-instruction: a mnemonic that the assembler replaces by other rows, such as `li`.

    `syntax` is written as in `Instruction`; `kinds` gives the kind of each operand in `syntax`. In
    a line of the expansion, `.` is the address of that line.

    If there are several alternatives, the assembler uses the first one whose `when` accepts the
    value of the operand `choose`. If the assembler does not yet know the value when it reads the
    line, it uses the last alternative.

    If `overloads`, the row shares its mnemonic with an instruction or with other such rows (`jal
    f`, `lw a0, symbol`). The number and the shape of the written operands decide which row applies
    (`codec.select`).
    """

    mnemonic: str
    syntax: str
    kinds: Mapping[str, Kind]
    alternatives: tuple[Alternative, ...]
    meaning: str
    choose: str = ""
    example: str = ""
    overloads: bool = False

    @cached_property
    def operands(self) -> tuple[PseudoOperand, ...]:
        operands = []
        for item in filter(None, (text.strip() for text in self.syntax.split(","))):
            match = _SYNTAX.match(item)
            if not match or match[1] or match[3]:
                raise TableError(f"{self.mnemonic}: '{item}' is not an operand's syntax")
            name, inner = match[2], match[5]
            for word in filter(None, (name, inner)):
                if word not in self.kinds:
                    raise TableError(f"{self.mnemonic}: the operand {word} has no kind")
            operands.append(PseudoOperand(name, self.kinds[name], 0 if inner else None))
            if inner:
                operands.append(PseudoOperand(inner, self.kinds[inner], inside=name))
        return tuple(operands)

    def check(self, mnemonics: Collection[str]) -> None:
        """Raise `TableError` unless the expansions use all operands and only known mnemonics."""
        names = {operand.name for operand in self.operands}
        if not self.alternatives:
            raise TableError(f"{self.mnemonic}: has no expansion")
        if self.choose and self.choose not in names:
            raise TableError(f"{self.mnemonic}: cannot choose by {self.choose}, no operand")
        if not self.choose and any(item.when for item in self.alternatives):
            raise TableError(f"{self.mnemonic}: does not say by which operand to choose")
        for alternative in self.alternatives:
            used = set()
            for line in alternative.lines:
                used |= set(_PLACEHOLDER.findall(line))
                if line.split()[0] not in mnemonics:
                    raise TableError(f"{self.mnemonic}: expands to '{line}', no instruction")
            if used - names:
                raise TableError(
                    f"{self.mnemonic}: has no operand {', '.join(sorted(used - names))}"
                )
            if names - used:
                raise TableError(f"{self.mnemonic}: forgets {', '.join(sorted(names - used))}")
        if not self.meaning:
            raise TableError(f"{self.mnemonic}: has no meaning")


Row = Instruction | Pseudo
