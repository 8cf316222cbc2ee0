"""A fixture for tests that need no good plan."""

from __future__ import annotations

import pytest

from macaw.lowering.fim import planning
from macaw.lowering.fim.schedule import schedule

STEPS = 500  # that are issued while the scheduler tries changes; usually they are 60,000


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the scheduler search only shortly; tests of bits and of predictions need no good plan."""

    def shortly(graph, config, ask, together, effort):
        return schedule(graph, config, ask, together, min(effort, STEPS))

    monkeypatch.setattr(planning, "schedule", shortly)
