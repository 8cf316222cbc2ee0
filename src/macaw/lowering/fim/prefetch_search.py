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


def best_times(plan: GraphPlan, config: Configuration, rows: int) -> GraphPlan:
    """Return the plan with exact times, with the best of the tried places to copy constants.

    `rows` is the number of rows of a bank for steps whose constants do not stay there. In the
    result, no constants are copied in advance to an island while blocks run there.
    """
    plain = prefetch.without(plan)
    best = _timed(plain, config, rows)
    assert best is not None  # its steps use rows one after the other
    if not any(step.option.constants for step in plan.steps):
        return best
    effort = EFFORT - len(plan.actions)
    first = _timed(plan, config, rows)
    while first is not None and (busy := _copied_too_early(first)) is not None:
        effort -= len(first.actions)
        trial = _moved(first, busy, None)
        first = None if trial is None else _timed(trial, config, rows)
    if first is not None and first.makespan <= best.makespan:
        best = first
    for step in best.steps:
        if not step.option.constants or step.number in best.holders:
            continue
        for trial in [_moved(best, step, where) for where in _places(best, step)]:
            if effort <= 0:
                return best
            effort -= len(best.actions)
            found = None if trial is None else _timed(trial, config, rows)
            if found and found.makespan < best.makespan and _copied_too_early(found) is None:
                best = found
    return best


def _timed(plan: GraphPlan, config: Configuration, rows: int) -> GraphPlan | None:
    placed = prefetch.with_rows(plan, rows)
    return None if placed is None else timed(placed, config)


def _first_use(plan: GraphPlan, step: Step) -> int:
    """Return the index of the first action that needs a step's constants in the banks."""
    users = {step.number, *(user for user, holder in plan.holders.items() if holder == step.number)}
    return next(
        index for index, row in enumerate(plan.actions) if row.step in users and row.kind == BRING
    )


def _moved(plan: GraphPlan, step: Step, where: int | None) -> GraphPlan | None:
    """Return the plan in which a step's constants are copied before action number `where`.

    If `where` is None, the constants are copied with the step's other inputs. In this case, the
    function returns None if an earlier step needs the constants.
    """
    first = _first_use(plan, step)
    if where is None and plan.actions[first].step != step.number:
        return None
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
    """Yield where a step's constants can be copied: before which action, or None as in `_moved`."""
    last = _first_use(plan, step)
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
    ends: dict[int | None, int] = {}  # of the blocks, by island
    dma = 0
    for index, row in enumerate(plan.actions):
        where = plan.steps[row.step].option.island
        if row.kind == START:
            until = row.begin
        else:
            until = ends.get(where, 0) if row.kind in (BRING, FETCH) else 0
            until = max(until, row.begin)
        if until > max(dma, ends.get(island, 0)):
            yield until - max(dma, ends.get(island, 0)), index
        if row.kind == START:
            ends[where] = max(ends.get(where, 0), row.end)
        else:
            dma = max(dma, row.end)


def _copied_too_early(plan: GraphPlan) -> Step | None:
    """Return the first step whose constants are copied while blocks run on its island, if any.

    The exact times do not know how copies and blocks share the channel of an island.
    """
    ends: dict[int | None, int] = {}
    for row in plan.actions:
        where = plan.steps[row.step].option.island
        if row.kind == PREFETCH and row.begin < ends.get(where, 0):
            return plan.steps[row.step]
        if row.kind == START:
            ends[where] = max(ends.get(where, 0), row.end)
    return None
