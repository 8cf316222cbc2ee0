"""The page of a sweep, opened in a browser: plots, the Pareto front, the table, the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from macaw.isa.config import Value
from macaw.sweeps.html import page
from macaw.sweeps.points import Outcome, Point, points
from macaw.sweeps.results import Sweep, pareto
from tests.macaw.profile.browser import Browser, needs_browser

pytestmark = [needs_browser, pytest.mark.once]


def made() -> Sweep:
    axes: list[tuple[str, list[Value]]] = [
        ("dma.width", [16, 32, 64]),
        ("fim.clock", ["fast", "slow"]),
        ("pe.rows", [1, 2]),
    ]
    outcomes = [
        Outcome(point, {"cycles": float(900 - 37 * n + 120 * (n % 3)), "energy": float(n * n % 17)})
        for n, point in enumerate(points(axes, zipped=False, repeat=1, seed=None))
    ]
    bad = "</script><b>wide</b> & odd"
    return Sweep("a<b>.s", (*outcomes[:-1], Outcome(outcomes[-1].point, refused=bad)))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path: Path = tmp_path_factory.mktemp("page") / "sweep.html"
    path.write_text(page(made()), "utf-8")
    with Browser() as browser:
        yield browser.open(path)


def test_texts_are_no_html(opened: Any) -> None:
    assert opened.run("document.getElementById('title').textContent") == "Sweep of a<b>.s"
    assert "</script><b>wide</b> & odd" in opened.run(
        "document.getElementById('reasons').textContent"
    )
    assert opened.run("document.querySelectorAll('b').length") == 0
    assert opened.troubles() == []


def test_a_plot_for_each_value_has_all_points(opened: Any) -> None:
    assert opened.run("document.querySelectorAll('figure').length") == 2  # by pe.rows
    rows = opened.run("[...document.querySelectorAll('.mark')].map(x => +x.dataset.row)")
    assert sorted(rows) == list(range(11))
    label = opened.run("document.querySelector('.mark').getAttribute('aria-label')")
    assert label == "dma.width=16, fim.clock=fast, pe.rows=1: cycles 900, dma.width 16"


def test_small_numbers_and_the_singular(tmp_path: Path) -> None:
    point = points([("dma.width", [16])], zipped=False, repeat=1, seed=None)[0]
    seeded = Outcome(Point(point.settings, 1, 8), refused="no")
    found = Sweep("a.s", (Outcome(point, {"cycles": 12345.0, "error": 2.5e-7}), seeded))
    (tmp_path / "one.html").write_text(page(found), "utf-8")
    with Browser() as browser:
        opened = browser.open(tmp_path / "one.html")
        cells = "[...document.querySelectorAll('#points td')].map(cell => cell.textContent)"
        assert opened.run(cells) == ["16", "12,345", "2.5e-7"]
        summary = opened.run("document.getElementById('summary').textContent")
        assert summary == "1 point, 1 setting, 1 refused"
        reasons = opened.run("document.getElementById('reasons').innerText")
        assert reasons == "dma.width=16, seed 8: no"


def test_the_front_is_that_of_python(opened: Any) -> None:
    opened.run(
        "[['x', 'energy'], ['facet', '']].forEach(([id, value]) => {"
        " const box = document.getElementById(id); box.value = value;"
        " box.dispatchEvent(new Event('change')); })"
    )
    opened.run("document.getElementById('front').focus()")
    opened.key(" ")
    drawn = opened.run("document.querySelector('.front').dataset.rows").split()
    found = made()
    rows = [
        (float(x), float(y))
        for x, y in zip(found.column("energy"), found.column("cycles"), strict=True)
    ]
    expected = {row for row, on in zip(rows, pareto(rows), strict=True) if on}
    assert {rows[int(n)] for n in drawn} == expected


def test_a_heading_sorts_and_a_point_leads_to_its_row(opened: Any) -> None:
    heading = (
        "[...document.querySelectorAll('th button')].find(x => x.textContent.startsWith('{}'))"
    )
    opened.run(heading.format("cycles") + ".focus()")
    opened.key("Enter")
    cells = "[...document.querySelectorAll('#points tr')].slice(1).map(x => x.cells[3].textContent.replaceAll(',', ''))"
    assert [float(x) for x in opened.run(cells)] == sorted(map(float, made().column("cycles")))
    opened.key("Enter")
    assert [float(x) for x in opened.run(cells)] == sorted(
        map(float, made().column("cycles")), reverse=True
    )
    opened.run("document.querySelector('.mark[data-row=\"4\"]').focus()")
    opened.key("Enter")
    assert opened.run("document.activeElement.id") == "row4"
    assert opened.run("document.querySelectorAll('tr.chosen').length") == 1
