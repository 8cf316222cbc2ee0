"""A client of the remote serial protocol that uses no code of the server; and a way to run gdb."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.gdb import server
from macaw.debugger.gdb.link import Link
from macaw.debugger.gdb.target import Target
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles

GDB = "gdb-multiarch"
WAIT = 60.0  # seconds that a client waits for bytes, on a busy machine
SPECIAL = b"$#}*"


class Client:
    """The client's side of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.connection.settimeout(WAIT)
        self.acknowledges = True
        self.printed = b""  # texts for gdb's console
        self._bytes = b""

    def send(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        body = b"".join(b"}%c" % (x ^ 0x20) if x in SPECIAL else b"%c" % x for x in data)
        self.connection.sendall(b"$" + body + b"#%02x" % (sum(body) % 256))
        if self.acknowledges:
            assert self._read(1) == b"+"

    def _read(self, count: int) -> bytes:
        while len(self._bytes) < count:
            more = self.connection.recv(4096)
            assert more, "the server has closed the connection"
            self._bytes += more
        data, self._bytes = self._bytes[:count], self._bytes[count:]
        return data

    def receive(self) -> str:
        """Return the data of the next packet."""
        assert self._read(1) == b"$"
        body = b""
        while (byte := self._read(1)) != b"#":
            body += byte
        assert int(self._read(2), 16) == sum(body) % 256
        if self.acknowledges:
            with suppress(OSError):  # it was the last packet
                self.connection.sendall(b"+")
        return re.sub(rb"}(.)", lambda m: bytes([m[1][0] ^ 0x20]), body, flags=re.S).decode(
            "latin-1"
        )

    def answer(self) -> str:
        """Return the next answer; add console texts before it to `printed`."""
        while (data := self.receive())[:1] == "O" and data != "OK":
            self.printed += bytes.fromhex(data[1:])
        return data

    def ask(self, data: bytes | str) -> str:
        self.send(data)
        return self.answer()

    def say(self, line: str) -> str:
        """Return what `monitor` prints for a line."""
        self.printed = b""
        assert self.ask(f"qRcmd,{line.encode().hex()}") == "OK"
        return self.printed.decode()

    def interrupt(self) -> None:
        self.connection.sendall(b"\x03")

    def register(self, number: int) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")


def target_of(
    session: Session,
    allow_shell: bool = False,
    on_answer: Callable[[str, Answer], object] | None = None,
) -> Callable[[Link], Target]:
    """A function that gives the server an existing session."""

    def load(link: Link) -> Target:
        return Target(link, Interpreter(session, DebuggerFiles(), allow_shell, on_answer))

    return load


class Serving:
    """A server in a thread, its client, and the text with which it ended."""

    def __init__(self, load: Callable[[Link], Target]) -> None:
        mine, other = socket.socketpair()
        self.client = Client(mine)
        self.left: str | None = None  # what the server says at its end
        self._thread = threading.Thread(target=self._serve, args=(other, load), daemon=True)
        self._thread.start()

    def _serve(self, connection: socket.socket, load: Callable[[Link], Target]) -> None:
        with connection:
            self.left = server.serve(
                server.PipeChannel(connection.fileno(), connection.fileno()), load
            )

    def end(self) -> str:
        self._thread.join(WAIT)
        assert self.left is not None
        return self.left


@contextmanager
def serving(session: Session, allow_shell: bool = False) -> Iterator[Serving]:
    """Yield a server of a session; close the connection at the end."""
    run = Serving(target_of(session, allow_shell))
    try:
        yield run
    finally:
        run.client.connection.close()
        run.end()


def gdb(
    elf: Path | str,
    served: Session | Callable[[Link], Target] | str,
    commands: list[str],
    folder: Path,
) -> list[str]:
    """Return the lines that gdb prints for commands on an ELF file; gdb goes on after an error.

    The server runs in this process with a session or a function that loads one. If `served` is a
    command, gdb starts it as the server, and can run the program again.
    """
    if shutil.which(GDB) is None:
        pytest.skip(f"{GDB} is not installed")
    thread = None
    if isinstance(served, str):
        connect = f"target extended-remote | {served}"
    else:
        load = target_of(served) if isinstance(served, Session) else served
        listener = server.listen(0)
        connect = f"target remote :{listener.getsockname()[1]}"
        thread = threading.Thread(target=server.serve_port, args=(listener, load))
        thread.start()
    settings = ["pagination off", "confirm off", "width 0", "style enabled off"]
    if isinstance(served, str):
        settings.append("remotetimeout 60")  # a process may start slowly (docs/gdb.md)
    lines = [
        *(f"set {x}" for x in settings),
        f"set remote exec-file {elf}",
        connect,
        *commands,
        "kill",
    ]
    done = subprocess.run(
        [GDB, "-nx", "-batch", str(elf), *(word for line in lines for word in ("-ex", line))],
        cwd=folder, text=True, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if thread is not None:
        thread.join(WAIT)
        listener.close()
    return done.stdout.splitlines()
