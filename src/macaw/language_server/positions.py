"""Converts positions in an open file between the Language Server Protocol and the assembler.

The protocol counts lines from 0, and columns from 0 in code units of UTF-16 or of an encoding on
which client and server agree. For the protocol a lone carriage return ends a line, too. The
assembler counts lines and characters from 1, and only a line feed ends a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from lsprotocol import types

from macaw.asm.diagnostics import Span

_LINE_END = re.compile("\r\n|\n|\r")
_UTF16, _UTF32 = types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32


def choose_encoding(params: types.InitializeParams) -> types.PositionEncodingKind:
    """Return the unit of columns: characters (UTF-32) if the client offers that, else UTF-16."""
    general = params.capabilities.general
    offered = (general.position_encodings if general is not None else None) or ()
    return _UTF32 if _UTF32 in offered else _UTF16


class Positions:
    """Converts positions in one text between the protocol and the assembler."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind) -> None:
        self.text, self._encoding = text, encoding

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """The offsets at which the protocol's lines start, and the offsets of their line breaks."""
        if "\r" not in self.text:  # nearly always; this is computed after each edit
            starts = self._assembler_starts
            return starts, [*(start - 1 for start in starts[1:]), len(self.text)]
        spans = [match.span() for match in _LINE_END.finditer(self.text)]
        starts = [0, *(end for _start, end in spans)]
        return starts, [*(start for start, _end in spans), len(self.text)]

    @cached_property
    def _assembler_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset(self, position: types.Position) -> int:
        """Return the offset, in characters of the text, of a position of the protocol.

        For a position outside of the text, return the end of its line or of the text.
        """
        starts, ends = self._lines
        if position.line >= len(starts):
            return len(self.text)
        start, end = starts[position.line], ends[position.line]
        line = self.text[start:end]
        if self._encoding == _UTF32 or line.isascii():
            return min(start + position.character, end)
        units = line.encode("utf-16-le", "surrogatepass")[: 2 * position.character]
        return start + len(units.decode("utf-16-le", "surrogatepass"))

    def position(self, offset: int) -> types.Position:
        """Return the protocol's position for an offset in the text."""
        starts, ends = self._lines
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(starts, offset) - 1
        before = self.text[starts[line] : min(offset, ends[line])]
        if self._encoding == _UTF32 or before.isascii():
            return types.Position(line, len(before))
        return types.Position(line, len(before.encode("utf-16-le", "surrogatepass")) // 2)

    def line_and_column(self, position: types.Position) -> tuple[int, int]:
        """Return the assembler's line and column for a position of the protocol."""
        offset = self.offset(position)
        line = bisect_right(self._assembler_starts, offset)
        return line, offset - self._assembler_starts[line - 1] + 1

    def range(self, span: Span) -> types.Range:
        """Return the protocol's range for a span."""
        starts = self._assembler_starts
        start = starts[min(span.line, len(starts)) - 1] - 1
        return types.Range(
            self.position(start + span.column), self.position(start + span.end_column)
        )

    def after(self, change: types.TextDocumentContentChangeEvent) -> Positions:
        """Return the converter for the text after a change that the client reports."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return Positions(change.text, self._encoding)
        start = self.offset(change.range.start)
        end = max(start, self.offset(change.range.end))
        text = f"{self.text[:start]}{change.text}{self.text[end:]}"
        result, starts = Positions(text, self._encoding), self._assembler_starts
        # Counting the lines again would take longer than all else that an edit needs.
        low, high = bisect_right(starts, start), bisect_right(starts, end)
        moved = len(text) - len(self.text)
        new = [start + match.end() for match in re.finditer("\n", change.text)]
        later = [place + moved for place in starts[high:]]
        result.__dict__["_assembler_starts"] = [*starts[:low], *new, *later]
        return result
