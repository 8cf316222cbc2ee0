"""Rooflines and the chart of memories equal a calculation from source, counters and device file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import macaw
from macaw.asm.source import Source
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.profiling import measuring
from macaw.profiling.model import from_json, to_json
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import make_job
from macaw.profiling.roofline_report import (
    LETTERS,
    memory_lines,
    roof_table,
    roofline_lines,
)
from macaw.profiling.work import Level, Link, MemoryChart, Roof, RowHits, Work
from tests.macaw.profile.printed import printed
from tests.macaw.profile.programs import six_cores, vector_loop

pytestmark = pytest.mark.once

TURNS = 50


@pytest.fixture(scope="module")
def six() -> macaw.Profile:
    return profile(*six_cores(), ProfileOptions(roofline=True, findings=False))


@pytest.fixture(scope="module")
def run() -> macaw.Run:
    return macaw.run(*six_cores())


def work_of(report: macaw.Profile) -> Work:
    assert report.work is not None
    return report.work


def roof_of(report: macaw.Profile, core: str) -> Roof:
    return next(roof for roof in work_of(report).roofs if roof.core == core)


def test_vc_by_hand() -> None:
    program = vector_loop(TURNS, "turns.s")
    report = profile(program, {"x": np.zeros(1024, np.int8)}, ProfileOptions(roofline=True))
    roof = roof_of(report, "vc")
    # a turn: 16 additions of bytes and 2 of words; outside: 2 additions for each la, of which the
    # first instruction is a lui or auipc, and one for each li
    outside = roof.operations - TURNS * 18
    assert 6 <= outside <= 10
    levels = {level.memory: level for level in roof.levels}
    # a beat of external memory has 32 bytes, also for 16; a lane of vlds.b has one byte
    assert levels["external"] == Level("external", (TURNS + 1) * 32, 32.0)
    assert levels["on-chip"] == Level("on-chip", TURNS * 16, 16.0)
    assert roof.peak == 32.0  # 16 products and additions
    assert roof.rate == roof.operations / report.cycles
    external = levels["external"]
    assert roof.ceiling(external) == pytest.approx(roof.operations / ((TURNS + 1) * 32) * 32)
    assert roof.lowest is external
    unit = next(link for link in work_of(report).memory.links if link.name == "unit 0 read")
    assert unit.bytes == TURNS * 16
    assert unit.peak == 2 * 16 * 8  # halves, banks, bytes of a bank
    assert unit.most == pytest.approx(TURNS * 16 / report.cycles)  # one bank has all


def test_points_of_six_cores_from_their_counters(six: macaw.Profile, run: macaw.Run) -> None:
    counts, config = run.counters, configuration_of(six_cores()[0], None)
    assert six.cycles == run.cycles
    row = roof_of(six, "pe[0]")
    assert row.operations == 2 * counts["pe[0]"]["macs"] + counts["pe[0]"]["sfu_results"]
    assert row.peak == 2 * 2 * 4 + 2 * config["sfu.rate"]  # two clusters of four PEs
    nnp, native = roof_of(six, "nnp"), config["nnp.native"]
    products = 2 * counts["nnp"]["tiles"] * native**2
    assert products <= nnp.operations <= products + 4 * counts["nnp"]["vectors"] * native
    island = counts["fim[0]"]
    columns = island["column_reads"] + island["column_writes"]
    assert [level.bytes for level in roof_of(six, "fim[0]").levels] == [columns * 32]
    for roof in work_of(six).roofs:
        beats = sum(counts[roof.core].get(f"external_{x}", 0) for x in ("reads", "writes"))
        external = [level.bytes for level in roof.levels if level.memory == "external"]
        if not roof.core.startswith("fim"):
            assert sum(external) == 32 * beats
        for level in roof.levels:
            assert roof.rate <= roof.ceiling(level) * 1.001, (roof.core, level)
    assert "dma" not in {roof.core for roof in work_of(six).roofs}


def test_the_chart_of_memories_from_counters(six: macaw.Profile, run: macaw.Run) -> None:
    counts = run.counters
    chart = work_of(six).memory
    links = {(link.part, link.name): link for link in chart.links}
    shared = 0
    for name, values in counts.items():
        for verb, kind in (("read", "external_reads"), ("written", "external_writes")):
            link = links.pop(("channel", f"{verb} by {name}"), None)
            assert (link.bytes if link else 0) == 32 * values.get(kind, 0)
            shared += link.bytes if link and name != "nnp" else 0
    channel = links["channel", "in all"]
    assert channel.bytes == shared
    assert channel.share(chart.cycles) == pytest.approx(shared / 32 / six.cycles)
    writes = [link.bytes for (part, name), link in links.items() if name.startswith("writes")]
    assert sum(writes) == pytest.approx(counts["dma"]["bytes"], abs=32 * 64)  # beats are rounded
    island = counts["fim[0]"]
    columns = island["column_reads"] + island["column_writes"] + island["host_columns"]
    opened = island["activations"] + island["channel_rows"]
    assert chart.rows == (RowHits("fim[0]", columns, opened),)
    assert chart.rows[0].share == 1 - opened / columns


def test_without_the_option_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "measure_job", lambda job: pytest.fail("measured"))
    program = vector_loop(TURNS, "turns.s")
    assert profile(program, {"x": np.zeros(1024, np.int8)}).work is None


def test_json(six: macaw.Profile) -> None:
    assert from_json(json.loads(json.dumps(to_json(six)))) == six


@pytest.mark.parametrize("width", [80, 200])
def test_the_report_fits(six: macaw.Profile, width: int) -> None:
    text = printed(six, width)
    part = text[text.index("\nroofline\n") : text.index("column accesses hit")]
    assert max(map(len, part.splitlines())) <= width
    assert ("bytes  ops/byte" in part) == (width == 200)
    assert "on-chip" in part
    assert "\nmemory\n" in part


def lines_of(*roofs: Roof) -> list[str]:
    return list(roofline_lines(Work(roofs, MemoryChart(100, ())), 80))


def test_points_stand_where_they_belong() -> None:
    # at the ridge with the whole peak; a quarter of its intensity with a quarter of the peak
    lines = lines_of(
        Roof("top", "top", 1600, 100, 16.0, (Level("external", 400, 4.0),)),
        Roof("low", "low", 400, 100, 16.0, (Level("external", 400, 4.0),)),
    )
    chart = {line.split("|")[0].strip(): line.split("|")[1] for line in lines if "|" in line}
    ridge = chart["100%"].index("a")
    assert set(chart["100%"][:ridge]) == {" "}
    assert set(chart["100%"][ridge + 1 :]) == {"_"}
    assert chart["25%"] == f"{' ' * (ridge - 8)}b"
    assert chart["50%"] == f"{' ' * (ridge - 4)}/"


@pytest.mark.parametrize(("size", "place"), [(1, 64), (1 << 30, 0)])
def test_points_outside_of_the_chart_are_at_its_edge(size: int, place: int) -> None:
    """The ridge is in column 32: the columns 0 and 64 are 2**8 left and right of it."""
    operations = 1 << 14
    roof = Roof("cp", "cp", operations, operations, 1.0, (Level("external", size, 1.0),))
    (line,) = (line for line in lines_of(roof) if " 100% |" in line)
    assert line.split("|")[1].index("a") == place


def test_points_at_one_place_stand_beside_each_other() -> None:
    one = Roof("one", "one", 1600, 100, 16.0, (Level("external", 400, 4.0),))
    assert any("ab" in line for line in lines_of(one, one))


def test_a_core_without_operations_has_no_point() -> None:
    """Of a core without operations nothing is drawn, but the core after it has its point, b."""
    level = Level("external", 400, 4.0)
    lines = lines_of(
        Roof("none", "none", 0, 100, 16.0, (level,)),
        Roof("one", "one", 1600, 100, 16.0, (level,)),
    )
    (top,) = (line.split("|")[1] for line in lines if " 100% |" in line)
    assert top == " " * 32 + "b" + "_" * 32
    assert not any("a" in line.split("|")[1] for line in lines if "|" in line)


def test_a_core_without_memory_has_no_point() -> None:
    lines = lines_of(Roof("alone", "alone", 10, 100, 16.0))
    assert "alone" in lines[1]
    assert len(lines) == 2


def test_more_points_than_letters() -> None:
    one = Roof("one", "one", 1600, 100, 16.0, (Level("external", 400, 4.0),))
    lines = lines_of(*[one] * (len(LETTERS) + 5))
    assert sum(" one " in line for line in lines) == len(LETTERS)
    assert lines[len(LETTERS) + 1] == "  5 more points not shown"


@pytest.mark.parametrize("width", [80, None])
def test_tables_without_rows_say_so(width: int | None) -> None:
    program = macaw.assemble(Source(".core cp\nli a7, 93\necall\n", "e.s"))
    work = work_of(profile(program, {}, ProfileOptions(roofline=True, findings=False)))
    (line,) = memory_lines(work.memory, width)
    assert line.strip() == "no bytes passed between memories and cores"
    (line,) = roofline_lines(Work((), work.memory), width)
    assert line.strip() == "no core computed"


def test_a_run_of_no_cycles() -> None:
    link = Link("units", "unit 0 read", 0, 8.0)
    assert link.share(0) == 0.0
    assert Roof("cp", "cp", 0, 0, 1.0).rate == 0.0
    assert RowHits("fim[0]", 0, 0).share == 0.0
    assert len(list(memory_lines(MemoryChart(0, (link,)), 80))) == 2


def test_a_program_that_does_not_end() -> None:
    program = macaw.assemble(Source(".device tiny\n.core cp\n1: j 1b\n", "endless.s"))
    job = make_job(program, configuration_of(program, None), {}, 100)
    with pytest.raises(InputError, match=r"the program does not end by itself: .*100"):
        measuring.measure_job(job)


def test_cores_without_memories_come_after_those_in_the_chart() -> None:
    alone = Roof("alone", "alone", 10, 100, 16.0)
    one = Roof("one", "one", 1600, 100, 16.0, (Level("external", 400, 4.0),))
    names = [(row[0], row[1]) for row in roof_table(Work((alone, one), MemoryChart(100, ()))).rows]
    assert names == [("a", "one"), ("", "alone")]
