"""Findings: causes that make a run longer; following the advice saves the stated price.

Each program of `pairs` has a flaw. With `-D MENDED=1` it follows the advice and has no flaw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copy
from typing import NamedTuple

import numpy as np
import pytest

import macaw
from docs.causes import mendable
from macaw.asm.source import Source
from macaw.emu.charges import Charge, CoreLog
from macaw.execution import configuration_of
from macaw.golden_description import read_description
from macaw.isa.advice import ADVICE, BY_CAUSE, WITHOUT_ADVICE
from macaw.isa.causes import BY_NAME, CAUSES
from macaw.profiling import findings
from macaw.profiling.account import Account
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.model import Finding
from macaw.profiling.phrases import saved_note
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import item_inputs, make_job
from macaw.profiling.schema import profile_schema
from macaw.profiling.source_lines import NOWHERE, SourceLine

pytestmark = pytest.mark.once

PAIRS = Path(__file__).parent / "pairs"
ROOT = Path(__file__).parents[3]
DOCS, PROGRAMS = ROOT / "docs", ROOT / "programs"
TOLERANCE = 0.25  # of what the mended program saves, for the price of the finding
LEAVES = {cause.name for cause in CAUSES} - {cause.parent for cause in CAUSES}


class Pair(NamedTuple):
    """A program, and the core and cause of its first finding.

    The finding names the line that ends with `# here`.
    """

    name: str
    core: str
    cause: str


PAIRED = (
    Pair("unroll", "vc", "loads"),
    Pair("stride", "vc", "lanes"),
    Pair("accumulators", "vc", "results"),
    Pair("gather", "vc", "narrow"),
    Pair("words", "vc", "narrow"),
    Pair("copied", "vc", "narrow"),
    Pair("shifted", "vc", "narrow"),
    Pair("steps", "vc", "narrow"),
    Pair("jumps", "vc", "branches"),
    Pair("usual", "vc", "branches"),
    Pair("buffers", "cp", "transfers"),
    Pair("early", "cp", "transfers"),
    Pair("once", "cp", "transfers"),
    Pair("counter", "cp", "latency"),
    Pair("bytes", "cp", "latency"),
    Pair("branches", "cp", "branches"),
    Pair("calls", "cp", "branches"),
    Pair("shifts", "cp", "long"),
    Pair("rows", "dma", "narrow"),
    Pair("join", "dma", "latency"),
    Pair("pieces", "dma", "latency"),
    Pair("ask", "dma", "data"),
    Pair("ahead", "pe[0]", "bus"),
    Pair("again", "pe[0]", "bus"),
    Pair("clusters", "pe[0]", "packets"),
    Pair("uneven", "pe[0]", "imbalance"),
    Pair("split", "pe", "imbalance"),
    Pair("idle", "pe", "imbalance"),
    Pair("alone", "pe", "imbalance"),
    Pair("spread", "pe[0]", "lanes"),
    Pair("chains", "nnp", "fill"),
    Pair("order", "nnp", "fill"),
    Pair("vectors", "nnp", "fill"),
    Pair("matrix", "nnp", "fill"),
    Pair("row_order", "fim[0]", "rows"),
    Pair("together", "fim[0]", "rows"),
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
    """The lines that end with `# here`, in the form in which findings name them."""
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


def test_a_price_is_called_an_estimate_because_it_is_no_bound() -> None:
    """Prices of pairs are below and above what the mended programs save; all texts say so."""
    saved = {x.name: cycles(x.name, mended=False) - cycles(x.name, mended=True) for x in PAIRED}
    prices = {pair.name: found(pair.name)[0].saved for pair in PAIRED}
    assert any(prices[name] < saved[name] for name in saved)
    assert any(prices[name] > saved[name] for name in saved)
    for pair in PAIRED:
        note = saved_note(found(pair.name)[0], cycles(pair.name, mended=False))
        assert note.startswith("saves an estimated ")
    described = profile_schema()["$defs"]["Finding"]["properties"]["saved"]["description"]
    assert described.startswith("an estimate: ")
    page = " ".join((DOCS / "profile.md").read_text("utf-8").split())
    assert "*price*: an estimate of the cycles" in page
    assert "saves at most" not in page


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


def charged_sample(name: str) -> ChargedRun:
    made = read_description(PROGRAMS / name)
    program = macaw.assemble(*made.sources)
    inputs = {tensor: np.load(path) for tensor, path in made.inputs.items()}
    inputs = item_inputs(program, inputs, 0)
    return charge_job(make_job(program, configuration_of(program, None), inputs))


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
    made = read_description(PROGRAMS / sample)
    for path in (PAIRS.parent / "followed" / followed, *(PAIRS.parent / "followed").glob("*.npy")):
        copy(path, tmp_path)
    for path in (PROGRAMS / sample).glob("*.npy"):
        copy(path, tmp_path)
    inputs = {name: np.load(path) for name, path in made.inputs.items()}
    before = macaw.assemble(*made.sources)
    after = macaw.assemble(tmp_path / followed)
    job = make_job(before, configuration_of(before, None), inputs)
    named = {(x.core, x.cause, place_of(x.where)): x for x in findings.find(charge_job(job))[:2]}
    found = named[finding]
    slow, fast = macaw.run(before, inputs), macaw.run(after, inputs)
    for name, values in slow.outputs.items():
        np.testing.assert_array_equal(values, fast.outputs[name])
    assert 0.2 * found.saved <= slow.cycles - fast.cycles <= 1.25 * found.saved


# What cannot be saved --------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["nnp_conv3x3", "nnp_maxpool", "nnp_mlp"])
def test_a_pipeline_that_no_order_of_chains_fills_is_no_finding(sample: str) -> None:
    run = charged_sample(sample)
    (account,) = (account for account in run.accounts if account.core == "nnp")
    fill = sum(line.causes.get("fill", 0) for line in account.lines)
    assert fill > 0.3 * account.cycles
    assert findings.find(run) == ()


@pytest.mark.long
def test_data_that_the_array_makes_itself_cannot_be_sent_earlier() -> None:
    """Data that the array computes itself cannot be sent earlier, so waits for them are no finding.

    In digits_cnn, each layer reads what the layer before has stored (cause order).
    """
    run = charged_sample("digits_cnn")
    (account,) = (account for account in run.accounts if account.core == "pe[0]")
    sums: Counter[str] = Counter()
    for line in account.lines:
        sums.update(line.causes)
    assert sums["order"] > 2 * sums["bus"] > 0
    assert "bus" not in {finding.cause for finding in findings.find(run)}


# By hand ---------------------------------------------------------------------------------------

WORK = Charge("work", 0)


def stall(address: int, cause: str = "results") -> Charge:
    return Charge(cause, address)


def line(number: int, file: str = "/x/a.s") -> SourceLine:
    return SourceLine(file, number, 0, f"{file.rpartition('/')[2]}:{number}", "add")


Steps = dict[int, dict[tuple[int, int, int], list[int]]]


def run_of(
    charges: dict[str, list[tuple[int, int, Charge]]],
    lines: dict[int | None, SourceLine],
    least: dict[str, int] | None = None,
    steps: Steps | None = None,
    along: dict[Charge, dict[Charge, int]] | None = None,
) -> ChargedRun:
    """A run of cores with one compute unit each; the row of `pe[0]` is `pe`."""
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
        {core: {} for core in charges},
        dict.fromkeys(charges, ()),
        dict.fromkeys(charges, steps or {}),
        {core: mendable()[core.partition("[")[0]] for core in charges},
        dict.fromkeys(charges, 1.0),
        dict.fromkeys(charges, along or {}),
        {core: {} for core in charges},
        {},
        {},
        {},
        lambda addresses: end,
    )


def summary(run: ChargedRun) -> list[tuple[str, str, str, int]]:
    return [(x.core, x.cause, place_of(x.where), x.saved) for x in findings.find(run)]


LINES = {None: NOWHERE, 0: line(1), 4: line(5), 8: line(9), 12: line(90)}


def test_lines_near_each_other_are_one_finding() -> None:
    spans = [(0, 50, WORK), (50, 60, stall(4)), (60, 90, stall(8)), (90, 105, stall(12))]
    run = run_of({"vc": [*spans, (105, 120, WORK)]}, LINES)
    assert summary(run) == [("vc", "results", "a.s:9", 40), ("vc", "results", "a.s:90", 15)]
    assert findings.find(run)[0].others == ("a.s:5: add",)
    assert findings.find(run)[0].cycles == 40


def test_what_saves_less_than_three_hundredths_is_no_finding() -> None:
    for cycles, wanted in ((29, []), (30, [("vc", "results", "a.s:5", 30)])):
        spans = [(0, 1000 - cycles, WORK), (1000 - cycles, 1000, stall(4))]
        assert summary(run_of({"vc": spans}, LINES)) == wanted


def test_what_saves_less_than_ten_cycles_is_no_finding() -> None:
    for cycles, wanted in ((9, []), (10, [("vc", "results", "a.s:5", 10)])):
        spans = [(0, 100 - cycles, WORK), (100 - cycles, 100, stall(4))]
        assert summary(run_of({"vc": spans}, LINES)) == wanted


def test_the_first_of_several_accesses_stays() -> None:
    for count, wanted in ((1, []), (2, [30]), (6, [150])):
        spans = [(k, k + 10, WORK) for k in range(0, 300, 10)]
        for k in range(count):
            spans += [(300 + 40 * k, 330 + 40 * k, stall(4, "latency"))]
            spans += [(330 + 40 * k, 340 + 40 * k, WORK)]
        assert [x.saved for x in findings.find(run_of({"cp": spans}, LINES))] == wanted


def test_what_comes_before_the_first_work_of_a_list_stays() -> None:
    spans = [(0, 40, stall(4, "packets")), (40, 50, WORK), (50, 70, stall(4, "packets"))]
    assert [x.saved for x in findings.find(run_of({"pe[0]": spans}, LINES))] == [20]


def test_imbalance_costs_what_another_order_of_the_rows_saves() -> None:
    """Imbalance costs the cycles that another order of the rows saves.

    Each of two steps takes as many cycles as the longest of its 4 PEs has entries: 8 + 8, or 8 + 2
    if the rows are sorted. The mean of each step is 5.
    """
    spans = [(0, 40, WORK), (40, 100, stall(4, "imbalance"))]
    uneven: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (0, 2, 0): [2, 8, 2, 8]}}
    run = run_of({"pe[0]": spans}, LINES, steps=uneven)
    assert [x.saved for x in findings.find(run)] == [60]
    # the same rows twice, as two steps that work on the same packet
    twice = {**uneven, 8: uneven[4]}
    assert [x.saved for x in findings.find(run_of({"pe[0]": spans}, LINES, steps=twice))] == [60]
    equal: Steps = {4: {(0, 1, 0): [8, 2, 2, 2]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=equal)) == []
    # the same rows, but in clusters that work at the same time, or in lists one after the other
    clusters: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (0, 1, 1): [2, 8, 2, 8]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=clusters)) == []
    lists: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (1, 2, 0): [2, 8, 2, 8]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=lists)) == []


def test_a_transfer_cannot_end_earlier_than_if_the_dma_never_paused() -> None:
    """A finding about transfers counts only pauses of the dma.

    While cp waits for the second transfer, the dma works all the time, or has paused for 60 cycles.
    """
    for begin, wanted in ((50, []), (110, [60])):
        charges = {
            "cp": [
                (0, 10, WORK), (10, 50, Charge("transfers", 4, "dma")), (50, 110, WORK),
                (110, begin + 100, Charge("transfers", 4, "dma")), (begin + 100, 330, WORK),
            ],
            "dma": [(10, 50, WORK), (begin, begin + 100, WORK)],
        }  # fmt: skip
        assert [x.saved for x in findings.find(run_of(charges, LINES))] == wanted


def test_what_has_slack_is_no_finding() -> None:
    """A stall with slack is no finding.

    cp waits for nnp, which takes longer than vc with its stall.
    """
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
    """The same stall of two cores is one finding: removing it from one core alone saves nothing."""
    waits = Charge("cores", 0, "pe[0], pe[1]")
    of_row = [(5, 20, WORK), (20, 120, stall(4, "packets"))]
    run = run_of(
        {
            "cp": [(0, 10, WORK), (10, 120, waits), (120, 130, WORK)],
            "pe[0]": of_row,
            "pe[1]": of_row,
        },
        LINES,
    )
    assert summary(run) == [("pe", "packets", "a.s:5", 100)]


def test_a_producer_of_several_accesses_vanishes_with_all_of_them() -> None:
    """Work that makes values for narrow stores is removed in proportion to these stores.

    The stores make a third, two thirds and all of the accesses of the work.
    """
    stores = [Charge("narrow", 8, "", 4), Charge("narrow", 8, "", 4), Charge("narrow", 12, "", 4)]
    for count, wanted in ((1, 20), (2, 40), (3, 60)):
        spans = [(0, 40, WORK), (40, 70, Charge("work", 4))]
        spans += [(70 + 10 * n, 80 + 10 * n, stores[n]) for n in range(count)]
        along = {
            stores[n]: {Charge("work", 4): 10 * stores[:count].count(stores[n])}
            for n in range(count)
        }
        run = run_of({"vc": spans}, {**LINES, 12: line(10)}, along=along)
        assert summary(run) == [("vc", "narrow", "a.s:9", wanted)]


# What vanishes along with a cause ---------------------------------------------------------------


def test_only_loads_of_bytes_side_by_side_vanish_with_narrow_stores() -> None:
    """If the loaded bytes are apart, no wider load replaces them, so only the stores vanish."""
    program = (PAIRS / "copied.s").read_text()
    apart = program.replace("lbu     t1, \\k + 1(s0)", "lbu     t1, \\k + 65(s0)")
    apart = apart.replace("lbu     t2, \\k + 2(s0)", "lbu     t2, \\k + 130(s0)")
    apart = apart.replace("lbu     t3, \\k + 3(s0)", "lbu     t3, \\k + 195(s0)")
    assert apart.count("+ 195") == 1
    prices = []
    for text in (program, apart):
        job = make_job(
            made := macaw.assemble(Source(text, "c.s")), configuration_of(made, None), {}
        )
        prices.append(next(x.saved for x in findings.find(charge_job(job)) if x.cause == "narrow"))
    assert prices == [480, 240]


@pytest.mark.parametrize(
    ("instead", "served"),
    [
        ("", 1),
        ("sw s1, 64(a0)", 0),  # a store elsewhere
        ("lw s3, 64(a0)", 0),  # data that may be for something else
        ("mem.swap zero", 0),  # a command to another core
    ],
)
def test_which_instructions_of_cp_only_serve_transfers(instead: str, served: int) -> None:
    """Of the 64 turns of the loop in pieces.s, the last 63 bring cp to the next transfer."""
    text = (
        (PAIRS / "pieces.s")
        .read_text()
        .replace("addi    s2, s2, 16\n", f"addi    s2, s2, 16\n{instead}\n")
    )
    program = macaw.assemble(Source(text.replace("give:", ".space 64\ngive:"), "p.s"))
    job = make_job(program, configuration_of(program, None), {"x": np.zeros(1024, np.int8)})
    errands = charge_job(job).errands["cp"]
    shares = [share for of_copy in errands.values() for share in of_copy.values()]
    assert shares == [pytest.approx(63 / 64)] * 8 * served


TRANSFERS = """
        .device tiny
        .core   cp
        .irp    n, {transfers}
        la      a0, copy\\n
        dma.copy zero, a0
        .endr
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .balign 4
copy0:  .word   {to}, x, {size}, 1, 0, 0
copy1:  .word   {to} + {size}, x + {size}, {size}, 1, 0, 0
copy2:  .word   {to}, x, 2 * {size}, 1, 0, 0
        .balign 64
