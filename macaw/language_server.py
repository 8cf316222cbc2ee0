"""The language server: `asm.editing` spoken over the Language Server Protocol, by pygls.

Positions of the protocol count from 0, in units that client and server agree on;
ours count characters from 1. A diagnostic in an included file is shown where the
open file leads to it, and names the place itself as related information.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument

from asm.diagnostics import ERROR, Diagnostic, Span
from asm.editing import Document, Entry, Suggestion
from macaw import __version__

_PATIENCE = 0.2  # seconds; a source that takes longer is assembled when typing pauses
_PAUSE = 0.4  # seconds, the longest pause that is waited for
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


class MacawServer(LanguageServer):
    """Keeps a `Document` for each open file, and the options that the client gave."""

    def __init__(self) -> None:
        super().__init__("macaw", __version__)
        self.include_dirs: list[str] = []
        self.defines: dict[str, str | int] = {}
        self._documents: dict[str, tuple[int | None, Document]] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._seconds: dict[str, float] = {}  # that the last run of a document took

    def document(self, uri: str) -> Document:
        """The open file as it stands now."""
        open_file = self.workspace.get_text_document(uri)
        version, known = self._documents.get(uri, (None, None))
        if known is None or version is None or version != open_file.version:
            path = to_fs_path(uri)
            folder = Path(path).parent if path and uri.startswith("file:") else None
            known = Document(
                open_file.source, path or uri, folder, tuple(self.include_dirs), self.defines
            )
            self._documents[uri] = open_file.version, known
        return known

    def forget(self, uri: str) -> None:
        """A file was closed: its diagnostics go."""
        self._documents.pop(uri, None)
        handle = self._waiting.pop(uri, None)
        if handle is not None:
            handle.cancel()
        self._publish(uri, [])

    def changed(self, uri: str) -> None:
        """Diagnose a file soon: at once if that is quick, else when typing pauses."""
        handle = self._waiting.pop(uri, None)
        if handle is not None:
            handle.cancel()
        seconds = self._seconds.get(uri, 0.0)
        delay = 0.0 if seconds < _PATIENCE else min(seconds, _PAUSE)
        loop = asyncio.get_running_loop()
        self._waiting[uri] = loop.call_later(delay, self.diagnose, uri)

    def saved(self, uri: str) -> None:
        """Diagnose a saved file and all open ones that read it, from the disk anew."""
        path = to_fs_path(uri)
        for other, (_version, document) in list(self._documents.items()):
            read = document.assembly.folders.read
            if other == uri or (path and str(Path(path).resolve()) in map(_resolved, read)):
                del self._documents[other]
                self.changed(other)

    def diagnose(self, uri: str) -> None:
        """Assemble a file and publish what is wrong with it."""
        self._waiting.pop(uri, None)
        begin = time.perf_counter()
        document = self.document(uri)
        found = [self._diagnostic(uri, document, item) for item in document.diagnostics]
        self._publish(uri, found)
        self._seconds[uri] = time.perf_counter() - begin

    def _publish(self, uri: str, found: list[types.Diagnostic]) -> None:
        version = self._documents[uri][0] if uri in self._documents else None
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )

    def _diagnostic(self, uri: str, document: Document, item: Diagnostic) -> types.Diagnostic:
        places = [item.span, *(link.span for link in item.chain)]
        here = next((span for span in places if span.file == document.name), Span("", 1, 1, 1))
        said = [item.message, *([f"hint: {item.hint}"] if item.hint else [])]
        related = [
            types.DiagnosticRelatedInformation(self._location(uri, document, span), what)
            for span, what in [
                *([(item.span, item.message)] if item.chain else []),
                *((link.span, link.what) for link in item.chain),
            ]
        ]
        severity = types.DiagnosticSeverity
        return types.Diagnostic(
            range=self.range(uri, here),
            message="\n".join(said),
            severity=severity.Error if item.severity == ERROR else severity.Warning,
            source="macaw",
            related_information=related or None,
        )

    def _location(self, uri: str, document: Document, span: Span) -> types.Location:
        if span.file == document.name:
            return types.Location(uri, self.range(uri, span))
        other = from_fs_path(str(Path(span.file).resolve())) or uri
        return types.Location(other, _plain_range(span))

    def range(self, uri: str, span: Span) -> types.Range:
        """A span of an open file in the protocol's units."""
        open_file: TextDocument = self.workspace.get_text_document(uri)
        line = span.line - 1
        start = ServerTextPosition(line, span.column - 1)
        end = ServerTextPosition(line, span.end_column - 1)
        return open_file.range_to_client_units(ServerTextRange(start, end))

    def place(self, params: Any) -> tuple[Document, int, int]:
        """The document, line and column that a request is about."""
        uri = params.text_document.uri
        open_file = self.workspace.get_text_document(uri)
        position = open_file.position_from_client_units(params.position)
        return self.document(uri), position.line + 1, position.character + 1


def _resolved(name: str) -> str:
    return str(Path(name).resolve())


def _plain_range(span: Span) -> types.Range:
    line = span.line - 1
    start, end = types.Position(line, span.column - 1), types.Position(line, span.end_column - 1)
    return types.Range(start, end)


def make_server() -> MacawServer:
    """A server with all its features, not yet started."""
    server = MacawServer()

    @server.feature(types.INITIALIZE)
    def _initialize(params: types.InitializeParams) -> None:
        options = params.initialization_options
        if isinstance(options, dict):
            server.include_dirs = [str(x) for x in options.get("includeDirs", [])]
            server.defines = {str(k): v for k, v in dict(options.get("defines", {})).items()}

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _opened(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _saved(params: types.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(params: types.HoverParams) -> types.Hover | None:
        document, line, column = server.place(params)
        found = document.hover(line, column)
        if found is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(text, server.range(params.text_document.uri, found.span))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "%", "\\"])
    )
    def _complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        document, line, column = server.place(params)
        return [_item(rank, x) for rank, x in enumerate(document.suggestions(line, column))]

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _definition(params: types.DefinitionParams) -> types.Location | None:
        document, line, column = server.place(params)
        found = document.definition(line, column)
        if found is None:
            return None
        return server._location(params.text_document.uri, document, found)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        uri = params.text_document.uri
        return [_symbol(server, uri, entry) for entry in server.document(uri).outline()]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def _format(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        uri = params.text_document.uri
        document = server.document(uri)
        text = document.formatted()
        if text == document.text:
            return []
        end = types.Position(document.text.count("\n") + 1, 0)
        return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]

    return server


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


def _symbol(server: MacawServer, uri: str, entry: Entry) -> types.DocumentSymbol:
    place = server.range(uri, entry.span)
    whole = types.Range(place.start, place.end)
    children = [_symbol(server, uri, child) for child in entry.children]
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
