"""Describes constants that stay in the banks of an island.

The loader writes them to the banks. A job with such constants has separate rows. Other jobs never
write to these rows, so the constants remain there for all runs of the program.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from numpy.typing import NDArray

from macaw.isa.fim_circuit import COLUMN_BYTES


@dataclass(frozen=True)
class BankImage:
    """A constant array in several banks of an island.

    For each pair (bank, index) in `places`, bank number `bank` stores `array[index]`, from the
    job's first row on. The last axis of `array` has the numbers of one column. `symbol`
    distinguishes the images of one job.
    """

    symbol: str
    array: NDArray[Any]
    places: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of bytes that the image occupies in the banks."""
        part = self.array.shape[1:-1]
        return len(self.places) * prod(part) * COLUMN_BYTES


class PlacedConstants:
    """Constants in certain places of the banks of an island, whatever row they start at."""


@lru_cache(maxsize=1 << 14)
def placed_constants(island: int, key: Hashable) -> PlacedConstants:
    """Return the object for constants on an island; `key` is `Job.key`.

    Equal arguments give the same object, whose hash takes less time than that of a large key.
    """
    return PlacedConstants()


@dataclass(frozen=True)
class Residency:
    """A reservation of rows in each bank, for a job whose constants stay there.

    Jobs with equal `key` use the same constants in the same order, so they share these rows. All
    reservations of an island together may have at most `budget` rows.
    """

    key: Hashable
    rows: int
    budget: int


@dataclass(frozen=True)
class BankRows:
    """The rows of each bank that jobs may use.

    The first `shared` rows are for jobs whose constants are copied in at each run. The rows after
    them are for jobs whose constants stay. `resident` says whether this object is for a job whose
    constants stay.
    """

    rows: int
    reserved: int = 0  # number of rows for constants that stay
    resident: bool = False

    @property
    def shared(self) -> int:
        """The number of rows for jobs whose constants are copied in at each run."""
        return self.rows - self.reserved

    @property
    def limit(self) -> int:
        """The number of rows that a job may use: `reserved` if `resident`, else `shared`."""
        return self.reserved if self.resident else self.shared

    def residency(self, key: Hashable, rows: int) -> Residency | None:
        """Return the rows that a job reserves; None if its constants do not stay."""
        return Residency(key, rows, self.reserved) if self.resident else None
