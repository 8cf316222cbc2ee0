"""Each paragraph of each seed has tests that name it and a command that shows it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from macaw.cli import run_command
from tests.seeds import mentions, page, table
from tests.seeds.table import Fact

ROOT = mentions.ROOT
each_seed = pytest.mark.parametrize("seed", table.SEEDS)


def _name(fact: Fact) -> str:
    return f"¶{table.ranges(fact.paragraphs)} {fact.says[:40]}"


@each_seed
def test_no_paragraph_is_missing(seed: str) -> None:
    listed = {number for fact in table.facts(seed) for number in fact.paragraphs}
    known = {paragraph.number for paragraph in table.paragraphs(seed)}
    assert listed - known == set()
    assert known - listed == set()


@each_seed
def test_an_entry_has_what_its_state_needs(seed: str) -> None:
    """A fact that holds has tests and a command; a fact that differs has a reason and tests."""
    wrong = [
        _name(fact)
        for fact in table.facts(seed)
        if fact.state not in table.STATES
        or len(fact.says) < 10
        or bool(fact.repeats) != (fact.state == "repeated")
        or bool(fact.why) != (fact.state in {"differs", "absent"})
        or bool(fact.prints) != bool(fact.shows)
        or (fact.state in {"holds", "differs"} and not fact.tests)
        or (fact.state == "holds" and not fact.shows)
    ]
    assert wrong == []


@each_seed
def test_what_is_repeated_has_an_entry_of_its_own(seed: str) -> None:
    rows = table.facts(seed)
    own = {n for fact in rows if fact.state != "repeated" for n in fact.paragraphs}
    assert [_name(fact) for fact in rows if not set(fact.repeats) <= own] == []


@each_seed
def test_each_test_exists_and_names_the_paragraph(seed: str) -> None:
    wrong = []
    for fact in table.facts(seed):
        wanted = {(seed, number) for number in fact.paragraphs}
        together: set[tuple[str, int]] = set()
        for test in fact.tests:
            try:
                named = mentions.named_by(test)
            except mentions.MissingTestError:
                wrong.append(f"{_name(fact)}: there is no {test}")
                continue
            if not wanted & named:
                wrong.append(f"{_name(fact)}: {test} does not name it")
            together |= named
        if fact.tests and not wanted <= together:
            wrong.append(f"{_name(fact)}: no test names all of it")
    assert wrong == []


@pytest.mark.once
@each_seed
def test_each_command_prints_what_the_table_says(
    seed: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "200")
    asked: dict[str, set[str]] = {}
    for fact in table.facts(seed):
        if fact.shows:
            asked.setdefault(fact.shows, set()).add(fact.prints)
    wrong = []
    for command, texts in asked.items():
        printed = _output(command, capfd)
        wrong += [f"{command} does not print {text}" for text in texts if text not in printed]
    assert wrong == []


def _output(command: str, capfd: pytest.CaptureFixture[str]) -> str:
    """The output and errors of a command, without colours and with single blanks."""
    program, *words = shlex.split(command)
    assert program == "macaw"
    run_command(words)
    out, err = capfd.readouterr()
    assert "internal error" not in err, command
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", out + err).split())


@pytest.mark.parametrize("name", page.files())
def test_the_pages_are_those_of_the_table(name: str) -> None:
    """A page of the seeds is up to date with the table; `make docs` writes it."""
    assert (ROOT / name).read_text("utf-8") == page.files()[name]


def test_paragraphs_with_numbers_in_lines_and_brackets() -> None:
    """A number begins a paragraph only if it follows the last one's number (3 after 2).

    A paragraph may be empty.
    """
    text = "title\n\n1.one\nmore\n754.no\n2.two\n[0003][0004]\nfour\n再多了解一些\n5.page\n"
    rows = table.paragraphs_in("000", text)
    assert [(row.number, row.words) for row in rows] == [
        (1, "onemore754.no"),
        (2, "two"),
        (3, ""),
        (4, "four"),
    ]
    assert rows[0].digest != rows[1].digest


def test_paragraphs_by_line() -> None:
    assert [row.number for row in table.paragraphs_in("003", "a\n\n b\n")] == [1, 2]


def test_mentions() -> None:
    """Mentions are found in lists, ranges, and comments of two lines."""
    text = "as seed 004 ¶46, ¶50-52 say (seed 000 ¶9),\n    # and seed 002\n    # ¶3 and ¶7-¶8 too"
    assert mentions.mentioned(text) == {
        *(("004", number) for number in (46, 50, 51, 52)),
        ("000", 9),
        *(("002", number) for number in (3, 7, 8)),
    }


@pytest.mark.parametrize(
    "test", ["tests/no.py::test_a", "tests/seeds/test_seeds.py::test_no", "programs"]
)
def test_a_test_that_is_not_there_is_missing(test: str) -> None:
    with pytest.raises(mentions.MissingTestError):
        mentions.named_by(test)


def test_numbers_and_ranges_are_inverse() -> None:
    assert table.numbers("3, 7-9") == (3, 7, 8, 9)
    assert table.ranges((3, 7, 8, 9)) == "3, 7-9"


def test_the_list_identifies_the_seeds_where_they_are() -> None:
    """If the seed files are beside the checkout, the list has exactly their paragraphs."""
    folder = ROOT.parent / "shared" / "seeds"
    files = {path.name[:3]: path for path in folder.glob("*.txt")} if folder.is_dir() else {}
    for seed, path in files.items():
        assert table.paragraphs_in(seed, Path(path).read_text("utf-8")) == table.paragraphs(seed)
