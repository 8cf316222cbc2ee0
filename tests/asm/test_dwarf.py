"""Line information: the file has the assembler's lines and addresses, and other tools agree."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import dwarf, dwarf_read, elf
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import printable_name
from macaw.asm.elf_format import ElfError
from macaw.asm.lines import Line, LineTable
from macaw.asm.program import Program, Section
from macaw.asm.source import Source
from tests.asm.gnu_tools import output, tool
from tests.asm.sample_sources import sample_sources
from tests.fuzzing import fuzz, properties, third_in_ci
from tests.tree_copies import PYTHON_PATH

pytestmark = pytest.mark.once

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SAMPLES = sample_sources()
SOME = third_in_ci(SAMPLES)


@dataclass(frozen=True)
class Sample:
    """A source, the program that Macaw makes of it, and the path of its ELF file."""

    source: Path
    program: Program
    path: Path


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    folder = tmp_path_factory.mktemp("elf")
    found = []
    for number, path in enumerate(SOME):
        name = str(path.relative_to(ROOT))
        program = assemble(Source(path.read_text("utf-8"), name, path.parent))
        file = folder / f"{number}.elf"
        file.write_bytes(elf.write(program))
        found.append(Sample(path, program, file))
    return found


def test_the_lines_of_every_sample_come_back(samples: list[Sample]) -> None:
    for sample in samples:
        again = elf.read(sample.path.read_bytes())
        assert again.lines == sample.program.lines, sample.source
        assert elf.write(again) == sample.path.read_bytes(), sample.source


def test_every_row_leads_to_a_statement(samples: list[Sample]) -> None:
    """Each row of the line table has the place of a statement, no blank or comment."""
    texts = {"<default cp>": (ROOT / "asm/forms/default_cp.s").read_text("utf-8").split("\n")}
    for sample in samples:
        for line in sample.program.lines:
            if line.file not in texts:
                texts[line.file] = (ROOT / line.file).read_text("utf-8").split("\n")
            rest = texts[line.file][line.line - 1][line.column - 1 :]
            assert re.match(r"[\w.$]", rest), f"{sample.source}: {line}"


_DECODED = re.compile(r"(.+?) +(\d+) +(0x[\da-f]+|0)(?: +\d+)?(?: +x)?")


def decoded(text: str) -> list[tuple[str, int, int]]:
    """File name, line and address of each row of a line table that readelf prints."""
    rows = [_DECODED.fullmatch(line.rstrip()) for line in text.splitlines()]
    return [(row[1].rpartition("/")[2], int(row[2]), int(row[3], 16)) for row in rows if row]


def shown(lines: LineTable) -> list[tuple[str, int, int]]:
    return [(line.file.rpartition("/")[2], line.line, line.address) for line in lines if line.line]


def test_readelf_shows_every_row(samples: list[Sample]) -> None:
    said = output("readelf", "-W", "--debug-dump=decodedline", *(str(x.path) for x in samples))
    files = re.split(r"^File: (.*)$", said, flags=re.MULTILINE)[1:]
    by_path = dict(zip(files[::2], files[1::2], strict=True))
    rows = 0
    for sample in samples:
        found = decoded(by_path[str(sample.path)])
        assert sorted(found) == sorted(shown(sample.program.line_table)), sample.source
        rows += len(found)
    assert rows > 1000  # a change of readelf's words shall not empty the test


OTHER_WORDS = (".nnp", ".fim.")  # sections of instructions that are not RISC-V's


def test_objdump_shows_the_line_of_every_instruction(samples: list[Sample]) -> None:
    said = output("objdump", "-dl", *(str(sample.path) for sample in samples))
    files = re.split(r"^(\S+): +file format .*$", said, flags=re.MULTILINE)[1:]
    by_path = dict(zip(files[::2], files[1::2], strict=True))
    instructions = 0
    for sample in samples:
        place = None
        for text in by_path[str(sample.path)].splitlines():
            if match := re.fullmatch(r"(\S.*):(\d+)(?: \(.*\))?", text):
                place = match[1], int(match[2])
            elif match := re.match(r" *([\da-f]+):\t", text):
                line = sample.program.line_at(int(match[1], 16))
                assert line is not None, text
                if line.section.startswith(OTHER_WORDS):
                    continue  # objdump's lines are those of what RISC-V would make of the words
                assert place == (line.file, line.line), f"{sample.source}: {text}"
                instructions += 1
    assert instructions > 500


def test_addr2line_finds_instructions_and_packets(tmp_path: Path) -> None:
    """addr2line finds the line of each address that has no label of data.

    At a label of data, addr2line looks for a variable instead.
    """
    program = assemble(ROOT / "programs/layer/layer.s")
    path = tmp_path / "layer.elf"
    path.write_bytes(elf.write(program))
    labels = {item.value for item in program.symbols if item.section == ".pe.0"}
    lines = [line for line in program.lines if line.address not in labels]
    said = output("addr2line", "-e", str(path), *(hex(line.address) for line in lines))
    assert said.splitlines() == [f"{line.file}:{line.line}" for line in lines]
    assert {line.section for line in lines} == {".text.cp", ".pe.0"}


# --- macros, repetitions, includes ----------------------------------------------------------

# Each line with an instruction says at which lines the instructions stand that come from it.
EXPANSIONS = """\
        .include "push.inc"
        .core   cp
