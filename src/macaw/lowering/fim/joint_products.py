"""Joins products that have the same left side, so that an island gets this side once.

x · Q, x · K and x · V are one product x · [Q K V] with three results. In external memory the
results are one below the other, so each result is a view. Sums of two products are joined, too: the
gates of an LSTM are x · [W1 W2 ...] + h · [U1 U2 ...].
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field, replace

import numpy as np

from macaw.isa.fim_circuit import FORMATS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Graph, Task, Tensor
from macaw.lowering.fim.split import GRAIN


@dataclass
class _Group:
    """Products, or sums of two products, with the same left sides and equal sizes.

    A member of the group is a tuple of tasks: a product, or two products and their addition.
    """

    members: list[tuple[Task, ...]] = field(default_factory=list)

    @property
    def outputs(self) -> list[Tensor]:
        """The result of each member: the output of its last task."""
        return [tasks[-1].output for tasks in self.members]


def joined(graph: Graph) -> Graph | None:
    """Return a graph with the same inputs and results, and with joint products.

    A group of products with the same left side becomes a joint product. Their right sides are
    constants with equal numbers of columns, a multiple of 16. After the first product that depends
    on a result of the group, no more products join it. The function returns None if there is
    nothing to join.
    """
    if FORMATS[graph.form].is_integer:
        return None  # products of int8 differ in their shifts and biases
    groups = [group for group in _groups(graph) if len(group.members) > 1]
    return _Joining(graph, groups).graph if groups else None


def _groups(graph: Graph) -> list[_Group]:
    """Return the groups of products to join, in the order of their first members.

    A group may have only one member.
    """
    sums = _sums(graph)
    inside = {product.output.name for tasks in sums.values() for product in tasks[:-1]}
    results = {tensor.memory.name for tensor in graph.results}
    makers = graph.makers()
    groups, current = list[_Group](), dict[Hashable, _Group]()
    depends: dict[str, set[int]] = {}  # by output: the groups on which it depends, by identity
    for task in graph.tasks:
        name = task.output.name
        sources = {maker for tensor in task.inputs for maker in makers.of(tensor)}
        depends[name] = set().union(*(depends[source] for source in sources))
        if task.kind == PRODUCT:
            stale = depends[name]
            current = {key: group for key, group in current.items() if id(group) not in stale}
        if name in inside or task.output.base is not None or name in results:
            continue
        tasks = sums.get(name) or (task,)
        products = _products(tasks)
        if not all(map(_joinable, products)):
            continue
        key = tuple(product.inputs[0].name for product in products), task.output.columns
        if key not in current:
            current[key] = _Group()
            groups.append(current[key])
        current[key].members.append(tasks)
        depends[name].add(id(current[key]))
    return groups


def _products(member: Sequence[Task]) -> Sequence[Task]:
    """Return the products of a member of a group, without the addition of two products."""
    return member[:-1] if len(member) > 1 else member


def _joinable(task: Task) -> bool:
    if task.kind != PRODUCT or task.joint > 1:
        return False
    a, b = task.inputs
    return a.data is None and b.data is not None and b.columns % GRAIN == 0


def _sums(graph: Graph) -> dict[str, tuple[Task, Task, Task]]:
    """Return the additions of two products, by the name of the addition's output.

    A value is (product, product, addition). Only this addition reads the outputs of the two
    products, and they are no results of the graph.
    """
    makers = graph.makers()
    products = {task.output.name: task for task in graph.tasks if task.kind == PRODUCT}
    reads: dict[str, int] = {}
    for task in graph.tasks:
        for tensor in task.inputs:
            for name in makers.of(tensor):
                reads[name] = reads.get(name, 0) + 1
    results = {tensor.memory.name for tensor in graph.results}
    found = {}
    for task in graph.tasks:
        names = [tensor.name for tensor in task.inputs]
        if task.kind != POINTWISE or task.function != "add" or len(set(names)) < 2:
            continue
        if all(name in products and reads[name] == 1 and name not in results for name in names):
            found[task.output.name] = (products[names[0]], products[names[1]], task)
    return found


class _Joining:
    """Builds the new graph, with joint products, from the old one."""

    def __init__(self, graph: Graph, groups: Sequence[_Group]) -> None:
        self.graph = graph.without_tasks()
        self._moved: dict[str, tuple[Tensor, int]] = {}  # by tensor: its new base, and the offset
        self._views: dict[str, Tensor] = {}
        self._constants: dict[tuple[str, ...], Tensor] = {}  # by the names of their parts
        first = {group.members[0][-1].output.name: group for group in groups}
        gone = {task.output.name for group in groups for tasks in group.members for task in tasks}
        for task in graph.tasks:
            name = task.output.name
            if name in first:
                self._join(first[name])
            if name not in gone:
                inputs = tuple(self._current(tensor) for tensor in task.inputs)
                self.graph.tasks.append(replace(task, inputs=inputs))
        for name in gone - self._moved.keys():
            del self.graph.tensors[name]
        for tensor in list(self.graph.tensors.values()):
            self._current(tensor)

    def _join(self, group: _Group) -> None:
        """Add the joint product of a group to the new graph.

        If each member of the group is a sum of two products, add two joint products and their sum.
        """
        count, outputs = len(group.members), group.outputs
        rows, columns = outputs[0].rows, outputs[0].columns
        wholes = []
        for products in zip(*map(_products, group.members), strict=True):
            whole = Tensor(f"{products[0].output.name}.joint", rows * count, columns)
            wholes.append(self.graph.add_renamed(whole))
            b = self._side_by_side([task.inputs[1] for task in products])
            inputs = self._current(products[0].inputs[0]), b
            self.graph.tasks.append(Task(PRODUCT, inputs, wholes[-1], joint=count))
        if len(wholes) > 1:
            total = self.graph.add_renamed(
                Tensor(f"{outputs[0].name}.joint", rows * count, columns)
            )
            self.graph.tasks.append(Task(POINTWISE, tuple(wholes), total, "add"))
            wholes.append(total)
        for number, output in enumerate(outputs):
            self._moved[output.name] = wholes[-1], number * rows * columns

    def _side_by_side(self, constants: Sequence[Tensor]) -> Tensor:
        """Return one constant that has the columns of all `constants`, side by side.

        Calls with the same constants return the same object.
        """
        names = tuple(tensor.name for tensor in constants)
        if names not in self._constants:
            data = np.concatenate([np.asarray(tensor.data) for tensor in constants], axis=1)
            rows, columns = data.shape
            self._constants[names] = self.graph.add_renamed(
                Tensor(f"{names[0]}.joint", rows, columns, data)
            )
        return self._constants[names]

    def _current(self, tensor: Tensor) -> Tensor:
        """Return the tensor of the new graph that replaces a tensor of the old graph."""
        if tensor.memory.name not in self._moved:
            return tensor
        if tensor.name not in self._views:
            base, offset = self._moved[tensor.memory.name]
            view = replace(tensor, base=base, offset=tensor.offset + offset)
            self._views[tensor.name] = self.graph.tensors[tensor.name] = view
        return self._views[tensor.name]
