"""Findings: causes that make a run longer; following the advice saves the stated price.

Each program of `pairs` has a flaw. With `-D MENDED=1` it follows the advice and has no flaw.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from shutil import copy
from typing import NamedTuple

import numpy as np
import pytest

import macaw
from docs.causes import mendable
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.execution import configuration_of
from macaw.golden_description import read_description
from macaw.isa.advice import ADVICE, BY_CAUSE, WITHOUT_ADVICE
from macaw.isa.causes import BY_NAME, CAUSES
from macaw.profiling import findings
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.model import Finding
from macaw.profiling.phrases import saved_note
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import item_inputs, make_job
from macaw.profiling.schema import profile_schema
from tests.macaw.profile.charged_runs import place_of

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
def loaded(name: str, *, mended: bool) -> tuple[Program, dict[str, np.ndarray]]:
    """A program and its inputs."""
    program = macaw.assemble(PAIRS / f"{name}.s", defines={"MENDED": 1} if mended else {})
    return program, {
        x.name: (np.arange(np.prod(x.shape)) % 7 + 1).astype(x.dtype).reshape(x.shape)
        for x in program.inputs
    }


@cache
def charged(name: str, *, mended: bool) -> ChargedRun:
    """The charges of a program's run."""
    program, inputs = loaded(name, mended=mended)
    return charge_job(make_job(program, configuration_of(program, None), inputs))


@cache
def found(name: str, *, mended: bool = False) -> tuple[Finding, ...]:
    return findings.find(charged(name, mended=mended))


def cycles(name: str, *, mended: bool) -> int:
    return charged(name, mended=mended).accounts[0].cycles


def places(name: str) -> set[str]:
    """The lines that end with `# here`, in the form in which findings name them."""
    lines = (PAIRS / f"{name}.s").read_text().splitlines()
    return {f"{name}.s:{n}" for n, line in enumerate(lines, 1) if line.endswith("# here")}


# Following the advice --------------------------------------------------------------------------


@pytest.mark.few(20)
@pytest.mark.parametrize("pair", PAIRED, ids=lambda pair: pair.name)
def test_the_first_finding_is_what_the_mended_program_mends(pair: Pair) -> None:
    first, *_ = found(pair.name)
    assert (first.core, first.cause) == (pair.core, pair.cause)
    assert place_of(first.where) in places(pair.name)
    saved = cycles(pair.name, mended=False) - cycles(pair.name, mended=True)
    assert saved > 0
    assert first.saved == pytest.approx(saved, rel=TOLERANCE)


@pytest.mark.few(12)
@pytest.mark.parametrize("pair", PAIRED, ids=lambda pair: pair.name)
def test_the_mended_program_does_the_same_and_has_less_of_the_cause(pair: Pair) -> None:
    before, after = (
        macaw.run(*loaded(pair.name, mended=mended)).outputs for mended in (False, True)
    )
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