_start: li      a0, 0x12345             # 3 3
        push    ra, s0                  # 4 4 4 4
        .rept   2
        addi    a0, a0, 1               # 6 6
        push    a0                      # 7 7 7 7
        .endr
        .irp    r, a1, a2
        mv      \\r, a0; nop             # 10 10 10 10
        .endr
        .include "body.inc"
        .if     0
        ebreak
        .else
        ret                             # 16
        .endif
"""
INCLUDED = {
    "push.inc": """\
.macro push first, more:vararg
        addi    sp, sp, -4
        sw      \\first, 0(sp)
        .ifnb   \\more
        push    \\more
        .endif
.endm
""",
    "body.inc": """\
# an include with code of its own
        nop                             # 2
        push    a1                      # 3 3
        .rept   2
        nop                             # 5 5
        .endr
""",
}


def _marked(name: str, text: str) -> list[tuple[str, int]]:
    """The lines of a text whose comments are numbers: (file name, that number), in their order."""
    said = [re.search(r"# ([\d ]+)$", line) for line in text.splitlines()]
    return [(name, int(number)) for found in said if found for number in found[1].split()]


def test_lines_of_expansions_are_those_of_the_source(tmp_path: Path) -> None:
    """Instructions of expansions have the lines that the source's comments say.

    Macaw's table, readelf, objdump and GNU as agree. Code of a macro has the line of the outermost
    call; code of a repetition has the line in its body.
    """
    for name, text in INCLUDED.items():
        (tmp_path / name).write_text(text)
    expected = _marked("a.s", EXPANSIONS)
    expected[6:12] = [("a.s", 6), ("a.s", 7), ("a.s", 7)] * 2
    expected[-1:-1] = _marked("body.inc", INCLUDED["body.inc"])
    path = tmp_path / "a.elf"
    program = assemble(Source(EXPANSIONS, "a.s", tmp_path))
    path.write_bytes(elf.write(program))
    rows = _rows(path)
    assert [place for _, place in rows] == expected
    places, place = [], ("", 0)
    for line in output("objdump", "-dl", str(path)).splitlines():
        if match := re.fullmatch(r"(\S.*):(\d+)(?: \(.*\))?", line):
            place = match[1].rpartition("/")[2], int(match[2])
        elif re.match(r" *[\da-f]+:\t", line):
            places.append(place)
    assert places == expected
    (tmp_path / "a.s").write_text(EXPANSIONS.replace(".core   cp", ".option norelax"))
    command = [tool("as"), "-g", "-march=rv32im_zicsr", "-mabi=ilp32", "-o", "a.o", "a.s"]
    subprocess.run(command, check=True, cwd=tmp_path)
    # It has one row for instructions of the same line.
    addresses = {address - 0x10000: place for address, place in rows}
    said = _rows(tmp_path / "a.o")
    assert said == [(address, addresses[address]) for address, _ in said]
    assert [place for _, place in said] == [place for place, _ in groupby(expected)]


def _rows(path: Path) -> list[tuple[int, tuple[str, int]]]:
    """Address, file and line of each row of a file's line table, sorted by address."""
    found = decoded(output("readelf", "-W", "--debug-dump=decodedline", str(path)))
    return sorted((address, (file, line)) for file, line, address in found)


def test_readelf_has_nothing_to_say_against_the_rest(samples: list[Sample]) -> None:
    kinds = "rawline,info,abbrev,aranges,Ranges"
    said = output("readelf", "-W", f"--debug-dump={kinds}", *(str(x.path) for x in samples))
    assert said.count("DW_TAG_compile_unit") >= len(samples)
    assert "DW_AT_comp_dir" not in said


