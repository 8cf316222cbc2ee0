"""Decimal numbers as binary floating point: against NumPy's numbers, halfway points, and limits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from macaw.asm.floats import BRAIN, DOUBLE, HALF, SINGLE, FloatError, FloatFormat, bits

TYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
}
FORMATS = (HALF, BRAIN, SINGLE, DOUBLE)
each_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)


def value(pattern: int, form: FloatFormat) -> Fraction:
    """The number with these bits, as NumPy reads it."""
    data = np.array(pattern, f"<u{form.size}").view(TYPES[form.name])
    return Fraction(float(data))


def decimal(number: Fraction) -> str:
    """A number as a decimal text without rounding: its denominator is a power of two."""
    power = number.denominator.bit_length() - 1
    return f"{number.numerator * 5**power}e-{power}"


def finite(form: FloatFormat) -> list[int]:
    """Patterns of positive numbers: each 7th of float16, the ends of each exponent of the others."""
    step = 1 << form.fraction
    top = ((1 << form.exponent) - 1) * step
    if form is HALF:
        return list(range(1, top, 7))
    exponents = [0, 1, 2, form.bias - 1, form.bias, form.bias + 1, (1 << form.exponent) - 2]
    return [x * step + y for x in exponents for y in (0, 1, 2, step // 2, step - 1) if x + y]


@each_format
def test_each_number_has_its_bits(form: FloatFormat) -> None:
    sign = 1 << (8 * form.size - 1)
    for pattern in finite(form):
        text = decimal(value(pattern, form))
        if len(text) <= 1000:
            assert bits(text, form) == bits(f"+{text}", form) == pattern
            assert bits(f"-{text}", form) == sign | pattern


@pytest.mark.parametrize("form", [HALF, SINGLE], ids=lambda form: form.name)
def test_a_number_is_rounded_once_to_the_nearest_and_halves_to_even(form: FloatFormat) -> None:
    """Beside the middle of two numbers a far digit decides; a double would have lost it."""
    for pattern in finite(form)[:: 13 if form is HALF else 1]:
        if pattern + 1 == ((1 << form.exponent) - 1) << form.fraction:
            continue
        low, high = value(pattern, form), value(pattern + 1, form)
        middle, little = (low + high) / 2, (high - low) / (1 << 80)
        even = pattern + pattern % 2
        for number, wanted in (
            (middle, even), (middle - little, pattern), (middle + little, pattern + 1)
        ):  # fmt: skip
            assert bits(decimal(number), form) == wanted


@each_format
def test_a_decimal_fraction_has_the_nearest_number(form: FloatFormat) -> None:
    """Of decimals that are no sums of powers of two, no neighbour is as near."""
    for digits in ("0.1", "0.3", "0.7", "1.1", "3.3", "0.9", "1.9", "6.1e-5", "3e-7", "123.45"):
        pattern, number = bits(digits, form), Fraction(digits)
        here, *others = (abs(value(pattern + step, form) - number) for step in (0, -1, 1))
        assert here < min(others)


@each_format
def test_the_limits(form: FloatFormat) -> None:
    sign, step = 1 << (8 * form.size - 1), 1 << form.fraction
    top = ((1 << form.exponent) - 1) * step
    for text, wanted in (("inf", top), ("Infinity", top), ("NaN", top + step - 1), ("0.000e9", 0)):
        assert bits(text, form) == wanted
        assert bits(f"-{text}", form) == sign | wanted
    info = ml_dtypes.finfo(TYPES[form.name])
    largest, smallest = value(top - 1, form), value(1, form)
    beyond = largest + (largest - value(top - 2, form)) / 2  # the middle is rounded to infinity
    for number in (beyond, beyond * 2):
        with pytest.raises(
            FloatError, match=f"{form.name} holds up to {float(info.max):.8g}".replace("+", r"\+")
        ):
            bits(decimal(number), form)
    if form is not DOUBLE:  # the texts of its numbers are longer than a number may be
        assert bits(decimal(beyond * (1 - Fraction(1, 1 << 80))), form) == top - 1
        assert bits(decimal(smallest / 2 * (1 + Fraction(1, 1 << 80))), form) == 1
        with pytest.raises(
            FloatError, match=f"smallest {form.name} above 0 is {float(smallest):.8g}"
        ):
            bits(decimal(smallest / 2), form)  # 0 is even


@pytest.mark.parametrize("text", ["1e-400", "-0.0001e-999"])
def test_what_no_double_holds_is_too_small(text: str) -> None:
    with pytest.raises(FloatError, match=f"^{text} is out of range, the smallest"):
        bits(text, SINGLE)


def test_what_is_no_number() -> None:
    assert bits("1." + "0" * 998, HALF) == 0x3C00  # 1000 characters
    with pytest.raises(FloatError, match=r"^a number of 1001 characters is too long$"):
        bits("1." + "0" * 999, HALF)
    for text in ("", "x", "1e", "0x10", "--"):
        with pytest.raises(FloatError, match=f"^'{text}' is no number$"):
            bits(text, HALF)
