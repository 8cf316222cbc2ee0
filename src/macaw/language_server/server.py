"""The language server: receives an editor's messages, assembles programs, and sends answers.

One thread assembles programs while another thread receives messages. If a file changes, the run of
the assembler over its older text is cancelled. A request about one program postpones the
diagnostics of another program.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types

from macaw import __version__
from macaw.debugger.dap.framing import Stream
from macaw.language_server import translations
from macaw.language_server.answers import Answers
from macaw.language_server.client_options import read_options
from macaw.language_server.open_file import OpenFile
from macaw.language_server.positions import Positions
from macaw.language_server.program_finder import determines_programs
from macaw.language_server.protocol import (
    NotificationHandler,
    Peer,
    RequestHandler,
    internal_error,
)
from macaw.language_server.published import Published
from macaw.language_server.uris import path_of, resolve
from macaw.language_server.workspace import Cancelled, LoadedProgram, Workspace
from macaw.language_server.workspace_symbols import SymbolIndex

T = TypeVar("T")
Load = Callable[[OpenFile, Mapping[str, OpenFile]], LoadedProgram]

_SLOW = 0.2  # seconds; a program that takes longer is assembled when typing pauses
_LONGEST_PAUSE = 0.4  # seconds that the server waits for more typing

# The requests about a file, with the types of their parameters.
_REQUESTS: dict[str, tuple[type, Callable[[Answers, Any], Any]]] = {
    types.TEXT_DOCUMENT_HOVER: (types.HoverParams, Answers.hover),
    types.TEXT_DOCUMENT_COMPLETION: (types.CompletionParams, Answers.complete),
    types.TEXT_DOCUMENT_SIGNATURE_HELP: (types.SignatureHelpParams, Answers.signature_help),
    types.TEXT_DOCUMENT_DEFINITION: (types.DefinitionParams, Answers.definition),
    types.TEXT_DOCUMENT_REFERENCES: (types.ReferenceParams, Answers.references),
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (types.DocumentHighlightParams, Answers.highlights),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (types.PrepareRenameParams, Answers.prepare_rename),
    types.TEXT_DOCUMENT_RENAME: (types.RenameParams, Answers.rename),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (types.DocumentSymbolParams, Answers.outline),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: (types.DocumentLinkParams, Answers.links),
    types.TEXT_DOCUMENT_CODE_ACTION: (types.CodeActionParams, Answers.code_actions),
    types.TEXT_DOCUMENT_INLAY_HINT: (types.InlayHintParams, Answers.notes),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (types.SemanticTokensParams, Answers.colours),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: (
        types.SemanticTokensRangeParams,
        Answers.colours_in,
    ),
}
# Requests whose answer is in the text alone: they wait for no run of the assembler.
_TEXT_REQUESTS: dict[str, tuple[type, Callable[[Answers, Any], Any]]] = {
    types.TEXT_DOCUMENT_FORMATTING: (types.DocumentFormattingParams, Answers.formatting),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (types.FoldingRangeParams, Answers.folds),
}


def _capabilities(encoding: types.PositionEncodingKind) -> types.ServerCapabilities:
    """Return the capabilities of the server, for the answer to `initialize`.

    `encoding` is the unit in which server and client count columns.
    """
    sync = types.TextDocumentSyncOptions(
        open_close=True, change=types.TextDocumentSyncKind.Incremental, save=True
    )
    return types.ServerCapabilities(
        position_encoding=encoding,
        text_document_sync=sync,
        hover_provider=True,
        completion_provider=types.CompletionOptions(
            trigger_characters=[".", "%", "\\", '"', "/", "=", "("]
        ),
        signature_help_provider=types.SignatureHelpOptions([" ", ",", "=", "("], [","]),
        definition_provider=True,
        references_provider=True,
        document_highlight_provider=True,
        document_symbol_provider=True,
        workspace_symbol_provider=True,
        code_action_provider=types.CodeActionOptions([types.CodeActionKind.QuickFix]),
        document_link_provider=types.DocumentLinkOptions(),
        document_formatting_provider=True,
        rename_provider=types.RenameOptions(prepare_provider=True),
        folding_range_provider=True,
        semantic_tokens_provider=types.SemanticTokensOptions(
            translations.LEGEND, range=True, full=True
        ),
        inlay_hint_provider=True,
    )


class LanguageServer:
    """The language server of one session, with its workspace and the diagnostics to compute."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.workspace = Workspace()
        self._symbols = SymbolIndex()
        self._timers: dict[str, asyncio.TimerHandle] = {}  # by URI, of planned diagnostics
        self._seconds: dict[str, float] = {}  # by URI, that the last run of the assembler took
        self._in_progress = ""  # URI of the file whose diagnostics are computed now
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False  # the session: nothing new starts
        self._worker = ThreadPoolExecutor(1)
        self._peer = Peer(self._initialize, self._requests(), self._notifications(), write)
        self._published = Published(self._send_diagnostics)

    def _requests(self) -> dict[str, RequestHandler]:
        def about_file(load: Load, question: Callable[[Answers, Any], Any]) -> Any:
            return lambda params: self._ask(params, load, question)

        handlers: dict[str, RequestHandler] = {
            types.WORKSPACE_SYMBOL: (types.WorkspaceSymbolParams, self._find_symbols)
        }
        for load, requests in (
            (self.workspace.assemble, _REQUESTS),
            (self.workspace.load, _TEXT_REQUESTS),
        ):
            for name, (kind, question) in requests.items():
                handlers[name] = kind, about_file(load, question)
        return handlers

    def _notifications(self) -> dict[str, NotificationHandler]:
        return {
            types.TEXT_DOCUMENT_DID_OPEN: (types.DidOpenTextDocumentParams, self._open),
            types.TEXT_DOCUMENT_DID_CHANGE: (types.DidChangeTextDocumentParams, self._change),
            types.TEXT_DOCUMENT_DID_SAVE: (types.DidSaveTextDocumentParams, self._save),
            types.TEXT_DOCUMENT_DID_CLOSE: (types.DidCloseTextDocumentParams, self._close),
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (
                types.DidChangeWatchedFilesParams,
                self._watched_files_changed,
            ),
        }

    def serve(self, stream: Stream) -> bool:
        """Answer the messages of a stream until the client disconnects.

        Returns whether the client sent `shutdown` before it disconnected.
        """
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
            self._cancel_running()
            self._worker.shutdown(cancel_futures=True)  # before the loop that gets its results ends

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        options = read_options(params)
        self.workspace.configure(options)
        capabilities = _capabilities(options.encoding)
        return types.InitializeResult(capabilities, types.ServerInfo("macaw", __version__))

    # --- notifications about files ---

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        positions = Positions(item.text, self._encoding)
        self._put(OpenFile(item.uri, item.version, positions))

    @property
    def _encoding(self) -> types.PositionEncodingKind:
        return self.workspace.options.encoding

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        file = self.workspace.files.get(uri)
        if file is None:
            return
        positions = file.positions
        for change in params.content_changes:
            positions = positions.after(change)
        self._put(OpenFile(uri, version, positions))

    def _save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Plan to compute the diagnostics of all programs that read the saved file."""
        uri = params.text_document.uri
        path = path_of(uri)
        self._diagnose_readers(uri, resolve(path) if path else None)

    def _watched_files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            path = path_of(change.uri)
            if path is not None:
                self._diagnose_readers("", resolve(path))

    def _diagnose_readers(self, uri: str, path: Path | None) -> None:
        """Plan to compute the diagnostics of the programs that read `path`, and of the file `uri`.

        These are the programs of open files. If `path` is None, any of them may read the file. If
        `path` is a source or a golden.toml, the method plans the diagnostics of all open files,
        because their programs may have changed.
        """
        workspace = self.workspace
        workspace.changed_on_disk(path)
        is_for_all = path is not None and determines_programs(path)
        for file in list(workspace.files.values()):
            program = workspace.program_of(file.uri)
            if file.uri == uri or is_for_all or program is None or program.reads(path):
                self._plan(file.uri)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        file = self.workspace.close(uri)
        if file is None:
            return
        handle = self._timers.pop(uri, None)
        if handle is not None:
            handle.cancel()
        self._seconds.pop(uri, None)
        self._published.close(uri)
        self._plan_readers(file)

    def _put(self, file: OpenFile) -> None:
        """Store a version of a file; plan to compute its diagnostics and those of its readers."""
        self.workspace.put(file)
        self._plan(file.uri)
        self._plan_readers(file)

    def _plan_readers(self, file: OpenFile) -> None:
        """Plan to compute the diagnostics of all other open files whose programs read `file`."""
        for other in list(self.workspace.files.values()):
            program = self.workspace.program_of(other.uri)
            is_reader = program is not None and file.path is not None and program.reads(file.path)
            if other.uri != file.uri and is_reader:
                self._plan(other.uri)

    def _plan(self, uri: str) -> None:
        """Compute the diagnostics of the file `uri` at once, or when the user pauses in typing.

        The method waits for a pause if the computation takes long.
        """
        handle = self._timers.pop(uri, None)
        if handle is not None:
            handle.cancel()
        if self._is_over:
            return
        seconds = self._seconds.get(uri, 0.0)
        delay = 0.0 if seconds < _SLOW else min(seconds, _LONGEST_PAUSE)
        loop = asyncio.get_running_loop()
        self._timers[uri] = loop.call_later(delay, self._start, uri)

    # --- diagnostics and requests ---

    def _start(self, uri: str) -> None:
        self._timers.pop(uri, None)
        file = self.workspace.files.get(uri)
        if file is not None:
            task = asyncio.ensure_future(self._diagnose(file))
            self._tasks.add(task)  # asyncio holds only a weak reference
            task.add_done_callback(self._tasks.discard)

    async def _diagnose(self, file: OpenFile) -> None:
        """Assemble the program of a file and send its errors and warnings."""

        def diagnose() -> tuple[LoadedProgram, dict[str, list[types.Diagnostic]]]:
            self._in_progress = file.uri
            start = time.perf_counter()
            try:
                # Not earlier: files may be opened and changed while this waits for the assembler.
                files = dict(self.workspace.files)
                if files.get(file.uri) is not file:
                    raise Cancelled  # the newer version of the file has a plan of its own
                program = self.workspace.assemble(file, files)
                answers = Answers(file, program, self.workspace.options)
                return program, answers.diagnostics()
            finally:
                self._seconds[file.uri] = time.perf_counter() - start
                self._in_progress = ""

        try:
            program, diagnostics = await self._run(diagnose)
        except Cancelled:
            if self.workspace.files.get(file.uri) is file:
                self._plan(file.uri)  # another file of the program has changed
            return
        except Exception as error:
            internal_error(error)
            return
        if self.workspace.files.get(file.uri) is file:
            self._published.put(file.uri, program.key, diagnostics)
            # A file that was opened before this program was loaded could not plan its diagnostics.
            if not program.is_current(self.workspace.open_files):
                self._plan(file.uri)

    def _send_diagnostics(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        file = self.workspace.files.get(uri)
        version = None if file is None else file.version
        self._peer.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version),
        )

    async def _ask(
        self, params: Any, load: Load, question: Callable[[Answers, Any], T]
    ) -> T | None:
        """Return the result of `question` for the open file that `params` name.

        `load` is `Workspace.assemble`, or `Workspace.load` if the question needs only the texts of
        the program. Returns None if the file is not open, or if its text changes before the answer
        is complete.
        """
        uri = params.text_document.uri
        own, running = self.workspace.program_of(uri), self.workspace.running
        if self._in_progress not in ("", uri) and (
            not own or not running or own.key != running.key
        ):
            self._cancel_running()  # `_diagnose` plans its diagnostics again, after this request
        files = self.workspace.files
        while (file := files.pop(uri, None)) is not None:
            files[uri] = file
            try:
                answers = partial(self._answers, load, file, dict(files))
                return await self._run(partial(_apply, question, answers, params))
            except Cancelled:
                newer = files.get(uri)
                if newer is None or newer.text != file.text:
                    return None
            except asyncio.CancelledError:
                if files.get(uri) is file:
                    self._cancel_running()
                    self._plan(uri)
                raise
        return None

    def _answers(self, load: Load, file: OpenFile, files: Mapping[str, OpenFile]) -> Answers:
        return Answers(file, load(file, files), self.workspace.options)

    def _cancel_running(self) -> None:
        running = self.workspace.running
        if running is not None:
            running.cancel()

    async def _find_symbols(
        self, params: types.WorkspaceSymbolParams
    ) -> list[types.WorkspaceSymbol]:
        folders, files = self.workspace.options.folders, dict(self.workspace.files)
        return await self._run(partial(self._symbols.find, params.query, folders, files))

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)


def _apply(
    question: Callable[[Answers, Any], T], answers: Callable[[], Answers], params: object
) -> T:
    return question(answers(), params)
