"""Stores values of a quantised network as tensors of a task graph, with the order of the numbers.

A node that only moves numbers needs no task: it changes the order in which the numbers of a tensor
are read. If a task needs its operand in another order than that of the memory, a gather makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph, Tensor

Order = NDArray[np.int64]
ZERO = -1  # the index of a number 0 that the tensor does not have


@dataclass(frozen=True)
class IntegerValue:
    """A tensor of a network: element `i` is number `order[i]` of `tensor` or of constant `array`.

    `order` has the shape of the network's tensor. Exactly one of `tensor` and `array` is not None.
    """

    order: Order
    tensor: Tensor | None = None
    array: NDArray[Any] | None = None

    def matrix(self, graph: Graph, order: Order, name: str = "") -> Tensor:
        """Return a tensor of the graph with the numbers whose indices are in the matrix `order`.

        It is a constant, the tensor itself, a view of it, or a gather, which is added to the graph
        with the name `name`. The index `ZERO` stands for 0. If `order` has this index, the numbers
        are first copied into a tensor with one more row, of zeros. Raises `LowerError` if the graph
        refuses the new tensor.
        """
        rows, columns = order.shape
        if self.array is not None:
            numbers = np.where(order == ZERO, 0, self.array.reshape(-1)[order])
            return graph.constant(_free(graph, name), numbers.astype(np.int8))
        assert self.tensor is not None
        flat, source = order.reshape(-1), self.tensor
        if np.any(flat == ZERO):
            size = source.numbers
            flat = np.where(flat == ZERO, size, flat)
            source = graph.spread(
                source, [0], size, (2, size), _free(graph, name, "_zeros")
            )  # the second row is zeros
        first = int(flat[0])
        if np.array_equal(flat, np.arange(first, first + flat.size)):
            if (rows, columns, first) == (source.rows, source.columns, 0):
                return source
            return graph.view(source, rows, columns, first, _free(graph, name, "_view"))
        places, width = segments_of(flat, columns)
        return graph.segments(source, places, width, (rows, columns), _free(graph, name, "_moved"))


def segments_of(flat: Order, columns: int) -> tuple[Order, int]:
    """Divide indices into segments of consecutive indices, all of the greatest possible length.

    Return (the first index of each segment, their length). The length divides `columns`. For the
    indices 4, 5, 6, 7, 0, 1 and 2 columns, the result is ([4, 6, 0], 2).
    """
    breaks = np.flatnonzero(np.diff(flat) != 1) + 1
    width = int(np.gcd.reduce(np.append(breaks, columns)))
    return flat[::width], width


def in_order(shape: tuple[int, ...], tensor: Tensor) -> IntegerValue:
    """Return a value of shape `shape` whose numbers have the same order as in `tensor`."""
    return IntegerValue(np.arange(tensor.numbers).reshape(shape), tensor)


def _free(graph: Graph, name: str, suffix: str = "") -> str:
    """Return `name` + `suffix`; append a number if a tensor of the graph has this name already."""
    base = f"{name}{suffix}" if name else f"v{len(graph.tensors)}"
    if base in graph.tensors:
        base = f"{base}{len(graph.tensors)}"
    if base in graph.tensors:
        raise LowerError(f"two tensors are called {base}")
    return base