# --- any table, and a second reader ------------------------------------------------------

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9
) | st.sampled_from(("a.s", "sub/a.s", "/a.s", "./a.s", "../b/c.s", "a b.s", "é.s"))
AREAS = (
    Section(".text.cp", "cp", 0, 0x10000, 0x10000, bytes(2000), 2000, 4, "ax"),
    Section(".pe.0", "pe", 0, 0x1000_0000, 0x8000_0000, bytes(9000), 9000, 4, "a"),
    Section(".end", None, None, 0xFFFF_FF00, 0xFFFF_FF00, bytes(256), 256, 4, "aw"),
)


def contents(table: LineTable) -> dict[str, bytes]:
    """The bytes of the debug sections by name."""
    return {name: debug.data for name, debug in dwarf.write(table, AREAS).items()}


@st.composite
def tables(draw: st.DrawFn) -> LineTable:
    """Draw a line table with any numbers, in any order."""
    files = draw(st.lists(NAMES, min_size=1, max_size=5))
    number = st.integers(1, 40) | st.integers(1, 0xFFFF_FFFF)
    found = []
    for _ in range(draw(st.integers(0, 30))):
        area = draw(st.sampled_from(AREAS))
        address = area.address + draw(
            st.integers(0, min(80, area.size - 1)) | st.just(area.size - 1)
        )
        place = draw(st.sampled_from(files)), draw(number), draw(number)
        found.append(Line(area.name, address, *place))
    return LineTable.of(found)


@properties
@given(tables())
def test_any_table_comes_back(table: LineTable) -> None:
    """Any line table is read as it was written; only control characters in names change."""
    debug = contents(table)
    shown = [replace(line, file=printable_name(line.file)) for line in table]
    assert dwarf_read.read(debug, AREAS) == LineTable.of(shown)
    again = dwarf_read.read(debug, AREAS)
    assert dwarf.write(again, AREAS) == dwarf.write(dwarf_read.read(contents(again), AREAS), AREAS)


@properties
@given(tables())
def test_pyelftools_reads_any_table(table: LineTable) -> None:
    program = Program(sections=AREAS, lines=table)
    file = ELFFile(io.BytesIO(elf.write(program)))
    if not len(table):
        assert not file.has_dwarf_info()
        return
    info = file.get_dwarf_info()
    (unit,) = info.iter_CUs()
    lines = info.line_program_for_CU(unit)
    assert lines is not None
    names = [entry.name.decode() for entry in lines["file_entry"]]
    rows = [entry.state for entry in lines.get_entries() if entry.state is not None]
    found = [
        (names[row.file - 1], row.line, row.column, row.address)
        for row in rows
        if not row.end_sequence
    ]
    placed = sorted(table.sections, key=lambda name: program.section(name).address)
    assert found == [
        (line.file, line.line, line.column, line.address)
        for name in placed
        for line in table
        if line.section == name
    ]
    assert [row.address for row in rows if row.end_sequence] == [
        program.section(name).end for name in placed
    ]
    assert unit.get_top_DIE().attributes["DW_AT_name"].value.decode() in names


def test_names_are_kept_as_they_are() -> None:
    """Bytes that are no UTF-8 stay in names; names that DWARF cannot store are replaced."""
    cases = {"\udcff.s": "\udcff.s", "": "<text>", "a\0b": "a\\0b", "\ud800": "\\ud800"}
    for name, expected in cases.items():
        table = LineTable.of([Line(".text.cp", 0x10000, name, 1, 1)])
        (line,) = dwarf_read.read(contents(table), AREAS)
        assert line.file == expected


def test_rows_outside_their_section_are_left_out() -> None:
    table = LineTable.of(
        [
            Line(".text.cp", 0xFFFC, "a.s", 1, 1),
            Line(".text.cp", 0x10000, "a.s", 2, 1),
            Line(".text.cp", 0x10000 + 2000, "a.s", 3, 1),
            Line(".other", 0x10000, "b.s", 4, 1),
        ]
    )
    found = dwarf_read.read(contents(table), AREAS)
    assert list(found) == [Line(".text.cp", 0x10000, "a.s", 2, 1)]
    assert dwarf.write(LineTable(), AREAS) == {}


def test_rows_of_sections_that_the_linker_has_left_out_are_left_out() -> None:
    """The rows before and between the sections that are left do not hide the rows of these."""
    table = LineTable.of([Line(x.name, x.address, "a.s", n, 1) for n, x in enumerate(AREAS, 1)])
    debug = contents(table)
    for left in ([0, 2], [1], [2]):
        found = dwarf_read.read(debug, [AREAS[number] for number in left])
        assert [(row.section, row.line) for row in found] == [
            (AREAS[number].name, number + 1) for number in left
        ]


# --- other tools' files ------------------------------------------------------------------

