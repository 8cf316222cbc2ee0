"""A file that is open in the editor: its diagnostics and the answers to requests about it.

A diagnostic in an included file is shown on the line of the open file that includes it. Its real
place follows as related information.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from macaw.asm.diagnostics import ERROR, Diagnostic, Span, first, printable_name
from macaw.asm.editing import Document, Entry, Suggestion
from macaw.language_server.positions import Positions

_MOST_CHARACTERS = 1 << 22  # of a file; a longer one is not assembled
_MOST_SHOWN = 500  # errors, and warnings, of a file
_COMPLETION_KINDS = {
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
_SYMBOL_KINDS = {
    "part": types.SymbolKind.Module,
    "code": types.SymbolKind.Function,
    "data": types.SymbolKind.Array,
    "tensor": types.SymbolKind.Variable,
    "constant": types.SymbolKind.Constant,
    "macro": types.SymbolKind.Method,
}


class Cancelled(Exception):
    """Raised if a run of the assembler was ended early.

    The reason is that the file has changed, or that another file has priority.
    """


@dataclass(frozen=True)
class ClientOptions:
    """The options that the client chose when it initialized the server."""

    include_dirs: tuple[str, ...] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)
    encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16


class OpenFile:
    """One version of a file that is open in the editor."""

    def __init__(self, options: ClientOptions, uri: str, version: int, text: str) -> None:
        self.uri, self.version, self.text = uri, version, text
        self.sources: frozenset[str] | None = None  # files that it reads; None: not assembled yet
        self.is_too_long = len(text) > _MOST_CHARACTERS
        self.positions = Positions(text, options.encoding)
        self._cancellation = threading.Event()
        path = path_of(uri)
        self.document = Document(
            "" if self.is_too_long else text,
            printable_name(path or uri),
            Path(path).parent if path else None,
            options.include_dirs,
            dict(options.defines),
            self._check_cancellation,
        )

    def cancel(self) -> None:
        """Make the run of the assembler raise `Cancelled`, now or when it starts."""
        self._cancellation.set()

    def _check_cancellation(self) -> None:
        if self._cancellation.is_set():
            raise Cancelled

    def diagnostics(self) -> list[types.Diagnostic]:
        """Assemble the file and return its errors and warnings. Raises `Cancelled`."""
        if self.is_too_long:
            start = types.Position(0, 0)
            text = f"the file has more than {_MOST_CHARACTERS:,} characters; it is not assembled"
            return [types.Diagnostic(types.Range(start, start), text, source="macaw")]
        assembly = self.document.assembly
        self.sources = frozenset(map(resolve, assembly.folders.read))
        shown, left_out = first(assembly.report.diagnostics(), _MOST_SHOWN)
        diagnostics = [self._diagnostic(item) for item in shown]
        if left_out:
            place = diagnostics[-1].range
            diagnostics.append(types.Diagnostic(place, f"{left_out} not shown", source="macaw"))
        return diagnostics

    def _diagnostic(self, item: Diagnostic) -> types.Diagnostic:
        places = [item.span, *(link.span for link in item.chain)]
        name = self.document.name
        here = next((span for span in places if span.file == name), Span("", 1, 1, 1))
        lines = [item.message, *([f"hint: {item.hint}"] if item.hint else [])]
        related = [
            types.DiagnosticRelatedInformation(self.location(span), what)
            for span, what in [
                *([(item.span, item.message)] if item.chain else []),
                *((link.span, link.what) for link in item.chain),
            ]
        ]
        severity = types.DiagnosticSeverity
        return types.Diagnostic(
            range=self.positions.range(here),
            message="\n".join(lines),
            severity=severity.Error if item.severity == ERROR else severity.Warning,
            source="macaw",
            related_information=related or None,
        )

    def location(self, span: Span) -> types.Location:
        """Return a span, in this file or another one, in the protocol's form."""
        if span.file == self.document.name:
            return types.Location(self.uri, self.positions.range(span))
        return types.Location(Path(span.file).resolve().as_uri(), _plain_range(span))

    # --- requests ---

    def hover(self, position: types.Position) -> types.Hover | None:
        """Return an explanation of the word at `position`; None if there is none."""
        note = self.document.hover(*self.positions.line_and_column(position))
        if note is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, note.text)
        return types.Hover(text, self.positions.range(note.span))

    def complete(self, position: types.Position) -> list[types.CompletionItem]:
        """Return the words that may be written at `position`, the most likely kinds first."""
        suggestions = self.document.suggestions(*self.positions.line_and_column(position))
        return [_completion(rank, item) for rank, item in enumerate(suggestions)]

    def definition(self, position: types.Position) -> types.Location | None:
        """Return where the word at `position` is defined; None if that is unknown."""
        span = self.document.definition(*self.positions.line_and_column(position))
        return None if span is None else self.location(span)

    def outline(self) -> list[types.DocumentSymbol]:
        """Return the symbols and macros of the file, grouped by `.core` part."""
        return [_symbol(self.positions, entry) for entry in self.document.outline()]

    def formatting(self) -> list[types.TextEdit]:
        """Return the edit that formats the file as `macaw fmt` does."""
        if self.is_too_long:
            return []
        text = self.document.format_text()
        if text == self.text:
            return []
        end = self.positions.position(len(self.text))
        return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]


def path_of(uri: str) -> str | None:
    """Return the path that a file: URI names; None for another URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or "\0" in path or not path.startswith("/"):
        return None
    return path


def resolve(name: str) -> str:
    """Return the real path of a file, for comparisons; `name` itself if there is no real path."""
    try:
        return str(Path(name).resolve())
    except (OSError, RuntimeError, ValueError):
        return name


def _plain_range(span: Span) -> types.Range:
    line = span.line - 1
    start, end = types.Position(line, span.column - 1), types.Position(line, span.end_column - 1)
    return types.Range(start, end)


def _completion(rank: int, item: Suggestion) -> types.CompletionItem:
    return types.CompletionItem(
        label=item.word,
        kind=_COMPLETION_KINDS[item.kind],
        detail=item.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, item.text)
        if item.text
        else None,
        sort_text=f"{rank:06}",
    )


def _symbol(positions: Positions, entry: Entry) -> types.DocumentSymbol:
    place = positions.range(entry.span)
    whole = types.Range(place.start, place.end)
    children = [_symbol(positions, child) for child in entry.children]
    if children:
        whole.end = children[-1].range.end
    return types.DocumentSymbol(
        name=entry.name,
        kind=_SYMBOL_KINDS[entry.kind],
        range=whole,
        selection_range=place,
        detail=entry.detail,
        children=children,
    )
