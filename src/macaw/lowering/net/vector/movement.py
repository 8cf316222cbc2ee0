"""Describes operations that move elements as copies of boxes."""

from __future__ import annotations

from dataclasses import field
from functools import singledispatch

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.net.vector.boxes import Box, strides
from macaw.lowering.net.vector.operations import (
    Concat,
    Pad,
    Rescale,
    Resize,
    Shape,
    VectorOperation,
    elements,
)
from macaw.lowering.net.vector.rearrangement import Rearrange
from macaw.lowering.operation import Types

_FILL = 256  # size of the block that pads are copied from, in bytes


@dataclass
class Moves:
    """The steps of an operation that moves elements: first rescale inputs, then copy `boxes`.

    The program copies the boxes in the order of the list.
    `rescales` are (operation, symbol of the input, symbol of the result). `spaces` gives, for each
    symbol of intermediate memory, its size in bytes. `fills` gives, for the symbol of a block of
    constants, the bytes of one element and the number of elements.
    """

    boxes: list[Box] = field(default_factory=list)
    rescales: list[tuple[Rescale, str, str]] = field(default_factory=list)
    spaces: dict[str, int] = field(default_factory=dict)
    fills: dict[str, tuple[bytes, int]] = field(default_factory=dict)


@singledispatch
def moves_of(operation: VectorOperation) -> Moves:
    """Return the rescaling and the copies that compute an operation."""
    raise TypeError(f"no copies for {type(operation).__name__}")


@moves_of.register
def _(operation: Pad) -> Moves:
    """Return the copies of a Pad: they fill the frame, two slabs for each axis, and copy the input.

    The slabs do not overlap: those of an axis leave out the slabs of the axes before it.
    """
    size = Types.size(operation.dtype)
    target = strides(operation.result, size)
    inner = list(operation.result)
    first = 0
    moves = Moves()
    value = np.array(operation.value, operation.dtype).tobytes()
    for axis, (before, after) in enumerate(zip(operation.before, operation.after, strict=True)):
        for length, start in ((before, 0), (after, before + operation.shape[axis])):
            if length:
                slab = [*inner[:axis], length, *inner[axis + 1 :]]
                _fill(moves, (first + start * target[axis]), slab, target, size)
        inner[axis] = operation.shape[axis]
        first += before * target[axis]
    axes = tuple(zip(operation.shape, target, strides(operation.shape, size), strict=True))
    moves.boxes.append(Box(("y", first), ("vc_x0", 0), axes, size))
    if any(operation.before + operation.after):
        moves.fills["vc_fill"] = (value, _FILL // size)
    return moves


def _fill(moves: Moves, first: int, slab: list[int], target: Shape, size: int) -> None:
    """Append copies that fill a box of the result with the constant.

    The box begins at byte `first` of the result. `slab` has its lengths in elements, `target` the
    strides of the result in bytes, and `size` is the number of bytes of an element.
    """
    run = size
    axes: list[tuple[int, int, int]] = []
    for length, stride in reversed(list(zip(slab, target, strict=True))):
        if stride == run and not axes:
            run *= length
        elif length > 1:
            axes.append((length, stride, 0))
    whole, rest = divmod(run, _FILL)
    pieces = [(whole, _FILL, first)] if whole else []
    pieces += [(1, rest, first + whole * _FILL)] if rest else []
    for count, length, start in pieces:
        inner = ((count, _FILL, 0), (length, 1, 1))
        moves.boxes.append(Box(("y", start), ("vc_fill", 0), (*reversed(axes), *inner), 1))


@moves_of.register
def _(operation: Resize) -> Moves:
    """Return the copies of a Resize: all columns into intermediate memory, from there all rows.

    Rows are not copied inside the result: if source and destination of a transfer overlap, each
    read waits for the write of the previous row.
    """
    size = Types.size(operation.dtype)
    height, width, channels = operation.shape
    rows, columns = operation.sizes
    pitch, wide = channels * size, columns * channels * size
    moves = Moves()
    source, middle = "vc_x0", "y"
    if columns != width:
        if rows != height:
            middle = "vc_scratch"
            moves.spaces[middle] = height * wide
        for j, first, count, step in _places(operation, 1):
            axes = ((height, wide, width * pitch), (count, step * pitch, pitch), (pitch, 1, 1))
            moves.boxes.append(Box((middle, j * pitch), ("vc_x0", first * pitch), axes, 1))
        source = middle
    if rows != height or columns == width:
        for i, first, count, step in _places(operation, 0):
            axes = ((count, step * wide, wide), (wide, 1, 1), (1, 1, 1))
            moves.boxes.append(Box(("y", i * wide), (source, first * wide), axes, 1))
    return moves


def _places(operation: Resize, axis: int) -> list[tuple[int, int, int, int]]:
    """Return the rows (axis 0) or columns (axis 1) of the image to copy, as runs of adjacent ones.

    Each run is (index of its first row in the result, index of its first row in the image, number
    of rows, distance of its rows in the result); for axis 1 the same with columns.
    """
    old, new = operation.shape[axis], operation.sizes[axis]
    if new % old == 0:
        return [(phase, 0, old, new // old) for phase in range(new // old)]
    return [(*run, 1) for run in _runs(operation.places(axis))]


def _runs(places: list[int]) -> list[tuple[int, int, int]]:
    """Divide `places` into runs of consecutive numbers.

    Each run is (index in `places` at which it begins, its first number, its length). For the places
    4, 5, 6, 0 the result is [(0, 4, 3), (3, 0, 1)].
    """
    runs: list[tuple[int, int, int]] = []
    for position, place in enumerate(places):
        if runs and place == runs[-1][1] + runs[-1][2]:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((position, place, 1))
    return runs


@moves_of.register
def _(operation: Concat) -> Moves:
    size = Types.size(operation.dtype)
    target = strides(operation.result, size)
    moves, first = Moves(), 0
    for number, (shape, scale) in enumerate(zip(operation.shapes, operation.scales, strict=True)):
        source = f"vc_x{number}"
        if scale != 1:
            space = f"vc_scratch{number}"
            moves.spaces[space] = elements(shape) * size
            moves.rescales.append((Rescale(operation.dtype, shape, scale), source, space))
            source = space
        axes = tuple(zip(shape, target, strides(shape, size), strict=True))
        moves.boxes.append(Box(("y", first), (source, 0), axes, size))
        first += shape[operation.axis] * target[operation.axis]
    return moves


@moves_of.register
def _(operation: Rearrange) -> Moves:
    size = Types.size(operation.dtype)
    moves = Moves()
    if operation.fill is not None:
        target = strides(operation.result, size)
        _fill(moves, 0, list(operation.result), target, size)
        value = np.array(operation.fill, operation.dtype).tobytes()
        moves.fills["vc_fill"] = (value, _FILL // size)
    for part in operation.parts:
        axes = tuple((length, size * to, size * by) for length, to, by in part.axes)
        moves.boxes.append(Box(("y", size * part.first), ("vc_x0", size * part.source), axes, size))
    return moves
