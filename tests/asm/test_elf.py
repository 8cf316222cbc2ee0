"""ELF: what is written is read back, GNU's tools agree, and broken files are refused."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asm import elf, elf_note
from asm.assembler import assemble
from asm.elf_format import (
    FILE_HEADER,
    SECTION_HEADER,
    SEGMENT,
    FileHeader,
    SectionHeader,
    Segment,
)
from asm.program import Program, Section, Symbol, Tensor
from asm.source import Source
from tests.fuzzing import fuzz, properties

GNU = "riscv64-unknown-elf-"

# addi ra, zero, 0; addi a0, zero, 0; addi a7, zero, 93; ecall; dma.copy zero, zero
CODE = struct.pack("<5I", 0x00000093, 0x00000513, 0x05D00893, 0x00000073, 0x0000000B)

PROGRAM = Program(
    sections=(
        Section(".text.cp", "cp", 0, 0x10000, 0x10000, CODE, len(CODE), 4, "ax"),
        Section(".data.cp", "cp", 0, 0x10020, 0x10020, b"table..." * 2, 16, 16, "aw"),
        Section(".data", None, None, 0x80000000, 0x80000000, b"hello\0", 6, 4, "aw"),
        Section(".pe.0", "pe", 0, 0x10000000, 0x80000040, bytes(range(100)), 100, 64, "a"),
        Section(".pe.1", "pe", 1, 0x10100000, 0x10100000, b"", 0, 64, "a"),
        Section(".tensors", None, None, 0x80000100, 0x80000100, b"", 640, 64, "aw"),
        Section(".tensors.unit1", None, None, 0x10100000, 0x10100000, b"", 64, 32, "aw"),
    ),
    symbols=(
        Symbol("_start", 0x10000, 20, ".text.cp", "func", True),
        Symbol("loop", 0x10004, 16, ".text.cp", "notype", False),
        Symbol("text", 0x80000000, 6, ".data", "object", False),
        Symbol("layer", 0x10000000, 4, ".pe.0", "object", False),
        Symbol("N", 5, 0, None, "notype", False),
        Symbol("x", 0x80000100, 64, ".tensors", "object", False),
        Symbol("y", 0x80000140, 40, ".tensors", "object", True),
    ),
    tensors=(
        Tensor("x", "input", "int8", (8, 8), 0x80000100),
        Tensor("y", "output", "int32", (10,), 0x80000140),
        Tensor("q", "input", "float16", (32,), 0x10100000, "unit1"),
    ),
    config_toml="# µ\n[pe]\nrows = 2\n",
    device="tiny",
    entry=0x10000,
)
FILE = elf.write(PROGRAM)


def tool(name: str) -> str:
    path = shutil.which(GNU + name)
    if path is None:
        pytest.skip(f"{GNU}{name} is not installed")
    return path


def output(name: str, *arguments: str) -> str:
    """What a tool of GNU binutils prints; a warning fails the test."""
    done = subprocess.run([tool(name), *arguments], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not done.stderr, done.stderr
    assert not re.search(r"warning|error|corrupt|<unknown>", said, re.IGNORECASE), said
    return done.stdout


def refused(data: bytes, match: str) -> None:
    with pytest.raises(elf.ElfError, match=match):
        elf.read(data)


def test_the_same_program_comes_back() -> None:
    assert elf.read(FILE) == PROGRAM
    assert elf.read(FILE).note_version == 1


def test_the_same_bytes_come_out() -> None:
    assert elf.write(PROGRAM) == FILE
    turned = replace(PROGRAM, symbols=PROGRAM.symbols[::-1], source_files=("a.s",))
    assert elf.write(turned) == FILE
    assert elf.write(elf.read(FILE)) == FILE


def test_a_program_without_anything_is_a_file() -> None:
    assert elf.read(elf.write(Program())) == Program()


# --- GNU's tools -------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "program.elf"
    file.write_bytes(FILE)
    return str(file)


def test_readelf_says_what_the_program_says(path: str) -> None:
    said = output("readelf", "-aW", path)
    for pattern in (
        r"Class: +ELF32",
        r"Type: +EXEC",
        r"Machine: +RISC-V",
        r"Flags: +0x0",
        r"Entry point address: +0x10000",
        r"\.text\.cp +PROGBITS +00010000 \w+ 000014 00 +AX +0 +0 +4",
        r"\.data\.cp +PROGBITS +00010020 \w+ 000010 00 +WA +0 +0 +16",
        r"\.data +PROGBITS +80000000 \w+ 000006 00 +WA +0 +0 +4",
        r"\.pe\.0 +PROGBITS +10000000 \w+ 000064 00 +A +0 +0 +64",
        r"\.tensors +NOBITS +80000100 \w+ 000280 00 +WA +0 +0 +64",
        r"LOAD +\w+ 0x10000000 0x80000040 0x00064 0x00064 R +0x40",
        r"LOAD +\w+ 0x00010000 0x00010000 0x00014 0x00014 R E 0x4",
        r"LOAD +\w+ 0x80000100 0x80000100 0x00000 0x00280 RW +0x40",
        r"00010000 +20 FUNC +GLOBAL DEFAULT +1 _start",
        r"80000100 +64 OBJECT +LOCAL +DEFAULT +6 x",
        r"00000005 +0 NOTYPE +LOCAL +DEFAULT +ABS N",
        r"Macaw +0x",
    ):
        assert re.search(pattern, said), f"{pattern} is not in\n{said}"


def test_nm_lists_the_symbols(path: str) -> None:
    assert output("nm", "-n", "-S", path).splitlines() == [
        "00000005 a N",
        "00010000 00000014 T _start",
        "00010004 00000010 t loop",
        "10000000 00000004 r layer",
        "80000000 00000006 d text",
        "80000100 00000040 b x",
        "80000140 00000028 B y",
    ]


def test_objdump_disassembles_cp_alone(path: str) -> None:
    said = output("objdump", "-d", "-M", "no-aliases", path)
    code = re.findall(r"^ +(\w+):\t(\w+) +\t(.*)$", said, re.MULTILINE)
    assert [(address, word) for address, word, _ in code] == [
        (f"{0x10000 + 4 * place:x}", f"{word:08x}")
        for place, word in enumerate(struct.unpack("<5I", CODE))
    ]
    assert code[2][2].split() == ["addi", "a7,zero,93"]
    assert ".pe.0" not in said


def test_size_adds_up(path: str) -> None:
    said = output("size", "-A", path)
    for name, size, address in ((".text.cp", 20, 0x10000), (".tensors", 640, 0x80000100)):
        assert re.search(rf"{re.escape(name)} +{size} +{address}\b", said)


def test_pyelftools_reads_the_note(path: str) -> None:
    elffile = pytest.importorskip("elftools.elf.elffile")
    with Path(path).open("rb") as stream:
        file = elffile.ELFFile(stream)
        (note,) = file.get_section_by_name(".note.macaw").iter_notes()
        assert (note["n_name"], note["n_descsz"] > 0) == ("Macaw", True)
        assert file.get_section_by_name(".symtab")["sh_info"] == 6
        for segment in file.iter_segments():
            assert (segment["p_offset"] - segment["p_vaddr"]) % segment["p_align"] == 0


ASSEMBLED = """
        .device tiny
        .input  x, int8, 16
        .output y, int32, 4
        .equ    N, 5
        .core   cp
        .global _start
