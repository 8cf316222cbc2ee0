"""Reads the symbol table of an ELF executable."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.asm import elf_format as elf
from macaw.asm.elf_format import ElfError, SectionHeader, SymbolEntry, section_bytes, string_at
from macaw.asm.program import Section, Symbol

KINDS = {elf.STT_NOTYPE: "notype", elf.STT_OBJECT: "object", elf.STT_FUNC: "func"}


def read(
    data: bytes,
    headers: tuple[SectionHeader, ...],
    names: tuple[str, ...],
    sections: dict[int, Section],
    *,
    ours: bool,
) -> Iterator[Symbol]:
    """Yield the symbols whose values are numbers or addresses in loaded sections.

    If `ours`, Macaw has made the file. Raises `ElfError`.
    """
    for place, entry, strings in entries(data, headers, names):
        symbol = _symbol(place, entry, strings, sections, len(headers), ours=ours)
        if symbol is not None:
            yield symbol


def entries(
    data: bytes, headers: tuple[SectionHeader, ...], names: tuple[str, ...]
) -> Iterator[tuple[int, SymbolEntry, bytes]]:
    """Yield number, entry and string table of each symbol after the null symbol.

    Raises `ElfError`.
    """
    tables = [number for number, header in enumerate(headers) if header.kind == elf.SHT_SYMTAB]
    if len(tables) > 1:
        raise ElfError(f"{len(tables)} symbol tables; one is the most")
    for number in tables:
        header = headers[number]
        what = f"section {names[number]}"
        size = elf.SYMBOL.size
        if header.entry_size != size or header.size % size or header.size == 0:
            raise ElfError(f"{what}: {header.size:#x} bytes in entries of {header.entry_size}")
        if not 0 < header.link < len(headers) or headers[header.link].kind != elf.SHT_STRTAB:
            raise ElfError(f"{what}: section {header.link} should hold its names, but does not")
        strings = section_bytes(data, headers[header.link], f"section {names[header.link]}")
        table = section_bytes(data, header, what)
        for place in range(1, header.size // size):
            entry = SymbolEntry(*elf.SYMBOL.unpack_from(table, place * size))
            if (entry.binding == elf.STB_LOCAL) != (place < header.info):
                raise ElfError(
                    f"symbol {place}: binding {entry.binding}; local ones end at {header.info}"
                )
            yield place, entry, strings


def _symbol(
    place: int,
    entry: SymbolEntry,
    strings: bytes,
    sections: dict[int, Section],
    count: int,
    *,
    ours: bool,
) -> Symbol | None:
    """Return the symbol of a table entry; None if the entry is of no use to a `Program`.

    Of no use are entries without a name, entries of sections and files, undefined symbols, marks of
    other tools such as `$x`, and symbols of sections that are empty or not loaded.

    `place` is the number of the entry, and `strings` is the string table with its name. The file
    has `count` sections. If `ours`, Macaw has made the file. Raises `ElfError`.
    """
    name = string_at(strings, entry.name, f"symbol {place}")
    what = f"symbol {place} ({name if name.isprintable() else ascii(name)})"
    if entry.section != elf.SHN_ABS and (
        entry.section >= elf.SHN_LORESERVE or entry.section >= count
    ):
        raise ElfError(f"{what}: there is no section {entry.section:#x}")
    if entry.kind == elf.STT_SECTION and not name:
        return None  # `objcopy` adds one for each section, also to a file of Macaw
    is_known = entry.kind in KINDS and entry.binding <= elf.STB_WEAK
    if ours:
        loaded = entry.section == elf.SHN_ABS or entry.section in sections
        if not (is_known and loaded and name and not entry.other):
            raise ElfError(f"{what}: cannot be in a file of Macaw")
    if entry.kind in (elf.STT_SECTION, elf.STT_FILE, elf.STT_TLS) or entry.section == elf.SHN_UNDEF:
        return None
    if not is_known:
        raise ElfError(f"{what}: binding {entry.binding} and type {entry.kind} are not known")
    if not name or (name.startswith("$") and not ours):  # `$x`, `$d`: the linker's marks
        return None
    if not name.isprintable():
        raise ElfError(f"symbol {place} is called {name!r}")
    if entry.section != elf.SHN_ABS and entry.section not in sections:
        return None  # of a section that is empty or not loaded
    section = None if entry.section == elf.SHN_ABS else sections[entry.section].name
    is_global, is_weak = entry.binding != elf.STB_LOCAL, entry.binding == elf.STB_WEAK
    return Symbol(name, entry.value, entry.size, section, KINDS[entry.kind], is_global, is_weak)
