"""Graphs of tasks: layers against NumPy, the order of tasks, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import PRODUCT, Graph

RANDOM = np.random.default_rng(1)


def given(graph, **shapes):
    values = {name: RANDOM.standard_normal(shape) for name, shape in shapes.items()}
    return values, [graph.tensor(name, *shape) for name, shape in shapes.items()]


def test_a_gru_cell():
    """A GRU cell of tasks computes what NumPy does (seed 004 ¶44)."""
    graph = Graph()
    shapes = {f"{side}{gate}": (6, 6) for side in "wu" for gate in "rzn"}
    values, (x, h, *rest) = given(graph, x=(2, 6), h=(2, 6), **shapes)
    weights = dict(zip(shapes, rest, strict=True))
    out = graph.gru(x, h, weights, graph.constant("one", np.ones((2, 6))))

    def sigmoid(t):
        return 1 / (1 + np.exp(-t))

    v = values
    r = sigmoid(v["x"] @ v["wr"] + v["h"] @ v["ur"])
    z = sigmoid(v["x"] @ v["wz"] + v["h"] @ v["uz"])
    new = np.tanh(v["x"] @ v["wn"] + r * (v["h"] @ v["un"]))
    np.testing.assert_allclose(graph.evaluate(values)[out.name], (1 - z) * new + z * v["h"])
    assert sum(task.kind == PRODUCT for task in graph.tasks) == 6


def test_chain_and_perceptron():
    graph = Graph()
    values, (a, b, c) = given(graph, a=(3, 4), b=(4, 5), c=(5, 2))
    chain, layers = graph.chain(a, b, c), graph.perceptron(a, [b, c])
    found = graph.evaluate(values)
    ab = values["a"] @ values["b"]
    np.testing.assert_allclose(found[chain.name], ab @ values["c"])
    np.testing.assert_allclose(found[layers.name], np.maximum(ab, 0) @ values["c"])
    first, second, third, relu, last = graph.tasks
    assert [graph.before(task) for task in graph.tasks] == [[], [first], [], [third], [relu]]
    assert second.output is chain
    assert last.output is layers


def test_rows_go_and_come_back():
    graph = Graph()
    values, (a,) = given(graph, a=(3, 4))
    there = graph.scatter(a, [4, 0, 2], 5)
    back = graph.gather(there, [4, 0, 2])
    found = graph.evaluate(values)
    np.testing.assert_array_equal(found[back.name], values["a"])
    assert not found[there.name][[1, 3]].any()


def test_views_are_no_tasks_and_their_bases_makers_come_before():
    graph = Graph()
    values, (a, b) = given(graph, a=(4, 6), b=(6, 2))
    product = graph.product(a, b)
    row = graph.view(graph.view(product, 8, 1), 2, 2, 4)
    out = graph.pointwise("relu", row)
    again = graph.view(graph.constant("c", values["a"]), 2, 6, 12)
    assert len(graph.tasks) == 2
    assert graph.before(graph.tasks[1]) == graph.tasks[:1]
    assert graph.results == [out]
    assert graph.inputs == [a, b]
    graph.result(product)
    assert graph.results == [product]
    found = graph.evaluate(values)
    wanted = np.maximum((values["a"] @ values["b"])[2:], 0)
    np.testing.assert_allclose(found[out.name], wanted)
    np.testing.assert_array_equal(again.data, values["a"][2:])


def test_segments_overlap_and_spread_ones_keep_what_was_there():
    graph = Graph()
    values, (a, b) = given(graph, a=(1, 6), b=(2, 5))
    windows = graph.segments(a, [0, 1, 2], 4, (3, 4))
    into = graph.spread(a, [1, 6], 3, (2, 5), into=b)
    turned = graph.transposed(b)
    found = graph.evaluate(values)
    wanted = np.lib.stride_tricks.sliding_window_view(values["a"][0], 4)
    np.testing.assert_array_equal(found[windows.name], wanted)
    np.testing.assert_array_equal(found[turned.name], values["b"].T)
    kept = values["b"].copy()
    kept[:, 1:4] = values["a"].reshape(2, 3)
    np.testing.assert_array_equal(found[into.name], kept)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g, a, b: g.product(a, a), r"a \(3 x 4\) times a \(3 x 4\)"),
        (lambda g, a, b: g.pointwise("add", a, b), "add of a and b: two shapes"),
        (lambda g, a, b: g.pointwise("add", a), "add takes 2 tensors, not 1"),
        (lambda g, a, b: g.pointwise("cube", a), "no function is called cube"),
        (lambda g, a, b: g.gather(a, [3]), "row 3 is out of range, 0 to 2"),
        (lambda g, a, b: g.scatter(a, [0, 0, 1], 5), "two rows go to one place"),
        (lambda g, a, b: g.scatter(a, [0, 1], 5), "3 rows go to as many different ones"),
        (lambda g, a, b: g.scatter(a, [0, 1, 2], 4, into=b), "scatter of a into b: another shape"),
        (lambda g, a, b: g.segments(a, [10], 3, (1, 3)), "3 numbers from 10 on: a has 12"),
        (lambda g, a, b: g.segments(a, [0, 3], 3, (2, 4)), "2 segments of 3 numbers are no 2 x 4"),
        (lambda g, a, b: g.spread(a, [0], 3, (3, 4)), "a has 12 numbers, not 1 x 3"),
        (lambda g, a, b: g.view(a, 3, 4, 1), r"3 x 4 numbers of a \(3 x 4\) from 1 on"),
        (lambda g, a, b: g.result(Graph().tensor("a", 3, 4)), "a is of another graph"),
        (lambda g, a, b: g.tensor("a", 1, 1), "two tensors are called a"),
        (lambda g, a, b: Graph().product(a, b), "a is of another graph"),
        (lambda g, a, b: into_own(Graph(), a, b), "a is of another graph"),
        (lambda g, a, b: g.product(a, b, into=Graph().tensor("c", 3, 5)), "c is of another graph"),
    ],
)
def test_what_is_refused(make, message):
    graph = Graph()
    a, b = graph.tensor("a", 3, 4), graph.tensor("b", 4, 5)
    with pytest.raises(LowerError, match=message):
        make(graph, a, b)


def into_own(graph, a, b):
    """Add a product of tensors of another graph that writes into a tensor of `graph`."""
    return graph.product(a, b, into=graph.tensor("c", 3, 5))


def left_side(*numbers, rows=4, columns=6):
    """Two blocks of 2 x 3 ones on the diagonal, with `numbers` (row, column, value) beside them."""
    data = np.kron(np.eye(2), np.ones((2, 3)))
    for row, column, value in numbers:
        data[row, column] = value
    return data[:rows, :columns]


@pytest.mark.parametrize(
    ("groups", "data", "message"),
    [
        (2, None, "2 groups of w, which is no constant"),
        (2, left_side(rows=3), r"w \(3 x 6\) has no 2 equal blocks"),
        (2, left_side(columns=5), r"w \(4 x 5\) has no 2 equal blocks"),
        (0, left_side(), r"w \(4 x 6\) has no 0 equal blocks"),
        (-2, left_side(), r"w \(4 x 6\) has no -2 equal blocks"),
        (2, left_side((0, 3, 0.5)), "w has numbers other than zero beside its 2 blocks"),
        (2, left_side((3, 2, np.nan)), "w has numbers other than zero beside its 2 blocks"),
    ],
)
def test_groups_are_blocks_of_a_constant(groups, data, message):
    """If a product's left side is not what `groups` says, it is refused and the graph unchanged."""
    graph = Graph()
    w = graph.tensor("w", 4, 6) if data is None else graph.constant("w", data)
    x = graph.tensor("x", w.columns, 5)
    with pytest.raises(LowerError, match=f"^{message}$"):
        graph.product(w, x, groups=groups)
    assert not graph.tasks


