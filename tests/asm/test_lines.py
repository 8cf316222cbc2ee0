"""The line table: look-ups, order, and what it leaves out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm.assembler import assemble
from macaw.asm.lines import Line, LineTable
from macaw.asm.source import Source, SourceText
from tests.fuzzing import properties

LINES = st.builds(
    Line,
    st.sampled_from((".a", ".b")),
    st.integers(0, 40),
    st.sampled_from(("one.s", "two.s")),
    st.integers(0, 9),
    st.integers(0, 9),
)


@properties
@given(st.lists(LINES), st.integers(-1, 41))
def test_the_table_is_the_sorted_list_of_its_lines(lines: list[Line], address: int) -> None:
    table = LineTable.of(lines)
    expected = [
        line
        for name in dict.fromkeys(line.section for line in lines)
        for line in sorted((x for x in lines if x.section == name), key=lambda x: x.address)
    ]
    assert list(table) == expected
    assert [table[place] for place in range(len(table))] == expected
    assert [table[place - len(table)] for place in range(len(table))] == expected
    assert table[1:3] == tuple(expected[1:3])
    before = [line for line in expected if line.section == ".a" and line.address <= address]
    found = before[-1] if before and before[-1].line else None
    assert table.at(".a", address) == found


def test_tables_are_equal_whatever_the_order_of_sections_and_files() -> None:
    one, two = Line(".a", 0, "x.s", 1, 1), Line(".b", 0, "y.s", 2, 1)
    assert LineTable.of([one, two]) == LineTable.of([two, one])
    assert LineTable.of([one]) != LineTable.of([two])
    assert LineTable() != (one,)
    assert repr(LineTable.of([one])) == "<LineTable: 1 rows, 1 files>"


def test_repetitions_in_repetitions_have_the_lines_of_their_rounds() -> None:
    """A repetition that begins with another one, with and without instructions after it."""
    rounds = (
        ".rept 4\n.rept 3\nnop\nebreak\n.endr\n.endr\n.rept 3\n.rept 3\nnop\n.endr\nebreak\n.endr\n"
    )
    table = assemble(Source(f".core cp\n{rounds}", "t.s")).lines
    assert [line.line for line in table] == [4, 5] * 12 + [10, 10, 10, 12] * 3
    first = table[0].address
    assert [line.address - first for line in table] == list(range(0, 4 * len(table), 4))


@pytest.mark.parametrize("repetition", [".rept 1", ".irp n, 7", ".irpc n, 7"])
def test_a_repetition_of_one_round_may_end_the_program(repetition: str) -> None:
    table = assemble(Source(f".core cp\n{repetition}\nnop\nebreak\n.endr\n", "t.s")).lines
    assert [line.line for line in table] == [3, 4]


def test_there_is_no_row_outside() -> None:
    table = LineTable.of([Line(".a", 0, "x.s", 1, 1)])
    for place in (1, -2):
        with pytest.raises(IndexError):
            table[place]
    assert table.at(".b", 0) is None


def test_numbers_wider_than_32_bits_are_not_known() -> None:
    assert LineTable.of([Line(".a", 0, "x.s", 1 << 32, 1 << 40)])[0] == Line(".a", 0, "x.s", 0, 0)


@properties
@given(st.text("a\n", max_size=40), st.data())
def test_many_offsets_of_a_source_have_the_lines_and_columns_of_each(
    text: str, data: st.DataObject
) -> None:
    """`locate_all` finds line and column of offsets in any order, as splitting the text does."""
    offsets = data.draw(st.lists(st.integers(0, len(text)), max_size=20))
    before = [text[:offset].split("\n") for offset in offsets]
    expected = [len(lines) for lines in before], [len(lines[-1]) + 1 for lines in before]
    source = SourceText(text, "text.s")
    assert source.locate_all(offsets) == expected
    assert [source.locate(offset) for offset in offsets] == list(zip(*expected, strict=True))
