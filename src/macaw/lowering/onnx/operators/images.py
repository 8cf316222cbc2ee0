"""Operators over images: convolutions, products, pools, resizing."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.elementwise import Array, Arrays, Operator, first, mean, optional
from macaw.lowering.onnx.operators.sums import (
    convolution,
    matrix_product,
    ordered_product,
    padded_image,
    transposed_convolution,
    windows,
)
from macaw.lowering.onnx.window import Window, output_sizes, transposed_window, window_of


def _conv(node: Node, arrays: Arrays) -> list[Array]:
    x, w, bias = first(arrays), first(arrays, 1), optional(arrays, 2)
    window = window_of(node.attributes, x.shape[2:], w.shape[2:])
    sums = convolution(x, w, window, int(node.attributes.get("group", 1)), fill=0)
    return [_biased(sums, bias)]


def _conv_transpose(node: Node, arrays: Arrays) -> list[Array]:
    x, w, bias = first(arrays), first(arrays, 1), optional(arrays, 2)
    window, sizes = transposed_window(node.attributes, x.shape[2:], w.shape[2:])
    groups = int(node.attributes.get("group", 1))
    return [_biased(transposed_convolution(x, w, window, sizes, groups, zero=0), bias)]


def _biased(sums: Array, bias: Array | None) -> Array:
    return sums if bias is None else sums + bias.reshape(1, -1, *(1,) * (sums.ndim - 2))


def _gemm(node: Node, arrays: Arrays) -> list[Array]:
    a, b, c = first(arrays), first(arrays, 1), optional(arrays, 2)
    a = a.T if node.attributes.get("transA", 0) else a
    b = b.T if node.attributes.get("transB", 0) else b
    kind = a.dtype.type
    y = np.asarray(matrix_product(a, b)).astype(a.dtype)
    alpha, beta = node.attributes.get("alpha", 1.0), node.attributes.get("beta", 1.0)
    y = y if alpha == 1 else np.asarray(kind(alpha) * y)
    if c is None or beta == 0:
        return [y]
    return [y + (c if beta == 1 else kind(beta) * c)]


def _matmul(_node: Node, arrays: Arrays) -> list[Array]:
    a = first(arrays)
    product_of = ordered_product if a.dtype.kind == "f" else matrix_product
    y = product_of(a, first(arrays, 1)).astype(a.dtype)
    bias = optional(arrays, 2)  # `fuse` makes it from a sum that follows the product
    return [y if bias is None else y + bias]


def _centred(array: Array, zero: Array | None, shape: tuple[int, ...]) -> Array:
    wide = array.astype(np.int64)
    return wide if zero is None else wide - zero.astype(np.int64).reshape(shape)


def _conv_integer(node: Node, arrays: Arrays) -> list[Array]:
    x = _centred(first(arrays), optional(arrays, 2), ())
    zero = optional(arrays, 3)
    w = first(arrays, 1)
    shape = (-1,) + (1,) * (w.ndim - 1) if zero is not None and zero.size > 1 else ()
    window = window_of(node.attributes, x.shape[2:], w.shape[2:])
    groups = int(node.attributes.get("group", 1))
    return [convolution(x, _centred(w, zero, shape), window, groups, fill=0).astype(np.int32)]


def _matmul_integer(_node: Node, arrays: Arrays) -> list[Array]:
    a, b = first(arrays), first(arrays, 1)
    of_a, of_b = optional(arrays, 2), optional(arrays, 3)
    rows = of_a is not None and of_a.ndim == 1 and of_a.size > 1
    left = _centred(a, of_a, (-1, 1) if rows else of_a.shape if of_a is not None else ())
    right = _centred(b, of_b, of_b.shape if of_b is not None else ())
    return [matrix_product(left, right).astype(np.int32)]


# --- pools ---


def _max_pool(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    if any(node.outputs[1:]):
        raise LowerError("the places of its maxima are not supported")
    window = window_of(node.attributes, x.shape[2:], node.attributes["kernel_shape"])
    return [maxima(x, window)]


def maxima(x: Array, window: Window) -> Array:
    """Return the largest number of each window, of shape (batch, channels, sizes ...).

    Padding counts as the least number of the type.
    """
    sizes = output_sizes(window, x.shape[2:])
    least = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = padded_image(x, window, sizes, least)
    views = windows(padded, window, sizes)
    result = np.array(views[last_axes((0,) * len(sizes))])
    for place in product(*map(range, window.kernel)):
        np.maximum(result, views[last_axes(place)], out=result)
    return result


def last_axes(place: tuple[int, ...]) -> tuple[Any, ...]:
    """Return an index for a NumPy array that fixes its last axes at the positions `place`.

    `a[last_axes((1, 2))]` is `a[..., 1, 2]`.
    """
    return (..., *place)


def counts(window: Window, image: tuple[int, ...], with_padding: bool) -> Array:
    """Return by how many numbers an average pool divides the sum of each window.

    The result is int64 of shape (1, 1, number of windows in each dimension ...). `image` has the
    sizes of the image. Only numbers inside the image count, or with `with_padding` those inside the
    padded image. With `Window.ceil`, the last window may reach beyond the padded image; its
    positions there never count.
    """
    ones = np.ones((1, 1, *image), np.int64)
    sizes = output_sizes(window, image)
    if with_padding:
        pads = [(0, 0), (0, 0), *zip(window.before, window.after, strict=True)]
        ones = np.pad(ones, pads, constant_values=1)
        none = (0,) * len(image)
        window = Window(window.kernel, window.strides, window.dilations, none, none, window.ceil)
    return total(ones, window, sizes)


def total(x: Array, window: Window, sizes: tuple[int, ...]) -> Array:
    """Return the sum of each window, of shape (batch, channels, sizes ...); padding counts as 0."""
    views = windows(padded_image(x, window, sizes, 0), window, sizes)
    result = np.zeros(views.shape[: 2 + len(sizes)], x.dtype)
    for place in product(*map(range, window.kernel)):
        result += views[last_axes(place)]
    return result


def _average_pool(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    window = window_of(node.attributes, x.shape[2:], node.attributes["kernel_shape"])
    numbers = counts(window, x.shape[2:], bool(node.attributes.get("count_include_pad", 0)))
    sums = total(x, window, output_sizes(window, x.shape[2:]))
    return [sums / numbers.astype(x.dtype)]


def _global_average(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    return [mean(x, tuple(range(2, x.ndim)), True)]


def _global_maximum(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    return [np.max(x, tuple(range(2, x.ndim)), keepdims=True)]


# --- resizing ---


def coordinates(size: int, result: int, scale: float, mode: str) -> Array:
    """Return where each number of a resized axis is on the input's axis: binary64, (result,).

    `size` and `result` are the lengths of the axis before and after, `scale` is the ratio of
    `result` to `size`. `mode` is ONNX's `coordinate_transformation_mode`. Raises `LowerError` for a
    mode that is not supported.
    """
    places = np.arange(result, dtype=np.float64)
    if mode == "asymmetric":
        return places / scale
    if mode == "half_pixel":
        return (places + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjustment = result / (scale * size)
        return size / 2 * (1 - adjustment) + (places + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (places + 0.5) / scale - 0.5 if result > 1 else places * 0
    if mode == "align_corners":
        return places * (size - 1) / (scale * size - 1) if result > 1 else places * 0
    if mode == "tf_half_pixel_for_nn":
        return (places + 0.5) / scale
    raise LowerError(f"the coordinate_transformation_mode {mode}")


def nearest(places: Array, size: int, mode: str) -> Array:
    """Return the index of the number nearest to each coordinate, in the shape of `places`.

    `size` is the length of the input's axis; `mode` is ONNX's `nearest_mode`. Raises `LowerError`
    for another mode.
    """
    rounding: dict[str, Callable[[Array], Array]] = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": lambda x: np.floor(x),
        "ceil": lambda x: np.ceil(x),
    }
    if mode not in rounding:
        raise LowerError(f"the nearest_mode {mode}", ", ".join(rounding))
    return np.clip(rounding[mode](places), 0, size - 1).astype(np.int64)


def resized_axes(node: Node, arrays: Arrays) -> list[tuple[int, int, float]]:
    """Return (axis, new size, scale) of each axis that Resize changes.

    Raises `LowerError` for attributes that are not supported, and if there are neither scales nor
    sizes.
    """
    x, scales, sizes = first(arrays), optional(arrays, 2), optional(arrays, 3)
    attributes = node.attributes
    if attributes.get("antialias", 0):
        raise LowerError("antialias is not supported")
    if attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise LowerError("a keep_aspect_ratio_policy is not supported")
    axes = [int(axis) % x.ndim for axis in attributes.get("axes", range(x.ndim))]
    rows = []
    for place, axis in enumerate(axes):
        if sizes is not None and sizes.size:
            size = int(sizes.reshape(-1)[place])
            scale = size / x.shape[axis]
        elif scales is not None:
            scale = float(scales.reshape(-1)[place])
            size = math.floor(x.shape[axis] * scale)
        else:
            raise LowerError("it has neither scales nor sizes")
        if size != x.shape[axis] or scale != 1:
            rows.append((axis, size, scale))
    return rows


def _resize(node: Node, arrays: Arrays) -> list[Array]:
    x, mode = first(arrays), node.attributes.get("mode", "nearest")
    if mode not in ("nearest", "linear"):
        raise LowerError(f"the mode {mode}", "nearest and linear are supported")
    how = node.attributes.get("coordinate_transformation_mode", "half_pixel")
    for axis, size, scale in resized_axes(node, arrays):
        places = coordinates(x.shape[axis], size, scale, how)
        if mode == "nearest":
            rounding = node.attributes.get("nearest_mode", "round_prefer_floor")
            x = np.take(x, nearest(places, x.shape[axis], rounding), axis)
            continue
        places = np.clip(places, 0, x.shape[axis] - 1)
        low = np.floor(places).astype(np.int64)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        shape = [-1 if number == axis else 1 for number in range(x.ndim)]
        share = (places - low).astype(x.dtype).reshape(shape)
        one = x.dtype.type(1)
        x = np.take(x, low, axis) * (one - share) + np.take(x, high, axis) * share
    return [x]


IMAGES: dict[str, Operator] = {
    "Conv": _conv, "ConvTranspose": _conv_transpose, "Gemm": _gemm, "MatMul": _matmul,
    "ConvInteger": _conv_integer, "MatMulInteger": _matmul_integer, "MaxPool": _max_pool,
    "AveragePool": _average_pool, "GlobalAveragePool": _global_average,
    "GlobalMaxPool": _global_maximum, "Resize": _resize,
}  # fmt: skip
