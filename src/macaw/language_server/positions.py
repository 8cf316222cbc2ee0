"""Places in an open file: those of the Language Server Protocol, and ours.

The protocol counts lines and code units from 0, in UTF-16 or what client and server agree on, and
takes a lone carriage return for the end of a line; ours count characters from 1, and lines end
with a line feed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from lsprotocol import types

from macaw.asm.diagnostics import Span

_LINE_END = re.compile("\r\n|\n|\r")
_UTF16, _UTF32 = types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32


def chosen_encoding(params: types.InitializeParams) -> types.PositionEncodingKind:
    """The units of columns: whole characters if the client can, else UTF-16."""
    general = params.capabilities.general
    offered = (general.position_encodings if general is not None else None) or ()
    return _UTF32 if _UTF32 in offered else _UTF16


class Places:
    """The places of a text."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind) -> None:
        self.text, self._encoding = text, encoding

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Begin and end, without its line end, of each line of the protocol."""
        found = [match.span() for match in _LINE_END.finditer(self.text)]
        starts = [0, *(end for _start, end in found)]
        return starts, [*(start for start, _end in found), len(self.text)]

    @cached_property
    def _own_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one after the end of its line, or of the text, is that end."""
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
        """The position of an offset."""
        starts, ends = self._lines
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(starts, offset) - 1
        before = self.text[starts[line] : min(offset, ends[line])]
        if self._encoding == _UTF32 or before.isascii():
            return types.Position(line, len(before))
        return types.Position(line, len(before.encode("utf-16-le", "surrogatepass")) // 2)

    def own(self, position: types.Position) -> tuple[int, int]:
        """Line and column as we count them."""
        offset = self.offset(position)
        line = bisect_right(self._own_starts, offset)
        return line, offset - self._own_starts[line - 1] + 1

    def range(self, span: Span) -> types.Range:
        """A span of the text as the protocol has it."""
        starts = self._own_starts
        start = starts[min(span.line, len(starts)) - 1] - 1
        return types.Range(
            self.position(start + span.column), self.position(start + span.end_column)
        )

    def changed(self, change: types.TextDocumentContentChangeEvent) -> str:
        """The text after an edit of the client's."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return change.text
        start = self.offset(change.range.start)
        end = max(start, self.offset(change.range.end))
        return f"{self.text[:start]}{change.text}{self.text[end:]}"
