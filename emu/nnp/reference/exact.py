"""Exact fractions for host values, and arithmetic with them, one number at a time.

The module follows the rules of docs/numbers-nnp.md and shares no code with
`macaw.emu.nnp.numbers`. It decodes the bits of a host value and encodes the bits of a result.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from macaw.emu.nnp.quantisers import Quantiser
from macaw.isa.nnp_elements import Element
from macaw.isa.typed_records import NamedTuple

_DIGITS = 70  # number of decimal digits to which e**x is computed


class Number(NamedTuple):
    """A host value: a finite number, an infinity or NaN."""

    kind: str  # "finite", "inf", "nan"
    value: Fraction = Fraction(0)
    negative: bool = False  # whether an infinity is negative, or a zero is -0

    @property
    def is_zero(self) -> bool:
        """Whether the number is +0 or -0."""
        return self.kind == "finite" and not self.value


NAN = Number("nan")


def finite(value: Fraction, zero_is_negative: bool = False) -> Number:
    """Return `value` as a finite number; a zero is -0 if `zero_is_negative`."""
    return Number("finite", value, value < 0 or (not value and zero_is_negative))


class Format(NamedTuple):
    """A binary format of IEEE 754; `exponent` and `fraction` are widths in bits."""

    exponent: int  # widths in bits
    fraction: int

    @property
    def bias(self) -> int:
        """The bias of the exponent field."""
        return (1 << self.exponent - 1) - 1

    def read(self, bits: int) -> Number:
        """Return the number that the bits encode."""
        negative = bool(bits >> self.exponent + self.fraction)
        power = bits >> self.fraction & (1 << self.exponent) - 1
        digits = bits & (1 << self.fraction) - 1
        sign = -1 if negative else 1
        if power == (1 << self.exponent) - 1:
            return NAN if digits else Number("inf", Fraction(sign), negative)
        if power:
            digits += 1 << self.fraction
        size = digits * Fraction(2) ** (max(power, 1) - self.bias - self.fraction)
        return Number("finite", sign * size, negative)

    def write(self, number: Number) -> int:
        """Return the bits of a number, rounded once, half to even."""
        top = (1 << self.exponent) - 1
        if number.kind == "nan":
            return top << self.fraction | 1 << self.fraction - 1
        sign = int(number.negative) << self.exponent + self.fraction
        size = abs(number.value)
        if number.kind == "inf":
            return sign | top << self.fraction
        if not size:
            return sign
        power = max(exponent_of(size), 1 - self.bias)
        # Python's round: half to even
        digits = round(size / Fraction(2) ** (power - self.fraction))
        # A carry out of the fraction's digits increases the exponent, which is in the bits above
        # them.
        bits = (power + self.bias - 1 << self.fraction) + digits
        return sign | min(bits, top << self.fraction)


def exponent_of(size: Fraction) -> int:
    """Return the integer k with 2**k <= size < 2**(k + 1)."""
    k = size.numerator.bit_length() - size.denominator.bit_length()
    return k if Fraction(2) ** k <= size else k - 1


FORMATS = {np.dtype(np.float16): Format(5, 10), np.dtype(np.float32): Format(8, 23)}


# Functions of two numbers and of one


def add(a: Number, b: Number) -> Number:
    """Return the exact sum of `a` and `b`."""
    if "nan" in (a.kind, b.kind) or (a.kind == b.kind == "inf" and a.value != b.value):
        return NAN
    if "inf" in (a.kind, b.kind):
        return a if a.kind == "inf" else b
    return finite(a.value + b.value, a.negative and b.negative)


def opposite(a: Number) -> Number:
    """Return -a."""
    return a if a.kind == "nan" else Number(a.kind, -a.value, not a.negative)


def multiply(a: Number, b: Number) -> Number:
    """Return the exact product of `a` and `b`."""
    negative = a.negative != b.negative
    if "nan" in (a.kind, b.kind):
        return NAN
    if "inf" in (a.kind, b.kind):
        if a.is_zero or b.is_zero:
            return NAN
        return Number("inf", Fraction(-1 if negative else 1), negative)
    return finite(a.value * b.value, negative)


def maximum(a: Number, b: Number) -> Number:
    """Return the maximum of `a` and `b` by IEEE 754-2019.

    The maximum is NaN if `a` or `b` is NaN; +0 is greater than -0.
    """
    if "nan" in (a.kind, b.kind):
        return NAN
    if a.is_zero and b.is_zero:
        return b if a.negative else a
    return a if _less(b, a) else b


def _less(a: Number, b: Number) -> bool:
    """Return whether a < b. Neither may be NaN."""
    big = {"inf": 1 << 4096}
    left = a.value * big.get(a.kind, 1)
    return left < b.value * big.get(b.kind, 1)


def exp(x: Fraction) -> Fraction:
    with localcontext(Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def sigmoid(a: Number) -> Number:
    """Return 1 / (1 + e**-a), precise enough to be rounded to fp16 or fp32."""
    if a.kind == "nan":
        return NAN
    if a.kind == "inf" or abs(a.value) > 200:  # beyond this, both formats round to 0 or 1
        return finite(Fraction(0 if a.negative else 1))
    return finite(1 / (1 + exp(-a.value)))


def tanh(a: Number) -> Number:
    """Return the hyperbolic tangent of `a`, precise enough to be rounded to fp16 or fp32."""
    if a.kind == "nan" or a.is_zero:
        return a
    sign = -1 if a.negative else 1
    if a.kind == "inf" or abs(a.value) > 200:
        return finite(Fraction(sign))
    double = exp(-2 * abs(a.value))
    if abs(a.value) < Fraction(1, 1 << 40):  # otherwise subtracting e**-2x would leave few digits
        return finite(a.value - a.value**3 / 3)
    return finite(sign * (1 - double) / (1 + double))


# Quantisers: the integers m of a block and its exponent


def quantise_block(numbers: list[Number], quantiser: Quantiser) -> tuple[list[int], int]:
    """Return the codes of a block of numbers and their shared exponent.

    The exponent is 0 unless the kind of `quantiser` is bfp or mx.
    """
    if quantiser.kind == "bfp":
        return _bfp(numbers, quantiser.bits)
    if quantiser.kind == "mx":
        return _mx(numbers, quantiser.small_float)
    if quantiser.kind == "float":
        return [_float(number, quantiser.small_float) for number in numbers], 0
    quantise = {"int": _int, "log": _log}[quantiser.kind]
    return [quantise(number, quantiser) for number in numbers], 0


def _clip(value: int, bits: int) -> int:
    return min(max(value, -(1 << bits - 1)), (1 << bits - 1) - 1)


def _bfp(numbers: list[Number], bits: int) -> tuple[list[int], int]:
    exponent = -15
    for number in numbers:
        if number.kind == "inf":
            exponent = 16
        while exponent < 16 and abs(number.value) >= Fraction(2) ** exponent:
            exponent += 1
    scale, far = Fraction(2) ** (bits - 1 - exponent), Fraction(2) ** 64
    scaled = (number.value * (far if number.kind == "inf" else scale) for number in numbers)
    return [_clip(round(value), bits) for value in scaled], exponent


def _int(number: Number, quantiser: Quantiser) -> int:
    far = 1 << 64
    return _clip(round(number.value * (far if number.kind == "inf" else 1)), quantiser.bits)


def _log(number: Number, quantiser: Quantiser) -> int:
    most = min((1 << quantiser.bits - 2) - 1, 15)
    sign = -1 if number.negative else 1
    if number.kind == "inf":
        return sign * (2 * most + 1)
    if not number.value:
        return 0
    power = exponent_of(abs(number.value))
    if (abs(number.value) / Fraction(2) ** power) ** 2 > 2:
        power += 1
    return 0 if power < -most else sign * (min(power, most) + most + 1)


def _mx(numbers: list[Number], element: Element) -> tuple[list[int], int]:
    """Return the codes of a block of numbers in the kind mx, and the exponent of the block's scale.

    The codes have the type `element`.
    """
    largest = max(abs(number.value) for number in numbers)
    exponent = -127
    if any(number.kind == "inf" for number in numbers):
        exponent = 127
    elif largest:
        exponent = exponent_of(largest) - element.greatest_exponent
        exponent = min(max(exponent, -127), 127)
    scale = Fraction(2) ** exponent
    scaled = [number._replace(value=number.value / scale) for number in numbers]
    return [_float(number, element) for number in scaled], exponent


def _float(number: Number, element: Element) -> int:
    digits = element.mantissa_bits
    least = 2 - (1 << element.exponent_bits - 1) if element.exponent_bits else 0  # 1 - bias
    sign = -1 if number.negative else 1
    if number.kind == "inf":
        return sign * element.greatest
    size = abs(number.value)
    if not size:
        return 0
    power = max(exponent_of(size), least) if element.exponent_bits else 0
    code = (power - least << digits) + round(size / Fraction(2) ** (power - digits))
    return sign * min(code, element.greatest)


def integer_of(code: int, quantiser: Quantiser) -> int:
    """Return the integer m that a code represents: the quantised value is m times a power of 2.

    `Quantiser.unit` gives the exponent of this power.
    """
    size, sign = abs(code), -1 if code < 0 else 1
    if quantiser.kind == "log":
        return sign << size - 1 if size else 0
    is_float = quantiser.kind == "float"
    if is_float or (quantiser.kind == "mx" and quantiser.small_float.exponent_bits):
        digits = quantiser.small_float.mantissa_bits
        power, fraction = size >> digits, size & (1 << digits) - 1
        return sign * ((fraction | 1 << digits) << power - 1 if power else fraction)
    return code


def function(name: str, chain: Number, operand: Number = NAN) -> Number:
    if name == "vv_add":
        return add(chain, operand)
    if name == "vv_a_sub_b":
        return add(chain, opposite(operand))
    if name == "vv_b_sub_a":
        return add(operand, opposite(chain))
    if name == "vv_max":
        return maximum(chain, operand)
    if name == "vv_mul":
        return multiply(chain, operand)
    if name == "v_sigm":
        return sigmoid(chain)
    if name == "v_tanh":
        return tanh(chain)
    return maximum(chain, finite(Fraction(0)))
