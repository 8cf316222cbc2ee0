"""Sets of cycles, stored as stretches of consecutive cycles.

Callers may add stretches in any order; each cycle counts once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

_FEW = 8  # the greatest number of stretches that are added one by one

Span = tuple[int, int]  # its first cycle, and the first cycle after it


class Spans:
    """A set of cycles, stored as ascending stretches that neither overlap nor touch."""

    def __init__(self, spans: Sequence[Span] = ()) -> None:
        self.begins = [begin for begin, _ in spans] if spans else []
        self.ends = [end for _, end in spans] if spans else []

    def plain(self) -> list[Span]:
        """Return the stretches as a plain value, from which `Spans` can be built again."""
        return list(zip(self.begins, self.ends, strict=True))

    def add(self, begin: int, end: int) -> int:
        """Add the cycles from `begin` up to (excluding) `end`; return how many of them are new."""
        begins, ends = self.begins, self.ends
        if not ends or begin > ends[-1]:
            begins.append(begin)
            ends.append(end)
            return end - begin
        # The stretches from `first` up to (excluding) `last` touch the new one and are merged with
        # it.
        first, last = bisect_left(ends, begin), bisect_right(begins, end)
        if first == last:
            begins.insert(first, begin)
            ends.insert(first, end)
            return end - begin
        low, high = min(begin, begins[first]), max(end, ends[last - 1])
        known = sum(ends[first:last]) - sum(begins[first:last])
        begins[first:last], ends[first:last] = [low], [high]
        return high - low - known

    def add_all(self, begins: Sequence[int], ends: Sequence[int]) -> int:
        """Add the stretches from each of `begins` up to (excluding) the same item of `ends`.

        Return how many of their cycles were not in the set.
        """
        if len(begins) <= _FEW:
            return sum(self.add(*span) for span in zip(begins, ends, strict=True))
        known = sum(self.ends) - sum(self.begins)
        low = np.array([*self.begins, *begins], np.int64)
        high = np.array([*self.ends, *ends], np.int64)
        order = np.argsort(low)
        low, high = low[order], np.maximum.accumulate(high[order])
        apart = np.flatnonzero(low[1:] > high[:-1])
        self.begins = [int(low[0]), *low[apart + 1].tolist()]
        self.ends = [*high[apart].tolist(), int(high[-1])]
        return sum(self.ends) - sum(self.begins) - known

    def forget(self, before: int) -> None:
        """Remove the stretches that end before cycle `before`.

        From then on the caller must not add a stretch that begins before this cycle.
        """
        past = bisect_left(self.ends, before)
        del self.begins[:past], self.ends[:past]
