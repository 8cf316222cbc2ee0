"""Translates ONNX nodes that move numbers but compute none.

Each node becomes a view, or a task in which the dma copies stretches of consecutive numbers. ONNX's
reference evaluator applies the node to an array of indices. The result shows to which place each
number is moved. The sizes of results are checked before the evaluator works.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.onnx_values import TaskValue, Values, places_of
from macaw.lowering.onnx.constants import Evaluator
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.images import IMAGES
from macaw.lowering.onnx.shapes import Form

# fmt: off
# operators that keep the order of all numbers
SHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
PARTS = ("Slice", "Split")  # operators that move each number to at most one place
MOVES = (  # operators that move only the first input; the others are constants
    *SHAPES, *PARTS, "Transpose", "Expand", "Tile", "Gather", "GatherElements", "GatherND",
    "DepthToSpace", "SpaceToDepth",
)
# fmt: on
SCATTERS = ("ScatterElements", "ScatterND", "Scatter")  # until operator set 10, the last input
JOINS = ("Concat", "Pad", "Resize")


class Move(NamedTuple):
    """A node that moves numbers, with its inputs and the shapes of its outputs."""

    values: Values
    evaluator: Evaluator
    node: Node
    inputs: Sequence[TaskValue | None]
    shapes: list[tuple[int, ...]]  # of its outputs

    @property
    def name(self) -> str:
        """The name of the node's first output."""
        return self.node.outputs[0]

    @property
    def first(self) -> TaskValue:
        """The input whose numbers are moved."""
        assert self.inputs[0] is not None
        return self.inputs[0]

    def axis(self, count: int) -> int:
        """Return the node's attribute `axis` as an index from 0 to `count` - 1.

        A negative attribute counts from the end. Raises `LowerError` if there is no such axis.
        """
        axis = int(self.node.attributes.get("axis", 0))
        if not -count <= axis < count:
            raise LowerError(f"there is no axis {axis} of {count}")
        return axis % count

    def places(self, *arrays: NDArray[Any] | None) -> list[NDArray[Any]]:
        """Return the outputs of the node when arrays of indices replace its inputs."""
        return self.evaluator.evaluate(self.node.proto, arrays)


def move_node(
    values: Values,
    evaluator: Evaluator,
    node: Node,
    inputs: Sequence[TaskValue | None],
    forms: Sequence[Form | None],
) -> list[TaskValue]:
    """Add the tasks of a node that moves numbers, and return its outputs.

    `evaluator` moves indices as the node does. `forms` has the shapes of the outputs. Raises
    `LowerError` if the places to which numbers go depend on an input of the model, or if islands do
    not support an attribute of the node.
    """
    kind = node.operator
    does: Callable[[Move], list[TaskValue]] = {
        "Concat": _concat,
        "Pad": _pad,
        "Resize": _resize,
        **dict.fromkeys(SCATTERS, _scatter),
    }.get(kind, _gather)
    selectors = inputs[1:2] if kind in SCATTERS else inputs[1:]  # where numbers are moved to
    if kind != "Concat" and any(value and not value.constant for value in selectors):
        raise LowerError("where its numbers go depends on an input")
    shapes = [form.shape if form else () for form in forms]
    if any(shape is None for shape in shapes):
        raise LowerError("the size of its result is not known beforehand")
    full_shapes = [shape for shape in shapes if shape is not None]
    return does(Move(values, evaluator, node, inputs, full_shapes))


def _gather(move: Move) -> list[TaskValue]:
    """Return the outputs of a node whose outputs are selections of numbers of the first input."""
    values, x, kind = move.values, move.first, move.node.operator
    if kind in SHAPES or (kind in ("Transpose", "Expand", "Tile") and _keeps_order(move)):
        return [values.of_tensor(values.tensor(x, move.name), move.shapes[0])]
    if kind not in PARTS:
        values.fits(math.prod(move.shapes[0]), beside=True)
    rest = [value.array if value else None for value in move.inputs[1:]]
    places = places_of(x.shape)
    if kind == "GatherElements":  # the operator reads only this part of the input
        axis = move.axis(len(x.shape))
        sizes = move.shapes[0]
        if len(sizes) != len(x.shape):
            raise LowerError(f"its indices have {len(sizes)} dimensions, its input {len(x.shape)}")
        places = places[tuple(slice(None if n == axis else sizes[n]) for n in range(len(sizes)))]
    picks = move.places(places, *rest)
    return [
        values.move(x, places, name) for places, name in zip(picks, move.node.outputs, strict=True)
    ]


