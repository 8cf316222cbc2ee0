"""Comparison with an earlier profile, and cases without a result (F33)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from macaw.errors import InputError
from macaw.execution import run
from macaw.profiling import bootstrap
from macaw.profiling.account import Account, CauseCycles, LineCycles
from macaw.profiling.comparison import compare, differences, refuse_other_subject
from macaw.profiling.comparison_report import line_table
from macaw.profiling.earlier import LineDifference
from macaw.profiling.line_comparison import line_differences
from macaw.profiling.model import Bottleneck, Difference, Metric, Profile, Subject, Track
from tests.macaw.profile.programs import copies
from tests.macaw.profile.synthetic import PE_BOTTLENECK, exe_slice

BEFORE = Profile(
    "old.s",
    "tiny",
    1000,
    (Track("pe", "pe", (), ((0, 100),)), Track("vc", "vc", (), ((0, 7),))),
    mode="auto",
    runs=(1000,),
    subject=Subject("p", "d", {"x": "1"}, {"x": "int8 4"}),
)


def metric(key: str, value: float, ok: bool | None = False) -> Metric:
    return Metric(key, value, 0.1, ok)


def compared(before: Profile, after: Profile) -> dict[str, Difference]:
    return {item.what: item for item in differences(before, after)}


def ratio(key: str, before: float, after: float, ok: bool | None = False) -> Difference | None:
    old, new = (replace(BEFORE, ratios={"pe": (metric(key, x, ok),)}) for x in (before, after))
    return compared(old, new).get(f"{key} of pe")


def test_differences() -> None:
    """Fewer cycles and better ratios are called better; less work of a row is not judged."""
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
    other = replace(BEFORE, program="new.s", subject=Subject("q", "d", {"x": "1"}, {"x": "int8 4"}))
    assert sentences(other)[0] == "the program is another one: old.s before, new.s now"
    changed = replace(other, program="old.s")
    assert sentences(changed)[0] == "old.s was changed"
    moved = replace(BEFORE, program="elsewhere/old.s")
    assert sentences(moved) == sentences(BEFORE)


def test_another_device_is_named() -> None:
    other = replace(BEFORE, device="base", subject=Subject("p", "e", {"x": "1"}, {"x": "int8 4"}))
    assert sentences(other)[0] == "the device is another one: tiny before, base now"
    assert sentences(replace(other, device="tiny"))[0] == "the device tiny has other settings now"


def test_with_other_inputs_nothing_is_better() -> None:
    ratios = {"pe": (metric("utilisation", 0.2),)}
    shapes = dict.fromkeys("xwv", "int8 4")
    old, new = ({x: shapes[x] for x in names} for names in ("xw", "xv"))
    before = replace(BEFORE, ratios=ratios, subject=Subject("p", "d", {"x": "1", "w": "1"}, old))
    after = replace(
        BEFORE,
        cycles=500,
        ratios={"pe": (metric("utilisation", 0.9),)},
        subject=Subject("p", "d", {"x": "2", "v": "1"}, new),
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


FEW = "too few runs to tell it from chance (--repeat 5 or more)"
EQUAL = "too many runs are equal to tell it from chance (--repeat)"
RUNS = (100, 101, 102, 103, 104)


@pytest.mark.parametrize(
    ("before", "after", "better", "end"),
    [
        (RUNS, (105,), None, FEW),
        (RUNS[:4], (90, 91, 92, 93), None, FEW),
        (RUNS, (90, 91, 92, 93, 94), True, "99% confidence -13.5% to -6.1%, better"),
        ((90, 91, 92, 93, 94), RUNS, False, "worse"),
        (RUNS, (101, 100, 103, 102, 103), None, "no difference"),
        (RUNS, (80, 120, 70, 110, 90), None, "no difference"),
        ((100,) * 5, (100,) * 5, None, "+0.0% to +0.0%: no difference"),
        ((100,) * 5, (99,) * 5, True, "99% confidence -1.0% to -1.0%, better"),
        ((100,) * 5, (90, 90, 90, 95, 95), None, EQUAL),
        ((100,) * 4 + (101,), (90,) * 5, None, EQUAL),
        ((100,) * 4 + (110,), (90, 91, 92, 93, 94), True, "better"),
    ],
)
def test_an_interval_decides(
    before: tuple[int, ...], after: tuple[int, ...], better: bool | None, end: str
) -> None:
    found = compared(jittered(*before), jittered(*after))["cycles"]
    assert found.better == better
    assert found.sentence.endswith(end), found.sentence
    assert (found.interval is None) == (end in (FEW, EQUAL))


@pytest.mark.parametrize("equal", [2, 3, 4])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("swapped", [False, True])
def test_resamples_without_spread_bound_nothing(equal: int, side: int, swapped: bool) -> None:
    """Too many resamples without spread give no interval.

    One sample is constant. The other has five values, `equal` of which are equal, so (equal / 5) **
    5 of its resamples have no spread. The limit is the share beyond one end of the interval, half a
    percent.
    """
    values = tuple(100 + side * k for k in range(6 - equal)) + (100,) * (equal - 1)
    assert len(values) == 5
    samples = ((200,) * 5, values)
    found = bootstrap.difference_interval(*(samples[::-1] if swapped else samples))
    assert (found is None) == ((equal / 5) ** 5 > (1 - bootstrap.LEVEL) / 2)
    if found is not None:
        mean = sum(values) / 5 - 200
        assert found[0] < (-mean if swapped else mean) < found[1]


def student_interval(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[float, float]:
    """Welch's interval for the difference of means, by SciPy, as a witness."""
    stats = pytest.importorskip("scipy.stats")
    result = stats.ttest_ind(after, before, equal_var=False)
    interval = result.confidence_interval(bootstrap.LEVEL)
    return interval.low, interval.high


