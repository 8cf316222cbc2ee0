"""The row types of a core's table: registers, memories, queues, counters, faults, settings, ...

Each core has one `Core` value, declared in a module of its own (`isa/cp.py`, `isa/pe.py`). Encoder,
decoder, disassembler, operand checks, `macaw isa`, the debugger's panels and the manual read its
rows and do not repeat them. `checked` rejects a table with overlapping patterns, unspecified bits
or duplicate names. A `Core`, its descriptor and its `Structure` rows are compared by identity, all
other rows by their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

from macaw.isa.kinds import Immediate, Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.rows import Instruction, Pseudo, Row, TableError


@dataclass(frozen=True)
class Member:
    """A member of a structure in memory. Its `type` is u8, u16, u32, i8, i16 or i32.

    `kind` restricts the legal values, unless it is None.
    """

    name: str
    type: str
    meaning: str
    kind: Kind | None = None  # restricts the legal values; None: all values of the type
    default: int = 0  # the value in a record for which a source gives none

    @property
    def legal(self) -> Kind:
        """The operand kind that defines the member's legal values."""
        bits = 8 * _MEMBER_SIZES[self.type]
        return self.kind or Immediate(bits, signed=self.type.startswith("i"))


_MEMBER_SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4}


@dataclass(frozen=True, eq=False)
class Structure:
    """A record in memory: little-endian, its members in order and without gaps.

    A member whose name starts with `reserved` must be zero. `then` says in words which data follow
    the record in memory; empty if none do.
    """

    name: str
    members: tuple[Member, ...]
    meaning: str
    then: str = ""

    @cached_property
    def size(self) -> int:
        """The size of the record in bytes."""
        return sum(_MEMBER_SIZES[member.type] for member in self.members)

    @cached_property
    def offsets(self) -> Mapping[str, int]:
        """The byte offset of each member, by name."""
        offsets, position = {}, 0
        for member in self.members:
            offsets[member.name] = position
            position += _MEMBER_SIZES[member.type]
        return offsets

    def check(self) -> None:
        names = [member.name for member in self.members]
        if len(set(names)) != len(names):
            raise TableError(f"structure {self.name}: a member occurs twice")
        for member in self.members:
            if member.type not in _MEMBER_SIZES:
                raise TableError(f"structure {self.name}: {member.name} has no type {member.type}")


@dataclass(frozen=True)
class RegisterFile:
    """Registers of one kind. `names[i]` contains the printed name of register i, then its aliases.

    The field of the core's state that contains the registers has the same `name`. If `about` is not
    empty, it says what each register contains. A debugger shows `signed` registers with a sign.
    """

    name: str
    width: int  # bits
    names: tuple[tuple[str, ...], ...]
    meaning: str
    about: tuple[str, ...] = ()  # what each register contains, if the meaning does not say it
    signed: bool = False  # a debugger shows them as signed numbers


@dataclass(frozen=True)
class SpecialRegister:
    """A register with an address: a CSR or a memory-mapped register. `access` is "rw" or "ro"."""

    name: str
    address: int
    access: str  # "rw", "ro"
    meaning: str
    width: int = 32  # bits


@dataclass(frozen=True)
class Memory:
    """A memory that belongs to a core.

    A device may have several instances of the core: the rows of pe, the islands of fim. The memory
    of instance i begins at `base + (i << shift)`.

    Its size is the value of the setting `capacity`, in units of `unit` bytes. If the setting's name
    contains `{}`, the number of the instance replaces it. If `instructions` is true, the loader
    puts the core's parts of a program into this memory.
    """

    name: str
    base: int
    shift: int
    capacity: str
    meaning: str
    instructions: bool = False
    unit: int = 1

    def start(self, instance: int) -> int:
        """Return the first address of the instance's memory."""
        return self.base + (instance << self.shift)

    def setting(self, instance: int) -> str:
        """Return the name of the setting that has the size of an instance's memory.

        The value of the setting counts units of `unit` bytes.
        """
        return self.capacity.format(instance)

    def bytes(self, config: Mapping[str, Any], instance: int) -> int:
        """Return the size in bytes of an instance's memory in the configuration `config`."""
        return int(config[self.setting(instance)]) * self.unit


