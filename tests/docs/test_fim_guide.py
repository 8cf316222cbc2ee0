"""docs/fim-guide.md: its commands print what it shows, and its cycles agree with its sentences."""

from __future__ import annotations

import re

import pytest

from docs.shown import made, page
from tests.macaw.command_runs import run_shown

TEXT = page("fim-guide").read_text("utf-8")


@pytest.mark.once
def test_the_commands_print_what_the_page_shows() -> None:
    assert made(TEXT, "fim-guide", run_shown) == TEXT


def test_what_the_page_says_of_the_figures() -> None:
    moved, stays = (
        int(text.replace(",", "")) for text in re.findall(r"([\d,]+) cycles predicted", TEXT)
    )
    assert moved > 10 * stays, "copies take longer than anything else"
    one, four = map(int, re.findall(r"cycles_alu +(\d+)", TEXT)[-2:])
    assert one == 4 * four
