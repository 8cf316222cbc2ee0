"""Derives missed thresholds, goals and the next step of the optimisation loop (seed 001, Fig. 7).

A missed threshold says what was measured. The records do not say why a core waited inside an
instruction. So missed thresholds give no advice about such waits; `macaw.profiling.findings` does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from macaw.errors import InputError
from macaw.phrases import plural, suggestion
from macaw.profiling import metrics
from macaw.profiling.bottleneck import place_key
from macaw.profiling.metrics import KEYS_WITH_THRESHOLD, TRACE_BACK_KEYS, DeviceSizes
from macaw.profiling.model import (
    Bottleneck,
    Goal,
    Group,
    Metric,
    MissedThreshold,
    Profile,
    Slice,
    Step,
    Track,
)
from macaw.profiling.timeline import Start

CYCLES_GOAL = "cycles"
MOST_CYCLES = 1 << 53  # of the goal; a float64 has all whole numbers up to here
LEAST_SHARE = 0.005  # of the run's cycles; advice ignores what takes or costs less
LEAST_UNHIDDEN = 0.05  # of the run's cycles; step 716 names a row that costs at least this much


# Thresholds ------------------------------------------------------------------------------------


def collect_missed(groups: Iterable[Group]) -> list[MissedThreshold]:
    """Return missed thresholds, one for each metric and source position.

    In a row of the timeline, such as all PE rows, several positions may miss the same metric with
    the same sentence. They become one missed threshold.
    """
    places: dict[tuple[str, str, str], list[tuple[Slice, Metric]]] = {}
    for group in groups:
        for metric in group.metrics:
            if metric.ok is False:
                key = (*place_key(group.slice), metric.key)
                places.setdefault(key, []).append((group.slice, metric))
    same: dict[tuple[str, str, str], list[MissedThreshold]] = {}
    for items in places.values():
        item = _missed_at_place(items)
        key = (items[0][0].row, item.metric.key, item.sentence)
        same.setdefault(key, []).append(item)
    return [_join_places(row, missed_of_row) for (row, _, _), missed_of_row in same.items()]


def sort_missed(unsorted: Iterable[MissedThreshold]) -> tuple[MissedThreshold, ...]:
    """Return missed thresholds sorted by cost, the highest first.

    Missed thresholds without a known cost follow, sorted by cycles.
    """
    return tuple(sorted(unsorted, key=lambda item: (-item.cost, -item.cycles)))


def _missed_at_place(items: Sequence[tuple[Slice, Metric]]) -> MissedThreshold:
    """Return the missed threshold of a metric at one source position.

    `items` are the slices at this position, each with its value of the metric. The result has the
    worst of these values, and the busy cycles of all these slices.
    """
    item, metric = max(items, key=lambda pair: (badness(pair[1]), pair[0].busy))
    core = item.core if len({slice_.core for slice_, _ in items}) == 1 else item.row
    cycles = sum(slice_.busy for slice_, _ in items)
    return MissedThreshold(core, item.where, metric, metric.sentence, cycles, len(items))


def _join_places(row: str, same: Sequence[MissedThreshold]) -> MissedThreshold:
    """Return one missed threshold in place of `same`, which have the same row and sentence."""
    ordered = sorted(same, key=lambda item: -item.cycles)
    first = ordered[0]
    return replace(
        first,
        core=first.core if len({item.core for item in same}) == 1 else row,
        cycles=sum(item.cycles for item in same),
        slices=sum(item.slices for item in same),
        others=tuple(item.where for item in ordered[1:]),
    )


def badness(metric: Metric) -> float:
    """Return how far a metric's value is beyond its threshold, as a share of the threshold.

    If the result is 0 or less, the metric meets its threshold.
    """
    if metric.value is None or metric.threshold is None:
        return 0.0
    sense = metrics.BY_KEY[metric.key].sense
    value = metric.value
    if sense == "near":
        value = abs(value - max(1, round(value)))
    if sense == "least":
        return (metric.threshold - value) / (metric.threshold or 1.0)
    return (value - metric.threshold) / (metric.threshold or 1.0)


def lateness(
    starts: Sequence[Start],
    tracks: Sequence[Track],
    cycles: int,
    limit: float,
    sooner: Mapping[str, int],
) -> tuple[dict[str, Metric], list[MissedThreshold]]:
    """Return the metric `late` of each row, and a missed threshold for each row that is too late.

    A start is late if the core could have started its work earlier. `limit` is the threshold of
    `late`, `cycles` the length of the run. `sooner` has by row the number of cycles by which the
    run would be shorter without late starts. A row for which this number is 0, or a small share of
    `cycles`, gets no missed threshold.
    """
    by_row: dict[str, Metric] = {}
    late_rows = []
    for row in dict.fromkeys(start.row for start in starts):
        here = [start for start in starts if start.row == row]
        late = sum(start.late for start in here)
        value = late / max(cycles * len({start.core for start in here}), 1)
        worst = max(here, key=lambda start: start.late)
        ok = value <= limit
        text = (
            f"in {plural(len(here), 'start')} {row} started {plural(late, 'cycle')} in all after"
            f" the work before it had ended, the longest time {plural(worst.late, 'cycle')} from"
            f" {worst.earliest:,} to {worst.begin:,}"
        )
        by_row[row] = metric = Metric("late", value, limit, ok, text)
        cost = sooner.get(row, 0)
        if not ok and cost >= max(LEAST_SHARE * cycles, 1):
            less = f"the run would be about {plural(cost, 'cycle')} shorter"
            text += f"; without that {less}"
            place = _where(worst, tracks)
            late_rows.append(MissedThreshold(row, place, metric, text, late, len(here), cost))
    return by_row, late_rows


def _where(start: Start, tracks: Sequence[Track]) -> str:
    """Return source position and text of the instruction with which the work of `start` began.

    If no slice of the core begins at that cycle or before it, return the cycle.
    """
    slices = next((track.slices for track in tracks if track.core == start.core), ())
    place = bisect_right([item.begin for item in slices], start.begin)
    return slices[place - 1].where if place else f"cycle {start.begin:,}"


def row_metrics(
    tracks: Sequence[Track], machine: DeviceSizes, limits: Mapping[str, float]
) -> dict[str, tuple[Metric, ...]]:
    """Return the metrics of each row, computed from the sums of its cores' counters.

    `machine` has the sizes of the device, `limits` the thresholds by key of the metric.
    """
    metrics_by_row = {}
    for item in tracks:
        if item.core == item.row and item.slices:
            core = item.slices[0].core
            metrics_by_row[item.row] = metrics.measure(
                core, metrics.sum_counters(item.slices), machine, limits
            )
    return metrics_by_row


# Goals -----------------------------------------------------------------------------------------


def check_goals(limits: Mapping[str, float]) -> None:
    """Raise `InputError` for a key that is no goal, and for more cycles than `MOST_CYCLES`."""
    keys = (CYCLES_GOAL, *KEYS_WITH_THRESHOLD)
    for key in limits:
        if key not in keys:
            hint = suggestion(key, keys)
            raise InputError(f"no goal is called '{key}'", hint)
    cycles = limits.get(CYCLES_GOAL, 0)
    if cycles > MOST_CYCLES:
        raise InputError(f"the goal 'cycles' is at most {MOST_CYCLES:,}, not {cycles:g}")


def judge_goals(
    limits: Mapping[str, float], cycles: int, rows: Mapping[str, Sequence[Metric]]
) -> tuple[Goal, ...]:
    """Return the goals, and for each whether the profile meets it (seed 001, step 430).

    `limits` has the wanted value by goal. A goal limits `cycles`, the cycles of the run, or a
    metric in every row that has this metric.
    """
    verdicts = []
    for key, value in limits.items():
        if key == CYCLES_GOAL:
            excess = cycles - int(value)  # cycles are whole: at most 9.5 means at most 9
            text = f"{plural(cycles, 'cycle')} of {int(value):,}"
            text += f", {excess:,} too many" if excess > 0 else ", met"
            verdicts.append(Goal(key, value, cycles, excess <= 0, text))
            continue
        candidates = [
            (row, Metric(key, metric.value, value))
            for row, each in rows.items()
            for metric in each
            if metric.key == key
        ]
        if not candidates:
            verdicts.append(Goal(key, value, None, False, f"{key}: no record determines it"))
            continue
        row, worst = max(candidates, key=lambda pair: badness(pair[1]))
        met = badness(worst) <= 0
        sense = {"most": "at most", "least": "at least", "near": "within"}[
            metrics.BY_KEY[key].sense
        ]
        text = f"{key} {worst.value:.3g} in {row}, {sense} {value:.3g} wanted"
        verdicts.append(Goal(key, value, worst.value, met, text + (", met" if met else "")))
    return tuple(verdicts)


# The loop of Fig. 7 ----------------------------------------------------------------------------


def next_step(report: Profile) -> Step:
    """Return the next step of the optimisation loop (Fig. 7) after the profile `report`."""
    if report.mode == "mark":
        return _after_marking(report)
    if report.goals and not report.missed:
        text = "; ".join(goal.sentence for goal in report.goals)
        return Step(728, "Done", f"All goals are met: {text}.")
    if report.bottleneck is None:
        text = "Nothing was recorded: profile a program that does some work."
        return Step(702, "Record the timeline", text)
    late = next((item for item in report.missed_thresholds if item.metric.key == "late"), None)
    if late is not None:
        text = f"At {late.where}: {late.sentence}. Then record again."
        return Step(710, "Mend the synchronisation", text)
    total = any(goal.key == CYCLES_GOAL for goal in report.goals)
    ask = "" if total else " (--goal cycles=N says when the loop ends)"
    return _bottleneck_step(report, report.bottleneck, ask)


def _bottleneck_step(report: Profile, worst: Bottleneck, ask: str) -> Step:
    """Return the next step for the known bottleneck `worst` (steps 708 to 718).

    If an instruction of the bottleneck misses the threshold of a ratio, the step is to edit this
    instruction, else to choose another mapping. The text of the step ends with `ask`.
    """
    rows = {item.core: item.row for item in report.tracks}
    least = max(LEAST_SHARE * report.cycles, 1)
    misses = [
        item
        for item in report.missed_thresholds
        if rows.get(item.core) == worst.core
        and item.metric.key in TRACE_BACK_KEYS
        and item.cycles >= least
    ]
    premise = f"Starts are as expected, {worst.core} is the bottleneck"
    if misses:
        first = misses[0]
        more = f" and {plural(len(first.others), 'place')} more" if first.others else ""
        text = (
            f"{premise}, and of its ratios {first.metric.key} misses its threshold at"
            f" {first.where}{more}: {first.sentence}."
            " The records do not say what that costs. After an edit bracket it with trace_begin and"
            " trace_end, and run `macaw profile --mode mark --guide --allow program --against` with"
            f" the --json file of such a run from before it (720, 722){ask}."
        )
        return Step(718, "Trace back and edit the instruction", text)
    where = worst.slice.where if worst.slice else worst.core
    text = (
        f"{premise}, and no ratio of its instructions misses its threshold in more than"
        f" {LEAST_SHARE:.1%} of the run. Most of its cycles go to {where}; the records do not"
        " say what it waits for inside its instructions. Fig. 7 goes on with another mapping."
    )
    second = max(worst.between, key=lambda row: worst.between[row], default="")
    unhidden = worst.between.get(second, 0)
    if unhidden >= LEAST_UNHIDDEN * report.cycles:
        text += (
            f" The work of {second} between that of {worst.core} costs about"
            f" {plural(unhidden, 'cycle')}: where neither needs what the other does then, let"
            " them work at the same time."
        )
    return Step(716, "Change the mapping", f"{text} Then record again and look at the total{ask}.")


def _after_marking(report: Profile) -> Step:
    """Return the next step of the optimisation loop after the user has edited an instruction.

    `report` is the profile of the edited program in mark mode (steps 720 to 724).
    """
    if not report.differences:
        text = (
            "Give --against the JSON of the profile in mark mode from before the edit:"
            " it shows what is better."
        )
        return Step(722, "Compare with before", text)
    judgements = [item for item in report.differences if item.better is not None]
    better, worse = (sum(item.better is value for item in judgements) for value in (True, False))
    sentences = (
        "; ".join(item.sentence for item in judgements[:4]) or "nothing that was recorded differs"
    )
    if better > worse:
        text = f"It got better: {sentences}. Run in auto mode and look at the total (step 726)."
        return Step(724, "Run the whole program again", text)
    text = f"It got no better: {sentences}. Look at the other ratios and edit again."
    return Step(718, "Trace back again", text)
