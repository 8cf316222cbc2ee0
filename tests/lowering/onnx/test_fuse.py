"""Fused nodes: which nodes are fused, their names, and unchanged values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from onnx import TensorProto

from macaw.lowering.onnx.canonical import canonical
from macaw.lowering.onnx.fuse import fuse
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.read import read
from macaw.lowering.onnx.reference import evaluate
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import runtime_outputs

RANDOM = np.random.default_rng(5)
IMAGE = (2, 4, 5, 5)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def fused(made, rtol=1e-4, atol=1e-5):
    """Fuse a model and compare its outputs with onnxruntime's; return the graph."""
    graph = fuse(canonical(read(made)))
    inputs = {name: numbers(*graph.values[name].shape) * 2 for name in graph.inputs}
    arrays = evaluate(layers(graph), inputs)
    wanted = runtime_outputs(made, **inputs)
    for name, array in zip(graph.outputs, wanted, strict=True):
        np.testing.assert_allclose(arrays[name], array, rtol=rtol, atol=atol)
    return graph


def operators(graph):
    return [node.operator for node in graph.nodes]


def chain(*steps, shape=(3, 8), version=17, **constants):
    """A model of a chain of nodes; in a step `.` stands for the previous value, `x` for input."""
    nodes, last = [], "x"
    for place, (kind, inputs, attributes) in enumerate(steps):
        result = "y" if place == len(steps) - 1 else f"v{place}"
        names = [last if name == "." else name for name in inputs]
        nodes.append(NODE(kind, names, [result], name=f"n{place}", **attributes))
        last = result
    return model(nodes, {"x": shape}, version=version, **constants)


def step(kind, *inputs, **attributes):
    return kind, inputs or (".",), attributes


THREE, SIX, ZERO, SIXTH = (np.float32(value) for value in (3, 6, 0, 1 / 6))
CLIP = (step("Add", "x", "c3"), step("Clip", ".", "c0", "c6"))
HARD = {"c3": THREE, "c6": SIX, "c0": ZERO, "c": SIXTH}
ROOT, HALF, ONE = np.float32(math.sqrt(2)), np.float32(0.5), np.float32(1)
ERF = (step("Div", "x", "r"), step("Erf"), step("Add", ".", "one"))
GELU = {"r": ROOT, "h": HALF, "one": ONE}
FUNCTIONS = [
    (chain(*CLIP, step("Mul", "x", "."), step("Div", ".", "c6"), **HARD), "HardSwish"),
    (chain(*CLIP, step("Mul", ".", "x"), step("Mul", ".", "c"), **HARD), "HardSwish"),
    (chain(*CLIP, step("Div", ".", "c6"), step("Mul", "x", "."), **HARD), "HardSwish"),
    (chain(*CLIP, step("Mul", "c", "."), step("Mul", ".", "x"), **HARD), "HardSwish"),
    (chain(step("HardSigmoid", "x", alpha=1 / 6, beta=0.5), step("Mul", "x", ".")), "HardSwish"),
    (chain(step("Add", "c3", "x"), step("Clip", ".", min=0.0, max=6.0), step("Mul", ".", "x"), step("Div", ".", "c6"), version=10, c3=THREE, c6=SIX), "HardSwish"),
    (chain(*CLIP, step("Div", ".", "c6"), **HARD), "HardSigmoid"),
    (chain(step("Sigmoid", "x"), step("Mul", "x", ".")), "Swish"),
    (chain(step("Mul", "x", "a"), step("Sigmoid"), step("Mul", "x", "."), a=np.float32(1.7)), "Swish"),
    (chain(*ERF, step("Mul", "x", "."), step("Mul", ".", "h"), **GELU), "Gelu"),
    (chain(*ERF, step("Mul", ".", "h"), step("Mul", "x", "."), **GELU), "Gelu"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "operator"), FUNCTIONS)
def test_functions_that_are_spelled_out(made, operator):
    graph = fused(made)
    (node,) = graph.nodes
    assert node.operator == operator
    assert (node.inputs, node.outputs) == (("x",), ("y",))
    assert set(node.attributes["parts"]) == {row.name for row in made.graph.node}


