"""Segments of several runs are merged to one timeline: Fig. 6 by hand, and jittered runs."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.errors import InputError
from macaw.profiling import recording as recording
from macaw.profiling import segments
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import Record
from tests.macaw.profile.programs import copies
from tests.macaw.profile.records import record


def test_figure_6() -> None:
    """The runs of Fig. 6, which share instr3, are merged with an offset of 5 cycles.

    dt1 = 30 - 24, dt2 = 40 - 36, dt = 5 (seed 001 ¶110, ¶112-116).
    """
    first = [record(0, 0, 10), record(1, 10, 18), record(2, 20, 30), record(3, 30, 40)]
    second = [
        record(3, 24, 36),
        record(4, 36, 50, t_rd_begin=40, t_rd_end=44, e_bus=1),
        record(5, 50, 52),
        record(6, 55, 60),
    ]
    merged, offsets = segments.merge_segments("cp", [first, second])
    assert offsets == [0, 5]
    assert merged[:4] == first
    assert [(x.first, x.begin, x.end) for x in merged[4:]] == [
        (4, 41, 55),
        (5, 55, 57),
        (6, 60, 65),
    ]
    moved = merged[4].counters
    assert (moved["t_rd_begin"], moved["t_rd_end"], moved["e_bus"]) == (45, 49, 1)
    assert (moved["t_wr_begin"], moved["t_cu_end"]) == (0, 0)  # what never occurred


def test_an_offset_may_be_negative_and_adds_up() -> None:
    """A segment's offset may be negative, and includes the offset before it (seed 001 ¶110)."""
    runs = [
        [record(0, 0, 10), record(1, 10, 20)],
        [record(1, 14, 24), record(2, 24, 30)],
        [record(2, 25, 31), record(3, 31, 40)],
    ]
    merged, offsets = segments.merge_segments("cp", runs)
    assert offsets == [0, -4, -5]  # the third offset is relative to the moved second segment
    assert [(x.begin, x.end) for x in merged] == [(0, 10), (10, 20), (20, 26), (26, 35)]


def test_segments_behind_the_end_are_empty() -> None:
    merged, offsets = segments.merge_segments("cp", [[record(0, 0, 9)], [], []])
    assert (merged, offsets) == ([record(0, 0, 9)], [0])


def test_a_segment_without_records_adds_nothing() -> None:
    """The segment after an empty one is merged with the records before the empty one."""
    runs = [[record(0, 0, 9)], [], [record(0, 4, 13), record(1, 13, 20)]]
    merged, offsets = segments.merge_segments("cp", runs)
    assert offsets == [0, -4]
    assert [(x.begin, x.end) for x in merged] == [(0, 9), (9, 16)]


def test_nothing_shared() -> None:
    with pytest.raises(InputError, match="segments 1 and 2 of vc share no record"):
        segments.merge_segments("vc", [[record(0, 0, 9)], [record(4, 0, 9)]])


