"""Adds the rounds of a repetition in which each round adds a constant to some symbols.

    .set n, 0
    .rept 1000
    .word n                 # in each round 1 more than in the one before it
    .set n, n + 1
    .endr

The trace of the first round (`asm/round_trace.py`) shows how much each symbol grows in a round. So
the numbers of all later rounds are known, and their bytes are computed column by column: the same
field of all rounds at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile

from macaw.asm.layout import Area
from macaw.asm.round_trace import Assignment, Entry, Field, Waiting
from macaw.asm.simple_numbers import limits
from macaw.asm.symbols import Scope

_CODES = {array(code).itemsize: code for code in "QLIHB"}  # codes of unsigned numbers, by bytes
_WATCHED = 1 << 10  # numbers between two calls of `watch`
_FAR = 1 << 62  # numbers beyond it may wrap around in expressions


class CountedRounds:
    """The later rounds of a repetition whose first round has been read.

    The first round has the bytes `data` at offset `start` of `area`; `trace` shows what the lines
    of the round did with symbols. `scope` has the symbols after the first round.
    """

    def __init__(
        self, scope: Scope, area: Area, start: int, data: bytes, trace: Sequence[Entry]
    ) -> None:
        self._scope = scope
        self._area = area
        self._start = start
        self._data = data
        self._fields = [item for item in trace if isinstance(item, Field)]
        self._waiting = [item for item in trace if isinstance(item, Waiting)]
        # By assigned symbol: the symbol whose value at the start of the round determines the new
        # value, or None.
        self._sources: dict[str, str | None] = {}
        self._before: dict[str, int] = {}  # values at the start of the round
        self._field_sources: list[str | None] = []
        for item in trace:
            if isinstance(item, Assignment):
                self._assign(item)
            elif isinstance(item, Field):
                self._field_sources.append(self._source(item.name))

    def _source(self, name: str) -> str | None:
        return self._sources.get(name, name)

    def _assign(self, item: Assignment) -> None:
        if item.source is None:
            self._sources[item.name] = None
            return
        if item.source not in self._sources:
            self._before[item.source] = item.before
        self._sources[item.name] = self._source(item.source)

    def _step(self, source: str | None) -> int:
        """Return by how much the value of the symbol `source` grows in each round.

        Return 0 if no line of the round sets the symbol.
        """
        if source is None or source not in self._sources:
            return 0
        value = self._scope.symbols[source].value
        assert isinstance(value, int)
        return value - self._before[source]

    def _is_counted(self) -> bool:
        """Return whether each number in the bytes grows by a constant step from round to round.

        Two conditions must hold. A round sets each symbol that it also reads to the symbol's old
        value plus a constant. And it does not set a symbol whose value its bytes get only after the
        layout.
        """
        read = {*self._field_sources, *self._sources.values()} - {None}
        changed = (name for name in read if name is not None and name in self._sources)
        # A symbol that a round reads and sets must be set from its own value in the round before.
        if any(self._sources[name] != name for name in changed):
            return False
        return not any(item.name in self._sources for item in self._waiting)

    def most(self, rounds: int, watch: Callable[[], None]) -> int:
        """Return for how many of the next `rounds` rounds all numbers fit into their fields.

        Return 0 if some numbers do not grow by a constant step. The method calls `watch` from time
        to time, so that the caller can interrupt the method.
        """
        if not rounds or not self._is_counted():
            return 0
        steps = [self._step(source) for source in self._field_sources]
        values = [self._scope.symbols[name].value for name in self._sources]
        numbers = [value for value in values if isinstance(value, int)]
        growth = max(map(abs, (*steps, *map(self._step, self._sources.values()))), default=0)
        if max(map(abs, numbers), default=0) + rounds * growth >= _FAR:
            return 0
        self._columns = []
        for field, step in zip(self._fields, steps, strict=True):
            column = _column(field, step, rounds, watch)
            rounds = min(rounds, len(column) // field.size)
            if not rounds:
                return 0
            self._columns.append(column)
        return rounds

    def add(self, rounds: int) -> Iterator[partial[None]]:
        """Append the bytes of the next `rounds` rounds, and set the symbols as these rounds do.

        `rounds` is at most the last result of `most`. Some bytes may get the value of a symbol only
        after the layout. For these bytes, yield a function that the caller calls after the layout;
        the function copies the bytes from the first round to the rounds that `add` has appended.
        """
        size, end = len(self._data), self._start + len(self._data)
        data = bytearray(self._data * rounds)
        for field, column in zip(self._fields, self._columns, strict=True):
            for place in range(field.size):
                first = field.offset - self._start + place
                data[first::size] = column[place : rounds * field.size : field.size]
        assert self._area.size == end
        self._area.data += data
        steps = {name: self._step(source) for name, source in self._sources.items()}
        for name, step in steps.items():
            symbol = self._scope.symbols[name]
            assert isinstance(symbol.value, int)
            self._scope.define(symbol.with_value(symbol.value + rounds * step))
        if self._waiting:
            yield partial(_copy_later, self._area, self._waiting, size, rounds)


def _column(field: Field, step: int, rounds: int, watch: Callable[[], None]) -> bytes | bytearray:
    """Return the bytes of one field in each of the next `rounds` rounds, in their order.

    In each round the number in the field is greater by `step`. The result ends before the first
    round in which the number does not fit.
    """
    first, size = field.value + step, field.size
    if not step:
        numbers: Sequence[int] = (first,)
    else:
        numbers = range(first, first + step * rounds, step)
    if field.encode is None:
        low, high = limits(size)
        if numbers[0] >= 0 and 0 <= numbers[-1] <= high:
            column = array(_CODES[size], numbers).tobytes()
        else:
            fitting = takewhile(lambda number: low <= number <= high, numbers)
            column = b"".join((number & high).to_bytes(size, "little") for number in fitting)
    else:
        pieces: list[bytes] = []
        for number in numbers:
            if len(pieces) % _WATCHED == 0:
                watch()
            piece = field.encode(number)
            if piece is None:
                break
            pieces.append(piece)
        column = b"".join(pieces)
    return column * rounds if not step else column


def _copy_later(area: Area, items: Sequence[Waiting], size: int, rounds: int) -> None:
    """Copy some bytes of the first round to the later rounds, after the layout.

    `items` says which bytes of the first round these are. There are `rounds` later rounds, each of
    `size` bytes.
    """
    for item in items:
        for place in range(item.offset, item.offset + item.size):
            end = place + size * rounds
            area.data[place + size : end + 1 : size] = area.data[place : place + 1] * rounds
