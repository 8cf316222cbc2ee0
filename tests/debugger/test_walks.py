"""Some random walks; `python -m tests.debugger` makes more of them."""

from __future__ import annotations

import os

import pytest

from tests.debugger.walks import COURSES, Walk, trace

pytestmark = pytest.mark.once

MANY = int(os.environ.get("MACAW_FUZZ", "0")) // 100 or 12


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(MANY))
def test_a_walk_stops_where_a_plain_machine_would(seed):
    walk = Walk(seed)
    walk.go(10)
    assert walk.stops == 10


def test_the_oracle_sees_what_there_is_to_see():
    """The oracle records acts, arrivals and events; an empty trace would make every walk right."""
    for course in COURSES:
        found = trace(course)
        assert len(found.own) > 20, course
        assert len({values for act in found.acts for values in [act.values]}) > 10, course
        for _, kind, core in course.events:
            assert any((kind, core) == x[:2] for act in found.acts for x in act.events), kind
        assert found.acts == sorted(found.acts, key=lambda act: act.before)
    calls = trace(COURSES[0])
    flows = [calls.flow(address) for _, address in calls.own]
    assert flows.count("call") == flows.count("return") == 3
    assert all(calls.over(at) is not None for at, flow in enumerate(flows) if flow == "call")


# The walk of this number finds it today, and soon; later ones may.
@pytest.mark.parametrize(("spoil", "seed"), [("check", 6), ("report", 26), ("watch", 3)])
def test_a_session_that_stops_elsewhere_is_found(spoil, seed, monkeypatch):
    """Walks find each of three planted faults of a session.

    The session does not test breakpoints at the end of a step, tests a breakpoint twice for one
    arrival, or forgets watches.
    """
    from macaw.debugger.arrivals import Arrivals
    from macaw.debugger.monitor import Monitor
    from macaw.debugger.watch_set import WatchSet

    if spoil == "check":
        monkeypatch.setattr(Monitor, "check_next", lambda self, core: None)
    elif spoil == "report":
        monkeypatch.setattr(Arrivals, "is_new", lambda self, core, number, address: True)
    else:
        monkeypatch.setattr(WatchSet, "after_act", lambda self, core, announcements: iter(()))
    with pytest.raises(AssertionError):
        walks(seed)


def walks(first):
    """Make twelve walks, which suffices to meet each fault that this module plants."""
    for seed in range(first, first + 12):
        Walk(seed).go(20)
