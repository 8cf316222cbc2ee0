"""`macaw dis` of objects for a linker agrees with GNU objdump -dr."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from macaw import api
from macaw.asm import elf_format as elf
from macaw.asm import elf_object, object_read
from macaw.asm.disassembler import DisassemblyError, list_object
from macaw.asm.elf_format import ElfError, SectionHeader
from macaw.asm.elf_headers import read_headers
from tests.asm.gnu_tools import output
from tests.asm.linked_files import CLANG, COMPILERS, assembled, compile_c, gnu_object, write
from tests.c_programs.c_compilers import PROGRAMS

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
C_PROGRAMS = ROOT / "tests" / "c_programs"
OURS = """        .device tiny
        .output y, int32, 8
        .core   pe, row=0
        .seq    layer
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   net
        config  ib=0, layer
        .endlist
        .core   cp
        .global _start
_start: call    print
        la      a0, text
        lw      t0, buffer
        sw      t1, buffer + 4, t0
        lui     a0, %hi(buffer + 8)
        addi    a0, a0, %lo(buffer + 8)
        beq     a0, a1, print
again:  j       again
        li      a7, 93
        ecall
        .core   vc
        vld     vr0, 0(a0)
        vadd.b  vr1, vr0, vr0
        j       print
        .data
        .byte   1
        .balign 4
words:  .word   buffer, 7, print - 4
        .zero   40
