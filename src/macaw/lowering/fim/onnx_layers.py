"""Expresses ONNX layers as tasks: products, and convolutions as gather and product."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.onnx_recurrent import recurrent
from macaw.lowering.fim.onnx_values import (
    Inputs,
    TaskValue,
    Values,
    matrix,
    matrix_pairs,
    optional,
    places_of,
    required,
)
from macaw.lowering.fim.onnx_windows import framed, window_indices, window_places
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.window import output_sizes, transposed_window, window_of


def _output(node: Node) -> str:
    return node.outputs[0]


def _matmul(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    a, b = required(inputs, 0), required(inputs, 1)
    name = _output(node)
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    if any(size != 1 for size in right[:-2]):
        return [matrix_products(values, a, b, name)]
    product = values.graph.product(
        values.tensor(a, f"{name}_a", matrix(left)),
        values.tensor(b, f"{name}_b", (right[-2], right[-1])),
        values.name(name),
    )
    whole = np.broadcast_shapes(left[:-2], right[:-2])
    shape = (*whole, *left[-2:-1], *right[-1:])
    if len(a.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(b.shape) == 1:
        shape = shape[:-1]
    return [values.of_tensor(product, shape)]


def matrix_products(values: Values, a: TaskValue, b: TaskValue, name: str) -> TaskValue:
    """Add the products of two stacks of matrices, such as the heads of an attention.

    The dimensions of `a` and `b` before the last two broadcast. Each product writes its part of one
    tensor, which is the result. If `a` has one dimension, it is a row.
    """
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    (rows, depth), columns = left[-2:], b.shape[-1]
    batch = np.broadcast_shapes(left[:-2], b.shape[:-2])
    count = math.prod(batch)
    values.fits(count * rows * columns, beside=True)
    whole = values.graph.whole(values.name(name), count * rows, columns)
    for number, (of_a, of_b) in enumerate(matrix_pairs(left, b.shape)):
        sides = [
            values.part(value, place * math.prod(shape), shape, f"{name}_{side}{number}")
            for side, value, place, shape in (
                ("a", a, of_a, (rows, depth)),
                ("b", b, of_b, (depth, columns)),
            )
        ]
        left_part, right_part = (values.tensor(side, f"{name}_{number}") for side in sides)
        part = values.name(f"{name}_{number}")
        values.graph.product(left_part, right_part, part, into=whole, row=number * rows)
        values.check_tasks()
    shape = (*batch, rows, columns) if len(a.shape) > 1 else (*batch, columns)
    return values.of_tensor(whole, shape)


def _gemm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    attributes = node.attributes
    name = _output(node)
    a, b = (
        _transpose(
            values, required(inputs, place), attributes.get(key, 0), f"{name}_{key[-1].lower()}"
        )
        for place, key in enumerate(("transA", "transB"))
    )
    alpha, beta = float(attributes.get("alpha", 1)), float(attributes.get("beta", 1))
    c = optional(inputs, 2)
    if alpha != 1 and b.array is not None:
        b, alpha = values.array(b.array * alpha), 1
    if alpha != 1 and a.array is not None:
        a, alpha = values.array(a.array * alpha), 1
    more = alpha != 1 or (c is not None and beta != 0)
    product = values.graph.product(
        values.tensor(a, f"{name}_a"),
        values.tensor(b, f"{name}_b"),
        values.name(f"{name}_product" if more else name),
    )
    value = values.of_tensor(product, (product.rows, product.columns))
    if alpha != 1:
        value = _scale(values, value, alpha, name)
    if c is not None and beta != 0:
        value = _add(values, value, _scale(values, c, beta, f"{name}_c"), name)
    return [value]


def _transpose(values: Values, value: TaskValue, turn: int, name: str) -> TaskValue:
    if not turn:
        return value
    if value.array is not None:
        array = value.array
        return values.derive(value, "transposed", lambda: array.T)
    return values.move(value, places_of(value.shape).T, f"{name}_transposed")


def _scale(values: Values, value: TaskValue, factor: float, name: str) -> TaskValue:
    if factor == 1:
        return value
    if value.array is not None:
        return values.array(value.array * factor)
    factors = values.array(np.full(value.shape, factor))
    tensors = values.tensor(value, f"{name}_in"), values.tensor(factors, f"{name}_factor")
    tensor = values.graph.pointwise("mul", *tensors, name=values.name(f"{name}_scaled"))
    return values.of_tensor(tensor, value.shape)


def _add(values: Values, a: TaskValue, b: TaskValue, name: str) -> TaskValue:
    """Add the task a + b and return its output; b is broadcast to the shape of a."""
    wide = values.broadcast(b, a.shape, f"{name}_bias")
    tensors = values.tensor(a, f"{name}_a"), values.tensor(wide, f"{name}_bias")
    return values.of_tensor(
        values.graph.pointwise("add", *tensors, name=values.name(name)), a.shape
    )


# --- convolutions ---


def _conv(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Conv: weights times a matrix whose columns are image windows (seed 004 ¶59,
    ¶63).
    """
    attributes = node.attributes
    name, x, weights = _output(node), required(inputs, 0), required(inputs, 1)
    if weights.array is None:
        raise LowerError("its weights depend on an input")
    if len(x.shape) not in (3, 4):
        raise LowerError(f"an image of the shape {x.shape}", "one or two dimensions are supported")
    groups = int(attributes.get("group", 1))
    outputs, _, *kernel = weights.array.shape
    batch, channels, *image = x.shape
    window = window_of(attributes, image, kernel)
    values.fits(outputs * channels * math.prod(kernel), beside=False)
    rows = _expand_groups(weights.array, groups, channels)
    padded, sizes = framed(values, x, window, name), output_sizes(window, image)
    values.fits(batch * math.prod((rows.shape[1], *sizes)), beside=True)
    places = window_places(places_of(padded.shape), window_indices(window, image))
    count = len(kernel)
    order = (1, *(2 + 2 * n for n in range(count)), 0, *(3 + 2 * n for n in range(count)))
    windows = places.transpose(order).reshape(rows.shape[1], -1)
    columns = values.move(padded, windows, f"{name}_windows")
    has_bias = optional(inputs, 2) is not None
    last = name if batch == 1 else f"{name}_by_channels"
    value = values.of_tensor(
        values.graph.product(
            values.tensor(values.array(rows), f"{name}_weights"),
            values.tensor(columns, f"{name}_windows"),
            values.name(f"{last}_product" if has_bias else last),
            groups=groups,
        ),
        (outputs, windows.shape[1]),
    )
    if has_bias:
        bias = required(inputs, 2)
        wide = values.broadcast(_column(values, bias), value.shape, f"{name}_bias")
        value = _add(values, value, wide, last)
    shape = (batch, outputs, *sizes)
    if batch > 1:
        by_batch = places_of((outputs, batch, *sizes)).swapaxes(0, 1)
        return [values.move(value, by_batch, name)]
    return [TaskValue(shape, tensor=value.tensor)]