def test_gelu_by_tanh():
    nodes = [
        NODE("Pow", ["x", "three"], ["cube"]), NODE("Mul", ["cube", "k"], ["part"]), NODE("Add", ["x", "part"], ["sum"]),
        NODE("Mul", ["sum", "root"], ["inner"]), NODE("Tanh", ["inner"], ["t"]), NODE("Add", ["t", "one"], ["more"]),
        NODE("Mul", ["x", "half"], ["less"]), NODE("Mul", ["less", "more"], ["y"]),
    ]  # fmt: skip
    constants = {
        "three": THREE,
        "k": np.float32(0.044715),
        "root": np.float32(math.sqrt(2 / math.pi)),
        "one": ONE,
        "half": HALF,
    }
    graph = fused(model(nodes, {"x": (4, 5)}, version=17, **constants))
    assert operators(graph) == ["Gelu"]
    assert graph.nodes[0].attributes["approximate"] == "tanh"


def norm(square, *, keep=1, eps=1e-5, axes=(-1,), tail=True):
    axes = list(axes)
    nodes = [
        NODE("ReduceMean", ["x"], ["m"], axes=axes, keepdims=keep), NODE("Sub", ["x", "m"], ["d"]), square,
        NODE("ReduceMean", ["s"], ["v"], axes=axes, keepdims=keep), NODE("Add", ["v", "eps"], ["e"]), NODE("Sqrt", ["e"], ["r"]),
        NODE("Div", ["d", "r"], ["n" if tail else "y"]),
    ]  # fmt: skip
    if tail:
        nodes += [NODE("Mul", ["n", "g"], ["z"]), NODE("Add", ["z", "b"], ["y"])]
    constants = {"eps": np.float32(eps), "two": np.float32(2), "g": numbers(8), "b": numbers(8)}
    return model(nodes, {"x": (8, 8)}, version=17, **constants)


@pytest.mark.parametrize(
    "square", [NODE("Pow", ["d", "two"], ["s"]), NODE("Mul", ["d", "d"], ["s"])]
)
@pytest.mark.parametrize("tail", [True, False])
def test_layer_normalisation(square, tail):
    graph = fused(norm(square, tail=tail, eps=0.01))
    assert operators(graph) == ["LayerNormalization"]
    assert graph.nodes[0].attributes["epsilon"] == pytest.approx(0.01)


@pytest.mark.parametrize("changes", [{"axes": (0,)}, {"keep": 0}])
def test_other_norms_stay(changes):
    """A norm over another axis, or with constants for another axis, is not fused."""
    graph = fused(norm(NODE("Pow", ["d", "two"], ["s"]), **changes))
    assert "LayerNormalization" not in operators(graph)


def test_a_value_that_others_read_stays():
    made = chain(step("Sigmoid", "x"), step("Mul", "x", "."))
    made.graph.output.append(type(made.graph.output[0])(name="v0", type=made.graph.output[0].type))
    assert operators(fused(made)) == ["Sigmoid", "Mul"]


AFFINE = {
    "w": numbers(6, 4, 3, 3), "s": numbers(6), "o": numbers(6), "m": numbers(6), "v": RANDOM.uniform(0.5, 2, 6).astype(np.float32),
    "each": numbers(1, 6, 1, 1), "all": np.float32(3), "bias": numbers(6),
}  # fmt: skip


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_scales_and_shifts_become_weights(kind, bias):
    nodes = [
        NODE(kind, ["x", "w", *(["bias"] if bias else [])], ["a"], name="conv", group=2 if kind == "ConvTranspose" else 1),
        NODE("BatchNormalization", ["a", "s", "o", "m", "v"], ["b"], name="bn"), NODE("Mul", ["each", "b"], ["c"], name="scaled"),
        NODE("Add", ["c", "each"], ["d"], name="moved"), NODE("Sub", ["d", "all"], ["e"]), NODE("Div", ["e", "all"], ["f"]),
        NODE("Relu", ["f"], ["y"], name="last"),
    ]  # fmt: skip
    constants = {**AFFINE, "w": numbers(4, 3, 3, 3)} if kind == "ConvTranspose" else AFFINE
    graph = fused(model(nodes, {"x": IMAGE}, **constants))
    (node,) = graph.nodes
    assert (node.operator, node.name, node.outputs) == (kind, "conv", ("y",))
    assert node.attributes["parts"] == ("conv", "bn", "scaled", "moved", "e", "f", "last")
    assert node.attributes["activation_range"] == (0, math.inf)
    assert len(node.inputs) == 3


