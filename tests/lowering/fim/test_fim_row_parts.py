"""Tasks are divided into parts by rows: equal results, bits of islands, dependencies of parts."""

import numpy as np
import pytest

import macaw
from macaw.lowering.fim import planning
from macaw.lowering.fim.graph import GATHER, POINTWISE, PRODUCT, SCATTER, Graph, Makers
from macaw.lowering.fim.row_parts import divided
from tests.lowering.fim.running import modelled

pytestmark = pytest.mark.usefixtures("short_search")


def layers(rows=8, side=32):
    """Two layers with biases and a relu between them; weights and inputs are small integers."""
    random, graph = np.random.default_rng(5), Graph()
    x = graph.tensor("x", rows, side)
    for number in range(2):
        weights = random.integers(-2, 3, (side, side)).astype(np.float16)
        bias = np.repeat(random.integers(-3, 4, (1, side)).astype(np.float16), rows, axis=0)
        x = graph.product(x, graph.constant(f"w{number}", weights), name=f"p{number}")
        x = graph.pointwise("add", x, graph.constant(f"b{number}", bias), name=f"s{number}")
        if not number:
            x = graph.pointwise("relu", x, name="r")
    return graph


def parted(graph: Graph, count: int) -> Graph:
    """The graph with each task divided into `count` parts; fails if it cannot be divided."""
    parts = divided(graph, count)
    assert parts is not None
    return parts


def numbers(graph, seed=0):
    random = np.random.default_rng(seed)
    return {x.name: random.integers(-3, 4, (x.rows, x.columns)) for x in graph.inputs}


def assert_equal_results(graph, parts):
    assert [x.name for x in parts.inputs] == [x.name for x in graph.inputs]
    assert [x.name for x in parts.results] == [x.name for x in graph.results]
    inputs = numbers(graph)
    for tensor in graph.results:
        expected = graph.evaluate(inputs)[tensor.name]
        np.testing.assert_array_equal(parts.evaluate(inputs)[tensor.name], expected)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_parts_compute_the_same_numbers(count):
    graph = layers()
    parts = parted(graph, count)
    assert len(parts.tasks) == count * len(graph.tasks)
    assert_equal_results(graph, parts)


def test_a_part_needs_only_its_own_rows():
    parts = parted(layers(), 2)
    for task in parts.tasks:
        rows = {other.output.name[-1] for other in parts.before(task)}
        assert rows <= {task.output.name[-1]}
    assert [task.output.offset for task in parts.tasks[:2]] == [0, 4 * 32]


def test_parts_share_their_constants():
    parts = parted(layers(), 4)
    products = [task for task in parts.tasks if task.kind == PRODUCT]
    assert {task.inputs[1].name for task in products} == {"w0", "w1"}
    biases = {task.inputs[1].name for task in parts.tasks if task.function == "add"}
    assert len(biases) == 2


def test_different_rows_of_a_constant_are_different_constants():
    graph = Graph()
    x, rows = graph.tensor("x", 4, 16), np.arange(64, dtype=np.float16).reshape(4, 16)
    graph.pointwise("mul", graph.pointwise("relu", x), graph.constant("c", rows))
    parts = parted(graph, 2)
    assert_equal_results(graph, parts)
    assert len({task.inputs[1].name for task in parts.tasks if task.function == "mul"}) == 2


