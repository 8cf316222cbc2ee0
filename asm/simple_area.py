"""Appends words, numbers and labels to an area, for the lines that need no parser.

In an editor the same lines are assembled again after each edit. So a `SimpleArea` can record
the effects of consecutive lines as a `Segment`, and can repeat them at another place.
"""

from __future__ import annotations

from collections.abc import Collection
from struct import pack

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.deferred_fixups import DeferredFixups
from macaw.asm.expressions import Address
from macaw.asm.label_references import Item, LocalReference
from macaw.asm.layout import Area
from macaw.asm.operand_encoder import WORD_BYTES, OperandEncoder
from macaw.asm.recorded_text import Conditions, Ending, Label, RecordedText, Reference, Segment
from macaw.asm.round_trace import Waiting
from macaw.asm.row_encoder import EncoderTable
from macaw.asm.simple_symbols import SimpleSymbols
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.symbols import Definition, Scope


class SimpleArea:
    """Appends the words, numbers and labels of simple lines of a source to the current area.

    `words` are the collected words that are not in the area yet, and `places` the source offsets of
    their mnemonics. The first word will be at offset `base` of the area. `macros` are the words
    that begin macro calls. If `recorded` is not None, the object stores segments there.
    """

    def __init__(
        self,
        state: AssemblyState,
        part: CorePart | None,
        source: SourceText,
        scope: Scope,
        macros: Collection[str],
        recorded: RecordedText | None,
    ) -> None:
        self._state, self._part, self.source, self.scope = state, part, source, scope
        self.symbols = SimpleSymbols(state, source, scope)
        self.macros = macros
        self.recorded = recorded
        self._macro_names = frozenset(macros if recorded is not None else ())
        self._fixups: dict[Area, DeferredFixups] = {}
        # Of the segment that is being recorded: its labels with their index in the events.
        self._records = False
        self._labels: dict[Definition, int] = {}
        self._events: list[Label | Reference] = []
        self.words: list[int] = []
        self.places: list[int] = []

    def enter(self, table: EncoderTable) -> None:
        """Continue at the end of the run's current area; `table` has the encoders of the area."""
        state = self._state
        self.area = area = state.area
        self.base = area.size
        self._table = table
        plan = state.layout.plans.get(area.section)
        self._marks_data = plan is not None and plan.core is not None
        self.pads_with_zeros = plan is not None and plan.core is None and "x" not in plan.flags
        deferred = self._fixups.get(area)
        if deferred is None:
            deferred = DeferredFixups(state, self.source, self.scope, area, self._part)
            self._fixups[area] = deferred
        self._deferred = deferred.items

    @property
    def here(self) -> int:
        """The offset of the next byte in the area."""
        return self.base + WORD_BYTES * len(self.words)

    # --- what lines do ---

    def define(self, name: str, line: LogicalLine, offset: int) -> Definition:
        """Define the label `name` of `line` at the byte `offset` of the area."""
        symbol = self.symbols.define(name, line, Address._make((self.area, offset)))
        if self._records:
            self._labels[symbol] = len(self._events)
            place = line.start - self._start
            self._events.append(Label(offset - self._first, name, place, line.text, False))
        return symbol

    def label(self, name: str) -> tuple[Definition | None, str | LocalReference] | None:
        """Return the label that `name` means here, and the reference to it.

        The label is None if it is not defined yet. If `name` may be something else than a label,
        the whole result is None.
        """
        if not name[0].isdigit():
            symbol = self.scope.symbols.get(name)
            return (symbol, name) if self.symbols.is_plain(name, symbol) else None
        reference = LocalReference(int(name[:-1]), self._state.next_ordinal(), name[-1] == "f")
        if reference.forward:
            return None, reference
        symbol = self.scope.numbered_near(*reference)
        return (symbol, reference) if self.symbols.is_label(symbol) else None

    def refer(
        self,
        symbol: Definition | None,
        offset: int,
        bits: int,
        encoder: OperandEncoder,
        modifier: str,
        reference: str | LocalReference,
        line_start: int,
        words: int,
    ) -> int | None:
        """Return the bits of an instruction that refers to a label, as far as they are known.

        Return None if the label's address does not fit. `symbol` is the label; None if it is not
        defined yet. `words` is the number of the instruction's words. The other arguments are the
        members of an `Item` (`asm/label_references.py`).
        """
        if symbol is not None and encoder.by_distance and not modifier:
            value = symbol.value
            assert isinstance(value, Address)
            if value.area is self.area:
                known = encoder.distances.get(value.offset - offset)
                if known is None:
                    known = encoder.bits_of_address("", value.offset, offset)
                if known is None:
                    return None
                self.symbols.varies = True
                if self._records and symbol not in self._labels:
                    item: Item = offset, bits, encoder, modifier, reference, line_start
                    self._record(item, words)
                return bits | known
        if self._state.trace is None:
            self.symbols.varies = True
        else:
            waiting = Waiting(offset, WORD_BYTES * words, str(reference))
            self.symbols.wait(waiting, encoder.needs_address)
        item = offset, bits, encoder, modifier, reference, line_start
        self._deferred.append(item)
        if self._records:
            self._record(item, words)
        return bits

    def put_number_later(self, item: Item) -> None:
        """Let a number in the data get the address of a label after the layout.

        `item` says where the number is, and which label it refers to.
        """
        offset, _index, size, _modifier, name, _line_start = item
        assert isinstance(size, int)
        if self._state.trace is None:
            self.symbols.varies = True
        else:
            self.symbols.wait(Waiting(offset, size, str(name)), depends_on_place=False)
        self._deferred.append(item)
        if self._records:
            self._record(item, 0)

    def put_bytes(self, data: bytes | bytearray, place: int) -> None:
        """Append the data of a line to the area; `place` is the source offset of the directive."""
        if self.words:
            self.flush()
        if self._marks_data:
            self._state.line_table.add(self.area, self.base, self.source, place)
        self.area.data += data
        self.base += len(data)

    def align(self, step: int) -> None:
        """Append zeros up to a multiple of `step` bytes."""
        self.flush()
        self.symbols.varies = True
        self.area.align_to(step)
        self.base = self.area.size

    def flush(self) -> None:
        """Append the words that the object has collected to the area."""
        words = self.words
        if words:
            self._state.instructions += len(words)
            self.area.data += pack(f"<{len(words)}I", *words)
            self._state.line_table.add_words(
                self.area, self.base, WORD_BYTES, self.source, self.places
            )
            self.base += WORD_BYTES * len(words)
            words.clear()
            self.places.clear()

    def finish(self) -> None:
        """Store the remaining words and fixups in the assembly state."""
        self.flush()
        if self.symbols.varies:
            self._state.effects += 1
        waiting = (deferred.apply for deferred in self._fixups.values() if deferred.items)
        self._state.fixups += waiting

    # --- segments ---

    def begin_segment(self, start: int) -> None:
        """Begin to record the effects of the lines from the source offset `start` on."""
        self.flush()
        self._records = True
        self._start, self._first = start, self.base
        self._started_with = self._conditions()
        self._labels.clear()
        self._events.clear()
        self._row, self._instructions = len(self._state.line_table), self._state.instructions
        self.symbols.uses_numbers = False

    def _conditions(self) -> Conditions:
        return Conditions(self._marks_data, self.base % WORD_BYTES, self._macro_names)

    def _record(self, item: Item, words: int) -> None:
        offset, bits, encoder, modifier, reference, line_start = item
        offset, line_start = offset - self._first, line_start - self._start
        item = offset, bits, encoder, modifier, reference, line_start
        self._events.append(Reference(item, words))

    def end_segment(self, end: int) -> Segment | None:
        """End the recording. Return the effects of the lines up to the source offset `end`.

        Return None if the same lines could have other effects elsewhere, so that their effects
        cannot be repeated.
        """
        if not self._records:
            return None
        self.flush()
        self._records = False
        text, start = self.source.text, self._start
        if self.symbols.uses_numbers or (end > start and text[end - 1] != "\n"):
            return None
        for symbol, index in self._labels.items():
            label = self._events[index]
            assert isinstance(label, Label)
            if label.place < 0:
                return None  # it is in the line of the directive before the segment
            if symbol.is_used:
                self._events[index] = label._replace(is_used=True)
        offsets, places = self._state.line_table.rows_from(self._row)
        return Segment(
            end - start,
            end - start,
            self._table,
            self._started_with,
            bytes(self.area.data[self._first :]),
            self._state.instructions - self._instructions,
            [offset - self._first for offset in offsets],
            [place - start for place in places],
            tuple(self._events),
        )

    def keep(self, segment: Segment | None, ending: Ending | None = None) -> None:
        """Store the segment that `end_segment` has returned, unless it is None.

        `ending` is the directive in the next line, if there is one; the segment then ends with the
        line of the directive.
        """
        if segment is None or self.recorded is None:
            return
        if ending is not None:
            end = self.source.following_line(ending.place)
            place = ending.place - self._start
            segment = segment._replace(
                length=end - self._start, ending=ending._replace(place=place)
            )
        if segment.length:
            self.recorded.segments[self._start] = segment

    def repeat(self, segment: Segment, start: int) -> bool:
        """Repeat the effects of a recorded segment, for the same lines at source offset `start`.

        Return False, and do nothing, if the lines would have other effects here. The caller carries
        out the directive in the segment's last line (`segment.ending`).
        """
        self.flush()
        found = self._found(segment)
        if found is None:
            return False
        first, state, data = self.base, self._state, bytearray(segment.data)
        symbols = iter(found)
        for event in segment.events:
            if isinstance(event, Label):
                line = LogicalLine(self.source, start + event.place, event.text)
                self.define(event.name, line, first + event.offset).is_used = event.is_used
                continue
            words = event.words
            offset, bits, encoder, modifier, reference, line_start = event.item
            if isinstance(reference, LocalReference):
                reference = reference._replace(ordinal=state.next_ordinal())
            symbol, here, place = next(symbols), first + offset, start + line_start
            if isinstance(encoder, int):
                self.put_number_later((here, bits, encoder, modifier, reference, place))
                continue
            known = self.refer(symbol, here, bits, encoder, modifier, reference, place, words)
            assert known is not None  # `_found` has checked it
            if known != bits:
                size = WORD_BYTES * words
                data[offset : offset + size] = known.to_bytes(size, "little")
        rows = [first + offset for offset in segment.offsets]
        places = [start + place for place in segment.places]
        state.line_table.add_rows(self.area, rows, self.source, places)
        state.instructions += segment.instructions
        self.area.data += data
        self.base += len(data)
        return True

    def _found(self, segment: Segment) -> list[Definition | None] | None:
        """Return the label of each reference in a segment, as if the segment began at this place.

        A label that is not defined yet is None. The whole result is None if the lines of the
        recorded segment would have other effects here than the recorded ones.
        """
        first, area = self.base, self.area
        symbols, is_restricted = self.scope.symbols, self.scope.is_restricted
        if segment.table is not self._table or segment.conditions != self._conditions():
            return None
        found: list[Definition | None] = []
        for event in segment.events:
            if isinstance(event, Label):
                if event.name in symbols or is_restricted(event.name):
                    return None
                continue
            offset, _bits, encoder, modifier, reference, _line_start = event.item
            label = self.label(str(reference))
            if label is None:
                return None
            symbol = label[0]
            found.append(symbol)
            if symbol is None or isinstance(encoder, int):
                continue
            value = symbol.value
            assert isinstance(value, Address)
            is_near = encoder.by_distance and not modifier and value.area is area
            if is_near and encoder.bits_of_address("", value.offset, first + offset) is None:
                return None
        return found
