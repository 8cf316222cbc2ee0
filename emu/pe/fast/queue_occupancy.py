"""How many loads move in each cycle of balanced macs, for the fast engine.

When a PE compares, moves and gives depends only on counts: how many loads its queues and its
neighbour's hold, which of these were given, and how many of each pair of weights are effectual. So
the cycles are counted first, each with a few operations on narrow numbers for all PEs at once.
Which loads they are is found afterwards (`balanced_state`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.balancing import FREE_PLACES
from macaw.emu.pe.state import Shape

DEEPEST = 64  # of queue 1: its given loads are the bits of a number
_STRETCH = 16  # cycles between two looks whether all is done

Bools = NDArray[np.bool_]
Numbers = NDArray[Any]


@dataclass
class LoadCounts:
    """What the PEs did in some cycles, (cycles, PEs)."""

    held: Numbers  # loads in queue 1 at the start of the cycle; a row more, for the end
    left: Bools  # the comparator had weights to look at
    free: Bools  # queue 1 has room for what it finds
    found: Numbers  # loads that it has put into queue 1, from the beginning to this cycle
    moves: Bools  # a load goes from queue 1 to queue 2
    moved: Numbers  # such loads, from the beginning to this cycle
    given: Bools  # a column more: PE p gives a load to the left in p, is given one in p + 1

    @classmethod
    def blank(cls, cycles: int, pes: int, kind: np.dtype[Any]) -> LoadCounts:
        """Uninitialised counts of some cycles, in which nothing is given."""
        flags = [np.empty((cycles, pes), np.bool_) for _ in range(3)]
        sums = [np.empty((cycles, pes), np.int32) for _ in range(2)]
        held, given = np.empty((cycles + 1, pes), kind), np.zeros((cycles, pes + 1), np.bool_)
        return cls(held, flags[0], flags[1], sums[0], flags[2], sums[1], given)

    @classmethod
    def joined(cls, parts: list[LoadCounts]) -> LoadCounts:
        """The counts of consecutive cycles."""
        held = [part.held[:-1] for part in parts] + [parts[-1].held[-1:]]
        others = zip(*(part._fields()[1:] for part in parts), strict=True)
        return cls(np.concatenate(held), *(np.concatenate(arrays) for arrays in others))

    def part(self, columns: slice, cycles: int) -> LoadCounts:
        """The first cycles of some PEs."""
        wide = slice(columns.start, columns.stop + 1)
        rows = [array[:cycles, columns] for array in self._fields()[1:-1]]
        return LoadCounts(self.held[: cycles + 1, columns], *[*rows, self.given[:cycles, wide]])

    def _fields(self) -> list[Numbers]:
        return [getattr(self, field.name) for field in fields(self)]


def padded(pairs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pairs of some PEs, (PEs, pairs), followed by the zeros that `QueueOccupancy` may read."""
    return np.pad(pairs, ((0, 0), (0, _STRETCH)))


class QueueOccupancy:
    """The queues of some PEs from one cycle of their macs on.

    `pairs` says how many of each two weights are effectual, PE after PE, `padded`; PE p examines
    those from `first[p]` to before `end[p]`. `held_1` and `held_2` are the loads in the queues, at
    most one in queue 2. `gifts` has a bit for each load in queue 1, the head lowest: whether it was
    given. `has_left` says which PEs may give to the PE before them.
    """

    def __init__(
        self,
        shape: Shape,
        pairs: NDArray[np.uint8],
        first: NDArray[np.intp],
        end: NDArray[np.intp],
        held_1: Numbers,
        held_2: Numbers,
        gifts: Numbers,
        has_left: Bools,
    ) -> None:
        depth = shape.load_queue_1
        bits = next(bits for bits in (8, 16, 32, 64) if depth <= bits)
        self.kind = kind = np.dtype(f"uint{bits}")
        self.pairs, self.next, self.end = pairs, first.copy(), end
        self.held, self.moves = held_1.astype(kind), held_2 > 0
        self.found = self.moved = np.zeros(first.size, np.int32)
        self.gifts = gifts.astype(kind)
        self.threshold = np.array(min(shape.balance_threshold, depth + 1), kind)
        self.most = np.array(depth - 2, kind)
        # The left neighbour has to hold less; PEs that have none find it full.
        self.room = np.where(has_left[1:], depth + 1 - FREE_PLACES, 0).astype(kind)
        self.one_place = shape.load_queue_2 == 1
        # The one load of a queue goes to queue 2, so with a threshold of 1 one has to look.
        self.slight = shape.balance_threshold == 1
        self.none, self.one = np.array(0, kind), np.array(1, kind)

    def run(self, cycles: int | None) -> LoadCounts:
        """Count at least so many cycles; None: up to the last one in which a PE has something to
        do.
        """
        parts = [self._stretch()]
        while self._at_work() and (cycles is None or len(parts) * _STRETCH < cycles):
            parts.append(self._stretch())
        return LoadCounts.joined(parts)

    def _at_work(self) -> bool:
        np.minimum(self.next, self.end, out=self.next)
        return bool(self.held.any() or self.moves.any() or (self.next < self.end).any())

    def _number(self, flags: Bools) -> Numbers:
        """Flags as numbers that can be added to counts."""
        return flags.view(self.kind) if self.kind.itemsize == 1 else flags

    def _stretch(self) -> LoadCounts:
        """Simulate some cycles as the reference does, on counts, all PEs at once."""
        done, number = LoadCounts.blank(_STRETCH, self.held.size, self.kind), self._number
        done.held[0] = self.held
        place, gifts, before, found, moved = (
            self.next,
            self.gifts,
            self.moves,
            self.found,
            self.moved,
        )
        came, enough = np.empty(place.size, np.uint8), np.empty(place.size - 1, self.kind)
        behind, bits = gifts.copy(), gifts.copy()
        could, fits = np.empty(enough.size, np.bool_), np.empty(enough.size, np.bool_)
        for now, later, near, own, left, free, more, moves, much, give, move, gave, got in zip(
            done.held[:-1],
            done.held[1:],
            done.held[:-1, :-1],
            done.held[:-1, 1:],
            done.left,
            done.free,
            done.found,
            done.moves,
            done.moved,
            done.given[:, 1:-1],
            number(done.moves),
            number(done.given[:, :-1]),
            number(done.given[:, 1:]),
            strict=True,
        ):
            np.greater(now, self.none, moves)
            if self.one_place:
                np.greater(moves, before, moves)
            before = moves
            moved = np.add(moved, moves, much)
            np.less(place, self.end, left)
            np.less_equal(now, self.most, free)
            self.pairs.take(place, out=came, mode="clip")
            np.multiply(came, free, came)
            np.add(place, free, place)
            found = np.add(found, came, more)

            np.add(near, self.threshold, enough)
            np.greater_equal(own, enough, could)
            np.less(near, self.room, fits)
            np.logical_and(could, fits, could)
            if self.slight:
                np.greater(own, move[1:], fits)
                np.logical_and(could, fits, could)
            np.right_shift(gifts, move, gifts)
            np.bitwise_and(gifts, self.one, behind)
            np.greater(number(could), behind[1:], give)
            np.right_shift(gifts, gave, gifts)

            np.subtract(now, move, later)
            np.subtract(later, gave, later)
            np.add(later, came, later)
            np.left_shift(got, later, bits)
            np.bitwise_or(gifts, bits, gifts)
            np.add(later, got, later)
        self.held, self.moves = done.held[-1], before
        self.found, self.moved = found, moved
        return done
