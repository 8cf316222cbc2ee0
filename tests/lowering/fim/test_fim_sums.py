"""Sums of products that an island adds in Rz, with functions of the sum."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
import pytest

import macaw
from macaw.lowering.fim.graph import PRODUCT, Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.product_sums import MOST_PRODUCTS, is_sum, product_sums
from macaw.lowering.fim.program import emit
from tests.lowering.fim.running import BASE, TINY, alone, modelled, run

ENGINES = ("fast", "reference")
LOOPED = "act   row0, inc=1"
pytestmark = pytest.mark.usefixtures("short_search")


def numbers(*shape, seed=1, dtype=np.float16):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(dtype)


def sum_of(depths, m=9, n=30, form=0, known=True, bias=True):
    """A graph of the sum of products with these k, and its inputs."""
    graph, products = Graph(form), []
    dtype = ("float16", "float32")[form]
    given = {}
    for place, k in enumerate(depths):
        x = graph.tensor(f"x{place}", m, k)
        given[x.name] = numbers(m, k, seed=place, dtype=dtype)
        if known:
            w = graph.constant(f"w{place}", numbers(k, n, seed=place + 20, dtype=dtype))
        else:
            w = graph.tensor(f"w{place}", k, n)
            given[w.name] = numbers(k, n, seed=place + 20, dtype=dtype)
        products.append(graph.product(x, w))
    total = reduce(partial(graph.pointwise, "add"), products)
    if bias:
        row = np.repeat(numbers(1, n, seed=50, dtype=dtype), m, axis=0)
        total = graph.pointwise("add", total, graph.constant("bias", row))
    graph.result(total)
    return graph, given


@pytest.mark.parametrize(
    ("depths", "form", "known"),
    [((20, 16, 5), 0, True), ((7, 8), 1, True), ((9, 33), 0, False)],
)
def test_each_layout_has_the_bits_and_the_cycles(depths, form, known):
    """In each layout, sums of products with any k have the right bits and cycles.

    No k is a multiple of a tile, so each product begins at a new tile.
    """
    graph, given = sum_of(depths, form=form, known=known, bias=known)
    rows = [row for row in options(graph.tasks, TINY, form=form) if isinstance(row, Option)]
    assert len({row.layout for row in rows if row.island == 0}) == (3 if form else 4)
    for option in {row.layout: row for row in rows}.values():
        plan = alone(graph, option)
        done = run(plan, graph, TINY, "tiny", **given)
        for name, wanted in modelled(plan, graph, given).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
        assert abs(done.cycles - option.total) <= 16 + option.total // 500


def test_rows_of_whole_columns_go_to_the_buffers_without_local_memory():
    """With dots of whole columns, left operands go to banks without a copy in local memory.

    The rows of the two left operands are adjacent in a bank.
    """
    graph, given = sum_of((32, 48), m=5, n=32, bias=False)
    lowered = macaw.lower_graph(graph)
    assert "section .data.cp" not in lowered.source
    done = lowered.measure(given)
    for name, wanted in modelled(lowered.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)


def test_several_islands_share_a_sum():
    """Several islands share a sum by columns of the result; each needs all left rows."""
    graph, given = sum_of((40, 64), m=1, n=192)
    device = TINY.changed({"fim.island.1.divider": 1})
    lowered = macaw.lower_graph(graph, device=device)
    assert [len(option.parts) for option in lowered.plan.issued] == [2]
    done = lowered.measure(given)
    for name, wanted in modelled(lowered.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles / lowered.cycles - 1) < 0.02


def test_the_scheduler_sums_products_where_that_ends_the_plan_sooner():
    """The scheduler plans a sum where the plan then ends sooner.

    On one island, products are neither stored nor added by another step.
    """
    graph, given = sum_of((64, 64), m=4, n=64)
    device = BASE.changed({"fim.islands": 1})
    lowered, single = (macaw.lower_graph(graph, device=device, together=x) for x in (True, False))
    assert all(is_sum(step.tasks) for step in lowered.plan.steps)
    done, apart = lowered.measure(given), single.measure(given)
    assert done.cycles < 0.7 * apart.cycles
    assert abs(done.cycles / lowered.cycles - 1) < 0.02
    np.testing.assert_allclose(done.error, 0, atol=0.01)


def sums(graph):
    return [
        sum(task.kind == PRODUCT for task in unit) for unit in product_sums(graph) if is_sum(unit)
    ]


def test_which_sums_there_are():
    """A sum may have sums as terms, but no product that is an output or that another task reads."""
    graph = Graph()
    x = graph.tensor("x", 4, 4)
    parts = [graph.product(x, graph.constant(f"w{n}", numbers(4, 4, seed=n))) for n in range(4)]
    left, right = graph.pointwise("add", *parts[:2]), graph.pointwise("add", *parts[2:])
    whole = graph.pointwise("add", left, right)
    assert sums(graph) == [2, 2, 4]
    graph.pointwise("relu", left)
    assert sums(graph) == [2, 2]
    graph.result(parts[2])
    graph.result(whole)
    assert sums(graph) == [2]


def test_a_sum_after_one_with_too_many_products():
    """A sum may have `MOST_PRODUCTS` products; after a greater sum, other sums are found."""
    graph, _ = sum_of([4] * (MOST_PRODUCTS + 1), bias=False)
    x, w = graph.tensor("x", 4, 4), graph.constant("w", numbers(4, 4))
    graph.pointwise("add", graph.product(x, w), graph.product(x, w))
    assert sums(graph) == [*range(2, MOST_PRODUCTS + 1), 2]


def why(graph):
    return next(row.why for row in options(graph.tasks, TINY) if isinstance(row, Refusal))


def test_why_not_a_sum():
    graph = Graph()
    x, y = graph.tensor("x", 4, 4), graph.tensor("y", 4, 4)
    first, second = graph.product(x, y), graph.product(y, x)
    graph.pointwise("sub", first, second, name="d")
    assert why(graph) == "d is no sum of products alone"
    graph = Graph()
    x, w = graph.tensor("x", 4, 4), graph.constant("w", numbers(4, 4))
    graph.pointwise("add", graph.product(x, w), graph.product(w, x))
    assert why(graph) == "a product of a sum has a constant as its left side"
    graph = Graph()
    x, w = graph.tensor("x", 4, 4), graph.constant("w", numbers(4, 4))
    graph.pointwise("add", graph.product(x, w), graph.product(x, x))
    assert why(graph) == "the right sides of a sum's products are not all constants"
    graph = Graph()
    x, w = graph.tensor("x", 4, 4), graph.constant("w", numbers(4, 4))
    graph.product(graph.pointwise("add", graph.product(x, w), graph.product(x, w)), w)
    assert why(graph) == "a sum of products is no part of a chain of products"
    graph = Graph()
    x, w = graph.tensor("x", 4, 4), graph.constant("w", numbers(4, 4))
    graph.product(x, w)
    graph.product(x, w)
    assert why(graph) == "two products of one start are a sum or a chain"


def test_both_engines_agree_on_loops_over_rows():
    """Both engines agree on blocks whose words loop over at least three equal rows of B."""
    graph, given = sum_of((512,), m=4, n=16, bias=False)
    plan = macaw.lower_graph(graph, device="tiny", together=False).plan
    assert LOOPED in emit(plan, graph, TINY, "tiny").source
    fast, reference = (run(plan, graph, TINY, "tiny", engine, **given) for engine in ENGINES)
    assert (fast.cycles, fast.counters) == (reference.cycles, reference.counters)
    for name, wanted in modelled(plan, graph, given).items():
        np.testing.assert_array_equal(fast.outputs[name], wanted)
        np.testing.assert_array_equal(reference.outputs[name], wanted)
