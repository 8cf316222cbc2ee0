"""The shape of an instruction table: frozen rows from which everything else derives.

A core is one `Core`, declared once in a module of its own (`isa/cp.py`,
`isa/pe.py`). Rows are compared by identity: two rows are never the same row. Encoder, decoder, disassembler, operand checks, `macaw isa`, the
debugger's panels and the manual read these rows; none of them repeats one.
`checked` refuses a table with overlapping patterns, unspecified bits or
duplicate names before anybody uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from isa.kinds import Immediate, Kind


class TableError(ValueError):
    """A table contradicts itself; the message names the core and the row."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A run of bits of a field: `width` bits of the value from bit `value` at word bit `word`."""

    word: int
    value: int
    width: int


@dataclass(frozen=True)
class Field:
    """A named part of a word, in one piece or (RISC-V immediates) in several.

    `place` says where: `"11:7"`, or pieces with the value bits that they hold,
    `"31=12 30:25=10:5 11:8=4:1 7=11"`. `kind` is what a source may write there;
    a field without a kind is an opcode part or reserved, fixed by each row.
    """

    name: str
    place: str
    kind: Kind | None = None
    signed: bool = False

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
        """Bits of the value, those below its lowest stored bit included."""
        return max(piece.value + piece.width for piece in self.slices)

    @cached_property
    def mask(self) -> int:
        """The word's bits that belong to the field."""
        return sum(((1 << piece.width) - 1) << piece.word for piece in self.slices)

    def insert(self, value: int) -> int:
        """The word bits of `value` (taken modulo the width)."""
        word = 0
        for piece in self.slices:
            word |= (value >> piece.value & (1 << piece.width) - 1) << piece.word
        return word

    def extract(self, word: int) -> int:
        """The value that `word` holds, sign-extended if the field is signed."""
        value = 0
        for piece in self.slices:
            value |= (word >> piece.word & (1 << piece.width) - 1) << piece.value
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        return value


@dataclass(frozen=True, eq=False)
class Format:
    """A layout of a word of `width` bits; `size` bytes in memory, little-endian."""

    name: str
    width: int
    fields: tuple[Field, ...]
    size: int

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        return {item.name: item for item in self.fields}

    def check(self) -> None:
        """Raise `TableError` unless the fields cover each bit exactly once."""
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
    """An operand as the source writes it, in the order of the row's syntax."""

    name: str
    field: Field
    kind: Kind
    default: int | None = None  # used when the source leaves it out; None: required
    named: bool = False  # printed as name=value
    inside: str = ""  # `imm(rs1)`: the name of the operand that stands in front of the brackets


_SYNTAX = re.compile(r"(\[)?(\w+)(?:(=)(-?\w+)?)?\]?(?:\((\w+)\))?$")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, eq=False)
class Instruction:
    """One row: its bits, its operands and what it does, in a sentence.

    `fixed` gives the fields that are the same in every such word. `syntax` lists
    the operands in source order: `rd, imm(rs1)`; `base=0` is printed with its
    name and has a default; `[balance]` is a flag. `reads` and `writes` name
    operands or other state, separated by spaces.
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
    flow: str = ""  # "", "branch", "jump", "call", "return", "stop": for disassembler and debugger
    carries: tuple[
        tuple[str, str], ...
    ] = ()  # what the source names beside the word: form, meaning

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        found = []
        for item in filter(None, (text.strip() for text in self.syntax.split(","))):
            match = _SYNTAX.match(item)
            if not match:
                raise TableError(f"{self.mnemonic}: '{item}' is not an operand's syntax")
            _flag, name, equals, default, inner = match.groups()
            if inner and default is None:
                default = "0"  # `lw a0, (a1)`
            found.append(self._operand(name, named=bool(equals), default=default))
            if inner:
                found.append(self._operand(inner, inside=name))
        return tuple(found)

    def _operand(
        self, name: str, *, named: bool = False, default: str | None = None, inside: str = ""
    ) -> Operand:
        try:
            where = self.format.by_name[name]
        except KeyError:
            raise TableError(
                f"{self.mnemonic}: format {self.format.name} has no field {name}"
            ) from None
        if where.kind is None:
            raise TableError(f"{self.mnemonic}: field {name} has no kind and cannot be an operand")
        value = None if default is None else where.kind.parse(default)
        if default is not None and value is None:
            value = int(default, 0)
        if value is None and where.kind.optional:
            value = 0
        return Operand(name, where, where.kind, value, named, inside)

    @cached_property
    def mask(self) -> int:
        """Bits that tell this row from others: the non-reserved fixed fields."""
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
        """Bits that must be zero; a word that sets one is refused by name."""
        return sum(
            item.mask
            for item in self.format.fields
            if item.name.startswith("reserved") and item.name not in self.fixed
        )

    def check(self) -> None:
        """Raise `TableError` unless every bit is fixed, an operand's, or reserved."""
        self.format.check()
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
            raise TableError(f"{self.mnemonic}: an operand stands twice in '{self.syntax}'")
        for item in self.format.fields:
            if item.name.startswith("reserved"):
                continue
            if item.name not in self.fixed and item.name not in names:
                raise TableError(f"{self.mnemonic}: the bits of field {item.name} are unspecified")
        if not self.meaning:
            raise TableError(f"{self.mnemonic}: has no meaning")


