"""Copies that move segments of bytes, and indices of steps, against Python's own ranges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from macaw.lowering.fim.routes import count_of, runs
from tests.fuzzing import properties

Segment = tuple[int, int, int]  # destination, source, bytes


def copied(segments: list[Segment]) -> tuple[list[tuple[int, int]], int]:
    """The pairs (destination, source) of bytes that the copies move in order, and their number."""
    to, at, sizes = (np.array(column, np.int64) for column in zip(*segments, strict=True))
    moved, count = [], 0
    for first_to, first_at, (size, rows, step_to, step_at) in runs(to, at, sizes):
        count += 1
        for row in range(rows):
            start_to, start_at = first_to + row * step_to, first_at + row * step_at
            moved += [(start_to + byte, start_at + byte) for byte in range(size)]
    return moved, count


@st.composite
def some_segments(draw: st.DrawFn) -> list[Segment]:
    """Series of segments at equal distances, one after another."""
    found: list[Segment] = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 3))
        to, at = draw(st.integers(0, 40)), draw(st.integers(0, 40))
        step_to, step_at = draw(st.integers(0, 6)), draw(st.integers(0, 6))
        for row in range(draw(st.integers(1, 4))):
            found.append((to + row * step_to, at + row * step_at, size))
    return found


@properties
@given(some_segments())
def test_the_copies_move_all_bytes_in_their_order(segments: list[Segment]) -> None:
    expected = [(to + byte, at + byte) for to, at, size in segments for byte in range(size)]
    assert copied(segments)[0] == expected


def test_the_least_number_of_copies() -> None:
    """Adjacent segments are one, and rows at equal distances are one copy."""
    for segments, count in [
        ([(0, 5, 2)], 1),
        ([(0, 5, 2), (2, 7, 3)], 1),  # adjacent
        ([(0, 5, 2), (2, 8, 3)], 2),  # adjacent on one side alone
        ([(0, 5, 2), (4, 9, 2), (8, 13, 2)], 1),  # rows
        ([(0, 5, 2), (4, 9, 2), (8, 13, 3)], 2),
        ([(0, 5, 2), (4, 9, 2), (9, 13, 2)], 2),
        ([(0, 5, 2), (4, 9, 2), (8, 14, 2)], 2),
        ([(0, 5, 3), (4, 9, 2), (8, 13, 2), (12, 17, 2)], 2),
        ([(0, 5, 2), (4, 9, 2), (20, 9, 2), (24, 13, 2)], 2),
        ([(0, 5, 1), (1, 6, 1), (4, 9, 2), (8, 13, 1), (9, 14, 1)], 1),
    ]:
        assert copied(segments)[1] == count, segments
    empty = np.zeros(0, np.int64)
    assert list(runs(empty, empty, empty)) == []


def test_elements_of_a_range() -> None:
    for first in range(-2, 6):
        for end in range(-3, 9):
            for step in range(1, 5):
                assert count_of(first, step, end) == len(range(first, end, step))
