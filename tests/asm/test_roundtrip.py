"""asm → ELF → dis → asm → ELF gives the same bytes, for random programs of every core."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import elf
from macaw.asm.assembler import assemble
from macaw.asm.disassembler import disassemble
from macaw.asm.formatter import format_text
from macaw.asm.source import Source
from macaw.isa import config
from macaw.isa.pe import SCALE_DTYPE
from tests.asm import sources
from tests.asm.sample_sources import sample_sources
from tests.fuzzing import properties

pytestmark = pytest.mark.once

PRESET = defaultdict(
    str, {name: config.load(name).to_toml(comments=False) for name in config.presets()}
)


def there_and_back(source: str, folder: Path | None = None) -> str:
    """The disassembly of a source, with one blank for each sequence of blanks.

    Asserts that the disassembly assembles to the same file except for line information.
    """
    assembled = assemble(Source(source, "first.s", folder))
    program = elf.read(elf.write(assembled))
    assert program.lines == assembled.lines
    first = elf.write(assembled, lines=False)
    text = disassemble(program)
    # A configuration that no preset has is a comment: it goes to --device.
    device = None if program.config_toml == PRESET[program.device] else program.config_toml
    again = assemble(Source(text, "again.s"), device=device and config.parse(device))
    # Compare sections first: a difference in a section is easier to read than one in bytes.
    assert again.sections == program.sections, text
    assert again.symbols == program.symbols, text
    assert again.tensors == program.tensors, text
    assert elf.write(again, lines=False) == first, text
    assert format_text(text) == text
    return re.sub(r"(?<=\S) +", " ", text)


@properties
@given(sources.cp_source())
def test_random_cp_programs_come_back(source: str) -> None:
    there_and_back(source)


def test_an_empty_part_takes_no_place() -> None:
    """The disassembly cannot show an empty part, so that the part must not move other sections."""
    there_and_back(
        " .data\n .byte 1\n .lcomm room, 2\n .core vc\n .align 4\nhere:\n .core cp\n nop\n"
    )


def test_names_in_quotes_come_back() -> None:
    names = ["é", "a b", r"a\"b", r"\\", r"\\\"", "7", "a:b", "#;//", "add"]
    lines = "".join(f'"{name}": .word "{name}"\n .global "{name}"\n' for name in names)
    text = there_and_back(f" .core cp\n{lines}")
    assert "is called" not in text
    for name in names[:-1]:
        assert f'\n"{name}":\n' in text


@properties
@given(sources.pe_source())
def test_random_pe_programs_come_back(source: str) -> None:
    text = there_and_back(source)
    for word in ("exe ib", "config ib", ".endseq", ".step", "trace_"):
        assert text.count(word) == source.count(word), text  # none of it as bytes


@properties
@given(sources.pe_source(), st.data())
def test_changed_images_come_back(source: str, data: st.DataObject) -> None:
    """An image with changed bytes is disassembled, as directives or data, to the same bytes."""
    program = assemble(Source(source, "first.s"))
    sections = []
    for section in program.sections:
        changed = bytearray(section.data)
        if section.core == "pe":
            for place in data.draw(st.lists(st.integers(0, section.size - 1), max_size=3)):
                changed[place] = data.draw(st.integers(0, 255))
        sections.append(replace(section, data=bytes(changed)))
    program = replace(program, sections=tuple(sections))
    text = disassemble(program)
    again = assemble(Source(text, "again.s"))
    assert elf.write(again, lines=False) == elf.write(program, lines=False), text


EVERY_RECORD = """\
        .device tiny
        .core   pe, row=0
        .seq    layer, pipeline=4, activation=table
        .types  weights=int8, requantise=scale
        .loop   inner=3, outer=2
        .then   ib=5
        .step   mac.base, inner=1
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   run
        config  ib=0, layer, data=(scales s, table t)
        exe     ib=0, last, data=(weights unit[0:4]), out=(unit[8], type=int32), to=1
        trace_begin 3
        .endlist
