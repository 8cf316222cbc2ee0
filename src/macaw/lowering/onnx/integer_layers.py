"""Layers on integers, made from nodes whose inputs are dequantised, by a rule for each kind of
node.

A rule takes the node, its operands, and the tensor of its result. The rule returns None if it has
no formula for the node, which then stays floating-point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.accumulators import check_accumulators
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import (
    Dequantisation,
    Layer,
    MoveLayer,
    PoolLayer,
    ProductLayer,
    Requantisation,
    SumLayer,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.operators.images import counts
from macaw.lowering.onnx.patterns import parts
from macaw.lowering.onnx.requantise import (
    dequantisation,
    product_of_scales,
    quotient_of_scales,
    requantisation,
)
from macaw.lowering.onnx.values import by_channel
from macaw.lowering.onnx.views import QuantisedConstant, View
from macaw.lowering.onnx.window import Window, transposed_window, window_of

INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Operand:
    """An input of a node, which has one of three forms.

    It is a tensor of integers (`view`), a quantised constant (`constant`), or another constant
    (`array`).
    """

    name: str
    shape: tuple[int, ...]
    view: View | None = None
    constant: QuantisedConstant | None = None
    array: NDArray[Any] | None = None


Operands = Sequence[Operand | None]
Rule = Callable[[Node, Operands, Tensor], Layer | None]


def _activation(node: Node) -> tuple[float, float] | None:
    found: tuple[float, float] | None = node.attributes.get("activation_range")
    return found


def _output(
    node: Node, multipliers: NDArray[Any], result: Tensor
) -> Requantisation | Dequantisation:
    """Return the step that turns a layer's sums into its result, integers or real numbers.

    `multipliers` is the product of both operands' scales.
    """
    if result.quantisation is None:
        return dequantisation(multipliers, _activation(node))
    numbers = quotient_of_scales(multipliers, result.quantisation.scale)
    return requantisation(numbers, result.quantisation, result.dtype, _activation(node))


# --- weights ---


def weight_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer for a Conv, ConvTranspose, Gemm or MatMul with constant weights.

    Returns None for a node without constant weights, and for scales, biases or attributes for which
    there is no formula.
    """
    x, w = operands[0], operands[1]
    if x is None or w is None or x.view is None or w.constant is None:
        return None
    attributes = node.attributes
    plain = all(attributes.get(name, 1.0) == 1.0 for name in ("alpha", "beta"))
    if attributes.get("transA", 0) or not plain:
        return None
    groups = int(attributes.get("group", 1))
    arranged = _arranged(node, w.constant, groups)
    if arranged is None:
        return None
    numbers, scales = arranged
    outputs = numbers.shape[1] * groups if node.operator == "ConvTranspose" else len(numbers)
    multipliers = product_of_scales(x.view.quantisation.scale, scales)
    bias = _bias(operands[2] if len(operands) > 2 else None, multipliers, outputs)
    if bias is None:
        return None
    dtype = "int8" if -128 <= numbers.min(initial=0) <= numbers.max(initial=0) <= 127 else "int16"
    weights = numbers.astype(dtype)
    if np.any(weights != numbers):
        raise LowerError("its weights, minus their zero points, do not fit 16 bits")
    zero, window = x.view.quantisation.zero_point, None
    rows = weights.reshape(outputs, -1)
    if node.operator == "Conv":
        window = window_of(attributes, x.shape[2:], weights.shape[2:])
    elif node.operator == "ConvTranspose":
        window, _ = transposed_window(attributes, x.shape[2:], weights.shape[2:])
        rows = _rows_of_transposed(weights, groups)
    if node.operator != "ConvTranspose":
        bias = bias - zero * rows.astype(np.int64).sum(1)
    accumulator = "int32" if (x.view.dtype, dtype) == ("int8", "int8") else "int64"
    wide = "int16" if node.operator == "ConvTranspose" and zero else x.view.dtype
    check_accumulators(rows, bias, wide, accumulator)
    return WeightLayer(
        node.label, node.operator, (x.view.tensor,), (result.name,), parts(node),
        weights=weights, bias=bias, output=_output(node, multipliers, result),
        accumulator=accumulator, window=window, groups=groups, input_zero=zero,
    )  # fmt: skip


def _arranged(
    node: Node, constant: QuantisedConstant, groups: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]] | None:
    """Return the constant weights of a node, and their scales: one, or one for each output.

    The first axis of the weights counts outputs, except that the weights of a ConvTranspose keep
    ONNX's axes (channels, outputs / groups, ...). Returns None if the scales belong to an axis that
    does not count outputs, and for weights of a Gemm or MatMul that are not a matrix.
    """
    numbers, scales, axis = constant.numbers, constant.scales, 0
    if node.operator == "ConvTranspose":
        axis = 1
    elif node.operator in ("Gemm", "MatMul"):
        if numbers.ndim != 2:
            return None
        axis = 0 if node.attributes.get("transB", 0) else 1
    if scales.ndim and constant.axis != axis:
        return None
    if node.operator == "ConvTranspose":
        return numbers, np.tile(scales, groups) if scales.ndim else scales
    return (numbers.T if axis == 1 else numbers), scales