@pytest.mark.parametrize("node", [
    NODE("Gemm", ["x", "w", "bias"], ["a"], transB=1), NODE("Gemm", ["x", "u"], ["a"]), NODE("MatMul", ["x", "u"], ["a"]),
])  # fmt: skip
def test_products_take_biases(node):
    nodes = [
        node,
        NODE("Add", ["a", "s"], ["b"]),
        NODE("Mul", ["b", "o"], ["c"]),
        NODE("Clip", ["c", "lo", "hi"], ["y"]),
    ]
    constants = {
        "w": numbers(6, 4),
        "u": numbers(4, 6),
        "bias": numbers(6),
        "s": numbers(6),
        "o": numbers(6),
        "lo": np.float32(-1),
        "hi": np.float32(1),
    }
    graph = fused(model(nodes, {"x": (3, 4)}, **constants))
    assert operators(graph) == [node.op_type]
    assert graph.nodes[0].attributes["activation_range"] == (-1, 1)


STAYS = [
    [NODE("Conv", ["x", "w"], ["a"]), NODE("Add", ["a", "row"], ["y"])],  # a shift of columns
    [NODE("Conv", ["x", "w"], ["a"]), NODE("Div", ["each", "a"], ["y"])],  # a quotient the other way
    [NODE("Conv", ["x", "w"], ["a"]), NODE("Relu", ["a"], ["b"]), NODE("Mul", ["b", "each"], ["y"])],
    [NODE("Conv", ["x", "w"], ["a"]), NODE("Mul", ["a", "each"], ["b"]), NODE("Add", ["a", "b"], ["y"])],
]  # fmt: skip


@pytest.mark.parametrize("nodes", STAYS)
def test_what_is_no_scale_of_channels_stays(nodes):
    graph = fused(model(nodes, {"x": IMAGE}, **AFFINE, row=numbers(1, 1, 1, 3)))
    assert len(graph.nodes) == len(nodes) - ("Relu" in [node.op_type for node in nodes])


def test_residual_sums_take_a_relu():
    nodes = [NODE("Add", ["x", "z"], ["a"], name="join"), NODE("Relu", ["a"], ["y"])]
    graph = fused(model(nodes, {"x": IMAGE, "z": IMAGE}))
    assert [(node.operator, node.name, node.outputs) for node in graph.nodes] == [
        ("Add", "join", ("y",))
    ]


def test_a_lone_normalisation_becomes_a_convolution():
    """A BatchNormalization without a convolution, and the nodes after it, become a convolution.

    The blocks of DenseNet begin with such a BatchNormalization.
    """
    nodes = [
        NODE("Relu", ["x"], ["r"]), NODE("BatchNormalization", ["r", "s", "o", "m", "v"], ["b"], name="bn"),
        NODE("Mul", ["b", "each"], ["c"]), NODE("Add", ["c", "each"], ["y"]),
    ]  # fmt: skip
    graph = fused(model(nodes, {"x": (2, 6, 5, 5)}, **AFFINE))
    assert operators(graph) == ["Relu", "Conv"]
    assert graph.nodes[1].attributes["group"] == 6


def test_copies_go_and_outputs_keep_their_names():
    nodes = [
        NODE("Identity", ["x"], ["a"]), NODE("Cast", ["a"], ["b"], to=TensorProto.FLOAT), NODE("Neg", ["b"], ["c"], name="minus"),
        NODE("Identity", ["c"], ["y"]), NODE("Abs", ["x"], ["unused"]),
    ]  # fmt: skip
    graph = fused(model(nodes, {"x": (2, 3)}))
    assert [(node.name, node.inputs, node.outputs) for node in graph.nodes] == [
        ("minus", ("x",), ("y",))
    ]
    graph = fused(model([NODE("Identity", ["x"], ["y"])], {"x": (2, 3)}))
    assert operators(graph) == ["Identity"]
    nodes = [
        NODE("Neg", ["x"], ["c"]),
        NODE("Identity", ["c"], ["y"]),
        NODE("Identity", ["c"], ["z"]),
    ]
    assert operators(fused(model(nodes, {"x": (2, 3)}, ["y", "z"]))) == [
        "Neg",
        "Identity",
        "Identity",
    ]
