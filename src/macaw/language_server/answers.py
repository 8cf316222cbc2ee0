"""Answers requests about an open file, with objects of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from lsprotocol import types

from macaw.asm.diagnostics import Span
from macaw.asm.editing.document import Document
from macaw.asm.editing.renaming import RenameError
from macaw.language_server import translations
from macaw.language_server.client_options import ClientOptions
from macaw.language_server.open_file import MOST_CHARACTERS, OpenFile
from macaw.language_server.places import Places
from macaw.language_server.protocol import LSPCodes, Refusal
from macaw.language_server.uris import resolve
from macaw.language_server.workspace import LoadedProgram

_MOST_ITEMS = 5000  # places, notes and colours that one answer lists


class Answers:
    """Answers an editor's requests about a file, from the assembler's result for its program."""

    def __init__(self, file: OpenFile, program: LoadedProgram, options: ClientOptions) -> None:
        self._file, self._options = file, options
        self._program = program.edited
        self._places = Places(program.edited, program.open_files, file, options.encoding)

    @cached_property
    def _document(self) -> Document:
        file = self._file
        return Document(file.source, self._name, file.folder, whole=self._program)

    @property
    def _text(self) -> Document:
        """The file as a document for answers that need its text, but no result of the assembler."""
        return Document(self._file.source, self._file.name, whole=self._program)

    @cached_property
    def _name(self) -> str:
        """The name that the program gives to the file."""
        file = self._file
        if file.name in self._program.files or file.path is None:
            return file.name
        names = (name for name in self._program.files if resolve(name) == file.path)
        return next(names, file.name)

    def _at(self, position: types.Position) -> tuple[int, int]:
        return self._file.positions.line_and_column(position)

    def _offsets(self, place: types.Range) -> tuple[int, int]:
        start = self._file.positions.offset(place.start)
        return start, max(start, self._file.positions.offset(place.end))

    # --- diagnostics ---

    def diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        """Return the errors and warnings of the program, by the URI of the file that shows them."""
        if self._file.is_too_long:
            start = types.Position(0, 0)
            text = f"the file has more than {MOST_CHARACTERS:,} characters; it is not assembled"
            item = types.Diagnostic(types.Range(start, start), text, source="macaw")
            return {self._file.uri: [item]}
        return {self._file.uri: [], **self._places.diagnostics()}

    def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return actions that correct the errors in a range of lines."""
        kinds = params.context.only
        quick = types.CodeActionKind.QuickFix
        if kinds is not None and quick not in kinds:
            return []
        first, _column = self._at(params.range.start)
        last, _column = self._at(params.range.end)
        return [
            types.CodeAction(
                title=fix.title,
                kind=quick,
                diagnostics=[self._places.diagnostic(fix.diagnostic)],
                is_preferred=True,
                edit=types.WorkspaceEdit(
                    {
                        self._places.uri(fix.span.file): [
                            types.TextEdit(self._places.range(fix.span), fix.text)
                        ]
                    }
                ),
            )
            for fix in self._document.fixes(first, last)
        ]

    # --- about a position ---

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the meaning of the word at a position; None if the word has no meaning."""
        note = self._document.hover(*self._at(params.position))
        if note is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, note.text)
        return types.Hover(text, self._places.range(note.span))

    def complete(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        """Return the words that a user can write at a position, the most likely one first."""
        found = self._document.completions(*self._at(params.position))
        positions = self._file.positions
        place = types.Range(positions.position(found.start), positions.position(found.end))
        return [
            translations.completion_item(rank, item, place) for rank, item in enumerate(found.items)
        ]

    def signature_help(self, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        """Return the ways to write the statement at a position; None if no statement is there."""
        found = self._document.signatures(*self._at(params.position))
        if not found:
            return None
        signatures = [translations.signature_information(item) for item in found]
        return types.SignatureHelp(signatures, 0, found[0].active)

    def definition(self, params: types.DefinitionParams) -> types.Location | None:
        """Return the location that defines the word at a position; None if no location does."""
        span = self._document.definition(*self._at(params.position))
        return None if span is None else self._places.location(span)

    def references(self, params: types.ReferenceParams) -> list[types.Location]:
        """Return all locations of the word at a position, in all files of the program."""
        return [
            self._places.location(place.span)
            for place in self._document.references(*self._at(params.position))[:_MOST_ITEMS]
            if params.context.include_declaration or not place.defines
        ]

    def highlights(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        """Return all ranges of the word at a position, in this file."""
        kind = types.DocumentHighlightKind
        return [
            types.DocumentHighlight(
                self._places.range(place.span), kind.Write if place.defines else kind.Read
            )
            for place in self._document.highlights(*self._at(params.position))[:_MOST_ITEMS]
        ]

    def prepare_rename(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
        """Return the range and the text of the name at a position.

        Raises `Refusal` if no name that can be changed is at the position.
        """
        try:
            name, span = self._document.name_at(*self._at(params.position))
        except RenameError as error:
            raise Refusal(LSPCodes.RequestFailed, str(error)) from None
        return types.PrepareRenamePlaceholder(self._places.range(span), name)

    def rename(self, params: types.RenameParams) -> types.WorkspaceEdit:
        """Return the edits that give a symbol another name. Raises `Refusal` for a wrong name."""
        position = self._at(params.position)
        try:
            spans = self._document.rename(*position, params.new_name)
        except RenameError as error:
            raise Refusal(LSPCodes.RequestFailed, str(error)) from None
        return types.WorkspaceEdit(self._edits(spans, params.new_name))

    def _edits(self, spans: Mapping[str, list[Span]], text: str) -> dict[str, list[types.TextEdit]]:
        return {
            self._places.uri(name): [types.TextEdit(self._places.range(x), text) for x in items]
            for name, items in spans.items()
        }

    # --- about the file ---

    def outline(self, _params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        """Return the symbols and macros of the file."""
        positions = self._file.positions
        return [translations.document_symbol(positions, x) for x in self._document.outline()]

    def formatting(self, _params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        """Return the edit that formats the file as `macaw fmt` does."""
        if self._file.is_too_long:
            return []
        text = self._text.format_text()
        if text == self._file.text:
            return []
        end = self._file.positions.position(len(self._file.text))
        return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]

    def folds(self, _params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        """Return the blocks that the editor can fold."""
        positions = self._file.positions
        ranges = [translations.folding_range(positions, x) for x in self._text.folds()]
        return [item for item in ranges if item.end_line > item.start_line][:_MOST_ITEMS]

    def links(self, _params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        """Return the names of files in the text, as links."""
        return [
            types.DocumentLink(self._places.range(link.span), link.path.as_uri())
            for link in self._document.links()
        ][:_MOST_ITEMS]

    def colours(self, _params: types.SemanticTokensParams) -> types.SemanticTokens:
        """Return the role of each word, by which the editor colours it (semantic tokens)."""
        words = self._document.coloured_words(0, len(self._file.source))
        return translations.semantic_tokens(self._file.positions, words)

    def colours_in(self, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
        """Return the role of each word in a range, by which the editor colours it."""
        words = self._document.coloured_words(*self._offsets(params.range))
        return translations.semantic_tokens(self._file.positions, words)

    def notes(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        """Return the notes that the editor shows inside of lines (inlay hints).

        They are of the kinds that the client wants.
        """
        return [
            translations.inlay_hint(self._file.positions, item)
            for item in self._document.annotations(*self._offsets(params.range))
            if item.kind in self._options.notes
        ][:_MOST_ITEMS]
