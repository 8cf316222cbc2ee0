"""Fixtures for tests that need no good plan."""

from __future__ import annotations

import pytest

from macaw.lowering.fim import planning
from macaw.lowering.fim.schedule import schedule
from tests.lowering.running import compare_few_plans

STEPS = 500  # that are issued while the scheduler tries changes; usually they are 60,000


@pytest.fixture
def few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lowering for the array compare only few plans of a layer.

    For tests of results, bytes and predictions, which are right for any plan.
    """
    compare_few_plans(monkeypatch)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the scheduler of islands search only shortly; bits and predictions need no good plan."""

    def shortly(graph, config, ask, together, effort):
        return schedule(graph, config, ask, together, min(effort, STEPS))

    monkeypatch.setattr(planning, "schedule", shortly)
