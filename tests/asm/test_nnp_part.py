"""Parts of nnp: assembled and disassembled, calls, hints, and parts with arbitrary words."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.asm import elf, elf_note
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembler import disassemble
from macaw.asm.editing.document import Document
from macaw.asm.elf_format import ElfError
from macaw.asm.formatter import format_text
from macaw.asm.program import Hint, Program
from macaw.asm.source import Source
from macaw.isa import codec
from macaw.isa.nnp import BEGIN, BETWEEN, CORE, FINISH, STAGE, STEPS
from macaw.isa.nnp_layouts import TILE
from macaw.isa.rows import Instruction, Pseudo
from tests.asm import nnp_sources
from tests.fuzzing import EXAMPLES, properties

pytestmark = pytest.mark.once

few = settings(properties, max_examples=max(50, EXAMPLES // 16))  # each takes 20 ms

HEAD = "        .device tiny\n        .core   nnp\n"
END = "        end_chain\n"


def built(lines: str, head: str = HEAD) -> Program:
    program = assemble(Source(f"{head}{lines}\n{END}", "part.s"))
    assert not program.warnings
    return program


def words(lines: str) -> list[int]:
    """The words of a part without the last one, its end_chain."""
    data = built(lines).section(".nnp").data
    return [word for (word,) in struct.iter_unpack("<I", data)][:-1]


def there_and_back(program: Program) -> str:
    """The disassembly of a program; asserts that this text assembles to the same program."""
    again = elf.read(elf.write(program))
    assert again == program
    text = disassemble(again)
    assert assemble(Source(text, "again.s")) == program, text
    assert format_text(text) == text
    return text


@few
@given(nnp_sources.source())
def test_random_parts_come_back(source: str) -> None:
    program = assemble(Source(source, "first.s"))
    there_and_back(program)
    text = disassemble(program, "nnp")
    assert text.count(".word") == source.count(".word")  # nothing else is data
    assert text.count(".hint") == source.count(".hint")


@few
@given(nnp_sources.source(), st.data())
def test_changed_words_come_back(source: str, data: st.DataObject) -> None:
    """A part with changed words is disassembled, as chains or as data, to the same words."""
    program = assemble(Source(source, "first.s"))
    (section,) = program.parts("nnp")
    changed = bytearray(section.data)
    known = [codec.encode(row, {**dict.fromkeys((x.name for x in row.operands), 1)})
             for row in CORE.instructions if "mem" not in row.syntax and "reg" not in row.syntax]  # fmt: skip
    for place in data.draw(st.lists(st.integers(0, section.size // 4 - 1), max_size=4)):
        word = data.draw(st.integers(0, 2**32 - 1) | st.sampled_from([0, *known]))
        changed[4 * place : 4 * place + 4] = word.to_bytes(4, "little")
    sections = [
        replace(item, data=bytes(changed)) if item is section else item for item in program.sections
    ]
    program = replace(program, sections=tuple(sections))
    text = disassemble(program)
    again = assemble(Source(text, "again.s"))
    assert elf.write(again, lines=False) == elf.write(program, lines=False), text


def framed(row: Instruction | Pseudo) -> tuple[str, int]:
    """Lines with the row's example in a chain, and the index of the example's first word."""
    mnemonic = row.mnemonic
    if isinstance(row, Pseudo):
        mnemonic = row.alternatives[0].lines[0].split()[0]
    step = STEPS[mnemonic]
    read, write = ("m_rd Dram, 0", "m_wr MatrixRf, 0") if step.elements == TILE else (
        "v_rd NetInQ", "v_wr NetOutQ")  # fmt: skip
    if step.role == BEGIN:
        return f"{row.example}\n{write}", 0
    if step.role in (BETWEEN, FINISH):
        return row.example, 0
    return f"{read}\n{row.example}" + (f"\n{write}" if step.role == STAGE else ""), 1


@pytest.mark.parametrize("row", CORE.instructions, ids=lambda row: row.mnemonic)
def test_an_example_is_its_row(row: Instruction) -> None:
    lines, place = framed(row)
    assert codec.decode(CORE, words(lines)[place]).row is row


@pytest.mark.parametrize("row", CORE.pseudos, ids=lambda row: f"{row.mnemonic}-{row.syntax}")
def test_an_example_of_a_pseudo_instruction_is_what_it_stands_for(row: Pseudo) -> None:
    lines, _ = framed(row)
    written = re.findall(r"\w+", row.example)[1:]
    values = dict(zip((operand.name for operand in row.operands), written, strict=True))
    (alternative,) = row.alternatives
    meant = "\n".join(line.format(**values) for line in alternative.lines)
    assert words(lines) == words(lines.replace(row.example, meant))


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        ("SetRowsCols(2, 3)", "s_wr rows, 2\n s_wr cols, 3"),
        ("SetRowsCols (cols=3, rows=2)", "SetRowsCols 2, 3"),
        ("SetIterations((1 + 3) * 2)", "SetIterations 8"),
        ("SetIterations ((1 + 3))", "SetIterations 4"),
        ("v_rd(Dram, 4); v_sigm(); v_wr(NetOutQ)", "v_rd Dram, 4; v_sigm; v_wr NetOutQ"),
        ("trace_end(3)", "trace_end 3"),
    ],
)
def test_a_call_is_the_instruction(call: str, plain: str) -> None:
    assert words(call) == words(plain)


def test_the_formatter_leaves_calls_together() -> None:
    text = f"{HEAD}        SetRowsCols(2, 3)\n        v_rd    NetInQ\n        v_wr(NetOutQ)\n{END}"
    assert format_text(text) == text


def test_the_part_lies_in_the_instruction_memory() -> None:
    (section,) = built("").parts("nnp")
    assert (section.name, section.address, section.load_address) == (
        ".nnp",
        0x3030_0000,
        0x3030_0000,
    )


def test_time_steps_by_repetition() -> None:
    """`.rept` with a `.set` counter makes one chain for each time step."""
    program = built(
        """
        .equ    STEPS, 3
        .set    step, 0
        .rept   STEPS
        v_rd    Dram, 4 * step
        mv_mul  0
        v_tanh
        v_wr    Dram, 100 + step
        .set    step, step + 1
        .endr"""
    )
    found = [word for (word,) in struct.iter_unpack("<I", program.section(".nnp").data)]
    assert [word & 0xFFFF for word in found[0:-1:4]] == [0, 4, 8]
    assert [word & 0xFFFF for word in found[3:-1:4]] == [100, 101, 102]


HINTED = """        .hint tensor W, MatrixRf, AT, 8, 7
        .hint tensor bias, AddSubVrf0, 3, 2, 4
        .equ AT, 5"""


def test_hints_are_in_the_program_and_its_file() -> None:
    """Hints are kept in the program, its file and its disassembly (seed 003 ¶61-62)."""
    program = built(HINTED)
    expected = (Hint("nnp", "W", "MatrixRf", 5, 8, 7), Hint("nnp", "bias", "AddSubVrf0", 3, 2, 4))
    assert program.hints == expected
    assert elf.read(elf.write(program)).hints == expected
    text = there_and_back(program)
    assert re.search(r"\.hint +tensor W, MatrixRf, 5, 8, 7\n", text)


def test_a_program_without_hints_has_a_note_without_them() -> None:
    assert b"hints" not in elf.write(built(""))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"rows": 0}, "a hint cannot be"),
        ({"address": -1}, "a hint cannot be"),
        ({"cols": 1 << 32}, "a hint cannot be"),
        ({"name": ""}, "a hint cannot be"),
        ({"memory": 3}, "the memory of a hint has the wrong type"),
        ({"rows": True}, "the rows of a hint has the wrong type"),
        ({"name": "a\n"}, "the name of a hint holds"),
    ],
)
def test_a_broken_hint_is_refused(change: dict[str, object], match: str) -> None:
    note = elf_note.write(built(HINTED), arrays=True)
    begin = 12 + len(b"Macaw\0\0\0")
    found = json.loads(note[begin:].rstrip(b"\0"))
    found["hints"][0] |= change
    text = json.dumps(found).encode()
    text += b" " * (-len(text) % 4)
    with pytest.raises(ElfError, match=match):
        elf_note.read(struct.pack("<III", 6, len(text), 1) + b"Macaw\0\0\0" + text)


def test_a_chain_is_explained_and_completed_in_an_editor() -> None:
    text = f"{HEAD}        v_rd    \n"
    found = {item.word for item in Document(text, "t.s").completions(3, 17).items}
    assert {"NetInQ", "InitialVrf", "Dram"} <= found
    assert "NetOutQ" not in found
    called = Document(f"{HEAD}        v_rd(\n", "t.s").completions(3, 14).items
    assert {item.word for item in called if item.kind == "word"} == set(
        CORE.rows["v_rd"][0].operands[0].kind.words()
    )
    text = f"{HEAD}        SetRowsCols(2, 3)\n        v_rd(Dram, 0)\n        v_wr    NetOutQ\n{END}"
    document = Document(text, "t.s")
    assert document.diagnostics == ()
    for line, column, text in ((3, 12, "Set rows and cols."), (4, 16, "External memory")):
        hover = document.hover(line, column)
        assert hover is not None
        assert text in hover.text
    document = Document(f"{HEAD}        v_sigm\n{END}", "t.s")
    assert [item.message for item in document.diagnostics] == [
        "v_sigm is in no chain: v_rd begins one"
    ]


def test_many_chains_are_held_to_the_rules_in_the_order_of_the_words() -> None:
    """A program of 6000 chains gets one error for its one mistake, at the right line."""
    good = "v_rd NetInQ; mv_mul 0; v_tanh; v_wr NetOutQ\n"
    text = f"{HEAD}{good * 3000}v_rd NetInQ; v_wr NetOutQ; v_relu\n{good * 3000}{END}"
    with pytest.raises(AssemblyError, match="v_relu stands after v_wr") as caught:
        assemble(Source(text, "long.s"))
    assert caught.value.errors[0].span.line == 3003
