"""What a person at a terminal sees: bars after a second, colour, Ctrl-C."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from macaw.terminal.progress_bar import DELAY
from tests.macaw.conftest import ROOT

Source = Callable[[str], Path]

LOOP = "        .core cp\nloop:   j loop\n"


def _heed_interrupts() -> None:
    """Undo what a shell does to its background jobs, of which a test run may be one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A command on a terminal of its own; `text` is what it has shown so far."""

    def __init__(self, *arguments: object, columns: int = 80, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "CI")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "macaw", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            env={**clean, "TERM": "xterm-256color", **environment},
            preexec_fn=_heed_interrupts,
        )
        os.close(theirs)
        self.text = ""

    def read(self, wanted: str = "", seconds: float = 60) -> str:
        """Read until `wanted` is shown, or (without it) to the end."""
        end = time.monotonic() + seconds
        while not wanted or wanted not in self.text:
            ready, _, _ = select.select([self._ours], [], [], end - time.monotonic())
            assert ready, f"not shown in time: {wanted!r} in {self.text[-500:]!r}"
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                piece = b""
            if not piece:
                break
            self.text += piece.decode()
        return self.text


@pytest.fixture
def source(tmp_path: Path) -> Source:
    def write(text: str) -> Path:
        (tmp_path / "p.s").write_text(text)
        return tmp_path / "p.s"

    return write


def test_a_long_run_shows_a_bar_and_control_c_says_how_far_it_was(source: Source) -> None:
    terminal = Terminal("run", source(LOOP))
    terminal.read(" cycles")
    assert "running" in terminal.text
    terminal.process.send_signal(signal.SIGINT)
    text = terminal.read()
    assert terminal.process.wait() == 130
    assert re.search(r"macaw: interrupted at cycle [\d,]+\r\n$", text)


def test_a_short_run_shows_none() -> None:
    before = time.monotonic()
    text = Terminal("run", "programs/hello/hello.s").read()
    is_slow = time.monotonic() - before > DELAY  # this machine is busy: a bar may have been due
    assert text == "Hello from the command processor.\r\n" or is_slow


def test_no_bar_where_nobody_looks(source: Source) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "macaw", "run", source(LOOP), "--max-cycles", "8000000"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stderr.startswith("macaw: error: cycle limit")


@pytest.mark.parametrize("columns", [80, 200])
def test_colour_and_no_color(source: Source, columns: int) -> None:
    path = source("        .core cp\n        frob\n")
    plain = Terminal("run", path, columns=columns, NO_COLOR="1").read()
    coloured = Terminal("run", path, columns=columns).read()
    assert "\x1b[1;31merror: " in coloured
    assert "\x1b[1;31m" not in plain
    assert "\x1b[3" not in plain
    without = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert re.sub(r"\x1b\[[\d;]*m", "", plain) == without
    lines = without.splitlines()
    assert lines[0] == f"{path}:2:9: error: cp has no instruction 'frob'"
    assert [line.strip() for line in lines[1:3]] == ["frob", "^^^^"]
