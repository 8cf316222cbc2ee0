"""Writes a fused graph as a standard ONNX model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from macaw.lowering.onnx.canonical import VERSION
from macaw.lowering.onnx.draft import Draft
from macaw.lowering.onnx.graph import Graph, Node

IR_VERSION = 10  # the first version with operator set 21
_OWN = ("activation_range", "parts")  # attributes that ONNX does not have


def model_of(graph: Graph, name: str) -> onnx.ModelProto:
    """Return the ONNX model of a fused graph of operator set 21, with the name `name`."""
    draft = Draft(graph)
    nodes = _named([part for node in graph.nodes for part in _standard(draft, node)])
    whole = draft.finished(nodes, VERSION)
    constants = [
        # row-major, and without a dimension if the value has none
        numpy_helper.from_array(np.asarray(value.array, order="C"), key)
        for key, value in whole.values.items()
        if value.array is not None
    ]
    made = helper.make_graph(
        [_proto(node) for node in nodes],
        name,
        [_declared(whole, key) for key in whole.inputs],
        [_declared(whole, key) for key in whole.outputs],
        constants,
    )
    opsets = [helper.make_opsetid("", whole.version)]
    return helper.make_model(
        made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="macaw"
    )


def _named(nodes: list[Node]) -> list[Node]:
    """Return the nodes with different names, as onnxruntime demands; some get a number appended."""
    taken: set[str] = set()
    named = []
    for node in nodes:
        name, number = node.name, 1
        while name in taken:
            number += 1
            name = f"{node.name}_{number}"
        taken |= {name} - {""}
        named.append(replace(node, name=name))
    return named


def _declared(graph: Graph, name: str) -> onnx.ValueInfoProto:
    value = graph.values[name]
    return helper.make_tensor_value_info(name, value.element, value.shape)


def _proto(node: Node) -> onnx.NodeProto:
    attributes = {name: value for name, value in node.attributes.items() if name not in _OWN}
    empty = [name for name, value in attributes.items() if value == []]
    known = {name: value for name, value in attributes.items() if name not in empty}
    proto = helper.make_node(node.operator, node.inputs, node.outputs, node.name, **known)
    if empty:
        kinds = onnx.defs.get_schema(node.operator, VERSION).attributes
        for name in empty:
            kind: Any = kinds[name].type  # an integer
            proto.attribute.append(helper.make_attribute(name, [], attr_type=int(kind)))
    return proto


def _standard(draft: Draft, node: Node) -> list[Node]:
    """Return the standard ONNX nodes for a node of a fused graph."""
    limits = node.attributes.get("activation_range")
    if limits is not None:
        first, last = _with_activation(draft, node, limits)
        return [*_standard(draft, first), last]
    if node.operator == "MatMul" and len(node.inputs) == 3:
        product = _inner(draft, node, "product")
        first = replace(node, inputs=node.inputs[:2], outputs=(product,))
        return [first, Node(f"{node.label}_add", "Add", (product, node.inputs[2]), node.outputs)]
    if node.operator == "Swish" and draft.graph.version < 24:
        return _swish(draft, node)
    return [node]


def _inner(draft: Draft, node: Node, word: str) -> str:
    """Add a value with the shape and type of a node's result, and return the value's name.

    The name is that of the result with `_` and `word` appended.
    """
    value = draft.values[node.outputs[0]]
    return draft.value(f"{node.outputs[0]}_{word}", value.shape, value.element)


def _with_activation(draft: Draft, node: Node, limits: tuple[float, float]) -> tuple[Node, Node]:
    """Return a node without its activation, and the Relu or Clip to `limits` that follows it."""
    inner = _inner(draft, node, "linear")
    rest = {name: value for name, value in node.attributes.items() if name != "activation_range"}
    first = replace(node, outputs=(inner,), attributes=rest)
    if limits == (0, math.inf):
        return first, Node(f"{node.label}_relu", "Relu", (inner,), node.outputs)
    names = [inner]
    for word, limit in zip(("min", "max"), limits, strict=True):
        bound = np.asarray(limit, np.float32)
        names.append(draft.constant(f"{node.label}_{word}", bound) if math.isfinite(limit) else "")
    while not names[-1]:
        names.pop()
    return first, Node(f"{node.label}_clip", "Clip", tuple(names), node.outputs)


def _swish(draft: Draft, node: Node) -> list[Node]:
    x, nodes, inner = node.inputs[0], [], node.inputs[0]
    alpha = float(node.attributes.get("alpha", 1.0))
    if alpha != 1:
        inner = _inner(draft, node, "scaled")
        factor = draft.constant(f"{node.label}_alpha", np.asarray(alpha, np.float32))
        nodes.append(Node(f"{node.label}_scaled", "Mul", (x, factor), (inner,)))
    gate = _inner(draft, node, "gate")
    nodes.append(Node(f"{node.label}_gate", "Sigmoid", (inner,), (gate,)))
    return [*nodes, Node(node.name, "Mul", (x, gate), node.outputs)]