@dataclass(frozen=True)
class Alternative:
    """One expansion of a pseudo-instruction, taken if `when` holds for its number."""

    lines: tuple[str, ...]  # source lines; {name} stands for an operand's text
    when: Callable[[int], bool] | None = None  # of the operand `choose`; None: always


@dataclass(frozen=True)
class PseudoOperand:
    """An operand of a pseudo-instruction: as `Operand`, but of no word."""

    name: str
    kind: Kind
    default: int | None = None
    inside: str = ""


@dataclass(frozen=True, eq=False)
class Pseudo:
    """A mnemonic that stands for other rows: `li`, `mv`, `call`.

    `syntax` is written as an instruction's, `kinds` says what each of its names
    may be. Each line of the expansion has its own address, `.`. With several
    alternatives the first is taken whose `when` accepts the value of the operand
    `choose`, which must be known when the line is laid out.

    A row that `overloads` shares its mnemonic with an instruction or with other
    such rows (`jal f`, `lw a0, symbol`); number and shape of the written
    operands choose among them (`codec.select`).
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
        found = []
        for item in filter(None, (text.strip() for text in self.syntax.split(","))):
            match = _SYNTAX.match(item)
            if not match or match[1] or match[3]:
                raise TableError(f"{self.mnemonic}: '{item}' is not an operand's syntax")
            name, inner = match[2], match[5]
            for word in filter(None, (name, inner)):
                if word not in self.kinds:
                    raise TableError(f"{self.mnemonic}: the operand {word} has no kind")
            found.append(PseudoOperand(name, self.kinds[name], 0 if inner else None))
            if inner:
                found.append(PseudoOperand(inner, self.kinds[inner], inside=name))
        return tuple(found)

    def check(self, mnemonics: Collection[str]) -> None:
        """Raise `TableError` unless the expansions use just its operands and known mnemonics."""
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


@dataclass(frozen=True)
class Member:
    """A field of a structure in memory. `type` is u8, u16, u32, i8, i16 or i32."""

    name: str
    type: str
    meaning: str
    kind: Kind | None = None
    default: int = 0

    @property
    def legal(self) -> Kind:
        """What may stand in it."""
        bits = 8 * _MEMBER_SIZES[self.type]
        return self.kind or Immediate(bits, signed=self.type.startswith("i"))


_MEMBER_SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4}


@dataclass(frozen=True, eq=False)
class Structure:
    """A record in memory, little-endian, members in order and without gaps.

    A member whose name starts with `reserved` must be zero. What follows the
    record (`then`) is said in words; its count stands in a member.
    """

    name: str
    members: tuple[Member, ...]
    meaning: str
    then: str = ""

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return sum(_MEMBER_SIZES[member.type] for member in self.members)

    @cached_property
    def offsets(self) -> Mapping[str, int]:
        """Byte offset of each member."""
        offsets, position = {}, 0
        for member in self.members:
            offsets[member.name] = position
            position += _MEMBER_SIZES[member.type]
        return offsets

    def check(self) -> None:
        names = [member.name for member in self.members]
        if len(set(names)) != len(names):
            raise TableError(f"structure {self.name}: a member stands twice")
        for member in self.members:
            if member.type not in _MEMBER_SIZES:
                raise TableError(f"structure {self.name}: {member.name} has no type {member.type}")


@dataclass(frozen=True)
class RegisterFile:
    """Registers of one kind: `names[i]` holds the printed name, then the aliases.

    `name` is also that of the field of the core's state that holds them.
    """

    name: str
    width: int  # bits
    names: tuple[tuple[str, ...], ...]
    meaning: str
    about: tuple[str, ...] = ()  # what each of them holds, where the meaning does not say it all


@dataclass(frozen=True)
class SpecialRegister:
    """A register with an address of its own: a CSR, a memory-mapped register."""

    name: str
    address: int
    access: str  # "rw", "ro"
    meaning: str
    width: int = 32


@dataclass(frozen=True)
class Memory:
    """A memory of a core's own: that of instance i begins at `base + (i << shift)`.

    `capacity` names the setting that says how many units of `unit` bytes it has; `{}` in it
    stands for the instance. With `instructions`, the core's parts lie there, where the loader puts them.
    """

    name: str
    base: int
    shift: int
    capacity: str
    meaning: str
    instructions: bool = False
    unit: int = 1

    def start(self, instance: int = 0) -> int:
        """Its first address."""
        return self.base + (instance << self.shift)

    def setting(self, instance: int = 0) -> str:
        """The setting that says how many units it has."""
        return self.capacity.format(instance)

    def bytes(self, config: Mapping[str, Any], instance: int = 0) -> int:
        """Its size on a device."""
        return int(config[self.setting(instance)]) * self.unit


@dataclass(frozen=True)
class Window:
    """A run of addresses behind which a core takes bytes (`in`) or gives them (`out`).

    They pass in the order of the accesses; which of its addresses one names is all the same.
    Who comes when the core can not take or give any waits. Tensors may be declared there
    (`at=NAME`), inputs where it takes and outputs where it gives, of whole multiples of
    `step(configuration)` bytes and of the type `element(configuration)` (empty: of any).
    That of instance i begins at `base + (i << shift)`.
    """

    name: str
    base: int
    shift: int
    size: int  # bytes
    direction: str  # "in", "out"
    meaning: str
    step: Callable[[Mapping[str, Any]], int] = lambda config: 1
    element: Callable[[Mapping[str, Any]], str] = lambda config: ""

    def start(self, instance: int = 0) -> int:
        """Its first address."""
        return self.base + (instance << self.shift)


@dataclass(frozen=True)
class Queue:
    """A bounded queue; `capacity` names the configuration field that bounds it."""

    name: str
    capacity: str
    meaning: str


@dataclass(frozen=True)
class Counter:
    """A number that only grows while a program runs; a `peak` is the highest value so far."""

    name: str
    meaning: str
    unit: str = ""
    peak: bool = False


@dataclass(frozen=True)
class Fault:
    """A way in which a program fails on this core."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Rule:
    """What instructions that follow one another have to keep."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Setting:
    """A field of a device configuration: dotted name, default, unit, legal range.

    `default` gives the type: bool, int, float or str. `low` and `high` bound a
    number, which is a multiple of `step`; `choices` are the words of a str, or, with `several`,
    of a set of them, blanks between.
    """

    name: str
    default: bool | int | float | str
    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    step: int = 1
    several: bool = False


@dataclass(frozen=True)
class Directive:
    """A directive that only this core's parts know; `asm/forms` holds its code."""

    name: str
    syntax: str
    meaning: str
    example: str = ""  # lines that assemble in such a part
    end: str = ""  # the directive that ends its body of instructions, if it has one