def _keeps_order(move: Move) -> bool:
    """Return whether the node keeps all numbers in their order."""
    x = move.first.shape
    if move.node.operator != "Transpose":
        return math.prod(x) == math.prod(move.shapes[0])
    order = move.node.attributes.get("perm", range(len(x))[::-1])
    wide_axes = [axis for axis in order if x[axis] > 1]
    return wide_axes == sorted(wide_axes)


def _scatter(move: Move) -> list[TaskValue]:
    """Return the output of a scatter: the first input with some of its numbers replaced."""
    data, indices, updates = move.inputs
    assert data is not None
    assert indices is not None
    assert updates is not None
    how = move.node.attributes.get("reduction", "none")
    if how != "none":
        raise LowerError(f"the reduction {how}", "only none is supported")
    if not math.prod(updates.shape):
        return [data]
    count = math.prod(data.shape)
    move.values.fits(count, beside=True)
    arguments = places_of(data.shape), indices.array, places_of(updates.shape) + count
    flat = move.places(*arguments)[0].reshape(-1)
    where = np.flatnonzero(flat >= count)
    if len(where) != math.prod(updates.shape):
        raise LowerError("two rows go to one place")
    places = np.empty_like(where)
    places[flat[where] - count] = where
    return [move.values.spread(data, updates, places, move.name)]


def _concat(move: Move) -> list[TaskValue]:
    """Return the output of Concat: all inputs, one after the other along an axis."""
    (shape,) = move.shapes
    parts = [value for value in move.inputs if value is not None]
    axis = move.axis(len(parts[0].shape))
    move.values.fits(math.prod(shape), beside=True)
    ends = list(accumulate(value.shape[axis] for value in parts))
    places = np.split(places_of(shape), ends[:-1], axis)
    some = [row for row in zip(parts, places, strict=True) if math.prod(row[0].shape)]
    if len(some) == 1:
        return [move.values.of_tensor(move.values.tensor(some[0][0], move.name), shape)]
    values, where = zip(*some, strict=True)
    return [move.values.join(values, where, shape, move.name)]


def _pad(move: Move) -> list[TaskValue]:
    """Return the output of Pad: the first input in a frame of zeros or of numbers of the input.

    Indices count from 1 here, so that 0 can represent a zero of the frame.
    """
    x, (shape,) = move.first, move.shapes
    pads, fill = _frame(move)
    if any(number < 0 for number in pads):
        raise LowerError("a negative frame", "Slice takes a part")
    if not any(pads):
        return [move.values.of_tensor(move.values.tensor(x, move.name), shape)]
    if np.any(fill):
        raise LowerError("a frame of other numbers than zeros")
    move.values.fits(math.prod(shape), beside=True)
    rest = [value.array if value else None for value in move.inputs[1:]]
    marks = move.places(places_of(x.shape) + 1, *rest)[0]
    if marks.all():
        return [move.values.move(x, marks - 1, move.name)]
    where = np.flatnonzero(marks)
    zeros = move.values.array(np.broadcast_to(np.int8(0), shape))
    return [move.values.spread(zeros, x, where, move.name)]


def _resize(move: Move) -> list[TaskValue]:
    """Return the output of Resize: each place has the number of the nearest place of the input.

    Raises `LowerError` for other modes.
    """
    mode = move.node.attributes.get("mode", "nearest")
    if mode != "nearest":
        raise LowerError(f"the mode {mode}", "only nearest is supported")
    move.values.fits(math.prod(move.shapes[0]), beside=True)
    node, rest = move.node, [value.array if value else None for value in move.inputs[1:]]
    if move.evaluator.version < 11:  # scales are the second input, and places are rounded down
        older = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        node, rest = replace(node, attributes={**node.attributes, **older}), [None, *rest]
    (places,) = IMAGES["Resize"](node, [places_of(move.first.shape), *rest])
    return [move.values.move(move.first, places, move.name)]


def _frame(move: Move) -> tuple[list[int], Any]:
    """Return the widths of the frame of a Pad node, and the value that fills it.

    The list has the width before the input for each axis, then the width after it for each axis.
    Widths and value are inputs of the node since operator set 11, and attributes in earlier sets.
    """
    if move.evaluator.version < 11:
        return list(move.node.attributes["pads"]), move.node.attributes.get("value", 0.0)
    _, pads, fill = (*move.inputs, None)[:3]
    assert pads is not None
    assert pads.array is not None
    return pads.array.reshape(-1).tolist(), 0 if fill is None else fill.array
