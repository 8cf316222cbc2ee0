"""Reads ELF executables: Macaw's own, and freestanding RV32 executables of other tools.

The module checks every offset, size, count, link and string in the file before use. The message of
an error names the segment, section or symbol that is wrong, if the error concerns one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from macaw.asm import dwarf, dwarf_read, elf_note, elf_segments, elf_symbols
from macaw.asm import elf_format as elf
from macaw.asm.elf_format import (
    LAYOUT,
    ElfError,
    SectionHeader,
    Segment,
    section_bytes,
)
from macaw.asm.elf_headers import check_amount, core_of, foreign_flags, read_headers, read_note
from macaw.asm.elf_note import Note, Placed
from macaw.asm.program import MAX_ALIGN, LineTable, Program, Section, Tensor
from macaw.isa import registry

_STRING_FLAGS = elf.SHF_MERGE | elf.SHF_STRINGS
_OUR_FLAGS = {
    elf.SHF_ALLOC | elf.SHF_EXECINSTR: "ax",
    elf.SHF_ALLOC | elf.SHF_WRITE: "aw",
    elf.SHF_ALLOC: "a",
}


def read(data: bytes) -> Program:
    """Return the program in an ELF executable.

    Raises `ElfError`.
    """
    file = read_headers(data)
    header, segments, headers, names = file.header, file.segments, file.headers, file.names
    for number, segment in enumerate(segments):
        elf_segments.check(data, number, segment)
    check_amount(file)
    note = read_note(file)
    ours = note is not None and note.placed is None
    sections = _sections(data, headers, names, segments, ours=ours)
    if not ours:
        sections = elf_segments.with_bare(data, sections, segments)
        sections = {
            number: replace(section, core=core_of(section)) for number, section in sections.items()
        }
    if note is not None:
        if note.placed is not None:
            _check_places(note.placed, sections.values())
        sections = _with_parts(sections, note)
    symbols = (
        item
        for item in elf_symbols.read(data, headers, names, sections, ours=ours)
        if ours or item.section is not None or not item.name.startswith(LAYOUT)
    )
    result = tuple(sections.values())
    check_overlaps(result)
    check_tensors(note.tensors if note else (), result)
    arrays = note.arrays if note else ()
    check_entry(header.entry or None, result)
    return Program(
        sections=result,
        symbols=tuple(symbols),
        tensors=note.tensors if note else (),
        arrays=tuple(item for item in arrays if item.direction == "array"),
        copies=tuple(item for item in arrays if item.direction == "copy"),
        hints=note.hints if note else (),
        config_toml=note.config_toml if note else "",
        device=note.device if note else "",
        lines=_lines(data, headers, names, result, ours=ours),
        entry=header.entry or None,
        note_version=note.version if note else 0,
        is_linked=note is not None and not ours,
    )


def _check_places(placed: Iterable[Placed], sections: Iterable[Section]) -> None:
    """Raise `ElfError` if a linker has changed the address or the size of an object's section."""
    found = {section.name: section for section in sections}
    for item in placed:
        section = found.get(item.section)
        if section is None and item.size:
            raise ElfError(
                f"section {item.section}: the linker has left it out;"
                " link with the script that `macaw asm -c --ld-script` writes"
            )
        places = item.address, item.load, item.size
        if section is not None and places != (section.address, section.load_address, section.size):
            raise ElfError(
                f"section {item.section}: {section.size} bytes at {section.address:#x},"
                f" it was assembled as {item.size} at {item.address:#x};"
                " link with the script that `macaw asm -c --ld-script` writes"
            )


def check_overlaps(sections: Iterable[Section]) -> None:
    """Raise `ElfError` if two sections overlap in their addresses or in their load addresses."""

    def check(what: str, place: Callable[[Section], int]) -> None:
        ordered = sorted((item for item in sections if item.size), key=place)
        for first, second in pairwise(ordered):
            if place(first) + first.size > place(second):
                raise ElfError(
                    f"sections {first.name} and {second.name} overlap at {what} {place(second):#x}"
                )

    sections = tuple(sections)
    check("address", lambda section: section.address)
    check("load address", lambda section: section.load_address)


def check_tensors(tensors: Iterable[Tensor], sections: Iterable[Section]) -> None:
    """Raise `ElfError` for a tensor in a core's memory that is outside of its section.

    Such a memory has one section for all its tensors. Tensors in external memory are not checked.
    """
    inside = {section.name: section for section in sections}
    for tensor in tensors:
        section = inside.get(tensor.section)
        if tensor.at and not (
            section and section.address <= tensor.address <= section.end - tensor.size
        ):
            raise ElfError(f"tensor {tensor.name}: it does not lie in {tensor.section}")


