"""Assembles consecutive simple lines to words, numbers and symbols."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from struct import pack

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.data_directives import NUMBER_SIZES, STRING_ENDS
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
from macaw.asm.row_encoder import NO_ENCODERS, UNKNOWN, EncoderTable, Entry, Jump, RowEncoder
from macaw.asm.simple_statement import NAME, NUMBER
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.symbols import Definition, Scope
from macaw.isa.lazy_pattern import lazy_pattern

_SUM = rf"({NAME})[ \t]*(?:([+-])[ \t]*({NUMBER})[ \t]*)?"
_SYMBOL = lazy_pattern(rf"[ \t]*{_SUM}")
_ASSIGNMENT = lazy_pattern(rf"[ \t]*({NAME})[ \t]*,[ \t]*(?:(-?(?:{NUMBER}))[ \t]*|{_SUM})")
_NUMBERS = lazy_pattern(rf" *-?(?:{NUMBER}) *(?:, *-?(?:{NUMBER}) *)*")
_NAME = lazy_pattern(NAME)
_LABEL = lazy_pattern(rf"{NAME}|0|[1-9][0-9]{{0,8}}")
_STRING = lazy_pattern(r"[ \t]*\"([^\"\\\r\n]+)\"[ \t]*(?:(?:#|//)[^\n]*)?(?:\r?\n|\Z)")
_STEP = lazy_pattern(" *(?:1|2|4|8|16|32) *")  # few bytes for each character
_DIGITS = frozenset("0123456789")
_ASSIGNMENTS = (".set", ".equ")
_NO_MNEMONICS: Mapping[str, Callable[[str], int]] = {}


class SimpleLines:
    """Assembles consecutive simple lines of one source, in one part and one area.

    Most lines are an instruction, a label or numbers, without a quote or a C comment. These lines
    are split at blanks and commas, and each operand is looked up by its text. A regular expression
    splits all other lines.
    """

    def __init__(
        self,
        state: AssemblyState,
        part: CorePart | None,
        source: SourceText,
        scope: Scope,
        table: EncoderTable,
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
        self._pads_with_zeros = plan is not None and plan.core is None and "x" not in plan.flags
        self._varies = False  # some lines depend on their address or define symbols
        self._deferred = DeferredFixups(state, source, scope, area, part)

    def take(self, start: int, end: int, macros: Collection[str]) -> int:
        """Assemble lines and return the offset of the first line that is not simple."""
        lines, starts = self._source.blank_lines, self._source.line_starts
        words, places = self._words, self._places
        encoders, base = self._encoders(), self._base
        for index in range(bisect_left(starts, start), bisect_left(starts, end)):
            line = lines[index]
            text = line.lstrip(" ")
            head, _, rest = text.partition(" ")
            if "#" in rest:
                rest = rest[: rest.index("#")]
            encode = encoders.get(head)
            if encode is not None and head not in macros:
                try:
                    words.append(encode(rest))
                except (KeyError, ValueError):
                    pass
                else:
                    places.append(starts[index] + len(line) - len(text))
                    continue
            start = starts[index]
            if head in macros:
                return start
            is_taken = self._take_split(head, rest, start + len(line) - len(text), macros)
            if not is_taken and (is_taken is False or not self._take_line(start, macros)):
                return start
            if self._base != base:
                encoders, base = self._encoders(), self._base
        return max(start, end)

    def _encoders(self) -> Mapping[str, Callable[[str], int]]:
        """Return the first encoder of each mnemonic; none if no instruction may follow here."""
        return _NO_MNEMONICS if self._base % WORD_BYTES else self._instructions.first

    def _take_split(self, head: str, rest: str, place: int, macros: Collection[str]) -> bool | None:
        """Assemble a line whose first word, at the source offset `place`, is `head`.

        Return False if the line is not simple, None if it has another form than most lines.
        """
        if head[-1:] != ":":
            return self._take_words(head, rest, "", place, place)
        label, line_start = head[:-1], place
        if label in self._scope.symbols or label in self._scope.exports:
            return False
        if not _LABEL.fullmatch(label):
            return None
        here = self._base + WORD_BYTES * len(self._words)
        text = rest.lstrip(" ")
        if text:
            place += len(head) + 1 + len(rest) - len(text)
            head, _, operands = text.partition(" ")
            if head in macros:
                return False
            is_taken = self._take_words(head, operands, label, place, line_start)
            if not is_taken:
                return is_taken
        end = line_start + len(label) + 2 + len(rest)
        line_text = self._source.text[line_start:end].rstrip(" \t\r\n")
        self._define(label, LogicalLine(self._source, line_start, line_text), here)
        return True

    def _take_words(
        self, head: str, rest: str, label: str, place: int, line_start: int
    ) -> bool | None:
        """Assemble a statement with the first word `head`. Return the result of `_take_split`.

        `label` is the line's label or empty, `place` the source offset of `head`, and `line_start`
        the source offset of the line's text.
        """
        if head[:1] == ".":
            return self._take_directive(head, rest, place, line_start)
        if self._base % WORD_BYTES:
            return None
        encode = self._instructions.first.get(head) if label else None
        if encode is not None:
            with suppress(KeyError, ValueError):
                self._words.append(encode(rest))
                self._places.append(place)
                return True
        entry = self._instructions[head]
        if entry.jump is not None and self._jump(entry.jump, rest, label, place, line_start):
            return True
        if entry is UNKNOWN or "//" in rest:
            return None
        return self._take_instruction(entry, rest, label, place, line_start)

    def _take_directive(self, head: str, rest: str, place: int, line_start: int) -> bool | None:
        """Assemble numbers, a string or zeros up to an alignment.

        Return None if the line is not that simple.
        """
        size = NUMBER_SIZES.get(head)
        if size is not None:
            return self._data(size, rest, place, line_start) or None
        end = STRING_ENDS.get(head)
        if end is not None:
            string = _STRING.match(self._source.text, place + len(head))
            if string is None:
                return None
            self._put_bytes(string[1].encode("utf-8", "surrogatepass") + end, place)
            return True
        if head in _ASSIGNMENTS:
            return self._assign(rest, place + len(head) + 1, line_start) or None
        if head == ".balign" and _STEP.fullmatch(rest) and self._pads_with_zeros:
            self._flush()
            self._varies = True
            self._area.align_to(int(rest))
            self._base = self._area.size
            return True
        return None

    def _define(self, name: str, line: LogicalLine, offset: int) -> None:
        """Define the label of a line, at an offset of the area."""
        self._varies = True
        symbol = Definition(name, line, 0, len(name), Address(self._area, offset))
        if name[0].isdigit():
            self._scope.number(int(name), self._state.next_ordinal(), symbol)
        else:
            self._scope.symbols[name] = symbol

    def _jump(self, jump: Jump, rest: str, label: str, place: int, line_start: int) -> bool:
        """Assemble a branch or a jump to a label. Return False for any other line.

        `label` is that of the line or empty.
        """
        split, encoder = jump
        try:
            bits, text = split(rest)
        except (KeyError, ValueError):
            return False
        here = self._base + WORD_BYTES * len(self._words)
        name = text.strip(" ")
        symbol = self._scope.symbols.get(name)
        if symbol is None and not label and name[-1:] == "b" and name[:-1] in _DIGITS:
            symbol = self._scope.latest(int(name[:-1]))
            if symbol is None or symbol.area is not self._area:
                return False
        if symbol is None:
            if not _NAME.fullmatch(name) or name in self._scope.table.shared:
                return False
            self._deferred.items.append((here, bits, encoder, "", name, line_start))
        else:
            value = symbol.value
            if not (symbol.is_label and isinstance(value, Address)) or symbol.is_bad:
                return False
            if value.area is self._area:
                known = encoder.bits_of_address("", value.offset, here)
                if known is None:
                    return False
                bits |= known
            else:
                self._deferred.items.append((here, bits, encoder, "", name, line_start))
            symbol.is_used = True
        self._varies = True
        self._words.append(bits)
        self._places.append(place)
        return True

    def _take_line(self, start: int, macros: Collection[str]) -> bool:
        """Assemble the line at the source offset `start`. Return False if it is not simple."""
        match = LINE.match(self._source.text, start)
        assert match is not None
        label, head, rest = match.groups()
        here = 0
        if label is not None:
            if label in self._scope.symbols or label in self._scope.exports:
                return False
            here = self._base + WORD_BYTES * len(self._words)
        if head is not None:
            if head in macros or not self._take_statement(match):
                return False
        elif rest != "":
            return False
        if label is not None:
            self._define(label, logical_line(self._source, match), here)
        return True

    def _take_statement(self, match: re.Match[str]) -> bool:
        """Assemble the statement of a matched line. Return False if it is not simple."""
        label, head, rest = match.groups()
        place, line_start = match.start(2), statement_start(match)
        table = NO_ENCODERS if self._base % WORD_BYTES else self._instructions
        with suppress(KeyError, ValueError):
            self._words.append(table.first[head](rest))
            self._places.append(place)
            return True
        entry = table[head]
        if entry is not UNKNOWN:
            return self._take_instruction(entry, rest, label or "", place, line_start)
        if head in _ASSIGNMENTS:
            return self._assign(rest, match.start(3), line_start)
        size = NUMBER_SIZES.get(head)
        return size is not None and self._data(size, rest, place, line_start)

    def _take_instruction(
        self, entry: Entry, rest: str, label: str, place: int, line_start: int
    ) -> bool:
        """Assemble an instruction that the first encoder rejects. Return False if it is not simple.

        `label` is the line's label or empty, `place` the source offset of the mnemonic, and
        `line_start` the source offset of the statement.
        """
        bits = self._encode_other(entry, rest, label, line_start)
        if bits is None:
            return False
        self._words += bits
        self._places += [place] * len(bits)
        return True

    def _encode_other(
        self, entry: Entry, text: str, label: str, line_start: int
    ) -> list[int] | None:
        """Return the words of a line that the first encoder rejects.

        Return None if the line is not simple.
        """
        for plan in entry.others:
            assert plan.encode is not None
            try:
                bits = plan.encode(text)
            except (KeyError, ValueError):
                continue
            return _words_of(bits, plan.words)
        texts = text.split(",")
        for plan in entry.with_symbol:
            waiting = plan.encode_partly(texts)
            if waiting is not None:
                return self._defer(plan, *waiting, label, line_start)
        return None

    def _defer(
        self,
        plan: RowEncoder,
        bits: int,
        encoder: OperandEncoder,
        modifier: str,
        name: str,
        label: str,
        line_start: int,
    ) -> list[int] | None:
        """Return the words of an instruction with a symbol, with the bits that are known so far.

        Return None if the line is not simple.
        """
        self._varies = True
        reference: str | LocalReference = name
        if name[0].isdigit():
            if label[:1].isdigit():
                return None  # it may be the label of this line
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
        self._deferred.items.append((here, bits, encoder, modifier, reference, line_start))
        return _words_of(bits, plan.words)

    def _is_plain(self, name: str, symbol: Definition | None) -> bool:
        """Return whether a name is a label of this file.

        A name that is not defined yet is treated as a label, unless another file shares it.
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
        """Return the current number of a symbol that may be set again; None for other symbols."""
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

    def _assign(self, rest: str, place: int, line_start: int) -> bool:
        """Carry out `.set NAME, value` if the value is a number or a sum.

        `rest` is the text after the directive, from the source offset `place` on, and `line_start`
        the offset of the line's text. Return whether it was done.
        """
        parts = _ASSIGNMENT.fullmatch(rest)
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
            text = self._source.text[line_start : place + len(rest)]
            line = LogicalLine(self._source, line_start, text.rstrip(" \t\r\n"))
            start = place + parts.start(1) - line_start
            before = Definition(name, line, start, start + len(name), is_label=False)
        self._varies = self._state.symbols.has_variables = True
        self._scope.define(before.with_value(value))
        return True

    def _data(self, size: int, rest: str, place: int, line_start: int) -> bool:
        """Assemble a line of numbers as data. Return False if the line is not simple.

        `place` is the source offset of the directive, `line_start` that of its line's text.
        """
        low, high = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
        if _NUMBERS.fullmatch(rest):
            values = [int(text, 0) for text in rest.split(",")]
            if min(values) < low or max(values) > high:
                return False
            numbers = [(value & high).to_bytes(size, "little") for value in values]
            self._put_bytes(b"".join(numbers), place)
            return True
        offset = self._base + WORD_BYTES * len(self._words)
        data, items = bytearray(), []
        for number, text in enumerate(rest.split(",")):
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
                    at = offset + len(data)
                    items.append((at, number, size, "", name, line_start))
                    value = 0
            if not low <= value <= high:
                return False
            data += (value & high).to_bytes(size, "little")
        self._put_bytes(data, place)
        self._deferred.items += items
        return True

    def _put_bytes(self, data: bytes | bytearray, place: int) -> None:
        """Append the data of a line to the area."""
        self._flush()
        if self._marks_data:
            self._state.line_table.add(self._area, self._base, self._source, place)
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
