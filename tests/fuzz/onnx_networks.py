"""Fuzzes the front end with ONNX models: it gives onnxruntime's results, or one clear sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.model_file import parse
from macaw.lowering.onnx.pipeline import Plan, fused_graph, network_of, quantise_model
from macaw.lowering.onnx.read import Wishes
from macaw.lowering.onnx.reference import evaluate
from macaw.lowering.onnx.values import Room
from tests.fuzz.onnx_models import (
    LARGE,
    ROOM,
    SECONDS,
    equal,
    loose,
    make,
    refused,
    sizes_by_name,
    witness,
)
from tests.fuzz.target import Example, Target


def check(example: Example[bytes]) -> str:
    """Freeze, fuse and evaluate a model, and compare with onnxruntime.

    Thorough examples are also quantised.
    """
    try:
        model = parse(example.data, Path("a.onnx"))
        dims = sizes_by_name(model)
        graph = fused_graph(model, Wishes(dims=dims, room=Room(ROOM, 4)))
        if any(np.prod(value.shape, dtype=object) > LARGE for value in graph.values.values()):
            return "read"
        random = np.random.default_rng(len(example.data))
        inputs = {}
        for name in graph.inputs:
            dtype = helper.tensor_dtype_to_np_dtype(graph.values[name].element)
            inputs[name] = random.uniform(-1, 1, graph.values[name].shape).astype(dtype)
        arrays = evaluate(layers(graph), inputs)
        result = _compared(model, graph.outputs, inputs, arrays)
        if not example.thorough:
            return result
        data = {name: np.stack([array, array]) for name, array in inputs.items()}
        made = quantise_model(model, data, Plan(dims=dims)).model
        evaluate(network_of(made), inputs)
    except LowerError as error:
        return refused(str(error), error.hint)
    return "quantised"


def _compared(
    model: onnx.ModelProto,
    names: tuple[str, ...],
    inputs: dict[str, np.ndarray],
    arrays: dict[str, np.ndarray],
) -> str:
    """Compare the outputs with onnxruntime's, unless onnxruntime refuses the model."""
    theirs = witness(model, list(inputs.values()))
    if theirs is None:
        return "evaluated"
    for name, wanted in zip(names, theirs, strict=True):
        equal(arrays[name].astype(np.float64), wanted, name, loose(model))
    return "compared"


TARGET = Target("network", make, check, seconds=SECONDS)
