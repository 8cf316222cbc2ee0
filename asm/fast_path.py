"""Assembles simple lines, whose meaning is certain, many at a time and without the parser.

The grammar remains the definition of the language. A line is simple if its meaning is certain and
it has no mistake. Simple lines are: a label; an instruction whose operands are fixed words, plain
numbers or one symbol; numbers or a string as data; `.balign` of data; `.text`, `.data`, `.bss`;
`.set` of a number or of a symbol plus or minus a number.

`take` stops at the first line that is not simple, which the reader parses. If a symbol's value does
not fit its field, the grammar assembles that line again and reports the mistake.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.core_parts import CoreParts
from macaw.asm.recorded_text import RecordedText
from macaw.asm.row_encoder import NO_ENCODERS, EncoderTable, encoder_table
from macaw.asm.section_names import SectionWords
from macaw.asm.simple_area import SimpleArea
from macaw.asm.simple_lines import SimpleLines
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.symbols import Scope
from macaw.asm.syntax import Name

_NO_WORDS = SectionWords()
_MOST_MISSES = 8  # after more consecutive tries that take no line, not every line is tried;
_MOST_UNASKED = 8  # then at least one of this many consecutive lines is tried
_PIECE = 1 << 16  # characters between two calls of `watch`
_SEGMENT = 1 << 11  # characters of a recorded segment, about
_LEAST_ROOM = 1 << 16  # bytes; with less room the reader takes every line, and checks it
_BYTES_A_CHARACTER = 4  # at most, as in `.dword 1,1,1` and in a string


class FastPath:
    """Assembles the simple lines of a run."""

    enabled = True  # tests compare runs with and without the fast path

    def __init__(self, state: AssemblyState, parts: CoreParts) -> None:
        self._state = state
        self._parts = parts
        if state.record is not None:
            self.enabled = False  # a listing needs each statement by itself
        self._last_part: CorePart | None = None
        self._last_table = NO_ENCODERS  # of that part
        self._misses = 0  # consecutive tries that took no line
        self._asks = 0  # lines since the last try

    def take(self, source: SourceText, start: int, scope: Scope, macros: Collection[str]) -> int:
        """Assemble the simple lines from offset `start` up to the first line that is not simple.

        Return the offset of the first line that the method has not assembled. If few lines of a
        source are simple, trying costs more time than it saves. So after several calls that have
        assembled no line, some calls return `start` at once. A line whose mnemonic is in `macros`
        is not simple.
        """
        # If few lines are simple, trying costs more time than it saves.
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

    def is_open(self) -> bool:
        """Return whether the fast path may assemble the next lines and reuse earlier expansions.

        It may not, for example, if a listing needs each statement by itself.
        """
        part = self._parts.current
        if not self.enabled or (part is not None and part.reads_expansions):
            return False
        return self._table() is not None

    def _take(
        self,
        source: SourceText,
        start: int,
        scope: Scope,
        macros: Collection[str],
        table: EncoderTable,
    ) -> int:
        enter = partial(self._enter_section, source)
        while True:
            end = self._end(source.text, start)
            part, recorded = self._parts.current, self._recorded(source)
            out = SimpleArea(self._state, part, source, scope, macros, recorded)
            run = SimpleLines(out, table, enter)
            try:
                start = self._take_pieces(run, source.text, start, end, recorded)
            finally:
                run.finish()
            other = None if run.is_open else self._table()
            if other is None:
                return start
            table = other

    def _recorded(self, source: SourceText) -> RecordedText | None:
        """Return what earlier runs have recorded of a file; None if this run records nothing."""
        recordings = self._state.recordings
        if recordings is None or type(source) is not SourceText or self._state.trace is not None:
            return None
        return recordings.of(source.name, source.text)

    def _take_pieces(
        self, run: SimpleLines, text: str, start: int, end: int, recorded: RecordedText | None
    ) -> int:
        """Assemble the simple lines of `text` from offset `start` to `end`, a piece at a time.

        If `recorded` has the effects of some lines, the method repeats these effects and does not
        assemble the lines. Return the offset of the first line that is not simple, or `end`.
        """
        while True:
            if recorded is None:
                part = _end_of_line(text, start + _PIECE, end)
            else:
                start = run.repeat(start, end)
                following = min(end, recorded.following(start))
                part = _end_of_line(text, start + _SEGMENT, following)
            if not run.is_open:
                return start
            start = run.take(start, part)
            if start < part or part == end or not run.is_open:
                return start
            self._state.watch()

    def _enter_section(self, source: SourceText, place: int, name: str) -> EncoderTable | None:
        """Carry out the directive `name` (`.text`, `.data`, `.bss`) at the source offset `place`.

        Return the encoders of the new area. Return None if no line can be simple in this area, or
        if the rest of the text might not fit into external memory. Raises `Mistake`.
        """
        if not self._parts.enter_own_section(name):
            line = LogicalLine(source, place, name)
            self._parts.enter_section(line, Name(0, len(name), name), _NO_WORDS)
        self._state.next_ordinal()
        self._state.effects += 1
        return self._table() if self._end(source.text, place) == len(source.text) else None

    def _table(self) -> EncoderTable | None:
        """Return the encoders for the current part's instructions.

        Return None if no line can be simple at the current position.
        """
        part, area = self._parts.current, self._state.area
        if area.zeros or area.is_dropped or self._state.symbols.pending:
            return None
        if part is None and self._parts.awaits_control:
            return None
        if part is None:
            return NO_ENCODERS
        if part.accepts_anything or not part.places_labels(area):
            return None
        if type(part).instruction is not CorePart.instruction:
            return None
        if part is not self._last_part:
            self._last_part = part
            self._last_table = encoder_table(part.core, part.group_starters)
        return self._last_table

    def _end(self, text: str, start: int) -> int:
        """Return an offset in `text` up to which lines can be assembled without a check for room.

        The bytes of all lines from `start` up to this offset fit into external memory.
        """
        room = self._state.device.external_bytes - self._state.area.size - _LEAST_ROOM
        if (len(text) - start) * _BYTES_A_CHARACTER <= room:
            return len(text)
        return text.rfind("\n", start, start + max(0, room // _BYTES_A_CHARACTER)) + 1


def _end_of_line(text: str, offset: int, end: int) -> int:
    """Return the offset after the line that contains `offset`, at most `end`."""
    newline = text.find("\n", offset, end)
    return end if newline < 0 else newline + 1
