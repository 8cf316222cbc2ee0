"""`macaw dis --raw` agrees with objdump on code, and shows each byte of other sections."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from macaw.asm import elf
from macaw.asm.assembler import assemble
from macaw.asm.disassembler import disassemble
from macaw.asm.program import Program, Section, Symbol
from macaw.asm.source import Source
from macaw.isa import pe
from macaw.isa.memory_map import EXTERNAL, INSTRUCTIONS
from macaw.isa.trace import csrs
from tests.asm import sources
from tests.asm.objects import cp_program, packet, pe_program, segment, sequence, symbol, words
from tests.fuzzing import EXAMPLES, fuzz, third_in_ci

HERE = Path(__file__).parent
OBJDUMP = shutil.which("riscv64-unknown-elf-objdump")
_LINE = re.compile(r" *([0-9a-f]+):  ((?:[0-9a-f]{2,8} ?)+)(?:  |$)(?:[^|]*)(.*)")
some = settings(fuzz, max_examples=max(50, EXAMPLES // 20))


def test_code() -> None:
    data = words(0x00000517, 0x01052583, 0xFE000EE3, 0x0100006F, 0xFFFFFFFF, 0x0000100B) + b"hi"
    program = cp_program(
        data, symbol("main", 0x10000, 4), symbol("a", 0x10008, 4), symbol("b", 0x10008, 4)
    )
    assert (
        disassemble(program, raw=True)
        == """\
.text.cp: 26 bytes at 0x00010000

00010000 <main>:
   10000:  00000517  auipc   a0, 0x0
   10004:  01052583  lw      a1, 16(a0)         # 10010 <b+0x8>

00010008 <a>:

00010008 <b>:
   10008:  fe000ee3  beq     zero, zero, 0x10004  # <main+0x4>
   1000c:  0100006f  jal     zero, 0x1001c
   10010:  ffffffff  .word   0xffffffff         # cp: illegal instruction: 0xffffffff
   10014:  0000100b  dma.wait zero
   10018:  6869                                 |hi|
"""
    )


def test_a_pe_part() -> None:
    program = pe_program({"shift": 3}, out={"offset": 0x6C, "count": 1, "stride": 4})
    assert (
        disassemble(program, "pe", raw=True)
        == """\
.pe.0: 176 bytes at 0x10000000, loaded at 0x80000000

10000000 <run>:
10000000:  04010000 03000000  packet  config ib=4, segments=1, clusters=3
10000008:  03000000 52000000  segment type=sequence, mode=broadcast, form=records, element=default, offset=82, length=26  # <layer>
10000010:  1a000000
10000014:  a4020000 03000000  packet  exe ib=4, last, segments=2, clusters=3
1000001c:  00010000 6c000000  segment type=weights, mode=sliced, form=records, element=default, offset=108, length=4  # <w>
10000024:  04000000
10000028:  01000000 70000000  segment type=activations, mode=broadcast, form=records, element=default, offset=112, length=64  # <buffer>
10000030:  40000000
10000034:  6c000000 04000000  out     offset=108, stride=4, step=0, count=1, pes=0, element=int8  # <w>
1000003c:  00000000 01000000
10000044:  00000000
10000048:  65000000 03000000  packet  trace_begin 5, segments=0, clusters=3
10000050:  20                 end of list
10000051:  00                                   |.|

10000052 <layer>:
10000052:  05000200 00030000  sequence count=5, state=sq, pipeline=2, activation=none, reduction=none, shift=3, then=0, records=0, inner=1, outer=1, window=0, pop=0
1000005a:  01000100 00000000
10000062:  0005               ld      activations, base=0
10000064:  0004               ld      weights, base=0
10000066:  0402               mac     base=0, acc=1, balance
10000068:  120c               spu     nonsf, src=1, dst=2
1000006a:  2008               st      base=2

1000006c <w>:
1000006c:  01020304                             |....|

10000070 <buffer>:
           ...
"""
    )


def test_lists_of_a_pe_part_have_labels() -> None:
    """After the first list of packets, a list follows only at a label; other bytes are data."""
    program = pe_program()
    section = program.sections[0]
    data = (packet("trace_begin", g=5) + b"\x20" + bytes(3)) * 3
    section = replace(section, data=data, size=len(data))
    labels = tuple(
        Symbol(name, section.address + offset, 9, section.name, "object", False)
        for name, offset in (("one", 0), ("two", 12))
    )
    program = replace(program, sections=(section,), symbols=labels)
    assert (
        disassemble(program, "pe", raw=True)
        == """\
