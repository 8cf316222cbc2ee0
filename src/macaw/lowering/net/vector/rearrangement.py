"""Describes any movement of elements as a few copies of boxes.

A movement is an array that has, for each element of the result, the number of an element of the
input. This module divides the array into boxes in which these numbers grow by a constant along each
axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import Shape, VectorOperation, elements

_MOST_BOXES = 1024

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A box of the result.

    `first` is the index of its first element in the result, `source` the index of the element of
    the input that goes there. `axes` are (length, step in the result, step in the input), in
    elements.
    """

    first: int
    source: int
    axes: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Rearrange(VectorOperation):
    """Copies parts of an input of shape `shape` to other places of a result of shape `sizes`.

    The parts are copied in their order. Elements that no part writes get the value `fill`, if there
    is one. `name` is the name of the movement.
    """

    shape: Shape
    sizes: Shape
    parts: tuple[Part, ...]
    name: str
    fill: int | None = None

    DTYPES: ClassVar[tuple[str, ...]] = ("int8", "int16", "float32")

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return self.sizes

    @property
    def title(self) -> str:
        """The name of this movement of elements in reports and sources."""
        return self.name

    def check(self) -> None:
        """Raise `LowerError` if there are too many parts."""
        super().check()
        if len(self.parts) > _MOST_BOXES:
            raise LowerError(
                f"a movement of {len(self.parts):,} boxes", f"at most {_MOST_BOXES:,} are copied"
            )


def rearrangement(dtype: str, shape: Shape, places: Places, name: str) -> Rearrange:
    """Return the movement that copies element number `places[i]` of the input to place i.

    `places` has the shape of the result, `shape` is the input's shape; elements are numbered in the
    order of memory. Raises `LowerError` for a result without elements.
    """
    if not places.size:
        raise LowerError("its result has no elements")
    steps = tuple(elements(places.shape[axis + 1 :]) for axis in range(places.ndim))
    return Rearrange(dtype, shape, places.shape, tuple(_parts(places, 0, steps)), name)


def _parts(places: Places, first: int, steps: Shape) -> Iterator[Part]:
    """Yield the boxes of one region of the result.

    `places` has, for each element of the region, the number of the input's element. `first` is the
    index in the result of the region's first element. `steps` says, for each axis, by how much this
    index grows from one element to the next.
    """
    changes = [_change(places, axis) for axis in range(places.ndim)]
    odd = next((axis for axis, change in enumerate(changes) if change is None), None)
    if odd is None:
        known = [change or 0 for change in changes]
        yield Part(first, int(places.flat[0]), tuple(zip(places.shape, steps, known, strict=True)))
        return
    inner = _period(places, odd)
    if inner:
        outer = places.shape[odd] // inner
        shape = (*places.shape[:odd], outer, inner, *places.shape[odd + 1 :])
        divided = (*steps[:odd], inner * steps[odd], steps[odd], *steps[odd + 1 :])
        yield from _parts(places.reshape(shape), first, divided)
        return
    for start, count in _runs(places, odd):
        some = places.take(range(start, start + count), odd)
        yield from _parts(some, first + start * steps[odd], steps)


def _change(places: Places, axis: int) -> int | None:
    """Return the constant difference of numbers along an axis; None if the differences vary."""
    if places.shape[axis] == 1:
        return 0
    changes = np.diff(places, axis=axis)
    one = int(changes.flat[0])
    return one if np.all(changes == one) else None


def _period(places: Places, axis: int) -> int:
    """Cut an axis into equal pieces in which the numbers grow evenly; return the greatest length.

    For the numbers 0, 1, 2, 10, 11, 12 it is 3: they grow by 1 in each piece. The result is 0 if
    there are no such pieces.
    """
    length = places.shape[axis]
    for size in range(length // 2, 1, -1):
        if length % size == 0:
            shape = (*places.shape[:axis], length // size, size, *places.shape[axis + 1 :])
            if _change(places.reshape(shape), axis + 1) is not None:
                return size
    return 0


def _runs(places: Places, axis: int) -> Iterator[tuple[int, int]]:
    """Divide an array into runs of slices along an axis; yield (first slice, number of slices).

    Within a run, all numbers grow by the same constant from one slice to the next.
    """
    changes = np.moveaxis(np.diff(places, axis=axis), axis, 0).reshape(places.shape[axis] - 1, -1)
    same = (changes == changes[:, :1]).all(1)
    first = 0
    while first < places.shape[axis]:
        last = first
        while last < len(changes) and same[last] and changes[last, 0] == changes[first, 0]:
            last += 1
        yield first, last - first + 1
        first = last + 1
