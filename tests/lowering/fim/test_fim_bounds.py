"""Lower bounds of the end of a plan, against the best of all plans."""

import random

import pytest

from macaw.isa.config import load
from macaw.lowering.fim.bounds import least_cycles
from macaw.lowering.fim.graph import SCATTER, Graph
from macaw.lowering.fim.option_table import option_table
from macaw.lowering.fim.plan import GraphPlan, Option
from macaw.lowering.fim.planning import Planner
from macaw.lowering.fim.schedule import exhaustive, schedule
from macaw.lowering.layer_source import SourceFiles
from tests.lowering.fim import schedules

CONFIG = load("base")
ISLANDS = 3


def every_choice(table, done=frozenset()):
    """All ways to cover the tasks with units and to choose an option for each unit."""
    left = [task for task in table.graph.tasks if task.output.name not in done]
    if not left:
        yield ()
        return
    for unit, options in table.options.items():
        names = {task.output.name for task in unit}
        if left[0] in unit and not names & done:
            for rest in every_choice(table, done | names):
                yield from ((option, *rest) for option in options)


def longest_use(options):
    """The cycles of the dma or of the island that has most work."""
    used = dict.fromkeys(["dma", *range(ISLANDS)], 0)
    for whole in options:
        for option in whole.parts or (whole,):
            used["dma"] += option.bring + option.fetch
            if option.island is not None:
                used[option.island] += option.compute
    return max(used.values())


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(40))
def test_the_bound_of_the_work_is_below_all_choices(seed):
    rng = random.Random(seed)
    graph = schedules.graph(rng, rng.randint(1, 4))
    table = option_table(graph, CONFIG, schedules.asking(seed, ISLANDS))
    best = min(longest_use(options) for options in every_choice(table))
    bound = least_cycles(table, ISLANDS)
    assert 0.5 * best < bound.work <= best
    assert max(bound.work, bound.path, bound.stages) == bound.cycles


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_ends_before_the_bound(seed):
    """No plan ends before the bound, whatever its order, options and times to fetch results.

    `exhaustive` tries all plans.
    """
    rng = random.Random(seed)
    graph = schedules.graph(rng, rng.randint(2, 4))
    ask = schedules.asking(seed)
    table = option_table(graph, CONFIG, ask)
    bound = least_cycles(table, ISLANDS).cycles
    assert 0 < bound <= exhaustive(table).makespan
    assert schedule(graph, CONFIG, ask).least == least_cycles(table, CONFIG["fim.islands"]).cycles


def plan_of(count, rows, chain=False):
    """Return the option table of `count` tasks with equal options.

    Each of `rows` is an option: (island, bring, compute, fetch), with the last three in cycles.
    """
    graph, x = Graph(), None
    a = graph.tensor("a", 4, 4)
    for _ in range(count):
        x = graph.product(x if chain and x else a, a)

    def ask(unit, _config):
        return (
            [Option(unit, island, 1, *cycles) for island, *cycles in rows] if len(unit) == 1 else []
        )

    return option_table(graph, CONFIG, ask)


def test_bounds_by_hand():
    # six times 10 cycles of the dma, or 300 cycles on three islands
    assert least_cycles(plan_of(6, [(n, 5, 50, 5) for n in range(3)]), 3).work == pytest.approx(
        100, abs=2
    )
    assert least_cycles(plan_of(6, [(n, 5, 9, 5) for n in range(3)]), 3).work == pytest.approx(
        60, abs=2
    )
    # one island is ten times as fast as the other two
    rows = [(0, 0, 10, 0), (1, 0, 100, 0), (2, 0, 100, 0)]
    assert least_cycles(plan_of(12, rows), 3).work == pytest.approx(100, abs=2)
    # a chain of four tasks, each of 5 + 9 + 5 cycles at least
    rows = [(0, 5, 9, 5), (1, 5, 20, 5)]
    assert least_cycles(plan_of(4, rows, chain=True), 2).path == 4 * 19


def stages(first, last):
    """Return an option table of products, a scatter of their results, and more products.

    The last products read the scattered tensor.
    """
    graph = Graph()
    a = graph.tensor("a", 4, 4)
    whole = graph.whole("whole", 4 * first, 4)
    for number in range(first):
        graph.product(a, a, into=whole, row=4 * number)
    framed = graph.scatter(whole, range(4 * first), 4 * first + 2)
    for number in range(last):
        graph.product(graph.view(framed, 4, 4, offset=4 * number), a)

    def ask(unit, _config):
        if len(unit) > 1:
            return []
        if unit[0].kind == SCATTER:
            return [Option(unit, None, 0, 70, 0, 0)]
        return [Option(unit, island, 1, 5, 50, 5) for island in range(3)]

    return option_table(graph, CONFIG, ask)


def test_stages_by_hand():
    """If a task overlaps no other task, the bound adds the stages before, of and after this task.

    Here the task is a scatter of 70 cycles.
    """
    # six products on three islands take 2 x 50 cycles, or 6 x 10 of the dma; one takes 60
    bound = least_cycles(stages(6, 6), 3)
    assert bound.path == 60 + 70 + 60
    assert bound.stages == pytest.approx(100 + 70 + 100, abs=3) == bound.cycles
    # one product is a stage of its own: its path is longer than its share of the work
    assert least_cycles(stages(6, 1), 3).stages == pytest.approx(100 + 70 + 60, abs=2)
    # no task is alone
    assert least_cycles(plan_of(6, [(0, 5, 50, 5)]), 3).stages == 0
    # each task of a chain is alone, unless a start can do it together with others
    assert least_cycles(plan_of(4, [(0, 5, 9, 5)], chain=True), 3).stages == 4 * 19


def test_the_bound_is_the_least_of_all_planned_graphs(monkeypatch):
    graph, files = Graph(), SourceFiles("")
    plans = [
        (GraphPlan(graph, (), (), makespan, least=least), files)
        for makespan, least in ((100, 80), (90, 85), (95, 82))
    ]
    planner = Planner(CONFIG, "p")
    monkeypatch.setattr(Planner, "_plans", lambda *_: plans)
    plan, _ = planner.best(graph)
    assert (plan.makespan, plan.least) == (90, 80)
