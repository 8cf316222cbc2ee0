"""Computes the results of operations with NumPy; lowered programs must equal them exactly."""

from __future__ import annotations

from collections.abc import Callable
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

    Integers are exact unless a sum exceeds 64 bits. A result that is too large for the array's sums
    wraps or saturates, as `pe.overflow` says. The array also saturates sums on the way to a result.
    Floating-point sums are computed in double precision and rounded once, while the array rounds at
    every addition.
    """
    types = product.types(config)
    whole = np.int64 if np.dtype(types.sum).kind == "i" else np.float64
    if isinstance(product, Convolution):
        sums = convolved(product, x, whole)
    else:
        sums = x.astype(whole) @ product.weights.astype(whole).T
    if product.bias is not None:
        sums = sums + product.bias.astype(whole)
    sums = _in_range(sums, types.sum, str(config["pe.overflow"]))
    results = finish(product, types, sums)
    swaps_axes = isinstance(product, Convolution) and product.out_layout != "hwc"
    if swaps_axes:
        results = np.ascontiguousarray(results.swapaxes(-3, -1))
    return results


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
