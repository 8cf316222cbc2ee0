"""Converts a `Program` to an ELF executable and back.

The file is ELF32, little-endian, RISC-V. It has one section for each part, symbols with sizes,
`.note.macaw` (`asm/elf_note.py`) and line information (`asm/dwarf.py`). `read` also accepts
freestanding RV32 executables of other tools. Equal programs give equal bytes.
"""

from __future__ import annotations

from macaw.asm import dwarf, elf_note
from macaw.asm import elf_format as elf
from macaw.asm.elf_format import ElfError, FileHeader, SectionHeader, Segment, Strings, whole
from macaw.asm.elf_read import check_core, check_entry, check_overlaps, check_tensors, read
from macaw.asm.program import MAX_ALIGN, Program, Section

__all__ = ["ElfError", "read", "write"]

_SECTION_FLAGS = {
    "ax": elf.SHF_ALLOC | elf.SHF_EXECINSTR,
    "aw": elf.SHF_ALLOC | elf.SHF_WRITE,
    "a": elf.SHF_ALLOC,
}
_SEGMENT_FLAGS = {"ax": elf.PF_R | elf.PF_X, "aw": elf.PF_R | elf.PF_W, "a": elf.PF_R}
_SYMBOL_KINDS = {"notype": elf.STT_NOTYPE, "object": elf.STT_OBJECT, "func": elf.STT_FUNC}


def write(program: Program, *, lines: bool = True) -> bytes:
    """Return the ELF file of `program`, with or without line information.

    File order: header, program headers, sections (each at an offset congruent to its address modulo
    its alignment), note, line information, symbols, strings, section headers. Raises `ElfError` if
    no file can represent the program.
    """
    _check(program)
    loaded = [section for section in program.sections if section.size]
    body = _Body(elf.FILE_HEADER.size + elf.SEGMENT.size * len(loaded))
    headers = [SectionHeader(0, elf.SHT_NULL, 0, 0, 0, 0, 0, 0, 0, 0)]
    offsets = {}
    for section in program.sections:
        offsets[section.name] = body.add(section.data, section.align)
        headers.append(_section_header(section, offsets[section.name], body.names))
    body.append(headers, elf_note.SECTION, elf.SHT_NOTE, elf_note.write(program), 4)
    if lines:
        for name, data in dwarf.write(program.line_table, program.sections).items():
            body.append(headers, name, elf.SHT_PROGBITS, data, 1)
    _add_symbols(body, headers, program)
    # Section names go last, because they hold their own section's name.
    names_at = body.names.add(".shstrtab")
    names = body.names.bytes()
    headers.append(
        SectionHeader(names_at, elf.SHT_STRTAB, 0, 0, body.add(names, 1), len(names), 0, 0, 1, 0)
    )
    sections_at = body.add(b"".join(elf.SECTION_HEADER.pack(*header) for header in headers), 4)
    header = FileHeader(
        magic=elf.MAGIC,
        file_class=elf.CLASS_32,
        data=elf.DATA_LITTLE,
        ident_version=elf.VERSION,
        abi=0,
        kind=elf.ET_EXEC,
        machine=elf.EM_RISCV,
        version=elf.VERSION,
        entry=program.entry or 0,
        segments_at=elf.FILE_HEADER.size if loaded else 0,
        sections_at=sections_at,
        flags=0,
        size=elf.FILE_HEADER.size,
        segment_size=elf.SEGMENT.size,
        segments=len(loaded),
        section_size=elf.SECTION_HEADER.size,
        sections=len(headers),
        names=len(headers) - 1,
    )
    segments = (
        Segment(
            elf.PT_LOAD,
            offsets[section.name],
            section.address,
            section.load_address,
            len(section.data),
            section.size,
            _SEGMENT_FLAGS[section.flags],
            section.align,
        )
        for section in sorted(loaded, key=lambda section: section.address)
    )
    return (
        elf.FILE_HEADER.pack(*header)
        + b"".join(elf.SEGMENT.pack(*segment) for segment in segments)
        + body.bytes()
    )