@dataclass(frozen=True)
class Window:
    """A range of addresses at which a core takes bytes (`in`) or gives bytes (`out`).

    The core takes or gives the bytes in the order of the accesses; the address within the window
    has no effect. An access waits until the core can take or give bytes. The window of instance i
    begins at `base + (i << shift)`.

    With `at=NAME` a source declares tensors for the window: inputs if the core takes bytes there,
    outputs if it gives them. The size of a tensor must be a multiple of `step(configuration)`
    bytes. Its type must be `element(configuration)`; an empty text allows every type.
    """

    name: str
    base: int
    shift: int
    size: int  # bytes
    direction: str  # "in", "out"
    meaning: str
    step: Callable[[Mapping[str, Any]], int] = lambda config: 1
    element: Callable[[Mapping[str, Any]], str] = lambda config: ""

    def start(self, instance: int) -> int:
        """Return the first address of the instance's window."""
        return self.base + (instance << self.shift)


@dataclass(frozen=True)
class Queue:
    """A queue of a core. The setting `capacity` has the greatest number of its entries.

    `contents`, `high` and `head` say where the core's state and counters have its fill level, its
    greatest fill level so far, and the index of its first entry.
    """

    name: str
    capacity: str
    meaning: str
    # The field of the core's state with its fill level: a count, a list, or one mark per entry.
    contents: str
    high: str = ""  # the counter of its greatest fill level
    head: str = ""  # if it is a ring with a count: the field with the index of its first entry


@dataclass(frozen=True)
class Counter:
    """A number that never decreases during a run: a count, or with `peak` the maximum so far."""

    name: str
    meaning: str
    unit: str = ""  # what is counted, such as "bytes"
    peak: bool = False


@dataclass(frozen=True)
class Event:
    """An event of a core for which a debugger can wait (`catch NAME`).

    `announced` is the kind of the announcement with which the core reports the event
    (`macaw.emu.core`). If `announced` is empty, rules of the debugger derive the event from changes
    of the state. The reference engine reports each event in the cycle in which it happens. If
    `late`, the fast engines report it only at their next stop.
    """

    name: str
    meaning: str
    announced: str = ""
    late: bool = False