@dataclass(frozen=True, eq=False)
class Core:
    """Everything that is known about a core as data."""

    name: str
    title: str
    number: int  # core number of the first instance: addresses, masks, ties
    section: str  # ELF section of a part; `{}` is the row or island
    executable: bool  # the section holds instructions that a fetch reads
    instructions: tuple[Instruction, ...]
    pseudos: tuple[Pseudo, ...] = ()
    structures: tuple[Structure, ...] = ()
    directives: tuple[Directive, ...] = ()
    files: tuple[RegisterFile, ...] = ()
    specials: tuple[SpecialRegister, ...] = ()
    registers: tuple[SpecialRegister, ...] = ()  # memory-mapped, beside those that all cores have
    memories: tuple[Memory, ...] = ()
    windows: tuple[Window, ...] = ()
    queues: tuple[Queue, ...] = ()
    counters: tuple[Counter, ...] = ()
    faults: tuple[Fault, ...] = ()
    rules: tuple[Rule, ...] = ()
    settings: tuple[Setting, ...] = ()
    index: str = ""  # name of the part's index: "row", "island"
    called: bool = False  # instructions may be written as calls: `SetIterations(4)`
    base: str = ""  # the module of `isa` whose rows it extends; forms may be made for that
    order: tuple[str, ...] = field(default=())  # families in the manual's order

    @cached_property
    def by_mnemonic(self) -> Mapping[str, Instruction]:
        return {row.mnemonic: row for row in self.instructions}

    @cached_property
    def rows(self) -> Mapping[str, tuple[Row, ...]]:
        """Every row of a mnemonic, the instruction first; most have just one."""
        found: dict[str, list[Row]] = {}
        everything: tuple[Row, ...] = self.instructions + self.pseudos
        for row in everything:
            found.setdefault(row.mnemonic, []).append(row)
        return {mnemonic: tuple(rows) for mnemonic, rows in found.items()}

    @property
    def instruction_memory(self) -> Memory | None:
        """The memory in which the core's parts lie; None: in memory that all share."""
        return next((item for item in self.memories if item.instructions), None)

    def structure(self, name: str) -> Structure:
        """The structure of that name; KeyError if there is none."""
        for item in self.structures:
            if item.name == name:
                return item
        raise KeyError(name)


