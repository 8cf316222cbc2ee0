"""The number type bfloat16, which NumPy does not have: its elements in memory, and its numbers.

A bfloat16 number is the upper half of a binary32 number: 8 binary digits, and the exponents of
binary32. Memory and registers hold elements of the type `BFLOAT16`. NumPy computes nothing with
this type, so code that does not know it fails and gives no wrong number. The numbers of these
elements are float32 arrays. The module imports nothing else of Macaw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NAME = "bfloat16"
BFLOAT16: np.dtype[Any] = np.dtype([(NAME, "<u2")])
INFINITY, NAN = 0x7F80, 0x7FC0  # bits; the NaN is positive and quiet, with no other bit set
DIGITS, LEAST_EXPONENT = 8, -126  # of a normal number
GREATEST = (2 - 2.0 ** (1 - DIGITS)) * 2.0**127  # the greatest finite number

_DROPPED = 16  # bits of binary32 that bfloat16 does not have
_INFINITE = 0x7F80_0000  # the bits of this binary32 number; those of NaN are greater

Elements = NDArray[np.void]
Bits = NDArray[np.uint32]


def element_type(name: str) -> np.dtype[Any]:
    """Return the little-endian NumPy type of elements in memory, from the name of their type.

    `name` is `bfloat16` or a name of a NumPy type.
    """
    return BFLOAT16 if name == NAME else np.dtype(name).newbyteorder("<")


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of an element type, the inverse of `element_type`."""
    return NAME if dtype == BFLOAT16 else dtype.name


def numbers_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type of arrays with the numbers of elements of the type `name`.

    The result is float32 for bfloat16.
    """
    return np.dtype(np.float32 if name == NAME else name)


def numbers(elements: NDArray[Any]) -> NDArray[Any]:
    """Return elements of `BFLOAT16` as float32 numbers; return other arrays unchanged."""
    if elements.dtype != BFLOAT16:
        return elements
    bits = np.ascontiguousarray(elements).view(np.uint16).astype(np.uint32)
    bits <<= _DROPPED
    return bits.view(np.float32).reshape(elements.shape)


def encode(values: ArrayLike) -> Elements:
    """Return numbers as elements of `BFLOAT16`, rounded once, half to even.

    A number beyond the range becomes infinity; each NaN becomes the positive quiet one.
    """
    array = np.asarray(values)
    single = array.dtype in (np.float16, np.float32)
    bits = _bits_of(array) if single else _rounded_to_odd(array.astype(np.float64))
    failed = (bits & 0x7FFF_FFFF) > _INFINITE
    half = np.uint32((1 << _DROPPED - 1) - 1) + (bits >> _DROPPED & 1)
    rounded = ((bits + half) >> _DROPPED).astype("<u2")
    if failed.any():
        rounded[failed] = NAN
    return rounded.view(BFLOAT16).reshape(array.shape)


def _bits_of(values: NDArray[Any]) -> Bits:
    with np.errstate(invalid="ignore"):
        return np.array(values, np.float32, order="C", ndmin=1).view(np.uint32)


def _rounded_to_odd(values: NDArray[np.float64]) -> Bits:
    """Return binary64 numbers as bits of binary32, each inexact one with an odd last bit.

    A second rounding to fewer digits then gives the same number as one rounding.
    """
    with np.errstate(over="ignore", under="ignore"):
        bits = _bits_of(values)
        near = bits.view(np.float32).astype(np.float64)
    wide = np.atleast_1d(values)
    even = (near != wide) & ~np.isnan(wide) & (bits & 1 == 0)
    below = np.abs(near) < np.abs(wide)
    bits[even & below] += np.uint32(1)
    bits[even & ~below] -= np.uint32(1)
    return bits


def round_bfloat16(values: ArrayLike) -> NDArray[np.float32]:
    """Return numbers rounded once to bfloat16, half to even, as a float32 array."""
    return numbers(encode(values))


def elements_of(array: NDArray[Any], name: str) -> NDArray[Any] | None:
    """Return an array as little-endian elements of the type `name`; None if it has another type.

    Three kinds of arrays have the type `bfloat16`: a float32 array whose numbers are all bfloat16
    numbers, an array of the package ml_dtypes, and an array of the type `V2`. NumPy gives this type
    to a .npy file with an array of ml_dtypes.
    """
    wanted = element_type(name)
    if name != NAME:
        return array.astype(wanted) if array.dtype.newbyteorder("=") == np.dtype(name) else None
    if array.dtype.newbyteorder("=") == np.float32:
        bits = np.ascontiguousarray(array, "<f4").reshape(array.shape)
        exact = not (bits.view("<u4") & ((1 << _DROPPED) - 1)).any()
        return encode(bits) if exact else None
    raw = array.dtype.itemsize == 2 and (array.dtype.kind == "V" or array.dtype.name == NAME)
    return np.ascontiguousarray(array).reshape(array.shape).view(BFLOAT16) if raw else None
