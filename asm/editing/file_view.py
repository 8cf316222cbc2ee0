"""A view of one file of a program, from which the editor services read positions and meanings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from macaw.asm import explanations, files
from macaw.asm.diagnostics import Span
from macaw.asm.editing.program import EditedProgram, ProgramFile
from macaw.asm.editing.source_tokens import LABEL, Token, TokenLine
from macaw.asm.macro import Macro
from macaw.asm.reader import directive_names
from macaw.asm.source import SourceText
from macaw.asm.symbols import Definition, Scope
from macaw.isa import registry
from macaw.isa.model import Core


@dataclass(frozen=True, eq=False)
class FileView:
    """A file of a program, with methods that find words, positions and symbols in it.

    Lines and columns count from 1, offsets from 0.
    """

    program: EditedProgram
    file: ProgramFile

    @cached_property
    def source(self) -> SourceText:
        """The text of the file as a `SourceText`, to convert between offsets and lines."""
        return SourceText(self.file.text, self.file.name, self.file.folder)

    # --- positions ---

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the text for a line and a column."""
        starts = self.source.line_starts
        return starts[min(line, len(starts)) - 1] + column - 1

    def span(self, start: int, end: int) -> Span:
        """Return the span from the offset `start` up to `end`."""
        return self.source.span(start, end)

    def token_span(self, line: TokenLine, token: Token) -> Span:
        """Return the span of a token of a line."""
        return self.span(line.start + token.start, line.start + token.end)

    def core_at(self, offset: int) -> Core | None:
        """Return the core whose part contains the line at an offset; None before the first part."""
        name = self.file.tokens.core_at(offset)
        return next((core for core in registry.cores() if core.name == name), None)

    def token_at(self, line: int, column: int) -> tuple[TokenLine, Token] | None:
        """Return the token at a position, and its line; None if there is none."""
        return self.file.tokens.token_at(self.offset(line, column))

    def where(self, span: Span) -> str:
        """Return the position of `span` as text: the line, and the file if it is another file."""
        is_here = span.file == self.file.name
        return f"line {span.line}" if is_here else f"{span.file}:{span.line}"

    # --- meanings ---

    @property
    def scopes(self) -> Sequence[Scope]:
        """The scopes whose symbols the file can use.

        A source has its own scope. An included file uses the scopes of all sources that include it.
        """
        return [self.program.scope(number) for number in self.file.scopes]

    def symbol(self, name: str) -> Definition | None:
        """Return the latest definition of a symbol; None if there is none."""
        return next(filter(None, (scope.find(name) for scope in self.scopes)), None)

    def local_label(self, number: int, forward: bool, use: Span) -> Span | None:
        """Return the span of the local label to which a use at a span refers.

        If `number` is 1, the use is `1f` if `forward`, else `1b`.
        """
        spans = [explanations.place(item) for _x, item in self.scopes[0].numbered.get(number, [])]
        here = [span for span in spans if span.file == self.file.name]
        if forward:
            return min((x for x in here if by_line(x) > by_line(use)), key=by_line, default=None)
        return max((x for x in here if by_line(x) < by_line(use)), key=by_line, default=None)

    def macro(self, word: str) -> Macro | None:
        """Return the macro that a word calls; None if there is none or the word is a directive."""
        return None if word in directive_names() else self.program.macros.get(word.lower())

    @property
    def folders(self) -> list[Path]:
        """The folders in which the assembler looks for the files that the source names."""
        own = [self.file.folder] if self.file.folder else []
        return [*own, *map(Path, self.program.include_dirs)]

    def path(self, name: str) -> Path | None:
        """Return the path of a file that the source names; None if it cannot be read."""
        try:
            return files.find(name, self.folders)
        except files.FileError:
            return None


def by_line(span: Span) -> tuple[int, int]:
    """Return the position of a span as a sorting key."""
    return span.line, span.column


def label_number(token: Token) -> tuple[int, bool] | None:
    """Return (number, forward) of a use of a local label such as `1b`; None for other tokens."""
    number, direction = token.text[:-1], token.text[-1:]
    if token.role != LABEL or direction not in ("b", "f") or not number.isdecimal():
        return None
    return int(number), direction == "f"
