"""Ctrl-C also ends commands that do not run the program: printing, scripts, shell commands."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.screen.worker import Worker
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import STORE_LOOP
from tests.debugger.typist import Typist

pytestmark = pytest.mark.once
LARGE = """
        .input  t, uint8, 4, 4000000
        .core   cp
_start: li      a7, 93
        ecall
"""


def interpreter(debug, **more):
    return Interpreter(debug, DebuggerFiles(), **more)


def asked_at(run, monkeypatch, times):
    """Make Ctrl-C arrive at the `times`-th moment at which a command checks for it.

    Return a list that gets an item at each check.
    """
    seen, check = [], run.session.interrupts.check

    def look():
        seen.append(1)
        if len(seen) == times:
            run.session.interrupt()
        check()

    monkeypatch.setattr(run.session.interrupts, "check", look)
    return seen


@pytest.mark.parametrize(
    "line",
    [
        "x/65536xw 0x80000000",
        "x/65536s 0x80000000",
        "x/9999tiles 0x80000000",
        "print sum(pe[*,*].*.macs)",
        "heat macs",
        "info registers pe[*,*].*",
    ],
)
def test_looking_ends(line, monkeypatch):
    run = interpreter(session("layer"))
    seen = asked_at(run, monkeypatch, 7)
    answer = run.execute(line)
    assert answer.kind == "error"
    assert answer.message.endswith("interrupted")
    assert len(seen) == 7
    assert run.execute("stepi 3").stopped.done == 3


def test_a_condition_at_work_does_not_break_off_an_act(monkeypatch):
    """Ctrl-C while a point's condition is computed ends the run after the act; a run can follow."""
    run = interpreter(session("layer"))
    plain = session("layer")
    plain.cont()
    run.execute("catch exe if sum(pe[*,*].*.macs) < 0")
    asked_at(run, monkeypatch, 7)
    stopped = run.execute("continue").stopped
    assert stopped.reason == "interrupt"
    assert 0 < stopped.cycle < plain.device.cycle
    assert run.execute("continue").stopped.reason == "exit"
    assert run.session.device.hash() == plain.device.hash()


def test_what_was_asked_for_before_a_line_is_over():
    run = interpreter(of_source(STORE_LOOP))
    worker = Worker(run, lambda: None, lambda: None)
    worker.interrupt()
    worker._execute("continue", 1, False)
    assert run.session.last_stop.reason == "exit"


def test_a_script_ends_where_it_is_interrupted(tmp_path):
    run = interpreter(of_source(STORE_LOOP))
    script = tmp_path / "script"
    script.write_text("stepi\nstepi\necho here\nstepi\nstepi\n")
    run.on_answer = lambda line, answer: run.session.interrupt() if line == "echo here" else None
    answer = run.execute(f"source {script}")
    assert answer.message == f"{script}:3: interrupted, the rest is not done"
    assert run.session.core.retired == 2
    run.on_answer = None
    (tmp_path / "forever").write_text("continue\nstepi 7\n")
    run = interpreter(of_source("        .core cp\n_start: j _start\n"))
    threading.Timer(0.2, run.session.interrupt).start()
    assert "forever:1: interrupted" in run.execute(f"source {tmp_path / 'forever'}").message
    assert run.session.last_stop.reason == "interrupt"


@pytest.mark.parametrize("line", ["shell sleep 60", "python while True: pass"])
def test_commands_of_the_user_end(line):
    run = interpreter(of_source(STORE_LOOP), allow_shell=True)
    threading.Timer(0.3, run.session.interrupt).start()
    answer = run.execute(line)
    assert (answer.kind, answer.message) == ("error", "interrupted")
    assert run.execute("stepi").stopped.reason == "step"


def test_what_a_shell_command_prints_and_how_it_ends():
    run = interpreter(of_source(STORE_LOOP), allow_shell=True)
    assert run.execute("shell echo a; echo b >&2; exit 3").lines == ("a", "b", "exit status 3")
    assert run.execute("python session.stepi().reason").lines == ("'step'",)


def test_ctrl_c_on_the_screen():
    run = interpreter(of_source(STORE_LOOP), allow_shell=True)

    def act(user):
        user.type("shell sleep 60\r")
        user.until("shell sleep 60: Ctrl-C stops it")
        user.type("\x03")
        user.until("error: interrupted")
        user.type("stepi\r")
        user.until("step done")

    Typist(interpreter=run).play(act)


def test_an_element_of_a_large_tensor_does_not_cost_the_tensor():
    run = interpreter(of_source(LARGE))
    place = run.session.program.inputs[0].address
    run.session.device.memory.poke(place + 4_000_003, b"\7")
    tracemalloc.start()
    try:
        assert run.session.read("t[1, 3]") == 7
        assert run.session.read("t[-3, -3999997]") == 7
        assert run.session.expression("t[1, 3]").extents() == [(place + 4_000_003, 1)]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        assert run.session.read("sum(t)") == 7
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert run.session.read("t[1, 2:5]").tolist() == [0, 7, 0]
    assert run.session.expression("t[1, 2:5]").extents() == [(place + 4_000_002, 3)]
    assert run.session.read("t[1]").sum() == 7
    for text in ("t[4, 0]", "t[0, 4000000]", "t[4]", "t[-5, 0]"):
        answer = run.execute(f"print {text}")
        assert f"has no element {text[2:-1].replace(' ', '')}, it has" in answer.message


def test_a_large_file_is_loaded_at_once_and_checked(tmp_path):
    run = interpreter(of_source(LARGE))
    values = np.zeros((4, 4_000_000), np.int16)
    values[3, 5] = 255
    np.save(tmp_path / "t.npy", values)
    assert run.execute(f"load t {tmp_path / 't.npy'}").kind == "done"
    assert run.session.read("t[3, 5]") == 255
    values[3, 6] = 256
    np.save(tmp_path / "t.npy", values)
    assert "256 does not fit t" in run.execute(f"load t {tmp_path / 't.npy'}").message


def test_a_stop_while_a_line_begins_drops_the_line(monkeypatch):
    """If the user asks to stop just when a line begins, the line is dropped and does nothing."""
    run = Interpreter(of_source(STORE_LOOP), DebuggerFiles())
    worker = Worker(run, lambda: None, lambda: None)
    take = run.session.interrupts.take

    def taken_meanwhile():
        worker.drop()
        worker.interrupt()
        return take()

    monkeypatch.setattr(run.session.interrupts, "take", taken_meanwhile)
    worker.submit("stepi")
    worker.start()
    worker.stop()
    assert worker.waiting == 0
    assert run.session.core.retired == 0
