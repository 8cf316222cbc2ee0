"""The number of examples of fuzzing tests: 200, and fewer for properties.

CI takes a fifth of them, `make test-long` ten times as many (tests/conftest.py). A test that makes
its random cases itself takes `tries`. The variable `MACAW_FUZZ=1000000` sets any number.
"""

import os
from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from hypothesis import HealthCheck, settings

Item = TypeVar("Item")

EXAMPLES = int(os.environ.get("MACAW_FUZZ", 200))

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# For properties whose examples are whole programs, files or tables: each takes milliseconds.
properties = settings(fuzz, max_examples=max(100, EXAMPLES // 4))

# For what takes a device of its own: tens of milliseconds.
sessions = settings(fuzz, max_examples=max(20, EXAMPLES // 20))


IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def tries(usual: int) -> int:
    """The number of cases of a test that makes its random cases itself: in CI a third."""
    return ceil(usual / 3) if IN_CI else usual


def third_in_ci(items: Sequence[Item]) -> Sequence[Item]:
    """Every third item in CI, otherwise all: for tests that go through many alike inputs."""
    return items[:: 3 if IN_CI else 1]
