"""Outcomes of random programs of each core are the recorded ones (`tests/recorded.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emu import run_outcomes
from tests.recorded import check

pytestmark = pytest.mark.once
HERE = Path(__file__).parent / "recorded"
GROUPS, EACH = 3, 5  # seeds of a core
DAMAGED = 8, 12  # groups, programs of a group


@pytest.mark.few(6)
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("core", run_outcomes.CORES)
def test_random_programs(core: str, group: int) -> None:
    """Stops, counters, states, announcements, charges, waits, trace records and origins."""
    seeds = range(group * EACH, (group + 1) * EACH)
    outcomes = {f"{core} {seed}": run_outcomes.outcome(core, seed) for seed in seeds}
    check(HERE / f"{core}-{group}.txt", outcomes)


@pytest.mark.parametrize("group", range(DAMAGED[0]))
def test_damaged_programs(group: int) -> None:
    """Faults of programs in whose memory some bits or bytes have changed."""
    numbers = range(group * DAMAGED[1], (group + 1) * DAMAGED[1])
    outcomes = {str(number): run_outcomes.damaged(number) for number in numbers}
    check(HERE / f"damaged-{group}.txt", outcomes)
