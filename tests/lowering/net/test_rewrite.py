"""Layers rewritten for the cores: each tensor of the model keeps its bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto
from onnx.numpy_helper import to_array

import macaw
from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.rewrite import rewrite
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import (
    MoveLayer,
    Network,
    Quantisation,
    RescaleLayer,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.reference import evaluate
from macaw.lowering.onnx.requantise import requantisation
from macaw.lowering.operation import Elements, Product
from tests.fuzzing import sessions
from tests.lowering.net.models import ModelBuilder
from tests.lowering.net.random_networks import random_device, random_input, random_model
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.lowering.onnx.running import network_of

few = settings(sessions, max_examples=max(10, sessions.max_examples // 2))


@few
@given(st.integers(0, 2**31))
@example(134217727)  # a transposed convolution of one element
def test_tensors_stay_what_they_were(seed):
    model, device = random_model(seed), random_device(seed)
    network = network_of(model)
    x = {"x": random_input(model, seed)}
    before, after = evaluate(network, x), evaluate(rewrite(network, device), x)
    names = before.keys() & after.keys()
    assert {layer.outputs[0] for layer in network.layers if layer.operator == "Conv"} <= names
    assert set(network.outputs) <= names
    for name in names:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)


def product(output_zero: int, multiplier: float, dtype: str = "int8", low: int = -128) -> Network:
    """A network of a product with two outputs, whose result has a zero point."""
    result = Tensor("y", (1, 2), dtype, Quantisation(1.0, output_zero))
    output = requantisation(multiplier, Quantisation(1.0, output_zero), dtype)
    layer = WeightLayer(
        "fc", "Gemm", ("x",), ("y",), ("fc",), np.eye(2, dtype=np.int8), np.zeros(2, np.int64),
        output, "int32",
    )  # fmt: skip
    x = Tensor("x", (1, 2), dtype, Quantisation(1.0))
    return Network((layer,), {"x": x, "y": result}, {}, ("x",), ("y",))


@pytest.mark.parametrize("first", [None, 0.5])
def test_inputs_of_a_concatenation_that_get_a_layer_that_rescales_them(first):
    """The Concat itself rescales an input without zero point; one with a zero point gets a layer.

    This holds for each input: here the second one has zero point 3.
    """
    numbers = Quantisation(1.0)
    rescales = (
        None if first is None else requantisation(first, numbers, "int8"),
        requantisation(0.25, numbers, "int8"),
    )
    node = Node("join", "Concat", ("a", "b"), ("y",), {"axis": 1})
    parts = node.inputs, node.outputs, ("join",), node, rescales, (0, 3)
    tensors = {
        "a": Tensor("a", (1, 2), "int8", Quantisation(first or 1.0)),
        "b": Tensor("b", (1, 2), "int8", Quantisation(0.25, 3)),
        "y": Tensor("y", (1, 4), "int8", numbers),
    }
    layers = (MoveLayer("join", "Concat", *parts),)
    network = Network(layers, tensors, {}, ("a", "b"), ("y",))
    x = {"a": np.array([[4, -8]], np.int8), "b": np.array([[7, 27]], np.int8)}
    changed = rewrite(network, load("base"))
    assert operators(changed) == ["Rescale", "Concat"]
    wanted = [[4, -8, 1, 6] if first is None else [2, -4, 1, 6]]
    assert evaluate(network, x)["y"].tolist() == evaluate(changed, x)["y"].tolist() == wanted


def operators(network: Network) -> list[str]:
    return [layer.operator for layer in network.layers]


def test_an_even_zero_point_is_part_of_the_bias_of_a_shift():
    """An even zero point becomes part of the bias before a shift.

    Ties are rounded to even numbers. An even zero point keeps these numbers even, an odd one would
    not.
    """
    base = load("base")
    (layer,) = rewrite(product(-128, 0.5), base).layers
    assert isinstance(layer, WeightLayer)
    assert layer.bias.tolist() == [-256, -256]
    x = {"x": np.array([[3, -5]], np.int8)}
    assert evaluate(rewrite(product(6, 0.5), base), x)["y"].tolist() == [[8, 4]]
    assert evaluate(product(6, 0.5), x)["y"].tolist() == [[8, 4]]
    for zero, multiplier in ((7, 0.5), (6, 0.3)):
        network = rewrite(product(zero, multiplier), base)
        assert operators(network) == ["Gemm", "Rescale"]
        assert network.tensors["y_sums"].dtype == "int32"


@pytest.mark.parametrize("setting", ["pe.element", "pe.widest"])
def test_an_array_with_int16_has_int8_too(setting):
    """On an array with int16, a result with a zero point becomes int16 first, then int8.

    Sums have 64 bits there, which vc cannot read.
    """
    device = load("base").changed({setting: "int16"})
    network = rewrite(product(7, 0.3), device)
    assert operators(network) == ["Gemm", "Rescale"]
    assert [network.tensors[x.outputs[0]].dtype for x in network.layers] == ["int16", "int8"]
    assert operators(rewrite(product(6, 0.5), device)) == ["Gemm"]


def test_names_of_layers_are_different():
    """Layers get different names, even if two nodes of a model have the same name.

    Helper layers have the names of their layers with a suffix.
    """
    network = product(7, 0.3)
    again = RescaleLayer(
        "fc", "Rescale", ("y",), ("z",), (), requantisation(1.0, Quantisation(1.0), "int8")
    )
    tensors = {**network.tensors, "z": Tensor("z", (1, 2), "int8")}
    both = Network((*network.layers, again), tensors, {}, ("x",), ("z",))
    names = [layer.name for layer in rewrite(both, load("base")).layers]
    assert names == ["fc", "fc_rescale", "fc_2"]


@pytest.mark.parametrize(
    ("zero", "dtype", "element", "message"),
    [
        (3, "int16", "int16", "node fc (Gemm): the array's sums have int64"),
    ],
)
def test_refusals(zero, dtype, element, message):
    device = load("base").changed({"pe.element": element})
    with pytest.raises(LowerError) as error:
        rewrite(product(zero, 0.3, dtype), device)
    assert str(error.value).startswith(message)


def refusal(builder: ModelBuilder, device: Any = "base") -> str:
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device=device)
    return str(caught.value)


def test_an_array_of_int8_refuses_int16():
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.value = "x"
    factors = [builder.constant("w_s", np.float32(0.01)), builder.constant("w_z", np.int16(0))]
    integers = builder.node("QuantizeLinear", ["x", *factors], "w_q")
    builder.value = builder.node("DequantizeLinear", [integers, *factors], "w_dq")
    builder.conv("c", 2, 1)
    with pytest.raises(macaw.InputError) as refused:
        macaw.compile(builder.model())
    assert str(refused.value) == (
        "node /c/Conv (Conv): its input is int16, its weights int8; the array computes with int8"
    )
    assert refused.value.hint == 'a device with pe.widest = "int16"'
    weights = np.ones((2, 3), np.int16)
    with pytest.raises(LowerError) as error:
        Product(1, weights, elements=Elements("int8", "int16", "int8")).validated(load("base"))
    assert str(error.value) == "the array has no int16"
    assert error.value.hint == "int8 (pe.widest)"


@pytest.mark.parametrize("shape", [(1, 6, 4), (1, 6, 4, 4, 4)])
def test_a_transposed_convolution_over_other_than_two_dimensions_is_refused(shape):
    """The refusal is a message, also for groups and a zero point of the result."""
    constants = {
        "xs": np.float32(0.03125), "xz": np.int8(-13), "ws": np.float32(0.015625), "yz": np.int8(-12),
        "w": np.ones((6, 1, *(2,) * (len(shape) - 2)), np.int8), "b": np.zeros(2, np.float32),
    }  # fmt: skip
    nodes = [
        NODE("DequantizeLinear", ["x", "xs", "xz"], ["a"]), NODE("DequantizeLinear", ["w", "ws"], ["k"]),
        NODE("ConvTranspose", ["a", "k", "b"], ["c"], "up", group=2),
        NODE("QuantizeLinear", ["c", "xs", "yz"], ["y"]),
    ]  # fmt: skip
    made = onnx_model(
        nodes, {"x": (shape, TensorProto.INT8)}, {"y": (None, TensorProto.INT8)}, **constants
    )
    with pytest.raises(
        macaw.InputError, match=r"^node up \(ConvTranspose\): a transposed kernel \(2,"
    ):
        macaw.compile(made)


def test_a_function_of_int8_with_results_of_int16_is_refused():
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.value = builder.node("Round", [builder.value], "round")
    factors = [builder.constant("w_s", np.float32(0.01)), builder.constant("w_z", np.int16(0))]
    integers = builder.node("QuantizeLinear", [builder.value, *factors], "w_q")
    builder.value = builder.node("DequantizeLinear", [integers, *factors], "w_dq")
    text = "node /round/Round (Round): a function of int8 with results of int16: Round"
    assert refusal(builder) == text


def test_refusals_name_the_operator_of_the_model():
    """A transposed convolution is rewritten as a convolution, but called what the model calls it."""
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.value = "x"
    factors = [builder.constant("w_s", np.float32(0.01)), builder.constant("w_z", np.int16(0))]
    integers = builder.node("QuantizeLinear", ["x", *factors], "w_q")
    image = builder.node("DequantizeLinear", [integers, *factors], "w_dq")
    numbers = builder.constant("w", np.ones((2, 2, 1, 1), np.int8))
    weights = builder.node(
        "DequantizeLinear", [numbers, builder.constant("ws", np.float32(1))], "wdq"
    )
    builder.value = builder.node("ConvTranspose", [image, weights], "up")
    builder.quantise("up", 0.5)
    assert refusal(builder).startswith("node /up/ConvTranspose (ConvTranspose): its input is int16")
    (refused,) = macaw.estimate(builder.model()).refusals
    assert refused.operator == "ConvTranspose"


def test_refusals_name_the_first_of_two_layers_with_a_name():
    """Without a name, a MaxPool has that of its output, as has the layer that dequantises it."""
    builder = ModelBuilder(0, (1, 2, 4))
    nodes, constants = builder.nodes, {row.name: to_array(row) for row in builder.constants}
    nodes += [
        NODE("MaxPool", [builder.value], ["p"], kernel_shape=[2]),
        NODE("Softmax", ["p"], ["y"]),
    ]
    made = onnx_model(nodes, {"x": (1, 2, 4)}, **constants)
    with pytest.raises(macaw.InputError, match=r"^node p \(MaxPool\): a window \(2,\)"):
        macaw.compile(made)


def test_a_sum_of_int16_with_zero_points_is_refused():
    builder = ModelBuilder(0, (1, 2, 4, 4))
    left = builder.value
    builder.value = "x"
    factors = [
        builder.constant("wide_s", np.float32(0.01)),
        builder.constant("wide_z", np.int16(5)),
    ]
    integers = builder.node("QuantizeLinear", ["x", *factors], "wide_q")
    builder.value = builder.node("DequantizeLinear", [integers, *factors], "wide_dq")
    builder.add("sum", left)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model())
    assert str(caught.value) == "node /sum/Add (Add): its input is int16 with the zero point 5"
    assert caught.value.hint == "int8, or int16 with the zero point 0"


def test_a_transposed_convolution_that_cuts_more_than_its_kernel_is_refused():
    builder = ModelBuilder(0, (1, 2, 4, 4))
    numbers = np.ones((2, 2, 1, 1), np.int8)
    inputs = [builder.constant("w", numbers), builder.constant("ws", np.float32(0.5))]
    weights = builder.node("DequantizeLinear", inputs, "wdq")
    builder.value = builder.node("ConvTranspose", [builder.value, weights], "up", pads=[1] * 4)
    builder.shape = (1, 2, 2, 2)
    builder.quantise("up", 0.5)
    assert refusal(builder).startswith("node /up/ConvTranspose (ConvTranspose): it leaves out more")


def test_models_without_a_layer_are_refused():
    builder = ModelBuilder(0, (1, 2, 4, 4))
    assert refusal(builder) == "the model has no layer that a core computes"
    builder = ModelBuilder(0, (1, 2, 4, 4))
    numbers = [builder.constant("n", np.ones(3, np.int8)), builder.constant("s", np.float32(0.5))]
    builder.value = builder.node("DequantizeLinear", numbers, "dq")
    builder.shape = (3,)
    assert refusal(builder) == "the output y is a constant"


@pytest.mark.parametrize("images", [1, 2])
def test_factors_of_channels_are_not_copied_to_the_shape_of_the_image(images):
    """vc multiplies an image by one number for each channel, if these are the second factor.

    If they are the first factor, another layer first expands them to the shape of the image.
    """
    expanded = []
    for swapped in (False, True):
        builder = ModelBuilder(3, (images, 3, 4, 2))
        image, shape = builder.value, builder.shape
        builder.average("mean")
        first, second = (builder.value, image) if swapped else (image, builder.value)
        builder.value, builder.shape = first, shape
        builder.multiply("gated", second)
        network = rewrite(network_of(builder.model()), load("base"))
        expanded.append("Expand" in operators(network))
    assert expanded == [False, True]
