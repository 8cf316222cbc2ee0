"""Parts of networks that stay real: the device has the bits of the definition, in binary32."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest

import macaw
from macaw.isa.config import load
from macaw.lowering.net.network import ProductLayer
from tests.lowering.net.models import ModelBuilder, float_model


def run(builder: ModelBuilder, device: str = "tiny") -> macaw.NetworkRun:
    """The run of a model: all layers equal the definition, the output nearly onnxruntime's."""
    network = macaw.compile(builder.model(), device=device)
    shape = network.assignment.inputs[0].shape
    x = np.random.default_rng(3).normal(scale=2, size=shape).astype(np.float32)
    run = network.run(x=x)
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    (wanted,) = onnxruntime.InferenceSession(network.model).run(None, {"x": x})
    found = run.outputs["y"]
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)
    return run


def operators(run: macaw.NetworkRun) -> list[str]:
    return [layer.report.operator for layer in run.layers]


def test_softmax_of_channels_and_of_classes():
    builder = ModelBuilder(0, (1, 3, 4, 5))
    builder.value = builder.node("Softmax", [builder.value], "soft", axis=1)
    assert operators(run(builder)) == ["convert", "softmax"]
    builder = ModelBuilder(0, (1, 6, 1, 1))
    builder.flatten()
    builder.gemm("classes", 5)
    builder.value = builder.node("Softmax", [builder.value], "soft")
    assert operators(run(builder)) == ["product", "convert", "softmax"]


def test_functions_norms_and_sums():
    builder = ModelBuilder(1, (1, 5, 12))
    start = builder.value
    factors = [builder.constant(f"factors{n}", builder.rng.normal(size=12).astype("f4"))
               for n in range(2)]  # fmt: skip
    builder.value = builder.node("LayerNormalization", [builder.value, *factors], "norm")
    builder.value = builder.node("Gelu", [builder.value], "gelu")
    builder.value = builder.node("Add", [builder.value, start], "sum")
    builder.value = builder.node("Transpose", [builder.value], "turned", perm=[0, 2, 1])
    builder.value = builder.node("Clip", [builder.value, builder.constant("low", np.float32(0))],
                                 "clip")  # fmt: skip
    builder.shape = (1, 12, 5)
    names = ["convert", "layernormalization", "gelu", "add", "transpose", "clip"]
    assert operators(run(builder)) == names


def test_integers_after_real_numbers():
    """Also unsigned ones; and an input that two layers read stays real."""
    builder = ModelBuilder(2, (1, 4, 3, 3))
    builder.value = builder.node("Sigmoid", ["x"], "sigmoid")
    factors = [builder.constant("s", np.float32(1 / 256)), builder.constant("z", np.uint8(0))]
    integers = builder.node("QuantizeLinear", [builder.value, *factors], "q")
    builder.value = builder.node("DequantizeLinear", [integers, *factors], "dq")
    builder.scale = 1 / 256
    builder.conv("conv", 4, 1, relu=False)
    run_of = run(builder)
    assert operators(run_of) == ["quantizelinear" if x == "q" else x for x in operators(run_of)]
    assert run_of.layers[0].report.operator == "sigmoid"
    assert run_of.tensors["q_signed"].dtype == np.int8


def refusal(builder: ModelBuilder) -> str:
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device="tiny")
    return str(caught.value)


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        ("Softmax", {"axis": 2}, "it is over axis 2 of (1, 3, 4, 5)"),
        ("LogSoftmax", {}, "it computes real numbers; no core of the device computes it yet"),
        ("Cast", {"to": 7}, "it computes real numbers of float32, int64"),
    ],
)
def test_refusals(operator: str, attributes: dict[str, Any], message: str):
    builder = ModelBuilder(0, (1, 3, 4, 5))
    builder.value = builder.node(operator, [builder.value], "real", **attributes)
    if operator == "Cast":
        builder.value = builder.node("Cast", [builder.value], "back", to=1)
    assert refusal(builder) == f"node /real/{operator} ({operator}): {message}"


@pytest.mark.parametrize("value", [None, 0.0, 0.5])
def test_pads_of_real_numbers_are_zeros(value):
    builder = ModelBuilder(0, (1, 3, 4, 5))
    inputs = [builder.constant("pads", np.array([0, 0, 1, 2, 0, 0, 0, 1], np.int64))]
    inputs += [] if value is None else [builder.constant("value", np.float32(value))]
    builder.value = builder.node("Sigmoid", [builder.value], "sigmoid")
    builder.value = builder.node("Pad", [builder.value, *inputs], "pad")
    builder.shape = (1, 3, 5, 8)
    if value:
        assert refusal(builder) == "node /pad/Pad (Pad): a pad of 0.5"
    else:
        assert operators(run(builder)) == ["convert", "sigmoid", "pad"]


def test_factors_that_are_no_constants_are_refused():
    builder = ModelBuilder(0, (1, 3, 4))
    x = builder.value
    builder.value = builder.node("LayerNormalization", [x, x], "norm")
    assert refusal(builder).startswith("node /norm/LayerNormalization")


