"""Quantisers: convert host values to small integers with a shared exponent, and back.

There are five kinds: block floating point (bfp), fixed integers (int), powers of two (log), small
floating-point numbers (float), and the microscaling formats of OCP (mx). Seed 003 and
docs/numbers-nnp.md ("Quantisers") have the rules. The last axis of an array is a native vector. In
mx a native vector has one block or several, in the other kinds it is one block. Scaling by powers
of two and rounding to integers are exact in binary32, except where the result is 0 or is clipped
anyway; the kind mx uses binary64, because it scales by greater powers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu.floats import Host, to_host, widened
from macaw.emu.numerics import signed_range
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp_elements import MX_ELEMENTS, Element, float_element, greatest_power

Kind = Literal["bfp", "int", "log", "float", "mx"]

LEAST_EXPONENT, GREATEST_EXPONENT = -15, 16
"""The range of a shared exponent of bfp, 5 bits."""
GREATEST_SCALE = 127
"""The range of a shared exponent of mx is -127 to 127 (E8M0, whose code 255 is NaN)."""

_ROOT_OF_TWO = np.float32(11863283 / (1 << 23))  # the greatest binary32 number below 2**0.5


class NotANumber(ValueError):
    """Raised if a number to be quantised is NaN.

    `index` is the array index of the first NaN.
    """

    def __init__(self, index: tuple[int, ...]) -> None:
        super().__init__(f"element {', '.join(map(str, index))} is not a number")
        self.index = index


@dataclass(frozen=True)
class Quantiser:
    """A quantiser: its kind, and its widths in bits. Raises `ValueError` for values out of range.

    `bits` is the width of a mantissa (bfp), of an integer (int), or of an exponent of 2 with its
    sign (log). Only the kind float uses `exponent_bits` and `mantissa_bits`. Only the kind mx uses
    `element`, the name of an element type, and `block`, the number of elements with one scale. If
    native vectors are no longer than `block`, each is one block; otherwise their length must be a
    multiple of `block`.
    """

    kind: Kind
    bits: int = 8
    exponent_bits: int = 4
    mantissa_bits: int = 3
    element: str = "e4m3"
    block: int = 32

    def __post_init__(self) -> None:
        if self.kind not in ("bfp", "int", "log", "float", "mx"):
            raise ValueError(f"no quantiser is called '{self.kind}'")
        if self.element not in MX_ELEMENTS:
            raise ValueError(f"no element type is called '{self.element}'")
        _in_range("a block", self.block, 1, 1024)
        _in_range("a width", self.bits, 3, 16)
        _in_range("an exponent width", self.exponent_bits, 2, 5)
        _in_range("a mantissa width", self.mantissa_bits, 1, 10)

    @cached_property
    def powers(self) -> int:
        """The number K of the kind log, whose magnitudes are 2**-K to 2**K."""
        return greatest_power(self.bits)

    @cached_property
    def shares_exponents(self) -> bool:
        """Whether the elements of a block share an exponent; otherwise exponents are 0."""
        return self.kind in ("bfp", "mx")

    @cached_property
    def bias(self) -> np.int8:
        """The number that is added to an exponent when it is stored.

        It is also added to the zero exponents of kinds without shared exponents.
        """
        return np.int8(GREATEST_SCALE if self.kind == "mx" else -LEAST_EXPONENT)

    @cached_property
    def small_float(self) -> Element:
        """The element type of the kinds float and mx."""
        if self.kind == "mx":
            return MX_ELEMENTS[self.element]
        return float_element(self.exponent_bits, self.mantissa_bits)

    @cached_property
    def size(self) -> int:
        """The number g such that each code represents an integer m of magnitude at most 2**g."""
        if self.kind == "log":
            return 2 * self.powers
        return self.small_float.size if self.kind in ("float", "mx") else self.bits - 1

    @cached_property
    def unit(self) -> int:
        """The number u for which a code with the integer m has the value m · 2**u.

        In bfp and mx the value is m · 2**(u + exponent).
        """
        if self.kind == "log":
            return -self.powers
        if self.kind in ("float", "mx"):
            return self.small_float.unit
        return 1 - self.bits if self.kind == "bfp" else 0

    @cached_property
    def fraction(self) -> int:
        """The number of fraction bits of a block's elements, without the block's exponent.

        In bfp all elements are below 1. In mx the block's largest element divided by 2**emax is
        from 1 to 2; the fraction bits are those after the binary point of this quotient.
        """
        return (self.small_float.greatest_exponent if self.kind == "mx" else 0) - self.unit

    def blocks(self, native: int) -> int:
        """Return the number of blocks of a native vector of `native` elements."""
        return native // self.block if self.kind == "mx" and native > self.block else 1

    def by_block(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return an array (..., N) as (..., blocks, N / blocks) if vectors have several blocks."""
        *outer, native = values.shape
        blocks = self.blocks(native)
        return values.reshape(*outer, blocks, native // blocks) if blocks > 1 else values


@dataclass(frozen=True)
class Quantised:
    """Native vectors of codes, int16 of shape (..., N), with their exponents, int8.

    The exponents have shape (...); in the kind mx they have shape (..., blocks) if a vector has
    several blocks. The exponents are 0 for kinds whose elements share no exponent.
    """

    codes: NDArray[np.int16]
    exponents: NDArray[np.int8]

    @property
    def by_element(self) -> NDArray[np.int8]:
        """The exponents in an array that can be broadcast to the shape of the codes."""
        if self.exponents.ndim < self.codes.ndim:
            return self.exponents[..., None]
        return np.repeat(self.exponents, self.codes.shape[-1] // self.exponents.shape[-1], axis=-1)


def quantisers(config: Mapping[str, Any]) -> tuple[Quantiser, Quantiser]:
    """Return the quantisers of vectors and of matrices that a configuration selects."""
    kind = config["nnp.quantise"]
    sizes = config["nnp.float_exponent_bits"], config["nnp.float_mantissa_bits"]
    vector, matrix = (
        Quantiser(
            kind, config[f"nnp.{side}_bits"], *sizes,
            config[f"nnp.{side}_element"], config["nnp.mx_block"],
        )
        for side in ("vector", "matrix")
    )  # fmt: skip
    return vector, matrix


def _in_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{what} of {value} is out of range, {low} to {high}")


def power_of_two(exponents: NDArray[Any] | int, dtype: DTypeLike) -> NDArray[Any]:
    """Return 2**`exponents`. The caller ensures that this is exact in `dtype`."""
    return np.ldexp(np.ones((), dtype), np.asarray(exponents, np.int32))


def quantise(values: Host, quantiser: Quantiser) -> Quantised:
    """Quantise host values of shape (..., N) with `quantiser`; infinities become the largest codes.

    Raises `NotANumber`.
    """
    wide = widened(values)
    parts = quantiser.by_block(wide)
    largest = np.max(np.abs(parts), axis=-1, initial=0)
    if np.isnan(largest).any():
        raise NotANumber(tuple(int(x) for x in np.argwhere(np.isnan(wide))[0]))
    if quantiser.kind == "bfp":
        return _bfp(wide, largest, quantiser.bits)
    if quantiser.kind == "mx":
        return _mx(parts, largest, quantiser.small_float, wide.shape)
    if quantiser.kind == "int":
        codes = _clip(np.rint(wide), *signed_range(quantiser.bits))
    elif quantiser.kind == "log":
        codes = _log(wide, quantiser.powers)
    else:
        codes = _small_float(wide, quantiser.small_float)
    return Quantised(codes, np.zeros(largest.shape, np.int8))


def _clip(whole: NDArray[Any], low: int, high: int) -> NDArray[np.int16]:
    """Return the numbers in `whole`, limited to the range `low` to `high`, as codes.

    `whole` has whole numbers and infinities. The function overwrites this array.
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


def _mx(
    parts: NDArray[np.float32], largest: NDArray[Any], element: Element, shape: tuple[int, ...]
) -> Quantised:
    """Return blocks of mx, each scaled so that its largest element has the exponent emax.

    `parts` has the blocks' values; there is an axis for blocks if a vector has several. `largest`
    has the greatest magnitude in each block. The codes have `shape` and the type `element`.
    """
    powers = np.frexp(largest)[1] - 1 - element.greatest_exponent
    powers = np.where(largest == 0, -GREATEST_SCALE, powers)
    powers = np.where(np.isinf(largest), GREATEST_SCALE, powers)
    powers = np.clip(powers, -GREATEST_SCALE, GREATEST_SCALE)
    scaled = parts * power_of_two(-powers, np.float64)[..., None]
    return Quantised(
        _small_float(scaled, element).reshape(shape), np.asarray(powers.astype(np.int8))
    )


def _log(wide: NDArray[np.float32], powers: int) -> NDArray[np.int16]:
    digits, exponents = np.frexp(np.abs(wide))  # 0.5 <= digits < 1
    power = exponents.astype(np.int64) - 1 + (2 * digits > _ROOT_OF_TWO)
    power = np.where(np.isinf(wide), powers, power)
    codes = np.minimum(power, powers) + powers + 1
    codes = np.where((wide == 0) | (power < -powers), 0, codes)
    return np.asarray(np.where(wide < 0, -codes, codes).astype(np.int16))


def _small_float(wide: NDArray[np.floating[Any]], element: Element) -> NDArray[np.int16]:
    least = element.least_exponent
    size = np.abs(wide)
    ordinary = (size > 0) & (size < np.inf) & (element.exponent_bits > 0)
    exponents = np.where(ordinary, np.maximum(np.frexp(size)[1] - 1, least), least)
    scale = power_of_two(element.mantissa_bits - exponents, np.float64)
    # If a mantissa rounds up to the next power of two, the carry reaches the exponent field.
    codes = np.rint(size * scale) + ((exponents - least) << element.mantissa_bits)
    return _clip(np.where(wide < 0, -codes, codes), -element.greatest, element.greatest)


def integers(
    codes: NDArray[np.signedinteger[Any]], quantiser: Quantiser
) -> NDArray[np.signedinteger[Any]]:
    """Return the integer m that each code of `quantiser` represents.

    In bfp and int, and for integers of mx, the result is `codes` itself; otherwise it is an int64
    array.
    """
    if quantiser.kind in ("bfp", "int"):
        return codes
    if quantiser.kind == "mx" and not quantiser.small_float.exponent_bits:
        return codes
    size = np.abs(codes.astype(np.int64))
    if quantiser.kind == "log":
        whole = np.where(size == 0, 0, 1 << np.maximum(size - 1, 0))
    else:
        digits = quantiser.small_float.mantissa_bits
        field = size >> digits
        fraction = size & ((1 << digits) - 1)
        hidden = np.where(field > 0, 1 << digits, 0)
        whole = (hidden + fraction) << np.maximum(field - 1, 0)
    return np.asarray(np.where(codes < 0, -whole, whole))


def values(quantised: Quantised, quantiser: Quantiser, dtype: DTypeLike) -> NDArray[Any]:
    """Return the values that `quantised` blocks of `quantiser` represent, in the type `dtype`.

    They have shape (..., N). The caller chooses a type in which all values are exact.
    """
    scale = power_of_two(quantised.by_element.astype(np.int32) + quantiser.unit, dtype)
    whole = integers(quantised.codes, quantiser)
    return np.asarray(np.multiply(whole, scale, dtype=dtype))


def dequantise(quantised: Quantised, quantiser: Quantiser) -> NDArray[np.float64]:
    """Return the exact values of `quantised`, blocks of `quantiser`, as float64 (..., N)."""
    return values(quantised, quantiser, np.float64)


def requantise(host: Host, quantiser: Quantiser) -> Host:
    """Quantise host values with `quantiser` and convert them back to their type, rounding once.

    The instruction v_quantise does this, and the settings `nnp.quantise_mvm_out` and
    `nnp.quantise_mfu_in` make all chains do it. Raises `NotANumber`.
    """
    return to_host(dequantise(quantise(host, quantiser), quantiser), host.dtype)
