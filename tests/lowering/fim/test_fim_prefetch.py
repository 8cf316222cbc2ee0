"""Constants that are copied while earlier tasks compute, or that a later step uses again."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import macaw
from macaw.fim_lowering import GraphLowering
from macaw.lowering.fim import options, prefetch, prefetch_search
from macaw.lowering.fim.bank_timing import ANY, BankTiming
from macaw.lowering.fim.bounds import least_cycles
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.dma_timing import DmaTiming
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.island_job import copies
from macaw.lowering.fim.option_table import option_table
from macaw.lowering.fim.plan import (
    BRING,
    FETCH,
    HOST,
    PREFETCH,
    START,
    Action,
    GraphPlan,
    Option,
    Step,
)
from macaw.lowering.fim.plan_timing import timed
from macaw.lowering.fim.planning import Planner
from macaw.lowering.fim.prefetch_search import best_times
from macaw.lowering.fim.schedule import exhaustive
from tests.lowering.fim import schedules
from tests.lowering.fim.running import BASE, modelled


def numbers(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) / np.sqrt(shape[0])).astype(
        np.float16
    )


def layers(count=3, size=64, batch=4):
    """A graph of `count` products with constants, each followed by relu."""
    graph = Graph()
    x = graph.tensor("x", batch, size)
    for number in range(count):
        x = graph.product(x, graph.constant(f"w{number}", numbers(size, size, seed=number)))
        x = graph.pointwise("relu", x)
    return graph


def recurrent(steps=3, size=64):
    """A graph of `steps` products with one constant, each followed by tanh."""
    graph = Graph()
    h, w = graph.tensor("h", 2, size), graph.constant("w", numbers(size, size))
    for _ in range(steps):
        h = graph.pointwise("tanh", graph.product(h, w))
    return graph


def lowered(graph, early=True, resident=0, config=BASE, effort=500):
    """A graph lowered after a short search for a plan."""
    planner = Planner(config, "g", resident=resident, early=early, effort=effort)
    plan, files = planner.best(graph)
    return GraphLowering("g", plan.graph, config, plan, files)


def check_bits(found, seed=0):
    """Run a lowered graph; check all bits of its results, its cycles and its bound."""
    given = found.random_inputs(seed)
    done = macaw.run(found.assemble(), given)
    for name, wanted in modelled(found.plan, found.graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert done.cycles == found.cycles
    assert found.least_cycles <= done.cycles
    assert all(holder < step for step, holder in found.plan.holders.items())
    return done


def test_constants_are_copied_while_the_step_before_computes():
    found, late = lowered(layers()), lowered(layers(), early=False)
    check_bits(late)
    check_bits(found)
    assert not late.plan.prefetched
    assert found.plan.prefetched
    assert found.cycles < late.cycles
    actions = found.plan.actions
    ends = {row.step: row.end for row in actions if row.kind == START}
    for step in found.plan.prefetched:
        copied = found.plan.action(PREFETCH, step)
        running = [ends[row.step] for row in actions[: actions.index(copied)] if row.kind == START]
        assert copied.begin < max(running)  # blocks of an earlier step still run
        assert copied.end <= found.plan.action(BRING, step).begin
        assert f"early{step}:" in found.source
        assert f"# constants of step {step}, in advance" in found.source


def test_no_copy_in_advance_meets_blocks_of_its_island():
    """Measured starts: no island computes while constants come to it in advance."""
    found = lowered(layers(4))
    measured = {step.number: step for step in found.measure().steps}
    assert found.plan.prefetched
    for step in found.plan.prefetched:
        copied = found.plan.action(PREFETCH, step)
        island = found.plan.steps[step].option.island
        for other in measured.values():
            if other.island == island:
                assert other.end <= copied.begin or copied.end <= other.begin


def test_a_step_uses_the_constants_of_an_earlier_step_again():
    found, late = lowered(recurrent()), lowered(recurrent(), early=False)
    done = check_bits(found)
    assert check_bits(late).cycles > done.cycles
    assert found.plan.holders
    # one file of w for each step that copies it, and none for the others
    copying = {step.number for step in found.plan.steps if step.option.constants}
    files = {name for name in found.files if name.startswith("g.c")}
    assert files == {f"g.c{step}_b.npy" for step in copying - found.plan.holders.keys()}
    assert len(files) < len(late.files)


def test_programs_that_decide_at_run_time_copy_no_constants_in_advance():
    plan, _ = Planner(BASE, "g", dynamic=True).best(layers())
    assert not plan.prefetched
    assert not plan.holders


def test_the_plan_says_which_constants_come_in_advance():
    found = lowered(layers())
    step = min(found.plan.prefetched)
    copied = found.plan.action(PREFETCH, step)
    line = f"its constants come in advance, in cycles {copied.begin:,} to {copied.end:,}"
    assert f"   {line}" in found.steps()
    assert f"     {line}" in found.reasons()
    check_costs(found, step)
    again = lowered(recurrent())
    step, holder = min(again.plan.holders.items())
    line = f"its constants are in the banks, as step {holder} used them"
    assert f"   {line}" in again.steps()
    check_costs(again, step)
    assert again.dma == sum(row.end - row.begin for row in again.plan.actions if row.kind != START)


def check_costs(found, number):
    """Check that the costs of a step do not count the copies of its constants."""
    option = found.plan.steps[number].option
    assert option.constants
    left = option.bring - option.constants
    line = f"{left + option.compute + option.fetch:,} cycles, {left:,} to bring the inputs in"
    with_constants = f"{option.total:,} with the copies of its constants"
    text = "\n".join(found.reasons())
    assert line in text
    assert with_constants in text


# --- the clock, by hand ---


def chain_of_options(*rows):
    """Options of a chain of products.

    Each of `rows` has the island, and the cycles to bring, of constants, to compute and to fetch.
    """
    graph = Graph()
    x = graph.tensor("x", 4, 4)
    options = []
    for number, (island, bring, constants, compute, fetch) in enumerate(rows):
        x = graph.product(x, graph.constant(f"w{number}", numbers(4, 4)))
        cycles = {"bring": bring, "constants": constants, "compute": compute, "fetch": fetch}
        option = Option((graph.tasks[-1],), island, 1, **cycles, banks=1, placed=number)
        options.append(option)
    return graph, options


def test_a_copy_of_constants_fills_the_wait_for_a_block():
    """Bring 10, compute 100, fetch 10, bring 10, compute 20, fetch 5; the 50 are in the 100."""
    _, options = chain_of_options((0, 10, 0, 100, 10), (1, 60, 50, 20, 5))
    track = simulate(options)
    assert [row.kind for row in track.actions][:4] == [BRING, START, PREFETCH, FETCH]
    assert track.clock.end == 10 + 100 + 10 + 10 + 20 + 5
    late = simulate([option.late for option in options])
    assert late.clock.end == track.clock.end + 50
    # on one island the dma waits for the block, and can copy the constants only afterwards
    _, options = chain_of_options((0, 10, 0, 100, 10), (0, 60, 50, 20, 5))
    assert simulate(options).clock.end == late.clock.end


def test_constants_of_later_steps_fill_what_is_left_of_a_wait():
    """In the first 100 cycles there is room for 50 and 40; 30 more would delay the second step."""
    rows = (0, 10, 0, 100, 10), (1, 60, 50, 20, 5), (2, 50, 40, 20, 5), (3, 40, 30, 20, 5)
    track = simulate(chain_of_options(*rows)[1])
    early = [row.step for row in track.actions if row.kind == PREFETCH]
    assert early[:2] == [1, 2]
    kinds = [(row.kind, row.step) for row in track.actions]
    assert kinds.index((PREFETCH, 2)) < kinds.index((FETCH, 0)) < kinds.index((PREFETCH, 3))
    # the second and the third step compute for 20 cycles: the last constants wait in the queue
    assert track.clock.end == 10 + 100 + 10 + (10 + 20 + 5) * 3 + (30 - 20)


def test_constants_of_a_later_step_pass_those_of_a_busy_island():
    """Constants of step 1 would meet the blocks of step 0; those of step 2 go to a free island."""
    rows = (0, 10, 0, 100, 10), (0, 60, 50, 20, 5), (1, 50, 40, 20, 5)
    track = simulate(chain_of_options(*rows)[1])
    assert [row.step for row in track.actions if row.kind == PREFETCH] == [2]
    assert track.clock.end == 10 + 100 + 10 + (60 + 20 + 5) + (10 + 20 + 5)


def test_the_same_constants_are_copied_once():
    graph, options = chain_of_options(*[(0, 60, 50, 20, 5)] * 3)
    same = [replace(option, placed="w") for option in options]
    assert simulate(options).clock.end == 3 * (60 + 20 + 5)
    track = simulate(same)
    assert track.clock.end == 60 + 20 + 5 + 2 * (10 + 20 + 5)
    assert track.holders == {1: 0, 2: 0}
    assert graph.tasks


# --- rows of banks ---


class Rows:
    """A job that only has rows."""

    def __init__(self, rows, row=0):
        self.rows, self.row = rows, row

    def at_row(self, row):
        return Rows(self.rows, row)


def plan_of_rows(actions, rows, holders=None):
    """A plan whose steps need so many `rows` of bank 0 on island 0."""
    graph, options = chain_of_options(*[(0, 60, 50, 20, 5)] * len(rows))
    steps = tuple(
        Step(number, replace(option, job=Rows(count)))
        for number, (option, count) in enumerate(zip(options, rows, strict=True))
    )
    kinds = {"p": PREFETCH, "b": BRING, "s": START, "f": FETCH, "h": HOST}
    made = tuple(Action(kinds[kind], int(step)) for kind, step in actions.split())
    return GraphPlan(graph, steps, made, 0, holders=holders or {})


def first_rows(plan):
    return [step.option.job.row for step in plan.steps]


def test_steps_one_after_the_other_use_the_same_rows():
    plan = plan_of_rows("b0 s0 f0 b1 s1 f1", [10, 7])
    assert first_rows(prefetch.with_rows(plan, 10)) == [0, 0]


def test_constants_in_advance_have_rows_of_their_own():
    plan = plan_of_rows("b0 s0 p1 f0 b1 s1 f1 b2 s2 f2", [10, 7, 12])
    assert first_rows(prefetch.with_rows(plan, 17)) == [0, 10, 0]
    assert prefetch.with_rows(plan, 16) is None
    # step 2 fits into the rows that step 0 leaves only if it needs no more of them
    plan = plan_of_rows("b0 s0 p1 f0 p2 b1 s1 f1 b2 s2 f2", [10, 7, 12])
    assert first_rows(prefetch.with_rows(plan, 29)) == [0, 10, 17]
    plan = plan_of_rows("b0 s0 p1 f0 p2 b1 s1 f1 b2 s2 f2", [10, 7, 9])
    assert first_rows(prefetch.with_rows(plan, 29)) == [0, 10, 0]


def test_a_step_of_the_host_needs_no_rows():
    plan = plan_of_rows("h0 b1 s1 p2 f1 b2 s2 f2", [99, 10, 7])
    assert first_rows(prefetch.with_rows(plan, 17)) == [0, 0, 10]


def test_constants_that_are_used_again_keep_their_rows():
    plan = plan_of_rows("b0 s0 f0 b1 s1 f1 b2 s2 f2", [10, 7, 10], {2: 0})
    assert first_rows(prefetch.with_rows(plan, 17)) == [0, 10, 0]
    assert prefetch.with_rows(plan, 16) is None
    assert first_rows(prefetch.with_rows(prefetch.without(plan), 10)) == [0, 0, 0]


@pytest.mark.parametrize(
    ("actions", "needed", "holders", "rows", "early", "kept"),
    [
        # 10 and 7 fit into 17 rows, 3 more do not: step 2 alone loses its copy in advance
        ("b0 s0 p1 p2 f0 b1 s1 f1 b2 s2 f2", [10, 7, 3], {}, 17, {1}, {}),
        ("b0 s0 p1 p2 f0 b1 s1 f1 b2 s2 f2", [10, 7, 3], {}, 20, {1, 2}, {}),
        # the constants of step 1 are in the way of step 0, which does not come in advance
        ("p1 b0 s0 f0 b1 s1 f1", [10, 7], {}, 16, set(), {}),
        # step 1 needs the rows of the constants of step 0; steps 2 and 3 share another copy
        ("b0 s0 f0 b1 s1 f1 b2 s2 f2 b3 s3 f3", [10, 7, 10, 10], {2: 0, 3: 0}, 16, set(), {3: 2}),
        ("b0 s0 f0 b1 s1 f1 b2 s2 f2 b3 s3 f3", [10, 7, 10, 10], {2: 0, 3: 0}, 17, set(), {2: 0, 3: 0}),
        # constants in advance that two steps use: both still share them
        ("p1 b0 s0 f0 b1 s1 f1 b2 s2 f2", [10, 7, 7], {2: 1}, 16, set(), {2: 1}),
    ],
)  # fmt: skip
def test_only_what_does_not_fit_is_given_up(actions, needed, holders, rows, early, kept):
    plan = prefetch.reduced(plan_of_rows(actions, needed, holders), rows)
    assert plan.prefetched == early
    assert plan.holders == kept
    placed = prefetch.with_rows(plan, rows)
    assert placed is not None
    assert all(step.option.job.row + step.option.job.rows <= rows for step in placed.steps)


def test_copies_that_meet_blocks_of_their_island_are_found():
    """The blocks of step 0 run in cycles 10 to 20 on island 0: copies from 20 on are right."""
    plan = plan_of_rows("b0 s0 p1 f0 b1 s1 f1", [1, 1])
    for begin, early in ((12, {1}), (19, {1}), (20, set())):
        times = {START: (10, 20), PREFETCH: (begin, 30)}
        actions = tuple(Action(x.kind, x.step, *times.get(x.kind, (40, 50))) for x in plan.actions)
        assert prefetch_search._copied_too_early(replace(plan, actions=actions)) == early


@pytest.mark.parametrize("count", [50, 4000])
def test_the_least_fetch_waits_for_no_other_copy(count):
    """The bound counts no more cycles than the copies take alone, in banks with open rows."""
    graph = Graph()
    graph.pointwise("add", graph.tensor("x", 1, count), graph.constant("c", numbers(1, count)))
    found = [row for row in options.options(graph.tasks, BASE) if isinstance(row, Option)]
    islands = [option for option in found if option.island is not None]
    assert islands
    for option in islands:
        assert option.island is not None
        (phase,) = option.job.phases()
        alone = []
        for routes in (phase.early, phase.late, phase.fetch):
            carrier = DmaTiming(BASE, {option.island: BankTiming(BASE, ANY)})
            alone.append(carrier.copies(copies(routes), 0))
        quickest = option.quickest
        assert quickest.constants <= alone[0]
        assert quickest.bring <= alone[1]
        assert quickest.fetch == alone[2] - carrier.setup


@pytest.mark.parametrize(("rows", "count"), [(3, 2), (4, 4)])
def test_a_plan_with_too_few_rows_keeps_what_fits(monkeypatch, rows, count):
    """Each of `count` matrices is used twice; the rows are enough for none, or for some of them."""
    config = BASE.changed({"fim.rows": rows})
    graph = Graph()
    h = graph.tensor("h", 2, 64)
    weights = [graph.constant(f"w{i}", numbers(64, 64, seed=i)) for i in range(count)]
    for weight in weights * 2:
        h = graph.pointwise("tanh", graph.product(h, weight))
    given_up, reduced = [], prefetch.reduced

    def watched(plan, limit):
        given_up.append(len(plan.holders) - len(reduced(plan, limit).holders))
        return reduced(plan, limit)

    monkeypatch.setattr(prefetch, "reduced", watched)
    found, late = (lowered(graph, early, config=config, effort=8000) for early in (True, False))
    check_bits(found)
    assert max(given_up) > 0
    if count == 2:
        assert found.cycles <= late.cycles
    else:
        assert found.plan.holders
        assert found.cycles < late.cycles


def test_all_steps_have_rows_that_the_island_has():
    """With just enough rows for a step, constants come in advance only to islands that are free."""
    found = lowered(recurrent())
    rows = max(step.option.job.rows for step in found.plan.steps)
    for plan in (found.plan, best_times(found.plan, BASE, rows)):
        uses = [(step.option.job.row, step.option.job.rows) for step in plan.steps]
        assert all(row + count <= BASE["fim.rows"] for row, count in uses)
    assert all(row + count <= rows for row, count in uses)


def test_exact_times_find_waits_that_the_search_missed():
    """From a plan without copies in advance, exact times show the waits of the dma."""
    late = timed(prefetch.without(lowered(layers()).plan), BASE)
    again = best_times(late, BASE, BASE["fim.rows"])
    assert again.prefetched
    assert again.makespan < late.makespan


# --- random graphs ---


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_ends_before_the_bound(seed):
    """Options with constants, some of them equal: `exhaustive` tries all plans."""
    rng = random.Random(seed)
    graph = schedules.graph(rng, rng.randint(2, 4))
    table = option_table(graph, BASE, schedules.asking(seed, constants=True))
    quickest = table.quickest
    bound = least_cycles(quickest, 3).cycles
    assert 0 < bound <= exhaustive(table).makespan


@pytest.mark.few(3)
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("seed", range(12))
def test_random_layers_are_exact(seed):
    """Layers of random sizes in a random order of constants, with a small budget for constants."""
    rng = random.Random(seed)
    graph = Graph()
    x = graph.tensor("x", rng.randint(1, 9), rng.choice((16, 33, 48)))
    weights = {}
    for _ in range(rng.randint(2, 5)):
        columns = rng.choice((16, 33, 48))
        shape = x.columns, columns
        if shape not in weights or rng.random() < 0.3:
            name = f"w{len(graph.tensors)}"
            weights[shape] = graph.constant(name, numbers(*shape, seed=rng.randrange(99)))
        x = graph.product(x, weights[shape])
        if rng.random() < 0.5:
            x = graph.pointwise(rng.choice(("relu", "tanh")), x)
    check_bits(lowered(graph, resident=rng.choice((0, 16384))), seed)