_start: lui     a0, 0x80000
        lw      a1, 4(a0)
loop:   addi    a1, a1, -N
        bne     a1, zero, loop
        mul     a2, a1, a1
        csrrs   a3, cycle, zero
        addi    a7, zero, 93
        ecall
        .section .data
value:  .word   1, 2
text:   .asciz  "hello"
        .core   pe, row=0
        .seq    layer
          ld    activations
          mac
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=x, out=(y, pes=4)
w:      .byte   1, 2, 3
"""


def test_an_assembled_object_says_what_its_source_says(tmp_path: Path) -> None:
    program = assemble(Source(ASSEMBLED, "source.s"))
    data = elf.write(program)
    assert elf.read(data) == program
    path = tmp_path / "object.elf"
    path.write_bytes(data)
    assert re.search(r"Entry point address: +0x10000$", output("readelf", "-aW", str(path)), re.M)
    base, start = 0x10000000, program.symbol("_start").value
    tensors = 0x80000000 + 14 + -14 % 64 + program.section(".pe.0").size
    tensors += -tensors % 64
    named = [line.split() for line in output("nm", "-nS", str(path)).splitlines()]
    assert {(int(line[0], 16), line[-2], line[-1]) for line in named} == {
        (5, "a", "N"),
        (start, "T", "_start"),
        (start + 8, "t", "loop"),
        (base, "r", "_list.0"),
        (base + program.symbol("layer").value % base, "r", "layer"),
        (base + program.symbol("w").value % base, "r", "w"),
        (0x80000000, "d", "value"),
        (0x80000008, "d", "text"),
        (tensors, "B", "x"),
        (tensors + 64, "B", "y"),
    }
    sizes = {line[-1]: int(line[1], 16) for line in named if len(line) == 4}
    assert (sizes["_start"], sizes["loop"], sizes["value"], sizes["text"]) == (8, 24, 8, 6)
    assert (sizes["x"], sizes["y"], sizes["layer"]) == (16, 16, 20)
    said = output("objdump", "-d", "-M", "no-aliases", str(path))
    code = re.findall(r"^ +(\w+):\t\w+ +\t(.*)$", said, re.MULTILINE)
    assert [(int(address, 16), text.split("#")[0].split()) for address, text in code] == [
        (start, ["lui", "a0,0x80000"]),
        (start + 4, ["lw", "a1,4(a0)"]),
        (start + 8, ["addi", "a1,a1,-5"]),
        (start + 12, ["bne", "a1,zero,10008", "<loop>"]),
        (start + 16, ["mul", "a2,a1,a1"]),
        (start + 20, ["csrrs", "a3,cycle,zero"]),
        (start + 24, ["addi", "a7,zero,93"]),
        (start + 28, ["ecall"]),
    ]
    assert "<_start>:" in said
    assert "<loop>:" in said


# --- other tools' executables ------------------------------------------------------------

SOURCE = """
static const char text[] = "hello";
int table[4] = {1, 2, 3, 4};
int zeros[100];
static long call(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
void _start(void) {
  zeros[3] = table[2];
  call(64, 1, (long)text, sizeof text);
  call(93, zeros[3], 0, 0);
}
"""


def compiled(folder: Path, *options: str) -> bytes:
    source, target = folder / "program.c", folder / "program.elf"
    source.write_text(SOURCE)
    subprocess.run(
        [
            tool("gcc"),
            "-nostdlib",
            "-ffreestanding",
            "-O1",
            *options,
            str(source),
            "-o",
            str(target),
        ],
        check=True,
        capture_output=True,
    )
    return target.read_bytes()


RV32 = ("-march=rv32im_zicsr", "-mabi=ilp32", "-static")


def memory(program: Program) -> dict[int, int]:
    """Bytes by address that the loader leaves behind, zeros left out."""
    return {
        section.load_address + place: byte
        for section in program.sections
        for place, byte in enumerate(section.data)
        if byte
    }


def test_a_compiled_c_program_is_read(tmp_path: Path) -> None:
    data = compiled(tmp_path, *RV32)
    program = elf.read(data)
    assert (program.note_version, program.device, program.tensors) == (0, "", ())
    start = program.symbol("_start")
    assert (start.value, start.kind, start.is_global) == (program.entry, "func", True)
    code = program.section_at(start.value)
    assert code is not None
    assert (code.name, code.core, code.flags) == (".text", "cp", "ax")
    table = program.symbol("table")
    section = program.section(table.section or "")
    place = table.value - section.address
    assert section.data[place : place + 16] == struct.pack("<4i", 1, 2, 3, 4)
    zeros = program.symbol("zeros")
    assert zeros.size == 400
    assert program.section(zeros.section or "").nobits
    assert not any(symbol.name.startswith("$") for symbol in program.symbols)


def test_bytes_that_no_section_names_are_loaded_too(tmp_path: Path) -> None:
    data = compiled(tmp_path, *RV32)
    whole = elf.read(data)
    header = FileHeader(*FILE_HEADER.unpack_from(data))
    stripped = header._replace(sections_at=0, sections=0, names=0)
    bare = elf.read(FILE_HEADER.pack(*stripped) + data[FILE_HEADER.size :])
    assert bare.symbols == ()
    assert bare.entry == whole.entry
    assert all(section.name.startswith(".segment.") for section in bare.sections)
    assert {section.core for section in bare.sections if section.flags == "ax"} == {"cp"}
    # The linker puts the file's own headers into the first segment: they are memory as well.
    # We have just changed four of their members.
    changed = range(0x10000, 0x10034)
    assert {k: v for k, v in memory(bare).items() if k not in changed} == {
        k: v for k, v in memory(whole).items() if k not in changed
    }
    segments = [Segment(*SEGMENT.unpack_from(data, 52 + 32 * i)) for i in range(header.segments)]
    wanted = {
        segment.load_address + place: data[segment.offset + place]
        for segment in segments
        if segment.kind == 1
        for place in range(segment.file_size)
        if data[segment.offset + place]
    }
    assert memory(whole) == wanted


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("-march=rv64im_zicsr", "-mabi=lp64"), "a 64-bit ELF file"),
        (("-march=rv32imc_zicsr", "-mabi=ilp32"), "compressed instructions.*-march=rv32im_zicsr"),
        (("-march=rv32imf_zicsr", "-mabi=ilp32f"), "floating-point ABI.*-mabi=ilp32"),
        ((*RV32, "-c"), "a relocatable object: link it"),
        (("-march=rv32im_zicsr", "-mabi=ilp32", "-mbig-endian"), "the file is big-endian"),
    ],
)
def test_other_executables_are_refused(
    tmp_path: Path, options: tuple[str, ...], match: str
) -> None:
    refused(compiled(tmp_path, *options), match)


# --- broken files ------------------------------------------------------------------------

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
    "program headers behind": (with_header(segments_at=0xFFFFFFF0), "reach behind the file"),
    "program header count": (with_header(segments=0xFFFF), "65535 program headers"),
    "section header size": (with_header(section_size=64), "a section header has 64 bytes"),
    "section header count": (with_header(sections=4000), "reach behind the file"),
    "no names": (with_header(names=0), "section 0 should be the sections' names"),
    "names are no strings": (with_header(names=1), "section 1 should be"),
    "names behind": (with_header(names=99), "section 99 should be"),
    "entry nowhere": (with_header(entry=0x20000), "entry 0x20000 is in no section"),
    "entry in data": (with_header(entry=0x80000000), "entry 0x80000000 is in no section"),
    "entry odd": (with_header(entry=0x10002), "entry 0x10002 is not a multiple of 4"),
    "dynamic": (with_segment(0, kind=2), "dynamically linked"),
    "interpreter": (with_segment(0, kind=3), "dynamically linked"),
    "segment behind": (with_segment(0, offset=0xFFFFFF00), "segment 0: 0x14 bytes at offset"),
    "segment too long": (with_segment(0, file_size=0x10000000), "reach behind the file"),
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
    "section behind": (with_section(TEXT, offset=0x10000000), "reach behind the file"),
    "section too long": (with_section(DATA, size=0x1000), "bytes are to be loaded|reach behind"),
    "section longer than segment": (with_section(DATA, size=9), "no segment loads 0x9 bytes"),
    "section wraps": (with_section(TENSORS, size=0x80000000), "is more than 32 bits"),
    "section name": (with_section(DATA, name=0x4000), "the name of section 3 is at 0x4000"),
    "section without name": (with_section(DATA, name=0), "section 3 is called ''"),
    "sections of one name": (with_section(2, name=HEADERS[1].name), "have the same name"),
    "part is no section": (with_section(EMPTY_ROW, name=HEADERS[2].name), "same name|no section"),
    "zeros over bytes": (with_section(DATA, kind=8), "should be zeros"),
    "note is no note": (with_section(NOTE, kind=1, flags=0), "it is not loaded|is no note"),
    "note cut off": (with_section(NOTE, size=10), "cut off at offset 0x0"),
    "note short": (with_section(NOTE, size=40), "reach behind its section"),
    "note of somebody else": (patched(HEADERS[NOTE].offset + 12, b"Mouse"), "no note of ours"),
    "note of other type": (patched(HEADERS[NOTE].offset + 8, b"\2"), "no note of ours"),
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
    "symbol type": (with_symbol(1, 12, b"\x0d"), "cannot be in a file of ours"),
    "weak symbol": (with_symbol(6, 12, b"\x20"), "cannot be in a file of ours"),
    "symbol section": (with_symbol(1, 14, b"\x50"), "there is no section 0x50"),
    "undefined symbol": (with_symbol(1, 14, b"\0"), "cannot be in a file of ours"),
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
    """The file with a part of the note's text replaced by another of the same length."""
    assert len(old.encode()) == len(new.encode())
    place = FILE.index(old.encode(), HEADERS[NOTE].offset)
    return patched(place, new.encode())


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('"version":1', '"version":7', "version 7; this program reads version 1, a newer one"),
        ('"version":1', '"version":0', "version 0; this program reads version 1$"),
        ('"version"', '"Version"', "the note has no version"),
        ('"version":1', '"version":t', "not UTF-8 JSON"),
        ('"device":"tiny"', '"device":12345.', "not UTF-8 JSON"),
        ('"device":"tiny"', '"device":123456', "the device of the note has the wrong type"),
        ('"device":"tiny"', '"device":"t\\ny"', "the device of the note holds"),
        ('"dtype":"int8"', '"dtype":"int9"', "tensor x cannot be"),
        ('"direction":"input"', '"direction":"inPut"', "tensor x cannot be"),
        ("[8,8]", "[8,0]", "tensor x has a shape"),
        ("[8,8]", "[8,.]", "not UTF-8 JSON"),
        ("[8,8]", "88888", "the shape of tensor x has the wrong type"),
        ('"address":2147483904', '"address":9999999999', "tensor x lies outside"),
        ('"name":"y"', '"name":"x"', "the tensor x stands twice"),
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


def test_a_note_of_brackets_is_refused() -> None:
    text = b"[" * 100_000
    note = struct.pack("<III", 6, len(text), 1) + b"Macaw\0\0\0" + text
    with pytest.raises(elf.ElfError, match="not UTF-8 JSON"):
        elf_note.read(note)


def test_bytes_loaded_many_times_over_are_refused() -> None:
    """A small file must not fill the memory."""
    segment = Segment(1, 0, 0, 0, 0x8000, 0x8000, 4, 1)
    count = 1000
    header = HEADER._replace(segments=count, sections=0, sections_at=0, entry=0)
    data = FILE_HEADER.pack(*header)
    for number in range(count):
        place = 0x10000 * number
        data += SEGMENT.pack(*segment._replace(address=place, load_address=place))
    refused(data.ljust(0x8000, b"x"), "0x1f40000 bytes are to be loaded, the file has 0x8000")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"entry": 0}, "entry 0"),
        ({"entry": 0x40}, "entry 0x40 is in no section"),
        ({"sections": PROGRAM.sections * 2}, "two sections have the same name"),
        ({"symbols": (Symbol("a", 0, 0, ".b", "func", True),)}, r"in the section \.b"),
        ({"symbols": (Symbol("a", 1 << 32, 0, None, "func", True),)}, "does not fit 32 bits"),
        ({"symbols": (Symbol("a", -1, 0, None, "func", True),)}, "does not fit 32 bits"),
        ({"symbols": (Symbol("a\0b", 1, 0, None, "func", True),)}, "zero byte"),
        ({"symbols": (Symbol("", 1, 0, None, "func", True),)}, "symbol ''"),
        ({"symbols": (Symbol("a", 1, 0, None, "tls", True),)}, "no kind 'tls'"),
        ({"tensors": (Tensor("a", "inout", "int8", (), 0),)}, "tensor a cannot be"),
        ({"tensors": (Tensor("a", "input", "int4", (), 0),)}, "tensor a cannot be"),
        ({"tensors": PROGRAM.tensors * 2}, "tensor x stands twice"),
        (
            {"tensors": (Tensor("a", "input", "int8", (), 0x10100000, "unit0"),)},
            r"in \.tensors\.unit0",
        ),
        (
            {"tensors": (Tensor("a", "input", "int8", (65,), 0x10100000, "unit1"),)},
            r"in \.tensors\.unit1",
        ),
        (
            {"tensors": (Tensor("a", "input", "int8", (1,), 0x100FFFFF, "unit1"),)},
            r"in \.tensors\.unit1",
        ),
        ({"config_toml": "\ud800"}, "UTF-8"),
    ],
)
def test_a_program_that_no_file_can_hold_is_refused(changes: dict[str, object], match: str) -> None:
    with pytest.raises(elf.ElfError, match=match):
        elf.write(replace(PROGRAM, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"align": 3}, "alignment 3 is not a power"),
        ({"align": 0}, "alignment 0 is not a power"),
        ({"align": 0x10000, "address": 0x10004}, "not aligned to 65536"),
        ({"align": 0x20000}, "alignment 131072 is more than 65536"),
        ({"size": 21}, "20 bytes of data, size 21"),
        ({"address": 0xFFFFFFF0}, "does not fit 32 bits"),
        ({"address": -4}, "does not fit 32 bits"),
        ({"flags": "rwx"}, "no flags 'rwx'"),
        ({"address": 0x1001C}, "overlap at address 0x10020"),
        ({"load_address": 0x80000000}, "overlap at load address 0x80000000"),
        ({"name": ".note.macaw"}, "same name"),
        ({"core": "po"}, "no core is called 'po', there are .*cp"),
    ],
)
def test_a_section_that_no_file_can_hold_is_refused(changes: dict[str, object], match: str) -> None:
    section = replace(PROGRAM.sections[0], **changes)  # type: ignore[arg-type]
    with pytest.raises(elf.ElfError, match=match):
        elf.write(replace(PROGRAM, sections=(section, *PROGRAM.sections[1:]), symbols=()))


