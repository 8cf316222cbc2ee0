"""The page in Chromium: a range and its statistics, waits, the earlier run, the source, links.

Keys and mouse are real; the numbers are computed from the JSON of the same profile with NumPy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from macaw.profiling.account import Account, CauseCycles, LineCycles
from macaw.profiling.earlier import EarlierRun, EarlierTrack
from macaw.profiling.model import (
    Bottleneck,
    Finding,
    Metric,
    MissedThreshold,
    Profile,
    Series,
    to_json,
)
from tests.macaw.profile.browser import Browser, needs_browser
from tests.macaw.profile.many_records import many_records, with_waits
from tests.macaw.profile.pages import OpenedProfile, Records

pytestmark = pytest.mark.once

SOURCE = "".join(f"        add t{line % 7}, t0, t1   # line {line}\n" for line in range(1, 121))
TOTALS = {12: (300, {"work": 700, "latency": 200}), 44: (5, {"work": 5})}


@pytest.fixture(scope="module")
def profile() -> Profile:
    plain = many_records(3000)
    tracks = tuple(with_waits(track) if track.core == "cp" else track for track in plain.tracks)
    earlier = EarlierRun(
        "old.s",
        "tiny",
        plain.cycles + 900,
        tuple(
            EarlierTrack(track.core, track.row, tuple((b + 700, e + 700) for b, e in track.busy))
            for track in plain.tracks
        ),
    )
    lines = tuple(
        LineCycles(f"net.s:{line}", "add", sum(causes.values()), "/x/net.s", line, run, causes)
        for line, (run, causes) in TOTALS.items()
    )
    worst = plain.groups[5].slice
    metric = Metric("utilisation", 0.2, 0.5, False)
    return replace(
        plain,
        tracks=tracks,
        earlier=earlier,
        against="old.json",
        accounts=(Account("cp", "cp", plain.cycles, 1, (CauseCycles("work", 5),), lines),),
        series=(Series("external reads", "bytes", ((0, 2.0), (1000, 8.0), (3000, 0.5)), "", 16),),
        missed_thresholds=(
            MissedThreshold(worst.core, worst.where, metric, "It is slow.", 400, 3, cost=77),
        ),
        findings=(Finding(worst.core, "loads", f"{worst.place}: add", 88, 99, "Load earlier"),),
        bottleneck=Bottleneck("pe", worst, "pe is slow.", {"pe": 500}, {"dma": 20}, {"nnp": 3}),
    )


@pytest.fixture(scope="module")
def plain(profile: Profile) -> dict[str, Any]:
    """The profile's JSON."""
    found: dict[str, Any] = json.loads(json.dumps(to_json(profile)))
    return found


@pytest.fixture(scope="module")
def opened(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedProfile]:
    with Browser() as browser:
        path = tmp_path_factory.mktemp("page") / "profile.html"
        found = OpenedProfile(browser, profile, path, sources={"net.s": SOURCE})
        yield found
        assert found.page.troubles() == []


@pytest.fixture
def page(opened: OpenedProfile) -> OpenedProfile:
    """The page with the whole run in view and no range selected."""
    opened.run("document.activeElement.blur()")
    for key in ("Escape", "Escape", "0"):
        opened.page.key(key)
    opened.run("scrollTo(0, 0)")
    return opened


def settle(page: OpenedProfile) -> None:
    """Wait until the statistics belong to the selected range."""
    page.run("new Promise(done => setTimeout(done, 160))")


def overlap(intervals: list[list[int]], begin: int, end: int) -> int:
    """The number of cycles of intervals that lie in a range."""
    bounds = np.array(intervals).reshape(-1, 2).clip(begin, end)
    return int((bounds[:, 1] - bounds[:, 0]).sum())


def expected_cores(plain: dict[str, Any], begin: int, end: int) -> list[list[str]]:
    """The expected table of cores for a range."""
    rows = []
    earlier = {track["core"]: track["busy"] for track in plain["earlier"]["tracks"]}
    for track in plain["tracks"]:
        busy = overlap(track["busy"], begin, end)
        bounds = np.array([(item["begin"], item["end"]) for item in track["slices"]])
        whom: Counter[str] = Counter()
        for wait in track["waits"]:
            cycles = overlap([[wait["begin"], wait["end"]]], begin, end)
            whom[", ".join(wait["cores"]) or "bytes of another core"] += cycles
        names = [f"{name} ({cycles:,})" for name, cycles in whom.most_common() if cycles]
        rows.append(
            [
                track["core"],
                f"{busy:,}",
                f"{100 * busy / (end - begin):.1f}%",
                f"{overlap(earlier[track['core']], begin, end):,}",
                f"{np.sum((bounds[:, 0] < end) & (bounds[:, 1] > begin)):,}",
                f"{whom.total():,}",
                ", ".join(names),
            ]
        )
    return rows


