"""Computes the results of operations with NumPy, which lowered programs must equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import (
    fixed_point,
    round_half_even_shift,
    saturate,
    saturate_float,
    sigmoid,
)
from macaw.isa.config import Configuration
from macaw.lowering.convolution import Convolution
from macaw.lowering.convolution import reference as convolved
from macaw.lowering.operation import Product, Types

_CURVES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {"sigmoid": sigmoid, "tanh": np.tanh}


def result(product: Product, config: Configuration, x: NDArray[Any]) -> NDArray[Any]:
    """Return the results of a validated operation for activations of shape `product.shapes[0]`.

    Integers are exact unless a sum of products exceeds 64 bits. A result that is too large for the
    array's sums wraps or saturates, as `pe.overflow` says. The array also saturates sums on the way
    to a result. Floating-point sums are computed in double precision and rounded once, while the
    array rounds at every addition.
    """
    types, overflow = product.types(config), str(config["pe.overflow"])
    whole = np.int64 if np.dtype(types.sum).kind == "i" else np.float64
    sums = _products(product, x, whole)
    if product.bias is not None:
        sums = _added(sums, product.bias.astype(whole), overflow)
    sums = _in_range(sums, types.sum, overflow)
    return _in_layout(product, finish(product, types, sums))


def agrees(product: Product, config: Configuration, x: NDArray[Any], outputs: NDArray[Any]) -> bool:
    """Return whether the outputs of a lowered program equal `result` for the same activations.

    Floating-point outputs may differ by as much as the array's roundings can explain: it rounds
    each product and each sum to fp32.
    """
    expected = result(product, config, x)
    if expected.dtype.kind != "f":
        return bool(np.array_equal(outputs, expected))
    with np.errstate(all="ignore"):  # the operands may be infinite or no numbers
        sizes = _products(replace(product, weights=np.abs(product.weights)), np.abs(x), np.float64)
        if product.bias is not None:
            sizes = sizes + np.abs(product.bias)
        roundings = product.weights[0].size + 2  # of the products and sums of a result
        error = sizes * (roundings * np.finfo(np.float32).eps)
        error = _in_layout(product, np.ldexp(error, -(product.shift or 0)))
        error = error + 2 * np.spacing(np.abs(expected))
        near = np.abs(outputs.astype(np.float64) - expected) <= error
    return bool(np.all(near | (outputs == expected) | (np.isnan(outputs) & np.isnan(expected))))


def _products(product: Product, x: NDArray[Any], whole: type) -> NDArray[Any]:
    """Return the sums of products without the bias; `whole` is the type in which NumPy adds."""
    if isinstance(product, Convolution):
        return convolved(product, x, whole)
    sums: NDArray[Any] = x.astype(whole) @ product.weights.astype(whole).T
    return sums


def _in_layout(product: Product, results: NDArray[Any]) -> NDArray[Any]:
    """Return results with the order of axes that the product's results have."""
    if isinstance(product, Convolution) and product.out_layout != "hwc":
        return np.ascontiguousarray(results.swapaxes(-3, -1))
    return results


def _added(sums: NDArray[Any], bias: NDArray[Any], overflow: str) -> NDArray[Any]:
    """Return sums plus a bias; 64-bit sums saturate if `overflow` (`pe.overflow`) says so."""
    total: NDArray[Any] = sums + bias
    if overflow == "saturate" and total.dtype.kind == "i":
        limits = np.iinfo(total.dtype)
        wrapped = (sums ^ total) & (bias ^ total) < 0
        return np.where(wrapped, np.where(bias < 0, limits.min, limits.max), total)
    return total


def _in_range(sums: NDArray[Any], sum_type: str, overflow: str) -> NDArray[Any]:
    """Return sums as an array with sums of `sum_type` has them; `overflow` is `pe.overflow`."""
    dtype = np.dtype(sum_type)
    if overflow == "saturate":
        limits = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        return np.where(np.isfinite(sums), np.clip(sums, limits.min, limits.max), sums)
    return sums.astype(dtype).astype(sums.dtype) if dtype.kind == "i" else sums


def finish(product: Product, types: Types, sums: NDArray[Any]) -> NDArray[Any]:
    """Return sums after activation and requantisation; the last axis has the outputs."""
    shift, curve = product.shift, _CURVES.get(product.activation)
    if product.activation == "relu":
        sums = np.maximum(sums, 0)
    elif curve is not None and sums.dtype.kind == "i":
        assert shift is not None  # `validated` refuses these operations without a shift
        return np.asarray(
            fixed_point(curve, sums, shift, 8 * Types.size(types.result)).astype(types.result)
        )
    elif curve is not None:
        sums = np.asarray(curve(sums)).astype(types.sum).astype(sums.dtype)
    if product.scales is not None:
        steps = np.rint(sums.astype(np.float32) * product.scales)
        info = np.iinfo(types.result)
        sums = np.clip(steps, info.min, info.max)
    elif shift is not None and sums.dtype.kind == "i":
        sums = saturate(round_half_even_shift(sums, shift), 8 * Types.size(types.result))
    elif shift is not None:
        sums = saturate_float(np.ldexp(sums, -shift), types.result)
    if product.table is not None:
        sums = product.table[sums.astype(np.int64)]  # indexed by the byte of a number
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite
        return np.asarray(sums.astype(types.result))


def random_activations(product: Product, config: Configuration, seed: int) -> NDArray[Any]:
    """Return random activations, none of them zero, for measurements."""
    types = product.types(config)
    values = np.random.default_rng(seed).integers(1, 16, product.shapes[0])
    return values.astype(types.activation)
