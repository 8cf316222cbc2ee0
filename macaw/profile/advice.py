"""What a profile asks for: findings, goals, the next step of seed 001's Fig. 7, what got better."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

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
MATTERS = 0.005  # of the run: a ratio that may have cost less is no next step
UNHIDDEN = 0.05  # of the run: so much does work of another row cost that should be hidden


# Findings --------------------------------------------------------------------------------------


def findings(groups: Iterable[Group]) -> list[Finding]:
    """What thresholds forbid, for each place in the source once, what costs most first."""
    found: dict[tuple[str, str, str], list[tuple[Slice, Metric]]] = {}
    for group in groups:
        for metric in group.metrics:
            if metric.ok is False:
                found.setdefault((*spot(group.slice), metric.key), []).append((group.slice, metric))
    result = []
    for items in found.values():
        item, metric = max(items, key=lambda pair: (badness(pair[1]), pair[0].busy))
        cycles = sum(slice_.busy for slice_, _ in items)
        lost = round(sum(metrics.cost(each, slice_) for slice_, each in items))
        core = item.core if len({slice_.core for slice_, _ in items}) == 1 else item.row
        result.append(Finding(core, item.where, metric, metric.sentence, cycles, len(items), lost))
    return sorted(result, key=lambda finding: (-finding.cost, -finding.cycles))


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
            found.append(Finding(row, _where(worst, tracks), metric, text, late, len(here), late))
    return by_row, sorted(found, key=lambda finding: -finding.cycles)


def _where(start: Start, tracks: Sequence[Track]) -> str:
    """The instruction that a core began or went on with."""
    slices = next((track.slices for track in tracks if track.core == start.core), ())
    place = bisect_right([item.begin for item in slices], start.begin)
    return slices[place - 1].where if place else f"cycle {start.begin:,}"


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


def next_step(found: Profile, movers: Container[str] = ()) -> Step:
    """The step of Fig. 7 that comes next; `movers` are the rows that compute nothing."""
    if found.mode == "mark":
        return _after_marking(found)
    if found.goals and not found.missed:
        text = "; ".join(goal.sentence for goal in found.goals)
        return Step(728, "Done", f"All goals are met: {text}.")
    if found.bottleneck is None:
        text = "Nothing was recorded: profile a program that does some work."
        return Step(702, "Record the timeline", text)
    late = next((item for item in found.findings if item.metric.key == "late"), None)
    if late is not None:
        text = f"At {late.where}: {late.sentence}. Then record again."
        return Step(710, "Mend the synchronisation", text)
    total = any(goal.key == CYCLES for goal in found.goals)
    ask = "" if total else " (--goal cycles=N says when the loop ends)"
    return _bottleneck_step(found, found.bottleneck, ask, found.bottleneck.core in movers)


def _bottleneck_step(found: Profile, worst: Bottleneck, ask: str, moves: bool) -> Step:
    """708 to 718: the bottleneck is known; is there headroom in its instructions?"""
    rows = {item.core: item.row for item in found.tracks}
    here = [item for item in found.findings if rows.get(item.core) == worst.core]
    known = f"Starts are as expected, {worst.core} is the bottleneck"
    costs = Counter[str]()
    for item in here:
        costs[item.metric.key] += item.cost
    key, cost = next(iter(costs.most_common(1)), ("", 0))
    if cost >= max(MATTERS * found.cycles, 1):
        same = [item for item in here if item.metric.key == key]
        best = max(same, key=lambda item: item.cost)
        more = len({item.where for item in same}) - 1
        which = f"With {plural(more, 'place')} more that" if more else "That"
        text = (
            f"{known}, and {best.where} has headroom:"
            f" {key} {best.metric.value:.3g}: {best.sentence}."
            f" {which} may cost about {plural(cost, 'cycle')}."
            " Then bracket what you changed with trace_begin and trace_end, and run `macaw profile"
            f" --mode mark --guide --against` with this profile's --json file (720, 722){ask}."
        )
        return Step(718, "Trace back and edit the instruction", text)
    where = worst.slice.where if worst.slice else worst.core
    text = (
        f"{known}, and its instruction {where} has no headroom: what misses a threshold costs less"
        f" than {MATTERS:.1%} of the run. Change the mapping:"
    )
    second = max(
        (row for row in worst.saved if row != worst.core),
        key=lambda row: worst.saved[row],
        default="",
    )
    unhidden = worst.saved.get(second, 0)
    if unhidden >= UNHIDDEN * found.cycles:
        text += (
            f" the work of {second} is not hidden behind that of {worst.core}, and costs about"
            f" {plural(unhidden, 'cycle')}: let them work at the same time, each on its half"
        )
    elif moves:
        text += " move less (keep on chip what is used again), or more of it while others compute"
    else:
        text += " let other cores do some of its work"
        least = min(
            (item for item in found.rows if item.core != worst.core and item.busy),
            key=lambda item: item.busy_cycles,
            default=None,
        )
        if least is not None:
            text += f" ({least.core} is at work for only {plural(least.busy_cycles, 'cycle')})"
    return Step(716, "Change the mapping", f"{text}; then record again and look at the total{ask}.")


def _after_marking(found: Profile) -> Step:
    """720 to 724: an edited instruction was recorded by itself."""
    if not found.groups:
        text = "Nothing was marked: bracket what you changed with trace_begin and trace_end."
        return Step(720, "Mark what was edited", text)
    if not found.differences:
        text = (
            "Give --against the JSON of the profile from before the edit: it shows what is better."
        )
        return Step(722, "Compare with before", text)
    ours = [item for item in found.differences if item.better is not None]
    better, worse = (sum(item.better is value for item in ours) for value in (True, False))
    said = "; ".join(item.sentence for item in ours[:4]) or "nothing differs"
    if better > worse:
        text = f"It got better: {said}. Run in auto mode and look at the total (step 726)."
        return Step(724, "Run the whole program again", text)
    text = f"It got no better: {said}. Look at the other ratios and edit again."
    return Step(718, "Trace back again", text)


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
