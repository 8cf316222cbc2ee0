"""Messages of the Language Server Protocol: read, checked, handed on, answered.

Every request gets one answer, whatever is wrong with it; a notification that is wrong is ignored.
What the messages are about, `macaw.language_server.server` knows.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from lsprotocol import converters, types

MOST_HEADER = 1 << 16  # bytes of a message's header
MOST_MESSAGE = 1 << 25  # bytes of its body
_PIECE = 1 << 16  # bytes that are read at a time
_WAITING = 256  # messages that are read and not yet answered
_LENGTH = re.compile(rb"^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.M)
_END = b"\r\n\r\n"

Codes = types.ErrorCodes
LSPCodes = types.LSPErrorCodes


class Stream(Protocol):
    """Where messages come from: bytes as they arrive, none at the end."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes."""


class Refusal(Exception):
    """A message that gets an error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class MessageReader:
    """Takes the bodies of messages from a stream of bytes."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._bytes = bytearray()

    def body(self) -> bytes | None:
        """The next one; None at the end. Raises `Refusal` for a message that is none."""
        while (end := self._bytes.find(_END)) < 0:
            if len(self._bytes) > MOST_HEADER:
                del self._bytes[: -len(_END)]
                raise Refusal(Codes.ParseError, "the header of a message has no end")
            if not self._more():
                return None
        header = bytes(self._bytes[:end])
        del self._bytes[: end + len(_END)]
        found = _LENGTH.search(header)
        if found is None:
            raise Refusal(Codes.ParseError, "the header of a message has no Content-Length")
        length = int(found[1])
        if length > MOST_MESSAGE:
            if not self._skip(length):
                return None
            raise Refusal(Codes.InvalidRequest, f"a message is longer than {MOST_MESSAGE} bytes")
        while len(self._bytes) < length:
            if not self._more():
                return None
        body = bytes(self._bytes[:length])
        del self._bytes[:length]
        return body

    def _skip(self, length: int) -> bool:
        """Read over a body; whether the stream has all of it."""
        while length > len(self._bytes):
            length -= len(self._bytes)
            self._bytes.clear()
            if not self._more():
                return False
        del self._bytes[:length]
        return True

    def _more(self) -> bool:
        data = self._stream.read(_PIECE)
        self._bytes += data or b""
        return bool(data)


Answering = tuple[type, Callable[[Any], Awaitable[Any]]]  # the parameters' type, and who answers
Hearing = tuple[type, Callable[[Any], None]]


