"""Conversions between integers, sums and binary32 on vc: values, cycles and refused operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.conversion import Convert
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))
SCALES = st.one_of(st.sampled_from([1.0, 0.5, -0.25, 2.0**-20]), st.floats(2.0**-9, 3, width=32))


@st.composite
def operations(draw: Any) -> Convert:
    """Draw conversions between all types, with factors of channels, zero points and ranges."""
    dtype = draw(st.sampled_from(["int8", "int16", "int32", "float32"]))
    to = draw(st.sampled_from(["int8", "int16", "float32"]))
    shape = tuple(draw(st.lists(st.integers(1, 6), max_size=2)))
    shape = (*shape, draw(st.sampled_from([1, 3, 8, 16, 20, 48])))
    count = draw(st.sampled_from([1, shape[-1]]))
    scales = tuple(draw(st.lists(SCALES, min_size=count, max_size=count)))
    zero = draw(zeros(dtype)) if dtype in ("int8", "int16") else 0
    clip = draw(st.sampled_from([None, (0, 127), (-3, 5), (0, np.inf)]))
    result_zero = 0 if to == "float32" else draw(zeros(to))
    return Convert(dtype, shape, to, scales, draw(st.booleans()), zero, result_zero, clip)


def zeros(dtype: str) -> Any:
    info = np.iinfo(dtype)
    return st.sampled_from([0, 0, 1, -7, info.min, info.max])


@few
@given(operations(), st.integers(0, 999), st.sampled_from(["fast", "reference"]))
def test_results_and_cycles(operation, seed, engine):
    inputs = random_inputs(operation, seed)
    found, measured = run(operation, *inputs, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


def test_by_hand():
    """By hand: ties, saturation before and after the zero point, NaN and factors are right."""
    x = np.array([[3, 5], [-300, 300]], np.int32)
    found, _ = run(Convert("int32", (2, 2), "int8", (0.5, 1.0), result_zero=-10), x)
    assert found.tolist() == [[-8, -5], [-128, 127]]
    x = np.array([np.nan, 2.5, np.inf, -1e30], np.float32)
    found, _ = run(Convert("float32", (4,), "int16", result_zero=3), x)
    assert found.tolist() == [3, 5, 32767, -32768]
    x = np.array([-128, 127], np.int8)
    found, _ = run(Convert("int8", (2,), "float32", (0.5,), zero=-128), x)
    assert found.tolist() == [0, 127.5]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Convert("int64", (4,), "int8"), "elements of type int64"),
        (Convert("int8", (4,), "int32"), "results of type int32"),
        (Convert("int8", (4,), "int8", (1.0, 2.0)), "2 multipliers for the shape (4,)"),
        (Convert("int8", (4,), "int8", (float("inf"),)), "a scale is inf"),
        (Convert("int32", (4,), "int8", zero=1), "the zero point 1 of int32"),
        (Convert("int8", (4,), "int8", zero=128), "the zero point 128, which is no int8"),
        (Convert("int8", (4,), "int8", result_zero=-129), "the zero point -129"),
        (Convert("int8", (4,), "int8", clip=(200, 300)), "results are clipped to 200 to 127"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
