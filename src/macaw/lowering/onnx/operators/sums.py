"""Computes sums of products: convolutions and their transposes, exact for integers.

Sums of integers are computed in binary64, or in binary32 if each partial sum is below 2^24. This is
exact, because each partial sum is below 2^53. Only `ordered_product` defines the order in which
floating-point numbers are added.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from macaw.lowering.onnx.operators.elementwise import Array
from macaw.lowering.onnx.window import Window, output_sizes


def convolution(x: Array, w: Array, window: Window, groups: int, fill: Any) -> Array:
    """Return the sums of a convolution.

    `x` has shape (batch, channels, ...), `w` (outputs, channels / groups, ...). The padding has the
    number `fill`. Sums of whole numbers are int64; other sums have the type of `x`.
    """
    exact = _working_type(x, w, fill)
    sizes = output_sizes(window, x.shape[2:])
    padded = padded_image(x.astype(exact, copy=False), window, sizes, fill)
    weights = w.astype(exact, copy=False)
    outputs, own = w.shape[:2]
    result = np.empty((x.shape[0], outputs, *sizes), exact)
    if own == 1 and groups > 1:
        _depthwise(padded, weights, window, sizes, result)
    else:
        each = outputs // groups
        for item, group in product(range(x.shape[0]), range(groups)):
            image = padded[item : item + 1, group * own : (group + 1) * own]
            columns = windows(image, window, sizes)[0]  # (channels, sizes, kernel)
            count = len(sizes)
            order = (0, *range(1 + count, 1 + 2 * count), *range(1, 1 + count))
            matrix = columns.transpose(order).reshape(own * math.prod(window.kernel), -1)
            rows = weights[group * each : (group + 1) * each].reshape(each, -1)
            result[item, group * each : (group + 1) * each] = (rows @ matrix).reshape(each, *sizes)
    return _typed(result, x)


def _depthwise(
    padded: Array, weights: Array, window: Window, sizes: tuple[int, ...], result: Array
) -> None:
    """Write the sums of a convolution with one channel in each group into `result`.

    `padded` is the padded image, `sizes` are the sizes of the result.
    """
    result[:] = 0
    repeat = weights.shape[0] // padded.shape[1]
    for place in product(*map(range, window.kernel)):
        part = padded[(slice(None), slice(None), *_taps(window, sizes, place))]
        part = np.repeat(part, repeat, axis=1) if repeat > 1 else part
        factors = weights[_index(slice(None), 0, *place)].reshape(1, -1, *(1 for _ in sizes))
        result += part * factors


def _index(*parts: Any) -> tuple[Any, ...]:
    return parts


def _taps(window: Window, sizes: tuple[int, ...], place: tuple[int, ...]) -> tuple[Any, ...]:
    """Return slices that take from each window the number at position `place` of the kernel.

    They index the last axes of a padded image, one slice for each axis. `sizes` are
    the numbers of windows along each dimension.
    """
    begins = [at * dilation for at, dilation in zip(place, window.dilations, strict=True)]
    return tuple(
        slice(begin, begin + (size - 1) * stride + 1, stride)
        for begin, size, stride in zip(begins, sizes, window.strides, strict=True)
    )


def transposed_convolution(
    x: Array, w: Array, window: Window, sizes: tuple[int, ...], groups: int, zero: int
) -> Array:
    """Return the sums of a transposed convolution; the number `zero` in `x` stands for 0.

    `x` has shape (batch, channels, ...), and `w` has (channels, outputs / groups, ...). `sizes` are
    the sizes of the result's image. Sums of whole numbers are int64; other sums have the type of
    `x`.
    """
    exact = _working_type(x, w, zero)
    image, weights = x.astype(exact) - exact(zero), w.astype(exact)
    batch, own, each = x.shape[0], x.shape[1] // groups, w.shape[1]
    frame = [
        size + before + after + stride
        for size, before, after, stride in zip(
            sizes, window.before, window.after, window.strides, strict=True
        )
    ]
    reach = [
        max(a, (n - 1) * s + r)
        for a, n, s, r in zip(frame, x.shape[2:], window.strides, window.reach, strict=True)
    ]
    whole = np.zeros((batch, each * groups, *reach), exact)
    for place in product(*map(range, window.kernel)):
        target = (slice(None), slice(None), *_taps(window, x.shape[2:], place))
        for group in range(groups):
            rows = weights[_index(slice(group * own, (group + 1) * own), slice(None), *place)]
            part = image[:, group * own : (group + 1) * own].reshape(batch, own, -1)
            sums = (rows.T @ part).reshape(batch, each, *x.shape[2:])
            whole[target][:, group * each : (group + 1) * each] += sums
    cut = tuple(
        slice(before, before + size) for before, size in zip(window.before, sizes, strict=True)
    )
    return _typed(whole[(slice(None), slice(None), *cut)], x)


def matrix_product(a: Array, b: Array) -> Array:
    """Return the product of two arrays by NumPy's `matmul`.

    For integers the result is exact, in int64. For real numbers it has the type of `a`.
    """
    exact = _working_type(a, b, 0)
    return _typed(
        np.asarray(np.matmul(a.astype(exact, copy=False), b.astype(exact, copy=False))), a
    )


def ordered_product(a: Array, b: Array) -> Array:
    """Return a product of real matrices as NumPy's `matmul` does, but with a defined order.

    Each sum starts at 0. Its products are added from the first to the last. Each product and each
    sum is rounded to the type of the matrices.
    """
    left, right = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"a product of {a.shape} and {b.shape}")
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    total = np.zeros((*batch, left.shape[-2], right.shape[-1]), a.dtype)
    columns = np.moveaxis(left, -1, 0)[..., None]
    for column, row in zip(columns, np.moveaxis(right, -2, 0)[..., None, :], strict=True):
        total += column * row
    total = total[..., 0, :] if a.ndim == 1 else total
    return np.asarray(total[..., 0] if b.ndim == 1 else total)


def _working_type(x: Array, w: Array, fill: Any) -> type[np.floating[Any]]:
    """Return the floating-point type in which the sums are computed."""
    if x.dtype.kind == "f":
        return np.float64 if x.dtype == np.float64 else np.float32
    most = max(int(np.abs(x.astype(np.int64)).max(initial=0)), abs(int(fill)), 1)
    largest = int(np.abs(w.astype(np.int64)).max(initial=0))
    axes = w.size // max(min(w.shape, default=1), 1)  # at least the number of products in a sum
    return np.float32 if 2 * most * largest * axes < 1 << 24 else np.float64


def _typed(sums: Array, x: Array) -> Array:
    return sums.astype(x.dtype if x.dtype.kind == "f" else np.int64)


def padded_image(x: Array, window: Window, sizes: tuple[int, ...], fill: Any) -> Array:
    """Return image `x` with its padding and the additional numbers that the last windows need.

    `sizes` are the numbers of windows along each dimension; all added numbers are `fill`.
    """
    pads = [(0, 0), (0, 0)]
    for axis, size in enumerate(x.shape[2:]):
        needed = (sizes[axis] - 1) * window.strides[axis] + window.reach[axis]
        after = max(needed - size - window.before[axis], 0)
        pads.append((window.before[axis], after))
    return np.pad(x, pads, constant_values=fill) if any(map(any, pads)) else x


def windows(padded: Array, window: Window, sizes: tuple[int, ...]) -> Array:
    """Return a view of shape (batch, channels, sizes ..., kernel ...) of a padded image."""
    steps = padded.strides[2:]
    moves = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
    inner = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
    shape = (*padded.shape[:2], *sizes, *window.kernel)
    strides = (*padded.strides[:2], *moves, *inner)
    return as_strided(padded, shape, strides, writeable=False)
