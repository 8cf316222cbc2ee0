"""Nodes that move quantised integers, as between QLinear operators, against ONNX's evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

import macaw
from tests.lowering.onnx.models import NODE, model

pytestmark = pytest.mark.usefixtures("few_plans")

ELEMENTS: dict[str, Any] = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}
# operator, attributes, constant inputs
MOVES: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, []),
    ("Reshape", {}, [[1, 64]]),
    ("Transpose", {"perm": [0, 2, 3, 1]}, []),
    ("Slice", {}, [[1], [4], [2]]),
    ("Split", {"axis": 1, "num_outputs": 1}, []),
    ("Pad", {}, [[0, 0, 1, 0, 0, 0, 0, 2]]),
    ("Pad", {"mode": "edge"}, [[0, 0, 1, 0, 0, 0, 0, 2]]),
    ("Resize", {}, [np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)]),
    ("Gather", {"axis": 1}, [[3, 0]]),
    ("Concat", {"axis": 1}, []),
]


def moves(kind: str, nodes: list[Any], result: Any, **constants: Any) -> Any:
    """A model of a QLinearConv, which makes "a" from x, and of nodes that make y."""
    dtype = np.dtype(kind).type
    first = NODE("QLinearConv", ["x", "s", "z", "w", "s", "wz", "s", "z"], ["a"], "conv")
    return model(
        [first, *nodes],
        {"x": ((1, 4, 4, 4), ELEMENTS[kind])},
        {"y": (None, result)},
        s=np.float32(0.125), z=dtype(0 if kind == "int8" else 130), wz=np.int8(0),
        w=np.random.default_rng(0).integers(-8, 9, (4, 4, 1, 1)).astype(np.int8),
        **constants,
    )  # fmt: skip


def check(made: Any, kind: str) -> None:
    info = np.iinfo(kind)
    shape = (1, 4, 4, 4)
    x = np.random.default_rng(1).integers(info.min, info.max + 1, shape).astype(kind)
    run = macaw.compile(made, device="tiny").run(x=x)
    assert all(layer.equal for layer in run.layers)
    witness: Any = ReferenceEvaluator(made)
    np.testing.assert_array_equal(run.outputs["y"], witness.run(None, {"x": x})[0])


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize(("operator", "attributes", "inputs"), MOVES)
def test_integers_are_moved(operator, attributes, inputs, kind):
    names = [f"c{place}" for place in range(len(inputs))]
    constants = dict(zip(names, map(np.asarray, inputs), strict=True))
    node = NODE(operator, ["a", *names], ["b"], "move", **attributes)
    last = NODE("DequantizeLinear", ["b", "s", "z"], ["y"])
    check(moves(kind, [node, last], TensorProto.FLOAT, **constants), kind)


@pytest.mark.parametrize("kind", ELEMENTS)
def test_moved_integers_may_be_the_output(kind):
    nodes = [
        NODE("Transpose", ["a"], ["t"], "turn", perm=[0, 3, 1, 2]),
        NODE("Pad", ["t", "pads", "number"], ["y"], "pad"),
    ]
    constants = {"pads": np.array([0, 0, 1, 1] * 2), "number": np.dtype(kind).type(7)}
    check(moves(kind, nodes, ELEMENTS[kind], **constants), kind)


def test_a_move_between_convolutions_and_a_mean():
    """The mean of moved integers knows their scale."""
    nodes = [
        NODE("MaxPool", ["a"], ["b"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        NODE("DequantizeLinear", ["b", "s", "z"], ["c"]),
        NODE("GlobalAveragePool", ["c"], ["d"], "mean"),
        NODE("QuantizeLinear", ["d", "half", "z"], ["y"]),
    ]
    check(moves("int8", nodes, TensorProto.INT8, half=np.float32(0.0625)), "int8")


@pytest.mark.parametrize(
    ("kind", "message"),
    [("int8", "it computes integers of int8"), ("uint8", "its input a is uint8")],
)
def test_refusals_name_the_node_that_computes_integers(kind, message):
    made = moves(kind, [NODE("Max", ["a", "z"], ["y"], "most")], ELEMENTS[kind])
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(made, device="tiny")
    assert str(caught.value) == f"node most (Max): {message}"
