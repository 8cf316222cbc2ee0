"""Integer arithmetic of layers: multipliers of scales, rounding, saturation, tables.

Each product and quotient of scales is rounded to binary32, as in onnxruntime:
f32(f32(sx · sw) / sy).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.onnx.network import Dequantisation, Output, Quantisation, Requantisation

Array = NDArray[Any]


def product_of_scales(a: Array | float, b: Array | float) -> NDArray[np.float32]:
    """Return the product of two scales, or arrays of scales, rounded once to binary32."""
    return np.asarray(np.float32(a) * np.asarray(b, np.float32), np.float32)


def quotient_of_scales(a: Array | float, b: float) -> NDArray[np.float32]:
    """Return the quotient a / b of scales, rounded once to binary32."""
    return np.asarray(np.asarray(a, np.float32) / np.float32(b), np.float32)


def quantise_array(x: Array, target: Quantisation, dtype: str) -> Array:
    """Return saturate(round(x / scale) + zero_point) in `dtype`; NaN gives the zero point.

    `target` has the scale and the zero point.
    """
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        steps = np.rint(x.astype(np.float32) / np.float32(target.scale))
    numbers = np.nan_to_num(steps.astype(np.float64), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    return np.asarray(np.clip(numbers + target.zero_point, info.min, info.max)).astype(dtype)


def dequantise_array(q: Array, source: Quantisation) -> NDArray[np.float32]:
    """Return the real numbers for which integers of `source` stand: f32(q - zero_point) · scale."""
    steps = (q.astype(np.int64) - source.zero_point).astype(np.float32)
    return np.asarray(steps * np.float32(source.scale), np.float32)


def requantisation(
    multipliers: Array | float,
    target: Quantisation,
    dtype: str,
    activation: tuple[float, float] | None = None,
) -> Requantisation:
    """Return the step that turns sums into integers of type `dtype`.

    The step limits the results to the range of an activation, a pair of real numbers (least,
    greatest). `target` has the scale and the zero point of the integers; they convert this range to
    integers.
    """
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    if activation is not None:
        bounds = quantise_array(np.asarray(activation, np.float32), target, dtype)
        low, high = max(low, int(bounds[0])), min(high, int(bounds[1]))
    numbers = np.asarray(multipliers, np.float32)
    return Requantisation(numbers, target.zero_point, low, high)


def dequantisation(
    multipliers: Array | float, activation: tuple[float, float] | None = None
) -> Dequantisation:
    """Return the step that turns sums into real numbers, limited to the range of an activation."""
    low, high = activation or (-math.inf, math.inf)
    return Dequantisation(np.asarray(multipliers, np.float32), low, high)


def finish(sums: Array, output: Output, axis: int, dtype: str) -> Array:
    """Return the results of sums, as `output` says: requantised to `dtype`, or real numbers.

    `axis` is the dimension of the channels, to which an array of multipliers belongs.
    """
    numbers = output.multipliers
    if numbers.ndim == 1:
        shape = [1] * sums.ndim
        shape[axis] = -1
        numbers = numbers.reshape(shape)
    real = sums.astype(np.float32) * numbers
    if isinstance(output, Dequantisation):
        return np.asarray(np.clip(real, np.float32(output.low), np.float32(output.high)))
    # The first limits are below those of int64, so that adding the zero point cannot overflow.
    steps = np.clip(np.rint(real), -(2.0**62), 2.0**62).astype(np.int64)
    return np.asarray(np.clip(steps + output.zero_point, output.low, output.high)).astype(dtype)
