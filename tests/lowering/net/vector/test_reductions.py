"""Sums, means and extremes of real numbers along an axis on vc: bits, cycles, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.reduction import KINDS, Reduction
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(5, sessions.max_examples // 4))


@st.composite
def reductions(draw: Any) -> Reduction:
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 30)))
    lanes = draw(st.sampled_from([1, 1, 2, 3, 4, 6, 7, 8, 13, 20]))
    return Reduction("float32", (*shape, lanes), draw(st.sampled_from(sorted(KINDS))))


@few
@given(reductions(), st.integers(0, 999), st.sampled_from(["fast", "reference"]), st.booleans())
def test_reductions(operation, seed, engine, extreme):
    x = np.random.default_rng(seed).normal(size=operation.shape).astype(np.float32)
    x = random_inputs(operation, seed)[0] if extreme else x
    found, measured = run(operation, x, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, x))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


@pytest.mark.parametrize("lanes", [1, 5])
def test_the_order_by_hand(lanes):
    """By hand: element 4 is added to element 0, element 5 to element 1.

    2**25 + 1 is no binary32, so element 4 is lost.
    """
    rows = np.array([2.0**25, 2, 0, 0, 1, 1], np.float32)
    x = np.repeat(rows[None, :, None], lanes, 2)
    for kind, result in (("ReduceSum", 2.0**25 + 4), ("ReduceMax", 2.0**25), ("ReduceMin", 0.0)):
        operation = Reduction("float32", x.shape, kind)
        assert compute(operation, x).tolist() == [[result] * lanes]
        assert run(operation, x)[0].tolist() == [[result] * lanes]
    missing = np.full((1, 3, lanes), np.nan, np.float32)
    most = Reduction("float32", missing.shape, "ReduceMax")
    assert compute(most, missing).tolist() == run(most, missing)[0].tolist() == [[-np.inf] * lanes]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Reduction("int8", (1, 2, 3), "ReduceSum"), "elements of type int8"),
        (Reduction("float32", (1, 2), "ReduceSum"), "ReduceSum of the shape (1, 2)"),
        (Reduction("float32", (1, 2, 3), "ReduceProd"), "ReduceProd of the shape (1, 2, 3)"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
