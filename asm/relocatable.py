"""An object, the input of a linker: a program with words that depend on symbols of other objects.

The object's sections have fixed addresses, as in an executable. The linker script that
`macaw.asm.linker_script` writes preserves the addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from zlib import crc32

from macaw.asm.elf_format import LAYOUT
from macaw.asm.expressions import External
from macaw.asm.program import Program
from macaw.isa.lazy_dataclass import dataclass

# Sections of an object have this before their names, so that no linker takes them for sections of
# a compiler with the same name.
PREFIX = ".macaw"


@dataclass(frozen=True, slots=True)
class Relocation:
    """A change that the linker makes in the 32-bit word at `address`.

    `kind` is the ELF type R_RISCV_*. The linker computes the new value from the symbol's address
    plus `addend`.
    """

    section: str
    address: int  # as its core sees it
    kind: int
    symbol: str | int  # of another object, or the address of the instruction with the high part
    addend: int


@dataclass(eq=False)
class Linkage:
    """The symbols and relocations that a run has left to the linker so far.

    `externals` has the symbols by name, `relocations` the relocations by address. While
    `is_relocating` is true, the run looks for words that need a relocation, and treats a weak
    symbol as a symbol of another object. While it is false, the run uses the weak symbol's own
    definition, for example in `. - symbol`.
    """

    externals: dict[str, External] = field(default_factory=dict)
    relocations: dict[int, Relocation] = field(default_factory=dict)  # by address
    is_relocating: bool = False

    def external(self, name: str) -> External:
        """Return the `External` for the symbol of that name in another object."""
        return self.externals.setdefault(name, External(name))


@dataclass(frozen=True)
class Relocatable:
    """A program, and the relocations that a linker has to carry out in it.

    `slots` has the addresses of tensors in the units of PE rows, by (tensor's name, row). `weak`
    has the names of symbols that may lack a definition in all objects.
    """

    program: Program
    relocations: tuple[Relocation, ...]
    slots: Mapping[tuple[str, int], int]
    weak: frozenset[str]

    @property
    def undefined(self) -> tuple[str, ...]:
        """The symbols of other objects that the program needs."""
        names = {item.symbol for item in self.relocations if isinstance(item.symbol, str)}
        defined = {symbol.name for symbol in self.program.symbols if symbol.is_global}
        return tuple(sorted(names - defined))

    @property
    def layout(self) -> int:
        """A checksum of the device and of all addresses and sizes."""
        sections = [
            (item.name, item.address, item.load_address, item.size)
            for item in self.program.sections
        ]
        symbols = [(item.name, item.value, item.size) for item in self.program.symbols]
        described = repr((sections, symbols, self.program.tensors, self.program.config_toml))
        return crc32(described.encode("utf-8", "surrogatepass"))

    @property
    def layout_symbol(self) -> str:
        """The name of a symbol that the object defines; it contains the checksum `layout`.

        Linker scripts and headers refer to this symbol, so that a link with an object of another
        layout fails.
        """
        return f"{LAYOUT}{self.layout:08x}"
