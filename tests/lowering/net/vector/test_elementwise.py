"""Sums, products and rescaled tensors on vc: values, cycles, ties and refused operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.fixed_point import FixedPoint, _candidates, fixed_point
from macaw.lowering.net.vector.operations import ElementwiseProduct, Rescale, Sum
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))
ENGINES = ("fast", "reference")
SCALES = st.one_of(
    st.sampled_from([1.0, 0.5, 2.0**-7, 3.0, -0.25, 0.0]), st.floats(-2, 2, width=32)
)
SHAPES = st.one_of(
    st.tuples(st.integers(1, 100)),
    st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from([1, 3, 8, 16, 20, 24, 33, 48])),
)


@st.composite
def operations(draw: Any) -> Sum | Rescale | ElementwiseProduct:
    """Draw operations of all kinds, with and without limits."""
    dtype, shape = draw(st.sampled_from(["int8", "int16"])), draw(SHAPES)
    kind = draw(st.sampled_from([Sum, Rescale, ElementwiseProduct]))
    if kind is ElementwiseProduct:
        scale = draw(SCALES) * draw(st.sampled_from([1, 2.0**-6]))
        return ElementwiseProduct(dtype, shape, scale, len(shape) > 1 and draw(st.booleans()))
    clip = draw(st.sampled_from([None, (0, 127), (0, 48), (-3, 5)]))
    if kind is Rescale:
        return Rescale(dtype, shape, draw(SCALES), clip)
    return Sum(dtype, shape, (draw(SCALES), draw(SCALES)), clip)


@few
@given(operations(), st.integers(0, 999), st.sampled_from(ENGINES), st.booleans())
def test_results_and_cycles(operation, seed, engine, in_place):
    """Results are as defined, cycles as predicted, also if the result replaces the first input."""
    inputs = random_inputs(operation, seed)
    in_place = in_place and not getattr(operation, "by_channel", False)
    found, measured = run(operation, *inputs, engine=engine, in_place=in_place)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


@pytest.mark.parametrize("shape", [(7, 16), (16, 3), (34, 8), (9, 20), (48, 4), (64, 1)])
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_products_by_channel_of_several_positions_in_a_pass(dtype, shape):
    """Products by channel are right if a pass computes several positions and some remain."""
    scale = {"int8": 2.0**-5, "int16": 2.0**-14}[dtype]
    operation = ElementwiseProduct(dtype, shape, scale, by_channel=True)
    inputs = random_inputs(operation, 3)
    found, _ = run(operation, *inputs)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    assert len(np.unique(found)) > min(9, shape[0])


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_ties_go_to_the_even_number(dtype):
    """Halves of odd numbers are rounded to even numbers; sums saturate at both ends."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = np.array([1, 3, 5, -1, -3, high, low], dtype)
    b = np.array([0, 0, 0, 0, 0, high, low], dtype)
    found, _ = run(Sum(dtype, (7,), (0.5, 1.0)), a, b)
    assert found.tolist() == [0, 2, 2, 0, -2, high, low]
    found, _ = run(Rescale(dtype, (7,), 0.5, (-1, 2)), a)
    assert found.tolist() == [0, 2, 2, 0, -1, 2, -1]
    found, _ = run(
        ElementwiseProduct(dtype, (7,), 0.5), a, np.array([1, 1, 1, 1, 1, high, low], dtype)
    )
    assert found.tolist() == [0, 2, 2, 0, -2, high, high]


def test_a_product_of_int16_is_rounded_to_binary32_before_the_scale():
    """A product of int16 is rounded to binary32 before it is scaled.

    The exact product needs 30 bits; binary32 has 24.
    """
    a, b = np.array([32767], np.int16), np.array([32765], np.int16)
    exact = 32767 * 32765
    assert float(np.float32(exact)) != exact
    operation = ElementwiseProduct("int16", (1,), 2.0**-16)
    found, _ = run(operation, a, b)
    assert found[0] == round(float(np.float32(exact)) / 65536)


def test_scales_that_are_powers_of_two_are_computed_in_16_bits():
    assert fixed_point(Sum("int8", (1,), (1.0, 0.5))) == FixedPoint((2, 1), 1, 16)
    assert fixed_point(ElementwiseProduct("int8", (1,), 2.0**-7)) == FixedPoint((1,), 7, 16)
    assert fixed_point(Sum("int16", (1,), (1.0, 0.25))) == FixedPoint((4, 1), 2, 32)


def test_candidates_have_the_five_largest_shifts_that_fit():
    """128 times the multiplier fits into 16 or 32 bits: 0.7 · 2 ** 8 and 0.7 · 2 ** 24 do."""
    found = list(_candidates(Rescale("int8", (1,), 0.7), (0.7,)))
    shifts = {bits: {form.shift for form in found if form.bits == bits} for bits in (16, 32)}
    assert shifts == {16: {8, 7, 6, 5, 4}, 32: {24, 23, 22, 21, 20}}


def test_a_form_that_would_differ_is_not_used():
    """Fixed-point code is not used if it would give other results than binary32.

    0.3 * 5 is 1.5 in binary32, a tie, although binary32's 0.3 is greater than 0.3.
    """
    assert np.float32(0.3) * np.float32(5) == 1.5
    assert fixed_point(Sum("int8", (1,), (0.3, 0.7))) is None
    assert fixed_point(Sum("int16", (1,), (0.37, 0.61))) is None


@pytest.mark.parametrize("shape", [(28, 28, 64), (7, 7, 512)])
def test_cycles_an_element(shape):
    """Sums take the cycles per element that docs/lowering.md states."""
    for scales, most in (((1.0, 0.5), 1.01), ((0.81173214, 0.40315987), 2.52), ((0.3, 0.7), 3.27)):
        operation = Sum("int8", shape, scales, (0, 127))
        assert cycles(operation, load("base")) / np.prod(shape) <= most


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Sum("int32", (4,), (1.0, 1.0)), "elements of type int32"),
        (Sum("int8", (4, 0), (1.0, 1.0)), "a tensor has the shape (4, 0)"),
        (Sum("int8", (4,), (1.0, float("nan"))), "a scale is nan"),
        (Rescale("int8", (4,), 2.0**64), "a scale is 1.8446744073709552e+19"),
        (ElementwiseProduct("int8", (4,), float("inf")), "a scale is inf"),
        (Rescale("int8", (4,), 1.0, (0, 128)), "results are clipped to 0 to 128"),
        (Sum("int8", (4,), (1.0, 1.0), (3, 2)), "results are clipped to 3 to 2"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
