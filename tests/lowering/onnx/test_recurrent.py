"""RNN, GRU and LSTM with their own activations, in constants, and in refused modes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from onnx import TensorProto

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.table import compute
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import outputs_of, runtime_outputs

RANDOM = np.random.default_rng(7)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {
    "RNN": ["Relu", "Sigmoid"],
    "GRU": ["Tanh", "Relu", "Sigmoid", "Sigmoid"],
    "LSTM": ["Sigmoid", "Relu", "Tanh", "Relu", "Tanh", "Sigmoid"],
}  # of both directions


def numbers(*shape):
    return (RANDOM.standard_normal(shape) / 2).astype(np.float32)


def weights(kind, ways=1):
    """W, R and B of a layer of 3 inputs and 4 cells."""
    rows = GATES[kind] * 4
    return {"W": numbers(ways, rows, 3), "R": numbers(ways, rows, 4), "B": numbers(ways, 2 * rows)}


def activations(kind, direction):
    names = ACTIVATIONS[kind]
    return names if direction == "bidirectional" else names[: len(names) // 2]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_activations_are_those_of_onnxruntime(kind, direction):
    """The layer has other activations in each direction; its input may be a constant, too."""
    ways = 1 + (direction == "bidirectional")
    node = NODE(
        kind, ["x", "W", "R", "B"], ["y", "h"], hidden_size=4, direction=direction,
        activations=activations(kind, direction),
    )  # fmt: skip
    x, constants = numbers(5, 2, 3), weights(kind, ways)
    made = model([node], {"x": x.shape}, ["y", "h"], **constants)
    wanted = runtime_outputs(made, x=x)
    for found, right in zip(outputs_of(made, x=x), wanted, strict=True):
        np.testing.assert_allclose(found, right, atol=1e-5)
    added = NODE("Add", ["y", "z"], ["sum"])
    made = model([node, added], {"z": wanted[0].shape}, ["sum"], x=x, **constants)
    (found,) = outputs_of(made, z=np.zeros_like(wanted[0]))
    np.testing.assert_allclose(found, wanted[0], atol=1e-5)


def test_each_operation_rounds_to_the_type_of_the_input():
    """A layer of one cell in half precision, by a calculation with one number at a time."""
    half = np.float16
    x, w, r, b, p = (
        numbers(*shape).astype(half) for shape in ((9, 1, 1), (1, 4, 1), (1, 4, 1), (1, 8), (1, 3))
    )
    node = Node(
        "", "LSTM", tuple("xwrb") + ("", "", "", "p"), ("y",),
        {"hidden_size": 1, "activations": ["Sigmoid", "Relu", "Tanh"]},
    )  # fmt: skip
    (found,) = compute(node, [x, w, r, b, None, None, None, p])
    wanted, h, c = [], half(0), half(0)

    def sigmoid(number):
        return half(1 / (1 + math.exp(-float(number))))

    for number in x.reshape(-1):
        i, o, f, g = (
            number * w[0, gate, 0] + h * r[0, gate, 0] + (b[0, gate] + b[0, 4 + gate])
            for gate in range(4)
        )
        i, f = sigmoid(i + p[0, 0] * c), sigmoid(f + p[0, 2] * c)
        c = f * c + i * max(g, half(0))
        h = sigmoid(o + p[0, 1] * c) * half(math.tanh(float(c)))
        wanted.append(h)
    np.testing.assert_array_equal(found.reshape(-1), wanted)


def test_relu_of_nan_is_zero():
    """Relu in a layer gives what the operator Relu gives: the number of a NaN and a number."""
    node = Node("", "RNN", tuple("xwr"), ("y",), {"hidden_size": 1, "activations": ["Relu"]})
    one, zero = np.ones((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.float32)
    (found,) = compute(node, [np.array([np.nan, 2], np.float32).reshape(2, 1, 1), one, zero])
    assert found.reshape(-1).tolist() == [0, 2]


def test_a_layer_with_relu_is_quantised_around():
    """`macaw quantise` leaves the layer real, with its own activations."""
    nodes = [
        NODE("MatMul", ["x", "V"], ["a"], name="first"),
        NODE("GRU", ["a", "W", "R", "B"], ["y"], name="cells", hidden_size=4, activations=["Sigmoid", "Relu"]),
    ]  # fmt: skip
    shapes = {"x": (5, 1, 6)}, {"y": ((5, 1, 1, 4), TensorProto.FLOAT)}
    made = model(nodes, *shapes, V=numbers(6, 3), **weights("GRU"))
    data = numbers(8, 5, 1, 6)
    result = macaw.quantise(made, data)
    assert result.floats == ("cells",)
    wanted = np.stack([runtime_outputs(made, x=x)[0] for x in data])
    found = np.stack([outputs_of(result.model, x=x)[0] for x in data])
    np.testing.assert_allclose(found, wanted, atol=0.05)


def layer(kind, inputs=(), constants=None, **attributes):
    """A model of a layer for 4 steps of 2 items; `constants` replace or join its weights."""
    node = NODE(kind, ["x", "W", "R", "B", *inputs], ["y"], "it", **{"hidden_size": 4} | attributes)
    return model(
        [node], {"x": (4, 2, 3)}, {"y": ((4, 1, 2, 4), TensorProto.FLOAT)},
        **weights(kind) | (constants or {}),
    )  # fmt: skip


REFUSED = [
    (layer("LSTM", activations=["Sigmoid"]), "the functions Sigmoid are not supported"),
    (layer("RNN", activations=["Relu", "Relu"]), "the functions Relu Relu are not supported"),
    (layer("RNN", activations=["Softsign"]), "the functions Softsign are not supported"),
    (layer("GRU", clip=0.0), "clip is not supported"),
    (layer("GRU", constants={"B": numbers(1, 20)}), r"B has the shape \(1, 20\), not \(1, 24\)"),
    (layer("RNN", ["", "H"], {"H": numbers(1, 1, 4)}), r"initial_h has the shape \(1, 1, 4\), not \(1, 2, 4\)"),
    (layer("LSTM", ["", "", "C"], {"C": numbers(1, 2, 3)}), r"initial_c has the shape \(1, 2, 3\), not \(1, 2, 4\)"),
    (layer("LSTM", ["", "", "", "P"], {"P": numbers(1, 13)}), r"P has the shape \(1, 13\), not \(1, 12\)"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_refusals_name_the_node(made, message):
    """Macaw's evaluator, nnp and islands refuse a layer with the same message."""
    message = rf"^node it \(\w+\): {message}"
    with pytest.raises(LowerError, match=message):
        outputs_of(made, x=numbers(4, 2, 3))
    with pytest.raises(macaw.InputError, match=message):
        macaw.compile(made, device="tiny", core="nnp")
    with pytest.raises(macaw.InputError, match=message):
        macaw.lower_graph(made, device="tiny")


@pytest.mark.parametrize(
    ("attributes", "lengths", "message"),
    [
        ({"clip": 0.1}, None, "clip is not supported"),
        ({"activations": ["Sigmoid", "Softsign"]}, None, "the functions Sigmoid Softsign are not"),
        ({}, [4, 2], "sequences of different lengths are not supported"),
    ],
)
def test_constants_are_refused_in_modes_that_are_not_supported(attributes, lengths, message):
    """ONNX's reference evaluator ignores these modes, so it must not compute the constants."""
    constants = weights("GRU") | {"x": numbers(4, 2, 3)}
    inputs = ["x", "W", "R", "B"]
    if lengths:
        inputs, constants = [*inputs, "lengths"], {**constants, "lengths": np.int32(lengths)}
    nodes = [
        NODE("GRU", inputs, ["a"], "it", hidden_size=4, **attributes),
        NODE("Add", ["a", "z"], ["y"]),
    ]
    made = model(nodes, {"z": (4, 1, 2, 4)}, **constants)
    with pytest.raises(LowerError, match=rf"^node it \(GRU\): {message}"):
        outputs_of(made, z=numbers(4, 1, 2, 4))
