"""Functions of elements, sums over axes, and norms.

Each operation rounds to the element type of its operands. In binary32, sigmoid, tanh, erf, Gelu,
Swish and the exponential follow the steps of `macaw.lowering.onnx.formulas`. Softmax and
LayerNormalization add along the last axes in the same order as the SIMD core vc. Other
transcendental functions are computed in binary64 and rounded once, so that every machine gives the
same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx import formulas
from macaw.lowering.onnx.graph import Node

Array = NDArray[Any]
Arrays = Sequence[Array | None]
Operator = Callable[[Node, Arrays], list[Array]]


def first(arrays: Arrays, place: int = 0) -> Array:
    """Return input number `place` of a node. Raises `LowerError` if the node leaves it out."""
    array = arrays[place] if place < len(arrays) else None
    if array is None:
        raise LowerError(f"its input {place} is missing")
    return array


def optional(arrays: Arrays, place: int) -> Array | None:
    """Return input number `place` of a node, or None if the node leaves it out."""
    return arrays[place] if place < len(arrays) else None


def _curve(function: Callable[[Array], Array]) -> Operator:
    """Return the operator that applies `function` to each element.

    The operator computes in binary64, and rounds each result once to the type of the input. If the
    input is binary32 and `_STEPS` has steps for the node's operator, the operator executes these
    steps instead.
    """

    def operator(node: Node, arrays: Arrays) -> list[Array]:
        x = first(arrays)
        steps = _STEPS.get(node.operator)
        if steps is not None and x.dtype == np.float32:
            return [formulas.evaluate(steps, x)]
        return [np.asarray(function(x.astype(np.float64))).astype(x.dtype)]

    return operator


def _one(function: Callable[[Array], Any]) -> Operator:
    return lambda _node, arrays: [np.asarray(function(first(arrays)))]


def _two(function: Callable[[Array, Array], Any]) -> Operator:
    return lambda _node, arrays: [np.asarray(function(first(arrays), first(arrays, 1)))]


def _chain(function: Callable[[Array, Array], Any]) -> Operator:
    """Return the operator that combines all inputs by a function f of two arguments.

    From left to right, the result for three inputs is f(f(a, b), c).
    """

    def operator(_node: Node, arrays: Arrays) -> list[Array]:
        result = first(arrays)
        for other in arrays[1:]:
            if other is not None:
                result = np.asarray(function(result, other))
        return [result]

    return operator


def _parameters(function: Callable[..., Any], **defaults: float) -> Operator:
    """Return the operator of a function of x and attributes, whose defaults are `defaults`."""

    def operator(node: Node, arrays: Arrays) -> list[Array]:
        x = first(arrays)
        numbers = {
            name: x.dtype.type(node.attributes.get(name, value)) for name, value in defaults.items()
        }
        return [np.asarray(function(x, **numbers)).astype(x.dtype)]

    return operator


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) in binary64, without overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))


def erf(x: Array) -> Array:
    """Return the error function in binary64.

    The series 2/sqrt(pi) · exp(-x²) · sum of 2^n x^(2n+1) / (1·3·5···(2n+1)) has only positive
    terms. For |x| >= 6, the result is 1 or -1 in binary64.
    """
    size = np.minimum(np.abs(x), 6.0)
    term = total = size.copy()
    for n in range(1, 160):
        term = term * (2 * size * size / (2 * n + 1))
        total = total + term
    return np.asarray(np.copysign(2 / math.sqrt(math.pi) * np.exp(-size * size) * total, x))


def exponential(x: Array) -> Array:
    """Return exp(x) in the type of x.

    In binary32 the result is that of the SIMD core vc; otherwise exp(x) is computed in binary64 and
    rounded once.
    """
    if x.dtype == np.float32:
        return formulas.evaluate(formulas.EXP, x)
    return np.asarray(np.exp(x.astype(np.float64))).astype(x.dtype)


def hard_sigmoid(x: Array, alpha: Any, beta: Any) -> Array:
    """Return max(0, min(1, alpha · x + beta)), each step rounded to the type of x."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    return np.asarray(np.fmax(zero, np.fmin(one, alpha * x + beta)))


