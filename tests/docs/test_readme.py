"""README.md: its commands print what it shows, and a reader needs a minute for it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from docs.shown import made, page, run_shell

TEXT = page("README").read_text("utf-8")


@pytest.mark.once
def test_the_commands_print_what_the_page_shows(installed: Path) -> None:
    """The six commands print what the page shows, run with the installed wheel."""
    assert TEXT.count("    $ macaw ") == 6
    assert made(TEXT, "README", partial(run_shell, packages=installed)) == TEXT


def test_a_minute_is_enough() -> None:
    assert len(TEXT.splitlines()) < 120
