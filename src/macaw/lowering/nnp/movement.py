"""Reads ONNX nodes that only rename or move elements: Reshape, Transpose, Slice, Concat ..."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.dense_layers import Rule
from macaw.lowering.nnp.layouts import PADDING, Value, regrouped, reshaped, selected
from macaw.lowering.nnp.operations import Operation, Place
from macaw.lowering.nnp.reading import FLOATS, Builder
from macaw.lowering.onnx.constants import Evaluator
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.values import element_name

RENAMED = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity")
SELECTED = ("Transpose", "Slice", "Gather", "Split")


def _renamed(builder: Builder, node: Node) -> list[Value]:
    return [reshaped(builder.value(node.inputs[0]), builder.shape(node.outputs[0]))]


def _cast(builder: Builder, node: Node) -> list[Value]:
    element = int(node.attributes["to"])
    if element not in FLOATS:
        raise LowerError(f"it casts to {element_name(element)}, no floating-point type")
    return _renamed(builder, node)


def _selected(builder: Builder, node: Node) -> list[Value]:
    value = builder.value(node.inputs[0])
    indices = np.arange(math.prod(value.shape), dtype=np.int64).reshape(value.shape)
    arrays = [builder.array(name) if name else None for name in node.inputs[1:]]
    if any(array is None for name, array in zip(node.inputs[1:], arrays, strict=True) if name):
        raise LowerError("which elements it takes depends on an input")
    taken = Evaluator(builder.graph.version).evaluate(node.proto, [indices, *arrays])
    if any(name and not table.size for name, table in zip(node.outputs, taken, strict=True)):
        raise LowerError("a result has no elements")
    return [
        selected(value, builder.shape(name), table.reshape(-1))
        for name, table in zip(node.outputs, taken, strict=True)
        if name
    ]


def _concat(builder: Builder, node: Node) -> list[Value]:
    """Append copies that put the inputs side by side in rows, or below each other."""
    parts = [builder.value(name) for name in node.inputs]
    shape = builder.shape(node.outputs[0])
    axis = int(node.attributes["axis"]) % len(shape)
    ids, start = [], 0
    for part in parts:
        size = math.prod(part.shape)
        ids.append(np.arange(start, start + size, dtype=np.int64).reshape(part.shape))
        start += size
    # By number of an element, counted over all inputs: its number in the result.
    places = np.empty(start, np.int64)
    places[np.concatenate(ids, axis=axis).reshape(-1)] = np.arange(start)
    starts = np.cumsum([0, *(math.prod(part.shape) for part in parts)])
    rows = math.gcd(*(part.rows for part in parts))
    beside = axis == len(shape) - 1 or (len({part.rows for part in parts}) == 1 and axis == 1)
    if not beside and len({part.vectors for part in parts}) == 1:
        arranged, beside = parts, False
    else:
        arranged, beside = [_rows(builder, node, part, rows) for part in parts], True
    tables = [
        np.where(part.elements >= 0, places[start + part.elements], PADDING)
        for part, start in zip(arranged, starts, strict=False)
    ]
    table = np.concatenate(tables, axis=1 if beside else 0)
    result = builder.result(node.outputs[0], shape, table, all(part.zeros for part in parts))
    first = 0
    for part in arranged:
        place = Place(result.tensor, part.rows, part.vectors, first, result.stride)
        builder.emit(Operation(node.label, ops.COPY, (part.place,), place))
        first += part.vectors if beside else part.rows * part.vectors
    return [result]


def _rows(builder: Builder, node: Node, part: Value, rows: int) -> Value:
    arranged = regrouped(part, rows)
    if arranged is None:
        arranged = regrouped(builder.contiguous(node.label, part), rows)
    assert arranged is not None
    return arranged


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(RENAMED, _renamed),
    **dict.fromkeys(SELECTED, _selected),
    "Cast": _cast,
    "Concat": _concat,
}
