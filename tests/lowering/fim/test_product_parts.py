"""The definition of a product on islands: parts of a plan, and the order in which islands add."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.isa.config import load
from macaw.isa.fim_circuit import (
    ARRANGEMENTS,
    COLUMN_BYTES,
    DOT,
    ELEMENTWISE,
    FUNCTION_NAMES,
    OUTER,
    TENSOR,
)
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.planning import Planner
from macaw.lowering.fim.product_parts import product_parts, stacked_products, sum_products

FORMS = {"float16": 0, "float32": 1}


def by_circuit(a, b, layout):
    """The element (0, 0) of A · B by the operations of one circuit, one after the other."""
    lanes = COLUMN_BYTES // a.itemsize
    mode = Mode(FUNCTION_NAMES.index("mul"), layout, format=FORMS[a.dtype.name])
    deep = {DOT: lanes, TENSOR: 4, OUTER: 1, ELEMENTWISE: 1}[layout]
    total = None
    for first in range(0, a.shape[1], deep):
        left, right = (np.zeros(lanes, a.dtype) for _ in range(2))
        row, column = a[0, first : first + deep], b[first : first + deep, 0]
        if layout == TENSOR:  # the first row of the tile A, the first column of the tile B
            left[: row.size], right[: 4 * column.size : 4] = row, column
        elif layout == ELEMENTWISE:  # a number of A in all lanes
            left[:], right[0] = row, column[0]
        else:
            left[: row.size], right[: column.size] = row, column
        new = results(mode, left.view(np.uint8), right.view(np.uint8))
        total = new if total is None else accumulate(total, new)
    assert total is not None
    return total.reshape(-1)[0]


# The circuits multiply tensors in fp16 alone.
@pytest.mark.parametrize(
    ("dtype", "layout"),
    [
        (dtype, layout)
        for dtype in FORMS
        for layout in range(len(ARRANGEMENTS))
        if layout != TENSOR or dtype == "float16"
    ],
)
@pytest.mark.parametrize("k", [1, 4, 7, 16, 37])
def test_sums_have_the_bits_of_a_circuit(dtype, layout, k):
    """Each sum of `sum_products` has the bits that the emulator's circuit computes."""
    random = np.random.default_rng(k)
    a, b = (random.standard_normal(shape).astype(dtype) for shape in ((3, k), (k, 2)))
    found = sum_products(a, b, layout)
    assert found.dtype == a.dtype
    expected = [[by_circuit(a[i : i + 1], b[:, j : j + 1], layout) for j in range(2)]
                for i in range(3)]  # fmt: skip
    np.testing.assert_array_equal(found, np.array(expected, dtype))


def test_the_order_of_sums_matters():
    """The layouts dot and outer give different bits, so the definition needs the layout."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 8)))
    dot, outer = (sum_products(a, b, layout) for layout in (DOT, OUTER))
    assert np.any(dot != outer)
    np.testing.assert_allclose(dot, outer, rtol=1e-3, atol=1e-5)


def test_parts_cover_each_number_of_the_result_once():
    """The parts of products that islands share cover the whole result, each number once."""
    graph = Graph(1)
    a, b = graph.tensor("a", 128, 64), graph.tensor("b", 64, 128)
    graph.product(a, b, "c")
    plan, _ = Planner(load("base"), "c", effort=0, divides=False).best(graph)
    parts = product_parts(plan)
    assert len(parts) > 1  # several islands share the product
    count = np.zeros((128, 128), int)
    for part in parts:
        rows, columns = (part.result_row, part.rows), (part.column, part.columns)
        count[tuple(slice(first, first + size) for first, size in (rows, columns))] += 1
        assert part.left_row == part.result_row
    assert np.all(count == 1)


def test_parts_of_stacks_name_their_matrices():
    """The two matrices of a stack multiply the same matrix A, which is not repeated."""
    graph = Graph(1)
    a, b = graph.tensor("a", 5, 3), graph.tensor("b", 6, 4)
    whole = graph.whole("c", 10, 4)
    for number in range(2):
        graph.product(a, graph.view(b, 3, 4, 12 * number), into=whole, row=5 * number)
    plan, _ = Planner(load("tiny"), "c").best(graph)
    parts = sorted(product_parts(plan), key=lambda part: part.result_row)
    assert [(x.left_row, x.rows, x.matrix, x.result_row) for x in parts] == [
        (0, 5, 0, 0), (0, 5, 1, 5),
    ]  # fmt: skip
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(n).astype(np.float32) for n in ((5, 3), (2, 3, 4)))
    found = stacked_products(x, y, 10, parts)
    np.testing.assert_allclose(found.reshape(2, 5, 4), x @ y, rtol=1e-5)
