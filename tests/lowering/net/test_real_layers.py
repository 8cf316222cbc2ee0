"""Layers on real numbers: the device computes the bits of the definition in binary32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper, load_model_from_string
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import macaw
from macaw.isa.config import load
from macaw.lowering.net.network import ProductLayer
from macaw.lowering.net.vector_layers import NO_CORE
from macaw.lowering.operation import Elements
from tests.lowering.net.models import ModelBuilder, float_model
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.lowering.onnx.running import runtime_outputs

pytestmark = pytest.mark.usefixtures("few_plans")

Peer = Callable[[bytes], Any]  # makes an evaluator of a model, with a method `run`


def run(
    builder: ModelBuilder, device: str = "tiny", peer: Peer = onnxruntime.InferenceSession
) -> macaw.NetworkRun:
    """Run a model: all layers equal the definition, the output is near that of `peer`."""
    network = macaw.compile(builder.model(), device=device)
    shape = network.assignment.inputs[0].shape
    x = np.random.default_rng(3).normal(scale=2, size=shape).astype(np.float32)
    run = network.run(x=x)
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    (wanted,) = peer(network.model).run(None, {"x": x})
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


@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 3, 4, 5), 2), ((1, 3, 4, 5), -1), ((3, 2, 4), 0), ((1, 3, 4), 1)]
)
def test_softmax_over_any_axis(shape, axis):
    builder = ModelBuilder(0, shape)
    builder.value = builder.node("Softmax", [builder.value], "soft", axis=axis)
    assert operators(run(builder)) == ["convert", "transpose", "softmax", "transpose"]


def test_norm_of_an_image():
    builder = ModelBuilder(0, (1, 3, 4, 5))
    factors = [builder.constant(f"factors{n}", builder.rng.normal(size=(4, 5)).astype("f4"))
               for n in range(2)]  # fmt: skip
    builder.value = builder.node("LayerNormalization", [builder.value, *factors], "norm", axis=2)
    names = ["convert", "reshape", "layernormalization", "reshape"]
    assert operators(run(builder)) == names


class LRN(OpRun):
    """The definition of LRN; onnx computes other numbers, and onnxruntime refuses even sizes."""

    op_domain = ""

    def _run(self, x, alpha, beta, bias, size):
        squares, sums = x * x, np.zeros_like(x)
        for channel in range(x.shape[1]):
            first = max(0, channel - (size - 1) // 2)
            sums[:, channel] = squares[:, first : channel + size // 2 + 1].sum(1)
        return ((x / (bias + alpha / size * sums) ** beta).astype(x.dtype),)


def defined(model: bytes) -> ReferenceEvaluator:
    return ReferenceEvaluator(load_model_from_string(model), new_ops=[LRN])


@pytest.mark.parametrize(
    ("size", "beta", "shape"),
    [
        (5, 0.75, (1, 7, 3, 2)), (3, 0.5, (1, 7, 3, 2)), (1, 1.0, (1, 7, 3, 2)),
        (4, 0.75, (1, 7, 3, 2)), (2, 0.5, (1, 7, 3, 2)), (3, 0.75, (2, 4, 3, 2)),
        (4, 1.0, (2, 4, 3, 2)), (5, 0.75, (1, 1, 3, 2)), (2, 0.75, (1, 1, 3, 2)),
    ],
)  # fmt: skip
def test_local_response_normalization(size, beta, shape):
    """vc adds the squares of neighbouring channels; the last layer takes roots and divides."""
    builder = ModelBuilder(0, shape)
    options = {"size": size, "beta": beta, "alpha": 0.3, "bias": 1.5}
    builder.value = builder.node("LRN", [builder.value], "norm", **options)
    sums = ["pad", *["slice"] * 2, "add", *["slice", "add"] * (size - 2)] if size > 1 else []
    peer = onnxruntime.InferenceSession if size % 2 else defined
    assert operators(run(builder, peer=peer)) == ["convert", "mul", *sums, "lrn"]


PRODUCTS = [  # shapes of both factors, and whether vc needs a copy of the second
    ((1, 3, 4, 5), (1, 3, 5, 6), False),
    ((1, 3, 4, 5), (5, 2), True),
    ((1, 1, 4, 5), (1, 3, 5, 2), False),
    ((3, 4, 5), (5, 6), False),
    ((4, 5), (3, 5, 2), False),
    ((1, 2, 2, 3, 5), (2, 5, 2), True),
]


@pytest.mark.parametrize(("a", "b", "is_repeated"), PRODUCTS)
def test_products_of_two_tensors(a, b, is_repeated):
    """Products of two tensors equal the definition and are near onnxruntime's."""
    builder = ModelBuilder(0, (1, *a))
    builder.value = builder.node("Sigmoid", [builder.value], "sigmoid")
    builder.value = builder.node("Reshape", [builder.value, builder.constant("a", np.array(a))],
                                 "first")  # fmt: skip
    second = builder.constant("second", builder.rng.normal(size=b).astype(np.float32))
    if is_repeated:  # a constant has its copies in the model
        second = builder.node("Mul", [second, builder.node("Slice", [builder.value, *(
            builder.constant(n, np.array([k] * len(a))) for n, k in (("begin", 0), ("end", 1))
        )], "one")], "scaled")  # fmt: skip
        second = builder.node("Reshape", [second, builder.constant("b", np.array(b))], "other")
    builder.value = builder.node("MatMul", [builder.value, second], "product")
    builder.shape = np.matmul(np.zeros(a), np.zeros(b)).shape
    found = operators(run(builder))
    assert found[-1] == "matmul"
    assert (found[-2] == "expand") == is_repeated


