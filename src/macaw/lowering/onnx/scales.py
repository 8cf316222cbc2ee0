"""Chooses scales of symmetric integers: by the largest number, or by the least squared error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass

Function = Callable[[NDArray[Any]], NDArray[Any]]
METHODS = ("mse", "minmax")
KINDS = ("power-of-two", "real")  # kinds of scales
_STEPS = 60  # number of real scales that are tried, from the largest number down to a quarter of it
_SHIFTS = 5  # number of powers of two that are tried
_LEAST = 2.0**-60  # the least scale


@dataclass(frozen=True)
class ScaleRule:
    """How scales are chosen.

    `method` is "mse" (least squared error) or "minmax" (no number saturates). `kind` says whether
    scales are powers of two ("power-of-two") or any numbers ("real").
    """

    method: str = "mse"
    kind: str = "power-of-two"


def choose_scales(
    rows: NDArray[Any],
    largest: NDArray[Any],
    dtype: str,
    rule: ScaleRule,
    function: Function | None = None,
) -> NDArray[np.float32]:
    """Return the scale, in binary32, with which integers of `dtype` store each row of `rows`.

    `rows` has shape (scales, numbers). `largest` has the largest magnitude of each row, even if
    this number is not in `rows`. MinMax takes the least scale that saturates no number. MSE
    takes the scale with the least squared error of rounding and saturation together; it may
    saturate a few numbers. With `function`, the error is that of the function's results.
    """
    top = float(np.iinfo(dtype).max)
    full = np.maximum(np.asarray(largest, np.float64) / top, _LEAST)
    if rule.kind == "power-of-two":
        candidates = 2.0 ** (np.ceil(np.log2(full))[:, None] - np.arange(_SHIFTS))
    else:
        candidates = full[:, None] * np.linspace(1, 0.25, _STEPS)
    if rule.method == "minmax":
        return np.asarray(candidates[:, 0], np.float32)
    numbers = rows.astype(np.float32)
    # The result of a function may have more dimensions, from a constant of one element.
    exact = (function(numbers) if function else numbers).reshape(numbers.shape)
    errors = np.empty(candidates.shape)
    for place in range(candidates.shape[1]):
        scale = candidates[:, place, None].astype(np.float32)
        steps = np.clip(np.rint(numbers / scale), -top - 1, top)
        result = (function(steps * scale) if function else steps * scale).reshape(exact.shape)
        errors[:, place] = np.square((result - exact).astype(np.float64)).sum(1)
    best = np.argmin(errors, axis=1)  # the first of equal ones, which is the largest scale
    return np.asarray(candidates[np.arange(len(best)), best], np.float32)


def weight_scales(
    weights: NDArray[Any], axis: int | None, dtype: str, rule: ScaleRule
) -> NDArray[np.float32]:
    """Return the scale of weights in `dtype`: one number, or one for each index on `axis`."""
    rows = (
        weights.reshape(1, -1)
        if axis is None
        else np.moveaxis(weights, axis, 0).reshape(weights.shape[axis], -1)
    )
    scales = choose_scales(rows, np.abs(rows).max(1, initial=0), dtype, rule)
    return scales.reshape(()) if axis is None else scales


def widened(
    scales: NDArray[np.float32], input_scale: float, bias: NDArray[Any], power: bool
) -> NDArray[np.float32]:
    """Return weight scales, made larger where the bias would not fit 32 bits.

    With `power`, the larger scales are powers of two. The bias has the scale `input_scale · scale`.
    `bias` has one number for each scale, or several numbers for one scale.
    """
    rows = bias.reshape(len(bias) if scales.ndim else 1, -1).astype(np.float64)
    needed = np.abs(rows).max(1, initial=0) / (input_scale * (2.0**31 - 256))
    needed = needed.reshape(scales.shape)
    if power:
        needed = 2.0 ** np.ceil(np.log2(np.maximum(needed, _LEAST)))
    least = needed * (1 if power else 1 + 2.0**-20)  # rounding to binary32 must not make it smaller
    return np.asarray(np.maximum(scales, least), np.float32)


def decibels(signal: float, noise: float) -> float:
    """Return 10 · log10(signal / noise) of two sums of squares; infinite without noise."""
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0 else -math.inf
