"""Any lines and keys in any order give answers and screens, without exception or hang."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from macaw.debugger.commands.text import answer_text
from macaw.debugger.session import Session
from macaw.debugger.views.area import ASCII
from macaw.execution import configuration_of
from tests.debugger.lines import lines
from tests.debugger.programs import of_source
from tests.debugger.screens import Screen
from tests.debugger.sources import LONG_LOOP
from tests.debugger.transcripts import FOLDER, program_and_inputs
from tests.debugger.typist import Typist
from tests.fuzzing import tries

pytestmark = pytest.mark.once
PROGRAMS = ("calls.s", "stuck.s", "layer", "vector_dot")


@contextlib.contextmanager
def within(seconds):
    """Fail if the body of the `with` statement takes more than `seconds`."""

    def late(*_):
        raise AssertionError(f"it took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def opened(name):
    """A new session of a program."""
    loads, inputs = program_and_inputs(name)
    return Session(loads, configuration_of(loads), inputs)


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory):
    """Change to a new folder, in which files are read and written."""
    before, folder = Path.cwd(), tmp_path_factory.mktemp("fuzz")
    for path in FOLDER.iterdir():
        shutil.copy(path, folder)
    os.chdir(folder)
    yield
    os.chdir(before)


@settings(max_examples=40)
@given(st.sampled_from(PROGRAMS), st.lists(lines, min_size=1, max_size=8),
       st.integers(1, 220), st.integers(1, 60))  # fmt: skip
def test_lines_are_answered_and_drawn(name, chosen, width, height):
    screen = Screen(opened(name), ASCII)
    for line in chosen:
        with within(30):
            screen.interpreter.complete(line)
            answer = screen.do(line, size=(width, height))
        json.dumps(answer.json())
        answer_text(answer, line)
        rows = screen.rows(width, height)
        assert [sum(cell_len(piece.text) for piece in row) for row in rows] == [width] * height


KEYS = (
    "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~", "\x1b[23~",
    "\x1b[24~", "\x1b[15;2~", "\x1b[21;2~", "\x1b[23;2~", "\x1b[24;2~", "\x1b[20;2~",  # F1 to F12, with Shift
    *(f"\x1b{char}" for char in "0123456789z+-xbf."),  # Alt
    "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~", "\x1b[2~", "\x1b[3~", "\x1b[Z",
    *(chr(code) for code in range(32) if code not in (4, 27)),  # Ctrl; but Ctrl-D, which ends it
    "\x1b", "\x7f", "\x1b[200~two\nlines\x1b[201~", "\x1b[M !!", "\x1b[<0;3;3M", "\x1b[?1;2c", "\x1b]0;title\x07", "\x9b", "漢", "\u0301",
)  # fmt: skip
actions = st.lists(
    st.sampled_from(KEYS)
    | lines.map(lambda line: f"{line}\r")
    | st.text(max_size=4).filter(lambda text: "\4" not in text)
    | st.tuples(st.integers(1, 230), st.integers(1, 70))
    | st.builds("\x1b[<{};{};{}{}".format, st.sampled_from((0, 1, 2, 32, 35, 64, 65)),
                st.integers(0, 240), st.integers(0, 80), st.sampled_from("Mm")),  # the mouse
    min_size=20, max_size=60,
)  # fmt: skip


@pytest.mark.parametrize("name", ["layer", "calls.s", ""])
def test_keys_lines_and_sizes_in_any_order(name):
    @settings(max_examples=tries(3), phases=[Phase.reuse, Phase.generate])  # each takes a second
    @given(actions)
    def goes(chosen):
        def act(user):
            user.type("mouse on\r")
            for action in chosen:
                if isinstance(action, str):
                    user.type(action)
                else:
                    user.resize(*action)
            user.resize(80, 24)
            for number in range(100):  # what runs ends, what is begun goes, panels are as at first
                user.type("\x1b")
                time.sleep(0.1)
                user.type("\x03")
                time.sleep(0.05)
                user.type(f"layout auto\recho still there {number}\r")
                with contextlib.suppress(AssertionError):
                    user.wait(lambda seen, n=number: f"\nstill there {n} " in seen, seconds=0.5)
                    break
            user.until(f"\nstill there {number}", "1 code", "4 output", "F1 help")
            assert not [line for line in user.log if "error of the debugger" in line]

        Typist(opened(name) if name else of_source(LONG_LOOP)).play(act)

    goes()
