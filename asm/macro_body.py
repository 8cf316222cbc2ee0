r"""The bodies of macros and repetitions, and the texts to which they expand.

A body is parsed once, to find where values are inserted (`\name`, `\@`) and which texts are
protected from replacement (`\()`, `\(text)`). An expansion then only joins strings. Messages report
a position in an expansion as a position in the body. Text that comes from a value has the position
of the `\name`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from macaw.asm.diagnostics import Span
from macaw.asm.source import Caller, LogicalLine, SourceText
from macaw.isa.lazy_pattern import lazy_pattern

NUMBER = "@"  # `\@`, the number of the macro call, among the names of a body's values
# Values go into strings, not into characters: '\n' is no parameter n, but "\n" is.
_PLACES = lazy_pattern(
    r"'(?:\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|[^\n])|[^\\\n])'?"
    r"|(?P<quote>\\*\")|\n"
    r"|\\(?:\((?P<plain>[^)\n]*)\)|(?P<name>@|[A-Za-z_.$][A-Za-z0-9_.$]*))"
)


class MacroBody:
    """The lines of a macro or repetition.

    An expansion replaces each of `names` in the text by the value for this name.
    """

    def __init__(
        self, source: SourceText, lines: Sequence[LogicalLine], names: Sequence[str]
    ) -> None:
        self.source = source
        self.lines = tuple(lines)
        self.text = "\n".join(line.text for line in lines)
        self.names = tuple(names)
        # Literal texts, and indices into `names` for values; then the offset of each piece.
        self.pieces: list[str | int] = []
        self.starts: list[int] = []
        self._split({name: place for place, name in enumerate(names)})
        self.uses_number = NUMBER in names and names.index(NUMBER) in self.pieces
        self._fixed = sum(len(piece) for piece in self.pieces if isinstance(piece, str))

    def _split(self, names: dict[str, int]) -> None:
        if not names:  # the body of a .rept
            self._add(self.text, 0)
            return
        text, done, quoted = self.text, 0, False
        position = 0
        while match := _PLACES.search(text, position):
            position = match.end()
            token = match[0]
            if token == "\n":
                quoted = False
            elif match["quote"]:
                quoted = quoted if quoted and len(token) % 2 == 0 else not quoted
            elif token[0] == "'":
                if quoted:  # in a string a quote begins no character
                    position = match.start() + 1
            elif match["plain"] is not None or match["name"] in names:
                self._add(text[done : match.start()], done)
                plain = match["plain"]
                self._add(names[match["name"]] if plain is None else plain, match.start())
                done = match.end()
        self._add(text[done:], done)

    def _add(self, piece: str | int, start: int) -> None:
        self.pieces.append(piece)
        self.starts.append(start)

    def size(self, values: Sequence[str]) -> int:
        """Return the number of characters of the expansion with these `values`."""
        return self._fixed + sum([len(values[x]) for x in self.pieces if isinstance(x, int)])

    def longest(self, values: Sequence[str]) -> int:
        """Return the number of characters of the longest line of the expansion."""
        return max(self._lengths(values))

    def _lengths(self, values: Sequence[str]) -> Iterator[int]:
        length = 0
        for piece in self.pieces:
            if isinstance(piece, int):
                length += len(values[piece])
                continue
            *ended, last = piece.split("\n")
            for line in ended:
                yield length + len(line)
                length = 0
            length += len(last)
        yield length

    def expand(self, values: Sequence[str]) -> str:
        """Return the expansion: the body with the values inserted."""
        return "".join([x if isinstance(x, str) else values[x] for x in self.pieces])

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, position = [], 0
        for line in self.lines:
            starts.append(position)
            position += len(line.text) + 1
        return starts

    def origin(self, offset: int) -> int:
        """Return the source offset of the character that is at `offset` in the body's text."""
        place = max(0, bisect_right(self._line_starts, offset) - 1)
        line = self.lines[place]
        return line.start + min(offset - self._line_starts[place], len(line.text))


