"""A program with every kind of section, and its ELF file."""

from __future__ import annotations

import struct

import pytest

from macaw.asm import elf
from macaw.asm.program import Program, Section, Symbol, Tensor

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


def refused(data: bytes, match: str) -> None:
    with pytest.raises(elf.ElfError, match=match):
        elf.read(data)
