"""Source texts, and conversions between offsets, lines and columns.

Later stages store positions as offsets into a `SourceText`. Lines and columns are computed for
diagnostics and for the line table. The text of an expansion is also a `SourceText`
(`asm/macro_body.py`); its `chain` leads back to a file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, count, islice
from operator import add, sub
from pathlib import Path

from macaw.asm.diagnostics import Link, Span
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.typed_records import NamedTuple

_PIECE = 1 << 14  # characters of a text that are split into lines at once, about


@dataclass(frozen=True)
class Source:
    """A source that is given as text. Messages call it `name`.

    The text may include files below `folder`.
    """

    text: str
    name: str = "<text>"
    folder: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """The piece of a line, from `start` up to `end`, that includes a file or expands to a text.

    `what` says this in messages, for example "in expansion of macro 'dot'".
    """

    what: str  # "in expansion of macro 'dot'", "included from here"
    line: LogicalLine
    start: int
    end: int


class Piece(NamedTuple):
    """Consecutive lines of a text, from the offset `start` up to `end`.

    `statements` has the text of each line without blanks at the start. Tabs are replaced by blanks,
    and so is a carriage return before the line's end. `places` has the offsets of these texts, and
    `newlines` the offsets of the newlines.
    """

    start: int
    end: int
    statements: list[str]
    places: list[int]
    newlines: array[int]


class SourceText:
    """A text and its name. If `folder` is not None, the text may include files below `folder`.

    For an included file or an expansion, `caller` is the line with the `.include`, call or
    repetition.
    """

    is_repeated = False  # whether the text is rounds of a body, whose diagnostics are reported once

    def __init__(
        self, text: str, name: str, folder: Path | None = None, caller: Caller | None = None
    ) -> None:
        self.text, self.name, self.folder, self.caller = text, name, folder, caller
        self._piece: Piece | None = None  # the last one that was split
        self._newlines, self._counted = array("q", [-1]), 0  # the newlines up to this offset

    @property
    def chain(self) -> tuple[Link, ...]:
        """The lines that lead to this text, the innermost first; empty for a source of the run.

        The first line includes this text or expands to it. Each further line includes, or expands
        to, the text that contains the line before it. The last line is in a source of the run.
        """
        links, caller = [], self.caller
        while caller is not None:
            line = caller.line
            span = line.source.span(line.start + caller.start, line.start + caller.end)
            links.append(Link(caller.what, span))
            caller = line.source.caller
        return tuple(links)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line."""
        return [newline + 1 for newline in self.newlines]

    @property
    def newlines(self) -> array[int]:
        """-1 and the offsets of all newlines; each number is one less than the start of a line."""
        known, counted = self._newlines, self._counted
        if counted < len(self.text):
            lines = self.text[counted:].split("\n")
            lengths = [len(line) + 1 for line in lines[:-1]]
            known.extend(accumulate(lengths, initial=known.pop()))
            self._counted = len(self.text)
        return known

    def piece(self, offset: int) -> Piece:
        """Return the piece of the text that contains the line at `offset`, split into its lines."""
        piece = self._piece
        if piece is None or not piece.start <= offset < piece.end:
            self._piece = piece = _piece(self.text, offset - offset % _PIECE)
            if piece.start == self._counted:
                self._newlines.extend(piece.newlines)
                self._counted = piece.end
        return piece

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset, both from 1."""
        line = bisect_left(self.newlines, offset)
        return line, offset - self.newlines[line - 1]

    def locate_all(self, offsets: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the line numbers and the columns of many offsets.

        The method is fastest if most of the offsets ascend.
        """
        newlines = array("q", self.newlines)
        newlines.append(len(self.text))
        lines: list[int] = []
        columns: list[int] = []
        line = before = end = newlines[-1]  # no line is found yet
        ends = iter(newlines)  # of the lines after this one
        for offset in offsets:
            while offset > end:
                line, before, end = line + 1, end, next(ends)
            if offset <= before:
                line = bisect_left(newlines, offset)
                before, end = newlines[line - 1], newlines[line]
                ends = islice(newlines, line + 1, None)
            lines.append(line)
            columns.append(offset - before)
        return lines, columns

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1, without its line end."""
        start = self.newlines[number - 1] + 1
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def start_of_line(self, offset: int) -> int:
        """Return the offset of the first character of the line that contains `offset`."""
        return self.text.rfind("\n", 0, offset) + 1

    def following_line(self, offset: int) -> int:
        """Return the offset of the line after the line that contains `offset`."""
        newline = self.text.find("\n", offset)
        return len(self.text) if newline < 0 else newline + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of the text from `start` up to `end`, cut off at the line's end."""
        line, column = self.locate(start)
        last, end_column = self.locate(end)
        if last != line:
            end_column = len(self.line(line)) + 1
        return Span(self.name, line, column, max(end_column, column + 1))

    def identity(self, start: int) -> tuple[SourceText, int]:
        """Return the key by which the report recognises a line: this text, and the line's offset.

        In a `RepeatedText` a line has the same key in all rounds, so that its error is reported
        once.
        """
        return self, start

    def places(self, offsets: Sequence[int]) -> tuple[str, list[int], list[int]]:
        """Return the file of this text, and lines and columns of `offsets`, for the line table."""
        return (self.name, *self.locate_all(offsets))


