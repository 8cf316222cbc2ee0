"""The outputs and claims of the pages about profiles are true.

docs/profile.md goes from the slow program to the good one. docs/energy.md and docs/annotate.md
look at its sample again, so the three pages share the runs of it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import chdir

import pytest

from docs.shown import made, page
from macaw.profiling.energy_table import default_table, parse_table
from macaw.profiling.model import MissedThreshold, Profile
from macaw.profiling.profiler import ProfileOptions, profile
from tests.macaw.command_runs import run_shown
from tests.macaw.profile.shared_runs import shared_runs
from tests.programs.profiled import LAYER, make_layer

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


# The walk --------------------------------------------------------------------------------------


def layer(name: str) -> Profile:
    """The profile of a program of the walk. Its runs are those that the page's commands make."""
    options = ProfileOptions(guide=True, thresholds={"blocked": 0.2}, findings=False)
    with chdir(LAYER):
        return profile(f"{name}.s", {"x": make_layer.images()}, options)


def missed(made: Profile, key: str) -> list[MissedThreshold]:
    return [item for item in made.missed_thresholds if item.metric.key == key]


def test_work_that_is_not_hidden_is_worth_hiding() -> None:
    """If the dma works at the same time as the array, the program saves about the stated price.

    In writes.s the dma works between the array's pieces of work, in overlap.s at the same time.
    """
    before = layer("writes")
    assert before.step is not None
    assert before.bottleneck is not None
    price = before.bottleneck.between["dma"]
    text = f"The work of dma between that of pe costs about {price:,} cycles: where neither"
    assert text in before.step.text
    assert before.cycles - layer("overlap").cycles >= 0.75 * price


def test_late_starts_are_worth_mending() -> None:
    """If a late start is mended, the run is shorter by about its cost: overlap.s against good.s.

    In overlap.s the array begins each tile 38 cycles late, because it is configured anew.
    """
    (found,) = missed(layer("overlap"), "late")
    saved = layer("overlap").cycles - layer("good").cycles
    assert 0.5 * found.cost <= saved <= found.cycles
    assert missed(layer("good"), "late") == []


def test_partial_writes_are_stated_and_no_more() -> None:
    """Partial writes are stated with their place, but without a cost.

    Narrow rows may be apart for a reason, and no record says how many bytes they have. Here results
    go out byte by byte, and joining them helps (seed 001 ¶97).
    """
    (found,) = missed(layer("banks"), "partial")
    assert (found.core, found.cost) == ("dma", 0)
    assert found.sentence == "32 of 32 external writes are narrower than the memory's 32 bytes"
    assert missed(layer("writes"), "partial") == []
    assert layer("writes").cycles < 0.9 * layer("banks").cycles
