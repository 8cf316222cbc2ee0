"""Fixed-width arithmetic that NumPy lacks: rounding shifts, saturation, wrapping.

The module imports nothing else of Macaw, so the lowering and the tests use the same functions as
the cores. All functions take arrays (or scalars) of any shape and return new arrays. Integers are
signed and have at most 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Ints = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]
Numbers = NDArray[Any]


def signed_range(bits: int) -> tuple[int, int]:
    """Return the least and the greatest two's-complement number of `bits` bits."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def round_half_even_shift(values: ArrayLike, shift: int) -> NDArray[np.int64]:
    """Return `values` / 2**shift, rounded to the nearest integer, ties to the even one.

    `shift` is from 0 to 63; raises `ValueError` otherwise. No intermediate value needs more than 64
    bits. The instruction `spu requantise` follows this rule (docs/timing-pe.md).
    """
    if not 0 <= shift <= 63:
        raise ValueError(f"a shift of {shift} is out of range, 0 to 63")
    wide = np.asarray(values).astype(np.int64)
    if shift == 0:
        return wide
    floor = wide >> shift
    rest = wide & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    up = (rest > half) | ((rest == half) & (floor & 1 == 1))
    return np.asarray(floor + up)


# The rule of `exponential` in docs/timing-vc.md uses these binary64 numbers.
EXP_LIMITS = (-110.0, 90.0)  # outside this range, e to the power of x is 0 or infinite in binary32
LOG2_E = float.fromhex("0x1.71547652b82fep+0")
LN2_HIGH = float.fromhex("0x1.62e42fefap-1")  # its products with the exponents are exact
LN2_LOW = float.fromhex("0x1.cf79abc9e3b3ap-40")
EXP_TERMS = tuple(1.0 / math.factorial(n) for n in range(12))


def exponential(values: ArrayLike) -> NDArray[np.float32]:
    """Return e to the power of each binary32 number, as `vexp.f32` of vc computes it.

    Each step is one operation of binary64, rounded once, so any machine with IEEE arithmetic gets
    the same bits. Let x be the number, limited to -110 to 90. Then k = round(x * LOG2_E), half to
    even; r = (x - k * LN2_HIGH) - k * LN2_LOW; p is the sum of r**n / n! for n = 0 to 11, by
    Horner's rule. The result is p * 2**k, rounded to binary32. A NaN gives the canonical NaN.
    """
    with np.errstate(invalid="ignore"):  # a NaN may be signalling
        x = np.clip(np.asarray(values, np.float32).astype(np.float64), *EXP_LIMITS)
    k = np.rint(x * LOG2_E)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = np.full_like(r, EXP_TERMS[-1])
    for term in reversed(EXP_TERMS[:-1]):
        p = p * r + term
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        powers = np.where(np.isnan(k), 0, k).astype(np.int32)
        found = np.ldexp(p, powers).astype(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), found)


def sigmoid(values: ArrayLike) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)) for each x in `values`, without overflow of the exponential.

    NaN stays NaN.
    """
    x = np.asarray(values, np.float64)
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


def fixed_point(
    curve: Callable[[NDArray[np.float64]], ArrayLike], values: ArrayLike, shift: int, bits: int
) -> NDArray[np.int64]:
    """Apply `curve` to fixed-point integers `values`, and return fixed-point integers.

    `values` have `shift` fraction bits. The results have `bits` - 1 fraction bits. `curve` takes
    and returns real numbers; its results are in [-1, 1]. The results are rounded half to even and
    saturated, so 1 becomes the greatest signed number of `bits` bits. (`spu activation` of
    integers, docs/timing-pe.md.)
    """
    x = np.ldexp(np.asarray(values).astype(np.float64), -shift)
    scaled = np.rint(np.ldexp(np.asarray(curve(x), np.float64), bits - 1))
    return saturate(scaled.astype(np.int64), bits)


def saturate(values: ArrayLike, bits: int) -> NDArray[np.int64]:
    """Return `values` clamped to the range of signed numbers of `bits` bits."""
    low, high = signed_range(bits)
    return np.clip(np.asarray(values).astype(np.int64), low, high)


def wrap(values: ArrayLike, bits: int) -> NDArray[np.int64]:
    """Return the low `bits` bits of `values`, read as two's-complement numbers."""
    unused = 64 - bits
    return np.asarray(np.asarray(values).astype(np.int64) << unused >> unused)


def fits(values: ArrayLike, bits: int) -> Bools:
    """Return a mask of the `values` that fit into signed numbers of `bits` bits."""
    low, high = signed_range(bits)
    wide = np.asarray(values).astype(np.int64)
    return np.asarray((wide >= low) & (wide <= high))


def sum_overflows(left: Numbers, right: Numbers, total: Numbers) -> Bools:
    """Return a mask of the sums that overflowed.

    `total` is `left` + `right`, wrapped to the width of these signed integers. A sum has overflowed
    if both terms have the same sign and the total has the other sign, and only then.
    """
    return np.asarray(((left ^ total) & (right ^ total)) < 0)


def float_sum_overflows(left: Numbers, right: Numbers, total: Numbers) -> Bools:
    """Return a mask of the sums `total` that are not finite although `left` and `right` are."""
    return np.asarray(~np.isfinite(total) & np.isfinite(left) & np.isfinite(right))


def saturated_sum(left: Numbers, right: Numbers) -> Numbers:
    """Return the sum of two arrays of one type, clamped to the finite range of that type.

    Integers are clamped to the least and greatest value of their type. A floating sum of finite
    terms is clamped to the greatest finite number. If a term is infinite or NaN, the sum is the
    IEEE sum.
    """
    if left.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            total = left + right
        greatest = np.finfo(total.dtype).max
        over = float_sum_overflows(left, right, total)
        return np.where(over, np.copysign(greatest, total), total)
    total = left + right
    ends = np.iinfo(total.dtype)
    over = sum_overflows(left, right, total)
    limit = np.where(left < 0, ends.min, ends.max).astype(total.dtype)
    return np.where(over, limit, total)


def saturate_float(values: ArrayLike, dtype: DTypeLike) -> Numbers:
    """Return `values` rounded half to even to the narrower `dtype`, clamped to its finite range.

    Infinities are clamped, too; NaN stays NaN.
    """
    narrow = np.dtype(dtype)
    greatest = float(np.finfo(narrow).max)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.asarray(values).astype(narrow)
    clamped = np.clip(rounded.astype(np.float64), -greatest, greatest)
    return clamped.astype(narrow)
