"""docs/sweeps.md: its commands print what it shows, and its lines of Python work."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import macaw
from docs import shown
from tests.macaw.command_runs import run_shown

TEXT = shown.page("sweeps").read_text("utf-8")


def test_the_commands_print_what_the_page_shows() -> None:
    """The commands print the outputs of the page; `python docs/shown.py sweeps` writes them."""
    assert shown.made(TEXT, "sweeps", run_shown) == TEXT


@pytest.mark.once
def test_the_lines_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown.PAGES["sweeps"](tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = TEXT.split("## From Python\n")[1].split("\n\n`macaw.sweep(")[0]
    names: dict[str, macaw.Sweep] = {}
    exec(textwrap.dedent(lines).replace("jobs=2", "jobs=1"), names)
    assert len(names["sweep"].column("cycles")) == 3
