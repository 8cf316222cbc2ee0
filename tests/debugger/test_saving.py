"""`save session`: a new session that executes the file's lines has the saved session's state."""

from __future__ import annotations

import random

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.saving import SESSION
from macaw.debugger.commands.session_format import HEAD
from macaw.debugger.places import compact, places
from macaw.debugger.raw_state import MOST_COMMANDS
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session

pytestmark = pytest.mark.once

LOOP = """
        .output y, int16, 2, 3
        .core cp
_start: la   s3, y
        li   a0, 12
        li   s0, 6
loop:   sh   a0, 0(s3)
        addi a0, a0, 5
        addi s3, s3, 2
        addi s0, s0, -1
        bnez s0, loop
        li   a7, 93
        ecall
"""


def fresh(program):
    run = of_source(LOOP) if program == "loop" else session(program)
    return Interpreter(run, DebuggerFiles())


def done(run, *lines):
    answers = [run.execute(line) for line in lines]
    assert [answer.message for answer in answers if answer.kind == "error"] == []
    return answers


def state(run):
    """The state that a session's file restores, without counts of hits."""
    debug, layout = run.session, run.arrangement
    points = [row[:3] + row[4:] for row in run.execute("info breakpoints").rows]
    commands = {point.number: point.commands for point in debug.points}
    temporary = [point.number for point in debug.points if point.temporary]
    under = [point.focus for point in debug.points]
    named = {x.number: x.position for x in debug.checkpoints if x.number}
    edits = [(x.position, x.edits) for x in debug.checkpoints if x.edits]
    shares = {panel: round(share, 6) for panel, share in layout.shares.items()}
    shown = (
        layout.name,
        layout.extra_panels,
        layout.hidden_panels,
        shares,
        layout.zoom_panel,
        layout.heat,
    )
    return {
        "position": debug.device.position,
        "hash": debug.device.hash(),
        "focus": debug.focus,
        "points": (points, commands, temporary, under),
        "displays": (run.context.displays.rows, run.execute("display").json()),
        "checkpoints": named,
        "edits": edits,
        "layout": shown,
    }


def brought_back(run, program, path):
    """A new session that has executed the file of `run`."""
    done(run, f"save session '{path}'")
    again = fresh(program)
    done(again, f"source '{path}'")
    assert state(again) == state(run)
    return again


def test_all_that_a_session_has(tmp_path):
    run = fresh("loop")
    done(
        run,
        "break loop if s0 % 2 == 0 ignore 1",
        "tbreak loop+8",
        "watch y[0, 1] by cp if y[0, 1] > 3",
        "catch stall at cp",
        'dprintf loop+4, "s0 is \\"%d\\", %d", s0, a0 + 1',
        "rwatch y",
        "break loop+12",
        "delete 4",
        "disable 7",
        "condition 5 s0 == 3",
        "ignore 3 2",
        "commands 1 print s0; x/2dh y",
        "display/x a0",
        "display y",
        "display s0",
        "undisplay 2",
        "continue",
        "checkpoint",
        "stepi 2",
        "set s0=s0 + 1",
        "stepc 3",
        "set y[1, 2] = -9",
        "checkpoint",
        "continue",
        "reverse-stepi 2",
        "layout medium",
        "panel code grow 3",
        "panel queues shrink",
        "panel memory hide",
        "panel stalls show",
        "zoom stalls",
        "heat cycles_mac",
        "focus pe[0,*].*",
        "display q1.level",
        "watch sum(q1.level)",
    )
    again = brought_back(run, "loop", tmp_path / "a session")
    goes_on_alike(again, run)


def goes_on_alike(again, run):
    """Assert that both sessions have the same next stops, except for counts of hits.

    A restored session counts hits from 0.
    """
    for _ in range(3):
        found = []
        for one in (again, run):
            (answer,) = done(one, "continue")
            record = answer.json()
            for hit in record["stopped"].get("hits", ()):
                del hit["hits"]
            found.append((record, one.session.device.hash()))
        assert found[0] == found[1]


COMMANDS = {
    "loop": ["break loop", "break loop if s0 == 2", "tbreak loop+4", "watch s0", "watch y[0, 2]",
             'dprintf loop, "%d", s0', "display a0", "set a0 = a0 + 3", "focus cp", "set y = 4"],
    "layer": ["catch dma-done", "break layer", "watch y[3]", "focus pe[0,0].1", "focus pe[0,*].*",
              "focus dma", "set y[2] = 7", "display pe[0].macs", "stepx", "focus cp"],
}  # fmt: skip
ALWAYS = ["continue", "stepi 3", "stepc 5", "reverse-stepc 4", "reverse-continue", "checkpoint",
          "save", "delete 1", "disable last", "ignore last 1", "undisplay 1", "goto 30"]  # fmt: skip


