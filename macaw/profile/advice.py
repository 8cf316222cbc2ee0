"""What a profile asks for: findings, goals, the next step of seed 001's Fig. 7, what got better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from macaw.errors import InputError
from macaw.profile import metrics
from macaw.profile.bottleneck import spot
from macaw.profile.metrics import JUDGED, METRICS, Machine
from macaw.profile.model import (
    Bottleneck,
    Difference,
    Finding,
    Goal,
    Group,
    Metric,
    Profile,
    Slice,
    Step,
    Track,
)
from macaw.profile.timeline import Start
from macaw.words import did_you_mean, plural

CYCLES = "cycles"


# Findings --------------------------------------------------------------------------------------


def findings(groups: Iterable[Group]) -> list[Finding]:
    """What thresholds forbid, for each place in the source once, the costliest first."""
    found: dict[tuple[str, str, str], list[tuple[Slice, Metric]]] = {}
    for group in groups:
        for metric in group.metrics:
            if metric.ok is False:
                found.setdefault((*spot(group.slice), metric.key), []).append((group.slice, metric))
    result = []
    for items in found.values():
        item, metric = max(items, key=lambda pair: (badness(pair[1]), pair[0].busy))
        cycles = sum(slice_.busy for slice_, _ in items)
        core = item.core if len({slice_.core for slice_, _ in items}) == 1 else item.row
        found_here = Finding(core, item.where, metric, metric.sentence, cycles, len(items))
        result.append(found_here)
    return sorted(result, key=lambda finding: -finding.cycles)


def badness(metric: Metric) -> float:
    """How far a value is from right, as a share of the threshold; 0 or less is right."""
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
    commander: str,
) -> tuple[dict[str, Metric], list[Finding]]:
    """By row, how late it started in all; and findings for the rows beyond the threshold.

    `commander` is the row that starts the others.
    """
    by_row: dict[str, Metric] = {}
    found = []
    slices = {(item.core, item.begin): item for track in tracks for item in track.slices}
    for row in dict.fromkeys(start.row for start in starts):
        here = [start for start in starts if start.row == row]
        late = sum(start.late for start in here)
        value = late / max(cycles * len({start.core for start in here}), 1)
        worst = max(here, key=lambda start: start.late)
        text = (
            f"{row} starts {plural(late, 'cycle')} later in all than what it waited for was done,"
            f" in {plural(len(here), 'start')}"
        )
        ok = value <= limit
        if not ok:
            text += (
                f"; the longest time {plural(worst.late, 'cycle')}"
                f" from {worst.could:,} to {worst.begin:,}:"
                f" let {commander} prepare the command before it waits, start more work with one"
                " command, or start it before what it does not need"
            )
        by_row[row] = metric = Metric("late", value, limit, ok, text)
        if not ok:
            item = slices.get((worst.core, worst.begin))
            where = item.where if item else f"cycle {worst.begin:,}"
            found.append(Finding(row, where, metric, text, late, len(here)))
    return by_row, sorted(found, key=lambda finding: -finding.cycles)


def of_rows(
    tracks: Sequence[Track], machine: Machine, limits: Mapping[str, float]
) -> dict[str, dict[str, Metric]]:
    """The metrics of each row's counters together, by row and key."""
    found = {}
    for item in tracks:
        if item.core == item.row and item.slices:
            core = item.slices[0].core
            counters = metrics.total(item.slices)
            each = metrics.metrics(core, counters, machine, limits)
            found[item.row] = {metric.key: metric for metric in each}
    return found


# Goals -----------------------------------------------------------------------------------------


def check_goals(wanted: Mapping[str, float]) -> None:
    """Raise `InputError` for a goal that there is not."""
    known = (CYCLES, *JUDGED)
    for key in wanted:
        if key not in known:
            hint = did_you_mean(key, known) or f"there are {', '.join(known)}"
            raise InputError(f"no goal is called '{key}'", hint)


