"""The outputs and claims of docs/energy.md are true."""

from __future__ import annotations

import textwrap

import pytest

from docs.shown import made, page
from macaw.profiling.energy_table import default_table, parse_table
from tests.macaw.command_runs import run_shown

pytestmark = pytest.mark.once

TEXT = page("energy").read_text("utf-8")


def test_the_commands_print_what_the_page_shows() -> None:
    assert made(TEXT, "energy", run_shown) == TEXT


def test_the_table_of_the_page_is_one() -> None:
    start = TEXT.index('    name = "our chip')
    block = TEXT[start : TEXT.index("\n\nWith `[static]`", start)]
    table = parse_table(textwrap.dedent(block), "page.toml")
    defaults = default_table().activities
    assert table.name == "our chip, 7 nm"
    assert table.activities["mul_int8"].picojoules == 0.04
    assert table.activities["dram"].picojoules == 60
    assert table.activities["special"].picojoules == 0.5 * defaults["special"].picojoules
    assert table.activities["add_int8"].picojoules == 0.2 * defaults["add_int8"].picojoules
    assert table.static.keys() == {"pe"}
