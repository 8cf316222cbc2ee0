"""Divides products of a row and a matrix along k, so that several islands compute one result.

A product of one row and few columns cannot be divided among islands by its rows or columns. With
parts along k, x · W = x1 · W1 + x2 · W2 + ..., each island computes one product, and functions add
the products. The scheduler plans the graph with these tasks, too, and takes the plan that ends
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from macaw.isa.fim_circuit import FORMATS
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Graph, Task, Tensor
from macaw.lowering.fim.split import GRAIN

# A product with more columns is not divided along k, because islands can divide its columns without
# a sum. A part has at least this k, because a start with its copies takes as long as some hundred
# numbers.
MOST_COLUMNS, LEAST_DEPTH = 64, 256


def divided(graph: Graph, count: int) -> Graph | None:
    """Return a graph with the same inputs and results, with products divided along k.

    Only products of one row and at most `MOST_COLUMNS` columns are divided, each into `count` parts
    or fewer. The result is None if no product can be divided.
    """
    if FORMATS[graph.form].is_integer:
        return None  # the parts of a sum would be rounded to int8
    dividing = _Dividing(graph, count)
    for task in graph.tasks:
        dividing.add(task)
    return dividing.graph if len(dividing.graph.tasks) > len(graph.tasks) else None


class _Dividing:
    """Builds the new graph, with products divided along k, from the old one."""

    def __init__(self, graph: Graph, count: int) -> None:
        self.count, self.lanes = count, FORMATS[graph.form].lanes
        self.graph = graph.without_tasks()
        self._parts: dict[tuple[str, int, int], Tensor] = {}  # by name, first number and end

    def add(self, task: Task) -> None:
        """Add a task of the old graph, in parts if it can be divided."""
        bounds = self._bounds(task)
        if len(bounds) < 3:
            self.graph.tasks.append(task)
            return
        total, last = None, len(bounds) - 2
        for number, output in enumerate(self._products(task, bounds)):
            if total is None:
                total = output
                continue
            more = total.rows, total.columns
            name = f"{task.output.name}.sum{number}"
            result = task.output
            if number < last:
                result = self.graph.add_renamed(Tensor(name, *more))
            self.graph.tasks.append(Task(POINTWISE, (total, output), result, "add"))
            total = result

    def _products(self, task: Task, bounds: list[int]) -> Iterator[Tensor]:
        """Add the products of a task's parts along k, and yield their outputs."""
        row, matrix = task.inputs
        for number, (first, end) in enumerate(pairwise(bounds)):
            inputs = self._part(row, first, end), self._part(matrix, first, end)
            name = f"{task.output.name}.k{number}"
            output = self.graph.add_renamed(Tensor(name, 1, task.output.columns))
            self.graph.tasks.append(replace(task, inputs=inputs, output=output))
            yield output

    def _bounds(self, task: Task) -> list[int]:
        """Return the index along k at which each part of a product begins, and k as the last item.

        The list is empty for a task that cannot be divided.
        """
        if task.kind != PRODUCT or task.joint > 1:
            return []
        row, matrix = task.inputs
        depth = row.columns
        few = row.rows == 1 and matrix.columns <= MOST_COLUMNS
        if not few or row.data is not None or matrix.data is None or row.offset % self.lanes:
            return []
        count = min(self.count, depth // LEAST_DEPTH)
        if count < 2:
            return []
        return [depth * part // count // GRAIN * GRAIN for part in range(count)] + [depth]

    def _part(self, tensor: Tensor, first: int, end: int) -> Tensor:
        """Return the part of an operand with the indices `first` to `end` - 1 along k.

        The part has numbers of the left row or, if the operand is a constant, rows of the right
        matrix. Equal parts are one tensor.
        """
        key = tensor.name, first, end
        if key not in self._parts:
            name, rows = f"{tensor.name}.k{first}", end - first
            if tensor.data is None:
                part = Tensor(name, 1, rows, None, tensor.memory, tensor.offset + first)
            else:
                data = np.ascontiguousarray(tensor.data[first:end])
                part = Tensor(name, rows, tensor.columns, data)
            self._parts[key] = self.graph.add_renamed(part)
        return self._parts[key]
