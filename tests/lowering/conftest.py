"""Fixtures for tests that need no good plan."""

from __future__ import annotations

import pytest

from macaw.lowering import candidates, choose
from macaw.lowering.fim import planning
from macaw.lowering.fim.schedule import schedule
from macaw.lowering.partition import SPLITS

LETTERS = "bdfi"  # of nine splits; with f and i, clusters add sums
MOST = 2  # tiles of a mapping and a split whose cost is predicted; usually they are six
STEPS = 500  # that are issued while the scheduler tries changes; usually they are 60,000


@pytest.fixture
def few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lowering for the array compare only few plans of a layer.

    For tests of results, bytes and predictions, which are right for any plan.
    """
    monkeypatch.setattr(choose, "SPLITS", {letter: SPLITS[letter] for letter in LETTERS})
    monkeypatch.setattr(candidates, "TRIES", MOST)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the scheduler of islands search only shortly; bits and predictions need no good plan."""

    def shortly(graph, config, ask, together, effort):
        return schedule(graph, config, ask, together, min(effort, STEPS))

    monkeypatch.setattr(planning, "schedule", shortly)
