"""Assigns rows of banks to steps whose constants are copied in advance.

While earlier tasks compute, the dma can copy the constants of a later task to another island
(`PREFETCH`). These constants need rows that no other step uses in the meantime. The same is true
for constants that a later step of the island uses again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.plan import BRING, HOST, PREFETCH, GraphPlan, Step


@dataclass
class _Use:
    """A use of rows in the banks of an island, by one step or by several with the same constants.

    `first` and `last` are the indices of the first action and of the last action of these steps.
    `begins` has the index of each step's first action. `row` is the first row.
    """

    steps: list[Step]
    first: int
    last: int
    begins: list[int]  # the index of the first action of each step
    row: int = 0

    @property
    def rows(self) -> int:
        """The number of rows that the use has in each bank."""
        return int(self.steps[0].option.job.rows)

    def meets(self, other: _Use) -> bool:
        """Return whether both uses have a bank of an island in common at the same time."""
        mine, theirs = self.steps[0].option, other.steps[0].option
        shared = mine.island == theirs.island and mine.banks & theirs.banks
        return bool(shared) and self.first <= other.last and other.first <= self.last


def with_rows(plan: GraphPlan, rows: int) -> GraphPlan | None:
    """Return the plan with a first row for each step whose constants do not stay in the banks.

    `rows` is the number of rows of a bank for such steps. The result is None if they need more at
    some time.
    """
    placed, misfit = _placed(plan, rows)
    if misfit is not None:
        return None
    row_of = {step.number: use.row for use in placed for step in use.steps}
    steps = (
        _at_row(step, row_of[step.number]) if step.number in row_of else step for step in plan.steps
    )
    return replace(plan, steps=tuple(steps))


def _placed(plan: GraphPlan, rows: int) -> tuple[list[_Use], _Use | None]:
    """Assign a first row to each use of rows (`_Use`), in order of time, until one does not fit.

    `rows` is the number of rows of a bank. Return the uses that have rows, and the use that does
    not fit; it is None if all fit.
    """
    placed: list[_Use] = []
    for use in sorted(_uses(plan), key=lambda use: use.first):
        use.row = _free_row(use.rows, [other for other in placed if other.meets(use)])
        if use.row + use.rows > rows:
            return placed, use
        placed.append(use)
    return placed, None


def reduced(plan: GraphPlan, rows: int) -> GraphPlan:
    """Return the plan with fewer constants in the banks at a time, so that `rows` are enough.

    `rows` is the number of rows of a bank for steps whose constants do not stay. If these are
    enough, the result is `plan` itself. A use (`_Use`) is the time in which steps need rows for
    their constants. The function finds the first use, in order of time, for which too few rows are
    free, changes the plan, and repeats this until all uses fit.

    There are two changes. If the use begins with a copy of constants in advance, the constants are
    copied with the step's other inputs instead. If not, then of the other uses that need rows of
    the same banks at this time, the one that ends last gives up its rows (`_shortened`).
    """
    while True:
        placed, misfit = _placed(plan, rows)
        if misfit is None:
            return plan
        if plan.actions[misfit.first].kind == PREFETCH:
            plan = late(plan, {misfit.steps[0].number})
            continue
        others = [other for other in placed if other.meets(misfit)]
        plan = _shortened(plan, max(others, key=lambda use: use.last), misfit.first)


def _shortened(plan: GraphPlan, use: _Use, end: int) -> GraphPlan:
    """Return the plan changed so that `use` needs no rows at action number `end`.

    If the first step of the use copies its other inputs only after this action, its constants come
    with these inputs and not in advance: the use begins later. Otherwise the use ends before this
    action. The steps of the use that begin after the action then share a new copy of the constants.
    """
    holder = use.steps[0].number
    if plan.actions.index(plan.action(BRING, holder)) > end:
        return late(plan, {holder})
    starts = zip(use.steps, use.begins, strict=True)
    later = [step.number for step, begin in starts if begin > end]
    assert later  # the results of an earlier step are fetched before its banks are written
    holders = {step: holder for step, holder in plan.holders.items() if step not in later}
    return replace(plan, holders=holders | dict.fromkeys(later[1:], later[0]))


def _at_row(step: Step, row: int) -> Step:
    option = step.option
    if option.job.row == row:
        return step
    return replace(step, option=replace(option, job=option.job.at_row(row)))


def _uses(plan: GraphPlan) -> Iterable[_Use]:
    """Return the uses of rows by all steps whose constants do not stay in the banks.

    Steps that use the same copy of their constants share a use (`_Use`).
    """
    uses: dict[int, _Use] = {}
    for number, action in enumerate(plan.actions):
        step = plan.steps[action.step]
        if action.kind == HOST or step.option.residency is not None:
            continue
        holder = plan.holders.get(step.number, step.number)
        use = uses.setdefault(holder, _Use([], number, number, []))
        use.last = number
        if step not in use.steps:
            use.steps.append(step)
            use.begins.append(number)
    return uses.values()


def _free_row(rows: int, others: Sequence[_Use]) -> int:
    """Return the first of the lowest `rows` consecutive rows that none of `others` uses."""
    row = 0
    for other in sorted(others, key=lambda use: use.row):
        if other.row < row + rows:
            row = max(row, other.row + other.rows)
    return row


def late(plan: GraphPlan, steps: Collection[int]) -> GraphPlan:
    """Return the plan in which the constants of some steps come with the steps' other inputs.

    `steps` has the numbers of these steps.
    """
    actions = (row for row in plan.actions if row.kind != PREFETCH or row.step not in steps)
    return replace(plan, actions=tuple(actions))


def without(plan: GraphPlan) -> GraphPlan:
    """Return the plan in which each step copies all of its constants when it begins."""
    return replace(late(plan, plan.prefetched), holders={})
