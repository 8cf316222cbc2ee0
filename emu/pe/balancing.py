"""Load balancing between neighbours (seed 000, Fig. 5b, ¶98-102): balancers 517, selectors 520.

A PE whose load queue 1 is much fuller than that of its left neighbour pushes loads into that
one, marked as given. The neighbour has copies of the weight queue 503 and of the input
buffer 504 of its right neighbour (latched in the same bus beats, so they are held once here, by
the owner) and adds given loads into its helper accumulators. At the end of the mac the owner sends
its sum to the left PE's adder through 516 and 520 and gets the whole back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.state import Shape
from macaw.emu.state import State

GIVEN = 1 << 32  # the owner's mark on a load: it belongs to the right neighbour
ROOM = 3  # free places that the left neighbour must have: two loads of its own, one given

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]


class Balancers:
    """The balancers of all PEs of a row. It owns views of `state`, nothing else."""

    def __init__(self, state: State, shape: Shape, adder: Adder, threshold: int) -> None:
        self.state, self.shape, self.adder, self.threshold = state, shape, adder, threshold
        pes = np.arange(shape.clusters * shape.pes)
        self.has_left = pes % shape.pes != 0
        self.q1_row = pes * shape.load_queue_1

        def flat(name: str) -> NDArray[Any]:
            view: NDArray[Any] = getattr(state, name).reshape(-1)
            return view

        self.q1, self.q1_head, self.q1_count = flat("q1"), flat("q1_head"), flat("q1_count")
        self.given, self.loads_given = flat("given"), flat("loads_given")
        self.loads_taken = flat("loads_taken")

    @property
    def at_work(self) -> bool:
        """Whether a mac with `balance` is at work in any cluster."""
        return bool(self.state.balancing.any())

    def givers(self, moved: Mask) -> Numbers:
        """The PEs that give a load away in this cycle; `moved` give one to load queue 2 too.

        It is the load behind that one, and never one that was given to the PE itself.
        """
        count = self.q1_count
        left = np.roll(count, 1)
        could = self.has_left & np.repeat(self.state.balancing, self.shape.pes)
        could &= count - left >= self.threshold
        could &= self.shape.load_queue_1 - left >= ROOM
        could &= count - moved >= 1
        return np.asarray(np.flatnonzero(could & (self._next_load(moved) < GIVEN)))

    def _next_load(self, moved: Mask) -> Numbers:
        place = (self.q1_head + moved) % self.shape.load_queue_1
        return np.asarray(self.q1[self.q1_row + place])

    def give(self, givers: Numbers, moved: Mask, pushed: Numbers) -> None:
        """Move a load of each giver behind those that its left neighbour has and has just found.

        Called before the counts of this cycle are brought up to date.
        """
        takers = givers - 1
        tail = self.q1_head[takers] + self.q1_count[takers] + pushed[takers]
        place = self.q1_row[takers] + tail % self.shape.load_queue_1
        self.q1[place] = self._next_load(moved)[givers] | GIVEN
        self.q1_head[givers] += 1
        self.q1_count[givers] -= 1
        self.q1_count[takers] += 1
        self.loads_given[givers] += 1
        self.loads_taken[takers] += 1
        self.given[givers] += 1

    def hand_over(self, clusters: Mask) -> Mask:
        """A cycle in which owners of some clusters get their sums back; the PEs that take part.

        Raises `Fault`.
        """
        state = self.state
        owners = (state.given > 0) & clusters[:, None]
        cluster, pe = np.nonzero(owners)
        number = state.mac_sum[cluster, pe]
        own, helped = (
            state.accumulators[cluster, pe, number],
            state.helpers[cluster, pe - 1, number],
        )
        total, over = self.adder.total(own, helped)
        if over is not None and over.any():
            at = int(np.flatnonzero(over)[0])
            raise Fault(
                "accumulator overflow",
                f"cluster {cluster[at]}, PE {pe[at]}: accumulator {number[at]} holds {own[at]!s},"
                f" and {helped[at]!s} is handed over",
                {"cluster": int(cluster[at]), "pe": int(pe[at]), "accumulator": int(number[at])},
            )
        state.accumulators[cluster, pe, number] = total
        state.helpers[cluster, pe - 1, number] = 0
        state.given[clusters] = 0
        state.handing &= ~clusters
        owners[:, :-1] |= owners[:, 1:].copy()
        state.cycles_handing += owners
        return np.asarray(owners)

    def ended(self, drained: Mask) -> Mask:
        """Of clusters whose PEs are empty, those whose mac is over; others hand over first."""
        owing = drained & self.state.given.any(axis=1)
        self.state.handing |= owing
        return np.asarray(drained & ~owing)
