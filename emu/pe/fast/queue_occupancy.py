"""Counts how many loads move in each cycle of balanced macs, for the fast engine.

A load refers to a weight and an activation to multiply. The cycles in which a PE compares, moves
and gives loads depend on three things: the numbers of loads in its queues and in its neighbour's
queues, which of these loads a neighbour gave, and the number of effectual weights (with an
activation other than zero) in each pair. So this module simulates only these, with a few
operations on narrow integers in each cycle for all PEs at once. `balanced_state` then finds which
loads move.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.balancing import FREE_PLACES
from macaw.emu.pe.state import Shape
from macaw.isa.lazy_dataclass import dataclass

DEEPEST = 64  # the greatest depth of queue 1, whose given loads are bits of one integer
_STRETCH = 16  # cycles between two tests whether all PEs are done

Bools = NDArray[np.bool_]
Numbers = NDArray[Any]


@dataclass
class LoadCounts:
    """The loads that PEs found, moved and gave away in some cycles.

    The arrays have shape (cycles, PEs) unless a comment says otherwise. `q1_loads` has the numbers
    of loads in queue 1. `effectual` and `queue_moves` count from the first of the cycles on:
    `effectual` the loads that the comparator has found, `queue_moves` the loads that have moved
    from queue 1 to queue 2. The masks say where the comparator has weights to examine (`examines`),
    where queue 1 has room for the loads that it finds (`has_room`), where a load moves to queue 2
    (`moves`), and where a PE gives a load to its left neighbour (`gives`).
    """

    # loads in queue 1 at the start of the cycle; one more row has those at the end
    q1_loads: Numbers
    examines: Bools  # whether the comparator had weights to examine
    has_room: Bools  # whether queue 1 has room for the loads that the comparator finds
    # loads that the comparator put into queue 1, from the beginning to this cycle
    effectual: Numbers
    moves: Bools  # whether a load moves from queue 1 to queue 2
    queue_moves: Numbers  # the number of such moves, from the beginning to this cycle
    gives: Bools  # one more column: in column p PE p gives a load to the left, in p + 1 it gets one

    @classmethod
    def blank(cls, cycles: int, pes: int, kind: np.dtype[Any]) -> LoadCounts:
        """Return counts for `cycles` cycles of `pes` PEs, for the caller to fill in.

        `kind` is the type of the counts; `gives` is all False.
        """
        flags = [np.empty((cycles, pes), np.bool_) for _ in range(3)]
        sums = [np.empty((cycles, pes), np.int32) for _ in range(2)]
        q1_loads, gives = np.empty((cycles + 1, pes), kind), np.zeros((cycles, pes + 1), np.bool_)
        return cls(q1_loads, flags[0], flags[1], sums[0], flags[2], sums[1], gives)

    @classmethod
    def concatenate(cls, parts: list[LoadCounts]) -> LoadCounts:
        """Join the counts of consecutive cycles."""
        q1_loads = [part.q1_loads[:-1] for part in parts] + [parts[-1].q1_loads[-1:]]
        other_fields = zip(*(part._fields()[1:] for part in parts), strict=True)
        return cls(np.concatenate(q1_loads), *(np.concatenate(arrays) for arrays in other_fields))

    def part(self, columns: slice, cycles: int) -> LoadCounts:
        """Return the counts of the first `cycles` cycles, only for the PEs in `columns`."""
        wide = slice(columns.start, columns.stop + 1)
        rows = [array[:cycles, columns] for array in self._fields()[1:-1]]
        return LoadCounts(self.q1_loads[: cycles + 1, columns], *[*rows, self.gives[:cycles, wide]])

    def _fields(self) -> list[Numbers]:
        return [getattr(self, field.name) for field in fields(self)]


def padded(pairs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return `pairs` (PEs, pairs) with zeros appended; `QueueOccupancy` may read these zeros."""
    return np.pad(pairs, ((0, 0), (0, _STRETCH)))