"""

Instruction = tuple[int, int, tuple[str, ...]]


def of_objdump(path: Path) -> dict[str, list[Instruction]]:
    """Address, word and relocations of each instruction that objdump -dr prints, by section."""
    found: dict[str, list[Instruction]] = {}
    place: list[Instruction] = []
    for line in output("objdump", "-dr", str(path)).splitlines():
        if match := re.match(r"Disassembly of section (\S+):", line):
            place = found.setdefault(match[1], [])
        elif match := re.match(r"^ *([0-9a-f]+):\t([0-9a-f]{8}) ", line):
            place.append((int(match[1], 16), int(match[2], 16), ()))
        elif match := re.match(r"^\t\t\t([0-9a-f]+): (R_RISCV_\w+)\t(.+)$", line):
            address, word, changes = place[-1]
            assert int(match[1], 16) == address
            what = re.sub(r"^\*ABS\*\+?", "", match[3].rstrip())
            place[-1] = address, word, (*changes, f"{match[2]} {what}".strip())
    return found


def of_listing(text: str) -> dict[str, list[Instruction]]:
    """Address, word and relocations of each instruction that Macaw prints, by section."""
    found: dict[str, list[Instruction]] = {}
    place: list[Instruction] = []
    for line in text.splitlines():
        if match := re.match(r"^(\S+): \d+ bytes", line):
            place = found.setdefault(match[1], [])
        elif match := re.match(r"^ *([0-9a-f]+):  ([0-9a-f]{8})  [a-z.][^#]*(?:# (.*))?$", line):
            comment = match[3] or ""
            changes = (
                tuple(x.rstrip() for x in comment.split(", ")) if comment.startswith("R_") else ()
            )
            place.append((int(match[1], 16), int(match[2], 16), changes))
    return found


def compare(path: Path) -> int:
    """Compare all sections of instructions; return the number of relocations."""
    ours, theirs = of_listing(api.disassemble(path)), of_objdump(path)
    assert theirs
    for name, instructions in theirs.items():
        assert ours[name] == instructions, name
    return sum(len(changes) for rows in theirs.values() for *_, changes in rows)


@pytest.mark.parametrize("relax", ["-mno-relax", "-mrelax"])
@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_objdump_says_the_same_of_c(tmp_path: Path, compiler: str, relax: str) -> None:
    (tmp_path / "hash_table.c").write_bytes((C_PROGRAMS / "hash_table.c").read_bytes())
    (tmp_path / "support.h").write_bytes((C_PROGRAMS / "support.h").read_bytes())
    for options in (("-O0",), ("-O2", "-g"), ("-Os", "-ffunction-sections")):
        compile_c(tmp_path, compiler, "hash_table.c", relax, "-fno-builtin", *options)
        assert compare(tmp_path / "hash_table.o") > 5


def test_objdump_says_the_same_of_ours(tmp_path: Path) -> None:
    write(tmp_path, assembled(OURS))
    assert compare(tmp_path / "net.o") == 11
    assert "vadd.b  vr1, vr0, vr0" in api.disassemble(tmp_path / "net.o")  # objdump has no name


def test_objdump_says_the_same_of_gnu_as(tmp_path: Path) -> None:
    text = OURS[OURS.index("_start:") : OURS.index("        .core   vc")]
    gnu_object(tmp_path, text)
    assert compare(tmp_path / "other.o") == 11


def test_the_whole_of_ours(tmp_path: Path) -> None:
    """The listing of an object of Macaw shows parts, data with relocations, and source lines."""
    write(tmp_path, assembled(OURS))
    text = api.disassemble(tmp_path / "net.o")
    for line in (
        ".macaw.pe.0: 44 bytes, to be linked at 0x10000000",
        "00000000 <net>:",
        "packet  config ib=0, segments=1, clusters=3",
        "00000000 <_start>:\n# net.s:14:9\n",
        "R_RISCV_CALL_PLT print",
        "# net.s:16:9",
        "00000004 <words>:",
        "       4:  R_RISCV_32 buffer\n       c:  R_RISCV_32 print-0x4\n",
        "           ...\n",
    ):
        assert line in text, line
    assert "jalr    ra, 0(ra)\n" in text  # its target is not known before the linker
    without = tmp_path / "plain.o"
    without.write_bytes(elf_object.write(assembled(OURS), lines=False))
    assert "net.s" not in api.disassemble(without)


def test_sections_and_cores_are_chosen(tmp_path: Path) -> None:
    write(tmp_path, assembled(OURS))
    item = object_read.read((tmp_path / "net.o").read_bytes())
    for name in (".macaw.text.vc", ".text.vc"):  # of the file, and of the part
        text = list_object(item, only=name)
        assert text.startswith(".macaw.text.vc: 12 bytes")
        assert text == list_object(item, "vc")
    with pytest.raises(DisassemblyError, match=r"no section is called '\.x', there are \.macaw\."):
        list_object(item, only=".x")
    with pytest.raises(DisassemblyError, match="no part of a core 'nnp', there are cp, vc, pe"):
        list_object(item, "nnp")
    with pytest.raises(DisassemblyError, match=r"'\.text\.cp', there are \.macaw\.text\.vc$"):
        list_object(item, "vc", only=".text.cp")


def test_places_in_c_are_those_of_objdump(tmp_path: Path) -> None:
    """Source lines of C code agree with objdump, also with -mrelax, which relocates line tables."""
    (tmp_path / "a.c").write_text(
        "int f(int);\nint g(int x) {\n  if (f(x))\n    return f(2) + x;\n  return x;\n}\n"
        "int h(int x) {\n  return g(x) + 1;\n}\n"
    )
    for options in (("-mrelax",), ("-mno-relax", "-ffunction-sections")):
        compile_c(tmp_path, "gcc", "a.c", "-O1", "-g", *options)
        theirs = re.findall(
            r"a\.c:(\d+)(?: \(.*\))?\n(?:.*\(\):\n)? *(\w+):",
            output("objdump", "-dl", str(tmp_path / "a.o")),
        )
        ours = re.findall(r"^# a\.c:(\d+):\d+\n *(\w+):", api.disassemble(tmp_path / "a.o"), re.M)
        assert len(theirs) > 5
        changes = [now for before, now in pairwise([("", ""), *ours]) if now[0] != before[0]]
        assert changes == theirs


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("info", 99, "there is no section 99 that it could change"),
        ("entry_size", 8, "bytes in entries of 8"),
        ("symbol", 0x7FFF, "there is no symbol 32767"),
        ("address", 0x7FFFFFFF, "0x7fffffff is after the end of"),
    ],
)
def test_damaged_relocations_are_refused(
    tmp_path: Path, place: str, value: int, message: str
) -> None:
    gnu_object(tmp_path, "_start: call print\n")
    data = bytearray((tmp_path / "other.o").read_bytes())
    file = read_headers(bytes(data), elf.ET_REL)
    number = next(i for i, x in enumerate(file.headers) if x.kind == elf.SHT_RELA)
    header = file.headers[number]
    if place in ("info", "entry_size"):
        at = file.header.sections_at + number * elf.SECTION_HEADER.size
        at += 4 * SectionHeader._fields.index(place)
        data[at : at + 4] = value.to_bytes(4, "little")
    elif place == "symbol":
        data[header.offset + 5 : header.offset + 8] = value.to_bytes(3, "little")
    else:
        data[header.offset : header.offset + 4] = value.to_bytes(4, "little")
    with pytest.raises(ElfError, match=message):
        object_read.read(bytes(data))


@pytest.mark.long  # the others are of the same kinds
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_objdump_says_the_same_of_every_c_program(tmp_path: Path, name: str, compiler: str) -> None:
    for file in (f"{name}.c", "support.h"):
        (tmp_path / file).write_bytes((C_PROGRAMS / file).read_bytes())
    compile_c(tmp_path, compiler, f"{name}.c", "-O2", "-g", "-fno-builtin", "-w")
    compare(tmp_path / f"{name}.o")


def test_damaged_objects_are_listed_or_refused(tmp_path: Path) -> None:
    write(tmp_path, assembled(OURS))
    (tmp_path / "a.c").write_text("int f(int);\nint g(int x) {\n  return f(x) + 1;\n}\n")
    compile_c(tmp_path, "gcc", "a.c", "-O1", "-g", "-mrelax")
    chance = random.Random(18)
    listed = refused = 0
    for name in ("net.o", "a.o"):
        data = (tmp_path / name).read_bytes()
        for _ in range(150):
            damaged = bytearray(data)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0xFF))
            try:
                assert list_object(object_read.read(bytes(damaged)))
                listed += 1
            except ElfError:
                refused += 1
    assert listed > 50
    assert refused > 10
