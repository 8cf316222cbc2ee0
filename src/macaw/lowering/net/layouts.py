"""Converts shapes and arrays between the model's layouts and the device's.

Images of the model have the shape (1, channels, height, width). On the device they have the shape
(height, width, channels). Other tensors keep their order and lose a leading dimension of 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError


def device_order(rank: int) -> tuple[int, ...]:
    """Return the model's axes, without the first one, in the order of the device."""
    return (2, 3, 1) if rank == 4 else tuple(range(1, rank))


def device_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the device's shape for a shape of the model. Raises `LowerError` for a batch."""
    if len(shape) == 4:
        batch, channels, height, width = shape
        if batch != 1:
            raise LowerError(f"a batch of {batch}", "one image; `run` repeats the network")
        return height, width, channels
    return shape[1:] if len(shape) > 1 and shape[0] == 1 else shape


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
