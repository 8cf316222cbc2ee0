"""Describes the operations on tensors that the SIMD core vc and the dma do between products.

Images have the shape (height, width, channels). Each operation gives the shapes of its inputs and
of its result. Its method `check` raises an error if it cannot be computed. `reference.py` defines
the results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError

Shape = tuple[int, ...]
# scales have smaller magnitudes, so that no sum of two products becomes infinite
LARGEST_SCALE = 2.0**64


@dataclass(frozen=True)
class VectorOperation(ABC):
    """An operation on elements of type `dtype`. Its results have this type too, by default.

    `DTYPES` are the types that the operation allows.
    """

    dtype: str

    DTYPES: ClassVar[tuple[str, ...]] = ("int8", "int16")

    @property
    def input_dtypes(self) -> tuple[str, ...]:
        """The element types of the inputs."""
        return (self.dtype,) * len(self.inputs)

    @property
    def result_dtype(self) -> str:
        """The element type of the result."""
        return self.dtype

    @property
    def title(self) -> str:
        """The operation's name in reports and sources."""
        return type(self).__name__

    @property
    @abstractmethod
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""

    @property
    @abstractmethod
    def result(self) -> Shape:
        """The shape of the result."""

    def check(self) -> None:
        """Raise `LowerError` if the operation cannot be computed."""
        if self.dtype not in self.DTYPES:
            names = " and ".join(self.DTYPES)
            raise LowerError(f"elements of type {self.dtype}", f"vc computes layers of {names}")
        for shape in (*self.inputs, self.result):
            if any(length < 1 for length in shape):
                raise LowerError(f"a tensor has the shape {shape}", "at least 1 in each dimension")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of an element."""
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


@dataclass(frozen=True)
class SameShape(VectorOperation):
    """An operation with one input, whose result has the input's shape."""

    shape: Shape

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return self.shape


@dataclass(frozen=True)
class Elementwise(SameShape):
    """An operation with `count` inputs. The inputs and the result have the shape `shape`.

    The code reads and writes the elements in the order of memory, so the result may overwrite an
    input.
    """

    count: ClassVar[int] = 1

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,) * self.count


@dataclass(frozen=True)
class Sum(Elementwise):
    """The sum of two tensors: saturate(rne(f32(a) * scales[0] + f32(b) * scales[1])), clipped.

    Here rne rounds half to even. Both products and their sum are each rounded to binary32. Results
    are limited to the range `clip`, (least, greatest), in units of the result. A range from 0 makes
    a ReLU.
    """

    scales: tuple[float, float]
    clip: tuple[int, int] | None = None

    count: ClassVar[int] = 2

    def check(self) -> None:
        """Raise `LowerError` if a scale is not below 2**64 or `clip` is not a range of the type."""
        super().check()
        for scale in self.scales:
            check_scale(scale)
        check_clip(self, self.clip)


