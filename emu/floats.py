"""Host values, fp16 or fp32: what units of floating-point numbers do to two of them, rounded once.

All functions take and return arrays of one host type, of any shape. NaN has one form: positive,
quiet, nothing else set. (docs/numbers-nnp.md, "Host format".)
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Host = NDArray[np.floating[Any]]

HOST = {"fp16": np.float16, "fp32": np.float32}


@cache
def _all_wide() -> NDArray[np.float32]:
    """Every number of fp16 in binary32, by its bits."""
    with np.errstate(invalid="ignore"):
        wide = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    wide.flags.writeable = False
    return wide


def widened(values: Host) -> NDArray[np.float32]:
    """Host values in binary32. (A table is several times as fast as a conversion.)"""
    if values.dtype == np.float16:
        return _all_wide().take(np.ascontiguousarray(values).view(np.uint16))
    return values.astype(np.float32, copy=False)


def _integers(values: Host) -> NDArray[np.signedinteger[Any]]:
    """The bits as signed integers."""
    return np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}")


def _nans(bits: NDArray[np.signedinteger[Any]], dtype: DTypeLike) -> NDArray[np.bool_]:
    infinity = _integers(np.array(np.inf, dtype))
    return np.asarray(bits & np.iinfo(bits.dtype).max > infinity)


def _one_nan(values: Host) -> Host:
    """`values`, every NaN in the one form. Changes the array it is given."""
    values[_nans(_integers(values), values.dtype)] = np.nan
    return values


def _rounded(operation: np.ufunc, left: Host, right: Host) -> Host:
    """A sum, difference or product in binary32, then in the host type.

    Of fp16 operands that is one rounding: binary32 has more than twice their digits.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exact = operation(widened(left), widened(right))
        return _one_nan(np.asarray(exact).astype(left.dtype, copy=False))


def add(left: Host, right: Host) -> Host:
    """The sum, rounded once."""
    return _rounded(np.add, left, right)


def tree_sum(terms: Host) -> Host:
    """The sum along the last axis, of a power of two of terms: by adjacent pairs, each rounded."""
    rounded = terms
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        while rounded.shape[-1] > 1:
            wide = widened(rounded)
            exact = wide[..., 0::2] + wide[..., 1::2]
            rounded = np.asarray(exact).astype(terms.dtype, copy=False)
    return _one_nan(np.array(rounded))[..., 0]


def subtract(left: Host, right: Host) -> Host:
    """`left` - `right`, rounded once."""
    return _rounded(np.subtract, left, right)


def multiply(left: Host, right: Host) -> Host:
    """The product, rounded once."""
    return _rounded(np.multiply, left, right)


def maximum(left: Host, right: Host) -> Host:
    """IEEE 754-2019 `maximum`: NaN if one is NaN; +0 is greater than -0."""
    x, y = _integers(left), _integers(right)
    failed = _nans(x, left.dtype) | _nans(y, left.dtype)
    # With all but the sign of negative numbers turned round, bits are ordered as numbers are.
    larger: Host = _turned(np.maximum(_turned(x), _turned(y))).view(left.dtype)
    larger[failed] = np.nan
    return larger


def _turned(bits: NDArray[np.signedinteger[Any]]) -> NDArray[np.signedinteger[Any]]:
    size = np.iinfo(bits.dtype)
    return np.asarray(bits ^ (bits >> (size.bits - 1) & size.max))


def relu(values: Host) -> Host:
    """`maximum` of each element and +0."""
    bits = _integers(values)
    positive: Host = np.maximum(bits, 0).view(values.dtype)
    positive[_nans(bits, values.dtype)] = np.nan
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
