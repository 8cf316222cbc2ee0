"""Schedules a graph: chooses the option of each task and the order so that the plan ends early.

First the scheduler makes list schedules. At each step of one, it takes the ready task with the
longest path to the end. Of the task's options it takes the one with which this path would end
first. The prediction includes the time that the task waits for a busy island (the adaptive
placement multiplexor, seed 004 ¶62). The scheduler continues with the list that ends first. It
changes the list as long as the plan ends sooner: another option, another position, tasks joined or
separated, two changes at once. The times are those that `clock` predicts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from macaw.isa.config import Configuration
from macaw.lowering.fim.bounds import least_cycles
from macaw.lowering.fim.clock import NEVER, Track, simulate
from macaw.lowering.fim.graph import GATHER, POINTWISE, PRODUCT, Graph, Task
from macaw.lowering.fim.option_table import Ask, OptionTable, Unit, option_table
from macaw.lowering.fim.plan import GraphPlan, Option, Step
from macaw.lowering.fim.product_sums import is_sum
from macaw.lowering.fim.replay import Replay

# Weights of the dma's cycles in a list schedule. For a graph of more than SMALL tasks, only the
# first weight is tried.
WEIGHTS, SMALL = (0, 0.5, 1, 2, 4), 300
# A list schedule takes the best of the tasks whose paths are shorter by at most these shares.
SHORTER = 0, 0.1
NO_GROUPS: Mapping[Task, Unit] = {}
EFFORT = 60_000  # the greatest number of steps that are issued while changes are tried
# The numbers of new starts of the search, of random changes in each, and of the changes from which
# each of these is drawn.
RESTARTS, KICKS, MANY = 12, 3, 400


def schedule(
    graph: Graph,
    config: Configuration,
    ask: Ask,
    together: bool = True,
    effort: int = EFFORT,
) -> GraphPlan:
    """Return the plan of a graph. Raises `LowerError` if a task has no option.

    `ask` returns the options of tasks; `together` allows several tasks in one start; `effort`
    limits the number of steps that the search simulates.
    """
    table = option_table(graph, config, ask, together)
    lists = list(_lists(table))
    first = min(lists, key=lambda options: simulate(options).clock.end)
    least = least_cycles(table.quickest, config["fim.islands"]).cycles
    return replace(make_plan(table, improve(table, first, effort)), least=least)


def make_plan(table: OptionTable, options: Sequence[Option]) -> GraphPlan:
    """Return the plan that issues options in the given order."""
    track = simulate(options)
    return plan_of_track(table, track)


def plan_of_track(table: OptionTable, track: Track) -> GraphPlan:
    """Return the plan of a finished track: the steps issued in a simulation, with their actions."""
    steps = tuple(Step(number, option) for number, option in enumerate(track.options))
    known = Replay(track.issued)
    return GraphPlan(
        table.graph,
        steps,
        tuple(track.actions),
        track.clock.end,
        tuple(_by_cost(table, step.tasks) for step in steps),
        tuple(table.refusals[step.tasks] for step in steps),
        tuple(
            end
            for place, option in enumerate(track.issued)
            for end in [_end_if_separate(table, known, track.issued, place)]
            * max(1, len(option.parts))
        ),
        tuple(track.issued),
        holders=track.holders,
    )


def _end_if_separate(
    table: OptionTable, known: Replay, options: Sequence[Option], place: int
) -> int:
    before, after = list(options[:place]), list(options[place + 1 :])
    trials = _apart(table, before, options[place], after)
    return min((known.end_of(trial) for trial in trials), default=0)


def _by_cost(table: OptionTable, unit: Unit) -> tuple[Option, ...]:
    return tuple(sorted(table.options[unit], key=lambda option: option.total))


# --- the list ---


def _lists(table: OptionTable) -> Iterator[list[Option]]:
    """Yield the results of `list_schedule` for all combinations of its parameters.

    `weight` is one of `WEIGHTS`, `shorter` one of `SHORTER`. `grouped` is empty (each task starts
    alone) or a result of `preferred_groups`. A graph of more than `SMALL` tasks has only lists with
    the first weight and the first number in `SHORTER`.
    """
    ways = [(weight, share) for weight in WEIGHTS for share in SHORTER]
    ways = ways if len(table.levels) <= SMALL else ways[:1]
    preferences = [NO_GROUPS, preferred_groups(table, (), longest=False)]
    sums = [unit for unit in table.options if is_sum(unit)]
    if sums:
        preferences += [preferred_groups(table, sums, longest) for longest in (False, True)]
    distinct: list[Mapping[Task, Unit]] = []
    for groups in preferences:
        if groups not in distinct:
            distinct.append(groups)
    for groups in distinct:
        for weight, share in ways:
            yield list_schedule(table, groups, weight, share)


def list_schedule(
    table: OptionTable,
    grouped: Mapping[Task, Unit],
    weight: float,
    shorter: float,
) -> list[Option]:
    """Return the options that a list schedule chooses, in the order of issue.

    The next task is one with the longest path of dependent tasks to the end of the graph, or with a
    path that is shorter by at most the share `shorter`. `grouped` has, for some tasks, the unit in
    which the task is done if possible.

    The option with the least cost is chosen. The cost is the cycle in which the task's path would
    end with this option, plus `weight` times the cycles for which the option occupies the dma.
    These are the cycles of its copies, and of their wait for a block that runs in the same banks.
    """
    track, outputs = Track(eager=True), set[str]()
    left = [(row, _respects(grouped, row.unit)) for row in table.conditions]
    while len(outputs) < len(table.levels):
        ready = [pair for pair in left if pair[0].needs <= outputs]
        ready = [pair for pair in ready if pair[1]] or ready
        units = [row.unit for row, _ in ready]
        longest = max(table.levels[unit[0].output.name] for unit in units)
        least = longest * (1 - shorter)
        units = [unit for unit in units if table.levels[unit[0].output.name] >= least]
        option = _cheapest(table, track, units, weight)
        track.issue(option)
        made = {task.output.name for task in option.tasks}
        outputs |= made
        left = [pair for pair in left if pair[0].makes.isdisjoint(made)]
    return track.issued


def preferred_groups(table: OptionTable, sums: Sequence[Unit], longest: bool) -> dict[Task, Unit]:
    """Return units that have no task in common, as a map from each of their tasks to its unit.

    A unit is a tuple of tasks that one start of an island can do. Units are chosen one after the
    other; a unit is left out if one of its tasks belongs to a chosen unit. First come the units in
    `sums`, which begin with sums of products, in the order of `_sum_key`. Then come groups of
    functions and depthwise convolutions that save cycles, compared with a start for each task;
    those that save the most come first.
    """
    grouped: dict[Task, Unit] = {}
    for unit in sorted(sums, key=lambda unit: _sum_key(unit, longest)):
        if not any(task in grouped for task in unit):
            grouped |= dict.fromkeys(unit, unit)
    saved = {}
    for unit, options in table.options.items():
        if len(unit) > 1 and all(task.kind in (GATHER, POINTWISE) for task in unit):
            single = sum(min(row.total for row in table.options[(task,)]) for task in unit)
            saved[unit] = single - min(row.total for row in options)
    for unit in sorted(saved, key=lambda unit: saved[unit], reverse=True):
        if saved[unit] > 0 and not any(task in grouped for task in unit):
            grouped |= dict.fromkeys(unit, unit)
    return grouped


def _sum_key(unit: Unit, longest: bool) -> tuple[int, int]:
    """Return the sort key of a unit with a sum: units with the most products come first.

    Of units with equally many products, those with the fewest tasks come first. If `longest`, those
    with the most tasks come first instead.
    """
    products = sum(task.kind == PRODUCT for task in unit)
    return -products, -len(unit) if longest else len(unit)


def _respects(grouped: Mapping[Task, Unit], unit: Unit) -> bool:
    return all(grouped.get(task, unit) == unit for task in unit)


def _cheapest(table: OptionTable, track: Track, units: Sequence[Unit], weight: float) -> Option:
    """Return the option of `units` that costs least (`_cost`) as the next step after a track.

    Of options with equal cost it returns the one that takes the fewest cycles (`Option.total`). To
    save time, an option whose `_least_cost` exceeds a known cost is not tried.
    """
    options = [option for unit in units for option in table.options[unit]]
    bounds = [_least_cost(table, track, option, weight) for option in options]
    best: tuple[float, int, int] = (math.inf, 0, 0)
    for bound, number in sorted(zip(bounds, range(len(options)), strict=True)):
        if bound > best[0]:
            break
        option = options[number]
        best = min(best, (_cost(table, track, option, weight), option.total, number))
    return options[best[-1]]


def _cost(table: OptionTable, track: Track, option: Option, weight: float) -> float:
    """Return the cost of issuing `option` after the steps of a track.

    The cost is the predicted end of the path of dependent tasks through this option, plus `weight`
    times the cycles for which the option occupies the dma. The path's end is predicted as the
    option's end plus the least cycles of the tasks that depend on it. The cost is `NEVER` if
    constants that stay need more rows than are reserved.
    """
    trial, before = track.branch(), track.clock.copies_end
    trial.issue(option)
    copies = trial.clock.copies_end - before + option.fetch
    if trial.pending and trial.pending[-1].step == trial.count - 1:
        trial.fetch(trial.pending[-1])
    if trial.clock.exceeds_rows:
        return NEVER
    return trial.actions[-1].end + table.tail(option.tasks) + weight * copies


def _least_cost(table: OptionTable, track: Track, option: Option, weight: float) -> float:
    """Return a lower bound of `_cost`.

    The bound leaves out cp's instructions before a copy. It also leaves out copies of constants,
    because the constants may be in the banks already. If several islands share the option, it has
    the wait for the banks of the first island only.
    """
    clock, parts = track.clock, option.parts or (option,)
    last, now = parts[-1], clock.copies_end
    if last.island is None:
        return 0
    begin = now
    for other in track.pending:
        if track.is_needed(other, parts[0]):
            begin = max(begin, clock.free(other.option)) + other.option.fetch
    moved = sum(part.bring - part.constants for part in parts)
    if moved:
        begin = max(begin, clock.free(parts[0])) + moved
    start = max(begin, clock.islands.get(last.island, (0, 0))[0]) + last.issue_start
    end = start + last.fetch + (last.compute if last.banks else 0)
    return end + table.tail(option.tasks) + weight * (start - now + option.fetch)


# --- changes ---


def improve(table: OptionTable, options: Sequence[Option], effort: int = EFFORT) -> list[Option]:
    """Return a list of options whose plan ends no later than the plan of `options`.

    The function makes single and double changes as long as the plan ends sooner. Then it tries
    again from random variations of the best list. `effort` limits the number of simulated steps.
    The same arguments always give the same result.
    """
    best, end, left = _climb(table, list(options), effort)
    dice = random.Random(0)
    for _ in range(RESTARTS):
        if left <= 0 or len(best) < 2:
            break
        trial = best
        for _ in range(KICKS):
            trial = dice.choice(list(islice(_singles(table, trial), MANY)) or [trial])
        trial, end_now, left = _climb(table, trial, left)
        if end_now < end:
            best, end = trial, end_now
    return best


def _climb(table: OptionTable, options: list[Option], effort: int) -> tuple[list[Option], int, int]:
    """Apply changes to a list of options as long as the plan ends sooner.

    Return the changed list, the cycle in which its plan ends, and the effort that is left: `effort`
    minus the number of simulated steps.
    """
    best, known = options, Replay(options)
    better = True
    while better and effort > 0:
        better = False
        for trial in chain(_singles(table, best), _doubles(table, best)):
            effort -= len(trial)
            if known.end_of(trial) < known.end:
                best, known, better = trial, Replay(trial), True
                break
            if effort <= 0:
                break
    return best, known.end, effort


def _singles(table: OptionTable, options: Sequence[Option]) -> Iterator[list[Option]]:
    """Yield copies of a list of options, each with one change.

    A change is another option, another position, tasks joined into one start, or tasks separated.
    """
    where = _places(options)
    for place, option in enumerate(options):
        before, after = list(options[:place]), list(options[place + 1 :])
        yield from ([*before, other, *after] for other in _others(table, option))
        yield from _reposition(table, options, place, option, where)
        yield from _together(table, before, option, after)
        yield from _apart(table, before, option, after)


def _doubles(table: OptionTable, options: Sequence[Option]) -> Iterator[list[Option]]:
    """Yield lists with two changes: another option and position, or two other options."""
    where = _places(options)
    for place, option in enumerate(options):
        for other in _others(table, option):
            yield from _reposition(table, options, place, other, where)
            trial = list(options)
            trial[place] = other
            for later in range(place + 1, len(options)):
                for second in _others(table, options[later]):
                    yield [*trial[:later], second, *trial[later + 1 :]]


def _places(options: Sequence[Option]) -> dict[str, int]:
    """Return the position of the option that makes each output, by the output's name."""
    return {task.output.name: at for at, option in enumerate(options) for task in option.tasks}


