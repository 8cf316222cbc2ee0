"""Assigns rows of banks to steps whose constants are copied in advance.

While earlier tasks compute, the dma can copy the constants of a later task to another island
(`PREFETCH`). These constants need rows that no other step uses in the meantime. The same is true
for constants that a later step of the island uses again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from macaw.lowering.fim.plan import HOST, PREFETCH, GraphPlan, Step


@dataclass
class _Use:
    """The rows of the banks of an island that steps with the same constants use.

    `first` and `last` are the indices of the first action and of the last action of these steps.
    """

    steps: list[Step]
    first: int
    last: int
    row: int = 0

    @property
    def rows(self) -> int:
        """The number of rows in each bank."""
        return int(self.steps[0].option.job.rows)

    def meets(self, other: _Use) -> bool:
        """Return whether both use the same banks of an island at the same time."""
        mine, theirs = self.steps[0].option, other.steps[0].option
        shared = mine.island == theirs.island and mine.banks & theirs.banks
        return bool(shared) and self.first <= other.last and other.first <= self.last


def with_rows(plan: GraphPlan, rows: int) -> GraphPlan | None:
    """Return the plan with a first row for each step whose constants do not stay in the banks.

    `rows` is the number of rows of a bank for such steps. Returns None if they need more.
    """
    uses = _uses(plan)
    row_of: dict[int, int] = {}
    placed: list[_Use] = []
    for use in sorted(uses, key=lambda use: use.first):
        others = [other for other in placed if other.meets(use)]
        use.row = _free_row(use.rows, others)
        if use.row + use.rows > rows:
            return None
        placed.append(use)
        row_of |= dict.fromkeys((step.number for step in use.steps), use.row)
    steps = (
        _at_row(step, row_of[step.number]) if step.number in row_of else step for step in plan.steps
    )
    return replace(plan, steps=tuple(steps))


def _at_row(step: Step, row: int) -> Step:
    option = step.option
    if option.job.row == row:
        return step
    return replace(step, option=replace(option, job=option.job.at_row(row)))


def _uses(plan: GraphPlan) -> Iterable[_Use]:
    """Return the uses of rows by steps whose constants do not stay in the banks."""
    uses: dict[int, _Use] = {}
    for number, action in enumerate(plan.actions):
        step = plan.steps[action.step]
        if action.kind == HOST or step.option.residency is not None:
            continue
        holder = plan.holders.get(step.number, step.number)
        use = uses.setdefault(holder, _Use([], number, number))
        use.last = number
        if step not in use.steps:
            use.steps.append(step)
    return uses.values()


def _free_row(rows: int, others: Sequence[_Use]) -> int:
    """Return the lowest row at which `rows` consecutive rows begin that none of `others` uses."""
    row = 0
    for other in sorted(others, key=lambda use: use.row):
        if row + rows <= other.row:
            break
        row = max(row, other.row + other.rows)
    return row


def without(plan: GraphPlan) -> GraphPlan:
    """Return the plan in which each step copies all of its constants when it begins."""
    actions = (row for row in plan.actions if row.kind != PREFETCH)
    return replace(plan, actions=tuple(actions), holders={})