@needs_browser
@pytest.mark.parametrize(("begin", "end"), [(100, 230), (0, 5000), (3001, 3002)])
def test_statistics_of_a_typed_range(
    page: OpenedProfile, plain: dict[str, Any], begin: int, end: int
) -> None:
    page.click("#range-view")  # a whole range, so that neither number is beyond the other
    page.type("#range-end", str(end))
    page.page.key("Enter")
    page.type("#range-begin", str(begin))
    page.page.key("Enter")
    page.run("document.activeElement.blur()")
    settle(page)
    assert page.text("#range") == f"cycles {begin:,} to {end:,}: {end - begin:,}"
    assert page.text("#h-range") == "Selected range"
    assert page.table("#range-cores") == expected_cores(plain, begin, end)


@needs_browser
def test_fields_show_the_range_after_a_number_that_does_not_fit(
    page: OpenedProfile, plain: dict[str, Any]
) -> None:
    """Also while the field still has the focus."""

    def typed(field: str, text: str) -> list[int]:
        page.type(field, text)
        page.page.key("Enter")
        edges = [f"document.getElementById('range-{edge}').value" for edge in ("begin", "end")]
        return [int(page.run(edge)) for edge in edges]

    last = plain["earlier"]["cycles"]  # the axis is as long as the longer run
    page.click("#range-view")
    assert typed("#range-end", "200") == [0, 200]
    assert typed("#range-begin", "300") == [300, 301]
    assert typed("#range-end", "50") == [49, 50]
    assert typed("#range-end", str(10 * last)) == [49, last]
    assert typed("#range-begin", "") == [49, last]
    assert typed("#range-begin", str(10 * last)) == [last - 1, last]


@needs_browser
def test_statistics_of_the_view(page: OpenedProfile, plain: dict[str, Any]) -> None:
    page.page.key("+")
    page.page.key("ArrowRight")
    settle(page)
    assert page.text("#h-range") == "In view"
    begin, end = page.view()
    assert page.table("#range-cores") == expected_cores(plain, begin, end)


