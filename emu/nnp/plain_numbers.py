"""The arithmetic of the reference engine: element by element, in Python's integers and fractions.

It shares nothing with `macaw.emu.nnp.numbers` but the rules of docs/numbers-nnp.md; a host value is
read from and written to its bits here.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.arithmetic import Numbers
from macaw.emu.nnp.numbers import NotANumber, OutOfRange, Quantised, Quantiser
from macaw.emu.nnp.state import BIAS

Host = NDArray[np.floating[Any]]

_DIGITS = 70  # of functions that are no fractions
_FRACTION = 40  # bits of BFP long behind the point
_WHOLE = 73  # and all of them but the sign


class Number(NamedTuple):
    """A host value: an exact one, an infinity or none."""

    kind: str  # "finite", "inf", "nan"
    value: Fraction = Fraction(0)  # of an infinity its sign
    negative: bool = False

    @property
    def is_zero(self) -> bool:
        """Whether it is +0 or -0."""
        return self.kind == "finite" and not self.value


NAN = Number("nan")


def finite(value: Fraction, zero_is_negative: bool = False) -> Number:
    """An exact number; of a zero its sign."""
    return Number("finite", value, value < 0 or (not value and zero_is_negative))


class Format(NamedTuple):
    """A binary format of IEEE 754."""

    exponent: int  # bits
    fraction: int

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return (1 << self.exponent - 1) - 1

    def read(self, bits: int) -> Number:
        """The number of the bits."""
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
        """The bits of a number, rounded once, half to even."""
        top = (1 << self.exponent) - 1
        if number.kind == "nan":
            return top << self.fraction | 1 << self.fraction - 1
        sign = int(number.negative) << self.exponent + self.fraction
        size = abs(number.value)
        if number.kind == "inf":
            return sign | top << self.fraction
        if not size:
            return sign
        power = max(_power(size), 1 - self.bias)
        digits = round(size / Fraction(2) ** (power - self.fraction))  # half to even
        # A carry out of the digits goes into the exponent, as the bits stand beside each other.
        bits = (power + self.bias - 1 << self.fraction) + digits
        return sign | min(bits, top << self.fraction)


def _power(size: Fraction) -> int:
    """The k with 2**k <= size < 2**(k + 1)."""
    k = size.numerator.bit_length() - size.denominator.bit_length()
    return k if Fraction(2) ** k <= size else k - 1


FORMATS = {np.dtype(np.float16): Format(5, 10), np.dtype(np.float32): Format(8, 23)}


# Functions of two and of one


def add(a: Number, b: Number) -> Number:
    """The exact sum."""
    if "nan" in (a.kind, b.kind) or (a.kind == b.kind == "inf" and a.value != b.value):
        return NAN
    if "inf" in (a.kind, b.kind):
        return a if a.kind == "inf" else b
    return finite(a.value + b.value, a.negative and b.negative)


def opposite(a: Number) -> Number:
    """-a."""
    return a if a.kind == "nan" else Number(a.kind, -a.value, not a.negative)


def multiply(a: Number, b: Number) -> Number:
    """The exact product."""
    negative = a.negative != b.negative
    if "nan" in (a.kind, b.kind):
        return NAN
    if "inf" in (a.kind, b.kind):
        if a.is_zero or b.is_zero:
            return NAN
        return Number("inf", Fraction(-1 if negative else 1), negative)
    return finite(a.value * b.value, negative)


def maximum(a: Number, b: Number) -> Number:
    """IEEE 754-2019: NaN if one is; +0 is greater than -0."""
    if "nan" in (a.kind, b.kind):
        return NAN
    if a.is_zero and b.is_zero:
        return b if a.negative else a
    return a if _less(b, a) else b


def _less(a: Number, b: Number) -> bool:
    """a < b of numbers that are none."""
    big = {"inf": 1 << 4096}
    left = a.value * big.get(a.kind, 1)
    return left < b.value * big.get(b.kind, 1)


def _exp(x: Fraction) -> Fraction:
    with localcontext(Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def sigmoid(a: Number) -> Number:
    """1 / (1 + e**-x)."""
    if a.kind == "nan":
        return NAN
    if a.kind == "inf" or abs(a.value) > 200:  # beyond, both formats have 0 or 1
        return finite(Fraction(0 if a.negative else 1))
    return finite(1 / (1 + _exp(-a.value)))


def tanh(a: Number) -> Number:
    """tanh x."""
    if a.kind == "nan" or a.is_zero:
        return a
    sign = -1 if a.negative else 1
    if a.kind == "inf" or abs(a.value) > 200:
        return finite(Fraction(sign))
    double = _exp(-2 * abs(a.value))
    if abs(a.value) < Fraction(1, 1 << 40):  # e**-2x would leave few digits
        return finite(a.value - a.value**3 / 3)
    return finite(sign * (1 - double) / (1 + double))


# Quantisers: the integers m of a block and its exponent


def quantised(numbers: list[Number], quantiser: Quantiser) -> tuple[list[int], int]:
    """The codes of a block and its exponent."""
    if quantiser.kind == "bfp":
        return _bfp(numbers, quantiser.bits)
    one = {"int": _int, "log": _log, "float": _float}[quantiser.kind]
    return [one(number, quantiser) for number in numbers], 0


def _clipped(value: int, bits: int) -> int:
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
    return [_clipped(round(value), bits) for value in scaled], exponent


def _int(number: Number, quantiser: Quantiser) -> int:
    far = 1 << 64
    return _clipped(round(number.value * (far if number.kind == "inf" else 1)), quantiser.bits)


def _log(number: Number, quantiser: Quantiser) -> int:
    most = min((1 << quantiser.bits - 2) - 1, 15)
    sign = -1 if number.negative else 1
    if number.kind == "inf":
        return sign * (2 * most + 1)
    if not number.value:
        return 0
    power = _power(abs(number.value))
    if (abs(number.value) / Fraction(2) ** power) ** 2 > 2:
        power += 1
    return 0 if power < -most else sign * (min(power, most) + most + 1)


def _float(number: Number, quantiser: Quantiser) -> int:
    digits = quantiser.mantissa_bits
    least = 2 - (1 << quantiser.exponent_bits - 1)  # 1 - bias
    largest = ((1 << quantiser.exponent_bits) - 1 << digits) - 1
    sign = -1 if number.negative else 1
    if number.kind == "inf":
        return sign * largest
    size = abs(number.value)
    if not size:
        return 0
    power = max(_power(size), least)
    code = (power - least << digits) + round(size / Fraction(2) ** (power - digits))
    return sign * min(code, largest)


def whole(code: int, quantiser: Quantiser) -> int:
    """m, the integer that a code stands for."""
    size, sign = abs(code), -1 if code < 0 else 1
    if quantiser.kind == "log":
        return sign << size - 1 if size else 0
    if quantiser.kind == "float":
        digits = quantiser.mantissa_bits
        power, fraction = size >> digits, size & (1 << digits) - 1
        return sign * ((fraction | 1 << digits) << power - 1 if power else fraction)
    return code


class PlainArithmetic(Numbers):
    """See `macaw.emu.nnp.arithmetic.Arithmetic`."""

    # Between arrays and numbers

    def _numbers(self, values: Host) -> list[Number]:
        form = FORMATS[self.dtype]
        bits = np.ascontiguousarray(values).view(f"u{self.dtype.itemsize}")
        return [form.read(item) for item in bits.ravel().tolist()]

    def _array(self, numbers: list[Number], shape: tuple[int, ...]) -> Host:
        form = FORMATS[self.dtype]
        bits = np.array([form.write(item) for item in numbers], f"u{self.dtype.itemsize}")
        found: Host = bits.view(self.dtype).reshape(shape)
        return found

    # The quantisers

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """See `Arithmetic`."""
        native = values.shape[-1]
        numbers = self._numbers(values)
        for place, number in enumerate(numbers):
            if number.kind == "nan":
                raise NotANumber(tuple(int(x) for x in np.unravel_index(place, values.shape)))
        codes, exponents = [], []
        for start in range(0, len(numbers), native):
            of_block, exponent = quantised(numbers[start : start + native], quantiser)
            codes += of_block
            exponents.append(exponent)
        return Quantised(
            np.array(codes, np.int16).reshape(values.shape),
            np.array(exponents, np.int8).reshape(values.shape[:-1]),
        )

    def host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """See `Arithmetic`."""
        exponents = np.broadcast_to(quantised.exponents[..., None], quantised.codes.shape)
        shared = quantiser.kind == "bfp"
        numbers = [
            finite(whole(code, quantiser) * Fraction(2) ** (quantiser.unit + (e if shared else 0)))
            for code, e in zip(
                quantised.codes.ravel().tolist(), exponents.ravel().tolist(), strict=True
            )
        ]
        return self._array(numbers, quantised.codes.shape)

    # Products

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """See `Arithmetic`."""
        count, _, native = vectors.codes.shape
        places = [(i, row, x) for i in range(count) for row in range(rows) for x in range(native)]
        totals = [(0, 0)] * len(places)  # V and its exponent
        for column in range(cols):
            for place, (i, row, element) in enumerate(places):
                block = vectors.codes[i, column].tolist(), int(vectors.exponents[i, column])
                tile = first + row * cols + column
                total = self._plus(totals[place], self._dot(tile, element, *block), column)
                if not -(1 << _WHOLE) <= total[0] < 1 << _WHOLE:
                    raise OutOfRange((i, row, element), column)
                totals[place] = total
        values = [finite(v * Fraction(2) ** (e - _FRACTION)) for v, e in totals]
        return self._array(values, (count, rows, native))

    def _dot(self, tile: int, element: int, x: list[int], exponent: int) -> tuple[int, int]:
        """A row of a tile by a vector: V and its exponent in BFP long."""
        dot = sum(
            whole(w, self.matrix) * whole(v, self.vector)
            for w, v in zip(self.state.tile_codes[tile, element].tolist(), x, strict=True)
        )
        unit = self.vector.unit + self.matrix.unit
        if self.vector.kind != "bfp":
            return dot, _FRACTION + unit
        own = int(self.state.tile_exponents[tile, element]) - int(BIAS)
        return dot << _FRACTION + unit, own + exponent

    def _plus(self, total: tuple[int, int], term: tuple[int, int], column: int) -> tuple[int, int]:
        """The accumulator and a column's term, aligned to the larger exponent."""
        if column == 0:
            return term
        larger = max(total[1], term[1])
        return (total[0] >> larger - total[1]) + (term[0] >> larger - term[1]), larger

    # The multi-function units

    def function(self, name: str, *operands: Host) -> Host:
        """See `Arithmetic`."""
        values = zip(*map(self._numbers, operands), strict=True)
        return self._array([_function(name, *item) for item in values], operands[0].shape)

    def softmax(self, values: Host, valid: int) -> Host:
        """See `Arithmetic`."""
        length = values.shape[-1]
        numbers = self._numbers(values)
        found: list[Number] = []
        for start in range(0, len(numbers), length):
            found += self._softmax(numbers[start : start + min(valid, length)])
            found += [finite(Fraction(0))] * (length - min(valid, length))
        return self._array(found, values.shape)

    def _softmax(self, numbers: list[Number]) -> list[Number]:
        top = numbers[0]
        for number in numbers:
            top = maximum(top, number)
        form = FORMATS[self.dtype]
        far = [form.read(form.write(add(number, opposite(top)))) for number in numbers]
        if any(number.kind == "nan" for number in (top, *far)):
            return [NAN] * len(numbers)
        parts = [self._exponential(number) for number in far]
        return [finite(part / sum(parts)) for part in parts]

    def _exponential(self, number: Number) -> Fraction:
        """e**x rounded to the host format, never finer than 2**-40."""
        if number.kind == "inf" or number.value < -1000:
            return Fraction(0)
        form = FORMATS[self.dtype]
        exact = _exp(number.value)
        step = Fraction(2) ** max(_power(exact) - form.fraction, 1 - form.bias - form.fraction)
        step = max(step, Fraction(1, 1 << _FRACTION))
        return round(exact / step) * step

    def written(self, first: int, count: int) -> None:
        """Nothing is kept of MatrixRf."""

    def clear(self) -> None:
        """As `written`."""


def _function(name: str, chain: Number, operand: Number = NAN) -> Number:
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
