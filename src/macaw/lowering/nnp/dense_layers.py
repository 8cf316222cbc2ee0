"""Reads products with constant matrices, functions of elements and softmax from ONNX nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.layouts import PADDING, Value, pattern, reshaped
from macaw.lowering.nnp.operations import Operation, Place
from macaw.lowering.nnp.reading import Array, Builder, matching, rows_of_groups, spread_constant
from macaw.lowering.onnx.graph import Node

Rule = Callable[[Builder, Node], Sequence[Value]]


def dense(builder: Builder, node: Node, x: Value, weights: Array, bias: Array | None) -> Value:
    """Append y = weights · x + bias for each row of `x`, and return y.

    `weights` is (outputs, inputs) and `bias` (outputs,); the last axis of `x` has the inputs.
    """
    outputs, inputs = weights.shape
    flat = np.arange(math.prod(x.shape), dtype=np.int64)
    rows = rows_of_groups(builder, node.label, x, flat // inputs, flat % inputs)
    segment = builder.segments.get(node.outputs[0], outputs)
    keys = pattern(outputs, segment, builder.native)
    table = np.where(keys >= 0, rows.leads[:, None] * outputs + keys, PADDING)
    matrix = builder.matrix(f"{node.label}_W", weights, keys, rows.keys)
    shape = (*x.shape[:-1], outputs)
    result = builder.result(node.outputs[0], shape, table, zeros=True)
    builder.emit(
        Operation(node.label, ops.PRODUCT, (rows.value.place,), result.place, matrix=matrix)
    )
    if bias is None:
        return result
    return add_constant(builder, node, result, np.broadcast_to(bias, shape), "b")


def add_constant(builder: Builder, node: Node, value: Value, array: Array, suffix: str) -> Value:
    """Append the sum of `value` and the constant `array` of the same shape, and return the sum.

    `suffix` ends the name of the constant.
    """
    place = spread_constant(builder, f"{node.label}_{suffix}", array, value)
    return builder.pointwise(node, ops.ADD, value, place)


def _gemm(builder: Builder, node: Node) -> list[Value]:
    attributes = node.attributes
    if attributes.get("transA", 0):
        raise LowerError("transA is not supported", "transpose the input")
    weights = builder.array(node.inputs[1])
    if weights is None:
        raise LowerError("its matrix is no constant", "MatMul multiplies two activations")
    weights = weights if attributes.get("transB", 0) else weights.T
    bias = None
    x = builder.value(node.inputs[0])
    result_shape = builder.shape(node.outputs[0])
    if len(node.inputs) > 2 and node.inputs[2]:
        bias = builder.array(node.inputs[2])
        if bias is None:
            raise LowerError("its C is no constant")
        bias = np.broadcast_to(bias * np.float64(attributes.get("beta", 1.0)), result_shape)
    return [dense(builder, node, x, weights * np.float64(attributes.get("alpha", 1.0)), bias)]


def constant_matmul(builder: Builder, node: Node) -> Value:
    """Append a MatMul of which one input is a constant matrix, and return its result."""
    first, second = (builder.array(name) for name in node.inputs)
    shape = builder.shape(node.outputs[0])
    if second is not None:
        matrix = _one_matrix(second)
        x = builder.value(node.inputs[0])
        y = dense(builder, node, x, matrix.T, None)
        return reshaped(y, shape)
    assert first is not None
    return _matrix_times(builder, node, _one_matrix(first), builder.value(node.inputs[1]))


def _one_matrix(array: Array) -> Array:
    """Return a constant as one matrix. Raises `LowerError` for a stack of several matrices."""
    if array.ndim == 1:
        raise LowerError("a product with a constant vector is not supported", "a matrix of one row")
    if math.prod(array.shape[:-2]) != 1:
        raise LowerError(f"its constant is a stack of {math.prod(array.shape[:-2])} matrices")
    return array.reshape(array.shape[-2:])


def _matrix_times(builder: Builder, node: Node, matrix: Array, x: Value) -> Value:
    """Append matrix · x and return it; its sums are over the second-to-last axis of `x`."""
    if len(x.shape) < 2:
        raise LowerError("a product of a constant matrix with a vector is not supported")
    outputs, inputs = matrix.shape
    across = x.shape[-1]
    flat = np.arange(math.prod(x.shape), dtype=np.int64)
    lead = flat // (inputs * across) * across + flat % across
    rows = rows_of_groups(builder, node.label, x, lead, flat // across % inputs)
    keys = pattern(outputs, outputs, builder.native)
    batch, column = rows.leads[:, None] // across, rows.leads[:, None] % across
    table = np.where(keys >= 0, (batch * outputs + keys) * across + column, PADDING)
    name = builder.matrix(f"{node.label}_W", matrix, keys, rows.keys)
    result = builder.result(node.outputs[0], builder.shape(node.outputs[0]), table, zeros=True)
    builder.emit(Operation(node.label, ops.PRODUCT, (rows.value.place,), result.place, matrix=name))
    return result


# --- functions of elements ---


def binary(
    builder: Builder, node: Node, kind: str, names: Sequence[str], shape: tuple[int, ...]
) -> Value:
    """Append operation `kind` on two values `names`, broadcast to `shape`; return the result."""
    arrays = [builder.array(name) for name in names]
    if arrays[0] is not None and arrays[1] is not None:
        raise LowerError("its inputs are constants")
    whole = [
        name in builder.values and math.prod(builder.values[name].shape) == math.prod(shape)
        for name in names
    ]
    if not any(whole):
        raise LowerError("both inputs would be repeated, and nnp has no such copy")
    main = whole.index(True)
    value = builder.value(names[main])
    value = reshaped(value, shape)
    other = names[1 - main]
    if arrays[1 - main] is not None:
        array = np.broadcast_to(np.asarray(arrays[1 - main]), shape)
        place: Place | None = spread_constant(builder, f"{node.label}_c", array, value)
        zeros = value.zeros
    else:
        side = builder.value(other)
        place, zeros = matching(value, side, shape), value.zeros and side.zeros
    if place is None:
        raise LowerError("its inputs lie differently in native vectors", "the same shape")
    places = (value.place, place) if main == 0 else (place, value.place)
    result = builder.result(node.outputs[0], shape, value.elements, zeros)
    builder.emit(Operation(node.label, kind, places, result.place))
    return result


def _binary(kind: str) -> Rule:
    def rule(builder: Builder, node: Node) -> list[Value]:
        shape = builder.shape(node.outputs[0])
        return [binary(builder, node, kind, node.inputs, shape)]

    return rule


def scaled(builder: Builder, node: Node, value: Value, factor: ArrayLike) -> Value:
    """Append and return the product of a value and a factor, broadcast to the value's shape."""
    wide = np.broadcast_to(factor, value.shape)
    place = spread_constant(builder, f"{node.label}_factor", wide, value)
    return builder.pointwise(node, ops.MULTIPLY, value, place)


