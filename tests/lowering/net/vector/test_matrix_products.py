"""Products of two matrices in binary32 on vc: bits, cycles and refused operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.matrix_product import MatrixProduct
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from macaw.lowering.onnx.operators.sums import ordered_product
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(5, sessions.max_examples // 4))


@st.composite
def products(draw: Any) -> MatrixProduct:
    """Draw products of one or several matrices, with and without heads."""
    rows, inner = draw(st.integers(1, 5)), draw(st.integers(1, 20))
    columns, heads = draw(st.integers(1, 23)), draw(st.sampled_from([1, 1, 2, 3, 4, 6, 8, 9]))
    count = draw(st.integers(1, 3))
    of_a, of_b = draw(st.sampled_from([(count, count), (1, count), (count, 1)]))
    return MatrixProduct("float32", (of_a, rows, inner, heads), (of_b, inner, columns, heads))


@few
@given(products(), st.integers(0, 999), st.sampled_from(["fast", "reference"]), st.booleans())
def test_products(operation, seed, engine, extreme):
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=shape).astype(np.float32) for shape in operation.inputs]
    inputs = random_inputs(operation, seed) if extreme else inputs
    found, measured = run(operation, *inputs, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    with np.errstate(all="ignore"):
        a, b = (np.moveaxis(array, -1, 1) for array in inputs)
        np.testing.assert_array_equal(np.moveaxis(found, -1, 1), ordered_product(a, b))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


def test_the_order_of_a_sum_by_hand():
    """Sums are added in the defined order.

    2**24 + 1 is no binary32: a 1 that is added after 2**24 is lost, a 1 added before it is not.
    """
    rows = np.array([[2.0**24, 1, 1], [1, 1, 2.0**24]], np.float32)
    ones = np.ones((3, 1), np.float32)
    assert ordered_product(rows, ones).tolist() == [[2.0**24], [2.0**24 + 2]]
    assert ordered_product(rows[0], ones).tolist() == [2.0**24]
    assert ordered_product(rows, ones[:, 0]).tolist() == [2.0**24, 2.0**24 + 2]
    # a product is rounded before it is added: 1 + 2**-12 has the square 1 + 2**-11 + 2**-24
    number = np.float32(1 + 2.0**-12)
    pair = np.array([[-1 - 2.0**-11, number]], np.float32)
    assert ordered_product(pair, np.array([[1], [number]], np.float32)).tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (MatrixProduct("int8", (1, 2, 3, 1), (1, 3, 2, 1)), "elements of type int8"),
        (MatrixProduct("float32", (1, 2, 3, 1), (1, 4, 2, 1)), "a product of matrices (1, 2, 3, 1)"),
        (MatrixProduct("float32", (2, 2, 3, 1), (3, 3, 2, 1)), "a product of matrices (2, 2, 3, 1)"),
        (MatrixProduct("float32", (1, 2, 3, 8), (1, 3, 2, 4)), "a product of matrices (1, 2, 3, 8)"),
    ],
)  # fmt: skip
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
