"""Expresses ONNX operators as products and functions: norms, average pools, sums and means.

A sum over some axes is a product with a column of ones, and a mean over some axes is a product with
a column of 1 / n. So these sums and means have the roundings of a product on an island. Sum and
Mean of several operands become additions from left to right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.onnx_values import Inputs, TaskValue, Values, optional, places_of, required
from macaw.lowering.onnx.graph import Node


def binary(values: Values, function: str, a: TaskValue, b: TaskValue, name: str) -> TaskValue:
    """Add a task that applies a function to two values, broadcast by NumPy's rules.

    Return its output. `name` is the name of the output in ONNX.
    """
    shape, tensors = np.broadcast_shapes(a.shape, b.shape), []
    for side, value in (("a", a), ("b", b)):
        wide = values.broadcast(value, shape, f"{name}_{side}")
        tensors.append(values.tensor(wide, f"{name}_{side}"))
    task = values.graph.pointwise(function, *tensors, name=values.name(name))
    return values.of_tensor(task, shape)


def chain(values: Values, function: str, operands: Sequence[TaskValue], name: str) -> TaskValue:
    """Add tasks that apply a function of two values to all operands from left to right.

    Return the output of the last task, or the operand if there is only one.
    """
    total = operands[0]
    for place, operand in enumerate(operands[1:], 1):
        last = place == len(operands) - 1
        total = binary(values, function, total, operand, name if last else f"{name}_{place}")
    return total


def unary(values: Values, function: str, x: TaskValue, name: str) -> TaskValue:
    tensor = values.tensor(x, f"{name}_in")
    task = values.graph.pointwise(function, tensor, name=values.name(name))
    return values.of_tensor(task, x.shape)


def sums(
    values: Values, x: TaskValue, axes: Sequence[int], factor: float, name: str, keep: bool = True
) -> TaskValue:
    """Add a product that computes `factor` times the sum of x over some axes; return its output.

    The numbers of each sum become a row of A, and B is a column that has `factor` everywhere. With
    `keep`, the axes stay in the result with length 1.
    """
    shape, axes = x.shape, list(axes)
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    count = math.prod(shape[axis] for axis in axes)
    rows = math.prod(shape) // count
    places = places_of(shape).transpose(*rest, *axes).reshape(rows, count)
    column = values.array(np.full((count, 1), factor))
    product = values.graph.product(
        values.tensor(values.move(x, places, f"{name}_rows"), f"{name}_rows", (rows, count)),
        values.tensor(column, f"{name}_column"),
        values.name(name),
    )
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    return values.of_tensor(product, sizes if keep else [shape[axis] for axis in rest])


def axes_of(node: Node, inputs: Inputs) -> list[int]:
    """Return the axes over which a node reduces its first input, in order, counted from 0.

    The node has them as its second input or as an attribute. By default they are all axes, or none
    with the attribute `noop_with_empty_axes`. Raises `LowerError` if they depend on an input of the
    model, or if the first input has no axes or no numbers.
    """
    x, attributes = required(inputs, 0), node.attributes
    given = attributes.get("axes")
    if len(inputs) > 1 and inputs[1] is not None:
        if inputs[1].array is None:
            raise LowerError("its axes depend on an input")
        given = inputs[1].array.reshape(-1).tolist()
    if not given and attributes.get("noop_with_empty_axes", 0):
        return []
    if not x.shape or not math.prod(x.shape):
        raise LowerError(f"a reduction of the shape {x.shape}")
    return sorted({int(axis) % len(x.shape) for axis in given or range(len(x.shape))})


def _reduce(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of a ReduceSum or ReduceMean node; return a list with its output."""
    x, axes = required(inputs, 0), axes_of(node, inputs)
    if not axes:
        return [x]
    count = math.prod(x.shape[axis] for axis in axes)
    factor = 1 / count if node.operator == "ReduceMean" else 1
    keep = bool(node.attributes.get("keepdims", 1))
    return [sums(values, x, axes, factor, node.outputs[0], keep)]


