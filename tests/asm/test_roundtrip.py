"""asm → ELF → dis → asm → ELF: the same bytes, for random programs of every core."""

from __future__ import annotations

from hypothesis import given

from asm import elf
from asm.assembler import assemble
from asm.disassembler import disassemble
from asm.source import Source
from tests.asm import sources
from tests.fuzzing import fuzz


def there_and_back(source: str) -> str:
    """The disassembly of a source; assembled again it must give the same file."""
    first = elf.write(assemble(Source(source, "first.s")))
    program = elf.read(first)
    text = disassemble(program)
    again = assemble(Source(text, "again.s"))
    # Told apart by parts first: a difference in a section reads better than one in bytes.
    assert again.sections == program.sections, text
    assert again.symbols == program.symbols, text
    assert again.tensors == program.tensors, text
    assert elf.write(again) == first, text
    return text


@fuzz
@given(sources.cp_source())
def test_random_cp_programs_come_back(source: str) -> None:
    there_and_back(source)


@fuzz
@given(sources.pe_source())
def test_random_pe_programs_come_back(source: str) -> None:
    text = there_and_back(source)
    for word in ("exe ib", "config ib", ".endseq", ".step", "trace_"):
        assert text.count(word) == source.count(word), text  # none of it as bytes
