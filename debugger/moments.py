"""Moments of a run: the states of cores and queues at past cycles, for a timeline."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MOST = 400  # the greatest number of moments; if there are more, every second one is dropped


class Moment(NamedTuple):
    """A moment: the device cycle, and the states of cores and levels of queues by name.

    A core's state is "run", "wait" or "idle". `levels` is empty if the queues were not read.
    """

    cycle: int
    states: Mapping[str, str]
    levels: Mapping[Any, int]


class Moments:
    """The past moments of one run, in the order of their cycles.

    Between stops the moments are `apart` cycles apart. When there are more than `MOST` moments,
    every second one is dropped, and the distance is doubled. So a long run has at least half of
    `MOST` and at most `MOST` moments.
    """

    def __init__(self) -> None:
        self.apart = 1
        self._rows: list[Moment] = []

    def __iter__(self) -> Iterator[Moment]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, moment: Moment) -> None:
        """Add a moment, in the order of cycles.

        If there is already a moment of this cycle, the new one replaces it only if the new one has
        levels.
        """
        at = bisect_left(self._rows, moment.cycle, key=_cycle)
        is_known = at < len(self._rows) and self._rows[at].cycle == moment.cycle
        if is_known and not moment.levels:
            return
        self._rows[at : at + is_known] = [moment]
        if len(self._rows) > MOST:
            self._rows[:-1] = self._rows[:-1:2]
            self.apart *= 2

    def drop_from(self, cycle: int) -> None:
        """Drop the moments at this cycle and later, because the run has gone back."""
        del self._rows[bisect_left(self._rows, cycle, key=_cycle) :]
        if not self._rows:
            self.apart = 1


def _cycle(moment: Moment) -> int:
    return moment.cycle
