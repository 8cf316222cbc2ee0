"""The documentation site: every link leads somewhere; dividing long pages loses nothing."""

import re

import pytest

from docs.site import links, stage
from docs.site.links import Target
from docs.site.parts import PARTS

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    stage.stage(place)  # raises for a link without a target and for a page in no part
    return place


def test_every_link_of_a_staged_page_leads_to_a_file_and_a_heading(folder):
    anchors = {}
    for path in folder.rglob("*.md"):
        text = path.read_text("utf-8")
        anchors[path] = {anchor for _, _, anchor in links.headings(text)}
    checked = 0
    for path in anchors:
        page = path.relative_to(folder).as_posix()
        for link in links.links(path.read_text("utf-8")):
            target = links.target_of(link, page)
            if target is None:
                continue
            there = folder / target.path
            assert there.is_file(), (page, link)
            assert not target.anchor or target.anchor in anchors[there], (page, link)
            checked += 1
    assert checked > 1000


def test_every_page_is_in_a_table_of_contents(folder):
    named = {"index.md"}
    for path in folder.rglob("*.md"):
        text = path.read_text("utf-8")
        for tree in re.findall(r"(?s)```\{toctree\}\n(.*?)```", text):
            names = [line for line in tree.splitlines() if line and not line.startswith(":")]
            named |= {(path.parent / f"{name}.md").relative_to(folder).as_posix() for name in names}
        if text.startswith("---\norphan: true"):
            named.add(path.relative_to(folder).as_posix())
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")} <= named


def test_a_page_is_in_one_part_alone():
    names = [name for part in PARTS for name in part.pages]
    assert len(names) == len(set(names))


def test_a_divided_page_keeps_all_of_its_items():
    path = "docs/isa/vc.md"
    text = stage.sources()[path]
    pages, moves = stage.divided(path, text)
    items = [anchor for _, level, anchor in links.headings(text) if level == 3]
    assert [old.anchor for old in moves] == items
    texts = {page.path: page.text for page in pages}
    for old, new in moves.items():
        staged = texts[stage.staged_path(new.path)]
        assert (2, new.anchor) in {(level, anchor) for _, level, anchor in links.headings(staged)}
        assert f"(#{old.anchor})" in texts["isa/vc.md"]  # in the table of its family
    examples = sum(page.text.count("```asm") for page in pages)
    assert examples == text.count("```asm") > 250
    assert "| [add](#add) | `add rd, rs1, rs2` | Add |" in texts["isa/vc.md"]


def test_a_link_without_a_target_is_an_error(monkeypatch, tmp_path):
    texts = stage.sources()
    texts["docs/gdb.md"] += "\n[a](nowhere.md) [b](cli.md#no-such-heading)\n"
    texts["docs/stray.md"] = "# A page in no part\n"
    monkeypatch.setattr(stage, "sources", lambda: texts)
    with pytest.raises(stage.StageError) as error:
        stage.stage(tmp_path / "site")
    assert str(error.value).splitlines() == [
        "docs/gdb.md: nowhere.md is not there",
        "docs/gdb.md: cli.md#no-such-heading has no such heading",
        "stray.md is in no part of docs/site/parts.py",
    ]
    assert not (tmp_path / "site").exists()


def test_a_second_heading_of_one_text_has_a_number():
    text = "# A b\n\n## The `x.y`, twice\n\n```text\n# none\n```\n\n## The `x.y`, twice\n"
    found = [(level, anchor) for _, level, anchor in links.headings(text)]
    assert found == [(1, "a-b"), (2, "the-xy-twice"), (2, "the-xy-twice-1")]


def test_links_are_written_for_the_place_of_a_page():
    assert links.target_of("../c.md#d", "docs/isa/a.md") == Target("docs/c.md", "d")
    assert links.target_of("#d", "docs/a.md") == Target("docs/a.md", "d")
    assert links.target_of("https://example.org/x", "docs/a.md") is None
    assert links.link_to(Target("isa/vc/load.md", "lw"), "isa/vc.md") == "vc/load.md#lw"
    assert links.link_to(Target("isa/vc.md", "lw"), "isa/vc.md") == "#lw"
    text = "[a](b.md)\n```\n[a](b.md)\n```\n![p](q.svg)"
    assert links.links(text) == ["b.md", "q.svg"]
