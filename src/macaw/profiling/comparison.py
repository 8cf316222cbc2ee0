"""Compares a profile with an earlier one (seed 001, step 722).

Only profiles of the same program, with inputs of the same values and shapes, are compared, unless
the user allows the difference. Without jitter, cycles are compared exactly. With jitter, runs
differ by chance. Then the runs of both profiles give a confidence interval of the difference of the
means; if it contains 0, the profiles do not differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from macaw.errors import InputError
from macaw.phrases import suggestion
from macaw.profiling import bootstrap, metrics
from macaw.profiling.bootstrap import LEAST_RUNS, LEVEL
from macaw.profiling.earlier import EarlierRun, EarlierTrack
from macaw.profiling.line_comparison import line_differences
from macaw.profiling.metrics import KEYS_WITH_THRESHOLD, METRICS
from macaw.profiling.model import Difference, Profile, Subject

ALLOWABLE = ("program", "inputs", "shape")  # what may differ if the user allows it
NO_DIFFERENCE = "no difference"  # the end of a sentence
EQUAL = 0.0005  # share of a value; a smaller change prints as 0.0%


def check_allowed(allowed: Collection[str]) -> None:
    """Raise `InputError` if one of the words `allowed` is not in `ALLOWABLE`."""
    for word in allowed:
        if word not in ALLOWABLE:
            raise InputError(f"no difference '{word}' can be allowed", suggestion(word, ALLOWABLE))


def refuse_other_subject(
    before: Profile, name: str, new: Subject, program: str, allowed: Collection[str]
) -> None:
    """Raise `InputError` if program, inputs or shapes differ, unless `allowed` permits it.

    `before` is the earlier profile and `name` its file. `new` has the digests of the new run, and
    `program` is the name of its program. `allowed` has words of `ALLOWABLE`, one for each kind of
    difference that the user permits.
    """
    old, reasons = before.subject, {}
    if old.program != new.program:
        reasons["program"] = _program_text(before, new, program)
    shapes, values = _shape_changes(old, new), _value_changes(old, new)
    if shapes:
        reasons["shape"] = f"the shapes of inputs are others ({shapes})"
    if values:
        reasons["inputs"] = f"the inputs are others ({values})"
    missing = [word for word in reasons if word not in allowed]
    if missing:
        text = "; ".join(reasons[word] for word in missing)
        raise InputError(
            f"{name} is the profile of another run: {text}",
            f"allow {' and '.join(missing)} to compare them all the same",
        )


def compare(before: Profile, after: Profile) -> Profile:
    """Return `after` with its differences from `before`, and with the timeline of `before`."""
    return replace(
        after,
        differences=differences(before, after),
        earlier=EarlierRun(
            before.program,
            before.device,
            before.cycles,
            tuple(EarlierTrack(track.core, track.row, track.busy) for track in before.tracks),
        ),
        line_differences=line_differences(before.accounts, after.accounts),
    )


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
    """Return pairs (key, sentence), one for each difference in the setup of the runs.

    The setup is program, device, inputs, mode, jitter and the option `causes`. If a profile has
    jitter, there is always a pair with the numbers of runs, even if the jitter is equal.
    """
    old, new = before.subject, after.subject
    changes = []
    if old.program != new.program:
        changes.append(("program", _program_text(before, new, after.program)))
    if old.device != new.device:
        text = f"the device is another one: {before.device} before, {after.device} now"
        if before.device == after.device:
            text = f"the device {after.device} has other settings now"
        changes.append(("device", text))
    inputs = "; ".join(filter(None, (_value_changes(old, new), _shape_changes(old, new))))
    if inputs:
        text = "so nothing is called better or worse"
        changes.append(("inputs", f"the inputs are others ({inputs}), {text}"))
    if before.mode != after.mode:
        text = f"{before.mode} mode before, {after.mode} mode now"
        changes.append(("mode", f"{text}: other instructions were recorded, only cycles compare"))
    if before.jitter != after.jitter or before.jitter is not None:
        text = f"{_runs_text(before)} before, {_runs_text(after)} now"
        changes.append(("runs", f"{text}: only cycles are judged, by the spread of the runs"))
    if bool(before.accounts) != bool(after.accounts):
        when = "before" if after.accounts else "now"
        changes.append(("lines", f"lines are not compared: {when} without --causes"))
    return changes


def _program_text(before: Profile, new: Subject, name: str) -> str:
    """Return a sentence that says how the program `name` of `new` is another than that before."""
    if before.program != name:
        return f"the program is another one: {before.program} before, {name} now"
    if before.subject.device != new.device:
        return f"{name} was changed, or gives another program for another device"
    return f"{name} was changed"


def _value_changes(old: Subject, new: Subject) -> str:
    """Return a phrase with the inputs that have the same shape but other values.

    The phrase is empty if there are none.
    """
    names = [
        name
        for name in new.inputs
        if name in old.inputs
        and old.shapes.get(name) == new.shapes.get(name)
        and old.inputs[name] != new.inputs[name]
    ]
    return f"other values of {', '.join(names)}" if names else ""


def _shape_changes(old: Subject, new: Subject) -> str:
    """Return a phrase with the inputs whose shapes or types differ, or that only one run has.

    The phrase is empty if there are none.
    """
    both = [name for name in new.shapes if name in old.shapes]
    phrases = [
        f"{name}: {old.shapes[name]} before, {new.shapes[name]} now"
        for name in both
        if old.shapes[name] != new.shapes[name]
    ]
    names = {
        "only before": [name for name in old.shapes if name not in new.shapes],
        "only now": [name for name in new.shapes if name not in old.shapes],
    }
    phrases += [f"{title} {', '.join(inputs)}" for title, inputs in names.items() if inputs]
    return "; ".join(phrases)


def _runs_text(profile: Profile) -> str:
    """Return a phrase with the number of runs and their jitter."""
    if profile.jitter is None:
        return "a run without jitter"
    count = len(profile.runs)
    return f"{count:,} run{'' if count == 1 else 's'} with jitter from seed {profile.jitter}"


def _cycles_change(before: Profile, after: Profile, judged: bool) -> Difference:
    """Return the difference of the cycles of two profiles.

    With jitter, a confidence interval decides whether they got better. If `judged` is false, the
    difference has no verdict.
    """
    old, new = before.cycles, after.cycles
    direction = -1 if judged else 0
    if before.jitter is None and after.jitter is None:
        return _difference("cycles", old, new, direction)
    text = _change_text("cycles", old, new)
    if before.jitter is None or after.jitter is None:
        hint = "not judged, because one of them has no jitter"
        return Difference("cycles", old, new, None, f"{text}: {hint}")
    if min(len(before.runs), len(after.runs)) < LEAST_RUNS:
        hint = f"too few runs to tell it from chance (--repeat {LEAST_RUNS} or more)"
        return Difference("cycles", old, new, None, f"{text}: {hint}")
    interval = bootstrap.difference_interval(before.runs, after.runs)
    if interval is None:
        hint = "too many runs are equal to tell it from chance (--repeat)"
        return Difference("cycles", old, new, None, f"{text}: {hint}")
    share = " to ".join(f"{end / max(old, 1):+.1%}" for end in interval)
    text = f"{text}, {LEVEL:.0%} confidence {share}"
    low, high = interval
    if low <= 0 <= high:
        return Difference("cycles", old, new, None, f"{text}: {NO_DIFFERENCE}", interval)
    difference = _difference("cycles", old, new, direction, text)
    return replace(difference, interval=interval)


def _row_changes(before: Profile, after: Profile) -> list[Difference]:
    """Return the differences of the busy cycles of rows.

    These differences have no verdict, because less work in one row may mean more in another.
    """
    rows = {item.core: item for item in before.rows}
    return [
        _difference(f"work of {item.core}", rows[item.core].busy_cycles, item.busy_cycles, 0)
        for item in after.rows
        if item.core in rows and (rows[item.core].busy_cycles or item.busy_cycles)
    ]


def _ratio_changes(before: Profile, after: Profile, judged: bool) -> list[Difference]:
    """Return the differences of the metrics of rows; if `judged` is false, without verdicts."""
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
    """Return 1 if a higher value of the metric `key` is better, and -1 if a lower value is.

    For `match`, a value nearer to a whole number is better. The result is 0 if `before` and `after`
    are equally near.
    """
    sense = metrics.BY_KEY[key].sense
    if sense == "near":
        old, new = (abs(value - max(1, round(value))) for value in (before, after))
        if abs(new - old) < EQUAL:
            return 0
        return 1 if (new < old) == (after > before) else -1
    return 1 if sense == "least" else -1


def _difference(
    what: str, before: float, after: float, direction: int, text: str = ""
) -> Difference:
    """Return the difference of the quantity `what`, with a sentence and a verdict.

    `direction` is 1 if more is better, -1 if less is better, 0 for no verdict. `text` replaces the
    first part of the sentence, which gives both values.
    """
    change = after - before
    text = text or _change_text(what, before, after)
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
