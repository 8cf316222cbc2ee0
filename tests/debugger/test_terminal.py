"""The debugger at a real terminal: colours, a live resize, a session that is ended from outside."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import pexpect
import pyte
import pytest

from tests.macaw.conftest import ROOT

HELLO = str(ROOT / "programs/hello/hello.s")


class Terminal:
    """A child at a terminal that pyte keeps."""

    def __init__(self, tmp_path, *arguments, size=(24, 80), **more):
        self.screen = pyte.Screen(size[1], size[0])
        self.stream = pyte.ByteStream(self.screen)
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        environment = {**kept, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path), **more}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "macaw", "debug", HELLO, *arguments],
            cwd=ROOT, dimensions=size, env=environment, timeout=30,
        )  # fmt: skip

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


def test_without_colours(tmp_path):
    terminal = Terminal(tmp_path, "-e", "stepi 3", NO_COLOR="1")
    terminal.until("3 steps done at cycle 2", "F1 help")
    assert terminal.colours() == {"default"}
    terminal.child.send("\x04")
    terminal.child.expect(pexpect.EOF)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_what_ends_the_terminal_leaves_no_half_file(tmp_path, number):
    terminal = Terminal(tmp_path)
    terminal.until("F1 help")
    terminal.child.send("layout medium\r")
    terminal.until("layout medium")
    terminal.child.kill(number)
    terminal.child.expect(pexpect.EOF)
    for path in (tmp_path / "macaw").iterdir():
        assert path.name in ("debugger-history", "debugger.json")
        if path.suffix == ".json":
            json.loads(path.read_text())


def test_plain_asks_for_lines(tmp_path):
    terminal = Terminal(tmp_path, "--plain", "-e", "stepi")
    assert "1 code" not in terminal.until("step done at cycle", "(macaw)")
    terminal.child.send("\x04")
    terminal.child.expect(pexpect.EOF)