def test_blocks_may_be_zero_and_zeros_negative():
    """A block may have zeros, and the numbers beside the blocks may be -0."""
    graph = Graph()
    w = graph.constant("w", left_side((0, 0, 0), (0, 3, -0.0)))
    x = graph.tensor("x", 6, 5)
    whole = graph.whole("y", 5, 5)
    graph.product(w, x, groups=2)
    graph.product(w, x, into=whole, row=1, groups=2)
    assert [task.groups for task in graph.tasks] == [2, 2]


def test_a_product_into_a_tensor_begins_at_its_first_row():
    """Without `row`, a product writes the first rows of the tensor `into`."""
    graph = Graph()
    x, whole = graph.tensor("x", 4, 4), graph.whole("both", 8, 4)
    parts = graph.product(x, x, into=whole), graph.product(x, x, into=whole, row=4)
    assert [(part.memory.name, part.offset) for part in parts] == [("both", 0), ("both", 16)]


def view_of_output(graph, x):
    return graph.view(graph.pointwise("relu", x), 8, 2, name="v"), "a view of t0"


def part_of_output(graph, x):
    return graph.view(graph.pointwise("relu", x), 1, 4, 4, name="v"), "a view of t0"


def output_beside_its_view(graph, x):
    made = graph.pointwise("relu", x)
    graph.result(made)
    return graph.view(made, 16, 1, name="v"), "a view of t0"


