"""Computes dot products of fp16 numbers, without conversions to fp16, and their running sums.

A number that has at most 11 significant bits is an fp16 number, unless it is too large or too
small. So `dots` rounds the significands of binary32 numbers by operations on whole arrays, which
are several times as fast as conversions to fp16. A function returns None if a number may be too
large for fp16 or is not finite; `arithmetic` then computes the results. The results have the same
bits as those of `arithmetic`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.floats import Host

Wide = NDArray[np.float32]
_DROPPED = 13  # significant bits of binary32 that fp16 does not have
_SPLITTER = np.float32((1 << _DROPPED) + 1)
_SMALL_UNITS = np.float32(0.75)  # the last place of this number is that of small fp16 numbers
_ABSOLUTE = np.uint32(0x7FFF_FFFF)
_LEAST_NORMAL = int(np.float32(2.0**-14).view(np.uint32))
_INFINITY = 0x7C00  # the bits of this fp16 number; those of NaN are greater
_FIELDS = np.int32(-0x8000_0000 | 0x7FFF << _DROPPED)  # sign, exponent and fraction of an fp16


def widened(values: Host) -> Wide:
    """Return fp16 numbers as binary32. Infinities and NaN become magnitudes of at least 65536."""
    bits = np.ascontiguousarray(values).view(np.int16).astype(np.int32)
    bits <<= _DROPPED
    bits &= _FIELDS
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)  # the exponents of fp16 are counted from another number
    return wide


def _finite(values: Host) -> bool:
    """Return whether fp16 numbers have neither infinities nor NaN."""
    bits = np.ascontiguousarray(values).view(np.int16) & 0x7FFF
    return int(bits.max(initial=0)) < _INFINITY


def round_significands(values: Wide) -> None:
    """Round numbers below 2**112 to 11 significant bits, half to even, in place.

    This is Veltkamp's splitting: the upper part of x is p - (p - x) with p = x · (2**13 + 1). A
    test compares the splitting with integer arithmetic for all significands.
    """
    product = values * _SPLITTER
    rest = product - values
    np.subtract(product, rest, out=values)


def _rounded_small(values: Wide) -> Wide:
    """Return numbers below 2**-14, rounded half to even to multiples of 2**-24."""
    rounded: Wide = np.copysign(values + _SMALL_UNITS - _SMALL_UNITS, values)
    return rounded


def dots(left: Host, right: Host) -> Wide | None:
    """Return the dot products of `left` and `right`, fp16 arrays, along the last axis, as binary32.

    The arrays are broadcast to each other. Their last axis has a power of two as its length.
    """
    if not (_finite(left) and _finite(right)):
        return None
    terms = widened(left) * widened(right)
    absolute = terms.view(np.uint32) & _ABSOLUTE
    # Sums of products below this limit cannot become too large, however they are rounded.
    if int(absolute.max(initial=0)) >= int(np.float32(32768 / terms.shape[-1]).view(np.uint32)):
        return None
    absolute -= 1  # now 0 counts as a large number: it needs no rounding
    small = np.flatnonzero(absolute < _LEAST_NORMAL - 1)
    rounded = _rounded_small(terms.reshape(-1)[small])
    round_significands(terms)
    terms.reshape(-1)[small] = rounded
    # The sum of two fp16 numbers is a multiple of the least one, so a small sum is exact.
    while terms.shape[-1] > 1:
        terms = terms[..., 0::2] + terms[..., 1::2]
        round_significands(terms)
    return terms[..., 0]


def running_sums(old: Host, new: Wide, accumulates: Sequence[bool]) -> Host | None:
    """Add arrays of fp16 numbers to `old` one after another; return the last sums as fp16.

    `new` has shape (arrays, ...), and its numbers are results of `dots`. An array for which
    `accumulates` is false replaces the sums.
    """
    sums = new.astype(np.float16)
    latest = old
    with np.errstate(over="ignore", invalid="ignore"):
        for number, adds in enumerate(accumulates):
            if adds:
                # NumPy adds fp16 numbers in binary32 and rounds each sum once
                np.add(latest, sums[number], out=sums[number])
            latest = sums[number]
    return latest if _finite(old) and _finite(sums) else None