def _piece(text: str, least: int) -> Piece:
    """Return a piece of whole lines, with about `_PIECE` characters.

    The piece has the lines that begin at an offset from `least` to `least` + `_PIECE` - 1.
    """
    start = text.find("\n", least - 1) + 1 if least else 0
    end = text.find("\n", least + _PIECE - 1) + 1 or len(text)
    lines = text[start:end].replace("\t", " ").replace("\r\n", " \n").split("\n")
    newlines = list(map(add, accumulate(map(len, lines)), count(start)))
    statements = [line.lstrip(" ") for line in lines]
    places = list(map(sub, newlines, map(len, statements)))
    newlines.pop()
    if not lines[-1]:  # the piece ends with a newline
        statements.pop()
        places.pop()
    return Piece(start, end, statements, places, array("q", newlines))


class LogicalLine(NamedTuple):
    """The text of one statement, with comments replaced by blanks, and its offset in the source."""

    source: SourceText
    start: int
    text: str


# The patterns of texts in which `;` and `#` mean nothing, and of comments. They match a long text
# in few repetitions of a group, because `re` stores each repetition.
STRING = r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"?'  # the grammar refuses one without its end
CHARACTER = r"'(?:\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|[^\n])|[^\\\n])?'?"
COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?|(?:\#|//)[^\n]*"
_SPECIAL = lazy_pattern(f"{STRING}|{CHARACTER}|{COMMENT}|[;\n]")


def logical_lines(
    source: SourceText,
    unterminated: Callable[[int], None],
    fast_path: Callable[[SourceText, int], int] | None = None,
) -> Iterator[LogicalLine]:
    """Yield the logical lines of a source, which `;` and line ends separate.

    Blanks replace comments, and a comment over several lines joins these lines. If a comment has no
    end, the function calls `unterminated` with the comment's offset. At the start of each line, the
    function calls `fast_path`, which may assemble lines and returns the offset at which to
    continue.
    """
    text = source.text
    start = fast_path(source, 0) if fast_path else 0
    comments: list[tuple[int, int]] = []

    def piece(end: int) -> LogicalLine | None:
        content, position = [], start
        for first, last in comments:
            content += [text[position:first], " " * (last - first)]
            position = last
        content.append(text[position:end])
        whole = "".join(content)
        stripped = whole.lstrip()
        if not stripped:
            return None
        return LogicalLine(source, start + len(whole) - len(stripped), stripped.rstrip())

    position = start
    while match := _SPECIAL.search(text, position):
        special, position = match[0], match.end()
        if special in ";\n":
            if line := piece(match.start()):
                yield line
            if fast_path and special == "\n":
                position = fast_path(source, position)
            start = position
            comments.clear()
        elif special[0] in "#/":
            comments.append(match.span())
            if special.startswith("/*") and not special.endswith("*/", 2):
                unterminated(match.start())
    if line := piece(len(text)):
        yield line
