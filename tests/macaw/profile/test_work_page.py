"""Rooflines, memories and energy on the page: the tables of the terminal, and a chart in SVG."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from macaw.profiling import html
from macaw.profiling.energy import ActivityEnergy, CoreEnergy, Energy, LineEnergy
from macaw.profiling.model import Profile
from macaw.profiling.text_table import Table
from macaw.profiling.work import Level, Link, MemoryChart, Roof, RowHits, Work
from macaw.profiling.work_page import LEFT, STEP, TOP, roofline_svg, table_html, work_sections
from tests.macaw.profile.browser import Browser, needs_browser
from tests.macaw.profile.synthetic import by_hand

pytestmark = pytest.mark.once

WORK = Work(
    (
        # at the ridge with the whole peak; a quarter of the intensity with a quarter of the peak
        Roof("<top>", "top", 1600, 100, 16.0, (Level("external", 400, 4.0),)),
        Roof("low", "low", 400, 100, 16.0, (Level("external", 400, 4.0),)),
        Roof("alone", "alone", 4, 100, 16.0),
    ),
    MemoryChart(100, (Link("channel", "read by <top>", 800, 32.0),), (RowHits("fim[0]", 8, 2),)),
)
LINE = LineEnergy("a.s:3", "lw <t0>", 30.0, {"dram": 30.0})
ENERGY = Energy(
    "mine & yours", 30.0, 0.0, (ActivityEnergy("dram", 3, 10.0, "<source>"),),
    (CoreEnergy("cp", "cp", 30.0, {"bytes": 30.0}, {"work": 20.0, "idle": 10.0}, (LINE,)),),
    {"x": 30.0}, {"stem": 30.0},
)  # fmt: skip


def profile() -> Profile:
    return replace(by_hand(), work=WORK, energy=ENERGY)


def test_the_sections_are_escaped_and_whole() -> None:
    tree = ElementTree.fromstring(f"<body>{work_sections(profile())}</body>")
    assert [title.text for title in tree.iter("h2")] == ["Roofline", "Memory", "Energy: 30 pJ"]
    cells = [cell.text for cell in tree.iter("td")]
    for text in ("<top>", "read by <top>", "25.0%", "lw <t0>", "<source>", "stem", "a.s:3"):
        assert any(text in (cell or "") for cell in cells), text
    assert any("mine & yours" in (text.text or "") for text in tree.iter("p"))
    assert any("75.0% of 8 column accesses" in (text.text or "") for text in tree.iter("p"))


def test_a_profile_without_the_data_has_no_section() -> None:
    assert work_sections(by_hand()) == ""
    assert "Roofline" not in html.page(by_hand())


def test_points_of_the_chart() -> None:
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', roofline_svg(WORK, ["top", "low"]))
    ridge = LEFT + 8 * STEP
    assert [(float(x), float(y)) for x, y in circles] == [
        (ridge, TOP), (ridge - 2 * STEP, TOP + 2 * STEP),
    ]  # fmt: skip
    assert 'fill="var(--row1)"/><text' in roofline_svg(WORK, ["top", "low"])
    assert f'd="M{LEFT} {TOP + 8 * STEP} L{ridge} {TOP} H' in roofline_svg(WORK, ["top", "low"])


def test_a_note_follows_its_table() -> None:
    text = table_html(Table(("a", "b"), [("x", "1")], note="more <b>"))
    assert text.endswith("<p>more &lt;b&gt;</p>")
    assert '<td class="name">x</td><td>1</td>' in text


@needs_browser
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "profile.html"
    path.write_text(html.page(profile()), "utf-8")
    with Browser() as browser:
        page = browser.open(path)
        titles = page.run("[...document.querySelectorAll('section > h2')].map(h => h.textContent)")
        assert {"Roofline", "Memory", "Energy: 30 pJ"} <= set(titles)
        assert page.run("document.querySelectorAll('svg circle').length") == 2
        _, _, width, height = page.box("svg")
        assert width > 200
        assert height > 100
        assert page.troubles() == []
