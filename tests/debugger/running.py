"""Run a session from stop to stop."""

from __future__ import annotations


def stops_until_exit(debug, most=100):
    """What it says on its way to the end, while it is there."""
    for _ in range(most):
        stop = debug.proceed()
        yield stop
        if stop.reason == "exit":
            return


def all_stops(debug, most=100):
    """All that it says."""
    return list(stops_until_exit(debug, most))
