"""What lowering says about random models and graphs is recorded (`tests/recorded.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lowering.model_outcomes import KINDS
from tests.recorded import check

pytestmark = pytest.mark.once
HERE = Path(__file__).parent / "recorded"
# By kind: groups, seeds of a group. A group is a test and a file.
GROUPS = {
    "operators": (6, 30), "quantised": (4, 6), "converted": (4, 3), "network": (3, 2), "nnp": (5, 8),
    "concord": (4, 4), "protection": (2, 30), "scheduled": (3, 3), "island_graph": (4, 3),
    "islands": (3, 2), "tilings": (4, 3),
}  # fmt: skip
CASES = [(kind, group) for kind, (groups, _) in GROUPS.items() for group in range(groups)]


@pytest.mark.few(8)
@pytest.mark.parametrize(("kind", "group"), CASES)
def test_random_models(kind: str, group: int) -> None:
    """Messages, tables, predictions, plans and sources."""
    each = GROUPS[kind][1]
    seeds = range(group * each, (group + 1) * each)
    check(HERE / f"{kind}-{group}.txt", {str(seed): KINDS[kind](seed) for seed in seeds})
