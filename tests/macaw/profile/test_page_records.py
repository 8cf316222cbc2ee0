"""The page's table of records in Chromium: search, filter, order and keys, compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from macaw.profiling.model import Profile
from tests.macaw.profile.browser import Browser, needs_browser
from tests.macaw.profile.many_records import many_records
from tests.macaw.profile.pages import OpenedProfile, Records

pytestmark = pytest.mark.once

ROWS = 16  # of the table in view


@pytest.fixture(scope="module")
def profile() -> Profile:
    return many_records(3000)


@pytest.fixture(scope="module")
def records(profile: Profile) -> Records:
    return Records.of(profile)


@pytest.fixture(scope="module")
def opened(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedProfile]:
    with Browser() as browser:
        path = tmp_path_factory.mktemp("page") / "profile.html"
        found = OpenedProfile(browser, profile, path)
        yield found
        assert found.page.troubles() == []


@pytest.fixture
def page(opened: OpenedProfile) -> OpenedProfile:
    """The page with the whole run in view, without a search, in the order of time."""
    opened.run(
        "(() => { for (const input of document.querySelectorAll('[id^=search-]')) {"
        " input.checked = false; input.value = ''; }"
        " document.getElementById('search-words').dispatchEvent(new Event('input')); })()"
    )
    opened.run("document.activeElement.blur()")
    if opened.run("document.querySelector('[data-column=begin]').ariaSort") != "ascending":
        opened.click("[data-column=begin] button")
    opened.run("document.activeElement.blur()")
    opened.page.key("0")
    return opened


def shown(page: OpenedProfile) -> list[list[str]]:
    return [row[:5] for row in page.table("#grid")]


@needs_browser
def test_the_table_shows_the_first_records(page: OpenedProfile, records: Records) -> None:
    assert page.text("#matches") == f"{len(records.core):,} records"
    assert shown(page) == records.cells(np.arange(ROWS))


@needs_browser
@pytest.mark.parametrize(
    "words", ["lw", "net.s:4 transfer", "t1 add NET.S", "pe[1] exe", "no such words"]
)
def test_a_search_finds_the_records_with_all_words(
    page: OpenedProfile, records: Records, words: str
) -> None:
    page.page.key("/")
    for letter in words:
        page.page.key(letter)
    texts = np.char.lower(np.char.add(np.char.add(records.core, " "), records.where))
    fits = np.all([np.char.find(texts, word) >= 0 for word in words.lower().split()], axis=0)
    assert page.text("#matches") == f"{fits.sum():,} of {len(fits):,} records"
    assert shown(page) == records.cells(np.flatnonzero(fits)[:ROWS])


@needs_browser
def test_filters(page: OpenedProfile, records: Records) -> None:
    page.type("#search-least", "5")
    page.run(
        "(s => { s.value = 'fim'; s.dispatchEvent(new Event('input')); })"
        "(document.getElementById('search-track'))"
    )
    fits = (records.cycles >= 5) & (records.core == "fim[0]")
    assert page.text("#matches").startswith(f"{fits.sum():,} of ")
    assert shown(page) == records.cells(np.flatnonzero(fits)[:ROWS])


@needs_browser
def test_records_that_miss_a_threshold(page: OpenedProfile, profile: Profile) -> None:
    page.click("#search-missed")
    missed = sum(group.metrics[0].ok is False for group in profile.groups)
    assert page.text("#matches").startswith(f"{missed} of ")
    assert all(row[5].endswith(" !") for row in page.table("#grid"))


@needs_browser
@pytest.mark.parametrize("column", ["core", "where", "cycles", "waited"])
def test_a_click_on_a_heading_sorts(page: OpenedProfile, records: Records, column: str) -> None:
    page.click(f"[data-column={column}] button")
    if column == "core":
        tracks = ("cp", "dma", "pe[0]", "pe[1]", "vc", "nnp", "fim[0]")
        keys = np.array([tracks.index(core) for core in records.core])
    elif column == "where":
        texts = np.where(
            np.char.startswith(records.where, "net.s"),
            np.char.partition(records.where, ": ")[:, 0],
            "",
        )
        keys = np.unique(texts, return_inverse=True)[1]
    else:
        keys = -getattr(records, column)  # the largest first
    assert shown(page) == records.cells(np.argsort(keys, kind="stable")[:ROWS])
    page.click(f"[data-column={column}] button")
    assert shown(page) == records.cells(np.argsort(-keys, kind="stable")[:ROWS])
    assert page.run(f"document.querySelector('[data-column={column}]').ariaSort") == (
        "descending" if column in ("core", "where") else "ascending"
    )


@needs_browser
def test_a_ratio_sorts_its_records_before_those_without_it(
    page: OpenedProfile, profile: Profile
) -> None:
    page.click("[data-column=utilisation] button")
    values = sorted((group.metrics[0].value or 0 for group in profile.groups), reverse=True)
    cells = [row[5].removesuffix(" !") for row in page.table("#grid")]
    assert [float(cell) for cell in cells] == pytest.approx(values[:ROWS], rel=0.006)


@needs_browser
def test_keys_of_the_table(page: OpenedProfile, records: Records) -> None:
    active = "document.querySelector('#grid tr[aria-selected=true]').dataset.place"
    page.page.key("l")
    for key, place in (("ArrowDown", 1), ("PageDown", 1 + ROWS), ("ArrowUp", ROWS), ("Home", 0),
                       ("End", len(records.core) - 1)):  # fmt: skip
        page.page.key(key)
        assert int(page.run(active)) == place, key
    assert shown(page) == records.cells(np.arange(len(records.core))[-ROWS:])
    page.page.key("Enter")
    begin, end = page.view()
    assert begin <= records.begin[-1] <= records.end[-1] <= end
    assert end - begin < 200
    assert page.text("#tip").startswith(
        str(records.where[-1]).partition(": ")[2].partition(" +")[0]
    )


@needs_browser
def test_enter_goes_from_find_to_find(page: OpenedProfile, records: Records) -> None:
    page.page.key("/")
    for letter in "nnp v_rd":
        page.page.key(letter)
    fits = (records.core == "nnp") & (np.char.find(records.where, "v_rd") >= 0)
    finds = np.flatnonzero(fits)
    for place in (0, 1, 2):
        page.page.key("Enter")
        span = f"cycles {records.begin[finds[place]]:,} to {records.end[finds[place]]:,}: "
        assert span in page.text("#tip")
    page.page.key("Enter", shift=True)
    assert f"cycles {records.begin[finds[1]]:,} to" in page.text("#tip")


@needs_browser
def test_the_finds_are_marked_in_the_timeline(page: OpenedProfile, records: Records) -> None:
    """Records that a search finds are marked at the lower edge of their row."""
    marks = """(canvas => {
      const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
      pen.drawImage(canvas, 0, 0);
      const all = pen.getImageData(0, canvas.height - 2, canvas.width, 1).data, ink = [29, 35, 48];
      return Array.from({length: canvas.width}, (_, x) => x)
        .filter(x => ink.every((value, place) => Math.abs(all[4 * x + place] - value) < 12)).map(x => x / canvas.width);
    })(document.querySelector("[data-track='dma'] canvas"))"""
    assert page.run(marks) == []
    page.page.key("/")
    for letter in "dma net.s:7":
        page.page.key(letter)
    fits = (records.core == "dma") & (np.char.find(records.where, "net.s:7") == 0)
    begin, end = page.view()
    places = (records.begin[fits] - begin) / (end - begin)
    drawn = np.array(page.run(marks))
    assert len(places) > 2
    assert all(np.abs(drawn - place).min() < 0.004 for place in places)
    assert all(np.abs(places - place).min() < 0.004 for place in drawn)


@needs_browser
def test_the_wheel_scrolls_to_any_record(page: OpenedProfile, records: Records) -> None:
    left, top, width, height = page.page.box("#grid")
    page.page.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=1000)
    page.run("new Promise(done => setTimeout(done, 100))")
    assert shown(page) == records.cells(np.arange(40, 40 + ROWS))


@needs_browser
def test_a_question_mark_lists_all_keys(page: OpenedProfile) -> None:
    page.page.key("?")
    assert page.run("document.getElementById('keys').open")
    text = page.text("#keys")
    for what in ("move the view", "search records", "next and previous record of the row"):
        assert what in text
    view = page.view()
    page.page.key("+")  # the page below does not follow
    assert page.view() == view
    page.page.key("Escape")
    assert not page.run("document.getElementById('keys').open")


CLOCK = """(() => {
  let time = performance.now();
  performance.now = () => (time += 1000);
})()"""
BUSY = "document.getElementById('grid').ariaBusy"
DONE = f"""new Promise(done => {{
  const look = () => {BUSY} === "true" ? setTimeout(look) : done();
  look();
}})"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenedProfile, Records]]:
    """A page whose clock advances by a second at each reading, so long work is divided often.

    A loop over all records has three parts, of at most 16,384 records.
    """
    profile = many_records(36_000)
    with Browser() as browser:
        path = tmp_path_factory.mktemp("slow") / "profile.html"
        page = OpenedProfile(browser, profile, path)
        page.run(CLOCK)
        yield page, Records.of(profile)
        assert page.page.troubles() == []


