"""What changed since an earlier profile: what is compared, and when nothing can be told (F33)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from macaw.profiling.comparison import differences
from macaw.profiling.model import Bottleneck, Difference, Metric, Profile, Subject, Track
from tests.macaw.profile.synthetic import PE_BOTTLENECK, exe_slice

BEFORE = Profile(
    "old.s",
    "tiny",
    1000,
    (Track("pe", "pe", (), ((0, 100),)), Track("vc", "vc", (), ((0, 7),))),
    mode="auto",
    runs=(1000,),
    subject=Subject("p", "d", {"x": "1"}),
)


def metric(key: str, value: float, ok: bool | None = False) -> Metric:
    return Metric(key, value, 0.1, ok)


def compared(before: Profile, after: Profile) -> dict[str, Difference]:
    return {item.what: item for item in differences(before, after)}


def ratio(key: str, before: float, after: float, ok: bool | None = False) -> Difference | None:
    old, new = (replace(BEFORE, ratios={"pe": (metric(key, x, ok),)}) for x in (before, after))
    return compared(old, new).get(f"{key} of pe")


def test_differences() -> None:
    """Cycles and ratios are better or worse; whether less work of a row is, they do not say."""
    before = replace(BEFORE, bottleneck=PE_BOTTLENECK, ratios={"pe": (metric("utilisation", 0.2),)})
    after = replace(
        BEFORE,
        cycles=800,
        tracks=(Track("pe", "pe", (), ((0, 150),)), Track("vc", "vc", (), ((0, 7),))),
        bottleneck=Bottleneck("vc", exe_slice(0, 1), "why"),
        ratios={"pe": (metric("utilisation", 0.9, True), metric("blocked", 0.2))},
    )
    found = compared(before, after)
    assert [(key, item.before, item.after, item.better) for key, item in found.items()] == [
        ("cycles", 1000, 800, True),
        ("work of pe", 100, 150, None),
        ("work of vc", 7, 7, None),
        ("utilisation of pe", 0.2, 0.9, True),
        ("bottleneck", None, None, None),
    ]
    assert found["cycles"].sentence == "cycles: 1,000 before, 800 now (-20.0%), better"
    assert found["work of pe"].sentence == "work of pe: 100 before, 150 now (+50.0%)"
    assert found["work of vc"].sentence == "work of vc: 7 before, 7 now (+0.0%), as before"
    assert found["bottleneck"].sentence == "the bottleneck was pe and is vc"


def test_the_same_differs_in_nothing() -> None:
    found = differences(BEFORE, BEFORE)
    assert {item.better for item in found} == {None}
    assert all(item.sentence.endswith("as before") for item in found)


@pytest.mark.parametrize(
    ("after", "better", "end"),
    [
        (10004, None, "(+0.0%), as before"),
        (9996, None, "(-0.0%), as before"),
        (10005, False, "(+0.1%), worse"),
        (9995, True, "(-0.1%), better"),
    ],
)
def test_what_is_printed_as_nothing_is_nothing(after: int, better: bool | None, end: str) -> None:
    found = compared(replace(BEFORE, cycles=10000), replace(BEFORE, cycles=after))["cycles"]
    assert (found.better, found.sentence.endswith(end)) == (better, True)


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [
        (2.5, 2.9, True),
        (2.9, 2.5, False),
        (0.4, 0.9, True),
        (3.1, 2.6, False),
        (3.4, 3.1, True),
        (3.1, 3.4, False),
        (2.8, 3.2, None),  # as near to 3 from the other side
        (2.25, 3.25, None),  # as far from 2 as from 3
    ],
)
def test_a_match_is_better_nearer_to_a_whole_number(
    before: float, after: float, better: bool | None
) -> None:
    found = ratio("match", before, after)
    assert found is not None
    assert found.better == better


@pytest.mark.parametrize(
    ("key", "before", "after", "better"),
    [
        ("utilisation", 0.2, 0.4, True),
        ("utilisation", 0.4, 0.2, False),
        ("blocked", 0.2, 0.4, False),
        ("partial", 0.4, 0.2, True),
        ("utilisation", 0.642, 0.64201, None),
        ("reads", 3.0, 6.0, None),
    ],
)
def test_directions(key: str, before: float, after: float, better: bool | None) -> None:
    found = ratio(key, before, after)
    assert (found.better if found else None) == better
    assert (found is None) == (key == "reads")  # it has no threshold


def test_within_its_threshold_nothing_is_better_or_worse() -> None:
    found = ratio("blocked", 0.002, 0.004, ok=True)
    assert found is not None
    assert (found.better, found.sentence) == (
        None,
        "blocked of pe: 0.002 before, 0.004 now (+100.0%)",
    )
    unjudged = ratio("partial", 1.0, 0.5, ok=None)
    assert unjudged is not None
    assert unjudged.better is None


# What the two profiles are of ------------------------------------------------------------------


def sentences(after: Profile, before: Profile = BEFORE) -> list[str]:
    return [item.sentence for item in differences(before, after)]


def test_another_program_is_named() -> None:
    other = replace(BEFORE, program="new.s", subject=Subject("q", "d", {"x": "1"}))
    assert sentences(other)[0] == "the program is another one: old.s before, new.s now"
    changed = replace(other, program="old.s")
    assert sentences(changed)[0] == "old.s was changed"
    moved = replace(BEFORE, program="elsewhere/old.s")
    assert sentences(moved) == sentences(BEFORE)


def test_another_device_is_named() -> None:
    other = replace(BEFORE, device="base", subject=Subject("p", "e", {"x": "1"}))
    assert sentences(other)[0] == "the device is another one: tiny before, base now"
    assert sentences(replace(other, device="tiny"))[0] == "the device tiny has other settings now"


def test_with_other_inputs_nothing_is_better() -> None:
    ratios = {"pe": (metric("utilisation", 0.2),)}
    before = replace(BEFORE, ratios=ratios, subject=Subject("p", "d", {"x": "1", "w": "1"}))
    after = replace(
        BEFORE,
        cycles=500,
        ratios={"pe": (metric("utilisation", 0.9),)},
        subject=Subject("p", "d", {"x": "2", "v": "1"}),
    )
    found = compared(before, after)
    assert found["inputs"].sentence == (
        "the inputs are others (other values of x; only before w; only now v), so nothing is called"
        " better or worse"
    )
    assert {item.better for item in found.values()} == {None}
    assert found["cycles"].sentence == "cycles: 1,000 before, 500 now (-50.0%)"


def test_modes_record_other_instructions() -> None:
    old = replace(BEFORE, ratios={"pe": (metric("utilisation", 0.2),)})
    marked = replace(old, mode="mark", ratios={"pe": (metric("utilisation", 0.9),)})
    found = compared(old, marked)
    assert list(found) == ["mode", "cycles"]
    assert "auto mode before, mark mode now: other instructions were recorded" in (
        found["mode"].sentence
    )


# Runs that differ by chance --------------------------------------------------------------------


def jittered(*runs: int) -> Profile:
    return replace(BEFORE, cycles=round(sum(runs) / len(runs)), runs=runs, jitter=1)


@pytest.mark.parametrize(
    ("before", "after", "better", "end"),
    [
        ((100, 104, 108, 102, 106), (105,), None, "within the spread of the runs"),
        ((100, 104, 108, 102, 106), (109,), None, "too few runs to tell it from chance (--repeat)"),
        ((100,), (120,), None, "too few runs to tell it from chance (--repeat)"),
        ((100, 101, 102), (90, 91, 92), None, "too few runs to tell it from chance (--repeat)"),
        ((100, 101, 102, 103), (90, 91, 92, 93), True, "better"),
        ((90, 91, 92, 93), (100, 101, 102, 103), False, "worse"),
        ((100, 101, 102, 103), (90, 91, 92, 100), None, "within the spread of the runs"),
    ],
)
def test_the_spread_of_runs_is_respected(
    before: tuple[int, ...], after: tuple[int, ...], better: bool | None, end: str
) -> None:
    found = compared(jittered(*before), jittered(*after))["cycles"]
    assert found.better == better
    assert found.sentence.endswith(end)


def test_runs_of_one_program_are_seldom_called_different() -> None:
    """By the rule at most once in twenty times, whatever the numbers of runs; here it is counted."""
    chance = random.Random(20261122)
    for ours, theirs in ((5, 5), (1, 5), (4, 4), (2, 30)):
        called = 0
        for _ in range(1000):
            one, two = (
                jittered(*(chance.randrange(1000, 2000) for _ in range(count)))
                for count in (ours, theirs)
            )
            called += compared(one, two)["cycles"].better is not None
        assert called <= 60, (ours, theirs, called)


def test_ratios_of_jittered_runs_are_not_judged() -> None:
    old = replace(jittered(100, 101), ratios={"pe": (metric("utilisation", 0.2),)})
    new = replace(jittered(100, 101), ratios={"pe": (metric("utilisation", 0.9),)})
    found = compared(old, new)
    assert found["utilisation of pe"].better is None
    assert found["runs"].sentence == (
        "2 runs with jitter from seed 1 before, 2 runs with jitter from seed 1 now: only cycles are"
        " judged, by the spread of the runs"
    )
    exact = compared(old, replace(BEFORE, cycles=50))
    assert exact["cycles"].better is None
    assert exact["runs"].sentence.startswith(
        "2 runs with jitter from seed 1 before, a run without jitter now"
    )
