"""Computes lower bounds of the cycle in which any plan of a graph ends.

A task starts after the tasks on which it depends, so a plan takes at least as long as the longest
path of dependent tasks, each with its least cycles. The dma and each island do one thing at a time,
so a plan takes at least the cycles that all copies and all blocks need there. If every other task
must come before or after a certain task, nothing overlaps this task. Then the two bounds also hold
separately for the tasks before this task and for the tasks after it, and the parts add up.

Constants can be copied before the other inputs of a task, and several tasks can use them. So copies
of constants count only in the bound of all copies, divided among the tasks that can use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.option_table import OptionTable, Unit
from macaw.lowering.fim.plan import Option

_ROUNDS, _PACE = 200, 0.1  # rounds and pace of the search for the weights


@dataclass(frozen=True)
class LeastCycles:
    """Lower bounds, in cycles: no plan of a graph ends earlier than any of them.

    `path` comes from the longest path of dependent tasks, and `work` from the copies of the dma and
    the blocks of the islands. `stages` comes from the tasks that no other task can overlap: it is
    the sum of their least cycles, and of a lower bound for each group of tasks between them. It is
    0 if there are no such tasks.
    """

    path: int  # the longest path of tasks that depend on each other
    work: int  # the copies of the dma and the blocks of the islands
    stages: int  # the tasks that nothing overlaps, and the groups of tasks between them

    @property
    def cycles(self) -> int:
        """The largest of the bounds."""
        return max(self.path, self.work, self.stages)


def least_cycles(table: OptionTable, islands: int) -> LeastCycles:
    """Return lower bounds of the end of any plan on `islands` islands.

    `table` has the options of each task: the ways to do it, each with the least cycles that it can
    take, whichever steps come before (`plan.Option.quickest`).
    """
    path = max(table.levels.values())
    work = _least_work(table, table.levels, islands, constants=True)
    return LeastCycles(path, work, _least_stages(table, islands))


def _least_stages(table: OptionTable, islands: int) -> int:
    """Return the lower bound `LeastCycles.stages`; 0 if every task can overlap another one.

    The tasks that nothing overlaps divide the other tasks into stages: those before the first such
    task, those between two of them, and those after the last one. The bound is the sum of the least
    cycles of these tasks and of the stages. A stage takes at least `_least_work` cycles. It also
    takes at least as long as its longest path of dependent tasks. The length of this path follows
    from the levels in `OptionTable.levels`. A task's level is the least number of cycles from its
    start to the end of all tasks that depend on it. So the path takes the greatest level of a task
    in the stage, minus the level of the task after the stage.
    """
    alone = _alone(table)
    if not alone:
        return 0
    total, stage = 0, list[str]()
    for task in (*table.graph.tasks, None):
        name = task.output.name if task is not None else ""
        if task is not None and name not in alone:
            stage.append(name)
            continue
        after = table.levels.get(name, 0)
        if stage:
            path = max(table.levels[other] for other in stage) - after
            total += max(path, _least_work(table, stage, islands, constants=False))
            stage = []
        if task is not None:
            total += min(option.total for option in table.options[(task,)])
    return total


def _alone(table: OptionTable) -> set[str]:
    """Return the names of the outputs of the tasks that nothing overlaps.

    Nothing overlaps a task under two conditions. Every other task must come before it or after it.
    There is no option that does the task together with other tasks in one start of an island.
    """
    tasks = table.graph.tasks
    bits = {task.output.name: 1 << number for number, task in enumerate(tasks)}
    related = dict(bits)  # by output: the tasks before it, after it, and itself
    before: dict[str, int] = {}
    for task in tasks:
        name = task.output.name
        before[name] = bits[name]
        for other in table.needs((task,)):
            before[name] |= before[other]
        related[name] |= before[name]
    after: dict[str, int] = {}
    for task in reversed(tasks):
        name = task.output.name
        after[name] = bits[name]
        for other in table.readers(task):
            after[name] |= after[other]
        related[name] |= after[name]
    every = (1 << len(tasks)) - 1
    shared = {task.output.name for unit in table.options if len(unit) > 1 for task in unit}
    return {name for name, mask in related.items() if mask == every and name not in shared}


def _least_work(
    table: OptionTable, names: Collection[str], islands: int, *, constants: bool
) -> int:
    """Return a lower bound of the cycles for some tasks, from their cycles on dma and islands.

    `names` are the outputs of these tasks. If one start of an island can do several tasks together,
    `names` has all of them or none. With `constants`, the copies of constants count, too.

    Let a plan use the dma and the islands for c[0], c[1], ... cycles. The plan ends no earlier than
    the largest of these numbers, and so no earlier than any weighted mean of the numbers. A task
    adds at least the least weighted mean of its options. So the sum of these least means over all
    tasks is a lower bound. A search finds weights for which the bound is large.
    """
    users = _users(table) if constants else {}
    costs, first = _costs(table, names, islands, users)
    counts = np.diff(np.append(first, len(costs)))
    weights, best = np.full(islands + 1, 1 / (islands + 1)), 0.0
    for _ in range(_ROUNDS):
        means = costs @ weights
        least = np.minimum.reduceat(means, first)
        best = max(best, float(least.sum()))
        # The resources that the best options use most get larger weights.
        chosen = means == np.repeat(least, counts)
        shares = chosen / np.repeat(np.add.reduceat(chosen.astype(float), first), counts)
        used = shares @ costs
        weights = weights * np.exp(_PACE * used / max(1.0, used.max()))
        weights /= weights.sum()
    return int(best)


def _costs(
    table: OptionTable, names: Collection[str], islands: int, users: Mapping[Hashable, int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cycles that each option of each task needs, and the first row of each task.

    A unit is a tuple of tasks that one start of an island can do. The first array has shape
    (options, 1 + islands): the cycles of the dma, then of each island. The rows of a task follow
    each other: for each unit that contains the task, one row for each option of the unit. The
    cycles of an option are divided equally among the tasks of its unit, and a row has the task's
    part. Only the cycles to copy constants are divided otherwise: first by the number of units that
    can use the copy, then among the tasks in proportion to the sizes of their constants.

    The second array has the index of each task's first row, in shape (tasks,). `users` is the
    result of `_users`; if it is empty, copies of constants do not count.
    """
    rows: dict[str, list[NDArray[np.float64]]] = {}
    for unit, options in table.options.items():
        if unit[0].output.name not in names:
            continue
        shares = _shares_of_constants(unit)
        for option in options:
            cycles, constants = np.zeros(islands + 1), np.zeros(islands + 1)
            for part in option.parts or (option,):
                cycles += _of(part, islands)
                if part.constants and users:
                    constants[0] += part.constants / users[part.placed]
            for task, share in zip(unit, shares, strict=True):
                row = cycles / len(unit) + constants * share
                rows.setdefault(task.output.name, []).append(row)
    sizes = [len(several) for several in rows.values()]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return np.array([row for several in rows.values() for row in several]), first


def _shares_of_constants(unit: Unit) -> list[float]:
    """Return for each task of a unit its share of the numbers in the unit's constants.

    The sum of the shares is 1. If the unit has no constants, all shares are equal.
    """
    sizes = [sum(x.numbers for x in task.inputs if x.data is not None) for task in unit]
    total = sum(sizes)
    return [size / total if total else 1 / len(unit) for size in sizes]


def _users(table: OptionTable) -> Counter[Hashable]:
    """Return, for each copy of constants into banks, the number of units that can use the copy.

    A key is an object `Option.placed`: it stands for certain constants at certain places in the
    banks of an island. A unit, a tuple of tasks that one start of an island can do, can use the
    copy if one of its options copies these constants to these places.
    """
    users: Counter[Hashable] = Counter()
    for row in table.options.values():
        parts = [part for option in row for part in option.parts or (option,)]
        users.update({part.placed for part in parts if part.constants})
    return users


def _of(option: Option, islands: int) -> NDArray[np.float64]:
    cycles = np.zeros(islands + 1)
    cycles[0] = option.bring + option.fetch
    if option.island is not None:
        cycles[1 + option.island] = option.compute
    return cycles
