"""Expresses ONNX operators as tasks of maximum and minimum: Max, reductions, pools, Clip."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from macaw.isa.fim_circuit import FORMATS
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Places
from macaw.lowering.fim.number_arrays import greatest
from macaw.lowering.fim.onnx_composed import axes_of, binary, chain, unary
from macaw.lowering.fim.onnx_values import Inputs, TaskValue, Values, optional, places_of, required
from macaw.lowering.onnx.graph import Node

MOST_AT_ONCE = 9  # rows whose maximum is a chain of tasks, which one start can compute
_FUNCTIONS = {"Max": "max", "Min": "min", "ReduceMax": "max", "ReduceMin": "min"}


def extreme(
    values: Values, function: str, x: TaskValue, places: Places, shape: Sequence[int], name: str
) -> TaskValue:
    """Return the maxima or minima (`function`) of sets of numbers of x, in shape `shape`.

    Each column of `places` has the indices in x of the numbers of one set, so row i has number i of
    every set. A task compares the first half of the rows with the second half. This is repeated
    until at most `MOST_AT_ONCE` rows are left, which a chain of tasks compares.
    """
    count, numbers = places.shape
    moved = values.move(x, places, f"{name}_windows")
    while count > MOST_AT_ONCE:
        half = -(-count // 2)  # an odd row in the middle belongs to both halves
        one, other = (
            values.part(moved, begin * numbers, (half, numbers), f"{name}_{count}")
            for begin in (0, count - half)
        )
        moved, count = binary(values, function, one, other, f"{name}_{half}"), half
    result = chain(values, function, values.rows(moved, name), name)
    return values.of_tensor(values.tensor(result, name), shape)


def _of_operands(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Max or Min, which compare the operands from left to right."""
    function, name = _FUNCTIONS[node.operator], node.outputs[0]
    operands = [required(inputs, place) for place in range(len(inputs))]
    return [chain(values, function, operands, name)]


def _clip(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Clip. Its limits are inputs since operator set 11, and attributes before."""
    given = (node.attributes.get(key) for key in ("min", "max"))
    attributes = (None if number is None else values.array(np.array(number)) for number in given)
    low, high = (optional(inputs, place) or row for place, row in enumerate(attributes, 1))
    return [clipped(values, required(inputs, 0), low, high, node.outputs[0])]


def clipped(
    values: Values, x: TaskValue, low: TaskValue | None, high: TaskValue | None, name: str
) -> TaskValue:
    """Add the tasks that limit x to the range from `low` to `high`; return the output.

    None is no limit, and neither is a constant beyond the greatest numbers of the format. Without
    any limit the result is x itself.
    """
    # A limit beyond the numbers of the format limits nothing. Exporters write those of float32.
    most = greatest(FORMATS[values.graph.form])
    if low is not None and low.array is not None and np.all(low.array < -most):
        low = None
    if high is not None and high.array is not None and np.all(high.array > most):
        high = None
    if high is None and low is not None and low.array is not None and not np.any(low.array):
        return unary(values, "relu", x, name)
    if low is not None:
        x = binary(values, "max", x, low, f"{name}_raised" if high else name)
    return x if high is None else binary(values, "min", x, high, name)


def _over_axes(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of ReduceMax or ReduceMin."""
    x, name = required(inputs, 0), node.outputs[0]
    axes = axes_of(node, inputs)
    if not axes:
        return [x]
    keep = bool(node.attributes.get("keepdims", 1))
    return [over_axes(values, _FUNCTIONS[node.operator], x, axes, name, keep)]


def over_axes(
    values: Values, function: str, x: TaskValue, axes: Sequence[int], name: str, keep: bool = True
) -> TaskValue:
    """Return the maxima or minima of x over some axes, as `function` ("max" or "min") says.

    With `keep`, these axes stay in the result with length 1.
    """
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    count = math.prod(x.shape[axis] for axis in axes)
    places = places_of(x.shape).transpose(*axes, *rest).reshape(count, -1)
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    return extreme(
        values, function, x, places, sizes if keep else [x.shape[axis] for axis in rest], name
    )


def _global_maximum(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    x = required(inputs, 0)
    if len(x.shape) < 3 or not math.prod(x.shape):
        raise LowerError(f"an image of the shape {x.shape}")
    return [over_axes(values, "max", x, range(2, len(x.shape)), node.outputs[0])]


def _hard_sigmoid(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of HardSigmoid or HardSwish.

    HardSigmoid is alpha · x + beta, limited to 0 to 1. HardSwish is x times HardSigmoid(x).
    """
    x, name, attributes = required(inputs, 0), node.outputs[0], node.attributes
    swish = node.operator == "HardSwish"
    alpha, beta = (1 / 6, 0.5) if swish else (0.2, 0.5)
    factor = values.array(np.array(attributes.get("alpha", alpha), np.float64))
    addend = values.array(np.array(attributes.get("beta", beta), np.float64))
    line = binary(values, "mul", x, factor, f"{name}_scaled")
    line = binary(values, "add", line, addend, f"{name}_line")
    low, high = (values.array(np.array(number)) for number in (0.0, 1.0))
    share = clipped(values, line, low, high, f"{name}_share" if swish else name)
    return [binary(values, "mul", x, share, name) if swish else share]


EXTREMES = {
    "Clip": _clip,
    "GlobalMaxPool": _global_maximum,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_sigmoid,
    "Max": _of_operands,
    "Min": _of_operands,
    "ReduceMax": _over_axes,
    "ReduceMin": _over_axes,
}
