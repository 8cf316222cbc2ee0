"""The result of a sweep, as data: rows of points, columns of settings and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macaw.errors import InputError
from macaw.isa.config import Value
from macaw.phrases import did_you_mean, one_line, plural
from macaw.sweeps.points import Outcome


@dataclass(frozen=True)
class Sweep:
    """The outcomes of all points, in the order of the points.

    `subject` is the name of the program, operation or network that ran.
    """

    subject: str
    outcomes: tuple[Outcome, ...]

    def __repr__(self) -> str:
        return one_line(f"<sweep of {self.subject}: {plural(len(self.outcomes), 'point')}>")

    @property
    def measured(self) -> tuple[Outcome, ...]:
        """The outcomes of the points that were not refused."""
        return tuple(outcome for outcome in self.outcomes if not outcome.refused)

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the settings that the sweep changes."""
        return tuple(name for name, _ in self.outcomes[0].point.settings) if self.outcomes else ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics that at least one point has.

        They are in the order in which the points first have them.
        """
        return tuple(dict.fromkeys(name for row in self.measured for name in row.metrics))

    def column(self, name: str) -> list[Value]:
        """Return the values of the setting or metric `name` at all measured points.

        A counter that a point does not have is 0. Raises `InputError` for another name.
        """
        if name in self.settings:
            return [dict(row.point.settings)[name] for row in self.measured]
        self.check_metric(name)
        return [plain_number(row.metrics.get(name, 0)) for row in self.measured]

    def check_metric(self, name: str) -> None:
        """Raise `InputError` unless a measured point has a metric of this name."""
        if self.measured and name not in self.metrics:
            raise InputError(f"no point has a metric '{name}'", did_you_mean(name, self.metrics))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return all columns by name, as pandas.DataFrame takes them."""
        return {
            **{name: self.column(name) for name in self.settings},
            "repeat": [row.point.repeat for row in self.measured],
            **{name: self.column(name) for name in self.metrics},
        }


def plain_number(value: float) -> float | int:
    """Return a whole number as an int, any other number as it is."""
    return int(value) if float(value).is_integer() else value


def pareto(rows: Sequence[Sequence[float]]) -> list[bool]:
    """Return for each of n rows whether it is on the Pareto front, where small values are good.

    A row is not on the front if another row has a smaller value in one column, and no greater value
    in any column. If one of several equal rows is on the front, all are. The time is proportional
    to n log n for two columns and to n² for more.
    """
    if rows and len(rows[0]) == 2:
        return _pareto_of_pairs([(row[0], row[1]) for row in rows])
    return [
        not any(
            all(x <= y for x, y in zip(other, row, strict=True)) and tuple(other) != tuple(row)
            for other in rows
        )
        for row in rows
    ]


def _pareto_of_pairs(rows: Sequence[tuple[float, float]]) -> list[bool]:
    front, least = set(), float("inf")
    for row in sorted(set(rows)):
        if row[1] < least:
            front.add(row)
            least = row[1]
    return [row in front for row in rows]
