"""The application on a simulated terminal: the test types keys and reads the screen."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import stop_lines
from macaw.debugger.screen.control import COLOURS, style_of
from macaw.debugger.screen.keys import KEYS, bar
from macaw.debugger.screen.worker import Worker
from macaw.debugger.views.area import ASCII, BAD, FADING, FAINT
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import LONG_LOOP
from tests.debugger.typist import Typist

FOREVER = ".core cp\n_start: addi s0, s0, 1\n j _start\n"
SHIFT_F12, F12, ALT_6 = "\x1b[24;2~", "\x1b[24~", "\x1b6"


def test_keys_do_the_lines_that_the_table_says():
    script = Interpreter(of_source(LONG_LOOP), DebuggerFiles())
    answers = [script.execute(line) for line in ("stepc", "stepi 2", "", "reverse-stepc")]

    def act(user):
        for keys, answer in zip((F12, "stepi 2\r", "\r", SHIFT_F12), answers, strict=True):
            user.type(keys)
            assert answer.stopped is not None
            user.until(f" {next(stop_lines(answer.stopped))} | ")

    typist = Typist(of_source(LONG_LOOP)).play(act)
    assert answers[-1].stopped is not None
    assert typist.interpreter.session.last_stop.json() == answers[-1].stopped.json()
    assert typist.interpreter.session.device.hash() == script.session.device.hash()


def test_every_line_of_a_key_is_a_command():
    interpreter = Interpreter(of_source(LONG_LOOP), DebuggerFiles())
    for key in KEYS:
        if key.line:
            assert interpreter.parse(key.line)[0].name == key.line
    assert bar(200).startswith("F1 help  F5 continue  F9 break")
    for width in (1, 20, 80):
        assert len(bar(width)) <= width


def test_ctrl_c_stops_a_run_and_output_goes_to_its_panel():
    def act(user):
        user.type("continue\r")
        user.until("running, cycle", "Ctrl-C stops it")
        user.type("\x03")
        user.until("interrupt at cycle")
        user.type("abc\x03stepi\r")
        user.until("step done at cycle")

    typist = Typist(of_source(LONG_LOOP)).play(act)
    assert "> stepi" not in typist.log  # the mark belongs to the view
    assert "stepi" in typist.log
    assert "abcstepi" not in typist.log

    def hello(user):
        user.type("continue\r")
        user.until("Hello from the command processor.", "exit with code 0")

    Typist(session("hello")).play(hello)


def test_lines_typed_during_a_run_are_done_behind_it_and_dropped_with_it():
    def act(user):
        user.type("continue\r")
        user.until("running, cycle")
        user.type("\r\recho first\recho second\r")
        user.until(", then 2 more: Ctrl-C stops it")
        user.interpreter.session.interrupt()  # of the run alone
        user.until("interrupt at cycle", "\nfirst ", "\nsecond ")
        user.type("continue\r")
        user.until("running, cycle")
        user.type("echo never\r")
        user.until(", then 1 more")
        user.type("\x03")
        user.until("interrupt at cycle", "> continue")
        user.type("echo at last\r")
        user.until("\nat last ")

    typist = Typist(of_source(FOREVER)).play(act)
    assert typist.interpreter.history == [
        "continue",
        "echo first",
        "echo second",
        "continue",
        "echo at last",
    ]


def test_a_resize_brings_other_panels():
    def act(user):
        assert "5 memory" not in user.until("1 code", "4 output")
        user.resize(200, 50)
        seen = user.until("5 memory", "8 stalls", "9 timeline", "0 watches", "cycles_mac: ")
        assert all(len(row) == 200 for row in seen.splitlines())
        user.resize(50, 12)
        assert "registers" not in user.until("The terminal is small")

    Typist(session("layer")).play(act)


def test_panels_by_keys_and_by_commands():
    def act(user):
        user.type(ALT_6)
        user.until("6 grid", "cycles_mac: ")
        user.type("\x1b[A\x1b[D")  # up and left of the first unit
        user.type("\x1b[B" * 9 + "\x1b[C" * 9)  # down and right of the last
        user.until("1 code pe[1,1].3")
        user.type("\x1b[A\x1b[A" * 9 + "\x1b[D" * 9)
        user.until("1 code pe[0,0].0")
        user.type("\x1b[B\x1b[C")  # down, right
        user.until("1 code pe[0,1].1")
        user.type("\r")
        user.until("2 registers pe[0,1].1")
        user.type("zoom registers\r")
        user.until("acc3")
        user.type("zoom\rpanel queues hide\r")
        user.until("1 code", "panel queues: hide")
        assert "3 queues" not in "\n".join(user.rows()[:-2])
        user.type("heat macs +\r")
        user.until("error: ")
        user.type("heat macs\rlayout medium\r")
        user.until("macs: ", "7 counters")

    kept: list[dict[str, Any]] = []
    typist = Typist(session("layer"), (120, 40), keep=kept.append).play(act)
    assert [place.units for place in typist.interpreter.session.focus] == [(1, 1)]
    assert kept[-1]["heat"] == "macs"
    assert kept[-1]["layout"] == "medium"


def test_palette_help_completion_history_and_leaving():
    def act(user):
        user.type("\x10")  # Ctrl-P
        user.type("of the present")
        user.until("checkpoint of the present")
        user.type("\x03")
        user.type("\x1bOP")  # F1
        user.until("Shift-F5", "reverse-continue")
        user.type("\x1b")
        user.until("1 code")
        user.type("reverse-stepc\x01\x0b")
        user.type("chec\t")
        user.until("(macaw) checkpoint")
        user.type("\r")
        user.until("checkpoint 1 at cycle 0")
        user.type("stepi\r")
        user.until("step done at cycle 0")
        user.type("\x12chec")
        user.until("I-search backward: chec")
        user.type("\x03")  # the search ends, what is typed goes to the line
        user.wait(lambda seen: "I-search" not in seen)
        user.type("echo found again\r")
        user.until("\nfound again ")
        user.type("\x12chec\r\r")  # Ctrl-R finds the line
        user.until("checkpoint 2 at cycle 0")
        user.type("quit\r")

    Typist(of_source(LONG_LOOP)).play(act)


def test_a_breakpoint_by_key_comes_and_goes():
    def act(user):
        user.type("\x1b[20~")  # F9
        user.until("●▶")
        user.type("\x1b[20~")
        user.until("> delete 1", " ▶")

    typist = Typist(of_source(LONG_LOOP)).play(act)
    assert not list(typist.interpreter.session.points)


def test_only_the_worker_reads_the_points_for_a_key():
    """Two quick F9 set a breakpoint and delete it: each reads the points when its turn comes."""
    readers = set()

    class Heard(Interpreter):
        @property
        def session(self):
            caller = sys._getframe(1).f_code.co_name
            if caller in ("_break", "_break_line"):
                readers.add(threading.current_thread().name)
            return self.context.session

    def act(user):
        user.type("\x1b[20~\x1b[20~")
        user.until("> break *", "> delete 1")

    heard = Heard(of_source(LONG_LOOP), DebuggerFiles())
    typist = Typist(interpreter=heard).play(act)
    assert not list(typist.interpreter.session.points)
    assert readers == {"session"}


def test_scrolling_ends_where_the_rows_end():
    def act(user):
        user.type("help\r")
        user.until("more rows: Space")
        user.type("q\x1b4")
        user.until("help NAME shows")
        user.type("\x1b[5~" * 3)  # page up
        user.type("\x1b[6~" * 9)  # page down, farther than it was
        user.type("\x1b[A")
        user.wait(lambda seen: "▼2 ─" in seen and "help NAME shows" not in seen, "a row up")

    Typist(of_source(LONG_LOOP)).play(act)


def test_ctrl_c_ends_a_command_whose_end_has_not_come():
    def act(user):
        user.type("define mine\rstepi\r")
        user.until("\n> stepi", "\n> ")
        user.type("\x03")
        user.until("\n(macaw)")
        user.type("echo a line\r")
        user.until("\na line ")

    typist = Typist(of_source(LONG_LOOP)).play(act)
    assert not typist.interpreter.context.user_commands


def test_ascii_has_no_other_characters():
    def act(user):
        user.type("stepi 3\r")
        seen = user.until("3 steps done")
        assert seen.isascii()

    Typist(session("layer"), (200, 50), signs=ASCII).play(act)


def test_lines_given_first_are_done_first():
    typist = Typist(of_source(LONG_LOOP), lines=["stepi 3", "nothing"])
    typist.play(lambda user: user.until("3 steps done", "no command is called 'nothing'"))


def test_an_error_of_ours_does_not_end_the_session(monkeypatch):
    def act(user):
        frame = user.screen.worker.builder.frame
        monkeypatch.setattr(user.interpreter, "execute", lambda line: 1 // 0)
        user.type("stepi\r")
        user.until("error of the debugger:", "ZeroDivisionError")
        monkeypatch.undo()
        attempts: list[object] = []

        def fail(panels: object) -> None:
            attempts.append(panels)
            raise IndexError("no frame")

        monkeypatch.setattr(user.screen.worker.builder, "frame", fail)
        user.type("stepi\r")
        user.wait(lambda _: attempts and not user.screen.worker.waiting, "a frame that fails")
        monkeypatch.setattr(user.screen.worker.builder, "frame", frame)
        user.type("echo well\r")  # the next frame shows the error
        user.until("error of the debugger: IndexError('no frame')", "well")

    Typist(of_source(LONG_LOOP)).play(act)


@pytest.mark.parametrize("style", [*FADING, BAD, FAINT])
def test_styles_in_sixteen_colours(style):
    from rich.style import Style

    words = style_of(Style.parse(style)).split()
    assert all(word in ("bold", "reverse", "underline") or word[7:] in COLOURS for word in words)
    assert len(words) == len(style.split())
    assert style_of(Style.parse("bright_black")) == "fg:ansibrightblack"


def test_a_stop_drops_the_lines_before_it_and_none_behind():
    run = Interpreter(of_source(LONG_LOOP), DebuggerFiles())
    worker = Worker(run, lambda: None, lambda: None)
    worker.submit("echo before")
    worker.submit("echo before too")
    worker.drop()
    worker.submit("echo behind")
    assert worker.waiting == 3
    worker.start()
    worker.stop()  # when all that was asked for is done
    assert run.history == ["echo behind"]
    assert worker.waiting == 0


def test_the_history_of_lines_is_kept_whole_and_what_is_damaged_harms_nobody(tmp_path):
    def act(user):
        user.type("stepi 2\r")
        user.until("2 steps done")
        user.type("\x1b[A\r")  # the line before
        user.until("2 steps done at cycle 3")

    path = tmp_path / "history"
    path.write_bytes(b"\n# 2026\n+stepc\n\xff\xfe\n+half a li")
    Typist(of_source(LONG_LOOP), history=path).play(act)
    lines = [line for line in path.read_bytes().splitlines() if line.startswith(b"+")]
    assert lines == [b"+stepc", b"+half a li", b"+stepi 2"]
    Typist(of_source(LONG_LOOP), history=tmp_path).play(act)  # no file can be there
