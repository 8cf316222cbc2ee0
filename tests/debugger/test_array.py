"""The array: breakpoints at packets, steps over exes, places in copies of a part."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from macaw.debugger.point import PointError
from macaw.debugger.stops import StopRecord
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source, session
from tests.debugger.running import place_of

pytestmark = pytest.mark.once

ROUNDS, EXES = 8, 4  # of six_cores, and of its packet list


def packets(debug, name):
    """The addresses of the packets of a list, found by their lines."""
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
    counts: Counter[Any] = Counter()
    for _ in range(5):
        stop = debug.cont()
        assert stop.reason == "breakpoint"
        (hit,) = stop.hits
        counts[hit.number] += 1
        assert place_of(stop).address == hit.values["address"]
        assert (place_of(stop).core, hit.by) == ("pe[0]", "pe[0]")
        packet = debug.read("pe[0].packet")
        # The row has read the packet's address, but no byte of the packet yet.
        assert packet["address"] + 0x1000_0000 == place_of(stop).address
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
        for _ in range(3 + 2 * EXES):
            stop = debug.cont()
            assert stop.reason == "breakpoint"
            found.append((stop.cycle, stop.turn, stop.where, debug.device.hash()))
        seen.append(found)
    assert seen[0] == seen[1]


def steps(debug, focus, most):
    """Cycle, turn and core at each stop of repeated `stepx`; at most `most` stops."""
    debug.set_focus(focus)
    found: list[tuple[int, int, str]] = []
    while len(found) < most and (stop := debug.stepx()).reason == "step":
        found.append((stop.cycle, stop.turn, stop.hits[0].by))
    return found


@pytest.mark.few(3)  # not pe[0,1], whose steps are among those of pe[0]
@pytest.mark.parametrize(
    ("focus", "count", "by"),
    [
        ("pe[0]", ROUNDS * EXES, {"pe[0,0]", "pe[0,1]"}),
        ("nnp", 1 + ROUNDS, {"nnp"}),
        ("pe[0,1]", ROUNDS * EXES, {"pe[0,1]"}),
        ("fim[0]", ROUNDS, {"fim[0]"}),
    ],
)
def test_stepx_goes_by_exes_chains_and_blocks(focus, count, by):
    found = steps(session("six_cores"), focus, 100)
    assert len(found) == count
    assert {who for *_, who in found} == by
    if focus in ("pe[0]", "fim[0]"):
        assert found[:3] == steps(session("six_cores", "reference"), focus, 3)


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


# Copies


@pytest.fixture(scope="module")
def digits():
    """A session in which all four rows run the part of row 0, in their second layer."""
    debug = session("digits_mlp")
    debug.goto(2200)
    return debug


def test_what_a_row_has_as_a_copy_is_at_a_line_of_the_original(digits):
    rows = [digits.device.cores[f"pe[{row}]"] for row in range(4)]
    layer = digits.program.symbol("products_even").value
    for address in range(layer, layer + 44, 2):
        first, *others = [
            digits.where(core, address + (number << 20)) for number, core in enumerate(rows)
        ]
        assert first.line == digits.program.line_at(address).line
        for number, other in enumerate(others, 1):
            assert (other.file, other.line, other.symbol) == (first.file, first.line, first.symbol)
            assert other.address == address + (number << 20)  # where the row has it


def test_a_copy_is_told_by_its_bytes(digits):
    memory = digits.device.memory
    begin = digits.program.symbol("layer2").value
    core, place = digits.device.cores["pe[2]"], begin + (2 << 20)
    data = memory.peek(place, 256)
    assert digits.where(core, place + 20).symbol == "layer2+20"
    memory.poke(place, bytes(256))  # the other half has it yet
    assert digits.where(core, place + 20).symbol == "layer2+20"
    memory.poke(place + (1 << 19), data[:28] + b"\xff\xff\xff\xff" + data[32:])  # as cp patches it
    assert digits.where(core, place + 20).symbol == "layer2+20"
    memory.poke(place + (1 << 19), bytes(range(256)))
    where = digits.where(core, place + 20)
    assert (where.symbol, where.file, where.line) == (None, None, None)
    for half in (0, 1 << 19):
        memory.poke(place + half, data)


def stops(debug, most=40):
    found: list[StopRecord] = []
    while len(found) < most and (stop := debug.cont()).reason == "breakpoint":
        found.append(stop)
    return found


def test_a_breakpoint_stops_in_each_row_that_runs_the_line():
    debug = session("digits_mlp")
    debug.points.add("break", "layer2")
    debug.points.add("tbreak", "digits_mlp.s:62", place="pe[3,1..2]")
    debug.points.add("tbreak", "*0x10100834")
    exe = packets(debug, "layer3")[1]  # for cluster 0 alone
    debug.points.add("tbreak", f"*{exe:#x}", place="pe[0,1..3]")
    debug.points.add("tbreak", f"*{exe:#x}", place="pe[0,0]")
    found = stops(debug)
    seen = [(stop.where.core, stop.where.line, [hit.number for hit in stop.hits]) for stop in found]
    second = debug.program.line_at(debug.program.symbol("layer2").value)
    assert second is not None
    assert sorted(seen[:2]) == [("pe[1]", 62, [3] * 4), ("pe[3]", 62, [2] * 2)]
    assert [hit.by for stop in found for hit in stop.hits if hit.number == 2] == [
        "pe[3,1]",
        "pe[3,2]",
    ]
    assert seen[2:6] == [(f"pe[{row}]", second.line, [1]) for row in range(4)]
    assert len({(stop.cycle, stop.turn) for stop in found[2:6]}) == 4
    assert [numbers for *_, numbers in seen[6:]] == [[5]]


TWO_ROWS = """
        .device tiny
        .core   pe, row=0
        .seq    one
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
        .endseq
        .list   first
        config  ib=0, one
        exe     ib=0, last
        .endlist
        .core   pe, row=1
        .seq    other
          spu   nonsf, src=2, dst=2
          spu   nonsf, src=3, dst=3
        .endseq
        .list   second
        config  ib=0, other
        exe     ib=0, last
        .endlist
