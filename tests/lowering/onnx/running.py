"""Runs models in Macaw's evaluator and in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime
from onnx import shape_inference

from macaw.lowering.onnx.canonical import canonical
from macaw.lowering.onnx.fuse import fuse
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.model_file import check
from macaw.lowering.onnx.read import Wishes, read
from macaw.lowering.onnx.reference import evaluate


def network_of(made, **wishes):
    """Read a model and check it; return its network of layers."""
    check(made)
    return layers(fuse(canonical(read(made, Wishes(**wishes)))))


def outputs_of(made, **inputs):
    """The outputs of a model, by Macaw's evaluator."""
    network = network_of(made)
    arrays = evaluate(network, inputs)
    return [arrays[name] for name in network.outputs]


def runtime_outputs(made, optimised=False, **inputs):
    """The outputs of a model, by onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        shape_inference.infer_shapes(made).SerializeToString(),
        options,
        providers=["CPUExecutionProvider"],
    )
    return session.run(None, inputs)


def random_integers(random, shape, dtype="int8"):
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)
