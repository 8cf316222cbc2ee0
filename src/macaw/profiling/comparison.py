"""Compares a profile with an earlier one (seed 001, step 722).

Without jitter, cycles are compared exactly. With jitter, runs differ by chance. Then a difference
of means is significant only if all runs of one profile are faster than all runs of the other, and
if there are enough runs: the probability of such a result by chance must be at most 1/20.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from macaw.profiling import metrics
from macaw.profiling.metrics import KEYS_WITH_THRESHOLD, METRICS
from macaw.profiling.model import Difference, Profile, Subject

CHANCE = 0.05  # probability that runs of the same program count as different
EQUAL = 0.0005  # of a value; a smaller change prints as 0.0%


def differences(before: Profile, after: Profile) -> tuple[Difference, ...]:
    """Return the differences in setup, in cycles, in work of rows, and in metrics of rows."""
    changes = [_note(what, text) for what, text in _setup_changes(before, after)]
    same_inputs = before.subject.inputs == after.subject.inputs
    changes.append(_cycles_change(before, after, same_inputs))
    if before.mode == after.mode:
        changes += _row_changes(before, after)
        exact = before.jitter is None and after.jitter is None
        changes += _ratio_changes(before, after, same_inputs and exact)
    ours, theirs = after.bottleneck, before.bottleneck
    if ours is not None and theirs is not None and ours.core != theirs.core:
        changes.append(_note("bottleneck", f"the bottleneck was {theirs.core} and is {ours.core}"))
    return tuple(changes)


def _note(what: str, text: str) -> Difference:
    return Difference(what, None, None, None, text)


def _setup_changes(before: Profile, after: Profile) -> list[tuple[str, str]]:
    """Return a key and a sentence for each difference of program, device, inputs, mode, jitter."""
    old, new = before.subject, after.subject
    changes = []
    if old.program != new.program:
        text = f"the program is another one: {before.program} before, {after.program} now"
        if before.program == after.program:
            text = f"{after.program} was changed"
        changes.append(("program", text))
    if old.device != new.device:
        text = f"the device is another one: {before.device} before, {after.device} now"
        if before.device == after.device:
            text = f"the device {after.device} has other settings now"
        changes.append(("device", text))
    inputs = _input_changes(old, new)
    if inputs:
        text = "so nothing is called better or worse"
        changes.append(("inputs", f"the inputs are others ({inputs}), {text}"))
    if before.mode != after.mode:
        text = f"{before.mode} mode before, {after.mode} mode now"
        changes.append(("mode", f"{text}: other instructions were recorded, only cycles compare"))
    if before.jitter != after.jitter or before.jitter is not None:
        text = f"{_runs_text(before)} before, {_runs_text(after)} now"
        changes.append(("runs", f"{text}: only cycles are judged, by the spread of the runs"))
    return changes


def _input_changes(old: Subject, new: Subject) -> str:
    """Return a phrase that says which inputs differ."""
    both = [name for name in new.inputs if name in old.inputs]
    names = {
        "other values of": [name for name in both if old.inputs[name] != new.inputs[name]],
        "only before": [name for name in old.inputs if name not in new.inputs],
        "only now": [name for name in new.inputs if name not in old.inputs],
    }
    return "; ".join(f"{title} {', '.join(inputs)}" for title, inputs in names.items() if inputs)


def _runs_text(profile: Profile) -> str:
    """Return a phrase with the number of runs and their jitter."""
    if profile.jitter is None:
        return "a run without jitter"
    count = len(profile.runs)
    return f"{count:,} run{'' if count == 1 else 's'} with jitter from seed {profile.jitter}"


def _cycles_change(before: Profile, after: Profile, judged: bool) -> Difference:
    """Return the change of the cycles. With jitter, the spread of the runs decides its verdict."""
    old, new = before.cycles, after.cycles
    if before.jitter is None and after.jitter is None:
        return _difference("cycles", old, new, -1 if judged else 0)
    low, high = sorted((before.runs or (old,), after.runs or (new,)), key=min)
    text = _change_text("cycles", old, new)
    if max(low) >= min(high):
        return Difference("cycles", old, new, None, f"{text}: within the spread of the runs")
    if 2 / comb(len(low) + len(high), len(low)) > CHANCE:
        hint = "too few runs to tell it from chance (--repeat)"
        return Difference("cycles", old, new, None, f"{text}: {hint}")
    return _difference("cycles", old, new, -1 if judged else 0)


def _row_changes(before: Profile, after: Profile) -> list[Difference]:
    """Return the changes of the rows' busy cycles.

    They get no verdict, because less work in one row may mean more in another.
    """
    rows = {item.core: item for item in before.rows}
    return [
        _difference(f"work of {item.core}", rows[item.core].busy_cycles, item.busy_cycles, 0)
        for item in after.rows
        if item.core in rows and (rows[item.core].busy_cycles or item.busy_cycles)
    ]


def _ratio_changes(before: Profile, after: Profile, judged: bool) -> list[Difference]:
    """Return the changes of the rows' metrics."""
    order = {row.key: place for place, row in enumerate(METRICS)}
    changes = []
    for row, each in sorted(after.ratios.items()):
        old = {metric.key: metric for metric in before.ratios.get(row, ())}
        for metric in sorted(each, key=lambda metric: order[metric.key]):
            earlier = old.get(metric.key)
            if metric.key not in KEYS_WITH_THRESHOLD or earlier is None:
                continue
            if earlier.value is None or metric.value is None or earlier.value == metric.value:
                continue
            # Not judged if both values meet the threshold.
            is_open = False in (earlier.ok, metric.ok) and None not in (earlier.ok, metric.ok)
            sense = _direction(metric.key, earlier.value, metric.value) if judged and is_open else 0
            what = f"{metric.key} of {row}"
            changes.append(_difference(what, earlier.value, metric.value, sense))
    return changes


def _direction(key: str, before: float, after: float) -> int:
    """Return 1 if a higher value of the metric is better, -1 if a lower one is, else 0.

    For the metric `match`, a value nearer to a whole number is better.
    """
    sense = metrics.BY_KEY[key].sense
    if sense == "near":
        old, new = (abs(value - max(1, round(value))) for value in (before, after))
        if abs(new - old) < EQUAL:
            return 0
        return 1 if (new < old) == (after > before) else -1
    return 1 if sense == "least" else -1


def _difference(what: str, before: float, after: float, direction: int) -> Difference:
    """Return a difference. `direction` is 1 if more is better, -1 if less is, 0 for no verdict."""
    change = after - before
    text = _change_text(what, before, after)
    if abs(change) < EQUAL * abs(before) or not change:
        return Difference(what, before, after, None, f"{text}, as before")
    if not direction:
        return Difference(what, before, after, None, text)
    better = change * direction > 0
    return Difference(what, before, after, better, f"{text}, {WORDS[better]}")


WORDS: Mapping[bool, str] = {True: "better", False: "worse"}


def _change_text(what: str, before: float, after: float) -> str:
    share = f" ({(after - before) / before:+.1%})" if before else ""
    return f"{what}: {_value_text(before)} before, {_value_text(after)} now{share}"


def _value_text(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
