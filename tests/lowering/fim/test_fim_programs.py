"""Programs of graphs give all results to the bit, in about the cycles of the plan."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import GraphPlan, Option, Refusal
from macaw.lowering.fim.program import emit
from macaw.lowering.fim.schedule import schedule
from tests.lowering.fim.running import BASE, TINY, alone, modelled, run

pytestmark = pytest.mark.once


def ask(graph):
    """A function that gives the options of a graph's tasks."""
    return lambda tasks, config: options(tasks, config, graph.form)


def planned(graph, device):
    """The plan of a graph after a short search."""
    return schedule(graph, device, ask(graph), effort=500)


def numbers(shape, seed, dtype=np.float16):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def check(plan, graph, device, name, near=0.1, **inputs):
    """Check that a plan's program gives the model's results in nearly the plan's cycles."""
    done = run(plan, graph, device, name, **inputs)
    for tensor, wanted in modelled(plan, graph, inputs).items():
        np.testing.assert_array_equal(done.outputs[tensor], wanted)
    assert done.cycles == pytest.approx(plan.makespan, rel=near, abs=40)
    return done


@pytest.mark.parametrize("function", ["relu", "sigmoid", "tanh", "vssqr", "add", "mul", "div"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (7, 50), (40, 33)])
def test_a_function(function, rows, columns):
    graph = Graph()
    x = numbers((rows, columns), rows)
    sides = [graph.tensor("x", rows, columns)]
    if function in ("add", "mul", "div"):
        sides.append(graph.constant("y", numbers((rows, columns), 5)))
    graph.pointwise(function, *sides, name="z")
    found = [row for row in options(graph.tasks, TINY) if isinstance(row, Option)]
    assert {row.island for row in found} <= {0, 1}
    for option in found:
        check(alone(graph, option), graph, TINY, "tiny", near=0.002, x=x)


def test_a_function_of_fp32():
    graph = Graph(1)
    graph.pointwise("sub", graph.tensor("x", 9, 21), graph.tensor("y", 9, 21), name="z")
    x, y = (numbers((9, 21), seed, np.float32) for seed in (1, 2))
    (option,) = (row for row in options(graph.tasks, TINY, form=1) if isinstance(row, Option))
    check(alone(graph, option), graph, TINY, "tiny", near=0.002, x=x, y=y)


def test_a_view_that_begins_within_a_column():
    graph = Graph()
    x = graph.tensor("x", 9, 20)
    graph.pointwise("relu", graph.view(x, 3, 40, 21), name="y")
    graph.product(graph.view(x, 5, 16, 37), graph.constant("w", numbers((16, 16), 3)), name="z")
    check(planned(graph, TINY), graph, TINY, "tiny", x=numbers((9, 20), 1))


def test_gather_and_scatter():
    graph = Graph()
    x = graph.tensor("x", 12, 7)
    taken = graph.gather(x, [3, 4, 5, 9, 1, 1, 11])
    graph.scatter(taken, [9, 2, 3, 0, 7, 5, 6], 10, "zeros")
    graph.scatter(taken, [8, 2, 3, 0, 7, 5, 6], 12, "into", x)
    graph.transposed(x, "turned")
    check(planned(graph, TINY), graph, TINY, "tiny", x=numbers((12, 7), 1))


def test_layers_over_two_islands():
    """The layers of a perceptron run on two islands; each layer reads the previous result."""
    graph = Graph()
    weights = [
        graph.constant(f"w{n}", numbers(s, n) / 4) for n, s in enumerate([(20, 30), (30, 9)])
    ]
    graph.perceptron(graph.tensor("x", 18, 20), weights)
    check(planned(graph, TINY), graph, TINY, "tiny", x=numbers((18, 20), 9))


def test_products_side_by_side():
    """Independent products go to different islands (seed 004 ¶61)."""
    graph = Graph()
    x = graph.tensor("x", 24, 32)
    for n in range(3):
        graph.product(x, graph.constant(f"w{n}", numbers((32, 24), n)), name=f"y{n}")
    plan = planned(graph, BASE)
    assert len({step.option.island for step in plan.steps}) > 1
    check(plan, graph, BASE, "base", x=numbers((24, 32), 9))


def test_a_gru_cell():
    graph = Graph()
    size, width, count = 16, 12, 5
    w = {}
    for gate in "rzn":
        w["w" + gate] = graph.constant("w" + gate, numbers((width, size), 1) / 2)
        w["u" + gate] = graph.constant("u" + gate, numbers((size, size), 2) / 2)
    one = graph.constant("one", np.ones((count, size), np.float16))
    graph.gru(graph.tensor("x", count, width), graph.tensor("h", count, size), w, one)
    plan = planned(graph, BASE)
    check(plan, graph, BASE, "base", x=numbers((count, width), 3), h=numbers((count, size), 4))


def random_graph(seed):
    """A random graph with tasks of all kinds, and its inputs."""
    random = np.random.default_rng(seed)
    dtype = (np.float16, np.float32)[seed % 3 == 2]
    graph = Graph(int(dtype is np.float32))
    shape = tuple(random.integers(1, 30, 2).tolist())
    there = [graph.tensor("x", *shape)]
    for place in range(random.integers(2, 6)):
        x = there[random.integers(len(there))]
        match random.integers(6):
            case 0 | 1:
                width = int(random.integers(1, 40))
                w = numbers((x.columns, width), place, dtype) / dtype(4)
                y = graph.product(x, graph.constant(f"w{place}", w))
            case 2:
                y = graph.pointwise(str(random.choice(["relu", "sigmoid", "tanh"])), x)
            case 3:
                row = np.repeat(numbers((1, x.columns), place, dtype), x.rows, axis=0)
                y = graph.pointwise("add", x, graph.constant(f"c{place}", row))
            case 4:
                y = graph.gather(x, random.integers(0, x.rows, 4).tolist())
            case _:
                y = graph.pointwise("mul", x, x)
        there.append(y)
    return graph, numbers(shape, seed, dtype)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(8))
def test_any_graph(seed):
    graph, x = random_graph(seed)
    device, name = ((TINY, "tiny"), (BASE, "base"))[seed % 2]
    check(planned(graph, device), graph, device, name, x=x)


def test_what_an_island_has_not():
    """A refused option names what its island cannot do (seed 004 ¶44, ¶53)."""
    graph = Graph()
    graph.pointwise("relu", graph.tensor("x", 4, 4))
    refusal = next(row for row in options(graph.tasks, TINY) if isinstance(row, Refusal))
    assert "island 1 has no relu" in refusal.why


def test_too_many_words():
    graph = Graph()
    graph.product(graph.tensor("x", 20, 20), graph.constant("w", numbers((20, 20), 1)))
    plan = planned(graph, TINY)
    small = TINY.changed({"fim.instructions": 16})
    with pytest.raises(LowerError, match=r"words, fim\.instructions is 16"):
        emit(plan, graph, small, "tiny")


def test_too_little_local_memory():
    graph = Graph()
    graph.transposed(graph.tensor("x", 300, 300), "y")
    plan = planned(graph, TINY)
    assert isinstance(plan, GraphPlan)
    with pytest.raises(LowerError, match=r"local memory, mem\.local_bytes is 131072"):
        emit(plan, graph, TINY.changed({"mem.local_bytes": 128 << 10}), "tiny")
