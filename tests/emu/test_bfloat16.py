"""bfloat16 numbers: conversions and arithmetic against ml_dtypes and exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import macaw
from macaw.emu import bfloat16
from macaw.emu.bfloat16 import BFLOAT16, encode, numbers
from macaw.emu.curves import sigmoid, tanh
from macaw.emu.fim.arithmetic import Mode, results
from macaw.emu.floats import (
    add,
    all_finite,
    finites,
    maximum,
    multiply,
    nans,
    round_fraction,
    subtract,
)
from macaw.isa.fim_circuit import FORMAT_NAMES, FUNCTION_NAMES
from tests.emu.bfloat16_pairs import check_pairs, rounded, wide
from tests.emu.exact_floats import BRAIN, EDGES, SINGLE
from tests.emu.nnp import exact_numbers

pytestmark = pytest.mark.once
BITS = np.arange(1 << 16, dtype=np.uint16)
ALL = BITS.view(BFLOAT16)


def function(name: str) -> list[int]:
    """The results of an island's function for all numbers, as bits."""
    mode = Mode(FUNCTION_NAMES.index(name), format=FORMAT_NAMES.index("bf16"))
    found: list[int] = results(mode, ALL.view(np.uint8), ALL.view(np.uint8)).view("u2").tolist()
    return found


def test_all_numbers_are_the_upper_halves_of_binary32() -> None:
    values = numbers(ALL)
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values.view(np.uint32), BITS.astype(np.uint32) << 16)
    is_nan = np.isnan(values)
    expected = np.where(is_nan, 0x7FC0, BITS)
    np.testing.assert_array_equal(encode(values).view(np.uint16), expected)
    np.testing.assert_array_equal(BITS.view(ml_dtypes.bfloat16).astype(np.float32), values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_ties_go_to_the_even_number_and_all_else_to_the_nearest(dtype: type) -> None:
    """Between each two neighbours: the middle, and the binary numbers next to it on both sides."""
    values = numbers(ALL[:0x7F80]).astype(np.float64)
    with np.errstate(over="ignore"):
        middle: np.ndarray = ((values[1:] + values[:-1]) / 2).astype(dtype)
    exact = middle.astype(np.float64) * 2 == values[1:] + values[:-1]
    with np.errstate(over="ignore"):
        below, above = np.nextafter(middle, dtype(0)), np.nextafter(middle, dtype(np.inf))
    low, high = BITS[: 0x7F80 - 1], BITS[1:0x7F80]
    even = np.where(low & 1, high, low)
    for given, wanted in ((below, low), (middle, even), (above, high)):
        for sign in (1, -1):
            found = encode(sign * given).view(np.uint16)
            bits = wanted | np.uint16(0x8000 * (sign < 0))
            np.testing.assert_array_equal(found[exact], bits[exact])
    assert exact.sum() > (1000 if dtype is np.float16 else 32000)


def test_binary64_is_rounded_once() -> None:
    """A binary64 number just above the middle of two numbers is not rounded to the middle first."""
    random = np.random.default_rng(1)
    digits = random.integers(0, 1 << 53, 20000) | random.integers(0, 2, 20000) << 44
    values = np.ldexp(digits.astype(np.float64), random.integers(-200, 80, 20000))
    found = encode(values).view(np.uint16)
    np.testing.assert_array_equal(found, rounded(values))
    for value, bits in zip(values[:500].tolist(), found.tolist(), strict=False):
        assert bits == BRAIN.rounded(Fraction(value))
        if value:
            exact = float(round_fraction(Fraction(value), BFLOAT16))
            assert exact == wide(np.array([bits], np.uint16))[0]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble, ">i8"])
def test_wider_numbers_are_rounded_once(dtype: Any) -> None:
    """Integers of 64 bits and longdouble are not rounded to binary64 first."""
    kind = np.dtype(dtype)
    if kind == np.float64:
        # Where longdouble is binary64 (macOS on ARM), it cannot hold the values of this test.
        pytest.skip("longdouble is binary64 on this machine")
    middles = [(1 << at) + (1 << at - 8) * odd for at in range(50, 63) for odd in (1, 3)]
    whole = [middle + more for middle in middles for more in (-1, 0, 1)]
    if kind.kind != "u":
        whole += [-value for value in whole] + [-(1 << 63)]
    else:
        whole += [(1 << 64) - 1, (1 << 63) + (1 << 55) + 1]
    values = np.array(whole, kind)
    assert [int(value) for value in values] == whole
    found = encode(values).view(np.uint16).tolist()
    assert found == [BRAIN.rounded(Fraction(value)) for value in whole]
    assert encode(values[2]).view(np.uint16) == BRAIN.rounded(Fraction(whole[2]))
    if kind.kind != "f":
        return
    just_above = np.longdouble(1) + np.longdouble(2) ** -8 + np.longdouble(2) ** -62
    assert encode(just_above).view(np.uint16) == 0x3F81
    ends = np.array([np.longdouble("1e400"), np.longdouble("-1e400"), np.nan, np.inf], kind)
    assert encode(ends).view(np.uint16).tolist() == [0x7F80, 0xFF80, 0x7FC0, 0x7F80]
    assert encode(np.longdouble("-1e-400")).view(np.uint16) == 0x8000


