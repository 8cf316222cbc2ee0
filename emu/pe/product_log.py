"""Logs the products and partial sums that were added to accumulators, for the record of origins.

The log has, for each product, its two factors, the addresses from which they came, and the mac. A
PE may make a product for a neighbour, whose weight and activation it multiplies. Such a product
belongs to the neighbour's accumulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.origins import Origin, Source, UnrecordedError
from macaw.emu.pe.arithmetic import Adder

# Columns of the log. An announcement number follows each address: the factor is the value that was
# there before this announcement.
TIME, SUM, MAC, WEIGHT, _, ACTIVATION, _ = range(7)
COLUMNS = 7


class ProductLog:
    """A log of all products that the PEs of a row have computed.

    The log names an accumulator by its number. The accumulators of all PEs of the row have
    consecutive numbers.
    """

    def __init__(self, item: Callable[[int, int], int], adder: Adder) -> None:
        # given the number of an announcement and an address: returns the size of the value there
        self.item = item
        self.adder = adder  # its products are those of the PEs
        self.count = 0
        self.is_partial = False  # whether it does not begin with the run
        self._parts: list[tuple[NDArray[Any], NDArray[Any]]] = []  # columns of the log; factors
        self._first: dict[int, int] = {}  # by accumulator: its first product
        self._added: dict[int, list[Source]] = {}  # by accumulator: its partial sums

    def add_products(self, rows: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Add the products of one cycle.

        `rows` has shape (columns, products), with the columns that this module names. `values` has
        the factors, in shape (2, products).
        """
        self._parts.append((rows, values))
        self.count += rows.shape[1]

    def add_psum(self, total: int, source: Source) -> None:
        """Record that the partial sum from `source` was added to accumulator number `total`."""
        self._added.setdefault(total, []).append(source)

    def take(self, total: int) -> Callable[[], Iterator[Source]]:
        """Clear the sources of accumulator `total`, and return a function that yields them.

        The function raises `UnrecordedError` if a source may be missing from a partial log.
        """
        begin, end = self._first.get(total), self.count
        added = self._added.pop(total, [])
        self._first[total] = end
        return partial(self._sources, total, begin, end, added)

    def sources_in(self, total: int) -> list[Source]:
        """Return the sources of accumulator `total`.

        Raises `UnrecordedError` if a source may be missing from a partial log.
        """
        begin, added = self._first.get(total), self._added.get(total, [])
        return list(self._sources(total, begin, self.count, added))

    def _products(self, total: int, begin: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the products of accumulator `total` that are among products `begin` to `end` - 1.

        The first result has shape (columns, products). The second has the factors, in shape (2,
        products).
        """
        if len(self._parts) > 1:
            rows, values = zip(*self._parts, strict=True)
            self._parts = [(np.concatenate(rows, 1), np.concatenate(values, 1))]
        if not self._parts:
            return np.zeros((COLUMNS, 0), np.int64), np.zeros((2, 0))
        all_rows, all_values = self._parts[0]
        where = begin + np.flatnonzero(all_rows[SUM, begin:end] == total)
        return all_rows[:, where], all_values[:, where]

    def _sources(
        self, total: int, begin: int | None, end: int, added: list[Source]
    ) -> Iterator[Source]:  # fmt: skip
        if begin is None and self.is_partial:
            raise UnrecordedError
        yield from added
        rows, values = self._products(total, begin or 0, end)
        for row, pair in zip(rows.T.tolist(), values.T.tolist(), strict=True):
            yield self.product(row, pair)

    def product(self, row: list[int], pair: list[Any]) -> Source:
        """Return a `Source` that describes one product of the log.

        `row` is the product's row of the log, with one number for each column. `pair` has the
        factors: weight and activation. Raises `UnrecordedError` if the log is partial and lacks the
        origin of the weight, the origin of the activation, or the mac.
        """
        if self.is_partial and min(row[MAC], row[WEIGHT], row[ACTIVATION]) < 0:
            raise UnrecordedError
        parts = []
        for name, at, value in zip(
            ("weight", "activation"), (WEIGHT, ACTIVATION), pair, strict=True
        ):
            # Values that no ld has loaded have no address.
            memory = None if row[at] < 0 else (row[at], self.item(row[at + 1], row[at]))
            parts.append(Source(name, row[at + 1], memory, value=value))
        number = max(row[WEIGHT + 1], row[ACTIVATION + 1])
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.adder.product(*np.array(pair)[:, None])[0].item()
        origin = Origin(number, row[TIME], "mac", row[MAC], "", value, partial(iter, parts))
        return Source("product", number, None, None, origin, origin.value)
