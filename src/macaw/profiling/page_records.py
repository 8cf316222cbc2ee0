"""The records of a profile as columns of numbers, as its HTML page reads them.

A page may have a million records. So each column is an array of small integers in base64. In place
of a text, a column has the number of a string, which the page contains once.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw.profiling.model import Interval, Slice, Track
from macaw.profiling.slice_levels import stack_slices
from macaw.profiling.timeline import core_tracks

Column = dict[str, Any]
_TYPES = ("u1", "u2", "u4", "i4", "f8")  # base.js has an array type for each


class StringTable:
    """Gives each distinct string a number in the order of first use; the empty string has 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """Return the number of a string. If it is new, add it."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """Return all strings in the order of their numbers."""
        return list(self._numbers)

    def ranks(self) -> Column:
        """Return a column with the rank of each string in alphabetical order, from 0 on."""
        order = sorted(self._numbers.items())
        return column(np.argsort([number for _, number in order]))


def column(values: ArrayLike) -> Column:
    """Return a column of whole numbers in the smallest type that has room for all of them.

    If all numbers are equal, the column is this number and the count.
    """
    array = np.asarray(values)
    if array.size == 0 or (array == array[0]).all():
        return {"same": int(array[0]) if array.size else 0, "count": int(array.size)}
    low, high = int(array.min()), int(array.max())
    kind = next(
        name
        for name in _TYPES
        if name == "f8" or (np.iinfo(name).min <= low and high <= np.iinfo(name).max)
    )
    return _encoded(array, kind)


def fractions(values: ArrayLike) -> Column:
    """Return a column of numbers that need not be whole, as 64-bit floats."""
    return _encoded(np.asarray(values), "f8")


def _encoded(array: NDArray[Any], kind: str) -> Column:
    data = np.ascontiguousarray(array, np.dtype(kind).newbyteorder("<"))
    return {"type": kind, "data": base64.b64encode(data.tobytes()).decode()}


def interval_columns(intervals: Sequence[Interval]) -> dict[str, Column]:
    """Return sorted intervals as two columns: distances between begins, and lengths, in cycles."""
    bounds = np.asarray(intervals, np.int64).reshape(-1, 2)
    return {
        "begin": column(np.diff(bounds[:, 0], prepend=0)),
        "cycles": column(bounds[:, 1] - bounds[:, 0]),
    }


class RecordColumns:
    """The slices of all cores in the order of their begins, as columns.

    `numbers` maps the key of a slice to its position in this order.
    """

    def __init__(self, tracks: Sequence[Track], strings: StringTable) -> None:
        self.strings = strings
        cores = [item.core for item in tracks]
        self._slices: list[Slice] = []
        found: list[tuple[int, int]] = []  # track and level of each
        for item in core_tracks(tracks):
            place = cores.index(item.core)
            for level, members in enumerate(stack_slices(item.slices)):
                self._slices += members
                found += [(place, level)] * len(members)
        pairs = np.asarray(found, np.int64).reshape(-1, 2)
        self._begin = self._numbers(item.begin for item in self._slices)
        first = self._numbers(item.first for item in self._slices)
        end = self._numbers(item.end for item in self._slices)
        order = np.lexsort((first, end, pairs[:, 0], self._begin))
        self._slices = [self._slices[place] for place in order.tolist()]
        self._begin, self._first = self._begin[order], first[order]
        self._track, self._level = pairs[order, 0], pairs[order, 1]
        self.numbers = {item.key: number for number, item in enumerate(self._slices)}

    def plain(self) -> dict[str, Any]:
        """Return all columns as plain JSON data."""
        text, slices = self.strings.number, self._slices
        count = self._numbers(item.instructions for item in slices)
        return {
            "count": len(slices),
            "track": column(self._track),
            "level": column(self._level),
            "begin": column(np.diff(self._begin, prepend=0)),
            "cycles": column(self._numbers(item.end for item in slices) - self._begin),
            "first": column(self._skipped(count)),
            "instructions": column(count),
            "waited": column(self._numbers(item.waited for item in slices)),
            "name": column(self._numbers(text(item.name) for item in slices)),
            "place": column(self._numbers(text(item.place) for item in slices)),
            "layer": column(self._numbers(text(item.layer) for item in slices)),
            "counters": [self._counter(name) for name in self._counter_names()],
        }

    def _skipped(self, count: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many instructions were not recorded between each record and the one before it.

        `count` has the number of instructions in each record. The result has one number for each
        record; most of these numbers are 0.
        """
        skipped = np.zeros(len(count), np.int64)
        for track in np.unique(self._track):
            members = np.flatnonzero(self._track == track)
            after = self._first[members] + count[members]
            skipped[members] = self._first[members] - np.concatenate([[0], after[:-1]])
        return skipped

    def _counter_names(self) -> list[str]:
        sets = dict.fromkeys(tuple(item.counters) for item in self._slices)
        return list(dict.fromkeys(name for names in sets for name in names))

    def _counter(self, name: str) -> dict[str, Any]:
        """Return the column of the counter `name`.

        A time is stored as 1 + its distance from the begin of the record, or 0 for no time.
        """
        values = self._numbers(item.counters.get(name, 0) for item in self._slices)
        is_time = name.startswith("t_")
        if is_time:
            values = np.where(values != 0, values - self._begin + 1, 0)
        return {"name": name, "time": is_time, "values": column(values)}

    @staticmethod
    def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
        return np.fromiter(values, np.int64)
