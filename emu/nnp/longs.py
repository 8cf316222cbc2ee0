"""BFP long: the accumulator type q34.40 with an exponent, 74 bits (seed 003; docs/numbers-nnp.md).

An accumulator is a number V · 2**(exponent - 40). The 74 bits of V are stored in two integers:
`whole` = floor(V / 2**40) and `fraction` = V mod 2**40. The conversion to the host format uses only
integer arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu.floats import Host
from macaw.emu.numerics import fits
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]

FRACTION = 40
WHOLE = 34
_MASK = (1 << FRACTION) - 1
_FARTHEST = 63  # the greatest shift of an int64; its result for any number is 0 or -1


def shift_right(value: Ints, places: Ints) -> Ints:
    """Return floor(`value` / 2**`places`), elementwise, for any `places` of at least 0."""
    return np.asarray(value >> np.minimum(places, _FARTHEST))


class OutOfRange(ArithmeticError):
    """Raised if an accumulator needs more than 74 bits.

    `index` is (iteration, row, element). `column` is the number of the column of tiles whose
    products made the accumulator overflow.
    """

    def __init__(self, index: tuple[int, ...], column: int) -> None:
        iteration, row, element = index
        super().__init__(
            f"element {element} of row {row} leaves the accumulator's {WHOLE + FRACTION} bits"
            f" at column {column} of iteration {iteration}"
        )
        self.index = index
        self.column = column


@dataclass(frozen=True)
class Long:
    """Accumulators as three int64 arrays of one shape: `whole`, `fraction` and `exponent`.

    V is whole · 2**40 + fraction, with 0 <= fraction < 2**40. The value is V · 2**(exponent - 40).
    """

    whole: Ints
    fraction: Ints
    exponent: Ints

    @classmethod
    def of(cls, value: Ints, exponent: Ints) -> Long:
        """Return accumulators from the integers V in `value` and their exponents.

        `value` is an int64 array. The value of an accumulator is V · 2**(exponent - 40).
        """
        return cls(value >> FRACTION, value & _MASK, exponent)

    @classmethod
    def from_scaled(cls, value: Ints, places: int, exponent: Ints) -> Long:
        """Return accumulators with V = `value` · 2**`places` and the given exponents.

        `places` is from 0 to 40. V may need more than 74 bits. `check` tests this.
        """
        rest = FRACTION - places
        return cls(value >> rest, (value & ((1 << rest) - 1)) << places, exponent)

    def shift_right(self, places: Ints) -> Long:
        """Divide each integer V by 2**`places`, and add `places` to the exponents.

        `places` is at least 0. The division rounds towards -infinity, and the values of the
        accumulators change only by this rounding.
        """
        few = np.minimum(places, FRACTION)
        low = (self.whole & ((1 << few) - 1)) << (FRACTION - few) | self.fraction >> few
        far = shift_right(self.whole, np.maximum(places - FRACTION, 0)) & _MASK
        fraction = np.where(places > FRACTION, far, low)
        whole = shift_right(self.whole, places)
        return Long(whole, fraction, self.exponent + places)

    def plus(self, other: Long) -> Long:
        """Return the sums of these accumulators and `other`.

        The two terms of a sum are aligned to the larger of their exponents. A sum may need more
        than 74 bits. `check` tests this.
        """
        exponent = np.maximum(self.exponent, other.exponent)
        left = self.shift_right(exponent - self.exponent)
        right = other.shift_right(exponent - other.exponent)
        fraction = left.fraction + right.fraction
        carry = fraction >> FRACTION
        return Long(left.whole + right.whole + carry, fraction & _MASK, exponent)

    def check(self, column: int) -> None:
        """Raise `OutOfRange` if one of the accumulators needs more than 74 bits.

        The accumulators have shape (iterations, rows, N). `column` is the number of the column of
        tiles that was added last, for the exception.
        """
        inside = fits(self.whole, WHOLE)
        if not inside.all():
            raise OutOfRange(tuple(int(x) for x in np.argwhere(~inside)[0]), column)


def round_scaled(value: Ints, exponent: Ints, dtype: DTypeLike) -> Host:
    """Return `value` · 2**`exponent` rounded once to the host type. |value| must be below 2**62."""
    limits: Any = np.finfo(np.dtype(dtype))
    stored = int(limits.nmant)
    least = int(limits.minexp) - stored  # the exponent of the last place of subnormals
    size = np.abs(value)
    # If binary64 rounds a magnitude up to a power of two, the host type rounds it up, too.
    length = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    place = np.maximum(length + exponent - (stored + 1), least)
    drop = place - exponent
    few = np.clip(drop, 0, 62)
    digits = size >> few
    rest = size & ((1 << few) - 1)
    half = (1 << few) >> 1
    up = (few > 0) & ((rest > half) | ((rest == half) & (digits & 1 == 1)))
    digits = np.where(drop > 62, 0, digits + up) << np.clip(-drop, 0, stored + 1)
    # This one sum is right for subnormals, normals, and a carry into the next power of two.
    bits = np.where(size == 0, 0, ((place - least) << stored) + digits)
    top = (1 << limits.bits - 1) - (1 << stored)  # too large: infinity
    bits = np.minimum(bits, top) | np.where(value < 0, 1 << limits.bits - 1, 0)
    unsigned = np.dtype(f"u{limits.bits // 8}")
    return np.asarray(bits.astype(unsigned).view(dtype))


def round_long(long: Long, dtype: DTypeLike) -> Host:
    """Return the accumulators `long` rounded once to the host type `dtype`, half to even.

    Numbers that are too large for this type become infinite.
    """
    negative = long.whole < 0
    borrow = long.fraction > 0
    whole = np.where(negative, -long.whole - borrow, long.whole)
    fraction = np.where(negative, (-long.fraction) & _MASK, long.fraction)
    # Shorten 74 bits to 62. The last bit says whether any bit that was cut off is set.
    rest = (fraction & 0xFFF) != 0
    packed = whole << 28 | fraction >> 12 | rest
    short = whole < 1 << 21
    size = np.where(short, whole << FRACTION | fraction, packed)
    exponent = long.exponent - FRACTION + np.where(short, 0, 12)
    return round_scaled(np.where(negative, -size, size), exponent, dtype)
