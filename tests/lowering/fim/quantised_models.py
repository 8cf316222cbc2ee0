"""Runs quantised ONNX models on islands in int8, and compares them with their definition."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from numpy.typing import NDArray

import macaw
from macaw.lowering.onnx.pipeline import network_of
from macaw.lowering.onnx.reference import evaluate
from tests.lowering.fim.int8_device import DEVICE


def compared(
    model: onnx.ModelProto, given: Mapping[str, NDArray[np.float32]]
) -> tuple[macaw.GraphLowering, macaw.Run]:
    """Lower and run a model with the inputs `given`; check that the results are the definition's.

    The graph's inputs and outputs have the order of the model's. Raises `macaw.InputError` if
    islands do not compute the model.
    """
    found = macaw.lower_graph(model, device=DEVICE)
    network = network_of(model)
    wanted = evaluate(network, dict(given))
    begins = {x.inputs[0]: x.outputs[0] for x in network.layers if x.operator == "QuantizeLinear"}
    ends = {x.outputs[0]: x.inputs[0] for x in network.layers if x.operator == "DequantizeLinear"}
    names = [tensor.name for tensor in found.graph.inputs]
    inputs = {name: wanted[begins[x]] for name, x in zip(names, network.inputs, strict=True)}
    run = macaw.run(found.assemble(), inputs)
    for output, name in zip(run.outputs.values(), network.outputs, strict=True):
        np.testing.assert_array_equal(output.reshape(-1), wanted[ends[name]].reshape(-1))
    return found, run
