"""A second, scalar model of the PEs' mac, written from docs/timing-pe.md alone.

It works PE by PE and entry by entry, in plain Python without `macaw.emu.pe`. It computes the cycles
of each PE and its accumulator.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Lane:
    """One PE: the entries (input index, weight) that it has not examined, its queues, its sum."""

    entries: deque[tuple[int, Any]]
    q1: deque[tuple[int, Any]] = field(default_factory=deque)
    q2: deque[tuple[int, Any]] = field(default_factory=deque)
    q1_high: int = 0
    q2_high: int = 0
    examined: int = 0
    effectual: int = 0
    # By cycle: whether the MAC took a load; None: there was nothing to do.
    took: list[bool | None] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.entries and not self.q1 and not self.q2


def mac_queued(
    lane: Lane, x: Sequence[Any], q1_places: int, q2_places: int
) -> list[tuple[Any, Any]]:
    """Simulate a mac of design 5b in a PE; return its products (weight, activation) in their order.

    docs/timing-pe.md: "Each stage sees the numbers of queue entries at the start of the cycle."
    """
    products = []
    while not lane.empty:
        q1, q2 = len(lane.q1), len(lane.q2)
        # 3. Load queue 2 gives one load to the MAC.
        lane.took.append(q2 > 0)
        if q2 > 0:
            index, weight = lane.q2.popleft()
            products.append((weight, x[index]))
        # 2. Queue 1 pops one to this PE's load queue 2 if that has room.
        if q1 > 0 and q2 < q2_places:
            lane.q2.append(lane.q1.popleft())
        # 1. Up to two weight entries; waits if fewer than two places are free.
        if q1_places - q1 >= 2:
            examine(lane, x, 2, lane.q1)
        lane.q1_high, lane.q2_high = (
            max(lane.q1_high, len(lane.q1)),
            max(lane.q2_high, len(lane.q2)),
        )
    return products


@dataclass
class Neighbours:
    """The loads, products and sums that balancing moves between the lanes of a cluster."""

    given: list[int]  # loads that each PE gave to its left neighbour
    helped: list[list[tuple[Any, Any]]]  # products of each PE that its left neighbour made
    handed: list[bool]  # PEs that take part in handing over


def mac_balanced(
    lanes: Sequence[Lane], xs: Sequence[Sequence[Any]], places: tuple[int, int], threshold: int
) -> tuple[list[list[tuple[Any, Any]]], Neighbours]:
    """Simulate a mac with `balance` in the PEs of a cluster; return the products of each.

    A load is (input index, weight, owner): it is multiplied with the owner's activation.
    By docs/timing-pe.md, queue 1 passes a load to queue 2 if that has room, and the next one to the
    left neighbour if queue 1 has at least `threshold` more loads than the neighbour's and that has
    three free entries. A load that was passed is not passed again; PE 0 passes none to a neighbour.
    """
    count = len(lanes)
    products: list[list[tuple[Any, Any]]] = [[] for _ in lanes]
    found = Neighbours([0] * count, [[] for _ in lanes], [False] * count)
    queues: list[tuple[deque[Any], deque[Any]]] = [(deque(), deque()) for _ in lanes]
    while any(
        lane.entries or first or second for lane, (first, second) in zip(lanes, queues, strict=True)
    ):
        before = [(len(first), len(second)) for first, second in queues]
        gifts: list[tuple[int, Any]] = []
        fresh: list[list[tuple[int, Any, int]]] = []
        for p, lane in enumerate(lanes):
            first, second = queues[p]
            idle = not lane.entries and before[p] == (0, 0)
            lane.took.append(None if idle else bool(second))
            if before[p][1]:
                index, weight, owner = second.popleft()
                target = products[p] if owner == p else found.helped[owner]
                target.append((weight, xs[owner][index]))
            # Queue 1: one on, and one to the left.
            if before[p][0] and before[p][1] < places[1]:
                second.append(first.popleft())
            if p and first and first[0][2] == p:
                left = before[p - 1][0]
                if before[p][0] - left >= threshold and places[0] - left >= 3:
                    gifts.append((p - 1, first.popleft()))
                    found.given[p] += 1
            # The comparator, if two places were free.
            fresh.append([])
            if places[0] - before[p][0] >= 2:
                for _ in range(min(2, len(lane.entries))):
                    index, weight = lane.entries.popleft()
                    lane.examined += 1
                    if xs[p][index] != 0:
                        lane.effectual += 1
                        fresh[p].append((index, weight, p))
        for p, loads in enumerate(fresh):
            queues[p][0].extend(loads)
        for p, load in gifts:
            queues[p][0].append(load)
        for lane, (first, second) in zip(lanes, queues, strict=True):
            lane.q1_high = max(lane.q1_high, len(first))
            lane.q2_high = max(lane.q2_high, len(second))
    for p, gifts_of_one in enumerate(found.given):
        if gifts_of_one:
            found.handed[p] = found.handed[p - 1] = True
    return products, found


def mac_direct(lane: Lane, x: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Like `mac_queued`, for design 5a.

    A PE examines one entry a cycle and multiplies it in the next cycle.
    """
    products = []
    while not lane.empty:
        lane.took.append(bool(lane.q2))
        if lane.q2:
            index, weight = lane.q2.popleft()
            products.append((weight, x[index]))
        examine(lane, x, 1, lane.q2)
        lane.q2_high = max(lane.q2_high, len(lane.q2))
    return products


def examine(lane: Lane, x: Sequence[Any], count: int, queue: deque[tuple[int, Any]]) -> None:
    """Examine up to `count` entries; put entries with a nonzero activation into `queue`."""
    for _ in range(min(count, len(lane.entries))):
        entry = lane.entries.popleft()
        lane.examined += 1
        if x[entry[0]] != 0:
            lane.effectual += 1
            queue.append(entry)


def classes(lane: Lane, length: int) -> dict[str, int]:
    """The number of a PE's cycles in each class, for a mac of `length` cycles."""
    found = {"mac": 0, "filling": 0, "no_load": 0, "early": length - len(lane.took)}
    for took in lane.took:
        if took is None:
            found["early"] += 1
        elif took:
            found["mac"] += 1
        else:
            found["no_load" if found["mac"] else "filling"] += 1
    return found


def accumulate(
    start: Any, products: Sequence[tuple[Any, Any]], sum_type: str, overflow: str
) -> Any:
    """Add products one by one; floating products and sums are rounded to the sum's type."""
    dtype = np.dtype(sum_type)
    if dtype.kind == "f":
        total = dtype.type(start)
        for weight, activation in products:
            total = dtype.type(total + dtype.type(dtype.type(weight) * dtype.type(activation)))
        return total
    bits = dtype.itemsize * 8
    total = int(start)
    for weight, activation in products:
        total += int(weight) * int(activation)
        if overflow == "saturate":
            total = min(max(total, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)
        elif overflow == "wrap":
            total = (total + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    return dtype.type(total)


def added(left: Any, right: Any, sum_type: str, overflow: str) -> Any:
    """A sum after a helper's sum was added to it."""
    return accumulate(left, [(right, 1)], sum_type, overflow)
