"""Computes dot products of fp16 numbers, without conversions to fp16, and their running sums.

A number that has at most 11 significant bits is an fp16 number, unless it is too large or too
small. So the module rounds the significands of binary32 numbers by operations on whole arrays,
which are several times as fast as conversions to fp16. A function returns None if a number may be
too large for fp16 or is not finite; `arithmetic` then computes the results. The results have the
same bits as those of `arithmetic`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.floats import Host

Wide = NDArray[np.float32]
_DROPPED = 13  # significant bits of binary32 that fp16 does not have
# an array, because a number would be converted to one at each use
_SPLITTER = np.array((1 << _DROPPED) + 1, np.float32)
_EXPONENT = np.int32(0x7F80_0000)  # the bits of the exponent of a binary32 number
_FRACTION = 23  # bits of the fraction of a binary32 number
_LARGEST = 0x7BFF  # the bits of the largest fp16 number; those of infinity and NaN are greater
_FIELDS = np.int32(-0x8000_0000 | 0x7FFF << _DROPPED)  # sign, exponent and fraction of an fp16
_REBIAS = 112  # the difference between the exponent's biases of binary32 and fp16


def _raw_halves(values: Host) -> tuple[Wide, Wide]:
    """Return the even and the odd elements of fp16 numbers along the last axis, times 2**-112.

    The function moves the bits of an fp16 number to the places where a binary32 number has sign,
    exponent and fraction. The factor comes from the different biases of the exponents. To be fast,
    it reads two adjacent elements as one integer of 32 bits.
    """
    pairs = np.ascontiguousarray(values).view(np.int32)
    second = pairs >> 16 - _DROPPED
    second &= _FIELDS
    first = pairs << 16
    first >>= 16 - _DROPPED
    first &= _FIELDS
    return first.view(np.float32), second.view(np.float32)


def _greatest(values: Host) -> int:
    """Return the bits of the greatest magnitude of fp16 numbers."""
    bits = np.ascontiguousarray(values).view(np.int16)
    # the greatest positive number, and the bits of the greatest magnitude of a negative number
    return max(int(bits.max(initial=0)), int(bits.view(np.uint16).max(initial=0)) & 0x7FFF)


def _number(bits: int) -> float:
    return float(np.uint16(bits).view(np.float16))


def round_significands(values: Wide, one: Wide, other: Wide) -> None:
    """Round numbers below 2**112 to 11 significant bits, half to even, in place.

    `one` and `other` are arrays of the same shape for intermediate results.

    This is Veltkamp's splitting: the upper part of x is p - (p - x) with p = x · (2**13 + 1). A
    test compares the splitting with integer arithmetic for all significands.
    """
    np.multiply(values, _SPLITTER, one)
    np.subtract(one, values, other)
    np.subtract(one, other, values)


def _exponents(values: Wide, out: NDArray[np.int32]) -> NDArray[np.int32]:
    """Write the bits of `values` without sign and fraction to `out`, and return `out`."""
    return np.bitwise_and(values.view(np.int32), _EXPONENT, out=out)


def _round_products(values: Wide, exponents: NDArray[np.int32], least: int) -> None:
    """Round numbers below 2**100 to 11 significant bits, half to even, in place.

    Numbers below 2**`least` are rounded to multiples of 2**(`least` - 10), as fp16 numbers below
    the least normal number are. A zero loses its sign. `exponents` is the result of `_exponents`
    for these numbers; the function overwrites it.

    Let E be the exponent of x, or `least` if E is less. x is rounded to a multiple of the unit
    u = 2**(E - 10). Let m = 1.5 · 2**(E + 13), an even number of units. |x| < 2**(E + 1), so x + m
    lies between 2**(E + 13) and 2**(E + 14), where binary32 numbers are the multiples of u. So the
    sum is rounded to a multiple of u. For a tie, the result is the even multiple: the even one for
    x too, because m is even. Then the subtraction of m is exact, because the difference is less
    than 2**12 units.
    """
    np.maximum(exponents, (127 + least) << _FRACTION, out=exponents)
    exponents += _DROPPED << _FRACTION | 1 << _FRACTION - 1
    addends = exponents.view(np.float32)
    values += addends
    values -= addends


def dots(left: Host, right: Host) -> Wide | None:
    """Return the dot products of `left` and `right`, fp16 arrays, along the last axis, as binary32.

    The arrays are broadcast to each other. Their last axis has a power of two as its length, at
    least two, and they have at least one more axis. Return None if a number may be too large for
    fp16 or is not finite.
    """
    bounds = _greatest(left), _greatest(right)
    if max(bounds) > _LARGEST:
        return None
    # Sums of products below this limit cannot become too large, however they are rounded.
    limit = 32768 // left.shape[-1]
    small, large = sorted((left, right), key=lambda item: item.size)
    factors, terms = _raw_halves(small), _raw_halves(large)
    # All numbers below are half as large as in the definition, so that no factor is too large.
    least = -15
    for part in factors:
        part *= np.float32(2.0**_REBIAS)
        part *= np.float32(2.0 ** (_REBIAS - 1))
    if small.shape[:-1] != large.shape[:-1]:
        shape = np.broadcast_shapes(terms[0].shape, factors[0].shape)
        if shape != terms[0].shape:
            terms = np.broadcast_to(terms[0], shape).copy(), np.broadcast_to(terms[1], shape).copy()
    rest = np.empty(terms[0].shape, np.int32)
    for part, factor in zip(terms, factors, strict=True):
        part *= factor  # exact: the product has at most 22 significant bits
        exponents = _exponents(part, rest)
        if _number(bounds[0]) * _number(bounds[1]) >= limit and (
            int(exponents.max(initial=0)) >= int(np.float32(limit / 2).view(np.int32))
        ):
            return None
        _round_products(part, exponents, least)
    sums, other = terms
    sums += other
    one, two = rest.view(np.float32).reshape(-1), other.reshape(-1)
    while True:
        # The sum of two fp16 numbers is a multiple of the least one, so a small sum is exact.
        size, shape = sums.size, sums.shape
        round_significands(sums, one[:size].reshape(shape), two[:size].reshape(shape))
        if shape[-1] == 1:
            break
        sums = sums[..., 0::2] + sums[..., 1::2]
    found = sums[..., 0]
    found *= np.float32(2)
    _set_signs_of_zeros(found, left, right)
    return found


def _set_signs_of_zeros(found: Wide, left: Host, right: Host) -> None:
    """Make those zeros in `found` -0 whose products all have the sign -.

    `found` has the dot products of `left` and `right`, in which all zeros are +0. A sum is -0 only
    if both terms are -0, so a dot product is -0 only if all its rounded products are -0. The test
    of the signs is enough: if a dot product without positive terms is 0, then all its rounded
    products are 0.
    """
    zeros = np.flatnonzero(found == 0)
    if not zeros.size:
        return
    where = np.unravel_index(zeros, found.shape)
    shape = *found.shape, left.shape[-1]
    signs = (
        np.broadcast_to(left.view(np.int16), shape)[where]
        ^ np.broadcast_to(right.view(np.int16), shape)[where]
    )
    found.reshape(-1)[zeros[signs.max(axis=-1) < 0]] = -0.0


def running_sums(old: Host, new: Wide, accumulates: Sequence[bool]) -> Host | None:
    """Add arrays of fp16 numbers to `old` one after another; return the last sums as fp16.

    `new` has shape (arrays, ...), and its numbers are results of `dots`; the function overwrites
    them. An array for which `accumulates` is false replaces the sums. Return None if a number in
    `old` is not finite or a sum is too large for fp16.
    """
    if _greatest(old) > _LARGEST:
        return None
    latest = old.reshape(-1).astype(np.float32)
    one, two = np.empty_like(latest), np.empty_like(latest)
    for adds, sums in zip(accumulates, new.reshape(len(new), -1), strict=True):
        if adds:
            # Two roundings, to 24 bits and to 11, give the same result as one.
            np.add(latest, sums, sums)
            round_significands(sums, one, two)
        latest = sums
    # Only a sum that is too large for fp16 is rounded to 65536 or more.
    if np.abs(new).max(initial=0) >= 65536:
        return None
    return latest.astype(np.float16).reshape(old.shape)
