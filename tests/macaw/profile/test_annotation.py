"""Annotations: sums of lines equal the run, the cores' cycles and counters, and a hand count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu.cost_run import run_with_costs
from macaw.emu.critical_path import HEAT_SHARES, heat_of
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.profiling import html
from macaw.profiling.accounting import charge_job
from macaw.profiling.annotating import annotation_of
from macaw.profiling.annotation import Annotation, LineCost, to_json
from macaw.profiling.annotation_page import annotation_data, annotation_table
from macaw.profiling.model import from_json
from macaw.profiling.model import to_json as profile_to_json
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import ProfileError, make_job
from macaw.profiling.work_page import work_sections
from tests.emu.random_runs import (
    LIMIT,
    RandomRun,
    dma_run,
    island_run,
    nnp_run,
    row_run,
    scalar_run,
)
from tests.macaw.conftest import ROOT
from tests.macaw.profile.printed import printed
from tests.macaw.profile.programs import six_cores, vector_loop

pytestmark = pytest.mark.once

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 84))]
TURNS = 50
ZEROS = np.zeros(1024, np.int8)


@pytest.fixture(scope="module")
def six() -> Annotation:
    return macaw.annotate(*six_cores(3))


@pytest.fixture(scope="module")
def loop() -> Annotation:
    return macaw.annotate(vector_loop(TURNS, "waits.s"), x=ZEROS)


def costs_of(annotation: Annotation, core: str) -> dict[str, LineCost]:
    """The costs of the lines of a core, by place."""
    return {
        line.place: cost for line in annotation.lines for cost in line.costs if cost.core == core
    }


def assert_adds_up(annotation: Annotation, units: dict[str, int]) -> None:
    """Check that lines add up to the run, causes to lines, and lines of a core to its cycles."""
    assert sum(line.run for line in annotation.lines) == annotation.cycles
    cycles: Counter[str] = Counter()
    for line in annotation.lines:
        assert sum(line.causes.values()) == line.run
        assert line.run == sum(sum(cost.run.values()) for cost in line.costs)
        assert line.macs == sum(cost.macs for cost in line.costs)
        assert line.bytes == sum(sum(cost.bytes.values()) for cost in line.costs)
        for cost in line.costs:
            cycles[cost.core] += sum(cost.cycles.values())
    assert cycles == {core: annotation.cycles * count for core, count in units.items()}


RUNS: list[Callable[[int], RandomRun]] = [
    lambda seed: scalar_run("cp", seed),
    lambda seed: scalar_run("vc", seed),
    dma_run,
    row_run,
    nnp_run,
    island_run,
]


def test_the_first_item_of_a_batch_is_annotated_by_default() -> None:
    """Of a batch of two numbers of turns, the first decides how often the line of a loop runs."""
    text = """        .device tiny
        .input x, int32, 1
        .core cp
        la a0, x
        lw a1, 0(a0)
1:      addi a1, a1, -1
        bnez a1, 1b
        li a0, 0
        li a7, 93
        ecall
