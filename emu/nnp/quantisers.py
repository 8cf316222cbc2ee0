"""Quantisers: convert host values to small integers with a shared exponent, and back.

There are four kinds: block floating point (bfp), fixed integers (int), powers of two (log), and
small floating-point numbers (float). Seed 003 and docs/numbers-nnp.md ("Quantisers") have the
rules. The numbers along the last axis of an array are one block. Scaling by powers of two and
rounding to integers are exact in binary32, except where the result is 0 or is clipped anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu.floats import Host, to_host, widened
from macaw.emu.numerics import signed_range

Kind = Literal["bfp", "int", "log", "float"]

LEAST_EXPONENT, GREATEST_EXPONENT = -15, 16
"""The range of a shared exponent, 5 bits."""

_MOST_POWERS = 15  # the logarithmic kind has so many powers of two above 1 and as many below
_ROOT_OF_TWO = np.float32(11863283 / (1 << 23))  # the greatest binary32 number below 0.5


class NotANumber(ValueError):
    """Raised if a number to be quantised is NaN.

    `index` is the array index of the first NaN.
    """

    def __init__(self, index: tuple[int, ...]) -> None:
        super().__init__(f"element {', '.join(map(str, index))} is not a number")
        self.index = index


@dataclass(frozen=True)
class Quantiser:
    """A quantiser: its kind, and its widths in bits. Raises `ValueError` for widths out of range.

    `bits` is the width of a mantissa (bfp), of an integer (int), or of an exponent of 2 with its
    sign (log). Only the kind float uses `exponent_bits` and `mantissa_bits`.
    """

    kind: Kind
    bits: int = 8
    exponent_bits: int = 4
    mantissa_bits: int = 3

    def __post_init__(self) -> None:
        if self.kind not in ("bfp", "int", "log", "float"):
            raise ValueError(f"no quantiser is called '{self.kind}'")
        _in_range("a width", self.bits, 3, 16)
        _in_range("an exponent width", self.exponent_bits, 2, 5)
        _in_range("a mantissa width", self.mantissa_bits, 1, 10)

    @cached_property
    def powers(self) -> int:
        """The number K of the kind log, whose magnitudes are 2**-K to 2**K."""
        return min((1 << self.bits - 2) - 1, _MOST_POWERS)

    @cached_property
    def size(self) -> int:
        """The number g, so that each code represents an integer m of magnitude at most 2**g."""
        if self.kind == "log":
            return 2 * self.powers
        if self.kind == "float":
            return self.mantissa_bits + (1 << self.exponent_bits) - 2
        return self.bits - 1

    @cached_property
    def unit(self) -> int:
        """The number u, so that a code with the integer m has the value m · 2**u.

        In bfp the value is m · 2**(u + exponent).
        """
        if self.kind == "log":
            return -self.powers
        if self.kind == "float":
            return 2 - (1 << self.exponent_bits - 1) - self.mantissa_bits
        return 1 - self.bits if self.kind == "bfp" else 0


@dataclass(frozen=True)
class Quantised:
    """Blocks of codes, int16 of shape (..., N), with their exponents, int8 of shape (...).

    The exponents are 0 for all kinds except bfp.
    """

    codes: NDArray[np.int16]
    exponents: NDArray[np.int8]


def _in_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{what} of {value} is out of range, {low} to {high}")


def power_of_two(exponents: NDArray[Any] | int, dtype: DTypeLike) -> NDArray[Any]:
    """Return 2**`exponents`. The caller ensures that this is exact in `dtype`."""
    return np.ldexp(np.ones((), dtype), np.asarray(exponents, np.int32))


def quantise(values: Host, quantiser: Quantiser) -> Quantised:
    """Quantise host values of shape (..., N); infinities become the largest codes.

    Raises `NotANumber`.
    """
    wide = widened(values)
    largest = np.max(np.abs(wide), axis=-1, initial=0)
    if np.isnan(largest).any():
        raise NotANumber(tuple(int(x) for x in np.argwhere(np.isnan(wide))[0]))
    if quantiser.kind == "bfp":
        return _bfp(wide, largest, quantiser.bits)
    if quantiser.kind == "int":
        codes = _clip(np.rint(wide), *signed_range(quantiser.bits))
    elif quantiser.kind == "log":
        codes = _log(wide, quantiser.powers)
    else:
        codes = _small_float(wide, quantiser)
    return Quantised(codes, np.zeros(largest.shape, np.int8))


def _clip(whole: NDArray[Any], low: int, high: int) -> NDArray[np.int16]:
    """Return `whole`, which has whole numbers and infinities, clipped to `low` to `high`, as codes.

    The function overwrites the array `whole`.
    """
    return np.clip(whole, low, high, out=whole).astype(np.int16)


def _bfp(wide: NDArray[np.float32], largest: NDArray[Any], bits: int) -> Quantised:
    exponents = np.asarray(np.frexp(largest)[1])
    exponents = np.where(largest == 0, LEAST_EXPONENT, exponents)
    exponents = np.where(np.isinf(largest), GREATEST_EXPONENT, exponents)
    exponents = np.clip(exponents, LEAST_EXPONENT, GREATEST_EXPONENT)
    scaled = wide * power_of_two(bits - 1 - exponents, np.float32)[..., None]
    codes = _clip(np.rint(scaled, out=scaled), *signed_range(bits))
    return Quantised(codes, np.asarray(exponents.astype(np.int8)))


def _log(wide: NDArray[np.float32], powers: int) -> NDArray[np.int16]:
    digits, exponents = np.frexp(np.abs(wide))  # 0.5 <= digits < 1
    power = exponents.astype(np.int64) - 1 + (2 * digits > _ROOT_OF_TWO)
    power = np.where(np.isinf(wide), powers, power)
    codes = np.minimum(power, powers) + powers + 1
    codes = np.where((wide == 0) | (power < -powers), 0, codes)
    return np.asarray(np.where(wide < 0, -codes, codes).astype(np.int16))


def _small_float(wide: NDArray[np.float32], quantiser: Quantiser) -> NDArray[np.int16]:
    least = quantiser.unit + quantiser.mantissa_bits
    size = np.abs(wide)
    ordinary = (size > 0) & (size < np.inf)
    exponents = np.where(ordinary, np.maximum(np.frexp(size)[1] - 1, least), least)
    scale = power_of_two(quantiser.mantissa_bits - exponents, np.float64)
    # If a mantissa rounds up to the next power of two, the carry reaches the exponent field.
    codes = np.rint(size * scale) + ((exponents - least) << quantiser.mantissa_bits)
    greatest = (((1 << quantiser.exponent_bits) - 1) << quantiser.mantissa_bits) - 1
    return _clip(np.where(wide < 0, -codes, codes), -greatest, greatest)


def integers(codes: NDArray[np.int16], quantiser: Quantiser) -> NDArray[np.signedinteger[Any]]:
    """Return the integer m that each code represents.

    In bfp and int it is the code itself; otherwise the result has type int64.
    """
    if quantiser.kind in ("bfp", "int"):
        return codes
    size = np.abs(codes.astype(np.int64))
    if quantiser.kind == "log":
        whole = np.where(size == 0, 0, 1 << np.maximum(size - 1, 0))
    else:
        field = size >> quantiser.mantissa_bits
        fraction = size & ((1 << quantiser.mantissa_bits) - 1)
        hidden = np.where(field > 0, 1 << quantiser.mantissa_bits, 0)
        whole = (hidden + fraction) << np.maximum(field - 1, 0)
    return np.asarray(np.where(codes < 0, -whole, whole))


def values(quantised: Quantised, quantiser: Quantiser, dtype: DTypeLike) -> NDArray[Any]:
    """Return the values of blocks, of shape (..., N), in the floating type `dtype`.

    The caller chooses a type in which all values are exact.
    """
    scale = power_of_two(quantised.exponents.astype(np.int32) + quantiser.unit, dtype)
    whole = integers(quantised.codes, quantiser)
    return np.asarray(np.multiply(whole, scale[..., None], dtype=dtype))


def dequantise(quantised: Quantised, quantiser: Quantiser) -> NDArray[np.float64]:
    """Return the exact values of blocks as float64 of shape (..., N)."""
    return values(quantised, quantiser, np.float64)


def requantise(host: Host, quantiser: Quantiser) -> Host:
    """Quantise host values and convert them back to their type, rounding once.

    The settings `nnp.quantise_mvm_out` and `nnp.quantise_mfu_in` make chains do this. Raises
    `NotANumber`.
    """
    return to_host(dequantise(quantise(host, quantiser), quantiser), host.dtype)
