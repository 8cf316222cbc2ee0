"""The debugger on a real terminal: colours, a resize, and ends from outside."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import termios
import time

import numpy as np
import pexpect
import pyte
import pytest

from tests.debugger.sources import VERY_LONG_LOOP
from tests.macaw.conftest import ROOT
from tests.tree_copies import PYTHON_PATH

pytestmark = pytest.mark.once
HELLO = str(ROOT / "programs/hello/hello.s")


def forever(folder):
    """The path of a program that runs without end."""
    path = folder / "forever.s"
    path.write_text(VERY_LONG_LOOP)
    return str(path)


class Terminal:
    """A child process on a terminal, whose screen pyte keeps."""

    def __init__(self, tmp_path, *arguments, size=(24, 80), program=HELLO, preexec_fn=None, **more):
        self.screen = pyte.Screen(size[1], size[0])
        self.stream = pyte.ByteStream(self.screen)
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        self.screen.write_process_input = self._answer  # type: ignore[method-assign]
        environment = {**kept, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path), **more}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "macaw", "debug", program, *arguments],
            cwd=ROOT, dimensions=size, env=environment, timeout=30, preexec_fn=preexec_fn,
        )  # fmt: skip

    def _answer(self, data):
        """Send the answer of the terminal to the child: the position of its cursor."""
        self.child.send(data)

    def until(self, *texts):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            seen = "\n".join(self.screen.display)
            if all(text in seen for text in texts):
                return seen
            try:
                self.stream.feed(self.child.read_nonblocking(1 << 16, 0.1))
            except pexpect.TIMEOUT:
                continue
        raise AssertionError(f"{texts} never came, but\n{seen}")

    def goes_on(self, seconds):
        """Let the child go on for some seconds, and answer its requests to the terminal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(pexpect.TIMEOUT):
                self.stream.feed(self.child.read_nonblocking(1 << 16, 0.05))
        return "\n".join(self.screen.display)

    def close(self):
        """Close the terminal; the process learns of this only from the operating system."""
        opened = self.child.ptyproc
        opened.fileobj.close()
        opened.closed = self.child.closed = True
        opened.fd = self.child.child_fd = -1

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def colours(self):
        return {cell.fg for row in self.screen.buffer.values() for cell in row.values()}


def test_a_session_with_a_resize(tmp_path):
    terminal = Terminal(tmp_path)
    terminal.until("1 code", "F1 help")
    assert "5 memory" not in terminal.until("(macaw)")
    terminal.child.send("stepi 3\r")
    terminal.until("3 steps done at cycle 2")
    terminal.goes_on(0.5)  # the rest of the screen comes behind its first row
    assert {"cyan", "brown"} <= terminal.colours()  # addresses; what has changed
    terminal.resize(40, 120)
    terminal.until("5 memory", "7 counters", "instructions")
    terminal.resize(12, 50)
    assert "queues" not in terminal.until("The terminal is small")
    terminal.resize(24, 80)
    terminal.until("1 code", "3 queues")
    terminal.child.send("layout large\rquit\r")
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    assert terminal.child.exitstatus == 0
    assert json.loads((tmp_path / "macaw/debugger.json").read_text())["layout"] == "large"
    assert "stepi 3" in (tmp_path / "macaw/debugger-history").read_text()


@pytest.mark.parametrize("options", [[], ["--plain"]], ids=repr)
def test_a_user_without_a_home_folder(tmp_path, options):
    """The debugger works, and stores nothing. A start-up file makes Python find no home folder."""
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib\n\n\ndef home():\n    raise RuntimeError\n\n\npathlib.Path.home = home\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    terminal = Terminal(tmp_path, *options, PYTHONPATH=path, XDG_STATE_HOME="")
    terminal.until("(macaw)")
    terminal.child.send("stepi 3\r")
    terminal.until("3 steps done at cycle 2")
    terminal.child.send("quit\r")
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    assert terminal.child.exitstatus == 0


