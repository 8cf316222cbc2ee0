"""A program that keeps all six cores busy: its profile, by the command and in all outputs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from macaw.profiling.model import Profile, from_json
from tests.macaw.command_runs import run_here
from tests.macaw.conftest import ROOT
from tests.macaw.profile.browser import Browser, needs_browser
from tests.macaw.profile.perfetto_reader import busy_by_core, disjoint, read_tracks
from tests.macaw.profile.synthetic import ROWS

pytestmark = pytest.mark.once

FOLDER = ROOT / "programs" / "six_cores"


class Made:
    """What `macaw profile` printed and wrote for the sample in one run."""

    def __init__(self, place: Path) -> None:
        inputs = [word for name in "xde" for word in ("-i", f"{name}={name}.npy")]
        kinds = "json", "perfetto", "html"
        files = [word for kind in kinds for word in (f"--{kind}", place / f"six.{kind}")]
        done = run_here(("profile", "six_cores.s", *inputs, *files), FOLDER)
        assert (done.returncode, done.stderr) == (0, "")
        self.report, self.page = done.stdout, place / "six.html"
        self.profile: Profile = from_json(json.loads((place / "six.json").read_bytes()))
        self.trace = (place / "six.perfetto").read_bytes()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("six"))


def test_the_trace_has_the_busy_time_of_each_core_that_the_report_prints(made: Made) -> None:
    printed = {}
    for line in made.report.split("\n\nbottleneck")[0].splitlines():
        # A row of the timeline has a bar behind its name, one of the table has not.
        match = re.match(r"[> ]*(\w+(?:\[\d+\])?) .*?([\d,]+) +\d+\.\d%", line)
        if match:
            printed[match.group(1)] = int(match.group(2).replace(",", ""))
    assert set(printed) == {*ROWS, "pe[0]", "fim[0]"}
    assert all(printed.values())
    tracks = read_tracks(made.trace)
    assert busy_by_core(tracks) == printed
    assert all(disjoint(track.slices) for track in tracks.values())
    assert sum(bool(track.points) for track in tracks.values()) == len(made.profile.series) > 0


def test_all_six_cores_are_at_work_at_once(made: Made) -> None:
    """All six cores work at once in more than 1/11 of the cycles (seed 001 ¶74-75, ¶103-104)."""
    busy = [
        {cycle for begin, end in row.busy for cycle in range(begin, end)}
        for row in made.profile.rows
    ]
    assert len(set.intersection(*busy)) > made.profile.cycles / 11
    assert sum(map(len, busy)) > 2 * made.profile.cycles


def test_the_bottleneck_is_the_core_without_whose_work_the_run_is_shortest(made: Made) -> None:
    """The bottleneck is the array, the core without whose work the run is shortest.

    tests/programs/test_profiled.py removes the work of each core.
    """
    found = made.profile.bottleneck
    assert found is not None
    assert found.core == "pe"
    assert found.slice is not None
    assert found.slice.core == "pe[0]"
    assert max(found.saved, key=lambda row: found.saved[row]) == "pe"


@needs_browser
def test_its_page(made: Made) -> None:
    with Browser() as browser:
        page = browser.open(made.page)
        rows = page.run("[...document.querySelectorAll('[data-row]')].map(row => row.dataset.row)")
        assert rows == list(ROWS)
        left, top, width, height = page.box("[data-row='dma'] canvas")
        page.mouse("mouseMoved", left + 3, top + height / 2)
        assert "six_cores.s:" in page.run("document.getElementById('tip').innerText")
        page.mouse("mouseWheel", left + width / 2, top, deltaX=0, deltaY=-200)
        shown = page.run("document.getElementById('view').textContent")
        assert not shown.startswith("cycles 0 to")
        assert page.troubles() == []
