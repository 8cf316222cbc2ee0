"""Assembles consecutive simple lines to words, numbers and symbols."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from struct import pack

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.data_directives import NUMBER_SIZES
from macaw.asm.deferred_fixups import (
    LINE,
    DeferredFixups,
    LocalReference,
    logical_line,
    statement_start,
)
from macaw.asm.expressions import Address
from macaw.asm.literals import wrap
from macaw.asm.operand_encoder import LANE, WORD_BYTES, OperandEncoder, plain_number
from macaw.asm.row_encoder import NO_ENCODERS, Entry, RowEncoder
from macaw.asm.simple_statement import NAME, NUMBER
from macaw.asm.source import SourceText
from macaw.asm.symbols import Definition, Scope

_SUM = rf"({NAME})[ \t]*(?:([+-])[ \t]*({NUMBER})[ \t]*)?"
_SYMBOL = re.compile(rf"[ \t]*{_SUM}")
_ASSIGNMENT = re.compile(rf"({NAME})[ \t]*,[ \t]*(?:(-?(?:{NUMBER}))[ \t]*|{_SUM})")
_ASSIGNMENTS = (".set", ".equ")


class SimpleLines:
    """Assembles consecutive simple lines of one source, in one part and one area."""

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
        self._base = area.size  # offset in the area of the first collected word
        self._words: list[int] = []
        self._places: list[int] = []  # source offsets of their mnemonics
        plan = state.layout.plans.get(area.section)
        self._marks_data = plan is not None and plan.core is not None
        self._varies = False  # some lines depend on their address or define symbols
        self._deferred = DeferredFixups(state, source, scope, area, part)

    def take(self, start: int, end: int, macros: Collection[str]) -> int:
        """Assemble lines and return the offset of the first line that is not simple."""
        symbols, exports = self._scope.symbols, self._scope.exports
        words, places = self._words, self._places
        table = self._instructions if self._base % WORD_BYTES == 0 else NO_ENCODERS
        for match in LINE.finditer(self._source.text, start, end):
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
                    elif head in _ASSIGNMENTS:
                        if not self._assign(match):
                            return match.start()
                    elif self._data(match):
                        is_aligned = self._base % WORD_BYTES == 0
                        table = self._instructions if is_aligned else NO_ENCODERS
                    else:
                        return match.start()
            elif rest != "":
                return match.start()
            if label is not None:
                self._varies = True
                value = Address(self._area, here)
                symbol = Definition(label, logical_line(self._source, match), 0, len(label), value)
                if label[0].isdigit():
                    self._scope.number(int(label), self._state.next_ordinal(), symbol)
                else:
                    symbols[label] = symbol
        return max(start, end)

    def _encode_other(
        self, others: Sequence[RowEncoder], with_symbol: Sequence[RowEncoder], match: re.Match[str]
    ) -> list[int] | None:
        """Return the words of a line that the first encoder rejects.

        Return None if the line is not simple.
        """
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
        """Return the words of an instruction with a symbol, with the bits that are known so far.

        Return None if the line is not simple.
        """
        self._varies = True
        reference: str | LocalReference = name
        if name[0].isdigit():
            if match[1] is not None and match[1][0].isdigit():
                return None  # it may mean the label of this line
            reference = LocalReference(int(name[:-1]), self._state.next_ordinal(), name[-1] == "f")
            symbol = None if reference.forward else self._scope.numbered_near(*reference)
            if not reference.forward and not self._is_label(symbol):
                return None
        else:
            symbol = self._scope.symbols.get(name)
            number = self._variable(symbol)
            if number is not None:
                known = None
                if not encoder.needs_address:
                    known = encoder.bits_of_address(modifier, number, 0)
                return None if known is None else _words_of(bits | known, plan.words)
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
            (here, bits, encoder, modifier, reference, statement_start(match))
        )
        return _words_of(bits, plan.words)

    def _is_plain(self, name: str, symbol: Definition | None) -> bool:
        """Return whether a name is a label of this file.

        A name that is not defined yet counts as a label, unless another file shares it.
        """
        if symbol is None:
            return name not in self._scope.table.shared
        return self._is_label(symbol)

    @staticmethod
    def _is_label(symbol: Definition | None) -> bool:
        """Return whether a symbol is a label with an address. If so, mark it as used."""
        if symbol is None or symbol.is_bad or not symbol.is_label:
            return False
        if not isinstance(symbol.value, Address):
            return False
        symbol.is_used = True
        return True

    def _variable(self, symbol: Definition | None) -> int | None:
        """Return the present number of a symbol that may be set again; None for other symbols."""
        if symbol is None or symbol.is_label or symbol.is_bad or not isinstance(symbol.value, int):
            return None
        symbol.is_used = self._varies = True
        return symbol.value

    def _sum(self, name: str, sign: str | None, number: str | None) -> int | None:
        """Return the value of `n`, `n + 1` or `n - 1`, where `n` is a symbol that may be set again.

        Return None for other symbols.
        """
        value = self._variable(self._scope.symbols.get(name))
        if value is None or number is None:
            return value
        return wrap(value + int(number, 0) if sign == "+" else value - int(number, 0))

    def _assign(self, match: re.Match[str]) -> bool:
        """Carry out `.set NAME, value` if the value is a number or a sum.

        Return whether it was done.
        """
        parts = _ASSIGNMENT.fullmatch(match[3])
        if parts is None:
            return False
        name, number, *terms = parts.groups()
        before = self._scope.symbols.get(name)
        if name in self._scope.exports or (
            before is not None and (before.is_label or before.is_bad)
        ):
            return False
        value = int(number, 0) if number is not None else self._sum(*terms)
        if value is None:
            return False
        if before is None:
            line = logical_line(self._source, match)
            start = match.start(3) - line.start
            before = Definition(name, line, start, start + len(name), is_label=False)
        self._varies = self._state.symbols.has_variables = True
        self._scope.define(before.with_value(value))
        return True

    def _data(self, match: re.Match[str]) -> bool:
        """Assemble a line of numbers as data. Return False if the line is not simple."""
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
                value = self._sum(*symbol.groups())
                if value is None:
                    name = symbol[1]
                    if symbol[2] or not self._is_plain(name, self._scope.symbols.get(name)):
                        return False
                    place = offset + len(data)
                    items.append((place, number, size, "", name, statement_start(match)))
                    value = 0
            if not low <= value <= high:
                return False
            data += (value & high).to_bytes(size, "little")
        self._put_number(offset, data, match)
        self._deferred.items += items
        return True

    def _put_number(self, offset: int, data: bytes | bytearray, match: re.Match[str]) -> None:
        """Append the numbers of a line to the area."""
        self._flush()
        if self._marks_data:
            self._state.line_table.add(self._area, offset, self._source, match.start(2))
        self._area.data += data
        self._base += len(data)

    def _flush(self) -> None:
        """Append the collected words to the area."""
        words = self._words
        if words:
            self._state.instructions += len(words)
            self._area.data += pack(f"<{len(words)}I", *words)
            self._state.line_table.add_words(
                self._area, self._base, WORD_BYTES, self._source, self._places
            )
            self._base += WORD_BYTES * len(words)
            words.clear()
            self._places.clear()

    def finish(self) -> None:
        """Store the remaining words and fixups in the assembly state."""
        self._flush()
        if self._varies or self._deferred.items:
            self._state.effects += 1
        if self._deferred.items:
            self._state.fixups.append(self._deferred.apply)


def _words_of(bits: int, count: int) -> list[int]:
    """Return the words of an instruction; the first one is in the lowest bits of `bits`."""
    if count == 1:
        return [bits]
    return [bits >> LANE * place & (1 << LANE) - 1 for place in range(count)]