def goals(
    wanted: Mapping[str, float], cycles: int, rows: Mapping[str, Mapping[str, Metric]]
) -> tuple[Goal, ...]:
    """Which goals are met (seed 001, step 430): cycles; a metric in every row that has it."""
    found = []
    for key, value in wanted.items():
        if key == CYCLES:
            left = cycles - value
            text = f"{plural(cycles, 'cycle')} of {value:,.0f}"
            text += f", {left:,.0f} too many" if left > 0 else ", met"
            found.append(Goal(key, value, cycles, left <= 0, text))
            continue
        judged = [
            (row, Metric(key, each[key].value, value)) for row, each in rows.items() if key in each
        ]
        if not judged:
            found.append(Goal(key, value, None, False, f"{key}: nothing that was recorded says"))
            continue
        row, worst = max(judged, key=lambda pair: badness(pair[1]))
        met = badness(worst) <= 0
        sense = {"most": "at most", "least": "at least", "near": "within"}[
            metrics.BY_KEY[key].sense
        ]
        text = f"{key} {worst.value:.3g} in {row}, {sense} {value:.3g} wanted"
        found.append(Goal(key, value, worst.value, met, text + (", met" if met else "")))
    return tuple(found)


# The loop of Fig. 7 ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Situation:
    """What the next step depends on."""

    late: Sequence[Finding]
    groups: Sequence[Group]  # all, the profile holds the longest alone
    profile: Profile


def next_step(now: Situation) -> Step:
    """The step of Fig. 7 that comes next."""
    found = now.profile
    if found.mode == "mark":
        return _after_marking(now)
    if found.goals and not found.missed:
        text = "; ".join(goal.sentence for goal in found.goals)
        return Step(728, "Done", f"All goals are met: {text}.")
    if found.bottleneck is None:
        text = "Nothing was recorded: profile a program that does some work."
        return Step(702, "Record the timeline", text)
    if now.late:
        first = now.late[0]
        text = f"At {first.where}: {first.sentence}. Then record again."
        return Step(710, "Mend the synchronisation", text)
    total = any(goal.key == CYCLES for goal in found.goals)
    ask = "" if total else " (--goal cycles=N says when the loop ends)"
    return _bottleneck_step(now, found.bottleneck, ask)


def _bottleneck_step(now: Situation, found: Bottleneck, ask: str) -> Step:
    """708 to 718: the bottleneck is known; is there headroom in its instructions?"""
    here = [group for group in now.groups if group.slice.row == found.core]
    bad = [
        (metric, group.slice) for group in here for metric in group.metrics if metric.ok is False
    ]
    if bad:
        spent: dict[tuple[str, str, str], int] = {}
        for metric, item in bad:
            key = (*spot(item), metric.key)
            spent[key] = spent.get(key, 0) + item.busy
        metric, item = max(
            bad, key=lambda pair: (spent[(*spot(pair[1]), pair[0].key)], badness(pair[0]))
        )
        text = (
            f"Starts are as expected, {found.core} is the bottleneck, and {item.where} has"
            f" headroom: {metric.key} {metric.value:.3g}: {metric.sentence}. Then bracket what you"
            " changed with trace_begin and trace_end, and run `macaw profile --mode mark --guide"
            f" --against` with this profile's --json file (steps 720, 722){ask}."
        )
        return Step(718, "Trace back and edit the instruction", text)
    idle = [item for item in now.profile.rows if item.core != found.core]
    least = min(idle, key=lambda item: item.busy_cycles, default=None)
    where = found.slice.where if found.slice else found.core
    text = (
        f"Starts are as expected, {found.core} is the bottleneck, and its instruction {where} has"
        " no headroom: no ratio misses its threshold. Change the mapping: let other cores do some"
        " of its work"
    )
    if least is not None:
        text += f" ({least.core} is at work for only {plural(least.busy_cycles, 'cycle')})"
    return Step(716, "Change the mapping", f"{text}; then record again and look at the total{ask}.")