class _Body:
    """The file's contents after the header and program headers, and its section names."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._data = bytearray()
        self.names = Strings()

    def add(self, data: bytes, align: int) -> int:
        """Append `data` at a multiple of `align` and return its file offset."""
        place = self._start + len(self._data)
        offset = place + -place % align
        if data:  # zeros that take no room need no padding either
            self._data += bytes(offset - place) + data
        return offset

    def append(
        self,
        headers: list[SectionHeader],
        name: str,
        kind: int,
        data: bytes,
        align: int,
        *,
        link: int = 0,
        info: int = 0,
        entry_size: int = 0,
    ) -> None:
        """Append a section that the loader does not load, and its header."""
        headers.append(
            SectionHeader(
                self.names.add(name),
                kind,
                0,
                0,
                self.add(data, align),
                len(data),
                link,
                info,
                align,
                entry_size,
            )
        )

    def bytes(self) -> bytes:
        return bytes(self._data)


def _section_header(section: Section, offset: int, names: Strings) -> SectionHeader:
    return SectionHeader(
        names.add(section.name),
        elf.SHT_NOBITS if section.nobits else elf.SHT_PROGBITS,
        _SECTION_FLAGS[section.flags],
        section.address,
        offset,
        section.size,
        0,
        0,
        section.align,
        0,
    )


def _add_symbols(body: _Body, headers: list[SectionHeader], program: Program) -> None:
    """Append the symbol table and its strings. `Program` has already sorted local symbols first."""
    numbers = {section.name: place for place, section in enumerate(program.sections, 1)}
    strings = Strings()
    table = bytearray(elf.SYMBOL.pack(0, 0, 0, 0, 0, 0))
    for symbol in program.symbols:
        binding = elf.STB_GLOBAL if symbol.is_global else elf.STB_LOCAL
        table += elf.SYMBOL.pack(
            strings.add(symbol.name),
            symbol.value,
            symbol.size,
            binding << 4 | _SYMBOL_KINDS[symbol.kind],
            0,
            elf.SHN_ABS if symbol.section is None else numbers[symbol.section],
        )
    local = 1 + sum(not symbol.is_global for symbol in program.symbols)
    body.append(
        headers,
        ".symtab",
        elf.SHT_SYMTAB,
        bytes(table),
        4,
        link=len(headers) + 1,
        info=local,
        entry_size=elf.SYMBOL.size,
    )
    body.append(headers, ".strtab", elf.SHT_STRTAB, strings.bytes(), 1)


def _check(program: Program) -> None:
    """Raise `ElfError` if no ELF file can represent the program, or if `read` would reject it."""
    names = [section.name for section in program.sections]
    if len(set(names)) != len(names) or elf_note.SECTION in names or "" in names:
        raise ElfError(f"two sections have the same name: {', '.join(names)}")
    if any(name.startswith(dwarf.PREFIX) for name in names):
        raise ElfError(f"sections called {dwarf.PREFIX}* are for line information")
    if len(names) + 11 > elf.SHN_LORESERVE:
        raise ElfError(f"{len(names)} sections are more than an ELF file can hold")
    for section in program.sections:
        _check_section(section)
    for symbol in program.symbols:
        if symbol.section is not None and symbol.section not in names:
            raise ElfError(f"symbol {symbol.name} is in the section {symbol.section}, which is not")
        if not (whole(symbol.value, 0, elf.TOP - 1) and whole(symbol.size, 0, elf.TOP - 1)):
            raise ElfError(f"symbol {symbol.name}: {symbol.value:#x} does not fit 32 bits")
        if not symbol.name or symbol.kind not in _SYMBOL_KINDS:
            raise ElfError(f"symbol {symbol.name!r}: no kind {symbol.kind!r}")
    check_overlaps(program.sections)
    check_tensors(program.tensors, program.sections)
    check_entry(program.entry, program.sections)
    if program.entry == 0:
        raise ElfError("an ELF file cannot name the entry 0: it means that there is none")


def _check_section(section: Section) -> None:
    what = f"section {section.name}"
    if section.core is not None:
        check_core(section.name, section.core)
    if section.flags not in _SECTION_FLAGS:
        raise ElfError(f"{what}: no flags {section.flags!r}")
    if section.data and len(section.data) != section.size:
        raise ElfError(f"{what}: {len(section.data)} bytes of data, size {section.size}")
    if section.align < 1 or section.align & (section.align - 1):
        raise ElfError(f"{what}: the alignment {section.align} is not a power of two")
    if section.align > MAX_ALIGN:
        raise ElfError(f"{what}: the alignment {section.align} is more than {MAX_ALIGN}")
    if section.address % section.align or section.load_address % section.align:
        raise ElfError(f"{what}: {section.address:#x} is not aligned to {section.align}")
    for address in (section.address, section.load_address):
        if not (whole(address, 0, elf.TOP - 1) and address + section.size <= elf.TOP):
            raise ElfError(f"{what}: {address:#x} + {section.size:#x} does not fit 32 bits")
