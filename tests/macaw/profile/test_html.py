"""The page in headless Chromium: six rows, zoom by wheel, drag and keys, tooltips, no error."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from macaw.profiling import html
from macaw.profiling.model import Profile, Series, Slice, Track
from tests.macaw.profile.browser import Browser, Page, needs_browser
from tests.macaw.profile.synthetic import ODD, ROWS, by_chance, by_hand, track

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        yield found


class Opened:
    """A profile's page, and the points of its cycles."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def at(self, row: str, cycle: float) -> tuple[float, float]:
        """The point of a row's canvas at a cycle."""
        left, top, width, height = self.page.box(f"[data-track='{row}'] canvas")
        begin, end = self.view()
        return left + (cycle - begin) / (end - begin) * width, top + height / 2

    def view(self) -> tuple[int, int]:
        """The first and the last cycle in view."""
        text = self.page.run("document.getElementById('view').textContent")
        match = re.fullmatch(r"cycles ([\d,]+) to ([\d,]+) of [\d,]+", text)
        assert match, text
        begin, end = (int(number.replace(",", "")) for number in match.groups())
        return begin, end

    def tip(self) -> str:
        """The tooltip's text; empty if there is none."""
        found: str = self.page.run(
            "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText"
        )
        return found


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    path = tmp_path / "profile.html"
    path.write_text(html.page(by_hand()), "utf-8")
    found = Opened(browser.open(path))
    yield found
    assert found.page.troubles() == []
    assert found.page.requests() == [path.resolve().as_uri()]


@needs_browser
def test_six_rows_in_their_order(opened: Opened) -> None:
    rows = opened.page.run(
        "[...document.querySelectorAll('[data-row]')].map(row => [row.dataset.row, row.clientHeight > 10])"
    )
    assert rows == [[row, True] for row in ROWS]
    labels = opened.page.run(
        "[...document.querySelectorAll('[data-row] canvas')].map(c => c.ariaLabel)"
    )
    assert labels[2] == "pe: busy for 660 of 1,000 cycles, 66.0%"
    slowest = opened.page.run("[...document.querySelectorAll('.slowest')].map(r => r.dataset.row)")
    assert slowest == ["pe"]


COLOURED = """(canvas => {
  const pen = canvas.getContext("2d"), width = canvas.width, middle = canvas.height >> 1;
  const all = pen.getImageData(0, 0, width, canvas.height).data;
  const row = all.slice(4 * width * middle), empty = [...all.slice(0, 4)].join();
  const found = [];
  for (let x = 0; x < width; x++) {
    if ([...row.slice(4 * x, 4 * x + 4)].join() !== empty) found.push(x / width);
  }
  return [found[0], found[found.length - 1]];
})(document.querySelector("[data-track='pe'] canvas"))"""


@needs_browser
@pytest.mark.parametrize("key", ["0", "+"])
def test_the_row_is_drawn_where_the_core_was_busy(opened: Opened, key: str) -> None:
    opened.page.key(key)
    begin, end = opened.view()
    left, right = ((cycle - begin) / (end - begin) for cycle in (240, 900))
    assert opened.page.run(COLOURED) == pytest.approx([left, min(right, 1)], abs=0.004)


@needs_browser
def test_the_wheel_zooms_around_the_pointer(opened: Opened) -> None:
    assert opened.view() == (0, 1000)
    x, y = opened.at("dma", 250)
    opened.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-150)
    begin, end = opened.view()
    assert 0 < begin < 250 < end < 1000
    assert (250 - begin) / (end - begin) == pytest.approx(0.25, abs=0.005)
    for _ in range(12):
        opened.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    begin, end = opened.view()
    assert 3 <= end - begin <= 5
    assert begin - 1 <= 250 <= end + 1
    for _ in range(12):
        opened.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=200)
    assert opened.view() == (0, 1000)


@needs_browser
def test_dragging_moves_and_stops_at_the_ends(opened: Opened) -> None:
    opened.page.key("+")
    begin, end = opened.view()
    x, y = opened.at("cp", (begin + end) / 2)
    _, _, width, _ = opened.page.box("[data-track='cp'] canvas")

    def drag(by: float) -> None:
        opened.page.mouse("mousePressed", x, y, button="left", clickCount=1)
        opened.page.mouse("mouseMoved", x + by, y, button="left", buttons=1)
        opened.page.mouse("mouseReleased", x + by, y, button="left", clickCount=1)

    drag(-width / 10)
    moved = opened.view()
    assert moved[0] - begin == pytest.approx((end - begin) / 10, abs=2)
    assert moved[1] - moved[0] == pytest.approx(end - begin, abs=1)
    drag(-width * 0.45)
    drag(-width * 0.45)
    assert opened.view()[1] == 1000
    assert opened.view()[1] - opened.view()[0] == pytest.approx(end - begin, abs=1)