s:      .array  {scales}, 8
t:      .array  int8, 256
        .core   cp
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("bit", [0, 3, 7])
def test_each_byte_of_an_image_may_be_another(bit: int) -> None:
    """Each byte of headers, records, packets and padding is kept, whatever directives can say."""
    source = EVERY_RECORD.format(scales=SCALE_DTYPE)
    program = assemble(Source(source, "first.s"))
    assert ".step" in disassemble(program)
    section = program.section(".pe.0")
    end = program.symbol("s").value - section.address
    others = [item for item in program.sections if item is not section]
    for place in range(end):
        data = bytearray(section.data)
        data[place] ^= 1 << bit
        changed = replace(program, sections=(*others, replace(section, data=bytes(data))))
        text = disassemble(changed)
        again = assemble(Source(text, "again.s")).section(".pe.0")
        assert (again.address, again.data.hex()) == (section.address, data.hex()), text


LAYER = """# layer.s - one image through eight rows of a sparse layer
        .device tiny                     # row 0: 2 clusters of 4 PEs
        .input  x, int8, 64
        .output y, int32, 8

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]       # index + value, a row a PE
        .seq    layer, state=sq
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
"""


def test_the_example_of_the_language_page_comes_back(tmp_path: Path) -> None:
    weights = np.zeros((16, 64), np.int8)
    weights[::2, ::3] = 5
    np.save(tmp_path / "weights.npy", weights)
    text = there_and_back(LAYER, tmp_path)
    for line in (
        ".input x, int8, 64",
        ".seq layer",
        "ld activations, base=0",
        "config ib=0, layer",
        ".list _list.0",
        "exe ib=0, last, data=(activations unit[",
        "w:",
    ):
        assert line in text


HERE = Path(__file__).parent
SAMPLES = sample_sources()


@pytest.mark.few(120)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_sample_comes_back(path: Path) -> None:
    there_and_back(path.read_text("utf-8"), path.parent)


# What random sources do not reach: names among packets and instructions, odd sizes, other types.
CORNERS = {
    "names in lists and sequences": """
        .device tiny
        .core pe, row=1
before: .seq s, pipeline=4
first:  ld weights
        .step mac.base, inner=1
second: mac
        .endseq
outer:  .list a
one:    config ib=0, s
two:    trace_begin 3
stop:   .endlist
        .list b
        exe ib=0, shift, last, to=1
        .endlist
value:  .half 3
last:
""",
    "sizes and types": """
        .device tiny
        .global f
        .core cp
        .type f, function
        .size f, 4
f:      nop
        .type g, notype
g:      nop
        .size data, 1
        .type data, function
        .section .data
data:   .word 1
        .set far, data + 100
        .global far
        .set N, 1 << 31
        .global N
        .set M, -1
        .size M, 7
        .type M, object
""",
    "sections of every kind": """
        .device tiny
        .section .rodata
r:      .word 1, 2
        .section .bss
z:      .space 100
        .balign 64
zz:     .space 1
        .data
        .balign 32
d:      .asciz "text"
        .core cp
        ecall
        .section .data.cp
        .balign 64
t:      .dword 1
        .section .rodata
        .byte 1
""",
    "rows from the last to the first": """
        .device tiny
        .core pe, row=1
        trace_end 0
        .core pe, row=0
        trace_end 1
        .core pe, row=1
        trace_end 2
""",
    "names in tensors": """
        .device tiny
        .input x, int8, 10
        .output y, int32, 10, 2
        .size y, 3
        .type x, notype
        .set a, x
        .set z, y + 8
        .set b, x - 4
        .global z
""",
    "nothing but a device": ".device large\n",
    "nothing": "",
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners_come_back(name: str) -> None:
    there_and_back(CORNERS[name])


def test_a_pe_part_of_bytes_comes_back() -> None:
    rng = random.Random(1)
    for size in (1, 2, 30, 200):
        data = ", ".join(str(rng.randrange(256)) for _ in range(size))
        there_and_back(f".device tiny\n.core pe\na: .byte {data}\nb:\n .space 40\n .byte 1\n")


def test_names_of_the_default_program_are_free() -> None:
    """The default cp's labels are local to it, so a user's list may have the name `run`."""
    names = ("next", "copy", "run", "start", "wait", "end", "commands", "swap", "copied")
    lists = "".join(f".list {name}\n.endlist\n" for name in names)
    text = there_and_back(f".device tiny\n.core pe\n{lists}")
    assert " is called " not in text
