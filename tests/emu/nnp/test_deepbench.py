"""A step of the published layers takes what was published, within the benchmark's 15%."""

from __future__ import annotations

import pytest

from benchmarks.deepbench import DEVICE, WITHIN, cycles
from isa import config


@pytest.mark.parametrize(
    ("kind", "hidden", "published"), [("GRU", 1024, 632), ("LSTM", 512, 770), ("LSTM", 256, 708)]
)
def test_a_step_takes_what_was_published(kind: str, hidden: int, published: int) -> None:
    device = config.load(DEVICE)
    few, more = (cycles(kind, hidden, steps, device) for steps in (3, 6))
    assert (more - few) / 3 == pytest.approx(published, rel=WITHIN)


def test_large_layers_are_bound_by_the_multiplier() -> None:
    """Six products of 8 x 8 tiles, by 6 engines of 40 lanes 11 * 10 cycles each (nnp.md)."""
    device = config.load(DEVICE).changed(
        {
            f"nnp.{name}_depth": 1
            for name in ("read", "multiplier", "crossbar", "add", "multiply", "activation", "write")
        }
    )
    few, more = (cycles("GRU", 2816, steps, device) for steps in (3, 5))
    assert (more - few) / 2 == pytest.approx(660, rel=0.03)
