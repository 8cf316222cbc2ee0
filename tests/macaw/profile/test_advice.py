"""Findings, goals and the steps of Fig. 7."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw.errors import InputError
from macaw.profiling import advice
from macaw.profiling.advice import next_step
from macaw.profiling.comparison import differences
from macaw.profiling.model import Difference, Goal, Group, Metric, MissedThreshold, Profile, Track
from macaw.profiling.timeline import Start
from tests.macaw.profile.synthetic import PE_BOTTLENECK, exe_slice


def metric(key: str, value: float, threshold: float, ok: bool, text: str = "why") -> Metric:
    return Metric(key, value, threshold, ok, text)


GOOD = metric("utilisation", 0.9, 0.5, True)
BAD = metric("utilisation", 0.2, 0.5, False, "two of ten work")
WORSE = metric("utilisation", 0.1, 0.5, False, "one of ten works")


def findings(groups: list[Group]) -> tuple[MissedThreshold, ...]:
    return advice.sort_missed(advice.collect_missed(groups))


def test_findings_are_one_a_place_what_takes_most_first() -> None:
    """Each metric has one finding for each place; most cycles come first (seed 001 ¶102).

    The cost of a finding is 0 if no record gives it a price. Its value is the worst at its place.
    """
    groups = [
        Group(exe_slice(0, 100), (BAD, metric("blocked", 0.5, 0.1, False, "banks"))),
        Group(exe_slice(1, 80, core="pe[1]"), (WORSE,)),
        Group(exe_slice(2, 500, "a.s:20"), (GOOD,)),
        Group(exe_slice(3, 300, "a.s:30"), (BAD,)),
    ]
    found = findings(groups)
    assert [
        (x.core, x.where, x.metric.key, x.metric.value, x.cycles, x.slices, x.cost) for x in found
    ] == [
        ("pe[0]", "a.s:30: exe", "utilisation", 0.2, 300, 1, 0),
        ("pe", "a.s:9: exe", "utilisation", 0.1, 180, 2, 0),
        ("pe[0]", "a.s:9: exe", "blocked", 0.5, 100, 1, 0),
    ]
    assert found[1].sentence == "one of ten works"


def test_places_of_which_the_same_is_said_are_one_finding() -> None:
    """Equal metrics at several places of one row of the timeline are one finding (F35).

    Here these are 87 instructions of islands, one for each row of a matrix.
    """
    groups = [
        Group(exe_slice(n, 10 + (n == 40), f"a.s:{n}", "fim", f"fim[{n % 2}]"), (BAD,))
        for n in range(87)
    ]
    other = Group(exe_slice(90, 7, "a.s:90", "fim", "fim[0]"), (WORSE,))
    one, two = findings([*groups, other])
    assert (one.core, one.where, one.cycles, one.slices) == ("fim", "a.s:40: exe", 871, 87)
    assert len(one.others) == 86
    assert one.others[:2] == ("a.s:0: exe", "a.s:1: exe")
    assert (two.where, two.others) == ("a.s:90: exe", ())
    rows = findings([groups[0], Group(exe_slice(1, 10, "a.s:1"), (BAD,))])
    assert len(rows) == 2  # of different rows nothing is the same


@pytest.mark.parametrize(
    ("key", "value", "threshold", "wanted"),
    [
        ("utilisation", 0.25, 0.5, 0.5),
        ("utilisation", 1.0, 0.5, -1.0),
        ("blocked", 0.3, 0.1, 2.0),
        ("match", 2.75, 0.1, 1.5),
        ("match", 0.5, 0.1, 4.0),
        ("match", 3.0, 0.1, -1.0),
    ],
)
def test_how_bad_a_value_is(key: str, value: float, threshold: float, wanted: float) -> None:
    assert advice.badness(Metric(key, value, threshold)) == pytest.approx(wanted)


LATE_STARTS = [Start("vc", "vc", 130, 100), Start("vc", "vc", 300, 280), Start("dma", "dma", 4, 2)]


def test_lateness_is_a_share_of_the_run() -> None:
    tracks = [Track("vc", "vc", (exe_slice(13, 20, row="vc", core="vc"),))]
    by_row, found = advice.lateness(LATE_STARTS, tracks, 500, 0.05, {"vc": 41, "dma": 9})
    assert (by_row["vc"].value, by_row["vc"].ok) == (0.1, False)
    assert (by_row["dma"].value, by_row["dma"].ok) == (0.004, True)
    assert [(x.core, x.where, x.cycles, x.slices, x.cost) for x in found] == [
        ("vc", "a.s:9: exe", 50, 2, 41)
    ]
    assert found[0].sentence == (
        "in 2 starts vc started 50 cycles in all after the work before it had ended, the longest"
        " time 30 cycles from 100 to 130; without that the run would be about 41 cycles shorter"
    )


def test_lateness_for_which_no_core_waited_is_no_finding() -> None:
    """A late start that no core waited for is no finding, as for the dma in six_cores (F29)."""
    for sooner in ({}, {"vc": 0}, {"vc": 2}):
        by_row, found = advice.lateness(LATE_STARTS, (), 500, 0.05, sooner)
        assert by_row["vc"].ok is False
        assert found == []


# Goals -----------------------------------------------------------------------------------------

ROWS = {
    "pe": (GOOD,),
    "nnp": (BAD, metric("blocked", 0.05, 0.1, True)),
}


@pytest.mark.parametrize(
    ("key", "value", "got", "met", "text"),
    [
        ("cycles", 1000, 1000, True, "1,000 cycles of 1,000, met"),
        ("cycles", 900, 1000, False, "1,000 cycles of 900, 100 too many"),
        ("cycles", 999.6, 1000, False, "1,000 cycles of 999, 1 too many"),
        ("utilisation", 0.2, 0.2, True, "utilisation 0.2 in nnp, at least 0.2 wanted, met"),
        ("utilisation", 0.5, 0.2, False, "utilisation 0.2 in nnp, at least 0.5 wanted"),
        ("blocked", 0.01, 0.05, False, "blocked 0.05 in nnp, at most 0.01 wanted"),
        ("match", 0.1, None, False, "match: no record determines it"),
    ],
)
def test_goals(key: str, value: float, got: float | None, met: bool, text: str) -> None:
    """Goals are compared with the metrics (step 430 of seed 001 ¶81-85, ¶111)."""
    (goal,) = advice.judge_goals({key: value}, 1000, ROWS)
    assert (goal.key, goal.wanted, goal.got, goal.met, goal.sentence) == (
        key,
        value,
        got,
        met,
        text,
    )


def test_goals_of_both_kinds_in_the_order_they_were_wanted() -> None:
    found = advice.judge_goals({"match": 0.1, "cycles": 900, "utilisation": 0.2}, 1000, ROWS)
    assert [(goal.key, goal.met) for goal in found] == [
        ("match", False),
        ("cycles", False),
        ("utilisation", True),
    ]


def test_an_unknown_goal() -> None:
    with pytest.raises(InputError, match="no goal is called 'cycle'") as caught:
        advice.check_goals({"cycle": 1})
    assert caught.value.hint == "did you mean 'cycles'?"


# Fig. 7 ----------------------------------------------------------------------------------------

MADE = Profile(
    "a.s",
    "tiny",
    1000,
    (Track("pe", "pe", (), ((0, 100),)), Track("pe[0]", "pe"), Track("vc", "vc", (), ((0, 7),))),
    mode="auto",
)
LATE = MissedThreshold(
    "vc", "a.s:3: vld", metric("late", 0.2, 0.05, False), "vc begins late", 9, 2, 9
)
MISSED = Goal("cycles", 900, 1000, False, "1,000 cycles of 900, 100 too many")
MET = Goal("cycles", 1000, 1000, True, "1,000 cycles of 1,000, met")


def step(made: Profile, *found: MissedThreshold) -> tuple[int, str]:
    next_ = next_step(replace(made, missed_thresholds=found))
    return next_.number, next_.text


def finding(
    where: str, cycles: int, core: str = "pe[0]", metric_: Metric = BAD, cost: int = 0
) -> MissedThreshold:
    return MissedThreshold(core, where, metric_, metric_.sentence, cycles, 3, cost)


def test_702_nothing_was_recorded() -> None:
    """Without records, the advice is to record (steps 702 and 704 of seed 001 ¶117-119)."""
    assert step(MADE)[0] == 702


def test_710_starts_come_before_the_bottleneck() -> None:
    """Late starts are advised before the bottleneck (seed 001 ¶117-121)."""
    number, text = step(replace(MADE, bottleneck=PE_BOTTLENECK), finding("a.s:9: exe", 300), LATE)
    assert (number, text) == (710, "At a.s:3: vld: vc begins late. Then record again.")


def test_718_a_ratio_of_the_bottleneck_misses_its_threshold() -> None:
    """If a ratio of the bottleneck misses its threshold, the step names it (seed 001 ¶122-123).

    The step promises no gain (F30).
    """
    match = metric("match", 1.3, 0.1, False, "it computes 1.3 times")
    found = (
        finding("b.s:1: vld", 900, "vc"),
        finding("a.s:60: exe", 80, metric_=match),
        replace(finding("a.s:50: exe", 75, "pe", WORSE), others=("a.s:52: exe",)),
        finding("a.s:9: exe", 70),
    )
    number, text = step(replace(MADE, bottleneck=PE_BOTTLENECK), *found)
    assert number == 718
    assert (
        "pe is the bottleneck, and of its ratios utilisation misses its threshold at a.s:50: exe"
        " and 1 place more: one of ten works. The records do not say what that costs. After an edit"
    ) in text
    assert "--mode mark" in text
    assert "--goal cycles=N" in text
    assert (
        "--goal cycles=N"
        not in step(replace(MADE, bottleneck=PE_BOTTLENECK, goals=(MISSED,)), *found)[1]
    )


def test_716_no_ratio_of_the_bottleneck_does() -> None:
    """If each ratio of the bottleneck meets its threshold, the next step is 716, the mapping.

    See seed 001 ¶124. Findings below 0.5% of the cycles are left out. The text does not claim why a
    core waits (F26).
    """
    for found in ([], [finding("a.s:9: exe", 4)], [finding("b.s:1: vld", 900, "vc")]):
        number, text = step(replace(MADE, bottleneck=PE_BOTTLENECK), *found)
        assert number == 716
        assert (
            "Most of its cycles go to a.s:9: exe; the records do not say what it waits for inside its"
            " instructions."
        ) in text
        assert "headroom" not in text
        assert "other cores" not in text
        assert "same time" not in text
    assert step(replace(MADE, bottleneck=PE_BOTTLENECK), finding("a.s:9: exe", 5))[0] == 718


def test_716_names_work_between_that_of_the_bottleneck() -> None:
    """The step names work of other cores that lies between pieces of the bottleneck's work.

    The work must cost at least a twentieth of the run. Work before the bottleneck's first piece or
    after its last one cannot be hidden behind it.
    """
    both = {"pe": 90, "dma": 300, "cp": 60}
    worst = replace(PE_BOTTLENECK, saved=both, between={"dma": 49, "cp": 50})
    _, text = step(replace(MADE, bottleneck=worst))
    assert (
        "The work of cp between that of pe costs about 50 cycles: where neither needs what the"
        " other does then, let them work at the same time."
    ) in text
    worst = replace(PE_BOTTLENECK, saved=both, between={"dma": 49, "cp": 49})
    assert "same time" not in step(replace(MADE, bottleneck=worst))[1]


def test_728_all_goals_are_met() -> None:
    """If all goals are met, the method ends (seed 001 ¶124)."""
    assert step(
        replace(MADE, bottleneck=PE_BOTTLENECK, goals=(MET,)), finding("a.s:9: exe", 300), LATE
    ) == (
        728,
        "All goals are met: 1,000 cycles of 1,000, met.",
    )
    assert step(replace(MADE, bottleneck=PE_BOTTLENECK, goals=(MET, MISSED)))[0] != 728


def test_722_to_724_after_an_edit() -> None:
    """After an edit, the marked code is compared with the earlier profile (seed 001 ¶123).

    If the code is not better, the next step is to trace back again.
    """
    marked = replace(MADE, mode="mark")
    before = replace(marked, ratios={"pe": (BAD,)})
    after = replace(marked, ratios={"pe": (GOOD,)})
    assert step(after)[0] == 722
    better = replace(after, cycles=900)
    number, text = step(replace(better, differences=differences(before, better)))
    assert number == 724
    assert "cycles: 1,000 before, 900 now (-10.0%), better; utilisation of pe: 0.2 before" in text
    several = tuple(Difference(f"q{n}", 2, 1, True, f"quantity {n} is less") for n in range(5))
    _, text = step(replace(after, differences=several))
    assert "quantity 2 is less; quantity 3 is less. Run" in text, "four of them are enough"
    worse = replace(before, cycles=1100)
    assert step(replace(worse, differences=differences(before, worse)))[0] == 718