C = """int twice(int x) { return 2 * x; }
int halves[4];
void _start(void) {
    for (int i = 0; i < 4; i++)
        halves[i] = twice(i) / 3;
    for (;;) ;
}
"""


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_lines_of_compiled_programs_are_those_that_readelf_shows(
    version: int, tmp_path: Path
) -> None:
    source, path = tmp_path / "c.c", tmp_path / "c.elf"
    source.write_text(C)
    flags = f"-gdwarf-{version} -O1 -march=rv32im -mabi=ilp32 -nostdlib -static -fno-inline".split()
    command = [tool("gcc"), *flags, "-ffunction-sections", "-o", str(path), str(source)]
    subprocess.run(command, check=True, cwd=tmp_path)
    lines = elf.read(path.read_bytes()).line_table
    found = decoded(output("readelf", "-W", "--debug-dump=decodedline", str(path)))
    assert len(found) > 10
    assert set(shown(lines)) == set(found)
    assert {line.file.rpartition("/")[2] for line in lines if line.line} == {"c.c"}


# --- damage ------------------------------------------------------------------------------

TABLE = LineTable.of(
    [Line(".text.cp", 0x10000 + 4 * i, "a.s", 1 + i, 9) for i in range(8)]
    + [Line(".pe.0", 0x1000_0000, "b.s", 500, 1)]
)
DEBUG = contents(TABLE)[".debug_line"]
_START = 0x1A  # of the names: behind length, version, header length, six bytes, twelve bytes


def unit(
    program: bytes = b"", *, version: int = 4, names: bytes = b"a.s\0\0\0\0", **more: int
) -> bytes:
    """The line table of a unit in DWARF 4; `more` changes fields of its header."""
    fields = {"bundle": 1, "width": 14, "opcodes": 13, **more}
    header = struct.pack("<BBBbBB", 1, fields["bundle"], 1, -5, fields["width"], fields["opcodes"])
    header += bytes(dwarf.OPERANDS) + b"\0" + names + b"\0"
    length = fields.get("header", len(header))
    whole = struct.pack("<HI", version, length) + header + program
    return struct.pack("<I", fields.get("length", len(whole))) + whole


START = b"\0\5\2" + struct.pack("<I", 0x10000)
END = b"\0\1\1"
V5 = struct.pack("<HBBI", 5, 4, 0, 18) + struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13)
V5 += bytes(dwarf.OPERANDS)


def v5(tables: bytes, length: int = 0) -> bytes:
    header = V5[8:] + tables
    whole = V5[:4] + struct.pack("<I", length or len(header)) + header
    return struct.pack("<I", len(whole)) + whole


BAD = {
    b"\1\2": "a unit is cut off",
    b"\xff\xff\xff\xff\1": "a unit is cut off",
    b"\x09\0\0\0": "a unit of 0x9 bytes exceeds the section",
    unit(version=1): "DWARF version 1 is not known",
    unit(version=6): "DWARF version 6 is not known",
    unit(header=900): "a header of 0x384 bytes exceeds its unit",
    unit(header=20): "the names are longer than their header",
    unit(bundle=2): "instructions in bundles are not known",
    unit(width=0): "special opcodes have no range",
    unit(opcodes=0): "special opcodes have no range",
    unit(names=b"a.s\0\4\0\0"): "file 'a.s' is in folder 4 of 1",
    unit(names=b"a.s", header=22, length=28): "a name has no end",
    unit(START + b"\1"): "a sequence has no end",
    unit(START + b"\4\7\1"): "line 1 of file 7 of 2 at 0x10000",
    unit(START + b"\3\x7e\1"): "line -1 of file 1 of 2 at 0x10000",
    unit(b"\2" + b"\xff" * 4 + b"\x7f\1"): "line 1 of file 1 of 2 at 0x7ffffffff",
    unit(b"\2" + b"\xff" * 11): "a number has no end",
    unit(b"\2\xff"): "a number has no end",
    unit(b"\0\x60\2"): "a unit is cut off",
    unit(b"\0\7\x77ab"): "a unit is cut off",  # an operation that is not known, cut by 4 bytes
    unit(b"\0\3\2\0\0"): "an address of 2 bytes",
    unit(b"\x09\0"): "a unit is cut off",
    v5(b"\0\7"): "7 names cannot be",
    v5(b"\1\1\x08\x7f"): "127 names cannot be",
    v5(b"\1\1\x77\1" + bytes(4)): "a name has the form 0x77, which is not known",
    v5(b"\1\1\x1f\1\x09\0\0\0" + bytes(4)): "a name is at 0x9 of 0x0 bytes of strings",
    v5(b"\0\0\2\1\x08\2\x0b\1a\0\1" + bytes(4)): "file 'a' is in folder 1 of 0",
}


