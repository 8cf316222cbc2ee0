"""What is predicted of plans, beside the numbers as they were."""

from __future__ import annotations

from tests.lowering.plan_costs import FILE, text


def test_predictions_are_what_they_were() -> None:
    """A change of the model shows here: examine it, then write the file again."""
    assert text().splitlines() == FILE.read_text("utf-8").splitlines()
