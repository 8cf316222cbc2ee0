"""Repetitions (`.irp`) give the lines from which they were made."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from macaw.lowering.repetitions import repeated


def words(lines: list[str]) -> list[list[int]]:
    """The numbers of each `.word`, after the `.irp` lines around it are expanded."""
    if not lines:
        return []
    head = re.fullmatch(r"\.irp (\w), ([\d, ]+)", lines[0])
    if head is None:
        return [
            [eval(term, {"x": 1 << 40, "y": 1 << 50}) for term in line[6:].split(",")]
            for line in lines
        ]
    assert lines[-1] == ".endr"
    return [
        line
        for value in head[2].split(", ")
        for line in words([text.replace(f"\\{head[1]}", value) for text in lines[1:-1]])
    ]


def all_words(lines: list[str]) -> list[list[int]]:
    """The numbers of each `.word` in all groups into which `repeated` divides the lines."""
    return [line for _, group in repeated(lines) for line in words(group)]


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(-9, 5000), st.integers(-3, 3)), max_size=4),
    st.integers(0, 7),
    st.booleans(),
)
def test_a_table_of_nested_loops(loops, cut, odd):
    """Tables of up to four nested loops, also cut short or with another line, are restored."""
    rows = [(0, 0x2000)]
    for count, step, other in loops:
        rows = [(a + step * n, b + 0x1000 * other * n) for n in range(count) for a, b in rows]
    lines = [f".word x + {a}, {abs(b):#x}, 16" for a, b in rows][: len(rows) - cut or None]
    if odd and lines:
        lines.insert(len(lines) // 2, ".word y + 3, 0x10, 16")
    assert all_words(lines) == words(lines)
    assert [number for number, _ in repeated(lines)] == sorted(
        {number for number, _ in repeated(lines)}
    )
    assert sum(len(group) for _, group in repeated(lines)) <= len(lines)


def test_three_levels():
    lines = [
        f".word y + {i * 100 + j * 7 + k}, {0x100000 * i:#x}"
        for i in range(2)
        for j in range(3)
        for k in range(4)
    ]
    assert repeated(lines) == [
        (
            0,
            [
                ".irp i, 0, 1",
                ".irp j, 0, 1, 2",
                ".irp k, 0, 1, 2, 3",
                ".word y + 0 + 100 * \\i + 7 * \\j + 1 * \\k, 0x0 + 0x100000 * \\i",
                ".endr",
                ".endr",
                ".endr",
            ],
        )
    ]


def test_lines_without_a_regular_form_stay():
    for lines in (
        [".word 1, 2", ".word 3"],
        [".word a", ".word b"],
        [".word 1", ".word 2", ".word 4"],
        [f".word 2 * {n}" for n in range(9)],  # a factor is not a term
        [f".word x - {n}" for n in range(9)],  # the number is subtracted
        [],
    ):
        assert repeated(lines) == [(n, [line]) for n, line in enumerate(lines)]
