"""A program: the data that the assembler makes and the device loads.

Addresses have 32 bits. An ELF file (`asm/elf.py`) stores all fields that the comparison of programs
uses. So two programs are equal if their files are equal. Of the fields with `compare=False`, the
file stores only lines, arrays and copies of tensors, for debugging.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from operator import attrgetter, sub

from macaw.asm.lines import Line as Line
from macaw.asm.lines import LineTable as LineTable
from macaw.asm.network import ProgramLayer, ProgramNetwork
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

# The version of the note that is written. Version 2 has what docs/format-pe.md lists for pe; files
# of version 1 mean the same as before.
NOTE_VERSION = 2

# Bytes of an element, by the element type of a named tensor.
DTYPE_SIZES = {
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "bfloat16": 2,
}
DIRECTIONS = ("input", "output")
PLACES = ("array", "copy")  # directions of arrays of parts, and of copies of tensors in parts
SYMBOL_KINDS = ("notype", "object", "func")
TENSORS = ".tensors"  # the section of named tensors; their declarations make it
MAX_ALIGN = 1 << 16  # of a section, in bytes; it bounds the padding in a file


@dataclass(frozen=True, slots=True)
class Section:
    """A contiguous piece of memory of `size` bytes. `data` is the contents; empty for zeros.

    `core` and `index` are the core and the row or island of the part to which it belongs. `flags`
    are "ax" for instructions, "aw" for data, and "a" for what cp neither fetches nor writes. The
    core uses `address`; the loader puts the bytes at `load_address`.
    """

    name: str
    core: str | None  # name of the part's core; None: data of no core
    index: int | None  # row or island of the core
    address: int  # address as its core sees it
    load_address: int  # address at which the loader puts it
    data: bytes
    size: int
    align: int
    flags: str  # "ax" instructions, "aw" data, "a" neither fetched nor written by cp

    @property
    def end(self) -> int:
        """The first address after the section."""
        return self.address + self.size

    @property
    def nobits(self) -> bool:
        """Whether the section contains only zeros, which the file does not store."""
        return self.size > len(self.data)

    def holds(self, address: int) -> bool:
        """Return whether `address`, as the section's core uses it, is in the section."""
        return self.address <= address < self.end


