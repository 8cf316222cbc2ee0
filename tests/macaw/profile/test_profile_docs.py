"""The outputs and claims of docs/profile.md are true, from the slow program to the good one."""

from __future__ import annotations

import re

import pytest

from docs.shown import made, page
from tests.macaw.command_runs import run_shown

pytestmark = pytest.mark.once

TEXT = page("profile").read_text("utf-8")


def test_the_commands_print_what_the_page_shows() -> None:
    assert made(TEXT, "profile", run_shown) == TEXT


def test_the_walk_goes_through_the_steps_of_the_figure_to_its_end() -> None:
    steps = re.findall(r"^    next step \((\d+) of Fig\. 7\)", TEXT, flags=re.M)
    assert steps == ["718", "724", "718", "716", "716", "710", "728"]