def _others(table: OptionTable, option: Option) -> list[Option]:
    return [other for other in table.options[option.tasks] if other is not option]


def _reposition(
    table: OptionTable,
    options: Sequence[Option],
    place: int,
    option: Option,
    where: Mapping[str, int],
) -> Iterator[list[Option]]:
    """Yield lists in which `option` replaces the option at `place` and moves to another position.

    There is a list for each position that the dependencies allow, the nearest first. `where` has
    for each output, by name, the position of the option that makes it.
    """
    rest = [*options[:place], *options[place + 1 :]]
    makers = (where[name] for name in table.needs(option.tasks))
    readers = (where[name] for task in option.tasks for name in table.readers(task))
    low = max(makers, default=-1) + 1
    high = min((at for at in readers if at != place), default=len(options)) - 1
    for distance in range(1, max(place - low, high - place) + 1):
        for to in (place - distance, place + distance):
            if low <= to <= high:
                yield [*rest[:to], option, *rest[to:]]


def _together(
    table: OptionTable, before: list[Option], option: Option, after: list[Option]
) -> Iterator[list[Option]]:
    own = set(option.tasks)
    for unit in table.units.get(option.tasks[0].output.name, ()):
        members = set(unit)
        if not own < members:
            continue
        earlier = [other for other in before if not members & set(other.tasks)]
        rest = [other for other in after if not members & set(other.tasks)]
        task_count = sum(len(other.tasks) for other in (*earlier, *rest))
        if task_count + len(unit) != len(table.levels):
            continue  # a task of the unit is in another unit
        for fusion in table.options[unit]:
            for to in range(len(rest) + 1):
                trial = [*earlier, *rest[:to], fusion, *rest[to:]]
                if _possible(table, trial):
                    yield trial
                    break


