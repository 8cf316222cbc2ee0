"""Gives names to addresses for a disassembly: the program's symbols, or new labels."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from macaw.asm import columns
from macaw.asm.program import Program, Section, Symbol, natural_sizes
from macaw.isa.lazy_pattern import lazy_pattern

# Names that the grammar accepts without quotes.
_NAME = lazy_pattern(r"[A-Za-z_$][A-Za-z0-9_.$]*|\.[A-Za-z_.$][A-Za-z0-9_.$]*")
_TYPES = {"func": "function", "object": "object", "notype": "notype"}  # as GNU as names them
INDENT = " " * columns.STATEMENT


def default_kind(section: Section | None) -> str:
    """Return the type that a symbol in `section` has if no `.type` directive gives a type."""
    if section is None:
        return "notype"
    return "func" if section.flags == "ax" else "object"


def directive(text: str) -> str:
    """Return a directive as a source line: indented, with its operands in their column."""
    return INDENT + columns.statement(text)


def in_body(text: str) -> str:
    """Return an instruction as a source line with the indentation of a body, as in `.seq`."""
    return " " * columns.BODY + columns.statement(text, columns.BODY)


class Names:
    """The names that the disassembly gives to symbols: unique, and accepted by the grammar."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._names: dict[Symbol, str] = {}
        self._taken: set[str] = set()
        self.notes: list[str] = []
        for symbol in symbols:
            self._names[symbol] = self._free(symbol.name)

    def _free(self, original: str) -> str:
        """Return an unused name similar to `original`.

        If the result differs from `original`, add a note for the listing.
        """
        name = original
        is_plain = _NAME.fullmatch(name) is not None
        if not is_plain and not (name and name.isprintable()):
            name, is_plain = re.sub(r"[^A-Za-z0-9_.$]|^\.?[0-9]", "_", name) or "_", True
        number = 1
        base = name
        while name in self._taken:
            number += 1
            name = f"{base}.{number}"
        self._taken.add(name)
        written = name if is_plain else '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
        if name != original:
            self.notes.append(f"# {written} is called {original!r} in the file")
        return written

    def of(self, symbol: Symbol) -> str:
        """Return the name with which the disassembly prints a symbol of the program."""
        return self._names[symbol]

    def local(self, address: int) -> str:
        """Return a new name for an address; the assembler does not put it into the symbol table."""
        return self._free(f".L{address:x}")


class Labels:
    """The names of addresses in one section, and the source lines that define these names."""

    def __init__(self, section: Section, program: Program, names: Names) -> None:
        self._section = section
        self._names = names
        inside = (item.value for item in program.symbols if item.section == section.name)
        self._sizes = natural_sizes(section, inside)
        self._made: dict[int, str] = {}
        self._symbols: dict[int, list[Symbol]] = {}
        self._outside: list[Symbol] = []
        for symbol in program.symbols:
            if symbol.section != section.name:
                continue
            if section.address <= symbol.value <= section.end:
                self._symbols.setdefault(symbol.value, []).append(symbol)
            else:
                self._outside.append(symbol)
        self._values = sorted(self._symbols)

    def make(self, address: int) -> None:
        """Give `address` a new label if it has no name."""
        if address not in self._symbols and address not in self._made:
            self._made[address] = self._names.local(address)

    def at(self, address: int) -> str | None:
        """Return a name of exactly this address; None if the address has no name."""
        if address in self._symbols:
            return self._names.of(self._symbols[address][0])
        return self._made.get(address)

    def symbols_at(self, address: int) -> tuple[Symbol, ...]:
        """Return the program's symbols whose value is exactly this address."""
        return tuple(self._symbols.get(address, ()))

    def covering(self, address: int) -> str | None:
        """Return `address` as text relative to the symbol that contains it: `name` or `name + 4`.

        Return None if there is no such symbol.
        """
        place = bisect_right(self._values, address) - 1
        if place < 0:
            return None
        symbol = self._symbols[self._values[place]][0]
        distance = address - symbol.value
        if distance >= symbol.size:
            return None
        return self._names.of(symbol) + (f" + {distance}" if distance else "")

    def addresses(self) -> list[int]:
        """Return all addresses that have a name, ascending."""
        return sorted({*self._symbols, *self._made})

    def first(self) -> list[str]:
        """Return the lines that define symbols whose addresses are outside of their section.

        The caller prints these lines before the section's contents.
        """
        lines = []
        for symbol in self._outside:
            lines += self._about(symbol, size=0)
            distance = symbol.value - self._section.address
            lines.append(directive(f".set {self._names.of(symbol)}, . + {distance}"))
        return lines

    def lines(self, address: int, reach: int = 1) -> list[str]:
        """Return the lines that define the names of the `reach` bytes that begin at `address`.

        If a name belongs to a byte inside of an instruction, the line defines the name relative to
        the instruction's address.
        """
        lines = []
        for place in range(address, address + reach):
            for symbol in self._symbols.get(place, ()):
                lines += self.about(symbol)
                name = self._names.of(symbol)
                inside = directive(f".set {name}, . + {place - address}")
                lines.append(f"{name}:" if place == address else inside)
            if place in self._made:
                lines.append(f"{self._made[place]}:")
        return lines

    def about(self, symbol: Symbol, size: int | None = None) -> list[str]:
        """Return the `.global` or `.weak`, `.type` and `.size` lines that a symbol needs.

        `size` is the size in bytes that the assembler gives the symbol without a `.size` line; by
        default it is the distance to the next symbol or to the section's end. A line that would
        change nothing is left out.
        """
        return self._about(symbol, self._sizes[symbol.value] if size is None else size)

    def relative_definition(self, symbol: Symbol, base: int) -> list[str]:
        """Return the lines that define a symbol relative to the name of `base`, a lower address."""
        name = f"{self.at(base)} + {symbol.value - base}"
        return [*self.about(symbol), directive(f".set {self._names.of(symbol)}, {name}")]

    def _about(self, symbol: Symbol, size: int) -> list[str]:
        name, lines = self._names.of(symbol), []
        if symbol.is_global:
            lines.append(directive(f"{_binding(symbol)} {name}"))
        if symbol.kind != default_kind(self._section):
            lines.append(directive(f".type {name}, {_TYPES[symbol.kind]}"))
        if symbol.size != size:
            lines.append(directive(f".size {name}, {symbol.size}"))
        return lines


def _binding(symbol: Symbol) -> str:
    """Return the directive that makes a symbol global or weak."""
    return ".weak" if symbol.is_weak else ".global"


def numbers(program: Program, names: Names) -> list[str]:
    """Return the lines that define those symbols of the program whose values are plain numbers."""
    lines = []
    for symbol in program.symbols:
        if symbol.section is None:
            name = names.of(symbol)
            if symbol.is_global:
                lines.append(directive(f"{_binding(symbol)} {name}"))
            if symbol.kind != "notype":
                lines.append(directive(f".type {name}, {_TYPES[symbol.kind]}"))
            if symbol.size:
                lines.append(directive(f".size {name}, {symbol.size}"))
            value = symbol.value if symbol.value < 1 << 31 else symbol.value - (1 << 32)
            lines.append(directive(f".set {name}, {value}"))
    return lines
