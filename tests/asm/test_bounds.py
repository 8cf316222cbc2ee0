"""Limits of the assembler and its readers: the greatest value allowed, and the next one refused."""

from __future__ import annotations

import pytest

from macaw.asm import elf_format as elf
from macaw.asm import elf_object, object_read
from macaw.asm.assembler import analyse, assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.elf_format import ElfError, SectionHeader
from macaw.asm.elf_headers import read_headers
from macaw.asm.source import Source
from macaw.asm.text_stack import MAX_DEPTH
from macaw.isa import config
from macaw.isa.fim_islands import geometry
from tests.asm.linked_files import assembled

NESTED = ".macro deep n\n.if \\n > 1\ndeep \\n-1\n.endif\n.endm\n"


@pytest.mark.parametrize("row", [0, 1, 40, 63])
def test_a_section_in_a_bank_ends_with_the_bank(row: int) -> None:
    """A section that starts at a row of a bank may fill the bank to its end, but no byte more."""
    memory = geometry(config.load("tiny"))
    room = (memory.rows - row) * memory.row_bytes
    name = f".fim.0.bank1.row{row}"
    text = f".device tiny\n.core fim, island=0\n.section {name}\n.zero {{}}\n"
    assert assemble(Source(text.format(room), "a.s")).section(name).size == room
    with pytest.raises(AssemblyError, match=r"fim\.rows") as caught:
        assemble(Source(text.format(room + 1), "a.s"))
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "before", ["", f"deep {MAX_DEPTH + 1}\n", "deep 5\n.rept 3\n.byte 1\n.endr\n"]
)
def test_the_depth_counts_anew_after_each_call_and_each_error(before: str) -> None:
    """After a call, even one that was too deep, the next call may again be `MAX_DEPTH` deep."""

    def errors(text: str) -> int:
        found = analyse((Source(NESTED + text, "a.s"),)).state.report.diagnostics()
        assert all(f"more than {MAX_DEPTH} expansions in each other" in x.message for x in found)
        return len(found)

    most, more = f"deep {MAX_DEPTH}\n", f"deep {MAX_DEPTH + 1}\n"
    number = errors(before)
    assert number == (more in before)
    assert errors(before * 2 + most) == 2 * number
    assert errors(before * 2 + more) == 2 * number + 1
    assert errors(before + most + more + most) == number + 1


@pytest.mark.parametrize("size", [0, 1, 2, 8])
def test_a_relocation_is_in_its_section(size: int) -> None:
    """A relocation at or after its section's end is refused. In an empty section, 0 is allowed."""
    data = bytearray(elf_object.write(assembled("        .data\n        .word other, 0\n")))
    file = read_headers(bytes(data), elf.ET_REL)
    header = next(x for x in file.headers if x.kind == elf.SHT_RELA)
    at = file.header.sections_at + header.info * elf.SECTION_HEADER.size
    at += 4 * SectionHeader._fields.index("size")
    data[at : at + 4] = size.to_bytes(4, "little")
    for address in range(10):
        data[header.offset : header.offset + 4] = address.to_bytes(4, "little")
        message = ""
        try:
            object_read.read(bytes(data))
        except ElfError as error:
            message = str(error)
        is_outside = address > 0 and address >= size
        assert (f"{address:#x} is after the end of .macaw.data" in message) == is_outside
