"""Models with a recurrent layer, and devices whose nnp takes their numbers."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from macaw.isa.config import load
from tests.lowering.nnp.random_models import Draft
from tests.lowering.onnx.models import model as onnx_model

# An array of one cluster: the compiler compares few plans for the layers beside nnp.
SETTINGS: dict[str, str | int] = {"nnp.host_format": "fp32", "pe.rows": 1, "pe.clusters": 1}
DEVICES = {name: load(name).changed(SETTINGS) for name in ("tiny", "base")}


def model(nodes, inputs, outputs, constants) -> onnx.ModelProto:
    """A binary32 model with inputs and outputs of these shapes."""
    results = {name: (shape, TensorProto.FLOAT) for name, shape in outputs.items()}
    return onnx_model(nodes, inputs, results, **constants)


def recurrent_model(random: np.random.Generator) -> onnx.ModelProto:
    """A random recurrent layer with a function after it."""
    draft = Draft(random)
    draft.shape = (draft.size(6), draft.size(3), draft.size())
    draft.value = draft.input(*draft.shape)
    draft.recurrent()
    draft.put("Tanh", [draft.value], draft.shape)
    outputs = {draft.value: draft.shape}
    return model(draft.nodes, draft.inputs, outputs, draft.constants)
