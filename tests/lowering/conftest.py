"""Fixtures for tests that need no good plan; they change nothing for tests marked `long`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from macaw.lowering.fim import options, planning
from macaw.lowering.fim.schedule import schedule
from tests.lowering.running import compare_few_plans

STEPS = 500  # that are issued while the scheduler tries changes; usually they are 60,000


@pytest.fixture
def few_plans(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lowering for the array compare only few plans of a layer.

    For tests of results, bytes and predictions, which are right for any plan.
    """
    if not request.node.get_closest_marker("long"):
        compare_few_plans(monkeypatch)


@pytest.fixture
def short_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let lowering for islands try few changes of a plan, and simulate few tilings of a product.

    For tests of bits and of predictions, which are right for any plan.
    """
    if request.node.get_closest_marker("long"):
        yield
        return

    def short_schedule(graph, config, ask, together, effort):
        return schedule(graph, config, ask, together, min(effort, STEPS))

    monkeypatch.setattr(planning, "schedule", short_schedule)
    monkeypatch.setattr(options, "NEAR", 1)
    options._least.cache_clear()
    yield
    options._least.cache_clear()
