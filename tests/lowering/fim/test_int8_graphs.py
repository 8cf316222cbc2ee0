"""Graphs in int8 on islands: exact numbers, exactly the predicted cycles, and refusals.

The oracle computes with Python's integers and rounds by comparing remainders; it shares no code
with Macaw.
"""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.isa.fim_circuit import FORMAT_NAMES
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, PRODUCT, SCATTER, Graph, Task
from macaw.lowering.fim.graph_checks import MOST_BIAS, scaling
from macaw.lowering.fim.integer_steps import bias_rows
from tests.fuzzing import tries
from tests.lowering.fim.int8_device import DEVICE

pytestmark = pytest.mark.usefixtures("short_search")
INT8 = FORMAT_NAMES.index("int8")


def leaves(total: int, shift: int | None) -> int:
    """A sum divided by 2**shift, rounded half to even, and limited to int8."""
    assert shift is not None
    whole, rest = divmod(total, 2**shift)
    if 2 * rest > 2**shift or (2 * rest == 2**shift and whole % 2):
        whole += 1
    return min(max(whole, -128), 127)


def function_of(task: Task, *x: int) -> int:
    match task.function:
        case "add":
            return x[0] + x[1]
        case "sub":
            return x[0] - x[1]
        case "mul":
            return x[0] * x[1]
        case "relu":
            return max(x[0], 0)
        case "max":
            return max(x)
        case "min":
            return min(x)
        case "mul_add":
            return x[0] * x[1] + x[2] * x[3]
    raise AssertionError(task.function)


def computed(graph: Graph, inputs: dict[str, np.ndarray]) -> dict[str, list[int]]:
    """All tensors of a graph without views, as lists of numbers row by row."""
    found = {name: array.reshape(-1).tolist() for name, array in inputs.items()}
    for task in graph.tasks:
        values = [
            found[x.name] if x.data is None else x.data.reshape(-1).tolist() for x in task.inputs
        ]
        rows, columns = task.output.rows, task.output.columns
        if task.kind == PRODUCT:
            a, b = values
            bias = [0] * columns
            if task.bias is not None:
                assert task.bias.data is not None
                bias = task.bias.data.reshape(-1).tolist()
            depth = task.inputs[0].columns
            made = [
                leaves(
                    bias[j] + sum(a[i * depth + k] * b[k * columns + j] for k in range(depth)),
                    task.shift,
                )
                for i in range(rows)
                for j in range(columns)
            ]
        elif task.kind == GATHER:
            made = [values[0][at + n] for at in task.places for n in range(task.width)]
        elif task.kind == SCATTER:
            made = [0] * (rows * columns)
            for number, at in enumerate(task.places):
                first = number * task.width
                made[at : at + task.width] = values[0][first : first + task.width]
        else:
            made = [leaves(function_of(task, *x), task.shift) for x in zip(*values, strict=True)]
        found[task.output.name] = made
    return found


def numbers(random, *shape):
    few = random.choice([-128, 127, 0, 1, -1], shape)
    return np.where(random.random(shape) < 0.2, few, random.integers(-128, 128, shape)).astype(
        np.int8
    )


def random_graph(seed: int) -> Graph:
    random = np.random.default_rng(seed)
    graph = Graph(INT8)
    rows, columns = random.integers(1, 24, 2)
    live = [graph.tensor("x", rows, columns), graph.tensor("y", rows, columns)]
    for number in range(random.integers(1, 6)):
        tensor = live[random.integers(len(live))]
        kind = random.integers(8)
        name, shift = f"n{number}", int(random.choice([0, 1, 2, 5, 9]))
        if kind < 3:
            wide = random.integers(1, 70)
            right = graph.constant(f"w{number}", numbers(random, tensor.columns, wide))
            numbers_of_bias = random.integers(-(10 ** random.integers(1, 6)), 10**5, wide)
            bias = numbers_of_bias if random.integers(3) else None
            found = graph.product(tensor, right, name, shift=7 + shift, bias=bias)
            if random.integers(2):
                found = graph.pointwise("relu", found, name=f"{name}_relu", shift=shift % 2)
        elif kind < 4:
            order = random.permutation(tensor.rows)[: random.integers(1, tensor.rows + 1)]
            found = graph.gather(tensor, order.tolist(), name)
        else:
            same = [x for x in live if (x.rows, x.columns) == (tensor.rows, tensor.columns)]
            other = same[random.integers(len(same))]
            function = random.choice(["add", "sub", "mul", "relu", "max", "min", "mul_add"])
            operands = [tensor, other]
            if function == "relu":
                operands = [tensor]
            elif function == "mul_add":
                constants = [
                    graph.constant(f"{name}_{side}", numbers(random, tensor.rows, tensor.columns))
                    for side in "ab"
                ]
                operands = [tensor, constants[0], other, constants[1]]
            shift = 0 if function in ("max", "min", "relu") else shift
            found = graph.pointwise(function, *operands, name=name, shift=shift)
        live.append(found)
    return graph


