"""Programs become faster by the profiler's advice; where they would not, there is no advice.

docs/profile.md walks by this advice from a slow program to a good one. docs/energy.md and
docs/annotate.md look at its sample again. All tests here share the runs of equal jobs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from shutil import copy

import numpy as np
import pytest

import macaw
from docs.shown import made, page
from macaw import api, golden_description
from macaw.asm.source import Source
from macaw.execution import configuration_of
from macaw.profiling import accounting, findings
from macaw.profiling.energy_table import default_table, parse_table
from macaw.profiling.model import MissedThreshold, Profile
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import make_job
from tests.macaw.command_runs import run_shown
from tests.macaw.profile.charged_runs import place_of
from tests.macaw.profile.programs import six_profile
from tests.macaw.profile.shared_runs import shared_runs
from tests.programs.profiled import LAYER, make_layer

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[3] / "programs"
FOLLOWED = Path(__file__).parent / "followed"
TEXTS = {name: page(name).read_text("utf-8") for name in ("profile", "energy", "annotate")}
ADVICE = (": ", "headroom", "choose", "let ", "move ", "pad ", "give each", "keep on chip")


@pytest.fixture(scope="module", autouse=True)
def _shared_runs() -> Iterator[None]:
    with shared_runs():
        yield


@cache
def sample(name: str) -> Profile:
    if name == "six_cores":
        return six_profile()
    if name.startswith("profiled/"):
        return layer(name.removeprefix("profiled/"))
    made = golden_description.read_description(PROGRAMS / name)
    inputs = {tensor: np.load(path) for tensor, path in made.inputs.items()}
    return profile(made.sources[0], inputs, ProfileOptions(guide=True, findings=False))


def of(made: Profile, key: str) -> list[MissedThreshold]:
    return [item for item in made.missed_thresholds if item.metric.key == key]


# The pages -----------------------------------------------------------------------------------


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
    (found,) = of(layer("overlap"), "late")
    saved = layer("overlap").cycles - layer("good").cycles
    assert 0.5 * found.cost <= saved <= found.cycles
    assert of(layer("good"), "late") == []


@pytest.mark.parametrize(
    ("sample", "finding", "followed"),
    [
        ("six_cores", ("cp", "latency", "six_cores.s:297"), "kept.s"),
        ("fim_mlp", ("dma", "latency", "mlp.s:28"), "joined.s"),
    ],
)
def test_following_a_finding_of_a_sample_saves_a_fifth_of_its_price(
    sample: str, finding: tuple[str, str, str], followed: str, tmp_path: Path
) -> None:
    files = golden_description.read_description(PROGRAMS / sample)
    for path in (FOLLOWED / followed, *FOLLOWED.glob("*.npy")):
        copy(path, tmp_path)
    for path in (PROGRAMS / sample).glob("*.npy"):
        copy(path, tmp_path)
    inputs = {name: np.load(path) for name, path in files.inputs.items()}
    with chdir(PROGRAMS / sample):
        before = macaw.load(*(path.name for path in files.sources))
    after = macaw.assemble(tmp_path / followed)
    job = make_job(before, configuration_of(before, None), inputs)
    run = accounting.charge_job(job)
    named = {(x.core, x.cause, place_of(x.where)): x for x in findings.find(run)[:2]}
    found = named[finding]
    slow, fast = macaw.run(before, inputs), macaw.run(after, inputs)
    for name, values in slow.outputs.items():
        np.testing.assert_array_equal(values, fast.outputs[name])
    assert 0.2 * found.saved <= slow.cycles - fast.cycles <= 1.25 * found.saved


# What is not said ------------------------------------------------------------------------------

VECTOR = """
        .device tiny
        .output y, int32, 4
        .equ    S, {stride}
        .core   vc
        li      s0, 0x10000000
        li      s1, S
        li      s2, 100
        vsplat.w vr2, zero
        .ifdef  FAR
        la      s0, y
        .endif