x:      .space  2 * {size}
"""


@pytest.mark.parametrize("size", [32, 128, 512])
@pytest.mark.parametrize("to", ["0x10000000", "0x40000000", "x + 8192"])
def test_two_transfers_cost_what_one_of_twice_the_size_saves(to: str, size: int) -> None:
    """To on-chip memory, to a bank of an island, and within external memory.

    The single transfer reads while it writes, except within external memory.
    """

    def charged(transfers: str) -> ChargedRun:
        text = TRANSFERS.format(transfers=transfers, to=to, size=size)
        program = macaw.assemble(Source(text, "t.s"))
        return charge_job(make_job(program, configuration_of(program, None), {}))

    two, one = charged("0, 1"), charged("2")
    (finding,) = findings.find(two)
    assert (finding.core, finding.cause) == ("dma", "latency")
    assert finding.saved == pytest.approx(two.cycles - one.cycles, rel=0.15)


def test_rows_without_work_count_if_others_share_the_work() -> None:
    """Three rows, one or two without work: each of the others gives up what exceeds the mean.

    Of work that cannot be divided at all, there is nothing to give up.
    """
    waits = Charge("cores", 0, "pe[0], pe[1]")
    work = [(10, 310, WORK)]
    charges = {
        "cp": [(0, 10, WORK), (10, 310, waits), (310, 320, WORK)],
        "pe[0]": work,
        "pe[1]": work,
        "pe[2]": [],
    }
    alone = {**charges, "pe[1]": []}
    for of_cores, undivided, wanted in (
        (charges, 0.1, [100]),
        (charges, 0.75, [75]),
        (charges, 1.0, []),
        (alone, 0.1, [200]),
        (alone, 0.5, [150]),
        (alone, 1.0, []),
    ):
        run = replace(run_of(of_cores, LINES), undivided=dict.fromkeys(charges, undivided))
        assert [x.saved for x in findings.find(run) if x.cause == "imbalance"] == wanted


@pytest.mark.parametrize(
    ("image", "undivided", "is_priced"), [("x", 1 / 17, True), ("results", 1.0, False)]
)
def test_a_list_that_reads_its_own_results_is_not_divided(
    image: str, undivided: float, is_priced: bool, tmp_path: Path
) -> None:
    """Alone.s with a second layer of eight neurons: its image is x, or what the first layer stored.

    In the second case another row could compute its neurons only with the results of row 0.
    """
    copy(PAIRS / "ahead.npy", tmp_path)
    text = (PAIRS / "alone.s").read_text()
    for before, after in (
        ("        .output y, int32, 16, 8\n", ""),
        (
            "w\\row:",
            "y:      .array  int32, 17, 8\n        .view   results, int8, 64, at=y\nw\\row:",
        ),
        (
            "        .endr\n        .endm\n",
            f"        .endr\n        exe     ib=0, data=({image})\n"
            "        exe     ib=1, last, data=(w\\row[0]), out=y[16]\n        .endm\n",
        ),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    (tmp_path / "two.s").write_text(text)
    program = macaw.assemble(tmp_path / "two.s")
    inputs = {name: np.ones(64, np.int8) for name in ("x", "x1")}
    run = charge_job(make_job(program, configuration_of(program, None), inputs))
    assert run.undivided["pe[0]"] == pytest.approx(undivided)
    causes = [(x.core, x.cause) for x in findings.find(run)]
    assert (("pe", "imbalance") in causes) == is_priced


def test_lines_that_macaw_adds_are_no_finding() -> None:
    spans = [(0, 50, WORK), (50, 100, stall(4, "long"))]
    assert summary(run_of({"cp": spans}, {**LINES, 4: line(5, "<default cp>")})) == []
    assert summary(run_of({"cp": spans}, LINES)) == [("cp", "long", "a.s:5", 50)]


def test_work_and_causes_without_advice_are_no_finding() -> None:
    for core, cause in (("pe[0]", "handover"), ("pe[0]", "fill"), ("nnp", "results")):
        run = run_of({core: [(0, 50, WORK), (50, 100, stall(4, cause))]}, LINES)
        assert summary(run) == []
    assert summary(run_of({"fim[0]": [(0, 190, WORK)], "fim[1]": [(0, 30, WORK)]}, LINES)) == []


def test_what_the_work_takes_anyway_is_left_out() -> None:
    spans = [(0, 40, WORK), (40, 100, stall(4, "bus"))]
    for least, wanted in ((0, 60), (70, 30), (90, 10)):
        run = run_of({"pe[0]": spans}, LINES, {"bus": least})
        assert summary(run) == [("pe[0]", "bus", "a.s:5", wanted)]
    assert summary(run_of({"pe[0]": spans}, LINES, {"bus": 120})) == []


def test_no_findings_in_mark_mode_or_if_they_are_left_out() -> None:
    program = macaw.assemble(PAIRS / "stride.s")
    assert profile(program).findings == found("stride")
    assert profile(program, options=ProfileOptions(findings=False)).findings == ()
    use = "div t0, t1, t2\nadd t0, t0, t0\n" * 4
    text = f".device tiny\n.core vc\ntrace_begin 0\n{use}trace_end 0\n"
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


def test_each_cause_has_an_advice_or_a_reason_why_it_has_none() -> None:
    assert set(BY_CAUSE).isdisjoint(WITHOUT_ADVICE)
    assert set(BY_CAUSE) | set(WITHOUT_ADVICE) == LEAVES


def test_each_advice_has_a_pair_that_shows_it() -> None:
    cores = {(cause, core) for core, causes in mendable().items() for cause in causes}
    assert {cause for cause, _ in cores} == set(BY_CAUSE)
    assert cores == {(pair.cause, pair.core.partition("[")[0]) for pair in PAIRED}


def test_findings_that_save_the_same_are_in_order_of_cycles_then_of_lines() -> None:
    """Of findings that save 30 cycles each, the one with most cycles is first, then the first line.

    Two accesses of 30 cycles have 60 cycles, but save 30. Two waits have 30 cycles each and save
    30.
    """
    access = [(30, stall(8, "latency")), (10, WORK), (30, stall(8, "latency")), (10, WORK)]
    waits = [(30, stall(12, "long")), (10, WORK), (30, stall(4, "branches")), (10, WORK)]
    for pieces in (access + waits, waits + access, waits[2:] + access + waits[:2]):
        spans, at = [(0, 300, WORK)], 300
        for length, charge in pieces:
            spans.append((at, at + length, charge))
            at += length
        found = findings.find(run_of({"cp": spans}, {**LINES, 12: line(7)}))
        assert [(x.saved, x.cycles, place_of(x.where)) for x in found] == [
            (30, 60, "a.s:9"), (30, 30, "a.s:5"), (30, 30, "a.s:7"),
        ]  # fmt: skip


def test_findings_that_save_the_same_are_in_order_of_numbers_of_lines() -> None:
    """Line 9 comes before line 10, and file a.s before b.s; sorted as text, line 10 would be first."""
    lines = {None: NOWHERE, 0: line(1), 4: line(10), 8: line(9), 12: line(2, "/x/b.s")}
    spans, at = [(0, 300, WORK)], 300
    for address, cause in ((12, "branches"), (4, "results"), (8, "lanes")):
        spans += [(at, at + 30, stall(address, cause)), (at + 30, at + 60, WORK)]
        at += 60
    found = findings.find(run_of({"vc": spans}, lines))
    assert [(x.saved, place_of(x.where)) for x in found] == [
        (30, "a.s:9"), (30, "a.s:10"), (30, "b.s:2")
    ]  # fmt: skip


def test_lines_with_equal_cycles_of_a_cause_are_in_order_of_their_numbers() -> None:
    """In the account of causes, line 9 comes before line 10 if both have the same cycles."""
    loop = "\n".join(["mul a0, a1, a2"] * 3)
    source = Source(
        f".device tiny\n.core vc\n\n\n\n\n\n{loop}\nli a0, 0\nli a7, 93\necall\n", "a.s"
    )
    program = macaw.assemble(source)
    run = charge_job(make_job(program, configuration_of(program, None), {}))
    (account,) = (account for account in run.accounts if account.core == "vc")
    (work,) = (cause for cause in account.causes if cause.name == "work")
    assert [place_of(x) for x in work.lines][:5] == [f"a.s:{n}" for n in range(8, 13)]
