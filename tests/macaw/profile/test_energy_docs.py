"""docs/energy.md: what it shows is what happens."""

from __future__ import annotations

import pytest

from docs.shown import made, page
from tests.macaw.command_runs import run_shown

pytestmark = pytest.mark.once

TEXT = page("energy").read_text("utf-8")


def test_the_commands_print_what_the_page_shows() -> None:
    assert made(TEXT, "energy", run_shown) == TEXT
