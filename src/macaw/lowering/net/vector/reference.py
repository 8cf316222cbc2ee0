"""Computes each operation in NumPy. The device's results equal these results bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.net.vector.conversion import Convert
from macaw.lowering.net.vector.each_image import EachImage
from macaw.lowering.net.vector.matrix_product import MatrixProduct
from macaw.lowering.net.vector.operations import (
    AveragePool,
    Concat,
    ElementwiseProduct,
    GlobalAveragePool,
    MaxPool,
    Pad,
    Pool,
    Rescale,
    Resize,
    Sum,
    Table,
    VectorOperation,
    elements,
    mean_scale,
)
from macaw.lowering.net.vector.real_function import LayerNormalization, RealFunction, Softmax
from macaw.lowering.net.vector.rearrangement import Rearrange
from macaw.lowering.net.vector.reduction import KINDS, Reduction
from macaw.lowering.net.vector.row_lookup import RowLookup
from macaw.lowering.onnx.formulas import evaluate
from macaw.lowering.onnx.network import Quantisation
from macaw.lowering.onnx.operators.elementwise import partial_results, row_sums, softmax
from macaw.lowering.onnx.requantise import dequantise_array, quantise_array

Numbers = NDArray[Any]
_REDUCTIONS = {"add": np.add, "max": np.fmax, "min": np.fmin}


@singledispatch
def compute(operation: VectorOperation, *inputs: Numbers) -> Numbers:
    """Return the result of an operation on arrays of its types and shapes."""
    raise TypeError(f"no definition of {type(operation).__name__}")


@compute.register
def _(operation: EachImage, *inputs: Numbers) -> Numbers:
    return np.stack([compute(operation.operation, *images) for images in zip(*inputs, strict=True)])


@compute.register
def _(operation: Sum, a: Numbers, b: Numbers) -> Numbers:
    first, second = (np.float32(scale) for scale in operation.scales)
    return _result(operation, _float(a) * first + _float(b) * second, operation.clip)


@compute.register
def _(operation: Rescale, x: Numbers) -> Numbers:
    return _result(operation, _float(x) * np.float32(operation.scale), operation.clip)


@compute.register
def _(operation: ElementwiseProduct, a: Numbers, b: Numbers) -> Numbers:
    products = a.astype(np.int32) * b.astype(np.int32)
    return _result(operation, _float(products) * np.float32(operation.scale))


@compute.register
def _(operation: Table, x: Numbers) -> Numbers:
    return np.asarray(np.asarray(operation.entries, np.int8)[x.astype(np.int32) + 128])


@compute.register
def _(operation: MaxPool, x: Numbers) -> Numbers:
    result = np.empty(operation.result, operation.dtype)
    for i, j, window in _windows(operation, x):
        result[i, j] = window.max(axis=(0, 1))
    return result


@compute.register
def _(operation: AveragePool, x: Numbers) -> Numbers:
    result = np.empty(operation.result, operation.dtype)
    for i, j, window in _windows(operation, x):
        scale = mean_scale(operation.scale, operation.counted(0, i) * operation.counted(1, j))
        sums = window.sum(axis=(0, 1), dtype=np.int32)
        result[i, j] = _result(operation, _float(sums) * scale)
    return result


@compute.register
def _(operation: GlobalAveragePool, x: Numbers) -> Numbers:
    sums = x.sum(axis=(0, 1), dtype=np.int32, keepdims=True)
    scale = mean_scale(operation.scale, x.shape[0] * x.shape[1])
    return _result(operation, _float(sums) * scale)


@compute.register
def _(operation: Convert, x: Numbers) -> Numbers:
    factors = np.asarray(operation.multipliers, np.float32)
    real = x if operation.is_real else (x.astype(np.int64) - operation.zero).astype(np.float32)
    with np.errstate(all="ignore"):
        real = real / factors if operation.divides else real * factors
    low, high = operation.range
    if operation.to == "float32" and operation.clip:
        return np.asarray(np.fmin(np.fmax(real, np.float32(low)), np.float32(high)))
    if operation.to == "float32":
        return np.asarray(real)
    steps = np.nan_to_num(np.rint(real).astype(np.float64), nan=0.0)
    return np.asarray(np.clip(steps + operation.result_zero, low, high)).astype(operation.to)


@compute.register
def _(operation: RealFunction, *inputs: Numbers) -> Numbers:
    source = Quantisation(operation.scale, operation.zero)
    real = [x if operation.dtype == "float32" else dequantise_array(x, source) for x in inputs]
    result = evaluate(operation.steps, *real)
    if operation.to == "float32":
        return result
    return quantise_array(
        result, Quantisation(operation.divisor, operation.result_zero), operation.to
    )


@compute.register
def _(_operation: Softmax, x: Numbers) -> Numbers:
    with np.errstate(all="ignore"):
        return softmax(x, -1)


@compute.register
def _(operation: LayerNormalization, x: Numbers) -> Numbers:
    with np.errstate(all="ignore"):
        less = x - row_sums(x) / np.float32(x.shape[-1])
        spread = row_sums(less * less) / np.float32(x.shape[-1])
        result = less / np.sqrt(spread + np.float32(operation.epsilon))
        result = result * np.asarray(operation.factors, np.float32)
        if operation.offsets:
            result = result + np.asarray(operation.offsets, np.float32)
    return np.asarray(result)


@compute.register
def _(operation: MatrixProduct, a: Numbers, b: Numbers) -> Numbers:
    total = np.zeros(operation.result, np.float32)
    with np.errstate(all="ignore"):
        for k in range(operation.a[2]):
            total = total + a[:, :, k, None] * b[:, k, None]
    return total


@compute.register
def _(operation: Reduction, x: Numbers) -> Numbers:
    with np.errstate(all="ignore"):
        found = partial_results(_REDUCTIONS[KINDS[operation.kind]], np.moveaxis(x, 1, -1))[..., 0]
        return found / np.float32(x.shape[1]) if operation.kind == "ReduceMean" else found


@compute.register
def _(operation: RowLookup, x: Numbers) -> Numbers:
    table = np.frombuffer(operation.table, operation.to).reshape(-1, operation.width)
    return table[np.minimum(x.view(np.uint32), len(table) - 1)]


@compute.register
def _(operation: Rearrange, x: Numbers) -> Numbers:
    source, result = x.reshape(-1), np.zeros(elements(operation.result), operation.dtype)
    result[:] = operation.fill or 0
    for part in operation.parts:
        to, by = np.asarray(part.first), np.asarray(part.source)
        for length, step, source_step in part.axes:
            places = np.arange(length)
            to, by = to[..., None] + places * step, by[..., None] + places * source_step
        result[to] = source[by]
    return result.reshape(operation.result)


@compute.register
def _(operation: Pad, x: Numbers) -> Numbers:
    frame = list(zip(operation.before, operation.after, strict=True))
    return np.pad(x, frame, constant_values=operation.value)


@compute.register
def _(operation: Resize, x: Numbers) -> Numbers:
    return x[operation.places(0)][:, operation.places(1)]


@compute.register
def _(operation: Concat, *inputs: Numbers) -> Numbers:
    parts = [
        x if scale == 1 else compute(Rescale(operation.dtype, x.shape, scale), x)
        for x, scale in zip(inputs, operation.scales, strict=True)
    ]
    return np.concatenate(parts, operation.axis)


def _windows(operation: Pool, x: Numbers) -> Iterator[tuple[int, int, Numbers]]:
    """Yield the row and the column of each element of a pool's result, and its window."""
    for i in range(operation.result[0]):
        rows = operation.window(0, i)
        for j in range(operation.result[1]):
            columns = operation.window(1, j)
            yield i, j, x[rows.start : rows.stop, columns.start : columns.stop]


def _float(values: Numbers) -> NDArray[np.float32]:
    return values.astype(np.float32)


def _result(
    operation: VectorOperation, values: NDArray[np.float32], clip: tuple[int, int] | None = None
) -> Numbers:
    """Return `values` as elements of the operation's type: rounded half to even, then limited.

    They are limited to the range `clip`, or without it to the range of the type.
    """
    low, high = clip or operation.limits
    return np.clip(np.rint(values), low, high).astype(operation.dtype)
