"""Beats of the return bus, several at once, for the fast engine.

As long as nobody else asks for the half of the unit and the bus brings nothing, a beat a cycle
goes, of the clusters that store in turn. Up to the last beat of one of the stores all that
changes are counts, and the bytes of the half.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from macaw.emu.pe.results import Beats
from macaw.emu.pe.tracing import NOBODY

if TYPE_CHECKING:
    from macaw.emu.banks import Banks
    from macaw.emu.pages import Pages
    from macaw.emu.pe.row import Row

_FEWEST = 2  # beats that are worth it


@dataclass
class Returns:
    """Beats in the cycles `first` to `end` - 1.

    The beat before them is written when they begin; the next one goes in the cycle `end`, when
    the store of the last of these may end.
    """

    half: int
    first: int
    end: int
    clusters: list[int]  # that store, in their turn
    beats: Beats

    @classmethod
    def after(cls, row: Row, cycle: int, until: int) -> Returns | None:
        """Those behind the beat that was written in `cycle` and before the cycle `until`.

        None if they may not go by themselves.
        """
        state, controls = row.state, row.controls
        own = controls[state.returning].storing()
        if state.beat is not None or own is None or len(own["beats"]) == 1:
            return None
        count = row.shape.clusters
        order = [(state.returning + 1 + step) % count for step in range(count)]
        storing = [(cluster, controls[cluster].storing()) for cluster in order]
        stores = [(cluster, op["beats"]) for cluster, op in storing if op is not None]
        left = [len(beats) for _, beats in stores]
        left[-1] -= 1  # its first beat is the one that is written
        rounds, number = min(left) - 1, len(stores)
        # The first of the stores to end sends its last beat as the last one of all.
        most = min(rounds * number + left.index(rounds + 1) + 1, until - cycle - 1)
        if most < _FEWEST:
            return None
        queues = [beats[: rounds + 2] for _, beats in stores]
        del queues[-1][0]
        memory = row.device.memory
        # Each has at least a beat for every round.
        beats = [beat for turn in zip(*queues, strict=False) for beat in turn][:most]
        beats = beats[: _whole(memory.banks, row.shape.bus_bytes, beats)]
        if len(beats) < _FEWEST:
            return None
        half, _ = memory.locate_half(memory.feeding_address(row.shape.row), 1)
        return cls(half, cycle + 1, cycle + 1 + len(beats), [x for x, _ in stores], beats)

    def shares(self, row: Row, beats: int) -> list[tuple[int, int]]:
        """Whose the first `beats` of them are: numbers of exes, and how many each has."""
        if not row.tracing:
            return [(NOBODY, beats)]
        number, found = len(self.clusters), Counter[int]()
        for place, cluster in enumerate(self.clusters):
            found[row.tracer.storing(cluster)] += (beats - 1 - place) // number + 1
        return list(found.items())

    def write(self, row: Row, now: int) -> int:
        """Bring the return bus to the start of cycle `now`; how many beats came before it."""
        count = min(now, self.end) - self.first
        if count <= 0:
            return 0
        row.results.take_in()  # the beat in front of them
        state, number = row.state, len(self.clusters)
        pages = row.device.memory.halves[self.half]
        _write(pages, self.beats[:count])
        # The last one is left as if it had just been written.
        for place, cluster in enumerate(self.clusters):
            op = row.controls[cluster].storing()
            assert op is not None  # it has beats left
            del op["beats"][: (count - 2 - place) // number + 1]
        state.return_beats += count - 1
        state.return_bytes += sum(len(data) for _, data in self.beats[: count - 1])
        state.return_turn = (self.clusters[(count - 2) % number] + 1) % row.shape.clusters
        state.returning = self.clusters[(count - 1) % number]
        state.returned = self.first + count - 1
        return count


def _whole(banks: Banks, width: int, beats: Beats) -> int:
    """How many of the first beats go in a cycle each if nobody else asks for their banks."""
    # Bytes in one piece need at most that many banks.
    narrow = -(-(width - 1) // banks.width) + 1 <= banks.count
    for number, (ranges, _) in enumerate(beats):
        if not (narrow and len(ranges) == 1) and len(banks.pieces(ranges)) > 1:
            return number
    return len(beats)


def _write(pages: Pages, beats: Beats) -> None:
    """Write the bytes of beats, in their order."""
    width = len(beats[0][1])
    if all(len(ranges) == 1 and len(data) == width for ranges, data in beats):
        offsets = np.array([ranges[0][0] for ranges, _ in beats])
        ascending = np.sort(offsets)
        if (np.diff(ascending) >= width).all():  # the order does not count
            data = np.frombuffer(b"".join([data for _, data in beats]), np.uint8)
            pages.array[offsets[:, None] + np.arange(width)] = data.reshape(-1, width)
            pages.mark_at(ascending, width)
            return
    for ranges, piece in beats:
        at = 0
        for offset, length in ranges:
            pages.write(offset, piece[at : at + length])
            at += length