def test_the_interval_is_near_that_of_students_distribution() -> None:
    """For normal samples, the interval is near that of Student's distribution."""
    chance = random.Random(1)
    for size in (20, 60):
        before, after = (
            tuple(round(chance.gauss(mean, 60)) for _ in range(size)) for mean in (10000, 10100)
        )
        expected = student_interval(before, after)
        assert bootstrap.difference_interval(before, after) == pytest.approx(expected, rel=0.12)


def test_an_interval_needs_runs() -> None:
    with pytest.raises(ValueError, match="an interval needs 5 values of each sample"):
        bootstrap.difference_interval((1, 2, 3, 4), RUNS)


@pytest.mark.once
def test_runs_of_one_program_are_seldom_called_different() -> None:
    """Runs of one program are called different in at most 5 of 100 comparisons.

    This is counted for several numbers of runs and distributions.
    """
    chance = random.Random(20261122)
    shapes = (lambda: chance.randrange(1000, 2000), lambda: 1000 + int(chance.expovariate(0.01)))
    for ours, theirs in ((5, 5), (10, 10)):
        for draw in shapes:
            called = 0
            for _ in range(100):
                one, two = (jittered(*(draw() for _ in range(n))) for n in (ours, theirs))
                called += compared(one, two)["cycles"].better is not None
            assert called <= 5, (ours, theirs, called)


TURNS = 20
PLANTED = 0.02  # of the cycles


def called_different(pairs: int, planted: float) -> int:
    """The number of pairs of profiles, of 10 runs each, that the comparison calls different.

    The second program of a pair takes `planted` more cycles (a fraction). All runs have different
    seeds of the jitter.
    """
    plain = copies(TURNS, 1024, 100)
    cycles = run(plain).cycles
    slower = copies(TURNS, 1024, 100, start=round(planted * cycles))
    assert run(slower).cycles == pytest.approx((1 + planted) * cycles, rel=1e-4)
    seeds = iter(range(1, 20 * pairs + 1))
    called = 0
    for _ in range(pairs):
        before, after = (
            jittered(*(run(program, jitter=next(seeds)).cycles for _ in range(10)))
            for program in (plain, slower)
        )
        better = compared(before, after)["cycles"].better
        assert better is not True or not planted
        called += better is not None
    return called


@pytest.mark.once
def test_a_planted_difference_is_found_and_jitter_is_none() -> None:
    assert [called_different(1, share) for share in (0.0, PLANTED)] == [0, 1]


@pytest.mark.long
@pytest.mark.once
def test_a_planted_difference_is_found_in_95_of_100_pairs() -> None:
    assert called_different(100, 0.0) <= 5
    assert called_different(100, PLANTED) >= 95


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
    assert exact["cycles"].sentence.endswith("not judged, because one of them has no jitter")
    assert exact["runs"].sentence.startswith(
        "2 runs with jitter from seed 1 before, a run without jitter now"
    )


# What is refused -------------------------------------------------------------------------------


def refused(new: Subject, *allowed: str, program: str = "old.s") -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        refuse_other_subject(BEFORE, "old.json", new, program, allowed)
    return str(caught.value), caught.value.hint


def test_another_run_is_refused() -> None:
    """A profile of another run is refused, unless the user allows each difference by name."""
    same = {"x": "1"}, {"x": "int8 4"}
    refuse_other_subject(BEFORE, "old.json", Subject("p", "other device", *same), "old.s", ())
    head = "old.json is the profile of another run: "
    assert refused(Subject("q", "d", *same)) == (
        f"{head}old.s was changed",
        "allow program to compare them all the same",
    )
    assert refused(Subject("q", "other device", *same))[0] == (
        f"{head}old.s was changed, or gives another program for another device"
    )
    assert refused(Subject("q", "d", *same), "inputs", program="new.s")[0] == (
        f"{head}the program is another one: old.s before, new.s now"
    )
    refuse_other_subject(BEFORE, "old.json", Subject("q", "d", *same), "new.s", ("program",))
    values = Subject("p", "d", {"x": "2"}, {"x": "int8 4"})
    assert refused(values) == (
        f"{head}the inputs are others (other values of x)",
        "allow inputs to compare them all the same",
    )
    refuse_other_subject(BEFORE, "old.json", values, "old.s", ("inputs",))
    shapes = Subject("q", "d", {"x": "2", "y": "3"}, {"x": "int8 8", "y": "int8 1"})
    text, hint = refused(shapes)
    assert text == (
        f"{head}old.s was changed; the shapes of inputs are others (x: int8 4 before, int8 8 now;"
        " only now y)"
    )
    assert hint == "allow program and shape to compare them all the same"
    refuse_other_subject(BEFORE, "old.json", shapes, "old.s", ("program", "shape"))


