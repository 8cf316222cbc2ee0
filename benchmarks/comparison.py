"""Finds figures that became slower between two files of results, by more than the noise.

Two tests must agree. The first is the bootstrap of macaw.profiling.bootstrap: zero lies
outside of the 99% interval of the difference of the samples' logarithms. Five samples may lie close
together by chance, and a page has hundreds of figures. So the second test divides the difference by
the spread of all figures of the case together, and allows one false alarm in twenty pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, median, variance

from benchmarks.figures import LOWER, Figure
from benchmarks.results import LOADED, Result
from macaw.profiling.bootstrap import LEAST_RUNS, difference_interval

FALSE_ALARMS = 0.05  # of a comparison of two pages without a difference
SAME_SPEED = 0.1  # calibrations further apart than this share are those of different machines


@dataclass(frozen=True)
class Change:
    """A figure of a case that changed: its medians before and after.

    The case is `factor` times as slow as before; a factor below 1 means faster.
    """

    case: str
    figure: str
    before: float
    after: float
    factor: float


@dataclass(frozen=True)
class Comparison:
    """The changes beyond the noise, how many figures were compared, and remarks."""

    slower: tuple[Change, ...]
    faster: tuple[Change, ...]
    compared: int
    notes: tuple[str, ...]


def compare(old: Mapping[str, Result], new: Mapping[str, Result]) -> Comparison:
    """Compare the figures that both files have with at least `LEAST_RUNS` samples each."""
    pairs: dict[str, list[tuple[Figure, Figure]]] = {}
    notes: list[str] = []
    few = 0
    for case in sorted(old.keys() & new.keys()):
        same = same_speed(old[case], new[case])
        if not same:
            notes.append(f"{case}: the speeds of the machines differ, so only ratios are compared")
        notes += _loads(case, old[case], new[case])
        for before, after in _common(old[case], new[case]):
            if min(len(before.samples), len(after.samples)) < LEAST_RUNS:
                few += 1
            elif before.peer or same:
                pairs.setdefault(case, []).append((before, after))
    if few:
        notes.append(f"{few} figures have fewer than {LEAST_RUNS} samples and are not compared")
    total = sum(map(len, pairs.values()))
    changes = [x for case, found in pairs.items() for x in _changes(case, found, total)]
    changes.sort(key=lambda x: -x.factor)
    slower = tuple(x for x in changes if x.factor > 1)
    return Comparison(slower, tuple(x for x in changes if x.factor < 1), total, tuple(notes))


def same_speed(old: Result, new: Result) -> bool:
    """Return whether both results come from machines of the same speed.

    The calibration decides, or the name of the machine if a result has no calibration.
    """
    before, after = old.origin.speed, new.origin.speed
    kinds = before.keys() & after.keys()
    if not kinds:
        return old.origin.machine == new.origin.machine
    return all(abs(math.log(after[kind] / before[kind])) <= SAME_SPEED for kind in kinds)


def report(found: Comparison) -> str:
    """Return the comparison as lines of text."""
    lines = [f"note: {text}" for text in found.notes]
    for word, changes in (("slower", found.slower), ("faster", found.faster)):
        lines += [
            f"{word}: {x.case}, {x.figure}: {x.before:.4g} -> {x.after:.4g}"
            f" ({abs(x.factor - 1):.1%} {word})"
            for x in changes
        ]
    lines.append(
        f"{found.compared} figures compared: {len(found.slower)} slower, {len(found.faster)} faster"
    )
    return "\n".join(lines) + "\n"


def _loads(case: str, *results: Result) -> Iterator[str]:
    for word, result in zip(("old", "new"), results, strict=True):
        if max(result.origin.load, default=0) > LOADED:
            yield f"{case}: the {word} figures were measured with a load of {max(result.origin.load)}"


def _common(old: Result, new: Result) -> Iterator[tuple[Figure, Figure]]:
    """Yield pairs of the same figure in both results.

    Figures without a better side, and those with samples that are not positive, are left out.
    """
    others = {(x.table, x.name): x for x in new.figures}
    for before in old.figures:
        after = others.get((before.table, before.name))
        if after and before.better and min(*before.samples, *after.samples) > 0:
            yield before, after


def _changes(case: str, pairs: Sequence[tuple[Figure, Figure]], total: int) -> Iterator[Change]:
    """Yield the changes of a case beyond the noise.

    `pairs` are the figures before and after. `total` is the number of figures in all cases.
    """
    logs = [(_costs(before), _costs(after)) for before, after in pairs]
    pooled = fmean(variance(samples) for pair in logs for samples in pair)
    quantile = NormalDist().inv_cdf(1 - FALSE_ALARMS / total / 2)
    for (before, after), (old, new) in zip(pairs, logs, strict=True):
        interval = difference_interval(old, new)
        if interval is None:
            continue  # most samples are equal
        low, high = interval
        difference = fmean(new) - fmean(old)
        largest = max(pooled, (variance(old) + variance(new)) / 2)
        error = math.sqrt(largest * (1 / len(old) + 1 / len(new)))
        if (low > 0 or high < 0) and abs(difference) > quantile * error:
            factor = math.exp(median(new) - median(old))
            yield Change(case, before.name, before.median, after.median, factor)


def _costs(figure: Figure) -> list[float]:
    """Return the logarithms of a figure's samples, with the sign for which larger means slower."""
    sign = 1 if figure.better == LOWER else -1
    return [sign * math.log(x) for x in figure.samples]
