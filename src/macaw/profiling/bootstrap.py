"""Confidence intervals of the difference between the means of two samples, by the bootstrap.

The interval is that of the studentised bootstrap (Efron, Tibshirani: An Introduction to the
Bootstrap, 1993, chapter 12.5): the error of each resample's difference is divided by the standard
error of this resample, so that small samples give intervals that are wide enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.99  # probability that the interval contains the true difference
LEAST_RUNS = 5  # the least size of a sample; with fewer runs, too many resamples have no spread
RESAMPLES = 10_000
_NO_SPREAD = 1e9  # the size that replaces the ratio of a resample without spread
_MOST_ERRORS = 1e6  # standard errors: an end that is farther from the difference says nothing


def difference_interval(
    before: Sequence[float], after: Sequence[float]
) -> tuple[float, float] | None:
    """Return the confidence interval of mean(after) - mean(before), in the unit of the values.

    `before` and `after` are the samples, `LEVEL` is the confidence level. The same samples always
    give the same interval. If neither has any spread, both ends are the difference of the means.
    Returns None if too many resamples have no spread, because most values are equal. Raises
    `ValueError` for a sample with fewer than `LEAST_RUNS` values.
    """
    if min(len(before), len(after)) < LEAST_RUNS:
        raise ValueError(f"an interval needs {LEAST_RUNS} values of each sample")
    old, new = np.asarray(before, float), np.asarray(after, float)
    difference = float(new.mean() - old.mean())
    error = float(np.sqrt(_squared_error(old[None]) + _squared_error(new[None]))[0])
    if not error:
        return difference, difference
    random = np.random.default_rng(0)
    olds, news = (x[random.integers(len(x), size=(RESAMPLES, len(x)))] for x in (old, new))
    shifts = news.mean(axis=1) - olds.mean(axis=1) - difference
    errors = np.sqrt(_squared_error(olds) + _squared_error(news))
    # The error of a resample without spread is 0, so its ratio counts as infinite.
    ratios = np.sign(shifts) * _NO_SPREAD
    np.divide(shifts, errors, out=ratios, where=errors > 0)
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if max(-low, high) > _MOST_ERRORS:
        return None
    return difference - float(high) * error, difference - float(low) * error


def _squared_error(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared standard error of the mean of each row, shape (rows,)."""
    return np.asarray(samples.var(axis=1, ddof=1) / samples.shape[1])