@dataclass(frozen=True)
class Fault:
    """A kind of error with which a program on this core can stop the device."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Rule:
    """A condition that consecutive instructions of a core must satisfy."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Setting:
    """A setting of a device: its dotted name, default, unit and legal range.

    The type of `default` is the type of the setting: bool, int, float or str. A number must be
    between `low` and `high` and a multiple of `step`. A str must be one of the words `choices`;
    with `several` it is a set of these words, separated by blanks.
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
    """A directive that only the parts of this core accept. Its code is in `asm/forms`.

    If a body of instructions follows the directive, `end` is the directive that ends the body. The
    operands `name=` set members of `structures`.
    """

    name: str
    syntax: str
    meaning: str
    example: str = ""  # lines that assemble in a part of the core
    end: str = ""  # the directive that ends its body of instructions, if it has one
    structures: tuple[str, ...] = ()  # the structures whose members its operands `name=` set


@dataclass(frozen=True)
class AddressUnit:
    """A unit in which a core counts addresses of external memory, from the memory's start.

    In expressions of a source, the function `name` converts the address of a symbol to this unit.
    `size` returns the number of bytes of one unit, for a configuration.
    """

    name: str
    title: str
    size: Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True, eq=False)
class CoreDescriptor:
    """The data about a core that is needed even if a program has no part for the core.

    These data are names, numbers and settings; `Core` adds the instructions and other tables.
    `base` is the module of `isa` with rows that the core shares with others. `index` is what a
    part's number means: "row", "island", or empty if the core has only one part. `number` is the
    core number of the first instance. `section` is the ELF section of a part, with `{}` for the
    row or island. Each of `agreements` checks settings against each other.
    """

    name: str
    title: str  # the name in full
    number: int  # core number of the first instance: in addresses, masks, and orders of cores
    section: str  # ELF section of a part; `{}` is the row or island
    executable: bool  # the section holds instructions that a fetch reads
    base: str = ""  # the module of `isa` whose rows the table extends; it may have forms too
    index: str = ""  # name of the part's index: "row", "island"
    settings: tuple[Setting, ...] = ()
    # Checks of settings against each other: each returns a sentence about a contradiction in a
    # configuration, or an empty text.
    agreements: tuple[Callable[[Mapping[str, Any]], str], ...] = ()
    address_units: tuple[AddressUnit, ...] = ()


@dataclass(frozen=True, eq=False)
class Core(CoreDescriptor):
    """The table of a core: everything that Macaw knows about it as data.

    `specials` are control and status registers, `registers` memory-mapped ones. A running core
    reports events by announcements (`macaw.emu.core`): `begins` are the kinds at which a breakpoint
    can stop, `piece` is the kind at the end of a piece of work. `levels` names the units in the
    core, the outermost first. `carried` has the legal words for operands outside of the instruction
    word. If `called`, a source may write instructions as calls. `unit` says what a compute unit and
    its use are. `row` orders the rows of a timeline, `order` the families in the manual.
    """

    instructions: tuple[Instruction, ...] = ()
    pseudos: tuple[Pseudo, ...] = ()
    structures: tuple[Structure, ...] = ()
    directives: tuple[Directive, ...] = ()
    files: tuple[RegisterFile, ...] = ()
    specials: tuple[SpecialRegister, ...] = ()
    registers: tuple[SpecialRegister, ...] = ()  # memory-mapped, except those of all cores
    memories: tuple[Memory, ...] = ()
    windows: tuple[Window, ...] = ()
    queues: tuple[Queue, ...] = ()
    counters: tuple[Counter, ...] = ()
    faults: tuple[Fault, ...] = ()
    events: tuple[Event, ...] = ()  # except those of all cores (`macaw.isa.common.EVENTS`)
    # Kinds of announcements at which a breakpoint can stop: the start of something with an address.
    begins: tuple[str, ...] = ("instruction",)
    # The kind of the announcement that ends a piece of work longer than an instruction, such as a
    # transfer. If its `left` is not 0, the piece has ended only for the unit that announces it.
    piece: str = ""
    rules: tuple[Rule, ...] = ()
    row: int = 1 << 16  # orders the rows of a timeline (seed 001 Fig. 5: COP0 to COP5)
    levels: tuple[str, ...] = ()  # the units inside of a core, outer first: "cluster", "pe"
    # The legal words in an operand's value, by the operand's form: `data=` takes `weights`, ...
    # A form after a mnemonic, `config data=`, is for that instruction alone.
    carried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    called: bool = False  # instructions may be written as calls: `SetIterations(4)`
    unit: str = ""  # what a compute unit is, and what counts as a use of it (`macaw.isa.trace`)
    order: tuple[str, ...] = field(default=())  # families in the manual's order

    @cached_property
    def by_mnemonic(self) -> Mapping[str, Instruction]:
        return {row.mnemonic: row for row in self.instructions}

    @cached_property
    def rows(self) -> Mapping[str, tuple[Row, ...]]:
        """The table rows of each mnemonic, instructions before pseudo-instructions.

        Most mnemonics have one row.
        """
        by_mnemonic: dict[str, list[Row]] = {}
        everything: tuple[Row, ...] = self.instructions + self.pseudos
        for row in everything:
            by_mnemonic.setdefault(row.mnemonic, []).append(row)
        return {mnemonic: tuple(rows) for mnemonic, rows in by_mnemonic.items()}

    @property
    def instruction_memory(self) -> Memory | None:
        """The core's own memory for its parts of a program; None if these are in shared memory."""
        return next((item for item in self.memories if item.instructions), None)

    def structure(self, name: str) -> Structure:
        """Return the structure of that name. Raises `KeyError` if there is none."""
        for item in self.structures:
            if item.name == name:
                return item
        raise KeyError(name)


