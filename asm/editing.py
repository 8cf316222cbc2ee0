"""What an editor asks of a source: what is wrong, what stands here, what may stand here.

A `Document` is one text at one moment. Lines and columns count from 1, as in
diagnostics. Everything said of words comes from the tables and from a run of the
assembler over the text; nothing here knows an editor or a protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from asm import files
from asm.assembler import DIRECTIVES, TEXT_DIRECTIVES, Assembly, Source, analyse
from asm.diagnostics import Diagnostic, Span
from asm.directives import Directive
from asm.expansion import TextDirective
from asm.expressions import FUNCTIONS, MODIFIERS, Address
from asm.formatter import formatted
from asm.layout import Area
from asm.naming import Naming
from asm.output import address_of
from asm.source import LogicalLine, SourceText, logical_lines
from asm.symbols import Definition, Scope
from asm.unchanged import same_tokens
from isa import config, manual, registry
from isa.model import Core, Operand, PseudoOperand, Row
from isa.model import Directive as CoreDirective

_WORD = re.compile(r"%?[A-Za-z_.$][A-Za-z0-9_.$]*|[0-9]+[bf]\b|\"[^\"]*\"?")
_LABELS = re.compile(r"(?:[A-Za-z_.$][\w.$]*|[0-9]+)\s*:\s*")
_HEAD = re.compile(r"(?:(?:[A-Za-z_.$][\w.$]*|[0-9]+)\s*:\s*)*([A-Za-z_.$][\w.$]*)(?=\s|$)")
_PART = re.compile(r"^[^#\n]*?\.core\s+(\w+)", re.MULTILINE)
_LOCAL = re.compile(r"([0-9]+)([bf])")


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation in Markdown of what stands at `span`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word that may stand here. `kind`: instruction, directive, macro, register, word, operand,
    symbol, constant, core, device."""

    word: str
    kind: str
    detail: str = ""
    text: str = ""  # an explanation, Markdown


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the outline. `kind`: part, code, data, tensor, constant."""

    name: str
    kind: str
    detail: str
    span: Span
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Document:
    """A source as it stands in an editor; files are read below `folder` and `include_dirs`."""

    text: str
    name: str
    folder: Path | None = None
    include_dirs: Sequence[str | Path] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)

    @cached_property
    def assembly(self) -> Assembly:
        """The run of the assembler over this text, with its mistakes."""
        source = Source(self.text, self.name, self.folder)
        return analyse([source], defines=self.defines, include_dirs=self.include_dirs)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All errors and warnings."""
        return self.assembly.report.sorted()

    @cached_property
    def _source(self) -> SourceText:
        return SourceText(self.text, self.name, self.folder)

    @property
    def _scope(self) -> Scope:
        return self.assembly.names.table.scopes[0]

    # --- where the cursor is ---

    def _offset(self, line: int, column: int) -> int:
        lines = self.text.split("\n", line)
        return sum(len(text) + 1 for text in lines[: line - 1]) + column - 1

    def core_at(self, line: int) -> Core | None:
        """The core whose part the line is in; None: no part has begun."""
        names = _PART.findall(self.text, 0, self._offset(line, 1))
        known = {core.name: core for core in registry.cores()}
        return known.get(names[-1]) if names else None

    def _statement_at(self, line: int, column: int) -> tuple[LogicalLine | None, int]:
        """The statement around a place and the place's offset in it; no statement in comments."""
        offset = self._offset(line, column)
        for item in logical_lines(self._source, lambda _offset: None):
            if item.start > offset:
                break
            if offset <= item.start + len(item.text):
                return item, offset - item.start
        return None, 0

    def _word_at(self, line: int, column: int) -> tuple[str, Span, str, int] | None:
        """The word at a place, its span, its statement's text and its offset in that."""
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
        """Where the symbol, local label, macro or file at a place is defined."""
        found = self._word_at(line, column)
        if found is None:
            return None
        word, _span, text, _offset = found
        if word.startswith('"'):
            return self._file(word.strip('"'))
        local = _LOCAL.fullmatch(word)
        if local is not None:
            return self._local(int(local[1]), local[2] == "f", line)
        if word == _head(text) and word in self._macros:
            return self._macros[word]
        symbol = self._scope.find(word)
        return None if symbol is None else _place(symbol)

    def _file(self, name: str) -> Span | None:
        folders = [*([self.folder] if self.folder else []), *map(Path, self.include_dirs)]
        try:
            return Span(str(files.find(name, folders)), 1, 1, 1)
        except files.FileError:
            return None

    def _local(self, number: int, forward: bool, line: int) -> Span | None:
        places = [_place(item) for _ordinal, item in self._scope.numbered.get(number, [])]
        here = [span for span in places if span.file == self.name]
        if forward:
            return min((x for x in here if x.line > line), key=_by_line, default=None)
        return max((x for x in here if x.line <= line), key=_by_line, default=None)

    @property
    def _macros(self) -> Mapping[str, Span]:
        """Where each macro is defined."""
        return {macro.name: macro.span for macro in self.assembly.macros}

    # --- hover ---

    def hover(self, line: int, column: int) -> Hover | None:
        """What the word at a place means."""
        found = self._word_at(line, column)
        if found is None:
            return None
        word, span, text, offset = found
        core, head = self.core_at(line), _head(text)
        explained = self._explain_head(word, core) if word == head else None
        if explained is None and core is not None and head:
            rows = core.rows.get(head, ())
            named = bool(re.match(r"\s*=(?!=)", text[offset + len(word) :]))
            explained = _explain_operand(word, rows, named)
        if explained is None:
            explained = self._explain_symbol(word)
        if explained is None and word in MODIFIERS + FUNCTIONS:
            explained = _code(f"{word}(...)")
        return None if explained is None else Hover(explained, span)

    def _explain_head(self, word: str, core: Core | None) -> str | None:
        if core is not None and word in core.rows:
            return _code(manual.page(core, word), "text")
        directive = directives(core).get(word)
        if directive is not None:
            return f"{_code(directive.syntax)}\n{directive.meaning}"
        return None

    def _explain_symbol(self, word: str) -> str | None:
        symbol = self._scope.find(word)
        if symbol is None:
            return None
        place = _place(symbol)
        where = f"line {place.line}" if place.file == self.name else f"{place.file}:{place.line}"
        return f"{_code(f'{word}: {_value(symbol, self.assembly.names)}')}\nDefined in {where}."

    # --- completion ---

    def suggestions(self, line: int, column: int) -> list[Suggestion]:
        """The words that may stand at a place, best first."""
        start = self._offset(line, 1)
        before = self.text[start : start + column - 1]
        statement = _LABELS.sub("", re.split(r";", before)[-1].lstrip(), count=1)
        core = self.core_at(line)
        head, blank, rest = statement.partition(" ")
        if not blank:
            return [*self._statements(core)]
        if head == ".core":
            return [Suggestion(x.name, "core", x.title) for x in registry.cores() if x.section]
        if head == ".device":
            return [Suggestion(name, "device") for name in config.presets()]
        found = [*_operand_words(core.rows.get(head, ()))] if core is not None else []
        if rest and re.search(r"%\w*$", rest):
            return [Suggestion(name, "word") for name in MODIFIERS]
        return [*found, *self._symbols()]

    def _statements(self, core: Core | None) -> Iterator[Suggestion]:
        if core is not None:
            for name, rows in core.rows.items():
                page = _code(manual.page(core, name), "text")
                yield Suggestion(name, "instruction", rows[0].meaning, page)
        for macro in self._macros:
            yield Suggestion(macro, "macro")
        for name, row in directives(core).items():
            yield Suggestion(name, "directive", row.syntax, row.meaning)

    def _symbols(self) -> Iterator[Suggestion]:
        for name, symbol in self._scope.symbols.items():
            kind = "symbol" if symbol.is_label else "constant"
            yield Suggestion(name, kind, _value(symbol, self.assembly.names))

    # --- layout ---

    def formatted(self) -> str:
        """The text in the one layout; as it is if that would change a statement."""
        text = formatted(self.text)
        return text if same_tokens(self.text, text) else self.text

    # --- outline ---

    def outline(self) -> list[Entry]:
        """The symbols of the source, those of a part beneath it."""
        parts = [
            (self._source.locate(match.start(1))[0], match[1], match.span(1))
            for match in _PART.finditer(self.text)
        ]
        found: list[list[Entry]] = [[] for _ in range(len(parts) + 1)]
        for symbol in self._scope.symbols.values():
            place = _place(symbol)
            written = symbol.line.text[symbol.start : symbol.end] == symbol.name
            if written and place.file == self.name and symbol.line.source.text == self.text:
                number = sum(line <= place.line for line, _name, _span in parts)
                value = _value(symbol, self.assembly.names)
                entry = Entry(symbol.name, _kind(symbol, self.assembly.names), value, place)
                found[number].append(entry)
        for entries in found:
            entries.sort(key=lambda entry: _by_line(entry.span))
        entries = found[0]
        for (_line, name, (start, end)), children in zip(parts, found[1:], strict=True):
            span = self._source.span(start, end)
            entries.append(Entry(f".core {name}", "part", "", span, tuple(children)))
        return entries


