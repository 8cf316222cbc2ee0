"""Breakpoints, watches and events stop both engines at the same place, for the same reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from macaw.debugger.commands.text import hit_text
from macaw.debugger.point import PointError
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source, session
from tests.debugger.running import all_stops, stops_until_exit
from tests.debugger.sources import STORE_LOOP
from tests.emu.cp_machine import translated_blocks

pytestmark = pytest.mark.once

ROUND = 5  # instructions of a round


@pytest.mark.parametrize("engine", ENGINES)
def test_a_breakpoint_stops_before_its_instruction(engine):
    debug = of_source(STORE_LOOP, engine)
    point = debug.points.add("break", "test.s:7")
    assert point.addresses == (debug.program.symbol("loop").value + 8,)
    found = all_stops(debug)
    assert len(found) == 41
    for number, stop in enumerate(found[:-1], 1):
        assert stop.reason == "breakpoint"
        assert stop.where.line == 7
        assert [(hit.number, hit.hits) for hit in stop.hits] == [(1, number)]
    assert point.hits == 40


@pytest.mark.parametrize("engine", ENGINES)
def test_conditions_ignores_and_temporary_ones(engine):
    debug = of_source(STORE_LOOP, engine)
    debug.points.add("break", "loop", condition="s0 == 7 || s0 % 10 == 0", ignore=1)
    debug.points.add("tbreak", "loop+12", condition="mem[data+4] == 12 * 3")
    seen = []
    for stop in stops_until_exit(debug):
        if stop.hits:
            seen.append((stop.hits[0].number, debug.read("s0")))
    assert seen == [(1, 30), (2, 29), (1, 20), (1, 10), (1, 7)]
    assert list(debug.points.all) == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_watch_says_old_new_and_who(engine):
    debug = of_source(STORE_LOOP, engine)
    debug.points.add("watch", "mem[data+4]")
    number = -1
    for number, stop in enumerate(stops_until_exit(debug)):
        if stop.reason == "exit":
            break
        (hit,) = stop.hits
        assert (hit.old, hit.new, hit.by) == (3 * number, 3 * number + 3, "cp")
        assert stop.where.symbol == "loop+12"  # right behind the store
        assert debug.read("mem[data+4]") == hit.new
    assert number == 40


def test_a_watch_of_memory_leaves_cp_at_full_speed():
    debug = of_source(STORE_LOOP.replace("s0, 40", "s0, 100000"))
    debug.points.add("watch", "mem[data]")
    assert debug.cont().reason == "exit"
    assert translated_blocks(debug.device)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_watch_of_registers_and_one_with_a_condition(engine):
    debug = of_source(STORE_LOOP, engine)
    debug.points.add("watch", "cp.s2 == 5")
    found = [(stop.hits[0].old, stop.hits[0].new) for stop in all_stops(debug)[:-1]]
    assert found == [(0, -1), (-1, 0)] * 5
    debug = of_source(STORE_LOOP, engine)
    debug.points.add("watch", "s1", condition="s1 > 100")
    assert [stop.hits[0].new for stop in all_stops(debug)[:-1]] == list(range(102, 121, 3))


def test_accesses_of_some_cores():
    debug = session("layer")
    x = debug.program.tensors[0].name
    debug.points.add("rwatch", f"{x}", by="dma")
    stop = debug.cont()
    assert stop.reason == "watch"
    assert stop.hits[0].by == "dma"
    assert stop.hits[0].values["access"] == "read"
    debug = session("layer")
    debug.points.add("rwatch", f"{x}", by="cp")
    assert debug.cont().reason == "exit"
    debug = session("layer")
    y = debug.program.outputs[0].name
    debug.points.add("awatch", f"{y}")
    first = debug.cont().hits[0]
    assert first.values["access"] == "write"


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ("exe", ""),
        ("exe", "pe[1,1]"),
        ("dma-done", ""),
        ("swap", ""),
        ("stall", "cp"),
        ("queue-full", "pe[0]"),
        ("queue-empty", "pe[0,1].3"),
        ("sfu-done", "pe[*,0]"),
    ],
)
def test_events_come_in_the_same_cycles_in_both_engines(event, place):
    seen = []
    for engine in ENGINES:
        debug = session("layer", engine)
        debug.points.add("catch", event, place=place)
        found = all_stops(debug, 12)
        seen.append([(stop.cycle, stop.turn, [hit.values for hit in stop.hits]) for stop in found])
        assert debug.points.all[1].hits == sum(len(stop.hits) for stop in found)
    assert seen[0] == seen[1]


def test_transfers_and_exes_are_counted_right():
    debug = session("layer")
    debug.points.add("catch", "dma-done")
    tickets = [hit.values["ticket"] for stop in all_stops(debug) for hit in stop.hits]
    assert tickets == list(range(1, debug.read("dma.transfers") + 1))
    debug = session("layer")
    debug.points.add("catch", "swap")
    feeding = debug.device.memory.feeding[:]
    for stop in stops_until_exit(debug):
        if stop.reason == "exit":
            break
        assert stop.hits[0].by == "cp"
        assert debug.device.memory.feeding != feeding
        feeding = debug.device.memory.feeding[:]


def test_breakpoints_in_a_row_of_the_array():
    program = session("digits_mlp").program
    debug = session("digits_mlp")
    debug.set_focus("pe[1,0].3")
    first = debug.stepi()
    assert first.reason == "step"
    assert first.hits[0].by == "pe[1,0]"
    address = first.hits[0].values["address"]
    cycle = first.cycle
    debug = session("digits_mlp")
    debug.points.add("break", f"*{address:#x}")
    if program.section_at(address) is not None:
        stop = debug.cont()
        assert stop.reason == "breakpoint"
        assert stop.cycle <= cycle


def test_a_dprintf_prints_and_goes_on():
    printed = []
    debug = of_source(STORE_LOOP, on_output=lambda stream, data: printed.append((stream, data)))
    debug.points.add("dprintf", "loop", condition="s0 < 3", form="%d of %x", values=("s0", "s1"))
    assert debug.cont().reason == "exit"
    assert printed == [("dprintf", b"2 of 72\n"), ("dprintf", b"1 of 75\n")]


def test_short_names_of_a_dprintf_are_those_of_the_core_that_reaches_it():
    printed = []
    debug = of_source(
        ".core cp\n_start: li a0, 7\nhere: li a1, 9\nebreak\n",
        on_output=lambda stream, data: printed.append(data),
    )
    debug.set_focus("pe[0,0].0")
    debug.points.add("dprintf", "here", form="%d", values=("a0",))
    debug.cont()
    assert printed == [b"7\n"]


def test_points_are_changed_kept_and_loaded():
    debug = of_source(STORE_LOOP)
    debug.points.add("break", "loop", condition="s0 == 3", commands=("print s0", "continue"))
    debug.points.add("watch", "mem[data+4]", by="cp", enabled=False)
    debug.points.add("catch", "queue-full", place="pe[0]")
    kept = json.loads(json.dumps(debug.points.plain()))
    other = of_source(STORE_LOOP)
    added = other.points.load(kept)
    assert other.points.plain() == kept
    assert [point.number for point in added] == [1, 2, 3]
    other.points.delete(3)
    assert other.cont().hits[0].number == 1
    other.points.change(1, enabled=False)
    other.points.change(2, enabled=True)
    assert other.cont().reason == "watch"
    with pytest.raises(PointError, match="no event is called 'x'"):
        other.points.load([{"kind": "break", "text": "loop"}, {"kind": "catch", "text": "x"}])
    assert list(other.points.all) == [1, 2]


@pytest.mark.parametrize(
    ("kind", "text", "more", "message"),
    [
        ("break", "nowhere", {}, "nothing is called 'nowhere'"),
        ("break", "other.s:3", {}, "no lines of other.s"),
        ("break", "test.s:99", {}, "line 99 of test.s has no code"),
        ("break", "3 +", {}, "the line ends where"),
        ("break", "5 + 0x7ff0000", {}, "where the program has nothing"),
        ("break", "loop", {"condition": "x77"}, "nothing is called 'x77'"),
        ("watch", "3", {}, "3 never changes"),
        ("rwatch", "cp.retired", {}, "rwatch is of memory, registers and queues, and cp.retired"),
        ("watch", "mem[0x7fffffff]", {}, "no memory"),
        ("watch", "cp.s0", {"by": "vx"}, "no core is called"),
        ("catch", "rain", {}, "no event is called 'rain', there are queue-full"),
        ("sketch", "loop", {}, "no point of the kind sketch"),
    ],
)
def test_points_that_cannot_be(kind, text, more, message):
    debug = of_source(STORE_LOOP)
    with pytest.raises(PointError, match=message):
        debug.points.add(kind, text, **more)
    assert not debug.points.all


def test_a_condition_without_a_value_stops_and_says_so():
    debug = of_source(STORE_LOOP)
    debug.points.add("break", "loop", condition="100 / (s0 - 38) > 1000")
    stop = debug.cont()
    assert debug.read("s0") == 38
    assert stop.hits[0].values["error"] == "in the condition of point 1: division by zero"


def words_of(debug, kind):
    """The addresses of the instructions that cores of a kind execute, in the order of first use."""
    found: dict[Any, Any] = {}

    def hear(event):
        if event.kind == "instruction":
            found.setdefault(int(event.values["address"]))

    names = [name for name in debug.device.cores if name.startswith(kind)]
    debug.device.listen(hear, names)
    debug.device.run()
    return list(found)


@pytest.mark.parametrize(("folder", "kind"), [("nnp_mlp", "nnp"), ("fim_gru", "fim")])
def test_breakpoints_on_words_of_other_cores(folder, kind):
    """Both engines stop before the same words of other cores in the same states."""
    every = words_of(session(folder), kind)
    chosen = every[1 :: max(1, len(every) // 5)]
    plain = session(folder)
    plain.run()
    seen = []
    for engine in ENGINES:
        debug = session(folder, engine)
        for address in chosen:
            debug.points.add("break", f"*{address:#x}", ignore=1 if address == chosen[0] else 0)
        found = []
        for stop in stops_until_exit(debug, 60):
            if stop.reason == "exit":
                break
            assert stop.reason == "breakpoint"
            assert debug.device.cores[stop.where.core].table.name == kind
            assert stop.where.address in chosen
            found.append((stop.cycle, stop.turn, stop.where.address, debug.device.hash()))
        else:
            raise AssertionError("it does not end")
        assert found
        assert debug.device.hash() == plain.device.hash()
        seen.append(found)
    assert seen[0] == seen[1]
    assert {address for *_, address, _ in seen[0]} >= set(chosen[1:])


def test_breakpoints_in_the_array_stop_in_the_cycle_of_the_begin():
    every = words_of(session("layer"), "pe")
    address = every[len(every) // 2]
    seen = []
    for engine in ENGINES:
        debug = session("layer", engine)
        debug.points.add("break", f"*{address:#x}")
        found = [
            (s.cycle, s.turn, [h.values for h in s.hits])
            for s in stops_until_exit(debug, 30)
            if s.hits
        ]
        assert found
        assert all(values["address"] == address for *_, hits in found for values in hits)
        seen.append(found)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", [("watch", "mem[data]"), ("catch", "stall")])
def test_conditions_mean_something_when_they_are_said(kind):
    debug = of_source(STORE_LOOP)
    with pytest.raises(PointError, match="nothing is called 'nothing'"):
        debug.points.add(*kind, condition="nothing == 1")
    assert not debug.points.all


def test_a_condition_that_the_core_has_no_names_for_stops_and_says_so():
    debug = session("layer")
    debug.points.add("catch", "stall", condition="acc0 == 1")  # a row has such
    stop = debug.cont()
    assert (stop.reason, stop.hits[0].by) == ("event", "cp")
    assert "in the condition of point 1: nothing is called 'acc0'" in stop.hits[0].values["error"]
    assert hit_text(stop.hits[0]).count("in the condition of point 1: ") == 1


def test_conditions_of_events_that_are_seen_in_the_state():
    debug = session("layer")
    debug.points.add("catch", "stall", condition="device.cycle > 100")
    stop = debug.cont()
    assert (stop.reason, stop.cycle > 100) == ("event", True)
    debug.points.add("catch", "stall", condition="0 == 1")
    debug.points.delete(1)
    assert debug.run().reason == "exit"


def test_a_line_without_a_file_means_the_file_where_it_was_set():
    """A breakpoint at a line without a file keeps the file in which it was set.

    Later changes of the point, or saving it, do not move it, although the run is in another file.
    """
    debug = session("nnp_softmax")
    point = debug.points.add("break", "12")
    text, addresses = point.text, point.addresses
    assert text.partition(":")[2] == "12"
    for place in ("dma", "nnp", "cp"):
        debug.set_focus(place)
        debug.points.change(point.number, enabled=False)
        debug.points.change(point.number, condition="1")
        assert (point.text, point.addresses) == (text, addresses)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["advance", "tbreak", "break"])
def test_nothing_is_left_of_a_stop_that_is_over(engine, kind):
    """After a goal was reached, or a breakpoint deleted, its address stops no later run.

    The run passes the address 39 more times.
    """
    debug = of_source(STORE_LOOP, engine)
    if kind == "advance":
        assert debug.advance("loop").reason == "arrived"
    else:
        point = debug.points.add(kind, "loop")
        assert debug.cont().reason == "breakpoint"
        if kind == "break":
            debug.points.delete(point.number)
    assert debug.cont().reason == "exit"