@pytest.mark.parametrize("data", BAD, ids=BAD.values())
def test_damage_is_named(data: bytes) -> None:
    with pytest.raises(ElfError, match=re.escape(f".debug_line: {BAD[data]}, at offset 0x")):
        dwarf_read.read({".debug_line": data}, AREAS)


def test_the_frames_of_these_tests_are_good() -> None:
    found = dwarf_read.read({".debug_line": unit(START + b"\x13\x13" + END)}, AREAS)
    assert [(line.file, line.line, line.address) for line in found] == [
        *(("a.s", 2, 0x10000), ("a.s", 3, 0x10000), ("", 0, 0x10000)),
    ]
    more = b"\0\7\3b.s\0\0\0" + b"\4\2\1" + b"\x0c\5" + b"\x06" + b"\0\2\x80\0" + b"\x08\1" + END
    found = dwarf_read.read({".debug_line": unit(START + more)}, AREAS)
    assert [(line.file, line.line, line.address - 0x10000) for line in found] == [
        *(("b.s", 1, 0), ("b.s", 1, 17), ("", 0, 17)),
    ]
    named = b"\1\1\x08\1/x\0" + b"\3\1\x08\2\x0b\5\x1e\1a.c\0\0" + bytes(16)
    found = dwarf_read.read({".debug_line": v5(named) + unit(START + b"\1" + END)}, AREAS)
    assert [line.file for line in found if line.line] == ["a.s"]


@fuzz
@given(st.data())
def test_damaged_bytes_are_lines_or_a_clear_error(data: st.DataObject) -> None:
    changed = bytearray(DEBUG)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = dwarf_read.read({".debug_line": bytes(changed)}, AREAS)
    except ElfError as error:
        assert str(error).startswith(".debug_line: ")
        return
    for line in found:
        assert next(area for area in AREAS if area.name == line.section).holds(line.address)


def _with_section(name: str, kind: int = 1, flags: int = 0) -> bytes:
    """The file of a small program, with one section's header renamed to .debug_line and changed."""
    from macaw.asm.elf_format import FILE_HEADER, SECTION_HEADER, FileHeader, SectionHeader

    data = bytearray(elf.write(Program(sections=AREAS, lines=TABLE)))
    header = FileHeader(*FILE_HEADER.unpack_from(data))
    names = [""] + [item.name for item in AREAS] + [".note.macaw", ".debug_line", ".debug_info"]
    at = header.sections_at + names.index(name) * SECTION_HEADER.size
    members = SectionHeader(*SECTION_HEADER.unpack_from(data, at))
    line = header.sections_at + names.index(".debug_line") * SECTION_HEADER.size
    label = SectionHeader(*SECTION_HEADER.unpack_from(data, line)).name
    SECTION_HEADER.pack_into(data, at, *members._replace(name=label, kind=kind, flags=flags))
    return bytes(data)


def test_debug_sections_that_cannot_be() -> None:
    assert elf.read(_with_section(".debug_line")).lines == TABLE
    for data in (_with_section(".debug_info"), _with_section(".debug_line", flags=0x800)):
        with pytest.raises(ElfError, match=r"section \.debug_line occurs twice, or has flags"):
            elf.read(data)
    with pytest.raises(ElfError, match=r"section \.debug_line: it is not loaded"):
        elf.read(_with_section(".debug_line", kind=8))
    bad = Section(".debug_line", None, None, 0, 0, b"", 0, 1, "a")
    with pytest.raises(ElfError, match=r"sections called \.debug_\* are for line information"):
        elf.write(Program(sections=(bad,)))


# --- same source, same bytes -------------------------------------------------------------

_BUILD = """
import hashlib, sys
from macaw.asm import elf
from macaw.asm.assembler import assemble
for name in sys.argv[1:]:
    print(hashlib.sha256(elf.write(assemble(name))).hexdigest())
"""


def test_neither_folder_nor_hash_seed_leaves_a_trace(tmp_path: Path) -> None:
    """Executables of all samples are equal if made in another folder with another hash seed."""
    said = []
    for seed in ("1", "2"):
        folder = tmp_path / f"folder{seed}"
        folder.mkdir()
        (folder / "tests").symlink_to(ROOT / "tests")
        (folder / "programs").symlink_to(ROOT / "programs")
        names = [str(path.relative_to(ROOT)) for path in SOME]
        done = subprocess.run(
            [sys.executable, "-c", _BUILD, *names],
            cwd=folder,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": PYTHON_PATH},
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout.splitlines())
    assert said[0] == said[1]
    assert len(set(said[0])) > len(SOME) // 2
