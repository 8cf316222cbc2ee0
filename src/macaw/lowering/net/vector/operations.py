"""Describe the operations on integer tensors that vc and the dma compute between products.

Elements are int8 or int16. Images have the shape (height, width, channels). Each operation says the
shapes of its inputs and of its result, and `check` refuses what has no meaning. `reference.py`
defines the results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from macaw.lowering.errors import LowerError

Shape = tuple[int, ...]
DTYPES = ("int8", "int16")
LARGEST_SCALE = 2.0**64  # of a product's magnitude: no sum of two products becomes infinite


@dataclass(frozen=True)
class VectorOperation:
    """An operation whose inputs and result have elements of type `dtype`."""

    dtype: str

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        raise NotImplementedError

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise `LowerError` if the operation cannot be computed."""
        if self.dtype not in DTYPES:
            raise LowerError(
                f"elements of type {self.dtype}", "vc computes layers of " + " and ".join(DTYPES)
            )
        for shape in (*self.inputs, self.result):
            if any(length < 1 for length in shape):
                raise LowerError(f"a tensor has the shape {shape}", "at least 1 in each dimension")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest element."""
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


@dataclass(frozen=True)
class Elementwise(VectorOperation):
    """An operation whose result has the shape `shape` of its inputs.

    Results are clipped to the range `clip`, as for ReLU: (least, greatest), in the units of the
    result. Its subclasses are computed on elements in the order of memory, so the result may take
    the place of an input.
    """

    shape: Shape

    count: ClassVar[int] = 1

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,) * self.count

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return self.shape


@dataclass(frozen=True)
class Sum(Elementwise):
    """The sum of two tensors: saturate(rne(f32(a) * scales[0] + f32(b) * scales[1])), clipped.

    Each of the three operations is rounded to binary32.
    """

    scales: tuple[float, float]
    clip: tuple[int, int] | None = None

    count: ClassVar[int] = 2

    def check(self) -> None:
        """Raise `LowerError` if a scale is not finite or the clip is no range."""
        super().check()
        for scale in self.scales:
            _check_scale(scale)
        _check_clip(self, self.clip)


@dataclass(frozen=True)
class Rescale(Elementwise):
    """A tensor in another scale: saturate(rne(f32(x) * scale)), clipped."""

    scale: float
    clip: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise `LowerError` if the scale is not finite or the clip is no range."""
        super().check()
        _check_scale(self.scale)
        _check_clip(self, self.clip)


@dataclass(frozen=True)
class ElementwiseProduct(Elementwise):
    """The product of two tensors: saturate(rne(f32(a * b) * scale)); a * b is exact.

    If `by_channel`, b has the shape (channels,) and is used at each position, as in
    squeeze-and-excitation; then the result may not take the place of a.
    """

    scale: float
    by_channel: bool = False

    count: ClassVar[int] = 2

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape, self.shape[-1:] if self.by_channel else self.shape)

    def check(self) -> None:
        """Raise `LowerError` if the scale is not finite."""
        super().check()
        _check_scale(self.scale)


@dataclass(frozen=True)
class Table(Elementwise):
    """A function of one int8 element: result `entries[x + 128]`; 256 entries of int8."""

    entries: tuple[int, ...]

    def check(self) -> None:
        """Raise `LowerError` unless elements are int8 and there are 256 entries of int8."""
        super().check()
        if self.dtype != "int8":
            raise LowerError(f"a table of {self.dtype}", "tables are functions of int8")
        low, high = self.limits
        if len(self.entries) != 256 or not all(low <= entry <= high for entry in self.entries):
            raise LowerError("a table does not have 256 entries of int8")


def _check_scale(scale: float) -> None:
    if not abs(scale) < LARGEST_SCALE:  # a NaN, too
        raise LowerError(f"a scale is {scale}", "a number of magnitude below 2**64")


def _check_clip(operation: VectorOperation, clip: tuple[int, int] | None) -> None:
    low, high = operation.limits
    if clip is not None and not low <= clip[0] <= clip[1] <= high:
        raise LowerError(
            f"results are clipped to {clip[0]} to {clip[1]}", f"a range in {low} to {high}"
        )


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor."""
    return math.prod(shape)
