"""Findings: what makes a run longer, and whether following the advice saves what it says.

Each program of `pairs` has a flaw, and with `-D MENDED=1` it has none: what the advice says is done.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from shutil import copy
from typing import NamedTuple

import numpy as np
import pytest

import macaw
from macaw.emu.charges import Charge, CoreLog
from macaw.execution import configuration_of
from macaw.golden_description import read_description
from macaw.isa.advice import ADVICE
from macaw.isa.causes import BY_NAME, CAUSES
from macaw.profiling import findings
from macaw.profiling.account import Account
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.model import Finding
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import make_job
from macaw.profiling.source_lines import NOWHERE, SourceLine

pytestmark = pytest.mark.once

PAIRS = Path(__file__).parent / "pairs"
ROOT = Path(__file__).parents[3]
DOCS, PROGRAMS = ROOT / "docs", ROOT / "programs"
TOLERANCE = 0.25  # of what the mended program saves, for the price of the finding
LEAVES = {cause.name for cause in CAUSES} - {cause.parent for cause in CAUSES}


class Pair(NamedTuple):
    """A program, and what its first finding names. The line is the one that ends with `# here`."""

    name: str
    core: str
    cause: str


PAIRED = (
    Pair("unroll", "vc", "loads"),
    Pair("stride", "vc", "lanes"),
    Pair("accumulators", "vc", "results"),
    Pair("gather", "vc", "narrow"),
    Pair("buffers", "cp", "transfers"),
    Pair("counter", "cp", "latency"),
    Pair("branches", "cp", "branches"),
    Pair("shifts", "cp", "long"),
    Pair("rows", "dma", "narrow"),
    Pair("join", "dma", "latency"),
    Pair("ask", "dma", "data"),
    Pair("ahead", "pe[0]", "bus"),
    Pair("clusters", "pe[0]", "packets"),
    Pair("uneven", "pe[0]", "imbalance"),
    Pair("split", "pe", "imbalance"),
    Pair("chains", "nnp", "fill"),
    Pair("row_order", "fim[0]", "rows"),
    Pair("hoist", "fim[0]", "issue"),
)


@cache
def charged(name: str, *, mended: bool) -> tuple[ChargedRun, dict[str, np.ndarray]]:
    """The charges of a program's run, and its outputs."""
    program = macaw.assemble(PAIRS / f"{name}.s", defines={"MENDED": 1} if mended else {})
    inputs = {
        x.name: (np.arange(np.prod(x.shape)) % 7 + 1).astype(x.dtype).reshape(x.shape)
        for x in program.inputs
    }
    job = make_job(program, configuration_of(program, None), inputs)
    return charge_job(job), macaw.run(program, inputs).outputs


@cache
def found(name: str, *, mended: bool = False) -> tuple[Finding, ...]:
    return findings.find(charged(name, mended=mended)[0])


def cycles(name: str, *, mended: bool) -> int:
    return charged(name, mended=mended)[0].accounts[0].cycles


def places(name: str) -> set[str]:
    """The lines that `# here` marks, as findings name them."""
    lines = (PAIRS / f"{name}.s").read_text().splitlines()
    return {f"{name}.s:{n}" for n, line in enumerate(lines, 1) if line.endswith("# here")}


def place_of(where: str) -> str:
    return ":".join(where.split(":")[:2])


# Following the advice --------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRED, ids=lambda pair: pair.name)
def test_the_first_finding_is_what_the_mended_program_mends(pair: Pair) -> None:
    first, *_ = found(pair.name)
    assert (first.core, first.cause) == (pair.core, pair.cause)
    assert place_of(first.where) in places(pair.name)
    saved = cycles(pair.name, mended=False) - cycles(pair.name, mended=True)
    assert saved > 0
    assert first.saved == pytest.approx(saved, rel=TOLERANCE)


@pytest.mark.parametrize("pair", PAIRED, ids=lambda pair: pair.name)
def test_the_mended_program_does_the_same_and_has_less_of_the_cause(pair: Pair) -> None:
    (_, before), (_, after) = (charged(pair.name, mended=mended) for mended in (False, True))
    assert before.keys() == after.keys()
    for name, values in before.items():
        np.testing.assert_array_equal(values, after[name])
    left = [x.saved for x in found(pair.name, mended=True) if x.cause == pair.cause]
    assert sum(left) < 0.5 * found(pair.name)[0].saved


