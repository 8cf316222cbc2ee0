"""docs/profile.md: what it shows is what happens, from the bad program to the good one."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "profile.md").read_text("utf-8")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_profile", ROOT / "docs" / "profile.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_commands_print_what_the_page_shows() -> None:
    assert script().made(TEXT) == TEXT


def test_the_walk_goes_through_the_steps_of_the_figure_to_its_end() -> None:
    steps = re.findall(r"^    next step \((\d+) of Fig\. 7\)", TEXT, flags=re.M)
    assert steps == ["718", "724", "718", "716", "716", "710", "728"]


def test_blocks_without_commands_stay() -> None:
    text = "A page\n\n    no command\n    at all\n\nits end\n"
    assert script().made(text) == text


def test_a_command_s_output_takes_the_place_of_the_old_one() -> None:
    found = script().made(
        "    $ echo one; echo; echo two >&2\n    old\n    $ false\n    old\n\nend\n"
    )
    assert found == "    $ echo one; echo; echo two >&2\n    one\n\n    two\n    $ false\n\nend\n"
