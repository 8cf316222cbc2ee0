"""QDQ models that were written node by node, on islands in int8: names, results, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from tests.lowering.fim.int8_device import DEVICE
from tests.lowering.fim.quantised_models import compared

pytestmark = pytest.mark.usefixtures("short_search")
Shapes = dict[str, tuple[int, ...]]


class Nodes:
    """Nodes and constants of a QDQ model."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, array: object) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator: str, inputs: list[str], out: str = "", **attributes: Any) -> str:
        out = out or f"result{len(self.nodes)}"
        name = f"node{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [out], name=name, **attributes))
        return out

    def scale(self, power: int, dtype: type = np.int8) -> list[str]:
        return [self.constant(np.float32(2.0**power)), self.constant(dtype(0))]

    def quantised(self, name: str, power: int = -5, dtype: type = np.int8) -> str:
        """A QuantizeLinear; the scale is 2 to the power of `power`."""
        return self.node("QuantizeLinear", [name, *self.scale(power, dtype)])

    def real(self, name: str, power: int = -5, out: str = "", dtype: type = np.int8) -> str:
        return self.node("DequantizeLinear", [name, *self.scale(power, dtype)], out)

    def both(self, name: str, power: int = -5) -> str:
        return self.real(self.quantised(name, power), power)

    def result(self, name: str, *outs: str, power: int = -5) -> None:
        """Outputs of the model with the same numbers."""
        source = self.quantised(name, power)
        for out in outs:
            self.real(source, power, out)

    def model(self, inputs: Shapes, outputs: Shapes) -> onnx.ModelProto:
        begins, ends = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each]
            for each in (inputs.items(), outputs.items())
        )
        graph = helper.make_graph(self.nodes, "g", begins, ends, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def check(model: onnx.ModelProto) -> macaw.GraphLowering:
    """Lower and run a model; results and cycles must be those of the definition and the plan."""
    random = np.random.default_rng(1)
    given = {
        x.name: random.normal(size=[d.dim_value for d in x.type.tensor_type.shape.dim])
        for x in model.graph.input
    }
    found, run = compared(model, {name: x.astype(np.float32) for name, x in given.items()})
    assert run.cycles == found.cycles
    return found


def unary(
    add: Callable[[Nodes, str], str], shape: tuple[int, ...], out: tuple[int, ...], power: int = -5
) -> onnx.ModelProto:
    """A model of one input x and one output y, whose scale is 2 to the power of `power`."""
    nodes = Nodes()
    nodes.result(add(nodes, nodes.both("x")), "y", power=power)
    return nodes.model({"x": shape}, {"y": out})


def kinds(found: macaw.GraphLowering) -> list[str]:
    return [task.kind for task in found.graph.tasks]


def outputs(found: macaw.GraphLowering) -> list[str]:
    return [tensor.name for tensor in found.graph.results]


def test_outputs_that_have_the_same_numbers() -> None:
    nodes = Nodes()
    nodes.result(nodes.node("Relu", [nodes.both("x")]), "y", "z")
    assert outputs(check(nodes.model({"x": (3, 4)}, {"y": (3, 4), "z": (3, 4)}))) == ["y", "z"]


@pytest.mark.parametrize(
    ("first", "second", "out", "symbols"),
    [
        ("a.b", "a_b", "a-b", ["a_b", "a_b_2", "a_b_3"]),
        ("é", "_x", "early1", ["value", "x", "vearly1"]),
        ("c0_x", "b0", "1", ["vc0_x", "vb0", "v1"]),
    ],
)
def test_names_become_symbols_as_in_other_formats(
    first: str, second: str, out: str, symbols: list[str]
) -> None:
    nodes = Nodes()
    nodes.result(nodes.node("Add", [nodes.both(first), nodes.both(second)]), out)
    found = check(nodes.model({first: (3, 4), second: (3, 4)}, {out: (3, 4)}))
    assert [tensor.name for tensor in found.graph.inputs] + outputs(found) == symbols


def test_an_output_has_its_name_in_any_order() -> None:
    """A convolution has the channels of a pixel side by side; one gather gives the output's order."""
    weights = np.random.default_rng(2).integers(-99, 99, (2, 3, 3)).astype(np.int8)
    found = check(
        unary(
            lambda nodes, x: nodes.node("Conv", [x, nodes.real(nodes.constant(weights))]),
            (2, 3, 7),
            (2, 2, 5),
        )
    )
    assert outputs(found) == ["y"]
    assert kinds(found) == ["gather", "product", "gather"]
    turned = check(
        unary(
            lambda nodes, x: nodes.node(
                "Transpose", [nodes.both(nodes.node("Relu", [x]))], perm=[1, 0]
            ),
            (4, 6),
            (6, 4),
        )
    )
    assert kinds(turned) == ["pointwise", "gather"]


def test_a_function_reads_one_gather() -> None:
    def add(nodes: Nodes, x: str) -> str:
        ends = [nodes.constant(np.array([at, at])) for at in (1, 3)]
        return nodes.node("Relu", [nodes.both(nodes.node("Slice", [x, *ends]))])

    assert kinds(check(unary(add, (4, 6), (2, 2)))) == ["gather", "pointwise"]


@pytest.mark.parametrize("power", [-8, -3, 9])
def test_a_change_of_the_scale(power: int) -> None:
    """QuantizeLinear of a tensor that has another scale: its numbers are multiplied by a power."""
    check(unary(lambda nodes, x: x, (3, 5), (3, 5), power))
    check(unary(lambda nodes, x: nodes.node("Transpose", [x]), (3, 5), (5, 3), power))


def test_a_product_with_a_vector() -> None:
    nodes = Nodes()
    nodes.result(nodes.node("MatMul", [nodes.both("x"), nodes.both("v", -6)]), "y", power=-4)
    check(nodes.model({"x": (3, 4), "v": (4,)}, {"y": (3,)}))


def _mean(nodes: Nodes, x: str) -> str:
    return nodes.node("GlobalAveragePool", [x])


REFUSED = [
    (lambda nodes, x: nodes.node("Softmax", [x]), (2, 4), (2, 4),
     "node node2 (Softmax): no task in int8 does it", ""),
    (lambda nodes, x: nodes.node("ReduceMax", [x], axes=[1]), (2, 4), (2, 1),
     "node node2 (ReduceMax): no task in int8 does it", ""),
    (_mean, (1, 2, 3, 3), (1, 2, 1, 1),
     "node node2 (GlobalAveragePool): its sums are not divided by one power of two",
     "means of 2, 4, 8, ... numbers are possible, if all have the same count"),
]  # fmt: skip


@pytest.mark.parametrize(("add", "shape", "out", "message", "hint"), REFUSED)
def test_the_node_that_int8_does_not_have_is_named(
    add: Callable[[Nodes, str], str],
    shape: tuple[int, ...],
    out: tuple[int, ...],
    message: str,
    hint: str,
) -> None:
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower_graph(unary(add, shape, out), device=DEVICE)
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_unsigned_numbers_are_refused() -> None:
    nodes = Nodes()
    x = nodes.real(nodes.quantised("x", dtype=np.uint8), dtype=np.uint8)
    nodes.result(nodes.node("Relu", [x]), "y")
    with pytest.raises(
        macaw.InputError, match=r"\(QuantizeLinear\): numbers of uint8, and the circuits have int8"
    ):
        macaw.lower_graph(nodes.model({"x": (3, 4)}, {"y": (3, 4)}), device=DEVICE)


@pytest.mark.parametrize("power", [-11, 22])
def test_shifts_that_circuits_do_not_have(power: int) -> None:
    def add(nodes: Nodes, x: str) -> str:
        weights = nodes.real(nodes.constant(np.full((4, 4), 3, np.int8)))
        return nodes.node("MatMul", [x, weights])

    with pytest.raises(macaw.InputError, match=rf"are divided by 2\*\*{power + 10}") as caught:
        macaw.lower_graph(unary(add, (3, 4), (3, 4), power), device=DEVICE)
    assert caught.value.hint == "0 to 31 are possible"


@pytest.mark.parametrize("number", range(12))
def test_a_tensor_of_the_model_may_be_called_as_a_tensor_without_a_name(number: int) -> None:
    """The graph makes a constant of the bias; its name comes from the product's."""
    random = np.random.default_rng(number)
    nodes = Nodes()
    weights = nodes.real(nodes.constant(random.integers(-99, 99, (4, 6)).astype(np.int8)))
    bias = nodes.real(
        nodes.constant(random.integers(-999, 999, 6).astype(np.int32)), -10, dtype=np.int32
    )
    product = nodes.node("Gemm", [nodes.both("x"), weights, bias])
    nodes.result(product, f"v{number}")
    found = check(nodes.model({"x": (3, 4)}, {f"v{number}": (3, 6)}))
    assert outputs(found) == [f"v{number}"]
