"""Divides the products of convolutions with groups into products of fewer groups.

The left side of such a product is a constant with a block of weights for each group on its
diagonal. The numbers beside the blocks are zero, and an island multiplies them, too. A product of
fewer groups has fewer of these zeros, but each product needs a start of an island. The scheduler
plans the graph with both forms, and takes the plan that ends first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from macaw.lowering.fim.graph import GATHER, PRODUCT, Graph, Task, Tensor

# The greatest number of products that replace one product, and the greatest number of products that
# a graph gets in addition, because planning more tasks would take long.
MOST_PARTS, MOST_MORE = 32, 100

Counts = dict[str, int]  # the number of parts of each product, by the name of its output


def divided(graph: Graph, cycles: Callable[[Task], float]) -> Iterator[Graph]:
    """Yield graphs with the same inputs and results, with products of fewer and fewer groups.

    `cycles` returns a prediction of the cycles that an island takes for a task. In the first graph,
    each product has the number of parts for which the sum of these predictions is least. In each
    later graph, each product has its next greater number of parts. A graph in which no product is
    divided is left out, and so are graphs with more than `MOST_MORE` additional products.
    """
    sums = {
        task.output.name: {
            count: count * cycles(_first_part(graph, task, count))
            for count in part_counts(task.groups)
        }
        for task in graph.tasks
        if task.kind == PRODUCT and task.groups > 1 and task.inputs[1].data is None
    }
    counts = _least(sums)
    while sum(counts.values()) - len(counts) <= MOST_MORE:
        if max(counts.values(), default=1) > 1:
            yield _Dividing(graph, counts).divide()
        more = {
            name: min((count for count in row if count > counts[name]), default=counts[name])
            for name, row in sums.items()
        }
        if more == counts:
            return
        counts = more


def part_counts(groups: int) -> list[int]:
    """Return the numbers of parts to try, from 1 to `MOST_PARTS`.

    All parts have equal numbers of groups. Each number is at least twice the number before, so that
    few tasks are simulated. The last number is `groups`, if that is at most `MOST_PARTS`.
    """
    counts = [1]
    for count in range(2, min(groups, MOST_PARTS) + 1):
        if groups % count == 0 and count >= 2 * counts[-1]:
            counts.append(count)
    return counts


def _first_part(graph: Graph, task: Task, count: int) -> Task:
    """Return the first of `count` parts of a product, or the product itself if `count` is 1."""
    return task if count == 1 else _Dividing(graph, {}).part(task, count, 0)


def _least(sums: Mapping[str, Mapping[int, float]]) -> Counts:
    """Return for each product the number of parts with which its predicted cycles are least.

    Products are given by the names of their outputs. `sums` has the predicted cycles of all parts
    of a product, for each number of parts. If the graph would have more than `MOST_MORE` additional
    products, there is a limit for the number of parts, which is halved until the graph has few
    enough products.
    """
    limit = MOST_PARTS
    while True:
        counts = {
            name: min((count for count in row if count <= limit), key=lambda count: row[count])
            for name, row in sums.items()
        }
        if sum(counts.values()) - len(counts) <= MOST_MORE:
            return counts
        limit //= 2


class _Dividing:
    """Builds the new graph, with products of fewer groups, from the old one.

    `counts` has the number of parts of each product that is divided, by the name of its output.
    """

    def __init__(self, graph: Graph, counts: Counts) -> None:
        self.old, self.graph, self.counts = graph, graph.without_tasks(), counts
        # The gathers that make the right sides are divided as the products are, so that islands can
        # multiply the windows of the first groups while the dma gathers those of the other groups.
        self._gathers = {
            task.inputs[1].name: counts[task.output.name]
            for task in graph.tasks
            if task.output.name in counts
        }
        self._weights: dict[tuple[str, int, int], Tensor] = {}  # by constant, parts and number
        self._views: dict[tuple[str, int, int], Tensor] = {}  # by tensor, first row and rows

    def divide(self) -> Graph:
        """Return the new graph, in which the products in `counts` are divided into parts."""
        for task in self.old.tasks:
            name = task.output.name
            count = self.counts.get(name, 1)
            if task.kind == GATHER and task.output.columns % task.width == 0:
                self.graph.tasks += self._parts_of_gather(task, self._gathers.get(name, 1))
            elif count > 1:
                self.graph.tasks += (self.part(task, count, number) for number in range(count))
            else:
                self.graph.tasks.append(task)
        return self.graph

    def part(self, task: Task, count: int, number: int) -> Task:
        """Return part `number` of the `count` parts of a product, a product of fewer groups.

        The part multiplies the blocks of its groups by the rows of the right side that belong to
        these groups. It writes the rows of the product's output that belong to them.
        """
        weights, columns = task.inputs
        rows, depth = task.output.rows // count, weights.columns // count
        inputs = (
            self._part_of_weights(weights, count, number),
            self._view(columns, number * depth, depth),
        )
        output = self._view(task.output, number * rows, rows)
        return replace(task, inputs=inputs, output=output, groups=task.groups // count)

    def _part_of_weights(self, weights: Tensor, count: int, number: int) -> Tensor:
        """Return part `number` of the `count` parts of a product's left side, `weights`.

        It consists of the blocks of the part's groups on its diagonal, and of zeros beside them.
        Calls with the same arguments return the same tensor.
        """
        key = weights.name, count, number
        if key not in self._weights:
            assert weights.data is not None
            rows, depth = weights.rows // count, weights.columns // count
            data = weights.data[number * rows :][:rows, number * depth :][:, :depth]
            part = Tensor(f"{weights.name}.{number}", rows, depth, np.ascontiguousarray(data))
            self._weights[key] = self.graph.add_renamed(part)
        return self._weights[key]

    def _parts_of_gather(self, task: Task, count: int) -> Iterator[Task]:
        """Yield `count` parts of a gather; each makes the rows that one product reads."""
        if count == 1:
            yield task
            return
        rows, segments = task.output.rows // count, len(task.places) // count
        for number in range(count):
            output = self._view(task.output, number * rows, rows)
            places = task.places[number * segments :][:segments]
            yield replace(task, output=output, places=places)

    def _view(self, tensor: Tensor, first: int, rows: int) -> Tensor:
        """Return a view of `rows` rows of a tensor from row `first` on.

        Calls with the same arguments return the same view.
        """
        key = tensor.name, first, rows
        if key not in self._views:
            offset = tensor.offset + first * tensor.columns
            name = f"{tensor.name}.{first}"
            view = Tensor(name, rows, tensor.columns, None, tensor.memory, offset)
            self._views[key] = self.graph.add_renamed(view)
        return self._views[key]
