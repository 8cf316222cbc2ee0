"""Operators that move numbers and compute none; they take numbers of any type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.elementwise import Array, Arrays, Operator, first, optional


def _integers(arrays: Arrays, place: int) -> list[int] | None:
    array = optional(arrays, place)
    return None if array is None else [int(number) for number in array.reshape(-1)]


def _reshape(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    shape = _integers(arrays, 1) or []
    if not node.attributes.get("allowzero", 0):
        shape = [x.shape[axis] if size == 0 else size for axis, size in enumerate(shape)]
    return [x.reshape(shape)]


def _flatten(node: Node, arrays: Arrays) -> list[Array]:
    x, axis = first(arrays), int(node.attributes.get("axis", 1))
    axis += x.ndim if axis < 0 else 0
    return [x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))]


def _squeeze(_node: Node, arrays: Arrays) -> list[Array]:
    axes = _integers(arrays, 1)
    return [np.squeeze(first(arrays), None if axes is None else tuple(axes))]


def _unsqueeze(_node: Node, arrays: Arrays) -> list[Array]:
    return [np.expand_dims(first(arrays), tuple(_integers(arrays, 1) or ()))]


def _transpose(node: Node, arrays: Arrays) -> list[Array]:
    return [np.transpose(first(arrays), node.attributes.get("perm"))]


def _concat(node: Node, arrays: Arrays) -> list[Array]:
    return [np.concatenate([x for x in arrays if x is not None], int(node.attributes["axis"]))]


def _split(node: Node, arrays: Arrays) -> list[Array]:
    x, axis, sizes = first(arrays), int(node.attributes.get("axis", 0)), _integers(arrays, 1)
    if sizes is None:
        count = len(node.outputs)
        size = -(-x.shape[axis] // count)
        sizes = [size] * (count - 1) + [x.shape[axis] - size * (count - 1)]
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def _slice(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    starts, ends = _integers(arrays, 1) or [], _integers(arrays, 2) or []
    axes = _integers(arrays, 3) or list(range(len(starts)))
    steps = _integers(arrays, 4) or [1] * len(starts)
    parts = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = x.shape[axis]
        if step < 0:  # ONNX takes the first index for a start before it, NumPy takes none
            parts[axis] = slice(max(start, -size), None if end < -size else end, step)
        else:
            parts[axis] = slice(start, end, step)
    return [x[tuple(parts)]]


def _expand(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    shape = np.broadcast_shapes(x.shape, tuple(_integers(arrays, 1) or ()))
    return [np.broadcast_to(x, shape)]


def _tile(_node: Node, arrays: Arrays) -> list[Array]:
    return [np.tile(first(arrays), _integers(arrays, 1) or ())]


def _gather(node: Node, arrays: Arrays) -> list[Array]:
    x, places = first(arrays), first(arrays, 1)
    axis = int(node.attributes.get("axis", 0))
    _check_places(places, x.shape[axis])
    return [np.take(x, places, axis)]


def _gather_elements(node: Node, arrays: Arrays) -> list[Array]:
    x, places = first(arrays), first(arrays, 1)
    axis = int(node.attributes.get("axis", 0))
    _check_places(places, x.shape[axis])
    other = tuple(
        slice(None) if number == axis % x.ndim else slice(size)
        for number, size in enumerate(places.shape)
    )
    return [
        np.take_along_axis(x[other], np.where(places < 0, places + x.shape[axis], places), axis)
    ]


def _check_places(places: Array, size: int) -> None:
    if places.size and not -size <= int(places.min()) <= int(places.max()) < size:
        raise LowerError(f"an index is outside of -{size} to {size - 1}")


def pad(x: Array, pads: list[tuple[int, int]], mode: str, fill: Any) -> Array:
    """Return an array with numbers added before and after each axis, as `pads` says.

    Negative counts remove numbers. `mode` is that of ONNX's Pad; `fill` is the constant.
    """
    cut = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for (before, after), size in zip(pads, x.shape, strict=True)
    )
    wide = [(max(before, 0), max(after, 0)) for before, after in pads]
    if mode == "constant":
        return np.pad(x[cut], wide, constant_values=fill)
    if mode not in ("reflect", "edge", "wrap"):
        raise LowerError(f"the mode {mode}", "constant, reflect, edge and wrap are supported")
    kinds: dict[str, Any] = {"mode": mode}
    return np.asarray(np.pad(x[cut], wide, **kinds))


def _pad(node: Node, arrays: Arrays) -> list[Array]:
    x, numbers, fill = first(arrays), _integers(arrays, 1) or [], optional(arrays, 2)
    axes = _integers(arrays, 3)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    pads = [(0, 0)] * x.ndim
    for place, axis in enumerate(axes):
        pads[axis] = numbers[place], numbers[place + len(axes)]
    value = 0 if fill is None else fill.reshape(-1)[0]
    return [pad(x, pads, node.attributes.get("mode", "constant"), value)]


def _depth_to_space(node: Node, arrays: Arrays) -> list[Array]:
    x, size = first(arrays), int(node.attributes["blocksize"])
    batch, channels, height, width = x.shape
    rest = channels // size**2
    if node.attributes.get("mode", "DCR") == "DCR":
        parts = x.reshape(batch, size, size, rest, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(batch, rest, size, size, height, width).transpose(0, 1, 4, 2, 5, 3)
    return [parts.reshape(batch, rest, height * size, width * size)]


def _space_to_depth(node: Node, arrays: Arrays) -> list[Array]:
    x, size = first(arrays), int(node.attributes["blocksize"])
    batch, channels, height, width = x.shape
    parts = x.reshape(batch, channels, height // size, size, width // size, size)
    shape = (batch, channels * size**2, height // size, width // size)
    blocks_first = node.attributes.get("mode", "DCR") == "DCR"
    order = (0, 3, 5, 1, 2, 4) if blocks_first else (0, 1, 3, 5, 2, 4)
    return [parts.transpose(order).reshape(shape)]


def _same(_node: Node, arrays: Arrays) -> list[Array]:
    return [first(arrays)]


MOVEMENT: dict[str, Callable[[Node, Arrays], list[Array]]] = {
    "Reshape": _reshape, "Flatten": _flatten, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze,
    "Transpose": _transpose, "Split": _split, "Slice": _slice, "Expand": _expand, "Tile": _tile,
    "Gather": _gather, "GatherElements": _gather_elements, "Pad": _pad,
    "DepthToSpace": _depth_to_space, "SpaceToDepth": _space_to_depth, "Identity": _same,
}  # fmt: skip
CONCAT: Operator = _concat