"""
    program = macaw.assemble(Source(text, "turns.s"))
    x = np.array([[3], [7]], np.int32)
    found = [macaw.annotate(program, x=x), macaw.annotate(program, x=x, item=1)]
    assert [costs_of(annotation, "cp")["turns.s:6"].cycles for annotation in found] == [
        {"work": 3},
        {"work": 7},
    ]


@pytest.mark.parametrize("make", RUNS, ids=["cp", "vc", "dma", "pe", "nnp", "fim"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_add_up(make: Callable[[int], RandomRun], seed: int) -> None:
    devices: list[Device] = make(seed).devices
    with np.errstate(all="ignore"):
        _, run = run_with_costs(lambda: devices.pop(), LIMIT)
    if not run.device.cycle:
        return  # a fault in the first cycle
    assert_adds_up(annotation_of(run, "random", "tiny"), dict(run.units))


def test_samples_add_up(six: Annotation, loop: Annotation) -> None:
    units = dict.fromkeys(macaw.run(*six_cores(3)).counters, 1)
    units |= {"pe[0]": 8, "pe[1]": 8, "fim[0]": 4, "fim[1]": 4}  # PEs and banks of tiny
    assert_adds_up(six, units)
    assert_adds_up(loop, units)
    assert dict(six.units) == {name: units[name] for name in six.units}
    assert six.units.keys() == {"cp", "dma", "vc", "nnp", "fim[0]", "pe[0]"}


def test_cycles_are_those_of_the_account(six: Annotation) -> None:
    program, inputs = six_cores(3)
    accounts = charge_job(make_job(program, configuration_of(program, None), inputs)).accounts
    for account in accounts:
        found = costs_of(six, account.core)
        for line in account.lines:
            assert found[line.place].cycles == line.causes, (account.core, line.place)
            assert sum(found[line.place].run.values()) == line.run


def test_macs_and_bytes_are_those_of_the_counters(six: Annotation) -> None:
    program, inputs = six_cores(3)
    counts, config = macaw.run(program, inputs).counters, configuration_of(program, None)
    macs: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for line in six.lines:
        for cost in line.costs:
            macs[cost.core] += cost.macs
            outside[cost.core] += cost.bytes.get("external", 0)
    assert macs["pe[0]"] == counts["pe[0]"]["macs"]
    assert macs["nnp"] == counts["nnp"]["tiles"] * config["nnp.native"] ** 2
    assert macs["vc"] == 4 * 12 * 16  # four pmac of 16 bytes, for 4 rows in each of 3 rounds
    for core, values in counts.items():
        if not core.startswith("fim"):  # whose host's accesses count there
            beats = values.get("external_reads", 0) + values.get("external_writes", 0)
            assert outside[core] == 32 * beats, core
    island = counts["fim[0]"]
    banks = sum(cost.bytes.get("banks", 0) for cost in costs_of(six, "fim[0]").values())
    assert banks == 32 * (island["column_reads"] + island["column_writes"])


def test_a_loop_by_hand(loop: Annotation) -> None:
    vc = costs_of(loop, "vc")
    # line 10 loads 16 bytes, a beat of 32; line 12 loads 16 lanes of a byte from one bank
    assert vc["waits.s:10"].bytes == {"external": TURNS * 32}
    assert vc["waits.s:12"].bytes == {"on-chip": TURNS * 16}
    assert vc["waits.s:12"].run == vc["waits.s:12"].cycles == {"lanes": TURNS * 15, "work": TURNS}
    # latency 20 and one beat: ready 21 cycles after the issue, the next could issue after 1
    assert vc["waits.s:11"].run == {"loads": TURNS * 20, "work": TURNS}
    assert vc["waits.s:11"].whom == {"waits.s:10": TURNS * 20}
    assert vc["waits.s:15"].run == {"work": TURNS, "branches": TURNS - 1}
    places = [line.place for line in loop.lines if line.file == "waits.s"]
    assert places == [f"waits.s:{number}" for number in range(6, 21)]


SUMS = """
        .device tiny
        .core   cp
        .macro  square r
        mul     \\r, \\r, \\r
        addi    \\r, \\r, 1
        .endm
_start: li      a0, 3
        .include "part.inc"
        .rept   4
        square  a0
        .endr
        li      a0, 0
        li      a7, 93
        ecall
"""


def test_macros_includes_and_repetitions(tmp_path: Path) -> None:
    """Cycles are shown at the call of a macro, in a repetition's body, and in an included file."""
    source = tmp_path / "sums.s"
    source.write_text(SUMS, "utf-8")
    (tmp_path / "part.inc").write_text("square a0\nmul a1, a0, a0\n", "utf-8")
    annotation = macaw.annotate(source)
    lines = {line.place: line for line in annotation.lines}
    assert {place: line.macs for place, line in lines.items() if line.macs} == {
        "sums.s:11": 4,
        "part.inc:1": 1,
        "part.inc:2": 1,
    }
    # a mul takes 3 cycles (cp.mul_cycles), an addi 1
    assert lines["sums.s:11"].causes == {"long": 4 * 2, "work": 4 * 2}
    assert lines["part.inc:2"].causes == {"long": 2, "work": 1}
    assert not {f"sums.s:{number}" for number in (4, 5, 6, 7, 9, 10)} & lines.keys()
    assert annotation.sources[str(source)] == tuple(SUMS.split("\n")[:-1])
    assert annotation.program == str(source)


def test_lines_whose_source_cannot_be_read() -> None:
    """If the source cannot be read, a line shows the disassembly of its first instruction."""
    text = ".device tiny\n.core cp\nmain: li a0, 0\nli a7, 93\necall\n"
    program = macaw.assemble(Source(text, "gone.s"))
    found = macaw.annotate(program)
    assert [(line.place, line.text) for line in found.lines if line.run] == [
        ("gone.s:3", "li a0, 0"),
        ("gone.s:4", "li a7, 93"),
        ("gone.s:5", "ecall"),
    ]
    assert found.sources == {}


def test_lines_of_the_default_program_have_its_source() -> None:
    folder = ROOT / "programs" / "nnp_lstm"
    found = macaw.annotate(folder / "nnp_lstm.s", x=np.load(folder / "x.npy"))
    lines = {line.place: line.text for line in found.lines}
    number = lines_with("dma.copy a0, a3", found.sources["<default cp>"])
    assert lines[f"<default cp>:{number}"] == "dma.copy a0, a3"