def test_other_structures_of_2_bytes_are_no_bfloat16_elements() -> None:
    values = np.array([1.0, -2.5, 3e38], ml_dtypes.bfloat16)
    for given in (values, values.view("V2"), values.view(BFLOAT16), values.astype(np.float32)):
        elements = bfloat16.elements_of(given, "bfloat16")
        assert elements is not None
        assert elements.tobytes() == values.tobytes()
    others: list[Any] = [[("x", "u1"), ("y", "u1")], [("x", "<f2")], "V4", "<u2", "<f2"]
    for dtype in others:
        assert bfloat16.elements_of(np.zeros(4, np.dtype(dtype)), "bfloat16") is None


def test_the_ends_of_the_range() -> None:
    """Half a unit above the greatest number is infinite, the number below is not."""
    limit = (2 - 2.0**-8) * 2.0**127
    given = np.array([limit, np.nextafter(limit, 0), -limit, 1e300, 2.0**-134, 2.0**-133 * 0.75])
    found = numbers(encode(given)).tolist()
    assert found == [np.inf, bfloat16.GREATEST, -np.inf, np.inf, 0, 2.0**-133]
    assert float(ml_dtypes.finfo(ml_dtypes.bfloat16).max) == bfloat16.GREATEST
    one = encode(np.float32(1.5))
    assert one.shape == ()
    assert float(numbers(one)) == 1.5


def test_edges_with_edges() -> None:
    """All functions of two operands, for zeros, subnormals, infinities and NaN."""
    edges = list(EDGES[BRAIN])
    pairs = list(product(edges, edges))
    x, y = (np.array([pair[side] for pair in pairs], np.uint16) for side in (0, 1))
    a, b = x.view(BFLOAT16), y.view(BFLOAT16)
    divide = Mode(FUNCTION_NAMES.index("div"), format=FORMAT_NAMES.index("bf16"))
    for found, witness in (
        (add(a, b), BRAIN.add),
        (subtract(a, b), lambda p, q: BRAIN.add(p, BRAIN.negative(q))),
        (multiply(a, b), BRAIN.multiply),
        (results(divide, x.view(np.uint8), y.view(np.uint8)), BRAIN.divide),
        (maximum(a, b), lambda p, q: exact_numbers.maximum(p, q, BRAIN)),
    ):
        assert found.view(np.uint16).tolist() == [witness(p, q) for p, q in pairs]


def test_random_pairs() -> None:
    assert check_pairs(seed=3, count=1 << 18) == 1 << 18


def test_quotients_below_the_normal_numbers() -> None:
    """All significands divided by all, with quotients of each exponent below 2**-126."""
    x = np.repeat(np.arange(0x80, 0x100), 128).astype(np.float64)
    y = np.tile(np.arange(0x80, 0x100), 128).astype(np.float64)
    for exponent in range(-136, -124):
        a, b = encode(np.ldexp(x, exponent - 7 + 10)), encode(np.ldexp(y, 10 - 7))
        mode = Mode(FUNCTION_NAMES.index("div"), format=FORMAT_NAMES.index("bf16"))
        found = results(mode, a.view(np.uint8), b.view(np.uint8)).view(np.uint16)
        np.testing.assert_array_equal(found, rounded(np.ldexp(x / y, exponent)))


