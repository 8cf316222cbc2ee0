"""The language server: `macaw.asm.editing` spoken over the Language Server Protocol.

Files are assembled by one thread, while another one takes messages: a change of a file ends the
assembling of its older text, and a request about one file puts off the diagnostics of another.
A diagnostic in an included file is shown where the open file leads to it, and names the place
itself as related information.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from macaw import __version__
from macaw.asm.diagnostics import ERROR, Diagnostic, Span, first, printable_name
from macaw.asm.editing import Document, Entry, Suggestion
from macaw.language_server.positions import Places, chosen_encoding
from macaw.language_server.protocol import Answering, Hearing, Peer, Stream, internal_error

T = TypeVar("T")

_PATIENCE = 0.2  # seconds; a source that takes longer is assembled when typing pauses
_PAUSE = 0.4  # seconds, the longest pause that is waited for
_LONGEST = 1 << 22  # characters of a file that is looked at
_MOST_SHOWN = 500  # errors, and warnings, of a file
_MOST_ASSEMBLED = 4  # files whose runs of the assembler are kept
_SUGGESTED = {
    "instruction": types.CompletionItemKind.Function,
    "directive": types.CompletionItemKind.Keyword,
    "macro": types.CompletionItemKind.Snippet,
    "register": types.CompletionItemKind.Variable,
    "word": types.CompletionItemKind.EnumMember,
    "operand": types.CompletionItemKind.Property,
    "symbol": types.CompletionItemKind.Variable,
    "constant": types.CompletionItemKind.Constant,
    "core": types.CompletionItemKind.Module,
    "device": types.CompletionItemKind.Module,
}
_OUTLINED = {
    "part": types.SymbolKind.Module,
    "code": types.SymbolKind.Function,
    "data": types.SymbolKind.Array,
    "tensor": types.SymbolKind.Variable,
    "constant": types.SymbolKind.Constant,
    "macro": types.SymbolKind.Method,
}


class Cancelled(Exception):
    """The file has another text by now, or another one comes first."""


class OpenFile:
    """A file as it is in the editor, at one version."""

    def __init__(self, server: LanguageServer, uri: str, version: int, text: str) -> None:
        self.uri, self.version, self.text = uri, version, text
        self.read: frozenset[str] | None = None  # the files that it reads; None: not yet known
        self.is_too_long = len(text) > _LONGEST
        self.places = Places(text, server.encoding)
        self._cancelled = threading.Event()
        path = path_of(uri)
        self.document = Document(
            "" if self.is_too_long else text,
            printable_name(path or uri),
            Path(path).parent if path else None,
            tuple(server.include_dirs),
            server.defines,
            self._watch,
        )

    def cancel(self) -> None:
        """End the run of the assembler over it, now or when it begins."""
        self._cancelled.set()

    def _watch(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def diagnostics(self) -> list[types.Diagnostic]:
        """What is wrong with the file, for the protocol."""
        if self.is_too_long:
            start = types.Position(0, 0)
            text = f"the file has more than {_LONGEST:,} characters; it is not looked at here"
            return [types.Diagnostic(types.Range(start, start), text, source="macaw")]
        assembly = self.document.assembly
        self.read = frozenset(map(_resolved, assembly.folders.read))
        shown, left_out = first(assembly.report.sorted(), _MOST_SHOWN)
        found = [self._diagnostic(item) for item in shown]
        if left_out:
            place = found[-1].range
            found.append(types.Diagnostic(place, f"{left_out} not shown", source="macaw"))
        return found

    def _diagnostic(self, item: Diagnostic) -> types.Diagnostic:
        places = [item.span, *(link.span for link in item.chain)]
        name = self.document.name
        here = next((span for span in places if span.file == name), Span("", 1, 1, 1))
        said = [item.message, *([f"hint: {item.hint}"] if item.hint else [])]
        related = [
            types.DiagnosticRelatedInformation(self.location(span), what)
            for span, what in [
                *([(item.span, item.message)] if item.chain else []),
                *((link.span, link.what) for link in item.chain),
            ]
        ]
        severity = types.DiagnosticSeverity
        return types.Diagnostic(
            range=self.places.range(here),
            message="\n".join(said),
            severity=severity.Error if item.severity == ERROR else severity.Warning,
            source="macaw",
            related_information=related or None,
        )

    def location(self, span: Span) -> types.Location:
        """Where a span is, in this file or another one."""
        if span.file == self.document.name:
            return types.Location(self.uri, self.places.range(span))
        return types.Location(Path(span.file).resolve().as_uri(), _plain_range(span))

    # --- requests ---

    def hover(self, position: types.Position) -> types.Hover | None:
        """What the word at a place means."""
        found = self.document.hover(*self.places.own(position))
        if found is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(text, self.places.range(found.span))

    def complete(self, position: types.Position) -> list[types.CompletionItem]:
        """The words that may be at a place."""
        found = self.document.suggestions(*self.places.own(position))
        return [_item(rank, x) for rank, x in enumerate(found)]

    def definition(self, position: types.Position) -> types.Location | None:
        """Where the word at a place is defined."""
        found = self.document.definition(*self.places.own(position))
        return None if found is None else self.location(found)

    def outline(self) -> list[types.DocumentSymbol]:
        """The symbols and macros of the file."""
        return [_symbol(self.places, entry) for entry in self.document.outline()]

    def formatting(self) -> list[types.TextEdit]:
        """The edit that gives the file the one layout."""
        if self.is_too_long:
            return []
        text = self.document.formatted()
        if text == self.text:
            return []
        end = self.places.position(len(self.text))
        return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]


class LanguageServer:
    """The open files, and the options that the client gave."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.include_dirs: list[str] = []
        self.defines: dict[str, str | int] = {}
        self.encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16
        self._files: dict[str, OpenFile] = {}  # the one of the latest request is the last
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._seconds: dict[str, float] = {}  # that the last run of a file took
        self._diagnosed = ""  # the file whose diagnostics are being made
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False  # the session: nothing new begins
        self._worker = ThreadPoolExecutor(1)
        self._peer = Peer(self._initialize, self._requests(), self._notifications(), write)

    def _requests(self) -> dict[str, Answering]:
        def of_place(question: Callable[[OpenFile, types.Position], T]) -> Any:
            async def answer(params: Any) -> T | None:
                position = params.position
                return await self._ask(params, lambda file: question(file, position))

            return answer

        def of_file(question: Callable[[OpenFile], T]) -> Callable[[Any], Awaitable[T | None]]:
            return lambda params: self._ask(params, question)

        return {
            types.TEXT_DOCUMENT_HOVER: (types.HoverParams, of_place(OpenFile.hover)),
            types.TEXT_DOCUMENT_COMPLETION: (types.CompletionParams, of_place(OpenFile.complete)),
            types.TEXT_DOCUMENT_DEFINITION: (types.DefinitionParams, of_place(OpenFile.definition)),
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (
                types.DocumentSymbolParams,
                of_file(OpenFile.outline),
            ),
            types.TEXT_DOCUMENT_FORMATTING: (
                types.DocumentFormattingParams,
                of_file(OpenFile.formatting),
            ),
        }

    def _notifications(self) -> dict[str, Hearing]:
        return {
            types.TEXT_DOCUMENT_DID_OPEN: (types.DidOpenTextDocumentParams, self._opened),
            types.TEXT_DOCUMENT_DID_CHANGE: (types.DidChangeTextDocumentParams, self._changed),
            types.TEXT_DOCUMENT_DID_SAVE: (types.DidSaveTextDocumentParams, self._saved),
            types.TEXT_DOCUMENT_DID_CLOSE: (types.DidCloseTextDocumentParams, self._closed),
        }

    def serve(self, stream: Stream) -> bool:
        """Answer until the client leaves; whether it said so beforehand, by `shutdown`."""
        return asyncio.run(self._session(stream))

    async def _session(self, stream: Stream) -> bool:
        try:
            return await self._peer.serve(stream)
        finally:
            self._is_over = True
            for handle in self._waiting.values():
                handle.cancel()
            for task in self._tasks:
                task.cancel()
            for file in self._files.values():
                file.cancel()
            self._worker.shutdown(cancel_futures=True)  # its results come to this loop

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        folders, defines = options.get("includeDirs"), options.get("defines")
        if isinstance(folders, list):
            self.include_dirs = [x for x in folders if isinstance(x, str) and "\0" not in x]
        if isinstance(defines, dict):
            self.defines = {k: v for k, v in defines.items() if isinstance(v, str | int)}
        self.encoding = chosen_encoding(params)
        sync = types.TextDocumentSyncOptions(
            open_close=True, change=types.TextDocumentSyncKind.Incremental, save=True
        )
        abilities = types.ServerCapabilities(
            position_encoding=self.encoding,
            text_document_sync=sync,
            hover_provider=True,
            completion_provider=types.CompletionOptions(trigger_characters=[".", "%", "\\"]),
            definition_provider=True,
            document_symbol_provider=True,
            document_formatting_provider=True,
        )
        return types.InitializeResult(abilities, types.ServerInfo("macaw", __version__))

    # --- what the client says of files ---

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        self._put(OpenFile(self, item.uri, item.version, item.text))

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        file = self._files.get(uri)
        if file is None:
            return
        places = file.places
        for change in params.content_changes:
            places = Places(places.changed(change), self.encoding)
        self._put(OpenFile(self, uri, version, places.text))

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """Diagnose a saved file and all open ones that read it, from the disk anew."""
        uri = params.text_document.uri
        path = path_of(uri)
        saved = _resolved(path) if path else None
        for file in list(self._files.values()):
            if file.uri == uri or file.read is None or saved in file.read:
                self._put_again(file)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        file = self._files.pop(uri, None)
        if file is None:
            return
        file.cancel()
        handle = self._waiting.pop(uri, None)
        if handle is not None:
            handle.cancel()
        self._seconds.pop(uri, None)
        self._publish(uri, None, [])

    def _put(self, file: OpenFile) -> None:
        """Let a file have this text, and diagnose it soon: at once, or when typing pauses."""
        before = self._files.pop(file.uri, None)
        if before is not None:
            before.cancel()
        self._files[file.uri] = file
        self._plan(file)

    def _put_again(self, file: OpenFile) -> None:
        self._put(OpenFile(self, file.uri, file.version, file.text))

    def _plan(self, file: OpenFile) -> None:
        handle = self._waiting.pop(file.uri, None)
        if handle is not None:
            handle.cancel()
        if self._is_over:
            return
        seconds = self._seconds.get(file.uri, 0.0)
        delay = 0.0 if seconds < _PATIENCE else min(seconds, _PAUSE)
        loop = asyncio.get_running_loop()
        self._waiting[file.uri] = loop.call_later(delay, self._start, file.uri)

    # --- what the server does ---

    def _start(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        file = self._files.get(uri)
        if file is not None:
            task = asyncio.ensure_future(self._diagnose(file))
            self._tasks.add(task)  # asyncio itself keeps none
            task.add_done_callback(self._tasks.discard)

    async def _diagnose(self, file: OpenFile) -> None:
        """Assemble a file and publish what is wrong with it."""

        def diagnostics() -> list[types.Diagnostic]:
            self._diagnosed = file.uri
            begin = time.perf_counter()
            try:
                return file.diagnostics()
            finally:
                self._seconds[file.uri] = time.perf_counter() - begin
                self._diagnosed = ""

        try:
            found = await self._run(diagnostics)
        except Cancelled:
            return
        except Exception as error:
            internal_error(error)
            return
        if self._files.get(file.uri) is file:
            self._publish(file.uri, file.version, found)
            self._forget_older()

    async def _ask(self, params: Any, question: Callable[[OpenFile], T]) -> T | None:
        """What a file answers; None if it is not open, or has another text meanwhile."""
        uri = params.text_document.uri
        other = self._files.get(self._diagnosed)
        if other is not None and other.uri != uri:
            self._put_again(other)  # its diagnostics come later
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
        """Let the runs of the assembler go, but for the files that were asked of last."""
        for older in list(self._files.values())[:-_MOST_ASSEMBLED]:
            older.document.forget()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self._peer.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version),
        )


def path_of(uri: str) -> str | None:
    """The path of a file by its address; None if it has none."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or "\0" in path or not path.startswith("/"):
        return None
    return path


def _resolved(name: str) -> str:
    try:
        return str(Path(name).resolve())
    except (OSError, RuntimeError, ValueError):
        return name


def _plain_range(span: Span) -> types.Range:
    line = span.line - 1
    start, end = types.Position(line, span.column - 1), types.Position(line, span.end_column - 1)
    return types.Range(start, end)


def _item(rank: int, found: Suggestion) -> types.CompletionItem:
    return types.CompletionItem(
        label=found.word,
        kind=_SUGGESTED[found.kind],
        detail=found.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, found.text)
        if found.text
        else None,
        sort_text=f"{rank:06}",
    )


def _symbol(places: Places, entry: Entry) -> types.DocumentSymbol:
    place = places.range(entry.span)
    whole = types.Range(place.start, place.end)
    children = [_symbol(places, child) for child in entry.children]
    if children:
        whole.end = children[-1].range.end
    return types.DocumentSymbol(
        name=entry.name,
        kind=_OUTLINED[entry.kind],
        range=whole,
        selection_range=place,
        detail=entry.detail,
        children=children,
    )
