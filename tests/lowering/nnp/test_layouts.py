"""Where the elements of a value on nnp are: rows of native vectors, by hand and by laying out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.isa.errors import MacawError
from macaw.lowering.nnp.layouts import (
    Groups,
    Value,
    groups,
    image_elements,
    padded,
    regrouped,
    row_elements,
    selected,
    vector_copies,
)
from macaw.lowering.nnp.operations import Place
from macaw.lowering.nnp.reading import matching

N = 4


def value(shape: tuple[int, ...], segment: int = 0, **more: int) -> Value:
    table = row_elements(shape, N, segment)
    return Value(shape, "t", table, N, **{"stride": table.shape[1] // N, **more})


def flat(shape: tuple[int, ...], keep: Any) -> Any:
    """The indices of the elements that a NumPy index keeps."""
    return np.arange(int(np.prod(shape))).reshape(shape)[keep].reshape(-1)


def test_rows_are_padded_to_native_vectors() -> None:
    assert [padded(size, N) for size in (0, 1, 4, 5, 8)] == [0, 4, 4, 8, 8]
    assert row_elements((2, 3), N, 0).tolist() == [[0, 1, 2, -1], [3, 4, 5, -1]]
    assert row_elements((), N, 0).tolist() == [[0, -1, -1, -1]]
    assert row_elements((1, 6), N, 3).tolist() == [[0, 1, 2, -1, 3, 4, 5, -1]]
    assert row_elements((2, 1, 5), N, 0).tolist() == [
        [0, 1, 2, 3, 4, -1, -1, -1], [5, 6, 7, 8, 9, -1, -1, -1]
    ]  # fmt: skip
    # an image of two channels: a row for each position, with its channels
    assert image_elements((1, 2, 1, 3), N).tolist() == [
        [0, 3, -1, -1], [1, 4, -1, -1], [2, 5, -1, -1]
    ]  # fmt: skip


def test_a_row_that_all_rows_of_another_value_use() -> None:
    """One row of 3 elements cannot be divided into 2 rows: each row of the sum uses all of it."""
    found = matching(value((2, 3)), value((3,), first=7), (2, 3))
    assert found == Place("t", count=2, vectors=1, first=7, stride=0)
    assert matching(value((2, 3)), value((2, 1)), (2, 3)) is None


def test_rows_and_vectors_that_a_part_needs() -> None:
    whole = value((4, 10), first=5)
    assert (whole.rows, whole.vectors, whole.place.first, whole.place.stride) == (4, 3, 5, 3)
    same = selected(whole, (4, 10), np.arange(40))
    assert (same.first, same.stride, same.zeros) == (5, 3, True)
    part = selected(whole, (2, 10), flat((4, 10), np.s_[1::2]))
    assert (part.first, part.stride, part.rows) == (5 + 3, 6, 2)
    assert part.elements.tolist() == [[*range(10), -1, -1], [*range(10, 20), -1, -1]]
    part = selected(whole, (4, 4), flat((4, 10), np.s_[:, 4:8]))
    assert (part.first, part.stride, part.vectors) == (6, 3, 1)
    assert part.elements[1].tolist() == [4, 5, 6, 7]
    part = selected(whole, (4, 5), flat((4, 10), np.s_[:, 3:8]))  # other numbers are beside it
    assert (part.first, part.vectors, part.zeros) == (5, 2, False)
    assert part.elements[0].tolist() == [-1, -1, -1, 0, 1, 2, 3, 4]
    one = selected(whole, (1, 10), flat((4, 10), np.s_[3:]))
    assert (one.first, one.stride, one.rows) == (5 + 9, 3, 1)
    with pytest.raises(MacawError, match="rows that are not evenly spaced"):
        selected(whole, (3, 10), flat((4, 10), np.s_[[0, 1, 3]]))
    with pytest.raises(MacawError, match="it repeats elements"):
        selected(whole, (2, 10), flat((4, 10), np.s_[[1, 1]]))


def test_vectors_in_another_number_of_rows() -> None:
    whole = value((2, 8))
    assert regrouped(whole, 2) is whole
    four = regrouped(whole, 4)
    assert four is not None
    assert (four.rows, four.vectors, four.stride) == (4, 1, 1)
    one = regrouped(whole, 1)
    assert one is not None
    assert (one.rows, one.vectors, one.stride) == (1, 4, 4)
    assert regrouped(whole, 3) is None
    assert regrouped(value((2, 8), stride=3), 4) is None  # there is a vector between the rows
    assert regrouped(value((1, 8), stride=3), 2) is not None


def test_a_value_in_groups() -> None:
    whole = value((2, 3))
    group, key = np.repeat([1, 0], 3), np.tile([2, 1, 0], 2)
    found = groups(whole, group, key)
    assert isinstance(found, Groups)
    assert (found.leads.tolist(), found.keys.tolist()) == ([1, 0], [2, 1, 0, -1])
    # the elements of a row are of two groups; the keys of two rows differ
    assert groups(whole, np.array([0, 0, 1, 1, 1, 0]), key) is None
    assert groups(whole, group, np.array([0, 1, 2, 1, 0, 2])) is None


def test_copies_of_whole_vectors() -> None:
    """The two halves of each row change places, then the two rows."""
    whole = value((2, 8), first=10)
    columns = np.tile([4, 5, 6, 7, 0, 1, 2, 3], 2)
    copies, table = vector_copies(whole, np.repeat([0, 1], 8), columns)
    assert table.tolist() == [[4, 5, 6, 7, 0, 1, 2, 3], [12, 13, 14, 15, 8, 9, 10, 11]]
    assert [(x.column, x.source.first, x.source.stride) for x in copies] == [(0, 11, 2), (1, 10, 2)]
    copies, table = vector_copies(whole, np.repeat([0, 1], 8), np.tile(range(8), 2))
    assert [(x.column, x.source.first, x.source.vectors) for x in copies] == [(0, 10, 2)]
    (copy,), _ = vector_copies(value((1, 8)), np.zeros(8, int), np.arange(8))
    assert (copy.column, copy.source.count, copy.source.stride) == (0, 1, 0)
    with pytest.raises(MacawError, match="vectors are in reverse order"):
        vector_copies(whole, np.repeat([1, 0], 8), np.tile(range(8), 2))
    for group, key in (
        (np.tile([0, 1], 8), np.repeat(range(8), 2)),  # a vector has elements of two groups
        (np.repeat([0, 1], 8), [*range(8), 1, 0, *range(2, 8)]),  # the rows differ
    ):
        with pytest.raises(MacawError, match="lie in other vectors than it needs"):
            vector_copies(whole, np.asarray(group), np.asarray(key))
