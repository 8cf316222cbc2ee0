"""Converts spans of the assembler to locations of the protocol, for all files of a program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types

from macaw.asm.diagnostics import ERROR, Diagnostic, Span, first
from macaw.asm.editing.program import EditedProgram
from macaw.language_server.open_file import OpenFile
from macaw.language_server.positions import Positions
from macaw.language_server.uris import resolve

_MOST_SHOWN = 500  # errors, and warnings, of a program
_INCLUDED = "included"  # how the text of a link to an `.include` line begins


class Places:
    """Converts positions in the files of a program to the protocol.

    `open_files` are the open files by path; `file` is the one that the request names. A file that
    is not open gets the URI of its real path.
    """

    def __init__(
        self,
        program: EditedProgram,
        open_files: Mapping[Path, OpenFile],
        file: OpenFile,
        encoding: types.PositionEncodingKind,
    ) -> None:
        self._program, self._open_files, self._encoding = program, open_files, encoding
        self._files: dict[str, OpenFile | None] = {file.name: file}
        self._positions: dict[str, Positions] = {}

    def open_file(self, name: str) -> OpenFile | None:
        """Return the open file that the assembler calls `name`; None if the file is not open."""
        if name not in self._files:
            path = resolve(name)
            self._files[name] = None if path is None else self._open_files.get(path)
        return self._files[name]

    def uri(self, name: str) -> str:
        """Return the URI of a file that messages of the assembler call `name`."""
        file = self.open_file(name)
        return file.uri if file is not None else Path(name).resolve().as_uri()

    def positions(self, name: str) -> Positions:
        """Return the converter for positions in the file that the assembler calls `name`."""
        file = self.open_file(name)
        if file is not None:
            return file.positions
        if name not in self._positions:
            known = self._program.files.get(name)
            text = known.text if known is not None else ""
            self._positions[name] = Positions(text, self._encoding)
        return self._positions[name]

    def range(self, span: Span) -> types.Range:
        """Return a span of the assembler as a range of the protocol."""
        known = self.open_file(span.file) is not None or span.file in self._program.files
        if known:
            return self.positions(span.file).range(span)
        line = span.line - 1  # of a file that is no text, such as a .npy
        start, end = span.column - 1, span.end_column - 1
        return types.Range(types.Position(line, start), types.Position(line, end))

    def location(self, span: Span) -> types.Location:
        """Return the file and the range of a span."""
        return types.Location(self.uri(span.file), self.range(span))

    # --- diagnostics ---

    def diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        """Return the errors and warnings of the program by the URI of the file that shows them.

        The result also has the open files of the program without errors and warnings, with empty
        lists.
        """
        by_uri: dict[str, list[types.Diagnostic]] = {
            file.uri: [] for name in self._program.files if (file := self.open_file(name))
        }
        shown, left_out = first(self._program.assembly.report.diagnostics(), _MOST_SHOWN)
        last = None
        for item in shown:
            last = self._shown_at(item)
            by_uri.setdefault(self.uri(last.file), []).append(self.diagnostic(item))
        if left_out and last is not None:
            note = types.Diagnostic(self.range(last), f"{left_out} not shown", source="macaw")
            by_uri[self.uri(last.file)].append(note)
        return by_uri

    def _shown_at(self, item: Diagnostic) -> Span:
        """Return the span at which the editor shows an error or warning.

        An error in an expansion is shown in the file that expands the macro. If that file is not
        open, the error is shown at the innermost span in an open file, such as an `.include` line.
        """
        spans = [item.span, *(link.span for link in item.chain)]
        expansions = [x.span for x in item.chain if not x.what.startswith(_INCLUDED)]
        home = expansions[-1].file if expansions else item.span.file
        own = next((span for span in spans if span.file == home), item.span)
        if self.open_file(home) is not None:
            return own
        return next((x for x in spans if self.open_file(x.file) is not None), own)

    def diagnostic(self, item: Diagnostic) -> types.Diagnostic:
        """Return a diagnostic of the assembler as an object of the protocol."""
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
            range=self.range(self._shown_at(item)),
            message="\n".join(lines),
            severity=severity.Error if item.severity == ERROR else severity.Warning,
            source="macaw",
            related_information=related or None,
        )
