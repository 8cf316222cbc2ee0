"""Products divided along k: which ones, equal results, bits of islands, fewer cycles."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.lowering.fim import split_k
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Graph
from tests.lowering.fim.running import modelled

pytestmark = pytest.mark.usefixtures("short_search")


def vector(k, n, bias=True, rows=1, form=0):
    """A product of a row and a matrix of constants, with a bias; all numbers are small integers."""
    random, graph = np.random.default_rng(k), Graph(form)
    weights = random.integers(-2, 3, (k, n)).astype(np.float16)
    y = graph.product(graph.tensor("x", rows, k), graph.constant("w", weights), name="y")
    if bias:
        row = random.integers(-3, 4, (rows, n)).astype(np.float16)
        graph.pointwise("add", y, graph.constant("b", row), name="z")
    return graph


def numbers(graph):
    random = np.random.default_rng(1)
    return {x.name: random.integers(-3, 4, (x.rows, x.columns)) for x in graph.inputs}


@pytest.mark.parametrize(
    ("k", "count", "depths"), [(512, 2, [256, 256]), (1000, 4, [320, 336, 344])]
)
def test_parts_along_k_compute_the_same_numbers(k, count, depths):
    """Parts begin at multiples of 16 numbers, and have 256 numbers or more."""
    graph = vector(k, 5)
    parts = split_k.divided(graph, count)
    assert parts is not None
    products = [task for task in parts.tasks if task.kind == PRODUCT]
    assert [task.inputs[0].columns for task in products] == depths
    assert [task.inputs[1].rows for task in products] == depths
    assert sum(task.kind == POINTWISE for task in parts.tasks) == len(depths)
    inputs = numbers(graph)
    for tensor in graph.results:
        expected = graph.evaluate(inputs)[tensor.name]
        np.testing.assert_array_equal(parts.evaluate(inputs)[tensor.name], expected)


def test_products_of_one_row_share_their_parts():
    """Two products with one constant share its parts; the second one reads its own row."""
    graph = Graph()
    w = graph.constant("w", np.ones((512, 16), np.float16))
    graph.product(graph.tensor("x", 1, 512), w)
    graph.product(graph.tensor("y", 1, 512), w)
    parts = split_k.divided(graph, 2)
    assert parts is not None
    rights = [task.inputs[1].name for task in parts.tasks if task.kind == PRODUCT]
    assert len(rights) == 4
    assert len(set(rights)) == 2


def test_products_that_stay_whole():
    """Two rows; many columns; a short k; a constant row; a matrix that is no constant."""
    for graph in (vector(512, 16, rows=2), vector(512, 65), vector(511, 16)):
        assert split_k.divided(graph, 4) is None
    graph = Graph()
    known = graph.constant("known", np.ones((1, 512), np.float16))
    graph.product(known, graph.tensor("w", 512, 16))
    graph.product(graph.tensor("x", 1, 512), graph.tensor("v", 512, 16))
    whole = graph.tensor("whole", 1, 1024)
    w = graph.constant("c", np.ones((512, 16), np.float16))
    graph.product(graph.view(whole, 1, 512, 8), w)  # it does not begin at a column of memory
    assert split_k.divided(graph, 4) is None


@pytest.mark.parametrize(("k", "n"), [(2048, 16), (1040, 40)])
def test_the_program_has_the_bits_of_the_islands(k, n, monkeypatch):
    graph = vector(k, n)
    found = macaw.lower_graph(graph)
    products = [task for task in found.graph.tasks if task.kind == PRODUCT]
    assert len(products) > 1
    inputs = {"x": np.random.default_rng(2).standard_normal((1, k)).astype(np.float16)}
    run = macaw.run(found.assemble(), inputs)
    for name, array in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], array)
    assert run.cycles == pytest.approx(found.cycles, rel=0.02)
    islands = {step.option.island for step in found.plan.steps if step.tasks[0].kind == PRODUCT}
    assert len(islands) > 1
    monkeypatch.setattr(split_k, "divided", lambda graph, count: None)
    assert found.cycles < 0.9 * macaw.lower_graph(graph).cycles