def test_a_product_with_a_bias_and_a_limit():
    builder = ModelBuilder(0, (2, 3, 4))
    weights = builder.constant("w", builder.rng.normal(size=(4, 5)).astype(np.float32))
    start = builder.node("Sigmoid", [builder.value], "sigmoid")
    builder.value = builder.node("MatMul", [start, weights], "product")
    bias = builder.constant("b", builder.rng.normal(size=5).astype(np.float32))
    builder.value = builder.node("Add", [builder.value, bias], "sum")
    builder.value = builder.node("Relu", [builder.value], "relu")
    builder.shape = (2, 3, 5)
    assert operators(run(builder))[-3:] == ["matmul", "add", "clip"]


def attention(shape: tuple[int, ...]) -> ModelBuilder:
    """A model of the product of a tensor of integers and its transpose, quantised again."""
    builder = ModelBuilder(0, shape)
    turn = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    first = builder.value
    builder.value = builder.node("Transpose", [first], "turned", perm=turn)
    builder.quantise("turned", builder.scale)
    builder.value = builder.node("MatMul", [first, builder.value], "product")
    builder.shape = (*shape[:-1], shape[-2])
    builder.quantise("product", 2.0**-1)
    return builder


def test_products_of_two_tensors_of_integers():
    """Products of two tensors of integers are exact, because binary32 holds their sums."""
    run_of = run(attention((1, 2, 4, 6)))
    found = operators(run_of)
    assert found[-4:] == ["convert", "convert", "matmul", "convert"]
    (sums,) = (tensor for name, tensor in run_of.tensors.items() if name.endswith("_sums"))
    assert np.all(sums == np.rint(sums))
    long = refusal(attention((1, 2, 1025)))
    assert long.endswith("(MatMul): its sums may reach 16,793,600")


@pytest.mark.parametrize("shape", [(4, 4), (2, 4, 4), (1, 2, 4, 4)])
@pytest.mark.parametrize("factors", [(4,), (1,), (), (1, 4), (4, 1), (4, 4)])
@pytest.mark.parametrize("axis", [-1, -2])
def test_factors_of_a_normalisation(shape, factors, axis):
    """Factors have one number for each place of a row, or are repeated to one; others are refused."""
    rng = np.random.default_rng(4)
    node = helper.make_node("LayerNormalization", ["x", "f", "g"], ["y"], "norm", axis=axis)
    constants = {name: rng.normal(size=factors).astype(np.float32) for name in ("f", "g")}
    made = onnx_model([node], {"x": shape}, **constants)
    if axis == -1 and factors in ((4, 1), (4, 4)):
        with pytest.raises(
            macaw.InputError, match="its factors are not constant, or differ between"
        ):
            macaw.compile(made, device="tiny")
        return
    x = rng.normal(size=shape).astype(np.float32)
    found = macaw.compile(made, device="tiny").run(x=x)
    assert [layer.report.name for layer in found.layers if not layer.equal] == []
    np.testing.assert_allclose(found.outputs["y"], runtime_outputs(made, x=x)[0], atol=1e-5)


def test_a_product_with_a_vector_is_refused():
    builder = ModelBuilder(0, (1, 3, 4))
    builder.value = builder.node("Sigmoid", [builder.value], "sigmoid")
    vector = builder.constant("vector", np.ones(4, np.float32))
    builder.value = builder.node("MatMul", [builder.value, vector], "product")
    builder.shape = (1, 3)
    assert refusal(builder) == "node /product/MatMul (MatMul): a product of (1, 3, 4) and (4,)"