class Peer:
    """One session: from `initialize` to `exit`, or to the end of the stream."""

    def __init__(
        self,
        initialize: Callable[[types.InitializeParams], types.InitializeResult],
        requests: Mapping[str, Answering],
        notifications: Mapping[str, Hearing],
        write: Callable[[bytes], object],
    ) -> None:
        self._initialize = initialize
        self._requests, self._notifications = requests, notifications
        self._write = write
        self._converter = converters.get_converter()
        self._is_ready = self._is_shut_down = self._has_left = False
        self._tasks: dict[int | str, asyncio.Task[None]] = {}

    async def serve(self, stream: Stream) -> bool:
        """Answer until the client leaves; whether it said so beforehand, by `shutdown`."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | Refusal | None] = asyncio.Queue()
        free = threading.Semaphore(_WAITING)

        def read() -> None:
            reader = MessageReader(stream)
            item: bytes | Refusal | None
            while True:
                try:
                    item = reader.body()
                except Refusal as refusal:
                    item = refusal
                except (OSError, ValueError):  # the stream is closed
                    item = None
                free.acquire()
                try:
                    loop.call_soon_threadsafe(queue.put_nowait, item)
                except RuntimeError:  # the session is over
                    return
                if item is None:
                    return

        # A daemon: a client that leaves its end of the pipe open must not keep the process.
        threading.Thread(target=read, daemon=True).start()
        while not self._has_left:
            item = await queue.get()
            if item is None:  # the client has gone; what it asked is answered still
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)
                break
            task = self._take(item)
            if task is None:
                free.release()
            else:
                task.add_done_callback(lambda _task: free.release())
        for task in list(self._tasks.values()):
            task.cancel()
        return self._is_shut_down

    def notify(self, method: str, params: object) -> None:
        """Tell the client something."""
        self._send({"method": method, "params": self._converter.unstructure(params)})

    # --- a message ---

    def _take(self, item: bytes | Refusal) -> asyncio.Task[None] | None:
        """Do what a message says; the task that answers it, if there is one."""
        try:
            message = _message(item)
        except Refusal as refusal:
            self._fail(None, refusal)
            return None
        method, number = message.get("method"), message.get("id")
        if method is None:
            return None  # an answer, and we have asked nothing
        try:
            if not isinstance(method, str):
                raise Refusal(Codes.InvalidRequest, "the method is no text")
            if "id" not in message:
                self._hear(method, message.get("params"))
                return None
            if isinstance(number, bool) or not isinstance(number, int | str):
                number = None
                raise Refusal(Codes.InvalidRequest, "the id is neither a number nor a text")
            if method in (types.INITIALIZE, types.SHUTDOWN):
                self._send({"id": number, "result": self._turn(method, message.get("params"))})
                return None
            answering = self._answering(method)
            if number in self._tasks:
                raise Refusal(Codes.InvalidRequest, "the id is that of another request")
        except Refusal as refusal:
            if "id" in message:
                self._fail(number, refusal)
            return None
        task = asyncio.ensure_future(self._answer(number, *answering, message.get("params")))
        self._tasks[number] = task
        task.add_done_callback(partial(self._done, number))
        return task

    def _turn(self, method: str, params: object) -> object:
        """Begin or end the session; what is answered. Raises `Refusal`."""
        if method == types.SHUTDOWN:
            self._check_ready()
            self._is_shut_down = True
            return None
        if self._is_ready:
            raise Refusal(Codes.InvalidRequest, "the server is initialized already")
        result = self._initialize(self._structured(types.InitializeParams, params))
        self._is_ready = True
        return self._converter.unstructure(result)

    def _check_ready(self) -> None:
        if not self._is_ready:
            raise Refusal(Codes.ServerNotInitialized, "the server is not initialized")
        if self._is_shut_down:
            raise Refusal(Codes.InvalidRequest, "the server is shut down")

    def _answering(self, method: str) -> Answering:
        """Who answers a request. Raises `Refusal`."""
        self._check_ready()
        found = self._requests.get(method)
        if found is None:
            raise Refusal(Codes.MethodNotFound, f"there is no method {method[:80]!r}")
        return found

    async def _answer(
        self, number: int | str, kind: type, answer: Callable[[Any], Awaitable[Any]], params: object
    ) -> None:
        try:
            result = await answer(self._structured(kind, params))
            self._send({"id": number, "result": self._converter.unstructure(result)})
        except Refusal as refusal:
            self._fail(number, refusal)
        except Exception as error:
            self._fail(number, internal_error(error))

    def _done(self, number: int | str, task: asyncio.Task[None]) -> None:
        """A request is answered, or cancelled, maybe before it began."""
        del self._tasks[number]
        if task.cancelled():
            self._fail(number, Refusal(LSPCodes.RequestCancelled, "the request is cancelled"))

    def _hear(self, method: str, params: object) -> None:
        if method == types.EXIT:
            self._has_left = True
        elif method == types.CANCEL_REQUEST:
            number = params.get("id") if isinstance(params, dict) else None
            task = self._tasks.get(number) if isinstance(number, int | str) else None
            if task is not None:
                task.cancel()
        elif self._is_ready and not self._is_shut_down and method in self._notifications:
            kind, hear = self._notifications[method]
            try:
                hear(self._structured(kind, params))
            except Refusal:
                pass  # a notification has no answer
            except Exception as error:
                internal_error(error)

    def _structured(self, kind: type, params: object) -> Any:
        """The parameters as their type. Raises `Refusal`."""
        try:
            return self._converter.structure(params, kind)
        except Exception:  # cattrs raises whatever the types' own constructors raise
            message = f"the parameters are no {kind.__name__}"
            raise Refusal(Codes.InvalidParams, message) from None

    def _fail(self, number: int | str | None, refusal: Refusal) -> None:
        error = {"code": int(refusal.code), "message": refusal.message}
        self._send({"id": number, "error": error})

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (OSError, ValueError):
            self._has_left = True  # the client reads no more


def _message(item: bytes | Refusal) -> dict[str, Any]:
    """A message as an object. Raises `Refusal`."""
    if isinstance(item, Refusal):
        raise item
    try:
        message = json.loads(item.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Refusal(Codes.ParseError, "a message is no JSON") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refusal(Codes.InvalidRequest, "a message is no object of JSON-RPC 2.0")
    return message


def internal_error(error: Exception) -> Refusal:
    """What to say of a mistake of ours; the session goes on."""
    text = f"internal error: {type(error).__name__}: {error}"
    print(f"macaw lsp: {text}", file=sys.stderr)
    return Refusal(Codes.InternalError, text)
