"""Small ONNX models for tests of the front end."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

NODE = helper.make_node


def typed(shapes, default=TensorProto.FLOAT):
    """Declarations of values, given by (shape, element type) or by a shape."""
    rows = []
    for name, shape in shapes.items():
        element = default
        if isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[0], tuple):
            shape, element = shape
        rows.append(helper.make_tensor_value_info(name, element, shape))
    return rows


def initializers(constants):
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]


def model(nodes, inputs, outputs=("y",), version=21, **constants):
    """Return a model; `inputs` are shapes by name.

    `outputs` are names, or (shape, element type) by name.
    """
    if not isinstance(outputs, dict):
        outputs = dict.fromkeys(outputs, (None, TensorProto.UNDEFINED))
    graph = helper.make_graph(
        list(nodes), "test", typed(inputs),
        [helper.make_tensor_value_info(name, element, shape) for name, (shape, element) in outputs.items()],
        initializers(constants),
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    made.ir_version = 10
    return made


def branch(name, nodes, outputs, **constants):
    """A graph for an attribute of `If`."""
    return helper.make_graph(
        list(nodes), name, [], typed(dict.fromkeys(outputs)), initializers(constants)
    )