@dataclass(frozen=True)
class Rescale(Elementwise):
    """A tensor with another scale: saturate(rne(f32(x) * scale)), limited to the range `clip`.

    Here rne rounds half to even.
    """

    scale: float
    clip: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise `LowerError` if the scale is not below 2**64 or `clip` no range of the type."""
        super().check()
        check_scale(self.scale)
        check_clip(self, self.clip)


@dataclass(frozen=True)
class ElementwiseProduct(Elementwise):
    """The product of two tensors: saturate(rne(f32(a * b) * scale)), where a * b is exact.

    Here rne rounds half to even. With `by_channel`, b has the shape (channels,), and each position
    uses the same b. The result then may not overwrite a.
    """

    scale: float
    by_channel: bool = False

    count: ClassVar[int] = 2

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape, self.shape[-1:] if self.by_channel else self.shape)

    def check(self) -> None:
        """Raise `LowerError` if the scale is not below 2**64."""
        super().check()
        check_scale(self.scale)


@dataclass(frozen=True)
class Table(Elementwise):
    """A function of int8 elements: x becomes `entries[x + 128]`. The 256 entries are of int8."""

    entries: tuple[int, ...]

    def check(self) -> None:
        """Raise `LowerError` unless elements are of int8 and there are 256 entries of int8."""
        super().check()
        if self.dtype != "int8":
            raise LowerError(f"a table of {self.dtype}", "tables are functions of int8")
        low, high = self.limits
        if len(self.entries) != 256 or not all(low <= entry <= high for entry in self.entries):
            raise LowerError("a table does not have 256 entries of int8")


@dataclass(frozen=True)
class Pool(VectorOperation):
    """An operation on windows of an image (height, width, channels).

    `kernel` and `strides` are (rows, columns), `pads` are (top, left, bottom, right). `sizes` are
    the rows and columns of the result. They are None if the result has as many as whole windows
    fit; with ONNX's `ceil_mode` it may have one row or column more.
    """

    image: Shape
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    sizes: tuple[int, int] | None = None

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.image,)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        rows, columns = self.sizes or (self._side(0), self._side(1))
        return (rows, columns, self.image[2])

    def _side(self, axis: int) -> int:
        padded = self.image[axis] + self.pads[axis] + self.pads[axis + 2]
        return (padded - self.kernel[axis]) // self.strides[axis] + 1

    def window(self, axis: int, place: int) -> range:
        """Return the rows (axis 0) or columns (axis 1) of the image that lie in a window.

        `place` is the row or column of the window's result.
        """
        first = place * self.strides[axis] - self.pads[axis]
        return range(max(first, 0), min(first + self.kernel[axis], self.image[axis]))

    def check(self) -> None:
        """Raise `LowerError` if a parameter is not possible or a window is outside the image."""
        if len(self.image) != 3:
            raise LowerError(f"an image has the shape {self.image}", "(height, width, channels)")
        if min(*self.kernel, *self.strides) < 1 or min(self.pads) < 0:
            raise LowerError(
                f"a kernel of {self.kernel}, strides {self.strides}, pads {self.pads}",
                "kernel and strides of at least 1, pads of at least 0",
            )
        super().check()
        for axis in (0, 1):
            for place in range(self.result[axis]):
                if not self.window(axis, place):
                    raise LowerError(f"window {place} of axis {axis} is outside the image")


@dataclass(frozen=True)
class MaxPool(Pool):
    """The greatest element of each window; the padding does not count."""


LARGEST_WINDOW = 256  # largest number of elements that AveragePool adds in 16 bits


@dataclass(frozen=True)
class AveragePool(Pool):
    """The mean of each window: saturate(rne(f32(sum) * m)), m = f32(f32(scale) / n).

    Here rne rounds half to even. The sum is exact. n is the number of the window's elements inside
    the image. With `counts_pads`, n also counts the elements in the padding, which are zeros.
    """

    scale: float = 1.0
    counts_pads: bool = False

    def counted(self, axis: int, place: int) -> int:
        """Return how many rows (axis 0) or columns (axis 1) of a window count for the mean.

        `place` is the row or column of the window's result.
        """
        if not self.counts_pads:
            return len(self.window(axis, place))
        first = place * self.strides[axis] - self.pads[axis]
        return min(first + self.kernel[axis], self.image[axis] + self.pads[axis + 2]) - first

    def check(self) -> None:
        """Raise `LowerError` if a parameter is not possible or the windows are too large."""
        super().check()
        check_scale(self.scale)
        if math.prod(self.kernel) > LARGEST_WINDOW:
            raise LowerError(
                f"a window of {self.kernel[0]} by {self.kernel[1]}",
                f"AveragePool takes at most {LARGEST_WINDOW} elements, GlobalAveragePool any",
            )


@dataclass(frozen=True)
class GlobalAveragePool(VectorOperation):
    """The mean of each channel of an image: saturate(rne(f32(sum) * m)), m = f32(f32(scale) / n).

    Here rne rounds half to even. The result has the shape (1, 1, channels). n is height · width,
    and the sum is exact.
    """

    image: Shape
    scale: float = 1.0

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.image,)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return (1, 1, self.image[-1])

    def check(self) -> None:
        """Raise `LowerError` for a wrong image or scale, and if a sum might exceed 32 bits."""
        if len(self.image) != 3:
            raise LowerError(f"an image has the shape {self.image}", "(height, width, channels)")
        super().check()
        check_scale(self.scale)
        if self.image[0] * self.image[1] * -self.limits[0] > 1 << 31:
            raise LowerError(
                f"sums of {self.image[0] * self.image[1]:,} elements of {self.dtype}",
                "sums have 32 bits",
            )


@dataclass(frozen=True)
class Movement(VectorOperation):
    """An operation that copies elements to other places. Its input has the shape `shape`."""

    shape: Shape

    DTYPES: ClassVar[tuple[str, ...]] = ("int8", "int16", "float32")

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,)


@dataclass(frozen=True)
class Pad(Movement):
    """A frame of elements `value` around the input.

    `before` and `after` are the numbers of added elements before and after the input, by axis.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int = 0

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return tuple(
            sum(lengths) for lengths in zip(self.before, self.shape, self.after, strict=True)
        )

    def check(self) -> None:
        """Raise `LowerError` if the frame or its value is not possible."""
        if not len(self.shape) == len(self.before) == len(self.after):
            raise LowerError("a pad does not have two numbers for each axis")
        if min(self.before + self.after, default=0) < 0:
            raise LowerError(f"pads of {self.before} and {self.after}", "at least 0")
        super().check()
        low, high = self.limits if self.dtype != "float32" else (0, 0)
        if not low <= self.value <= high:
            raise LowerError(f"a pad of {self.value}, which is no {self.dtype}")


