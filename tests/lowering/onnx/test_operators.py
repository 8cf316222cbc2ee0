"""Floating-point operators, also of older operator sets, against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.operators.table import OPERATORS
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import outputs_of, runtime_outputs

RANDOM = np.random.default_rng(20)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return RANDOM.uniform(0.1, 0.9, shape).astype(np.float32)


def case(kind, *shapes, version=21, constants=None, outputs=("y",), inputs=None, **attributes):
    """A model of one node with inputs of these shapes, followed by constants."""
    names = [f"x{place}" for place in range(len(shapes))]
    constants = constants or {}
    node = NODE(kind, inputs or [*names, *constants], list(outputs), name="it", **attributes)
    there = [name for name in outputs if name]
    return model([node], dict(zip(names, shapes, strict=True)), there, version, **constants)


def cells(gates, directions=1, inputs=3, hidden=4, bias=True):
    """The constants of a recurrent node: W, R and perhaps B."""
    rows = {
        "w": numbers(directions, gates * hidden, inputs) / 2,
        "r": numbers(directions, gates * hidden, hidden) / 2,
    }
    return {**rows, "b": numbers(directions, 2 * gates * hidden)} if bias else rows


INT64 = TensorProto.INT64
IMAGE = (2, 4, 6, 7)
CURVES = "Exp Sigmoid Tanh Sin Cos Softplus Softsign Erf Abs Neg Floor Ceil Round Sign HardSwish Mish Relu LeakyRelu Elu Celu Selu HardSigmoid ThresholdedRelu Identity Sinh Cosh Atan Asinh Tan".split()
POSITIVE = "Sqrt Log Reciprocal Asin Acos Atanh".split()
REDUCED = "Sum Mean Max Min Prod L1 L2 SumSquare LogSumExp".split()
CASES = [
    *(case(kind, (3, 5)) for kind in CURVES),
    *(case(kind, (3, 5)) for kind in POSITIVE),
    case("Acosh", (3, 5)),
    case("PRelu", (3, 5), (5,)), case("LeakyRelu", (3, 5), alpha=0.3), case("HardSigmoid", (3, 5), alpha=0.3, beta=0.4),
    case("Gelu", (3, 5)), case("Gelu", (3, 5), approximate="tanh"),
    *(case(kind, (3, 1, 5), (4, 1)) for kind in ("Add", "Sub", "Mul", "Div")),
    case("Pow", (3, 5), constants={"e": np.float32(2)}), case("Pow", (3, 5), constants={"e": np.float32(3)}),
    *(case(kind, (3, 5), (5,), (1, 5)) for kind in ("Max", "Min", "Sum", "Mean")),
    case("Clip", (3, 5), constants={"a": np.float32(-0.5), "b": np.float32(0.5)}),
    case("Clip", (3, 5), version=8, min=-0.5, max=0.25), case("Clip", (3, 5), version=8),
    case("Clip", (3, 5), version=8, max=0.25), case("Clip", (3, 5), version=8, min=-0.5),
    *(case(f"Reduce{kind}", (3, 4, 5), constants={"axes": np.array([-1, 0])}, keepdims=keep) for kind in REDUCED for keep in (0, 1)),
    case("ReduceMean", (3, 4, 5)), case("ReduceMean", (3, 4, 5), version=11, axes=[1], keepdims=0),
    case("ReduceSum", (3, 4, 5), version=11, axes=[1, 2]),
    *(case("ArgMax", (3, 4), axis=axis, keepdims=axis) for axis in (0, 1)), case("ArgMin", (3, 4)),
    case("Softmax", (2, 3, 4)), case("Softmax", (2, 3, 4), axis=1), case("LogSoftmax", (2, 3, 4), axis=0),
    case("Softmax", (2, 3, 4), version=11), case("Softmax", (2, 3, 1), version=9), case("LogSoftmax", (2, 3, 4), version=11, axis=-2),
    case("LayerNormalization", (2, 3, 4), constants={"s": numbers(3, 4), "b": numbers(3, 4)}, axis=1),
    case("BatchNormalization", IMAGE, constants={"s": numbers(4), "b": numbers(4), "m": numbers(4), "v": positive(4)}),
    case("BatchNormalization", IMAGE, version=8, constants={"s": numbers(4), "b": numbers(4), "m": numbers(4), "v": positive(4)}),
    case("InstanceNormalization", IMAGE, constants={"s": numbers(4), "b": numbers(4)}),
    case("LRN", IMAGE, size=3, alpha=0.3, beta=0.6),
    case("Conv", IMAGE, constants={"w": numbers(6, 4, 3, 2), "b": numbers(6)}, pads=[1, 0, 2, 1], strides=[2, 1]),
    case("Conv", IMAGE, constants={"w": numbers(6, 2, 3, 3)}, group=2, dilations=[2, 1]),
    case("Conv", IMAGE, constants={"w": numbers(8, 1, 3, 3)}, group=4, auto_pad="SAME_UPPER", strides=[2, 2]),
    case("Conv", IMAGE, constants={"w": numbers(4, 4, 2, 2)}, auto_pad="SAME_LOWER"),
    case("Conv", (2, 3, 9), constants={"w": numbers(4, 3, 3)}, pads=[2, 0]),
    case("ConvTranspose", IMAGE, constants={"w": numbers(4, 3, 3, 2), "b": numbers(3)}, strides=[2, 3], pads=[1, 0, 0, 1], output_padding=[1, 0]),
    case("ConvTranspose", IMAGE, constants={"w": numbers(4, 3, 3, 3)}, group=2, dilations=[2, 1]),
    case("ConvTranspose", IMAGE, constants={"w": numbers(4, 3, 2, 2)}, strides=[2, 2], auto_pad="SAME_UPPER"),
    case("ConvTranspose", IMAGE, constants={"w": numbers(4, 3, 3, 3)}, strides=[2, 2], output_shape=[12, 14]),
    case("Gemm", (3, 4), constants={"b": numbers(5, 4), "c": numbers(5)}, transB=1, alpha=0.5, beta=2.0),
    case("Gemm", (4, 3), constants={"b": numbers(4, 5)}, transA=1),
    case("MatMul", (2, 3, 4), (4, 5)), case("MatMul", (2, 3, 4), (2, 4, 5)), case("MatMul", (4,), (4, 5)),
    case("MaxPool", IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    case("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), case("MaxPool", IMAGE, kernel_shape=[2, 2], dilations=[2, 3]),
    case("AveragePool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    case("AveragePool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
    case("AveragePool", IMAGE, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1),
    case("AveragePool", IMAGE, kernel_shape=[2, 2], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1),
    case("MaxPool", IMAGE, kernel_shape=[2, 2], strides=[3, 2], pads=[1, 1, 1, 1], ceil_mode=1),
    *(case(pool, (1, 2, 5, 6), kernel_shape=[2, 2], strides=[2, 3], auto_pad=auto, ceil_mode=1)
      for pool in ("MaxPool", "AveragePool") for auto in ("NOTSET", "VALID")),
    case("GlobalAveragePool", IMAGE), case("GlobalMaxPool", IMAGE),
    case("Resize", IMAGE, inputs=["x0", "", "s"], constants={"s": np.array([1, 1, 2, 1.5], np.float32)}, coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    case("Resize", IMAGE, inputs=["x0", "", "s"], constants={"s": np.array([1, 1, 0.5, 2], np.float32)}),
    case("Resize", IMAGE, inputs=["x0", "", "", "n"], constants={"n": np.array([2, 4, 9, 5])}, mode="linear"),
    case("Resize", IMAGE, inputs=["x0", "", "", "n"], constants={"n": np.array([2, 4, 9, 5])}, mode="linear", coordinate_transformation_mode="align_corners"),
    case("Upsample", IMAGE, version=9, constants={"s": np.array([1, 1, 2, 3], np.float32)}), case("Upsample", IMAGE, version=7, scales=[1.0, 1.0, 2.0, 2.0]),
    case("Resize", IMAGE, version=10, constants={"s": np.array([1, 1, 2, 0.5], np.float32)}),
    case("Reshape", (2, 3, 4), constants={"s": np.array([0, -1])}), case("Flatten", (2, 3, 4), axis=2),
    case("Squeeze", (1, 3, 1), version=11, axes=[0]), case("Squeeze", (1, 3, 1)), case("Unsqueeze", (3, 4), version=11, axes=[0, 3]),
    case("Transpose", (2, 3, 4), perm=[2, 0, 1]), case("Concat", (2, 3), (4, 3), axis=0),
    case("Split", (6, 2), outputs=("y", "z"), version=11, split=[4, 2]), case("Split", (5, 2), outputs=("y", "z"), num_outputs=2),
    case("Split", (6, 2), outputs=("y", "z"), version=13),
    *(case("Slice", (5, 6), constants={"a": np.array([start]), "b": np.array([-100]), "c": np.array([0]), "d": np.array([-1])})
      for start in (-5, -6, -100, 100)),
    case("Slice", (5, 6), version=9, starts=[1, -3], ends=[4, 100]), case("Slice", (5, 6), constants={"a": np.array([4]), "b": np.array([-100]), "c": np.array([0]), "d": np.array([-2])}),
    case("Expand", (3, 1), constants={"s": np.array([2, 1, 4])}), case("Tile", (2, 3), constants={"s": np.array([2, 1])}),
    case("Gather", (5, 3), constants={"i": np.array([[0, -1], [2, 2]])}), case("GatherElements", (3, 3), constants={"i": np.array([[0, -1, 1]])}),
    case("Pad", (2, 3), constants={"p": np.array([1, 0, -1, 2]), "v": np.float32(7)}), case("Pad", (4, 3), constants={"p": np.array([1, 0, 2, 2])}, mode="reflect"),
    case("Pad", (2, 3), version=9, pads=[0, 1, 1, 0], value=2.0), case("Pad", (2, 3), constants={"p": np.array([1, 0, 0, 2])}, mode="edge"),
    case("DepthToSpace", (1, 8, 2, 3), blocksize=2), case("DepthToSpace", (1, 8, 2, 3), blocksize=2, mode="CRD"), case("SpaceToDepth", (1, 2, 4, 6), blocksize=2),
    case("LSTM", (5, 2, 3), outputs=("y", "h", "c"), constants=cells(4), hidden_size=4),
    case("LSTM", (5, 2, 3), outputs=("y", "h", "c"), constants=cells(4, 2, bias=False), hidden_size=4, direction="bidirectional"),
    case("LSTM", (5, 2, 3), (1, 2, 4), (1, 2, 4), inputs=["x0", "w", "r", "b", "", "x1", "x2", "p"], constants={**cells(4), "p": numbers(1, 12)}, outputs=("y",), hidden_size=4, direction="reverse"),
    case("RNN", (5, 2, 3), outputs=("y", "h"), constants=cells(1), hidden_size=4), case("RNN", (5, 2, 3), outputs=("y", "h"), constants=cells(1, 2), hidden_size=4, direction="bidirectional"),
    case("GRU", (5, 2, 3), outputs=("y", "h"), constants=cells(3), hidden_size=4), case("GRU", (5, 2, 3), outputs=("", "h"), constants=cells(3), hidden_size=4, linear_before_reset=1),
    case("Where", (3, 4), (4,), inputs=["c", "x0", "x1"], constants={"c": np.array([[True], [False], [True]])}),
    case("Cast", (3, 4), to=INT64), case("IsNaN", (3, 4)), case("DynamicQuantizeLinear", (3, 4), outputs=("y", "s", "z")),
    case("QuantizeLinear", (3, 4), constants={"s": np.float32(0.02), "z": np.int8(3)}),
    case("QuantizeLinear", (3, 4), constants={"s": positive(3) / 20, "z": np.array([1, 2, 3], np.uint8)}, axis=0),
]  # fmt: skip


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.graph.node[0].op_type)
def test_numbers_are_those_of_onnxruntime(made):
    kind = made.graph.node[0].op_type
    inputs = {}
    for row in made.graph.input:
        shape = [dim.dim_value for dim in row.type.tensor_type.shape.dim]
        array = positive(*shape) if kind in POSITIVE else numbers(*shape)
        inputs[row.name] = np.abs(array) + 1 if kind == "Acosh" else array
    for found, wanted in zip(
        outputs_of(made, **inputs), runtime_outputs(made, **inputs), strict=True
    ):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=3e-6)


INTEGERS: dict[str, Callable[..., np.ndarray]] = {
    "Div": lambda a, b: np.trunc(a / b), "Mod": np.mod, "Equal": np.equal, "Greater": np.greater,
    "Less": np.less, "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal,
}  # fmt: skip
LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}


@pytest.mark.parametrize("kind", [*INTEGERS, *LOGIC])
def test_functions_of_integers(kind):
    a, b = np.array([7, -7, 5, 0]), np.array([2, 2, 5, -3])
    function = INTEGERS.get(kind) or LOGIC[kind]
    element = INT64 if kind in INTEGERS else TensorProto.BOOL
    made = model([NODE(kind, ["a", "b"], ["y"])], {"a": ((4,), element), "b": ((4,), element)})
    if kind in LOGIC:
        a, b = a > 0, b > 0
    np.testing.assert_array_equal(outputs_of(made, a=a, b=b)[0], function(a, b))


@pytest.mark.parametrize(
    "how", "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric".split()
)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("size", [(9, 5), (1, 3), (12, 1), (3, 14)])
def test_resized_images_are_those_of_onnxruntime(how, mode, size):
    """Each transformation of coordinates, up and down, and to a single row or column."""
    sizes = {"n": np.array([2, 4, *size])}
    made = case(
        "Resize",
        IMAGE,
        inputs=["x0", "", "", "n"],
        constants=sizes,
        mode=mode,
        coordinate_transformation_mode=how,
    )
    test_numbers_are_those_of_onnxruntime(made)


def test_not():
    made = model([NODE("Not", ["a"], ["y"])], {"a": ((2,), TensorProto.BOOL)})
    assert outputs_of(made, a=np.array([True, False]))[0].tolist() == [False, True]


def test_integer_products():
    """Products of integers may have zero points for each row and column."""
    random = np.random.default_rng(2)
    a, b = (
        random.integers(0, 256, (3, 4)).astype(np.uint8),
        random.integers(-128, 128, (4, 5)).astype(np.int8),
    )
    x, w = (
        random.integers(0, 256, (1, 2, 5, 5)).astype(np.uint8),
        random.integers(0, 256, (3, 2, 3, 3)).astype(np.uint8),
    )
    nodes = [
        NODE("MatMulInteger", ["a", "b", "za", "zb"], ["y"]),
        NODE("ConvInteger", ["x", "w", "zx", "zw"], ["z"], pads=[1, 1, 1, 1]),
    ]
    zeros = {"za": np.uint8(9), "zb": np.int8(-3), "zx": np.uint8(7), "zw": np.uint8(130)}
    made = model(
        nodes,
        {"a": ((3, 4), TensorProto.UINT8), "x": ((1, 2, 5, 5), TensorProto.UINT8)},
        ["y", "z"],
        b=b,
        w=w,
        **zeros,
    )
    found = outputs_of(made, a=a, x=x)
    np.testing.assert_array_equal(found[0], (a.astype(int) - 9) @ (b.astype(int) + 3))
    np.testing.assert_array_equal(found[1], runtime_outputs(made, a=a, x=x)[1])


def test_all_operators_have_a_case():
    tested = {made.graph.node[0].op_type for made in CASES} | {*INTEGERS, *LOGIC, "Not"}
    tested |= {"MatMulInteger", "ConvInteger", "DequantizeLinear", "Swish"}  # below, test_fuse
    assert OPERATORS.keys() - tested == set()


def test_dequantisation_by_block():
    """A dequantisation by blocks follows ONNX's definition and is no layer on integers."""
    q = np.arange(-8, 8, dtype=np.int8).reshape(2, 8)
    scale = np.array([[1, 2], [4, 8]], np.float32)
    nodes = [
        NODE("DequantizeLinear", ["q", "s"], ["w"], axis=1, block_size=4),
        NODE("Add", ["x", "w"], ["y"]),
    ]
    made = model(nodes, {"x": (2, 8)}, q=q, s=scale)
    found = outputs_of(made, x=np.zeros((2, 8), np.float32))[0]
    np.testing.assert_array_equal(found, q * np.repeat(scale, 4, 1))


