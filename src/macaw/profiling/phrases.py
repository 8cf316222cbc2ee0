"""Formats the numbers and sentences that all reports of a profile share."""

from __future__ import annotations

from macaw.isa.causes import BY_NAME
from macaw.phrases import plural
from macaw.profiling.model import (
    Difference,
    Finding,
    Group,
    Merge,
    MissedThreshold,
    Profile,
    Slice,
)

PLACES = 3  # the most places that a sentence names


def number_text(value: float | None) -> str:
    """Return the text for a metric's value, such as `0.25`, `3.5` or `1,234`; `-` for None."""
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def share_text(part: float, whole: float) -> str:
    """Return `part` as a percentage of `whole`, such as `34.5%`; empty if `whole` is 0."""
    return f"{100 * part / whole:.1f}%" if whole else ""


def run_summary(profile: Profile) -> str:
    """Return a phrase with device and cycles, such as `on tiny: 1,000 cycles`.

    If the cycles are the mean of several runs, and not those of merged segments, the phrase also
    has the number of these runs and the range of their cycles. With jitter, it has the seed. It
    ends with the program's exit code unless that is 0.
    """
    text = f"on {profile.device}: {plural(profile.cycles, 'cycle')}"
    if len(profile.runs) > 1 and profile.merge is None:
        low, high = min(profile.runs), max(profile.runs)
        text += f", the mean of {len(profile.runs)} runs of {low:,} to {high:,}"
    if profile.jitter is not None:
        text += f", jitter from seed {profile.jitter}"
    return text + failure_phrase(profile.exit_code)


def failure_phrase(exit_code: int) -> str:
    """Return the end of a sentence about a run: an exit code other than 0, or nothing."""
    return f"; the program failed with exit code {exit_code}" if exit_code else ""


def merge_sentence(merge: Merge) -> str:
    """Return a sentence with the mean of the runs and the error of the merged timeline."""
    return (
        f"{plural(len(merge.runs), 'run')} of {merge.mean:,.1f} cycles on average; the merged "
        f"total is {100 * merge.error:+.2f}% from that. A run that recorded all at once took "
        f"{merge.true:,}; slices lie {merge.shift:,.1f} cycles off its own, on average."
    )


def cause_sentence(finding: Finding) -> str:
    """Return a sentence with the cause of a finding, and with what the cores waited for."""
    whom = ", ".join(finding.whom[:PLACES]) + (", ..." if len(finding.whom) > PLACES else "")
    text = f"{finding.cause}: {BY_NAME[finding.cause].meaning}"
    return f"{text} ({whom})" if whom else text


def saved_note(finding: Finding, cycles: int) -> str:
    """Return a note with the cycles that the run would save without a finding's cause.

    They are an estimate. The note also has their share of `cycles`.
    """
    return (
        f"saves an estimated {plural(finding.saved, 'cycle')} ({share_text(finding.saved, cycles)})"
    )


def cost_note(missed: MissedThreshold) -> str:
    """Return a note such as `(400 cycles, 3 times)`; empty if the cycles are unknown."""
    if not missed.cycles:
        return ""
    times = f", {missed.slices:,} times" if missed.slices > 1 else ""
    return f"({plural(missed.cycles, 'cycle')}{times})"


def same_places(missed: MissedThreshold | Finding) -> str:
    """Return a phrase such as `the same at 3 places more: a.s:4: exe, ...`.

    If there are many source positions, the phrase has only the first ones.
    """
    first_places = ", ".join(missed.others[:PLACES])
    more = ", ..." if len(missed.others) > PLACES else ""
    return f"the same at {plural(len(missed.others), 'place')} more: {first_places}{more}"


def missed_sentence(missed: MissedThreshold) -> str:
    """Return the sentence of a missed threshold, with its other source positions."""
    return f"{missed.sentence}; {same_places(missed)}" if missed.others else missed.sentence


def heaviest_sentence(item: Slice) -> str:
    """Return a sentence with the source position at which a row spends most cycles.

    `item` is the longest slice of this position.
    """
    longest_one = f"at most {plural(item.busy, 'cycle')} at a time"
    return f"most cycles go to {slice_place(item)} ({item.core}, {longest_one})"


def verdict(difference: Difference) -> str:
    """Return `better`, `worse` or `same`; `note` for a difference without a verdict."""
    if difference.better is not None:
        return "better" if difference.better else "worse"
    same = difference.sentence.endswith(("as before", "no difference"))
    return "same" if same else "note"


def group_place(group: Group) -> str:
    """Return the text of `slice_place` for the slice of a group, such as `layer.s:12: exe +3`."""
    return slice_place(group.slice)


def slice_place(item: Slice) -> str:
    """Return a text with a slice's first instruction, such as `layer.s:12: dma.wait x0 +3`.

    `+3` says that the slice has three more instructions. The source position before the
    instruction is missing if it is not known.
    """
    more = f" +{item.instructions - 1:,}" if item.instructions > 1 else ""
    return item.where + more


def longest_groups(groups: tuple[Group, ...], most: int) -> list[Group]:
    """Return the `most` longest groups, sorted by start; at most one group for each instruction."""
    first: dict[tuple[str, str], Group] = {}
    for group in sorted(groups, key=lambda group: -group.slice.busy):
        first.setdefault((group.slice.row, group_place(group)), group)
    chosen = list(first.values())[:most]
    return sorted(chosen, key=lambda group: (group.slice.begin, group.slice.core))


def metric_keys(groups: list[Group]) -> list[str]:
    """Return the keys of all metrics that occur in the groups."""
    return list(
        dict.fromkeys(
            metric.key for group in groups for metric in group.metrics if metric.value is not None
        )
    )
