"""The disassembler chooses objdump's pseudo-instructions; they give the same words."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from macaw.asm import elf
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.isa import codec, registry
from macaw.isa.aliases import with_alias

CP = registry.core("cp")
OBJDUMP = shutil.which("riscv64-unknown-elf-objdump")
OWN = {row.mnemonic for row in CP.instructions}
# Pseudo-instructions of one instruction that a disassembly shows; others are older names or overloads.
SHOWN = [
    row
    for row in CP.pseudos
    if row.mnemonic not in OWN and len(row.alternatives[0].lines) == 1 and row.mnemonic != "move"
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("addi zero, zero, 0", "nop"),
        ("addi a0, a1, 0", "mv a0, a1"),
        ("addi a0, zero, 0", "li a0, 0"),
        ("addi a0, zero, -2048", "li a0, -2048"),
        ("addi a0, a1, 10", "addi a0, a1, 10"),
        ("jalr zero, 0(ra)", "ret"),
        ("jalr zero, 0(a0)", "jr a0"),
        ("jalr zero, 8(a0)", "jr 8(a0)"),
        ("jalr ra, 0(a0)", "jalr ra, 0(a0)"),
        ("jal zero, zero_of_mine", "j zero_of_mine"),
        ("jal ra, zero", "jal ra, zero"),
        ("bne a0, zero, .L1", "bnez a0, .L1"),
        ("blt a0, a1, there", "blt a0, a1, there"),
        ("slt a0, zero, a1", "sgtz a0, a1"),
        ("slt a0, a2, a1", "slt a0, a2, a1"),
        ("csrrs a0, cycle, zero", "rdcycle a0"),
        ("csrrs a0, 0x7c0, zero", "csrr a0, 0x7c0"),
        ("csrrw zero, 0x7c0, a0", "csrw 0x7c0, a0"),
        ("ecall", "ecall"),
        ("dma.wait zero", "dma.wait zero"),
        ("nothing zero, zero", "nothing zero, zero"),
    ],
)
def test_by_hand(text: str, expected: str) -> None:
    assert with_alias(CP, text) == expected


def test_a_core_without_pseudo_instructions() -> None:
    pe = registry.core("pe")
    assert with_alias(pe, "mac base=0, acc=0") == "mac base=0, acc=0"


def word(text: str) -> int:
    data = assemble(Source(f".core cp\n{text}\n")).sections[0].data
    assert len(data) == 4
    return int.from_bytes(data, "little")


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: f"{row.mnemonic} {row.syntax}")
def test_the_alias_gives_the_same_word(row: object) -> None:
    example = row.example.replace("0x12345678", "-5")  # type: ignore[attr-defined]
    wanted = word(example)
    said = with_alias(CP, codec.describe(codec.decode(CP, wanted), 0x10000))
    assert word(said) == wanted


def test_objdump_chooses_the_same(tmp_path: Path) -> None:
    if OBJDUMP is None:
        warnings.warn("objdump is missing: its aliases are not compared", stacklevel=1)
        pytest.skip("needs objdump")
    examples = [row.example.replace("0x12345678", "-5") for row in SHOWN]
    program = assemble(Source(".core cp\n" + "\n".join(examples) + "\n"))
    path = tmp_path / "program.elf"
    path.write_bytes(elf.write(program))
    done = subprocess.run([OBJDUMP, "-d", path], capture_output=True, text=True, check=True)
    said = re.findall(r"^ *\w+:\t([0-9a-f]{8}) +\t(\S+)", done.stdout, re.MULTILINE)
    assert len(said) == len(examples)
    shown = {row.mnemonic for row in SHOWN}
    compared = 0
    for value, theirs in said:
        ours = with_alias(CP, codec.describe(codec.decode(CP, int(value, 16)), 0)).split(" ")[0]
        if ours in shown or theirs in shown:
            constant = {"csrwi": "csrw", "csrsi": "csrs", "csrci": "csrc"}  # it says both so
            assert theirs in (ours, constant.get(ours)), value
            compared += 1
    assert compared > 20