@pytest.mark.few(10)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("program", COMMANDS)
def test_random_sessions(program, seed, tmp_path):
    chance = random.Random(seed)
    run = fresh(program)
    for number in range(14):
        line = chance.choice(COMMANDS[program] + ALWAYS)
        if line == "save":
            run = brought_back(run, program, tmp_path / f"{number}")
        else:
            run.execute(line)  # or it is an error, and nothing has happened
    again = brought_back(run, program, tmp_path / "end")
    goes_on_alike(again, run)


def test_what_was_loaded_is_loaded_again(tmp_path):
    path = tmp_path / "it's y.npy"
    np.save(path, np.arange(6, dtype=np.int16).reshape(2, 3))
    run = fresh("loop")
    done(run, "stepi 3", f'load y "{path}"')
    again = brought_back(run, "loop", tmp_path / "saved")
    assert again.session.read("y").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_cannot_be_kept_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = fresh("loop")
    done(run, "stepi 2")
    address = 0x80001000
    run.session.write_memory(address, bytes([7]) * (4 * MOST_COMMANDS + 1))
    answer = done(run, "save session")[0]
    assert answer.lines == (
        f"cycle 1, 0 points, 0 displays, 0 checkpoints, 1 edit in {SESSION}",
        "not kept: what was set at cycle 1 by no command",
    )
    text = (tmp_path / SESSION).read_text()
    assert text.startswith(f"{HEAD}: test.s, at cycle 1\n")
    again = fresh("loop")
    done(again, f"source {SESSION}")
    assert again.session.read_memory(address, 1) == bytes(1)


def test_files_that_are_no_sessions_stay(tmp_path):
    run = fresh("loop")
    other, own = tmp_path / "program.s", tmp_path / "own"
    other.write_text("a program")
    answer = run.execute(f"save session '{other}'")
    assert (answer.message, answer.hint) == (
        f"{other} exists and is not a session",
        "save session FILE",
    )
    assert other.read_text() == "a program"
    done(run, f"save session '{own}'", "stepi 2", f"save session '{own}'")
    assert "goto 1" in own.read_text(), "its own file is written anew"
    assert run.execute(f"save session '{tmp_path / 'none' / 'x'}'").message.startswith("cannot")
    assert run.execute("save breakpoints").message == "the name of a file is needed"
    assert run.execute("save session a b").kind == "error"


@pytest.mark.parametrize(
    "kind", ["watch y[0, 1]", "catch stall", "tcatch stall", 'dprintf loop, "%d", s0']
)
def test_points_of_all_kinds_come_back(kind, tmp_path):
    run = fresh("loop")
    done(run, "break loop", kind, "condition last s0 == 3", "ignore last 4", "disable last")
    done(run, f"save breakpoints '{tmp_path / 'points'}'")
    again = fresh("loop")
    done(again, f"source '{tmp_path / 'points'}'")
    assert again.execute("info breakpoints").rows == run.execute("info breakpoints").rows
    assert again.execute("info breakpoints").rows[1][1] == kind.split()[0]
    assert again.session.points.get(2).ignore == 4
    assert again.session.points.get(2).temporary == kind.startswith("t")
    assert again.execute("condition 7 s0").message == "there is no point 7"


def test_a_point_that_means_nothing_now_is_told(tmp_path):
    run = fresh("loop")
    done(run, "watch y[0, 1]", "break loop", "display a0", "display y")
    run.session.points.get(1).text = "nowhere"
    run.context.displays.rows[1] = ("nothing", run.context.displays.rows[1][1])
    answer = done(run, f"save session '{tmp_path / 'saved'}'")[0]
    assert answer.lines[1:] == (
        "not kept: watch nowhere: nothing is called 'nowhere'",
        "not kept: display nothing: nothing is called 'nothing'",
    )
    again = fresh("loop")
    done(again, f"source '{tmp_path / 'saved'}'")
    assert [point.number for point in again.session.points] == [2]
    assert list(again.context.displays.rows) == [2]


def test_shares_of_panels(tmp_path):
    for lines in (["grow 20", "shrink 2"], ["shrink 30", "grow"], ["grow 3"], ["shrink 4"]):
        run = fresh("loop")
        done(run, *(f"panel code {line}" for line in lines))
        brought_back(run, "loop", tmp_path / "".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        "pe[*,0].*",
        "pe[0,*].3",
        "pe[0]",
        "pe",
        "pe[1,0].2",
        "vc",
        "pe[*,*]",
        "fim[0]",
        "dma",
        "vc, cp",
    ],
)
def test_places_are_written_as_they_are_read(text):
    device = fresh("layer").session.device
    found = places(device, text)
    assert places(device, compact(device, found)) == found
