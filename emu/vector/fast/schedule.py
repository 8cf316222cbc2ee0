"""The schedule of a block: for which registers its instructions wait, and for how many cycles.

A pass is one execution of the block. A place is an entry of the core's scoreboard: it has the cycle
from which a register can be used. An instruction waits for one of three kinds of places: a place
that is surely ready; a place whose cycle follows from an earlier instruction of the same pass; and
a place whose cycle only the core's scoreboard has. The translator writes tests only for the last
kind. Such a test may wait for an unknown number of cycles, so after it the cycles of earlier
results, relative to the present cycle, are not known either.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.isa.typed_records import NamedTuple


class Issue(NamedTuple):
    """What an instruction waits for, and when its results are ready; times are device cycles.

    It waits until the places `waits` of the scoreboard are ready. Its results are ready after
    `latency`; `late` has the places of those that are not ready for the next instruction. The next
    instruction begins after `cost`. If the instruction is a branch to the start of the block, the
    next pass begins after `back`.
    """

    waits: tuple[int, ...]
    late: tuple[int, ...]
    latency: int
    cost: int
    back: int | None = None


class Schedule(NamedTuple):
    """How each instruction of a block waits for results: by a test, or for a known time.

    `demanded` has the places of the scoreboard that must be ready when the function of the block
    begins. For each instruction, `tested` has the places for which the cycle is unknown, `stalls`
    the number of cycles that it waits for other places.
    """

    demanded: tuple[int, ...]
    tested: tuple[tuple[int, ...], ...]
    stalls: tuple[int, ...]


def find_schedule(issues: Sequence[Issue], is_timed: bool) -> Schedule:
    """Return the schedule of a block: how each of its instructions waits for results.

    `issues` has an item for each instruction. A late result is one that is not ready for the next
    instruction. With `is_timed`, the function computes when late results are ready. Without it, the
    block tests each wait for a late result.

    The function of a block may demand that certain places are ready when it begins, and need not
    test them afterwards. If the block branches to its own start, even places of late results may be
    demanded: those that are ready again whenever a further pass begins.
    """
    used = {place for issue in issues for place in issue.waits}
    demanded = used - {place for issue in issues for place in issue.late}
    if is_timed and any(issue.back is not None for issue in issues):
        demanded = set(used)
    while True:
        tested, stalls, unready = _follow(issues, demanded, is_timed)
        if not unready:
            return Schedule(tuple(sorted(demanded)), tuple(tested), tuple(stalls))
        demanded -= unready


def _follow(
    issues: Sequence[Issue], demanded: set[int], is_timed: bool
) -> tuple[list[tuple[int, ...]], list[int], set[int]]:
    """Compute when results are ready in one pass, if the places `demanded` are ready at its start.

    `issues` has an item for each instruction of the pass. Return three things: for each instruction
    the places that it must test, for each instruction the cycles for which it waits for other
    places, and the set of demanded places that may not be ready when a further pass begins. With
    `is_timed`, the function computes when late results are ready; without it, each wait for a late
    result is tested.
    """
    ready, known = set(demanded), dict[int, int]()  # known: the cycle of each late result
    tested, stalls, unready = list[tuple[int, ...]](), list[int](), set[int]()
    time = 0
    for issue in issues:
        waits = [place for place in issue.waits if place not in ready]
        if all(place in known for place in waits):
            tested.append(())
            stall = max([0, *(known.pop(place) - time for place in waits)])
        else:
            tested.append(tuple(waits))
            known.clear()
            stall = 0
        stalls.append(stall)
        time += stall
        ready.update(waits)
        ready.difference_update(issue.late)
        if is_timed:
            known.update(dict.fromkeys(issue.late, time + issue.latency))
        if issue.back is not None:
            end = time + issue.back
            unready |= {x for x in demanded - ready if known.get(x, end + 1) > end}
        time += issue.cost
    return tested, stalls, unready
