"""Predictions for plans are the recorded ones."""

from __future__ import annotations

from tests.lowering.plan_costs import FILE, text


def test_predictions_are_what_they_were() -> None:
    """Predictions are the recorded ones; after a wanted change, write the file again."""
    assert text().splitlines() == FILE.read_text("utf-8").splitlines()