def check(graph: Graph, **options) -> macaw.GraphLowering:
    found = macaw.lower_graph(graph, device=DEVICE, **options)
    inputs = found.random_inputs(7)
    wanted = computed(graph, inputs)
    assembled = found.assemble()
    for engine in ("fast", "reference"):
        run = macaw.run(assembled, inputs, engine=engine)
        for tensor in graph.results:
            assert run.outputs[tensor.name].dtype == np.int8
            assert run.outputs[tensor.name].reshape(-1).tolist() == wanted[tensor.name]
        if not found.dynamic:
            assert run.cycles == found.cycles
    exact = graph.evaluate(inputs)
    for tensor in graph.results:
        assert exact[tensor.name].reshape(-1).tolist() == wanted[tensor.name]
    return found


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(tries(12)))
def test_random_graphs(seed: int) -> None:
    check(random_graph(seed))


@pytest.mark.parametrize("options", [{"resident": 0}, {"together": False}, {"dynamic": True}])
def test_a_perceptron(options) -> None:
    random = np.random.default_rng(3)
    graph = Graph(INT8)
    tensor = graph.tensor("x", 6, 50)
    for number, (deep, wide) in enumerate([(50, 64), (64, 40), (40, 10)]):
        weights = graph.constant(f"w{number}", numbers(random, deep, wide))
        bias = random.integers(-3000, 3000, wide)
        tensor = graph.product(tensor, weights, f"p{number}", shift=9, bias=bias)
        if number < 2:
            tensor = graph.pointwise("relu", tensor, name=f"r{number}")
    check(graph, **options)


def test_a_chain_of_two_products_in_one_start() -> None:
    """A producer pushes columns of 32 numbers, which its consumer pulls."""
    random = np.random.default_rng(4)
    graph = Graph(INT8)
    x = graph.tensor("x", 40, 64)
    a, b = (graph.constant(name, numbers(random, 64, 64)) for name in "ab")
    bias = random.integers(-20000, 20000, 64)
    h = graph.pointwise("relu", graph.product(x, a, "h", shift=9, bias=bias), name="r", shift=1)
    graph.product(h, b, "y", shift=8)
    from macaw.lowering.fim.options import options as options_of
    from macaw.lowering.fim.plan import Option
    from tests.lowering.fim.running import alone, run

    found = options_of(tuple(graph.tasks), DEVICE, INT8)
    chained = [row for row in found if isinstance(row, Option)]
    assert chained
    inputs = {"x": numbers(random, 40, 64)}
    done = run(alone(graph, chained[0]), graph, DEVICE, "", **inputs)
    assert done.outputs["y"].reshape(-1).tolist() == computed(graph, inputs)["y"]


@pytest.mark.once
def test_maxima_and_minima_of_all_pairs() -> None:
    """Seven functions of the ALU choose one of two numbers, for each of the 65,536 pairs."""
    graph = Graph(INT8)
    x, y = (graph.tensor(name, 256, 256) for name in "xy")
    for function in ("max", "min"):
        graph.pointwise(function, x, y, name=function)
    every = np.arange(-128, 128).astype(np.int8)
    a, b = np.meshgrid(every, every)
    found = macaw.lower_graph(graph, device=DEVICE)
    run = macaw.run(found.assemble(), x=a, y=b)
    np.testing.assert_array_equal(run.outputs["max"], np.maximum(a, b))
    np.testing.assert_array_equal(run.outputs["min"], np.minimum(a, b))
    assert run.cycles == found.cycles


@pytest.mark.parametrize("most", [0, 63, 64, 16192, 16193, MOST_BIAS])
def test_the_digits_of_a_bias(most: int) -> None:
    graph = Graph(INT8)
    x, w = graph.tensor("x", 1, 4), graph.constant("w", np.ones((4, 3), np.int8))
    graph.product(x, w, bias=np.array([most, -most, most // 3]))
    rows = [np.asarray(row.data, int)[0] for row in bias_rows(graph.tasks[0])]
    factors = [rows[0], *[row for row in rows[2:3] for _ in rows[3:]]]
    digits = [rows[1], *rows[3:]]
    total = sum(f * d for f, d in zip(factors, digits, strict=True))
    assert total.tolist() == [most, -most, most // 3]
    assert len(rows) <= 30


def test_what_a_graph_refuses() -> None:
    graph = Graph(INT8)
    x, y = graph.tensor("x", 2, 4), graph.tensor("y", 4, 3)
    w = graph.constant("w", np.ones((4, 3), np.int8))
    for bad, message in (
        (lambda: graph.product(x, w, shift=32), "a shift of 32"),
        (lambda: graph.product(x, y, bias=np.zeros(3, int)), "a bias of 3 numbers for y"),
        (lambda: graph.product(x, w, bias=np.zeros(4, int)), "a bias of 4 numbers for w"),
        (lambda: graph.product(x, w, bias=np.full(3, -MOST_BIAS - 1)), "a bias of 435547 in int8"),
        (lambda: graph.pointwise("mul_add", x, x, x, x), "factors that are no constants"),
        (lambda: scaling(0, 1), "a shift of 1 of fp16"),
    ):
        with pytest.raises(LowerError, match=message):
            bad()
    other = Graph(INT8)
    other.pointwise("tanh", other.tensor("x", 2, 4))
    with pytest.raises(macaw.InputError, match="nothing can do"):
        macaw.lower_graph(other, device=DEVICE)
