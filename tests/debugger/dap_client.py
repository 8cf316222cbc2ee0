"""A client of the Debug Adapter Protocol that uses no code of the server."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from macaw.commands.dap import _load
from macaw.debugger.dap import server

WAIT = 60.0  # seconds that a client waits for a message, on a busy machine
STARTED = {"clientID": "test", "supportsMemoryEvent": True, "supportsInvalidatedEvent": True}


class Refused(Exception):
    """The answer to a request is an error."""


class Client:
    """The client's side of a connection: `request` sends and waits, `event` waits."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target
        self.events: list[dict[str, Any]] = []  # that no call has taken yet
        self.output = ""
        self.left_over: list[dict[str, Any]] = []  # responses that no call has taken yet
        self._last = 0
        self._messages: Queue[dict[str, Any] | None] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        data, seq = b"", 0
        while True:
            while b"\r\n\r\n" not in data:
                more = os.read(self.source, 1 << 16)
                if not more:
                    self._messages.put(None)
                    return
                data += more
            head, _, data = data.partition(b"\r\n\r\n")
            size = int(head.removeprefix(b"Content-Length: "))
            while len(data) < size:
                data += os.read(self.source, 1 << 16)
            message = json.loads(data[:size])
            data = data[size:]
            assert message["seq"] == seq + 1
            seq += 1
            self._messages.put(message)

    def send_bytes(self, data: bytes) -> None:
        os.write(self.target, data)

    def send_body(self, body: bytes) -> None:
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, command: str, arguments: Any = None) -> int:
        self._last += 1
        message = {"seq": self._last, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        self.send_body(json.dumps(message).encode())
        return self._last

    def next(self) -> dict[str, Any]:
        """Return the next message; fail if the connection has ended."""
        try:
            message = self._messages.get(timeout=WAIT)
        except Empty:
            raise AssertionError(f"no message; events: {self.events}") from None
        assert message is not None, "the server has closed the connection"
        return message

    def _take(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for some in (self.events, self.left_over):
            for at, message in enumerate(some):
                if wanted(message):
                    return some.pop(at)
        while True:
            message = self.next()
            if message.get("event") == "output":
                self.output += message["body"]["output"]
            if wanted(message):
                return message
            (self.events if message["type"] == "event" else self.left_over).append(message)

    def message(self, number: int) -> dict[str, Any]:
        """Return the response to a request."""
        return self._take(lambda x: x.get("request_seq") == number)

    def response(self, number: int) -> dict[str, Any]:
        """Return the body of the response to a request; raise `Refused` if it is an error."""
        message = self.message(number)
        if not message["success"]:
            assert message["message"] == message["body"]["error"]["variables"]["text"]
            raise Refused(message["message"])
        return message.get("body") or {}

    def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.response(self.send(command, arguments or None))

    def event(self, name: str) -> dict[str, Any]:
        """Return the body of the next event of this name."""
        return self._take(lambda x: x.get("event") == name).get("body") or {}

    def stop(self, command: str = "", **arguments: Any) -> dict[str, Any]:
        """Send a request if one is given; return the body of the next event `stopped`."""
        if command:
            self.request(command, **arguments)
        return self.event("stopped")

    # What an editor does

    def launch(self, program: str | Path, **more: Any) -> None:
        """Load a program; the test may then set breakpoints and send `configurationDone`."""
        self.request("initialize", adapterID="macaw", **STARTED)
        self.request("launch", program=str(program), **more)
        self.event("initialized")

    def entry(self, program: str | Path, **more: Any) -> int:
        """Start a program and stop before its first instruction; return the thread's number."""
        self.launch(program, stopOnEntry=True, **more)
        return int(self.stop("configurationDone")["threadId"])

    def frame(self, thread: int) -> dict[str, Any]:
        """The innermost frame of a thread."""
        frames: list[dict[str, Any]] = self.request("stackTrace", threadId=thread)["stackFrames"]
        return frames[0]

    def scope(self, thread: int, name: str) -> int:
        """The reference of a scope in a thread's innermost frame."""
        scopes = self.request("scopes", frameId=self.frame(thread)["id"])["scopes"]
        return next(int(x["variablesReference"]) for x in scopes if x["name"] == name)

    def variables(self, reference: int, **more: Any) -> dict[str, dict[str, Any]]:
        """The children of a container, by name."""
        rows = self.request("variables", variablesReference=reference, **more)["variables"]
        return {row["name"]: row for row in rows}

    def say(self, line: str, **more: Any) -> str:
        """Return what a command of the debugger prints."""
        return str(self.request("evaluate", expression=line, context="repl", **more)["result"])


@contextmanager
def serving(allow_shell: bool = False) -> Iterator[Client]:
    """A client of a server in this process, which must end after the client has left."""
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    with os.fdopen(to_server, "rb", buffering=0) as stream:
        thread = threading.Thread(
            target=server.serve,
            args=(
                stream,
                lambda x: _write(from_server, x),
                lambda x, say: _load(x, say, allow_shell),
            ),
            daemon=True,
        )
        thread.start()
        client = Client(to_client, from_client)
        try:
            yield client
        finally:
            os.close(from_client)
            thread.join(WAIT)
            _join_readers()
            os.close(from_server)
            assert not thread.is_alive()


def _join_readers() -> None:
    """Wait until the threads that read requests have ended.

    `serve` returns after `disconnect` without waiting for them, because an editor may leave its
    pipe open. Such a thread could otherwise read from the pipe of the next test, which may have the
    same file descriptor.
    """
    for thread in threading.enumerate():
        if thread.name == "dap":
            thread.join(WAIT)
            assert not thread.is_alive()


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


def refused(client: Client, command: str, **arguments: object) -> str:
    """The message with which a request is refused."""
    try:
        client.request(command, **arguments)
    except Refused as error:
        return str(error)
    raise AssertionError(f"{command} is not refused")
