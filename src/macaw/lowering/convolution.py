"""Describes convolutions, and computes their results with NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.operation import Product, counted

# Memory layouts of an image, its axes outermost first. Sliding windows take images column first.
LAYOUTS = {"hwc": "(height, width, channels)", "cwh": "(channels, width, height)"}


@dataclass(frozen=True, eq=False)
class Convolution(Product):
    """A convolution of an image (height, width, channels) to results (rows, columns, outputs).

    `layout` and `out_layout` are the memory layouts of image and results: `hwc` or `cwh`. `weights`
    have shape (outputs, kernel height · kernel width · channels), or for a depthwise convolution
    (channels, kernel height · kernel width). `m` is the number of output rows. Pairs such as
    `stride` are (vertical, horizontal). `padding` is the padding above and on the left, `after` the
    padding below and on the right. With `turned`, rows and columns are exchanged: x and y have a
    single row in the user's model, and the plan treats each element of this row as a separate row.
    The bytes in memory are the same.

    A dilation puts zeros between the kernel's weights. With groups, the weights of an output are
    zero for the channels of other groups. `weights` contains the zeros of dilation and groups, but
    most plans neither store nor multiply them. If `images` is not 0, x and y have an additional
    first axis of this length.

    If `paired`, two tensors of equal shape form the image: the first tensor has the even rows, the
    second tensor the odd rows. Then the layout is `hwc`, there is no padding, and the vertical
    stride is 2.
    """

    width: int = 1
    height: int = 1
    channels: int = 1
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)  # padding above and on the left
    after: tuple[int, int] = (0, 0)  # padding below and on the right
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    images: int = 0
    depthwise: bool = False
    paired: bool = False
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
        return (self.padded[1] - self.kernel[1]) // self.stride[1] + 1

    @property
    def padded(self) -> tuple[int, int]:
        """The height and width of the image with its padding of zeros."""
        height = self.height + self.padding[0] + self.after[0]
        return height, self.width + self.padding[1] + self.after[1]

    @property
    def image_count(self) -> int:
        """The number of images."""
        return max(1, self.images)

    @property
    def image_pitches(self) -> tuple[int, int]:
        """The distances, in elements, from an image to the next one: in the framed x, and in y.

        The framed x has zeros as padding around each image.
        """
        height, width = self.padded
        return height * width * self.channels, self.m * self.columns * self.y_pitch

    @cached_property
    def kernels(self) -> NDArray[Any]:
        """The weights as (outputs, kernel height, kernel width, input channels of an output)."""
        return self.weights.reshape(self.n, *self.kernel, self.k)

    @cached_property
    def weights_before(self) -> NDArray[np.int64]:
        """For each output and c from 0 to k, the number of nonzero weights for channels below c.

        The shape is (outputs, k + 1). Plans compute from it how many weights a range of channels
        has.
        """
        before = np.zeros((self.n, self.k + 1), np.int64)
        np.cumsum(np.count_nonzero(self.kernels, axis=(1, 2)), axis=1, out=before[:, 1:])
        return before

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes in memory of the image (of each tensor, if two form it) and of the results."""
        image, results = (self.height, self.width, self.channels), (self.m, self.columns, self.n)
        if self.paired:
            image = (self.height // 2, self.width, self.channels)
        if self.turned:
            image, results = (1, self.height, self.channels), (1, self.m, self.n)
        batch = (self.images,) if self.images else ()
        return (
            (*batch, *(image if self.layout == "hwc" else image[::-1])),
            (*batch, *(results if self.out_layout == "hwc" else results[::-1])),
        )

    def pitches(self, layout: str, image: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the distances to the next row, column and channel in a memory layout, in elements.

        `layout` is `hwc` or `cwh`, `image` is the image's size (height, width, channels).
        """
        height, width, channels = image
        return (width * channels, channels, 1) if layout == "hwc" else (1, height, width * height)

    @property
    def copies_input(self) -> bool:
        """Whether the dma first makes a copy of x with its padding of zeros."""
        return max(*self.padding, *self.after) > 0

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape of the image with its padding of zeros, in its memory layout."""
        sides = (*self.padded, self.channels)
        return (self.image_count, *(sides if self.layout == "hwc" else sides[::-1]))

    @cached_property
    def matrix(self) -> PointwiseProduct | None:
        """The convolution as a matrix product, or None if that is not possible."""
        if self.kernel != (1, 1) or self.copies_input:
            return None
        if self.depthwise or self.out_layout != "hwc":
            return None
        rows = self.image_count * self.m * self.columns
        form = (self.activation, self.shift)
        product = PointwiseProduct(rows, self.weights, self.bias, *form, image=self)
        product = replace(product, scales=self.scales, table=self.table, elements=self.elements)
        return replace(product, columns_of=self.columns_of)

    @property
    def x_pitches(self) -> tuple[int, int, int]:
        """The distances to the next row, column and channel in the padded image, in elements."""
        return self.pitches(self.layout, (*self.padded, self.channels))

    @property
    def y_pitches(self) -> tuple[int, int, int]:
        """The distances, in elements of the results, to the next row, column and channel."""
        return self.pitches(self.out_layout, (self.m, self.columns, self.y_pitch))

    @property
    def macs(self) -> int:
        """The number of products of a dense computation.

        It counts products with padding, but not with the zeros that dilation and groups put into
        `weights`.
        """
        taps = [(size - 1) // by + 1 for size, by in zip(self.kernel, self.dilation, strict=True)]
        inputs = self.k // self.groups
        return self.image_count * self.m * self.columns * self.n * taps[0] * taps[1] * inputs

    def describe(self) -> str:
        """Return a text for messages: `convolution 3 × 3, stride 1 × 1, padding 1 × 1, of ...`."""
        pairs = self.kernel, self.stride, self.padding, (self.height, self.width)
        kernel, stride, padding, image = (self._sides(pair) for pair in pairs)
        if self.after != self.padding:
            padding += f" before and {self._sides(self.after)} after"
        words = [f"{'depthwise ' if self.depthwise else ''}convolution {kernel}, stride {stride},"]
        if self.dilation != (1, 1):
            words.append(f"dilation {self._sides(self.dilation)},")
        if self.groups > 1:
            words.append(f"{self.groups} groups,")
        words.append(f"padding {padding}, of")
        if self.images:
            words.append(f"{counted(self.images, 'image')} of")
        results = counted(self.n, "channel")
        return " ".join([*words, f"{image} × {self.channels} to {results}"])

    def _sides(self, pair: tuple[int, int]) -> str:
        return " × ".join(map(str, pair[::-1] if self.turned else pair))


@dataclass(frozen=True, eq=False)
class PointwiseProduct(Product):
    """A convolution 1 × 1 without padding, as a matrix product.

    Its rows of activations are the pixels of the image. With a stride, the dma first copies the
    necessary pixels into a smaller image.
    """

    image: Convolution | None = None

    @property
    def copies_input(self) -> bool:
        """Whether the dma first copies pixels: true if a stride leaves some pixels out."""
        assert self.image is not None
        return max(self.image.stride) > 1

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape (pixels, channels) of the copy of x, which has only pixels that y needs."""
        assert self.image is not None
        return self.m, self.image.channels

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the image and of the results in memory."""
        assert self.image is not None
        return self.image.shapes

    @property
    def form(self) -> str:
        """The way in which a plan computes the convolution, as text for reports."""
        return ", as a matrix product"

    def describe(self) -> str:
        """Return a text for messages: `convolution 1 × 1, stride 1 × 1, padding 0 × 0, of ...`."""
        assert self.image is not None
        return self.image.describe()


def convolution(
    weights: NDArray[Any],
    image: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    after: tuple[int, int] | None = None,
    dilation: tuple[int, int] = (1, 1),
    groups: int = 1,
    images: int = 0,
    depthwise: bool = False,
    bias: NDArray[Any] | None = None,
    activation: str = "none",
    shift: int | None = None,
    layout: str = "hwc",
    out_layout: str = "hwc",
) -> Convolution:
    """Return the convolution of an image of size `image` (height, width).

    `weights` have shape (outputs, kernel height, kernel width, channels of a group), or for a
    depthwise convolution (channels, kernel height, kernel width). `padding` has the padding above
    and on the left, `after` the padding below and on the right. By default `after` is equal to
    `padding`. `stride` and `dilation` are (vertical, horizontal). The outputs of a group depend
    only on the channels of that group. If `images` is not 0, x and y have an additional first axis
    of this length. `layout` and `out_layout` are the memory layouts of x and y: `hwc` or `cwh`.
    Sums begin with `bias`, one number for each output. Then the function `activation` is applied,
    and with a `shift` the results are divided by 2**shift and saturated. Raises `LowerError` if the
    arguments do not suit each other.
    """
    _check_weights(weights, depthwise)
    after = padding if after is None else after
    _check_pairs(image, stride, (*padding, *after), dilation)
    _check_layouts(layout, out_layout, depthwise)
    outputs = int(weights.shape[0])
    _check_groups(groups, outputs, depthwise)
    channels = outputs if depthwise else groups * int(weights.shape[3])
    down, across = (int(side) - 1 for side in weights.shape[1:3])
    kernel = (down * dilation[0] + 1, across * dilation[1] + 1)
    spans = (image[0] + padding[0] + after[0], image[1] + padding[1] + after[1])
    _check_kernel(kernel, spans, dilation)
    # A stride that is larger than the image gives one result, so no address depends on it.
    stride = (min(stride[0], spans[0]), min(stride[1], spans[1]))
    weights = _grouped(_dilated(weights, dilation), groups)
    product = Convolution(
        (spans[0] - kernel[0]) // stride[0] + 1,
        weights.reshape(outputs, -1),
        bias,
        activation,
        shift,
        width=image[1],
        height=image[0],
        channels=channels,
        kernel=kernel,
        stride=stride,
        padding=padding,
        after=after,
        dilation=dilation,
        groups=groups,
        images=images,
        depthwise=depthwise,
        layout=layout,
        out_layout=out_layout,
    )
    # An image of one row is turned into one of one column, which has more rows for the array.
    one_row = image[0] == 1 == kernel[0] and spans[0] == 1 and image[1] > 1
    return _turned(product) if one_row else product


def _turned(product: Convolution) -> Convolution:
    """Return a convolution with rows and columns exchanged.

    This does not change the bytes of an image that has a single row or a single column.
    """
    return replace(
        product,
        m=product.columns,
        width=product.height,
        height=product.width,
        kernel=product.kernel[::-1],
        stride=product.stride[::-1],
        padding=product.padding[::-1],
        after=product.after[::-1],
        dilation=product.dilation[::-1],
        turned=True,
    )


def _check_weights(weights: NDArray[Any], depthwise: bool) -> None:
    """Raise `LowerError` if the weights are empty or do not have 4 axes (depthwise: 3)."""
    if weights.ndim != (3 if depthwise else 4) or not weights.size:
        names = "(channels, height, width)" if depthwise else "(outputs, height, width, channels)"
        raise LowerError(f"the weights have the shape {weights.shape}", f"kernels {names}")


def _check_pairs(
    image: tuple[int, int],
    stride: tuple[int, int],
    sides: tuple[int, int, int, int],
    dilation: tuple[int, int],
) -> None:
    """Raise `LowerError` if a size of the image, a stride, padding or dilation is too small.

    `sides` has the padding at the top, left, bottom and right.
    """
    if min(image) < 1:
        raise LowerError(f"an image of {image[0]} × {image[1]} pixels")
    if min(stride) < 1 or min(sides) < 0 or min(dilation) < 1:
        text = f"a stride of {stride}, a padding of {sides[:2]}, a dilation of {dilation}"
        raise LowerError(text)


def _check_layouts(layout: str, out_layout: str, depthwise: bool) -> None:
    """Raise `LowerError` unless a convolution can have these layouts of image and results.

    Both must be in `LAYOUTS`, and the image of a convolution that is not depthwise must be `hwc`.
    """
    for name in (layout, out_layout):
        if name not in LAYOUTS:
            raise LowerError(f"no layout '{name}'", "there are " + ", ".join(LAYOUTS))
    if layout != "hwc" and not depthwise:
        raise LowerError("conv2d takes images as hwc", "its results may be cwh")


def _check_groups(groups: int, outputs: int, depthwise: bool) -> None:
    """Raise `LowerError` if the number of groups does not divide `outputs`.

    A depthwise convolution must have one group.
    """
    if groups > 1 and (depthwise or outputs % groups):
        what = "a depthwise convolution" if depthwise else f"{outputs} outputs"
        raise LowerError(f"{what} in {groups} groups", "groups divide the outputs of conv2d")


def _check_kernel(
    kernel: tuple[int, int], sides: tuple[int, int], dilation: tuple[int, int]
) -> None:
    """Raise `LowerError` if the dilated kernel is larger than the padded image of size `sides`."""
    if sides[0] < kernel[0] or sides[1] < kernel[1]:
        dilated = " with its dilation" if dilation != (1, 1) else ""
        raise LowerError(
            f"a kernel of {kernel[0]} × {kernel[1]}{dilated} is larger than the image,"
            f" {sides[0]} × {sides[1]} with its padding"
        )


def _dilated(weights: NDArray[Any], dilation: tuple[int, int]) -> NDArray[Any]:
    """Return the kernels `weights` with the zeros that a dilation puts between their weights.

    Raises `LowerError` if the kernels then have more numbers than a device has addresses.
    """
    if dilation == (1, 1):
        return weights
    sides = [(n - 1) * by + 1 for n, by in zip(weights.shape[1:3], dilation, strict=True)]
    count = math.prod((weights.shape[0], *sides, *weights.shape[3:]))
    if count > 1 << 32:
        raise LowerError(f"the kernels with their dilation have {count:,} numbers")
    result = np.zeros((weights.shape[0], *sides, *weights.shape[3:]), weights.dtype)
    result[:, :: dilation[0], :: dilation[1]] = weights
    return result


def _grouped(weights: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return the kernels `weights` over all channels, with zeros for channels of other groups.

    The result has shape (outputs, height, width, channels).
    """
    if groups == 1:
        return weights
    outputs, height, width, channels = weights.shape
    result = np.zeros((groups, outputs // groups, height, width, groups, channels), weights.dtype)
    parts = weights.reshape(groups, -1, height, width, channels)
    for group in range(groups):
        result[group, :, :, :, group] = parts[group]
    return result.reshape(outputs, height, width, groups * channels)


def reference(product: Convolution, x: NDArray[Any], whole: type) -> NDArray[Any]:
    """Return the sums for the input x without the bias: (images if any, rows, columns, outputs).

    `whole` is the type in which NumPy adds.
    """
    if product.images:
        return np.stack([_sums(product, image, whole) for image in x])
    return _sums(product, x, whole)


def _sums(product: Convolution, x: NDArray[Any], whole: type) -> NDArray[Any]:
    """Return the sums (rows, columns, outputs) of one image x, which has the product's layout.

    `whole` is the type in which NumPy adds.
    """
    if product.layout != "hwc":
        x = x.T
    if product.turned:
        x = x.swapaxes(0, 1)
    (above, left), (below, right), (down, across) = product.padding, product.after, product.stride
    image: NDArray[Any] = np.pad(x.astype(whole), ((above, below), (left, right), (0, 0)))
    kernels: NDArray[Any] = product.kernels.astype(whole)
    sums: NDArray[Any] = np.zeros((product.m, product.columns, product.n), whole)
    for dy, dx in np.argwhere(kernels.any(axis=(0, 3))):
        rows = image[dy : dy + (product.m - 1) * down + 1 : down]
        part = rows[:, dx : dx + (product.columns - 1) * across + 1 : across]
        if product.depthwise:
            sums += part * kernels[:, dy, dx, 0]
        else:
            sums += part @ kernels[:, dy, dx].T
    return sums.swapaxes(0, 1) if product.turned else sums