def _after_marking(now: Situation) -> Step:
    """720 to 724: an edited instruction was recorded by itself."""
    if not now.groups:
        text = "Nothing was marked: bracket what you changed with trace_begin and trace_end."
        return Step(720, "Mark what was edited", text)
    ours = [item for item in now.profile.differences if item.better is not None]
    if not now.profile.differences:
        text = (
            "Give --against the JSON of the profile from before the edit: it shows what is better."
        )
        return Step(722, "Compare with before", text)
    better, worse = (sum(item.better is value for item in ours) for value in (True, False))
    said = "; ".join(item.sentence for item in ours[:4]) or "nothing differs"
    if better > worse:
        text = f"It got better: {said}. Run in auto mode and look at the total (step 726)."
        return Step(724, "Run the whole program again", text)
    return Step(
        718,
        "Trace back again",
        f"It got no better: {said}. Look at the other ratios and edit again.",
    )


# Against an earlier profile --------------------------------------------------------------------


def differences(before: Profile, after: Profile) -> tuple[Difference, ...]:
    """What changed since an earlier profile: cycles, work of rows, ratios of places in both."""
    found = [_difference("cycles", before.cycles, after.cycles, -1)]
    if before.mode == after.mode:
        rows = {item.core: item for item in before.rows}
        for item in after.rows:
            old = rows.get(item.core)
            if old is not None and (old.busy_cycles or item.busy_cycles):
                what = f"work of {item.core}"
                found.append(_difference(what, old.busy_cycles, item.busy_cycles, -1))
    found += _metric_differences(before, after)
    ours, theirs = after.bottleneck, before.bottleneck
    if ours is not None and theirs is not None and ours.core != theirs.core:
        text = f"the bottleneck was {theirs.core} and is {ours.core}"
        found.append(Difference("bottleneck", None, None, None, text))
    return tuple(found)


def _metric_differences(before: Profile, after: Profile) -> list[Difference]:
    """Ratios of rows, over all slices that were recorded, where they differ."""
    old, new = _ratios(before), _ratios(after)
    found = []
    for (row, key), value in new.items():
        if (row, key) in old and old[row, key] != value:
            earlier = old[row, key]
            found.append(
                _difference(f"{key} of {row}", earlier, value, _direction(key, earlier, value))
            )
    return found


def _ratios(profile: Profile) -> dict[tuple[str, str], float]:
    """Mean of each judged metric by row, the slices weighted by their cycles."""
    sums: dict[tuple[str, str], list[float]] = {}
    for group in profile.groups:
        for metric in group.metrics:
            if metric.value is not None and metric.key in JUDGED:
                total = sums.setdefault((group.slice.row, metric.key), [0.0, 0.0])
                weight = max(group.slice.cycles, 1)
                total[0] += metric.value * weight
                total[1] += weight
    order = {row.key: place for place, row in enumerate(METRICS)}
    keys = sorted(sums, key=lambda key: (key[0], order[key[1]]))
    return {key: sums[key][0] / sums[key][1] for key in keys}


def _direction(key: str, before: float, after: float) -> int:
    """1 if more is better, -1 if less is; of a match what is nearer to a whole number."""
    sense = metrics.BY_KEY[key].sense
    if sense == "near":
        old, new = (abs(value - max(1, round(value))) for value in (before, after))
        return 1 if (new < old) == (after > before) else -1
    return 1 if sense == "least" else -1


def _difference(what: str, before: float, after: float, direction: int) -> Difference:
    change = after - before
    better = None if not change else change * direction > 0
    share = f" ({change / before:+.1%})" if before else ""
    word = {None: "as before", True: "better", False: "worse"}[better]
    text = f"{what}: {_text(before)} before, {_text(after)} now{share}, {word}"
    return Difference(what, before, after, better, text)


def _text(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
