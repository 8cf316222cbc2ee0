"""Moments of a run: the states of cores and queues at past cycles, for a timeline."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MOST = 400  # the greatest number of moments; if there are more, every second one is dropped


class Moment(NamedTuple):
    """A moment of a run: the device cycle, the states of cores and the levels of queues.

    `states` has "run", "wait" or "idle" by core name. `levels` has the number of items by queue; it
    is empty if the queues were not read.
    """

    cycle: int
    states: Mapping[str, str]
    levels: Mapping[Any, int]


class Moments:
    """The past moments of one run, in the order of their cycles.

    Between stops the moments are `apart` cycles apart. When there are more than `MOST` moments, the
    object drops every second moment and doubles `apart`. So a long run has between `MOST` / 2 and
    `MOST` moments.
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

        If there is already a moment of the same cycle, the new moment replaces it only if the new
        moment has levels.
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
        """Drop the moments at or after a cycle to which the run has gone back."""
        del self._rows[bisect_left(self._rows, cycle, key=_cycle) :]
        if not self._rows:
            self.apart = 1


def _cycle(moment: Moment) -> int:
    return moment.cycle
