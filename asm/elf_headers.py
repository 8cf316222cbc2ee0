"""Reads those headers of a RISC-V ELF file that executables and objects have in common.

The module checks every offset, size, count and string in the file before use.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from macaw.asm import elf_format as elf
from macaw.asm import elf_note
from macaw.asm.elf_format import (
    ElfError,
    FileHeader,
    SectionHeader,
    Segment,
    section_bytes,
    string_at,
)
from macaw.asm.elf_note import Note
from macaw.asm.program import Section
from macaw.isa import registry
from macaw.isa.lazy_dataclass import dataclass

_MOST_HEADERS = 4096  # far more than programs need; bounds the time for a malicious file
_REFUSED_KINDS = {
    elf.ET_REL: "a relocatable object: link it into an executable first",
    elf.ET_DYN: "a shared object or position-independent executable: link it with -static -no-pie",
    elf.ET_CORE: "a core dump",
}


@dataclass(frozen=True, slots=True)
class ElfFile:
    """The bytes of an ELF file, its headers, and the names of its sections by number."""

    data: bytes
    header: FileHeader
    segments: tuple[Segment, ...]
    headers: tuple[SectionHeader, ...]
    names: tuple[str, ...]

    def contents(self, number: int) -> bytes:
        """Return the bytes of a section.

        Raises `ElfError` if the section extends past the file's end.
        """
        return section_bytes(self.data, self.headers[number], f"section {self.names[number]}")


def is_object(data: bytes) -> bool:
    """Return whether the bytes begin like an object for a linker (ELF type ET_REL)."""
    if data[:4] != elf.MAGIC or len(data) < elf.FILE_HEADER.size:
        return False
    return FileHeader(*elf.FILE_HEADER.unpack_from(data, 0)).kind == elf.ET_REL


def read_headers(data: bytes, kind: int = elf.ET_EXEC) -> ElfFile:
    """Return the headers of an ELF file of the type `kind` (ET_*). Raises `ElfError`."""
    header = _header(data, kind)
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
    return ElfFile(data, header, segments, headers, _section_names(data, header, headers))


def _header(data: bytes, kind: int) -> FileHeader:
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
    if header.kind != kind:
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
    """Yield the `count` records of a table in the file (program headers or section headers).

    The table begins at offset `start` of the file. `layout` is the format of a record that Macaw
    reads, and `size` is the size of a record that the file states; `what` names a record in
    messages. Raises `ElfError` if the two sizes differ, or if `start` or `count` cannot be right.
    """
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
            f"{count} {what}s at offset {start:#x} exceed the file's {len(data):#x} bytes"
        )
    for number in range(count):
        yield layout.unpack_from(data, start + number * size)


def check_amount(file: ElfFile) -> None:
    """Raise `ElfError` if the loader would load more bytes than the file has.

    Without this check, segments or sections that overlap in a small file could fill the memory.
    """
    loaded = sum(segment.file_size for segment in file.segments if segment.kind == elf.PT_LOAD)
    total = sum(
        header.size
        for header in file.headers
        if header.flags & elf.SHF_ALLOC and header.kind not in (elf.SHT_NULL, elf.SHT_NOBITS)
    )
    if max(loaded, total) > len(file.data):
        raise ElfError(
            f"{max(loaded, total):#x} bytes are to be loaded, the file has {len(file.data):#x}"
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


def read_note(file: ElfFile) -> Note | None:
    """Return the contents of Macaw's note in the file; None if there is none. Raises `ElfError`."""
    places = [number for number, name in enumerate(file.names) if name == elf_note.SECTION]
    if not places:
        return None
    if len(places) > 1 or file.headers[places[0]].kind != elf.SHT_NOTE:
        raise ElfError(f"{elf_note.SECTION}: it occurs {len(places)} times, or is no note")
    note = elf_note.read(file.contents(places[0]))
    if note is None:
        raise ElfError(f"{elf_note.SECTION}: holds no note of Macaw")
    return note


def foreign_flags(flags: int) -> str:
    """Return the flags of a `Section`, such as "ax", for `flags`, the SHF_* bits of an ELF file."""
    if flags & elf.SHF_EXECINSTR:
        return "ax"
    return "aw" if flags & elf.SHF_WRITE else "a"


def core_of(section: Section) -> str | None:
    """Return the name of the core that executes a section which another tool has made.

    If the section's name is a core's own section name, or begins with it and a dot, return this
    core. Otherwise return the first core that fetches instructions. Return None for a section of
    data.
    """
    if section.flags != "ax":
        return None
    for core in registry.all_descriptors():
        own = core.section
        if core.executable and (section.name == own or section.name.startswith(f"{own}.")):
            return core.name
    return _base_core()


def _base_core() -> str:
    """Return the core for executables that name no core: the first that fetches instructions."""
    return next(core.name for core in registry.all_descriptors() if core.executable)
