"""Converts operations of the SIMD core vc to depthwise convolutions with equal results.

The array of PEs then computes the operation instead of vc. For a mean all weights are 1, and the
array scales the sums by the factor of the mean. For a product by channels the weights are the
second input. In both cases, the operation and the convolution multiply f32(sum) by the same factor
and round once.

An operation on single elements treats all channels alike. So any image with the same bytes may
stand for its tensors: here the image has as many channels as a cluster has PEs. For a sum of two
tensors, rows of the first and of the second tensor alternate, and the weights are powers of two.
"""

from __future__ import annotations

from dataclasses import replace
from math import frexp, prod

import numpy as np

from macaw.isa.config import Configuration
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.net.arena import ALIGN
from macaw.lowering.net.vector.each_image import EachImage
from macaw.lowering.net.vector.operations import (
    AveragePool,
    ElementwiseProduct,
    GlobalAveragePool,
    Rescale,
    Sum,
    Table,
    VectorOperation,
    mean_scale,
)
from macaw.lowering.operation import ENTRIES, Elements, operand_dtypes

_LARGEST = 7  # a weight that is a power of two is less than 2**7
_MOST_SHIFT = 31
_WIDEST = 64  # the most columns of an image of single elements


def array_product(operation: VectorOperation, config: Configuration) -> Convolution | None:
    """Return the depthwise convolution that is equal to an operation, or None if there is none.

    For an operation on single elements, the convolution reads and writes tensors whose size is
    rounded up to a multiple of `ALIGN` bytes.
    """
    if operation.dtype != "int8" or "int8" not in operand_dtypes(config):
        return None
    product = _product(operation, config)
    if product is None or config["pe.element"] == "int8":
        return product
    return replace(product, elements=Elements("int8", "int8", "int8"))


def _product(operation: VectorOperation, config: Configuration) -> Convolution | None:
    if isinstance(operation, ElementwiseProduct):
        return _by_channel(operation)
    if isinstance(operation, Sum):
        return _sum(operation, config["pe.pes"])
    if isinstance(operation, Table):
        image = _elements(operation.shape, config["pe.pes"], (1,))
        entries = np.roll(np.array(operation.entries, np.int8), ENTRIES // 2)  # by byte of a number
        return image and replace(image, shift=0, table=entries)
    if isinstance(operation, Rescale):
        return _rescale(operation, config["pe.pes"])
    if isinstance(operation, EachImage):
        return _mean(operation.operation, operation.count)
    return _mean(operation, images=0)


def _elements(
    shape: tuple[int, ...], channels: int, weights: tuple[int, ...]
) -> Convolution | None:
    """Return a convolution for a weighted sum of tensors, element by element.

    `weights` has the factor of each tensor; a single tensor is only multiplied. `shape` is the
    shape of each tensor. `channels` is the number of channels of the image that stands for the
    tensors. Returns None if `ALIGN` is no multiple of `channels`.
    """
    if ALIGN % channels:
        return None
    pixels = -(-prod(shape) // ALIGN) * ALIGN // channels
    width = max(size for size in range(1, _WIDEST + 1) if pixels % size == 0)
    taps = len(weights)
    kernel = np.broadcast_to(np.array(weights, np.int8)[None, :, None], (channels, taps, 1))
    size, stride = (taps * (pixels // width), width), (taps, 1)
    product = convolution(kernel, size, stride=stride, depthwise=True)
    return replace(product, paired=taps > 1)


def _sum(operation: Sum, channels: int) -> Convolution | None:
    """Return a sum as a convolution of an image with `channels` channels, or None.

    The result is None if a scale of the sum is no power of two, or if the scales are so different
    that no integer weights with a common shift can represent them.
    """
    parts = [frexp(abs(scale)) for scale in operation.scales]
    shift = max(0, *(1 - exponent for _, exponent in parts))
    places = [shift - 1 + exponent for _, exponent in parts]
    if any(part != 0.5 for part, _ in parts) or max(places) >= _LARGEST or shift > _MOST_SHIFT:
        return None
    signs = (-1 if scale < 0 else 1 for scale in operation.scales)
    first, second = (sign << place for sign, place in zip(signs, places, strict=True))
    product = _elements(operation.shape, channels, (first, second))
    return product and _clipped(replace(product, shift=shift), operation.clip)


def _rescale(operation: Rescale, channels: int) -> Convolution | None:
    """Return a rescaled tensor as a convolution of an image with `channels` channels, or None."""
    product = _elements(operation.shape, channels, (1,))
    scales = np.full(channels, operation.scale, np.float32)
    return product and _clipped(replace(product, scales=scales), operation.clip)


def _clipped(product: Convolution, clip: tuple[int, int] | None) -> Convolution:
    """Return a product whose results are limited to the range `clip`; None is no limit."""
    if clip is None:
        return product
    if clip == (0, 127) and (product.scales is None or product.scales[0] > 0):
        return replace(product, activation="relu")
    numbers = np.arange(ENTRIES, dtype=np.uint8).view(np.int8)
    return replace(product, table=np.clip(numbers, *clip))


def _by_channel(operation: ElementwiseProduct) -> Convolution | None:
    """Return a product by channels as a convolution 1 × 1; None for another operation.

    The convolution reads its weights from a tensor.
    """
    if not operation.by_channel or len(operation.shape) != 3:
        return None
    height, width, channels = operation.shape
    product = convolution(np.ones((channels, 1, 1), np.int8), (height, width), depthwise=True)
    scales = np.full(channels, operation.scale, np.float32)
    return replace(product, scales=scales, reads_weights=True)


def _mean(operation: VectorOperation, images: int) -> Convolution | None:
    """Return a mean of each image as a convolution, or None if the operation is not a mean.

    `images` is the number of images in the batch, 0 for a single image. The result is also None if
    the number of elements that count differs from window to window.
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
            images=images,
            depthwise=True,
        )
    except LowerError:
        return None
    factor = mean_scale(operation.scale, counts.pop())
    product = replace(product, scales=np.full(channels, factor, np.float32))
    return product if product.shapes[1][-3:] == operation.result else None
