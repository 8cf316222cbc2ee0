"""Expresses ONNX operators as products and functions: norms, average pools, sums and means.

A sum over some axes is a product with a matrix of ones, a mean one with a matrix of 1 / n. So each
has the roundings of a product on an island.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.onnx_values import TaskValue, Values, places_of
from macaw.lowering.onnx.graph import Node

Inputs = list[TaskValue | None]


def _given(inputs: Inputs, place: int) -> TaskValue:
    value = inputs[place] if place < len(inputs) else None
    if value is None:
        raise LowerError(f"its input {place} is missing")
    return value


def binary(values: Values, function: str, a: TaskValue, b: TaskValue, name: str) -> TaskValue:
    """Add the task of a function of two values, broadcast by NumPy's rules."""
    shape, tensors = np.broadcast_shapes(a.shape, b.shape), []
    for side, value in (("a", a), ("b", b)):
        wide = values.broadcast(value, shape, f"{name}_{side}")
        tensors.append(values.tensor(wide, f"{name}_{side}"))
    task = values.graph.pointwise(function, *tensors, name=values.name(name))
    return values.of_tensor(task, shape)


def unary(values: Values, function: str, x: TaskValue, name: str) -> TaskValue:
    tensor = values.tensor(x, f"{name}_in")
    task = values.graph.pointwise(function, tensor, name=values.name(name))
    return values.of_tensor(task, x.shape)


def _sums(
    values: Values, x: TaskValue, axes: Sequence[int], factor: float, name: str, keep: bool = True
) -> TaskValue:
    """Return `factor` times the sum of x over some axes, as a product.

    The numbers of each sum become a row of A, and B is a column that has `factor` everywhere.
    """
    shape, axes = x.shape, list(axes)
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    count = math.prod(shape[axis] for axis in axes)
    rows = math.prod(shape) // count
    places = places_of(shape).transpose(*rest, *axes).reshape(rows, count)
    column = values.array(np.full((count, 1), factor))
    product = values.graph.product(
        values.tensor(values.move(x, places, f"{name}_rows"), f"{name}_rows", rows, count),
        values.tensor(column, f"{name}_column"),
        values.name(name),
    )
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    return values.of_tensor(product, sizes if keep else [shape[axis] for axis in rest])


def _reduce(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add ReduceSum or ReduceMean."""
    x, attributes = _given(inputs, 0), node.attributes
    given = attributes.get("axes")
    if len(inputs) > 1 and inputs[1] is not None:
        if inputs[1].array is None:
            raise LowerError("its axes depend on an input")
        given = inputs[1].array.reshape(-1).tolist()
    if not given and attributes.get("noop_with_empty_axes", 0):
        return [x]
    axes = sorted({int(axis) % len(x.shape) for axis in given or range(len(x.shape))})
    if not x.shape or not math.prod(x.shape):
        raise LowerError(f"a sum of the shape {x.shape}")
    count = math.prod(x.shape[axis] for axis in axes)
    factor = 1 / count if node.operator == "ReduceMean" else 1
    keep = bool(attributes.get("keepdims", 1))
    return [_sums(values, x, axes, factor, node.outputs[0], keep)]


def _global_average(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    x = _given(inputs, 0)
    axes = range(2, len(x.shape))
    count = math.prod(x.shape[2:])
    if not axes or not math.prod(x.shape):
        raise LowerError(f"an image of the shape {x.shape}")
    return [_sums(values, x, axes, 1 / count, node.outputs[0])]


def _batch_norm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add BatchNormalization: one factor and one addend for each channel."""
    name, x = node.outputs[0], _given(inputs, 0)
    if node.attributes.get("training_mode", 0):
        raise LowerError("it computes means while training")
    scale, bias, mean, variance = (_given(inputs, place).array for place in range(1, 5))
    if scale is None or bias is None or mean is None or variance is None:
        raise LowerError("its scale, bias, mean or variance depends on an input")
    wide = [np.asarray(array, np.float64) for array in (scale, bias, mean, variance)]
    factor = wide[0] / np.sqrt(wide[3] + float(node.attributes.get("epsilon", 1e-5)))
    shape = (-1, *(1,) * (len(x.shape) - 2))
    scaled = binary(values, "mul", x, values.array(factor.reshape(shape)), f"{name}_scaled")
    addend = (wide[1] - wide[2] * factor).reshape(shape)
    return [binary(values, "add", scaled, values.array(addend), name)]


def _layer_norm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add LayerNormalization: (x - mean) / sqrt(mean of squares + epsilon) · scale + bias."""
    name, x, attributes = node.outputs[0], _given(inputs, 0), node.attributes
    if any(node.outputs[1:]):
        raise LowerError("its mean and deviation are no results on islands")
    axes = range(int(attributes.get("axis", -1)) % len(x.shape), len(x.shape))
    share = 1 / math.prod(x.shape[axis] for axis in axes)
    mean = _sums(values, x, axes, share, f"{name}_mean")
    centred = binary(values, "sub", x, mean, f"{name}_centred")
    squares = binary(values, "mul", centred, centred, f"{name}_squares")
    variance = _sums(values, squares, axes, share, f"{name}_variance")
    epsilon = values.array(np.full(variance.shape, float(attributes.get("epsilon", 1e-5))))
    wide = binary(values, "add", variance, epsilon, f"{name}_positive")
    deviation = unary(values, "vssqrt", wide, f"{name}_deviation")
    result = binary(values, "div", centred, deviation, f"{name}_normal")
    result = binary(values, "mul", result, _given(inputs, 1), f"{name}_scaled")
    if len(inputs) > 2 and inputs[2] is not None:
        result = binary(values, "add", result, inputs[2], name)
    return [result]


def _negative(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    return [binary(values, "mul", _given(inputs, 0), values.array(np.array(-1.0)), node.outputs[0])]


def _reciprocal(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    return [binary(values, "div", values.array(np.array(1.0)), _given(inputs, 0), node.outputs[0])]


def _total(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add Sum or Mean: the operands one after the other."""
    total, name = _given(inputs, 0), node.outputs[0]
    for place in range(1, len(inputs)):
        total = binary(values, "add", total, _given(inputs, place), f"{name}_{place}")
    if node.operator == "Mean" and len(inputs) > 1:
        total = binary(values, "mul", total, values.array(np.array(1 / len(inputs))), name)
    return [total]


COMPOSED = {
    "BatchNormalization": _batch_norm,
    "GlobalAveragePool": _global_average,
    "LayerNormalization": _layer_norm,
    "Mean": _total,
    "Neg": _negative,
    "Reciprocal": _reciprocal,
    "ReduceMean": _reduce,
    "ReduceSum": _reduce,
    "Sum": _total,
}
