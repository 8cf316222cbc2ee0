"""Each pseudo-instruction gives the words of GNU as and ld."""

from __future__ import annotations

from macaw.asm.assembler import Source, assemble
from macaw.isa import cp, manual
from macaw.isa.codec import decode, describe
from tests.isa import gnu_pseudos as gnu


def ours(text: str) -> bytes:
    program = assemble(Source(".core cp\n" + text, "pseudos.s"), device="tiny")
    (section,) = [section for section in program.sections if section.name == ".text.cp"]
    assert section.address == gnu.BASE
    return section.data


def listing(data: bytes) -> list[str]:
    return [
        describe(decode(cp.CORE, int.from_bytes(data[place : place + 4], "little")), place)
        for place in range(0, len(data), 4)
    ]


def test_every_pseudo_instruction_is_there():
    assert {line.split()[0] for line in gnu.lines()} == {row.mnemonic for row in cp.CORE.pseudos}


def test_words_are_those_of_gnu_as():
    theirs = gnu.words()
    mine = ours(gnu.source())[0x12340:]
    assert listing(mine) == listing(theirs)
    assert mine == theirs


def test_recorded_words_are_up_to_date():
    lines, words = gnu.recorded()
    assert lines == gnu.lines()
    if not gnu.tools_missing():
        assert words == gnu.live()


def test_every_example_of_cp_assembles():
    for rows in cp.CORE.rows.values():
        for row in rows:
            assert ours(row.example + "\n"), manual.render(cp.CORE, row)
