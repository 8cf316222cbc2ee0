"""Helpers of macaw.emu.numerics against exact Python integers and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.emu import numerics

pytestmark = pytest.mark.once

ALL_8 = np.arange(-128, 128, dtype=np.int64)
ALL_16 = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@pytest.mark.parametrize("shift", range(18))
def test_round_half_even_shift_is_pythons_round_for_all_16_bit_numbers(shift: int) -> None:
    got = numerics.round_half_even_shift(ALL_16, shift)
    # Python's round of an exact fraction goes half to even.
    scale = 1 << shift
    expected = []
    for value in ALL_16.tolist():
        floor, rest = divmod(value, scale)
        double = 2 * rest
        expected.append(floor + (double > scale or (double == scale and floor % 2 == 1)))
    assert got.tolist() == expected
    sample = ALL_16[::997].tolist()
    got_sample = numerics.round_half_even_shift(np.array(sample), shift).tolist()
    assert got_sample == [round(Fraction(value, scale)) for value in sample]


@given(INT64, st.integers(0, 63))
def test_round_half_even_shift_of_64_bits(value: int, shift: int) -> None:
    got = numerics.round_half_even_shift(np.array([value], dtype=np.int64), shift)
    assert got.tolist() == [round(Fraction(value, 1 << shift))]


@pytest.mark.parametrize("shift", [-1, 64])
def test_round_half_even_shift_refuses(shift: int) -> None:
    with pytest.raises(ValueError, match="out of range, 0 to 63"):
        numerics.round_half_even_shift(ALL_8, shift)


@pytest.mark.parametrize("bits", [1, 2, 7, 8, 9, 16])
def test_saturate_wrap_fits_for_all_16_bit_numbers(bits: int) -> None:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    values = ALL_16.tolist()
    assert numerics.signed_range(bits) == (low, high)
    assert numerics.saturate(ALL_16, bits).tolist() == [min(max(v, low), high) for v in values]
    wrapped = [(v - low) % (1 << bits) + low for v in values]
    assert numerics.wrap(ALL_16, bits).tolist() == wrapped
    assert numerics.fits(ALL_16, bits).tolist() == [low <= v <= high for v in values]


@given(INT64)
def test_64_bits_are_the_whole_range(value: int) -> None:
    array = np.array([value], dtype=np.int64)
    for result in (numerics.saturate(array, 64), numerics.wrap(array, 64)):
        assert result.tolist() == [value]
    assert numerics.fits(array, 64).all()


def test_sums_of_all_pairs_of_8_bits() -> None:
    left, right = (a.ravel() for a in np.meshgrid(ALL_8.astype(np.int8), ALL_8.astype(np.int8)))
    total = left + right
    exact = left.astype(int) + right.astype(int)
    assert (numerics.sum_overflows(left, right, total) == (exact != total)).all()
    assert (numerics.saturated_sum(left, right) == np.clip(exact, -128, 127)).all()
    assert numerics.saturated_sum(left, right).dtype == np.int8


@given(INT64, INT64)
def test_sums_of_64_bits(left: int, right: int) -> None:
    a, b = np.array([left], dtype=np.int64), np.array([right], dtype=np.int64)
    exact = left + right
    over = not -(1 << 63) <= exact < 1 << 63
    assert numerics.sum_overflows(a, b, a + b).tolist() == [over]
    clamped = min(max(exact, -(1 << 63)), (1 << 63) - 1)
    assert numerics.saturated_sum(a, b).tolist() == [clamped]


def test_floating_sums() -> None:
    big, inf, nan = np.finfo(np.float32).max, np.inf, np.nan
    a = np.array([big, -big, 1, inf, nan, inf], dtype=np.float32)
    b = np.array([big, -big, 2, 1, 1, -inf], dtype=np.float32)
    with np.errstate(all="ignore"):
        total = a + b
    assert numerics.float_sum_overflows(a, b, total).tolist() == [True, True] + [False] * 4
    got = numerics.saturated_sum(a, b)
    assert got[:4].tolist() == [big, -big, 3, inf]
    assert np.isnan(got[4:]).all()


def test_saturate_float_of_all_halves_and_beyond() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert (numerics.saturate_float(finite.astype(np.float32), np.float16) == finite).all()
    got = numerics.saturate_float(np.array([1e6, -1e6, np.inf, -np.inf]), np.float16)
    assert got.tolist() == [65504, -65504, 65504, -65504]
    assert np.isnan(numerics.saturate_float(np.array([np.nan]), np.float16)).all()
    # Half of the last place goes to the even neighbour.
    assert numerics.saturate_float(np.array([2049.0, 2051.0]), np.float16).tolist() == [2048, 2052]
