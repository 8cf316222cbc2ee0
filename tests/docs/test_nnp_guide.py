"""docs/nnp-guide.md: its commands print what it shows."""

from __future__ import annotations

import pytest

from docs.shown import made, page
from tests.macaw.command_runs import run_shown

pytestmark = pytest.mark.once


def test_the_commands_print_what_the_page_shows() -> None:
    text = page("nnp-guide").read_text("utf-8")
    assert made(text, "nnp-guide", run_shown) == text