def _check_forms(core: Core, mnemonic: str, rows: tuple[Row, ...]) -> None:
    """Raise `TableError` if two rows of a mnemonic look the same in a source.

    Two rows differ in a source if they have different numbers of operands, brackets at different
    operands, or an operand that takes other words. Also raise the error if the only row of a
    mnemonic is marked `overloads`.
    """
    if len(rows) == 1 and isinstance(rows[0], Pseudo) and rows[0].overloads:
        raise TableError(f"{core.name}: {mnemonic} overloads no other row")
    if len(rows) == 1:
        return
    shapes = set()
    for row in rows:
        shape = tuple(
            (bool(operand.inside), operand.kind if operand.kind.by_name else None)
            for operand in row.operands
        )
        if shape in shapes:
            raise TableError(f"{core.name}: two rows of {mnemonic} take the same operands")
        shapes.add(shape)


def _check_overlaps(core: Core) -> None:
    """Raise `TableError` if there is a word that two instructions match.

    Two rows overlap if they agree in the bits that both fix. The function compares pairs of masks,
    not of rows, because few different masks occur.
    """
    by_mask: dict[tuple[int, int], list[Instruction]] = {}
    for row in core.instructions:
        by_mask.setdefault((row.format.width, row.mask), []).append(row)
    for (width, mask), (other_width, other_mask) in combinations_with_replacement(by_mask, 2):
        if width != other_width:
            continue
        seen = {row.match & other_mask: row for row in by_mask[width, mask]}
        for row in by_mask[other_width, other_mask]:
            same = seen.get(row.match & mask, row)
            if same is not row:
                first, second = sorted((same, row), key=core.instructions.index)
                raise TableError(f"{core.name}: {first.mnemonic} and {second.mnemonic} overlap")


def checked(core: Core) -> Core:
    """Check a core's table and return it.

    Raises `TableError` for overlapping patterns, unspecified bits, duplicate names and similar
    errors.
    """
    _check_names(core)
    for window in core.windows:
        if window.direction not in ("in", "out"):
            raise TableError(f"{core.name}: the window {window.name} is neither in nor out")
    _check_instructions(core)
    for structure in core.structures:
        structure.check()
    _check_overlaps(core)
    _check_meanings(core)
    return core


def _check_names(core: Core) -> None:
    """Raise `TableError` if two rows of the same kind have the same name.

    A memory and a window must not have the same name either, nor two memory-mapped registers the
    same address. Only rows that overload a mnemonic may share it with other rows.
    """

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
    unique("event", (row.name for row in core.events))
    unique("setting", (row.name for row in core.settings))
    unique("special register", (row.name for row in core.specials))
    unique("memory or window", [x.name for x in core.memories] + [x.name for x in core.windows])
    unique("memory-mapped register", (row.name for row in core.registers))
    unique("memory-mapped register at", (f"{row.address:#x}" for row in core.registers))
    unique(
        "register",
        (name for file in core.files for names in file.names for name in names),
    )


def _check_instructions(core: Core) -> None:
    """Raise `TableError` for an error in a format, an instruction or a pseudo-instruction."""
    try:
        for form in dict.fromkeys(row.format for row in core.instructions):
            form.check()
        for row in core.instructions:
            row.check()
        for pseudo in core.pseudos:
            pseudo.check(core.by_mnemonic)
    except TableError as error:
        raise TableError(f"{core.name}: {error}") from None
    for mnemonic, rows in core.rows.items():
        _check_forms(core, mnemonic, rows)


def _check_meanings(core: Core) -> None:
    """Raise `TableError` for an empty meaning.

    The function checks memories, windows, queues, counters, faults, rules and settings. The classes
    of instructions and pseudo-instructions check theirs.
    """
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
