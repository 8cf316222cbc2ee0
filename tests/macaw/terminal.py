"""Runs the command on its own terminal, or in this process on streams that claim to be one."""

import contextlib
import fcntl
import functools
import io
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from unittest import mock

from macaw.cli import run_command
from macaw.terminal import progress_bar
from tests.macaw.conftest import ROOT


def heed_interrupts() -> None:
    """Let the command heed Ctrl-C, which shells disable in background jobs such as a test run."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A command on its own terminal; `text` is what it has shown so far."""

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
            preexec_fn=heed_interrupts,
        )
        os.close(theirs)
        self.text = ""

    def read(self, wanted: str = "", seconds: float = 60) -> str:
        """Read until `wanted` is shown, or without it to the end; return all that was shown."""
        end = time.monotonic() + seconds
        while not wanted or wanted not in self.text:
            ready, _, _ = select.select([self._ours], [], [], end - time.monotonic())
            if not ready:
                self.process.kill()  # it may run for ever
            assert ready, f"not shown in time: {wanted!r} in {self.text[-500:]!r}"
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                piece = b""
            if not piece:
                break
            self.text += piece.decode()
        return self.text


class Tty(io.TextIOWrapper):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@functools.cache  # tests compare what the same commands print
def shown(*words: str, delay: float = 1e6, **variables: str) -> str:
    """Run a command on a terminal of 100 columns; bars appear after `delay` seconds."""
    left_out = ("NO_COLOR", "MACAW_PLAIN", "FORCE_COLOR", "COLORTERM", "CI")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    environment = {**kept, "TERM": "xterm-256color", "COLUMNS": "100", **variables}
    written = io.BytesIO()
    streams = Tty(written, "utf-8"), Tty(written, "utf-8")
    with (
        contextlib.chdir(ROOT),
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(progress_bar, "DELAY", delay),
        mock.patch.object(sys, "stdout", streams[0]),
        mock.patch.object(sys, "stderr", streams[1]),
    ):
        run_command(list(words))
    for stream in streams:
        stream.detach()
    return written.getvalue().decode()
