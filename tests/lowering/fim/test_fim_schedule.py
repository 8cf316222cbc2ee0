"""The scheduler against the best of all plans; its times against hand calculations."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import schedule as scheduler
from macaw.lowering.fim.clock import Clock, Track, simulate
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.option_table import option_table
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.replay import Replay
from macaw.lowering.fim.schedule import NO_GROUPS, exhaustive, improve, list_schedule, schedule
from tests.lowering.fim import schedules

CONFIG = load("base")


def same(**costs):
    """Return a function that gives a unit the options `costs`, by the names of the unit's outputs.

    Units without options are refused.
    """

    def ask(unit, _config):
        names = "".join(task.output.name for task in unit)
        return costs.get(names) or [Refusal(unit, 0, 0, "too large")]

    return ask


def option(tasks, island, bring, compute, fetch, **more):
    return Option(tuple(tasks), island, 1, bring, compute, fetch, banks=3, **more)


def two(second_reads_first=False):
    graph = Graph()
    a = graph.tensor("a", 4, 4)
    first = graph.product(a, a, "x")
    graph.product(first if second_reads_first else a, a, "y")
    return graph, graph.tasks


def test_a_step_without_copies_waits_for_the_copies_before_it():
    """A step without copies waits for the copies before it, which may bring its inputs."""
    clock = Clock()
    assert clock.bring(option([], 0, 40, 10, 0), constants=True) == (0, 40)
    assert clock.bring(option([], 1, 0, 10, 0), constants=True) == (0, 40)


def test_banks_that_were_used_close_a_row_before_the_first_copy():
    clock, one = Clock(), option([], 0, 40, 10, 0, reopen=7)
    assert clock.bring(one, constants=True) == (0, 40)
    assert clock.start(one, 40)[1] == 50
    assert clock.bring(one, constants=True) == (40, 50 + 40 + 7)


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(24))
def test_within_a_tenth_of_the_best_plan_of_all(seed):
    """The plan ends at most 10% later than the best of all plans (seed 004 ¶44, ¶62)."""
    rng = random.Random(seed)
    graph = schedules.graph(rng, rng.randint(2, 4))
    ask = schedules.asking(seed)
    found = schedule(graph, CONFIG, ask)
    best = exhaustive(option_table(graph, CONFIG, ask))
    assert best.makespan <= found.makespan <= 1.1 * best.makespan
    done = sorted(task.output.name for step in found.steps for task in step.tasks)
    assert done == sorted(task.output.name for task in graph.tasks)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_an_order_of_actions_that_can_be_done(seed):
    """Actions are possible in their order: inputs come first, the dma and banks are not shared."""
    graph = schedules.graph(random.Random(seed), 9)
    plan = schedule(graph, CONFIG, schedules.asking(seed))
    there = {"a", "b"}
    held: dict[Any, Any] = {}
    dma = 0
    for action in plan.actions:
        option = plan.steps[action.step].option
        reads = {tensor.name for task in option.tasks for tensor in task.inputs}
        reads -= {task.output.name for task in option.tasks}
        if action.kind in ("bring", "host"):
            assert reads <= there
        if action.kind == "bring":
            assert not any(mask & option.banks for mask in held.get(option.island, {}).values())
            held.setdefault(option.island, {})[action.step] = option.banks
        if action.kind in ("fetch", "host"):
            there.add(option.task.output.name)
        if action.kind == "fetch":
            del held[option.island][action.step]
            assert action.end >= plan.action("start", action.step).end + option.fetch
        if action.kind in ("bring", "fetch"):
            assert action.begin >= dma
            dma = action.end
    assert plan.makespan == max(action.end for action in plan.actions)
    assert not any(held.values())
    assert {tensor.name for tensor in graph.results} <= there


def test_two_tasks_side_by_side_by_hand():
    """The dma brings inputs of the second task while the first computes (seed 004 ¶61).

    Both results are fetched at the end.
    """
    _, (x, y) = two()
    track = simulate([option([x], 0, 10, 100, 5), option([y], 1, 20, 60, 5)])
    times = [(row.kind, row.step, row.begin, row.end) for row in track.actions]
    assert times == [
        ("bring", 0, 0, 10),
        ("start", 0, 10, 110),
        ("bring", 1, 10, 30),
        ("start", 1, 30, 90),
        ("fetch", 1, 30, 95),
        ("fetch", 0, 95, 115),
    ]


def test_a_copy_waits_for_its_bank_and_all_behind_it_by_hand():
    """A copy waits for its bank, and the copies after it wait, too.

    Both tasks use one island: the results of the first leave before inputs of the second come.
    """
    _, (x, y) = two()
    track = simulate([option([x], 0, 10, 100, 5), option([y], 0, 20, 60, 5)])
    times = [(row.kind, row.step, row.begin, row.end) for row in track.actions]
    assert times == [
        ("bring", 0, 0, 10),
        ("start", 0, 10, 110),
        ("fetch", 0, 10, 115),
        ("bring", 1, 115, 135),
        ("start", 1, 135, 195),
        ("fetch", 1, 135, 200),
    ]


def test_copies_that_the_queue_does_not_hold_stop_cp_by_hand():
    """cp waits while the dma's queue is full.

    Copies of the first results begin in cycle 110; cp can queue the last of these copies 3 cycles
    later, in 113.
    """
    graph = Graph()
    a = graph.tensor("a", 4, 4)
    graph.product(graph.product(a, a, "x"), graph.product(a, a, "y"), "z")
    x, y, z = graph.tasks
    options = [
        option([x], 0, 10, 100, 5, fetch_queue_wait=3),
        option([y], 0, 20, 60, 5),
        option([z], None, 0, 7, 0),
    ]
    times = [(row.kind, row.step, row.begin, row.end) for row in simulate(options).actions]
    assert times[2:] == [
        ("fetch", 0, 10, 115),
        ("bring", 1, 115, 135),
        ("start", 1, 135, 195),
        ("fetch", 1, 135, 200),
        ("host", 2, 200, 207),
    ]
    track = simulate([options[0]])
    assert track.clock.cp == 113


def test_a_step_of_several_starts_keeps_cp_and_dma_by_hand():
    """A step of several starts occupies cp and dma for 70 cycles, until its last start.

    Only after this start does the dma bring the inputs of y.
    """
    _, (x, y) = two()
    track = simulate([option([x], 0, 10, 100, 5, until_last_start=70), option([y], 1, 20, 60, 5)])
    times = [(row.kind, row.step, row.begin, row.end) for row in track.actions]
    assert times[:4] == [
        ("bring", 0, 0, 10),
        ("start", 0, 10, 110),
        ("bring", 1, 80, 100),
        ("start", 1, 100, 160),
    ]


def test_a_busy_island_is_left_alone():
    """A task goes to a slower island if the faster one is busy (seed 004 ¶61)."""
    graph, (x, y) = two()
    ask = same(
        x=[option([x], 0, 10, 100, 5), option([x], 1, 10, 140, 5)],
        y=[option([y], 0, 10, 100, 5), option([y], 1, 10, 140, 5)],
    )
    plan = schedule(graph, CONFIG, ask)
    assert {step.option.island for step in plan.steps} == {0, 1}
    # 10 and 10 to bring in, 140 from 10 on, 5 to fetch; island 0 is ready meanwhile.
    assert plan.makespan == 155


@pytest.mark.parametrize(("pair", "steps"), [(120, 1), (180, 2)])
def test_a_chain_is_a_pair_if_that_ends_sooner(pair, steps):
    """A chain becomes a pair if the plan then ends sooner (seed 004 ¶61)."""
    graph, (x, y) = two(second_reads_first=True)
    ask = same(
        x=[option([x], 0, 10, 60, 5)],
        y=[option([y], 1, 10, 60, 5)],
        xy=[option([x, y], 0, 15, pair, 5, buffer=8)],
    )
    plan = schedule(graph, CONFIG, ask)
    assert len(plan.steps) == steps
    assert plan.makespan == {1: 140, 2: 150}[steps]
    assert len(schedule(graph, CONFIG, ask, together=False).steps) == 2


def test_the_host_takes_what_gains_nothing():
    """The host computes a task for which an island gains nothing (seed 004 ¶62)."""
    graph, (x, y) = two()
    ask = same(
        x=[option([x], 0, 10, 100, 5), option([x], None, 0, 40, 0)],
        y=[option([y], 0, 10, 100, 5), option([y], None, 0, 400, 0)],
    )
    plan = schedule(graph, CONFIG, ask)
    assert {step.tasks[0]: step.option.island for step in plan.steps} == {x: None, y: 0}


def test_a_task_that_nothing_can_do():
    graph, (x, _) = two()
    with pytest.raises(LowerError, match="nothing can do y = a · a") as caught:
        schedule(graph, CONFIG, same(x=[option([x], 0, 1, 1, 1)]))
    assert caught.value.hint == "too large"


def three():
    """A graph of x = a · a, y = x · a and z = y · a, with a table of units of its tasks."""
    graph = Graph()
    a = graph.tensor("a", 4, 4)
    x = graph.product(a, a, "x")
    graph.product(graph.product(x, a, "y"), a, "z")
    tasks = graph.tasks
    parts = (0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)
    units = [tuple(tasks[first:last]) for first, last in parts]
    costs = {
        "".join(task.output.name for task in unit): [option(unit, 0, 10, 60, 5)] for unit in units
    }
    return option_table(graph, CONFIG, same(**costs))


def test_tasks_join_a_step_unless_they_leave_a_task_out():
    """With y and z in one step, x joins both of them, but not y alone."""
    table = three()
    x, yz, xyz = (table.options[unit][0] for unit in unit_of(table, "x", "yz", "xyz"))
    assert list(scheduler._together(table, [], x, [yz])) == [[xyz]]


def unit_of(table, *names):
    """The units of a table, by the names of their outputs."""
    found = {"".join(task.output.name for task in unit): unit for unit in table.options}
    return [found[name] for name in names]


def test_tasks_join_at_the_first_possible_position():
    """Step xy takes the place of x; it is not tried after the independent step w as well."""
    graph, (x, y) = two(second_reads_first=True)
    graph.product(graph.tensors["a"], graph.tensors["a"], "w")
    w = graph.tasks[2]
    x, y, w, xy = (option(tasks, 0, 10, 60, 5) for tasks in ([x], [y], [w], [x, y]))
    table = option_table(graph, CONFIG, same(x=[x], y=[y], w=[w], xy=[xy]))
    assert list(scheduler._together(table, [], x, [y, w])) == [[xy, w]]


def test_the_search_goes_on_from_the_first_better_list(monkeypatch):
    """After a change with which the plan ends sooner, the next change is one of the new list."""
    table = option_table(schedules.graph(random.Random(1), 8), CONFIG, schedules.asking(1))
    start = list_schedule(table, NO_GROUPS, weight=0, shorter=0)
    trials = []

    class Watched(Replay):
        def end_of(self, options):
            trials.append((list(options), super().end_of(options)))
            return trials[-1][1]

    monkeypatch.setattr(scheduler, "Replay", Watched)
    scheduler._climb(table, start, 4000)
    least, better = simulate(start).clock.end, 0
    for (trial, end), (following, _) in pairwise(trials):
        if end < least:
            least, better = end, better + 1
            assert following == next(scheduler._singles(table, trial))
    assert better > 1


@pytest.mark.parametrize("seed", range(4))
def test_all_plans_are_tried_whatever_the_search_finds(seed, monkeypatch):
    """`exhaustive` finds the same plan if the search finds nothing better than its start."""
    graph = schedules.graph(random.Random(seed), 3)
    table = option_table(graph, CONFIG, schedules.asking(seed))
    best = exhaustive(table).makespan
    start = max(
        scheduler._singles(table, list_schedule(table, NO_GROUPS, weight=0, shorter=0)), key=end_of
    )
    monkeypatch.setattr(scheduler, "improve", lambda *_: start)
    assert exhaustive(table).makespan == best < end_of(start)


def end_of(options):
    return simulate(options).clock.end


@pytest.mark.parametrize("seed", range(3))
def test_the_search_spends_its_effort_and_not_more(seed, monkeypatch):
    """The search tries plans of at most `effort` steps together, and those of its last change."""
    graph = schedules.graph(random.Random(seed), 8)
    table = option_table(graph, CONFIG, schedules.asking(seed))
    start = list_schedule(table, NO_GROUPS, weight=0, shorter=0)
    lengths: list[int] = []

    class Counting(Replay):
        def end_of(self, options):
            lengths.append(len(options))
            return super().end_of(options)

    monkeypatch.setattr(scheduler, "Replay", Counting)
    ends = []
    for effort in (0, 1, 40, 400, 4000):
        lengths.clear()
        ends.append(simulate(improve(table, start, effort)).clock.end)
        assert sum(lengths) < effort + max(lengths, default=1)
        assert effort > 1 or len(lengths) == effort
        assert sum(lengths) >= effort  # these graphs have more changes than that
    assert ends == sorted(ends, reverse=True)
    assert ends[0] == simulate(start).clock.end


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_end_of_a_changed_plan_is_that_of_its_simulation(seed):
    """`Replay` simulates only a part of a changed plan, and finds the end of the whole simulation.

    Constants, several options for each step, and steps of two tasks occur.
    """
    rng = random.Random(seed)
    table = option_table(
        schedules.graph(rng, 20), CONFIG, schedules.asking(seed, constants=seed % 2 > 0)
    )
    known = list_schedule(table, NO_GROUPS, weight=0, shorter=0)
    replay = Replay(known)
    assert replay.end == simulate(known).clock.end
    trials = list(scheduler._singles(table, known))
    trials += rng.sample(list(scheduler._doubles(table, known)), 50)
    ends = [replay.end_of(trial) for trial in trials]
    assert ends == [simulate(trial).clock.end for trial in trials]
    assert min(ends) < replay.end < max(ends)


@pytest.mark.parametrize("seed", range(6))
def test_no_option_costs_less_than_its_bound(seed):
    """`_least_cost` is a lower bound, so a list schedule may leave out options by it."""
    ask = schedules.asking(seed, constants=seed % 2 > 0)
    table = option_table(schedules.graph(random.Random(seed), 12), CONFIG, ask)
    track = Track(eager=True)
    pairs = []
    for option in list_schedule(table, NO_GROUPS, weight=0, shorter=0):
        for other in table.options[option.tasks]:
            for weight in (0, 2):
                bound = scheduler._least_cost(table, track, other, weight)
                pairs.append((bound, scheduler._cost(table, track, other, weight)))
        track.issue(option)
    assert all(bound <= cost for bound, cost in pairs)
    assert any(bound == cost for bound, cost in pairs)
