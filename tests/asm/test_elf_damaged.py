"""Damaged ELF files are refused in words, never with a traceback."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import elf, elf_note
from macaw.asm.elf_format import (
    FILE_HEADER,
    SECTION_HEADER,
    SEGMENT,
    FileHeader,
    SectionHeader,
    Segment,
)
from tests.asm.elf_file import FILE, refused
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

HEADER = FileHeader(*FILE_HEADER.unpack_from(FILE))
SEGMENTS = [Segment(*SEGMENT.unpack_from(FILE, 52 + 32 * i)) for i in range(HEADER.segments)]
HEADERS = [
    SectionHeader(*SECTION_HEADER.unpack_from(FILE, HEADER.sections_at + 40 * i))
    for i in range(HEADER.sections)
]
TEXT, DATA, EMPTY_ROW, TENSORS, NOTE, SYMBOLS, STRINGS, NAMES = 1, 3, 5, 6, 8, 9, 10, 11


def with_header(**changes: int | bytes) -> bytes:
    return FILE_HEADER.pack(*HEADER._replace(**changes)) + FILE[FILE_HEADER.size :]  # type: ignore[arg-type]


def patched(place: int, data: bytes) -> bytes:
    return FILE[:place] + data + FILE[place + len(data) :]


def with_segment(number: int, **changes: int) -> bytes:
    return patched(52 + 32 * number, SEGMENT.pack(*SEGMENTS[number]._replace(**changes)))


def with_section(number: int, **changes: int) -> bytes:
    record = SECTION_HEADER.pack(*HEADERS[number]._replace(**changes))
    return patched(HEADER.sections_at + 40 * number, record)


def with_symbol(number: int, at: int, data: bytes) -> bytes:
    return patched(HEADERS[SYMBOLS].offset + 16 * number + at, data)


BROKEN = {
    "empty": (b"", "not an ELF file"),
    "text": (b"\n    .core cp\n", "not an ELF file"),
    "header cut off": (FILE[:51], "cut off: 51 bytes"),
    "64 bits": (with_header(file_class=2), "a 64-bit ELF file"),
    "class 7": (with_header(file_class=7), "of class 7"),
    "big-endian": (with_header(data=2), "big-endian"),
    "byte order 0": (with_header(data=0), "of byte order 0"),
    "machine": (with_header(machine=62), "for machine 62, not RISC-V"),
    "version": (with_header(version=2), "ELF version 2"),
    "ident version": (with_header(ident_version=3), "ELF version 1, 3"),
    "relocatable": (with_header(kind=1), "relocatable object"),
    "shared": (with_header(kind=3), "-static -no-pie"),
    "core dump": (with_header(kind=4), "a core dump"),
    "type 9": (with_header(kind=9), "of type 9"),
    "program header size": (with_header(segment_size=56), "a program header has 56 bytes"),
    "program headers at": (with_header(segments_at=51), "cannot be at offset 0x33"),
    "program headers behind": (with_header(segments_at=0xFFFFFFF0), "exceed the file"),
    "program header count": (with_header(segments=0xFFFF), "65535 program headers"),
    "section header size": (with_header(section_size=64), "a section header has 64 bytes"),
    "section header count": (with_header(sections=4000), "exceed the file"),
    "no names": (with_header(names=0), "section 0 should be the sections' names"),
    "names are no strings": (with_header(names=1), "section 1 should be"),
    "names behind": (with_header(names=99), "section 99 should be"),
    "entry nowhere": (with_header(entry=0x20000), "entry 0x20000 is in no section"),
    "entry in data": (with_header(entry=0x80000000), "entry 0x80000000 is in no section"),
    "entry odd": (with_header(entry=0x10002), "entry 0x10002 is not a multiple of 4"),
    "dynamic": (with_segment(0, kind=2), "dynamically linked"),
    "interpreter": (with_segment(0, kind=3), "dynamically linked"),
    "segment behind": (with_segment(0, offset=0xFFFFFF00), "segment 0: 0x14 bytes at offset"),
    "segment too long": (with_segment(0, file_size=0x10000000), "exceed the file"),
    "segment of less memory": (with_segment(0, size=4), "0x14 bytes in the file, 0x4 in memory"),
    "segment wraps": (with_segment(4, size=0xFFFFFFFF), "is more than 32 bits"),
    "segment alignment": (with_segment(0, align=3), "do not agree with the alignment 0x3"),
    "segment moved": (with_segment(0, address=0x10004), "no segment loads"),
    "segment loaded elsewhere": (with_segment(0, load_address=0x80000000), "overlap at load addr"),
    "segment loaded crooked": (
        with_segment(0, load_address=0x10001),
        "cannot be loaded at 0x10001",
    ),
    "first section": (with_section(0, kind=1), "section 0 is of type 1, not empty"),
    "section type": (with_section(TEXT, kind=14), "type 14 with flags 0x6"),
    "section flags": (with_section(TEXT, flags=7), "type 1 with flags 0x7"),
    "section not loaded": (with_section(TEXT, flags=0), r"section .text.cp: it is not loaded"),
    "section alignment": (with_section(TEXT, align=0x20000), "not aligned to 0x20000"),
    "section of wide alignment": (with_section(DATA, align=0x20000), "is more than 65536"),
    "section of odd alignment": (with_section(TEXT, align=3), "not aligned to 0x3"),
    "section moved": (with_section(TEXT, offset=0), "not where its segment has it"),
    "section behind": (with_section(TEXT, offset=0x10000000), "exceed the file"),
    "section too long": (with_section(DATA, size=0x1000), "bytes are to be loaded|exceed the file"),
    "section longer than segment": (with_section(DATA, size=9), "no segment loads 0x9 bytes"),
    "section wraps": (with_section(TENSORS, size=0x80000000), "is more than 32 bits"),
    "section name": (with_section(DATA, name=0x4000), "the name of section 3 is at 0x4000"),
    "section without name": (with_section(DATA, name=0), "section 3 is called ''"),
    "sections of one name": (with_section(2, name=HEADERS[1].name), "have the same name"),
    "part is no section": (with_section(EMPTY_ROW, name=HEADERS[2].name), "same name|no section"),
    "zeros over bytes": (with_section(DATA, kind=8), "should be zeros"),
    "note is no note": (with_section(NOTE, kind=1, flags=0), "it is not loaded|is no note"),
    "note cut off": (with_section(NOTE, size=10), "cut off at offset 0x0"),
    "note short": (with_section(NOTE, size=40), "exceed its section"),
    "note of somebody else": (patched(HEADERS[NOTE].offset + 12, b"Mouse"), "no note of Macaw"),
    "note of other type": (patched(HEADERS[NOTE].offset + 8, b"\2"), "no note of Macaw"),
    "note no JSON": (patched(HEADERS[NOTE].offset + 20, b"["), "not UTF-8 JSON"),
    "note no UTF-8": (patched(HEADERS[NOTE].offset + 24, b"\xff"), "not UTF-8 JSON"),
    "symbol entry size": (with_section(SYMBOLS, entry_size=24), "in entries of 24"),
    "symbol table size": (with_section(SYMBOLS, size=50), "0x32 bytes in entries of 16"),
    "symbol names": (with_section(SYMBOLS, link=2), "section 2 should hold its names"),
    "symbol names behind": (with_section(SYMBOLS, link=200), "section 200 should hold its names"),
    "local symbols": (with_section(SYMBOLS, info=2), "symbol 2: binding 0; local ones end at 2"),
    "two symbol tables": (with_section(STRINGS, kind=2), "2 symbol tables"),
    "string without end": (with_section(STRINGS, size=3), "of a string table of 0x3|no end"),
    "symbol name": (with_symbol(1, 0, b"\xff\xff"), "the name of symbol 1 is at 0xffff"),
    "symbol without name": (with_symbol(1, 0, b"\0"), r"symbol 1 \(\): cannot be"),
    "symbol type": (with_symbol(1, 12, b"\x0d"), "cannot be in a file of Macaw"),
    "symbol binding": (with_symbol(6, 12, b"\x30"), "cannot be in a file of Macaw"),
    "symbol section": (with_symbol(1, 14, b"\x50"), "there is no section 0x50"),
    "symbol of the section after the last": (
        with_symbol(1, 14, bytes([HEADER.sections])),
        f"there is no section {HEADER.sections:#x}",
    ),
    "undefined symbol": (with_symbol(1, 14, b"\0"), "cannot be in a file of Macaw"),
    "common symbol": (with_symbol(1, 14, b"\xf2\xff"), "there is no section 0xfff2"),
    "name not printable": (
        patched(HEADERS[STRINGS].offset + 1, b"\n")[: HEADERS[SYMBOLS].offset + 16 + 14]
        + b"\x50"
        + patched(HEADERS[STRINGS].offset + 1, b"\n")[HEADERS[SYMBOLS].offset + 16 + 15 :],
        r"symbol 1 \('\\n.*'\): there is no section 0x50",
    ),
    "name not UTF-8": (patched(HEADERS[STRINGS].offset + 1, b"\xff"), "is not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused(name: str) -> None:
    refused(*BROKEN[name])


def noted(old: str, new: str) -> bytes:
    """The file with one text of its note replaced by another text of the same length."""
    assert len(old.encode()) == len(new.encode())
    place = FILE.index(old.encode(), HEADERS[NOTE].offset)
    return patched(place, new.encode())


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (
            '"version":2',
            '"version":7',
            "version 7; this program reads versions 1 to 2, a newer one",
        ),
        ('"version":2', '"version":0', "version 0; this program reads versions 1 to 2$"),
        ('"version"', '"Version"', "the note has no version"),
        ('"version":2', '"version":t', "not UTF-8 JSON"),
        ('"device":"tiny"', '"device":12345.', "not UTF-8 JSON"),
        ('"device":"tiny"', '"device":123456', "the device of the note has the wrong type"),
        ('"device":"tiny"', '"device":"t\\ny"', "the device of the note holds"),
        ('"dtype":"int8"', '"dtype":"int9"', "tensor x cannot be"),
        ('"direction":"input"', '"direction":"inPut"', "tensor x cannot be"),
        ("[8,8]", "[8,0]", "tensor x has a shape"),
        ("[8,8]", "[8,.]", "not UTF-8 JSON"),
        ("[8,8]", "88888", "the shape of tensor x has the wrong type"),
        ('"address":2147483904', '"address":9999999999', "tensor x lies outside"),
        ('"name":"y"', '"name":"x"', "the tensor x occurs twice"),
        ('"section":".pe.0"', '"section":".pe.7"', "the part .pe.7 of pe is no section"),
        ('"section":".pe.0"', '"section":".pe.1"', "the section .pe.1 is two parts"),
        ('"core":"pe","index":1', '"core":"","index":"10', "not UTF-8 JSON"),
        ('"core":"pe","index":1', '"core":"","index":100', "is no part of core ''"),
        ('"core":"pe","index":1', '"core":"pe","iNdex":1', "a part has no index"),
        ('"core":"pe"', '"core":"po"', "section .pe.0: no core is called 'po'"),
    ],
)
def test_a_broken_note_is_refused(old: str, new: str, match: str) -> None:
    refused(noted(old, new), match)


PLACED = '{"section": ".a", "address": %d, "load": %d, "size": %d}'


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[" * 100_000, "not UTF-8 JSON"),
        (" " * (elf_note.LIMIT + 1), "16777217 bytes are more than the limit of 16777216"),
        ('"config": "\\ud800"', "the config of the note is not UTF-8"),
        (f'"placed": [{PLACED % (1 << 32, 0, 4)}]', r"placed section cannot be: \[4294967296, 0, 4\]"),
        (f'"placed": [{PLACED % (0, -1, 4)}]', r"placed section cannot be: \[0, -1, 4\]"),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_another_note_is_refused(text: str, match: str) -> None:
    if text.startswith('"'):
        members = '"version": 1, "device": "tiny", "tensors": [], "parts": [], "config": ""'
        text = f"{{{members}, {text}}}"
    note = struct.pack("<III", 6, len(text), 1) + b"Macaw\0\0\0" + text.encode()
    note += bytes(-len(note) % 4)
    with pytest.raises(elf.ElfError, match=match):
        elf_note.read(note)


def test_bytes_loaded_many_times_over_are_refused() -> None:
    """A small ELF file is refused if it loads the same bytes many times and so fills the memory."""
    segment = Segment(1, 0, 0, 0, 0x8000, 0x8000, 4, 1)
    count = 1000
    header = HEADER._replace(segments=count, sections=0, sections_at=0, entry=0)
    data = FILE_HEADER.pack(*header)
    for number in range(count):
        place = 0x10000 * number
        data += SEGMENT.pack(*segment._replace(address=place, load_address=place))
    refused(data.ljust(0x8000, b"x"), "0x1f40000 bytes are to be loaded, the file has 0x8000")


def read_or_refuse(data: bytes) -> None:
    """Read a file: it is a program that can be written again, or the error is printable."""
    try:
        program = elf.read(data)
    except elf.ElfError as error:
        said = str(error)
    else:
        said = "a program"
    assert said.isprintable()
    if said == "a program" and program.note_version:
        again = elf.write(program)
        assert elf.read(again) == program


@fuzz
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_refused(data: bytes, headed: bool) -> None:
    read_or_refuse(FILE[:52] + data if headed else data)


@fuzz
@given(st.data())
def test_mutated_files_are_read_or_refused(data: st.DataObject) -> None:
    # Most bytes are padding, code and text: aim at the headers and tables as well.
    tables = [(0, 52 + 32 * HEADER.segments), (HEADER.sections_at, len(FILE))]
    tables += [(HEADERS[i].offset, HEADERS[i].offset + HEADERS[i].size) for i in (NOTE, SYMBOLS)]
    changed = bytearray(FILE)
    for low, high in data.draw(st.lists(st.sampled_from([*tables, (0, len(FILE))]), max_size=5)):
        place = data.draw(st.integers(low, high - 1))
        changed[place] = data.draw(st.integers(0, 255) | st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    end = data.draw(st.integers(0, len(FILE)) | st.just(len(FILE)))
    read_or_refuse(bytes(changed[:end]))
