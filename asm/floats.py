"""Converts decimal text to binary floating point with one rounding, half to even."""

from __future__ import annotations

import math

from macaw.isa.lazy_dataclass import dataclass

_LONGEST = 1000  # characters of a number


class FloatError(ValueError):
    """The error for a text that is not a number, or a number that does not fit the format."""


@dataclass(frozen=True)
class FloatFormat:
    """The parameters of an IEEE 754 binary format.

    `size` is in bytes; `fraction` and `exponent` are the widths of these fields in bits.
    """

    name: str
    size: int  # bytes
    fraction: int  # bits
    exponent: int  # bits

    @property
    def bias(self) -> int:
        """The exponent bias: the stored exponent minus the exponent of the number."""
        return (1 << (self.exponent - 1)) - 1


HALF = FloatFormat("float16", 2, 10, 5)
BRAIN = FloatFormat("bfloat16", 2, 7, 8)
SINGLE = FloatFormat("float", 4, 23, 8)
DOUBLE = FloatFormat("double", 8, 52, 11)


def bits(text: str, form: FloatFormat) -> int:
    """Return the bits of the number `text` in the format `form`.

    `text` is a decimal number, `inf` or `nan`, perhaps with a sign before it. Raises `FloatError`.
    """
    negative = text.startswith("-")
    body = text.lstrip("+-").lower()
    sign = int(negative) << (form.size * 8 - 1)
    top = ((1 << form.exponent) - 1) << form.fraction
    if body in ("inf", "infinity"):
        return sign | top
    if body == "nan":
        return sign | top | ((1 << form.fraction) - 1)  # all ones, as GNU as
    if len(body) > _LONGEST:
        raise FloatError(f"a number of {len(body)} characters is too long")
    try:
        near = float(body)
    except ValueError:
        raise FloatError(f"'{text}' is no number") from None
    if math.isinf(near):
        raise FloatError(_too_large(text, form))
    if near == 0:
        if any(digit in "123456789" for digit in body.split("e")[0]):
            raise FloatError(_too_small(text, form))
        return sign
    from fractions import Fraction  # slow to import, and few sources have such numbers

    ratio = Fraction(body).as_integer_ratio()
    return sign | _magnitude(*ratio, text, form)


def _magnitude(numerator: int, denominator: int, text: str, form: FloatFormat) -> int:
    exponent = numerator.bit_length() - denominator.bit_length()
    if _shifted(numerator, -exponent) < _shifted(denominator, exponent):
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)  # below: denormal
    shift = exponent - form.fraction
    above, below = _shifted(numerator, -shift), _shifted(denominator, shift)
    mantissa, rest = divmod(above, below)
    mantissa += 2 * rest > below or (2 * rest == below and mantissa % 2)  # half to even
    if mantissa == 0:
        raise FloatError(_too_small(text, form))
    # A mantissa that was rounded up to the next power of two carries into the exponent.
    result = mantissa + ((exponent + form.bias - 1) << form.fraction)
    if result >= ((1 << form.exponent) - 1) << form.fraction:
        raise FloatError(_too_large(text, form))
    return result


def _shifted(number: int, shift: int) -> int:
    """Return `number` · 2^`shift`, or `number` itself if `shift` is negative."""
    return number << max(shift, 0)


def _too_large(text: str, form: FloatFormat) -> str:
    largest = (2 - 2.0**-form.fraction) * 2.0**form.bias
    return f"{text} is out of range, {form.name} holds up to {largest:.8g}"


def _too_small(text: str, form: FloatFormat) -> str:
    smallest = 2.0 ** (1 - form.bias - form.fraction)
    return f"{text} is out of range, the smallest {form.name} above 0 is {smallest:.8g}"