def moved(graph, parts):
    """The kinds of the tasks, and for each part of a scatter the rows that it writes."""
    kinds = [task.kind for task in parts.tasks]
    outputs = [task.output for task in parts.tasks if task.kind == SCATTER]
    rows = [(x.offset // x.columns, x.offset // x.columns + x.rows) for x in outputs]
    assert_equal_results(graph, parts)
    return kinds, rows


def test_a_gather_and_a_scatter_are_divided():
    """The second part of the scatter begins with its first segment, the last row with zeros."""
    graph = Graph()
    x = graph.tensor("x", 4, 16)
    y = graph.pointwise("relu", graph.gather(x, [3, 2, 1, 0]))
    z = graph.scatter(y, [1, 2, 4, 6], 8)
    graph.pointwise("relu", graph.view(z, 4, 32))
    parts = parted(graph, 2)
    kinds = [GATHER] * 2 + [POINTWISE] * 2 + [SCATTER] * 2 + [POINTWISE] * 2
    assert moved(graph, parts) == (kinds, [(0, 4), (4, 8)])
    assert [len(parts.before(task)) for task in parts.tasks] == [0, 0, 1, 1, 1, 1, 1, 1]


def test_a_part_of_a_gather_reads_only_the_rows_that_it_needs():
    """Windows of three rows: the first ones need only the first part of the scatter."""
    graph = Graph()
    z = graph.scatter(graph.pointwise("relu", graph.tensor("x", 8, 16)), range(1, 9), 10)
    places = 16 * np.asarray([row + dy for row in range(8) for dy in range(3)])
    graph.pointwise("relu", graph.segments(z, places, 16, (8, 48)))
    parts = parted(graph, 4)
    gathers = [task for task in parts.tasks if task.kind == GATHER]
    assert [(task.inputs[0].offset // 16, task.inputs[0].rows) for task in gathers] == [
        (0, 4), (2, 4), (4, 4), (6, 4),
    ]  # fmt: skip
    # rows 0 to 3 of the scatter are written by its parts 0 (rows 0 to 2) and 1 (rows 3 and 4)
    assert [len(parts.before(task)) for task in gathers] == [2, 3, 3, 2]
    assert_equal_results(graph, parts)


def test_a_scatter_into_another_tensor_is_divided():
    random, graph = np.random.default_rng(3), Graph()
    x, old = graph.tensor("x", 4, 16), graph.tensor("old", 7, 16)
    known = graph.constant("known", random.integers(-3, 4, (7, 16)).astype(np.float16))
    graph.pointwise(
        "add",
        graph.scatter(x, [0, 2, 3, 6], 7, into=old),
        graph.scatter(x, [1, 2, 3, 4], 7, into=known),
    )
    kinds, rows = moved(graph, parted(graph, 2))
    assert kinds == [SCATTER] * 4 + [POINTWISE] * 2
    assert rows == [(0, 3), (3, 7), (0, 3), (3, 7)]


@pytest.mark.parametrize("places", [[0, 16, 8, 24], [0, 8, 16, 24]])
def test_a_scatter_whose_parts_would_share_rows_stays_whole(places):
    """The segments are out of order; or the second half begins in the middle of a row."""
    graph = Graph()
    y = graph.pointwise("relu", graph.tensor("x", 4, 8))
    graph.spread(y, [4 + place for place in places], 8, (2, 32))
    parts = divided(graph, 2)
    assert parts is None or [x.kind for x in parts.tasks].count(SCATTER) == 1


def test_the_program_of_parts_of_windows_has_the_bits_of_the_islands():
    """Two 3 x 3 convolutions of framed images; the second one reads parts of the first one."""
    random, graph, side, channels = np.random.default_rng(7), Graph(), 4, 16
    y = graph.tensor("x", side * side, channels)
    for number in range(2):
        inside = [(row + 1) * 6 + 1 + column for row in range(side) for column in range(side)]
        framed = graph.scatter(y, inside, 36)
        places = [
            ((row + dy) * 6 + column + dx) * channels
            for row in range(side)
            for column in range(side)
            for dy in range(3)
            for dx in range(3)
        ]
        rows = graph.segments(framed, places, channels, (side * side, 9 * channels))
        weights = random.standard_normal((9 * channels, channels)).astype(np.float16) / 8
        y = graph.pointwise("relu", graph.product(rows, graph.constant(f"w{number}", weights)))
    parts = parted(graph, 2)
    assert [x.kind for x in parts.tasks].count(SCATTER) == 4
    assert_equal_results(graph, parts)
    found = macaw.lower_graph(parts)
    inputs = {"x": random.standard_normal((16, 16)).astype(np.float16)}
    run = macaw.run(found.assemble(), inputs)
    for name, array in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], array)
    assert run.cycles == pytest.approx(found.cycles, rel=0.02)


@pytest.mark.parametrize(("rows", "side"), [(3, 32), (8, 5), (6, 8)])
def test_too_few_rows_or_rows_that_do_not_begin_at_a_column_stay_together(rows, side):
    """Tasks are not divided if a part has too few rows, or would begin inside a column.

    For example, two parts of a matrix of 6 rows of 8 numbers: a column has 16 numbers, so the
    second part, from row 3 on, would begin in the middle of a column.
    """
    assert divided(layers(rows, side), 2) is None


def test_names_that_a_graph_has_are_not_taken():
    graph = Graph()
    x = graph.pointwise("relu", graph.tensor("x", 4, 16), name="y")
    graph.pointwise("add", x, graph.tensor("y.0", 4, 16), name="z")
    parts = parted(graph, 2)
    assert_equal_results(graph, parts)
    assert len({task.output.name for task in parts.tasks} | {"y.0"}) == 5


def test_makers_of_a_part_of_a_memory():
    parts = parted(layers(), 2)
    whole = parts.tensors["r"]
    makers = Makers(parts.tasks)
    assert makers.of(whole) == ["r.0", "r.1"]
    assert makers.of(parts.view(whole, 1, 32, 3 * 32)) == ["r.0"]
    assert makers.of(parts.view(whole, 2, 32, 3 * 32)) == ["r.0", "r.1"]


def test_a_part_can_be_copied_while_another_one_is_computed():
    """Part 1 is copied to island 1 while part 0 is computed on island 0."""
    found = macaw.lower_graph(parted(layers(32, 128), 4))
    starts, brings = (
        [row for row in found.plan.actions if row.kind == kind] for kind in ("start", "bring")
    )
    island = {step.number: step.option.island for step in found.plan.steps}
    assert any(
        start.begin < bring.begin < bring.end < start.end
        and island[start.step] != island[bring.step]
        for start in starts
        for bring in brings
    )


@pytest.mark.parametrize("count", [2, 4])
def test_the_program_of_parts_has_the_bits_of_the_islands(count):
    graph = layers(16, 32)
    found = macaw.lower_graph(parted(graph, count))
    inputs = {"x": np.random.default_rng(1).standard_normal((16, 32)).astype(np.float16)}
    run = macaw.run(found.assemble(), inputs)
    for name, array in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], array)
    assert run.cycles == pytest.approx(found.cycles, rel=0.04)


def test_the_plan_that_ends_first_is_taken(monkeypatch):
    graph = layers(32, 128)
    whole = macaw.lower_graph(graph)
    monkeypatch.setattr(planning, "LEAST_DIVIDED", 1000)
    parts = macaw.lower_graph(graph)
    assert parts.cycles < whole.cycles
    assert len(parts.graph.tasks) == 4 * len(graph.tasks)
    assert macaw.lower_graph(graph, together=False).graph is graph
