"""Where the beats of a transfer begin: by number, without going through them."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import gcd
from typing import NamedTuple

from macaw.emu.dma.transfer import Transfer

Place = tuple[int, int]  # row, bytes of it that lie in front


class _Row(NamedTuple):
    """The beats of a row."""

    skew: int  # bytes between the line and the row's first byte
    beats: int
    first: int  # bytes of the first beat
    last: int  # bytes of the last one


class Cut:
    """The beats of rows that are moved upwards; those of `Transfer.beat`, numbered from 0 on.

    A row is cut where its anchor is a multiple of `width`; the anchor of the next one is
    `stride` further. Rows that begin alike are alike, so a few of them say all.
    """

    def __init__(self, anchor: int, stride: int, row_bytes: int, width: int) -> None:
        self.row_bytes, self.width = row_bytes, width
        self.period = width // gcd(stride, width)
        self.rows = [self._row((anchor + row * stride) % width) for row in range(self.period)]
        self.before = [0, *accumulate(row.beats for row in self.rows)]
        self.narrow_before = [0, *accumulate(self._narrow(row, row.beats) for row in self.rows)]

    def _row(self, skew: int) -> _Row:
        end = skew + self.row_bytes
        beats = -(-end // self.width)
        first = min(self.row_bytes, self.width - skew)
        return _Row(skew, beats, first, first if beats == 1 else (end - 1) % self.width + 1)

    def number(self, row: int, position: int) -> int:
        """The number of the beat that begins at a place."""
        turn, row = divmod(row, self.period)
        found = turn * self.before[-1] + self.before[row]
        return found + (self.rows[row].skew + position) // self.width if position else found

    def place(self, number: int) -> Place:
        """Where a beat begins."""
        turn, number = divmod(number, self.before[-1])
        row = bisect_right(self.before, number) - 1
        beat = number - self.before[row]
        position = beat * self.width - self.rows[row].skew if beat else 0
        return turn * self.period + row, position

    def length(self, place: Place) -> int:
        """The bytes of the beat at a place."""
        row, position = place
        skew = self.rows[row % self.period].skew
        return min(self.row_bytes - position, self.width - (skew + position) % self.width)

    def bytes_before(self, number: int) -> int:
        """The bytes of all beats in front of one."""
        row, position = self.place(number)
        return row * self.row_bytes + position

    def narrow(self, number: int) -> int:
        """How many beats in front of one do not fill the width."""
        turn, number = divmod(number, self.before[-1])
        row = bisect_right(self.before, number) - 1
        within = self._narrow(self.rows[row], number - self.before[row]) if number else 0
        return turn * self.narrow_before[-1] + self.narrow_before[row] + within

    def _narrow(self, row: _Row, beats: int) -> int:
        """How many of the first beats of a row do not fill the width."""
        found = int(beats > 0 and row.first < self.width)
        return found + int(beats == row.beats > 1 and row.last < self.width)


def cut_of(transfer: Transfer, width: int) -> Cut:
    """The beats of a transfer whose rows do not overlap their destinations."""
    anchor, stride = transfer.anchor
    return _cut(anchor % width, stride % width, transfer.row_bytes, width)


@lru_cache(maxsize=256)
def _cut(anchor: int, stride: int, row_bytes: int, width: int) -> Cut:
    return Cut(anchor, stride, row_bytes, width)
