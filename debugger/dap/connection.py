"""The connection to an editor: a thread reads requests; `Adapter` answers them in order.

The thread first passes each request to `on_request`, which may answer it at once. All messages have
the framing of `macaw.debugger.dap.framing`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, NamedTuple

from macaw.debugger.dap.framing import FramingError, MessageReader, Stream, frame

MOST_TEXT = 2000  # the greatest number of characters of an error


# Actions of the user: if one fails, the editor shows a message. The errors of other requests appear
# in place of the value (a watch), or not at all (a word under the mouse).
ACTIONS = (
    "launch", "attach", "configurationDone", "continue", "next", "stepIn", "stepOut", "stepBack",
    "reverseContinue", "goto", "pause", "restart", "terminate", "setVariable", "setExpression",
    "writeMemory",
)  # fmt: skip


class RequestError(Exception):
    """Raised for a request that cannot be done; the editor shows the message."""


class Request(NamedTuple):
    """A request of the editor.

    `number` is the `seq` of the protocol. If the message is not a request, `error` says why.
    """

    number: int
    command: str
    arguments: Mapping[str, Any]
    error: str


class Connection:
    """One connection to an editor. Any thread may send messages.

    The reading thread calls `on_request` with each request. If `on_request` returns True, it has
    answered the request, which then is not queued.
    """

    def __init__(self, stream: Stream, write: Callable[[bytes], object]) -> None:
        self.on_request: Callable[[Request], bool] = lambda _request: False
        self.on_end: Callable[[], object] = lambda: None
        self.is_closed = False
        self._reader = MessageReader(stream)
        self._write = write
        self._last = 0  # the protocol's `seq` of the last message that was sent
        self._lock = threading.Lock()  # protects `_last` and writing
        self._requests: SimpleQueue[Request | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="dap", daemon=True)

    def start(self) -> None:
        """Start the thread that reads."""
        self._thread.start()

    def receive(self) -> Request | None:
        """Return the next request, or None after the connection has ended."""
        return self._requests.get()

    @property
    def has_request(self) -> bool:
        """Whether a request waits for `receive`."""
        return not self._requests.empty()

    def respond(self, request: Request, body: Mapping[str, Any] | None = None) -> None:
        """Send the response to a request that was carried out; `body` is the response's body."""
        self._send(self._response(request, True), body)

    def refuse(self, request: Request, message: str) -> None:
        """Send the response to a request that could not be carried out; `message` says why."""
        message = message if len(message) <= MOST_TEXT else f"{message[: MOST_TEXT - 4]} ..."
        error = {"id": 1, "format": "{text}", "variables": {"text": message},
                 "showUser": request.command in ACTIONS}  # fmt: skip
        response = {**self._response(request, False), "message": message}
        self._send(response, {"error": error})

    def notify(self, event: str, body: Mapping[str, Any] | None = None) -> None:
        """Send the event `event` with the body `body`."""
        self._send({"type": "event", "event": event}, body)

    def _response(self, request: Request, success: bool) -> dict[str, Any]:
        return {
            "type": "response", "request_seq": request.number, "command": request.command,
            "success": success,
        }  # fmt: skip

    def _send(self, message: Mapping[str, Any], body: Mapping[str, Any] | None) -> None:
        record = dict(message) if body is None else {**message, "body": body}
        with self._lock:
            self._last += 1
            data = json.dumps({"seq": self._last, **record}).encode()
            try:
                self._write(frame(data))
            except (OSError, ValueError):  # ValueError: the file is closed
                self.is_closed = True

    # In the reading thread

    def _read(self) -> None:
        while True:
            try:
                data = self._reader.body()
            except FramingError as error:
                self._requests.put(Request(0, "", {}, str(error)))
                continue
            except (OSError, ValueError):
                data = None
            if data is None:
                break
            request = parse_request(data)
            if request is not None and (request.error or not self.on_request(request)):
                self._requests.put(request)
        self._requests.put(None)
        self.on_end()


def parse_request(data: bytes) -> Request | None:
    """Return the request in `data`, the body of a message.

    The result is None for a response or an event. For any other message that is not a request, the
    result has an `error`.
    """
    try:
        message = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Request(0, "", {}, "a message is no JSON")
    if not isinstance(message, dict):
        return Request(0, "", {}, "a message is no object")
    if message.get("type") in ("response", "event"):
        return None
    number, command, arguments = (message.get(x) for x in ("seq", "command", "arguments"))
    error = ""
    if isinstance(number, bool) or not isinstance(number, int):
        number, error = 0, "the seq of a message is no number"
    if message.get("type") != "request" or not isinstance(command, str):
        command, error = "", "a message is no request"
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        arguments, error = {}, "the arguments are no object"
    return Request(number, command, arguments, error)
