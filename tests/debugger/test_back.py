"""Going back: to the start, to points, by checkpoints, and with interrupts.

`test_back_mixed` goes forward and back in any mixture, on every core and both engines.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from macaw.debugger.history import START, History
from macaw.debugger.runner import APART, BULK, SHARE
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source, session

pytestmark = pytest.mark.once


def test_the_engines_have_the_same_way_back():
    seen = []
    for engine in ENGINES:
        debug = session("layer", engine)
        debug.run()
        found = []
        for _ in range(12):
            stop = debug.stepi_back(7)
            found.append((stop.cycle, stop.turn, debug.device.hash()))
        seen.append(found)
    assert seen[0] == seen[1]


def test_back_to_the_begin_instruction_by_instruction():
    debug = session("layer")
    first = debug.device.hash()
    debug.stepi(20)
    assert debug.stepi_back(19).done == 19
    assert debug.core.retired == 1
    stop = debug.stepi_back(5)
    assert (stop.at_start, stop.done) == (True, 1)
    assert debug.device.hash() == first
    assert debug.stepi_back().at_start


LOOP = """
        .core cp
_start: la   s3, data
        li   s0, 3000
loop:   addi s1, s1, 3
        sw   s1, 0(s3)
        addi s0, s0, -1
        bnez s0, loop
        li   a7, 93
        ecall
        .section .data.cp
data:   .word 0
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_back_meet_what_runs_forth_have_met(engine):
    debug = of_source(LOOP, engine)
    debug.points.add("break", "loop", condition="s0 % 1000 == 0")
    debug.points.add("watch", "mem[data] / 3 % 900 == 899")
    forth = []
    while debug.cont().reason != "exit":
        stop = debug.last_stop
        forth.append((stop.cycle, stop.turn, stop.hits[0].number, debug.device.hash()))
    assert {number for *_, number, _ in forth} == {1, 2}
    assert len(forth) == 3 + 2 * 3
    back = []
    while not debug.cont_back().at_start:
        stop = debug.last_stop
        back.append((stop.cycle, stop.turn, stop.hits[0].number, debug.device.hash()))
    assert back == forth[::-1]
    # Going back does not count hits.
    assert debug.points.all[1].hits == 3


def test_from_checkpoint_to_checkpoint():
    debug = of_source(LOOP)
    debug.points.add("break", "loop", condition="s0 == 2990")
    debug.points.add("watch", "cp.s0 == 5")
    for cycle in range(100, 9001, 150):
        debug.goto(cycle)
        debug.checkpoint()
    debug.goto(9000)
    number = 3
    assert debug.restart(number).cycle == 100 + 150 * (number - 1)
    assert debug.cont().reason == "watch"
    assert debug.cont_back().hits[0].kind == "break"
    assert debug.read("s0") == 2990


def test_a_run_back_is_interrupted():
    debug = of_source(LOOP.replace("li   s0, 3000", "li   s0, 3000000"))
    debug.goto(6_000_000)
    debug.points.add("break", "loop", condition="s1 == 1")  # never
    assert len(debug.checkpoints) > 1
    told = []

    def asked(what, _):
        told.append(what)
        if told.count("going back") == 1:
            debug.interrupt()

    debug.on_progress = asked
    stop = debug.cont_back()
    assert stop.reason == "interrupt"
    assert "going back" in told
    debug.on_progress = None
    assert debug.stepc().reason == "step"


def test_progress_is_told():
    told = []
    debug = of_source(LOOP.replace("3000", "900000"), on_progress=lambda *x: told.append(x))
    debug.goto(1_500_000)
    debug.goto(1_499_990)
    debug.points.add("break", "loop", condition="s1 == 1")
    debug.cont_back()
    assert {what for what, _ in told} >= {"replaying", "going back"}


def test_an_edit_is_no_way_around():
    """Going back before an edit undoes the edit; going forward to its position restores it."""
    debug = of_source(LOOP)
    debug.goto(100)
    debug.set("s1", 1000)
    debug.stepi(7)
    edited = debug.read("s1")
    assert edited > 1000
    debug.stepi_back(7)
    assert debug.read("s1") == 1000
    debug.goto(50)
    assert debug.read("s1") < 1000
    debug.goto(100)
    assert debug.read("s1") == 1000


def test_the_way_back_behind_several_edits_has_them_all():
    debug = of_source(LOOP)
    debug.goto(100)
    debug.set("s1", 1000)
    debug.stepi(5)
    debug.set("s1", 50_000)
    seen = []
    for _ in range(9):
        seen.append((debug.device.position, debug.device.hash()))
        debug.stepi()
    for wanted in reversed(seen):
        debug.stepi_back()
        assert (debug.device.position, debug.device.hash()) == wanted
    debug.stepi(9)
    debug.stepi_back(8)
    assert (debug.device.position, debug.device.hash()) == seen[1]
    debug.points.add("break", "loop")
    assert debug.cont_back().reason == "breakpoint"
    assert 1000 <= debug.read("s1") < 50_000


def test_output_is_what_has_been_written_by_now():
    debug = session("hello")
    heard = []
    debug.on_output = lambda stream, data: heard.append(data)
    debug.run()
    whole = b"".join(data for _, _, data in debug.output)
    assert whole == b"".join(heard)
    assert whole
    debug.goto(debug.output[-1][0][0])
    assert b"".join(data for _, _, data in debug.output) == b""
    debug.cont()
    assert b"".join(data for _, _, data in debug.output) == whole


