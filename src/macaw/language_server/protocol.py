"""Reads, checks and answers messages of the Language Server Protocol.

Every request gets exactly one answer, which is an error if the request is wrong. A wrong
notification is ignored. `macaw.language_server.server` has the handlers.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from lsprotocol import converters, types

from macaw.debugger.dap.framing import FramingError, MessageReader, Stream, frame

_MOST_PENDING = 256  # messages read and not yet answered

Codes = types.ErrorCodes
LSPCodes = types.LSPErrorCodes


class Refusal(Exception):
    """A message is refused: the server sends this error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


RequestHandler = tuple[type, Callable[[Any], Awaitable[Any]]]  # type of the parameters, handler
NotificationHandler = tuple[type, Callable[[Any], None]]


class Peer:
    """One session with a client: from `initialize` to `exit`, or to the end of the stream.

    `initialize` handles the request of this name. `requests` and `notifications` have the handlers
    of all other messages, by the name of the method. `write` sends bytes to the client.
    """

    def __init__(
        self,
        initialize: Callable[[types.InitializeParams], types.InitializeResult],
        requests: Mapping[str, RequestHandler],
        notifications: Mapping[str, NotificationHandler],
        write: Callable[[bytes], object],
    ) -> None:
        self._initialize = initialize
        self._requests, self._notifications = requests, notifications
        self._write = write
        self._converter = converters.get_converter()
        self._is_ready = self._is_shut_down = self._has_ended = False
        self._tasks: dict[int | str, asyncio.Task[None]] = {}

    async def serve(self, stream: Stream) -> bool:
        """Answer the messages of a stream until the client disconnects.

        Returns whether the client sent `shutdown` before it disconnected.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | Refusal | None] = asyncio.Queue()
        free = threading.Semaphore(_MOST_PENDING)

        def read() -> None:
            reader = MessageReader(stream)
            item: bytes | Refusal | None
            while True:
                try:
                    item = reader.body()
                except FramingError as error:
                    code = Codes.InvalidRequest if error.is_too_long else Codes.ParseError
                    item = Refusal(code, str(error))
                except (OSError, ValueError):  # the stream is closed
                    item = None
                free.acquire()
                try:
                    loop.call_soon_threadsafe(queue.put_nowait, item)
                except RuntimeError:  # the session is over
                    return
                if item is None:
                    return

        # A daemon thread: the process must end even if the client leaves its end of the pipe open.
        threading.Thread(target=read, daemon=True).start()
        while not self._has_ended:
            item = await queue.get()
            if item is None:  # the stream has ended; its requests are still answered
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)
                break
            task = self._handle(item)
            if task is None:
                free.release()
            else:
                task.add_done_callback(lambda _task: free.release())
        for task in list(self._tasks.values()):
            task.cancel()
        return self._is_shut_down

    def notify(self, method: str, params: object) -> None:
        """Send the notification `method` with these parameters to the client."""
        self._send({"method": method, "params": self._converter.unstructure(params)})

    # --- a message ---

    def _handle(self, item: bytes | Refusal) -> asyncio.Task[None] | None:
        """Handle a message. If the message could not be read, `item` is the `Refusal` to send.

        If a task will answer the message later, the method returns the task. Otherwise it returns
        None: it has sent the answer already, or the message needs none.
        """
        try:
            message = _message(item)
        except Refusal as refusal:
            self._fail(None, refusal)
            return None
        method, number = message.get("method"), message.get("id")
        if method is None:
            return None  # an answer: ignored, since the server sends no requests
        try:
            if not isinstance(method, str):
                raise Refusal(Codes.InvalidRequest, "the method is no text")
            if "id" not in message:
                self._handle_notification(method, message.get("params"))
                return None
            if isinstance(number, bool) or not isinstance(number, int | str):
                number = None
                raise Refusal(Codes.InvalidRequest, "the id is neither a number nor a text")
            if method in (types.INITIALIZE, types.SHUTDOWN):
                self._send(
                    {"id": number, "result": self._start_or_stop(method, message.get("params"))}
                )
                return None
            handler = self._request_handler(method)
            if number in self._tasks:
                raise Refusal(Codes.InvalidRequest, "the id is that of another request")
        except Refusal as refusal:
            if "id" in message:
                self._fail(number, refusal)
            return None
        task = asyncio.ensure_future(self._answer(number, method, handler, message.get("params")))
        self._tasks[number] = task
        task.add_done_callback(partial(self._finish, number))
        return task

    def _start_or_stop(self, method: str, params: object) -> object:
        """Handle `initialize` or `shutdown`; return the result.

        Raises `Refusal` if the session is not in the right state, or `params` are wrong.
        """
        if method == types.SHUTDOWN:
            self._check_ready()
            self._is_shut_down = True
            return None
        if self._is_ready:
            raise Refusal(Codes.InvalidRequest, "the server is initialized already")
        result = self._initialize(self._parse(method, types.InitializeParams, params))
        self._is_ready = True
        return self._converter.unstructure(result)

    def _check_ready(self) -> None:
        if not self._is_ready:
            raise Refusal(Codes.ServerNotInitialized, "the server is not initialized")
        if self._is_shut_down:
            raise Refusal(Codes.InvalidRequest, "the server is shut down")

    def _request_handler(self, method: str) -> RequestHandler:
        """Return the handler of a method.

        Raises `Refusal` if no handler exists, or if the method is called outside of a session.
        """
        self._check_ready()
        handler = self._requests.get(method)
        if handler is None:
            raise Refusal(Codes.MethodNotFound, f"there is no method {method[:80]!r}")
        return handler

    async def _answer(
        self, number: int | str, method: str, handler: RequestHandler, params: object
    ) -> None:
        kind, answer = handler
        try:
            result = await answer(self._parse(method, kind, params))
            self._send({"id": number, "result": self._converter.unstructure(result)})
        except Refusal as refusal:
            self._fail(number, refusal)
        except Exception as error:
            self._fail(number, internal_error(error))

    def _finish(self, number: int | str, task: asyncio.Task[None]) -> None:
        """Forget request `number`, whose task has ended; answer it if the task was cancelled.

        The answer is an error. A task may be cancelled before it has started, so the task itself
        cannot send it.
        """
        del self._tasks[number]
        if task.cancelled():
            self._fail(number, Refusal(LSPCodes.RequestCancelled, "the request is cancelled"))

    def _handle_notification(self, method: str, params: object) -> None:
        if method == types.EXIT:
            self._has_ended = True
        elif method == types.CANCEL_REQUEST:
            number = params.get("id") if isinstance(params, dict) else None
            task = self._tasks.get(number) if isinstance(number, int | str) else None
            if task is not None:
                task.cancel()
        elif self._is_ready and not self._is_shut_down and method in self._notifications:
            kind, handle = self._notifications[method]
            try:
                handle(self._parse(method, kind, params))
            except Refusal:
                pass  # a notification has no answer
            except Exception as error:
                internal_error(error)

    def _parse(self, method: str, kind: type, params: object) -> Any:
        """Return the parameters of a method as an object of `kind`.

        Raises `Refusal` if the parameters are wrong.
        """
        try:
            return self._converter.structure(params, kind)
        except Exception:  # cattrs passes on whatever constructors raise
            message = f"the parameters of {method} are no {kind.__name__}"
            raise Refusal(Codes.InvalidParams, message) from None

    def _fail(self, number: int | str | None, refusal: Refusal) -> None:
        error = {"code": int(refusal.code), "message": refusal.message}
        self._send({"id": number, "error": error})

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._write(frame(body))
        except (OSError, ValueError):
            self._has_ended = True  # the client has closed its end


def _message(item: bytes | Refusal) -> dict[str, Any]:
    """Return the JSON-RPC object in the bytes of a message.

    Raises `Refusal` if the bytes are no such object. If `item` is a `Refusal`, raises it.
    """
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
    """Print an internal error of the server to standard error; return the answer to the editor.

    The session continues.
    """
    text = f"internal error: {type(error).__name__}: {error}"
    print(f"macaw lsp: {text}", file=sys.stderr)
    return Refusal(Codes.InternalError, text)