def view_beside_another_result(graph, x):
    graph.result(graph.pointwise("add", x, x))
    return graph.view(graph.pointwise("relu", x), 2, 8, name="v"), "a view of t1"


def view_of_input(graph, x):
    graph.pointwise("relu", x)
    return graph.view(x, 8, 2), "a view of x"


def view_of_view(graph, x):
    made = graph.pointwise("relu", x)
    return graph.view(graph.view(made, 3, 4, 4), 1, 4, 4), "a view of t0"


def transposed_row(graph, x):
    return graph.transposed(graph.gather(x, [1])), "a view of t0"


def product_into_rows(graph, x):
    whole = graph.whole("both", 8, 4)
    graph.product(x, x, into=whole)
    return graph.product(x, x, into=whole, row=4), "a view of both"


def constant(graph, x):
    graph.pointwise("relu", x)
    return graph.constant("c", np.ones((2, 3), np.float16)), "no task writes c, so it"


def an_input(graph, x):
    graph.pointwise("relu", x)
    return x, "no task writes x, so it"


@pytest.mark.parametrize(
    "make",
    [
        view_of_output, part_of_output, output_beside_its_view, view_beside_another_result,
        view_of_input, view_of_view, transposed_row, product_into_rows, constant, an_input,
    ],
)  # fmt: skip
def test_a_result_that_no_task_stores_is_refused_and_its_copy_is_right(make):
    """The program reserves memory for the outputs of tasks only; the hint names the copy."""
    graph = Graph()
    x = graph.tensor("x", 4, 4)
    tensor, why = make(graph, x)
    before = list(graph.read)
    with pytest.raises(LowerError, match=f"^{why} cannot be a result$") as caught:
        graph.result(tensor)
    assert graph.read == before
    name, numbers, shape = tensor.name, tensor.numbers, (tensor.rows, tensor.columns)
    assert caught.value.hint == f"mark a copy: segments({name}, [0], {numbers}, {shape})"
    graph.result(graph.segments(tensor, [0], numbers, shape, name="copy"))
    given = {"x": RANDOM.integers(-4, 5, (4, 4)).astype(np.float16)}
    outputs = macaw.run(macaw.lower_graph(graph).assemble(), given).outputs
    wanted = graph.evaluate(given)  # exact: the numbers are small integers
    assert outputs["copy"].any()
    for result in graph.results:
        np.testing.assert_array_equal(outputs[result.name], wanted[result.name])
    np.testing.assert_array_equal(wanted["copy"], wanted[name])
