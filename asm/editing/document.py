"""A source in an editor: a class with a method for each question that an editor can ask.

Lines and columns count from 1, as in diagnostics. The answers come from the tables, and from a run
of the assembler over the program to which the source belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from macaw.asm.assembler import Source
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.diagnostics import Diagnostic, Span
from macaw.asm.editing import (
    blocks,
    colours,
    completion,
    fixes,
    hovers,
    inlays,
    links,
    occurrences,
    outlines,
    renaming,
    signatures,
)
from macaw.asm.editing.blocks import Block
from macaw.asm.editing.colours import ColouredWord
from macaw.asm.editing.completion import Completions
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.fixes import Fix
from macaw.asm.editing.hovers import Hover
from macaw.asm.editing.inlays import Annotation
from macaw.asm.editing.links import FileLink
from macaw.asm.editing.outlines import Entry
from macaw.asm.editing.program import EditedProgram, ProgramFile
from macaw.asm.editing.signatures import Signature
from macaw.asm.editing.source_tokens import SourceTokens
from macaw.asm.equivalence import same_tokens
from macaw.asm.formatter import format_text
from macaw.isa.model import Core


@dataclass(frozen=True, slots=True)
class Place:
    """An occurrence of a word. `defines` is true if the source defines the word there."""

    span: Span
    defines: bool


@dataclass(frozen=True)
class Document:
    """A source text in an editor. It may include files below `folder` and `include_dirs`.

    `whole` is the program to which the source belongs. Without it, the source alone is a program.
    """

    text: str
    name: str
    folder: Path | None = None
    include_dirs: Sequence[str | Path] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)
    watch: Callable[[], None] = lambda: None
    whole: EditedProgram | None = None

    @cached_property
    def program(self) -> EditedProgram:
        """The program to which the source belongs."""
        if self.whole is not None:
            return self.whole
        source = Source(self.text, self.name, self.folder)
        return EditedProgram((source,), None, self.include_dirs, self.defines, self.watch)

    @cached_property
    def _view(self) -> FileView:
        """The file as a part of its program.

        The view has the text of this document. If the program has an older text of the file, the
        symbols are those of the older text. If the program does not contain the file, the symbols
        are those of the program's first source.
        """
        file = self.program.files.get(self.name)
        if file is None:
            file = self.program.source_file(self.name, self.text, self.folder, 0)
        elif file.text != self.text:
            file = self.program.with_text(file, self.text)
        return FileView(self.program, file)

    @property
    def assembly(self) -> AssemblyState:
        """The state of the assembler after a run over the program."""
        return self.program.assembly

    def forget(self) -> None:
        """Discard the assembler's result, so that the next question assembles the program again."""
        self.program.forget()
        self.__dict__.pop("_view", None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All errors and warnings of the program."""
        return self.assembly.report.diagnostics()

    def core_at(self, line: int) -> Core | None:
        """Return the core whose part contains the line; None before the first part."""
        return self._view.core_at(self._view.offset(line, 1))

    # --- questions about a position ---

    def definition(self, line: int, column: int) -> Span | None:
        """Return the span that defines the symbol, local label, macro or file at a position.

        Return None if the definition is unknown.
        """
        return hovers.definition(self._view, line, column)

    def hover(self, line: int, column: int) -> Hover | None:
        """Return an explanation of the word at a position.

        Return None if no word with a known meaning is there.
        """
        return hovers.hover(self._view, line, column)

    def completions(self, line: int, column: int) -> Completions:
        """Return the words that a user can write at a position, the most likely kinds first."""
        return completion.completions(self._view, line, column)

    def signatures(self, line: int, column: int) -> list[Signature]:
        """Return the ways to write the statement at a position, with the best one first."""
        return signatures.signatures(self._view, line, column)

    def references(self, line: int, column: int) -> list[Place]:
        """Return all occurrences in the program of the name at a position.

        The list is empty if there is no name at the position.
        """
        view = self._view
        target = occurrences.at(view, view.offset(line, column))
        if target is None:
            return []
        views: dict[ProgramFile, FileView] = {view.file: view}
        places = []
        for file, item in occurrences.same(view, target):
            other = views.setdefault(file, FileView(self.program, file))
            places.append(Place(other.span(item.start, item.end), item.defines))
        return places

    def highlights(self, line: int, column: int) -> list[Place]:
        """Return all occurrences in this file of the word at a position."""
        return [x for x in self.references(line, column) if x.span.file == self.name]

    def name_at(self, line: int, column: int) -> tuple[str, Span]:
        """Return the name at a position, and its span.

        Raises `RenameError` if the name cannot be changed.
        """
        occurrence, span = renaming.target(self._view, line, column)
        return occurrence.name, span

    def rename(self, line: int, column: int, name: str) -> Mapping[str, list[Span]]:
        """Return the spans at which `name` must replace the old name, by file name.

        Raises `RenameError`.
        """
        return renaming.rename(self._view, line, column, name)

    # --- questions about the text ---

    def format_text(self) -> str:
        """Return the formatted text.

        If formatting would change a statement, return the text unchanged.
        """
        text = format_text(self.text)
        return text if same_tokens(self.text, text) else self.text

    def outline(self) -> list[Entry]:
        """Return the outline of the source: its symbols and macros, grouped by `.core` part."""
        return outlines.outline(self._view)

    def symbols(self) -> Iterator[Entry]:
        """Yield the symbols and macros that the text defines."""
        return outlines.own_entries(self._view)

    def folds(self) -> list[Block]:
        """Return the blocks of the text that an editor can fold."""
        return blocks.blocks(SourceTokens(self.text))

    def links(self) -> Iterator[FileLink]:
        """Yield the file names that occur in the text, with the paths of the files."""
        return links.links(self._view)

    def fixes(self, first: int, last: int) -> Iterator[Fix]:
        """Yield the corrections of errors in the lines from `first` to `last`."""
        return fixes.fixes(self._view, first, last)

    def coloured_words(self, start: int, end: int) -> Iterator[ColouredWord]:
        """Yield the words, with their roles, of the lines between the offsets `start` and `end`."""
        return colours.coloured_words(self._view, start, end)

    def annotations(self, start: int, end: int) -> Iterator[Annotation]:
        """Yield the notes that an editor shows in the lines from offset `start` to offset `end`."""
        return inlays.of_lines(self._view, start, end)
