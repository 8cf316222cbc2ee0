"""Defines routes: sequences of copies with the local memory that they use."""

from __future__ import annotations

from dataclasses import dataclass

from macaw.lowering.fim.dma_timing import EXTERNAL, Copy, Location
from macaw.lowering.fim.graph import Tensor


def external(tensor: Tensor, size: int) -> Location:
    """Return where a tensor is in external memory; `size` is the size of a number in bytes."""
    return Location(EXTERNAL, tensor.memory.name, tensor.offset * size)


@dataclass(frozen=True)
class Route:
    """A sequence of copies, and the bytes of local memory that they use, by symbol."""

    copies: tuple[Copy, ...]
    scratch: dict[str, int]


def count_of(first: int, step: int, end: int) -> int:
    """Return the number of elements of first, first + step, ... that are less than `end`."""
    return max(0, -(-(end - first) // step))