@needs_browser
def test_keys(opened: Opened) -> None:
    page = opened.page
    page.key("+")
    assert opened.view() == (200, 800)
    page.key("ArrowRight")
    assert opened.view() == (290, 890)
    page.key("ArrowLeft")
    assert opened.view() == (200, 800)
    page.key("-")
    assert opened.view() == (0, 1000)
    page.key("=")
    page.key("0")
    assert opened.view() == (0, 1000)
    page.run("document.querySelector(\"[data-track='cp'] canvas\").focus()")
    page.key("ArrowDown")
    assert page.run("document.activeElement.closest('.row').dataset.row") == "dma"
    page.key("n")
    page.key("n")
    assert "transfer 2" in opened.tip()
    live_text = page.run("document.getElementById('live').textContent")
    assert live_text.startswith("transfer 2. dma, instruction 1. cycles 230 to 330: 100")
    page.key("p")
    assert "transfer 1" in opened.tip()
    page.key("Escape")
    assert opened.tip() == ""


@needs_browser
def test_buttons(opened: Opened) -> None:
    for name, wanted in (
        ("in", (200, 800)),
        ("out", (0, 1000)),
        ("in", (200, 800)),
        ("all", (0, 1000)),
    ):
        left, top, width, height = opened.page.box(f"#{name}")
        opened.page.click(left + width / 2, top + height / 2)
        assert opened.view() == wanted


@needs_browser
def test_a_double_click_zooms_to_a_slice(opened: Opened) -> None:
    opened.page.click(*opened.at("dma", 280), count=2)
    assert opened.view() == (219, 341)


@needs_browser
def test_the_tooltip_says_what_is_under_the_pointer(opened: Opened) -> None:
    opened.page.mouse("mouseMoved", *opened.at("dma", 130))
    tip = opened.tip()
    assert tip.startswith("transfer 1")
    assert "dma, instruction 0, net.s:40" in tip
    assert "cycles 30 to 230: 200" in tip
    assert re.search(r"e_bus\s+200", tip)
    opened.page.mouse("mouseMoved", *opened.at("dma", 700))
    assert opened.tip().startswith("dma has nothing to do or waits")
    opened.page.mouse("mouseMoved", *opened.at("pe", 550))  # two rows of it are at work
    assert [line for line in opened.tip().splitlines() if "pe[" in line] == [
        "pe[0]: exe ib=0", "pe[1]: exe ib=0", "pe[1]: exe ib=1",
    ]  # fmt: skip
    opened.page.mouse("mouseMoved", 5, 5)
    assert opened.tip() == ""


@needs_browser
def test_the_cores_of_a_row_are_shown_when_asked_for(opened: Opened) -> None:
    shown = "[...document.querySelectorAll('.core')].filter(r => r.clientHeight).map(r => r.dataset.track)"
    assert opened.page.run(shown) == []
    left, top, width, height = opened.page.box("[data-row='pe'] button")
    opened.page.click(left + width / 2, top + height / 2)
    assert opened.page.run(shown) == ["pe[0]", "pe[1]"]
    x, y = opened.at("pe[1]", 600)
    opened.page.mouse("mouseMoved", x, y - 6)
    assert opened.tip().startswith("exe ib=0")
    opened.page.click(left + width / 2, top + height / 2)
    assert opened.page.run(shown) == []
    # Five instructions of vc overlap: the row shows when it is busy, the row below it what it does.
    left, top, width, height = opened.page.box("[data-row='vc'] button")
    opened.page.click(left + width / 2, top + height / 2)
    assert opened.page.run(shown) == ["vc"]
    heights = opened.page.run(
        "[...document.querySelectorAll('[data-row] canvas')].map(c => c.clientHeight)"
    )
    assert len(set(heights)) == 1


