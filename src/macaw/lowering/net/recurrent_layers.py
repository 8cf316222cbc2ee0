"""Rewrites recurrent layers for the core nnp, as a program of nnp and movements around it.

nnp reads and writes native vectors. So the inputs are padded to native vectors first. The result of
the new layer is all vectors that the program writes; the tensors of the model are gathered from it.
"""

from __future__ import annotations

from dataclasses import field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.nnp.onnx_reader import read
from macaw.lowering.nnp.operations import Model, Port
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import FloatLayer, Layer, MoveLayer, Tensor
from macaw.lowering.onnx.operators.table import compute

RECURRENT = ("LSTM", "GRU", "RNN")
HOST = "fp32"  # the format of all real numbers between the cores
_OPSET = 14


@dataclass(frozen=True)
class RecurrentLayer(Layer):
    """A recurrent node of the model, as nnp computes it.

    Inputs and output are native vectors, (1, vectors, N). The program of `native` takes all vectors
    of the first input, then those of the next input. It takes and gives the vectors of a tensor in
    the order of the second axis. Elements of the output that are False in `elements` are padding,
    which may have any values.
    """

    node: Node = field(compare=False)
    native: Model = field(compare=False)
    elements: NDArray[np.bool_] = field(compare=False)


def rewrite_recurrent(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append the layer of nnp, with movements before it and after it; return True.

    Raises `LowerError` if nnp cannot compute the layer, or if nnp's vectors have another format
    than `HOST`.
    """
    config = rewriting.config
    if config["nnp.host_format"] != HOST:
        raise LowerError(
            f"nnp computes it, and nnp has {config['nnp.host_format']} between its chains;"
            " the other cores have binary32",
            f'nnp.host_format = "{HOST}"',
        )
    needed = {*rewriting.reads, *rewriting.model.outputs}
    outputs = tuple(name if name in needed else "" for name in layer.outputs)
    node = replace(layer.node, outputs=outputs)
    try:
        native = read(_model(rewriting, node), config)
    except LowerError as error:  # the caller names the node
        text = str(error).removeprefix(f"node {layer.name} ({layer.operator}): ")
        raise LowerError(text, error.hint) from None
    inputs = tuple(_packed(rewriting, layer, port, config) for port in native.inputs)
    count = sum(native.tensors[port.tensor].vectors for port in native.outputs)
    shape = (1, count, int(config["nnp.native"]))
    name = rewriting.tensor(f"{layer.name}_vectors", Tensor("", shape, "float32"))
    elements = np.concatenate([port.elements.reshape(-1) >= 0 for port in native.outputs])
    parts = layer.name, layer.operator, inputs, (name,), layer.parts
    rewriting.add(RecurrentLayer(*parts, node, native, elements.reshape(shape)))
    first = 0
    for port in native.outputs:
        places = np.zeros(prod(port.shape), np.int64)
        there = port.elements >= 0
        numbers = first + np.arange(port.elements.size).reshape(port.elements.shape)
        places[port.elements[there]] = numbers[there]
        first += port.elements.size
        _add_result(rewriting, layer, name, port.name, places.reshape(port.shape))
    return True


def _model(rewriting: Rewriting, node: Node) -> Any:
    """Return the ONNX model of a recurrent node. Raises `LowerError` if inputs are not binary32."""
    inputs, constants = [], []
    for name in dict.fromkeys(filter(None, node.inputs)):
        array = rewriting.constants.get(name)
        if array is not None:
            constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
            continue
        tensor = rewriting.tensors[name]
        if tensor.dtype != "float32":
            raise LowerError(f"its input {name} is of {tensor.dtype}", "float32")
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, tensor.shape))
    results = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, rewriting.tensors[name].shape)
        for name in filter(None, node.outputs)
    ]
    own = helper.make_node(
        node.operator, node.inputs, node.outputs, name=node.label, **node.attributes
    )
    graph = helper.make_graph([own], "layer", inputs, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)


def _packed(rewriting: Rewriting, layer: Layer, port: Port, config: Any) -> str:
    """Append movements that put the input `port` into native vectors; return the tensor's name."""
    x = rewriting.tensors[port.name]
    rows, width = port.elements.shape
    columns = prod(port.shape) // rows
    table = np.pad(
        np.arange(prod(port.shape)).reshape(rows, columns),
        ((0, 0), (0, width - columns)),
        constant_values=-1,
    )
    assert np.array_equal(port.elements, table), "nnp's reader has rows in the model's order"
    name = x.name
    if width != columns:
        name = rewriting.reshaped(layer, name, (1, rows, columns), f"{x.name}_rows")
        padded = rewriting.tensor(f"{x.name}_padded", x, shape=(1, rows, width))
        pads = rewriting.constant(f"{padded}_pads", np.array([0, 0, 0, 0, 0, width - columns]))
        rewriting.append_movement(layer, "Pad", (name, pads), padded)
        name = padded
    native = int(config["nnp.native"])
    shape = (1, rows * width // native, native)
    return rewriting.reshaped(layer, name, shape, f"{x.name}_vectors")


def _add_result(
    rewriting: Rewriting, layer: Layer, vectors: str, name: str, places: NDArray[np.int64]
) -> None:
    """Append layers that make tensor `name`: its element i is element `places[i]` of `vectors`.

    If only movements read the tensor (`_is_moved_only`), no layer makes it. Instead, each of these
    movements becomes a gather from `vectors` (`gather_movement`), which saves a movement.
    """
    shape = rewriting.tensors[name].shape
    if _is_moved_only(rewriting, name):
        rewriting.gathered[name] = (vectors, places)
        del rewriting.tensors[name]
        return
    count = prod(rewriting.tensors[vectors].shape)
    flat = rewriting.reshaped(layer, vectors, (1, count), f"{vectors}_flat")
    numbers = rewriting.constant(f"{name}_places", places.reshape(-1))
    like = rewriting.tensors[name]
    row = name if shape == (1, places.size) else f"{name}_row"
    if row != name:
        row = rewriting.tensor(row, like, shape=(1, places.size))
    rewriting.append_movement(layer, "Gather", (flat, numbers), row, {"axis": 1})
    if row != name:
        rewriting.reshape_to(layer, row, name)


def _is_moved_only(rewriting: Rewriting, name: str) -> bool:
    """Return whether a tensor has several time steps, and all layers that read it only move it.

    The result is False if no layer reads the tensor, or if it is an output of the model.
    """
    shape = rewriting.tensors[name].shape
    if len(shape) != 4 or shape[0] == 1 or name in rewriting.model.outputs:
        return False
    readers = [layer for layer in rewriting.model.layers if name in layer.inputs]
    return bool(readers) and all(
        layer.operator in MOVEMENTS
        and len(layer.outputs) == 1
        and layer.inputs[0] == name
        and name not in layer.inputs[1:]
        for layer in readers
    )


def gather_movement(rewriting: Rewriting, layer: Layer) -> bool:
    """Append a layer that moves elements, as a gather directly from nnp's vectors.

    This is for movements of a tensor that `_add_result` did not gather. Return False if the layer
    reads no such tensor.
    """
    source, *others = layer.inputs or ("",)
    if source not in rewriting.gathered:
        return False
    constants = [rewriting.constants.get(name) if name else None for name in others]
    vectors, places = rewriting.gathered[source]
    assert isinstance(layer, MoveLayer | FloatLayer)
    (moved,) = compute(layer.node, [places, *constants])
    _add_result(rewriting, layer, vectors, layer.outputs[0], np.asarray(moved, np.int64))
    return True


MOVEMENTS = frozenset(
    ("Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Slice", "Gather", "Identity")
)
