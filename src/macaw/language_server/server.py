"""The language server: answers the Language Server Protocol with `macaw.asm.editing`.

One thread assembles files while another one takes messages. A change of a file cancels the run of
the assembler over its older text. A request about one file postpones the diagnostics of another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types

from macaw import __version__
from macaw.language_server.open_file import Cancelled, ClientOptions, OpenFile, path_of, resolve
from macaw.language_server.positions import Positions, choose_encoding
from macaw.language_server.protocol import (
    NotificationHandler,
    Peer,
    RequestHandler,
    Stream,
    internal_error,
)

T = TypeVar("T")

_SLOW = 0.2  # seconds; a source that takes longer is assembled when typing pauses
_LONGEST_PAUSE = 0.4  # seconds that the server waits for more typing
_MOST_ASSEMBLED = 4  # files whose results of the assembler stay in memory


class LanguageServer:
    """The server's state: the open files, their planned diagnostics, and the client's options."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.options = ClientOptions()
        self._files: dict[str, OpenFile] = {}  # by URI, in the order of their latest requests
        self._timers: dict[str, asyncio.TimerHandle] = {}  # by URI, of planned diagnostics
        self._seconds: dict[str, float] = {}  # by URI, that the last run of the assembler took
        self._in_progress = ""  # URI of the file whose diagnostics are computed now
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False  # the session: nothing new starts
        self._worker = ThreadPoolExecutor(1)
        self._peer = Peer(self._initialize, self._requests(), self._notifications(), write)

    def _requests(self) -> dict[str, RequestHandler]:
        def at_position(question: Callable[[OpenFile, types.Position], T]) -> Any:
            async def answer(params: Any) -> T | None:
                position = params.position
                return await self._ask(params, lambda file: question(file, position))

            return answer

        def of_file(question: Callable[[OpenFile], T]) -> Callable[[Any], Awaitable[T | None]]:
            return lambda params: self._ask(params, question)

        return {
            types.TEXT_DOCUMENT_HOVER: (types.HoverParams, at_position(OpenFile.hover)),
            types.TEXT_DOCUMENT_COMPLETION: (
                types.CompletionParams,
                at_position(OpenFile.complete),
            ),
            types.TEXT_DOCUMENT_DEFINITION: (
                types.DefinitionParams,
                at_position(OpenFile.definition),
            ),
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (
                types.DocumentSymbolParams,
                of_file(OpenFile.outline),
            ),
            types.TEXT_DOCUMENT_FORMATTING: (
                types.DocumentFormattingParams,
                of_file(OpenFile.formatting),
            ),
        }

    def _notifications(self) -> dict[str, NotificationHandler]:
        return {
            types.TEXT_DOCUMENT_DID_OPEN: (types.DidOpenTextDocumentParams, self._open),
            types.TEXT_DOCUMENT_DID_CHANGE: (types.DidChangeTextDocumentParams, self._change),
            types.TEXT_DOCUMENT_DID_SAVE: (types.DidSaveTextDocumentParams, self._save),
            types.TEXT_DOCUMENT_DID_CLOSE: (types.DidCloseTextDocumentParams, self._close),
        }

    def serve(self, stream: Stream) -> bool:
        """Answer messages until the client leaves; return whether it sent `shutdown` first."""
        return asyncio.run(self._session(stream))

    async def _session(self, stream: Stream) -> bool:
        try:
            return await self._peer.serve(stream)
        finally:
            self._is_over = True
            for handle in self._timers.values():
                handle.cancel()
            for task in self._tasks:
                task.cancel()
            for file in self._files.values():
                file.cancel()
            self._worker.shutdown(cancel_futures=True)  # before the loop that gets its results ends

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        folders, defines = options.get("includeDirs"), options.get("defines")
        if isinstance(folders, list):
            paths = tuple(x for x in folders if isinstance(x, str) and "\0" not in x)
            self.options = replace(self.options, include_dirs=paths)
        if isinstance(defines, dict):
            symbols = {k: v for k, v in defines.items() if isinstance(v, str | int)}
            self.options = replace(self.options, defines=symbols)
        self.options = replace(self.options, encoding=choose_encoding(params))
        sync = types.TextDocumentSyncOptions(
            open_close=True, change=types.TextDocumentSyncKind.Incremental, save=True
        )
        capabilities = types.ServerCapabilities(
            position_encoding=self.options.encoding,
            text_document_sync=sync,
            hover_provider=True,
            completion_provider=types.CompletionOptions(trigger_characters=[".", "%", "\\"]),
            definition_provider=True,
            document_symbol_provider=True,
            document_formatting_provider=True,
        )
        return types.InitializeResult(capabilities, types.ServerInfo("macaw", __version__))

    # --- notifications about files ---

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        self._put(OpenFile(self.options, item.uri, item.version, item.text))

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        file = self._files.get(uri)
        if file is None:
            return
        positions = file.positions
        for change in params.content_changes:
            positions = Positions(positions.apply(change), self.options.encoding)
        self._put(OpenFile(self.options, uri, version, positions.text))

    def _save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Make new diagnostics for the file that was saved, and for all open files that read it."""
        uri = params.text_document.uri
        path = path_of(uri)
        source = resolve(path) if path else None
        for file in list(self._files.values()):
            if file.uri == uri or file.sources is None or source in file.sources:
                self._put_again(file)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        file = self._files.pop(uri, None)
        if file is None:
            return
        file.cancel()
        handle = self._timers.pop(uri, None)
        if handle is not None:
            handle.cancel()
        self._seconds.pop(uri, None)
        self._publish(uri, None, [])

    def _put(self, file: OpenFile) -> None:
        """Replace the older version of a file, and plan its diagnostics."""
        older = self._files.pop(file.uri, None)
        if older is not None:
            older.cancel()
        self._files[file.uri] = file
        self._plan(file)

    def _put_again(self, file: OpenFile) -> None:
        self._put(OpenFile(self.options, file.uri, file.version, file.text))

    def _plan(self, file: OpenFile) -> None:
        """Plan the next diagnostics of a file.

        They are made soon if they take little time, else when the user stops typing.
        """
        handle = self._timers.pop(file.uri, None)
        if handle is not None:
            handle.cancel()
        if self._is_over:
            return
        seconds = self._seconds.get(file.uri, 0.0)
        delay = 0.0 if seconds < _SLOW else min(seconds, _LONGEST_PAUSE)
        loop = asyncio.get_running_loop()
        self._timers[file.uri] = loop.call_later(delay, self._start, file.uri)

    # --- diagnostics and requests ---

    def _start(self, uri: str) -> None:
        self._timers.pop(uri, None)
        file = self._files.get(uri)
        if file is not None:
            task = asyncio.ensure_future(self._diagnose(file))
            self._tasks.add(task)  # asyncio holds only a weak reference
            task.add_done_callback(self._tasks.discard)

    async def _diagnose(self, file: OpenFile) -> None:
        """Assemble a file and send its errors and warnings to the client."""

        def diagnose() -> list[types.Diagnostic]:
            self._in_progress = file.uri
            start = time.perf_counter()
            try:
                return file.diagnostics()
            finally:
                self._seconds[file.uri] = time.perf_counter() - start
                self._in_progress = ""

        try:
            diagnostics = await self._run(diagnose)
        except Cancelled:
            return
        except Exception as error:
            internal_error(error)
            return
        if self._files.get(file.uri) is file:
            self._publish(file.uri, file.version, diagnostics)
            self._forget_older()

    async def _ask(self, params: Any, question: Callable[[OpenFile], T]) -> T | None:
        """Return the result of `question` for the open file that `params` names.

        Return None if the file is not open, or if it changes meanwhile.
        """
        uri = params.text_document.uri
        other = self._files.get(self._in_progress)
        if other is not None and other.uri != uri:
            self._put_again(other)  # plan its diagnostics again, after this request
        while (file := self._files.pop(uri, None)) is not None:
            self._files[uri] = file
            self._forget_older()
            try:
                return await self._run(partial(question, file))
            except Cancelled:
                newer = self._files.get(uri)
                if newer is None or newer is file or newer.text != file.text:
                    return None
            except asyncio.CancelledError:
                if self._files.get(uri) is file:
                    self._put_again(file)
                raise
        return None

    def _forget_older(self) -> None:
        """Drop the assembler's results for all files except those of the latest requests."""
        for older in list(self._files.values())[:-_MOST_ASSEMBLED]:
            older.document.forget()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        self._peer.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version),
        )
