"""An object for a linker: a program in which some words still need symbols of other objects.

Its sections have fixed addresses, as in an executable; the linker script that
`macaw.asm.linker_script` writes keeps them there.
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
    """A change by the linker of the 32-bit word at `address`, of the ELF kind R_RISCV_*.

    The value that the linker inserts is computed from the symbol's address plus `addend`.
    """

    section: str
    address: int  # as its core sees it
    kind: int
    symbol: str | int  # of another object; an address: of the instruction with the high part
    addend: int = 0


@dataclass(eq=False)
class Linkage:
    """The symbols and relocations that a run has left to the linker so far.

    While `is_relocating` is true, the run looks for words that need a relocation. Then a weak
    symbol counts as a symbol of another object, too. At other times, as in `. - symbol`, its
    own definition is used.
    """

    externals: dict[str, External] = field(default_factory=dict)
    relocations: dict[int, Relocation] = field(default_factory=dict)  # by address
    is_relocating: bool = False

    def external(self, name: str) -> External:
        """Return the area of the symbol of that name in another object."""
        return self.externals.setdefault(name, External(name))


@dataclass(frozen=True)
class Relocatable:
    """A program, and the relocations that a linker has to do in it.

    `slots` has the addresses of tensors in the units of rows, by (tensor's name, row). `weak` are
    the names that need no definition, in this object or in another.
    """

    program: Program
    relocations: tuple[Relocation, ...]
    slots: Mapping[tuple[str, int], int]
    weak: frozenset[str] = frozenset()

    @property
    def undefined(self) -> tuple[str, ...]:
        """The symbols of other objects that the program uses."""
        names = {item.symbol for item in self.relocations if isinstance(item.symbol, str)}
        defined = {symbol.name for symbol in self.program.symbols if symbol.is_global}
        return tuple(sorted(names - defined))

    @property
    def layout(self) -> int:
        """A number that changes when an address, a size or the device changes."""
        sections = [
            (item.name, item.address, item.load_address, item.size)
            for item in self.program.sections
        ]
        symbols = [(item.name, item.value, item.size) for item in self.program.symbols]
        described = repr((sections, symbols, self.program.tensors, self.program.config_toml))
        return crc32(described.encode("utf-8", "surrogatepass"))

    @property
    def layout_symbol(self) -> str:
        """The name of a symbol that the object defines, with the number `layout` in it.

        Linker scripts and headers of the same layout refer to it, so that linking an object of
        another layout fails.
        """
        return f"{LAYOUT}{self.layout:08x}"
