"""Layers on integers, against onnxruntime's s8s8 operators and calculations by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import onnx.reference
import pytest
from onnx import numpy_helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.network import (
    Dequantisation,
    FloatLayer,
    MoveLayer,
    PoolLayer,
    ProductLayer,
    Quantisation,
    SumLayer,
    TableLayer,
    WeightLayer,
)
from macaw.lowering.onnx.reference import evaluate
from macaw.lowering.onnx.requantise import finish, quantise_array, requantisation
from tests.lowering.onnx.integer_models import (
    F32,
    INT8,
    INT16,
    SCALES,
    UINT8,
    quantised,
    the_layer,
)
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import network_of, outputs_of, random_integers, runtime_outputs


def rounded(value):
    """Round a number exactly, half to even."""
    return round(Fraction(float(value)))


def requantised(total, multiplier, zero=0, least=-128, most=127):
    """The definition for one number: saturate(rne(f32(sum) · multiplier) + zero)."""
    return min(max(rounded(F32(F32(int(total)) * F32(multiplier))) + zero, least), most)


def test_requantisation_rounds_half_to_even_and_saturates():
    sums = np.array([-1000, -3, -1, 0, 1, 3, 5, 7, 1000, 2**24 + 1])
    out = requantisation(0.5, Quantisation(1.0, 3), "int8")
    assert finish(sums, out, 0, "int8").tolist() == [-128, 1, 3, 3, 3, 5, 5, 7, 127, 127]
    assert out.shifts == 1
    pair = requantisation(np.array([0.25, 2.0]), Quantisation(1.0), "int8")
    assert pair.shifts is not None
    assert pair.shifts.tolist() == [2, -1]
    assert requantisation(0.3, Quantisation(1.0), "int8").shifts is None
    random = np.random.default_rng(3)
    sums, numbers = (
        random.integers(-(2**31), 2**31, (50, 4)),
        random.uniform(1e-9, 1e-6, 4).astype(F32),
    )
    found = finish(sums, requantisation(numbers, Quantisation(1.0, -7), "int8"), 1, "int8")
    assert found.tolist() == [
        [requantised(s, m, -7) for s, m in zip(row, numbers, strict=True)] for row in sums
    ]


def test_quantisation_of_real_numbers():
    x = np.array([0.5, 1.5, -0.5, np.nan, np.inf, -np.inf, 1e30], F32)
    assert quantise_array(x, Quantisation(1.0, 1), "int8").tolist() == [1, 3, 1, 1, 127, -128, 127]


def random_conv(random):
    """A QLinearConv with random attributes, and its input."""
    groups = int(random.choice([1, 1, 2, 4]))
    channels, outputs = groups * int(random.integers(1, 4)), groups * int(random.integers(1, 4))
    kernel = tuple(map(int, random.integers(1, 4, 2)))
    attributes = {"group": groups, "strides": random.integers(1, 3, 2).tolist()}
    if random.random() < 0.5:
        attributes |= {
            "pads": random.integers(0, 3, 4).tolist(),
            "dilations": random.integers(1, 3, 2).tolist(),
        }
    else:
        attributes["auto_pad"] = str(random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    shape = (outputs,) if random.random() < 0.5 else ()
    zeros = random_integers(random, 2) if random.random() < 0.6 else np.zeros(2, np.int8)
    constants = {
        "xs": F32(random.uniform(0.01, 0.1)), "xz": zeros[0],
        "w": random_integers(random, (outputs, channels // groups, *kernel)),
        "ws": random.uniform(0.001, 0.02, shape).astype(F32), "wz": np.zeros(shape, np.int8),
        "ys": F32(random.uniform(0.01, 1)), "yz": zeros[1], "b": random.integers(-2000, 2000, outputs).astype(np.int32),
    }  # fmt: skip
    x = random_integers(
        random, (int(random.integers(1, 3)), channels, *random.integers(6, 10, 2).tolist())
    )
    node = NODE("QLinearConv", ["x", *constants], ["y"], name="it", **attributes)
    return model([node], {"x": (x.shape, INT8)}, {"y": (None, INT8)}, **constants), x


@pytest.mark.parametrize("seed", range(12))
def test_qlinear_convolutions_equal_onnxruntime(seed):
    for made, x in (random_conv(np.random.default_rng(100 * seed + n)) for n in range(5)):
        (layer, *_) = network_of(made).layers
        assert isinstance(layer, WeightLayer)
        np.testing.assert_array_equal(outputs_of(made, x=x)[0], runtime_outputs(made, x=x)[0])


@pytest.mark.parametrize("seed", range(4))
def test_qlinear_convolutions_equal_the_reference_of_onnx(seed):
    """QLinearConv equals ONNX's reference if scales are powers of two.

    With these scales, the reference's binary64 rounds as binary32 does. The zero point is 0 here,
    because the reference adds it before rounding.
    """
    made, x = random_conv(np.random.default_rng(1000 + seed))
    for row in made.graph.initializer:
        array = numpy_helper.to_array(row)
        if row.name in ("xs", "ws", "ys"):
            array = np.exp2(np.round(np.log2(array))).astype(F32)
        elif row.name == "yz":
            array = np.zeros_like(array)
        row.CopyFrom(numpy_helper.from_array(array, row.name))
    (wanted,) = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_array_equal(outputs_of(made, x=x)[0], wanted)


@pytest.mark.parametrize("columns", [False, True])
def test_qlinear_products_equal_onnxruntime(columns):
    random = np.random.default_rng(columns)
    scale = random.uniform(0.001, 0.01, 7).astype(F32) if columns else F32(0.004)
    constants = {
        "as": F32(0.02), "az": np.int8(4), "b": random_integers(random, (33, 7)), "bs": scale,
        "bz": np.zeros_like(scale, np.int8), "ys": F32(0.3), "yz": np.int8(-9),
    }  # fmt: skip
    made = model(
        [NODE("QLinearMatMul", ["a", *constants], ["y"])],
        {"a": ((2, 5, 33), INT8)},
        {"y": (None, INT8)},
        **constants,
    )
    a = random_integers(random, (2, 5, 33))
    assert isinstance(network_of(made).layers[0], WeightLayer)
    np.testing.assert_array_equal(outputs_of(made, a=a)[0], runtime_outputs(made, a=a)[0])


def test_products_of_two_tensors_equal_onnxruntime():
    random = np.random.default_rng(8)
    names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    constants = {
        "as": F32(0.02),
        "az": np.int8(4),
        "bs": F32(0.03),
        "bz": np.int8(-5),
        "ys": F32(0.3),
        "yz": np.int8(-9),
    }
    made = model(
        [NODE("QLinearMatMul", names, ["y"])],
        {"a": ((2, 5, 9), INT8), "b": ((2, 9, 3), INT8)},
        {"y": (None, INT8)},
        **constants,
    )
    arrays = {"a": random_integers(random, (2, 5, 9)), "b": random_integers(random, (2, 9, 3))}
    assert isinstance(network_of(made).layers[0], ProductLayer)
    np.testing.assert_array_equal(outputs_of(made, **arrays)[0], runtime_outputs(made, **arrays)[0])


def by_hand(x, w, b, zeros, multiplier, stride, pad, unsigned):
    """A convolution of one image, computed number by number."""
    least, most = (0, 255) if unsigned else (-128, 127)
    outputs, channels, height, width = w.shape
    rows = (x.shape[1] + 2 * pad - height) // stride + 1
    columns = (x.shape[2] + 2 * pad - width) // stride + 1
    y = np.zeros((outputs, rows, columns), int)
    for place in np.ndindex(y.shape):
        total = int(b[place[0]])
        for c, i, j in np.ndindex(channels, height, width):
            at = place[1] * stride + i - pad, place[2] * stride + j - pad
            if 0 <= at[0] < x.shape[1] and 0 <= at[1] < x.shape[2]:
                total += (int(x[c, at[0], at[1]]) - zeros[0]) * (
                    int(w[place[0], c, i, j]) - zeros[1]
                )
        y[place] = requantised(total, multiplier, zeros[2], least, most)
    return y


@pytest.mark.parametrize("zero", [128, 0, 77])
@pytest.mark.parametrize("form", ["QLinear", "QDQ"])
def test_unsigned_models_are_exact(form, zero):
    """Unsigned integers are computed as signed integers that are lower by 128.

    Weights whose zero point is not 128 need 16 bits.
    """
    random = np.random.default_rng(zero)
    x, w = (
        random_integers(random, (1, 2, 5, 5), "uint8"),
        random_integers(random, (3, 2, 3, 3), "uint8"),
    )
    b = random.integers(-3000, 3000, 3).astype(np.int32)
    constants = {
        "xs": F32(0.02), "xz": np.uint8(31), "w": w, "ws": F32(0.005), "wz": np.uint8(zero),
        "ys": F32(0.04), "yz": np.uint8(99), "b": b,
    }  # fmt: skip
    if form == "QLinear":
        nodes = [NODE("QLinearConv", ["x", *constants], ["y"], pads=[1] * 4, strides=[2, 2])]
    else:
        nodes = [
            NODE("DequantizeLinear", ["x", "xs", "xz"], ["a"]), NODE("DequantizeLinear", ["w", "ws", "wz"], ["f"]),
            NODE("DequantizeLinear", ["b", "bs"], ["g"]), NODE("Conv", ["a", "f", "g"], ["c"], pads=[1] * 4, strides=[2, 2]),
            NODE("QuantizeLinear", ["c", "ys", "yz"], ["y"]),
        ]  # fmt: skip
        constants["bs"] = F32(0.02) * F32(0.005)
    made = model(nodes, {"x": (x.shape, UINT8)}, {"y": (None, UINT8)}, **constants)
    multiplier = F32(F32(F32(0.02) * F32(0.005)) / F32(0.04))
    wanted = by_hand(x[0], w, b, (31, zero, 99), multiplier, 2, 1, True)
    np.testing.assert_array_equal(outputs_of(made, x=x)[0][0], wanted)
    (layer,) = [layer for layer in network_of(made).layers if isinstance(layer, WeightLayer)]
    assert layer.weights.dtype == (np.int8 if zero == 128 else np.int16)


@pytest.mark.parametrize("kind", ["Add", "Sub", "Sum"])
@pytest.mark.parametrize("relu", [False, True])
def test_sums_of_two_tensors(kind, relu):
    nodes = [
        NODE(kind, ["a", "b"], ["s" if relu else "c"]),
        *([NODE("Relu", ["s"], ["c"])] if relu else []),
    ]
    made = quantised(nodes, {"x": (2, 3, 4), "z": (3, 1)})
    random = np.random.default_rng(4)
    x, z = random_integers(random, (2, 3, 4)), random_integers(random, (3, 1))
    assert isinstance(the_layer(made, SumLayer), SumLayer)
    sign = -1 if kind == "Sub" else 1
    for place, found in np.ndenumerate(outputs_of(made, x=x, z=z)[0]):
        p = F32(int(x[place]) - 3) * F32(F32(0.02) / F32(0.05))
        q = F32(int(z[place[1], 0]) + 4) * F32(sign * F32(F32(0.013) / F32(0.05)))
        assert found == min(max(rounded(F32(p + q)) + 5, 5 if relu else -128), 127)


def test_sums_and_products_with_constants():
    """A quantised constant is an operand of a sum or product like any tensor."""
    q = np.arange(-3, 3, dtype=np.int8).reshape(6, 1)
    nodes = [NODE("DequantizeLinear", ["q", "qs"], ["k"]), NODE("Add", ["a", "k"], ["c"])]
    x = random_integers(np.random.default_rng(1), (6, 4))
    for kind in ("Add", "Mul"):
        nodes[1] = NODE(kind, ["a", "k"], ["c"])
        made = quantised(nodes, {"x": (6, 4)}, q=q, qs=F32(0.5))
        the_layer(made, SumLayer if kind == "Add" else ProductLayer)
        real = F32(0.02) * (x.astype(F32) - 3)
        exact = real + q * F32(0.5) if kind == "Add" else real * q * F32(0.5)
        near = np.clip(np.rint(exact / F32(0.05)) + 5, -128, 127)
        assert np.abs(outputs_of(made, x=x)[0] - near).max() <= 1


def test_products_of_two_images():
    """A quantised product of an image and a number for each channel equals its definition.

    Squeeze-and-excitation has such products.
    """
    made = quantised([NODE("Mul", ["a", "b"], ["c"])], {"x": (2, 3, 4, 4), "z": (2, 3, 1, 1)})
    random = np.random.default_rng(6)
    x, z = random_integers(random, (2, 3, 4, 4)), random_integers(random, (2, 3, 1, 1))
    the_layer(made, ProductLayer)
    multiplier = F32(F32(F32(0.02) * F32(0.013)) / F32(0.05))
    for place, found in np.ndenumerate(outputs_of(made, x=x, z=z)[0]):
        total = (int(x[place]) - 3) * (int(z[place[0], place[1], 0, 0]) + 4)
        assert found == requantised(total, multiplier, 5)


POOLS = [
    NODE("MaxPool", ["a"], ["c"], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    NODE("AveragePool", ["a"], ["c"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    NODE("AveragePool", ["a"], ["c"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
    NODE("GlobalAveragePool", ["a"], ["c"]), NODE("GlobalMaxPool", ["a"], ["c"]),
    NODE("ReduceMean", ["a", "axes"], ["c"], keepdims=0),
]  # fmt: skip


@pytest.mark.parametrize("node", POOLS)
def test_pools(node):
    made = quantised([node], {"x": (2, 3, 6, 6)}, axes=np.array([2, 3]))
    x = random_integers(np.random.default_rng(7), (2, 3, 6, 6))
    the_layer(made, PoolLayer)
    found = outputs_of(made, x=x)[0]
    # Where the quotient is not close to a tie the formula and ONNX's floats round to the same.
    plain = model(
        [NODE("DequantizeLinear", ["x", "xs", "xz"], ["a"]), node],
        {"x": (x.shape, INT8)},
        ["c"],
        axes=np.array([2, 3]),
        **SCALES,
    )
    real = runtime_outputs(plain, x=x)[0].astype(float) / 0.05 + 5
    clear = np.abs(np.abs(real - np.floor(real)) - 0.5) > 1e-3
    np.testing.assert_array_equal(found[clear], np.clip(np.rint(real), -128, 127)[clear])
    assert clear.mean() > 0.9


def test_a_mean_by_hand():
    made = quantised(
        [NODE("AveragePool", ["a"], ["c"], kernel_shape=[2, 2], pads=[1, 1, 0, 0])],
        {"x": (1, 1, 2, 2)},
    )
    x = np.array([[[[100, -100], [50, 7]]]], np.int8)
    ratio = F32(F32(0.02) / F32(0.05))
    sums = [[(97, 1), (97 - 103, 2)], [(97 + 47, 2), (97 - 103 + 47 + 4, 4)]]
    wanted = [[requantised(total, ratio / F32(count), 5) for total, count in row] for row in sums]
    assert outputs_of(made, x=x)[0][0, 0].tolist() == wanted


TABLES = [
    [NODE("HardSwish", ["a"], ["c"])], [NODE("Sigmoid", ["a"], ["c"])], [NODE("Gelu", ["a"], ["c"])],
    [NODE("Sigmoid", ["a"], ["s"]), NODE("Mul", ["a", "s"], ["c"])],
    [NODE("HardSwish", ["a"], ["h"]), NODE("Mul", ["h", "two"], ["m"]), NODE("Add", ["half", "m"], ["c"])],
    [NODE("Clip", ["a", "half", "two"], ["c"])], [NODE("LeakyRelu", ["a"], ["c"])],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("nodes", TABLES)
def test_functions_are_tables(nodes, dtype):
    made = quantised(nodes, {"x": (2, 128)}, dtype=dtype, two=F32(2), half=F32(0.5))
    x = np.arange(-128, 128).astype(dtype).reshape(2, 128)
    layer = the_layer(made, TableLayer)
    found = outputs_of(made, x=x)[0]
    if dtype == "int8":
        np.testing.assert_array_equal(layer.table, found.reshape(-1))
    else:
        assert layer.table is None
    element = {"int8": INT8, "int16": INT16}[dtype]
    scales = {
        name: np.asarray(value, dtype if name[1] == "z" else F32) for name, value in SCALES.items()
    }
    plain = model(
        [NODE("DequantizeLinear", ["x", "xs", "xz"], ["a"]), *nodes],
        {"x": (x.shape, element)},
        ["c"],
        two=F32(2),
        half=F32(0.5),
        **scales,
    )
    real = runtime_outputs(plain, x=x)[0].astype(float) / 0.05 + 5
    info = np.iinfo(dtype)
    clear = np.abs(np.abs(real - np.floor(real)) - 0.5) > 1e-4
    np.testing.assert_array_equal(found[clear], np.clip(np.rint(real), info.min, info.max)[clear])


MOVES = [
    (NODE("Transpose", ["a"], ["c"], perm=[1, 0]), lambda x: x.T), (NODE("Reshape", ["a", "shape"], ["c"]), lambda x: x.reshape(3, 8)),
    (NODE("Slice", ["a", "one", "five"], ["c"]), lambda x: x[1:5]), (NODE("Pad", ["a", "pads"], ["c"]), lambda x: np.pad(x, [(1, 0), (2, 1)], constant_values=3)),
]  # fmt: skip


@pytest.mark.parametrize(("node", "function"), MOVES)
def test_moves_with_a_new_scale(node, function):
    constants = {
        "shape": np.array([3, 8]),
        "one": np.array([1]),
        "five": np.array([5]),
        "pads": np.array([1, 2, 0, 1]),
    }
    made = quantised([node], {"x": (6, 4)}, **constants)
    x = random_integers(np.random.default_rng(3), (6, 4))
    the_layer(made, MoveLayer)
    moved = function(x)
    wanted = [requantised(int(q) - 3, F32(F32(0.02) / F32(0.05)), 5) for q in moved.reshape(-1)]
    np.testing.assert_array_equal(outputs_of(made, x=x)[0].reshape(-1), wanted)


def test_moves_without_quantisation_keep_the_integers():
    """Operators that move integers keep their scale.

    Here a product reads an image after a pool and a reshape, with the scale of the image.
    """
    random = np.random.default_rng(9)
    nodes = [
        NODE("MaxPool", ["a"], ["p"], kernel_shape=[2, 2]), NODE("Flatten", ["p"], ["f"]),
        NODE("DequantizeLinear", ["w", "ws"], ["k"]), NODE("Gemm", ["f", "k"], ["c"]),
    ]  # fmt: skip
    w = random_integers(random, (12, 5))
    made = quantised(nodes, {"x": (1, 3, 3, 3)}, w=w, ws=F32(0.01))
    network = network_of(made)
    assert not [layer for layer in network.layers if isinstance(layer, FloatLayer)]
    x = random_integers(random, (1, 3, 3, 3))
    pooled = np.maximum(
        np.maximum(x[..., :-1, :-1], x[..., 1:, :-1]), np.maximum(x[..., :-1, 1:], x[..., 1:, 1:])
    )
    sums = (pooled.reshape(1, -1).astype(int) - 3) @ w.astype(int)
    multiplier = F32(F32(F32(0.02) * F32(0.01)) / F32(0.05))
    assert outputs_of(made, x=x)[0].tolist() == [
        [requantised(total, multiplier, 5) for total in sums[0]]
    ]


def test_concatenation_with_rescale():
    made = quantised([NODE("Concat", ["a", "b"], ["c"], axis=1)], {"x": (2, 3), "z": (2, 2)})
    random = np.random.default_rng(3)
    x, z = random_integers(random, (2, 3)), random_integers(random, (2, 2))
    the_layer(made, MoveLayer)
    left = [[requantised(int(q) - 3, F32(F32(0.02) / F32(0.05)), 5) for q in row] for row in x]
    right = [[requantised(int(q) + 4, F32(F32(0.013) / F32(0.05)), 5) for q in row] for row in z]
    assert outputs_of(made, x=x, z=z)[0].tolist() == [
        a + b for a, b in zip(left, right, strict=True)
    ]


def test_nearest_resizing_moves_integers():
    node = NODE(
        "Resize",
        ["a", "", "s"],
        ["c"],
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    made = quantised([node], {"x": (1, 1, 2, 2)}, s=np.array([1, 1, 2, 2], F32))
    x = np.array([[[[1, 2], [3, 4]]]], np.int8)
    wanted = [requantised(q - 3, F32(F32(0.02) / F32(0.05)), 5) for q in (1, 1, 2, 2)]
    assert outputs_of(made, x=x)[0][0, 0, 0].tolist() == wanted
    the_layer(made, MoveLayer)


def test_a_new_scale_alone():
    made = quantised([], {"x": (5,)}, dtype="int8")
    made.graph.node[-1].input[0] = "a"
    x = np.array([-128, 0, 3, 50, 127], np.int8)
    wanted = [requantised(int(q) - 3, F32(F32(0.02) / F32(0.05)), 5) for q in x]
    assert outputs_of(made, x=x)[0].tolist() == wanted


@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_convolutions(groups):
    random = np.random.default_rng(groups)
    w = random_integers(random, (4, 3, 2, 3))
    scale = random.uniform(0.001, 0.01, 3).astype(F32)
    nodes = [
        NODE("DequantizeLinear", ["w", "ws"], ["k"], axis=1),
        NODE("ConvTranspose", ["a", "k"], ["c"], strides=[2, 2], pads=[0, 1, 1, 0], group=groups),
    ]
    made = quantised(nodes, {"x": (1, 4, 3, 3)}, w=w, ws=scale)
    x = random_integers(random, (1, 4, 3, 3))
    the_layer(made, WeightLayer)
    sums = np.zeros((3 * groups, 6, 7), int)
    for c, i, j, o, p, q in np.ndindex(4, 3, 3, 3, 2, 3):
        sums[c // (4 // groups) * 3 + o, 2 * i + p, 2 * j + q] += (int(x[0, c, i, j]) - 3) * int(
            w[c, o, p, q]
        )
    sums = sums[:, :5, 1:]
    for (channel, *_), total, found in zip(
        np.ndindex(sums.shape), sums.reshape(-1), outputs_of(made, x=x)[0].reshape(-1), strict=True
    ):
        assert found == requantised(total, F32(F32(F32(0.02) * scale[channel % 3]) / F32(0.05)), 5)


@pytest.mark.parametrize(
    ("activations", "weights"), [("int16", "int8"), ("int16", "int16"), ("int8", "int16")]
)
def test_wide_types_have_sums_of_64_bits(activations, weights):
    random = np.random.default_rng(10)
    w = random_integers(random, (40, 3), weights)
    nodes = [NODE("DequantizeLinear", ["w", "ws"], ["k"]), NODE("MatMul", ["a", "k"], ["c"])]
    made = quantised(nodes, {"x": (2, 40)}, dtype=activations, w=w, ws=F32(0.01))
    x = random_integers(random, (2, 40), activations)
    assert the_layer(made, WeightLayer).accumulator == "int64"
    sums = (x.astype(object) - 3) @ w.astype(object)
    info = np.iinfo(activations)
    multiplier = F32(F32(F32(0.02) * F32(0.01)) / F32(0.05))
    wanted = [
        [requantised(total, multiplier, 5, info.min, info.max) for total in row] for row in sums
    ]
    assert outputs_of(made, x=x)[0].tolist() == wanted


def test_a_layer_may_give_real_numbers():
    nodes = [
        NODE("DequantizeLinear", ["w", "ws"], ["k"]),
        NODE("MatMul", ["a", "k"], ["p"]),
        NODE("Softmax", ["p"], ["c"]),
    ]
    made = quantised(nodes, {"x": (2, 8)}, w=np.eye(8, dtype=np.int8), ws=F32(0.5))
    network = network_of(made)
    (layer,) = [layer for layer in network.layers if isinstance(layer, WeightLayer)]
    assert isinstance(layer.output, Dequantisation)
    x = random_integers(np.random.default_rng(1), (2, 8))
    real = evaluate(network, {"x": x})["p"]
    np.testing.assert_array_equal(real, (x.astype(F32) - 3) * F32(F32(0.02) * F32(0.5)))
    assert [layer.operator for layer in network.layers] == ["MatMul", "Softmax", "QuantizeLinear"]


def test_scales_of_half_precision_are_refused():
    half = np.float16(0.5)
    constants = {
        "as": half,
        "az": np.int8(0),
        "b": np.ones((4, 2), np.int8),
        "bs": half,
        "bz": np.int8(0),
        "ys": half,
        "yz": np.int8(0),
    }
    made = model(
        [NODE("QLinearMatMul", ["a", *constants], ["y"], name="it")],
        {"a": ((2, 4), INT8)},
        {"y": (None, INT8)},
        **constants,
    )
    with pytest.raises(
        LowerError, match=r"^node it \(QLinearMatMul\): scales of float16 are not supported$"
    ):
        network_of(made)


@pytest.mark.parametrize("name", ["a_scale", "a_zero", "x_signed", "t_integers", "b_fill"])
@pytest.mark.parametrize("is_constant", [True, False])
def test_names_of_the_model_are_no_names_of_new_values(name, is_constant):
    """A model may use the names that Macaw would give to new tensors and constants."""
    nodes = [
        NODE("DequantizeLinear", ["x", "xs", "xz"], ["a"]),
        NODE("Softmax", ["a"], ["s"]), NODE("Reshape", ["a", "shape"], ["t"]),
        NODE("Pad", ["a", "pads"], ["b"]), NODE("Exp", ["z"], ["e" if is_constant else name]),
        NODE("Sum", ["s", "t", "b", name], ["y"]),
    ]  # fmt: skip
    constants = {
        "xs": F32(0.1), "xz": np.uint8(7), "shape": np.array([2, 3]), "pads": np.zeros(4, np.int64)
    }  # fmt: skip
    if is_constant:
        constants[name] = F32(9)
    made = model(nodes, {"x": ((2, 3), UINT8), "z": (2, 3)}, **constants)
    inputs = {"x": np.arange(6).astype(np.uint8).reshape(2, 3), "z": np.ones((2, 3), F32)}
    wanted = runtime_outputs(made, **inputs)[0]
    np.testing.assert_allclose(outputs_of(made, **inputs)[0], wanted, rtol=1e-6)
