"""docs/findings.md: each finding names tests that exist, or says why it is not mended."""

from __future__ import annotations

import subprocess

import pytest

from tests import findings
from tests.findings import Finding
from tests.seeds import mentions

ROOT = mentions.ROOT
each_finding = pytest.mark.parametrize(
    "item", findings.findings(), ids=lambda item: f"F{item.number}"
)


def test_no_finding_is_missing() -> None:
    assert [item.number for item in findings.findings()] == list(range(1, 61))


@each_finding
def test_each_test_is_there(item: Finding) -> None:
    for test in item.tests:
        mentions.named_by(test)  # raises MissingTestError


@each_finding
def test_a_finding_has_what_its_state_needs(item: Finding) -> None:
    assert item.state in findings.STATES
    assert item.why or item.state == "mended"
    assert bool(item.commits) == (item.state != "open")
    assert item.tests or item.state != "mended"
    assert bool(item.page) == (item.state == "stated")


@pytest.mark.parametrize(
    "item", [x for x in findings.findings() if x.page], ids=lambda item: f"F{item.number}"
)
def test_what_is_stated_stands_in_its_page(item: Finding) -> None:
    assert item.says in " ".join((ROOT / item.page).read_text("utf-8").split())


@pytest.mark.may_skip_in_ci  # a shallow clone has no history
def test_the_commits_are_of_this_history() -> None:
    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no git repository here, or only its newest commits")
    for commit in {commit for item in findings.findings() for commit in item.commits}:
        assert git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0, commit


def test_the_page_is_that_of_the_table() -> None:
    """docs/findings.md is up to date with the table; `make docs` writes the page."""
    assert findings.PAGE.read_text("utf-8") == findings.page()
