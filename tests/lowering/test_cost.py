"""The predictions of the cost model against the emulator, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.layer_lowering import lower

CASES = [
    (4, 8, 8, "input", "a"),
    (8, 8, 16, "input", "a"),
    (16, 8, 16, "output", "e"),
    (40, 16, 16, "output", "b"),
]


@pytest.mark.parametrize("rate", [1, 4])
@pytest.mark.parametrize(("rows", "n", "k", "mapping", "split"), CASES)
def test_an_activation_and_a_shift_take_what_is_predicted(rows, n, k, mapping, split, rate):
    """An activation and a shift add the predicted cycles: each result passes the SFU twice."""
    weights = np.random.default_rng(0).integers(1, 9, (n, k)).astype(np.int8)
    words = {
        "rows": rows,
        "device": load("tiny").changed({"sfu.rate": rate}),
        "mapping": mapping,
        "split": split,
    }
    plain = lower("spmm", weights, **words)
    special = lower("spmm", weights, activation="relu", shift=3, **words)
    predicted = special.cost.rows - plain.cost.rows
    measured = special.measure().rows - plain.measure().rows
    assert predicted == pytest.approx(measured, rel=0.15)
