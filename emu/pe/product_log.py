"""What accumulators were made of, while somebody asks: the products and the partial sums.

Each product remembers its two numbers, from which addresses they came, and the mac at work; also
one that a neighbour makes counts for the accumulator of its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.origins import Origin, Source

# Rows of what is kept of products: an address is followed by the announcement before which it was.
TIME, SUM, MAC, WEIGHT, _, ACTIVATION, _ = range(7)
COLUMNS = 7


class ProductLog:
    """Those of a row of the array; an accumulator is its place among all of them."""

    def __init__(self, item: int) -> None:
        self.item = item  # bytes of a number
        self.count = 0
        self._parts: list[tuple[NDArray[Any], NDArray[Any]]] = []  # what is kept; values
        self._first: dict[int, int] = {}  # by accumulator: the product from which on they count
        self._added: dict[int, list[Source]] = {}  # by accumulator: partial sums

    def multiplied(self, kept: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Products of a cycle: what is kept of them, their numbers (2, products)."""
        self._parts.append((kept, values))
        self.count += kept.shape[1]

    def add(self, total: int, source: Source) -> None:
        """A partial sum is added to an accumulator."""
        self._added.setdefault(total, []).append(source)

    def take(self, total: int) -> Callable[[], Iterator[Source]]:
        """What is in an accumulator now, which is cleared."""
        begin, end = self._first.get(total, 0), self.count
        added = self._added.pop(total, [])
        self._first[total] = end
        return partial(self._sources, total, begin, end, added)

    def sources_in(self, total: int) -> list[Source]:
        """What is in an accumulator now."""
        begin, added = self._first.get(total, 0), self._added.get(total, [])
        return list(self._sources(total, begin, self.count, added))

    def _taken(self, total: int, begin: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The products of a sum from the `begin`-th of the row on: what is kept, and values."""
        if len(self._parts) > 1:
            kept, values = zip(*self._parts, strict=True)
            self._parts = [(np.concatenate(kept, 1), np.concatenate(values, 1))]
        if not self._parts:
            return np.zeros((COLUMNS, 0), np.int64), np.zeros((2, 0))
        kept_, values_ = self._parts[0]
        some = begin + np.flatnonzero(kept_[SUM, begin:end] == total)
        return kept_[:, some], values_[:, some]

    def _sources(
        self, total: int, begin: int, end: int, added: list[Source]
    ) -> Iterator[Source]:  # fmt: skip
        yield from added
        kept, values = self._taken(total, begin, end)
        for row, pair in zip(kept.T.tolist(), values.T.tolist(), strict=True):
            yield self.product(row, pair)

    def product(self, row: list[int], pair: list[Any]) -> Source:
        """A product of what is kept and its numbers."""
        parts = []
        for name, at, value in zip(
            ("weight", "activation"), (WEIGHT, ACTIVATION), pair, strict=True
        ):
            # What was there when all this began came from nowhere.
            memory = None if row[at] < 0 else (row[at], self.item)
            parts.append(Source(name, row[at + 1], memory, value=value))
        number = max(row[WEIGHT + 1], row[ACTIVATION + 1])
        made = Origin(
            number, row[TIME], "mac", row[MAC], "", pair[0] * pair[1], partial(iter, parts)
        )
        return Source("product", number, None, None, made, made.value)
