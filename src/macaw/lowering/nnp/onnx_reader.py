"""Reads ONNX models as operations on native vectors. It refuses nodes that nnp cannot compute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx

from macaw.isa.config import Configuration
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import dense_layers, image_layers, movement, recurrent, two_activations
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.dense_layers import Rule
from macaw.lowering.nnp.layouts import image_elements, row_elements
from macaw.lowering.nnp.operations import Layer, Model, Operation, Port
from macaw.lowering.nnp.reading import FLOATS, Builder
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.read import Wishes, node_error
from macaw.lowering.onnx.read import read as freeze
from macaw.lowering.onnx.values import element_name

RULES: Mapping[str, Rule] = {
    **dense_layers.RULES,
    **image_layers.RULES,
    **movement.RULES,
    **recurrent.RULES,
    **two_activations.RULES,
}
_IMAGES = ("Conv", "MaxPool", "AveragePool", "GlobalAveragePool")
_SAME_PLACES = frozenset(  # operators whose result has its elements where their input has them
    (
        "Add", "Sub", "Mul", "Div", "Neg", "Relu", "Sigmoid", "Tanh", "Max", "LeakyRelu",
        "Identity", "Cast", "BatchNormalization",
    )
)  # fmt: skip


def read(
    model: onnx.ModelProto, config: Configuration, dims: Mapping[str, int] | None = None
) -> Model:
    """Return the operations of a checked model.

    `dims` has sizes for dimensions that the model only names. Raises `LowerError` if nnp cannot
    compute the model; the message names the node, input or output.
    """
    graph = _pruned(freeze(model, Wishes(dims=dims or {}, not_folded=frozenset())))
    readers = _readers(graph)
    segments = {name: size for name in graph.values if (size := _segment(graph, readers, name))}
    builder = Builder(graph, config, segments)
    for name in dict.fromkeys((*graph.inputs, *graph.outputs)):
        builder.ports[name] = builder.name(name)
    for name in graph.inputs:
        if name in graph.outputs:
            raise LowerError(f"the input {message_name(name)} is an output, too")
        if name not in readers:
            raise LowerError(f"the input {message_name(name)} is read by no node")
    inputs = [
        _input(builder, readers, name)
        for name in graph.inputs
        if name in readers and graph.values[name].element in FLOATS
    ]
    for node in graph.nodes:
        _node(builder, node)
    outputs = [_output(builder, name) for name in dict.fromkeys(graph.outputs)]
    builder.close()
    return Model(
        tuple(builder.phases), builder.tensors, builder.matrices, tuple(inputs), tuple(outputs),
        builder.layers,
    )  # fmt: skip


def _node(builder: Builder, node: Node) -> None:
    try:
        rule = RULES.get(node.operator)
        if rule is None:
            raise LowerError(
                "nnp has no way to compute it", "there are " + ", ".join(sorted(RULES))
            )
        names = [name for name in node.outputs if name]
        before = len(builder.tensors)
        values = rule(builder, node)
        for name, value in zip(names, values, strict=True):
            builder.values[name] = value
        if len(builder.tensors) > before:
            shapes = tuple(builder.shape(name) for name in names)
            builder.layers[node.label] = Layer(node.operator, shapes)
    except LowerError as error:
        raise node_error(node.label, node.operator, error) from None


def _input(builder: Builder, readers: Mapping[str, list[Node]], name: str) -> Port:
    """Add an input of the model, in the layout that its first reader takes."""
    value = builder.graph.values[name]
    try:
        shape, native = value.shape, builder.native
        wanted, image = _wanted(builder.graph, readers, name)
        if image:
            table = image_elements(wanted, native)
        else:
            segment = builder.segments.get(name, 0)
            whole = segment and wanted[-1] % segment == 0
            table = row_elements(wanted, native, segment if whole else 0)
        vectors = table.shape[1] // native
        columns = int(np.count_nonzero(table[0] >= 0))
        packed = np.all(table[:, :columns] >= 0)
        hint = (len(table), columns if packed else table.shape[1])
        stream = builder.port(name, len(table) * vectors, ops.NET_IN, hint)
        copy = builder.result(f"{name}_in", shape, table, zeros=True)
    except LowerError as error:
        raise LowerError(f"the input {message_name(name)}: {error}", error.hint) from None
    place = ops.Place(stream, len(table), vectors, 0, vectors)
    builder.emit(Operation("inputs", ops.COPY, (place,), copy.place))
    builder.values[name] = copy
    return Port(name, stream, shape, FLOATS[value.element], table)


def _output(builder: Builder, name: str) -> Port:
    element = builder.graph.values[name].element
    try:
        if name not in builder.values:
            raise LowerError("it depends on no input")
        value = builder.values[name]
        if element not in FLOATS:
            raise LowerError(f"it is of {element_name(element)}, no floating-point type")
        columns = int(np.count_nonzero(value.elements[0] >= 0))
        packed = np.all((value.elements >= 0) == (np.arange(value.elements.shape[1]) < columns))
        hint = (value.rows, columns if packed else value.elements.shape[1])
        stream = builder.port(name, value.rows * value.vectors, ops.NET_OUT, hint)
    except LowerError as error:
        raise LowerError(f"the output {message_name(name)}: {error}", error.hint) from None
    place = ops.Place(stream, value.rows, value.vectors, 0, value.vectors)
    builder.emit(Operation("outputs", ops.COPY, (value.place,), place))
    return Port(name, stream, value.shape, FLOATS[element], value.elements)


def _pruned(graph: Graph) -> Graph:
    """Return the graph without nodes and results that no output depends on."""
    needed = set(graph.outputs)
    nodes = []
    for node in reversed(graph.nodes):
        if needed.isdisjoint(node.outputs):
            continue
        needed.update(node.inputs)
        outputs = tuple(name if name in needed else "" for name in node.outputs)
        nodes.append(replace(node, outputs=outputs))
    return replace(graph, nodes=tuple(reversed(nodes)))


# --- layouts that later nodes want ---


def _readers(graph: Graph) -> dict[str, list[Node]]:
    readers: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node)
    for name in graph.outputs:
        readers.setdefault(name, [])
    return readers


def _segment(graph: Graph, readers: Mapping[str, list[Node]], name: str) -> int:
    """Return the length of the segments into which a later Reshape cuts a value's last axis, or 0.

    For example, attention cuts rows into heads.
    """
    shape = graph.values[name].shape
    for _ in graph.nodes:
        nodes = readers.get(name, [])
        if len(nodes) != 1:
            return 0
        node, name = nodes[0], nodes[0].outputs[0]
        if node.operator == "Reshape" and shape and len(graph.values[name].shape) > len(shape):
            last = graph.values[name].shape[-1]
            return last if last < shape[-1] and shape[-1] % last == 0 else 0
        if node.operator not in _SAME_PLACES or graph.values[name].shape != shape:
            return 0
    return 0


def _wanted(
    graph: Graph, readers: Mapping[str, list[Node]], name: str
) -> tuple[tuple[int, ...], bool]:
    """Return the shape that says which elements of an input are a row on the device.

    The function follows the input through nodes that leave each element at its place (for example
    Reshape and Relu), up to the first node that needs rows. The result is the shape in which this
    node reads the input, and whether the input is a single image.
    """
    shape = graph.values[name].shape
    for _ in range(len(graph.nodes) + 1):
        nodes = readers.get(name, [])
        image = any(node.operator in _IMAGES for node in nodes) and len(shape) in (3, 4)
        result = nodes[0].outputs[0] if nodes else ""  # a recurrent node may leave Y out
        after = graph.values[result].shape if result else ()
        keeps = len(nodes) == 1 and (
            nodes[0].operator in movement.RENAMED
            or (nodes[0].operator in _SAME_PLACES and after == shape)
        )
        if image or not keeps:
            return shape, image and math.prod(shape[:1]) == 1
        name, shape = nodes[0].outputs[0], after
    return shape, False