@dataclass(frozen=True)
class Resize(Movement):
    """An image (height, width, channels) resized to `sizes` rows and columns by nearest elements.

    Row i of the result is row floor(i * height / sizes[0]) of the input; columns follow the same
    rule. It is ONNX's Resize with `nearest_mode=floor` and `asymmetric` coordinates.
    """

    sizes: tuple[int, int]

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return (*self.sizes, self.shape[-1])

    def places(self, axis: int) -> list[int]:
        """Return which rows (axis 0) or columns (axis 1) of the input the result has, in order."""
        return [i * self.shape[axis] // self.sizes[axis] for i in range(self.sizes[axis])]

    def check(self) -> None:
        """Raise `LowerError` unless the input is an image."""
        if len(self.shape) != 3:
            raise LowerError(f"an image has the shape {self.shape}", "(height, width, channels)")
        super().check()


@dataclass(frozen=True)
class Concat(VectorOperation):
    """Tensors of `shapes` joined along `axis`, each rescaled by its number in `scales`.

    An input with the scale 1 is copied. Others become saturate(rne(f32(x) * scale)), where rne
    rounds half to even.
    """

    shapes: tuple[Shape, ...]
    axis: int
    scales: tuple[float, ...]

    DTYPES: ClassVar[tuple[str, ...]] = ("int8", "int16", "float32")

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return self.shapes

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        sides = list(self.shapes[0])
        sides[self.axis] = sum(shape[self.axis] for shape in self.shapes)
        return tuple(sides)

    def check(self) -> None:
        """Raise `LowerError` if shapes do not fit together or a scale is not below 2**64."""
        if not self.shapes or len(self.scales) != len(self.shapes):
            raise LowerError("a concatenation does not have a scale for each of its inputs")
        first = self.shapes[0]
        if not 0 <= self.axis < len(first):
            raise LowerError(f"axis {self.axis} of a tensor of {len(first)} axes")
        for shape in self.shapes:
            if (*shape[: self.axis], *shape[self.axis + 1 :]) != (
                *first[: self.axis], *first[self.axis + 1 :],
            ):  # fmt: skip
                raise LowerError(f"shapes {first} and {shape} differ besides axis {self.axis}")
        super().check()
        for scale in self.scales:
            check_scale(scale)


def check_scale(scale: float) -> None:
    """Raise `LowerError` unless a scale is finite and not too large for the sum of two products."""
    if not abs(scale) < LARGEST_SCALE:  # also true for a NaN
        raise LowerError(f"a scale is {scale}", "a number of magnitude below 2**64")


def check_clip(operation: VectorOperation, clip: tuple[int, int] | None) -> None:
    """Raise `LowerError` if `clip` is not a range of the operation's elements."""
    low, high = operation.limits
    if clip is not None and not low <= clip[0] <= clip[1] <= high:
        raise LowerError(
            f"results are clipped to {clip[0]} to {clip[1]}", f"a range in {low} to {high}"
        )


def mean_scale(scale: float, count: int) -> np.float32:
    """Return the factor for a sum of `count` elements: scale divided by count, in binary32."""
    return np.float32(np.float32(scale) / np.float32(count))


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor of shape `shape`."""
    return math.prod(shape)
