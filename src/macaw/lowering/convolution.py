"""Describe convolutions, and compute their results with NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.lowering.errors import LowerError
from macaw.lowering.operation import Product

# How an image lies in memory, its axes outermost first. Sliding windows take images column first.
LAYOUTS = {"hwc": "(height, width, channels)", "cwh": "(channels, width, height)"}


@dataclass(frozen=True, eq=False)
class Convolution(Product):
    """A convolution of an image (height, width, channels) to results (rows, columns, outputs).

    `layout` and `out_layout` are the memory layouts of image and results: `hwc` or `cwh`. `weights`
    have shape (outputs, kernel height · kernel width · channels), or for a depthwise convolution
    (channels, kernel height · kernel width). `m` is the number of output rows. If `turned`, x and y
    have one row, of which each element is a row here; in memory they are the same.
    """

    width: int = 1
    height: int = 1
    channels: int = 1
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)  # above and below, left and right
    depthwise: bool = False
    layout: str = "hwc"
    out_layout: str = "hwc"
    turned: bool = False

    @property
    def k(self) -> int:
        """The number of input channels from which an output is computed."""
        return 1 if self.depthwise else self.channels

    @property
    def columns(self) -> int:
        """The number of output columns."""
        return (self.width + 2 * self.padding[1] - self.kernel[1]) // self.stride[1] + 1

    @property
    def padded(self) -> tuple[int, int]:
        """The height and width of the image with its frame of zeros."""
        return self.height + 2 * self.padding[0], self.width + 2 * self.padding[1]

    @cached_property
    def kernels(self) -> NDArray[Any]:
        """The weights as (outputs, kernel height, kernel width, input channels of an output)."""
        return self.weights.reshape(self.n, *self.kernel, self.k)

    @cached_property
    def weights_before(self) -> NDArray[np.int64]:
        """The number of an output's nonzero weights before each channel: (outputs, k + 1)."""
        before = np.zeros((self.n, self.k + 1), np.int64)
        np.cumsum(np.count_nonzero(self.kernels, axis=(1, 2)), axis=1, out=before[:, 1:])
        return before

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the image and of the results in their memory layouts."""
        image, results = (self.height, self.width, self.channels), (self.m, self.columns, self.n)
        if self.turned:
            image, results = (1, self.height, self.channels), (1, self.m, self.n)
        return (
            image if self.layout == "hwc" else image[::-1],
            results if self.out_layout == "hwc" else results[::-1],
        )

    def pitches(self, layout: str, image: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the distances, in elements, to the next row, the next column and the next channel.

        `image` is (height, width, channels).
        """
        height, width, channels = image
        return (width * channels, channels, 1) if layout == "hwc" else (1, height, width * height)

    @property
    def copies_input(self) -> bool:
        """Whether the dma first copies x into a frame of zeros."""
        return max(self.padding) > 0

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape of the image with its frame of zeros, in its memory layout."""
        sides = (*self.padded, self.channels)
        return sides if self.layout == "hwc" else sides[::-1]

    @cached_property
    def matrix(self) -> PointwiseProduct | None:
        """The matrix product that the convolution is, or None if it is none."""
        plain = (self.kernel, self.padding) == ((1, 1), (0, 0))
        if not plain or self.depthwise or self.out_layout != "hwc":
            return None
        rows, form = self.m * self.columns, (self.activation, self.shift)
        return PointwiseProduct(rows, self.weights, self.bias, *form, image=self)

    @property
    def x_pitches(self) -> tuple[int, int, int]:
        """The distances in the framed image, in elements: to the next row, column, channel."""
        return self.pitches(self.layout, (*self.padded, self.channels))

    @property
    def y_pitches(self) -> tuple[int, int, int]:
        """The distances in the results, in elements: to the next row, column, channel."""
        return self.pitches(self.out_layout, (self.m, self.columns, self.n))

    @property
    def macs(self) -> int:
        """The number of products in a dense computation, including those with padding."""
        return self.m * self.columns * self.weights.size

    def describe(self) -> str:
        """Return a description of the convolution for messages."""
        pairs = self.kernel, self.stride, self.padding, (self.height, self.width)
        kernel, stride, padding, image = (
            " × ".join(map(str, pair[::-1] if self.turned else pair)) for pair in pairs
        )
        return (
            f"{'depthwise ' if self.depthwise else ''}convolution {kernel}, stride {stride},"
            f" padding {padding}, of {image} × {self.channels} to {self.n} channels"
        )

    def validated(self, config: Configuration) -> Convolution:
        """Return the convolution with weights and bias in the device's types.

        Raises `LowerError`.
        """
        plain = Product(
            self.m, self.weights, self.bias, self.activation, self.shift, self.vector
        ).validated(config)
        return replace(self, weights=plain.weights, bias=plain.bias)


@dataclass(frozen=True, eq=False)
class PointwiseProduct(Product):
    """The matrix product that a convolution 1 × 1 without padding is.

    Its rows of activations are the pixels of the image. With a stride, the dma first copies the
    pixels that are needed into a smaller image.
    """

    image: Convolution | None = None

    @property
    def copies_input(self) -> bool:
        """Whether the dma first copies pixels: with a stride, because not all are needed."""
        assert self.image is not None
        return max(self.image.stride) > 1

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape of the image of the pixels that are needed."""
        assert self.image is not None
        return self.image.m, self.image.columns, self.image.channels

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the image and of the results in memory."""
        assert self.image is not None
        return self.image.shapes

    @property
    def form(self) -> str:
        """What a plan does with the convolution, for reports."""
        return ", as a matrix product"

    def describe(self) -> str:
        """Return a description of the convolution for messages."""
        assert self.image is not None
        return self.image.describe()


def convolution(
    weights: NDArray[Any],
    image: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    depthwise: bool = False,
    bias: NDArray[Any] | None = None,
    activation: str = "none",
    shift: int | None = None,
    layout: str = "hwc",
    out_layout: str = "hwc",
) -> Convolution:
    """Return the convolution of an image of size `image` (height, width). Raises `LowerError`.

    `weights` have shape (outputs, kernel height, kernel width, channels), or for a depthwise
    convolution (channels, kernel height, kernel width).
    """
    rank = 3 if depthwise else 4
    if weights.ndim != rank or not weights.size:
        names = "(channels, height, width)" if depthwise else "(outputs, height, width, channels)"
        raise LowerError(f"the weights have the shape {weights.shape}", f"kernels {names}")
    if min(image) < 1:
        raise LowerError(f"an image of {image[0]} × {image[1]} pixels")
    if min(stride) < 1 or min(padding) < 0:
        raise LowerError(f"a stride of {stride} and a padding of {padding}")
    for name in (layout, out_layout):
        if name not in LAYOUTS:
            raise LowerError(f"no layout '{name}'", "there are " + ", ".join(LAYOUTS))
    if layout != "hwc" and not depthwise:
        raise LowerError("conv2d takes images as hwc", "its results may be cwh")
    kernel = (int(weights.shape[1]), int(weights.shape[2]))
    spans = [size + 2 * pad for size, pad in zip(image, padding, strict=True)]
    if spans[0] < kernel[0] or spans[1] < kernel[1]:
        raise LowerError(
            f"a kernel of {kernel[0]} × {kernel[1]} is larger than the image,"
            f" {spans[0]} × {spans[1]} with its padding"
        )
    outputs = int(weights.shape[0])
    # One row of pixels lies in memory as a column does; more rows are more work for the array.
    turned = image[0] == 1 == kernel[0] and not padding[0] and image[1] > 1
    if turned:
        image, kernel, stride, padding = image[::-1], kernel[::-1], stride[::-1], padding[::-1]
        spans = spans[::-1]
    return Convolution(
        (spans[0] - kernel[0]) // stride[0] + 1,
        weights.reshape(outputs, -1),
        bias,
        activation,
        shift,
        width=image[1],
        height=image[0],
        channels=outputs if depthwise else int(weights.shape[3]),
        kernel=kernel,
        stride=stride,
        padding=padding,
        depthwise=depthwise,
        layout=layout,
        out_layout=out_layout,
        turned=turned,
    )


def reference(product: Convolution, x: NDArray[Any], whole: type) -> NDArray[Any]:
    """Return an array of shape (rows, columns, outputs): the sums without bias.

    `whole` is the type in which NumPy adds.
    """
    if product.layout != "hwc":
        x = x.T
    if product.turned:
        x = x.swapaxes(0, 1)
    (above, left), (down, right) = product.padding, product.stride
    image: NDArray[Any] = np.pad(x.astype(whole), ((above, above), (left, left), (0, 0)))
    kernels: NDArray[Any] = product.kernels.astype(whole)
    sums: NDArray[Any] = np.zeros((product.m, product.columns, product.n), whole)
    for dy in range(product.kernel[0]):
        for dx in range(product.kernel[1]):
            rows = image[dy : dy + (product.m - 1) * down + 1 : down]
            part = rows[:, dx : dx + (product.columns - 1) * right + 1 : right]
            if product.depthwise:
                sums += part * kernels[:, dy, dx, 0]
            else:
                sums += part @ kernels[:, dy, dx].T
    return sums.swapaxes(0, 1) if product.turned else sums
