"""docs/glossary.md: every page links to it; its entries are in order and end with a full stop."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/glossary.md").read_text("utf-8")
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_page_leads_to_the_glossary(page: Path) -> None:
    if page.name != "glossary.md":
        links = re.findall(r"\]\(([\w./]*glossary\.md)\)", page.read_text("utf-8"))
        assert {(page.parent / link).resolve() for link in links} == {ROOT / "docs/glossary.md"}


def test_entries_are_sentences_and_no_word_has_two() -> None:
    entries = re.findall(r"^- \*\*(.+?)\*\*(.*?): (.+(?:\n  .+)*)$", TEXT, re.M)
    assert len(entries) == TEXT.count("\n- ") > 50
    heads = [(word, of) for word, of, _ in entries]
    assert len(set(heads)) == len(heads)
    assert [meaning for _, _, meaning in entries if not meaning.endswith((".", ".)", "`)."))] == []