def _rows_of_transposed(weights: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return the weights of a ConvTranspose in shape (outputs, weights of an output).

    A sum of an output uses a subset of these weights.
    """
    each = weights.reshape(groups, -1, *weights.shape[1:])
    return np.moveaxis(each, 2, 1).reshape(groups * weights.shape[1], -1)


def _bias(
    operand: Operand | None, multipliers: NDArray[np.float32], outputs: int
) -> NDArray[np.int64] | None:
    """Return the bias `operand` as integers in units of `multipliers`, of shape (outputs,).

    The result is None if the bias is not one constant for each output.
    """
    if operand is None:
        return np.zeros(outputs, np.int64)
    constant = operand.constant
    array = operand.array if constant is None else constant.numbers
    numbers = None if array is None else by_channel(array, outputs)
    if numbers is None:
        return None
    if constant is None:
        numbers = _steps(numbers.astype(np.float64), multipliers)
    elif not np.allclose(constant.scales, multipliers, rtol=1e-6, atol=0):
        numbers = _steps(numbers.astype(np.float64) * constant.scales, multipliers)
    if numbers.size and not INT32.min <= numbers.min() <= numbers.max() <= INT32.max:
        raise LowerError("its bias does not fit 32 bits", "larger scales")
    return numbers.astype(np.int64)


def _steps(real: NDArray[np.float64], scales: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return real numbers in units of `scales`, rounded half to even."""
    steps = np.rint(real / scales.astype(np.float64))
    if not np.all(np.abs(steps) < 2.0**62):
        raise LowerError("its bias does not fit 32 bits", "larger scales")
    return np.asarray(steps.astype(np.int64))


# --- two tensors ---


def product_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer for a Mul or MatMul of two tensors of integers; None for other operands."""
    if len(operands) != 2 or result.quantisation is None:
        return None
    a, b = operands
    if a is None or b is None or a.view is None or b.view is None:
        return None
    sources = a.view.quantisation, b.view.quantisation
    multipliers = product_of_scales(sources[0].scale, sources[1].scale)
    return ProductLayer(
        node.label, node.operator, (a.view.tensor, b.view.tensor), (result.name,), parts(node),
        zeros=(sources[0].zero_point, sources[1].zero_point),
        output=_output(node, multipliers, result),
    )  # fmt: skip


def matmul_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer for a MatMul with constant weights, or of two tensors of integers.

    Returns None for other operands, or if there is no formula.
    """
    found = weight_layer(node, operands, result)
    return found or product_layer(node, operands, result)


def sum_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer for an Add, Sub or Sum of tensors of integers; None for other operands."""
    if result.quantisation is None:
        return None
    sources = [operand.view for operand in operands if operand and operand.view]
    if len(sources) != len(operands):
        return None
    scale = result.quantisation.scale
    multipliers = [float(quotient_of_scales(x.quantisation.scale, scale)) for x in sources]
    if node.operator == "Sub":
        multipliers[1] = -multipliers[1]
    return SumLayer(
        node.label, node.operator, tuple(x.tensor for x in sources), (result.name,), parts(node),
        zeros=tuple(x.quantisation.zero_point for x in sources), multipliers=tuple(multipliers),
        output=requantisation(1.0, result.quantisation, result.dtype, _activation(node)),
    )  # fmt: skip


# --- pools ---


def pool_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer for a maximum or a mean of integers, over windows or axes.

    Returns None if the node cannot be computed on integers, for example because its input is not
    stored as integers, or because its axes are not constant.
    """
    x = operands[0]
    if x is None or x.view is None or any(node.outputs[1:]):
        return None
    source, maximum = x.view.quantisation, "Max" in node.operator
    if result.quantisation is None:
        return None
    window: Window | None = None
    axes: tuple[int, ...] = ()
    number: NDArray[np.int64] = np.asarray(1)
    if node.operator.startswith("Global"):
        axes = tuple(range(2, len(x.shape)))
    elif node.operator == "ReduceMean":
        chosen = operands[1].array if len(operands) > 1 and operands[1] else None
        if len(operands) > 1 and operands[1] and chosen is None:
            return None
        every = chosen is None or not chosen.size
        if every and node.attributes.get("noop_with_empty_axes", 0):
            return None
        places = range(len(x.shape)) if chosen is None or every else chosen.reshape(-1)
        axes = tuple(sorted(int(axis) % len(x.shape) for axis in places))
    else:
        window = window_of(node.attributes, x.shape[2:], node.attributes["kernel_shape"])
        if not maximum:
            with_padding = bool(node.attributes.get("count_include_pad", 0))
            number = counts(window, x.shape[2:], with_padding)
            number = number.reshape(-1)[0] if np.all(number == number.reshape(-1)[0]) else number
    if axes:
        number = np.asarray(math.prod(x.shape[axis] for axis in axes))
    ratio = quotient_of_scales(source.scale, result.quantisation.scale)
    output: Requantisation | None = None
    if not maximum:
        multipliers = np.asarray(ratio / np.asarray(number, np.float32), np.float32)
        output = requantisation(multipliers, result.quantisation, result.dtype)
    elif (x.view.dtype, source) != (result.dtype, result.quantisation):
        output = requantisation(ratio, result.quantisation, result.dtype)
    keep = node.operator != "ReduceMean" or bool(node.attributes.get("keepdims", 1))
    return PoolLayer(
        node.label, node.operator, (x.view.tensor,), (result.name,), parts(node),
        output=output, window=window, axes=axes, keep=keep, input_zero=source.zero_point,
    )  # fmt: skip


# --- movement ---


def movement(node: Node, operands: Operands, result: Tensor) -> MoveLayer:
    """Return the layer of a node that moves integers, such as a Transpose or a Concat.

    Operands that are not tensors of integers, such as the indices of a Gather, must be constants.
    """
    assert result.quantisation is not None
    names, rescales, zeros = [], [], []
    for operand in operands:
        view = operand.view if operand else None
        names.append(view.tensor if view else operand.name if operand else "")
        rescale, zero = None, 0
        if view and (view.dtype, view.quantisation) != (result.dtype, result.quantisation):
            ratio = quotient_of_scales(view.quantisation.scale, result.quantisation.scale)
            rescale = requantisation(ratio, result.quantisation, result.dtype)
            zero = view.quantisation.zero_point
        rescales.append(rescale)
        zeros.append(zero)
    moved = replace(node, inputs=tuple(names), outputs=(result.name,), proto=None)
    return MoveLayer(
        node.label, node.operator, tuple(names), (result.name,), parts(node),
        node=moved, rescales=tuple(rescales), zeros=tuple(zeros),
    )  # fmt: skip


def interpolates(node: Node) -> bool:
    """Return whether a node is a Resize that computes new numbers."""
    return node.operator == "Resize" and node.attributes.get("mode", "nearest") != "nearest"


def adds_numbers(node: Node, arrays: Sequence[NDArray[Any] | None]) -> bool:
    """Return whether a Pad adds numbers that are neither 0 nor copies of its input's numbers.

    `arrays` has the constants among the inputs of the node.
    """
    fill = arrays[2] if len(arrays) > 2 else None
    constant = node.attributes.get("mode", "constant") == "constant"
    return constant and fill is not None and bool(fill.any())


def movement_layer(node: Node, operands: Operands, result: Tensor) -> Layer | None:
    """Return the layer of a node that moves the integers of its first input, or of all (Concat).

    Returns None if these inputs are not integers, if another input is not constant, or if the node
    computes new numbers, as a Resize that interpolates does.
    """
    if result.quantisation is None or len(node.outputs) != 1:
        return None
    data = operands if node.operator == "Concat" else operands[:1]
    others = [] if node.operator == "Concat" else operands[1:]
    if any(operand is None or operand.view is None for operand in data):
        return None
    if any(operand and operand.array is None for operand in others):
        return None
    if interpolates(node):
        return None
    if node.operator == "Pad":
        if adds_numbers(node, [operand.array if operand else None for operand in operands]):
            return None
        zero = Operand(f"{node.key}_fill", (), array=np.asarray(0))
        rest = [*operands[1:2], zero, *operands[3:]]
        return movement(node, [operands[0], *rest], result)
    return movement(node, operands, result)


_MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean")
_MAXIMA = ("MaxPool", "GlobalMaxPool")
KEEPING = (  # an output without QuantizeLinear has the integers and the scale of the input
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Expand", "Tile", "Gather",
    "GatherElements", "Pad", "DepthToSpace", "SpaceToDepth", "Identity", "Resize", *_MAXIMA,
)  # fmt: skip
FLOAT_RESULT = ("Conv", "ConvTranspose", "Gemm", "MatMul")  # the result may be real numbers
RULES: dict[str, Rule] = {
    "Conv": weight_layer, "ConvTranspose": weight_layer, "Gemm": weight_layer,
    "MatMul": matmul_layer, "Mul": product_layer,
    "Add": sum_layer, "Sub": sum_layer, "Sum": sum_layer,
    **dict.fromkeys((*_MEANS, *_MAXIMA), pool_layer),
    **dict.fromkeys((name for name in KEEPING if name not in _MAXIMA), movement_layer),
    "Concat": movement_layer,
}  # fmt: skip