@pytest.mark.parametrize(
    ("operator", "shape", "axes", "keep", "moves"),
    [
        ("ReduceSum", (1, 3, 4, 5), (2, 3), 1, []),
        ("ReduceMax", (1, 3, 4, 5), (1,), 1, []),
        ("ReduceMean", (1, 3, 4, 5), (1, 3), 0, ["transpose", "reshape"]),
        ("ReduceMin", (2, 3, 4), (1,), 0, []),
        ("ReduceSum", (1, 6), (1,), 0, []),
        ("ReduceSum", (2, 3), (), 1, []),
    ],
)
def test_sums_means_and_extremes_over_axes(operator, shape, axes, keep, moves):
    builder = ModelBuilder(1, shape)
    inputs = [builder.value]
    inputs += [builder.constant("axes", np.array(axes, np.int64))] if axes else []
    builder.value = builder.node(operator, inputs, "reduced", keepdims=keep)
    chosen = axes or range(len(shape))
    builder.shape = tuple(
        1 if axis in chosen else size
        for axis, size in enumerate(shape)
        if keep or axis not in chosen
    )
    found = operators(run(builder))
    assert found[: len(moves) + 2] == ["convert", *moves, operator.lower()]


def test_the_sum_of_a_single_number():
    builder = ModelBuilder(1, ())
    builder.value = builder.node("Sigmoid", [builder.value], "sigmoid")
    builder.value = builder.node("ReduceSum", [builder.value], "sum")
    builder.value = builder.node("Tanh", [builder.value], "tanh")
    builder.shape = ()
    assert operators(run(builder)) == ["convert", "sigmoid", "tanh"]


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
    """Real numbers are quantised, also to unsigned integers.

    An input that two layers read stays real.
    """
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
        ("Softmax", {"axis": 0}, "it is over axis 0 of (1, 3, 4, 5)"),
        (
            "Resize",
            {"mode": "linear"},
            "it computes real numbers; no core of the device computes it yet",
        ),
        ("LogSoftmax", {}, "it computes real numbers; no core of the device computes it yet"),
        ("LRN", {"size": 3, "beta": 0.6}, "a beta of 0.6"),
        ("LRN", {"size": 0}, "a size of 0"),
        ("LRN", {"size": -2}, "a size of -2"),
        ("Cast", {"to": 7}, "it computes real numbers of float32, int64"),
    ],
)
def test_refusals(operator: str, attributes: dict[str, Any], message: str):
    builder = ModelBuilder(0, (1, 3, 4, 5))
    sizes = ["", "", builder.constant("sizes", np.array([1, 3, 4, 9]))] * (operator == "Resize")
    builder.value = builder.node(operator, [builder.value, *sizes], "real", **attributes)
    builder.shape = (1, 3, 4, 9) if sizes else builder.shape
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


def test_a_pad_may_add_images():
    builder = ModelBuilder(0, (1, 3, 4, 5))
    pads = builder.constant("pads", np.array([1, 0, 0, 2, 1, 1, 0, 0]))
    builder.value = builder.node("Pad", [builder.value, pads], "pad")
    builder.shape = (3, 4, 4, 7)
    assert operators(run(builder)) == ["pad"]


def test_factors_that_are_no_constants_are_refused():
    builder = ModelBuilder(0, (1, 3, 4))
    x = builder.value
    builder.value = builder.node("LayerNormalization", [x, x], "norm")
    assert refusal(builder).startswith("node /norm/LayerNormalization")


def test_several_results_are_refused():
    builder = ModelBuilder(0, (1, 3, 4, 5))
    factors = builder.constant("factors", np.ones(5, np.float32))
    node = helper.make_node("LayerNormalization", [builder.value, factors], ["norm", "m"], "n")
    builder.nodes.append(node)
    builder.value = builder.node("Add", ["norm", "m"], "sum")
    assert refusal(builder) == f"node n (LayerNormalization): it computes real numbers; {NO_CORE}"


def test_no_axes_may_be_reduced():
    builder = ModelBuilder(1, (1, 3, 4, 5))
    options = {"noop_with_empty_axes": 1}
    builder.value = builder.node("ReduceSum", [builder.value], "same", **options)
    assert operators(run(builder)) == ["convert"]


