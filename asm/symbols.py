"""Symbols: the values of names, in one file or shared by all files.

A symbol that is set several times has several definitions. A use refers to the latest definition
before it. A use before all definitions refers to the first one, as in GNU as.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from macaw.asm.expressions import Address, Context
from macaw.asm.layout import Area, SectionPlan
from macaw.asm.source import LogicalLine
from macaw.asm.syntax import Name, Node
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Datum:
    """The type of the data at an address, as the data's directive declares it.

    `what` is "array", "tensor", "sparse", "dense", "tiles", "sequence" or "list".

    An array or tensor has an element type and a shape. A matrix of weights (`.sparse`, `.dense`)
    also has `rounds`, the (offset, length) in bytes of each round, and `records`, the number of
    matrix rows in each round.
    """

    what: str  # "array", "tensor", "sparse", "dense", "tiles", "sequence", "list"
    size: int  # bytes
    dtype: str = ""
    shape: tuple[int, ...] = ()
    rounds: tuple[tuple[int, int], ...] = ()
    records: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Deferred:
    """A value that is known only after the layout: its expression, with context and line."""

    node: Node
    context: Context
    line: LogicalLine


PRIVATE = ".L"  # begins the names that the symbol table of the object file omits


@dataclass(slots=True, eq=False)
class Definition:
    """One definition of a symbol.

    The name is in the text of `line`, from offset `start` up to `end`. `value` is None until the
    symbol has an address. A symbol that is no label (`is_label`) may be set again. `is_bad` is true
    if the line that defines the symbol is wrong. `size` is in bytes; if it is None, the symbol
    extends to the next one. `kind` is "func", "object" or "notype", or empty if it follows from the
    section. If `is_weak`, a definition of the name in another file replaces this one. `formula` is
    the expression of an `.eqv`, which each use evaluates again.
    """

    name: str
    line: LogicalLine
    start: int  # of the name in its line's text
    end: int
    value: int | Address | Deferred | None = None
    is_label: bool = True  # else it is a symbol that may be set again
    is_bad: bool = False
    is_used: bool = False
    size: int | None = None  # bytes, as its directive or `.size` says; None: up to the next symbol
    kind: str = ""  # "func", "object", "notype"; empty: by its section
    datum: Datum | None = None
    is_weak: bool = False  # another file's definition of the name replaces it
    formula: Node | None = None  # of `.eqv`: each use computes it anew

    @property
    def is_private(self) -> bool:
        """Whether the symbol table of the object file omits the symbol (`.L...`)."""
        return self.name.startswith(PRIVATE)

    @property
    def area(self) -> Area | None:
        """The area of the symbol's address; None if its value is not an address."""
        value = self.value
        return value.area if isinstance(value, Address) and isinstance(value.area, Area) else None

    def place(self, area: Area, offset: int, datum: Datum | None) -> None:
        """Set the symbol's address to `offset` of `area`, and the type of its data to `datum`.

        If `datum` is not None, also set the symbol's size.
        """
        self.value, self.datum = Address(area, offset), datum
        if datum is not None:
            self.size = datum.size

    def with_value(self, value: int | Address | Deferred) -> Definition:
        """Return a copy of the definition with another value."""
        return Definition(
            self.name, self.line, self.start, self.end, value, self.is_label, self.is_bad,
            self.is_used, self.size, self.kind, self.datum, self.is_weak,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorSymbol:
    """A named tensor.

    `direction` is "input" or "output", `home` the name after `at=` or None, and `plan` the tensor's
    section.
    """

    definition: Definition
    direction: str
    home: Name | None
    plan: SectionPlan

    @property
    def at(self) -> str:
        """The name of the tensor's memory as in `at=`; empty for external memory."""
        return self.home.text if self.home is not None else ""


@dataclass(eq=False)
class Scope:
    """The symbols of one file.

    `symbols` has the latest definition of each name; for symbols that are set several times,
    `first` has the first definition. `numbered` has the local labels such as `1:`, as (ordinal of
    the statement, definition). `exports` are the names in the file's `.global` and `.weak` lines
    with their positions, `local` its `.local` names, and `weak` its `.weak` names. A weak name
    needs no definition, and a definition in another file has priority over one in this file. If
    `is_compiled`, a compiler wrote the file, and its unused labels cause no warnings.
    """

    table: SymbolTable
    file: str = ""  # its name without folder
    symbols: dict[str, Definition] = field(default_factory=dict)
    first: dict[str, Definition] = field(default_factory=dict)  # of symbols set several times
    exports: dict[str, tuple[LogicalLine, int, int]] = field(default_factory=dict)
    numbered: dict[int, list[tuple[int, Definition]]] = field(default_factory=dict)
    weak: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)  # names in `.local` lines
    common: set[str] = field(default_factory=set)  # names in `.comm` lines
    # Symbols of other files whose numbers lines of this file have used, while it was read.
    borrowed: dict[str, Definition] = field(default_factory=dict)
    is_compiled: bool = False  # a compiler wrote the file, whose unused labels cause no warnings

    def find(self, name: str) -> Definition | None:
        """Return the symbol `name` of this file or, failing that, the one that another file shares.

        A shared symbol has priority over a weak symbol of this file. A `.local` name never means
        the symbol of another file.
        """
        own = self.symbols.get(name)
        if name in self.local or (own is not None and not own.is_weak):
            return own
        return self.table.shared.get(name, own)

    def used_symbol(self, name: str) -> Definition | None:
        """Return the file's own symbol of that name and mark it as used; None if there is none."""
        symbol = self.symbols.get(name)
        if symbol is not None:
            symbol.is_used = True
        return symbol

    def following(self, name: str) -> Definition | None:
        """Return the first definition of a name, for a use before all definitions.

        Return None if the name has no definition.
        """
        return self.first.get(name) or self.find(name)

    def clash(self, name: str) -> Definition | None:
        """Return the definition that forbids another definition of `name`.

        Return None if `name` may be defined. A symbol of another file forbids it, too, if lines of
        this file have used its number: they would mean the later definition.
        """
        own = self.symbols.get(name)
        symbol = own
        if own is None and name not in self.weak:
            symbol = self.borrowed.get(name)
            if name in self.exports:
                symbol = self.table.shared.get(name)
                if symbol is not None and symbol.is_weak:
                    symbol = None
        return None if symbol is not None and symbol.is_bad else symbol

    def is_restricted(self, name: str) -> bool:
        """Return whether a definition of `name` must look at the symbols of other files."""
        return name in self.exports or name in self.borrowed

    def is_borrowed(self, name: str) -> bool:
        """Return whether lines of this file mean another file's symbol with `name`."""
        return name in self.borrowed and name not in self.symbols and name not in self.exports

    def define(self, definition: Definition) -> None:
        """Add a definition, which replaces an older definition of the same name."""
        before = self.symbols.get(definition.name)
        if before is not None:
            self.first.setdefault(before.name, before)
        self.symbols[definition.name] = definition
        definition.is_weak = definition.name in self.weak
        if definition.name in self.exports:
            self._share(definition)

    def _share(self, definition: Definition) -> None:
        """Share a definition among all files, unless it is weak and the name is shared already."""
        shared = self.table.shared.get(definition.name)
        if not definition.is_weak or shared is None or shared is self.first.get(definition.name):
            self.table.shared[definition.name] = definition

    def export(self, name: str, line: LogicalLine, start: int, end: int) -> Definition | None:
        """Share `name` among all files, as a `.global` or `.weak` requests.

        The directive names it in the text of `line`, from offset `start` up to `end`. Return the
        definition of another file that already shares the name, else None.
        """
        self.exports.setdefault(name, (line, start, end))
        own, shared = self.symbols.get(name), self.table.shared.get(name)
        if own is None:
            return None
        if shared is not None and shared is not own and not (own.is_weak or shared.is_weak):
            return shared
        self._share(own)
        return None

    def weaken(self, name: str, line: LogicalLine, start: int, end: int) -> None:
        """Share `name` among all files as a weak symbol, as the `.weak` in `line` requests."""
        self.weak.add(name)
        own = self.symbols.get(name)
        if own is not None:
            own.is_weak = True
        self.export(name, line, start, end)

    def number(self, number: int, ordinal: int, definition: Definition) -> None:
        """Add the local label `number:` of the statement with this ordinal."""
        self.numbered.setdefault(number, []).append((ordinal, definition))

    def latest(self, number: int) -> Definition | None:
        """Return the last local label `number:` so far; None if there is none."""
        labels = self.numbered.get(number)
        return labels[-1][1] if labels else None

    def numbered_near(self, number: int, ordinal: int, forward: bool) -> Definition | None:
        """Return the local label to which a use in the statement `ordinal` refers.

        If `number` is 1, the use is `1f` if `forward`, else `1b`.
        """
        labels = self.numbered.get(number, [])
        place = bisect_right(labels, ordinal, key=lambda item: item[0])
        if not forward:
            place -= 1
        return labels[place][1] if 0 <= place < len(labels) else None


@dataclass(eq=False)
class SymbolTable:
    """The symbols of all files of a run.

    `scopes` has the symbols of each file. `shared` has, by name, the symbols that all files share.
    """

    scopes: list[Scope] = field(default_factory=list)
    shared: dict[str, Definition] = field(default_factory=dict)

    def scope(self, file: str) -> Scope:
        """Add and return the scope of a new file, whose name without folder is `file`."""
        self.scopes.append(Scope(self, file))
        return self.scopes[-1]


@dataclass(frozen=True, slots=True)
class CommonSymbol:
    """A `.comm` of a file: `size` zero bytes for a symbol, at a multiple of `align`.

    The name is in the text of `line`, from offset `start` up to `end`. If a file defines the symbol
    otherwise, the bytes are not allocated.
    """

    name: str
    scope: Scope
    line: LogicalLine
    start: int  # of the name in its line's text
    end: int
    size: int
    align: int

    @property
    def is_local(self) -> bool:
        """Whether the symbol is private to its file, because of a `.local`."""
        return self.name in self.scope.local