def test_gaps_grow_with_age_and_numbers_stay_bounded():
    debug = of_source(LOOP)
    history = History(most=10)
    history.take(debug.device)
    for cycle in range(10, 1200, 10):
        debug.device.run(until=cycle)
        history.take(debug.device)
    cycles = [point.position[0] for point in history.points]
    assert len(cycles) == 10
    assert cycles[0] == START[0]
    assert cycles[-1] == 1190
    gaps = [b - a for a, b in pairwise(cycles)]
    assert max(gaps[-3:]) < 60
    assert gaps[0] > 10 * gaps[-1]
    assert sum(gaps[:4]) > sum(gaps[-4:])


def test_checkpoints_after_one_of_the_user_are_dropped_too():
    """Of the points after a checkpoint of the user, which stays, older ones are dropped."""
    debug = of_source(LOOP)
    history = History(most=5)
    for cycle in range(0, 100, 10):
        debug.device.run(until=cycle)
        history.take(debug.device, number=1 if cycle == 10 else None)
    cycles = [point.position[0] for point in history.points]
    assert len(cycles) == 5
    assert cycles[:2] == [0, 10]
    assert cycles[-1] == 90


def test_checkpoints_go_apart_once_the_last_three_were_dear(monkeypatch):
    runner = of_source(LOOP)._runner
    apart = []
    for cost in (0, 0.005, 0.006, 0.007):
        clock = iter((1, 1 + cost))
        monkeypatch.setattr("macaw.debugger.runner.thread_time", clock.__next__)
        runner.checkpoint()
        apart.append(runner._apart())
    assert apart == [APART, APART, APART, pytest.approx(SHARE * 0.005)]
    assert SHARE * 0.005 > APART


def test_many_steps_end_at_a_position_before_their_goal():
    """A run of more steps than there are until the given position ends at this position."""
    debug = of_source(LOOP)
    stop = debug._runner.step("cp", BULK + 100, until=(50, 0))
    assert stop.reason == "cycle limit"
    assert debug.device.position == (50, 0)
    assert debug.device.cores["cp"].retired < BULK + 100


def test_after_a_way_back_the_time_to_the_next_checkpoint_begins_anew(monkeypatch):
    """After going back, the time to the next checkpoint is counted from 0 again."""
    debug = session("layer")
    runner = debug._runner
    debug.stepi(20)
    assert runner._ran > 0
    runner.rewind(START)
    assert runner._ran == 0
    now = iter(range(1000))
    monkeypatch.setattr("macaw.debugger.runner.thread_time", lambda: next(now) * 1e-9)
    debug.stepi(1)
    assert 0 < runner._ran < 1e-6


def test_checkpoints_share_what_has_not_changed():
    debug = session("layer")
    for cycle in (40, 80, 120):
        debug.goto(cycle)
        debug.checkpoint()
    history = debug._history
    alone = sum(
        array.nbytes
        for point in history.points
        for state in point.snapshot.cores.values()
        for array in state.values()
        if hasattr(array, "nbytes")
    )
    assert history.bytes < alone


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_of_one_pe_forth_and_back(engine):
    debug = session("layer", engine)
    debug.set_focus("pe[0,1].2")
    states = [debug.device.hash()]
    for _ in range(4):
        stop = debug.stepi()
        assert stop.reason == "step"
        assert stop.hits[0].by == "pe[0,1]"
        states.append(debug.device.hash())
    assert debug.stepi_back(2).done == 2
    assert debug.device.hash() == states[2]
    for wanted in states[1::-1]:
        debug.stepi_back()
        assert debug.device.hash() == wanted
    assert debug.last_stop.at_start


STARTED_TWICE = """
        .core   vc
again:  li      t0, 1
        call    inner
        li      a7, 93
        ecall
inner:  ret
        .core   cp
_start: li      s0, 2
loop:   li      a0, 2
        la      a1, again
        core.start a0, a1
        li      a1, 4
        core.wait a1
        addi    s0, s0, -1
        bnez    s0, loop
        li      a0, 0
        li      a7, 93
        ecall
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("back", "expected"), [
    ("reverse-step", ["ecall", "li a7, 93", "ret", "call inner", "li t0, 1"]),
    ("reverse-next", ["ecall", "li a7, 93", "call inner", "li t0, 1"]),
    ("reverse-nexti", ["ecall", "li a7, 93", "call inner", "call inner", "li t0, 1"]),  # auipc and jalr
])  # fmt: skip
def test_the_way_back_over_the_starts_of_a_core(engine, back, expected):
    """Steps back in a core that was started twice also stop at the first instruction each time."""
    debug = of_source(STARTED_TWICE, engine)
    debug.set_focus("vc")
    debug.points.add("break", "again")
    while debug.cont().reason != "exit":
        visited = debug.device.position
    debug.points.clear()
    step = {
        "reverse-step": debug.back,
        "reverse-next": lambda: debug.back(over=True),
        "reverse-nexti": debug.nexti_back,
    }[back]
    lines, positions = [], []
    while not step().at_start:
        line = STARTED_TWICE.splitlines()[(debug.where().line or 1) - 1]
        lines.append(" ".join(line.rpartition(":")[2].split()))
        positions.append(debug.device.position)
    assert lines == 2 * expected
    assert positions[len(expected) - 1] == visited