def _global_average(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    x = required(inputs, 0)
    axes = range(2, len(x.shape))
    count = math.prod(x.shape[2:])
    if not axes or not math.prod(x.shape):
        raise LowerError(f"an image of the shape {x.shape}")
    return [sums(values, x, axes, 1 / count, node.outputs[0])]


def _batch_norm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of BatchNormalization: one factor and one addend for each channel."""
    name, x = node.outputs[0], required(inputs, 0)
    if node.attributes.get("training_mode", 0):
        raise LowerError("it computes means while training")
    scale, bias, mean, variance = (required(inputs, place).array for place in range(1, 5))
    if scale is None or bias is None or mean is None or variance is None:
        raise LowerError("its scale, bias, mean or variance depends on an input")
    wide = [np.asarray(array, np.float64) for array in (scale, bias, mean, variance)]
    factor = wide[0] / np.sqrt(wide[3] + float(node.attributes.get("epsilon", 1e-5)))
    shape = (-1, *(1,) * (len(x.shape) - 2))
    scaled = binary(values, "mul", x, values.array(factor.reshape(shape)), f"{name}_scaled")
    addend = (wide[1] - wide[2] * factor).reshape(shape)
    return [binary(values, "add", scaled, values.array(addend), name)]


def _layer_norm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of LayerNormalization.

    With d = x - mean, the result is d / sqrt(mean of d² + epsilon) · scale + bias.
    """
    name, x, attributes = node.outputs[0], required(inputs, 0), node.attributes
    if any(node.outputs[1:]):
        raise LowerError("its mean and deviation are no results on islands")
    axes = range(int(attributes.get("axis", -1)) % len(x.shape), len(x.shape))
    share = 1 / math.prod(x.shape[axis] for axis in axes)
    mean = sums(values, x, axes, share, f"{name}_mean")
    centred = binary(values, "sub", x, mean, f"{name}_centred")
    squares = binary(values, "mul", centred, centred, f"{name}_squares")
    variance = sums(values, squares, axes, share, f"{name}_variance")
    epsilon = values.array(np.full(variance.shape, float(attributes.get("epsilon", 1e-5))))
    wide = binary(values, "add", variance, epsilon, f"{name}_positive")
    deviation = unary(values, "vssqrt", wide, f"{name}_deviation")
    result = binary(values, "div", centred, deviation, f"{name}_normal")
    result = binary(values, "mul", result, required(inputs, 1), f"{name}_scaled")
    if len(inputs) > 2 and inputs[2] is not None:
        result = binary(values, "add", result, inputs[2], name)
    return [result]


def _negated(values: Values, x: TaskValue, name: str) -> TaskValue:
    return binary(values, "mul", x, values.array(np.array(-1.0)), name)


def _of_both_signs(
    values: Values, function: str, x: TaskValue, name: str
) -> tuple[TaskValue, TaskValue]:
    """Add tasks that apply `function` to x and to -x; return both outputs."""
    minus = _negated(values, x, f"{name}_minus")
    above = unary(values, function, x, f"{name}_above")
    return above, unary(values, function, minus, f"{name}_below")


def exponential(values: Values, x: TaskValue, name: str) -> TaskValue:
    """Add the tasks of e to the x, as sigmoid(x) / sigmoid(-x), and return the output.

    Each sigmoid is rounded once. There is no difference of nearly equal numbers, which would lose
    digits.
    """
    above, below = _of_both_signs(values, "sigmoid", x, name)
    return binary(values, "div", above, below, name)


def _exponential(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    return [exponential(values, required(inputs, 0), node.outputs[0])]


def _rectified(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Abs, LeakyRelu or PRelu: relu(x) - slope · relu(-x)."""
    x, name = required(inputs, 0), node.outputs[0]
    slope = optional(inputs, 1)
    if slope is None:
        default = -1.0 if node.operator == "Abs" else 0.01
        slope = values.array(np.array(node.attributes.get("alpha", default), np.float64))
    above, below = _of_both_signs(values, "relu", x, name)
    return [
        binary(values, "sub", above, binary(values, "mul", below, slope, f"{name}_scaled"), name)
    ]


def _power(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Pow, with an exponent of 1/2, 1, 2 or 3."""
    x, exponent, name = required(inputs, 0), required(inputs, 1).array, node.outputs[0]
    if exponent is None or exponent.size != 1 or float(exponent.item()) not in (0.5, 1, 2, 3):
        raise LowerError("its exponent is no constant of 0.5, 1, 2 or 3")
    if exponent.item() == 0.5:
        return [unary(values, "vssqrt", x, name)]
    result = x
    for _ in range(int(exponent.item()) - 1):
        result = binary(values, "mul", result, x, name)
    return [result]


def _negative(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    return [_negated(values, required(inputs, 0), node.outputs[0])]


def _reciprocal(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    return [
        binary(values, "div", values.array(np.array(1.0)), required(inputs, 0), node.outputs[0])
    ]


def _total(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Sum or Mean: additions from left to right, for Mean also times 1 / n."""
    name, operands = node.outputs[0], [required(inputs, place) for place in range(len(inputs))]
    if node.operator == "Sum" or len(inputs) == 1:
        return [chain(values, "add", operands, name)]
    total = chain(values, "add", operands, f"{name}_sum")
    return [binary(values, "mul", total, values.array(np.array(1 / len(inputs))), name)]


COMPOSED = {
    "Abs": _rectified,
    "BatchNormalization": _batch_norm,
    "Exp": _exponential,
    "GlobalAveragePool": _global_average,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": _rectified,
    "Mean": _total,
    "Neg": _negative,
    "PRelu": _rectified,
    "Pow": _power,
    "Reciprocal": _reciprocal,
    "ReduceMean": _reduce,
    "ReduceSum": _reduce,
    "Sum": _total,
}
