"""Finds groups of functions of elements that one start of an island can compute.

All tensors of a group have equal numbers of elements, so that each column of the results depends on
one column of each operand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet

from macaw.isa.config import Configuration
from macaw.isa.fim_islands import abilities
from macaw.lowering.fim.composed_functions import functions_of
from macaw.lowering.fim.graph import POINTWISE, Graph, Makers, Task, Tensor
from macaw.lowering.fim.readers import Readers

MOST_TASKS = 32  # the most tasks of a group
MOST_TENSORS = 16  # the most operands and results of a group: a row has two columns of each


def groups(
    graph: Graph, config: Configuration, others: Sequence[Collection[Task]]
) -> Iterator[tuple[Task, ...]]:
    """Yield groups of at least two functions, each in the order of the graph.

    The groups are as large as possible. For each set of functions that some island has, the groups
    are formed first from all tasks with these functions. Then they are formed again for each item
    of `others`, without the tasks of the item: these tasks can instead share a start with products.
    """
    able = {abilities(config, island).functions for island in range(config["fim.islands"])}
    seen: set[tuple[Task, ...]] = set()
    readers = Readers(graph)
    for functions in sorted(able, key=sorted):
        for excluded in (frozenset[Task](), *map(frozenset, others)):
            for group in _partition(graph, readers, functions, excluded):
                if len(group) > 1 and group not in seen:
                    seen.add(group)
                    yield group


def operands_of(tasks: Collection[Task]) -> list[Tensor]:
    """Return the tensors that the tasks read, without those that are outputs of these tasks."""
    own = {task.output.place for task in tasks}
    tensors = dict.fromkeys(tensor for task in tasks for tensor in task.inputs)
    return [tensor for tensor in tensors if tensor.place not in own]


def part_of_an_output(tasks: Sequence[Task], operands: Collection[Tensor]) -> Tensor | None:
    """Return an operand that is only a part of an output of the tasks; None if there is none.

    An island cannot read such an operand in the start that computes the output, because the operand
    begins in another column than the output.
    """
    makers = Makers(tasks)
    return next((tensor for tensor in operands if makers.of(tensor)), None)


def _partition(
    graph: Graph, readers: Readers, functions: AbstractSet[str], excluded: Collection[Task]
) -> list[tuple[Task, ...]]:
    """Return disjoint groups of tasks whose functions are in `functions`, without `excluded`.

    If possible, a task joins the groups that compute its operands.
    """
    makers, outputs = graph.makers(), {task.output.place: n for n, task in enumerate(graph.tasks)}
    numbers = {task.output.name: number for number, task in enumerate(graph.tasks)}
    before = [[numbers[name] for x in task.inputs for name in makers.of(x)] for task in graph.tasks]
    group_of: dict[int, frozenset[int]] = {}
    for number, task in enumerate(graph.tasks):
        if (
            task.kind != POINTWISE
            or task in excluded
            or not functions_of(task.function, graph.form) <= functions
        ):
            continue
        group = frozenset([number])
        for tensor in task.inputs:
            other = outputs.get(tensor.place, -1)
            if other in group or other not in group_of:
                continue
            larger = group | group_of[other]
            if _is_group(graph, readers, before, larger):
                group = larger
        group_of |= dict.fromkeys(group, group)
    return [
        tuple(graph.tasks[number] for number in sorted(group))
        for group in dict.fromkeys(group_of.values())
    ]


def _is_group(
    graph: Graph, readers: Readers, before: list[list[int]], group: frozenset[int]
) -> bool:
    """Return whether one start can compute the tasks whose numbers are in `group`.

    This is possible only if each path between two tasks of the group stays in the group, and if no
    task of the group reads only a part of the output of another one. The numbers of tasks and of
    tensors have limits, too. `before` has, for each task, the numbers of the tasks whose outputs it
    reads.
    """
    tasks = [graph.tasks[number] for number in sorted(group)]
    if len(tasks) > MOST_TASKS:
        return False
    operands = operands_of(tasks)
    if part_of_an_output(tasks, operands) is not None:
        return False
    if len(operands) + len(readers.results_of(tasks)) > MOST_TENSORS:
        return False
    outside: set[int] = set()  # tasks outside of the group that depend on it
    for number in range(min(group), max(group) + 1):
        sources = set(before[number])
        if number in group and sources & outside:
            return False
        if number not in group and sources & (group | outside):
            outside.add(number)
    return True
