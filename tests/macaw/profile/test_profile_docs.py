"""The outputs and claims of the pages about profiles are true.

docs/profile.md goes from the slow program to the good one. docs/energy.md and docs/annotate.md
look at its sample again, so the three pages share the runs of it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import pytest

from docs.shown import made, page
from macaw.profiling.energy_table import default_table, parse_table
from tests.macaw.command_runs import run_shown
from tests.macaw.profile.shared_runs import shared_runs

pytestmark = pytest.mark.once

TEXTS = {name: page(name).read_text("utf-8") for name in ("profile", "energy", "annotate")}


@pytest.fixture(scope="module", autouse=True)
def _shared_runs() -> Iterator[None]:
    with shared_runs():
        yield


@pytest.mark.parametrize("name", TEXTS)
def test_the_commands_print_what_the_page_shows(name: str) -> None:
    assert made(TEXTS[name], name, run_shown) == TEXTS[name]


def test_the_walk_goes_through_the_steps_of_the_figure_to_its_end() -> None:
    steps = re.findall(r"^    next step \((\d+) of Fig\. 7\)", TEXTS["profile"], flags=re.M)
    assert steps == ["718", "724", "718", "716", "716", "710", "728"]


def test_the_table_of_energies_is_one() -> None:
    text = TEXTS["energy"]
    start = text.index('    name = "our chip')
    block = text[start : text.index("\n\nWith `[static]`", start)]
    table = parse_table(textwrap.dedent(block), "page.toml")
    defaults = default_table().activities
    assert table.name == "our chip, 7 nm"
    assert table.activities["mul_int8"].picojoules == 0.04
    assert table.activities["dram"].picojoules == 60
    assert table.activities["special"].picojoules == 0.5 * defaults["special"].picojoules
    assert table.activities["add_int8"].picojoules == 0.2 * defaults["add_int8"].picojoules
    assert table.static.keys() == {"pe"}
