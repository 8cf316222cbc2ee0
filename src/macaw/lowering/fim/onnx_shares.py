"""Expresses Softmax and LRN as tasks, which divide each number by a function of a sum."""

from __future__ import annotations

import math

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.onnx_composed import binary, exponential, sums, unary
from macaw.lowering.fim.onnx_extremes import over_axes
from macaw.lowering.fim.onnx_layers import matrix_products
from macaw.lowering.fim.onnx_values import Inputs, TaskValue, Values, required
from macaw.lowering.onnx.formulas import constants_of_lrn, roots_of_power
from macaw.lowering.onnx.graph import Node

# Since this operator set, Softmax is over one axis; before, it was also over all later ones.
_ONE_AXIS = 13


def _softmax(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of Softmax.

    The greatest number is subtracted from all numbers first. Then each exponential is divided by
    the sum of the exponentials.
    """
    x, name = required(inputs, 0), node.outputs[0]
    later = values.version < _ONE_AXIS
    axis = int(node.attributes.get("axis", 1 if later else -1)) % len(x.shape)
    axes = range(axis, len(x.shape)) if later else [axis]
    greatest = over_axes(values, "max", x, axes, f"{name}_greatest")
    lowered = binary(values, "sub", x, greatest, f"{name}_lowered")
    powers = exponential(values, lowered, f"{name}_powers")
    return [binary(values, "div", powers, sums(values, powers, axes, 1, f"{name}_sum"), name)]


def _lrn(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of LRN: x / (bias + alpha / size · sum of squares of some channels) ^ beta.

    The sums are a product with a matrix of ones near the diagonal. Numbers are scaled before they
    are squared, so that squares stay small.
    """
    x, name, size = required(inputs, 0), node.outputs[0], int(node.attributes["size"])
    factor, bias, beta = constants_of_lrn(node)
    roots = roots_of_power(beta)
    if len(x.shape) < 2:
        raise LowerError(f"an image of the shape {x.shape}")
    batch, channels, *image = x.shape
    scaled = binary(values, "mul", x, values.array(np.array(math.sqrt(factor))), f"{name}_scaled")
    squares = binary(values, "mul", scaled, scaled, f"{name}_squares")
    numbers = np.arange(channels)
    distance = numbers[None] - numbers[:, None]
    band = values.array(
        ((distance >= -((size - 1) // 2)) & (distance <= size // 2)).astype(np.float64)
    )
    flat = values.part(squares, 0, (batch, channels, math.prod(image)), f"{name}_flat")
    total = matrix_products(values, band, flat, f"{name}_sum")
    total = values.of_tensor(values.tensor(total, f"{name}_sum"), x.shape)
    base = binary(values, "add", total, values.array(np.array(bias)), f"{name}_base")
    divisor = None
    for count in roots:
        part = base
        for _ in range(count):
            part = unary(values, "vssqrt", part, f"{name}_root")
        divisor = part if divisor is None else binary(values, "mul", divisor, part, f"{name}_power")
    assert divisor is not None
    return [binary(values, "div", x, divisor, name)]


SHARES = {"LRN": _lrn, "Softmax": _softmax}
