"""Replaces inputs of an ONNX model by constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.read import given_constant, type_and_sizes


def with_constants(
    model: onnx.ModelProto, constants: Mapping[str, NDArray[Any]]
) -> onnx.ModelProto:
    """Return a model in which the inputs that `constants` names are initializers.

    Raises `LowerError` for a name that is no input, and for an array that does not fit.
    """
    if not constants:
        return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    initial = {row.name for row in graph.initializer}
    inputs = {row.name: row for row in graph.input if row.name not in initial}
    for name, array in constants.items():
        if name not in inputs:
            hint = "there are " + ", ".join(message_name(other) for other in inputs)
            raise LowerError(f"the model has no input '{message_name(name)}'", hint)
        try:
            value = given_constant(array, *type_and_sizes(inputs[name]), name)
        except LowerError as error:
            raise LowerError(f"the input {message_name(name)}: {error}", error.hint) from None
        graph.input.remove(inputs[name])
        graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value.array), name))
    return result
