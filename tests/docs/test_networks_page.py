"""docs/networks.md: the outputs that it shows are those of its commands."""

from __future__ import annotations

from docs.shown import made, page
from tests.macaw.command_runs import run_shown


def test_the_page_shows_what_its_commands_print() -> None:
    """The commands print the outputs of the page; `python docs/shown.py networks` writes them."""
    text = page("networks").read_text("utf-8")
    assert made(text, "networks", run_shown) == text
