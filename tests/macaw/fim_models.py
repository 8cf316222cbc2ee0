"""Saves small ONNX models for the islands; they may use a constant matrix of whole numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)
WEIGHTS = RNG.integers(-3, 4, (16, 8)).astype(np.float32)


def saved(
    path: Path, *nodes: onnx.NodeProto, rows: int | str = 20, **constants: np.ndarray
) -> None:
    """Save a model with an input x (rows, 16) and an output y, made of `nodes`.

    Nodes may use the constant W (16, 8), which is WEIGHTS, and `constants`.
    """
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])],
        [numpy_helper.from_array(row, name) for name, row in {"W": WEIGHTS, **constants}.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)


MATMUL = helper.make_node("MatMul", ["x", "W"], ["y"])
