"""Defines routes: sequences of copies with the local memory that they use."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.dma_timing import EXTERNAL, Copy, Location
from macaw.lowering.fim.graph import Tensor

Bytes = NDArray[np.int64]


def external(tensor: Tensor, size: int) -> Location:
    """Return where a tensor is in external memory; `size` is the size of a number in bytes."""
    return Location(EXTERNAL, tensor.memory.name, tensor.offset * size)


@dataclass(frozen=True)
class Route:
    """A sequence of copies, and the local memory that they use.

    `scratch` has the sizes in bytes of the pieces of local memory, by their symbol in the copies.
    """

    copies: tuple[Copy, ...]
    scratch: dict[str, int]


def count_of(first: int, step: int, end: int) -> int:
    """Return how many of the numbers `first`, `first` + `step`, ... are less than `end`."""
    return max(0, -(-(end - first) // step))


def runs(
    to: Bytes, at: Bytes, sizes: Bytes
) -> Iterator[tuple[int, int, tuple[int, int, int, int]]]:
    """Yield the copies that move segments of `sizes` bytes from offsets `at` to offsets `to`.

    The arrays have an item for each segment; all numbers are bytes. An item of the result has
    destination, source, and (bytes of a row, rows, stride of `to`, stride of `at`). Consecutive
    segments that are adjacent on both sides become one. Segments of one size at equal distances
    become the rows of one copy.
    """
    joint = (to[1:] == to[:-1] + sizes[:-1]) & (at[1:] == at[:-1] + sizes[:-1])
    begins = np.flatnonzero(np.concatenate([[True], ~joint])) if len(to) else np.zeros(0, int)
    sizes = np.add.reduceat(sizes, begins) if len(to) else sizes
    to, at = to[begins], at[begins]
    # The rows of a copy have one size and equal distances on both sides. `changes` has the segments
    # after which the size or the distance changes.
    steps = np.stack([np.diff(to), np.diff(at)])
    equal = sizes[1:] == sizes[:-1]
    changes = np.flatnonzero((steps[:, 1:] != steps[:, :-1]).any(axis=0) | ~equal[1:]) + 1
    ends = [*changes.tolist(), len(to) - 1]
    first = place = 0
    while first < len(to):
        last = first
        if first + 1 < len(to) and equal[first]:
            while ends[place] <= first:
                place += 1
            last = ends[place]
        strides = steps[:, first].tolist() if last > first else [0, 0]
        yield int(to[first]), int(at[first]), (int(sizes[first]), last - first + 1, *strides)
        first = last + 1
