"""Decides by exact times when the constants of each step are copied.

The search for a plan copies constants in advance where its own times show a wait of the dma
(`macaw.lowering.fim.clock`). This module starts from that plan. It moves the copies of each step's
constants to other waits of the dma, as long as the program then ends sooner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from macaw.isa.config import Configuration
from macaw.lowering.fim import prefetch
from macaw.lowering.fim.plan import BRING, FETCH, PREFETCH, START, Action, GraphPlan, Step
from macaw.lowering.fim.plan_timing import timed

EFFORT = 3000  # the most actions whose times are predicted while copies are moved
# For the constants of a step, WAITS waits of the dma are tried: the longest ones, but none that is
# shorter than a part (1 / SHORT) of their copies.
WAITS, SHORT = 4, 10
TURNS = 4  # the most searches for copies of the first plan that come too early


def best_times(plan: GraphPlan, config: Configuration, rows: int) -> GraphPlan:
    """Return the plan with exact times, and with the constants copied where it ends soonest.

    Only some of the waits of the dma are tried for the copies (`_places`). `rows` is the number of
    rows of a bank for steps whose constants do not stay there. In the result, no constants are
    copied in advance to an island while blocks run there.
    """
    plain = prefetch.without(plan)
    best = _timed(plain, config, rows)
    assert best is not None  # its steps use rows one after the other
    if not any(step.option.constants for step in plan.steps):
        return best
    first = _not_too_early(prefetch.reduced(plan, rows), config, rows)
    if first.makespan <= best.makespan:
        best = first
    effort = EFFORT
    for step in best.steps:
        if not step.option.constants or step.number in best.holders:
            continue
        for trial in [_moved(best, step, where) for where in _places(best, step)]:
            if effort <= 0:
                return best
            effort -= len(best.actions)
            found = _timed(trial, config, rows)
            if found and found.makespan < best.makespan and not _copied_too_early(found):
                best = found
    return best


def _not_too_early(plan: GraphPlan, config: Configuration, rows: int) -> GraphPlan:
    """Return the plan with exact times, without the copies in advance that come too early.

    A copy is too early if blocks run on its island. If a copy is left out, the other copies come
    sooner and may be too early themselves, so the function looks for such copies again. If it still
    finds some after `TURNS` times, no constants come in advance.
    """
    for _ in range(TURNS):
        found = _timed(plan, config, rows)
        assert found is not None  # fewer copies in advance need no more rows
        early = _copied_too_early(found)
        if not early:
            return found
        plan = prefetch.late(found, early)
    found = _timed(prefetch.late(plan, plan.prefetched), config, rows)
    assert found is not None
    return found


def _timed(plan: GraphPlan, config: Configuration, rows: int) -> GraphPlan | None:
    placed = prefetch.with_rows(plan, rows)
    return None if placed is None else timed(placed, config)


def _moved(plan: GraphPlan, step: Step, where: int | None) -> GraphPlan:
    """Return the plan in which a step's constants are copied before action number `where`.

    If `where` is None, the constants are copied with the step's other inputs.
    """
    actions = [
        (index, row)
        for index, row in enumerate(plan.actions)
        if (row.kind, row.step) != (PREFETCH, step.number)
    ]
    if where is not None:
        before = [row for row in actions if row[0] < where]
        actions = [*before, (where, Action(PREFETCH, step.number)), *actions[len(before) :]]
    return replace(plan, actions=tuple(row for _, row in actions))


def _places(plan: GraphPlan, step: Step) -> Iterator[int | None]:
    """Yield the places to try for the copies of a step's constants.

    A place is the number of the action before which they would be copied (`where` of `_moved`). In
    each of these actions the dma waits, before the step's other inputs are copied. There are at
    most `WAITS` places, those with the longest waits first. If the constants now come in advance,
    the last item is None: to copy them with the other inputs.
    """
    # The step is the first that uses these constants: a holder comes before the steps that use its
    # constants again (`clock.Track`).
    last = plan.actions.index(plan.action(BRING, step.number))
    least = step.option.constants // SHORT
    waits = [row for row in _waits(plan, step.option.island) if row[0] > least and row[1] <= last]
    for _, where in sorted(waits, reverse=True)[:WAITS]:
        yield where
    if step.number in plan.prefetched:
        yield None


def _waits(plan: GraphPlan, island: int | None) -> Iterator[tuple[int, int]]:
    """Yield the waits of the dma in which no blocks of an island run.

    Each item has the number of cycles, and the index of the action whose copy or start waits.
    """
    dma = 0
    for index, (row, ends) in enumerate(_with_ends(plan)):
        where = plan.steps[row.step].option.island
        until = row.begin
        if row.kind in (BRING, FETCH):
            until = max(until, ends.get(where, 0))
        if until > max(dma, ends.get(island, 0)):
            yield until - max(dma, ends.get(island, 0)), index
        if row.kind != START:
            dma = max(dma, row.end)


def _copied_too_early(plan: GraphPlan) -> set[int]:
    """Return the numbers of the steps whose constants are copied while blocks run on their island.

    For these copies the exact times would be wrong, because the prediction ignores that copies
    and blocks then share the channel of the island.
    """
    return {
        row.step
        for row, ends in _with_ends(plan)
        if row.kind == PREFETCH and row.begin < ends.get(plan.steps[row.step].option.island, 0)
    }


def _with_ends(plan: GraphPlan) -> Iterator[tuple[Action, dict[int | None, int]]]:
    """Yield each action of a plan with the ends of the blocks that earlier actions started.

    The ends are cycles, in a dictionary by island. All items have the same dictionary, which is
    changed after each item.
    """
    ends: dict[int | None, int] = {}
    for row in plan.actions:
        yield row, ends
        if row.kind == START:
            where = plan.steps[row.step].option.island
            ends[where] = max(ends.get(where, 0), row.end)
