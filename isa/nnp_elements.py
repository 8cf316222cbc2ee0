"""The number types of nnp's multiplier: small floats, powers of two (log), elements of mx blocks.

docs/numbers-nnp.md has the rules; assembler, emulator and generated software share these tables.
"""

from __future__ import annotations

from functools import cached_property

from macaw.isa.lazy_dataclass import dataclass

_MOST_POWERS = 15  # the most powers of two above 1, and also below 1, of the kind log


@dataclass(frozen=True)
class Element:
    """An element type: small floating-point numbers, or integers if there are no exponent bits.

    A number is stored as a code. The code of a floating-point number is ±(exponent field ·
    2**mantissa_bits + fraction). The code of an integer is the integer. `greatest` is the largest
    code.
    """

    exponent_bits: int
    mantissa_bits: int
    greatest: int

    @cached_property
    def least_exponent(self) -> int:
        """The exponent of the least normal number; 0 for a type of integers.

        The integers are scaled: the code m stands for m / 2**mantissa_bits.
        """
        return 2 - (1 << self.exponent_bits - 1) if self.exponent_bits else 0

    @cached_property
    def unit(self) -> int:
        """The number u such that each number of the type is m · 2**u with an integer m."""
        return self.least_exponent - self.mantissa_bits

    @cached_property
    def greatest_exponent(self) -> int:
        """The exponent of the largest number; OCP calls it emax."""
        if not self.exponent_bits:
            return 0
        return (self.greatest >> self.mantissa_bits) - 1 + self.least_exponent

    @cached_property
    def greatest_value(self) -> float:
        """The largest number."""
        if not self.exponent_bits:
            return self.greatest * 2.0**self.unit
        hidden = 1 << self.mantissa_bits
        digits = hidden + (self.greatest & hidden - 1)
        return digits * 2.0 ** (self.greatest_exponent - self.mantissa_bits)

    @cached_property
    def size(self) -> int:
        """The number of bits of the largest magnitude, in units of 2**unit.

        Each number of the type is m · 2**unit with an integer m, whose magnitude is below 2**size.
        """
        return self.greatest_exponent - self.unit + 1


# fmt: off
MX_ELEMENTS = {
    "e4m3": Element(4, 3, 126),  # the code 127 is NaN
    "e5m2": Element(5, 2, 123),  # the codes 124 to 127 are infinity and NaN
    "e2m3": Element(2, 3, 31),
    "e3m2": Element(3, 2, 31),
    "e2m1": Element(2, 1, 7),
    "int8": Element(0, 6, 127),  # symmetric: -128 is not used
}
# fmt: on
"""The element types of the microscaling formats of OCP (MX 1.0)."""


def float_element(exponent_bits: int, mantissa_bits: int) -> Element:
    """Return the element type of the kind float with fields of these widths in bits.

    No code of the type has an exponent field of all ones.
    """
    return Element(exponent_bits, mantissa_bits, (((1 << exponent_bits) - 1) << mantissa_bits) - 1)


def greatest_power(bits: int) -> int:
    """Return the exponent of the greatest power of two of a type of the kind log with `bits` bits.

    If the result is K, the magnitudes of the type's numbers are 2**-K to 2**K.
    """
    return min((1 << bits - 2) - 1, _MOST_POWERS)
