"""Distributes overlapping slices over levels, so that a chart can draw them."""

from __future__ import annotations

from collections.abc import Iterable

from macaw.profiling.model import Slice


def stack_slices(slices: Iterable[Slice]) -> list[list[Slice]]:
    """Return the slices, divided into as few levels as possible.

    Slices of one level do not overlap.
    """
    levels_found: list[list[Slice]] = []
    for item in sorted(slices, key=lambda item: (item.begin, item.end, item.first)):
        for level in levels_found:
            if level[-1].end <= item.begin:
                level.append(item)
                break
        else:
            levels_found.append([item])
    return levels_found