def _divide(builder: Builder, node: Node) -> list[Value]:
    divisor = builder.array(node.inputs[1])
    if divisor is None:
        raise LowerError("it divides by an activation, and nnp has no division")
    if np.any(divisor == 0):
        raise LowerError("it divides by zero")
    value = builder.value(node.inputs[0])
    if np.broadcast_shapes(value.shape, divisor.shape) != value.shape:
        raise LowerError("its input would be repeated, and nnp has no such copy")
    return [scaled(builder, node, value, 1 / divisor.astype(np.float64))]


def _negate(builder: Builder, node: Node) -> list[Value]:
    return [scaled(builder, node, builder.value(node.inputs[0]), np.float64(-1))]


def _unary(kind: str) -> Rule:
    def rule(builder: Builder, node: Node) -> list[Value]:
        return [builder.pointwise(node, kind, builder.value(node.inputs[0]))]

    return rule


def _maximum(builder: Builder, node: Node) -> list[Value]:
    if len(node.inputs) != 2:
        raise LowerError(f"it has {len(node.inputs)} inputs, and nnp compares two")
    return [binary(builder, node, ops.MAXIMUM, node.inputs, builder.shape(node.outputs[0]))]


def _leaky_relu(builder: Builder, node: Node) -> list[Value]:
    slope = float(node.attributes.get("alpha", 0.01))
    if not 0 <= slope <= 1:
        raise LowerError(f"its slope of {slope:g} is not between 0 and 1")
    value = builder.value(node.inputs[0])
    small = scaled(builder, node, value, np.float64(slope))
    return [builder.pointwise(node, ops.MAXIMUM, small, value.place)]


def _batch_normalization(builder: Builder, node: Node) -> list[Value]:
    value = builder.value(node.inputs[0])
    arrays = [builder.array(name) for name in node.inputs[1:5]]
    if any(array is None for array in arrays) or any(node.outputs[1:]):
        raise LowerError("training is not supported")
    scale, bias, mean, variance = (np.asarray(array, np.float64) for array in arrays)
    factor = scale / np.sqrt(variance + float(node.attributes.get("epsilon", 1e-5)))
    shape = (-1, *[1] * (len(value.shape) - 2))
    product = scaled(builder, node, value, factor.reshape(shape))
    shift = np.broadcast_to((bias - mean * factor).reshape(shape), value.shape)
    return [add_constant(builder, node, product, shift, "shift")]


def _softmax(builder: Builder, node: Node) -> list[Value]:
    value = builder.value(node.inputs[0])
    rank = len(value.shape)
    axis = int(node.attributes.get("axis", -1 if builder.graph.version >= 13 else 1))
    axis += rank if axis < 0 else 0
    size = value.shape[axis] if builder.graph.version >= 13 else math.prod(value.shape[axis:])
    after = math.prod(value.shape[axis + 1 :]) if builder.graph.version >= 13 else 1
    flat = np.arange(math.prod(value.shape), dtype=np.int64)
    lead = flat // (size * after) * after + flat % after
    rows = rows_of_groups(builder, node.label, value, lead, flat // after % size)
    if not np.array_equal(rows.keys[:size], np.arange(size)):
        raise LowerError(
            "its elements are not at the start of their native vectors",
            "v_softmax takes the first elements of a chain's vectors",
        )
    table = rows.value.elements
    result = builder.result(node.outputs[0], value.shape, table, zeros=False)
    builder.emit(Operation(node.label, ops.SOFTMAX, (rows.value.place,), result.place, valid=size))
    return [result]


RULES: Mapping[str, Rule] = {
    "Add": _binary(ops.ADD),
    "BatchNormalization": _batch_normalization,
    "Div": _divide,
    "Gemm": _gemm,
    "LeakyRelu": _leaky_relu,
    "Max": _maximum,
    "Mul": _binary(ops.MULTIPLY),
    "Neg": _negate,
    "Relu": _unary(ops.RELU),
    "Sigmoid": _unary(ops.SIGMOID),
    "Softmax": _softmax,
    "Sub": _binary(ops.SUBTRACT),
    "Tanh": _unary(ops.TANH),
}
