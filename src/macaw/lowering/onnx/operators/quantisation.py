"""QuantizeLinear and its inverse as ONNX defines them, also by channel and by block."""

from __future__ import annotations

import numpy as np
from onnx import helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.elementwise import Array, Arrays, Operator, first, optional

_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "int4", "uint4", "int2", "uint2")
_RANGES = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}


def _spread(array: Array, x: Array, node: Node) -> Array:
    """Return scales or zero points in a shape that NumPy broadcasts to the shape of `x`."""
    if array.size == 1:
        return array.reshape(())
    axis = int(node.attributes.get("axis", 1))
    if not -x.ndim <= axis < x.ndim:
        raise LowerError(f"there is no axis {axis} of {x.ndim}")
    if array.ndim > 1:  # scales by block
        size = int(node.attributes.get("block_size", 0)) or 1
        wide = np.repeat(array, size, axis)
        return np.take(wide, np.arange(x.shape[axis]), axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    return array.reshape(shape)


def limits(dtype: str) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type.

    Raises `LowerError` for a type to which QuantizeLinear does not quantise here.
    """
    if dtype not in _TYPES:
        raise LowerError(f"quantisation to {dtype}", "integers of 2 to 32 bits are supported")
    if dtype in _RANGES:
        return _RANGES[dtype]
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _quantize(node: Node, arrays: Arrays) -> list[Array]:
    x, zero = first(arrays), optional(arrays, 2)
    scale = _spread(first(arrays, 1), x, node)
    kind = node.attributes.get("output_dtype", 0)
    dtype = zero.dtype if zero is not None else np.dtype(np.uint8)
    if zero is None and kind:
        dtype = helper.tensor_dtype_to_np_dtype(kind)
    least, most = limits(dtype.name)
    rounded = np.rint(x / scale)
    if zero is not None:
        rounded = rounded.astype(np.float64) + _spread(zero.astype(np.float64), x, node)
    rounded = np.nan_to_num(rounded, nan=0.0, posinf=most, neginf=least)
    return [np.clip(rounded, least, most).astype(np.int64).astype(dtype)]


def _dequantize(node: Node, arrays: Arrays) -> list[Array]:
    x, zero = first(arrays), optional(arrays, 2)
    limits(x.dtype.name)
    scale = first(arrays, 1)
    wide = x.astype(np.int64)
    if zero is not None:
        wide = wide - _spread(zero.astype(np.int64), x, node)
    return [(wide.astype(np.float32) * _spread(scale, x, node)).astype(scale.dtype)]


def _dynamic(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    least, most = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = np.float32((most - least) / np.float32(255))
    zero = np.uint8(np.clip(np.rint(-least / scale), 0, 255)) if scale else np.uint8(0)
    steps = np.rint(x / scale) if scale else np.zeros_like(x)
    y = np.clip(steps + np.float32(zero), 0, 255).astype(np.uint8)
    return [y, np.asarray(scale), np.asarray(zero)]


QUANTISATION: dict[str, Operator] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
}
