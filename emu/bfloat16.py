"""The number type bfloat16, which NumPy does not have: its elements in memory, and its numbers.

A bfloat16 number is the upper half of a binary32 number: 8 binary digits, and the exponents of
binary32. Memory and registers hold elements of the type `BFLOAT16`. NumPy does not
calculate with this type: code that handles only NumPy's numbers raises an error, and cannot give a
wrong result. `numbers` converts elements to float32. The module imports nothing else of Macaw.
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
    """Return the name of the type `dtype` of elements in memory: `bfloat16`, or NumPy's name."""
    return NAME if dtype == BFLOAT16 else dtype.name


def numbers_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type of the array that `numbers` returns for elements of the type `name`.

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
    wide = _as(array, np.float32) if single else _rounded_to_odd(_doubles(array), np.float32)
    bits: Bits = wide.view(np.uint32)
    failed = (bits & 0x7FFF_FFFF) > _INFINITE
    half = np.uint32((1 << _DROPPED - 1) - 1) + (bits >> _DROPPED & 1)
    rounded = ((bits + half) >> _DROPPED).astype("<u2")
    if failed.any():
        rounded[failed] = NAN
    return rounded.view(BFLOAT16).reshape(array.shape)


def distances(magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance from each number to the next greater number of bfloat16.

    The numbers are at least 0. A number that is not in bfloat16 is first rounded. For the greatest
    finite number, and for greater ones, the result is the distance to the next smaller number.
    """
    bits = encode(magnitudes).view(np.uint16)
    lower = np.minimum(bits, INFINITY - 2).astype(np.uint16)
    below, above = (numbers((lower + step).view(BFLOAT16)) for step in (np.uint16(0), np.uint16(1)))
    return np.asarray(above.astype(np.float64) - below)


def _as(values: NDArray[Any], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return np.array(values, dtype, order="C", ndmin=1)


def _doubles(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as binary64, so that one later rounding to 24 bits or fewer is correct.

    If binary64 cannot hold a number exactly, a bit below the first 24 is set. So the later rounding
    does not take the number for a tie.
    """
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        return _of_long_integers(array)
    wider = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return _rounded_to_odd(array, np.float64) if wider else array.astype(np.float64)


def _of_long_integers(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers of 64 bits as binary64.

    Integers from 2**53 on do not fit. In these the function clears the lowest 12 bits, and sets the
    highest of the 12 if any of them was set. At least 42 bits are above them, so a later rounding
    to 24 bits or fewer gives the same number as a rounding of the integer.
    """
    values = array.astype(array.dtype.newbyteorder("="))
    size = np.abs(values).view(np.uint64)
    low = np.uint64((1 << 12) - 1)
    kept = size & ~low | np.where(size & low, np.uint64(1 << 11), np.uint64(0))
    found = np.where(size >> np.uint64(53), kept, size).astype(np.float64)
    result: NDArray[Any] = np.where(values < 0, -found, found)
    return result


def _rounded_to_odd(values: NDArray[Any], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return numbers in the narrower type `dtype`, rounded to odd.

    If the type cannot hold a number exactly, the result is the neighbour of the number whose last
    bit is 1 (odd). A second rounding to fewer digits then gives the same result as one rounding.
    The result for a single number is an array with one element.
    """
    narrow, wide = _as(values, dtype), np.atleast_1d(values)
    bits = narrow.view(f"u{narrow.itemsize}")
    near = narrow.astype(wide.dtype)
    even = (near != wide) & ~np.isnan(wide) & (bits & 1 == 0)
    below = np.abs(near) < np.abs(wide)
    bits[even & below] += bits.dtype.type(1)
    bits[even & ~below] -= bits.dtype.type(1)
    return narrow


def round_bfloat16(values: ArrayLike) -> NDArray[np.float32]:
    """Return numbers rounded once to bfloat16, half to even, as a float32 array."""
    return numbers(encode(values))


def is_stored_in(dtype: np.dtype[Any]) -> bool:
    """Return whether arrays of a NumPy type hold bfloat16 elements, 2 bytes each.

    The types are `BFLOAT16`, that of the package ml_dtypes, and `V2`, which NumPy gives to a .npy
    file with an array of ml_dtypes. Other structures of 2 bytes are no bfloat16 elements.
    """
    return dtype in (BFLOAT16, np.dtype("V2")) or (dtype.names is None and dtype.name == NAME)


def elements_of(array: NDArray[Any], name: str) -> NDArray[Any] | None:
    """Return `array` as little-endian elements of the type `name`; None if it has another type.

    For the name `bfloat16` two kinds of arrays are accepted: arrays whose type `is_stored_in`
    accepts, and float32 arrays in which every number is a bfloat16 number. For any other name, the
    NumPy type of the array must have this name.
    """
    wanted = element_type(name)
    if name != NAME:
        return array.astype(wanted) if array.dtype.newbyteorder("=") == np.dtype(name) else None
    if array.dtype.newbyteorder("=") == np.float32:
        bits = np.ascontiguousarray(array, "<f4").reshape(array.shape)
        exact = not (bits.view("<u4") & ((1 << _DROPPED) - 1)).any()
        return encode(bits) if exact else None
    if not is_stored_in(array.dtype):
        return None
    return np.ascontiguousarray(array).reshape(array.shape).view(BFLOAT16)
