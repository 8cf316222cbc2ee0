"""Rewrites convolutions over one dimension as products of matrices, and squares as products.

The dma gathers the elements of each window as a row. The sums of real numbers have a defined order:
by channel, and within a channel by place in the kernel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.net.real_rewriting import rewrite_product
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.net.weight_rewriting import rewrite_weights
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import FloatLayer, Layer, WeightLayer
from macaw.lowering.onnx.window import Window, output_sizes, window_of


def rewrite_convolution(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a convolution of real numbers as movements and a product.

    Return False for a convolution over several dimensions, of a constant, or not of binary32.
    Raises `LowerError` for groups, and for weights or biases that are no constants.
    """
    (result,), (source, weights_name, *bias) = layer.outputs, layer.inputs
    weights = rewriting.constants.get(weights_name)
    x = rewriting.tensors.get(source)
    if x is None or len(x.shape) != 3 or x.dtype != "float32":
        return False
    if weights is None or any(name and name not in rewriting.constants for name in bias):
        raise LowerError("its weights or biases are no constants")
    attributes = layer.node.attributes
    _check(int(attributes.get("group", 1)))
    window = window_of(attributes, x.shape[2:], weights.shape[2:])
    rows = _windows(rewriting, layer, window, zero=0)
    matrix = np.ascontiguousarray(weights.reshape(len(weights), -1).T[None])
    factors = rewriting.constant(f"{layer.name}_matrix", matrix)
    product = _product(rewriting, rows, result)
    limits = attributes.get("activation_range")
    inputs = (rows, factors, *(other for other in bias if other))
    own = {} if limits is None else {"activation_range": limits}
    node = Node(layer.name, "MatMul", inputs, (product,), own)
    parts = layer.name, "MatMul", inputs, (product,), layer.parts
    rewrite_product(rewriting, FloatLayer(*parts, node))
    rewriting.append_movement(layer, "Transpose", (product,), result, {"perm": [0, 2, 1]})
    return True


def rewrite_integers(rewriting: Rewriting, layer: WeightLayer) -> bool:
    """Append a convolution of integers as movements and a product of the array.

    Return True. Any layer but a convolution over one dimension goes to `rewrite_weights`, whose
    answer is returned. Raises `LowerError` for groups.
    """
    window, (result,) = layer.window, layer.outputs
    if layer.operator != "Conv" or window is None or len(window.kernel) != 1:
        return rewrite_weights(rewriting, layer)
    _check(layer.groups)
    rows = _windows(rewriting, layer, window, layer.input_zero)
    product = _product(rewriting, rows, result)
    own = replace(
        layer,
        operator="MatMul",
        inputs=(rows,),
        outputs=(product,),
        weights=layer.weights.reshape(len(layer.weights), -1),
        window=None,
        input_zero=0,
    )
    if not rewrite_weights(rewriting, own):
        rewriting.add(own)
    rewriting.append_movement(layer, "Transpose", (product,), result, {"perm": [0, 2, 1]})
    return True


def _check(groups: int) -> None:
    if groups > 1:
        raise LowerError(f"a convolution over one dimension in {groups} groups", "two dimensions")


def _product(rewriting: Rewriting, rows: str, result: str) -> str:
    """Add a tensor for the product of the windows `rows` and the weights; return its name.

    Its shape is (batch, windows, channels). The tensor `result`, with the same elements, has the
    shape (batch, channels, windows).
    """
    y, (batch, count, _) = rewriting.tensors[result], rewriting.tensors[rows].shape
    return rewriting.tensor(f"{result}_rows", y, shape=(batch, count, y.shape[1]))


def _windows(rewriting: Rewriting, layer: Layer, window: Window, zero: int) -> str:
    """Append movements that gather the windows of a layer's input; return their tensor's name.

    This tensor has the shape (batch, windows, channels · kernel). Padding has the number `zero`.
    """
    source = layer.inputs[0]
    x = rewriting.tensors[source]
    batch, channels, size = x.shape
    (count,), (taps,) = output_sizes(window, (size,)), window.kernel
    (before,), (after,) = window.before, window.after
    name, length = source, size + before + after
    if before or after:
        name = rewriting.tensor(f"{source}_padded", x, shape=(batch, channels, length))
        pads = rewriting.constant(f"{name}_pads", np.array([0, 0, before, 0, 0, after]))
        value = rewriting.constant(f"{name}_value", np.asarray(zero, x.dtype))
        rewriting.append_movement(layer, "Pad", (source, pads, value), name)
    flat = rewriting.tensor(f"{source}_flat", x, shape=(batch * channels * length,))
    sizes = rewriting.constant(f"{flat}_shape", np.array([batch * channels * length]))
    rewriting.append_movement(layer, "Reshape", (name, sizes), flat)
    starts = np.arange(count)[:, None, None] * window.strides[0]
    places = starts + np.arange(channels)[:, None] * length + np.arange(taps) * window.dilations[0]
    places = places + np.arange(batch)[:, None, None, None] * channels * length
    shape = (batch, count, channels * taps)
    rows = rewriting.tensor(f"{source}_windows", x, shape=shape)
    numbers = rewriting.constant(f"{rows}_places", places.reshape(shape))
    rewriting.append_movement(layer, "Gather", (flat, numbers), rows, {"axis": 0})
    return rows


def rewrite_power(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a square as a product; return False for other exponents."""
    source, exponent = layer.inputs
    number = rewriting.constants.get(exponent)
    if source not in rewriting.tensors or number is None or number.size != 1 or number != 2:
        return False
    if number.ndim > len(rewriting.tensors[source].shape):  # the result has more dimensions
        return False
    inputs = (source, source)
    node = Node(layer.node.label, "Mul", inputs, layer.outputs)
    rewriting.add(FloatLayer(layer.name, "Mul", inputs, layer.outputs, layer.parts, node))
    return True
