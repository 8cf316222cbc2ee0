"""ONNX operators made of products and functions, against onnxruntime and bit for bit on islands."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, POINTWISE, PRODUCT
from macaw.lowering.fim.onnx_graph import read
from tests.lowering.fim.onnx_models import check_outputs, model, random_numbers, task_kinds
from tests.lowering.fim.running import modelled

pytestmark = pytest.mark.usefixtures("short_search")

NODE = helper.make_node
positive = np.abs(random_numbers(4)) + np.float32(0.5)

# fmt: off
OPERATORS = [
    ("AveragePool", {"kernel_shape": [2, 3]}, (2, 3, 4, 5), []),
    ("AveragePool", {"kernel_shape": [2, 2], "strides": [2, 1], "pads": [1, 0, 0, 1], "count_include_pad": 1}, (1, 3, 4, 5), []),
    ("AveragePool", {"kernel_shape": [2], "dilations": [2]}, (2, 3, 6), []),
    ("AveragePool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}, (1, 3, 4, 5), []),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, (1, 3, 6, 5), []),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [3, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1, "count_include_pad": 1}, (2, 2, 6, 6), []),
    ("ConvTranspose", {"strides": [2, 2]}, (1, 3, 4, 5), [random_numbers(3, 2, 2, 2), random_numbers(2)]),
    ("ConvTranspose", {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 2, 1], "output_padding": [1, 0]}, (2, 3, 4, 3), [random_numbers(3, 2, 3, 2)]),
    ("ConvTranspose", {"group": 2, "pads": [2, 2]}, (1, 4, 6), [random_numbers(4, 3, 2)]),
    ("BatchNormalization", {"epsilon": 0.01}, (2, 4, 3, 3), [random_numbers(4), random_numbers(4), random_numbers(4), positive]),
    ("BatchNormalization", {}, (3, 4), [random_numbers(4), random_numbers(4), random_numbers(4), positive]),
    ("GlobalAveragePool", {}, (2, 3, 4, 5), []),
    ("LayerNormalization", {"axis": -1}, (3, 4), [random_numbers(4), random_numbers(4)]),
    ("LayerNormalization", {"axis": 1, "epsilon": 0.1}, (2, 3, 4), [random_numbers(3, 4)]),
    ("Mean", {}, (3, 4), [random_numbers(4), random_numbers(3, 1)]),
    ("Mean", {}, (3, 4), []),
    ("Neg", {}, (3, 4), []),
    ("ReduceMean", {"keepdims": 0}, (2, 3, 4), [np.array([0, 2])]),
    ("ReduceMean", {}, (2, 3, 4), []),
    ("ReduceSum", {"keepdims": 1}, (2, 3, 4), [np.array([-1])]),
    ("ReduceSum", {"keepdims": 0}, (2, 3, 4), [np.array([1])]),
    ("ReduceSum", {"keepdims": 0}, (2, 3, 4), []),
    ("Sum", {}, (3, 4), [random_numbers(3, 4), random_numbers(4)]),
    ("Abs", {}, (3, 4), []),
    ("Clip", {}, (3, 4), [np.float32(-0.5), np.float32(0.5)]),
    ("Clip", {}, (3, 4), [np.float32(0)]),
    ("Exp", {}, (3, 4), []),
    ("GlobalMaxPool", {}, (2, 3, 4, 5), []),
    ("HardSigmoid", {"alpha": 0.5}, (3, 4), []),
    ("HardSwish", {}, (3, 4), []),
    ("LRN", {"size": 3, "alpha": 0.5, "bias": 2.0}, (2, 5, 3, 2), []),
    ("LRN", {"size": 5, "alpha": 0.5, "beta": 0.5}, (1, 5, 3, 2), []),
    ("LRN", {"size": 1, "beta": 1.0}, (1, 5, 3, 2), []),
    ("LeakyRelu", {}, (3, 4), []),
    ("Max", {}, (3, 4), [random_numbers(4), random_numbers(3, 1)]),
    ("Max", {}, (3, 4), []),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, (2, 3, 4, 5), []),
    ("MaxPool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 2, 1]}, (1, 3, 4, 5), []),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, (1, 2, 6, 5), []),
    ("MaxPool", {"kernel_shape": [3], "dilations": [2], "pads": [1, 2]}, (2, 3, 6), []),
    ("MaxPool", {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}, (1, 2, 6, 5), []),
    ("Min", {}, (3, 4), [random_numbers(3, 4)]),
    ("PRelu", {}, (3, 4), [random_numbers(4)]),
    ("Pow", {}, (3, 4), [np.float32(3)]),
    ("Resize", {"mode": "nearest"}, (1, 2, 3, 4), [np.array([], np.float32), np.array([1, 1, 2, 1.5], np.float32)]),
    ("ReduceMax", {"keepdims": 0}, (3, 20), [np.array([-1])]),
    ("ReduceMin", {}, (2, 3, 4), [np.array([0, 2])]),
    ("Softmax", {}, (3, 4), []),
    ("Softmax", {"axis": 1}, (2, 11, 4), []),
]
# fmt: on


@pytest.mark.parametrize(("kind", "attributes", "shape", "inputs"), OPERATORS)
def test_operators(kind, attributes, shape, inputs):
    names = [f"i{number}" for number in range(len(inputs))]
    nodes = [NODE(kind, ["x", *names], ["m"], **attributes), NODE("Relu", ["m"], ["y"])]
    check_outputs(model(nodes, {"x": shape}, **dict(zip(names, inputs, strict=True))))


def test_constants_are_moved_beforehand():
    """The compiler itself repeats and rearranges a constant, so the islands need no gather for it."""
    nodes = [NODE("LayerNormalization", ["c", "x"], ["y"])]
    kinds = task_kinds(check_outputs(model(nodes, {"x": (4,)}, c=random_numbers(3, 4))))
    assert kinds.count(GATHER) == 3  # the mean, the deviation and the scale are repeated
    image, weights = random_numbers(1, 2, 4, 4), random_numbers(3, 2, 2, 2)
    nodes = [NODE("Conv", ["c", "w", "x"], ["y"])]
    made = model(nodes, {"x": (3,)}, c=image, w=weights)
    assert task_kinds(check_outputs(made)) == [PRODUCT, GATHER, POINTWISE]


def test_a_sum_of_no_axes_is_the_input():
    axes = np.array([], np.int64)
    nodes = [
        NODE("ReduceSum", ["x", "axes"], ["m"], noop_with_empty_axes=1),
        NODE("Relu", ["m"], ["y"]),
    ]
    assert task_kinds(check_outputs(model(nodes, {"x": (2, 3)}, axes=axes))) == [POINTWISE]


def test_a_sum_of_last_axes_needs_no_copy():
    nodes = [NODE("ReduceSum", ["x", "axes"], ["y"])]
    made = model(nodes, {"x": (2, 3, 4)}, axes=np.array([1, 2]))
    assert task_kinds(check_outputs(made)) == [PRODUCT]
    made = model(nodes, {"x": (2, 3, 4)}, axes=np.array([0]))
    assert task_kinds(check_outputs(made)) == [GATHER, PRODUCT]


def test_reciprocal():
    nodes = [
        NODE("Mul", ["x", "x"], ["s"]),
        NODE("Add", ["s", "c"], ["p"]),
        NODE("Reciprocal", ["p"], ["y"]),
    ]
    check_outputs(model(nodes, {"x": (3, 4)}, c=np.float32(0.5)))


MATRICES = [
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (3, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((4,), (2, 4, 5)),
]


@pytest.mark.parametrize(("left", "right"), MATRICES)
@pytest.mark.parametrize("constant", [False, True])
def test_a_product_of_several_matrices(left, right, constant):
    nodes = [NODE("MatMul", ["x", "z"], ["m"]), NODE("Relu", ["m"], ["y"])]
    given = {"x": left} if constant else {"x": left, "z": right}
    constants = {"z": random_numbers(*right)} if constant else {}
    graph = check_outputs(model(nodes, given, **constants))
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    assert task_kinds(graph) == [PRODUCT] * int(np.prod(batch)) + [POINTWISE]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("outputs", [["y"], ["y", "h", "c"], ["", "h"], ["", "", "c"]])
def test_lstm(direction, outputs):
    ways = 1 + (direction == "bidirectional")
    node = NODE(
        "LSTM", ["x", "w", "r", "b", "", "h0", "c0"], outputs, hidden_size=3, direction=direction
    )
    given = {"x": (3, 2, 4), "h0": (ways, 2, 3), "c0": (ways, 2, 3)}
    made = model(
        [node], given, [name for name in outputs if name],
        w=random_numbers(ways, 12, 4), r=random_numbers(ways, 12, 3), b=random_numbers(ways, 24),
    )  # fmt: skip
    check_outputs(made)


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_directions_without_bias_and_state(kind, direction):
    ways, gates = 1 + (direction == "bidirectional"), 3 + (kind == "LSTM")
    node = NODE(kind, ["x", "w", "r"], ["y", "h"], hidden_size=3, direction=direction)
    made = model(
        [node], {"x": (2, 1, 4)}, ["y", "h"],
        w=random_numbers(ways, 3 * gates, 4), r=random_numbers(ways, 3 * gates, 3),
    )  # fmt: skip
    check_outputs(made)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("outputs", [["y"], ["", "h"]])
def test_rnn(direction, outputs):
    ways = 1 + (direction == "bidirectional")
    functions = ["Relu", "Sigmoid"][:ways]
    node = NODE(
        "RNN", ["x", "w", "r", "b"], outputs, hidden_size=3, direction=direction,
        activations=functions,
    )  # fmt: skip
    constants = {name: random_numbers(ways, 3, size) for name, size in (("w", 4), ("r", 3))}
    names = [name for name in outputs if name]
    check_outputs(model([node], {"x": (3, 2, 4)}, names, b=random_numbers(ways, 6), **constants))


def test_other_functions_of_cells():
    constants = {"w": random_numbers(1, 9, 4), "r": random_numbers(1, 9, 3)}
    functions = ["Tanh", "Relu"]
    node = NODE("GRU", ["x", "w", "r"], ["y"], hidden_size=3, activations=functions)
    check_outputs(model([node], {"x": (2, 1, 4)}, **constants))
    constants = {"w": random_numbers(1, 12, 4), "r": random_numbers(1, 12, 3)}
    functions = ["Tanh", "Relu", "Sigmoid"]
    node = NODE("LSTM", ["x", "w", "r"], ["y"], hidden_size=3, activations=functions)
    check_outputs(model([node], {"x": (2, 1, 4)}, **constants))


def test_peepholes():
    check_outputs(_peepholes())


def test_softmax_until_operator_set_12():
    """Softmax of operator set 12 is taken over all axes from `axis` on."""
    made = model([NODE("Softmax", ["x"], ["y"], axis=1)], {"x": (2, 3, 4)})
    made.opset_import[0].version = 12
    check_outputs(made)


def test_limits_as_attributes():
    made = model([NODE("Clip", ["x"], ["y"], min=-0.5, max=0.5)], {"x": (3, 4)})
    made.opset_import[0].version = 10
    check_outputs(made)


def test_an_even_number_of_channels():
    """An LRN of even size equals ONNX's evaluator.

    Onnxruntime has no LRN of even size. The evaluator needs equal numbers of channels and images.
    """
    made = model([NODE("LRN", ["x"], ["y"], size=4, alpha=0.5)], {"x": (5, 5, 2, 3)})
    x = random_numbers(5, 5, 2, 3)
    graph = read(made, 1).graph
    (wanted,) = ReferenceEvaluator(made).run(None, {"x": x})
    found = graph.evaluate({"x": x.reshape(-1, 3)})["y"].reshape(x.shape)
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-5)


def _lstm(**attributes):
    node = NODE("LSTM", ["x", "w", "r"], ["y"], name="it", hidden_size=1, **attributes)
    return model([node], {"x": (1, 1, 2)}, w=random_numbers(1, 4, 2), r=random_numbers(1, 4, 1))


def _peepholes(*inputs):
    """A model of an LSTM with peepholes `p`; `inputs` names constants that become inputs."""
    node = NODE("LSTM", ["x", "w", "r", "", "", "", "", "p"], ["y"], name="it", hidden_size=3)
    constants = {
        "w": random_numbers(1, 12, 4),
        "r": random_numbers(1, 12, 3),
        "p": random_numbers(1, 9),
    }
    shapes = {name: constants.pop(name).shape for name in inputs}
    return model([node], {"x": (2, 2, 4), **shapes}, **constants)


# fmt: off
REFUSED = [
    (model([NODE("ConvTranspose", ["c", "x"], ["y"], name="it")], {"x": (2, 1, 2)}, c=random_numbers(1, 2, 4)), "its weights depend on an input"),
    (model([NODE("Resize", ["x", "", "s"], ["y"], name="it", mode="linear")], {"x": (4, 4)}, s=np.array([2, 2], np.float32)), "the mode linear"),
    (_lstm(input_forget=1), "input_forget is not supported"),
    (_lstm(clip=1.0), "clip is not supported"),
    (_lstm(activations=["Sigmoid", "Elu", "Tanh"]), "the functions Sigmoid Elu Tanh"),
    (_lstm(activations=["Sigmoid", "Tanh"]), "the functions Sigmoid Tanh"),
    (model([NODE("MaxPool", ["x"], ["y", "i"], name="it", kernel_shape=[2, 2])], {"x": (1, 1, 4, 4)}), "its indices are no results on islands"),
    (model([NODE("MaxPool", ["x"], ["y"], name="it", kernel_shape=[2], dilations=[4], pads=[2, 2])], {"x": (1, 1, 2)}), "a window lies outside of the image"),
    (model([NODE("AveragePool", ["x"], ["y"], name="it", kernel_shape=[2], dilations=[4], pads=[2, 2])], {"x": (1, 1, 2)}), "a window lies outside of the image"),
    (model([NODE("LRN", ["x"], ["y"], name="it", size=3)], {"x": (4,)}), "an image of the shape"),
    (model([NODE("GlobalMaxPool", ["x"], ["y"], name="it")], {"x": (1, 4)}), "an image of the shape"),
    (model([NODE("LRN", ["x"], ["y"], name="it", size=3, beta=0.6)], {"x": (1, 4, 2, 2)}), "a beta of 0.6"),
    (model([NODE("Pow", ["x", "e"], ["y"], name="it")], {"x": (4,)}, e=np.float32(0.3)), "its exponent is no constant of 0.5, 1, 2 or 3"),
    (model([NODE("ReduceMax", ["x"], ["y"], name="it")], {"x": ()}), "a reduction of the shape"),
    (_peepholes("p"), "its peepholes depend on an input"),
    (model([NODE("BatchNormalization", ["x", "s", "s", "x0", "s"], ["y"], name="it")], {"x": (2, 4), "x0": (4,)}, s=positive), "its scale, bias, mean or variance depends on an input"),
    (model([NODE("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "m", "v"], name="it", training_mode=1)], {"x": (2, 4)}, s=positive), "it computes means while training"),
    (model([NODE("LayerNormalization", ["x", "s"], ["y", "m"], name="it")], {"x": (2, 4)}, ["y", "m"], s=positive), "its mean and deviation are no results on islands"),
]
# fmt: on


def test_resize_of_operator_set_10():
    """Resize of operator set 10 has its scales as second input, and rounds places down."""
    scales = np.array([1, 1, 2, 1.5], np.float32)
    made = model([NODE("Resize", ["x", "s"], ["y"], name="it")], {"x": (1, 2, 3, 4)}, s=scales)
    made.opset_import[0].version = 10
    check_outputs(made)


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_refusals_name_the_node(made, message):
    with pytest.raises(LowerError, match=message) as caught:
        read(made, form=0)
    assert str(caught.value).startswith("node it (")


def test_a_normalised_attention_on_islands():
    """An attention of two heads with a norm gives the bits of islands."""
    nodes = [
        NODE("MatMul", ["q", "k"], ["scores"]),
        NODE("Sigmoid", ["scores"], ["shares"]),
        NODE("MatMul", ["shares", "v"], ["heads"]),
        NODE("LayerNormalization", ["heads", "scale", "shift"], ["y"]),
    ]
    shapes = {"q": (2, 4, 8), "k": (2, 8, 4), "v": (2, 4, 16)}
    made = model(nodes, shapes, scale=random_numbers(16), shift=random_numbers(16))
    found = macaw.lower_graph(made)
    inputs = {name: random_numbers(*shape).astype(np.float16) for name, shape in shapes.items()}
    run = macaw.run(found.assemble(), inputs)
    for name, array in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], array)
    assert found.cycles == pytest.approx(run.cycles, rel=0.05)
