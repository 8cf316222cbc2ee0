"""Binary floating-point operations in exact fractions, each rounded once, without NumPy.

A number is given by its bits. `Float(11, 5)` is binary16, `Float(24, 8)` binary32, `Float(8, 8)`
bfloat16.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import isqrt


@dataclass(frozen=True)
class Float:
    """A format of `precision` bits (with the hidden bit) and `exponent` bits."""

    precision: int
    exponent: int

    @property
    def bits(self) -> int:
        return self.precision + self.exponent

    @property
    def _fraction(self) -> int:
        return self.precision - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self._fraction

    @property
    def nan(self) -> int:
        """The bits of the canonical NaN: quiet and positive, all other bits 0."""
        return self.infinity | 1 << self._fraction - 1

    @property
    def sign(self) -> int:
        return 1 << self.bits - 1

    @property
    def _least(self) -> int:
        """The exponent of the lowest bit of subnormal numbers."""
        return 2 - (1 << self.exponent - 1) - self._fraction

    def is_nan(self, x: int) -> bool:
        return x & ~self.sign > self.infinity

    def is_infinite(self, x: int) -> bool:
        return x & ~self.sign == self.infinity

    def value(self, x: int) -> Fraction:
        """The value of a finite number, given by its bits."""
        field = (x & ~self.sign) >> self._fraction
        digits = x & (1 << self._fraction) - 1
        if field:
            digits |= 1 << self._fraction
        exponent = max(field, 1) - 1 + self._least
        digits = -digits if x & self.sign else digits
        return Fraction(digits << exponent) if exponent > 0 else Fraction(digits, 1 << -exponent)

    def rounded(self, value: Fraction, negative_zero: bool = False) -> int:
        """The bits of the nearest number, half to even; infinity if the value is too great."""
        sign = self.sign if value < 0 or (value == 0 and negative_zero) else 0
        size = abs(value)
        if not size:
            return sign
        near = size.numerator.bit_length() - size.denominator.bit_length()
        exponent = max(self._least, near - self.precision)  # too small at most by 1
        while True:
            whole = size.denominator << max(exponent, 0)
            digits, rest = divmod(size.numerator << max(-exponent, 0), whole)
            if digits >> self.precision == 0:
                break
            exponent += 1
        if 2 * rest > whole or (2 * rest == whole and digits & 1):
            digits += 1
        # A carry out of the digits goes into the exponent by itself.
        bits = digits + ((exponent - self._least) << self._fraction)
        return sign | min(bits, self.infinity)

    def add(self, x: int, y: int) -> int:
        if self.is_nan(x) or self.is_nan(y):
            return self.nan
        if self.is_infinite(x) or self.is_infinite(y):
            if self.is_infinite(x) and self.is_infinite(y) and x != y:
                return self.nan
            return x if self.is_infinite(x) else y
        zeros = bool(x & y & self.sign)
        return self.rounded(self.value(x) + self.value(y), zeros)

    def negative(self, x: int) -> int:
        return x ^ self.sign

    def multiply(self, x: int, y: int) -> int:
        if self.is_nan(x) or self.is_nan(y):
            return self.nan
        sign = (x ^ y) & self.sign
        if self.is_infinite(x) or self.is_infinite(y):
            if x & ~self.sign == 0 or y & ~self.sign == 0:
                return self.nan
            return sign | self.infinity
        return self.rounded(self.value(x) * self.value(y), bool(sign))

    def divide(self, x: int, y: int) -> int:
        if self.is_nan(x) or self.is_nan(y):
            return self.nan
        sign = (x ^ y) & self.sign
        zero, other = y & ~self.sign == 0, x & ~self.sign == 0
        if (zero and other) or (self.is_infinite(x) and self.is_infinite(y)):
            return self.nan
        if zero or self.is_infinite(x):
            return sign | self.infinity
        if self.is_infinite(y):
            return sign
        return self.rounded(self.value(x) / self.value(y), bool(sign))

    def root(self, x: int) -> int:
        """The square root, correctly rounded, from an integer root with many more bits."""
        if x & ~self.sign == 0:
            return x
        if self.is_nan(x) or x & self.sign:
            return self.nan
        if self.is_infinite(x):
            return x
        scaled = self.value(x) * 4**200  # a whole number: 2**-149 is the least of binary32
        assert scaled.denominator == 1
        floor = isqrt(scaled.numerator)
        rest = Fraction(int(floor * floor != scaled.numerator), 2)  # somewhere below the next one
        return self.rounded((floor + rest) / Fraction(2) ** 200)

    def exponential(self, x: int) -> int:
        """e to the power of x, rounded from 60 decimal digits."""
        if self.is_nan(x):
            return self.nan
        if self.is_infinite(x):
            return 0 if x & self.sign else x
        value = self.value(x)
        if abs(value) > 200:
            return self.infinity if value > 0 else 0
        with localcontext(Context(prec=60)):
            exact = (Decimal(value.numerator) / Decimal(value.denominator)).exp()
        return self.rounded(Fraction(exact))

    def convert(self, x: int, to: Float) -> int:
        """The bits of the number in another format."""
        if self.is_nan(x):
            return to.nan
        sign = x & self.sign
        if self.is_infinite(x):
            return to.infinity | (to.sign if sign else 0)
        return to.rounded(self.value(x), bool(sign))


HALF, SINGLE, BRAIN = Float(11, 5), Float(24, 8), Float(8, 8)
EDGES = {
    HALF: (0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x83FF, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00,
           0xFC00, 0x7E00, 0xFE01, 0x7D00, 0x3555, 0x1400),
    BRAIN: (0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x807F, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80,
            0xFF80, 0x7FC0, 0xFFC1, 0x7FA0, 0x3EAB, 0x3B80, 0x4300, 2, 0x1F80, 0x2000),
    SINGLE: (0, 1 << 31, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x807FFFFF, 0x3F800000, 0xBF800000,
             0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FA00000,
             0x33800000, 0x4B800000, 0x3EAAAAAB, 0x00000002, 0x1F800000),
}  # fmt: skip
