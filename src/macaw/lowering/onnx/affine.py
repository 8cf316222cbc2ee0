"""Folds scales and shifts of channels into the layer before them.

BatchNormalization, and Mul, Add, Sub and Div with a constant for each channel, are scales and
shifts. They become part of the weights and the bias of a Conv, ConvTranspose, Gemm or MatMul before
them. If there is no such layer before a BatchNormalization, the scales and shifts that follow
become part of the BatchNormalization. A BatchNormalization of an image then becomes a convolution
of 1 x 1 with a group for each channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.draft import Draft, readers
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.patterns import parts
from macaw.lowering.onnx.values import by_channel

LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
_SIMPLE = ("Add", "Sub", "Mul", "Div")
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class _Affine:
    """The function y = scale · x + shift of channels; both of shape (channels,), in binary64."""

    scale: Numbers
    shift: Numbers


def fold_affine(draft: Draft) -> list[Node]:
    """Return the nodes of a draft with scales and shifts folded into the layers before them."""
    read = readers(draft.nodes, draft.graph.outputs)
    nodes: list[Node] = []
    made: dict[str, int] = {}
    for node in draft.nodes:
        where = _source(draft, node)
        place = made.get(where) if where else None
        if place is not None and read[where] == 1:
            joined = _joined(draft, nodes[place], node, where)
            if joined is not None:
                nodes[place] = joined
                made[node.outputs[0]] = place
                continue
        for name in node.outputs:
            made[name] = len(nodes)
        nodes.append(node)
    return [_convolution(draft, node) for node in nodes]


def _source(draft: Draft, node: Node) -> str:
    """Return the value that a node scales or shifts, or "" if it does neither."""
    if node.operator == "BatchNormalization":
        return node.inputs[0]
    if node.operator not in _SIMPLE:
        return ""
    a, b = node.inputs
    if draft.array(b) is not None:
        return a
    return b if draft.array(a) is not None and node.operator in ("Add", "Mul") else ""


def _joined(draft: Draft, layer: Node, node: Node, where: str) -> Node | None:
    """Return a layer that applies `layer` and then `node`; None if there is no such layer.

    `where` is the result of `layer`, which `node` reads.
    """
    shape = draft.values[where].shape
    by_row = layer.operator in ("Gemm", "MatMul")
    axis = len(shape) - 1 if by_row else 1
    if layer.operator not in (*LAYERS, "BatchNormalization") or not len(shape) > axis >= 0:
        return None
    if "activation_range" in layer.attributes:
        return None
    affine = _affine(draft, node, where, axis)
    if affine is None or draft.values[node.outputs[0]].shape != shape:
        return None
    if layer.operator == "BatchNormalization":
        before = _affine(draft, layer, layer.inputs[0], 1)
        if before is None:
            return None
        both = _Affine(affine.scale * before.scale, affine.scale * before.shift + affine.shift)
        new = _normalisation(draft, layer, both)
    else:
        folded = _folded(draft, layer, affine)
        if folded is None:
            return None
        new = folded
    names = (*parts(layer), *parts(node))
    attributes = {**new.attributes, "parts": names}
    return replace(new, outputs=node.outputs, attributes=attributes, proto=None)


def _affine(draft: Draft, node: Node, where: str, axis: int) -> _Affine | None:
    """Return the scale and shift that a node applies to each channel of the value `where`.

    The channels are along `axis`. The result is None if the node does anything else.
    """
    channels = draft.values[where].shape[axis]
    if node.operator == "BatchNormalization":
        arrays = [draft.array(name) for name in node.inputs[1:5]]
        known = [np.asarray(array, np.float64) for array in arrays if array is not None]
        if len(known) != 4 or axis != 1 or node.attributes.get("training_mode", 0):
            return None
        scale, bias, mean, spread = known
        factor = scale / np.sqrt(spread + node.attributes.get("epsilon", 1e-5))
        return _Affine(factor, bias - mean * factor)
    other = node.inputs[1] if node.inputs[0] == where else node.inputs[0]
    array = draft.array(other)
    if array is None or array.dtype.kind != "f":
        return None
    rank = len(draft.values[where].shape)
    wide = array.reshape((1,) * max(rank - array.ndim, 0) + array.shape).astype(np.float64)
    if wide.ndim != rank or any(
        size != 1 for place, size in enumerate(wide.shape) if place != axis
    ):
        return None
    each = np.broadcast_to(wide.reshape(-1), (channels,))
    ones, zeros = np.ones(channels), np.zeros(channels)
    if node.operator in ("Mul", "Div"):
        if node.operator == "Div" and not each.all():
            return None
        return _Affine(each if node.operator == "Mul" else 1 / each, zeros)
    return _Affine(ones, each if node.operator == "Add" else -each)


def _folded(draft: Draft, layer: Node, affine: _Affine) -> Node | None:
    """Return a layer with its weights multiplied by the scale of `affine`, and its bias adapted.

    The new bias is scale · bias + shift. The result is None if the weights are not a constant of
    type float32 (for a MatMul one matrix), if the bias is not a constant with one number or one for
    each channel, or if a Gemm has a factor alpha or beta other than 1.
    """
    w = draft.array(layer.inputs[1])
    bias_name = layer.inputs[2] if len(layer.inputs) > 2 else ""
    bias = draft.array(bias_name)
    if w is None or w.dtype != np.float32 or (bias_name and bias is None):
        return None
    attributes: Mapping[str, Any] = layer.attributes
    axis = _output_axis(layer, w)
    channels = len(affine.scale)
    before = by_channel(np.zeros(()) if bias is None else bias, channels)
    if axis is None or before is None:
        return None
    if any(attributes.get(factor, 1.0) != 1 for factor in ("alpha", "beta")):  # of a Gemm
        return None
    if np.all(affine.scale == 1):
        weights = layer.inputs[1]
    else:
        weights = draft.constant(layer.inputs[1], _scaled(layer, w, axis, affine.scale))
    numbers = before.astype(np.float64) * affine.scale + affine.shift
    name = bias_name or f"{layer.label}_bias"
    new_bias = draft.constant(name, numbers.astype(np.float32))
    return replace(layer, inputs=(layer.inputs[0], weights, new_bias), proto=None)


def _output_axis(layer: Node, w: NDArray[Any]) -> int | None:
    """Return the axis of a layer's weights `w` that counts the channels of its result.

    The axis is None for a MatMul whose weights are not a single matrix.
    """
    if layer.operator == "Conv":
        return 0
    if layer.operator == "ConvTranspose":
        return 1
    if layer.operator == "Gemm":
        return 0 if layer.attributes.get("transB", 0) else 1
    return 1 if w.ndim == 2 else None


def _scaled(layer: Node, w: NDArray[Any], axis: int, scale: Numbers) -> NDArray[np.float32]:
    wide = w.astype(np.float64)
    if layer.operator == "ConvTranspose":  # (channels, outputs / groups, ...)
        groups = int(layer.attributes.get("group", 1))
        each = w.shape[1]
        rows = wide.reshape(groups, -1, *w.shape[1:])
        factors = scale.reshape(groups, 1, each, *(1,) * (w.ndim - 2))
        return (rows * factors).reshape(w.shape).astype(np.float32)
    shape = [1] * w.ndim
    shape[axis] = -1
    return (wide * scale.reshape(shape)).astype(np.float32)


def _normalisation(draft: Draft, node: Node, affine: _Affine) -> Node:
    """Return `node` as a BatchNormalization that computes y = scale · x + shift of `affine`."""
    channels = len(affine.scale)
    epsilon = float(node.attributes.get("epsilon", 1e-5))
    arrays = {
        "scale": affine.scale, "shift": affine.shift, "mean": np.zeros(channels),
        "variance": np.full(channels, 1 - epsilon),
    }  # fmt: skip
    names = [
        draft.constant(f"{node.label}_{name}", array.astype(np.float32))
        for name, array in arrays.items()
    ]
    return replace(node, inputs=(node.inputs[0], *names), proto=None)


def _convolution(draft: Draft, node: Node) -> Node:
    """Return a BatchNormalization of an image as a convolution; any other node unchanged."""
    if node.operator != "BatchNormalization" or len(draft.values[node.inputs[0]].shape) != 4:
        return node
    affine = _affine(draft, node, node.inputs[0], 1)
    if affine is None or draft.values[node.inputs[0]].element != 1:
        return node
    channels = len(affine.scale)
    weights = affine.scale.astype(np.float32).reshape(channels, 1, 1, 1)
    inputs = (
        node.inputs[0],
        draft.constant(f"{node.label}_weights", weights),
        draft.constant(f"{node.label}_bias", affine.shift.astype(np.float32)),
    )
    attributes = {"group": channels, "kernel_shape": [1, 1], "parts": parts(node)}
    return Node(node.name, "Conv", inputs, node.outputs, attributes)
