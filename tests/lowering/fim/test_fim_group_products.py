"""Convolutions with groups: products of fewer groups, equal results, bits of islands, cycles."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import group_products, row_parts, split_k
from macaw.lowering.fim.graph import GATHER, PRODUCT, Graph
from macaw.lowering.fim.group_products import MOST_MORE, divided, part_counts
from macaw.lowering.fim.onnx_graph import read
from macaw.lowering.fim.plan import GraphPlan
from macaw.lowering.fim.planning import Planner
from tests.lowering.fim.group_convolutions import convolution, dense
from tests.lowering.fim.running import BASE, modelled

pytestmark = pytest.mark.usefixtures("short_search")


def blocks(groups, rows=2, depth=3, columns=5):
    """The graph of a product of a matrix of blocks, all of small integers."""
    random, graph = np.random.default_rng(groups), Graph()
    left = np.zeros((groups * rows, groups * depth), np.float16)
    for group in range(groups):
        block = random.integers(1, 4, (rows, depth))
        left[group * rows :][:rows, group * depth :][:, :depth] = block
    x = graph.tensor("x", groups * depth, columns)
    graph.product(graph.constant("w", left), x, name="y", groups=groups)
    return graph


def products(graph):
    return [task for task in graph.tasks if task.kind == PRODUCT]


def every(graph):
    """The graph whose products have the most parts."""
    *_, last = divided(graph, lambda task: 1)
    return last


def test_numbers_of_parts():
    """The parts have equal numbers of groups; each number is at least twice the number before."""
    assert part_counts(6) == [1, 2, 6]
    assert part_counts(7) == [1, 7]
    assert part_counts(96) == [1, 2, 4, 8, 16, 32]
    assert part_counts(37) == [1]
    assert all(part_counts(groups)[-1] == groups for groups in range(1, 33))


def test_parts_have_the_blocks_of_their_groups():
    """Each part multiplies its block by its own rows, and writes its own rows."""
    graph = blocks(2)
    left = graph.tensors["w"].data
    first, second = products(every(graph))
    np.testing.assert_array_equal(first.inputs[0].data, left[:2, :3])
    np.testing.assert_array_equal(second.inputs[0].data, left[2:, 3:])
    assert [task.inputs[1].place for task in (first, second)] == [("x", 0, 15), ("x", 15, 15)]
    assert [task.output.place for task in (first, second)] == [("y", 0, 10), ("y", 10, 10)]
    assert first.groups == second.groups == 1


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_parts_compute_the_same_numbers(groups):
    graph = blocks(groups)
    x = np.random.default_rng(1).integers(-3, 4, (3 * groups, 5))
    parts = every(graph)
    assert len(products(parts)) == groups
    assert [tensor.name for tensor in parts.results] == ["y"]
    expected = graph.tensors["w"].data.astype(int) @ x
    np.testing.assert_array_equal(parts.evaluate({"x": x})["y"], expected)


def test_the_first_graph_has_the_least_sum_of_predictions():
    """A start takes 10 cycles, and a number of the left side one.

    4 groups of 2 x 3: 106 cycles in one part, 68 in two, 64 in four. With 20 cycles a start: 116,
    88, 104. With 300 cycles, one part has the least, and is no graph.
    """
    for start, counts in ((10, [4]), (20, [2, 4]), (300, [2, 4])):

        def cycles(task, start=start):
            return start + task.inputs[0].numbers

        found = [len(products(graph)) for graph in divided(blocks(4), cycles)]
        assert found == counts


def test_a_part_may_have_several_groups():
    first, _ = divided(blocks(4), lambda task: 20 + task.inputs[0].numbers)
    assert [task.groups for task in products(first)] == [2, 2]
    left = products(first)[1].inputs[0].data
    np.testing.assert_array_equal(left[:2, 3:], 0)
    assert np.all(left[:2, :3] > 0)


def test_products_that_stay_whole():
    """One group; a right side that is a constant; a prime number of groups above 32."""
    graph = blocks(1)
    known = graph.constant("known", np.ones((6, 4), np.float16))
    left = np.kron(np.eye(2), np.ones((2, 3))).astype(np.float16)
    graph.product(graph.constant("left", left), known, groups=2)
    assert not list(divided(graph, lambda task: 1))
    assert not list(divided(blocks(37), lambda task: 1))


def test_other_divisions_leave_products_with_groups_whole():
    """A part by rows or along k would not have the blocks; its left side would be no constant."""
    graph = blocks(2, rows=64)
    graph.pointwise("relu", graph.tensors["y"])
    parts = row_parts.divided(graph, 2)
    assert parts is not None
    assert len(parts.tasks) == 1 + 2
    assert [task.groups for task in products(parts)] == [2]
    assert split_k.divided(blocks(1, rows=1, depth=512), 2) is None


def test_a_graph_does_not_get_too_many_products():
    """Four products of 32 groups would be 128, so each has at most 16 parts."""
    graph = Graph()
    x = graph.tensor("x", 64, 4)
    weights = graph.constant("w", np.eye(64, dtype=np.float16))
    for _ in range(4):
        x = graph.product(weights, x, groups=32)
    parts = every(graph)
    assert len(products(parts)) == 4 * 16 <= 4 + MOST_MORE
    assert len({task.inputs[0].name for task in products(parts)}) == 16  # equal parts are one


def test_first_counts_are_limited_until_the_products_are_few():
    """Six products of 32 groups, whose cycles fall with the count: 16 each.

    32 each are 6 * 31 = 186 additional products, more than 100; 16 each are 6 * 15 = 90. A product
    whose best count is smaller keeps this count: 5 * 31 and 3 are 158, 5 * 15 and 3 are 78.
    """
    falling = {count: 100 / count for count in part_counts(32)}
    names = "abcdef"
    assert MOST_MORE == 100
    assert group_products._least(dict.fromkeys(names, falling)) == dict.fromkeys(names, 16)
    sums = {**dict.fromkeys(names[:5], falling), "f": {1: 9, 2: 8, 4: 7, 8: 7.5}}
    assert group_products._least(sums) == {**dict.fromkeys(names[:5], 16), "f": 4}
    assert group_products._least(dict.fromkeys(names[:3], falling)) == dict.fromkeys(names[:3], 32)


def test_windows_of_a_group_come_before_its_product():
    """The gather of the windows is divided, too: a product waits only for its own windows."""
    graph = read(convolution(6, 4, 2, 3, 5), form=0).graph
    parts = every(graph)
    gathers = [task for task in parts.tasks if task.kind == GATHER]
    assert len(gathers) == 2
    for gather, product in zip(gathers, products(parts), strict=True):
        assert parts.before(product) == [gather]
    whole = next(task for task in graph.tasks if task.kind == GATHER)
    np.testing.assert_array_equal(np.concatenate([x.places for x in gathers]), whole.places)


def test_a_convolution_names_its_groups():
    assert [task.groups for task in products(read(convolution(6, 4, 2, 3, 5), form=0).graph)] == [2]
    assert [task.groups for task in products(read(convolution(6, 4, 1, 3, 5), form=0).graph)] == [1]


@pytest.mark.few(3)
@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("sizes", [(24, 24, 3, 1, 8), (8, 8, 2, 3, 4), (4, 8, 4, 3, 5)])
def test_the_program_has_the_bits_of_the_islands(sizes, engine):
    """Products of groups take fewer cycles than the dense form, exactly as many as predicted."""
    made = convolution(*sizes)
    found = macaw.lower_graph(made)
    assert len(products(found.graph)) > 1
    inputs = found.random_inputs(0)
    run = macaw.run(found.assemble(), inputs, engine=engine)
    for name, wanted in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], wanted)
    assert run.cycles == found.cycles < dense(made).cycles
    assert found.least_cycles <= run.cycles


def test_an_infinite_number_stays_in_its_group():
    """Products of single groups do not multiply infinity by the zeros beside the blocks."""
    found = macaw.lower_graph(convolution(8, 8, 2, 3, 4))
    assert [task.groups for task in products(found.graph)] == [1, 1]
    (inputs,) = found.random_inputs(0).values()
    inputs[0, 0, 1, 1] = np.inf
    y = macaw.run(found.assemble(), x=inputs).outputs["y"]
    assert np.all(np.isfinite(y[0, 4:]))
    assert not np.all(np.isfinite(y[0, :4]))


def test_the_dense_form_stays_if_it_ends_first(monkeypatch):
    """The scheduler takes the plan that ends first, here the one without divided products."""
    made = convolution(8, 8, 8, 1, 2)
    slow = list[Graph]()

    def parts(graph, cycles):
        slow.extend(divided(graph, lambda task: 1))
        return iter(slow)

    monkeypatch.setattr(group_products, "divided", parts)
    found = macaw.lower_graph(made)
    assert [len(products(graph)) for graph in slow] == [2, 4, 8]
    assert len(products(found.graph)) == 1
    assert found.cycles == dense(made).cycles


def test_more_products_are_tried_while_the_plan_ends_sooner(monkeypatch):
    """Four products end later than two, so eight are not tried."""
    ends, tried = {1: 50, 2: 40, 4: 45, 8: 30}, []

    def plan(planner, graph):
        tried.append(len(products(graph)))
        return GraphPlan(graph, (), (), ends[tried[-1]], least=tried[-1]), None

    monkeypatch.setattr(Planner, "_with_constants", plan)
    monkeypatch.setattr(Planner, "_predictor", lambda planner, graph: lambda task: 1)
    best, _ = Planner(BASE, "p").best(blocks(8))
    assert tried == [1, 2, 4]
    assert (best.makespan, best.least, len(products(best.graph))) == (40, 1, 2)


def test_a_refused_dense_form_leaves_the_parts(monkeypatch):
    """The plan has the products of fewer groups; if these are refused, too, the first error stays."""
    whole = Planner._with_constants

    def refuse(planner, graph):
        groups = max(task.groups for task in graph.tasks)
        if groups > least:
            raise LowerError(f"refused: {groups} groups")
        return whole(planner, graph)

    monkeypatch.setattr(Planner, "_with_constants", refuse)
    made, least = convolution(8, 8, 2, 3, 4), 1
    assert [task.groups for task in products(macaw.lower_graph(made).graph)] == [1, 1]
    least = 0
    with pytest.raises(macaw.InputError, match="refused: 2 groups"):
        macaw.lower_graph(made)