@needs_browser
def test_a_sort_goes_on_between_frames(slow: tuple[OpenedProfile, Records]) -> None:
    page, records = slow
    heading = "document.querySelector('[data-column={}] button').click()"
    assert page.run(f"({heading.format('cycles')}, {BUSY})") == "true"
    page.run(DONE)
    longest = np.argsort(-records.cycles, kind="stable")
    assert shown(page) == records.cells(longest[:ROWS])
    # a second click before the end: the first order is not shown any more
    page.run(f"({heading.format('cycles')}, {heading.format('waited')})")
    page.run(DONE)
    assert shown(page) == records.cells(np.argsort(-records.waited, kind="stable")[:ROWS])
    assert page.run("document.querySelector('[data-column=waited]').ariaSort") == "descending"
    page.run(heading.format("begin"))
    page.run(DONE)


@needs_browser
def test_a_new_search_takes_the_place_of_an_unfinished_one(
    slow: tuple[OpenedProfile, Records],
) -> None:
    page, records = slow
    search = (
        "(i => { i.focus(); for (const words of ['lw', 'nnp v_rd']) {"
        " i.value = words; i.dispatchEvent(new Event('input')); } })"
        "(document.getElementById('search-words'))"
    )
    assert page.run(f"({search}, {BUSY})") == "true"
    page.run(DONE)
    fits = (records.core == "nnp") & (np.char.find(records.where, "v_rd") >= 0)
    assert page.text("#matches") == f"{fits.sum():,} of {len(fits):,} records"
    assert shown(page) == records.cells(np.flatnonzero(fits)[:ROWS])


