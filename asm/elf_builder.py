"""Builds an ELF file section by section, for executables and objects."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter

from macaw.asm import elf_format as elf
from macaw.asm.elf_format import FileHeader, SectionHeader, Segment, Strings
from macaw.asm.program import Section

SECTION_FLAGS = {
    "ax": elf.SHF_ALLOC | elf.SHF_EXECINSTR,
    "aw": elf.SHF_ALLOC | elf.SHF_WRITE,
    "a": elf.SHF_ALLOC,
}
SYMBOL_KINDS = {"notype": elf.STT_NOTYPE, "object": elf.STT_OBJECT, "func": elf.STT_FUNC}


# An entry of the symbol table: name, value, size, type (STT_*), section number, binding (STB_*).
NamedSymbol = tuple[str, int, int, int, int, int]


class ElfBuilder:
    """An ELF file under construction. `numbers` are the section numbers by section name."""

    def __init__(self, segments: int = 0) -> None:
        self._start = elf.FILE_HEADER.size + elf.SEGMENT.size * segments
        self._data = bytearray()
        self._names = Strings()
        self._headers = [SectionHeader(0, elf.SHT_NULL, 0, 0, 0, 0, 0, 0, 0, 0)]
        self.numbers: dict[str, int] = {}

    def _add(self, data: bytes, align: int) -> int:
        """Append `data` at the next multiple of `align` in the file, and return that offset."""
        place = self._start + len(self._data)
        offset = place + -place % align
        if data:  # zeros that the file does not store need no padding
            self._data += bytes(offset - place) + data
        return offset

    def _enter(self, name: str, header: SectionHeader) -> None:
        self.numbers[name] = len(self._headers)
        self._headers.append(header)

    def add_loaded(self, section: Section, name: str, address: int) -> int:
        """Add a section that the loader loads; return its offset in the file."""
        offset = self._add(section.data, section.align)
        kind = elf.SHT_NOBITS if section.nobits else elf.SHT_PROGBITS
        flags = SECTION_FLAGS[section.flags]
        at, size = self._names.add(name), section.size
        self._enter(
            name, SectionHeader(at, kind, flags, address, offset, size, 0, 0, section.align, 0)
        )
        return offset

    def add(
        self,
        name: str,
        kind: int,
        data: bytes,
        align: int,
        *,
        flags: int = 0,
        link: int = 0,
        info: int = 0,
        entry_size: int = 0,
    ) -> None:
        """Add a section that the loader does not load.

        `kind`, `flags`, `link`, `info` and `entry_size` are the fields of its section header.
        """
        at, offset, size = self._names.add(name), self._add(data, align), len(data)
        self._enter(
            name, SectionHeader(at, kind, flags, 0, offset, size, link, info, align, entry_size)
        )

    @property
    def next_number(self) -> int:
        """The number that the next added section gets."""
        return len(self._headers)

    def add_symbols(self, symbols: Iterable[NamedSymbol]) -> None:
        """Add the symbol table and its strings. `symbols` must begin with the local symbols."""
        symbols, strings, pack = list(symbols), Strings(), elf.SYMBOL.pack
        places = strings.add_all([symbol[0] for symbol in symbols])
        entries = [
            pack(place, value, size, binding << 4 | kind, 0, section)
            for place, (_, value, size, kind, section, binding) in zip(places, symbols, strict=True)
        ]
        table = pack(0, 0, 0, 0, 0, 0) + b"".join(entries)
        local = 1 + bisect_left(symbols, elf.STB_GLOBAL, key=itemgetter(-1))
        self.add(
            ".symtab",
            elf.SHT_SYMTAB,
            table,
            4,
            link=self.next_number + 1,
            info=local,
            entry_size=elf.SYMBOL.size,
        )
        self.add(".strtab", elf.SHT_STRTAB, strings.bytes(), 1)

    def bytes(self, kind: int, entry: int = 0, segments: Sequence[Segment] = ()) -> bytes:
        """Complete the file and return its bytes. Nothing can be added afterwards.

        `kind` is the ELF type (ET_*), `entry` the address of the first instruction.
        """
        # Section names are added last, because the section with the names has a name itself.
        at = self._names.add(".shstrtab")
        names = self._names.bytes()
        offset = self._add(names, 1)
        self._enter(
            ".shstrtab",
            SectionHeader(at, elf.SHT_STRTAB, 0, 0, offset, len(names), 0, 0, 1, 0),
        )
        table = b"".join(elf.SECTION_HEADER.pack(*header) for header in self._headers)
        header = FileHeader(
            magic=elf.MAGIC,
            file_class=elf.CLASS_32,
            data=elf.DATA_LITTLE,
            ident_version=elf.VERSION,
            abi=0,
            kind=kind,
            machine=elf.EM_RISCV,
            version=elf.VERSION,
            entry=entry,
            segments_at=elf.FILE_HEADER.size if segments else 0,
            sections_at=self._add(table, 4),
            flags=0,
            size=elf.FILE_HEADER.size,
            segment_size=elf.SEGMENT.size if kind == elf.ET_EXEC else 0,
            segments=len(segments),
            section_size=elf.SECTION_HEADER.size,
            sections=len(self._headers),
            names=len(self._headers) - 1,
        )
        return (
            elf.FILE_HEADER.pack(*header)
            + b"".join(elf.SEGMENT.pack(*segment) for segment in segments)
            + self._data
        )
