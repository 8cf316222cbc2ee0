"""A second, scalar model of the PEs' mac, written from the text of pe.md alone.

One PE after the other, one entry after the other, in plain Python: nothing of
`emu.pe` is used. It says what each PE's cycles are and what its accumulator holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Lane:
    """One PE: entries (input index, weight) that are still to be examined, its queues, its sum."""

    entries: deque[tuple[int, Any]]
    q1: deque[tuple[int, Any]] = field(default_factory=deque)
    q2: deque[tuple[int, Any]] = field(default_factory=deque)
    q1_high: int = 0
    q2_high: int = 0
    examined: int = 0
    effectual: int = 0
    took: list[bool] = field(default_factory=list)  # by cycle

    @property
    def empty(self) -> bool:
        return not self.entries and not self.q1 and not self.q2


def mac_queued(
    lane: Lane, x: Sequence[Any], q1_places: int, q2_places: int
) -> list[tuple[Any, Any]]:
    """All cycles of a PE of design 5b; the products (weight, activation) in their order.

    "All stages read the state at the start of the cycle."
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


def mac_direct(lane: Lane, x: Sequence[Any]) -> list[tuple[Any, Any]]:
    """As above of design 5a: one entry a cycle, and what is effectual is in the MAC one later."""
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
    """The index comparator: effectual entries go to `queue`."""
    for _ in range(min(count, len(lane.entries))):
        entry = lane.entries.popleft()
        lane.examined += 1
        if x[entry[0]] != 0:
            lane.effectual += 1
            queue.append(entry)


def classes(lane: Lane, length: int) -> dict[str, int]:
    """A PE's cycles of a mac of `length` cycles by class."""
    first = lane.took.index(True) if True in lane.took else len(lane.took)
    return {
        "mac": sum(lane.took),
        "filling": first,
        "no_load": sum(not took for took in lane.took[first:]),
        "early": length - len(lane.took),
    }


def accumulate(
    start: Any, products: Sequence[tuple[Any, Any]], sum_type: str, overflow: str
) -> Any:
    """Products added one by one; floating: product and sum each rounded to the sum's type."""
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
