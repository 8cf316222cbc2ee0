"""Constants in advance for each kind of step, on several devices: bits, cycles and rows.

The plans are made from chosen options, so that steps of islands alternate: while blocks of one
island run, the dma copies constants to the other. `tests/lowering/fim/constant_copies.py` observes
the runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import macaw
from macaw.fim_lowering import GraphLowering
from macaw.isa.config import load
from macaw.isa.fim_circuit import DOT, ELEMENTWISE, TENSOR
from macaw.isa.fim_islands import geometry, island_address
from macaw.lowering.fim import prefetch, residency
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.explain import mark
from macaw.lowering.fim.graph import Graph, Tensor
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import BRING, FETCH, PREFETCH, START, Action, GraphPlan, Option, Step
from macaw.lowering.fim.plan_timing import timed
from macaw.lowering.fim.planning import Planner
from macaw.profiling.profiler import ProfileOptions, profile
from tests.lowering.fim.constant_copies import best, observed, overlapping, planned, written
from tests.lowering.fim.running import BASE

pytestmark = pytest.mark.once

ROWS, WIDE = 8, 16  # of each tensor between steps
DIMM = load("ddr4_dimm")
ORGANISED = BASE.changed(
    {"fim.organisation": "dimm", "fim.ranks": 4, "fim.bank_groups": 2, "fim.group_banks": 2,
     "fim.chip_bits": 8, "fim.t_rtrs": 3}
)  # fmt: skip
CONSTRAINED = BASE.changed(
    {"fim.t_rrds": 4, "fim.t_rrdl": 6, "fim.t_faw": 30, "fim.t_wtrs": 6, "fim.t_wtrl": 8,
     "fim.t_rtp": 6, "fim.t_rtw": 17, "fim.t_column": 11, "fim.act_banks": 1}
)  # fmt: skip


def numbers(*shape, seed=1):
    random = np.random.default_rng(seed)
    return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float16)


def row(graph, name, rows, columns, seed):
    """A constant with equal rows."""
    return graph.constant(name, np.repeat(numbers(1, columns, seed=seed), rows, axis=0))


# --- the kinds of steps: from a tensor (ROWS, WIDE) to another one, with constants of a name ---


def weights(graph, name, seed, shape=(WIDE, WIDE)):
    """The constant of this name, which several steps may use."""
    return graph.tensors.get(name) or graph.constant(name, numbers(*shape, seed=seed))


def a_product(graph, x, name, seed):
    y = graph.product(x, weights(graph, name, seed))
    bias = graph.tensors.get(f"{name}_b") or row(graph, f"{name}_b", ROWS, WIDE, seed + 1)
    return graph.pointwise("add", y, bias)


def a_chain(graph, x, name, seed, count=2):
    for number in range(count):
        x = graph.product(x, weights(graph, f"{name}_{number}", seed + number))
    return x


def a_long_chain(graph, x, name, seed):
    return a_chain(graph, x, name, seed, 3)


def a_sum(graph, x, name, seed):
    both = (graph.product(x, weights(graph, f"{name}_{n}", seed + n)) for n in range(2))
    return graph.pointwise("add", *both)


def a_depthwise(graph, x, name, seed):
    """Three taps along the rows; at the ends a tap takes the row at the end."""
    total = None
    for tap in range(3):
        moved = graph.gather(x, np.clip(np.arange(ROWS) + tap - 1, 0, ROWS - 1))
        known = graph.tensors.get(f"{name}_{tap}")
        known = known or row(graph, f"{name}_{tap}", ROWS, WIDE, seed + tap)
        part = graph.pointwise("mul", moved, known)
        total = part if total is None else graph.pointwise("add", total, part)
    return total


def a_function(graph, x, name, seed):
    return graph.pointwise("mul", weights(graph, name, seed, (ROWS, WIDE)), x)


def a_group(graph, x, name, seed):
    scaled = graph.pointwise("mul", x, weights(graph, f"{name}_0", seed, (ROWS, WIDE)))
    shifted = graph.pointwise("sub", weights(graph, f"{name}_1", seed + 1, (ROWS, WIDE)), scaled)
    return graph.pointwise("mul", shifted, scaled)


Kind = Callable[[Graph, Tensor, str, int], Tensor]
KINDS: tuple[Kind, ...] = (
    a_product, a_chain, a_long_chain, a_sum, a_depthwise, a_function, a_group,
)  # fmt: skip


@functools.cache  # several tests look at one program
def alternating(kind: Kind, config, here=0, there=1):
    """A program of products on island `there` and steps of `kind` on island `here`.

    While the first product computes for long, the constants of steps 1 and 2 come in advance. Step
    4 has the same constants as step 1. The constants of step 3 come while steps 1 and 2 compute.
    """
    graph, chosen = Graph(), []
    x, done = graph.tensor("x", ROWS, WIDE), 0
    names = "w0", "same", "other", "w1", "same"
    for number, name in enumerate(names):
        is_product = name.startswith("w")
        x = (a_product if is_product else kind)(graph, x, name, 10 + 10 * number)
        unit, done = tuple(graph.tasks[done:]), len(graph.tasks)
        layouts = range(8) if number else [ELEMENTWISE]
        chosen.append(best(unit, config, there if is_product else here, layouts=layouts))
    return planned(graph, chosen, config)


def check_alternating(found, exact=True):
    """Check the copies of constants of `alternating`; return what was observed."""
    assert found.plan.prefetched == {1, 2, 3}
    assert found.plan.holders == {4: 1}
    first, second, last = (found.plan.steps[number].option.job for number in (1, 2, 4))
    assert first.row == last.row
    assert first.row + first.rows <= second.row or second.row + second.rows <= first.row
    seen = observed(found, exact=exact)
    assert all(overlapping(seen, number) for number in (1, 2, 3))
    return seen


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_step_gets_constants_in_advance(kind):
    """Constants come while another island computes, and are used again after its next step."""
    found = alternating(kind, BASE)
    check_alternating(found)
    tasks = len(found.plan.steps[1].tasks)
    assert tasks == {a_product: 2, a_chain: 2, a_long_chain: 3, a_sum: 3, a_depthwise: 8,
                     a_function: 1, a_group: 3}[kind]  # fmt: skip
    late = planned(found.graph, [step.option.late for step in found.plan.steps], BASE)
    assert not late.plan.prefetched
    assert found.cycles < late.cycles


@pytest.mark.parametrize("layout", [DOT, TENSOR])
def test_chains_get_constants_in_advance_in_each_layout(layout):
    """Blocks of a chain push their results beside constants that came in advance."""
    graph = Graph()
    x = graph.tensor("x", ROWS, WIDE)
    x = a_product(graph, x, "w", 1)
    first = tuple(graph.tasks)
    a_long_chain(graph, x, "c", 2)
    island = {DOT: 0, TENSOR: 2}[layout]
    chain = best(graph.tasks[len(first) :], BASE, island, layouts=[layout])
    assert chain.pair
    found = planned(graph, [best(first, BASE, 1), chain], BASE)
    assert found.plan.prefetched == {1}
    assert overlapping(observed(found), 1)


# --- devices ---


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_the_preset_of_a_dimm(kind):
    """One command bus for blocks and copies of an island, a command for each bank."""
    check_alternating(alternating(kind, DIMM))


@pytest.mark.parametrize(
    ("device", "kind"),
    [(ORGANISED, a_chain), (CONSTRAINED, a_product), (CONSTRAINED, a_chain)],
    ids=["dimm", "constraints", "constraints-chain"],
)
def test_other_organisations_and_constraints(device, kind):
    check_alternating(alternating(kind, device))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("kind", "interval", "mode"),
    [
        (a_product, 3900, "all"),
        (a_product, 700, "all"),
        (a_product, 5200, "bank"),
        (a_chain, 700, "all"),
        (a_depthwise, 700, "all"),
    ],
)
def test_refresh_delays_copies_in_advance_but_changes_no_bit(kind, interval, mode):
    """The predictions know no refresh, so copies may meet blocks; the constants are right."""
    device = BASE.changed({"fim.t_refi": interval, "fim.t_rfc": 260, "fim.refresh": mode})
    found = alternating(kind, device)
    assert found.cycles == alternating(kind, BASE).cycles
    seen = check_alternating(found, exact=False)
    assert seen.run.cycles > found.cycles


# --- products that islands share ---


def test_islands_that_share_a_product_get_constants_in_advance():
    """While island 0 computes for long, the constants of all parts on other islands come."""
    graph = Graph()
    x = graph.tensor("x", 16, 64)
    y = graph.product(x, graph.constant("w", numbers(64, 64)))
    graph.product(y, graph.constant("v", numbers(64, 256, seed=2)))
    first, second = graph.tasks
    slow = best([first], BASE, 0, layouts=[ELEMENTWISE])
    shared = [
        row
        for row in options([second], BASE, together=True)
        if isinstance(row, Option) and row.parts
    ]
    assert {len(row.parts) for row in shared} == {2, 4}
    whole = max(shared, key=lambda x: len(x.parts))
    found = planned(graph, [slow, whole], BASE)
    islands = {number + 1: part.island for number, part in enumerate(whole.parts)}
    assert found.plan.prefetched == {number for number, x in islands.items() if x != 0}
    seen = observed(found)
    assert all(overlapping(seen, number) for number in found.plan.prefetched)


def test_the_scheduler_shares_a_product_and_copies_its_constants_in_advance():
    """The sum with an input is a step of its own; meanwhile the constants of both parts come."""
    graph = Graph()
    x = graph.product(graph.tensor("x", 16, 64), graph.constant("w", numbers(64, 64)))
    x = graph.pointwise("add", x, graph.tensor("t", 16, 64))
    graph.product(x, graph.constant("v", numbers(64, 256, seed=2)))
    plan, files = Planner(BASE, "g", resident=0, divides=False, effort=3000).best(graph)
    shared = {step.number for step in plan.steps if plan.issued[plan.issued_index(step)].parts}
    assert len(shared) > 1
    assert shared <= plan.prefetched
    observed(GraphLowering("g", plan.graph, BASE, plan, files))


# --- constants that stay, beside constants in advance ---


def resident_rows(config, count):
    """The rows of a bank, of which `count` are reserved for constants that stay."""
    return BankRows(geometry(config).rows, count)


def check_images(found, seen):
    """Check that the constants that stay are in the banks after the run."""
    memory, device = geometry(found.config), seen.run.device
    images = list(residency.images(found.plan.steps))
    assert images
    for placed in images:
        for bank, index in placed.image.places:
            start = island_address(placed.island) + bank * memory.bank_bytes
            wanted = placed.image.array[index].tobytes()
            found_bytes = device.memory.peek(start + placed.row * memory.row_bytes, len(wanted))
            assert found_bytes == wanted


def test_constants_that_stay_beside_constants_in_advance():
    """Each island has one step whose constants stay and one whose constants come in advance."""
    graph, units = Graph(), []
    x = graph.tensor("x", ROWS, WIDE)
    for number in range(4):
        done = len(graph.tasks)
        x = a_product(graph, x, f"w{number}", 10 * number)
        units.append(tuple(graph.tasks[done:]))
    plenty = resident_rows(BASE, 64)
    need = max(best(unit, BASE, n % 2, plenty).job.rows for n, unit in enumerate(units))
    config = BASE.changed({"fim.rows": 2 * need})
    rows = resident_rows(config, need)
    stays = replace(rows, resident=True)
    chosen = [
        best(unit, config, number % 2, stays if number < 2 else rows)
        for number, unit in enumerate(units)
    ]
    found = planned(graph, chosen, config, rows)
    assert [step.option.residency is not None for step in found.plan.steps] == [1, 1, 0, 0]
    assert found.plan.prefetched
    assert found.plan.prefetched <= {2, 3}
    shared = [step.option.job for step in found.plan.steps if step.option.residency is None]
    assert all(job.row + job.rows <= rows.shared for job in shared)
    check_images(found, observed(found))


@pytest.mark.usefixtures("short_search")
def test_a_budget_for_some_constants_leaves_the_others_to_copies_in_advance():
    """The budget is two rows of each bank: three of four layers stay, one comes in advance."""
    graph = Graph()
    x = graph.tensor("x", 4, 64)
    for number in range(4):
        x = graph.product(x, graph.constant(f"w{number}", numbers(64, 64, seed=number)))
    found, without = (
        macaw.lower_graph(graph, resident=budget, together=False) for budget in (32768, 0)
    )
    assert 0 < found.resident_bytes < 4 * 64 * 64 * 2
    assert found.plan.prefetched
    assert all(found.plan.steps[step].option.residency is None for step in found.plan.prefetched)
    assert found.cycles < without.cycles
    check_images(found, observed(found))


# --- rows in use ---


def by_hand(graph, chosen, actions, config):
    """The program of given actions, such as "b0 s0 p1 f0 b1 s1 f1", with rows and exact times."""
    kinds = {"p": PREFETCH, "b": BRING, "s": START, "f": FETCH}
    steps = tuple(Step(number, option) for number, option in enumerate(chosen))
    made = tuple(Action(kinds[word[0]], int(word[1:])) for word in actions.split())
    plan = GraphPlan(graph, steps, made, 0, issued=tuple(chosen))
    placed = prefetch.with_rows(plan, config["fim.rows"])
    assert placed is not None
    return written(timed(placed, config), config)


def three_products():
    """Two products of inputs, on islands 0 and 1, then one of the second result on island 0."""
    graph = Graph()
    a_product(graph, graph.tensor("a", ROWS, WIDE), "w0", 1)
    b = a_product(graph, graph.tensor("b", ROWS, WIDE), "w1", 20)
    a_product(graph, b, "w2", 40)
    return graph, [best(graph.tasks[2 * n : 2 * n + 2], BASE, n % 2) for n in range(3)]


def test_constants_come_while_results_of_their_island_wait_to_be_fetched():
    """The rows of these results are not those of the constants, and island 0 has ended."""
    graph, chosen = three_products()
    found = by_hand(graph, chosen, "b0 s0 b1 s1 p2 f0 f1 b2 s2 f2", BASE)
    first, _, third = (step.option.job for step in found.plan.steps)
    assert third.row == first.row + first.rows
    assert chosen[0].banks & chosen[2].banks
    seen = observed(found, exact=False)
    assert seen.run.cycles == found.cycles
    begin, end = seen.early(2)
    fetched = next(x.begin for x in seen.transfers if (x.kind, x.step) == (FETCH, 0))
    assert end <= fetched
    assert begin < seen.steps[1].end


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_just_enough_rows(kind):
    """Two steps of one island need separate rows; with a row less, copies come with the inputs."""
    graph = Graph()
    x = kind(graph, graph.tensor("x", ROWS, WIDE), "first", 1)
    first = tuple(graph.tasks)
    y = a_function(graph, x, "between", 20)
    between = tuple(graph.tasks[len(first) :])
    kind(graph, y, "last", 40)
    last = tuple(graph.tasks[len(first) + len(between) :])
    units = (first, 0), (between, 1), (last, 0)
    need = sum(best(unit, BASE, 0).job.rows for unit in (first, last))
    for rows in (need, need - 1):
        config = BASE.changed({"fim.rows": rows})
        found = planned(graph, [best(unit, config, island) for unit, island in units], config)
        jobs = [step.option.job for step in found.plan.steps]
        assert [job.rows for job in jobs[::2]] == [need // 2] * 2
        seen = observed(found)
        if rows < need:
            assert jobs[2].row == 0
        if 2 in found.plan.prefetched and jobs[2].row == 0:
            # its constants come only after the results of step 0 have left these rows
            fetched = max(x.end for x in seen.transfers if (x.kind, x.step) == (FETCH, 0))
            assert fetched <= seen.early(2)[0]


# --- what the user sees ---


def test_the_timeline_shows_copies_in_advance_in_the_row_of_the_dma():
    """A column for each cycle: the step's mark in the cycles of its copies, before its inputs."""
    found = alternating(a_product, BASE)
    seen = observed(found)
    lines = found.timeline(2 * found.cycles)
    assert lines[-1].startswith("A character is a cycle")
    rows = {line[:9].strip(): line[9:] for line in lines[1:-1]}
    assert [*rows] == ["dma in", "dma out", "island 0", "island 1"]
    assert found.plan.prefetched
    for number in found.plan.prefetched:
        begin, end = seen.early(number)
        character = mark(found.plan.steps[number])
        assert rows["dma in"][begin:end] == character * (end - begin)
        other = rows[f"island {1 - seen.steps[number].island}"][begin:end]
        assert other.strip(".") or not overlapping(seen, number)
        own = rows[f"island {seen.steps[number].island}"]
        assert own.index(character) == seen.steps[number].begin > end


def test_a_profile_shows_copies_in_advance_in_the_row_of_the_dma():
    """The profile's intervals of the dma have the cycles of the predicted copies.

    The place of such a transfer is a line below the comment "in advance".
    """
    found = alternating(a_product, BASE)
    shown = profile(found.assemble(), found.random_inputs(0), ProfileOptions(findings=False))
    assert shown.cycles == found.cycles
    (dma,) = (track for track in shown.tracks if track.core == "dma")
    source = found.source.splitlines()
    for number in found.plan.prefetched:
        copied = found.plan.action(PREFETCH, number)
        mine = [x for x in dma.slices if copied.begin <= x.begin and x.end <= copied.end]
        assert mine
        assert (mine[0].begin, mine[-1].end) == (copied.begin, copied.end)
        places = {int(x.place.rpartition(":")[2]) for x in mine}
        (line,) = (n for n, text in enumerate(source) if f"constants of step {number}, in" in text)
        code = source[line : line + 4]  # two copies, or a call of the macro `copies`
        assert places <= {line + 1 + n for n, text in enumerate(code) if "cop" in text}
