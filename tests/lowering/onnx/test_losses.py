"""Losses (dB) of quantised layers that read integers which no tensor of the model holds."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from tests.lowering.onnx.models import NODE, model


def padded_and_expanded(mode: str) -> onnx.ModelProto:
    """A model with a Pad whose result only an Expand reads, without quantisation between them."""
    random = np.random.default_rng(0)
    constants = [
        numpy_helper.from_array(random.normal(size=(8, 3)).astype(np.float32), "w"),
        numpy_helper.from_array(random.normal(size=(5, 2)).astype(np.float32), "v"),
        numpy_helper.from_array(np.array([0, 1, 1, 2]), "p"),
        numpy_helper.from_array(np.array([1, 2, 8]), "s"),
    ]
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "relu"),
        helper.make_node("MatMul", ["a", "v"], ["z"], "other"),
        helper.make_node("Pad", ["a", "p"], ["c"], "pad", mode=mode),
        helper.make_node("Expand", ["c", "s"], ["e"], "expand"),
        helper.make_node("MatMul", ["e", "w"], ["y"], "product"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 5])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3])
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph(nodes, "g", [x], [y, z], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 10
    return model


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
def test_integers_between_two_moves_have_the_loss_of_their_real_values(mode: str) -> None:
    images = np.random.default_rng(1).normal(size=(8, 1, 5)).astype(np.float32)
    made = macaw.quantise(padded_and_expanded(mode), images)
    losses = {loss.name: loss for loss in made.losses}
    assert losses["product"].own > 30
    assert losses["product"].whole > 30


def test_moved_integers_and_first_constants() -> None:
    """A Gather between layers on integers is no float layer; a constant has no type in the table."""
    random = np.random.default_rng(2)
    weights = random.normal(size=(6, 6)).astype(np.float32)
    nodes = [
        NODE("MatMul", ["x", "w"], ["a"], "first"),
        NODE("Sigmoid", ["a"], ["b"], "sigmoid"),
        NODE("Gather", ["b", "places"], ["c"], "gather", axis=1),
        NODE("MatMul", ["c", "w"], ["d"], "second"),
        NODE("Tanh", ["d"], ["t"], "tanh"),
        NODE("Mul", ["factor", "t"], ["e"], "mul"),
        NODE("Softmax", ["e"], ["y"], "softmax"),
    ]
    places, factor = np.array([5, 0, 1, 2, 3, 4]), np.full(6, 0.5, np.float32)
    found = model(nodes, {"x": (2, 6)}, {"y": ((2, 6), 1)}, w=weights, places=places, factor=factor)
    made = macaw.quantise(found, random.normal(size=(4, 2, 6)).astype(np.float32))
    types = {row.name: (row.input, row.output) for row in made.losses}
    assert types["gather"] == types["mul"] == ("int8", "int8")
    assert made.floats == ("softmax",)
    assert made.table()[-1] == "6 layers on integers, 1 floating-point: softmax"
