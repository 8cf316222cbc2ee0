"""Computes lower bounds of the cycle in which any plan of a graph ends.

There are two such bounds. Tasks that depend on each other follow one another, so a plan takes at
least the longest path of least cycles. The dma and each island do one thing at a time, so a plan
takes at least the cycles that all copies and all blocks need there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.fim.option_table import OptionTable
from macaw.lowering.fim.plan import Option

_ROUNDS, _PACE = 200, 0.1  # of the search for the weights


@dataclass(frozen=True)
class LeastCycles:
    """Two lower bounds, in cycles: no plan of a graph ends earlier."""

    path: int  # the longest path of tasks that depend on each other
    work: int  # the copies of the dma and the blocks of the islands

    @property
    def cycles(self) -> int:
        """The larger of the two bounds."""
        return max(self.path, self.work)


def least_cycles(table: OptionTable, islands: int) -> LeastCycles:
    """Return lower bounds of the end of any plan with the options of a table."""
    return LeastCycles(max(table.levels.values()), _least_work(table, islands))


def _least_work(table: OptionTable, islands: int) -> int:
    """Return a lower bound from the cycles of the dma and of the islands.

    Let a plan use the dma and the islands for c[0], c[1], ... cycles. The plan ends no earlier than
    the largest of these numbers, which is at least each weighted mean of them. A task adds at least
    the least weighted mean of its options. So the sum of these least means over all tasks is a
    lower bound. A search finds weights for which the bound is large.
    """
    costs, first = _costs(table, islands)
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


def _costs(table: OptionTable, islands: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cycles that each option of each task needs, and the first row of each task.

    The first array has shape (options, 1 + islands): the cycles of the dma, then of each island.
    Each row is an option of a unit that has the task; its cycles are divided among the unit's
    tasks. The second array has the index of each task's first row, of shape (tasks,).
    """
    rows: dict[str, list[NDArray[np.float64]]] = {}
    for unit, options in table.options.items():
        for option in options:
            cycles = np.zeros(islands + 1)
            for part in option.parts or (option,):
                cycles += _of(part, islands)
            for task in unit:
                rows.setdefault(task.output.name, []).append(cycles / len(unit))
    sizes = [len(several) for several in rows.values()]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return np.array([row for several in rows.values() for row in several]), first


def _of(option: Option, islands: int) -> NDArray[np.float64]:
    cycles = np.zeros(islands + 1)
    cycles[0] = option.bring + option.fetch
    if option.island is not None:
        cycles[1 + option.island] = option.compute
    return cycles
