"""Data classes for an object file, which Macaw or another tool wrote as an input of a linker.

Each section of an object begins at address 0, because the linker chooses the addresses. So an
object is not a `Program`.
"""

from __future__ import annotations

from macaw.asm.program import Line, Section, Symbol
from macaw.asm.relocation_names import relocation_name
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ObjectRelocation:
    """A relocation: a change that the linker makes at a place of a section.

    The place is `address` bytes after the section's start. `kind` is the ELF type R_RISCV_*. The
    linker computes the new value from the address of `symbol` plus `addend`. For the address at
    which a section starts, `symbol` is the section's name. If the relocation has no symbol,
    `symbol` is empty.
    """

    address: int  # the offset in its section, in bytes
    kind: int  # R_RISCV_*
    symbol: str  # for the start of a section, its name; empty: no symbol
    addend: int

    def __str__(self) -> str:
        sign = "-" if self.addend < 0 else "+"
        addend = f"{sign}{abs(self.addend):#x}" if self.addend else ""
        if not self.symbol:
            return f"{relocation_name(self.kind)} {addend.lstrip('+')}".rstrip()
        return f"{relocation_name(self.kind)} {self.symbol}{addend}"


@dataclass(frozen=True, slots=True)
class ObjectSection:
    """A section of an object, with its symbols, relocations and lines.

    All addresses count from the section's start.

    `name` is the section's name in the file. In an object of Macaw, `section.name` is the name in
    the source's part, and `place` is the address for which Macaw assembled the section. In objects
    of other tools `place` is None.
    """

    name: str
    section: Section
    symbols: tuple[Symbol, ...]
    relocations: tuple[ObjectRelocation, ...]  # by address
    lines: tuple[Line, ...]  # by address
    place: int | None


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object: its loaded sections in the order of the file.

    Several sections may have the same name.
    """

    sections: tuple[ObjectSection, ...]
