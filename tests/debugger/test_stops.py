"""Steps of any kind stop at points on their way, and count each hit once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from macaw.debugger.point import PointError
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.programs import loaded, of_source, session
from tests.debugger.running import place_of
from tests.debugger.sources import CALLS, FEW_CALLS, line_of_calls

pytestmark = pytest.mark.parametrize("engine", ENGINES)

DOUBLE = line_of_calls("double:")


def hits(debug):
    """The number of hits of each point."""
    return [point.hits for point in debug.points]


def said(stop):
    """The reason of a stop, its number of steps, and its points."""
    return stop.reason, stop.done, [hit.number for hit in stop.hits]


def test_step_and_next_stop_at_breakpoints_of_the_core_that_they_step(engine):
    debug = of_source(CALLS, engine)
    debug.points.add("break", "double")
    assert said(debug.step(9)) == ("breakpoint", 2, [1])
    assert place_of(debug.last_stop).symbol == "double"
    assert said(debug.step(over=True)) == ("step", 1, [])
    debug.restart_program()
    assert said(debug.step(5, over=True)) == ("breakpoint", 1, [1])
    assert said(debug.finish()) == ("arrived", 0, [])
    assert hits(debug) == [2]


def test_a_step_that_ends_before_a_breakpoint_has_met_it_and_what_goes_on_passes_it(engine):
    debug = of_source(CALLS, engine)
    debug.points.add("tbreak", str(DOUBLE))
    debug.points.add("break", "double", ignore=1)
    debug.points.add("break", "double", condition="a0 == 0")
    assert said(debug.stepi(3)) == ("breakpoint", 3, [1])
    assert 1 not in debug.points.all
    assert hits(debug) == [1, 0]  # for the second point, it was the last ignored hit
    debug.points.add("break", "double")  # at the current position: its first hit is the next time
    assert said(debug.cont()) == ("breakpoint", 0, [2, 4])
    assert hits(debug) == [2, 0, 1]


def test_a_dprintf_prints_also_where_a_breakpoint_was_hit_before(engine):
    """A step ends at a breakpoint and a dprintf: the breakpoint is hit, the dprintf prints later."""
    printed = []
    debug = of_source(CALLS, engine, on_output=lambda stream, data: printed.append(data))
    debug.points.add("break", "double")
    debug.points.add("dprintf", "double", form="a0 is %d", values=("a0",))
    assert said(debug.stepi(3)) == ("breakpoint", 3, [1])
    assert printed == []
    assert said(debug.stepi()) == ("step", 1, [])
    assert printed == [b"a0 is 3\n"]
    assert hits(debug) == [1, 1]


@pytest.mark.parametrize("cycle", [2755, 3625])
def test_each_core_that_runs_is_stepped(engine, cycle):
    """`stepi --all` ends when each core that still runs has executed as many instructions.

    While the first core is stepped, another one may already execute as many, before a third does.
    """
    debug = session("six_cores", engine)
    debug.goto(cycle)
    before = {core.name: core.retired for core in debug.device.order if core.running}
    assert len(before) >= 4
    assert debug.stepi(3, every=True).reason == "step"
    cores = [debug.device.cores[name] for name in before]
    done = {core.name: core.retired - before[core.name] for core in cores if core.running}
    assert len(done) >= 3
    assert min(done.values()) >= 3


def test_a_breakpoint_in_the_middle_of_a_line_stops_a_step(engine):
    debug = of_source(CALLS, engine)
    debug.advance(str(line_of_calls("twice a0")))
    first = place_of(debug.last_stop).address
    assert first is not None
    middle = first + 4
    debug.points.add("break", f"*{middle:#x}")
    for over in (False, True):
        debug.restart_program()
        debug.advance(str(line_of_calls("twice a0")))
        assert said(debug.step(over=over)) == ("breakpoint", 0, [1])
        assert place_of(debug.last_stop).address == middle
    assert hits(debug) == [2]


def test_next_counts_and_deletes_a_temporary_breakpoint_that_it_reaches(engine):
    debug = of_source(CALLS, engine)
    debug.step()
    debug.points.add("tbreak", str(line_of_calls("twice a0")))
    assert said(debug.step(over=True)) == ("breakpoint", 1, [1])
    assert not debug.points.all


def test_a_watch_that_a_stepped_instruction_triggers_is_told(engine):
    debug = of_source(CALLS, engine)
    debug.advance("double")
    debug.points.add("watch", "a0")
    stop = debug.stepi()
    assert said(stop) == ("watch", 1, [1])
    assert (stop.hits[0].old, stop.hits[0].new) == (3, 6)
    debug.restart_program()
    debug.stepi()  # li
    assert said(debug.stepi(4)) == ("watch", 3, [1])
    assert hits(debug) == [3]


def test_run_stops_at_a_breakpoint_before_the_first_instruction(engine):
    debug = of_source(CALLS, engine)
    debug.points.add("break", "_start")
    for count in (1, 2):
        stop = debug.run()
        assert said(stop) == ("breakpoint", 0, [1])
        assert (stop.cycle, place_of(stop).symbol) == (0, "_start")
        assert hits(debug) == [count]
    assert debug.cont().reason == "exit"


@pytest.mark.once
@pytest.mark.parametrize("act", ["stepi_back", "back", "stepc_back"])
def test_steps_back_stop_at_points_and_count_nothing(engine, act):
    debug = of_source(FEW_CALLS, engine)
    debug.points.add("break", "deep")
    debug.points.add("watch", "a0")
    forth, back = [], []
    while debug.cont().reason != "exit":
        forth.append(debug.device.position)
    counted = hits(debug)
    while not getattr(debug, act)(1000).at_start:
        back.append(debug.device.position)
    assert back == forth[::-1]
    assert len(back) == sum(counted) == 7
    assert hits(debug) == counted


def test_from_the_end_back_the_last_instruction_is_no_stop_of_a_watch(engine):
    """Going back from the end, a watch does not stop at a change by the last instruction.

    The stop would be at the end, where the debugger already is.
    """
    debug = of_source(CALLS, engine)
    assert debug.run().reason == "exit"
    retired = debug.read("cp.retired")
    debug.points.add("watch", "cp.retired")
    assert debug.cont_back().reason == "watch"
    assert debug.read("cp.retired") == retired - 1


def test_next_back_stops_in_what_was_called(engine):
    debug = of_source(CALLS, engine)
    debug.advance(str(line_of_calls("mv   s0")))
    debug.points.add("break", "double")
    stop = debug.back(3, over=True)
    assert said(stop) == ("breakpoint", 0, [1])
    assert place_of(stop).symbol == "double"
    assert hits(debug) == [0]
    assert said(debug.cont())[0] == "exit"  # it has told of this one


@pytest.mark.once
@pytest.mark.parametrize(
    ("folder", "core"),
    [("layer", "cp"), ("vector_dot", "vc"), ("nnp_lstm", "nnp"), ("fim_gru", "fim[1]")],
)
def test_each_instruction_that_begins_is_a_hit(engine, folder, core):
    """A breakpoint is hit as often as a device without a session announces its instruction.

    Blocks of an island may begin the same word together. A push that waits for data is hit once.
    """
    program, inputs = loaded(folder)
    device = Device(configuration_of(program), engine=engine)
    device.load(program)
    for name, array in inputs.items():
        device.write_tensor(name, array)
    begun: Counter[Any] = Counter()
    last: dict[Any, Any] = {}

    def hear(event):
        if event.kind == "instruction":
            address, block = event.values["address"], event.values.get("block")
            # A word of a block that waits is announced again when it is tried again.
            begun[address] += block is None or last.get(block) != address
            last[block] = address

    device.listen(hear, [core])
    device.run()
    debug = session(folder, engine)
    for address in begun:
        debug.points.add("break", f"*{address:#x}", place=core, ignore=1 << 30)
    assert debug.run().reason == "exit"
    counted = {int(point.text[1:], 0): point.hits for point in debug.points}
    assert counted == begun
    assert sum(begun.values()) > 20


def test_an_event_is_refused_where_it_cannot_be(engine):
    debug = session("layer", engine)
    for place in ("nnp", "fim[0]", "cp", "pe[0], nnp"):
        with pytest.raises(PointError, match=r"exe happens on pe .*, never on"):
            debug.points.add("catch", "exe", place=place)
    for event, place, lacks in (
        ("queue-full", "cp", "cp has no queues"),
        ("queue-empty", "fim[1]", r"fim\[1\] has no queues"),
        ("nan", "dma", "dma has no registers of real numbers"),
        ("nan", "pe[0]", r"pe\[0\] has no registers of real numbers"),
        ("saturate", "vc", "vc has no registers of whole numbers with a type that ends"),
        ("swap", "pe[0]", r"swap happens on cp .*, never on pe\[0\]"),
    ):
        with pytest.raises(PointError, match=lacks):
            debug.points.add("catch", event, place=place)


def test_catch_fault_is_a_hit_of_the_fault_once(engine):
    debug = of_source("        .core cp\n_start: lw a0, 2(zero)\n        .word 0\n", engine)
    debug.points.add("catch", "fault")
    debug.points.add("catch", "fault", place="vc")
    assert said(debug.cont()) == ("fault", 0, [1])
    assert said(debug.cont()) == ("fault", 0, [])
    assert hits(debug) == [1, 0]
