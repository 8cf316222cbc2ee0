"""Figures as data: what a case measured, with all its samples; and the peers that it left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

HIGHER, LOWER = "higher", "lower"  # which of two values is better


@dataclass(frozen=True)
class Figure:
    """A measured number, which is a cell in a table of the case.

    `samples` are in the unit that the column names. `better` is "higher" or "lower"; it
    is empty for a count that does not depend on the machine's speed, such as cycles. A
    ratio names its `peer`. If both sides were measured in rounds, each sample is the ratio of one
    round.
    """

    row: str
    column: str
    samples: tuple[float, ...]
    better: str = ""
    peer: str = ""
    table: str = ""

    @property
    def name(self) -> str:
        """The row and the column; no other figure of the table has both."""
        return f"{self.row}: {self.column}"

    @property
    def median(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def spread(self) -> float | None:
        """The largest sample minus the smallest, as a share of the median; None for one sample."""
        if len(self.samples) < 2 or not self.median:
            return None
        return (max(self.samples) - min(self.samples)) / abs(self.median)


@dataclass(frozen=True)
class Skipped:
    """A case, or a peer of it, that was not measured, and why."""

    what: str
    reason: str


@dataclass(frozen=True)
class Effort:
    """How thoroughly a case measures: `small` runs everything once, on small inputs."""

    small: bool = False

    def rounds(self, count: int) -> int:
        """Return the number of rounds to measure: `count`, or 1 if `small`."""
        return 1 if self.small else count


def parse_figure(item: Mapping[str, Any]) -> Figure:
    """Return the figure that a JSON object describes, as `dataclasses.asdict` makes it."""
    return Figure(**{**item, "samples": tuple(item["samples"])})


def count(row: str, column: str, value: float, table: str = "") -> Figure:
    """Return the figure of a number that is the same on every machine, or describes the case."""
    return Figure(row, column, (float(value),), table=table)


def ratio(
    row: str, column: str, ours: Sequence[float], theirs: Sequence[float], better: str, peer: str,
    table: str = "",
) -> Figure:  # fmt: skip
    """Return the figure of `ours` divided by `theirs`, round by round.

    If the numbers of samples differ, each sample of `ours` is divided by the median of `theirs`.
    The other arguments are the fields of `Figure`.
    """
    if len(ours) != len(theirs):
        theirs = [median(theirs)] * len(ours)
    samples = tuple(one / other for one, other in zip(ours, theirs, strict=True))
    return Figure(row, column, samples, better, peer, table)
