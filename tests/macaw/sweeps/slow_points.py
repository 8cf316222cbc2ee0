"""Runs a point of a sweep slowly, so that a test can kill the worker that runs it.

The workers of a cluster import this module, which imports little.
"""

from __future__ import annotations

import time

from macaw.sweeps import measuring
from macaw.sweeps.points import Outcome
from macaw.sweeps.sweeping import _Job


def run(job: _Job) -> Outcome:
    """Run the point of a job, after a wait."""
    time.sleep(0.4)
    return measuring.measure(job.subject, job.point)