# --- properties --------------------------------------------------------------------------

NAMES_OF_SYMBOLS = st.text(
    st.characters(codec="utf-8", categories=["L", "N"], include_characters="_.$µ"),
    min_size=1,
    max_size=12,
).filter(lambda name: name.isprintable() and not name.startswith("$"))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs of any sections, symbols and tensors; sections follow one another in memory."""
    sections, address, load = [], 0x10000, 0x80000000
    for number in range(draw(st.integers(0, 5))):
        align = 1 << draw(st.integers(0, 7))
        address, load = address + -address % align, load + -load % align
        data = draw(st.binary(max_size=70))
        size = len(data) or draw(st.integers(0, 1000))
        core, index = draw(st.sampled_from([("cp", 0), ("pe", number), (None, None)]))
        flags = draw(st.sampled_from(["ax", "aw", "a"]))
        name = f".{number}.{draw(st.sampled_from('xyz'))}"
        # An empty section is loaded nowhere; its load address is not kept.
        at = load if size else address
        sections.append(Section(name, core, index, address, at, data, size, align, flags))
        address, load = address + size, load + size
    places = [section.name for section in sections] + [None]
    symbols = draw(
        st.lists(
            st.builds(
                Symbol,
                NAMES_OF_SYMBOLS,
                st.integers(0, 2**32 - 1),
                st.integers(0, 2**32 - 1),
                st.sampled_from(places),
                st.sampled_from(["notype", "object", "func"]),
                st.booleans(),
            ),
            max_size=8,
        )
    )
    tensors = draw(
        st.lists(
            st.builds(
                Tensor,
                NAMES_OF_SYMBOLS,
                st.sampled_from(["input", "output"]),
                st.sampled_from(["int8", "float64"]),
                st.lists(st.integers(1, 100), max_size=4).map(tuple),
                st.integers(0, 2**31),
            ),
            max_size=4,
            unique_by=lambda tensor: tensor.name,
        )
    )
    code = [section.address for section in sections if section.flags == "ax" and section.size]
    return Program(
        sections=tuple(sections),
        symbols=tuple(symbols),
        tensors=tuple(tensors),
        config_toml=draw(st.text(st.characters(codec="utf-8"), max_size=50)),
        device=draw(st.sampled_from(["", "tiny", "base"])),
        entry=draw(st.sampled_from([None, *(place for place in code if place % 4 == 0)])),
    )


@properties
@given(programs())
def test_any_program_comes_back(program: Program) -> None:
    data = elf.write(program)
    assert elf.read(data) == program
    assert elf.write(elf.read(data)) == data


def read_or_refuse(data: bytes) -> None:
    """Only a program or a clear error; a program that was read can be written."""
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