def _apart(
    table: OptionTable, before: list[Option], option: Option, after: list[Option]
) -> Iterator[list[Option]]:
    for length in range(1, len(option.tasks)):
        halves = option.tasks[:length], option.tasks[length:]
        if all(half in table.options for half in halves):
            first, second = (min(table.options[half], key=lambda row: row.total) for half in halves)
            yield [*before, first, second, *after]
    if len(option.tasks) > 2:
        single = [min(table.options[(x,)], key=lambda row: row.total) for x in option.tasks]
        yield [*before, *single, *after]


def _possible(table: OptionTable, options: Sequence[Option]) -> bool:
    outputs: set[str] = set()
    for option in options:
        if not table.needs(option.tasks) <= outputs:
            return False
        outputs |= {task.output.name for task in option.tasks}
    return True


# --- exhaustive search ---


def exhaustive(table: OptionTable) -> GraphPlan:
    """Return the best of all plans, for small graphs only.

    All orders of the tasks, all options, and all times to fetch results are tried.
    """
    best = simulate(improve(table, list_schedule(table, NO_GROUPS, weight=0, shorter=0)))
    work = _least_copies(table)
    tasks = len(table.levels)

    def search(track: Track, outputs: frozenset[str]) -> None:
        nonlocal best
        if len(outputs) == tasks:
            last = track.copy()
            if last.finish() < best.clock.end:
                best = last
        if max(_bounds(table, track, outputs, work)) >= best.clock.end:
            return
        for row in table.conditions:
            if not row.needs <= outputs or not row.makes.isdisjoint(outputs):
                continue
            for option in table.options[row.unit]:
                further = track.copy()
                further.issue(option)
                search(further, outputs | row.makes)
        for waiting in track.pending:
            further = track.copy()
            further.fetch(waiting)
            search(further, outputs)

    search(Track(eager=False), frozenset())
    return plan_of_track(table, best)