@needs_browser
def test_a_drag_with_shift_selects_and_the_axis_without(
    page: OpenedProfile, plain: dict[str, Any]
) -> None:
    view = page.view()
    for row, modifiers, ends in (("pe", 8, (1000, 2200)), ("axis", 0, (400, 900))):
        (left, y), (right, _) = (page.at("pe", cycle) for cycle in ends)
        if row == "axis":
            _, top, _, height = page.page.box(".axis canvas")
            y = top + height / 2
        for kind, x in (("mousePressed", left), ("mouseMoved", right), ("mouseReleased", right)):
            page.page.mouse(kind, x, y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        settle(page)
        begin, end = (
            int(page.run(f"document.getElementById('range-{one}').value"))
            for one in ("begin", "end")
        )
        assert (begin, end) == pytest.approx(ends, abs=8)
        assert page.table("#range-cores") == expected_cores(plain, begin, end)
        assert page.view() == view


@needs_browser
def test_lines_and_series_of_a_range(page: OpenedProfile, profile: Profile) -> None:
    begin, end = 500, 2500
    page.type("#range-end", str(end))
    page.page.key("Enter")
    page.type("#range-begin", str(begin))
    page.page.key("Enter")
    settle(page)
    cycles: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    records = Records.of(profile)
    inside = records.end.clip(begin, end) - records.begin.clip(begin, end)
    for core, where, taken, first, last in zip(
        records.core, records.where, inside, records.begin, records.end, strict=True
    ):
        if first < end and last > begin:
            key = str(core), where.partition(": ")[0] if ": " in where else ""
            cycles[key] += int(taken)
            counts[key] += 1
    rows = page.table("#range-lines")
    assert len(rows) == 12
    assert [row[2] for row in rows] == [f"{count:,}" for _, count in cycles.most_common(12)]
    for core, line, taken, count in rows:
        key = core, line.partition(": ")[0] if ": " in line else ""
        assert (taken, count) == (f"{cycles[key]:,}", f"{counts[key]:,}")
    mean = (500 * 2.0 + 1500 * 8.0) / 2000
    assert page.table("#range-series") == [["external reads, bytes", f"{mean:.3g}", "8"]]


@needs_browser
def test_keys_of_the_range(page: OpenedProfile) -> None:
    def ends() -> list[int]:
        settle(page)
        return [int(page.run(f"document.getElementById('range-{one}').value")) for one in ("begin", "end")]  # fmt: skip

    for _ in range(4):
        page.page.key("+")
    view = page.view()
    page.page.key("s")
    assert ends() == list(view)
    by = round(0.02 * (view[1] - view[0]))
    page.page.key("ArrowRight", shift=True)
    assert ends() == pytest.approx([view[0], view[1] + by], abs=1)
    page.page.key("ArrowLeft", shift=True)
    page.page.key(">")
    assert ends() == pytest.approx([view[0] + by, view[1] + by], abs=1)
    page.page.key("<")
    page.page.key("0")
    assert ends() == pytest.approx(view, abs=1)
    page.page.key("z")
    assert page.view() == pytest.approx(view, abs=1)
    page.page.key("Escape")
    settle(page)
    assert page.text("#h-range") == "In view"
    page.run("document.querySelector(\"[data-track='cp'] canvas\").focus()")
    page.page.key("n")
    page.page.key("r")
    first, last = page.text("#tip").split("cycles ")[1].split(":")[0].split(" to ")
    assert ends() == [int(first.replace(",", "")), int(last.replace(",", ""))]


@needs_browser
def test_only_records_in_the_range(page: OpenedProfile, profile: Profile) -> None:
    page.type("#range-end", "1200")
    page.page.key("Enter")
    page.type("#range-begin", "1100")
    page.page.key("Enter")
    page.click("#search-inside")
    settle(page)
    records = Records.of(profile)
    inside = (records.begin < 1200) & (records.end > 1100)
    assert page.text("#matches").startswith(f"{inside.sum():,} of ")
    assert [row[:5] for row in page.table("#grid")] == records.cells(np.flatnonzero(inside)[:16])
    page.click("#search-inside")


@needs_browser
def test_arrows_from_the_cores_that_were_waited_for(
    page: OpenedProfile, plain: dict[str, Any]
) -> None:
    """A wait that is long enough to be seen has an arrow from each core that it names."""
    for _ in range(5):
        page.page.key("+")
    begin, end = page.view()
    width = page.page.box("[data-track='cp'] canvas")[2]
    shortest = 5 * (end - begin) / width
    waits = [wait for wait in plain["tracks"][0]["waits"] if wait["end"] > begin]
    seen = [w for w in waits if w["end"] <= end and w["end"] - max(w["begin"], begin) >= shortest]
    wanted = sum(len(wait["cores"]) for wait in seen)
    assert wanted > 3
    drawn = "Number(document.querySelector('canvas.arrows').dataset.arrows)"
    assert page.run(drawn) == wanted
    page.page.key("w")
    assert page.run(drawn) == 0
    page.page.key("w")
    assert page.run(drawn) == wanted


@needs_browser
def test_keys_go_from_wait_to_wait(page: OpenedProfile, plain: dict[str, Any]) -> None:
    page.run("document.querySelector(\"[data-track='cp'] canvas\").focus()")
    for place, key in ((0, "g"), (1, "g"), (2, "g"), (1, "b")):
        wait = plain["tracks"][0]["waits"][place]
        page.page.key(key)
        whom = ", ".join(wait["cores"]) or "bytes of another core"
        span = f"cycles {wait['begin']:,} to {wait['end']:,}: {wait['end'] - wait['begin']:,}"
        assert page.text("#tip").splitlines()[0] == f"cp waits for {whom}"
        assert page.run("document.getElementById('live').textContent").endswith(span)


@needs_browser
def test_both_runs_have_one_axis(page: OpenedProfile, plain: dict[str, Any]) -> None:
    """The lower edge of a row shows the earlier run on the same axis.

    The edge is grey where the earlier run worked, and empty before its first work at cycle 700.
    """
    assert page.view() == (0, plain["earlier"]["cycles"])
    assert "old.s on tiny" in page.text("#legend")
    colours = """(canvas => {
      const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
      pen.drawImage(canvas, 0, 0);
      const all = pen.getImageData(0, canvas.height - 3, canvas.width, 1).data;
      return Array.from({length: canvas.width}, (_, x) => all[4 * x] < 0xc8);
    })(document.querySelector("[data-track='nnp'] canvas"))"""
    drawn = page.run(colours)
    busy = next(track["busy"] for track in plain["earlier"]["tracks"] if track["core"] == "nnp")
    scale = len(drawn) / plain["earlier"]["cycles"]
    first, last = busy[0][0] * scale, busy[-1][1] * scale
    places = np.flatnonzero(drawn[: round(len(drawn) * 0.995)])  # without the mark of its end
    ends = plain["cycles"] * scale
    places = places[np.abs(places - ends) > 2]
    assert places[0] == pytest.approx(first, abs=2)
    assert places[-1] == pytest.approx(min(last, len(drawn) * 0.995), abs=3)


@needs_browser
def test_the_source_has_totals_of_lines(page: OpenedProfile, profile: Profile) -> None:
    records = Records.of(profile)
    page.page.key("c")
    page.page.key("Home")
    rows = page.table("#source")
    assert len(rows) == 18
    for number, row in enumerate(rows, 1):
        here = np.char.startswith(records.where, f"net.s:{number}:")
        run, causes = TOTALS.get(number, (0, {}))
        wanted = [run, sum(causes.values()), int(records.cycles[here].sum())]
        assert row[0] == str(number)
        assert row[2:5] == [f"{count:,}" if count else "" for count in wanted]
        assert row[5].strip() == f"add t{number % 7}, t0, t1   # line {number}"
    assert rows[11][6] == "work 700, latency 200"
    assert rows[11][1] != rows[12][1] == ""  # a sign for its heat


@needs_browser
def test_enter_on_a_line_finds_its_records(page: OpenedProfile, profile: Profile) -> None:
    records = Records.of(profile)
    page.page.key("c")
    page.page.key("Home")
    for _ in range(3):
        page.page.key("ArrowDown")
    page.page.key("Enter")
    here = np.char.startswith(records.where, "net.s:4:")
    assert page.text("#matches").startswith(f"{here.sum():,} of ")
    assert ", net.s:4\n" in page.text("#tip")
    page.page.key("v")
    selected = "document.querySelector('#source [aria-selected=true] td').textContent"
    assert page.run(selected) == "4"
    assert page.run("document.activeElement.id") == "source"
    page.type("#search-words", "x")
    page.page.key("Backspace")


@needs_browser
@pytest.mark.parametrize("button", ["ol li button", "#rest section button"])
def test_a_finding_links_to_timeline_and_source(
    page: OpenedProfile, profile: Profile, button: str
) -> None:
    worst = profile.groups[5].slice
    longest = max(
        (group.slice for group in profile.groups if group.slice.where == worst.where),
        key=lambda item: item.busy,
    )
    page.click(button)
    begin, end = page.view()
    assert begin <= longest.begin < longest.end <= end
    assert end - begin < 3 * longest.cycles + 8
    if worst.place:
        selected = "document.querySelector('#source [aria-selected=true] td').textContent"
        assert page.run(selected) == worst.place.partition(":")[2]
    assert page.run("document.activeElement.closest('.row').dataset.row") == "pe"


@needs_browser
def test_the_table_of_counterfactuals(page: OpenedProfile, profile: Profile) -> None:
    tables = page.run(
        "[...document.querySelectorAll('#rest section')].filter(s => s.innerText.startsWith('Cycles that'))"
        ".flatMap(s => [...s.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.textContent)))"
    )
    places = [(x.core, x.where) for x in profile.findings]
    places += [(x.core, x.where) for x in profile.missed_thresholds]
    names = [f"finding: {core} {where}" for core, where in places]
    assert tables[:3] == [["dma", "", "20", ""], ["pe", "500", "", ""], ["nnp", "", "", "3"]]
    assert [row[:2] for row in tables[3:]] == [[names[0], "88"], [names[1], "77"]]