class ExpandedText(SourceText):
    """The text of one expansion. Messages give positions in the body, not in this text."""

    def __init__(self, body: MacroBody, values: Sequence[str], caller: Caller, macro: bool) -> None:
        """Expand `body` with these values; `caller` is the line with the call or repetition.

        With `macro`, the line table maps the text to the call, not to the body.
        """
        source = body.source
        super().__init__(body.expand(values), source.name, source.folder, caller)
        self._body, self._values = body, values
        outer = caller.line.source
        self._shown: tuple[SourceText, int] | None = None
        if isinstance(outer, ExpandedText) and outer._shown is not None:
            self._shown = outer._shown
        elif macro:
            self._shown = outer, caller.line.start + caller.start

    @cached_property
    def _piece_starts(self) -> list[int]:
        starts, position = [], 0
        for piece in self._body.pieces:
            starts.append(position)
            position += len(piece if isinstance(piece, str) else self._values[piece])
        return starts

    def _origin(self, offset: int, end: bool = False) -> int:
        """Return the offset in the body's source for an offset in the expansion.

        With `end`, `offset` is the end of a piece of the expansion, and the result is the end of
        the corresponding piece of the source.
        """
        find = offset - 1 if end and offset else offset
        body = self._body
        place = max(0, bisect_right(self._piece_starts, find) - 1)
        start = body.starts[place]
        following = body.starts[place + 1] if place + 1 < len(body.starts) else len(body.text)
        piece = body.pieces[place]
        literal = isinstance(piece, str) and body.text.startswith(piece, start)
        if literal:
            position = start + find - self._piece_starts[place]
            return body.origin(position) + (end and find < offset)
        if end:
            return body.origin(following - 1) + 1
        return body.origin(start)

    @property
    def names(self) -> tuple[str, ...]:
        r"""The names that the body replaces by values, as the body writes them: `\name`."""
        return tuple(f"\\{name}" for name in self._body.names)

    def locate(self, offset: int) -> tuple[int, int]:
        """Return, for an offset in the expansion, the line and the column in the body's file."""
        return self._body.source.locate(self._origin(offset))

    def line(self, number: int) -> str:
        """Return a line of the body's file."""
        return self._body.source.line(number)

    def span(self, start: int, end: int) -> Span:
        """Return the span in the body's file from which a piece of the expansion comes."""
        first, last = self._origin(start), self._origin(end, end=True)
        return self._body.source.span(first, max(first, last))

    def places(self, offsets: Sequence[int]) -> tuple[str, list[int], list[int]]:
        """Return the file of the text, and the lines and columns of `offsets`, for the line table.

        For a macro, these are the positions of the outermost call, otherwise positions in the body.
        """
        if self._shown is None:
            return self._body.source.places([self._origin(offset) for offset in offsets])
        source, call = self._shown
        name, lines, columns = source.places([call])
        return name, lines * len(offsets), columns * len(offsets)


class RepeatedText(ExpandedText):
    """The text of a body into which no values are inserted, repeated `rounds` times.

    A diagnostic of a line is reported once for all rounds. A repetition may be read as several
    texts of this class; `first` is the earliest of them, or None if this text is the earliest.
    """

    is_repeated = True

    def __init__(
        self, body: MacroBody, caller: Caller, rounds: int, first: RepeatedText | None = None
    ) -> None:
        super().__init__(body, (), caller, macro=False)
        self.rounds = rounds
        self.period = len(self.text) + 1
        self.text = "\n".join([self.text] * rounds)
        self._first = first or self

    def identity(self, start: int) -> tuple[SourceText, int]:
        """Return the first text of the repetition, and the offset of the line in the first round.

        `start` is the line's offset in this text.
        """
        return self._first, start % self.period

    def _origin(self, offset: int, end: bool = False) -> int:
        return super()._origin(offset % self.period, end)

    def places(self, offsets: Sequence[int]) -> tuple[str, list[int], list[int]]:
        """Return the file of the text, and the lines and columns of `offsets`, for the line table.

        Each line of the body is located only once for all rounds.
        """
        inside = [offset % self.period for offset in offsets]
        different = list(dict.fromkeys(inside))
        name, lines, columns = super().places(different)
        by_offset = dict(zip(different, zip(lines, columns, strict=True), strict=True))
        return name, [by_offset[x][0] for x in inside], [by_offset[x][1] for x in inside]
