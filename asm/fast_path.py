"""The fast path: simple lines are assembled many at a time, without the grammar.

The grammar remains the definition. A line is simple if it holds a label, or an instruction whose
operands are words of their kinds, plain numbers or one symbol, or numbers as data: its meaning is
then certain, and it has no mistake. `take` stops at the first other line, which the reader parses.
If the value of a symbol does not fit in the end, the grammar is asked for that line, so that it
reports the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from struct import pack
from typing import NamedTuple

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.core_parts import CoreParts
from macaw.asm.data_directives import NUMBER_SIZES, late_number
from macaw.asm.expressions import Address
from macaw.asm.instructions import words_after_layout
from macaw.asm.layout import Area
from macaw.asm.macro_body import RepeatedText
from macaw.asm.operand_encoder import LANE, WORD_BYTES, OperandEncoder, plain_number
from macaw.asm.parser import parse
from macaw.asm.row_encoder import NO_ENCODERS, Entry, RowEncoder, encoder_table
from macaw.asm.simple_statement import NAME
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Definition, Scope

# Label, first word and what follows it, of a whole line. The last alternative is any other line.
_LINE = re.compile(
    # Without backtracking, which would read a long line again for each try.
    rf"[ \t]*+(?:((?>{NAME})|0|[1-9][0-9]{{0,8}}):[ \t]*+)?"
    rf"(?:((?>{NAME}))[ \t]*+)?([^\"'#/;\r\n]*+)"
    r"(?:(?:#|//)[^\n]*)?(?:\r?\n|\Z)|"
)
_SYMBOL = re.compile(rf"[ \t]*({NAME})[ \t]*")
_MOST_MISSES = 8  # consecutive other lines after which not every line is tried;
_MOST_UNASKED = 8  # then at most so many lines between two tries
_PIECE = 1 << 16  # characters between two calls of `watch`
_LEAST_ROOM = 1 << 16  # bytes; with less room the reader takes every line, and checks it
_BYTES_A_CHARACTER = 4  # at most, as in `.dword 1,1,1`


class _LocalReference(NamedTuple):
    """`1b` or `1f`, and the number of its statement."""

    number: int
    ordinal: int
    forward: bool


class FastPath:
    """Assembles the simple lines of a run."""

    enabled = True  # tests compare both ways

    def __init__(self, state: AssemblyState, parts: CoreParts) -> None:
        self._state = state
        self._parts = parts
        if state.record is not None:
            self.enabled = False  # a listing needs each statement by itself
        self._misses = 0  # consecutive tries that took no line
        self._asks = 0  # lines since the last try

    def take(self, source: SourceText, start: int, scope: Scope, macros: Collection[str]) -> int:
        """Assemble simple lines from the offset `start` on. Returns that of the first other line.

        The words of `macros` mean no instructions.
        """
        # Where few lines are simple, trying costs more than it saves.
        if self._misses > _MOST_MISSES:
            self._asks += 1
            if self._asks < min(self._misses - _MOST_MISSES, _MOST_UNASKED):
                return start
        table = self._table()
        if table is None or not self.enabled:
            return start
        before, start = start, self._take(source, start, scope, macros, table)
        self._misses, self._asks = (self._misses + 1, 0) if start == before else (0, 0)
        return start

    def _take(
        self,
        source: SourceText,
        start: int,
        scope: Scope,
        macros: Collection[str],
        table: Mapping[str, Entry],
    ) -> int:
        end = self._end(source.text, start)
        run = _SimpleLines(self._state, self._parts.current, source, scope, table)
        try:
            is_whole = start == 0 and end == len(source.text)
            if is_whole and isinstance(source, RepeatedText) and source.rounds > 1:
                start = run.repeat(source, macros)
                if start == end:
                    return start
            while True:
                part = _end_of_line(source.text, start + _PIECE, end)
                start = run.take(start, part, macros)
                if start < part or part == end:
                    return start
                self._state.watch()
        finally:
            run.finish()

    def _table(self) -> Mapping[str, Entry] | None:
        """The encoders of the present part's instructions; None if no line can be taken here."""
        part, area = self._parts.current, self._state.area
        if area.zeros or self._state.symbols.pending:
            return None
        if part is None:
            return NO_ENCODERS
        if part.accepts_anything or not part.places_labels(area):
            return None
        if type(part).instruction is not CorePart.instruction:
            return None
        return encoder_table(part.core, part.recording)

    def _end(self, text: str, start: int) -> int:
        """The offset up to which text can be taken without checking that memory is full."""
        room = self._state.device.external_bytes - self._state.area.size - _LEAST_ROOM
        if (len(text) - start) * _BYTES_A_CHARACTER <= room:
            return len(text)
        return text.rfind("\n", start, start + max(0, room // _BYTES_A_CHARACTER)) + 1


class _SimpleLines:
    """Consecutive simple lines of one source, in one part and one area."""

    def __init__(
        self,
        state: AssemblyState,
        part: CorePart | None,
        source: SourceText,
        scope: Scope,
        table: Mapping[str, Entry],
    ) -> None:
        self._state = state
        self._source = source
        self._scope = scope
        self._area = area = state.area
        self._instructions = table
        self._base = area.size  # where the words will stand
        self._words: list[int] = []
        self._places: list[int] = []  # of their mnemonics
        plan = state.layout.plans.get(area.section)
        self._marks_data = plan is not None and plan.core is not None
        self._has_words = False  # some lines were instructions
        self._varies = False  # the lines depend on their address or define labels
        self._deferred = DeferredFixups(state, source, scope, area, part)

    def repeat(self, source: RepeatedText, macros: Collection[str]) -> int:
        """Take the first round, and the others at once if they give the same bytes.

        Returns the offset at which to go on.
        """
        area, line_table = self._area, self._state.line_table
        first_row, first = len(line_table), area.size
        end = self.take(0, source.period, macros)
        if end < source.period:
            return end
        self._flush()
        is_aligned = not self._has_words or (area.size - first) % WORD_BYTES == 0
        if self._varies or self._deferred.items or not is_aligned:
            return end
        data = area.data[first:]
        area.data += data * (source.rounds - 1)
        line_table.repeat(first_row, source.rounds - 1, len(data))
        self._base = area.size
        return len(source.text)

    def take(self, start: int, end: int, macros: Collection[str]) -> int:
        """Take lines up to the first that is not simple. Returns its offset."""
        symbols, exports = self._scope.symbols, self._scope.exports
        words, places = self._words, self._places
        table = self._instructions if self._base % WORD_BYTES == 0 else NO_ENCODERS
        for match in _LINE.finditer(self._source.text, start, end):
            label, head, rest = match.groups()
            here = 0
            if label is not None:
                if label in symbols or label in exports:
                    return match.start()
                here = self._base + WORD_BYTES * len(words)
            if head is not None:
                if head in macros:
                    return match.start()
                encode, others, with_symbol = table[head]
                try:
                    if encode is None:
                        raise KeyError
                    words.append(encode(rest))
                    places.append(match.start(2))
                except (KeyError, ValueError):
                    if others or with_symbol:
                        bits = self._encode_other(others, with_symbol, match)
                        if bits is None:
                            return match.start()
                        words += bits
                        places += [match.start(2)] * len(bits)
                    elif self._data(match):
                        aligned = self._base % WORD_BYTES == 0
                        table = self._instructions if aligned else NO_ENCODERS
                    else:
                        return match.start()
            elif rest != "":
                return match.start()
            if label is not None:
                self._varies = True
                value = Address(self._area, here)
                defined = Definition(
                    label, _logical_line(self._source, match), 0, len(label), value
                )
                if label[0].isdigit():
                    self._scope.number(int(label), self._state.next_ordinal(), defined)
                else:
                    symbols[label] = defined
        return max(start, end)

    def _encode_other(
        self, others: Sequence[RowEncoder], with_symbol: Sequence[RowEncoder], match: re.Match[str]
    ) -> list[int] | None:
        """The words of a line that the first encoder refuses; None: the line is not simple."""
        text = match[3]
        for plan in others:
            assert plan.encode is not None
            try:
                bits = plan.encode(text)
            except (KeyError, ValueError):
                continue
            return _words_of(bits, plan.words)
        texts = text.split(",")
        for plan in with_symbol:
            waiting = plan.encode_partly(texts)
            if waiting is not None:
                return self._defer(plan, *waiting, match)
        return None

    def _defer(
        self,
        plan: RowEncoder,
        bits: int,
        encoder: OperandEncoder,
        modifier: str,
        name: str,
        match: re.Match[str],
    ) -> list[int] | None:
        """The words of an instruction with a symbol, with the bits that are known.

        None if the line is not simple.
        """
        self._varies = True
        reference: str | _LocalReference = name
        if name[0].isdigit():
            if match[1] is not None and match[1][0].isdigit():
                return None  # it may mean the label of this line
            reference = _LocalReference(int(name[:-1]), self._state.next_ordinal(), name[-1] == "f")
            symbol = None if reference.forward else self._scope.numbered_near(*reference)
            if not reference.forward and not self._is_label(symbol):
                return None
        else:
            symbol = self._scope.symbols.get(name)
            if not self._is_plain(name, symbol):
                return None
        here = self._base + WORD_BYTES * len(self._words)
        if symbol is not None:
            value = symbol.value
            assert isinstance(value, Address)
            if encoder.is_distance and not modifier and value.area is self._area:
                known = encoder.bits_of_address("", value.offset, here)
                return None if known is None else [bits | known]
        self._deferred.items.append(
            (here, bits, encoder, modifier, reference, _statement_start(match))
        )
        return _words_of(bits, plan.words)

    def _is_plain(self, name: str, symbol: Definition | None) -> bool:
        """Whether a symbol is a label, here or later in the file."""
        if symbol is None:
            return name not in self._scope.table.shared
        return self._is_label(symbol)

    @staticmethod
    def _is_label(symbol: Definition | None) -> bool:
        """Whether a symbol is a label with a place. It then counts as used."""
        if symbol is None or symbol.bad or not symbol.is_label:
            return False
        if not isinstance(symbol.value, Address):
            return False
        symbol.used = True
        return True

    def _data(self, match: re.Match[str]) -> bool:
        """Take a line of numbers as data. Returns whether it is simple."""
        size = NUMBER_SIZES.get(match[2])
        if size is None:
            return False
        offset = self._base + WORD_BYTES * len(self._words)
        low, high = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
        value = plain_number(match[3].strip(" \t"))
        if value is not None and low <= value <= high:  # the most frequent line
            self._put_number(offset, (value & high).to_bytes(size, "little"), match)
            return True
        data, items = bytearray(), []
        for number, text in enumerate(match[3].split(",")):
            value = plain_number(text.strip(" \t"))
            if value is None:
                symbol = _SYMBOL.fullmatch(text)
                if symbol is None:
                    return False
                name = symbol[1]
                if not self._is_plain(name, self._scope.symbols.get(name)):
                    return False
                items.append((offset + len(data), number, size, "", name, _statement_start(match)))
                value = 0
            elif not low <= value <= high:
                return False
            data += (value & high).to_bytes(size, "little")
        self._put_number(offset, data, match)
        self._deferred.items += items
        return True

    def _put_number(self, offset: int, data: bytes | bytearray, match: re.Match[str]) -> None:
        """Put the numbers of a line into the area."""
        self._flush()
        if self._marks_data:
            self._state.line_table.add(self._area, offset, self._source, match.start(2))
        self._area.data += data
        self._base += len(data)

    def _flush(self) -> None:
        """Put the collected words into their area."""
        words = self._words
        if words:
            self._has_words = True
            self._area.data += pack(f"<{len(words)}I", *words)
            self._state.line_table.add_words(
                self._area, self._base, WORD_BYTES, self._source, self._places
            )
            self._base += WORD_BYTES * len(words)
            words.clear()
            self._places.clear()

    def finish(self) -> None:
        """Put everything into the state, as the reader would."""
        self._flush()
        if self._deferred.items:
            self._state.fixups.append(self._deferred.apply)


def _end_of_line(text: str, offset: int, end: int) -> int:
    """The offset after the line that holds an offset, at most `end`."""
    newline = text.find("\n", offset, end)
    return end if newline < 0 else newline + 1


def _words_of(bits: int, count: int) -> list[int]:
    """The words of an instruction, of which the first is the lowest in `bits`."""
    if count == 1:
        return [bits]
    return [bits >> LANE * place & (1 << LANE) - 1 for place in range(count)]


def _statement_start(match: re.Match[str]) -> int:
    """The offset of a line's statement."""
    return match.start(1) if match[1] is not None else match.start(2)


def _logical_line(source: SourceText, match: re.Match[str]) -> LogicalLine:
    """The line as the reader would give it."""
    start = _statement_start(match)
    return LogicalLine(source, start, source.text[start : match.end(3)].rstrip(" \t"))


class DeferredFixups:
    """Words and numbers of simple lines that wait for symbols, and where they stand."""

    __slots__ = ("_area", "_part", "_scope", "_source", "_state", "items")

    def __init__(
        self,
        state: AssemblyState,
        source: SourceText,
        scope: Scope,
        area: Area,
        part: CorePart | None,
    ) -> None:
        self._state = state
        self._source = source
        self._scope = scope
        self._area = area
        self._part = part
        # Offset, known bits, encoder, %hi or %lo, symbol, offset of the line. For a number as data:
        # its place in the line instead of the bits, its size instead of the encoder.
        self.items: list[
            tuple[int, int, OperandEncoder | int, str, str | _LocalReference, int]
        ] = []

    def apply(self) -> None:
        """Put in the values, after the layout."""
        area, report = self._area, self._state.report
        following, base = self._scope.following, area.base or 0
        watch = self._state.watch
        for offset, known_bits, encoder_or_size, modifier, name, line_start in self.items:
            watch()
            if report.has_failed_at(self._source, line_start):
                continue
            near = self._scope.numbered_near
            symbol = following(name) if isinstance(name, str) else near(*name)
            data = None
            if symbol is not None and not symbol.bad:
                value = symbol.value
                if isinstance(value, Address) and isinstance(value.area, Area):
                    address = (value.area.base or 0) + value.offset
                    symbol.used = True
                    if isinstance(encoder_or_size, OperandEncoder):
                        bits = encoder_or_size.bits_of_address(modifier, address, base + offset)
                        if bits is not None:
                            bits |= known_bits
                            data = bits.to_bytes(
                                -(-bits.bit_length() // LANE) * WORD_BYTES, "little"
                            )
                    elif address >> 8 * encoder_or_size == 0:
                        data = address.to_bytes(encoder_or_size, "little")
            if data is None:
                ordinal = 0 if isinstance(name, str) else name.ordinal
                data = self._by_grammar(offset, known_bits, encoder_or_size, line_start, ordinal)
            area.data[offset : offset + len(data)] = data

    def _by_grammar(
        self,
        offset: int,
        known_bits: int,
        encoder_or_size: OperandEncoder | int,
        line_start: int,
        ordinal: int,
    ) -> bytes:
        """The bytes of a line whose symbol has no simple value, or the report of its mistake."""
        match = _LINE.match(self._source.text, self._source.text.rfind("\n", 0, line_start) + 1)
        assert match is not None
        line = _logical_line(self._source, match)
        statement = parse(line.text)
        area = _LateArea(self._area.section, base=self._area.base)
        area.start = offset
        context = StatementContext(self._state, line, self._scope, ordinal, area)
        with self._state.report.catching(line):
            if isinstance(encoder_or_size, int):
                return late_number(context, statement.operands[known_bits], encoder_or_size)
            assert self._part is not None
            return words_after_layout(context, statement, self._part.core.rows)
        return b""


class _LateArea(Area):
    """The bytes of one statement, at an offset of its area, after the layout."""

    start = 0

    @property
    def size(self) -> int:
        return self.start + len(self.data)
