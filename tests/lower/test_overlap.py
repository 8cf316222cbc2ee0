"""Loads and stores hide behind the computation (seed 000 ¶146)."""

from __future__ import annotations

import numpy as np

import macaw
from macaw.lowering import lower


def test_a_program_takes_little_more_than_its_computation() -> None:
    """Rows that compute longer than the dma loads: at most 5% more than the rows' own work.

    Without overlap the transfers would come on top, nearly a quarter of that work.
    """
    rng = np.random.default_rng(1)
    weights, x = rng.integers(1, 10, (96, 64)), rng.integers(1, 10, (64, 64))
    found = lower("spmm", weights.astype(np.int8), rows=64, device="tiny")
    assert found.choice.taken.plan.steps == 24
    run = macaw.run(found.assemble(), x=x.astype(np.int8))
    np.testing.assert_array_equal(run.outputs["y"], x @ weights.T)
    rows = max(counters["cycles"] for counters in run.counters.values() if "macs" in counters)
    dma = run.counters["dma"]["cycles_busy"]
    assert 0.2 * rows < dma < rows
    assert run.cycles <= 1.05 * rows
    # The rows' own work is little more than multiplying: 64 × 96 × 64 products, 16 PEs.
    assert rows <= 1.08 * weights.size * len(x) / 16
