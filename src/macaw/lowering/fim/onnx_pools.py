"""Expresses pools of images as tasks: a gather of the windows, then maxima or sums."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Places
from macaw.lowering.fim.onnx_composed import binary, chain
from macaw.lowering.fim.onnx_extremes import extreme
from macaw.lowering.fim.onnx_values import Inputs, TaskValue, Values, places_of, required
from macaw.lowering.fim.onnx_windows import framed, whole_window, window_indices, window_places
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.window import Window, output_sizes, window_of


def _max_pool(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of MaxPool: a gather of the windows, then maxima.

    For a place of a window outside of the image, the gather takes a number of the same window that
    is inside the image, because a repeated number does not change the maximum.
    """
    x, window = required(inputs, 0), _window(node, inputs)
    if any(node.outputs[1:]):
        raise LowerError("its indices are no results on islands")
    indices = []
    for axis, framed_index in enumerate(window_indices(window, x.shape[2:])):
        index = framed_index - window.before[axis]
        inside = (index >= 0) & (index < x.shape[2 + axis])
        if not inside.any(axis=0).all():
            raise LowerError("a window lies outside of the image")
        first = np.take_along_axis(index, inside.argmax(axis=0)[None], 0)
        indices.append(np.where(inside, index, first))
    places = _rows(values, x, indices)
    shape = (*x.shape[:2], *output_sizes(window, x.shape[2:]))
    return [extreme(values, "max", x, places, shape, node.outputs[0])]


def _average_pool(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of AveragePool: the sum of each window, times 1 / n.

    n is the number of elements of the window inside the image. If the node has the attribute
    `count_include_pad`, elements in the frame around the image count, too.
    """
    name, x, window = node.outputs[0], required(inputs, 0), _window(node, inputs)
    image = x.shape[2:]
    shape = (*x.shape[:2], *output_sizes(window, image))
    shares = _shares(window, image, bool(node.attributes.get("count_include_pad", 0)))
    if not shares.all():
        raise LowerError("a window lies outside of the image")
    window = whole_window(window, image)
    padded = framed(values, x, window, name)
    places = _rows(values, padded, window_indices(window, image))
    rows = values.rows(values.move(padded, places, f"{name}_windows"), name)
    total = chain(values, "add", rows, f"{name}_sum")
    total = values.of_tensor(values.tensor(total, f"{name}_sum"), shape)
    factor = values.array(1 / (shares * math.prod(window.kernel)))
    return [binary(values, "mul", total, factor, name)]


def _window(node: Node, inputs: Inputs) -> Window:
    kernel = [int(n) for n in node.attributes["kernel_shape"]]
    return window_of(node.attributes, required(inputs, 0).shape[2:], kernel)


def _rows(values: Values, x: TaskValue, indices: Sequence[Places]) -> Places:
    """Return the index in x of each number of each window.

    The result has shape (numbers of a window, windows). `indices` has an array for each dimension
    of the image: the index along it of each number of each window, in shape (size of the kernel,
    number of windows).
    """
    values.fits(math.prod(x.shape[:2]) * math.prod(index.size for index in indices), beside=True)
    ends = range(len(indices))
    order = (*(2 + 2 * n for n in ends), 0, 1, *(3 + 2 * n for n in ends))
    count = math.prod(len(index) for index in indices)
    return window_places(places_of(x.shape), indices).transpose(order).reshape(count, -1)


def _shares(window: Window, image: Sequence[int], frame: bool) -> NDArray[np.float64]:
    """Return, for each window, the share of its numbers that the average counts.

    Numbers of the image count; with `frame`, numbers of its frame count, too. The result has one
    axis for each dimension of the image.
    """
    shares = np.ones((1,) * len(image))
    for axis, index in enumerate(window_indices(window, image)):
        first = 0 if frame else window.before[axis]
        last = window.before[axis] + image[axis] + window.after[axis] * frame
        inside = ((index >= first) & (index < last)).mean(axis=0)
        shares = shares * inside.reshape(-1, *(1,) * (len(image) - axis - 1))
    return shares


POOLS = {"AveragePool": _average_pool, "MaxPool": _max_pool}
