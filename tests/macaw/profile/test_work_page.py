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


def test_the_axes_of_the_chart() -> None:
    """A square for each power of two: 16 for the intensity, 8 for the share of the peak."""
    svg = ElementTree.fromstring(roofline_svg(WORK, []))
    assert svg.get("viewBox") == "0 0 720 390"
    texts = [(x.get("x"), x.get("y"), x.text) for x in svg.findall("text")]
    shares = "100% 50% 25% 12.5% 6.25% 3.12% 1.56% 0.781% 0.391%".split()
    assert texts[:9] == [("54", str(24 + 40 * row), text) for row, text in enumerate(shares)]
    ratios = "0.00391 0.0156 0.0625 0.25 ridge 4 16 64 256".split()
    assert texts[9:18] == [(str(60 + 80 * at), "360", text) for at, text in enumerate(ratios)]
    assert [(x, y) for x, y, _ in texts[18:]] == [("380", "380"), ("60", "12")]
    lines = [[x.get(name) for name in ("x1", "x2", "y1", "y2")] for x in svg.findall("line")]
    assert lines == [["60", "700", str(20 + 40 * row), str(20 + 40 * row)] for row in range(9)]
    assert [x.get("d") for x in svg.findall("path")] == ["M60 340 L380 20 H700"]


def test_points_outside_of_the_chart_are_at_its_edge() -> None:
    """The ridge is at 1 operation a byte: 2**10, then 2**-10 of it, with 2**-10 of the peak."""
    roofs = [
        Roof("cp", "cp", operations, 1024 * operations, 1.0, (Level("m", size, 1.0),))
        for operations, size in ((1024, 1), (1, 1024))
    ]
    roofs.append(Roof("idle", "row7", 0, 10, 1.0, (Level("m", 5, 1.0),)))
    rows = [f"row{at}" for at in range(9)]
    svg = roofline_svg(replace(WORK, roofs=tuple(roofs)), rows)
    assert re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg) == [
        ("700.0", "340.0"), ("60.0", "340.0"),
    ]  # fmt: skip
    assert re.findall(r'x="([\d.]+)" y="([\d.]+)">([ab])<', svg) == [
        ("708.0", "344.0", "a"), ("68.0", "344.0", "b")
    ]  # fmt: skip
    assert (
        "<title>cp, m: 0.000977 of 1 operations a cycle, 1.02e+03 operations a byte</title>" in svg
    )


@pytest.mark.parametrize(("row", "colour"), [(0, 0), (5, 5), (6, 0), (8, 2)])
def test_a_point_has_the_colour_of_its_row(row: int, colour: int) -> None:
    roof = Roof("cp", f"row{row}", 1, 1, 1.0, (Level("m", 1, 1.0),))
    work = replace(WORK, roofs=(roof,))
    rows = [f"row{at}" for at in range(9)]
    assert f'fill="var(--row{colour})"' in roofline_svg(work, rows)
    assert 'fill="var(--row0)"' in roofline_svg(work, [])  # a row that is not drawn


def test_a_note_follows_its_table() -> None:
    text = table_html(Table(("a", "b"), [("x", "1")], note="more <b>"))
    assert text.endswith("<p>more &lt;b&gt;</p>")
    assert '<td class="name">x</td><td>1</td>' in text
    assert '<th scope="col" class="name">a</th>\n<th scope="col">b</th>' in text
    assert not table_html(Table(("a",), [])).endswith("</p>")


def test_a_table_without_rows_is_its_note() -> None:
    assert table_html(Table(("a",), [], note="none")) == "<p>none</p>"


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
