"""Arithmetic of host values, which are fp16, fp32 or bf16 numbers: each result is rounded once.

The arithmetic functions take and return arrays of one host type and of any shape. The host type of
bf16 is `macaw.emu.bfloat16.BFLOAT16`. All NaNs in results have the same bits: positive, quiet, no
other bit set. (docs/numbers-nnp.md, "Host format".)
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu import bfloat16
from macaw.emu.bfloat16 import BFLOAT16

if TYPE_CHECKING:
    from fractions import Fraction

Host = NDArray[Any]

HOST = {"fp16": np.float16, "fp32": np.float32}


@cache
def _all_wide() -> NDArray[np.float32]:
    """Return an array of 65536 numbers: every fp16 number as binary32, indexed by its bits."""
    with np.errstate(invalid="ignore"):
        wide = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    wide.flags.writeable = False
    return wide


def widened(values: Host) -> NDArray[np.float32]:
    """Return host values as binary32 numbers of the same shape.

    fp16 values are looked up in a table, which is several times as fast as a conversion.
    """
    if values.dtype == np.float16:
        return _all_wide().take(np.ascontiguousarray(values).view(np.uint16))
    return bfloat16.numbers(values).astype(np.float32, copy=False)


def _integers(values: Host) -> NDArray[np.signedinteger[Any]]:
    """Return the bits of host values as signed integers of the same size."""
    return np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}")


@cache
def _infinity(dtype: np.dtype[Any]) -> int:
    """Return the bits of infinity; the bits of each positive NaN are greater."""
    if dtype == BFLOAT16:
        return bfloat16.INFINITY
    return int(_integers(np.array([np.inf], dtype))[0])


@cache
def _nan(dtype: np.dtype[Any]) -> int:
    """Return the bits of the one NaN that results may contain."""
    if dtype == BFLOAT16:
        return bfloat16.NAN
    return int(_integers(np.array([np.nan], dtype))[0])


def _magnitudes(values: Host) -> NDArray[np.signedinteger[Any]]:
    """Return the bits of host values without the signs."""
    bits = _integers(values)
    return np.asarray(bits & np.iinfo(bits.dtype).max)


def nans(values: Host) -> NDArray[np.bool_]:
    """Return a mask of the elements that are NaN."""
    return np.asarray(_magnitudes(values) > _infinity(values.dtype))


def finites(values: Host) -> NDArray[np.bool_]:
    """Return a mask of the elements that are neither infinite nor NaN."""
    return np.asarray(_magnitudes(values) < _infinity(values.dtype))


def all_finite(values: Host) -> bool:
    """Return whether an array has neither infinities nor NaN."""
    return bool(_magnitudes(values).max(initial=0) < _infinity(values.dtype))


def _has_nan(values: Host) -> bool:
    """Return whether `values` contain a NaN.

    The maximum of the bits is faster than a test of each number.
    """
    bits = _integers(values)
    infinity = _infinity(values.dtype)
    sign = 1 << 8 * bits.itemsize - 1
    unsigned = bits.view(f"u{bits.itemsize}")
    return bool(bits.max(initial=-sign) > infinity or unsigned.max(initial=0) > sign + infinity)


def one_nan(values: Host) -> Host:
    """Replace each NaN in `values` by the standard NaN, in place; return the array."""
    if _has_nan(values):
        _set_nan(values, nans(values))
    return values


def _set_nan(values: Host, where: NDArray[np.bool_]) -> None:
    values.view(f"i{values.dtype.itemsize}")[where] = _nan(values.dtype)


def _rounded(operation: np.ufunc, left: Host, right: Host) -> Host:
    """Return the result of an operation in binary32, converted to the host type.

    `operation` is a sum, difference or product. For fp16 and bf16, two roundings give the same
    result as one, because binary32 has more than twice as many digits. This includes bf16 products
    below 2**-126, where binary32 has fewer digits. Such a product has at most 16 digits. Either it
    is exact in binary32, or it is less than half of the least bf16 number, so the result is 0.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exact = operation(widened(left), widened(right))
    return one_nan(to_host(exact, left.dtype))


