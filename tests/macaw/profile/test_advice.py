"""Findings, goals, the steps of Fig. 7 and what got better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw.errors import InputError
from macaw.profile import advice
from macaw.profile.advice import next_step
from macaw.profile.model import Bottleneck, Finding, Goal, Group, Metric, Profile, Slice, Track
from macaw.profile.timeline import Start


def metric(key: str, value: float, threshold: float, ok: bool, text: str = "why") -> Metric:
    return Metric(key, value, threshold, ok, text)


def slice_(
    first: int, busy: int, place: str = "a.s:9", row: str = "pe", core: str = "pe[0]"
) -> Slice:
    return Slice(core, row, 10 * first, 10 * first + busy, first, 1, "exe", place)


GOOD = metric("utilisation", 0.9, 0.5, True)
BAD = metric("utilisation", 0.2, 0.5, False, "two of ten work")
WORSE = metric("utilisation", 0.1, 0.5, False, "one of ten works")


def test_findings_are_one_a_place_what_costs_most_first() -> None:
    """Costs: of 0.2 and 0.1 where 0.5 is wanted 0.6 and 0.8 of the time; of blocked accesses their cycles."""
    blocked = replace(slice_(0, 100), counters=dict(slice_(0, 100).counters, e_rd=20, e_wr=4))
    groups = [
        Group(blocked, (BAD, metric("blocked", 0.5, 0.1, False, "banks"))),
        Group(slice_(1, 80, core="pe[1]"), (WORSE,)),
        Group(slice_(2, 500, "a.s:20"), (GOOD,)),
        Group(slice_(3, 300, "a.s:30"), (BAD,)),
    ]
    found = advice.findings(groups)
    assert [
        (x.core, x.where, x.metric.key, x.metric.value, x.cycles, x.slices, x.cost) for x in found
    ] == [
        ("pe[0]", "a.s:30: exe", "utilisation", 0.2, 300, 1, 180),
        ("pe", "a.s:9: exe", "utilisation", 0.1, 180, 2, 124),
        ("pe[0]", "a.s:9: exe", "blocked", 0.5, 100, 1, 12),
    ]
    assert found[1].sentence == "one of ten works"


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


def test_lateness_is_a_share_of_the_run() -> None:
    begun = [Start("vc", "vc", 130, 100), Start("vc", "vc", 300, 280), Start("dma", "dma", 4, 2)]
    tracks = [Track("vc", "vc", (slice_(13, 20, row="vc", core="vc"),))]
    by_row, found = advice.lateness(begun, tracks, 500, 0.05, "cp")
    assert (by_row["vc"].value, by_row["vc"].ok) == (0.1, False)
    assert (by_row["dma"].value, by_row["dma"].ok) == (0.004, True)
    assert [(x.core, x.where, x.cycles, x.slices) for x in found] == [("vc", "a.s:9: exe", 50, 2)]
    assert "vc starts 50 cycles later in all" in found[0].sentence
    assert "the longest time 30 cycles from 100 to 130: let cp prepare" in found[0].sentence


# Goals -----------------------------------------------------------------------------------------

ROWS = {
    "pe": {"utilisation": GOOD},
    "nnp": {"utilisation": BAD, "blocked": metric("blocked", 0.05, 0.1, True)},
}


@pytest.mark.parametrize(
    ("key", "value", "got", "met", "text"),
    [
        ("cycles", 1000, 1000, True, "1,000 cycles of 1,000, met"),
        ("cycles", 900, 1000, False, "1,000 cycles of 900, 100 too many"),
        ("utilisation", 0.2, 0.2, True, "utilisation 0.2 in nnp, at least 0.2 wanted, met"),
        ("utilisation", 0.5, 0.2, False, "utilisation 0.2 in nnp, at least 0.5 wanted"),
        ("blocked", 0.01, 0.05, False, "blocked 0.05 in nnp, at most 0.01 wanted"),
        ("match", 0.1, None, False, "match: nothing that was recorded says"),
    ],
)
def test_goals(key: str, value: float, got: float | None, met: bool, text: str) -> None:
    (goal,) = advice.goals({key: value}, 1000, ROWS)
    assert (goal.key, goal.wanted, goal.got, goal.met, goal.sentence) == (
        key,
        value,
        got,
        met,
        text,
    )


def test_an_unknown_goal() -> None:
    with pytest.raises(InputError, match="no goal is called 'cycle'") as caught:
        advice.check_goals({"cycle": 1})
    assert caught.value.hint == "did you mean 'cycles'?"


# Fig. 7 ----------------------------------------------------------------------------------------

PE = Bottleneck("pe", slice_(0, 100), "why", {"pe": 90, "dma": 49})
MADE = Profile(
    "a.s",
    "tiny",
    1000,
    (Track("pe", "pe", (), ((0, 100),)), Track("pe[0]", "pe"), Track("vc", "vc", (), ((0, 7),))),
    mode="auto",
)
LATE = Finding("vc", "a.s:3: vld", metric("late", 0.2, 0.05, False), "vc starts late", 9, 2)
MISSED = Goal("cycles", 900, 1000, False, "1,000 cycles of 900, 100 too many")
MET = Goal("cycles", 1000, 1000, True, "1,000 cycles of 1,000, met")
OLD = replace(MADE, cycles=1200)


def step(made: Profile, *findings: Finding) -> tuple[int, str]:
    found = next_step(replace(made, findings=findings), {"dma"})
    return found.number, found.text


def finding(where: str, cost: int, core: str = "pe[0]", metric_: Metric = BAD) -> Finding:
    return Finding(core, where, metric_, metric_.sentence, 900, 3, cost)


def test_702_nothing_was_recorded() -> None:
    assert step(MADE)[0] == 702


def test_710_starts_come_before_the_bottleneck() -> None:
    number, text = step(replace(MADE, bottleneck=PE), finding("a.s:9: exe", 300), LATE)
    assert (number, text) == (710, "At a.s:3: vld: vc starts late. Then record again.")


def test_718_the_bottleneck_has_headroom() -> None:
    """The ratio that costs most there, in all places together; what costs more elsewhere is not named."""
    blocked = metric("blocked", 0.5, 0.1, False, "banks")
    findings = (
        finding("a.s:9: exe", 70),
        finding("a.s:50: exe", 75, "pe", WORSE),
        finding("a.s:60: exe", 80, metric_=blocked),
        finding("b.s:1: vld", 900, "vc"),
    )
    number, text = step(replace(MADE, bottleneck=PE), *findings)
    assert number == 718
    assert (
        "pe is the bottleneck, and a.s:50: exe has headroom: utilisation 0.1: one of ten works."
        in text
    )
    assert "With 1 place more that may cost about 145 cycles. Then bracket" in text
    assert "--mode mark" in text
    assert "--goal cycles=N" in text
    assert (
        "--goal cycles=N" not in step(replace(MADE, bottleneck=PE, goals=(MISSED,)), *findings)[1]
    )
    assert "That may cost about 80 cycles." in step(replace(MADE, bottleneck=PE), findings[2])[1]


def test_716_the_bottleneck_has_none() -> None:
    """What may have cost less than 0.5% of 1,000 cycles is no headroom."""
    for findings in ([], [finding("a.s:9: exe", 4)]):
        number, text = step(replace(MADE, bottleneck=PE), *findings)
        assert number == 716
        assert "a.s:9: exe has no headroom" in text
        assert "let other cores do some of its work (vc is at work for only 7 cycles)" in text
    assert step(replace(MADE, bottleneck=PE), finding("a.s:9: exe", 5))[0] == 718
    _, text = step(replace(MADE, bottleneck=replace(PE, saved={"pe": 90, "dma": 50, "cp": 49})))
    assert (
        "the work of dma is not hidden behind that of pe, and costs about 50 cycles: let them"
        in text
    )
    _, text = step(replace(MADE, bottleneck=replace(PE, core="dma", saved={"dma": 90})))
    assert "move less (keep on chip what is used again)" in text


def test_728_all_goals_are_met() -> None:
    assert step(replace(MADE, bottleneck=PE, goals=(MET,)), finding("a.s:9: exe", 300), LATE) == (
        728,
        "All goals are met: 1,000 cycles of 1,000, met.",
    )
    assert step(replace(MADE, bottleneck=PE, goals=(MET, MISSED)))[0] != 728


def test_720_to_724_after_an_edit() -> None:
    marked = replace(MADE, mode="mark")
    before = replace(marked, groups=(Group(slice_(0, 100), (BAD,)),))
    after = replace(marked, groups=(Group(slice_(0, 100), (GOOD,)),))
    assert step(marked)[0] == 720
    assert step(after)[0] == 722
    better = replace(after, cycles=900)
    number, text = step(replace(better, differences=advice.differences(before, better)))
    assert number == 724
    assert "cycles: 1,000 before, 900 now (-10.0%), better" in text
    worse = replace(before, cycles=1100)
    assert step(replace(worse, differences=advice.differences(before, worse)))[0] == 718


# Against an earlier profile --------------------------------------------------------------------


def test_differences() -> None:
    before = replace(
        MADE,
        bottleneck=PE,
        groups=(Group(slice_(0, 100), (BAD, metric("match", 2.5, 0.1, False))),),
    )
    after = replace(
        MADE,
        cycles=800,
        tracks=(Track("pe", "pe", (), ((0, 150),)), Track("vc", "vc", (), ((0, 7),))),
        bottleneck=replace(PE, core="vc"),
        groups=(Group(slice_(0, 100), (GOOD, metric("match", 2.1, 0.1, True))),),
    )
    found = {item.what: item for item in advice.differences(before, after)}
    assert [(key, item.before, item.after, item.better) for key, item in found.items()] == [
        ("cycles", 1000, 800, True),
        ("work of pe", 100, 150, False),
        ("work of vc", 7, 7, None),
        ("match of pe", 2.5, 2.1, True),
        ("utilisation of pe", 0.2, 0.9, True),
        ("bottleneck", None, None, None),
    ]
    assert found["cycles"].sentence == "cycles: 1,000 before, 800 now (-20.0%), better"
    assert found["work of vc"].sentence == "work of vc: 7 before, 7 now (+0.0%), as before"
    assert found["bottleneck"].sentence == "the bottleneck was pe and is vc"


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [(2.5, 2.9, True), (2.9, 2.5, False), (0.4, 0.9, True), (3.1, 2.6, False)],
)
def test_a_match_is_better_nearer_to_a_whole_number(
    before: float, after: float, better: bool
) -> None:
    old, new = (
        replace(MADE, groups=(Group(slice_(0, 100), (metric("match", value, 0.1, False),)),))
        for value in (before, after)
    )
    found = [item for item in advice.differences(old, new) if item.what == "match of pe"]
    assert [item.better for item in found] == [better]