.pe.0: 36 bytes at 0x10000000, loaded at 0x80000000

10000000 <one>:
10000000:  65000000 03000000  packet  trace_begin 5, segments=0, clusters=3
10000008:  20                 end of list
10000009:  000000                               |...|

1000000c <two>:
1000000c:  65000000 03000000  packet  trace_begin 5, segments=0, clusters=3
10000014:  20                 end of list
10000015:  00000065 00000003 00000020 000000    |...e....... ...|
"""
    )


def test_a_sequence_after_one_that_cannot_be_read() -> None:
    """Two configs name sequences: the first one is no sequence, but the second is shown."""
    program = pe_program()
    good = sequence()
    begin = 2 * (pe.PACKET.size + pe.SEGMENT.size) + 2
    data = packet("config", ib=0, segments=1) + segment("sequence", begin, 4)
    data += packet("config", ib=1, segments=1) + segment("sequence", begin + 4, len(good))
    data += b"\x20\0" + b"\xff" * 4 + good
    section = replace(program.sections[0], data=data, size=len(data))
    lines = disassemble(replace(program, sections=(section,), symbols=()), "pe", raw=True)
    first, *more = lines.partition("end of list\n")[2].splitlines()
    assert first == "10000029:  00ffffff ff                          |.....|"
    assert more[0].startswith("1000002e:  05000200 00000000  sequence count=5, state=sq,")
    assert [line[30:].split()[0] for line in more[2:]] == ["ld", "ld", "mac", "spu", "st"]


def test_data_and_zeros() -> None:
    data = bytes(range(40, 60)) + bytes(60) + b"end\0" + bytes(15)
    there = Section(".data", None, None, 0x80000000, 0x80000000, data, len(data), 4, "aw")
    none = Section(".bss", None, None, 0x80000100, 0x80000100, b"", 400, 4, "aw")
    empty = replace(none, name=".empty", address=0x80000300, load_address=0x80000300, size=0)
    symbols = (
        Symbol("first", 0x80000000, 20, ".data", "object", False),
        Symbol("zeros", 0x80000014, 60, ".data", "object", False),
        Symbol("end", 0x80000050, 4, ".data", "object", False),
        Symbol("z", 0x80000110, 4, ".bss", "object", False),
    )
    program = Program(sections=(there, none, empty), symbols=symbols)
    assert (
        disassemble(program, raw=True)
        == """\
.data: 99 bytes at 0x80000000

80000000 <first>:
80000000:  28292a2b 2c2d2e2f 30313233 34353637  |()*+,-./01234567|
80000010:  38393a3b                             |89:;|

80000014 <zeros>:
           ...

80000050 <end>:
80000050:  656e6400 00000000 00000000 00000000  |end.............|
80000060:  000000                               |...|

.bss: 400 bytes at 0x80000100, zeros
           ...

80000110 <z>:
           ...

