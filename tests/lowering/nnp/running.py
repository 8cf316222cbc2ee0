"""Runs a model on nnp: emulator against concordant software, and against floating point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnx.reference

import macaw
from macaw.lowering.nnp.reading import HOST


@dataclass(frozen=True)
class Check:
    """A run of a network, and its largest error relative to the greatest number."""

    network: macaw.NnpNetwork
    run: macaw.NnpRun
    error: float


def inputs_of(made: onnx.ModelProto, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Random numbers for each input of a model."""
    return {
        row.name: random.normal(size=[dim.dim_value for dim in row.type.tensor_type.shape.dim]).astype(np.float32)
        for row in made.graph.input
    }  # fmt: skip


def in_binary64(made: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The model's outputs, computed by ONNX's reference evaluator in binary64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(made)
    for tensor in wide.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype(np.float64), tensor.name))
    for node in wide.graph.node:
        if node.op_type == "Cast":
            node.attribute[0].i = onnx.TensorProto.DOUBLE
    for row in (*wide.graph.input, *wide.graph.output):
        row.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    evaluator = onnx.reference.ReferenceEvaluator(wide)
    names = [row.name for row in made.graph.output]
    feeds = {name: array.astype(np.float64) for name, array in inputs.items()}
    return dict(zip(names, evaluator.run(names, feeds), strict=True))


def check(
    made: onnx.ModelProto,
    inputs: dict[str, np.ndarray],
    device: macaw.Configuration | str,
    target: str = "numpy",
) -> Check:
    """Compile a model for nnp and run it; the concordant software must give the same bits."""
    network = macaw.compile(made, device=device, core="nnp")
    run = network.run(inputs)
    words = [item for item in network.program.sections if item.name == ".nnp"]
    assert sum(len(item.data) for item in words) == 4 * network.lowered.instructions
    concordance = macaw.concord(network.program, target, device=network.config)
    software = concordance.run(tensors_of(network, inputs))
    for port in network.operations.outputs:
        flat = np.zeros(int(np.prod(port.shape)), HOST[network.config["nnp.host_format"]])
        rows = software[port.tensor]
        elements = port.elements[:, : rows.shape[-1]]
        rows = rows.reshape(elements.shape)
        flat[elements[elements >= 0]] = rows[elements >= 0]
        wanted = flat.astype(port.dtype).reshape(port.shape)
        np.testing.assert_array_equal(run.outputs[port.name], wanted)
    expected = in_binary64(made, inputs)
    error = max(
        np.abs(run.outputs[name] - array).max() / max(np.abs(array).max(), 1e-3)
        for name, array in expected.items()
    )
    return Check(network, run, float(error))


def tensors_of(network: macaw.NnpNetwork, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs of the concordant software, by their names in the source."""
    device = network.device_inputs(inputs)
    tensors = {}
    for port in network.operations.inputs:
        columns = network.operations.tensors[port.tensor].shape[1]
        tensors[port.tensor] = device[port.tensor].reshape(port.elements.shape)[:, :columns]
    return tensors
