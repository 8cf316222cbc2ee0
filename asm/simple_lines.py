"""Assembles consecutive simple lines, which need no parser."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from struct import unpack

from macaw.asm.data_directives import NUMBER_SIZES, STRING_ENDS
from macaw.asm.deferred_fixups import LINE, logical_line, statement_start
from macaw.asm.label_references import Item
from macaw.asm.operand_encoder import WORD_BYTES, OperandEncoder
from macaw.asm.recorded_text import Ending, Segment
from macaw.asm.round_trace import Field
from macaw.asm.row_encoder import (
    NO_ENCODERS,
    UNKNOWN,
    Choice,
    EncoderTable,
    Entry,
    LabelEncoder,
    RowEncoder,
    bytes_of_choice,
    bytes_with_number,
    words_of,
)
from macaw.asm.simple_area import SimpleArea
from macaw.asm.simple_numbers import encode_numbers, limits
from macaw.asm.simple_statement import NAME
from macaw.asm.simple_symbols import is_name
from macaw.asm.source import LogicalLine, Piece
from macaw.asm.syntax import Mistake
from macaw.isa.lazy_pattern import lazy_pattern

_LABEL = lazy_pattern(rf"{NAME}|0|[1-9][0-9]{{0,8}}")
_STRING = lazy_pattern(r"[ \t]*\"([^\"\\\r\n]+)\"[ \t]*(?:(?:#|//)[^\n]*)?(?:\r?\n|\Z)")
# The steps of `.balign` whose padding has few bytes for each character of the line.
_STEP = lazy_pattern(" *(?:1|2|4|8|16|32) *")
_DIGITS = frozenset("0123456789")
_SECTIONS = frozenset((".text", ".data", ".bss"))
_FEW_LINES, _MANY_LINES = 16, 1 << 10  # that are taken from the lists of a source at once
_ASSIGNMENTS = (".set", ".equ")


class SimpleLines:
    """Assembles consecutive simple lines of one source, in one part.

    Most lines are an instruction, a label or numbers, without quotes and C comments. The object
    splits such lines at blanks and commas, and looks up each operand by its text. A regular
    expression splits the other lines.

    The function `enter_section` executes `.text`, `.data` or `.bss`; its arguments are the source
    offset and the name of the directive. It returns the encoders of the new area. If it returns
    None, `is_open` becomes False, and another object has to read the next line. The function may
    raise `Mistake`.
    """

    def __init__(
        self,
        out: SimpleArea,
        table: EncoderTable,
        enter_section: Callable[[int, str], EncoderTable | None],
    ) -> None:
        self._out = out
        self._source, self._scope, self._symbols = out.source, out.scope, out.symbols
        self._macros, self._recorded = out.macros, out.recorded
        self._words, self._places = out.words, out.places
        self._enter_section = enter_section
        self._records = False  # `take` records the lines
        self.is_open = True
        self._begin_area(table)

    def _begin_area(self, table: EncoderTable) -> None:
        """Continue at the end of the current area of the run, with the encoders in `table`."""
        self._out.enter(table)
        self._is_elsewhere = True  # the area or the base has changed since the last line
        self._instructions = table

    def finish(self) -> None:
        """Store the remaining words and fixups in the assembly state."""
        self._out.finish()

    def repeat(self, start: int, end: int) -> int:
        """Repeat the recorded effects of the lines from `start`, at most up to `end`.

        Return the offset of the first line whose effects are not recorded or cannot be repeated.
        """
        recorded = self._recorded
        while recorded is not None and self.is_open:
            segment = recorded.segments.get(start)
            if segment is None or start + segment.length > end:
                break
            if not self._out.repeat(segment, start):
                break
            self._is_elsewhere = True
            if segment.ending is not None:
                head, rest, place = segment.ending
                if not self._take_directive(head, rest, start + place, start + place):
                    return start + segment.body
            start += segment.length
        return start

    def take(self, start: int, end: int) -> int:
        """Assemble simple lines from `start`, at most up to `end`; return the offset after them."""
        self._records = self._recorded is not None
        if self._records:
            self._out.begin_segment(start)
        stop = self._take(start, end)
        if self._records:
            self._out.keep(self._out.end_segment(stop))
            self._records = False
        return stop

    def _take(self, start: int, end: int) -> int:
        while start < end:
            piece = self._source.piece(start)
            part = min(end, piece.end)
            stop = self._take_piece(piece, start, part)
            if stop < part or not self.is_open:
                return stop
            start = part
        return start

    def _take_piece(self, piece: Piece, start: int, end: int) -> int:
        """Assemble simple lines of `piece` from `start` to `end`; return the offset after them."""
        statements, places = piece.statements, piece.places
        position, last = bisect_left(places, start), bisect_left(places, end)
        words, word_places, macros = self._words, self._places, self._macros
        encoders, with_label = self._encoders()
        count = _FEW_LINES
        while position < last:
            stop = min(position + count, last)
            count = min(2 * count, _MANY_LINES)
            for text, place in zip(statements[position:stop], places[position:stop], strict=True):
                head, _, rest = text.partition(" ")
                if "#" in rest:
                    rest = rest[: rest.index("#")].rstrip(" ")
                encode = encoders.get(head)
                if encode is not None and head not in macros:
                    try:
                        words.append(encode(rest))
                    except (KeyError, ValueError):
                        pass
                    else:
                        word_places.append(place)
                        continue
                use = with_label.get(head)
                if use and head not in macros and self._take_use(use, rest, "", place, place):
                    continue
                if not head or head[0] == "#":
                    continue
                if head in macros:
                    is_taken: bool | None = False
                elif head[-1] == ":":
                    is_taken = self._take_label(head, rest, place)
                else:
                    is_taken = self._take_words(head, rest, "", place, place)
                if not is_taken:
                    line_start = self._source.start_of_line(place)
                    if is_taken is False or not self._take_line(line_start):
                        return line_start
                if self._is_elsewhere:
                    encoders, with_label = self._encoders()
                    if not self.is_open:
                        return self._source.following_line(place)
            position = stop
        return end

    def _encoders(self) -> tuple[dict[str, Callable[[str], int]], dict[str, LabelEncoder]]:
        """Return `first` and `with_label` of the table; empty where no instruction can begin."""
        self._is_elsewhere = False
        table = NO_ENCODERS if self._out.base % WORD_BYTES else self._instructions
        return table.first, table.with_label

    def _take_label(self, word: str, rest: str, line_start: int) -> bool | None:
        """Assemble a line with a label: `word` is label and colon, `rest` is the text after them.

        `line_start` is the source offset of the line's text. Return False if the line is not
        simple. Return None if only `_take_line` can parse the line.
        """
        label, scope = word[:-1], self._scope
        if label in scope.symbols or scope.is_restricted(label):
            return False
        if not is_name(label) and not _LABEL.fullmatch(label):
            return None
        here = self._out.base + WORD_BYTES * len(self._words)
        text = rest.lstrip(" ") if rest else ""
        if not text:
            self._out.define(label, LogicalLine._make((self._source, line_start, word)), here)
            return True
        place = line_start + len(word) + 1 + len(rest) - len(text)
        head, _, operands = text.partition(" ")
        if head in self._macros or head in _SECTIONS or head in _ASSIGNMENTS:
            return False  # the label may be the symbol that the line sets
        is_taken = self._take_words(head, operands, label, place, line_start)
        if is_taken:
            end = line_start + len(word) + 1 + len(rest)
            line_text = self._source.text[line_start:end].rstrip(" \t\r\n")
            self._out.define(label, LogicalLine(self._source, line_start, line_text), here)
        return is_taken

    def _take_words(
        self, head: str, rest: str, label: str, place: int, line_start: int
    ) -> bool | None:
        """Assemble a statement with the first word `head`; `rest` is the text after this word.

        `label` is the line's label or empty. `place` and `line_start` are the source offsets of
        `head` and of the line's text. Return False if the line is not simple, None if only
        `_take_line` can parse it, else True.
        """
        if head[0] == ".":
            return self._take_directive(head, rest, place, line_start)
        if self._out.base % WORD_BYTES:
            return None
        table = self._instructions
        is_new = head not in table
        entry = table[head]
        if label or is_new:  # else the caller has tried the following encoders
            with suppress(KeyError, ValueError):
                self._words.append(table.first[head](rest))
                self._places.append(place)
                return True
            use = table.with_label.get(head)
            if use and self._take_use(use, rest, label, place, line_start):
                return True
        if entry is UNKNOWN or "//" in rest:
            return None
        return self._take_instruction(entry, rest, label, place, line_start)

    def _take_directive(self, head: str, rest: str, place: int, line_start: int) -> bool | None:
        """Assemble the directive `head`: numbers, a string, `.set`, `.balign`, `.text` or the like.

        `rest` is the text after `head`. `place` and `line_start` are the source offsets of `head`
        and of the line's text. Return False if the line is not simple, None if only `_take_line`
        can parse it, else True.
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
            return self._symbols.assign(rest, place + len(head) + 1, line_start) or None
        if head in _SECTIONS:
            return self._take_section(head, place) if not rest or rest.isspace() else None
        if head == ".balign" and _STEP.fullmatch(rest) and self._out.pads_with_zeros:
            is_alone = place == line_start  # it has no label
            segment = self._end_segment(place)
            self._out.align(int(rest))
            self._is_elsewhere = True
            self._begin_segment(segment if is_alone else None, head, rest, place)
            return True
        return None

    def _take_section(self, name: str, place: int) -> bool:
        """Carry out `.text`, `.data` or `.bss` at offset `place`; return False after a mistake."""
        segment = self._end_segment(place)
        try:
            table = self._enter_section(place, name)
        except Mistake:
            return False  # the reader reports it
        self.is_open = table is not None
        self._begin_area(NO_ENCODERS if table is None else table)
        self._begin_segment(segment, name, "", place)
        return True

    def _end_segment(self, place: int) -> Segment | None:
        """Return the effects of the recorded lines before the directive at source offset `place`.

        Return None if `take` records no lines, or if the same lines could have other effects
        elsewhere.
        """
        self._out.flush()
        return self._out.end_segment(self._source.start_of_line(place)) if self._records else None

    def _begin_segment(self, before: Segment | None, head: str, rest: str, place: int) -> None:
        """Store the recorded effects `before`, and begin to record the lines after a directive.

        The directive `head` with the operands `rest`, at source offset `place`, is stored with
        these effects. Do nothing if `take` records no lines.
        """
        if self._records:
            self._out.keep(before, Ending(head, rest, place))
            self._out.begin_segment(self._source.following_line(place))

    def _take_use(
        self, use: LabelEncoder, rest: str, label: str, place: int, line_start: int
    ) -> bool:
        """Assemble an instruction whose last operand is a label. Return False for any other line.

        `use` is the encoder of the mnemonic, `rest` the text after it. `label` is the line's label
        or empty. `place` and `line_start` are the source offsets of mnemonic and line.
        """
        split, encoder, count = use
        try:
            bits, text = split(rest)
        except (KeyError, ValueError):
            return False
        name, out = text.strip(" "), self._out
        symbol = self._scope.symbols.get(name)
        if symbol is None:
            if name[-1:] == "b" and name[:-1] in _DIGITS and not label:
                symbol = self._scope.latest(int(name[:-1]))
                if symbol is None or symbol.area is not out.area:
                    return False
            elif not is_name(name) or name in self._scope.table.shared:
                return False
        if symbol is not None and not self._symbols.is_label(symbol):
            return False
        here = out.base + WORD_BYTES * len(self._words)
        known = out.refer(symbol, here, bits, encoder, "", name, line_start, count)
        if known is None:
            return False
        if count == 1:
            self._words.append(known)
            self._places.append(place)
        else:
            self._words += words_of(known, count)
            self._places += [place] * count
        return True

    def _take_line(self, start: int) -> bool:
        """Assemble the line at source offset `start`. Return False if the line is not simple."""
        match = LINE.match(self._source.text, start)
        assert match is not None
        label, head, rest = match.groups()
        here = 0
        if label is not None:
            if label in self._scope.symbols or self._scope.is_restricted(label):
                return False
            here = self._out.base + WORD_BYTES * len(self._words)
        if head is not None:
            if head in self._macros or head in _SECTIONS or not self._take_statement(match):
                return False
        elif rest != "":
            return False
        if label is not None:
            self._out.define(label, logical_line(self._source, match), here)
        return True

    def _take_statement(self, match: re.Match[str]) -> bool:
        """Assemble the statement of the line in `match`. Return False if it is not simple."""
        label, head, rest = match.groups()
        place, line_start = match.start(2), statement_start(match)
        table = NO_ENCODERS if self._out.base % WORD_BYTES else self._instructions
        with suppress(KeyError, ValueError):
            self._words.append(table.first[head](rest))
            self._places.append(place)
            return True
        entry = table[head]
        if entry is not UNKNOWN:
            return self._take_instruction(entry, rest, label or "", place, line_start)
        if head in _ASSIGNMENTS:
            return not label and self._symbols.assign(rest, match.start(3), line_start)
        size = NUMBER_SIZES.get(head)
        return size is not None and self._data(size, rest, place, line_start)

    def _take_instruction(
        self, entry: Entry, rest: str, label: str, place: int, line_start: int
    ) -> bool:
        """Assemble an instruction that the first encoder rejects; return whether it is simple.

        `entry` has the encoders of the mnemonic, `rest` is the text after it. `label` is the line's
        label or empty. `place` and `line_start` are the source offsets of mnemonic and line.
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
        """Return the words of an instruction with operands `text`; None if it is not simple.

        `entry` has the encoders of the mnemonic. `label` is the line's label or empty, and
        `line_start` the source offset of the line.
        """
        if entry.choice is not None:
            return self._encode_choice(entry.choice, text)
        for plan in entry.others:
            assert plan.encode is not None
            try:
                bits = plan.encode(text)
            except (KeyError, ValueError):
                continue
            return words_of(bits, plan.words)
        texts = text.split(",")
        for plan in entry.with_symbol:
            waiting = plan.encode_partly(texts)
            if waiting is not None:
                return self._defer(plan, *waiting, label, line_start)
        return None

    def _encode_choice(self, choice: Choice, text: str) -> list[int] | None:
        """Return the words of an instruction whose encoding depends on one operand's value.

        `text` has the operands. Return None if the line is not simple.
        """
        place, encode = choice
        texts = text.split(",")
        known = self._symbols.number(texts[place]) if place < len(texts) else None
        words = encode(texts, known[0]) if known is not None else None
        if words is not None and known is not None and known[1]:
            here, size = self._out.here, WORD_BYTES * len(words)
            again = partial(bytes_of_choice, encode, texts, size)
            self._symbols.put(Field(here, size, known[1], known[0], again))
        return words

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
        """Return the words of an instruction with a symbol, as far as their bits are known.

        `plan` encodes the instruction. `bits` are the known bits; `encoder`, `modifier` and `name`
        belong to the operand with the symbol. `label` is the line's label or empty, `line_start`
        the source offset of the line. Return None if the line is not simple.
        """
        here = self._out.base + WORD_BYTES * len(self._words)
        if name[0].isdigit():
            if label[:1].isdigit():
                return None  # it may be the label of this line
        else:
            symbols = self._symbols
            number = symbols.variable(self._scope.symbols.get(name))
            if number is not None:
                encode = partial(
                    bytes_with_number, bits, encoder, modifier, WORD_BYTES * plan.words
                )
                data = encode(number)
                if data is None:
                    return None
                symbols.put(Field(here, len(data), name, number, encode))
                return list(unpack(f"<{plan.words}I", data))
        found = self._out.label(name)
        if found is None:
            return None
        symbol, reference = found
        known = self._out.refer(
            symbol, here, bits, encoder, modifier, reference, line_start, plan.words
        )
        return None if known is None else words_of(known, plan.words)

    def _data(self, size: int, rest: str, place: int, line_start: int) -> bool:
        """Assemble `rest`, numbers of `size` bytes, as data. Return whether the line is simple.

        `place` and `line_start` are the source offsets of the directive and of the line's text.
        """
        plain = encode_numbers(rest, size)
        if plain is not None:
            self._put_bytes(plain, place)
            return True
        low, high = limits(size)
        offset = self._out.here
        data, items, fields = bytearray(), list[Item](), []
        for number, text in enumerate(rest.split(",")):
            name, at, value = text.strip(" \t"), offset + len(data), 0
            symbol = self._scope.symbols.get(name)
            is_label = self._symbols.is_label(symbol)
            known = None if is_label else self._symbols.number(text)
            if known is not None:
                value, variable = known
                if variable:
                    fields.append(Field(at, size, variable, value))
            elif is_label or (is_name(name) and self._symbols.is_plain(name, symbol)):
                items.append((at, number, size, "", name, line_start))
            else:
                return False
            if not low <= value <= high:
                return False
            data += (value & high).to_bytes(size, "little")
        self._put_bytes(data, place)
        for field in fields:
            self._symbols.put(field)
        for item in items:
            self._out.put_number_later(item)
        return True

    def _put_bytes(self, data: bytes | bytearray, place: int) -> None:
        """Append the data of a line to the area; `place` is the source offset of the directive."""
        self._out.put_bytes(data, place)
        self._is_elsewhere = len(data) % WORD_BYTES != 0