@needs_browser
def test_many_series_stand_beneath_their_rows(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "profile.html"
    queues = tuple(Series(f"queue {n}", "held", ((0, n), (500, 0)), "pe") for n in range(9))
    path.write_text(html.page(replace(by_hand(), series=(*by_hand().series, *queues))), "utf-8")
    page = browser.open(path)
    shown = "[...document.querySelectorAll('.series')].filter(r => r.clientHeight).map(r => r.querySelector('b').textContent)"
    assert page.run(shown) == ["external reads"]
    left, top, width, height = page.box("[data-row='pe'] button")
    page.click(left + width / 2, top + height / 2)
    assert page.run(shown) == [*(series.name for series in queues), "external reads"]
    assert page.troubles() == []


@needs_browser
def test_texts_of_the_program_are_no_html(opened: Opened) -> None:
    page = opened.page
    found = page.run("[...document.querySelectorAll('ol li b')].map(b => b.textContent)")
    assert found == [f"vc net.s:7: add {ODD}", f"pe[0] net.s:60: exe {ODD}"]
    table = page.run("document.querySelector('#grid table').innerText")
    assert f"net.s:61 {ODD}: exe ib=1" in table
    assert "0.22 !" in table


CONTRAST = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3]) return colour;
    }
  };
  return [...document.querySelectorAll("h1, h2, p, li, th, td, button, span, b")]
    .filter(element => element.clientHeight && element.textContent.trim())
    .map(element => {
      const pair = [parse(getComputedStyle(element).color), behind(element)].map(light);
      return [element.textContent.slice(0, 20), (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)];
    });
})()"""


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_in_light_and_in_dark(opened: Opened, scheme: str) -> None:
    opened.page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    found = opened.page.run(CONTRAST)
    assert len(found) > 30
    assert [item for item in found if item[1] < 4.5] == []  # WCAG 2.1, level AA
    paper = opened.page.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 384) == (scheme == "light")


@needs_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_it_fits_the_window(opened: Opened, width: int) -> None:
    opened.page.resize(width, 900)
    assert opened.page.run("document.scrollingElement.scrollWidth") <= width
    left, _, room, _ = opened.page.box("[data-track='pe'] canvas")
    assert left + room <= width
    assert room > width / 3


@needs_browser
def test_profiles_by_chance_and_large_ones_open_without_an_error(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "profile.html"
    slices = [Slice("cp", "cp", 7 * n, 7 * n + 5, n, 1, f"add {n % 90}") for n in range(50_000)]
    empty = Profile("empty.s", "tiny", 0, tuple(Track(row, row) for row in ROWS))
    large = replace(empty, cycles=350_000, tracks=(track("cp", "cp", slices), *empty.tracks[1:]))
    for profile in (empty, large, *map(by_chance, range(3))):
        path.write_text(html.page(profile), "utf-8")
        page = browser.open(path)
        for key in ("+", "ArrowRight", "-", "0"):
            page.key(key)
        assert page.run("document.querySelectorAll('[data-row]').length") == 6
        assert page.troubles() == []


def numbers_of(column: dict[str, Any]) -> np.ndarray:
    """The numbers of a column in the page's data."""
    if "same" in column:
        return np.full(column["count"], column["same"])
    return np.frombuffer(base64.b64decode(column["data"]), f"<{column['type']}")


def test_a_record_has_the_ratios_of_its_own_group() -> None:
    text = html.page(by_hand())
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    found: dict[int, dict[str, float]] = {}
    for metric in data["metrics"]:
        records = np.cumsum(numbers_of(metric["records"]))
        for number, value in zip(records, numbers_of(metric["values"]), strict=True):
            found.setdefault(int(number), {})[metric["key"]] = value
        assert numbers_of(metric["missed"]).tolist() == [metric["key"] == "unit_use"] * len(records)
    slices = sorted(
        (item for track in by_hand().tracks if "[" in track.core or track.core in "cp dma vc nnp"
         for item in track.slices),
        key=lambda item: item.begin,
    )  # fmt: skip
    assert {
        (slices[number].core, slices[number].begin): values for number, values in found.items()
    } == {
        ("pe[0]", 240): {"unit_use": 0.22, "read_rate": 12.5},
        ("pe[1]", 500): {"unit_use": 0.22, "read_rate": 12.5},
    }


def test_the_page_holds_all_that_it_needs() -> None:
    text = html.page(by_hand())
    assert not re.search(r"https?://|src=|@import|url\(", text)
    assert text.count("</script>") == 2
    assert "{data}" not in text
