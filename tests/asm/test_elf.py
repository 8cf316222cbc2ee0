"""ELF: a file is read as it was written, and GNU's tools agree."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import elf, elf_object
from macaw.asm.assembler import assemble, assemble_object
from macaw.asm.disassembler import disassemble
from macaw.asm.program import Program, Section, Symbol, Tensor
from macaw.asm.source import Source
from tests.asm.elf_file import CODE, FILE, PROGRAM
from tests.asm.gnu_tools import output
from tests.fuzzing import properties


def test_the_same_program_comes_back() -> None:
    assert elf.read(FILE) == PROGRAM
    assert elf.read(FILE).note_version == 2


@pytest.mark.parametrize("words", [[], ["--strip-debug"], ["--strip-unneeded"]])
def test_a_copy_of_objcopy_is_a_program(words: list[str], tmp_path: Path) -> None:
    """The copy has a symbol for each section, and lines only if it keeps them."""
    (tmp_path / "a.elf").write_bytes(FILE)
    output("objcopy", *words, str(tmp_path / "a.elf"), str(tmp_path / "b.elf"))
    copy = elf.read((tmp_path / "b.elf").read_bytes())
    assert copy.sections == PROGRAM.sections
    assert copy.tensors == PROGRAM.tensors
    if "--strip-unneeded" not in words:
        assert set(copy.symbols) == set(PROGRAM.symbols)


def test_a_file_of_version_1_means_the_same() -> None:
    """A file of version 1 is read and written as before; version 2 adds formats of pe only.

    See docs/format-pe.md.
    """
    older = FILE.replace(b'"version":2', b'"version":1')
    assert elf.read(older) == replace(PROGRAM, note_version=1)
    assert elf.write(elf.read(older)) == older


def test_the_same_bytes_come_out() -> None:
    assert elf.write(PROGRAM) == FILE
    turned = replace(PROGRAM, symbols=PROGRAM.symbols[::-1], source_files=("a.s",))
    assert elf.write(turned) == FILE
    assert elf.write(elf.read(FILE)) == FILE


ARRAYS = """        .device tiny
        .input  x, int8, 4
        .output y, int32, 8
        .data
        .global sums
sums:   .array  int32, 2, 3
        .core   pe, row=0
w:      .sparse "w.npy"
mine:   .array  int16, 8
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y[0]
"""


def test_arrays_and_copies_of_tensors_are_in_the_note(tmp_path: Path) -> None:
    """The ELF note lists arrays, and copies of tensors in the unit.

    An array that is local to a source has the name of the source file in the note.
    """
    np.save(tmp_path / "w.npy", np.ones((8, 4), np.int8))
    program = assemble(Source(ARRAYS, "some/arrays.s", tmp_path))
    sums, mine, x, y = (program.symbol(name).value for name in ("sums", "mine", "x", "y"))
    assert program.arrays == (
        Tensor("sums", "array", "int32", (2, 3), sums),
        Tensor("mine", "array", "int16", (8,), mine, file="arrays.s"),
    )
    assert [(item.name, item.direction, item.shape) for item in program.copies] == [
        ("x", "copy", (4,)),
        ("y", "copy", (8,)),
    ]
    for (
        item
    ) in program.copies:  # after the bytes of the part itself, and not at the tensor's address
        assert mine + 16 <= item.address < 0x1010_0000
        assert item.address not in (x, y)
    data = elf.write(program)
    again = elf.read(data)
    assert (again.arrays, again.copies) == (program.arrays, program.copies)
    assert elf.write(again) == data
    text = data[data.index(b'{"version"') :]
    note = json.JSONDecoder().raw_decode(text.decode("latin-1"))[0]
    assert [item["name"] for item in note["arrays"]] == ["sums", "mine", "x", "y"]
    linked = elf_object.write(assemble_object([Source(ARRAYS, "arrays.s", tmp_path)]))
    assert b'"file":"arrays.s"' in linked


def test_arrays_and_lines_are_left_out_together(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((8, 4), np.int8))
    program = assemble(Source(ARRAYS, "arrays.s", tmp_path))
    bare = elf.read(elf.write(program, lines=False))
    assert bare == program
    assert (bare.arrays, bare.copies, list(bare.line_table)) == ((), (), [])


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (Tensor("a", "input", "int8", (), 0), "array a cannot be: 'input', 'int8'"),
        (Tensor("a", "array", "int4", (), 0), "array a cannot be: 'array', 'int4'"),
        (Tensor("a", "array", "int8", (0,), 0), "array a has a shape that cannot be"),
        (Tensor("a", "copy", "int8", (2,), 2**32 - 1), "array a lies outside the 32-bit"),
        (Tensor("a", "array", "int8", (), 0, file="\n"), "the file of array a holds"),
    ],
)
def test_an_array_that_cannot_be_is_refused(array: Tensor, match: str) -> None:
    with pytest.raises(elf.ElfError, match=match):
        elf.write(replace(PROGRAM, arrays=(array,)))


def test_a_program_without_anything_is_a_file() -> None:
    assert elf.read(elf.write(Program())) == Program()


# --- GNU's tools -------------------------------------------------------------------------


WEAK = """        .core   cp
        .weak   chosen, none, number
        .global shared
        .set    number, 7
