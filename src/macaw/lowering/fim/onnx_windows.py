"""Adds frames of zeros to images on islands, and finds the indices of each window's numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from macaw.lowering.fim.graph import Places
from macaw.lowering.fim.onnx_values import TaskValue, Values, places_of
from macaw.lowering.onnx.window import Window, output_sizes


def window_indices(window: Window, image: Sequence[int]) -> list[Places]:
    """Return, for each dimension of an image, where the numbers of the windows are along it.

    The result has an array for each dimension. Its shape is (size of the kernel, number of windows)
    in this dimension, and its numbers are indices along it. They count from the beginning of the
    frame around the image.
    """
    sizes = output_sizes(window, image)
    rows = zip(window.kernel, sizes, window.strides, window.dilations, strict=True)
    return [
        np.arange(k)[:, None] * dilation + np.arange(size)[None] * stride
        for k, size, stride, dilation in rows
    ]


def whole_window(window: Window, image: Sequence[int]) -> Window:
    """Return `window` with more padding after the image, if its last position exceeds the frame.

    With the attribute `ceil_mode`, the last position of a pool's window may end outside of the
    padded image. In the returned window, the padding is large enough and `ceil` is False.
    """
    sizes = output_sizes(window, image)
    rows = zip(sizes, window.strides, window.reach, image, window.before, strict=True)
    ends = ((size - 1) * stride + reach - n - before for size, stride, reach, n, before in rows)
    after = tuple(map(max, window.after, ends))
    return replace(window, after=after, ceil=False)


def window_places(places: Places, indices: Sequence[Places]) -> Places:
    """Return the items of `places` that the windows of images contain.

    `places` has shape (batch, channels, dimensions of the image). `indices` has an array for each
    dimension of the image: the indices in this dimension, of shape (size of the kernel, number of
    windows). In the result, these two dimensions replace each dimension of the image.
    """
    for axis, index in enumerate(indices):
        places = np.take(places, index, axis=2 + 2 * axis)
    return places


def framed(values: Values, x: TaskValue, window: Window, name: str) -> TaskValue:
    """Return the images `x` in the frame of zeros that `window` needs, made by a scatter.

    Without a frame the result is `x` itself.
    """
    if not any((*window.before, *window.after)):
        return x
    sides = list(zip(window.before, x.shape[2:], window.after, strict=True))
    shape = (*x.shape[:2], *map(sum, sides))
    values.fits(math.prod(shape), beside=True)
    places = places_of(shape)
    for axis, (before, size, _) in enumerate(sides):
        places = np.take(places, np.arange(before, before + size), axis=2 + axis)
    return values.spread(values.array(np.zeros(shape)), x, places, f"{name}_framed")