def _conv_transpose(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of ConvTranspose: a convolution of the image with zeros between its pixels."""
    attributes, name = node.attributes, _output(node)
    x, weights = required(inputs, 0), required(inputs, 1)
    if weights.array is None:
        raise LowerError("its weights depend on an input")
    batch, channels, *image = x.shape
    kernel, groups = weights.array.shape[2:], int(attributes.get("group", 1))
    window, sizes = transposed_window(attributes, image, kernel)
    shape, places, source = [batch, channels], places_of((batch, channels, 1)), places_of(x.shape)
    for axis, size in enumerate(image):
        before = window.reach[axis] - 1
        index = np.arange(size) * window.strides[axis] - window.before[axis] + before
        shape.append(sizes[axis] + before)
        inside = (index >= 0) & (index < shape[-1])
        places = places[..., None] * shape[-1] + index[inside]
        source = np.compress(inside, source, axis=2 + axis)
    values.fits(math.prod(shape), beside=True)
    moved = values.move(x, source, f"{name}_used")
    spread = values.spread(
        values.array(np.zeros(shape)), moved, places.reshape(source.shape), f"{name}_spread"
    )
    turned = np.flip(weights.array, axis=tuple(range(2, 2 + len(kernel))))
    turned = turned.reshape(groups, channels // groups, -1, *kernel).swapaxes(1, 2)
    kernels = values.array(turned.reshape(-1, channels // groups, *kernel))
    own = {"group": groups, "dilations": list(window.dilations)}
    return _conv(values, replace(node, attributes=own), [spread, kernels, *inputs[2:]])


def _column(values: Values, bias: TaskValue) -> TaskValue:
    if bias.array is not None:
        return values.array(bias.array.reshape(-1, 1))
    return TaskValue((*bias.shape, 1), tensor=values.tensor(bias, "bias", (bias.shape[0], 1)))


def _expand_groups(weights: NDArray[Any], groups: int, channels: int) -> NDArray[Any]:
    """Return the weights of a grouped convolution, with zeros for channels of other groups.

    The result has shape (outputs, channels · numbers of a kernel).
    """
    outputs, own, *kernel = weights.shape
    full = np.zeros((outputs, channels, *kernel), weights.dtype)
    for output in range(outputs):
        first = output // (outputs // groups) * own
        full[output, first : first + own] = weights[output]
    return full.reshape(outputs, -1)


LAYERS: dict[str, Callable[[Values, Node, Inputs], list[TaskValue]]] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GRU": recurrent,
    "LSTM": recurrent,
    "RNN": recurrent,
}
