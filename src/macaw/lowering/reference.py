"""Results of operations by NumPy, which lowered programs must equal element for element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import round_half_even_shift, saturate, saturate_float
from macaw.isa.config import Configuration
from macaw.lowering.convolution import Convolution
from macaw.lowering.convolution import reference as convolved
from macaw.lowering.operation import Product, Types


def result(product: Product, config: Configuration, x: NDArray[Any]) -> NDArray[Any]:
    """O of a checked operation for its activations (`Product.shapes`).

    Integers are exact as long as no sum leaves 64 bits. Floating sums are taken in double precision
    and rounded once, which the array does at every addition.
    """
    types = product.types(config)
    whole = np.int64 if np.dtype(types.sum).kind == "i" else np.float64
    if isinstance(product, Convolution):
        sums = convolved(product, x, whole)
    else:
        sums = x.astype(whole) @ product.weights.astype(whole).T
    if product.bias is not None:
        sums = sums + product.bias.astype(whole)
    results = finished(product.activation, product.shift, types, sums)
    swaps_axes = isinstance(product, Convolution) and product.out_layout != "hwc"
    return np.ascontiguousarray(results.T) if swaps_axes else results


def finished(activation: str, shift: int | None, types: Types, sums: NDArray[Any]) -> NDArray[Any]:
    """Sums through activation and requantisation."""
    if activation == "relu":
        sums = np.maximum(sums, 0)
    if shift is not None and sums.dtype.kind == "i":
        sums = saturate(round_half_even_shift(sums, shift), 8 * Types.size(types.operand))
    elif shift is not None:
        sums = saturate_float(np.ldexp(sums, -shift), types.operand)
    return np.asarray(sums.astype(types.result))


def random_activations(product: Product, config: Configuration, seed: int) -> NDArray[Any]:
    """Activations for measuring, without zeros."""
    types = product.types(config)
    values = np.random.default_rng(seed).integers(1, 16, product.shapes[0])
    return values.astype(types.operand)
