"""Beat maps: they find the position and length of any beat of a transfer without a loop."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import gcd

from macaw.emu.dma.transfer import Transfer
from macaw.emu.rules.transfers import beat_length
from macaw.isa.typed_records import NamedTuple

Position = tuple[int, int]  # row number in the transfer, byte number in the row


class _RowBeats(NamedTuple):
    """The division of one row into beats.

    `first` and `last` are the numbers of bytes in the first and the last beat. `skew` is the number
    of bytes from the last multiple of the width to the first byte of the row.
    """

    skew: int
    beats: int
    first: int
    last: int


class BeatMap:
    """The beats of a transfer with ascending addresses in each row, numbered from 0 in time order.

    A beat ends where the address on the anchor side is a multiple of `width`. The anchor side is
    the source or the destination, whichever decides the alignment (`Transfer.anchor`). `anchor` is
    the address of the first row on that side; each row starts `stride` bytes after the previous
    one. After `period` rows the addresses have the same remainders modulo `width` again, and so the
    same beats. The class computes only that many rows.
    """

    def __init__(self, anchor: int, stride: int, row_bytes: int, width: int) -> None:
        self.row_bytes, self.width = row_bytes, width
        self.period = width // gcd(stride, width)
        self.rows = [self._row((anchor + row * stride) % width) for row in range(self.period)]
        self.before = [0, *accumulate(row.beats for row in self.rows)]
        self.narrow_before = [0, *accumulate(self._narrow(row, row.beats) for row in self.rows)]

    def _row(self, skew: int) -> _RowBeats:
        end = skew + self.row_bytes
        beats = -(-end // self.width)
        first = min(self.row_bytes, self.width - skew)
        return _RowBeats(skew, beats, first, first if beats == 1 else (end - 1) % self.width + 1)

    def number(self, row: int, byte: int) -> int:
        """Return the number of the beat that starts at byte `byte` of row `row`."""
        turn, row = divmod(row, self.period)
        first = turn * self.before[-1] + self.before[row]  # number of the row's first beat
        return first + (self.rows[row].skew + byte) // self.width if byte else first

    def position(self, number: int) -> Position:
        """Return where beat `number` starts: the number of its row, and the byte in this row."""
        turn, number = divmod(number, self.before[-1])
        row = bisect_right(self.before, number) - 1
        beat = number - self.before[row]
        byte = beat * self.width - self.rows[row].skew if beat else 0
        return turn * self.period + row, byte

    def length(self, position: Position) -> int:
        """Return the number of bytes of the beat that starts at `position`: (row, byte)."""
        row, byte = position
        skew = self.rows[row % self.period].skew
        return beat_length(skew, byte, self.row_bytes, self.width)

    def narrow(self, number: int) -> int:
        """Return how many of the beats before beat `number` have fewer bytes than `width`."""
        turn, number = divmod(number, self.before[-1])
        row = bisect_right(self.before, number) - 1
        within = self._narrow(self.rows[row], number - self.before[row]) if number else 0
        return turn * self.narrow_before[-1] + self.narrow_before[row] + within

    def _narrow(self, row: _RowBeats, beats: int) -> int:
        """Return how many of the first `beats` beats of a row have fewer bytes than `width`."""
        first = int(beats > 0 and row.first < self.width)
        return first + int(beats == row.beats > 1 and row.last < self.width)


def beat_map(transfer: Transfer, width: int) -> BeatMap:
    """Return the beats, of at most `width` bytes, of a transfer whose rows do not overlap."""
    anchor, stride = transfer.anchor
    return _beat_map(anchor % width, stride % width, transfer.row_bytes, width)


@lru_cache(maxsize=256)
def _beat_map(anchor: int, stride: int, row_bytes: int, width: int) -> BeatMap:
    return BeatMap(anchor, stride, row_bytes, width)
