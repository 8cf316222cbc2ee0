"""Converts a `Program` to an ELF executable and back.

The file is ELF32, little-endian, RISC-V. The file has one section for each part, symbols with
sizes, `.note.macaw` (`asm/elf_note.py`) and line information (`asm/dwarf.py`). `read` also accepts
freestanding RV32 executables of other tools. From equal programs, `write` makes equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from macaw.asm import dwarf, elf_note
from macaw.asm import elf_format as elf
from macaw.asm.collecting import collecting_seldom
from macaw.asm.elf_builder import SECTION_FLAGS, SYMBOL_KINDS, ElfBuilder, NamedSymbol
from macaw.asm.elf_format import ElfError, Segment, whole
from macaw.asm.elf_read import check_core, check_entry, check_overlaps, check_tensors, read
from macaw.asm.program import MAX_ALIGN, Program, Section, Symbol

__all__ = ["ElfError", "read", "write"]

_SEGMENT_FLAGS = {"ax": elf.PF_R | elf.PF_X, "aw": elf.PF_R | elf.PF_W, "a": elf.PF_R}


def write(program: Program, *, lines: bool = True) -> bytes:
    """Return the ELF file of `program`.

    Without `lines`, the file has no line information and does not list the program's arrays.

    File order: header, program headers, sections (each at an offset congruent to its address modulo
    its alignment), note, line information, symbols, strings, section headers. Raises `ElfError` if
    no file can represent the program.
    """
    with collecting_seldom():
        return _write(program, lines=lines)


def _write(program: Program, *, lines: bool) -> bytes:
    check(program)
    loaded = [section for section in program.sections if section.size]
    file = ElfBuilder(len(loaded))
    offsets = {
        section.name: file.add_loaded(section, section.name, section.address)
        for section in program.sections
    }
    file.add(elf_note.SECTION, elf.SHT_NOTE, elf_note.write(program, arrays=lines), 4)
    if lines:
        for name, debug in dwarf.write(program.line_table, program.sections).items():
            file.add(name, elf.SHT_PROGBITS, debug.data, 1)
    file.add_symbols(symbol_entries(program.symbols, file.numbers, {}))
    segments = [
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
    ]
    return file.bytes(elf.ET_EXEC, program.entry or 0, segments)


def symbol_entries(
    symbols: Iterable[Symbol], numbers: Mapping[str, int], starts: Mapping[str, int]
) -> Iterator[NamedSymbol]:
    """Yield the entry of each symbol for the symbol table of an ELF file.

    `numbers` are the ELF section numbers by section name. If `starts` has an address for a symbol's
    section, the value of the entry is the symbol's address minus this address; otherwise it is the
    symbol's address.
    """
    for name, value, size, section, kind, is_global, is_weak in symbols:
        binding = elf.STB_WEAK if is_weak else elf.STB_GLOBAL if is_global else elf.STB_LOCAL
        number = elf.SHN_ABS
        if section is not None:
            number = numbers[section]
            value -= starts.get(section, 0)
        yield name, value, size, SYMBOL_KINDS[kind], number, binding


def check(program: Program) -> None:
    """Raise `ElfError` if ELF cannot represent the program, or if `read` would reject the file."""
    names = [section.name for section in program.sections]
    if len(set(names)) != len(names) or elf_note.SECTION in names or "" in names:
        raise ElfError(f"two sections have the same name: {', '.join(names)}")
    if any(name.startswith(dwarf.PREFIX) for name in names):
        raise ElfError(f"sections called {dwarf.PREFIX}* are for line information")
    if len(names) + 11 > elf.SHN_LORESERVE:
        raise ElfError(f"{len(names)} sections are more than an ELF file can hold")
    for section in program.sections:
        _check_section(section)
    known = {None, *names}
    last = elf.TOP - 1
    for name, value, size, home, kind, _is_global, _is_weak in program.symbols:
        if home not in known:
            raise ElfError(f"symbol {name} is in the section {home}, which is not")
        if not (whole(value, 0, last) and whole(size, 0, last)):
            raise ElfError(f"symbol {name}: {value:#x} does not fit 32 bits")
        if not name or kind not in SYMBOL_KINDS:
            raise ElfError(f"symbol {name!r}: no kind {kind!r}")
    check_overlaps(program.sections)
    check_tensors(program.tensors, program.sections)
    check_entry(program.entry, program.sections)
    if program.entry == 0:
        raise ElfError("an ELF file cannot name the entry 0: it means that there is none")


def _check_section(section: Section) -> None:
    what = f"section {section.name}"
    if section.core is not None:
        check_core(section.name, section.core)
    if section.flags not in SECTION_FLAGS:
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