@pytest.mark.parametrize("setting", ["pe.element", "pe.widest"])
def test_a_layer_of_int16_among_layers_of_int8(setting):
    rng = np.random.default_rng(4)
    data = rng.uniform(-2, 2, (8, 2, 6, 9)).astype(np.float32)
    quantised = macaw.quantise(float_model(), data, dims={"rows": 6}, layers={"/c/Conv": "int16"})
    device = load("tiny").changed({setting: "int16"})
    network = macaw.compile(quantised.model, device=device)
    layers = {item.name: item for item in network.assignment.network.layers}
    first, second = layers["/a/Conv"], layers["/c/Conv"]
    assert isinstance(first, ProductLayer)
    assert isinstance(second, ProductLayer)
    narrow, wide = Elements("int8", "int8", "int8"), Elements("int8", "int16", "int16")
    assert first.product.elements == (narrow if setting == "pe.element" else None)
    assert second.product.elements == wide
    types = {tensor.dtype for tensor in network.network.tensors.values()}
    assert {"int8", "int16"} <= types
    run = network.run({"x": data[:1]})
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    (wanted,) = onnxruntime.InferenceSession(network.model).run(None, {"x": data[:1]})
    np.testing.assert_array_equal(run.outputs["y"], wanted)


def test_constants_and_tensors_of_other_shapes():
    """Layers take operands of smaller shapes than the image, quantised or real, constant or not."""
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
    """Add constant integers; return the name of their dequantised values."""
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
    """Means over any axes of integers are right; axes that are not first are moved."""
    builder = ModelBuilder(1, shape)
    inputs = [builder.value, builder.constant("axes", np.array(axes, np.int64))]
    builder.value = builder.node("ReduceMean", inputs, "mean", keepdims=keep)
    builder.shape = tuple(
        1 if axis in axes else size for axis, size in enumerate(shape) if keep or axis not in axes
    )
    builder.quantise("mean", builder.scale)
    run(builder)


@pytest.mark.parametrize(
    ("operator", "shape", "attributes"),
    [
        ("Conv", (1, 3, 4, 5), {}), ("MaxPool", (1, 3, 5, 6), {"kernel_shape": [2, 2]}),
        ("AveragePool", (1, 3, 5, 6), {"kernel_shape": [2, 2]}),
        ("Transpose", (1, 3, 5, 4), {"perm": [0, 1, 3, 2]}), ("Sigmoid", (1, 3, 4, 5), {}),
    ],
)  # fmt: skip
def test_layers_that_only_read_constants_are_constants(operator, shape, attributes):
    builder = ModelBuilder(0, (1, 3, 4, 5))
    image, inputs = builder.value, [row_of(builder, shape)]
    if operator == "Conv":
        inputs.append(builder.weights("fixed", (3, 3, 1, 1), 2.0**-6))
    builder.value = builder.node(operator, inputs, "fixed", **attributes)
    builder.quantise("fixed", 2.0**-4)
    builder.add("sum", image)
    assert operators(run(builder)) == ["sum"]


def test_a_maximum_of_a_row_in_another_scale():
    builder = ModelBuilder(1, (1, 4, 6))
    builder.value = builder.node("GlobalMaxPool", [builder.value], "most")
    builder.shape = (1, 4, 1)
    builder.quantise("most", builder.scale * 2)
    assert operators(run(builder)) == ["transpose", "maxpool", "rescale"]


def test_zeros_of_a_frame_are_predicted():
    """Zeros between pixels of a transposed convolution are predicted; the array skips them."""
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
    network = macaw.compile(builder.model(), device="tiny").assignment.network
    assert network.densities == {frame.report.tensor: 36 / 15**2}


def test_concatenations_with_parts_without_elements():
    """A Split may have an empty part, and a Concat may read it."""
    nodes = [
        NODE("Split", ["x", "sizes"], ["a", "b"], axis=1),
        NODE("Concat", ["a", "b"], ["c"], axis=1),
        NODE("Relu", ["c"], ["y"]),
    ]
    made = onnx_model(nodes, {"x": (2, 4)}, sizes=[0, 4])
    x = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    result = macaw.compile(made, device="tiny").run(x=x)
    np.testing.assert_array_equal(result.outputs["y"], np.maximum(x, 0))


def test_a_refused_normalisation_keeps_its_operator():
    factors = dict.fromkeys("sbmv", np.ones(3, np.float32))
    node = NODE("BatchNormalization", ["x", *factors], ["y"], name="norm")
    message = r"^node norm \(BatchNormalization\): it computes"
    with pytest.raises(macaw.InputError, match=message) as caught:
        macaw.compile(onnx_model([node], {"x": (1, 3, 4, 4)}, **factors), device="tiny")
    assert caught.value.hint.startswith("`macaw quantise` gives the model integers")