def row_of(pair: Pair) -> str:
    """The row of a pair in the table of docs/profile.md."""
    before, after = (cycles(pair.name, mended=mended) for mended in (False, True))
    file = f"[`{pair.name}.s`](../tests/macaw/profile/pairs/{pair.name}.s)"
    price = found(pair.name)[0].saved
    return (
        f"| {file} | {pair.core} | `{pair.cause}` | {price:,} | {before - after:,} |"
        f" {before:,} | {after:,} |"
    )


def test_the_table_of_pairs_in_the_docs() -> None:
    text = (DOCS / "profile.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| [`")]
    assert rows == [row_of(pair) for pair in PAIRED]


@pytest.mark.parametrize(
    ("sample", "first", "followed"),
    [
        ("six_cores", ("cp", "latency", "six_cores.s:297"), "kept.s"),
        ("fim_mlp", ("dma", "latency", "mlp.s:25"), "joined.s"),
    ],
)
def test_following_the_first_finding_of_a_sample_saves_a_fifth_of_its_price(
    sample: str, first: tuple[str, str, str], followed: str, tmp_path: Path
) -> None:
    made = read_description(PROGRAMS / sample)
    for path in (PAIRS.parent / "followed" / followed, *(PAIRS.parent / "followed").glob("*.npy")):
        copy(path, tmp_path)
    for path in (PROGRAMS / sample).glob("*.npy"):
        copy(path, tmp_path)
    inputs = {name: np.load(path) for name, path in made.inputs.items()}
    before = macaw.assemble(*made.sources)
    after = macaw.assemble(tmp_path / followed)
    job = make_job(before, configuration_of(before, None), inputs)
    found = findings.find(charge_job(job))[0]
    assert (found.core, found.cause, place_of(found.where)) == first
    slow, fast = macaw.run(before, inputs), macaw.run(after, inputs)
    for name, values in slow.outputs.items():
        np.testing.assert_array_equal(values, fast.outputs[name])
    assert 0.2 * found.saved <= slow.cycles - fast.cycles <= 1.25 * found.saved


# What cannot be saved --------------------------------------------------------------------------


def test_chains_that_depend_on_each_other_are_no_finding() -> None:
    """nnp_lstm: each step needs the one before, so other orders of its chains save 1% (F28)."""
    made = read_description(PROGRAMS / "nnp_lstm")
    program = macaw.assemble(*made.sources)
    inputs = {name: np.load(path) for name, path in made.inputs.items()}
    run = charge_job(make_job(program, configuration_of(program, None), inputs))
    (account,) = (account for account in run.accounts if account.core == "nnp")
    fill = sum(line.causes.get("fill", 0) for line in account.lines)
    assert fill > 0.5 * account.cycles
    assert [item for item in findings.find(run) if item.core == "nnp"] == []


# By hand ---------------------------------------------------------------------------------------

WORK = Charge("work", 0)


def stall(address: int, cause: str = "results") -> Charge:
    return Charge(cause, address)


def line(number: int, file: str = "/x/a.s") -> SourceLine:
    return SourceLine(file, number, 0, f"{file.rpartition('/')[2]}:{number}", "add")


def run_of(
    charges: dict[str, list[tuple[int, int, Charge]]],
    lines: dict[int | None, SourceLine],
    least: dict[str, int] | None = None,
) -> ChargedRun:
    """A run of cores with one unit; the row of `pe[0]` is `pe`."""
    end = max(until for spans in charges.values() for _, until, _ in spans)
    logs = {core: CoreLog() for core in charges}
    totals: dict[str, dict[Charge, int]] = {core: defaultdict(int) for core in charges}
    for core, spans in charges.items():
        for begin, until, charge in spans:
            logs[core].add(begin, charge)
            logs[core].add(until, None)
            totals[core][charge] += until - begin
    accounts = [Account(core, core.partition("[")[0], end, 1, (), ()) for core in charges]
    return ChargedRun(
        end,
        tuple(accounts),
        logs,
        totals,
        dict.fromkeys(charges, lines),
        dict.fromkeys(charges, least or {}),
        {},
    )


def summary(run: ChargedRun) -> list[tuple[str, str, str, int]]:
    return [(x.core, x.cause, place_of(x.where), x.saved) for x in findings.find(run)]


LINES = {None: NOWHERE, 0: line(1), 4: line(5), 8: line(9), 12: line(90)}


def test_lines_near_each_other_are_one_finding() -> None:
    spans = [(0, 50, WORK), (50, 60, stall(4)), (60, 90, stall(8)), (90, 95, stall(12))]
    run = run_of({"vc": [*spans, (95, 100, WORK)]}, LINES)
    assert summary(run) == [("vc", "results", "a.s:9", 40), ("vc", "results", "a.s:90", 5)]
    assert findings.find(run)[0].others == ("a.s:5: add",)
    assert findings.find(run)[0].cycles == 40


