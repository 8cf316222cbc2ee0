"""Busy intervals, waits as gaps, and starts that came late."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from macaw.profiling.model import CoreWait, Track
from macaw.profiling.recording import Record
from macaw.profiling.timeline import CoreTraits, IntervalSet, starts, subtract, track, tracks, union
from tests.macaw.profile.records import record

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)


def cycles(intervals: list[tuple[int, int]]) -> set[int]:
    return {time for begin, end in intervals for time in range(begin, end)}


@given(INTERVALS, INTERVALS, st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_intervals_are_sets_of_cycles(
    some: list[tuple[int, int]], gaps: list[tuple[int, int]], one: tuple[int, int]
) -> None:
    joined, open_ = union(some), union(gaps)
    assert cycles(joined) == cycles(some)
    assert all(begin < end for begin, end in joined)
    assert all(a[1] < b[0] for a, b in pairwise(joined))
    assert cycles(subtract(joined, open_)) == cycles(some) - cycles(gaps)
    assert IntervalSet(gaps).within(*one) == len(cycles([one]) & cycles(gaps))


CP = CoreTraits("cp", "cp", 0, 1, 4, True)
DMA = CoreTraits("dma", "dma", 1, 0, 0, False)
PE = {
    name: CoreTraits(name, "pe", 16 + place, 8, 2, False)
    for place, name in enumerate(("pe[0]", "pe[1]"))
}


def test_a_wait_is_no_work() -> None:
    found = track(
        CP,
        [record(0, 0, 10), record(1, 10, 90), record(2, 90, 95)],
        [(12, 60, 2)],
        0,
        {0: "cp", 1: "dma"},
    )
    assert found.busy == ((0, 12), (60, 95))
    assert found.waits == (CoreWait(12, 60, ("dma",)),)
    assert [(item.cycles, item.waited, item.busy) for item in found.slices] == [
        (10, 0, 10),
        (80, 48, 32),
        (5, 0, 5),
    ]


def test_rows_are_unions_of_their_cores() -> None:
    """The busy time of a row is the union of its cores' busy times (seed 001 ¶103-104)."""
    cores = {"cp": CP, **PE}
    records: dict[str, list[Record]] = {
        "pe[0]": [record(0, 5, 20), record(1, 30, 40)],
        "pe[1]": [record(0, 15, 32)],
    }
    found = tracks(cores, records, {}, {"pe[1]": 3})
    assert [(item.core, item.row, item.busy, item.lost) for item in found] == [
        ("cp", "cp", (), 0),
        ("pe", "pe", ((5, 40),), 3),
        ("pe[0]", "pe", ((5, 20), (30, 40)), 0),
        ("pe[1]", "pe", ((15, 32),), 3),
    ]
    assert [(item.core, item.begin) for item in found[1].slices] == [
        ("pe[0]", 5),
        ("pe[1]", 15),
        ("pe[0]", 30),
    ]


def test_what_starts_late() -> None:
    """A start is late by the cycles since the last work ended for which the core may have waited.

    vc could have begun in cycle 100, when the dma was done, but cp started it in 130. Before vc's
    second start the dma has begun to work and goes on, so vc does not wait for it. vc could have
    begun in cycle 160, when its own work was done.
    """
    dma = Track("dma", "dma", (), ((10, 100), (150, 400)))
    vc = Track("vc", "vc", (), ((130, 160), (170, 200)))
    cp = Track("cp", "cp", (), ((0, 10), (100, 130), (160, 170)))
    slices = tuple(track(CP, [record(0, 0, 1)], [], 0, {}).slices)
    found = starts([Track(x.core, x.row, slices, x.busy) for x in (cp, dma, vc)], "cp", {})
    assert [(x.core, x.begin, x.earliest, x.late) for x in found] == [
        ("dma", 10, 0, 10),
        ("vc", 130, 100, 30),
        ("dma", 150, 100, 50),
        ("vc", 170, 160, 10),
    ]


def test_a_start_within_a_record_of_several_instructions_is_not_late() -> None:
    """Which instructions of such a record have ended is not known: vc may have waited for one."""
    dma = track(DMA, [record(0, 10, 100, instructions=2), record(2, 200, 300)], [], 0, {})
    vc = Track("vc", "vc", (), ((50, 60), (100, 110), (210, 220), (320, 330)))
    found = starts([dma, vc], "cp", {})
    assert [(x.begin, x.earliest) for x in found if x.core == "vc"] == [
        (50, 50),
        (100, 100),
        (210, 110),
        (320, 300),
    ]


def test_a_core_that_waited_by_itself_is_not_late() -> None:
    """Cycles in which a core itself waited do not make its start late.

    Here the dma waits for bytes of vc from cycle 100 to 140.
    """
    dma = Track("dma", "dma", (), ((10, 100), (140, 200)))
    vc = Track("vc", "vc", (), ((10, 400),))
    found = starts([dma, vc], "cp", {"dma": [(20, 60, 4), (100, 140, 4)]})
    assert [(x.core, x.begin, x.earliest) for x in found if x.begin > 10] == [("dma", 140, 140)]
    assert next(x.earliest for x in starts([dma, vc], "cp", {}) if x.begin == 140) == 100
