"""Reads ELF executables: Macaw's completely, freestanding RV32 ones as far as possible.

It trusts nothing in the file: it checks every offset, size, count, link and string before use. An
error reports where in the file it is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from macaw.asm import dwarf, dwarf_read, elf_note, elf_segments, elf_symbols
from macaw.asm import elf_format as elf
from macaw.asm.elf_format import (
    LAYOUT,
    ElfError,
    FileHeader,
    SectionHeader,
    Segment,
    section_bytes,
    string_at,
)
from macaw.asm.elf_note import Note, Placed
from macaw.asm.program import MAX_ALIGN, LineTable, Program, Section, Tensor
from macaw.isa import registry

_MOST_HEADERS = 4096  # far more than programs need; bounds the time for a malicious file
_STRING_FLAGS = elf.SHF_MERGE | elf.SHF_STRINGS
_OUR_FLAGS = {
    elf.SHF_ALLOC | elf.SHF_EXECINSTR: "ax",
    elf.SHF_ALLOC | elf.SHF_WRITE: "aw",
    elf.SHF_ALLOC: "a",
}
_REFUSED_KINDS = {
    elf.ET_REL: "a relocatable object: link it into an executable first",
    elf.ET_DYN: "a shared object or position-independent executable: link it with -static -no-pie",
    elf.ET_CORE: "a core dump",
}


def read(data: bytes) -> Program:
    """Return the program in an ELF executable.

    Raises `ElfError`, which reports what is wrong and where in the file.
    """
    header = _header(data)
    segments = tuple(
        Segment(*record)
        for record in _records(
            data,
            "program header",
            elf.SEGMENT,
            header.segments_at,
            header.segments,
            header.segment_size,
        )
    )
    for number, segment in enumerate(segments):
        elf_segments.check(data, number, segment)
    headers = tuple(
        SectionHeader(*record)
        for record in _records(
            data,
            "section header",
            elf.SECTION_HEADER,
            header.sections_at,
            header.sections,
            header.section_size,
        )
    )
    _check_amount(data, segments, headers)
    names = _section_names(data, header, headers)
    note = _note(data, headers, names)
    ours = note is not None and note.placed is None
    sections = _sections(data, headers, names, segments, ours=ours)
    if not ours:
        sections = elf_segments.with_bare(data, sections, segments)
        sections = {
            number: replace(section, core=_core_of(section)) for number, section in sections.items()
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
    check_entry(header.entry or None, result)
    return Program(
        sections=result,
        symbols=tuple(symbols),
        tensors=note.tensors if note else (),
        hints=note.hints if note else (),
        config_toml=note.config_toml if note else "",
        device=note.device if note else "",
        lines=_lines(data, headers, names, result, ours=ours),
        entry=header.entry or None,
        note_version=note.version if note else 0,
        is_linked=note is not None and not ours,
    )


def _core_of(section: Section) -> str | None:
    """Return the core that executes a section of another tool; None for data.

    If the name is that of a core's own sections, or begins with it and a point, it is this core.
    Any other code belongs to the base core.
    """
    if section.flags != "ax":
        return None
    for core in registry.cores():
        own = core.section
        if core.executable and (section.name == own or section.name.startswith(f"{own}.")):
            return core.name
    return base_core()


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
        if section is None:
            continue
        places = section.address, section.load_address, section.size
        if places != (item.address, item.load, item.size):
            raise ElfError(
                f"section {item.section}: {section.size} bytes at {section.address:#x},"
                f" it was assembled as {item.size} at {item.address:#x};"
                " link with the script that `macaw asm -c --ld-script` writes"
            )


def base_core() -> str:
    """Return the core for executables that name no core: the first that fetches instructions."""
    return next(name for name in registry.names() if registry.core(name).executable)


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
    """Raise `ElfError` unless each tensor's bytes are in the section that its `at` determines."""
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


def _header(data: bytes) -> FileHeader:
    if data[:4] != elf.MAGIC:
        raise ElfError("not an ELF file: it does not begin with 7f 45 4c 46")
    if len(data) < elf.FILE_HEADER.size:
        raise ElfError(
            f"the file is cut off: {len(data)} bytes, {elf.FILE_HEADER.size} are its header alone"
        )
    header = FileHeader(*elf.FILE_HEADER.unpack_from(data, 0))
    if header.file_class != elf.CLASS_32:
        what = "a 64-bit" if header.file_class == 2 else f"of class {header.file_class}, no 32-bit"
        raise ElfError(f"the file is {what} ELF file; only 32-bit ones can run")
    if header.data != elf.DATA_LITTLE:
        what = "big-endian" if header.data == 2 else f"of byte order {header.data}"
        raise ElfError(f"the file is {what}; only little-endian ones can run")
    if header.machine != elf.EM_RISCV:
        raise ElfError(f"the file is for machine {header.machine}, not RISC-V ({elf.EM_RISCV})")
    if header.ident_version != elf.VERSION or header.version != elf.VERSION:
        raise ElfError(f"ELF version {header.version}, {header.ident_version}; only 1 is known")
    if header.kind != elf.ET_EXEC:
        what = _REFUSED_KINDS.get(header.kind, f"of type {header.kind}")
        raise ElfError(f"the file is no executable but {what}")
    if header.flags & elf.EF_RISCV_RVC:
        raise ElfError("the code has compressed instructions; compile with -march=rv32im_zicsr")
    if header.flags & elf.EF_RISCV_FLOAT_ABI:
        raise ElfError("the code has a floating-point ABI; compile with -mabi=ilp32")
    return header