def test_relu_square_and_root_of_every_number() -> None:
    zero_or_more = [x if BRAIN.is_nan(x) is False and x < 0x8000 else 0 for x in range(1 << 16)]
    relu = [BRAIN.nan if BRAIN.is_nan(x) else zero_or_more[x] for x in range(1 << 16)]
    assert function("relu") == relu
    assert function("vssqr") == 2 * [BRAIN.multiply(x, x) for x in range(1 << 15)]
    assert function("vssqrt") == [BRAIN.root(x) for x in range(1 << 16)]


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_curves_of_every_number_are_rounded_once(name: str) -> None:
    """sigmoid and tanh of all numbers are those nearest to 60 decimal digits (seed 004 ¶52)."""
    found = function(name)
    ends = {"sigmoid": (0, 0x3F80), "tanh": (0xBF80, 0x3F80)}[name]
    for bits, result in enumerate(found):
        if BRAIN.is_nan(bits):
            assert result == BRAIN.nan
        elif bits & 0x7FFF > 0x4348:  # beyond ±200 all are at an end, infinities too
            assert result == ends[bits < 0x8000]
        elif bits & 0x7FFF == 0:
            assert result == (0x3F00 if name == "sigmoid" else bits)
        elif name == "tanh" and bits & 0x8000:
            assert result == found[bits & 0x7FFF] | 0x8000
        elif bits & 0x7FFF < 0x3000 and bits % 8:  # seven of eight numbers below 2**-31
            assert result == (0x3F00 if name == "sigmoid" else bits)
        else:
            exact = exact_numbers.curve(name, Decimal(float(BRAIN.value(bits))))
            assert result == BRAIN.rounded(exact), hex(bits)


def test_curves_take_arrays_of_any_shape() -> None:
    some = ALL[0x3E00:0x3F00].reshape(16, 16)
    for curve, name in ((sigmoid, "sigmoid"), (tanh, "tanh")):
        expected = np.array(function(name), np.uint16)[0x3E00:0x3F00]
        assert curve(some).shape == (16, 16)
        np.testing.assert_array_equal(curve(some.T).T.reshape(-1).view(np.uint16), expected)


def test_code_that_does_not_know_the_type_fails() -> None:
    """NumPy has no arithmetic for the elements, so it cannot give wrong numbers."""
    for operation in (np.add, np.multiply, np.isnan, np.maximum):
        with pytest.raises(TypeError):
            operation(*([ALL] * operation.nin))


def test_elements_of_arrays() -> None:
    """float32 arrays of bfloat16 numbers, arrays of ml_dtypes, and what NumPy loads of them."""
    values = np.array([[1.5, -2.0], [0.0, 3.0e38]])
    exact = bfloat16.round_bfloat16(values)
    theirs = values.astype(ml_dtypes.bfloat16)
    for array in (exact, theirs, theirs.view("V2"), np.asfortranarray(exact), exact.astype(">f4")):
        elements = bfloat16.elements_of(array, "bfloat16")
        assert elements is not None
        assert elements.shape == (2, 2)
        np.testing.assert_array_equal(elements.view(np.uint16), theirs.view(np.uint16))
    for array in (exact * np.float32(1.001), values, theirs.view(np.uint16), exact.astype("f8")):
        assert bfloat16.elements_of(array, "bfloat16") is None
    assert bfloat16.elements_of(values, "float32") is None
    little = bfloat16.elements_of(np.array(1.0, ">f8"), "float64")
    assert little is not None
    assert little.dtype == "<f8"
    assert bfloat16.type_name(BFLOAT16) == "bfloat16"
    assert bfloat16.type_name(bfloat16.element_type("int8")) == "int8"


def test_masks_of_infinities_and_nan() -> None:
    for sign in (0, 0x8000):
        assert finites(ALL)[sign : sign + 0x7F80].all()
        assert not finites(ALL)[sign + 0x7F80 : sign + 0x8000].any()
        assert nans(ALL)[sign + 0x7F81 : sign + 0x8000].all()
        assert not nans(ALL)[sign : sign + 0x7F81].any()
    assert all_finite(ALL[:0x7F80])
    assert not all_finite(ALL[0xFF7F:0xFF81])


def test_public_rounding() -> None:
    random = np.random.default_rng(2).normal(size=(3, 100)) * 1e20
    found = macaw.round_bfloat16(random)
    np.testing.assert_array_equal(found.view(np.uint32) & 0xFFFF, 0)
    expected = (wide(rounded(random))).astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    assert SINGLE.bits == 32
    assert macaw.round_bfloat16([1, 257]).tolist() == [1, 256]
    np.testing.assert_array_equal(
        macaw.round_bfloat16(random.astype(ml_dtypes.bfloat16)),
        random.astype(ml_dtypes.bfloat16).astype(np.float32),
    )
    with pytest.raises(macaw.InputError, match="an array of numbers"):
        macaw.round_bfloat16("1.5")
