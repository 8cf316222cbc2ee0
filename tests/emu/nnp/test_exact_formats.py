"""The reference engine's formats: each number is written with the bits from which it was read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from macaw.emu.nnp.reference.exact import FORMATS, NAN, Number, finite

SAMPLES = {
    np.dtype(np.float16): np.arange(1 << 16, dtype=np.uint16),
    np.dtype(np.float32): np.random.default_rng(5).integers(0, 1 << 32, 5000, np.uint32),
}


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_numbers_are_those_of_numpy(dtype: np.dtype[np.floating[Any]]) -> None:
    kind = FORMATS[dtype]
    for bits, value in zip(
        SAMPLES[dtype].tolist(), SAMPLES[dtype].view(dtype).tolist(), strict=True
    ):
        number = kind.read(bits)
        if np.isnan(value):
            assert number == NAN
            continue
        if np.isinf(value):
            assert (number.kind, number.negative) == ("inf", value < 0)
        else:
            assert number == finite(Fraction(value), bool(np.signbit(value)))
        assert kind.write(number) == bits


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_infinities_and_nan(dtype: np.dtype[np.floating[Any]]) -> None:
    kind = FORMATS[dtype]
    word = np.dtype(f"u{dtype.itemsize}")
    for sign in (1, -1):
        bits = int(np.array(sign * np.inf, dtype).view(word))
        assert kind.write(Number("inf", Fraction(sign), sign < 0)) == bits
    assert np.isnan(np.array(kind.write(NAN), word).view(dtype))