again:
        .ifdef  FAR
        vld     vr0, (s0)
        vadd.b  vr2, vr2, vr0
        vld     vr1, (s0)
        vadd.b  vr2, vr2, vr1
        .else
        vlds.b  vr0, s0, s1
        vlds.b  vr1, s0, s1
        vadd.b  vr2, vr2, vr0
        .endif
        addi    s2, s2, -1
        bnez    s2, again
        la      t0, y
        vst     vr2, (t0)
        li      a0, 0
        li      a7, 93
        ecall
"""


@cache
def vector(stride: int, **defines: int) -> Profile:
    program = macaw.assemble(Source(VECTOR.format(stride=stride), "v.s"), defines=defines)
    return profile(program, {}, ProfileOptions(guide=True))


@pytest.mark.parametrize(("stride", "defines"), [(8, {"FAR": 1}), (128, {})])
def test_of_waits_inside_instructions_nothing_is_claimed(
    stride: int, defines: dict[str, int]
) -> None:
    """Waits inside instructions of vc are no finding: no record names their cause (F26, F27).

    Here vc waits for loads, or lanes of vc wait for the same bank (seed 001 ¶98-99).
    """
    made = vector(stride, **defines)
    assert made.missed_thresholds == ()
    assert made.step is not None
    assert "records do not say" in made.step.text
    assert "headroom" not in made.step.text
    assert vector(128).cycles > 2 * vector(8).cycles  # there is something that could be mended


def test_stores_that_cannot_be_wider_are_no_finding() -> None:
    """Stores of vc that cannot be wider are no finding (F31).

    vc's widest store has half the bytes of a word of external memory.
    """
    made = vector(8)
    stores = [x for x in made.groups if x.slice.counters["e_xwr"]]
    found = [x.metric("partial") for x in stores]
    assert [metric.value for metric in found if metric] == [1.0]
    assert of(made, "partial") == []


@pytest.mark.parametrize(
    "name",
    [
        "nnp_lstm",
        "fim_gru",
        "six_cores",
        "profiled/bad",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("digits_mlp", "digits_cnn")),
    ],
)
def test_a_ratio_is_stated_and_no_more(name: str) -> None:
    """Ratios of blocked accesses and use are stated without advice (seed 001 ¶99, ¶101).

    Waits for data are no bank conflicts (F28), and few units at work may wait for the bus (F30).
    """
    found = [
        x
        for x in sample(name).missed_thresholds
        if x.metric.key in ("blocked", "utilisation", "match")
    ]
    assert found
    for item in found:
        assert item.cost == 0
        assert not any(word in item.sentence for word in ADVICE), item.sentence


def test_six_cores_promises_nothing_that_it_does_not_keep() -> None:
    """For six_cores, a late start without a cost is no finding (F29).

    A finding of the metric `match` has no price (F32). See seed 001 ¶122.
    """
    made = six_profile()
    assert made.bottleneck is not None
    assert of(made, "late") == []
    assert made.bottleneck.sooner["dma"] < 0.005 * made.cycles
    assert [x.cost for x in of(made, "match")] == [0]


def test_a_matrix_product_on_banks_is_one_finding() -> None:
    """40 instructions with equal waits, one for each row of a matrix, are one finding (F35)."""
    rows = "\n".join(f"act {row}\nrop <- iosa[0]\nrz <- rop * iosa[16:32]" for row in range(40))
    text = f"""
        .device tiny
        .core fim, island=0
        .block banks=0-3
mmr op, mul
mmr arrange, dot
{rows}
end
"""
    made = profile(api.assemble(Source(text, "p.s")))
    blocked = of(made, "blocked")
    assert len(blocked) <= 3
    assert max(len(item.others) for item in blocked) >= 37


def test_partial_writes_are_stated_and_no_more() -> None:
    """Partial writes are stated with their place, but without a cost.

    Narrow rows may be apart for a reason, and no record says how many bytes they have. Here results
    go out byte by byte, and joining them helps (seed 001 ¶97).
    """
    (found,) = of(layer("banks"), "partial")
    assert (found.core, found.cost) == ("dma", 0)
    assert found.sentence == "32 of 32 external writes are narrower than the memory's 32 bytes"
    assert of(layer("writes"), "partial") == []
    assert layer("writes").cycles < 0.9 * layer("banks").cycles