def add(left: Host, right: Host) -> Host:
    """Return `left` + `right`, rounded once."""
    return _rounded(np.add, left, right)


def tree_sum(terms: Host) -> Host:
    """Return the sum along the last axis, whose length is a power of two.

    Adjacent pairs are added first, then adjacent pairs of these sums, and so on. Each sum is
    rounded. The result has the shape of `terms` without the last axis.
    """
    rounded = terms
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        while rounded.shape[-1] > 1:
            wide = widened(rounded)
            exact = wide[..., 0::2] + wide[..., 1::2]
            rounded = to_host(exact, terms.dtype)
    return one_nan(np.array(rounded))[..., 0]


def subtract(left: Host, right: Host) -> Host:
    """Return `left` - `right`, rounded once."""
    return _rounded(np.subtract, left, right)


def multiply(left: Host, right: Host) -> Host:
    """Return `left` * `right`, rounded once."""
    return _rounded(np.multiply, left, right)


def maximum(left: Host, right: Host) -> Host:
    """Return the larger of `left` and `right` as IEEE 754-2019 `maximum` defines it.

    The result is NaN if either number is NaN; +0 is greater than -0.
    """
    x, y = _integers(left), _integers(right)
    failed = nans(left) | nans(right)
    # If all bits except the sign are inverted in negative numbers, the bits sort as the numbers do.
    larger: Host = _ordered(np.maximum(_ordered(x), _ordered(y))).view(left.dtype)
    _set_nan(larger, failed)
    return larger


def _ordered(bits: NDArray[np.signedinteger[Any]]) -> NDArray[np.signedinteger[Any]]:
    size = np.iinfo(bits.dtype)
    return np.asarray(bits ^ (bits >> (size.bits - 1) & size.max))


def relu(values: Host) -> Host:
    """Return the maximum of each element and +0; NaN stays NaN."""
    bits = _integers(values)
    positive: Host = np.maximum(bits, 0).view(values.dtype)
    if _has_nan(values):
        _set_nan(positive, nans(values))
    return positive


def to_host(exact: NDArray[np.floating[Any]], dtype: DTypeLike) -> Host:
    """Return the values `exact`, rounded once to the host type `dtype`.

    A value beyond the range of the type becomes infinity.
    """
    if np.dtype(dtype) == BFLOAT16:
        return bfloat16.encode(exact)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(exact).astype(dtype, copy=False)


def round_fraction(value: Fraction, dtype: DTypeLike) -> np.floating[Any]:
    """Round a positive fraction to the host type `dtype`, ties to even; to infinity if too large.

    A number of bf16 is returned as a float32 number. This is slow; callers use it for the few
    values for which binary64 is not precise enough.
    """
    from fractions import Fraction

    digits, least, number = _limits(np.dtype(dtype))
    # 2**(top - 1) < value < 2**(top + 1): the code below corrects a unit that is twice too large.
    top = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** top:
        top -= 1
    place = Fraction(2) ** (max(top, least) - digits + 1)
    rounded = round(value / place) * place
    with np.errstate(over="ignore"):
        host: np.floating[Any] = number(float(rounded))
    return host


def _limits(dtype: np.dtype[Any]) -> tuple[int, int, type[np.floating[Any]]]:
    """Return three properties of a host type: its digits, least normal exponent, and NumPy type.

    The digits are the number of significant bits. The NumPy type is the one in which functions
    return numbers of the host type: float32 for bf16, otherwise the host type itself.
    """
    if dtype == BFLOAT16:
        return bfloat16.DIGITS, bfloat16.LEAST_EXPONENT, np.float32
    limits = np.finfo(dtype)
    return int(limits.nmant) + 1, int(limits.minexp), limits.dtype.type
