"""Host values, fp16 or fp32: what the multi-function units do to two of them, rounded once.

All functions take and return arrays of one host type, of any shape. NaN has one form: positive,
quiet, nothing else set. (docs/numbers-nnp.md, "Host format".)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Host = NDArray[np.floating[Any]]

HOST = {"fp16": np.float16, "fp32": np.float32}


def _one_nan(values: Host) -> Host:
    """`values`, every NaN in the one form. Changes the array it is given."""
    values[np.isnan(values)] = np.nan
    return values


def add(left: Host, right: Host) -> Host:
    """The sum, rounded once."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _one_nan(np.asarray(left + right))


def subtract(left: Host, right: Host) -> Host:
    """`left` - `right`, rounded once."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _one_nan(np.asarray(left - right))


def multiply(left: Host, right: Host) -> Host:
    """The product, rounded once."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _one_nan(np.asarray(left * right))


def maximum(left: Host, right: Host) -> Host:
    """IEEE 754-2019 `maximum`: NaN if one is NaN; +0 is greater than -0."""
    with np.errstate(over="ignore", invalid="ignore"):
        zeros = (left == 0) & (right == 0)
        # Of two zeros the sum is -0 only if both are.
        return _one_nan(np.where(zeros, left + right, np.maximum(left, right)))


def relu(values: Host) -> Host:
    """`maximum` of each element and +0."""
    positive = np.where(values > 0, values, values.dtype.type(0))
    positive[np.isnan(values)] = np.nan
    return positive


def to_host(exact: NDArray[np.floating[Any]], dtype: DTypeLike) -> Host:
    """Exact values rounded once to the host type, to infinity beyond its numbers."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(exact).astype(dtype)


def round_fraction(value: Fraction, dtype: DTypeLike) -> np.floating[Any]:
    """A positive fraction rounded once to a host number: half to even, infinity if too large.

    For the few values that nothing faster decides.
    """
    limits = np.finfo(np.dtype(dtype))
    # 2**(top - 1) < value < 2**(top + 1): one place too coarse is put right below.
    top = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** top:
        top -= 1
    place = Fraction(2) ** (max(top, int(limits.minexp)) - int(limits.nmant))
    rounded = round(value / place) * place
    with np.errstate(over="ignore"):
        host: np.floating[Any] = limits.dtype.type(float(rounded))
    return host
