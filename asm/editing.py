"""Answers an editor's questions about a source: its mistakes, the meaning of a word, completions.

A `Document` is the text at one moment. Lines and columns count from 1, as in diagnostics. The
answers come from the tables and from a run of the assembler over the text. This module depends on
no editor and no protocol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path

from macaw.asm import explanations, files
from macaw.asm.assembler import Source, analyse
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.diagnostics import Diagnostic, Span
from macaw.asm.directive import Directive
from macaw.asm.directives import DIRECTIVES, PartDirective
from macaw.asm.equivalence import same_tokens
from macaw.asm.expressions import FUNCTIONS, MODIFIERS
from macaw.asm.formatter import format_text
from macaw.asm.macro import Macro
from macaw.asm.reader import DIRECTIVE_NAMES
from macaw.asm.source import LogicalLine, SourceText, logical_lines
from macaw.asm.symbols import Definition, Scope
from macaw.asm.text_directive import TextDirective
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.asm.text_stack import EDITED_CHARACTERS, EDITED_LINES, Budget
from macaw.isa import config, manual, registry
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core
from macaw.isa.model import Directive as CoreDirective
from macaw.isa.rows import Row

_WORD = re.compile(r"%?[A-Za-z_.$][A-Za-z0-9_.$]*|[0-9]+[bf]\b|\"[^\"]*\"?")
_LABELS = re.compile(r"(?:[A-Za-z_.$][\w.$]*|[0-9]+)\s*:\s*")
_HEAD = re.compile(r"(?:(?:[A-Za-z_.$][\w.$]*|[0-9]+)\s*:\s*)*([A-Za-z_.$][\w.$]*)(?=[\s(]|$)")
_PART = re.compile(r"^[^#\n]*?\.core\s+(\w+)", re.MULTILINE)
_BODY = re.compile(r"[^#\"]*?(\.macro|\.rept|\.irpc?)\b([^#]*)")
_BODY_END = re.compile(r"[^#\"]*?\.end[mr]\b")
_PARAMETER = re.compile(r"(?:^|[\s,])([A-Za-z_.$][\w.$]*)(?::\w+)?(?:=[^\s,]*)?")
_LOCAL = re.compile(r"([0-9]+)([bf])")


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation, in Markdown, of the word at `span`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion: a word that may be written at the cursor.

    `kind` is one of instruction, directive, macro, register, word, operand, symbol, constant, core
    and device.
    """

    word: str
    kind: str
    detail: str = ""
    text: str = ""  # an explanation, Markdown


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the outline. `kind` is one of part, code, data, tensor, constant and macro."""

    name: str
    kind: str
    detail: str
    span: Span
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Document:
    """A source text in an editor. It may read files below `folder` and `include_dirs`."""

    text: str
    name: str
    folder: Path | None = None
    include_dirs: Sequence[str | Path] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)
    watch: Callable[[], None] = lambda: None

    @cached_property
    def assembly(self) -> AssemblyState:
        """The state after a run of the assembler over this text.

        The limits for expansions are lower than in a normal run. The run calls `watch` repeatedly;
        an exception that `watch` raises ends the run.
        """
        source = Source(self.text, self.name, self.folder)
        return analyse(
            [source],
            defines=self.defines,
            include_dirs=self.include_dirs,
            budget=Budget(EDITED_LINES, EDITED_CHARACTERS),
            watch=self.watch,
        ).state

    def forget(self) -> None:
        """Drop the result of the assembler, so that the next query assembles the text again."""
        self.__dict__.pop("assembly", None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All errors and warnings of the text."""
        return self.assembly.report.diagnostics()

    @cached_property
    def _source(self) -> SourceText:
        return SourceText(self.text, self.name, self.folder)

    @property
    def _scope(self) -> Scope:
        return self.assembly.symbols.table.scopes[0]

    # --- where the cursor is ---

    def _offset(self, line: int, column: int) -> int:
        lines = self.text.split("\n", line)
        return sum(len(text) + 1 for text in lines[: line - 1]) + column - 1

    def core_at(self, line: int) -> Core | None:
        """Return the core whose part contains the line; None before the first part."""
        names = _PART.findall(self.text, 0, self._offset(line, 1))
        cores = {core.name: core for core in registry.cores()}
        return cores.get(names[-1]) if names else None

    def _statement_at(self, line: int, column: int) -> tuple[LogicalLine | None, int]:
        """Return the statement at a position, and the position's offset in it.

        Return (None, 0) in comments.
        """
        offset = self._offset(line, column)
        for item in logical_lines(self._source, lambda _offset: None):
            if item.start > offset:
                break
            if offset <= item.start + len(item.text):
                return item, offset - item.start
        return None, 0

    def _word_at(self, line: int, column: int) -> tuple[str, Span, str, int] | None:
        """Return (word, span, statement text, offset in that text) of the word at a position.

        Return None if there is no word.
        """
        statement, offset = self._statement_at(line, column)
        if statement is None:
            return None
        for match in _WORD.finditer(statement.text):
            if match.start() <= offset <= match.end():
                start = statement.start
                span = self._source.span(start + match.start(), start + match.end())
                return match[0], span, statement.text, match.start()
        return None

    # --- go to definition ---

    def definition(self, line: int, column: int) -> Span | None:
        """Return the span that defines the symbol, local label, macro or file at a position.

        Return None if it is unknown.
        """
        place = self._word_at(line, column)
        if place is None:
            return None
        word, _span, text, _offset = place
        if word.startswith('"'):
            return self._file(word.strip('"'))
        local = _LOCAL.fullmatch(word)
        if local is not None:
            return self._local(int(local[1]), local[2] == "f", line)
        macro = self._macro(word) if word == _head(text) else None
        if macro is not None:
            return explanations.macro_place(macro)
        symbol = self._scope.find(word)
        return (
            None if symbol is None or self._is_from_outside(symbol) else explanations.place(symbol)
        )

    def _file(self, name: str) -> Span | None:
        folders = [*([self.folder] if self.folder else []), *map(Path, self.include_dirs)]
        try:
            return Span(str(files.find(name, folders)), 1, 1, 1)
        except files.FileError:
            return None

    def _local(self, number: int, forward: bool, line: int) -> Span | None:
        places = [
            explanations.place(item) for _ordinal, item in self._scope.numbered.get(number, [])
        ]
        here = [span for span in places if span.file == self.name]
        if forward:
            return min((x for x in here if x.line > line), key=_by_line, default=None)
        return max((x for x in here if x.line <= line), key=_by_line, default=None)

    @cached_property
    def _macros(self) -> Mapping[str, Macro]:
        """All macros, by their names in lower case."""
        return {macro.name.lower(): macro for macro in self.assembly.macros}

    def _macro(self, word: str) -> Macro | None:
        """Return the macro that a word calls; None if there is none or the word is a directive."""
        return None if word in DIRECTIVE_NAMES else self._macros.get(word.lower())

    def _parameters(self, line: int) -> Sequence[str]:
        """Return the parameter names of the macros and repetitions around the line."""
        bodies: list[list[str]] = []
        for text in self.text.split("\n")[: line - 1]:
            begins, ends = _BODY.match(text), _BODY_END.match(text)
            if begins is not None:
                names = re.findall(_PARAMETER, begins[2])
                first, last = {".macro": (1, None), ".rept": (0, 0)}.get(begins[1], (0, 1))
                bodies.append(names[first:last])
            elif ends is not None and bodies:
                bodies.pop()
        return [name for names in bodies for name in names]

    # --- hover ---

    def hover(self, line: int, column: int) -> Hover | None:
        """Return an explanation of the word at a position; None if there is none."""
        place = self._word_at(line, column)
        if place is None:
            return None
        word, span, text, offset = place
        core, head = self.core_at(line), _head(text)
        explained = self._explain_head(word, core) if word == head else None
        if explained is None and core is not None and head:
            rows = core.rows.get(head, ())
            named = bool(re.match(r"\s*=(?!=)", text[offset + len(word) :]))
            explained = explanations.operand_text(word, rows, named)
        if explained is None:
            explained = self._explain_symbol(word)
        if explained is None and word in MODIFIERS + FUNCTIONS:
            explained = explanations.code(f"{word}(...)")
        return None if explained is None else Hover(explained, span)

    def _explain_head(self, word: str, core: Core | None) -> str | None:
        macro = self._macro(word)
        if macro is not None:
            where = self._where(explanations.macro_place(macro))
            return f"{explanations.macro_text(macro)}\nDefined in {where}."
        if core is not None and word in core.rows:
            return explanations.code(manual.page(core, word), "text")
        directive = directives(core).get(word)
        if directive is not None:
            return f"{explanations.code(directive.syntax)}\n{directive.meaning}"
        return None

    def _explain_symbol(self, word: str) -> str | None:
        symbol = self._scope.find(word)
        if symbol is None:
            return None
        explanation = explanations.code(
            f"{word}: {explanations.value(symbol, self.assembly.symbols)}"
        )
        if self._is_from_outside(symbol):
            return f"{explanation}\nDefined with -D."
        return f"{explanation}\nDefined in {self._where(explanations.place(symbol))}."

    def _is_from_outside(self, symbol: Definition) -> bool:
        return symbol.name in self.defines and not symbol.line.text

    def _where(self, span: Span) -> str:
        return f"line {span.line}" if span.file == self.name else f"{span.file}:{span.line}"

    # --- completion ---

    def suggestions(self, line: int, column: int) -> list[Suggestion]:
        """Return the words that may be written at a position, the most likely kinds first."""
        start = self._offset(line, 1)
        before = self.text[start : start + column - 1]
        statement = _LABELS.sub("", re.split(r";", before)[-1].lstrip(), count=1)
        core = self.core_at(line)
        if re.search(r"\\[\w.$]*$", before):
            return [Suggestion(name, "word", "a parameter") for name in self._parameters(line)]
        head = re.split(r"[\s(]", statement, maxsplit=1)[0]
        if head == statement:
            return [*self._statements(core)]
        if head == ".core":
            return [Suggestion(x.name, "core", x.title) for x in registry.cores() if x.section]
        if head == ".device":
            return [Suggestion(name, "device") for name in config.presets()]
        words = [*_operand_words(core.rows.get(head, ()))] if core is not None else []
        if re.search(r"%\w*$", statement):
            return [Suggestion(name, "word") for name in MODIFIERS]
        return [*words, *self._symbols()]

    def _statements(self, core: Core | None) -> Iterator[Suggestion]:
        if core is not None:
            for name, rows in core.rows.items():
                page = explanations.code(manual.page(core, name), "text")
                yield Suggestion(name, "instruction", rows[0].meaning, page)
        for macro in self._macros.values():
            yield Suggestion(macro.name, "macro", macro.syntax, explanations.macro_text(macro))
        for name, row in directives(core).items():
            yield Suggestion(name, "directive", row.syntax, row.meaning)

    def _symbols(self) -> Iterator[Suggestion]:
        for name, symbol in self._scope.symbols.items():
            kind = "symbol" if symbol.is_label else "constant"
            yield Suggestion(name, kind, explanations.value(symbol, self.assembly.symbols))

    # --- layout ---

    def format_text(self) -> str:
        """Return the formatted text.

        If formatting would change a statement, return the text unchanged.
        """
        text = format_text(self.text)
        return text if same_tokens(self.text, text) else self.text

    # --- outline ---

    def outline(self) -> list[Entry]:
        """Return the outline of the source: its symbols and macros, grouped by `.core` part."""
        parts = [
            (self._source.locate(match.start(1))[0], match[1], match.span(1))
            for match in _PART.finditer(self.text)
        ]
        groups: list[list[Entry]] = [[] for _ in range(len(parts) + 1)]
        for entry in sorted(self._defined(), key=lambda entry: _by_line(entry.span)):
            groups[sum(line <= entry.span.line for line, _name, _span in parts)].append(entry)
        entries = groups[0]
        for (_line, name, (start, end)), children in zip(parts, groups[1:], strict=True):
            span = self._source.span(start, end)
            entries.append(Entry(f".core {name}", "part", "", span, tuple(children)))
        return entries

    def _defined(self) -> Iterator[Entry]:
        """Yield the symbols and macros that the text defines, except in includes and expansions."""
        names = self.assembly.symbols
        for symbol in self._scope.symbols.values():
            if explanations.is_written(symbol) and symbol.line.source.text == self.text:
                kind, value = explanations.kind(symbol, names), explanations.value(symbol, names)
                yield Entry(symbol.name, kind, value, explanations.place(symbol))
        for macro in self.assembly.macros:
            if macro.line.source.text == self.text:
                yield Entry(macro.name, "macro", macro.syntax, explanations.macro_place(macro))


AnyDirective = Directive | PartDirective | TextDirective | CoreDirective


def directives(core: Core | None) -> Mapping[str, AnyDirective]:
    """Return the directives that parts of `core` accept, by name.

    Without a core, return the directives that every part accepts.
    """
    own = {row.name: row for row in core.directives} if core is not None else {}
    common = {name: row for name, row in DIRECTIVES.items() if name != "="}
    return {**common, **TEXT_DIRECTIVES, **own}


def _head(text: str) -> str:
    """Return the mnemonic or directive of a statement; empty if it has none."""
    match = _HEAD.match(text)
    return match[1] if match else ""


def _by_line(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _operand_words(rows: Iterable[Row]) -> Iterator[Suggestion]:
    """Yield the words that operands accept, and `name=` for the operands that may be named."""
    seen = set()
    for operand in explanations.operands(rows):
        for word in operand.kind.words():
            if word not in seen:
                seen.add(word)
                yield Suggestion(word, "word", operand.kind.about(word) or operand.name)
        if getattr(operand, "named", False):
            yield Suggestion(f"{operand.name}=", "operand", operand.kind.describe())
