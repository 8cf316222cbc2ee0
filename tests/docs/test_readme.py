"""README.md: its commands print what it shows, and it is short enough for a minute."""

from __future__ import annotations

import pytest

from docs.shown import made, page
from tests.macaw.command_runs import run_shown

TEXT = page("README").read_text("utf-8")


@pytest.mark.once
def test_the_commands_print_what_the_page_shows() -> None:
    """A first layer, a first network with its report, a first answer of the debugger."""
    assert TEXT.count("    $ macaw ") == 6
    assert made(TEXT, "README", run_shown) == TEXT


def test_a_minute_is_enough() -> None:
    assert len(TEXT.splitlines()) <= 120