REFUSED = [
    (case("Resize", IMAGE, inputs=["x0", "", "s"], constants={"s": np.array([1, 1, 2, 2], np.float32)}, mode="cubic"), "the mode cubic"),
    (case("Resize", IMAGE, inputs=["x0", "", "s"], constants={"s": np.array([1, 1, 0.5, 2], np.float32)}, mode="linear", antialias=1), "antialias is not supported"),
    (case("Resize", IMAGE, inputs=["x0", "", "", "n"], constants={"n": np.array([2, 4, 9, 5])}, keep_aspect_ratio_policy="not_larger", axes=[0, 1, 2, 3]), "a keep_aspect_ratio_policy is not supported"),
    (case("MaxPool", IMAGE, kernel_shape=[2, 2], outputs=("y", "z")), "the places of its maxima are not supported"),
    (case("BatchNormalization", IMAGE, constants={"s": numbers(4), "b": numbers(4), "m": numbers(4), "v": positive(4)}, training_mode=1, outputs=("y", "mean", "var")), "training is not supported"),
    (case("GRU", (5, 2, 3), constants=cells(3), hidden_size=4, activations=["Tanh", "Elu"]), "the functions Tanh Elu"),
    (case("LSTM", (5, 2, 3), constants=cells(4), hidden_size=4, clip=1.0), "clip is not supported"),
    (case("LSTM", (5, 2, 3), inputs=["x0", "w", "r", "b", "n"], constants={**cells(4), "n": np.array([5, 2], np.int32)}, hidden_size=4), "sequences of different lengths"),
    (case("Gather", (5, 3), constants={"i": np.array([5])}), "an index is outside of -5 to 4"),
    (case("Det", (3, 3)), "the reference evaluator does not compute it"),
    (case("Conv", (1, 1, 2, 2), constants={"w": numbers(1, 1, 3, 3)}), r"a kernel \(3, 3\) does not fit into an image of \(2, 2\)"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_refusals_name_the_node(made, message):
    inputs = {
        row.name: np.ones([dim.dim_value for dim in row.type.tensor_type.shape.dim], np.float32)
        for row in made.graph.input
    }
    with pytest.raises(LowerError, match=rf"node it \({made.graph.node[0].op_type}\): {message}"):
        outputs_of(made, **inputs)


def test_inputs_are_checked():
    made = model([NODE("Relu", ["x"], ["y"])], {"x": (2,)})
    with pytest.raises(LowerError, match="there is no array for the input x"):
        outputs_of(made)
    with pytest.raises(
        LowerError, match=r"the input x is of float32 \(2,\), the array of int64 \(3,\)"
    ):
        outputs_of(made, x=np.arange(3))
    made = model([NODE("Relu", ["x"], ["y"])], {"x": ((2,), TensorProto.BFLOAT16)})
    with pytest.raises(LowerError, match="numbers of the type bfloat16 are not computed"):
        outputs_of(made)


def test_attributes_are_quoted_safely():
    made = case(
        "Pad", (2, 3), constants={"p": np.array([1, 0, 0, 2])}, mode="a\x1b[31m\t" + "b" * 900
    )
    with pytest.raises(LowerError) as caught:
        outputs_of(made, x0=numbers(2, 3))
    assert str(caught.value).isprintable()
    assert str(caught.value).startswith("node it (Pad): the mode a\ufffd[31m\\tbbb")
    assert len(str(caught.value)) < 350
