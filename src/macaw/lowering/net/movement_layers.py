"""Makes movements of elements on the device from nodes of a model that move elements."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.net.layouts import device_shape, to_device
from macaw.lowering.net.network import NetTensor
from macaw.lowering.net.vector.operations import Pad, Resize, VectorOperation
from macaw.lowering.net.vector.rearrangement import Part, Rearrange, rearrangement
from macaw.lowering.net.vector.reference import compute as device_result
from macaw.lowering.onnx.network import FrameLayer, MoveLayer, Network, WeightLayer
from macaw.lowering.onnx.operators.table import compute


def places_of(model: Network, layer: MoveLayer) -> NDArray[Any]:
    """Return, for each element of the result, the number of the input's element that it copies.

    Elements of input and result are numbered in the order of the device. The number is -1 for an
    element that copies none, as in the frame of a pad. Raises `LowerError` if the places depend on
    another input.
    """
    shape = model.tensors[layer.inputs[0]].shape
    numbers = np.arange(np.prod(shape, dtype=np.int64))
    inverse = np.empty_like(numbers)
    inverse[to_device(numbers.reshape(shape)).reshape(-1)] = numbers
    constants = [model.constants.get(name) if name else None for name in layer.inputs[1:]]
    if any(name and array is None for name, array in zip(layer.inputs[1:], constants, strict=True)):
        raise LowerError("its places depend on an input")
    if layer.operator == "Pad":
        constants = [constants[0], np.asarray(-1), *constants[2:]]
    (moved,) = compute(layer.node, [numbers.reshape(shape), *constants])
    result = to_device(moved)
    return np.where(result < 0, -1, inverse[result]).reshape(device_shape(moved.shape))


def same_places(model: Network, layer: MoveLayer) -> bool:
    """Return whether the result has exactly the input's elements, in their order on the device."""
    places = places_of(model, layer)
    count = int(np.prod(model.tensors[layer.inputs[0]].shape))
    return places.size == count and bool(np.all(places.reshape(-1) == np.arange(count)))


def movement(model: Network, layer: MoveLayer, x: NetTensor) -> VectorOperation:
    """Return the operation that moves the elements of tensor `x`, as `layer` says.

    Raises `LowerError` if the places depend on another input, if the result has no elements, for a
    pad that cuts off elements of the input, and for a pad of real numbers with another number than
    0.
    """
    places = places_of(model, layer)
    if layer.operator == "Pad" and (places < 0).any():
        return _pad(model, layer, x, places)
    if layer.operator == "Resize" and len(x.shape) == len(places.shape) == 3:
        operation = Resize(x.dtype, x.shape, (places.shape[0], places.shape[1]))
        numbers = np.arange(int(np.prod(x.shape))).reshape(x.shape)
        if np.array_equal(device_result(operation, numbers), places):
            return operation
    return rearrangement(x.dtype, x.shape, places, layer.operator)


def _pad(model: Network, layer: MoveLayer, x: NetTensor, places: NDArray[Any]) -> VectorOperation:
    """Return the operation that puts a frame of a constant around the tensor `x`.

    `places` has, for each element of the result, the number of the element of `x` that goes there,
    or -1 in the frame (`places_of`).
    """
    name = layer.inputs[2] if len(layer.inputs) > 2 else ""
    value = model.constants[name].reshape(-1)[0] if name else 0
    if x.dtype == "float32" and value != 0:
        raise LowerError(f"a pad of {value}", "0 for real numbers")
    shape = (1,) * (places.ndim - len(x.shape)) + x.shape  # with the batch, if this gets a frame
    before, after = [], []
    for axis, size in enumerate(shape):
        others = tuple(other for other in range(places.ndim) if other != axis)
        inside = np.flatnonzero((places >= 0).any(others))
        if len(inside) != size:
            raise LowerError(f"it pads {x.shape} to {places.shape} and leaves elements out")
        before.append(int(inside[0]))
        after.append(places.shape[axis] - int(inside[-1]) - 1)
    return Pad(x.dtype, shape, tuple(before), tuple(after), int(value))


def frame(layer: FrameLayer, x: NetTensor) -> VectorOperation:
    """Return the operation that puts the image `x`, or each image of a batch, into a frame."""
    *batch, height, width, channels = x.shape
    none = (0,) * len(batch)
    (top, left), (bottom, right), (down, across) = layer.before, layer.after, layer.steps
    if layer.steps == (1, 1):
        before, after = (*none, top, left, 0), (*none, bottom, right, 0)
        return Pad(x.dtype, x.shape, before, after, layer.value)
    rows, columns = (height - 1) * down + 1 + top + bottom, (width - 1) * across + 1 + left + right
    pitch = columns * channels
    axes = ((height, down * pitch, width * channels), (width, across * channels, channels),
            (channels, 1, 1))  # fmt: skip
    images = tuple((count, rows * pitch, height * width * channels) for count in batch)
    part = Part(top * pitch + left * channels, 0, (*images, *axes))
    sizes = (*batch, rows, columns, channels)
    return Rearrange(x.dtype, x.shape, sizes, (part,), "Frame", layer.value)


def image_of_products(model: Network, layer: MoveLayer) -> tuple[int, ...]:
    """If a layer flattens images and only products read its result, return (C, H, W); else ().

    The weights of these products are put into the images' order, so no image is moved.
    """
    before, after = (model.tensors[x] for x in (layer.inputs[0], layer.outputs[0]))
    readers = [other for other in model.layers if after.name in other.inputs]
    if after.name in model.outputs or layer.operator not in ("Reshape", "Flatten"):
        return ()
    size = prod(before.shape[1:])
    if len(before.shape) != 4 or after.shape != (before.shape[0], size):
        return ()
    products = all(isinstance(other, WeightLayer) and other.window is None for other in readers)
    return before.shape[1:] if products else ()