@pytest.mark.parametrize(
    ("count", "groups", "shared", "message"),
    [
        (3, 4, 4, "segments cannot share 4 of 4 register groups, only 1 to 3"),
        (3, 4, 0, "segments cannot share 0 of 4 register groups, only 1 to 3"),
        (3, 2, 2, "segments cannot share 2 of 2 register groups, only 1$"),
        (3, 1, 1, "segments need at least 2 register groups: adjacent segments share some"),
        (1, 4, 1, "1 segment is nothing to merge"),
    ],
)
def test_segments_that_cannot_be(count: int, groups: int, shared: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        segments.check_segments(count, groups, shared)


@given(st.integers(1, 5000), st.integers(2, 12), st.integers(2, 8), st.data())
def test_segments_cover_every_instruction(
    begun: int, count: int, groups: int, data: st.DataObject
) -> None:
    """Segments cover all instructions; neighbours share `shared` groups (seed 001 ¶106, ¶109)."""
    shared = data.draw(st.integers(1, groups - 1))
    covered: set[int] = set()
    before: set[int] = set()
    for planned in segments.parameters_of_segments({"cp": begun, "idle": 0}, count, groups, shared):
        assert set(planned) == {"cp"}
        values = planned["cp"]
        begin, num = values[recording.BEGIN], values[recording.NUM]
        assert values[recording.LOOPS] == 1
        here = {begin + g * values[recording.STEP] for g in range(groups)}
        assert not before or len(here & before) == shared
        before = here
        covered |= {number for first in here for number in range(first, first + num)}
    assert covered >= set(range(begun))


def course(seed: int, noise: int) -> list[Record]:
    """Twenty records one after another, each of 100 cycles plus a random 0 to `noise`."""
    pick, time, found = random.Random(seed), 0, []
    for number in range(20):
        length = 100 + pick.randrange(noise + 1)
        found.append(record(number, time, time + length))
        time += length
    return found


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_without_noise_the_merged_timeline_is_the_true_one(seed: int) -> None:
    runs = [course(seed, 30)[begin : begin + 4] for begin in range(0, 18, 3)]
    merged, offsets = segments.merge_segments("cp", runs)
    assert merged == course(seed, 30)[:19]
    assert set(offsets) == {0}


def test_means_of_runs() -> None:
    """Times and counters of repeated runs are averaged (seed 001 ¶107)."""
    runs = [
        [record(0, 0, 10, e_bus=4), record(1, 10, 20)],
        [record(0, 2, 16, e_bus=4), record(2, 20, 30)],
    ]
    (found,) = segments.mean_records(runs)
    assert (found.first, found.begin, found.end, found.counters["e_bus"]) == (0, 1, 13, 4)


def test_how_far_from_the_true_timeline() -> None:
    true = [record(0, 0, 10), record(1, 10, 20)]
    assert (
        segments.mean_shift([record(0, 2, 10), record(1, 14, 26), record(9, 0, 0)], true)
        == (1 + 5) / 2
    )
    assert segments.mean_shift([], true) == 0


def test_waits_move_with_the_records() -> None:
    run = [record(0, 0, 10), record(1, 50, 60), record(2, 60, 70)]
    moved = [record(0, 0, 10), record(1, 45, 55), record(2, 57, 66)]
    assert segments.move_waits([(12, 50, 2), (60, 64, 4)], run, moved) == [
        (12, 45, 2),
        (57, 61, 4),
    ]


# Whole runs ------------------------------------------------------------------------------------


@pytest.mark.once
def test_a_merged_run_without_jitter_is_the_run() -> None:
    """Without jitter, merged segments equal the whole run in each core (seed 001 ¶106)."""
    program = copies(12)
    for shared in (1, 3):
        found = profile(program, {}, ProfileOptions(segments=5, shared=shared, findings=False))
        assert found.merge is not None
        assert (found.merge.error, found.merge.shift, set(found.merge.offsets)) == (0, 0, {0})
        sizes = {row.core: row.slices[0].instructions for row in found.rows if row.slices}
        whole = profile(program, {}, ProfileOptions(num=sizes, findings=False))
        assert found.cycles == found.merge.true == whole.cycles
        assert found.tracks == whole.tracks
        assert found.bottleneck == whole.bottleneck


@pytest.mark.few(1)
@pytest.mark.once
@pytest.mark.parametrize("seed", [1, 40, 900])
def test_jittered_segments_are_within_a_hundredth_of_their_runs(seed: int) -> None:
    """Merged segments of jittered runs are within 1% of these runs (seed 001 ¶107).

    Transfers take nearly all of the time, so that hardly a cycle is without noise.
    """
    options = ProfileOptions(segments=6, jitter=seed, repeat=2, findings=False)
    found = profile(copies(100), {}, options).merge
    assert found is not None
    assert len(set(found.runs)) > 6  # they do differ
    assert min(found.runs) >= 10_000
    assert found.mean == fmean(found.runs)
    print(f"seed {seed}: merged {found.total:,}, mean {found.mean:,.1f}, error {found.error:+.3%}")
    assert found.error == pytest.approx(found.total / found.mean - 1)
    assert abs(found.error) < 0.01
    assert found.shift < 0.01 * found.mean
