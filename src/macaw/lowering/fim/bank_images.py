"""Describes constants that stay in the banks of an island.

The loader writes them to the banks. A job (the work of an island in one step of a plan) with such
constants has rows that only jobs with the same constants use. No job writes to the constants, so
they remain there for the whole run.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from math import prod
from typing import Any

from numpy.typing import NDArray

from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class BankImage:
    """A constant array in several banks of an island, for one job (`island_job.Job`).

    For each pair (bank, index) in `places`, bank number `bank` stores `array[index]`, column after
    column, starting in the first row that the job uses. The last axis of `array` has the numbers of
    one column: 32 bytes. `symbol` distinguishes the images of one job.
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
    """Identifies the constants of a job, and their places in the banks of an island.

    The object has no fields, and is equal only to itself. For the same constants and places,
    `placed_constants` returns the same object. Places count from the first row of the constants, so
    two jobs whose constants begin at different rows can have the same object.
    """


@lru_cache(maxsize=1 << 14)
def placed_constants(island: int, key: Hashable) -> PlacedConstants:
    """Return the object for the constants of a job on an island; `key` is the job's `Job.key`.

    Calls with equal arguments return the same object. Hashing this object takes less time than
    hashing a large key.
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

    There are `rows` rows. The last `reserved` rows are for jobs whose constants stay in the banks.
    The rows before these are for jobs whose constants are copied in at each run. `resident` says
    whether this object is for a job whose constants stay.
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
        """The number of rows that the job may use in each bank.

        It is `reserved` if the job's constants stay in the banks (`resident`), else `shared`.
        """
        return self.reserved if self.resident else self.shared

    def residency(self, key: Hashable, rows: int) -> Residency | None:
        """Return the reservation of `rows` rows for a job with `key`; None if not `resident`."""
        return Residency(key, rows, self.reserved) if self.resident else None
