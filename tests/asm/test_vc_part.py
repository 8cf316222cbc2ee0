"""A part of vc: its address, its first instruction, and which core starts it."""

from __future__ import annotations

import macaw
from macaw.asm.assembler import assemble
from macaw.asm.disassembler import disassemble
from macaw.asm.source import Source

END = "        li      a7, 93\n        li      a0, 0\n        ecall\n"
STORE = f"        la      t1, y\n        sw      t0, (t1)\n{END}"


def outputs(text: str) -> int:
    found = macaw.run(assemble(Source(text, "part.s"))).outputs["y"]
    return int(found[0])


def test_it_begins_with_its_first_instruction_or_at_start() -> None:
    head = "        .device tiny\n        .output y, int32, 1\n        .core   vc\n        li      t0, 1\n"
    assert outputs(head + STORE) == 1
    assert outputs(f"{head}        j       over\n_start: li      t0, 2\nover:\n{STORE}") == 2


def test_a_part_of_cp_may_hold_start_for_itself() -> None:
    text = f"""
        .device tiny
        .output y, int32, 1
        .core   vc
work:   li      t0, 7
{STORE}
        .core   cp
        li      a0, 9
        li      a7, 93
        ecall
_start: li      a0, 2
        la      a1, work
        core.start a0, a1
        li      a0, 4
        core.wait a0
{END}"""
    assert outputs(text) == 7


def test_a_part_of_nothing_is_not_started() -> None:
    program = assemble(Source("        .device tiny\n        .core   vc\n", "part.s"))
    assert ".text.vc" not in [section.name for section in program.sections]
    assert macaw.run(program).cycles > 0


def test_both_parts_run_with_the_array() -> None:
    """One default program starts a row of the array and vc."""
    text = f"""
        .device tiny
        .output y, int32, 1
        .core   pe, row=0
        trace_begin 0
        trace_end 0
        .core   vc
        li      t0, 5
{STORE}"""
    assert outputs(text) == 5


def test_it_lies_in_external_memory_and_is_padded_by_instructions() -> None:
    text = "        .core   vc\n        nop\n        .balign 16\nlast:   nop\n"
    program = assemble(Source(text, "part.s"))
    section = program.section(".text.vc")
    assert section.address >= 0x80000000
    assert section.address % 16 == 0
    nop = bytes.fromhex("13000000")
    assert section.data == nop * 5
    again = assemble(Source(disassemble(program), "again.s"))
    assert again.section(".text.vc").data == section.data
