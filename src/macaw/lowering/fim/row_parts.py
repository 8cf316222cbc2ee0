"""Divides tasks of a graph by rows, so that one part is computed while another part is copied.

Each row of a product's result depends on one row of A, and each row of a function's result on the
same row of its operands. So chains of such tasks are independent for each part of the rows, for
example the samples of a batch. The scheduler can start the parts at different times and on
different islands. All parts of a product use the same constants in the banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from macaw.isa.fim_circuit import COLUMN_BYTES, FORMATS
from macaw.lowering.fim.graph import GATHER, PRODUCT, SCATTER, Graph, Task, Tensor

FEWEST = 2  # the fewest rows of a part


def divided(graph: Graph, count: int) -> Graph | None:
    """Return a graph with the same inputs and results, whose tasks compute parts of rows.

    Each task that can be divided becomes `count` tasks, which write parts of the same tensor. The
    result is None if no task can be divided.
    """
    dividing = _Dividing(graph, count)
    for task in graph.tasks:
        dividing.add(task)
    return dividing.graph if len(dividing.graph.tasks) > len(graph.tasks) else None


class _Dividing:
    """Builds the new graph, whose tasks compute parts of rows, from the old one."""

    def __init__(self, graph: Graph, count: int) -> None:
        self.count, self.size = count, FORMATS[graph.form].size
        self.graph = graph.without_tasks()
        self._views: dict[tuple[object, ...], Tensor] = {}  # by place and number of columns
        self._constants: dict[tuple[str, int, int], Tensor] = {}  # by the constant and the rows

    def add(self, task: Task) -> None:
        """Add a task of the old graph, in parts if it can be divided."""
        if task.kind == SCATTER and self._divides(task):
            self.graph.tasks += self._parts_of_scatter(task)
            return
        if not self._divides(task):
            self.graph.tasks.append(task)
            return
        for number, (first, last) in enumerate(pairwise(self._bounds(task.output.rows))):
            output = self._view(task.output, first, last, number)
            part = replace(task, output=output)
            if task.kind == GATHER:
                part = self._part_of_gather(part, first, last, number)
            else:
                rows = task.inputs[:1] if task.kind == PRODUCT else task.inputs
                inputs = [self._part(tensor, first, last, number) for tensor in rows]
                part = replace(part, inputs=(*inputs, *task.inputs[len(rows) :]))
            self.graph.tasks.append(part)

    def _part_of_gather(self, part: Task, first: int, last: int, number: int) -> Task:
        """Return part `number` of a gather; it makes the rows from `first` to `last` - 1.

        The part reads a view with only the rows that it needs, if the view can begin at a column of
        memory. `part` is a copy of the gather with the output of the part.
        """
        (source,), moved = part.inputs, part.output.columns // part.width  # segments of a row
        places = part.places[first * moved : last * moved]
        low = int(places.min()) // source.columns
        high = (int(places.max()) + part.width - 1) // source.columns + 1
        if source.data is not None or not self._begins_at_column(source, [low]):
            return replace(part, places=places)
        rows = self._view(source, low, high, number)
        return replace(part, inputs=(rows,), places=places - low * source.columns)

    def _parts_of_scatter(self, task: Task) -> Iterator[Task]:
        """Yield the parts of a scatter, each for some rows of its output.

        The rows of a part begin with the row that its first segment is written to, and end before
        the row that the first segment of the next part is written to.
        """
        (source, *old), output = task.inputs, task.output
        moved = source.columns // task.width  # segments of a row
        bounds = zip(
            pairwise(self._bounds(source.rows)),
            pairwise(self._bounds_of_scatter(task)),
            strict=True,
        )
        for number, ((first, last), (low, high)) in enumerate(bounds):
            inputs = (
                self._view(source, first, last, number),
                *(self._part(x, low, high, number) for x in old),
            )
            places = task.places[first * moved : last * moved] - low * output.columns
            part = self._view(output, low, high, number)
            yield replace(task, inputs=inputs, output=part, places=places)

    def _bounds_of_scatter(self, task: Task) -> list[int]:
        """Return the first row of the output that each part of a scatter writes.

        The last item is the number of rows of the output.
        """
        moved = task.inputs[0].columns // task.width
        inner = self._bounds(task.inputs[0].rows)[1:-1]
        starts = [int(task.places[first * moved]) // task.output.columns for first in inner]
        return [0, *starts, task.output.rows]

    def _divides_scatter(self, task: Task) -> bool:
        """Return whether a scatter can be divided by the rows of its input.

        Its segments have to be in order, and each part has to write rows after those of the part
        before. The parts of input and output begin at columns of memory. The input has at least
        `FEWEST` rows for each part, is not a constant, and has whole segments in each row.
        """
        source, columns = task.inputs[0], task.output.columns
        if source.data is not None or source.columns % task.width or not self._aligned(source):
            return False
        if source.rows < FEWEST * self.count or np.any(np.diff(task.places) < 0):
            return False
        moved, bounds = source.columns // task.width, self._bounds_of_scatter(task)
        ends = [int(task.places[first * moved - 1]) for first in self._bounds(source.rows)[1:-1]]
        apart = all(
            end + task.width <= row * columns for end, row in zip(ends, bounds[1:-1], strict=True)
        )
        return apart and self._begins_at_column(task.output, bounds[:-1])

    def _bounds(self, rows: int) -> Sequence[int]:
        """Return the first row of each part, and `rows` as the last item."""
        return [rows * number // self.count for number in range(self.count + 1)]

    def _divides(self, task: Task) -> bool:
        """Return whether a task can be divided.

        A part has at least `FEWEST` rows, and begins at a column of memory. A joint product, a
        product with a constant left side, and a gather of segments that exceed a row cannot be
        divided.
        """
        output = task.output
        if task.kind == SCATTER:
            return self._divides_scatter(task)
        if output.rows < FEWEST * self.count or task.joint > 1:
            return False
        if task.kind == GATHER:
            return output.columns % task.width == 0 and self._aligned(output)
        if task.kind == PRODUCT:
            a = task.inputs[0]
            return a.data is None and self._aligned(a) and self._aligned(output)
        return self._aligned(output)

    def _aligned(self, tensor: Tensor) -> bool:
        """Return whether each part of a tensor's rows begins at a column of memory."""
        return self._begins_at_column(tensor, self._bounds(tensor.rows))

    def _begins_at_column(self, tensor: Tensor, rows: Sequence[int]) -> bool:
        """Return whether each row of a tensor whose index is in `rows` begins at a column.

        A column is 32 bytes. The method assumes that the tensor itself begins at a column.
        """
        return not any(row * tensor.columns * self.size % COLUMN_BYTES for row in rows)

    def _part(self, tensor: Tensor, first: int, last: int, number: int) -> Tensor:
        """Return the rows `first` to `last` - 1 of an operand: a view, or a new constant.

        `number` is the number of the part, for the name. If all rows of a constant are equal, all
        parts with equally many rows are one tensor.
        """
        if tensor.data is None:
            return self._view(tensor, first, last, number)
        # Parts with equal numbers are one constant, which the banks store once.
        if not np.any(tensor.data != tensor.data[:1]):
            first, last = 0, last - first
        key = tensor.name, first, last
        if key not in self._constants:
            part = Tensor(
                f"{tensor.name}.{number}", last - first, tensor.columns, tensor.data[first:last]
            )
            self._constants[key] = self.graph.add_renamed(part)
        return self._constants[key]

    def _view(self, tensor: Tensor, first: int, last: int, number: int) -> Tensor:
        """Return a view of the rows `first` to `last` - 1 of a tensor.

        `number` is the number of the part, for the name. Equal views are one object.
        """
        offset = tensor.offset + first * tensor.columns
        name = f"{tensor.name}.{number}"
        view = Tensor(name, last - first, tensor.columns, None, tensor.memory, offset)
        key = *view.place, view.columns
        if key not in self._views:
            self._views[key] = self.graph.add_renamed(view)
        return self._views[key]
