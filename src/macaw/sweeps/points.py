"""The points of a sweep, with the values of the settings, and the outcomes of the runs."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from macaw.errors import InputError
from macaw.isa import config
from macaw.isa.config import ConfigError, Value

MOST_POINTS = 100_000


@dataclass(frozen=True)
class Point:
    """One run of a sweep: values of the device's settings, and the number of the repetition.

    `seed` is the seed of the noise in the timing of DRAM; None means no noise.
    """

    settings: tuple[tuple[str, Value], ...]
    repeat: int = 0
    seed: int | None = None

    @property
    def name(self) -> str:
        """The point as messages name it: the settings, and the seed if there is one."""
        words = [f"{key}={config.shown(value)}" for key, value in self.settings]
        return ", ".join([*words, *([f"seed {self.seed}"] if self.seed is not None else [])])


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run at a point: its metrics, or the reason why the point was refused.

    `metrics` has `cycles` and further metrics of the subject; for a program, these are the counters
    that are not 0, as `core.counter`. `refused` has the reason; it is empty if the run has metrics.
    `files` has the SHA-256 of each file that the run has read, by path. `reused` is true for the
    outcome of an earlier sweep.
    """

    point: Point
    metrics: Mapping[str, float] = field(default_factory=dict)
    refused: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    reused: bool = False  # read from a file of an earlier sweep


def axis(text: str) -> tuple[str, tuple[Value, ...]]:
    """Return the setting and the values that a text `SETTING=VALUE,VALUE,...` names.

    Raises `InputError` for a text of another form and for a setting that does not exist.
    """
    name, equals, values = text.partition("=")
    words = [word.strip() for word in values.split(",")]
    if not equals or not name.strip() or not all(words):
        raise InputError(f"'{text[:80]}' is not FIELD=VALUE,VALUE,...")
    return check_axis(name.strip(), [_value(word) for word in words])


def check_axis(name: str, values: Sequence[Value]) -> tuple[str, tuple[Value, ...]]:
    """Return the name of a setting and its values, after checks.

    Raises `InputError` if the setting does not exist, or cannot have these values.
    """
    rows = config.settings()
    if name not in rows:
        try:
            config.check_field(name, 0)
        except ConfigError as error:
            raise InputError(str(error), "`macaw device base` prints all settings") from None
    if not values:
        raise InputError(f"{name} has no values")
    if len({(isinstance(value, bool), value) for value in values}) < len(values):  # True == 1
        raise InputError(f"{name} has a value twice")
    return name, tuple(values)


def _value(word: str) -> Value:
    """Return the value that a word of the command line has in TOML, or else the word itself."""
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except (ValueError, RecursionError):  # also integers of thousands of digits
        return word
    return value if isinstance(value, bool | int | float | str) else word


def points(
    axes: Sequence[tuple[str, Sequence[Value]]],
    *,
    zipped: bool,
    repeat: int,
    seed: int | None,
) -> list[Point]:
    """Return the points of a sweep, in the order in which they run.

    `axes` are the settings with their values. Without `zipped`, the points are all combinations of
    the values; from one to the next, the last setting changes most often. With `zipped`, the first
    combination is the first value of each setting, the second one the second values, and so on.
    There are `repeat` points for each combination, with the seeds `seed`, `seed` + 1, ... Raises
    `InputError` for a setting that occurs twice, for zipped settings with different numbers of
    values, for repetitions without a seed, and for more than `MOST_POINTS`.
    """
    names = [name for name, _ in axes]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is set twice", "one setting has all its values")
    counts = {len(values) for _, values in axes}
    if zipped and len(counts) > 1:
        rows = ", ".join(f"{name} has {len(values)}" for name, values in axes)
        raise InputError(f"settings are zipped that have different numbers of values: {rows}")
    if repeat > 1 and seed is None:
        raise InputError("repetitions without noise are all equal", "'jitter' with a seed")
    total = repeat
    for count in counts if zipped else [len(values) for _, values in axes]:
        total *= count
    if total > MOST_POINTS:
        raise InputError(f"these are {total:,} points, and a sweep has {MOST_POINTS:,} at most")
    values = [values for _, values in axes]
    combinations = zip(*values, strict=True) if zipped else itertools.product(*values)
    return [
        Point(tuple(zip(names, row, strict=True)), turn, None if seed is None else seed + turn)
        for row in combinations
        for turn in range(repeat)
    ]