def _records(
    data: bytes, what: str, layout: struct.Struct, start: int, count: int, size: int
) -> Iterator[tuple[int, ...]]:
    """Yield the `count` records of a table in the file (program headers or section headers)."""
    if count == 0:
        return
    if count > _MOST_HEADERS:
        raise ElfError(f"{count} {what}s are more than the limit of {_MOST_HEADERS}")
    if size != layout.size:
        raise ElfError(f"a {what} has {size} bytes; {layout.size} are known")
    if start % 4 or start < elf.FILE_HEADER.size:
        raise ElfError(f"the {what}s cannot be at offset {start:#x}")
    if start + count * size > len(data):
        raise ElfError(
            f"{count} {what}s at offset {start:#x} reach behind the file's {len(data):#x} bytes"
        )
    for number in range(count):
        yield layout.unpack_from(data, start + number * size)


def _check_amount(
    data: bytes, segments: tuple[Segment, ...], headers: tuple[SectionHeader, ...]
) -> None:
    """Raise `ElfError` if more bytes would be loaded than the file has.

    Segments or sections that overlap in a small file could otherwise fill the memory.
    """
    loaded = sum(segment.file_size for segment in segments if segment.kind == elf.PT_LOAD)
    total = sum(
        header.size
        for header in headers
        if header.flags & elf.SHF_ALLOC and header.kind not in (elf.SHT_NULL, elf.SHT_NOBITS)
    )
    if max(loaded, total) > len(data):
        raise ElfError(
            f"{max(loaded, total):#x} bytes are to be loaded, the file has {len(data):#x}"
        )


def _section_names(
    data: bytes, header: FileHeader, headers: tuple[SectionHeader, ...]
) -> tuple[str, ...]:
    if not headers:
        return ()
    if headers[0].kind != elf.SHT_NULL:
        raise ElfError(f"section 0 is of type {headers[0].kind}, not empty")
    if not 0 < header.names < len(headers) or headers[header.names].kind != elf.SHT_STRTAB:
        raise ElfError(f"section {header.names} should be the sections' names, but is not")
    table = section_bytes(data, headers[header.names], "the sections' names")
    names = [string_at(table, item.name, f"section {i}") for i, item in enumerate(headers)]
    for number, name in enumerate(names[1:], 1):
        if not name or not name.isprintable():
            raise ElfError(f"section {number} is called {name!r}")
    return tuple(names)


def _note(data: bytes, headers: tuple[SectionHeader, ...], names: tuple[str, ...]) -> Note | None:
    places = [number for number, name in enumerate(names) if name == elf_note.SECTION]
    if not places:
        return None
    if len(places) > 1 or headers[places[0]].kind != elf.SHT_NOTE:
        raise ElfError(f"{elf_note.SECTION}: it stands {len(places)} times, or is no note")
    note = elf_note.read(section_bytes(data, headers[places[0]], elf_note.SECTION))
    if note is None:
        raise ElfError(f"{elf_note.SECTION}: holds no note of ours")
    return note


def _sections(
    data: bytes,
    headers: tuple[SectionHeader, ...],
    names: tuple[str, ...],
    segments: tuple[Segment, ...],
    *,
    ours: bool,
) -> dict[int, Section]:
    """Return the sections that the loader loads, by their number in the file."""
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
        flags = _OUR_FLAGS.get(header.flags) if ours else _foreign_flags(header.flags)
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


def _foreign_flags(flags: int) -> str:
    if flags & elf.SHF_EXECINSTR:
        return "ax"
    return "aw" if flags & elf.SHF_WRITE else "a"


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
    """Return the line table. Unreadable line information of another tool's file is ignored."""
    debug: dict[str, bytes] = {}
    try:
        for name, header in zip(names, headers, strict=True):
            if header.kind == elf.SHT_PROGBITS and name.startswith(dwarf.PREFIX):
                if name in debug or header.flags & ~_STRING_FLAGS:
                    raise ElfError(f"section {name} stands twice, or has flags {header.flags:#x}")
                debug[name] = section_bytes(data, header, f"section {name}")
        return dwarf_read.read(debug, sections)
    except ElfError:
        if ours:
            raise
        return LineTable()
