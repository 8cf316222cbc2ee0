"""Computes the arithmetic of docs/numbers-nnp.md element by element in Python's fractions.

It is a witness for macaw.emu.nnp.numbers, without NumPy arithmetic and shared code. Host numbers
are given by their bits (`tests.emu.exact_floats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from macaw.emu.nnp.numbers import Quantiser
from tests.emu.exact_floats import HALF, SINGLE, Float

FLOATS = {"fp16": HALF, "fp32": SINGLE}
UNSIGNED = {"fp16": np.uint16, "fp32": np.uint32}
POWER = {e: Fraction(2) ** e for e in range(-64, 65)}
INFINITE = Fraction(1 << 200)  # in place of an infinity: it saturates like any large number


def bits_of(values: np.ndarray) -> list[int]:
    """The bits of an array of host values, as a flat list."""
    return values.reshape(-1).view(f"u{values.dtype.itemsize}").tolist()


def fraction_of(bits: int, host: Float) -> Fraction:
    """The value of a host number that is not NaN."""
    if host.is_infinite(bits):
        return -INFINITE if bits & host.sign else INFINITE
    return host.value(bits)


@dataclass
class Block:
    """A quantised block: codes, exponent, and for each code its integer and its value."""

    codes: list[int]
    exponent: int
    whole: list[int]
    values: list[Fraction]


def clipped(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


@cache
def float_sizes(exponent_bits: int, mantissa_bits: int) -> tuple[Fraction, ...]:
    """The values of a small float's codes, in ascending order."""
    bias = 2 ** (exponent_bits - 1) - 1
    found = []
    for field in range(2**exponent_bits - 1):
        for fraction in range(2**mantissa_bits):
            digits = Fraction(fraction, 2**mantissa_bits) + (field > 0)
            found.append(digits * Fraction(2) ** (max(field, 1) - bias))
    return tuple(found)


def nearest(size: Fraction, choices: Sequence[Fraction]) -> int:
    """The index of the number nearest to `size` in an ascending list; of two, the even index."""
    low, high = 0, len(choices) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if choices[middle] <= size else (low, middle)
    below, above = abs(size - choices[low]), abs(choices[high] - size)
    if below == above:
        return low if low % 2 == 0 else high
    return low if below < above else high


@cache
def fitting(largest: Fraction) -> int:
    """The exponent of a block whose largest magnitude is `largest`."""
    return next((e for e in range(-15, 16) if largest < POWER[e]), 16)


@cache
def powers_below(square: Fraction, top: int) -> int:
    """The number of powers of two from 2**-top to the power (at most 2**top) nearest to |x|.

    `square` is x**2. The result is 0 if |x| is nearer to 2**(-top - 1).
    """
    # |x| is nearer to 2**k than to its neighbours: 2**(2k-1) < x**2 < 2**(2k+1).
    return sum(square > POWER[2 * k - 1] for k in range(-top, top + 1))


def quantised(numbers: Sequence[Fraction], quantiser: Quantiser) -> Block:
    """Quantise numbers to a block by the rules of docs/numbers-nnp.md."""
    kind, width = quantiser.kind, quantiser.bits
    most = 2 ** (width - 1)
    if kind == "bfp":
        exponent = fitting(max(abs(x) for x in numbers))
        unit = POWER[exponent - (width - 1)]
        codes = [clipped(round(x / unit), -most, most - 1) for x in numbers]
        return Block(codes, exponent, codes, [x * unit for x in codes])
    if kind == "int":
        codes = [clipped(round(x), -most, most - 1) for x in numbers]
        return Block(codes, 0, codes, [Fraction(x) for x in codes])
    if kind == "log":
        top = min(2 ** (width - 2) - 1, 15)
        codes, values = [], []
        for x in numbers:
            code = powers_below(x * x, top)
            codes.append(-code if x < 0 else code)
            size = Fraction(2) ** (code - top - 1) if code else Fraction(0)
            values.append(-size if x < 0 else size)
        return Block(codes, 0, [int(x * 2**top) for x in values], values)
    choices = float_sizes(quantiser.exponent_bits, quantiser.mantissa_bits)
    places = [nearest(min(abs(x), choices[-1]), choices) for x in numbers]
    values = [-choices[i] if x < 0 else choices[i] for i, x in zip(places, numbers, strict=True)]
    codes = [-i if x < 0 else i for i, x in zip(places, numbers, strict=True)]
    return Block(codes, 0, [int(x / choices[1]) for x in values], values)


class LeftRange(Exception):
    """A sum left the range of 74 bits; the argument is the column."""


def accumulated(row: Sequence[Block], vector: Sequence[Block], digits: int, shared: bool,
                unit: int) -> tuple[int, int]:  # fmt: skip
    """V and exponent of one element of a product; `row` and `vector` have one block a column."""
    total = exponent = 0
    for column, (weights, x) in enumerate(zip(row, vector, strict=True)):
        dot = sum(a * b for a, b in zip(weights.whole, x.whole, strict=True))
        if shared:
            other, value = weights.exponent + x.exponent, dot * 2 ** (40 - digits)
        else:
            other, value = 40 + unit, dot
        if column == 0:
            total, exponent = value, other
        else:
            larger = max(exponent, other)
            # Python's floor division of integers goes towards -infinity.
            total = total // 2 ** (larger - exponent) + value // 2 ** (larger - other)
            exponent = larger
        if not -(2**73) <= total < 2**73:
            raise LeftRange(column)
    return total, exponent


def rounded_long(value: int, exponent: int, host: Float) -> int:
    """The bits of V · 2**(exponent - 40) in a host format."""
    return host.rounded(Fraction(value) * Fraction(2) ** (exponent - 40), negative_zero=value < 0)


def maximum(x: int, y: int, host: Float) -> int:
    """The IEEE 754-2019 maximum of two numbers, all given by their bits."""
    if host.is_nan(x) or host.is_nan(y):
        return host.nan
    left, right = fraction_of(x, host), fraction_of(y, host)
    if left == right:
        return x if not x & host.sign else y
    return x if left > right else y


CONTEXT = Context(prec=60, Emin=-(10**6), Emax=10**6)


def curve(name: str, x: Decimal) -> Fraction:
    """sigmoid, tanh or exp to about 50 digits."""
    if name == "exp":
        return Fraction(CONTEXT.exp(x))
    if name == "sigmoid":
        return Fraction(CONTEXT.divide(1, CONTEXT.add(1, CONTEXT.exp(CONTEXT.minus(x)))))
    up = Fraction(CONTEXT.exp(2 * x))
    return (up - 1) / (up + 1)


def softmax(bits: Sequence[int], host: Float) -> list[int]:
    """Softmax of all given numbers, as bits."""
    if any(host.is_nan(x) for x in bits):
        return [host.nan] * len(bits)
    top = max(bits, key=lambda x: fraction_of(x, host))
    differences = [host.add(x, host.negative(top)) for x in bits]
    if any(host.is_nan(x) for x in differences):
        return [host.nan] * len(bits)
    parts = []
    for d in differences:
        size = Fraction(0)
        if not host.is_infinite(d):
            true = curve("exp", CONTEXT.create_decimal_from_float(float(host.value(d))))
            if host is SINGLE and true < Fraction(1, 1 << 16):
                size = Fraction(round(true * 2**40), 2**40)
            else:
                size = host.value(host.rounded(true))
        parts.append(size)
    total = sum(parts, Fraction(0))
    return [host.rounded(x / total) for x in parts]
