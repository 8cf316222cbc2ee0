"""Runs the command on its own terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

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
