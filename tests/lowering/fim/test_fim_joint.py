"""Joint products: which products are joined, the bits of their results, and their cycles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.fused_task import CannotError, fuse
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Graph, Task
from macaw.lowering.fim.joint_products import joined
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import GraphPlan, Option, Step
from tests.lowering.fim.running import TINY, modelled, run

pytestmark = pytest.mark.usefixtures("short_search")


def numbers(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(np.float16)


def heads(m=5, k=40, n=32, names="qkv"):
    """A graph of x Wq, x Wk and x Wv, each with a function."""
    graph = Graph()
    x = graph.tensor("x", m, k)
    for seed, name in enumerate(names):
        w = graph.constant(f"w{name}", numbers(k, n, seed=seed))
        graph.pointwise("vssqr", graph.product(x, w, name=name), name=f"{name}2")
    return graph


def gates(m=4, n=32, count=2):
    """A graph of the sums x Wi + h Ui of a recurrent cell, each with a function."""
    graph = Graph()
    x, h = graph.tensor("x", m, 48), graph.tensor("h", m, 20)
    for gate in range(count):
        w, u = (
            graph.constant(f"{name}{gate}", numbers(side.columns, n, seed=gate))
            for name, side in (("w", x), ("u", h))
        )
        total = graph.pointwise("add", graph.product(x, w), graph.product(h, u), name=f"s{gate}")
        graph.pointwise("vssqr", total, name=f"y{gate}")
    return graph


def joint(graph: Graph) -> Graph:
    """The graph with joint products; fails if there are none."""
    found = joined(graph)
    assert found is not None
    return found


def given(graph):
    return {x.name: numbers(x.rows, x.columns, seed=9) for x in graph.inputs}


def kinds(graph):
    return [(task.kind, task.joint, task.output.rows, task.output.columns) for task in graph.tasks]


def test_products_with_one_left_side_are_joined():
    """Three products of 5 x 32 with one left operand become one, which stacks their results."""
    graph = joint(heads())
    assert kinds(graph)[0] == (PRODUCT, 3, 15, 32)
    assert kinds(graph)[1:] == [(POINTWISE, 1, 5, 32)] * 3
    views = [task.inputs[0] for task in graph.tasks[1:]]
    assert [(view.name, view.offset) for view in views] == [("q", 0), ("k", 160), ("v", 320)]
    np.testing.assert_array_equal(
        graph.tasks[0].inputs[1].data,
        np.concatenate([numbers(40, 32, seed=seed) for seed in range(3)], axis=1),
    )


def test_sums_are_joined():
    graph = joint(gates(count=3))
    assert kinds(graph)[:3] == [(PRODUCT, 3, 12, 32), (PRODUCT, 3, 12, 32), (POINTWISE, 1, 12, 32)]
    assert len(graph.tasks) == 6


@pytest.mark.parametrize("make", [heads, gates])
def test_joined_graphs_compute_the_same(make):
    """A joined graph computes the same in binary64 as the original graph."""
    graph, inputs = make(), given(make())
    other = joint(graph)
    wanted, found = graph.evaluate(inputs), other.evaluate(inputs)
    for tensor in graph.results:
        np.testing.assert_allclose(found[tensor.name], wanted[tensor.name], rtol=1e-12)


def test_steps_share_joint_constants():
    """The products of two time steps share one joint constant for each operand."""
    graph = heads(names="qk")
    x = graph.tensor("x1", 5, 40)
    for name in "qk":
        graph.pointwise("vssqr", graph.product(x, graph.tensors[f"w{name}"]), name=f"{name}3")
    other = joint(graph)
    products = [task for task in other.tasks if task.kind == PRODUCT]
    assert len(products) == 2
    assert products[0].inputs[1] is products[1].inputs[1]


def test_what_is_not_joined():
    """Single, narrow or output products are not joined.

    Neither are products with different left operands or without constants.
    """
    assert joined(heads(names="q")) is None
    assert joined(heads(n=24)) is None
    graph = heads(names="qk")
    graph.result(graph.tensors["q"])
    assert joined(graph) is None
    graph = Graph()
    for name in "qk":
        w = graph.constant(f"w{name}", numbers(8, 16))
        graph.pointwise("vssqr", graph.product(graph.tensor(f"x{name}", 4, 8), w))
    assert joined(graph) is None
    graph = Graph()
    for name in "qk":
        x = graph.tensors.get("x") or graph.tensor("x", 4, 8)
        graph.pointwise("vssqr", graph.product(x, graph.tensor(f"w{name}", 8, 16)))
    assert joined(graph) is None


def test_products_after_one_that_cannot_be_joined():
    """The first right side is no constant; the products with the other two are joined."""
    graph = Graph()
    x = graph.tensor("x", 4, 8)
    for right in (graph.tensor("u", 8, 16), *(graph.constant(n, numbers(8, 16)) for n in "vw")):
        graph.pointwise("vssqr", graph.product(x, right))
    assert [task.joint for task in joint(graph).tasks if task.kind == PRODUCT] == [1, 2]


def test_a_product_between_ends_a_group():
    """Two products are not joined if one depends on a product that depends on the other.

    Here x v comes after a product that reads x q.
    """
    graph = Graph()
    x = graph.tensor("x", 4, 16)
    q = graph.product(x, graph.constant("wq", numbers(16, 16)))
    y = graph.product(q, graph.constant("wo", numbers(16, 16)))
    graph.pointwise("mul", y, graph.product(x, graph.constant("wv", numbers(16, 16))))
    assert joined(graph) is None


def refusal(*tasks):
    with pytest.raises(CannotError) as caught:
        fuse(tasks)
    return str(caught.value)


def test_joint_products_with_other_tasks():
    """Some tasks cannot share a start with a joint product; the refusal names the reason."""
    graph = joint(heads(names="qk"))
    product = graph.tasks[0]
    whole = product.output
    bias = graph.constant("bias", np.repeat(numbers(1, 32), 10, axis=0))
    graph.pointwise("add", whole, bias)
    assert refusal(product, graph.tasks[-1]) == "bias has no row for each result of q.joint"
    graph.product(whole, graph.constant("wo", numbers(32, 16)))
    text = "a joint product is no part of a chain of products"
    assert refusal(product, graph.tasks[-1]) == text
    other = graph.product(graph.tensors["x"], graph.constant("wr", numbers(40, 32)), name="r")
    single = graph.tasks[-1]
    graph.tasks.pop()
    total = graph.tensor("total", 5, 32)
    add = Task(POINTWISE, (whole, other), total, "add")
    text = "the products of a sum have different numbers of results"
    assert refusal(product, single, add) == text


def plan_of(graph, option):
    track = simulate([option])
    steps = tuple(Step(number, part) for number, part in enumerate(track.options))
    return GraphPlan(graph, steps, tuple(track.actions), track.clock.end, issued=(option,))


def test_a_region_may_begin_inside_a_result():
    """If two islands share seven results of 32 columns, a region may begin inside result 5."""
    kind = {
        "arrangements": "elementwise",
        "rz_slices": 16,
        "divider": 4,
        "functions": "add mul vssqr",
    }
    settings: dict[str, Any] = {
        f"fim.island.{n}.{key}": value for n in (0, 1) for key, value in kind.items()
    }
    graph = heads(m=3, k=48, names=[f"q{number}_" for number in range(7)])
    lowered = macaw.lower_graph(graph, device=TINY.changed({"fim.islands": 2, **settings}))
    jobs = [s.option.job for s in lowered.plan.steps if any(t.joint > 1 for t in s.tasks)]
    assert [job.region.column for job in jobs] == [0, 144]
    inputs = given(graph)
    done = lowered.measure(inputs)
    for name, wanted in modelled(lowered.plan, lowered.plan.graph, inputs).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)


@pytest.mark.parametrize("make", [heads, gates])
def test_joint_results_have_the_bits_of_the_definition(make):
    """Joint results have the defined bits on each island, in each layout, and on two islands."""
    graph = joint(make(m=9))
    count = 1 if make is heads else 3
    last = graph.tasks[count - 1]
    c = replace(last.output, name="c")  # the host reads it
    unit = (*graph.tasks[: count - 1], replace(last, output=c))
    graph.tasks, graph.read, graph.tensors["c"] = list(unit), [c], c
    del graph.tensors[last.output.name]
    names = ("divider", "lanes", "rz_slices", "formats", "arrangements", "functions")
    alike = {f"fim.island.1.{name}": TINY[f"fim.island.0.{name}"] for name in names}
    device, inputs = TINY.changed({**alike, "fim.island.1.divider": 2}), given(graph)
    found = [row for row in options(unit, device, together=True) if isinstance(row, Option)]
    assert {row.layout for row in found if row.island == 0 and not row.parts} == {0, 1, 2, 3}
    assert any(row.parts for row in found)
    for option in found:
        if option.island == 1 and not option.parts:
            continue
        plan = plan_of(graph, option)
        done = run(plan, graph, device, "", **inputs)
        for name, wanted in modelled(plan, graph, inputs).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
        assert abs(done.cycles / plan.makespan - 1) < 0.02


def test_the_scheduler_joins_products():
    """The scheduler joins products, because the left operand is brought once.

    The plan ends sooner, and takes the predicted cycles.
    """
    graph = heads(m=16, k=64)
    lowered = macaw.lower_graph(graph, device=TINY)
    assert any(task.joint == 3 for step in lowered.plan.steps for task in step.tasks)
    inputs = given(graph)
    done = lowered.measure(inputs)
    for name, wanted in modelled(lowered.plan, lowered.plan.graph, inputs).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles / lowered.cycles - 1) < 0.02
    alone = macaw.lower_graph(heads(m=16, k=64), device=TINY, together=False)
    assert lowered.cycles < alone.cycles
