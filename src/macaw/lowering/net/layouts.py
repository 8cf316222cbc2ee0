"""Converts shapes and arrays between the model's layouts and the device's.

Images of the model have the shape (batch, channels, height, width). On the device they have the
shape (batch, height, width, channels). Other tensors keep the order of their axes. On the device,
the first axis is left out if its length is 1 and there are other axes. A single number of the model
is a tensor with one axis on the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def device_order(rank: int) -> tuple[int, ...]:
    """Return the model's axes in the order of the device, without axis 0: (2, 3, 1) for rank 4."""
    return (2, 3, 1) if rank == 4 else tuple(range(1, rank))


def device_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the device's shape for a shape of the model."""
    ordered = tuple(shape[axis] for axis in (0, *device_order(len(shape)))) if shape else (1,)
    return ordered[1:] if len(shape) > 1 and shape[0] == 1 else ordered


def images_of(shape: tuple[int, ...]) -> int:
    """Return the batch size of a tensor of images; 0 if it has one image or is not of images.

    `shape` is the tensor's shape in the model. A tensor of images has four axes there.
    """
    return shape[0] if len(shape) == 4 and shape[0] != 1 else 0


def to_device(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the model with the order of axes and the shape that the device uses."""
    ordered = np.moveaxis(array, 1, -1) if array.ndim == 4 else array
    return np.ascontiguousarray(ordered).reshape(device_shape(array.shape))


def to_model(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return `array`, which has the device's layout, with the model's order of axes and `shape`."""
    if len(shape) != 4:
        return array.reshape(shape)
    batch, channels, height, width = shape
    return np.moveaxis(array.reshape(batch, height, width, channels), -1, 1).copy()
