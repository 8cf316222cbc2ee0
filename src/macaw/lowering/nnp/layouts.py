"""Describes where the elements of an ONNX value are on the device: rows of padded native vectors.

Operations that only rename elements (Reshape, Transpose, Slice ...) change this description and
move nothing.
"""

from __future__ import annotations

import math
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp.operations import Place

Indices = NDArray[np.int64]
PADDING = -1


@dataclass(frozen=True)
class Value:
    """An ONNX value on the device: rows of a tensor, and the element in each place of a row.

    `elements` has shape (rows, places of a row). It has indices in the flat array of `shape`, and
    -1 for padding. Row i begins at native vector `first` + `stride` · i of the tensor. If `zeros`,
    all padding is zero.
    """

    shape: tuple[int, ...]
    tensor: str
    elements: Indices = field(compare=False)
    native: int
    first: int = 0
    stride: int = 0
    zeros: bool = True

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.elements)

    @property
    def vectors(self) -> int:
        """The number of native vectors of a row."""
        return int(self.elements.shape[1]) // self.native

    @property
    def place(self) -> Place:
        """The place of the rows in the device's memory."""
        return Place(self.tensor, self.rows, self.vectors, self.first, self.stride)


def padded(size: int, native: int) -> int:
    """Return the number of elements `size`, rounded up to whole native vectors."""
    return -(-size // native) * native


def pattern(size: int, segment: int, native: int) -> Indices:
    """Return the element in each place of a row that has `size` elements, in segments.

    A segment has `segment` elements and begins with a new native vector; padding is -1. For 4
    elements, segments of 2 and native vectors of 3 elements, the result is 0, 1, -1, 2, 3, -1.
    """
    one = np.full(padded(segment, native), PADDING, np.int64)
    one[:segment] = np.arange(segment)
    starts = np.arange(0, size, segment)[:, None]
    return np.where(one >= 0, one + starts, PADDING).reshape(-1)


def row_elements(shape: tuple[int, ...], native: int, segment: int) -> Indices:
    """Return the field `elements` of `Value` for a value whose last axis is a row, in segments.

    A segment has `segment` elements; this number divides the length of a row, and 0 stands for the
    whole row.
    """
    size = shape[-1] if shape else 1
    rows = math.prod(shape[:-1]) if shape else 1
    keys = pattern(size, segment or size, native)
    starts = np.arange(rows, dtype=np.int64)[:, None] * size
    return np.where(keys >= 0, starts + keys, PADDING)


def image_elements(shape: tuple[int, ...], native: int) -> Indices:
    """Return the field `elements` of `Value` for an image (1, channels, height, width).

    Each position (y, x) has a row, which has all channels at this position.
    """
    channels, positions = shape[1], math.prod(shape[2:])
    keys = pattern(channels, channels, native)
    return np.where(keys >= 0, keys * positions + np.arange(positions)[:, None], PADDING)


def reshaped(value: Value, shape: tuple[int, ...]) -> Value:
    """Return the value with its elements in another shape."""
    return replace(value, shape=shape)


def selected(value: Value, shape: tuple[int, ...], old: Indices) -> Value:
    """Return the value of `shape` whose element i is element `old[i]` of `value`.

    Raises `LowerError` if an element is taken twice, or if the rows are not evenly spaced.
    """
    new = np.full(math.prod(value.shape), PADDING, np.int64)
    new[old] = np.arange(len(old))
    if np.count_nonzero(new >= 0) != len(old):
        raise LowerError("it repeats elements, and nnp has no such copy")
    table = np.where(value.elements >= 0, new[value.elements], PADDING)
    zeros = value.zeros and np.array_equal(table >= 0, value.elements >= 0)
    return _trimmed(replace(value, shape=shape, elements=table, zeros=zeros))


def _trimmed(value: Value) -> Value:
    """Return the value without unused rows, and without unused vectors at the ends of all rows.

    Raises `LowerError` if the rows that remain are not evenly spaced.
    """
    vectors = value.elements.reshape(value.rows, value.vectors, -1)
    used = vectors.max(axis=2) >= 0
    rows, columns = np.flatnonzero(used.any(axis=1)), np.flatnonzero(used.any(axis=0))
    low, high = int(columns[0]), int(columns[-1]) + 1
    gaps = np.diff(rows)
    if len(gaps) and np.any(gaps != gaps[0]):
        raise LowerError("it takes rows that are not evenly spaced")
    step = int(gaps[0]) if len(gaps) else 1
    table = value.elements[rows, low * value.native : high * value.native]
    first = value.first + int(rows[0]) * value.stride + low
    return replace(value, elements=table, first=first, stride=step * value.stride)


def regrouped(value: Value, rows: int) -> Value | None:
    """Return the value with its native vectors divided into another number of rows.

    The result is None if the rows do not follow each other without gaps, or if the vectors cannot
    be divided equally.
    """
    if rows == value.rows:
        return value
    total = value.rows * value.vectors
    contiguous = value.rows == 1 or value.stride == value.vectors
    if total % rows or not contiguous:
        return None
    return replace(value, elements=value.elements.reshape(rows, -1), stride=total // rows)


@dataclass(frozen=True)
class Groups:
    """A value with one row for each group of its elements, for example for each vector to multiply.

    Row i has the elements of group number `leads[i]`. `keys` has, for each place of a row, the
    element's index in the group, or -1 for padding; it is the same for all rows.
    """

    value: Value
    leads: Indices
    keys: Indices


def groups(value: Value, group: Indices, key: Indices) -> Groups | None:
    """Return the value with one row for each group of its elements.

    The result is None if this is not possible without a copy of elements. `group` and `key` have,
    for each index of the flat array, the number of its group and its index in the group.
    """
    count = int(group.max()) + 1
    arranged = regrouped(value, count)
    if arranged is not None:
        table, there = arranged.elements, arranged.elements >= 0
        leads = np.where(there, group[table], PADDING)
        keys = np.where(there, key[table], PADDING)
        lead = leads.max(axis=1)
        same = np.all((leads == lead[:, None]) | ~there)
        if same and np.all(keys == keys[0]) and np.all(lead >= 0):
            return Groups(arranged, lead, keys[0])
    return None


@dataclass(frozen=True)
class VectorCopy:
    """A copy of the native vectors in `source` to the rows of a new tensor.

    In each new row, `column` is the index of the first vector that the copy writes.
    """

    source: Place
    column: int


def vector_copies(value: Value, group: Indices, key: Indices) -> tuple[list[VectorCopy], Indices]:
    """Return the copies of whole vectors that arrange a value in one row for each group.

    `group` and `key` have, for each element of the value, the number of its group and its index in
    the group. Row i has the elements of group i. The second result has, for each place of the new
    rows, the index of its element, or -1 for padding (`Value.elements`). Raises `LowerError` if
    copies of whole, evenly spaced vectors are not enough.
    """
    count, native = int(group.max()) + 1, value.native
    vectors = value.elements.reshape(-1, native)
    at = value.first + np.add.outer(
        np.arange(value.rows) * value.stride, np.arange(value.vectors)
    ).reshape(-1)
    there = vectors >= 0
    used = there.any(axis=1)
    vectors, at, there = vectors[used], at[used], there[used]
    high = np.where(there, group[vectors], -1).max(axis=1)
    low = np.where(there, group[vectors], count).min(axis=1)
    keys = np.where(there, key[vectors], PADDING)
    order = np.lexsort((np.where(there, keys, len(key)).min(axis=1), high))
    if np.array_equal(high, low) and len(order) % count == 0:
        wide = len(order) // count
        keys, starts = keys[order].reshape(count, -1), at[order].reshape(count, wide)
        gaps = np.diff(starts, axis=0)
        even = np.array_equal(high[order].reshape(count, wide)[:, 0], np.arange(count))
        if even and np.all(keys == keys[0]) and (count == 1 or np.all(gaps == gaps[0])):
            return _copies(value, starts), vectors[order].reshape(count, -1)
    raise LowerError(
        "its input's elements lie in other vectors than it needs",
        "nnp moves whole native vectors; rows that end at multiples of N can be regrouped",
    )


def _copies(value: Value, at: Indices) -> list[VectorCopy]:
    """Return copies that put vector number `at[i, j]` of a value to vector j of the new row i.

    One copy moves all vectors that are next to each other.
    """
    strides = at[1] - at[0] if len(at) > 1 else np.zeros(at.shape[1], np.int64)
    copies: list[VectorCopy] = []
    start = 0
    for end in range(1, at.shape[1] + 1):
        if end < at.shape[1]:
            next_to = at[0, end] == at[0, end - 1] + 1 and strides[end] == strides[start]
            if next_to:
                continue
        if strides[start] < 0:
            raise LowerError("its input's vectors are in reverse order")
        place = Place(value.tensor, len(at), end - start, int(at[0, start]), int(strides[start]))
        copies.append(VectorCopy(place, start))
        start = end
    return copies
