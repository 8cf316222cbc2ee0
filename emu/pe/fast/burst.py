"""Bursts: beats that the fast engine moves at once, one in each cycle."""

from __future__ import annotations


class Burst:
    """Beats of a bus of the row, one in each of the cycles `first` to `end` - 1."""

    first: int
    end: int

    def has_beat(self, cycle: int) -> bool:
        """Return whether the burst has a beat in `cycle`, for a cycle before `end`."""
        return cycle >= self.first

    def last_beat(self, now: int) -> int:
        """Return the cycle of the last beat before cycle `now`. There must be one."""
        return min(now, self.end) - 1

    def reached(self, now: int) -> int:
        """Return the cycle after the last beat before cycle `now`. There must be such a beat."""
        return self.last_beat(now) + 1