def directives(core: Core | None) -> Mapping[str, Directive | TextDirective | CoreDirective]:
    """The directives that a part of a core knows, by name; None: those of every part."""
    own = {row.name: row for row in core.directives} if core is not None else {}
    common = {name: row for name, row in DIRECTIVES.items() if name != "="}
    return {**common, **TEXT_DIRECTIVES, **own}


def _head(text: str) -> str:
    """The mnemonic or directive of a statement."""
    match = _HEAD.match(text)
    return match[1] if match else ""


def _by_line(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _place(symbol: Definition) -> Span:
    """Where a symbol is defined; one that a macro defines, where that is called."""
    source, start = symbol.line.source, symbol.line.start
    if source.chain:
        return source.chain[-1].span
    return source.span(start + symbol.start, start + symbol.end)


def _kind(symbol: Definition, names: Naming) -> str:
    if not symbol.is_label:
        return "constant"
    datum = names.datum(symbol)
    if datum is None:
        return "code"
    return "tensor" if datum.what == "tensor" else "data"


def _value(symbol: Definition, names: Naming) -> str:
    """What a symbol stands for, in a line."""
    if isinstance(symbol.value, int):
        return f"{symbol.value} ({symbol.value & 0xFFFF_FFFF_FFFF_FFFF:#x})"
    if not isinstance(symbol.value, Address) or not isinstance(symbol.value.area, Area):
        return "its value is not known"
    words = [names.direction(symbol)]
    datum = names.datum(symbol)
    if datum is not None:
        shape = " x ".join(map(str, datum.shape))
        words += [datum.what if datum.what != "tensor" else "", datum.dtype, shape]
        words.append(f"{datum.size} bytes")
    words.append(f"at {address_of(symbol):#x} in {symbol.value.area.section}")
    return ", ".join(word for word in words if word)


def _code(text: str, language: str = "macaw") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _operands(rows: Iterable[Row]) -> Iterator[Operand | PseudoOperand]:
    """Each operand of a mnemonic's rows once."""
    seen = set()
    for row in rows:
        for operand in row.operands:
            if operand.name not in seen:
                seen.add(operand.name)
                yield operand


def _explain_operand(word: str, rows: Iterable[Row], named: bool) -> str | None:
    """What an operand's name, or a word that it takes, means."""
    for operand in _operands(rows):
        if named and operand.name == word:
            return f"**{word}**: {operand.kind.describe()}"
        if not named and operand.kind.parse(word) is not None:
            value = operand.kind.parse(word)
            return f"**{word}**: {operand.name} {value}, {operand.kind.describe()}"
    return None


def _operand_words(rows: Iterable[Row]) -> Iterator[Suggestion]:
    """The words that operands take, and `name=` of those that may be named."""
    seen = set()
    for operand in _operands(rows):
        for word in operand.kind.words():
            if word not in seen:
                seen.add(word)
                yield Suggestion(word, "word", operand.name)
        if getattr(operand, "named", False):
            yield Suggestion(f"{operand.name}=", "operand", operand.kind.describe())