@needs_browser
def test_enter_waits_for_the_end_of_the_search(slow: tuple[OpenedProfile, Records]) -> None:
    page, records = slow
    enter = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"
    search = (
        "(i => { i.focus(); i.value = 'dma transfer'; i.dispatchEvent(new Event('input')); })"
        "(document.getElementById('search-words'))"
    )
    assert page.run(f"({search}, {enter}, {BUSY})") == "false"
    first = np.flatnonzero(
        (records.core == "dma") & (np.char.find(records.where, "transfer") >= 0)
    )[0]
    assert f"cycles {records.begin[first]:,} to {records.end[first]:,}: " in page.text("#tip")


@needs_browser
def test_statistics_of_many_records_in_slices(slow: tuple[OpenedProfile, Records]) -> None:
    page, records = slow
    page.run("document.activeElement.blur()")
    page.page.key("0")
    page.page.key("s")
    done = """new Promise(done => {
      const look = () => document.getElementById("statistics").ariaBusy === "true" ? setTimeout(look) : done();
      setTimeout(look, 200);
    })"""
    page.run(done)
    rows = {row[0]: row[3].replace(",", "") for row in page.table("#range-cores")}
    wanted = {core: str((records.core == core).sum()) for core in set(records.core)}
    assert {core: rows[core] for core in wanted} == wanted
    assert page.text("#range").startswith(f"cycles 0 to {records.end.max():,}")
