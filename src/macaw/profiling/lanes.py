"""Slices that overlap, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from macaw.profiling.model import Slice


def lanes(slices: Iterable[Slice]) -> list[list[Slice]]:
    """The slices dealt to as few lanes as possible, none in which two overlap.

    In each lane a slice begins when the one before has ended, or later.
    """
    found: list[list[Slice]] = []
    for item in sorted(slices, key=lambda item: (item.begin, item.end, item.first)):
        for lane in found:
            if lane[-1].end <= item.begin:
                lane.append(item)
                break
        else:
            found.append([item])
    return found
