"""The records of an ELF32 little-endian file, as the System V ABI defines them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from macaw.isa.errors import MacawError
from macaw.isa.typed_records import NamedTuple

TOP = 1 << 32  # one past the last address
MAGIC = b"\x7fELF"
CLASS_32 = 1
DATA_LITTLE = 1
VERSION = 1
EM_RISCV = 243

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
PF_X, PF_W, PF_R = 1, 2, 4
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 0, 1, 2, 3
SHT_RELA, SHT_NOTE, SHT_NOBITS = 4, 7, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
SHF_MERGE, SHF_STRINGS, SHF_INFO_LINK = 0x10, 0x20, 0x40
SHN_UNDEF, SHN_LORESERVE, SHN_ABS = 0, 0xFF00, 0xFFF1
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_TLS = 0, 1, 2, 3, 4, 6
LAYOUT = "macaw_layout_"  # begins the symbol that objects of one layout define; a checksum follows
R_RISCV_32, R_RISCV_CALL_PLT = 1, 19
EF_RISCV_RVC, EF_RISCV_FLOAT_ABI = 0x1, 0x6


# The bytes of the records below, in the same order of members.
FILE_HEADER = struct.Struct("<4sBBBB8xHHIIIIIHHHHHH")
SEGMENT = struct.Struct("<IIIIIIII")
SECTION_HEADER = struct.Struct("<IIIIIIIIII")
SYMBOL = struct.Struct("<IIIBBH")
RELOCATION = struct.Struct("<IIi")  # offset, symbol << 8 | kind, addend
NOTE_HEADER = struct.Struct("<III")  # sizes of name and description, type


_LONGEST = 300  # characters of an error; names in a file may be of any length


class ElfError(MacawError, ValueError):
    """The error for a file that Macaw cannot read, or a program that no ELF file can represent."""

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


class FileHeader(NamedTuple):
    """The file header, Elf32_Ehdr."""

    magic: bytes
    file_class: int
    data: int
    ident_version: int
    abi: int
    kind: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    size: int
    segment_size: int
    segments: int
    section_size: int
    sections: int
    names: int


class Segment(NamedTuple):
    """A program header, Elf32_Phdr."""

    kind: int
    offset: int
    address: int
    load_address: int
    file_size: int
    size: int
    flags: int
    align: int


class SectionHeader(NamedTuple):
    """A section header, Elf32_Shdr."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


class SymbolEntry(NamedTuple):
    """A symbol table entry, Elf32_Sym."""

    name: int
    value: int
    size: int
    info: int
    other: int
    section: int

    @property
    def binding(self) -> int:
        """The symbol's binding, an STB_* constant."""
        return self.info >> 4

    @property
    def kind(self) -> int:
        """The symbol's type, an STT_* constant."""
        return self.info & 15


class Strings:
    """A string table under construction; equal strings are stored once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {"": 0}
        self._data = bytearray(b"\0")

    def add(self, text: str) -> int:
        """Add `text` if it is new and return its offset.

        Raises `ElfError` for a text that a string table cannot represent.
        """
        return next(self.add_all([text]))

    def add_all(self, texts: Sequence[str]) -> Iterator[int]:
        """Add the texts that are new, and return an iterator over the offsets of all `texts`.

        Raises `ElfError` for a text that a string table cannot represent.
        """
        places = self._places
        fresh = [text for text in dict.fromkeys(texts) if text not in places]
        data = "\0".join([*fresh, ""])
        if data.count("\0") != len(fresh):
            name = next(text for text in fresh if "\0" in text)
            raise ElfError(f"the name {name!r} holds a zero byte")
        coded = data.encode()
        # Among names of ASCII characters, a name has as many bytes as characters.
        names = fresh if len(coded) == len(data) else map(str.encode, fresh)
        starts = accumulate([len(name) + 1 for name in names], initial=len(self._data))
        places.update(zip(fresh, starts, strict=False))  # the last start is the end
        self._data += coded
        return map(places.__getitem__, texts)

    def bytes(self) -> bytes:
        """Return the string table as bytes."""
        return bytes(self._data)


def string_at(table: bytes, offset: int, what: str) -> str:
    """Return the string at `offset` of a string table. Raises `ElfError`.

    In the message, `what` is the symbol or the section that has this name.
    """
    if not 0 <= offset < len(table):
        raise ElfError(
            f"the name of {what} is at {offset:#x} of a string table of {len(table):#x} bytes"
        )
    end = table.find(b"\0", offset)
    if end < 0:
        raise ElfError(f"the name of {what} has no end in its string table")
    try:
        return table[offset:end].decode()
    except UnicodeDecodeError:
        raise ElfError(f"the name of {what} is not UTF-8: {table[offset:end]!r}") from None


def whole(value: Any, low: int, high: int) -> bool:
    """Return whether `value` is an integer (not a bool) from `low` to `high`."""
    return type(value) is int and low <= value <= high


def section_bytes(data: bytes, header: SectionHeader, what: str) -> bytes:
    """Return the bytes of a section in the file.

    Raises `ElfError` if the section extends past the file's end.
    """
    if header.offset + header.size > len(data):
        raise ElfError(
            f"{what}: {header.size:#x} bytes at offset {header.offset:#x}"
            f" exceed the file's {len(data):#x} bytes"
        )
    return data[header.offset : header.offset + header.size]
