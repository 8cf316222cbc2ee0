"""Cycles that delay nothing have no price, because the core would wait for something else."""

from __future__ import annotations

import pytest

import macaw
from macaw.asm.source import Source
from macaw.execution import configuration_of
from macaw.profiling import findings
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.recording import make_job

pytestmark = pytest.mark.once


def charged(text: str) -> ChargedRun:
    program = macaw.assemble(Source(text, "a.s"))
    return charge_job(make_job(program, configuration_of(program, None), {}))


def island(words: str) -> str:
    """A program whose cp starts an island with these words, and waits for its end."""
    return f"""
        .device tiny
        .core   cp
_start: li      a0, 8
        la      a1, words
        core.start a0, a1
        li      a0, 1 << 8
        core.wait a0
        li      a0, 0
        li      a7, 93
        ecall
        .core   fim, island=0
words:  .block  banks=0-3
act 0
mmr arrange, elementwise
{words}
end
    """


# The loop's words are done while the next column is not there yet.
HIDDEN_LOOP = island("""
mmr op, mul
rop <- iosa[0]
loop 32
rz <- rop * iosa[1]
endloop
""")
# Between two modes the circuits compute, so a program that sets each mode once takes as long.
HIDDEN_MODES = island(
    "\n".join(
        f"rop <- iosa[{n}]\nmmr op, add\nrz <- rop + iosa[{8 + n}]\nrop <- rz\nmmr op, relu\n"
        f"rz <- relu(rop)\niosa[{16 + n}] <- rz"
        for n in range(8)
    )
)
# Modes that are set twice: the second time takes a cycle each, the first time is needed. Registers
# are 0 at first, and so are three of the values.
VISIBLE_MODES = island("""
mmr accumulate, 0
.rept 2
mmr op, add
mmr op, sub
mmr op, mul
mmr op, div
mmr op, and
mmr op, or
mmr op, xor
mmr op, relu
mmr rz_slot, 1
mmr rz_slot, 2
mmr rz_slot, 3
.endr
""")


@pytest.mark.parametrize(
    ("text", "saved"), [(HIDDEN_LOOP, []), (HIDDEN_MODES, []), (VISIBLE_MODES, [14])]
)
def test_words_that_a_run_needs_or_hides_are_no_part_of_the_price(
    text: str, saved: list[int]
) -> None:
    """Words of an island that it does while it waits save nothing, nor does the first of each mode.

    In the last program the eleven modes of the second turn and three modes that are 0 already save
    a cycle each.
    """
    run = charged(text)
    issue = sum(n for x, n in run.charges["fim[0]"].items() if x.cause == "issue")
    assert issue > 0.1 * 4 * run.cycles
    assert [x.saved for x in findings.find(run) if x.cause == "issue"] == saved


# cp measures the time of the island, and does not exit if the island is faster than it was.
MEASURED = VISIBLE_MODES.replace("_start:", "_start: rdcycle s0\n").replace(
    "core.wait a0",
    "core.wait a0\nrdcycle s1\nsub s1, s1, s0\nli s0, {least}\nbgeu s1, s0, 1f\n{otherwise}\n1:",
)


@pytest.mark.parametrize("otherwise", ["ebreak", "2: j 2b"])
def test_a_program_that_does_not_exit_without_its_words(otherwise: str) -> None:
    """The price remains that of the cycles alone if the run without the words does not end."""
    run = charged(MEASURED.format(least=20, otherwise=otherwise))
    issue = sum(n for x, n in run.charges["fim[0]"].items() if x.cause == "issue")
    (estimate,) = [x.saved for x in findings.find(run) if x.cause == "issue"]
    assert 14 < estimate <= issue / 4
    run = charged(MEASURED.format(least=0, otherwise=otherwise))
    assert [x.saved for x in findings.find(run) if x.cause == "issue"] == [14]


# A loop of vc that loads what the next turn adds. The load takes longer than the rest of a turn.
LOOP = """
        .device tiny
        .core   vc
        li      s0, {address}
        li      s1, 64
        vld     vr0, (s0)
{turns}
        li      a0, 0
        li      a7, 93
        ecall
"""
TURN = """
        vadd.b  vr7, vr7, vr0
        addi    s0, s0, 16
        vld     vr0, (s0)
        addi    s1, s1, -1
"""


@pytest.mark.parametrize(("address", "is_hidden"), [(0x80000000, True), (0x10000000, False)])
def test_branches_during_a_load_are_no_finding(address: int, is_hidden: bool) -> None:
    """During a load of external memory, branches cost nothing; with on-chip memory they do.

    The same loop with four turns between two branches takes as long with external memory.
    """
    loop = f"1:{TURN}bnez s1, 1b"
    unrolled = f"1:{TURN * 4}bnez s1, 1b"
    slow, fast = (charged(LOOP.format(address=address, turns=x)) for x in (loop, unrolled))
    branches = [x.saved for x in findings.find(slow) if x.cause == "branches"]
    if is_hidden:
        assert slow.cycles - fast.cycles == 0
        assert branches == []
    else:
        (price,) = branches
        assert slow.cycles - fast.cycles == pytest.approx(price, rel=0.25)