def _check_forms(core: Core, mnemonic: str, rows: tuple[Row, ...]) -> None:
    """Raise `TableError` if two rows of a mnemonic take the same shape of operands."""
    if len(rows) == 1 and isinstance(rows[0], Pseudo) and rows[0].overloads:
        raise TableError(f"{core.name}: {mnemonic} overloads no other row")
    shapes = set()
    for row in rows:
        shape = tuple(
            (bool(operand.inside), operand.kind if operand.kind.by_name else None)
            for operand in row.operands
        )
        if shape in shapes:
            raise TableError(f"{core.name}: two rows of {mnemonic} take the same operands")
        shapes.add(shape)


def checked(core: Core) -> Core:
    """Return `core`, or raise `TableError`: overlaps, unspecified bits, duplicates, no meaning."""

    def unique(what: str, names: Iterable[str]) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise TableError(f"{core.name}: {what} {name} is declared twice")
            seen.add(name)

    alone = [row.mnemonic for row in core.pseudos if not row.overloads]
    unique("mnemonic", [row.mnemonic for row in core.instructions] + alone)
    unique("structure", (row.name for row in core.structures))
    unique("queue", (row.name for row in core.queues))
    unique("counter", (row.name for row in core.counters))
    unique("rule", (row.name for row in core.rules))
    unique("fault", (row.name for row in core.faults))
    unique("setting", (row.name for row in core.settings))
    unique("special register", (row.name for row in core.specials))
    unique("memory or window", [x.name for x in core.memories] + [x.name for x in core.windows])
    unique("memory-mapped register", (row.name for row in core.registers))
    unique("memory-mapped register at", (f"{row.address:#x}" for row in core.registers))
    for window in core.windows:
        if window.direction not in ("in", "out"):
            raise TableError(f"{core.name}: the window {window.name} is neither in nor out")
    unique(
        "register",
        (name for file in core.files for names in file.names for name in names),
    )
    for row in core.instructions:
        try:
            row.check()
        except TableError as error:
            raise TableError(f"{core.name}: {error}") from None
    for pseudo in core.pseudos:
        try:
            pseudo.check(core.by_mnemonic)
        except TableError as error:
            raise TableError(f"{core.name}: {error}") from None
    for mnemonic, rows in core.rows.items():
        _check_forms(core, mnemonic, rows)
    for structure in core.structures:
        structure.check()
    for first, second in combinations(core.instructions, 2):
        common = first.mask & second.mask
        if first.format.width == second.format.width and not (first.match ^ second.match) & common:
            raise TableError(f"{core.name}: {first.mnemonic} and {second.mnemonic} overlap")
    declared: tuple[Memory | Window | Queue | Counter | Fault | Rule | Setting, ...] = (
        core.memories
        + core.windows
        + core.queues
        + core.counters
        + core.faults
        + core.rules
        + core.settings
    )
    for counted in declared:
        if not counted.meaning:
            raise TableError(f"{core.name}: {counted.name} has no meaning")
    return core