_start: la      a0, chosen
        ret
shared: ret
chosen: ret
"""
STRONG = """        .core   cp
        .global chosen
chosen: li      a0, 7
        ret
"""


def bindings(path: Path) -> dict[str, list[str]]:
    """The bindings that readelf shows for each name."""
    found: dict[str, list[str]] = {}
    for line in output("readelf", "-sW", str(path)).splitlines():
        words = line.split()
        if len(words) == 8 and words[0][:-1].isdigit():
            found.setdefault(words[7], []).append(words[4])
    return found


def test_weak_symbols_are_weak_in_the_file(tmp_path: Path) -> None:
    weak, strong = Source(WEAK, "a.s"), Source(STRONG, "b.s")
    alone, both = assemble(weak), assemble([weak, strong])
    for name, program in (("alone", alone), ("both", both)):
        (tmp_path / name).write_bytes(elf.write(program))
        assert elf.read((tmp_path / name).read_bytes()) == program
    again = assemble(Source(disassemble(alone)))
    assert again.symbols == alone.symbols
    found = bindings(tmp_path / "alone")
    names = ("chosen", "number", "shared", "_start")
    assert [found[name] for name in names] == [["WEAK"], ["WEAK"], ["GLOBAL"], ["LOCAL"]]
    assert "none" not in found
    assert sorted(bindings(tmp_path / "both")["chosen"]) == ["GLOBAL", "LOCAL"]


def test_weak_symbols_are_weak_in_an_object(tmp_path: Path) -> None:
    weak = Source(WEAK.replace("ret", "lui a0, %hi(none)"), "a.s")
    for name, sources in (("alone", [weak]), ("both", [weak, Source(STRONG, "b.s")])):
        (tmp_path / name).write_bytes(elf_object.write(assemble_object(sources)))
    found = bindings(tmp_path / "alone")
    names = ("chosen", "none", "number", "shared")
    assert [found[name] for name in names] == [["WEAK"], ["WEAK"], ["WEAK"], ["GLOBAL"]]
    assert sorted(bindings(tmp_path / "both")["chosen"]) == ["GLOBAL", "LOCAL"]


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


# --- what no file can hold ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"entry": 0}, "entry 0x0 is in no section"),
        (
            {
                "entry": 0,
                "sections": (replace(PROGRAM.sections[0], address=0, load_address=0),),
                "symbols": (),
                "tensors": (),
            },
            "an ELF file cannot name the entry 0: it means that there is none",
        ),
        (
            {"sections": tuple(replace(PROGRAM.sections[0], name=f".{n}") for n in range(0xFEF6))},
            "65270 sections are more than an ELF file can hold",
        ),
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
        ({"tensors": PROGRAM.tensors * 2}, "tensor x occurs twice"),
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
    """Draw a program of any sections, symbols, tensors; sections follow one another in memory."""
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
                is_weak=st.just(False),
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


@pytest.mark.once
@properties
@given(programs())
def test_any_program_comes_back(program: Program) -> None:
    data = elf.write(program)
    assert elf.read(data) == program
    assert elf.write(elf.read(data)) == data
