"""Collects the options of each task, and of each unit of tasks that one start can do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.depthwise import depthwise_units
from macaw.lowering.fim.explain import describe
from macaw.lowering.fim.graph import POINTWISE, Graph, Makers, Task
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.pointwise_groups import groups
from macaw.lowering.fim.product_sums import product_sums

Unit = tuple[Task, ...]  # tasks of one start, in order of execution
Ask = Callable[[Unit, Configuration], Sequence[Option | Refusal]]
# The greatest number of tasks of a chain. A sum of products or a depthwise convolution at the start
# of the chain counts as one task.
LONGEST = 4


class Condition(NamedTuple):
    """A unit, and the names of the outputs that it makes and that it needs."""

    unit: Unit
    makes: frozenset[str]
    needs: frozenset[str]


@dataclass(frozen=True)
class OptionTable:
    """The options and refusals for all units of a graph.

    A unit is a tuple of tasks that one start of an island can do: one task, a chain, a sum of
    products, a depthwise convolution, or a group of functions. `units` has the units that have an
    option, by the name of their first task's output. `levels` has, by the name of each task's
    output, the least number of cycles from the start of the task to the end of all tasks that
    depend on it.
    """

    graph: Graph
    units: Mapping[str, tuple[Unit, ...]]
    options: Mapping[Unit, tuple[Option, ...]]
    refusals: Mapping[Unit, tuple[Refusal, ...]]
    levels: Mapping[str, int]

    def needs(self, unit: Unit) -> frozenset[str]:
        """Return the names of the outputs that a unit reads and that tasks outside of it make."""
        inputs = self._needs.get(unit)
        if inputs is None:
            tensors = {tensor for task in unit for tensor in task.inputs}
            names = {name for tensor in tensors for name in self._makers.of(tensor)}
            inputs = frozenset(names - {task.output.name for task in unit})
            self._needs[unit] = inputs
        return inputs

    @cached_property
    def _needs(self) -> dict[Unit, frozenset[str]]:
        """A cache of the results of `needs`, by unit."""
        return {}

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """For each unit in `units`, the names of the outputs that it makes and that it needs."""
        return tuple(
            Condition(unit, frozenset(task.output.name for task in unit), self.needs(unit))
            for units in self.units.values()
            for unit in units
        )

    @cached_property
    def _makers(self) -> Makers:
        return self.graph.makers()

    def tail(self, unit: Unit) -> int:
        """Return the least cycles from a unit's end to the end of all tasks that depend on it.

        The result is 0 if no task depends on the unit.
        """
        if unit not in self._tails:
            self._tails[unit] = _later(self.levels, self._readers, unit)
        return self._tails[unit]

    @cached_property
    def _tails(self) -> dict[Unit, int]:
        """A cache of the results of `tail`, by unit."""
        return {}

    @property
    def quickest(self) -> OptionTable:
        """This table with `Option.quickest` of each option in place of the option itself.

        `levels` are computed from the new options.
        """
        options = {
            unit: tuple(option.quickest for option in row) for unit, row in self.options.items()
        }
        levels = _levels(self.graph, self._readers, options, self.refusals)
        return replace(self, options=options, levels=levels)

    def readers(self, task: Task) -> list[str]:
        """Return the names of the outputs of the tasks that read a task's output."""
        return [other.output.name for other in self._readers[task.output.name]]

    @cached_property
    def _readers(self) -> dict[str, list[Task]]:
        """The tasks that read each output, by the output's name."""
        return _readers(self.graph)


def _readers(graph: Graph) -> dict[str, list[Task]]:
    readers: dict[str, list[Task]] = defaultdict(list)
    makers = graph.makers()
    for task in graph.tasks:
        for name in {name for tensor in task.inputs for name in makers.of(tensor)}:
            readers[name].append(task)
    return readers