"""


def test_a_row_with_a_part_of_its_own_has_no_copy():
    program = of_source(TWO_ROWS).program
    assert program.symbol("second").value == program.symbol("first").value + (1 << 20)
    for name, row in (("first", 0), ("second", 1), ("one", 0), ("other", 1)):
        debug = of_source(TWO_ROWS)
        debug.points.add("break", name)
        (stop,) = stops(debug)
        assert stop.where.core == f"pe[{row}]"
        assert stop.where.symbol.partition("+")[0] == name


def test_labels_and_lines_of_sequences_mean_their_first_instruction():
    debug = of_source(TWO_ROWS)
    one = debug.program.symbol("one").value + 16
    for text in ("one", "test.s:4", "test.s:5"):
        assert debug.points.add("break", text).addresses == (one,)
    assert debug.points.add("break", "*one").addresses == (one - 16,)
    exe = packets(debug, "first")[1]
    assert debug.points.add("break", "test.s:10").addresses == (exe,)
    assert debug.points.add("break", "first + 8").addresses == (exe - 20,)  # the config's segment


def test_lines_are_stepped_in_copies_too():
    debug = session("digits_mlp")
    debug.points.add("break", "layer1", place="pe[2]")
    debug.cont()
    debug.set_focus("pe[2]")
    lines = [place_of(debug.step()).line for _ in range(4)]
    assert None not in lines
    assert len(set(lines)) == 4


def test_a_run_to_a_place_in_the_array():
    for engine in ENGINES:
        debug = session("six_cores", engine)
        stop = debug.advance("finish")
        assert (stop.reason, place_of(stop).core, place_of(stop).symbol) == (
            "arrived",
            "pe[0]",
            "finish+16",
        )
        assert stop.hits[0].text == "instruction"
        debug.set_focus("pe[0,1]")
        stop = debug.advance("second")
        assert (stop.reason, stop.hits[0].by) == ("arrived", "pe[0,1]")
        debug.points.add("tbreak", "finish")
        assert debug.advance("layer").reason == "breakpoint"
        stop = debug.advance("layer")
        assert (stop.reason, place_of(stop).symbol, stop.hits[0].text) == (
            "arrived",
            "layer",
            "packet",
        )
        assert debug.advance("rounds").reason == "arrived"  # of cp, which is not in the focus


@pytest.mark.parametrize(
    ("folder", "text", "place", "message"),
    [
        ("six_cores", "layer", "vc", "vc executes nothing at layer"),
        ("six_cores", "dense", "fim[0]", r"fim\[0\] executes nothing at dense"),
        ("six_cores", "layer", "pe[0,7]", "has no cluster 7"),
        ("fim_dot", "fim_dot", "fim[0,1]", r"fim\[0\] stops as a whole, not at fim\[0,1\] alone"),
    ],
)
def test_places_at_which_nothing_stops(folder, text, place, message):
    debug = session(folder)
    if text == folder:
        text = f"*{debug.program.parts('fim')[0].address:#x}"
    with pytest.raises(PointError, match=message):
        debug.points.add("break", text, place=place)