.empty: 0 bytes at 0x80000300
"""
    )


def shown(text: str) -> dict[int, int]:
    """The bytes by address that a dump shows."""
    found: dict[int, int] = {}
    fetched = False
    for line in text.splitlines():
        if line.startswith("."):
            fetched = line.startswith(".text")
        match = _LINE.fullmatch(line)
        if match is None:
            assert not line or line.endswith((":", "...")) or line.startswith("."), line
            continue
        groups = [bytes.fromhex(group) for group in match[2].split()]
        if fetched and not match[3]:  # a word is shown as a number
            groups = [group[::-1] for group in groups]
        for place, byte in enumerate(b"".join(groups), int(match[1], 16)):
            assert place not in found, line
            found[place] = byte
    return found


@pytest.mark.once
@some
@given(sources.cp_source() | sources.pe_source())
def test_no_byte_is_lost(source: str) -> None:
    program = assemble(Source(source))
    found = shown(disassemble(program, raw=True))
    expected = {
        section.address + place: byte
        for section in program.sections
        for place, byte in enumerate(section.data)
    }
    assert {place: byte for place, byte in found.items() if expected.get(place) != byte} == {}
    assert not any(byte for place, byte in expected.items() if place not in found)


@pytest.mark.parametrize("place", range(0, 176, 7))
def test_no_byte_of_a_damaged_image_is_lost(place: int) -> None:
    program = pe_program()
    section = program.sections[0]
    data = bytearray(section.data)
    data[place] ^= 0x55
    changed = replace(program, sections=(replace(section, data=bytes(data)),))
    found = shown(disassemble(changed, raw=True))
    assert all(found.get(section.address + i, 0) == byte for i, byte in enumerate(data))


def objdump(program: Program, folder: Path) -> list[tuple[int, int, str]]:
    if OBJDUMP is None:
        warnings.warn("objdump is missing: its words are not compared", stacklevel=2)
        pytest.skip("needs objdump")
    path = folder / "program.elf"
    path.write_bytes(elf.write(program))
    done = subprocess.run(
        [OBJDUMP, "-d", "-M", "no-aliases", path], capture_output=True, text=True, check=True
    )
    found = re.findall(r"^ *(\w+):\t([0-9a-f]{8}) +\t(.*)$", done.stdout, re.MULTILINE)
    return [(int(address, 16), int(word, 16), text) for address, word, text in found]


@pytest.mark.parametrize("path", sorted((HERE / "gnu_sources").glob("*.s")), ids=lambda x: x.stem)
def test_objdump_says_the_same(path: Path, tmp_path: Path) -> None:
    program = assemble(Source(".core cp\n" + path.read_text("utf-8")))
    compare(program, tmp_path)


@pytest.mark.once
def test_objdump_says_the_same_of_the_samples(tmp_path: Path) -> None:
    paths = sorted((HERE.parents[1] / "programs").glob("*/*.s"))
    for path in third_in_ci(paths):
        compare(assemble(str(path)), tmp_path)


def test_objdump_says_the_same_of_every_instruction(tmp_path: Path) -> None:
    lines = []
    for row in sources.CP.instructions:
        texts: list[str] = []
        for operand in row.operands:
            known = {"rd": "a0", "rs1": "s1", "rs2": "t3", "pred": "rw", "succ": "iorw"}
            text = "here" if operand.kind.relative else known.get(operand.name, "4")
            if operand.inside:
                texts[-1] += f"({text})"
            else:
                texts.append(text)
        lines.append(f" {row.mnemonic} {', '.join(texts)}")
    found = compare(assemble(Source(".core cp\nhere:\n" + "\n".join(lines))), tmp_path)
    assert found >= 50


OWN = {row.name: str(row.address) for row in csrs()}


def numbers(text: str) -> str:
    """The text with decimal numbers and with csr numbers for Macaw's names, as objdump prints."""
    text = re.sub(r"\w+", lambda match: OWN.get(match[0], match[0]), text)
    return re.sub(r"\b0x[0-9a-f]+", lambda match: str(int(match[0], 16)), text)


def compare(program: Program, folder: Path) -> int:
    """Compare the dump of code with objdump's; return how many instructions were compared."""
    text = disassemble(program, raw=True)
    ours = {
        int(address, 16): (int(word, 16), said)
        for address, word, said in re.findall(
            r"^ *(\w+):  ([0-9a-f]{8})  ([a-z.].*)$", text, re.MULTILINE
        )
    }
    compared = 0
    for address, word, theirs in objdump(program, folder):
        if INSTRUCTIONS <= address < EXTERNAL:  # cores of other instructions
            continue
        assert ours[address][0] == word
        said, _, comment = re.sub(r" +", " ", ours[address][1]).replace(", ", ",").partition(" # ")
        theirs, _, note = re.sub(r"\s+", " ", theirs).strip().partition(" # ")
        if (
            said.startswith(".word")
            or "." in said.split(" ")[0]
            or theirs.startswith((".", "unimp"))
        ):
            continue
        # A jump's target is `10010 <main+0x4>` there, and `0x10010  # <main+0x4>` here.
        theirs, _, inside = theirs.partition(" <")
        if inside:
            theirs = re.sub(r"([0-9a-f]+)$", r"0x\1", theirs)
            if not comment:  # objdump takes the last symbol of the section before
                section = program.section_at(int(theirs.rpartition("0x")[2], 16))
                assert section is not None
                assert inside.partition("+")[0] not in {
                    symbol.name for symbol in program.symbols if symbol.section == section.name
                }
            else:
                assert comment.startswith("<")
        elif comment and note:
            assert note.split()[0] == comment.split()[0]
        assert numbers(said) == numbers(theirs), f"{address:x}"
        compared += 1
    return compared


def test_the_words_of_our_own_instructions() -> None:
    """Instructions of Macaw's own, which objdump does not know, have the assembler's words."""
    program = assemble(Source(".core cp\n dma.copy a0, a1\n mem.swap s0\n"))
    found = re.findall(r":  ([0-9a-f]{8})  (\S+)", disassemble(program, raw=True))
    expected = struct.unpack("<2I", program.sections[0].data)
    assert found == [(f"{expected[0]:08x}", "dma.copy"), (f"{expected[1]:08x}", "mem.swap")]
