"""The bottleneck: Fig. 5 by hand, and a sample's cores, each without work in one run."""

from __future__ import annotations

import pytest

import macaw
from macaw.profiling.bottleneck import find_bottleneck
from macaw.profiling.model import Slice, Track
from macaw.profiling.recording import Wait
from macaw.profiling.timeline import CoreTraits, starts
from tests.macaw.profile.programs import six_cores, six_profile
from tests.programs.profiled import CORES

COP = {
    name: CoreTraits(name, name, number, 1, 1, number == 0)
    for number, name in enumerate(("cop0", "cop1", "cop2", "cop3"))
}


def track(core: str, *busy: tuple[int, int]) -> Track:
    slices = tuple(
        Slice(core, core, begin, end, place, 1) for place, (begin, end) in enumerate(busy)
    )
    return Track(core, core, slices, busy)


def test_figure_5() -> None:
    """In Fig. 5, COP3 is the bottleneck: it works without a pause (seed 001 ¶105).

    COP1 and COP2 work at the same time, so their work costs nothing. cop0 starts cop3 four times
    and waits for it each time (mask 8).
    """
    rounds = range(4)
    cop0 = track("cop0", *((100 * k, 100 * k + 5) for k in rounds), (400, 403))
    cop1 = track("cop1", *((100 * k + 3, 100 * k + 40) for k in rounds))
    cop2 = track("cop2", *((100 * k + 4, 100 * k + 60) for k in rounds))
    cop3 = track("cop3", *((100 * k + 5, 100 * k + 99) for k in rounds))
    waits: dict[str, list[Wait]] = {"cop0": [(100 * k + 5, 100 * k + 100, 0b1110) for k in rounds]}
    found = find_bottleneck((cop0, cop1, cop2, cop3), waits, COP, starts=())
    assert found is not None
    assert found.core == "cop3"
    # Without cop3 a round is as long as cop2 needs from its start: 39 cycles less, four times.
    assert found.saved == {"cop0": 4 * 5 + 3, "cop1": 0, "cop2": 0, "cop3": 4 * 39}
    assert "cop3 is at work for 376 cycles, 93% of the run" in found.why


def test_one_after_the_other() -> None:
    """In a chain, each core costs its own time; the longest one is the bottleneck (seed 001 ¶105).

    The bottleneck names its longest slice.
    """
    cop0 = track("cop0", (0, 10), (110, 120), (420, 430))
    cop1 = track("cop1", (10, 109))
    cop2 = track("cop2", (120, 300), (300, 419))
    waits: dict[str, list[Wait]] = {"cop0": [(10, 110, 0b10), (120, 420, 0b100)]}
    found = find_bottleneck((cop0, cop1, cop2), waits, COP, starts=())
    assert found is not None
    assert found.slice == cop2.slices[0]
    assert found.saved == {"cop0": 30, "cop1": 99, "cop2": 299}


def test_a_queue_goes_on_by_itself() -> None:
    """A core with a queue begins its second piece right after the first, even if cop0 does nothing.

    cop0 has started both pieces of cop1 before.
    """
    cop0 = track("cop0", (0, 10), (202, 205))
    cop1 = track("cop1", (5, 100), (101, 201))
    found = find_bottleneck((cop0, cop1), {"cop0": [(10, 202, 0b10)]}, COP, starts=())
    assert found is not None
    assert found.saved["cop1"] == 205 - (10 + 3)


def test_work_before_and_after_the_bottleneck_is_not_between() -> None:
    """Only work between pieces of the bottleneck counts as work between.

    cop1 works for 10 cycles before cop2, for 20 and 30 cycles between pieces of cop2, and for 40
    cycles after it. Without all work of cop1, the run is 99 cycles shorter, because a start takes
    one cycle. The work between is 50 cycles.
    """
    cop0 = track("cop0", (0, 1), (401, 402))
    cop1 = track("cop1", (1, 11), (111, 131), (231, 261), (361, 401))
    cop2 = track("cop2", (11, 111), (131, 231), (261, 361))
    waits: dict[str, list[Wait]] = {
        "cop1": [(11, 111, 0b100), (131, 231, 0b100), (261, 361, 0b100)],
        "cop2": [(1, 11, 0b10), (111, 131, 0b10), (231, 261, 0b10)],
        "cop0": [(1, 401, 0b110)],
    }
    found = find_bottleneck((cop0, cop1, cop2), waits, COP, starts=())
    assert found is not None
    assert found.core == "cop2"
    assert found.saved["cop1"] == 99
    assert found.between["cop1"] == 50


def test_late_starts_cost_what_somebody_waits_for() -> None:
    """A late start costs only the cycles for which another core waits.

    cop0 starts cop1 and cop2 20 cycles after the previous round, and waits only for cop2. So cop2's
    lateness costs 20 cycles a round, cop1's nothing.
    """
    rounds = range(4)
    cop0 = track("cop0", *((100 * k, 100 * k + 20) for k in rounds), (400, 401))
    cop1 = track("cop1", *((100 * k + 20, 100 * k + 50) for k in rounds))
    cop2 = track("cop2", *((100 * k + 20, 100 * k + 100) for k in rounds))
    waits: dict[str, list[Wait]] = {"cop0": [(100 * k + 20, 100 * k + 100, 0b100) for k in rounds]}
    tracks = (cop0, cop1, cop2)
    found = find_bottleneck(tracks, waits, COP, starts(tracks, "cop0", waits))
    assert found is not None
    assert found.sooner == {"cop1": 0, "cop2": 80}


def test_nothing_recorded() -> None:
    assert find_bottleneck((track("cop0"),), {}, COP, starts=()) is None


@pytest.mark.once
def test_the_sample_without_each_core() -> None:
    """The named bottleneck is the row without whose work the program is fastest (seed 001 ¶105).

    The predicted saving differs from the true saving by at most a tenth of the run.
    """
    found = six_profile(3)
    saved = {
        name.lower(): found.cycles - macaw.run(*six_cores(3, without=name)).cycles for name in CORES
    }
    best = max(saved, key=lambda row: saved[row])
    assert found.bottleneck is not None
    assert found.bottleneck.core == best
    assert found.bottleneck.slice is not None
    assert found.bottleneck.slice.row == best
    assert found.bottleneck.saved[best] == pytest.approx(saved[best], abs=0.1 * found.cycles)
    others = [value for row, value in saved.items() if row != best]
    assert saved[best] > 1.5 * max(others)  # so the answer is no matter of chance
