"""Sessions: stops as records, steps, going back, interrupts."""

from __future__ import annotations

import json
import threading
import time

import pytest

from macaw.debugger.places import PlaceError
from macaw.debugger.stops import SessionError
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source, session
from tests.debugger.running import place_of
from tests.debugger.sources import LONG_LOOP


def test_the_record_of_an_end_is_json():
    found = of_source(LONG_LOOP.replace("10000000", "10")).run()
    assert found.reason == "exit"
    assert found.exit_code == 7
    assert json.loads(json.dumps(found.json()))["where"]["symbol"] == "loop+20"


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_say_where_they_are(engine):
    debug = of_source(LONG_LOOP, engine)
    assert debug.last_stop.reason == "start"
    stops = [debug.stepi() for _ in range(4)]
    assert [place_of(stop).symbol for stop in stops] == ["_start+4", "loop", "loop+4", "loop+8"]
    assert [place_of(stop).line for stop in stops] == [3, 4, 5, 6]
    assert debug.stepi(1000).done == 1000
    assert debug.core.retired == 1004


def test_steps_back_are_the_steps_forth():
    debug = session("layer")
    debug.stepc(100)
    hashes = [debug.device.hash()]
    for _ in range(8):
        debug.stepc(3)
        hashes.append(debug.device.hash())
    for wanted in hashes[-2::-1]:
        debug.stepc_back(3)
        assert debug.device.hash() == wanted


def test_the_way_back_ends_at_the_begin():
    debug = session("layer")
    first = debug.device.hash()
    debug.stepc(40)
    stop = debug.stepc_back(100)
    assert stop.at_start
    assert stop.done == 40
    assert debug.device.hash() == first


def test_an_interrupt_stops_a_long_run_soon():
    debug = of_source(LONG_LOOP)
    asked = []

    def ask():
        asked.append(time.perf_counter())
        debug.interrupt()

    timer = threading.Timer(0.2, ask)
    timer.start()
    stop = debug.cont()
    timer.join()
    assert stop.reason == "interrupt"
    cycle = debug.device.cycle
    assert cycle > 0
    assert debug.stepc(5).cycle == cycle + 5


def test_a_goal_before_and_behind():
    debug = session("layer")
    debug.goto(50)
    wanted = debug.device.hash()
    debug.run()
    debug.goto(50)
    assert debug.device.hash() == wanted
    assert debug.last_stop.reason == "arrived"
    assert debug.last_stop.cycle == 50


def test_places():
    debug = session("digits_mlp")
    assert [str(place) for place in debug.set_focus("pe[*,0].3")] == [
        f"pe[{row},0].3" for row in range(4)
    ]
    assert str(debug.set_focus(" vc ")[0]) == "vc"
    assert len(debug.set_focus("pe[1,*].*")) == 64
    for text, message in (
        ("pe[9]", r"there is no pe\[9\], pes are 0 to 3"),
        ("pe[0,4]", r"pe\[0\] has no cluster 4, clusters are 0 to 3"),
        ("pe[0,0].16", r"pe\[0\] has no pe 16, pes are 0 to 15"),
        ("vc.3", "vc.3 goes deeper than vc does"),
        ("nmp", "no core is called 'nmp'.*did you mean nnp"),
        ("pe[x]", "'x' in .* is neither a number nor"),
        ("3", "'3' is no place; places are cp"),
    ):
        with pytest.raises(PlaceError, match=message):
            debug.set_focus(text)


def test_what_does_not_run_is_not_stepped():
    debug = session("layer")
    debug.set_focus("vc")
    with pytest.raises(SessionError, match="vc: nothing runs there"):
        debug.stepi()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda debug: debug.stepi(0), "0 steps cannot be taken, 1 is the least"),
        (lambda debug: debug.step(-1), "-1 steps cannot be taken"),
        (lambda debug: debug.back(0), "0 steps cannot be taken"),
        (lambda debug: debug.goto(-1), "the first cycle is 0"),
    ],
)
def test_counts_and_cycles_out_of_range(call, message):
    with pytest.raises(SessionError, match=message):
        call(session("digits_mlp"))