def _least_copies(table: OptionTable) -> dict[str, float]:
    """Return a lower bound of the dma cycles that each task needs, by its output's name.

    Several tasks that one start can do are a unit. For each unit that contains the task, the
    function divides the least cycles to bring and fetch by the number of the unit's tasks. The
    bound is the least of these quotients.
    """
    cycles: dict[str, float] = {}
    for unit, options in table.options.items():
        least = min(option.bring + option.fetch for option in options) / len(unit)
        for task in unit:
            name = task.output.name
            cycles[name] = min(cycles.get(name, least), least)
    return cycles


def _bounds(
    table: OptionTable, track: Track, outputs: frozenset[str], work: dict[str, float]
) -> Iterator[float]:
    """Yield lower bounds of the cycle in which a plan ends whose first steps are those of `track`.

    `outputs` has the names of the tensors that these steps make. `work` has, by the name of a
    task's output, the dma cycles that the task needs at least (`_least_copies`).
    """
    clock = track.clock
    yield clock.end
    yield (
        clock.dma
        + sum(waiting.option.fetch for waiting in track.pending)
        + sum(cycles for name, cycles in work.items() if name not in outputs)
    )
    left = (level for name, level in table.levels.items() if name not in outputs)
    yield clock.cp + max(left, default=0)
