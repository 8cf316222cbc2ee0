"""Makes small ONNX models; checks them against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from macaw.lowering.fim.onnx_graph import read

RANDOM = np.random.default_rng(5)


def model(nodes, inputs, outputs=("y",), **constants):
    """A model of the given nodes; `inputs` are shapes by name."""
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def check_outputs(made, form=1, **dims):
    """Check that the tasks of a model give onnxruntime's outputs; return the graph of tasks."""
    found = read(made, form, dims)
    given = {
        row.name: RANDOM.standard_normal(shape).astype(np.float32)
        for row, shape in zip(made.graph.input, found.inputs.values(), strict=True)
    }
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    wanted = session.run(None, given)
    matrices = {
        name: array.reshape(found.graph.tensors[name].rows, -1)
        for name, array in zip(found.inputs, given.values(), strict=True)
    }
    tensors = found.graph.evaluate(matrices)
    assert [tensor.name for tensor in found.graph.results] == list(found.outputs)
    for (name, shape), array in zip(found.outputs.items(), wanted, strict=True):
        assert shape == array.shape
        np.testing.assert_allclose(tensors[name].reshape(shape), array, rtol=1e-4, atol=1e-5)
    return found.graph


def random_numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def task_kinds(graph):
    return [task.kind for task in graph.tasks]


def model_of_node(kind, inputs=("x",), shape=(4, 4), constants=None, **attributes):
    node = helper.make_node(kind, list(inputs), ["y"], name="it", **attributes)
    given = {"x": shape, "z": shape} if "z" in inputs else {"x": shape}
    return model([node], given, **(constants or {}))