def lines_with(text: str, lines: Sequence[str]) -> int:
    """The number (from 1) of the only line that contains a text."""
    (number,) = (number for number, line in enumerate(lines, 1) if text in line)
    return number


def test_instructions_without_a_line(tmp_path: Path) -> None:
    """Without a line table, the annotation has a program's instructions instead of lines."""
    program = vector_loop(TURNS, "waits.s")
    macaw.save(program, tmp_path / "bare.elf", lines=False)
    found = macaw.annotate(tmp_path / "bare.elf", x=ZEROS)
    assert not any(line.file or line.number for line in found.lines)
    assert sum(line.run for line in found.lines) == found.cycles
    lines = {line.text: line for line in found.lines}
    assert lines["vlds.b vr2, s1, s3"].causes == {"lanes": TURNS * 15, "work": TURNS}


def test_heat() -> None:
    assert [heat_of(cycles, 1000) for cycles in (0, 1, 9, 10, 49, 50, 199, 200, 1000)] == [
        0, 1, 1, 2, 2, 3, 3, 4, 4,
    ]  # fmt: skip
    assert len(HEAT_SHARES) == 3


def test_json(six: Annotation) -> None:
    data = to_json(six)
    assert (data["kind"], data["format"], data["cycles"]) == ("macaw annotation", 1, six.cycles)
    assert sum(line["run"] for line in data["lines"]) == six.cycles
    line = next(line for line in data["lines"] if line["place"] == "six_cores.s:47")
    assert line["heat"] == 4
    assert [cost["core"] for cost in line["costs"]] == ["pe[0]"]
    assert data["sources"][line["file"]][46].split()[0] == "mac"


def test_repr(loop: Annotation) -> None:
    text = f"<annotation of waits.s on tiny: {loop.cycles:,} cycles, {len(loop.lines)} lines>"
    assert repr(loop) == text


def test_errors() -> None:
    ever = macaw.assemble(Source(".device tiny\n.core cp\n1: j 1b\n", "ever.s"))
    with pytest.raises(ProfileError, match="the program does not end by itself: cycle limit"):
        macaw.annotate(ever, max_cycles=100)
    with pytest.raises(InputError, match="there is no item 3, the last one is 0"):
        macaw.annotate(vector_loop(1, "waits.s"), x=ZEROS, item=3)
    with pytest.raises(InputError, match="1 input not given: x"):
        macaw.annotate(vector_loop(1, "waits.s"))


@pytest.fixture(scope="module")
def report() -> macaw.Profile:
    return profile(vector_loop(TURNS, "waits.s"), {"x": ZEROS}, ProfileOptions(lines=True))


def test_lines_of_a_profile(report: macaw.Profile, loop: Annotation) -> None:
    assert report.annotation == loop
    assert report.lines == loop.lines
    assert from_json(json.loads(json.dumps(profile_to_json(report)))) == report
    assert profile(vector_loop(1, "waits.s"), {"x": ZEROS}).lines == ()


def test_the_page_of_a_profile_has_the_lines(report: macaw.Profile) -> None:
    tree = ElementTree.fromstring(f"<body>{work_sections(report)}</body>")
    rows = [[cell.text or "" for cell in row.iter("td")] for row in tree.iter("tr")][1:]
    assert [row[0] for row in rows[:2]] == ["waits.s:11", "waits.s:12"]
    share = f"{100 * 21 * TURNS / report.cycles:.1f}%"
    assert rows[0][2:] == ["1,050", share, "█", "loads 95.2%, work 4.8%", "0", "0"]
    lines = annotation_data(report.annotation)
    assert lines is not None
    assert sum(line["run"] for line in lines) == report.cycles
    assert f'"place":"waits.s:12","run":{16 * TURNS}' in html.page(report)
    assert annotation_data(None) is None


def test_a_table_of_some_lines(loop: Annotation) -> None:
    table = annotation_table(loop, 2)
    assert [row[0] for row in table.rows] == ["waits.s:11", "waits.s:12"]
    rest = loop.cycles - 37 * TURNS
    assert table.note == f"{len(loop.lines) - 2} more lines with {rest:,} cycles"


def test_the_report_of_a_profile_has_the_hottest_lines(report: macaw.Profile) -> None:
    text = printed(report, 80, limit=2).partition("\nlines\n")[2].partition("\n\n")[0]
    assert [row.split()[0] for row in text.splitlines()][1:3] == ["1,050", "800"]
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1].startswith(f"{report.cycles:,}  100.0%")
