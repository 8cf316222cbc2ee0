"""Reads object files that `macaw asm -c`, other assemblers or C compilers have written.

Like `asm/elf_read.py`, the module checks every offset and count in the file before use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from macaw.asm import elf_format as elf
from macaw.asm import elf_symbols, object_lines
from macaw.asm.elf_format import ElfError, SymbolEntry, string_at
from macaw.asm.elf_headers import (
    ElfFile,
    check_amount,
    core_of,
    foreign_flags,
    read_headers,
    read_note,
)
from macaw.asm.elf_note import Note
from macaw.asm.elf_read import check_core
from macaw.asm.object_file import ObjectFile, ObjectRelocation, ObjectSection
from macaw.asm.object_lines import RelocatedValue
from macaw.asm.program import Section, Symbol
from macaw.asm.relocatable import PREFIX
from macaw.isa.lazy_dataclass import dataclass

_LINES = ".debug_line"


@dataclass(frozen=True, slots=True)
class _NamedEntry:
    """An entry of the symbol table and its name; a section symbol has the section's name."""

    name: str
    entry: SymbolEntry


def read(data: bytes) -> ObjectFile:
    """Return the object in an ELF file of type ET_REL. Raises `ElfError`."""
    file = read_headers(data, elf.ET_REL)
    check_amount(file)
    note = read_note(file)
    sections = {number: section for number, section in _sections(file, note) if section.size}
    entries = _entries(file)
    relocations = _relocations(file, entries)
    used = {record[2] for number in sections for record in relocations.get(number, ())}
    symbols: dict[int, list[Symbol]] = {}
    for place, item in entries.items():
        number = item.entry.section
        if number in sections and (place in used or not _is_mark(item)):
            symbols.setdefault(number, []).append(_symbol(item, sections[number].name))
    values = [
        RelocatedValue(address, kind, *_place(entries, symbol, addend))
        for number, records in relocations.items()
        if file.names[number] == _LINES
        for address, kind, symbol, addend in records
    ]
    lines = object_lines.read(file, sections, values)
    placed = {item.section: item.address for item in (note.placed if note else None) or ()}
    return ObjectFile(
        tuple(
            ObjectSection(
                file.names[number],
                section,
                tuple(symbols.get(number, ())),
                tuple(
                    ObjectRelocation(address, kind, _name(entries, symbol), addend)
                    for address, kind, symbol, addend in sorted(
                        relocations.get(number, ()), key=lambda record: record[0]
                    )
                ),
                lines.get(number, ()),
                placed.get(section.name),
            )
            for number, section in sections.items()
        )
    )


def _sections(file: ElfFile, note: Note | None) -> Iterator[tuple[int, Section]]:
    """Yield the number and the contents of each section that an executable would load."""
    parts = note.parts if note is not None else {}
    for number, header in enumerate(file.headers):
        if not header.flags & elf.SHF_ALLOC or header.flags & elf.SHF_TLS:
            continue
        what = f"section {file.names[number]}"
        align = max(header.align, 1)
        if align & (align - 1) or header.address:
            raise ElfError(f"{what}: address {header.address:#x}, alignment {header.align:#x}")
        contents = b"" if header.kind == elf.SHT_NOBITS else file.contents(number)
        flags = foreign_flags(header.flags)
        name = file.names[number]
        own = name.removeprefix(PREFIX) if note is not None else name
        section = Section(own, None, None, 0, 0, contents, header.size, align, flags)
        core, index = parts.get(own, (core_of(section), None))
        if core is not None:
            check_core(name, core)
        yield number, replace(section, core=core, index=index)


def _entries(file: ElfFile) -> dict[int, _NamedEntry]:
    """Return the entries of the symbol table by number, without entry 0, the null symbol."""
    result = {}
    for place, entry, strings in elf_symbols.entries(file.data, file.headers, file.names):
        name = string_at(strings, entry.name, f"symbol {place}")
        if not name.isprintable():
            raise ElfError(f"symbol {place} is called {name!r}")
        if entry.section >= len(file.headers) and entry.section < elf.SHN_LORESERVE:
            raise ElfError(f"symbol {place} ({name}): there is no section {entry.section:#x}")
        if entry.kind == elf.STT_SECTION and entry.section < len(file.names):
            name = file.names[entry.section]
        result[place] = _NamedEntry(name, entry)
    return result


def _is_mark(item: _NamedEntry) -> bool:
    """Return whether a symbol is a mark that a tool put into the code, such as `$x` or `.LVL0`."""
    return (
        item.entry.kind not in elf_symbols.KINDS
        or item.name[:1] in ("", "$")
        or (item.name.startswith(".L") and item.entry.binding == elf.STB_LOCAL)
    )


def _symbol(item: _NamedEntry, section: str) -> Symbol:
    entry = item.entry
    return Symbol(
        item.name,
        entry.value,
        entry.size,
        section,
        elf_symbols.KINDS.get(entry.kind, "notype"),
        entry.binding != elf.STB_LOCAL,
        entry.binding == elf.STB_WEAK,
    )


def _relocations(
    file: ElfFile, entries: dict[int, _NamedEntry]
) -> dict[int, list[tuple[int, int, int, int]]]:
    """Return the relocations by the number of the section that they change. Raises `ElfError`.

    A relocation is (address, kind, symbol number, addend). Its address is an offset in that
    section, in bytes.
    """
    result: dict[int, list[tuple[int, int, int, int]]] = {}
    for number, header in enumerate(file.headers):
        if header.kind != elf.SHT_RELA:
            continue
        what, size = f"section {file.names[number]}", elf.RELOCATION.size
        if header.entry_size != size or header.size % size:
            raise ElfError(f"{what}: {header.size:#x} bytes in entries of {header.entry_size}")
        if not 0 < header.info < len(file.headers):
            raise ElfError(f"{what}: there is no section {header.info} that it could change")
        records = result.setdefault(header.info, [])
        for address, info, addend in elf.RELOCATION.iter_unpack(file.contents(number)):
            if address >= max(1, file.headers[header.info].size):
                raise ElfError(
                    f"{what}: {address:#x} is after the end of {file.names[header.info]}"
                )
            if info >> 8 and info >> 8 not in entries:
                raise ElfError(f"{what}: there is no symbol {info >> 8}")
            records.append((address, info & 0xFF, info >> 8, addend))
    return result


def _name(entries: dict[int, _NamedEntry], symbol: int) -> str:
    return entries[symbol].name if symbol else ""


def _place(entries: dict[int, _NamedEntry], symbol: int, addend: int) -> tuple[int, int]:
    """Return the number of a symbol's section, and the symbol's value plus `addend`.

    `symbol` is the symbol's number; for 0, which means no symbol, return (0, `addend`).
    """
    if not symbol:
        return 0, addend
    entry = entries[symbol].entry
    return entry.section, entry.value + addend
