"""The array: breakpoints at packets, steps of exes, places of parts that rows have as copies."""

from __future__ import annotations

from collections import Counter

import pytest

from emu.engines import ENGINES
from tests.debugger.programs import session

pytestmark = pytest.mark.once

ROUNDS, EXES = 8, 4  # of six_cores, and of its packet list


def packets(debug, name):
    """The addresses of the packets of a list, told by its lines."""
    program = debug.program
    found = []
    at = program.symbol(name).value
    end = at + program.symbol(name).size
    line = None
    while at < end:
        here = program.line_at(at)
        if here is not None and here.line != line:
            found.append(at)
            line = here.line
        at += 1
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_breakpoint_at_a_packet_stops_where_it_begins(engine):
    debug = session("six_cores", engine)
    debug.points.add("break", "layer")
    second = packets(debug, "layer")[4]
    debug.points.add("break", f"*{second:#x}", ignore=2)
    counts = Counter()
    for _ in range(5):
        stop = debug.proceed()
        assert stop.reason == "breakpoint"
        (hit,) = stop.hits
        counts[hit.number] += 1
        assert stop.where.address == hit.values["address"]
        assert (stop.where.core, hit.by) == ("pe[0]", "pe[0]")
        packet = debug.evaluate("pe[0].packet")
        # The row has read it, and nothing of it is there yet.
        assert packet["address"] == stop.where.address - 0x1000_0000
        assert not packet["commanded"]
        assert debug.device.cores["pe[0]"].next_address is not None
    assert counts == {1: 4, 2: 1}
    assert debug.points.all[2].hits == 3


def test_both_engines_stop_at_packets_in_the_same_states():
    seen = []
    for engine in ENGINES:
        debug = session("six_cores", engine)
        for address in packets(debug, "layer"):
            debug.points.add("break", f"*{address:#x}")
        found = []
        while (stop := debug.proceed()).reason == "breakpoint":
            found.append((stop.cycle, stop.turn, stop.where, debug.device.hash()))
        assert stop.reason == "exit"
        assert len(found) == ROUNDS * (3 + EXES)
        seen.append(found)
    assert seen[0] == seen[1]


def steps(debug, focus):
    """Where `stepx` stands until the end, and what it says that has ended."""
    debug.set_focus(focus)
    found = []
    while (stop := debug.stepx()).reason == "step":
        found.append((stop.cycle, stop.turn, stop.hits[0].by))
    assert stop.reason == "exit"
    return found


@pytest.mark.parametrize(
    ("focus", "count", "by"),
    [
        ("pe[0]", ROUNDS * EXES, {"pe[0,0]", "pe[0,1]"}),
        ("pe[0,1]", ROUNDS * EXES, {"pe[0,1]"}),
        ("nnp", 1 + ROUNDS, {"nnp"}),
        ("fim[0]", ROUNDS, {"fim[0]"}),
    ],
)
def test_stepx_goes_by_exes_chains_and_blocks(focus, count, by):
    seen = []
    for engine in ENGINES:
        debug = session("six_cores", engine)
        seen.append(steps(debug, focus))
    assert seen[0] == seen[1]
    assert len(seen[0]) == count
    assert {who for *_, who in seen[0]} <= by


@pytest.mark.parametrize("focus", ["pe[0]", "pe[0,1]", "cp"])
def test_reverse_stepx_goes_back_where_stepx_has_been(focus):
    debug = session("six_cores")
    debug.set_focus(focus)
    places = [(debug.device.position, debug.device.hash())]
    for _ in range(3):
        debug.stepx(2)
        places.append((debug.device.position, debug.device.hash()))
    for position, state in reversed(places[:-1]):
        debug.stepx_back(2)
        assert (debug.device.position, debug.device.hash()) == (position, state)
    assert debug.stepx_back().at_start
