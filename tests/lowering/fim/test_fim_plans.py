"""Plans of real graphs in the emulator: pairs, the best plan, options chosen at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.lowering.fim import program
from macaw.lowering.fim.graph import PRODUCT, Graph
from macaw.lowering.fim.option_table import option_table
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option
from macaw.lowering.fim.schedule import exhaustive, schedule
from tests.lowering.fim import random_graphs
from tests.lowering.fim.running import BASE, modelled, run

pytestmark = pytest.mark.once


def numbers(graph, seed=0):
    random = np.random.default_rng(seed)
    return {
        tensor.name: random.uniform(-1, 1, (tensor.rows, tensor.columns)).astype(np.float16)
        for tensor in graph.inputs
    }


def chain(side):
    graph = Graph()
    graph.chain(*(graph.tensor(name, side, side) for name in "abc"))
    return graph


def test_a_chain_is_a_pair_whose_consumer_begins_before_its_producer_ends():
    """A chain becomes a pair; its consumer begins before its producer ends (seed 004 ¶61)."""
    graph = chain(32)
    found = macaw.lower_graph(graph)
    (step,) = found.plan.steps
    assert step.option.pair
    assert [task.kind for task in step.tasks] == [PRODUCT, PRODUCT]
    times: dict[Any, Any] = {}  # by block: when its operations were

    def listen(_item, device):
        device.listen(heard, [f"fim[{step.option.island}]"])

    def heard(event):
        if event.kind == "done":
            times.setdefault(event.values["block"], []).append(event.values["until"])

    given = numbers(graph)
    done = macaw.run(found.assemble(), given, on_start=listen)
    producer, consumer = times[0], times[1]
    assert max(producer) < max(consumer)
    early = sum(time < max(producer) for time in consumer)
    assert early > len(consumer) / 2
    assert abs(found.cycles / done.cycles - 1) < 0.02
    apart = macaw.lower_graph(graph, together=False)
    assert found.cycles < apart.cycles
    assert done.cycles < macaw.run(apart.assemble(), given).cycles
    for name, wanted in modelled(found.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)


def side_by_side():
    """A graph of two products, one with a function."""
    graph = Graph()
    a, b = graph.tensor("a", 16, 16), graph.tensor("b", 16, 24)
    graph.product(a, b, "x")
    graph.pointwise("relu", graph.product(a, a, "y"), name="z")
    return graph


def near(unit, config):
    """Options with at most three times the cycles of the best, so that there are fewer plans."""
    rows = options(unit, config)
    totals = [row.total for row in rows if isinstance(row, Option)]
    return [row for row in rows if not isinstance(row, Option) or row.total <= 3 * min(totals)]


@pytest.mark.parametrize("make", [side_by_side, lambda: chain(16)])
def test_within_a_tenth_of_the_best_plan_of_all_in_the_emulator(make):
    graph = make()
    given = numbers(graph)
    best = exhaustive(option_table(graph, BASE, near))
    taken = schedule(graph, BASE, options)
    assert taken.makespan <= 1.1 * best.makespan
    cycles = []
    for plan in (taken, best):
        done = run(plan, graph, BASE, "base", **given)
        cycles.append(done.cycles)
        assert abs(plan.makespan / done.cycles - 1) < 0.1
        for name, wanted in modelled(plan, graph, given).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
    assert cycles[0] <= 1.1 * cycles[1]


def test_files_are_named_after_the_source():
    graph = Graph()
    graph.product(graph.tensor("a", 4, 4), graph.constant("w", np.eye(4, dtype=np.float16)))
    made = program.emit(schedule(graph, BASE, options), graph, BASE, name="net")
    assert made.files
    assert all(name.startswith("net.") for name in made.files)


@pytest.mark.few(1)
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("seed", range(3))
def test_decided_at_run_time_sides_that_fill_no_tile(seed):
    """Programs that choose options at run time give exact results, for sizes that fill no tile.

    The numbers are whole, so sums are exact in any order.
    """
    random = np.random.default_rng(seed)
    graph = Graph()
    a = graph.tensor("a", 7, 13)
    x = graph.product(a, graph.tensor("b", 13, 9), "x")
    y = graph.product(graph.gather(a, [6, 0, 2]), graph.tensor("c", 13, 5), "y")
    graph.product(x, graph.tensor("d", 9, 3), "z")
    graph.pointwise("add", y, y, name="twice")
    for tensor in (x, *graph.results):
        graph.result(tensor)
    given = {
        tensor.name: random.integers(-3, 4, (tensor.rows, tensor.columns)).astype(np.float16)
        for tensor in graph.inputs
    }
    found = macaw.lower_graph(graph, dynamic=True)
    done = macaw.run(found.assemble(), given)
    for name in ("x", "z", "twice"):
        np.testing.assert_array_equal(done.outputs[name], graph.evaluate(given)[name])


@pytest.mark.few(3)
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("seed", range(5))
def test_random_graphs(seed):
    guess, real, _ = random_graphs.checked(seed)
    assert abs(guess - real) <= max(16, 0.05 * real)


def layers(kind):
    """A GRU cell with two steps, or a convolution with other operators, as an ONNX model."""
    if kind == "gru":
        node = helper.make_node(
            "GRU", ["x", "w", "r", "b", "", "h"], ["y"], hidden_size=8, linear_before_reset=1
        )
        nodes, inputs = [node], {"x": [2, 3, 6], "h": [1, 3, 8]}
        shapes = {"w": (1, 24, 6), "r": (1, 24, 8), "b": (1, 48)}
    else:
        nodes = [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("Relu", ["c"], ["f"]),
            helper.make_node("Transpose", ["f"], ["t"], perm=[0, 2, 3, 1]),
            helper.make_node("MatMul", ["t", "v"], ["y"]),
        ]
        inputs, shapes = {"x": [2, 2, 7, 6]}, {"w": (5, 2, 3, 3), "b": (5,), "v": (5, 3)}
    random = np.random.default_rng(1)
    constants = [
        numpy_helper.from_array(random.uniform(-0.4, 0.4, shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)],
        constants,
    )
    opset = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("kind", ["gru", "convolution"])
def test_layers_of_onnx_in_the_emulator(kind):
    """The emulator gives the bits of islands, near what onnxruntime gives in binary32."""
    model = layers(kind)
    found = macaw.lower_graph(model)
    graph = found.graph
    given = numbers(graph)
    shaped = {x.name: given[x.name].reshape(graph.shape(x)) for x in graph.inputs}
    done = macaw.run(found.assemble(), shaped)
    (wanted,) = modelled(found.plan, graph, given).values()
    np.testing.assert_array_equal(done.outputs["y"].reshape(wanted.shape), wanted)
    assert abs(found.cycles / done.cycles - 1) < 0.05
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (exact,) = session.run(None, {name: x.astype(np.float32) for name, x in shaped.items()})
    np.testing.assert_allclose(done.outputs["y"], exact, atol=0.01)


def test_a_pair_decided_at_run_time():
    graph = chain(16)
    given = numbers(graph)
    found = macaw.lower_graph(graph, dynamic=True)
    done = macaw.run(found.assemble(), given)
    for name, wanted in modelled(found.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