def _hard_swish(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    return [x * hard_sigmoid(x, x.dtype.type(1 / 6), x.dtype.type(0.5))]


def _swish(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    alpha = x.dtype.type(node.attributes.get("alpha", 1.0))
    if x.dtype == np.float32:
        return [formulas.evaluate(formulas.swish(float(alpha)), x)]
    return [x * sigmoid((alpha * x).astype(np.float64)).astype(x.dtype)]


def _gelu(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    kind = x.dtype.type
    steps = formulas.formula(node, {}) if x.dtype == np.float32 else None
    if steps is not None:
        return [formulas.evaluate(steps, x)]
    if node.attributes.get("approximate", "none") == "tanh":
        inner = kind(math.sqrt(2 / math.pi)) * (x + kind(0.044715) * (x * x * x))
        curve = np.tanh(inner.astype(np.float64)).astype(x.dtype)
    else:
        curve = erf((x / kind(math.sqrt(2))).astype(np.float64)).astype(x.dtype)
    return [kind(0.5) * x * (kind(1) + curve)]


def _mish(_node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    soft = np.logaddexp(0, x.astype(np.float64)).astype(x.dtype)
    return [x * np.tanh(soft.astype(np.float64)).astype(x.dtype)]


def _clip(_node: Node, arrays: Arrays) -> list[Array]:
    x, least, most = first(arrays), optional(arrays, 1), optional(arrays, 2)
    x = x if least is None else np.fmax(x, least)
    return [np.asarray(x if most is None else np.fmin(x, most))]


def _prelu(_node: Node, arrays: Arrays) -> list[Array]:
    x, slope = first(arrays), first(arrays, 1)
    return [np.where(x < 0, x * slope, x)]


def _cast(node: Node, arrays: Arrays) -> list[Array]:
    dtype = helper.tensor_dtype_to_np_dtype(node.attributes["to"])
    return [first(arrays).astype(dtype)]


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    if not np.all(b):
        raise LowerError("it divides a whole number by 0")
    signs = np.sign(a) * np.sign(b)  # division rounds towards zero
    return np.asarray(np.abs(a) // np.abs(b) * signs).astype(a.dtype)


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind != "f":
        return np.asarray(np.power(a.astype(np.float64), b)).astype(a.dtype)
    if b.size == 1 and b.reshape(-1)[0] == 2:
        return np.broadcast_to(a * a, np.broadcast_shapes(a.shape, b.shape))
    return np.asarray(np.power(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)


def _mod(node: Node, arrays: Arrays) -> list[Array]:
    a, b = first(arrays), first(arrays, 1)
    return [np.fmod(a, b) if node.attributes.get("fmod", 0) else np.mod(a, b)]


def _mean(_node: Node, arrays: Arrays) -> list[Array]:
    total = _chain(np.add)(_node, arrays)[0]
    return [np.asarray(total / total.dtype.type(len(arrays)))]


def _log_softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0, x))


# --- over axes ---


def _reduced(function: Callable[..., Any]) -> Operator:
    """Return the operator that reduces a tensor by `function`, for example to sums or means.

    It reduces the axes that the node's second input lists. Without this input it reduces all axes,
    or none if the attribute `noop_with_empty_axes` is not 0.
    """

    def operator(node: Node, arrays: Arrays) -> list[Array]:
        x, axes = first(arrays), optional(arrays, 1)
        keep = bool(node.attributes.get("keepdims", 1))
        if axes is not None and axes.size:
            chosen: tuple[int, ...] | None = tuple(int(axis) for axis in axes.reshape(-1))
        elif node.attributes.get("noop_with_empty_axes", 0):
            chosen = ()
        else:
            chosen = None
        return [np.asarray(function(x, chosen, keep)).astype(x.dtype)]

    return operator


def mean(x: Array, axes: tuple[int, ...] | None, keep: bool) -> Array:
    """Return the mean over axes: the sum, rounded, then divided by the count.

    With `keep`, the axes stay in the result with length 1.
    """
    total = total_of(np.add, x, axes, keep)
    count = x.size // max(total.size, 1)
    return _divide(total, np.asarray(count, x.dtype))


def total_of(function: np.ufunc, x: Array, axes: tuple[int, ...] | None, keep: bool) -> Array:
    """Return `x` with some axes, or all, reduced by `function`: add, fmax or fmin.

    With `keep`, the axes stay in the result with length 1. Floating-point numbers are reduced in
    the order of the SIMD core vc (`partial_results`).
    """
    chosen = range(x.ndim) if axes is None else [axis % x.ndim for axis in axes]
    if x.dtype.kind != "f" or not x.size or not chosen:
        return np.asarray(function.reduce(x, tuple(chosen), keepdims=keep, dtype=x.dtype))
    others = [axis for axis in range(x.ndim) if axis not in chosen]
    rows = x.transpose(*others, *sorted(chosen)).reshape(*(x.shape[axis] for axis in others), -1)
    found = partial_results(function, rows)[..., 0]
    return np.expand_dims(found, tuple(sorted(chosen))) if keep else found


def _total(function: np.ufunc) -> Operator:
    return _reduced(lambda x, axes, keep: total_of(function, x, axes, keep))


def _log_sum_exp(x: Array, axes: tuple[int, ...] | None, keep: bool) -> Array:
    wide = x.astype(np.float64)
    most = np.max(wide, axis=axes, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    total = np.log(np.sum(np.exp(wide - most), axis=axes, keepdims=True)) + most
    return np.asarray(total if keep else np.squeeze(total, axis=axes))


def _norm_2(x: Array, axes: tuple[int, ...] | None, keep: bool) -> Array:
    return np.asarray(np.sqrt(np.sum(x * x, axis=axes, keepdims=keep, dtype=x.dtype)))


def _extreme_place(function: Callable[..., Any]) -> Operator:
    """Return the operator ArgMax or ArgMin for NumPy's `argmax` or `argmin`."""

    def operator(node: Node, arrays: Arrays) -> list[Array]:
        x, axis = first(arrays), int(node.attributes.get("axis", 0))
        if node.attributes.get("select_last_index", 0):
            places = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis, keepdims=True)
        else:
            places = function(x, axis=axis, keepdims=True)
        keep = node.attributes.get("keepdims", 1)
        return [np.asarray(places if keep else np.squeeze(places, axis)).astype(np.int64)]

    return operator


# The start of partial results, by the name of the function without the f of fmax and fmin.
STARTS = {"add": 0.0, "max": -np.inf, "min": np.inf}


def row_sums(rows: Array) -> Array:
    """Return the sums over the last axis, which gets the length 1.

    The numbers are added in the order of the SIMD core vc (`partial_results`).
    """
    return partial_results(np.add, rows)


def partial_results(function: np.ufunc, rows: Array) -> Array:
    """Return `rows` with the last axis reduced to length 1, in the order of the SIMD core vc.

    `function` is add, fmax or fmin. There are four partial results: of the elements whose index
    modulo 4 is 0, 1, 2 and 3. They start at 0, -infinity or infinity. The result reduces these
    four, in this order.
    """
    start = STARTS[function.__name__.removeprefix("f")]
    count = rows.shape[-1]
    whole = np.full((*rows.shape[:-1], 4 + count + -count % 4), start, rows.dtype)
    whole[..., 4 : 4 + count] = rows
    parts = whole.reshape(*rows.shape[:-1], -1, 4)
    four = function.accumulate(parts, -2, dtype=rows.dtype)[..., -1, :]
    return np.asarray(function.accumulate(four, -1, dtype=rows.dtype)[..., -1:])


def softmax(x: Array, axis: int) -> Array:
    """Return exp(x - max) / sum along an axis; each of the four steps is rounded."""
    rows = np.moveaxis(x, axis, -1)
    if not rows.size:
        return x
    powers = exponential(np.asarray(rows - np.max(rows, axis=-1, keepdims=True)))
    return np.moveaxis(np.asarray(powers / row_sums(powers)), -1, axis)


def _softmax(node: Node, arrays: Arrays) -> list[Array]:
    return [softmax(first(arrays), int(node.attributes.get("axis", -1)))]


def _log_softmax(node: Node, arrays: Arrays) -> list[Array]:
    x, axis = first(arrays), int(node.attributes.get("axis", -1))
    less = np.asarray(x - np.max(x, axis=axis, keepdims=True))
    total = np.sum(exponential(less), axis=axis, keepdims=True, dtype=x.dtype)
    return [less - np.log(total.astype(np.float64)).astype(x.dtype)]


def _layer_normalization(node: Node, arrays: Arrays) -> list[Array]:
    x, scale, bias = first(arrays), first(arrays, 1), optional(arrays, 2)
    axis = int(node.attributes.get("axis", -1)) % x.ndim
    rows = x.reshape(*x.shape[:axis], -1)
    count = x.dtype.type(rows.shape[-1])
    middle = row_sums(rows) / count
    less = rows - middle
    spread = row_sums(less * less) / count
    root = np.sqrt(spread + x.dtype.type(node.attributes.get("epsilon", 1e-5)))
    y = (less / root).reshape(x.shape) * scale
    ones = (*x.shape[:axis], *(1,) * (x.ndim - axis))
    inverse = np.asarray(x.dtype.type(1) / root)
    results = [y if bias is None else y + bias, middle.reshape(ones), inverse.reshape(ones)]
    return results[: len(node.outputs)]


def _batch_normalization(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    if node.attributes.get("training_mode", 0) or len(node.outputs) > 1:
        raise LowerError("training is not supported")
    shape = (1, -1) + (1,) * (x.ndim - 2)
    scale, bias, middle, spread = (first(arrays, place).reshape(shape) for place in range(1, 5))
    root = np.sqrt(spread + spread.dtype.type(node.attributes.get("epsilon", 1e-5)))
    return [((x - middle) / root * scale + bias).astype(x.dtype)]


def _instance_normalization(node: Node, arrays: Arrays) -> list[Array]:
    x = first(arrays)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    scale, bias = first(arrays, 1).reshape(shape), first(arrays, 2).reshape(shape)
    axes = tuple(range(2, x.ndim))
    less = x - mean(x, axes, True)
    root = np.sqrt(
        mean(less * less, axes, True) + x.dtype.type(node.attributes.get("epsilon", 1e-5))
    )
    return [less / root * scale + bias]


def _lrn(node: Node, arrays: Arrays) -> list[Array]:
    """Return the local response normalisation over neighbouring channels.

    A second input has the sums of squares, if other layers compute them. In binary32 the quotient
    follows the steps of `formulas.quotient_of_lrn`, unless there are none for the exponent.
    """
    factor, bias, beta = formulas.constants_of_lrn(node)
    x, total = first(arrays), optional(arrays, 1)
    size, kind = int(node.attributes["size"]), x.dtype.type
    if total is None:
        before, channels = (size - 1) // 2, x.shape[1]
        squares = np.zeros((x.shape[0], channels + size - 1, *x.shape[2:]), x.dtype)
        squares[:, before : before + channels] = x * x
        total = squares[:, :channels]
        for step in range(1, size):
            total = total + squares[:, step : step + channels]
    steps = formulas.quotient_of_lrn(node)
    if steps is not None and x.dtype == np.float32:
        return [formulas.evaluate(steps, x, total)]
    base = kind(bias) + kind(factor) * total
    return [x / np.power(base.astype(np.float64), np.float64(beta)).astype(x.dtype)]


def _where(_node: Node, arrays: Arrays) -> list[Array]:
    return [np.where(first(arrays), first(arrays, 1), first(arrays, 2))]


_CURVES: dict[str, Callable[[Array], Array]] = {
    "Exp": np.exp, "Log": np.log, "Erf": erf, "Sigmoid": sigmoid, "Tanh": np.tanh, "Sin": np.sin,
    "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Acosh": np.arccosh,
    "Atanh": np.arctanh, "Softplus": _log_softplus,
}  # fmt: skip
_STEPS = {
    "Exp": formulas.EXP, "Sigmoid": formulas.SIGMOID, "Tanh": formulas.TANH, "Erf": formulas.ERF,
}  # fmt: skip
ELEMENTWISE: dict[str, Operator] = {
    **{name: _curve(function) for name, function in _CURVES.items()},
    "Abs": _one(np.abs), "Neg": _one(np.negative), "Sqrt": _one(np.sqrt), "Floor": _one(np.floor),
    "Ceil": _one(np.ceil), "Round": _one(np.rint), "Sign": _one(np.sign),
    "Not": _one(np.logical_not), "Identity": _one(lambda x: x), "IsNaN": _one(np.isnan),
    "Reciprocal": _one(lambda x: x.dtype.type(1) / x),
    "Relu": _one(lambda x: np.fmax(x, x.dtype.type(0))),
    "Softsign": _one(lambda x: x / (x.dtype.type(1) + np.abs(x))),
    "HardSwish": _hard_swish, "Swish": _swish, "Gelu": _gelu, "Mish": _mish, "Clip": _clip,
    "HardSigmoid": _parameters(hard_sigmoid, alpha=0.2, beta=0.5),
    "LeakyRelu": _parameters(lambda x, alpha: np.where(x < 0, alpha * x, x), alpha=0.01),
    "ThresholdedRelu": _parameters(lambda x, alpha: np.where(x > alpha, x, 0), alpha=1.0),
    "Elu": _parameters(
        lambda x, alpha: np.where(x < 0, alpha * np.expm1(x.astype(np.float64)), x), alpha=1.0
    ),
    "Celu": _parameters(
        lambda x, alpha: np.where(x < 0, alpha * np.expm1(x.astype(np.float64) / alpha), x),
        alpha=1.0,
    ),
    "Selu": _parameters(
        lambda x, alpha, gamma: gamma
        * np.where(x < 0, alpha * np.expm1(x.astype(np.float64)), x),
        alpha=1.67326319217681884765625, gamma=1.05070102214813232421875,
    ),
    "PRelu": _prelu, "Cast": _cast, "Add": _two(np.add), "Sub": _two(np.subtract),
    "Mul": _two(np.multiply), "Div": _two(_divide), "Pow": _two(_power), "Mod": _mod,
    "Max": _chain(np.fmax), "Min": _chain(np.fmin), "Sum": _chain(np.add), "Mean": _mean,
    "Equal": _two(np.equal), "Greater": _two(np.greater), "Less": _two(np.less),
    "GreaterOrEqual": _two(np.greater_equal), "LessOrEqual": _two(np.less_equal),
    "And": _two(np.logical_and), "Or": _two(np.logical_or), "Xor": _two(np.logical_xor),
    "Where": _where,
    "ReduceSum": _total(np.add),
    "ReduceMean": _reduced(mean),
    "ReduceMax": _total(np.fmax), "ReduceMin": _total(np.fmin),
    "ReduceProd": _reduced(lambda x, axes, keep: np.prod(x, axes, keepdims=keep, dtype=x.dtype)),
    "ReduceL1": _reduced(lambda x, axes, keep: np.sum(np.abs(x), axes, keepdims=keep)),
    "ReduceL2": _reduced(_norm_2),
    "ReduceSumSquare": _reduced(lambda x, axes, keep: np.sum(x * x, axes, keepdims=keep)),
    "ReduceLogSumExp": _reduced(_log_sum_exp),
    "ArgMax": _extreme_place(np.argmax), "ArgMin": _extreme_place(np.argmin),
    "Softmax": _softmax, "LogSoftmax": _log_softmax,
    "LayerNormalization": _layer_normalization, "BatchNormalization": _batch_normalization,
    "InstanceNormalization": _instance_normalization, "LRN": _lrn,
}  # fmt: skip
