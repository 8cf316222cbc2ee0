"""Predicts the ends of plans that differ in a few steps from a plan whose times are known.

A search for a plan makes one change after the other and simulates each changed plan. Before the
first changed step, the times are those of the known plan. After the last changed step, cp, the
dma and the islands often come to a state of the known plan, only earlier or later. From there on,
all times differ by the same number of cycles. So only the steps between are simulated.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.lowering.fim.clock import AHEAD, NEVER, Clock, Track
from macaw.lowering.fim.plan import Option


class Replay:
    """A plan whose times are known, for predicting the ends of similar plans.

    A plan is a list of options in the order of issue. `end` is the cycle in which the known plan
    ends.
    """

    def __init__(self, options: Sequence[Option]) -> None:
        self._options = options
        parts = _parts(options)
        self._known = [_Known(options, parts, eager) for eager in (False, True)]
        ends = (known.end for known in self._known)
        self.end = NEVER if _exceeds_rows(parts) else min(ends)

    def end_of(self, options: Sequence[Option]) -> int:
        """Return the cycle in which the plan with these options ends.

        It is the cycle that `clock.simulate` predicts.
        """
        parts = _parts(options)
        if _exceeds_rows(parts):
            return NEVER
        same = _count_same(options, self._options)
        most = min(len(options), len(self._options)) - same
        after = min(most, _count_same(options[::-1], self._options[::-1]))
        return min(known.end_of(options, parts, same, after) for known in self._known)


class _Known:
    """The known plan as one track, in which results are fetched either late or early (`eager`).

    The track ends in cycle `end`. `tracks` has copies of it: before each option, and after the last
    one. `states` has `Track.state` of each copy.
    """

    def __init__(self, options: Sequence[Option], parts: Sequence[Option], eager: bool) -> None:
        track = Track(eager)
        track.expect(parts, 0)
        self.tracks = [track]
        for option in options:
            track = track.branch()
            track.issue(option)
            self.tracks.append(track)
        self.states = [track.state for track in self.tracks]
        last = track.branch()
        last.finish()
        self.end = last.clock.free_from

    def end_of(
        self, options: Sequence[Option], parts: Sequence[Option], same: int, after: int
    ) -> int:
        """Return the end of a plan that differs from the known plan in the middle, in cycles.

        `options` are the options of the other plan, of which the first `same` and the last `after`
        are those of the known plan; `parts` are the options of its steps (`_parts`). The
        other plan fetches results as early as this track does (`Track.eager`). The banks must have
        enough rows for those of its constants that stay.
        """
        start = self.tracks[same]
        track = start.branch()
        track.expect(parts, 0)
        if start.has_constants or track.has_constants:
            # The steps before the changed one may copy its constants early.
            while same and self.tracks[same].count + AHEAD > start.count:
                same -= 1
            track = self.tracks[same].branch()
            track.expect(parts, 0)
        for left in range(len(options) - same - 1, -1, -1):
            track.issue(options[-1 - left])
            if left <= after and track.state == self.states[-1 - left]:
                known = self.tracks[-1 - left].clock
                return self.end + track.clock.copies_end - known.copies_end
        track.finish()
        return track.clock.free_from


def _parts(options: Sequence[Option]) -> list[Option]:
    """Return the option of each step of a plan.

    If several islands share an option, each of its parts is the option of one step.
    """
    return [part for option in options for part in option.parts or (option,)]


def _exceeds_rows(options: Sequence[Option]) -> bool:
    """Return whether the constants that stay need more rows than are reserved for them."""
    clock = Clock()
    for option in options:
        clock.reserve(option)
    return clock.exceeds_rows


def _count_same(options: Sequence[Option], others: Sequence[Option]) -> int:
    """Return the length of the common beginning of two lists, comparing options by identity."""
    pairs = enumerate(zip(options, others, strict=False))
    shorter = min(len(options), len(others))
    return next((number for number, (one, other) in pairs if one is not other), shorter)