def test_what_saves_less_than_a_hundredth_is_no_finding() -> None:
    for cycles, wanted in ((9, []), (10, [("vc", "results", "a.s:5", 10)])):
        spans = [(0, 1000 - cycles, WORK), (1000 - cycles, 1000, stall(4))]
        assert summary(run_of({"vc": spans}, LINES)) == wanted


def test_what_has_slack_is_no_finding() -> None:
    """cp waits for nnp, which takes longer than vc with its stall."""
    waits = Charge("cores", 0, "vc, nnp")
    run = run_of(
        {
            "cp": [(0, 10, WORK), (10, 200, waits), (200, 210, WORK)],
            "vc": [(5, 20, WORK), (20, 120, stall(4))],
            "nnp": [(6, 195, WORK)],
        },
        LINES,
    )
    assert summary(run) == []


def test_the_same_of_several_cores_is_one_finding() -> None:
    """None of the two cores alone would end the wait of cp earlier."""
    waits = Charge("cores", 0, "pe[0], pe[1]")
    of_row = [(5, 20, WORK), (20, 120, stall(4))]
    run = run_of(
        {
            "cp": [(0, 10, WORK), (10, 120, waits), (120, 130, WORK)],
            "pe[0]": of_row,
            "pe[1]": of_row,
        },
        LINES,
    )
    assert summary(run) == [("pe", "results", "a.s:5", 100)]


def test_a_producer_of_several_accesses_vanishes_with_all_of_them() -> None:
    """The narrow stores take a third, two thirds and all of the cycles of what made their values."""
    stores = [Charge("narrow", 8, "", 4), Charge("narrow", 8, "", 4), Charge("narrow", 12, "", 4)]
    for count, wanted in ((1, 20), (2, 40), (3, 60)):
        spans = [(0, 40, WORK), (40, 70, Charge("work", 4))]
        spans += [(70 + 10 * n, 80 + 10 * n, stores[n]) for n in range(count)]
        run = run_of({"vc": spans}, {**LINES, 12: line(10)})
        assert summary(run) == [("vc", "narrow", "a.s:9", wanted)]


def test_lines_that_macaw_adds_are_no_finding() -> None:
    spans = [(0, 50, WORK), (50, 100, stall(4))]
    assert summary(run_of({"cp": spans}, {**LINES, 4: line(5, "<default cp>")})) == []
    assert summary(run_of({"cp": spans}, LINES)) == [("cp", "results", "a.s:5", 50)]


def test_work_and_causes_without_advice_are_no_finding() -> None:
    run = run_of({"vc": [(0, 50, WORK), (50, 100, stall(4, "handover"))]}, LINES)
    assert summary(run) == []


def test_what_the_work_takes_anyway_is_left_out() -> None:
    spans = [(0, 40, WORK), (40, 100, stall(4, "bus"))]
    for least, wanted in ((0, 60), (70, 30), (99, 1)):
        run = run_of({"pe[0]": spans}, LINES, {"bus": least})
        assert summary(run) == [("pe[0]", "bus", "a.s:5", wanted)]
    assert summary(run_of({"pe[0]": spans}, LINES, {"bus": 120})) == []


def test_no_findings_in_mark_mode_or_if_they_are_left_out() -> None:
    program = macaw.assemble(PAIRS / "stride.s")
    assert profile(program).findings == found("stride")
    assert profile(program, options=ProfileOptions(findings=False)).findings == ()
    text = ".device tiny\n.core vc\ntrace_begin 0\ndiv t0, t1, t2\nadd t0, t0, t0\ntrace_end 0\n"
    marked = macaw.assemble(macaw.Source(f"{text}li a0, 0\nli a7, 93\necall\n", "m.s"))
    assert profile(marked).findings != ()
    assert profile(marked, options=ProfileOptions(mode="mark")).findings == ()


# The table -------------------------------------------------------------------------------------


def test_each_advice_is_for_a_leaf_of_the_tree_of_causes() -> None:
    names = [row.cause for row in ADVICE]
    assert len(set(names)) == len(names)
    assert set(names) <= LEAVES
    for row in ADVICE:
        assert row.text[0].islower()
        assert not row.text.endswith(".")
        assert BY_NAME[row.cause].parent not in ("", "idle")


def test_each_advice_has_a_pair_that_shows_it() -> None:
    assert {row.cause for row in ADVICE} == {pair.cause for pair in PAIRED}
