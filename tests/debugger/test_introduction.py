"""The first screen: the program, its position, and three suggestions, each of which works."""

from __future__ import annotations

from itertools import pairwise

import pytest

from macaw.debugger.commands.gdb_spellings import HABITS
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.introduction import introduction
from macaw.debugger.events import events_of
from macaw.debugger.moments import MOST, Moment, Moments
from macaw.debugger.screen.keys import table
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.screens import Screen
from tests.debugger.sources import LONG_LOOP
from tests.debugger.typist import Typist

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", ["hello", "layer", "digits_mlp", "fim_mlp", "vector_dot", ""])
def test_the_three_things_to_try_work(name):
    run = Interpreter(session(name) if name else of_source(LONG_LOOP), DebuggerFiles())
    lines = introduction(run.session)
    program = run.session.program
    for tensor in program.tensors:
        assert f"{tensor.direction} {tensor.name} " in " ".join(lines)
    begin = lines.index("Three things to try:") + 1
    assert lines[begin - 1 - 1].startswith("Nothing has been executed yet: cp at 0x0001")
    tried = [line[2:].partition("  ")[0] for line in lines[begin : begin + 3]]
    assert tried[0] == "step"
    labels = {"vector_dot": "break measured", "": "break loop"}  # of vc before those of cp
    assert tried[1] == labels.get(name, tried[1])
    for line in tried[:2]:
        assert run.execute(line).kind != "error", line
    if tried[1].startswith("break"):
        run.execute("continue")
        assert run.session.last_stop.reason == "breakpoint"
        run.execute("delete")
        run.execute("continue")
    assert run.execute(tried[2]).kind in ("text", "table"), tried


@pytest.mark.parametrize(
    ("cores", "said"),
    [
        (("cp",), "cp"),
        (("cp", "vc"), "cp and vc"),
        (("cp", "vc", "nnp"), "cp, nnp and vc"),
    ],
)
def test_it_names_the_cores_with_a_part(cores, said):
    parts = {"cp": "_start: nop", "vc": "v: nop", "nnp": "n: end_chain"}
    text = "".join(f"        .core {name}\n{parts[name]}\n" for name in cores)
    lines = introduction(of_source(f"        .device tiny\n{text}"))
    assert lines[0].endswith(f" for the device tiny: parts for {said}")


def test_the_first_screen_shows_it():
    text = Screen(session("layer")).text(80, 21)
    assert "layer.s" in text
    assert "Three things to try:" in text
    assert "why y[0]" in text
    assert "F1 shows the keys, Ctrl-D leaves" in text


def test_help_of_catch_lists_the_events_of_the_device():
    run = Interpreter(session("layer"), DebuggerFiles())
    events = events_of(run.session.device)
    assert {"queue-full", "exe", "dma-done", "swap", "nan"} <= set(events)
    for name in ("catch", "tcatch"):
        lines = run.execute(f"help {name}").lines
        for event in events.values():
            assert any(event.name in x.split() and x.endswith(event.meaning) for x in lines)
    assert not any("EVENT" in line for line in run.execute("help step").lines)


def test_the_columns_of_f1_are_aligned():
    typist = Typist(of_source(LONG_LOOP)).play(
        lambda user: (user.type("\x1bOP"), user.until("more rows"))
    )
    first = next(line for line in typist.log if line.startswith("key "))
    places = [first.index("what it does"), first.index("with `mouse on`")]
    rows = list(table())
    assert [len(name) <= places[0] - 2 for name, _, _ in rows] == [True] * len(rows)
    for name, meaning, mouse in rows:
        line = next(x for x in typist.log if x.startswith(f"{name} ") and meaning in x)
        assert line[places[0] :].startswith(meaning)
        assert line[places[1] :] == mouse


def test_f1_has_the_table_of_help_gdb():
    typist = Typist(of_source(LONG_LOOP)).play(
        lambda user: (user.type("\x1bOP"), user.until("more rows"))
    )
    for name, here in HABITS:
        assert any(line.startswith(name) and line.endswith(here) for line in typist.log)
    answer = typist.interpreter.execute("help gdb")
    assert answer.rows == HABITS


def test_the_timeline_has_the_past_after_goto():
    screen = Screen(session("six_cores"))
    screen.do("goto 1700")
    part = screen.builder.timeline()
    assert part.cycles[0] == 0
    assert part.cycles[-1] == 1700
    assert len(part.cycles) >= MOST // 2 - 1
    witness = session("six_cores")
    tracks = {track.core: track.past for track in part.tracks}
    for at in range(0, len(part.cycles), 40):
        witness.goto(part.cycles[at])
        for core in witness.device.order:
            state = "wait" if core.waiting is not None else "run"
            state = state if core.running else "idle"
            assert tracks.get(core.name, ["idle"] * len(part.cycles))[at] == state, part.cycles[at]
    screen.do("goto 300")
    part = screen.builder.timeline()
    assert part.cycles[-1] == 300
    assert part.cycles[0] == 0
    rows = screen.composer.text(screen.builder.frame(["timeline"]), 200, 47)
    assert "cycles 0 to 300" in rows


def test_moments_of_a_long_run_are_at_equal_distances():
    moments, cycle = Moments(), 0
    while cycle < 100_000:
        moments.add(Moment(cycle, {}, {}))
        cycle += moments.apart
    cycles = [moment.cycle for moment in moments]
    assert MOST // 2 <= len(cycles) <= MOST
    assert cycles[0] == 0
    gaps = {b - a for a, b in pairwise(cycles)}
    assert len(gaps) <= 2
    assert max(gaps) <= 2 * min(gaps)
    moments.drop_from(50_000)
    assert [moment.cycle for moment in moments] == [x for x in cycles if x < 50_000]
    moments.drop_from(0)
    assert (len(moments), moments.apart) == (0, 1)