# Lines -----------------------------------------------------------------------------------------


def account(core: str, *lines: tuple[str, str, int, dict[str, int]], idle: int = 0) -> Account:
    work = sum(line[2] for line in lines)
    causes = (CauseCycles("work", work), CauseCycles("idle", idle))
    lines_of_core = tuple(LineCycles(*line[:3], causes=line[3]) for line in lines)
    return Account(core, core, work + idle, 1, causes, lines_of_core)


OLD_LINES = (
    ("a.s:1", "li t0, 1", 5, {"work": 5}),
    ("a.s:2", "lw t1, 0(a0)", 40, {"loads": 30, "work": 10}),
    ("a.s:3", "add t1, t1, t0", 9, {"work": 9}),
)


def test_lines_of_one_program() -> None:
    now = (
        OLD_LINES[0],
        ("a.s:2", "lw t1, 0(a0)", 70, {"banks": 20, "loads": 40, "work": 10}),
        ("a.s:3", "add t1, t1, t0", 9, {"results": 9}),
    )
    found = line_differences([account("cp", *OLD_LINES)], [account("cp", *now)])
    assert found == (
        LineDifference("cp", "a.s:2", "lw t1, 0(a0)", 40, 70, {"banks": 20, "loads": 10}),
        LineDifference("cp", "a.s:3", "add t1, t1, t0", 9, 9, {"results": 9, "work": -9}),
    )
    assert [item.change for item in found] == [30, 0]


def test_lines_of_an_edited_program_are_found_again() -> None:
    """The lines of an edited program are found again, although an inserted line moves them.

    Cores without work, or in one run only, are left out.
    """
    now = (
        ("b.s:1", "li t0, 1", 5, {"work": 5}),
        ("b.s:2", "nop", 1, {"work": 1}),
        ("b.s:3", "lw t1, 0(a0)", 40, {"loads": 30, "work": 10}),
    )
    before = [account("cp", *OLD_LINES), account("vc", idle=54)]
    found = line_differences(before, [account("cp", *now), account("vc", idle=46), account("nnp")])
    assert found == (
        LineDifference("cp", "a.s:3", "add t1, t1, t0", 9, None, {"work": -9}),
        LineDifference("cp", "b.s:2", "nop", None, 1, {"work": 1}),
    )


def test_a_comparison_has_the_earlier_timeline_and_lines() -> None:
    old = replace(BEFORE, accounts=(account("cp", *OLD_LINES),))
    found = compare(old, replace(BEFORE, accounts=(account("cp", *OLD_LINES[:2]),)))
    assert [item.place for item in found.line_differences] == ["a.s:3"]
    assert found.earlier is not None
    assert (found.earlier.program, found.earlier.cycles) == ("old.s", 1000)
    assert [(track.core, track.busy) for track in found.earlier.tracks] == [
        ("pe", ((0, 100),)),
        ("vc", ((0, 7),)),
    ]
    one = sentences(BEFORE, old)
    assert one[0] == "lines are not compared: now without --causes"


def test_the_table_of_lines_cuts_no_place() -> None:
    lines = [
        LineDifference("cp", f"long_name_of_a_file.s:{n}", "x" * 80, 1000 * n, None, {"work": -n})
        for n in range(1, 13)
    ]
    text = list(line_table([*lines, LineDifference("cp", "", "", None, 5, {})], 60))
    assert text[0] == "  before  now   change  line"
    assert text[1] == "   1,000    -   -1,000  cp long_name_of_a_file.s:1: xxxxxxx…"
    assert text[2].strip() == "work -1"
    assert max(map(len, text)) == 60
    assert text[-1] == "  3 more lines changed"
    several = {"loads": 9, "work": -3, "latency": 2, "channel": 1}
    text = list(line_table([LineDifference("cp", "a.s:1", "nop", 1, 10, several)], 60))
    assert text[2].strip() == "loads +9, work -3, latency +2"
    (_, row, _) = line_table([LineDifference("cp", "", "", None, 5, {})], 60)
    assert row.endswith("cp (no line)")


def test_for_programs_each_line_is_a_record() -> None:
    lines = [
        LineDifference("cp", "a.s:1", "nop", 1, 1000, {"loads": 999}),
        LineDifference("vc", "", "", 7, None, {"work": -7}),
    ]
    assert list(line_table(lines, None)) == [
        "before 1; now 1,000; change +999; line cp a.s:1; nop; loads +999",
        "before 7; now -; change -7; line vc (no line); work -7",
    ]


def test_a_line_that_took_no_cycle_is_new() -> None:
    now: tuple[tuple[str, str, int, dict[str, int]], ...] = (*OLD_LINES, ("a.s:4", "nop", 0, {}))
    found = line_differences([account("cp", *OLD_LINES)], [account("cp", *now)])
    assert found == (LineDifference("cp", "a.s:4", "nop", None, 0, {}),)