def test_without_colours_and_without_unicode(tmp_path):
    terminal = Terminal(tmp_path, "-e", "stepi 3", NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert terminal.until("3 steps done at cycle 2", "F1 help", "- 1 code cp ---").isascii()
    assert terminal.colours() == {"default"}
    terminal.child.send("\x04")
    terminal.child.expect(pexpect.EOF)


def ended(terminal, seconds=20):
    """Whether the process ends within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(terminal.child.pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    return False


def whole(folder):
    """Check that the files that the debugger keeps are complete."""
    for path in (folder / "macaw").iterdir():
        assert path.name in ("debugger-history", "debugger.json")
        if path.suffix == ".json":
            json.loads(path.read_text())
        else:
            assert all(line[:1] in ("", "#", "+") for line in path.read_text().splitlines())


@pytest.mark.parametrize("ignores", [False, True])
def test_a_closed_terminal_ends_a_run_that_would_not_end(tmp_path, ignores):
    """A closed terminal ends an endless run.

    A process that ignores the signal ends when it finds no input.
    """
    terminal = Terminal(
        tmp_path, program=forever(tmp_path), preexec_fn=_ignore if ignores else None
    )
    terminal.until("F1 help")
    terminal.child.send("layout medium\r")
    terminal.until("layout medium")
    terminal.child.send("continue\r")
    terminal.until("Ctrl-C stops it")
    terminal.close()
    assert ended(terminal)
    whole(tmp_path)


def _ignore():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@pytest.mark.few(2)
@pytest.mark.parametrize("option", ["--engine=fast", "--plain"])
@pytest.mark.parametrize("runs", [False, True])
def test_a_signal_that_ends_it_leaves_no_half_file_and_no_raw_terminal(tmp_path, option, runs):
    terminal = Terminal(tmp_path, option, program=forever(tmp_path))
    terminal.until("(macaw)")
    terminal.child.send("layout medium\r")
    terminal.until("layout medium")
    if runs:
        terminal.child.send("continue\r")
        terminal.goes_on(0.2)
    assert option == "--plain" or "F1 help" in terminal.until("(macaw)")
    terminal.child.kill(signal.SIGTERM)
    with contextlib.suppress(pexpect.EOF, pexpect.TIMEOUT):
        while True:
            terminal.stream.feed(terminal.child.read_nonblocking(1 << 16, 10))
    local = termios.tcgetattr(terminal.child.child_fd)[3]
    assert local & termios.ICANON
    assert local & termios.ECHO
    terminal.child.close()
    assert terminal.child.exitstatus == 128 + signal.SIGTERM
    assert "Traceback" not in "\n".join(terminal.screen.display)
    whole(tmp_path)


LARGE = 1 << 20  # bytes of an array: writing it takes a while


def test_who_is_killed_while_writing_leaves_no_half_file(tmp_path):
    """A process that is killed while it writes leaves no half file.

    A file has its old or its new contents; a temporary file may remain beside it.
    """
    source, script = tmp_path / "large.s", tmp_path / "script"
    source.write_text(f".core cp\n_start: ebreak\n.output y, int8, {LARGE}\n")
    kept = "".join(f"break *{4 * at:#x} if cp.a0 == {at}\n" for at in range(100))
    script.write_text(kept + "dump y array.npy\nsave breakpoints points\n" * 2000)
    array, points = tmp_path / "array.npy", tmp_path / "points"
    chance = random.Random(5)
    for _ in range(2):
        child = subprocess.Popen(
            [sys.executable, "-m", "macaw", "debug", str(source), "--batch", "-x", str(script)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": PYTHON_PATH}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        points.unlink(missing_ok=True)
        end = time.monotonic() + 30
        while not points.exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.1))
        child.kill()
        child.wait()
        assert np.load(array).shape == (LARGE,)
        assert points.read_text() == kept
        found = {path.name for path in tmp_path.iterdir()} - {"large.s", "script"}
        assert {name for name in found if not name.startswith((".array.npy.", ".points."))} == {
            "array.npy",
            "points",
        }


def test_ctrl_c_stops_a_run_at_the_prompt_and_on_the_screen(tmp_path):
    for option in ("--plain", "--engine=fast"):
        terminal = Terminal(tmp_path, option, program=forever(tmp_path))
        terminal.until("(macaw)")
        terminal.child.send("continue\r")
        while "interrupt at cycle" not in terminal.goes_on(0.1):  # not before it runs
            terminal.child.send("\x03")
        terminal.child.send("stepi 7\r")
        terminal.until("7 steps done")
        terminal.child.send("quit\r")
        terminal.child.expect(pexpect.EOF)


def test_plain_asks_for_lines(tmp_path):
    terminal = Terminal(tmp_path, "--plain", "-e", "stepi")
    assert "1 code" not in terminal.until("step done at cycle", "(macaw)")
    terminal.child.send("stepi 3\r")
    terminal.until("3 steps done")
    terminal.child.send("\x04")
    terminal.child.expect(pexpect.EOF)
    assert "+stepi 3" in (tmp_path / "macaw/debugger-history").read_text().splitlines()
