"""Operations of vc as depthwise convolutions, which the array computes with the same results.

For a mean all weights are 1, and its factor is the scale of the results. For a product by channels
the weights are the second input. Both definitions round f32(sum) · m once, with the same m.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import (
    AveragePool,
    ElementwiseProduct,
    GlobalAveragePool,
    VectorOperation,
    mean_scale,
)


def array_product(operation: VectorOperation) -> Convolution | None:
    """Return the depthwise convolution that an operation is, or None if it is none."""
    if operation.dtype != "int8":
        return None
    if isinstance(operation, ElementwiseProduct):
        return _by_channel(operation)
    return _mean(operation)


def _by_channel(operation: ElementwiseProduct) -> Convolution | None:
    """Return a product by channels as a convolution 1 × 1 that reads its weights from a tensor."""
    if not operation.by_channel or len(operation.shape) != 3:
        return None
    height, width, channels = operation.shape
    product = convolution(np.ones((channels, 1, 1), np.int8), (height, width), depthwise=True)
    scales = np.full(channels, operation.scale, np.float32)
    return replace(product, scales=scales, reads_weights=True)


def _mean(operation: VectorOperation) -> Convolution | None:
    """Return a mean as a convolution, or None if the operation is none.

    It is none, too, if the number of elements that count differs from window to window.
    """
    if isinstance(operation, GlobalAveragePool):
        kernel, stride, pads = operation.image[:2], (1, 1), (0, 0, 0, 0)
        counts = {kernel[0] * kernel[1]}
    elif isinstance(operation, AveragePool):
        kernel, stride, pads = operation.kernel, operation.strides, operation.pads
        rows, columns = (
            {operation.counted(axis, place) for place in range(operation.result[axis])}
            for axis in range(2)
        )
        counts = {row * column for row in rows for column in columns}
    else:
        return None
    if len(counts) > 1:
        return None
    channels = operation.image[2]
    try:
        product = convolution(
            np.ones((channels, *kernel), np.int8),
            (operation.image[0], operation.image[1]),
            stride=stride,
            padding=pads[:2],
            after=pads[2:],
            depthwise=True,
        )
    except LowerError:
        return None
    factor = mean_scale(operation.scale, counts.pop())
    product = replace(product, scales=np.full(channels, factor, np.float32))
    return product if product.shapes[1] == operation.result else None