def option_table(
    graph: Graph, config: Configuration, ask: Ask, together: bool = True
) -> OptionTable:
    """Return the options of each single task; with `together`, also of all other units.

    `ask` returns the options and refusals of a unit: a single task, a chain, a sum of products, a
    depthwise convolution, or a group of functions. A group has several results, which any task may
    read. Any other unit has one result, the output of its last task: each other output is read by
    one task only, of the same unit, and not by the host. Raises `LowerError` if a task has no
    option.
    """
    readers = _readers(graph)
    results = {tensor.memory.name for tensor in graph.results}
    units: dict[str, list[Unit]] = defaultdict(list)
    options: dict[Unit, tuple[Option, ...]] = {}
    refusals: dict[Unit, tuple[Refusal, ...]] = {}
    of_functions = _of_functions(graph, config, ask)

    def add(unit: Unit) -> bool:
        """Add the options of a unit, and return whether there are any."""
        answers = of_functions.get(unit) or ask(unit, config)
        possible = tuple(row for row in answers if isinstance(row, Option))
        refusals[unit] = tuple(row for row in answers if isinstance(row, Refusal))
        if possible:
            options[unit] = possible
            units[unit[0].output.name].append(unit)
        return bool(possible)

    def follow(unit: Unit, longest: int) -> None:
        """Add a unit; with `together`, also add longer units that begin with its tasks.

        Each longer unit has one task more: the only task that reads the result of the unit before.
        A unit is the last one if it has `longest` tasks, if it has several tasks and no options, if
        its result is a result of the graph, or if no task or several tasks read its result.
        """
        while True:
            possible = add(unit)
            last = unit[-1].output
            followers = readers[last.name]
            ends = len(followers) != 1 or last.memory.name in results or len(unit) == longest
            if not together or ends:
                return
            if not possible and len(unit) > 1:
                return
            unit = (*unit, followers[0])

    for task in graph.tasks:
        follow((task,), LONGEST)
    if together:
        sums = product_sums(graph)
        for unit in sums:
            follow(unit, len(unit) + LONGEST - 1)
        for unit in depthwise_units(graph):
            follow(unit, len(unit) + LONGEST - 1)
        of_sums = {task for unit in sums if unit in options for task in unit}
        after_products = {task for unit in options for task in unit[1:] if task.kind == POINTWISE}
        for unit in groups(graph, config, (of_sums, after_products)):
            if unit not in options:
                add(unit)
    levels = _levels(graph, readers, options, refusals)
    whole = {name: tuple(rows) for name, rows in units.items()}
    return OptionTable(graph, whole, options, refusals, levels)


def _of_functions(
    graph: Graph, config: Configuration, ask: Ask
) -> dict[Unit, Sequence[Option | Refusal]]:
    """Return the answers of `ask` for each function of elements, as a unit of one task.

    Raises `LowerError` if `ask` refuses a function on every island, and no refusal is for lack of
    memory. Then no island has the function in this number format, alone or with other tasks. The
    caller learns this before it calls `ask` for all other units, which takes long.
    """
    answers: dict[Unit, Sequence[Option | Refusal]] = {}
    for task in reversed(graph.tasks):
        if task.kind == POINTWISE:
            answers[(task,)] = rows = ask((task,), config)
            refusals = [row for row in rows if isinstance(row, Refusal)]
            if len(refusals) == len(rows) and not any(row.exceeds_memory for row in refusals):
                raise _error(task, refusals)
    return answers


def _error(task: Task, refusals: Sequence[Refusal]) -> LowerError:
    whys = dict.fromkeys(row.why for row in refusals)
    return LowerError(f"nothing can do {describe(task)}", "; ".join(whys))


def _later(levels: Mapping[str, int], readers: Mapping[str, list[Task]], unit: Unit) -> int:
    """Return the least cycles from a unit's end to the end of all tasks that depend on it.

    `levels` has, by output, the least cycles from the start of a task to the end of all tasks that
    depend on it. Tasks that are not in `levels` do not count. `readers` has the tasks that read
    each output.
    """
    own = {task.output.name for task in unit}
    names = {x.output.name for task in unit for x in readers[task.output.name]} - own
    return max((levels.get(name, 0) for name in names), default=0)


def _levels(
    graph: Graph,
    readers: Mapping[str, list[Task]],
    options: Mapping[Unit, tuple[Option, ...]],
    refusals: Mapping[Unit, tuple[Refusal, ...]],
) -> dict[str, int]:
    ends: dict[str, list[tuple[Unit, int]]] = defaultdict(list)
    for unit, rows in options.items():
        for task in unit:
            ends[task.output.name].append((unit, min(row.total for row in rows)))
    levels: dict[str, int] = {}
    for task in reversed(graph.tasks):
        name = task.output.name
        if not ends[name]:
            raise _error(task, refusals.get((task,), ()))
        levels[name] = min(cycles + _later(levels, readers, unit) for unit, cycles in ends[name])
    return levels