def check_core(section: str, core: str) -> None:
    """Raise `ElfError` unless there is a core `core`. `section` is the section that names it."""
    try:
        registry.core(core)
    except registry.UnknownCoreError as error:
        raise ElfError(f"section {section}: {error}") from None


def check_entry(entry: int | None, sections: Iterable[Section]) -> None:
    """Raise `ElfError` unless `entry` is None or the address of a word in an executable section."""
    if entry is None:
        return
    if not any(item.flags == "ax" and item.holds(entry) for item in sections):
        raise ElfError(f"the entry {entry:#x} is in no section that can be executed")
    if entry % 4:
        raise ElfError(f"the entry {entry:#x} is not a multiple of 4")


def _sections(
    data: bytes,
    headers: tuple[SectionHeader, ...],
    names: tuple[str, ...],
    segments: tuple[Segment, ...],
    *,
    ours: bool,
) -> dict[int, Section]:
    """Return the sections that the loader loads, by their number in the file.

    If `ours`, Macaw has made the file.
    """
    result: dict[int, Section] = {}
    for number, header in enumerate(headers):
        if not header.flags & elf.SHF_ALLOC or header.kind == elf.SHT_NULL:
            debug = header.kind == elf.SHT_PROGBITS and names[number].startswith(dwarf.PREFIX)
            if ours and not debug and header.kind in (elf.SHT_PROGBITS, elf.SHT_NOBITS):
                raise ElfError(f"section {names[number]}: it is not loaded")
            continue
        if not ours and (header.size == 0 or header.flags & elf.SHF_TLS):
            continue
        what = f"section {names[number]}"
        flags = _OUR_FLAGS.get(header.flags) if ours else foreign_flags(header.flags)
        if flags is None or (ours and header.kind not in (elf.SHT_PROGBITS, elf.SHT_NOBITS)):
            raise ElfError(f"{what}: type {header.kind} with flags {header.flags:#x} cannot be")
        align = max(header.align, 1)
        if align & (align - 1) or header.address % align:
            raise ElfError(f"{what}: {header.address:#x} is not aligned to {header.align:#x}")
        if ours and align > MAX_ALIGN:
            raise ElfError(f"{what}: the alignment {align} is more than {MAX_ALIGN}")
        if header.address + header.size > elf.TOP:
            raise ElfError(f"{what}: {header.address:#x} + {header.size:#x} is more than 32 bits")
        contents = b"" if header.kind == elf.SHT_NOBITS else section_bytes(data, header, what)
        load_address = header.address + elf_segments.load_distance(header, segments, what)
        if not 0 <= load_address <= elf.TOP - header.size or (ours and load_address % align):
            raise ElfError(f"{what}: it cannot be loaded at {load_address:#x}")
        result[number] = Section(
            names[number],
            None,
            None,
            header.address,
            load_address,
            contents,
            header.size,
            align,
            flags,
        )
    loaded = [section.name for section in result.values()]
    if ours and len(set(loaded)) != len(loaded):
        raise ElfError(f"two sections have the same name: {', '.join(loaded)}")
    return result


def _with_parts(sections: dict[int, Section], note: Note) -> dict[int, Section]:
    """Return `sections` with the cores and indices that the note assigns to them."""
    names = {section.name for section in sections.values()}
    for name, (core, _) in note.parts.items():
        if name not in names:
            raise ElfError(f"{elf_note.SECTION}: the part {name} of {core} is no section")
        check_core(name, core)
    return {
        number: replace(
            section, core=note.parts[section.name][0], index=note.parts[section.name][1]
        )
        if section.name in note.parts
        else section
        for number, section in sections.items()
    }


def _lines(
    data: bytes,
    headers: tuple[SectionHeader, ...],
    names: tuple[str, ...],
    sections: tuple[Section, ...],
    *,
    ours: bool,
) -> LineTable:
    """Return the line table. If `ours` is false, unreadable line information is ignored."""
    debug: dict[str, bytes] = {}
    try:
        for name, header in zip(names, headers, strict=True):
            if header.kind == elf.SHT_PROGBITS and name.startswith(dwarf.PREFIX):
                if name in debug or header.flags & ~_STRING_FLAGS:
                    raise ElfError(f"section {name} occurs twice, or has flags {header.flags:#x}")
                debug[name] = section_bytes(data, header, f"section {name}")
        return dwarf_read.read(debug, sections)
    except ElfError:
        if ours:
            raise
        return LineTable()