class Symbol(NamedTuple):
    """A name for a value. If `section` is None, the value is a number (`.equ`), not an address.

    `kind` is "func", "object" or "notype". If `is_weak` is true, the symbol is global, and a linker
    prefers a definition in another object.
    """

    name: str
    value: int  # 32 bits, unsigned
    size: int  # bytes
    section: str | None
    kind: str  # "func", "object", "notype"
    is_global: bool
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named input or output, an array of a part, or a part's copy of an input or output.

    `direction` is "input", "output", "array" or "copy" accordingly. The data are in C order,
    little-endian. `at` is the name of the core's memory that contains the data; it is empty for
    external memory. For an array with a private name, `file` is the name of its source without
    folder.
    """

    name: str
    direction: str  # "input", "output"; "array"; "copy"
    dtype: str  # a key of DTYPE_SIZES
    shape: tuple[int, ...]
    address: int
    at: str = ""  # the core's memory that contains the tensor; empty: external memory
    file: str = ""  # for an array with a private name: the source's name without folder

    @property
    def section(self) -> str:
        """The name of the section that contains the tensor."""
        return tensor_section(self.at)

    @property
    def elements(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.elements * DTYPE_SIZES[self.dtype]


@dataclass(frozen=True, slots=True)
class Typed:
    """Data of `.npy` or `.array`, with or without a symbol, and the position of the directive."""

    dtype: str  # a key of DTYPE_SIZES
    address: int
    size: int  # bytes
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Hint:
    """A tensor in a memory of a core, as `.hint tensor` describes it for tools.

    The tensor is neither input nor output, and the hint does not change the bytes of any section.
    """

    core: str
    name: str
    memory: str  # by the name that the core's table gives it
    address: int  # in the unit that the core's instructions use
    rows: int
    cols: int


@dataclass(frozen=True)
class Program:
    """An executable: its sections, symbols, tensors, lines and device.

    Symbols are sorted: local ones first, then by section, value and name. So the order of the
    definitions does not decide whether two programs are equal.

    `arrays` are the arrays of parts, `copies` the copies of tensors in parts, and `typed` the data
    of each `.npy` and `.array`. `note_version` is 0 for an executable without Macaw's note. If
    `is_linked`, the program also contains objects of other tools.
    """

    sections: tuple[Section, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    tensors: tuple[Tensor, ...] = ()
    arrays: tuple[Tensor, ...] = field(default=(), compare=False)  # of parts: `.array`, `.npy`
    copies: tuple[Tensor, ...] = field(default=(), compare=False)  # of tensors, in parts
    typed: tuple[Typed, ...] = field(default=(), compare=False)
    hints: tuple[Hint, ...] = ()  # in the order of the source
    lines: Sequence[Line] = field(default=(), compare=False)  # becomes a `LineTable`
    config_toml: str = ""  # the complete effective configuration; empty: not known
    device: str = ""  # its name
    entry: int | None = None
    source_files: tuple[str, ...] = field(default=(), compare=False)
    read_files: tuple[str, ...] = field(default=(), compare=False)  # all files that were read
    note_version: int = NOTE_VERSION  # 0: an executable without our note
    is_linked: bool = False  # it also contains objects of other tools
    warnings: tuple[object, ...] = field(
        default=(), compare=False
    )  # macaw.asm.diagnostics.Diagnostic
    network: ProgramNetwork | None = field(default=None, compare=False)  # of a compiled model

    def __repr__(self) -> str:
        files = ", ".join(name.rpartition("/")[2] for name in self.source_files)
        device = f"for {self.device}" if self.device else ""
        about = " ".join(filter(None, ("program", files, device)))
        tensors = "".join(
            f", {item.direction} {item.name} {item.dtype} {' × '.join(map(str, item.shape))}"
            for item in self.tensors
        )
        size = sum(section.size for section in self.sections)
        text = f"<{about}: {size:,} bytes{tensors}>"
        return text if text.isprintable() else ascii(text)[1:-1]

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", _in_order(self.symbols, self.sections))
        object.__setattr__(self, "lines", self.line_table)

    @property
    def line_table(self) -> LineTable:
        """The line table; empty if the program has no line information."""
        return self.lines if isinstance(self.lines, LineTable) else LineTable.of(self.lines)

    @cached_property
    def _sections_by_address(self) -> tuple[list[int], list[Section]]:
        sections = sorted((item for item in self.sections if item.size), key=lambda x: x.address)
        return [item.address for item in sections], sections

    @cached_property
    def _symbols_by_address(self) -> dict[str, tuple[list[int], list[Symbol]]]:
        groups: dict[str, list[Symbol]] = {}
        for symbol in self.symbols:
            if symbol.section is not None:
                groups.setdefault(symbol.section, []).append(symbol)
        for group in groups.values():
            # Of equal values the last one is used; it is global if one of them is.
            group.sort(key=lambda symbol: (symbol.value, symbol.is_global))
        return {name: ([x.value for x in group], group) for name, group in groups.items()}

    @cached_property
    def places(self) -> tuple[tuple[int, int, Tensor], ...]:
        """(First address, end address, tensor) of each tensor, then of each array and copy."""
        items = (*self.tensors, *self.arrays, *self.copies)
        return tuple((item.address, item.address + item.size, item) for item in items)

    @cached_property
    def _tensors_by_name(self) -> dict[str, Tensor]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def _symbols_by_name(self) -> dict[str, Symbol]:
        return {item.name: item for item in sorted(self.symbols, key=lambda x: x.is_global)}

    def section(self, name: str) -> Section:
        """Return the section of that name. Raises `KeyError` if there is none."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(name)

    def section_at(self, address: int) -> Section | None:
        """Return the section that contains `address`, an address as cores see it, or None."""
        starts, sections = self._sections_by_address
        place = bisect_right(starts, address) - 1
        return sections[place] if place >= 0 and sections[place].holds(address) else None

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of that name; a global symbol has priority over local ones.

        Raises `KeyError` if there is none.
        """
        return self._symbols_by_name[name]

    def symbol_at(self, address: int) -> tuple[Symbol, int] | None:
        """Return the nearest symbol at or before `address`, and its distance in bytes.

        The symbol is in the section that contains `address`. If the nearest symbol is a tensor or
        other data that ends before `address`, return instead the nearest symbol whose bytes contain
        `address`. Return None if there is no such symbol.
        """
        section = self.section_at(address)
        if section is None or section.name not in self._symbols_by_address:
            return None
        values, symbols = self._symbols_by_address[section.name]
        place = bisect_right(values, address) - 1
        if place >= 0 and symbols[place].kind == "object" and symbols[place].size:
            while place >= 0 and address >= values[place] + symbols[place].size:
                place -= 1
        return None if place < 0 else (symbols[place], address - values[place])

    @cached_property
    def layer_entries(self) -> dict[int, int]:
        """The numbers of the network's layers, by the addresses at which cp begins the layers.

        At the address of the code after the last layer, the number is the count of layers.
        """
        if self.network is None:
            return {}
        names = (*(layer.symbol for layer in self.network.layers), self.network.end)
        return {self.symbol(name).value: number for number, name in enumerate(names)}

    def layer_number_at(self, address: int) -> int | None:
        """Return the number of the layer whose source file contains the code at `address`, or None.

        Code in a file that several layers include belongs to no layer.
        """
        line = None if self.network is None else self.line_at(address)
        if self.network is None or line is None:
            return None
        return self.network.numbers_by_file.get(line.file.rpartition("/")[2])

    def layer_at(self, address: int) -> ProgramLayer | None:
        """Return the layer whose source file contains the code at `address`, or None."""
        number = self.layer_number_at(address)
        return None if number is None or self.network is None else self.network.layers[number]

    def line_at(self, address: int) -> Line | None:
        """Return the source position of the byte at `address`; None if it is not known."""
        section = self.section_at(address)
        return None if section is None else self.line_table.at(section.name, address)

    def tensor(self, name: str) -> Tensor:
        """Return the input or output of that name. Raises `KeyError` if there is none."""
        return self._tensors_by_name[name]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The named inputs, in the order of the source."""
        return tuple(item for item in self.tensors if item.direction == "input")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The named outputs, in the order of the source."""
        return tuple(item for item in self.tensors if item.direction == "output")

    def parts(self, core: str) -> tuple[Section, ...]:
        """Return the sections of the parts of a core, sorted by the index of the part."""
        sections = (item for item in self.sections if item.core == core)
        return tuple(sorted(sections, key=lambda item: (item.index or 0, item.address)))


def _in_order(symbols: Iterable[Symbol], sections: Sequence[Section]) -> tuple[Symbol, ...]:
    """Return the symbols sorted by binding (local first), section, value, name, size and kind."""
    places: dict[str | None, int] = {item.name: place for place, item in enumerate(sections)}
    groups = defaultdict[tuple[bool, int], list[Symbol]](list)
    for symbol in symbols:
        groups[symbol.is_global, places.get(symbol.section, len(places))].append(symbol)
    inside = attrgetter("value", "name", "size", "kind")
    return tuple([item for key in sorted(groups) for item in sorted(groups[key], key=inside)])


def tensor_section(at: str) -> str:
    """Return the name of the section for tensors that are declared with `at=` and this value.

    An empty `at` means external memory.
    """
    return f"{TENSORS}.{at}" if at else TENSORS


def natural_sizes(section: Section, values: Iterable[int]) -> dict[int, int]:
    """Return the natural sizes in bytes of the symbols with these `values` in a section, by value.

    The natural size of a symbol is the distance to the next symbol or to the section's end. Symbols
    at one address have the same natural size. A label has its natural size unless the source has a
    `.size` for it. The disassembler writes `.size` for symbols of any other size.
    """
    starts, end = sorted(set(values)), section.end
    sizes = dict(zip(starts, map(sub, (*starts[1:], end), starts), strict=False))
    for start in starts[max(0, bisect_right(starts, end) - 1) :]:
        sizes[start] = max(0, min(sizes[start], end - start))
    return sizes