def test_a_layer_of_int16_among_layers_of_int8():
    rng = np.random.default_rng(4)
    data = rng.uniform(-2, 2, (8, 2, 6, 9)).astype(np.float32)
    quantised = macaw.quantise(float_model(), data, dims={"rows": 6}, layers={"/c/Conv": "int16"})
    device = load("tiny").changed({"pe.element": "int16"})
    network = macaw.compile(quantised.model, device=device)
    types = {tensor.dtype for tensor in network.network.tensors.values()}
    assert {"int8", "int16"} <= types
    run = network.run({"x": data[:1]})
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    (wanted,) = onnxruntime.InferenceSession(network.model).run(None, {"x": data[:1]})
    np.testing.assert_array_equal(run.outputs["y"], wanted)


def test_constants_and_tensors_of_other_shapes():
    """Numbers for each channel and for each place, quantised ones and real ones."""
    builder = ModelBuilder(0, (1, 3, 4, 5))
    image = builder.value
    numbers = [builder.constant("n", np.array([[[3]], [[-7]], [[9]]], np.int8)),
               builder.constant("ns", np.float32(0.25))]  # fmt: skip
    row = builder.node("DequantizeLinear", numbers, "ndq")
    builder.add("sum", row)
    builder.multiply("product", row, 2.0**-3)
    builder.join("join", row_of(builder, (1, 2, 4, 5)), 2, 2.0**-4)
    image = builder.value
    builder.average("mean")
    builder.value = builder.node("Sub", [image, builder.value], "less")
    builder.shape = (1, 5, 4, 5)
    builder.quantise("less", 2.0**-5)
    real = builder.constant("real", np.linspace(-1, 1, 5).astype("f4"))
    builder.value = builder.node("Mul", [real, builder.value], "real_product")
    builder.value = builder.node(
        "Div", [builder.value, builder.constant("c", np.float32(3))], "end"
    )
    found = operators(run(builder))
    assert found[:2] == ["sum", "elementwiseproduct"]
    assert "expand" in found
    assert found[-3:] == ["convert", "mul", "div"]


def row_of(builder: ModelBuilder, shape: tuple[int, ...]) -> str:
    """Constant integers."""
    numbers = builder.rng.integers(-99, 99, shape).astype(np.int8)
    inputs = [builder.constant("k", numbers), builder.constant("ks", np.float32(2.0**-4))]
    return builder.node("DequantizeLinear", inputs, "kdq")


@pytest.mark.parametrize(
    ("shape", "axes", "keep"),
    [
        ((1, 3, 4, 5), (1,), 1), ((1, 3, 4, 5), (2,), 0), ((1, 3, 4, 5), (3,), 0),
        ((1, 3, 4, 5), (1, 2, 3), 0), ((1, 4, 6), (2,), 1), ((1, 3, 2, 4, 5), (2, 4), 0),
    ],
)  # fmt: skip
def test_means_over_any_axes(shape, axes, keep):
    """Of integers. Axes that are not the first ones on the device are moved there."""
    builder = ModelBuilder(1, shape)
    inputs = [builder.value, builder.constant("axes", np.array(axes, np.int64))]
    builder.value = builder.node("ReduceMean", inputs, "mean", keepdims=keep)
    builder.shape = tuple(
        1 if axis in axes else size for axis, size in enumerate(shape) if keep or axis not in axes
    )
    builder.quantise("mean", builder.scale)
    run(builder)


def test_a_maximum_of_a_row_in_another_scale():
    builder = ModelBuilder(1, (1, 4, 6))
    builder.value = builder.node("GlobalMaxPool", [builder.value], "most")
    builder.shape = (1, 4, 1)
    builder.quantise("most", builder.scale * 2)
    assert operators(run(builder)) == ["transpose", "maxpool", "rescale"]


def test_zeros_of_a_frame_are_predicted():
    """Between the pixels of a transposed convolution: the array skips them."""
    builder = ModelBuilder(3, (1, 4, 6, 6))
    numbers = builder.rng.integers(1, 9, (4, 4, 3, 3)).astype(np.int8)
    inputs = [builder.constant("w", numbers), builder.constant("ws", np.float32(2.0**-6))]
    weights = builder.node("DequantizeLinear", inputs, "wdq")
    builder.value = builder.node("ConvTranspose", [builder.value, weights], "up", strides=[2, 2])
    builder.shape = (1, 4, 13, 13)
    builder.quantise("up", 2.0**-3)
    (frame, convolution) = run(builder).layers
    assert frame.report.operator == "frame"
    assert convolution.report.predicted == pytest.approx(convolution.cycles, rel=0.15)
    (layer,) = (
        x for x in macaw.compile(builder.model(), device="tiny").assignment.network.layers
        if isinstance(x, ProductLayer)
    )  # fmt: skip
    assert layer.density == 36 / 15**2
