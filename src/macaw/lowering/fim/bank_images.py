"""Describes constants that stay in the banks of an island, where the loader puts them.

A job with such constants has rows of its own in its banks. Other jobs never write to these rows, so
the constants remain there for all runs of the program.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class BankImage:
    """Constants in several banks, from the first row of their job on.

    Part `index` of `array` (along its first axis) is in bank `bank`, for each pair (bank, index) of
    `places`. `symbol` distinguishes the images of a job.
    """

    symbol: str
    array: NDArray[Any]
    places: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of bytes that the image takes in the banks."""
        return len(self.places) * int(self.array[0].nbytes)


@dataclass(frozen=True)
class Residency:
    """The rows of its own that a job with constants in the banks needs in each of its banks.

    Jobs with equal keys use the same constants in the same order, so they share their rows. At most
    `budget` rows of an island may be reserved in this way.
    """

    key: Hashable
    rows: int
    budget: int


@dataclass(frozen=True)
class BankRows:
    """The rows of each bank that jobs may use.

    Rows from `shared` on are reserved for jobs with constants that stay; the other jobs use the
    rows before. If `resident`, the job is one of the former.
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
        """The number of rows that a job of this kind may use."""
        return self.reserved if self.resident else self.shared

    def residency(self, key: Hashable, rows: int) -> Residency | None:
        """Return the rows that a job reserves; None if its constants do not stay."""
        return Residency(key, rows, self.reserved) if self.resident else None
