"""Rewrites nodes of older operator sets, and QLinear operators, as nodes of operator set 21.

Attributes that became inputs become constants. `QLinearConv` and `QLinearMatMul` become
`DequantizeLinear`, the operation, and `QuantizeLinear`; so do nodes that move quantised integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.draft import Draft
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.integer_moves import with_real_moves
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.values import Value, element_name

VERSION = 21  # the first operator set with int16 in QuantizeLinear
Rule = Callable[[Draft, Node], Sequence[Node]]


def canonical(graph: Graph) -> Graph:
    """Return the graph with all nodes as operator set 21 defines them.

    Raises `LowerError`, which names the node, for a node that cannot be rewritten.
    """
    draft = Draft(graph)
    nodes: list[Node] = []
    for node in draft.nodes:
        rules = [rule for below, rule in RULES.get(node.operator, ()) if graph.version < below]
        try:
            nodes += rules[0](draft, node) if rules else [node]
        except LowerError as error:
            raise node_error(node.label, node.operator, error) from None
    return with_real_moves(draft.finished(nodes, max(graph.version, VERSION)))


def _without(node: Node, *names: str) -> dict[str, Any]:
    return {name: value for name, value in node.attributes.items() if name not in names}


def _attributes_as_inputs(*names: str) -> Rule:
    """Return a rule that appends the values of the attributes `names` to a node's inputs.

    Each value becomes a constant. An attribute that the node does not have becomes an omitted
    input.
    """

    def rule(draft: Draft, node: Node) -> list[Node]:
        inputs = list(node.inputs)
        for name in names:
            value = node.attributes.get(name)
            if value is None:
                inputs.append("")
                continue
            kind = np.float32 if isinstance(value, float) else np.int64
            inputs.append(draft.constant(f"{node.label}_{name}", np.asarray(value, kind)))
        while inputs and not inputs[-1]:
            inputs.pop()
        changed = _without(node, *names)
        return [replace(node, inputs=tuple(inputs), attributes=changed, proto=None)]

    return rule


def _pad(draft: Draft, node: Node) -> list[Node]:
    pads = draft.constant(f"{node.label}_pads", np.asarray(node.attributes["pads"], np.int64))
    fill = np.float32(node.attributes.get("value", 0.0))
    value = draft.constant(f"{node.label}_value", np.asarray(fill))
    inputs = (node.inputs[0], pads, value)
    return [replace(node, inputs=inputs, attributes=_without(node, "pads", "value"), proto=None)]


def _split(draft: Draft, node: Node) -> list[Node]:
    """Return a Slice for each output of a Split; the Split itself if its sizes are not constant.

    An output without elements becomes a constant, without a node.
    """
    value = draft.values[node.inputs[0]]
    axis = int(node.attributes.get("axis", 0))
    axis += len(value.shape) if axis < 0 else 0
    sizes = node.attributes.get("split")
    if len(node.inputs) > 1 and node.inputs[1]:
        sizes = draft.array(node.inputs[1])
        if sizes is None:
            return [node]
    if sizes is None:
        each = -(-value.shape[axis] // len(node.outputs))
        sizes = [each] * len(node.outputs)
    nodes, first = [], 0
    for place, (size, result) in enumerate(zip(sizes, node.outputs, strict=False)):
        label = node.label if len(node.outputs) == 1 else f"{node.label}_{place}"
        bounds = {"starts": first, "ends": first + int(size), "axes": axis}
        first += int(size)
        if result and not size:
            shape, element = draft.values[result].shape, draft.values[result].element
            nothing = np.zeros(shape, helper.tensor_dtype_to_np_dtype(element))
            draft.values[result] = Value(shape, nothing, element=element)
        elif result:
            names = [
                draft.constant(f"{label}_{name}", np.asarray([number], np.int64))
                for name, number in bounds.items()
            ]
            nodes.append(Node(label, "Slice", (node.inputs[0], *names), (result,)))
    return nodes


def _concat(draft: Draft, node: Node) -> list[Node]:
    """Return a Concat without those inputs that have no elements."""
    inputs = tuple(name for name in node.inputs if math.prod(draft.values[name].shape))
    return [node if inputs == node.inputs else replace(node, inputs=inputs, proto=None)]


def _softmax(draft: Draft, node: Node) -> list[Node]:
    """Return nodes that replace a Softmax of an operator set before 13 by a Softmax over one axis.

    In the earlier operator sets, `axis` and all axes after it count as one axis, so the nodes
    flatten them.
    """
    value = draft.values[node.inputs[0]]
    rank = len(value.shape)
    axis = int(node.attributes.get("axis", 1))
    axis += rank if axis < 0 else 0
    if math.prod(value.shape[axis + 1 :]) == 1:
        return [replace(node, attributes={**node.attributes, "axis": axis}, proto=None)]
    flat = (math.prod(value.shape[:axis]), math.prod(value.shape[axis:]))
    rows = draft.value(f"{node.label}_rows", flat, value.element)
    result = draft.value(f"{node.label}_flat", flat, value.element)
    there = draft.constant(f"{node.label}_rows_shape", np.asarray(flat, np.int64))
    back = draft.constant(f"{node.label}_shape", np.asarray(value.shape, np.int64))
    return [
        Node(f"{node.label}_rows", "Reshape", (node.inputs[0], there), (rows,)),
        replace(node, inputs=(rows,), outputs=(result,), attributes={"axis": -1}, proto=None),
        Node(f"{node.label}_back", "Reshape", (result, back), node.outputs),
    ]


def _resize(draft: Draft, node: Node) -> list[Node]:
    """Return an Upsample, or a Resize of operator set 10, as a Resize of operator set 21."""
    if "scales" in node.attributes:
        scales = np.asarray(node.attributes["scales"], np.float32)
        name = draft.constant(f"{node.label}_scales", scales)
    else:
        name = node.inputs[1]
    attributes = {
        "mode": node.attributes.get("mode", "nearest"),
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    inputs = (node.inputs[0], "", name)
    return [replace(node, operator="Resize", inputs=inputs, attributes=attributes, proto=None)]


def _batch_normalization(_draft: Draft, node: Node) -> list[Node]:
    if not node.attributes.get("spatial", 1):
        raise LowerError("a mean for each pixel (spatial=0) is not supported")
    if any(node.outputs[1:]):
        raise LowerError("training is not supported")
    return [replace(node, attributes=_without(node, "spatial", "momentum"), proto=None)]


def _scatter(_draft: Draft, node: Node) -> list[Node]:
    return [replace(node, operator="ScatterElements", proto=None)]


# --- QLinear operators ---


def _dequantized(draft: Draft, label: str, names: Sequence[str], axis: int) -> tuple[Node, str]:
    """Return a DequantizeLinear of `names` (values, scale, zero point), and its result's name.

    `label` is the start of the node's name. If there are several scales, each belongs to an index
    along `axis`.
    """
    element = draft.values[names[1]].element
    if element != TensorProto.FLOAT:
        raise LowerError(f"scales of {element_name(element)} are not supported", "float")
    result = draft.value(f"{names[0]}_dequantized", draft.values[names[0]].shape, element)
    attributes = {"axis": axis} if draft.values[names[1]].shape not in ((), (1,)) else {}
    inputs = tuple(name for name in names if name)
    return Node(f"{label}_{result}", "DequantizeLinear", inputs, (result,), attributes), result


def _quantized(draft: Draft, node: Node, scale: str, zero: str) -> tuple[Node, str]:
    """Return a QuantizeLinear that computes the output of `node`, and the name of its input.

    The input is a new real value, which another node has to compute. `scale` and `zero` are the
    names of scale and zero point.
    """
    value = draft.values[node.outputs[0]]
    result = draft.value(f"{node.outputs[0]}_real", value.shape, TensorProto.FLOAT)
    inputs = (result, scale, zero)
    return Node(f"{node.label}_quantized", "QuantizeLinear", inputs, node.outputs), result


def _qlinear_conv(draft: Draft, node: Node) -> list[Node]:
    x, w = node.inputs[:3], node.inputs[3:6]
    first, image = _dequantized(draft, node.label, x, 1)
    second, weights = _dequantized(draft, node.label, w, 0)
    nodes, inputs = [first, second], [image, weights]
    if len(node.inputs) > 8 and node.inputs[8]:
        scales = draft.array(x[1]), draft.array(w[1])
        if scales[0] is None or scales[1] is None:
            raise LowerError("its scales depend on an input")
        product = np.float32(scales[0].reshape(-1)[0]) * scales[1].reshape(-1)
        scale = product if product.size > 1 else product.reshape(())
        name = draft.constant(f"{node.label}_bias_scale", scale)
        third, bias = _dequantized(draft, node.label, (node.inputs[8], name), 0)
        nodes.append(third)
        inputs.append(bias)
    last, result = _quantized(draft, node, node.inputs[6], node.inputs[7])
    conv = Node(node.name, "Conv", tuple(inputs), (result,), node.attributes)
    return [*nodes, conv, last]


def _qlinear_matmul(draft: Draft, node: Node) -> list[Node]:
    first, a = _dequantized(draft, node.label, node.inputs[:3], -2)
    second, b = _dequantized(draft, node.label, node.inputs[3:6], -1)
    last, result = _quantized(draft, node, node.inputs[6], node.inputs[7])
    return [first, second, Node(node.name, "MatMul", (a, b), (result,)), last]


_axes = _attributes_as_inputs("axes")
_ALWAYS = 10_000  # greater than every operator set
# By operator: (the first operator set that does not need the rule, the rule). The first rule that
# applies is used.
RULES: dict[str, tuple[tuple[int, Rule], ...]] = {
    "Clip": ((11, _attributes_as_inputs("min", "max")),),
    "Squeeze": ((13, _axes),),
    "Unsqueeze": ((13, _axes),),
    "ReduceSum": ((13, _axes),),
    **{
        f"Reduce{name}": ((18, _axes),)
        for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
    },
    "Pad": ((11, _pad),),
    "Slice": ((10, _attributes_as_inputs("starts", "ends", "axes")),),
    "Split": ((_ALWAYS, _split),),
    "Concat": ((_ALWAYS, _concat),),
    "Softmax": ((13, _softmax),),
    "LogSoftmax": ((13, _softmax),),
    "Upsample": ((_ALWAYS, _resize),),
    "Resize": ((11, _resize),),
    "BatchNormalization": ((14, _batch_normalization),),
    "Scatter": ((_ALWAYS, _scatter),),
    "QLinearConv": ((_ALWAYS, _qlinear_conv),),
    "QLinearMatMul": ((_ALWAYS, _qlinear_matmul),),
}