class QueueOccupancy:
    """The load queues of some PEs, from one cycle of their macs on.

    `pairs` has, for each pair of weights, how many are effectual, that is, have an activation other
    than zero. The pairs of all PEs follow each other, with the zeros that `padded` appends. PE p
    examines pairs `first[p]` to `end[p]` - 1. `held_1` and `held_2` are the numbers of loads in
    queues 1 and 2, at most one in queue 2. `gifts` has one bit for each load in queue 1, the lowest
    bit for the head; the bit says whether the right neighbour gave the load. `has_left` is a mask
    of the PEs that have a left neighbour, to which they may give loads.
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
        self.q1_loads, self.moves = held_1.astype(kind), held_2 > 0
        self.effectual = self.queue_moves = np.zeros(first.size, np.int32)
        self.gifts = gifts.astype(kind)
        self.threshold = np.array(min(shape.balance_threshold, depth + 1), kind)
        self.most = np.array(depth - 2, kind)
        # The left neighbour's queue must have fewer loads than this; 0 for PEs without a neighbour.
        self.room = np.where(has_left[1:], depth + 1 - FREE_PLACES, 0).astype(kind)
        self.one_place = shape.load_queue_2 == 1
        # With a threshold of 1, the only load may move to queue 2, so there is none to give.
        self.slight = shape.balance_threshold == 1
        self.zero, self.unit = np.array(0, kind), np.array(1, kind)

    def run(self, cycles: int | None) -> LoadCounts:
        """Simulate cycles until no PE has work left, and return their counts.

        If `cycles` is not None, also stop after `cycles` cycles. The counts may contain a few more
        cycles, because cycles are simulated in groups of `_STRETCH`.
        """
        parts = [self._stretch()]
        while self._at_work() and (cycles is None or len(parts) * _STRETCH < cycles):
            parts.append(self._stretch())
        return LoadCounts.concatenate(parts)

    def _at_work(self) -> bool:
        np.minimum(self.next, self.end, out=self.next)
        return bool(self.q1_loads.any() or self.moves.any() or (self.next < self.end).any())

    def _number(self, flags: Bools) -> Numbers:
        """Return flags as integers, so that they can be added to counts."""
        return flags.view(self.kind) if self.kind.itemsize == 1 else flags

    def _stretch(self) -> LoadCounts:
        """Simulate the next `_STRETCH` cycles for all PEs at once, and return their counts.

        The rules are those of the reference engine, but only the numbers of loads are simulated,
        not the loads themselves.
        """
        counts, number = LoadCounts.blank(_STRETCH, self.q1_loads.size, self.kind), self._number
        counts.q1_loads[0] = self.q1_loads
        place, gifts, before, effectual, queue_moves = (
            self.next,
            self.gifts,
            self.moves,
            self.effectual,
            self.queue_moves,
        )
        new, least = np.empty(place.size, np.uint8), np.empty(place.size - 1, self.kind)
        next_gifts, bits = gifts.copy(), gifts.copy()
        may_give, condition = np.empty(least.size, np.bool_), np.empty(least.size, np.bool_)
        for (
            q1,
            q1_after,
            left_q1,
            right_q1,
            examines,
            has_room,
            effectual_out,
            moves,
            queue_moves_out,
            gives,
            moves_number,
            gives_number,
            receives_number,
        ) in zip(
            counts.q1_loads[:-1],
            counts.q1_loads[1:],
            counts.q1_loads[:-1, :-1],
            counts.q1_loads[:-1, 1:],
            counts.examines,
            counts.has_room,
            counts.effectual,
            counts.moves,
            counts.queue_moves,
            counts.gives[:, 1:-1],
            number(counts.moves),
            number(counts.gives[:, :-1]),
            number(counts.gives[:, 1:]),
            strict=True,
        ):
            np.greater(q1, self.zero, moves)
            if self.one_place:
                np.greater(moves, before, moves)
            before = moves
            queue_moves = np.add(queue_moves, moves, queue_moves_out)
            np.less(place, self.end, examines)
            np.less_equal(q1, self.most, has_room)
            self.pairs.take(place, out=new, mode="clip")
            np.multiply(new, has_room, new)
            np.add(place, has_room, place)
            effectual = np.add(effectual, new, effectual_out)

            np.add(left_q1, self.threshold, least)
            np.greater_equal(right_q1, least, may_give)
            np.less(left_q1, self.room, condition)
            np.logical_and(may_give, condition, may_give)
            if self.slight:
                np.greater(right_q1, moves_number[1:], condition)
                np.logical_and(may_give, condition, may_give)
            np.right_shift(gifts, moves_number, gifts)
            np.bitwise_and(gifts, self.unit, next_gifts)
            np.greater(number(may_give), next_gifts[1:], gives)
            np.right_shift(gifts, gives_number, gifts)

            np.subtract(q1, moves_number, q1_after)
            np.subtract(q1_after, gives_number, q1_after)
            np.add(q1_after, new, q1_after)
            np.left_shift(receives_number, q1_after, bits)
            np.bitwise_or(gifts, bits, gifts)
            np.add(q1_after, receives_number, q1_after)
        self.q1_loads, self.moves = counts.q1_loads[-1], before
        self.effectual, self.queue_moves = effectual, queue_moves
        return counts
