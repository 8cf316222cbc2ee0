"""Serves one gdb: at a port of this machine, or through standard input and output."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from macaw.debugger.gdb.link import Link
from macaw.debugger.gdb.stub import Stub

if TYPE_CHECKING:
    from macaw.debugger.gdb.target import Target

CLIENT = Path(__file__).parent / "client" / "macaw-gdb.py"  # the file that gdb reads by `source`
HOST = "127.0.0.1"  # no other machine can connect to this address


class SocketChannel:
    """A TCP connection (`macaw.debugger.gdb.link.Channel`)."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, most: int) -> bytes:
        """Return the next bytes, at most `most`."""
        return self.connection.recv(most)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self.connection.sendall(data)


class PipeChannel:
    """Two files given by descriptors, such as standard input and output."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target

    def read(self, most: int) -> bytes:
        """Return the next bytes, at most `most`."""
        return os.read(self.source, most)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        while data:
            data = data[os.write(self.target, data) :]


def serve(channel: SocketChannel | PipeChannel, load: Callable[[Link], Target]) -> str:
    """Serve a gdb until it disconnects, and return a sentence that gives the reason.

    `load` loads the program. The function calls it when gdb first requests something about the
    program; earlier packets are answered without the program.
    """
    link = Link(channel)
    link.start()
    return Stub(link, load).serve()


def listen(port: int) -> socket.socket:
    """Return a socket that waits for gdb at a port of this machine; 0 selects a free port.

    Raises `OSError`.
    """
    return socket.create_server((HOST, port))


def serve_port(listener: socket.socket, load: Callable[[Link], Target]) -> str:
    """Wait for gdb, serve it, and return a sentence that says why gdb has disconnected."""
    connection, _ = listener.accept()
    with connection:
        return serve(SocketChannel(connection), load)


def serve_pipe(load: Callable[[Link], Target]) -> str:
    """Serve a gdb through standard input and output; return a sentence that says why it ended.

    Ctrl-C at gdb's terminal reaches this process, too. The process ignores it, because gdb sends an
    interrupt.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return serve(PipeChannel(sys.stdin.fileno(), sys.stdout.fileno()), load)
