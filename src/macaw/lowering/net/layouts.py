"""Converts shapes and arrays between the model's layouts and the device's.

Images of the model have the shape (batch, channels, height, width). On the device they have the
shape (batch, height, width, channels). Other tensors keep their order. A leading dimension of 1 is
left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def device_order(rank: int) -> tuple[int, ...]:
    """Return the axes of a tensor of `rank` axes, without the first, in the device's order."""
    return (2, 3, 1) if rank == 4 else tuple(range(1, rank))


def device_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the device's shape for a shape of the model."""
    ordered = tuple(shape[axis] for axis in (0, *device_order(len(shape)))) if shape else ()
    return ordered[1:] if len(shape) > 1 and shape[0] == 1 else ordered


def images_of(shape: tuple[int, ...]) -> int:
    """Return the number of images in a batch of the shape (batch, ...); 0 for a single image.

    That is the length of the first axis of the tensor on the device, if it has that axis.
    """
    return shape[0] if len(shape) == 4 and shape[0] != 1 else 0


def to_device(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the model with the order and shape of the device."""
    ordered = np.moveaxis(array, 1, -1) if array.ndim == 4 else array
    return np.ascontiguousarray(ordered).reshape(device_shape(array.shape))


def to_model(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of the device with the model's order and the model's `shape`."""
    if len(shape) != 4:
        return array.reshape(shape)
    batch, channels, height, width = shape
    return np.moveaxis(array.reshape(batch, height, width, channels), -1, 1).copy()
