"""When a run would end without some cycles: by hand, and against what programs really save."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu.charges import Charge
from macaw.execution import configuration_of
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.charge_log import MOST_PERIODS, ChargeLog, LoggedWait, period_of
from macaw.profiling.counterfactual import RunGraph
from macaw.profiling.recording import make_job
from tests.programs.profiled import SIX_CORES, make_six_cores

pytestmark = pytest.mark.once

WORK, STALL = Charge("work", 0), Charge("loads", 4)


def log(*charges: tuple[int, int, Charge], period: int = 1, end: int = 1000) -> ChargeLog:
    """A closed log of a core with one unit."""
    made = ChargeLog(period)
    for begin, until, charge in charges:
        made.add(begin, until, charge, until - begin)
    made.close(end)
    return made


def wait(whom: str, at: int = 0) -> Charge:
    return Charge("cores", at, whom)


def charged(text: str, inputs: dict[str, np.ndarray] | None = None) -> ChargedRun:
    program = macaw.assemble(Source(text, "case.s"))
    job = make_job(program, configuration_of(program, None), inputs or {})
    return charge_job(job, 10_000)


# The log ---------------------------------------------------------------------------------------


def test_a_log_adds_up_the_charges_of_a_period() -> None:
    made = ChargeLog(10)
    made.add(0, 8, WORK, 8)
    made.add(8, 34, STALL, 52)  # two units
    made.add(40, 44, wait("vc"), 4)
    made.close(100)
    assert made.cycles == {
        (0, WORK): 8,
        (0, STALL): 4,
        (1, STALL): 20,
        (2, STALL): 20,
        (3, STALL): 8,
    }
    assert made.busy == [(0, 34)]
    assert made.waits == [LoggedWait(40, 44, wait("vc"))]


def test_a_log_forgets_what_is_after_the_run() -> None:
    made = ChargeLog(10)
    made.add(30, 40, WORK, 10)  # charges come in any order
    made.add(0, 10, WORK, 10)
    made.add(5, 20, STALL, 15)
    made.add(45, 60, wait("vc"), 15)
    made.close(35)
    assert made.busy == [(0, 20), (30, 35)]
    assert made.waits == []
    assert max(number for number, _ in made.cycles) == 3


def test_a_log_joins_what_overlaps() -> None:
    made = log((40, 60, WORK), (0, 10, WORK), (50, 70, STALL), (5, 20, STALL), (60, 65, WORK))
    assert made.busy == [(0, 20), (40, 70)]


def test_a_log_of_a_long_run_has_a_bounded_number_of_periods() -> None:
    assert period_of(100) == 1
    assert period_of(10_000_000) * MOST_PERIODS >= 10_000_000


# By hand ---------------------------------------------------------------------------------------


def test_work_with_slack_may_get_shorter_without_an_effect() -> None:
    """vc and nnp start together; cp waits for both, and nnp takes 60 cycles longer."""
    logs = {
        "cp": log((0, 10, WORK), (10, 110, wait("vc, nnp")), (110, 120, WORK)),
        "vc": log((5, 20, WORK), (20, 40, STALL)),
        "nnp": log((6, 56, WORK), (56, 100, STALL)),
    }
    graph = RunGraph(logs)
    assert graph.end() == graph.cycles == 120
    assert graph.end({"vc": {STALL: 1.0}}) == 120
    assert graph.end({"nnp": {STALL: 0.5}}) == 98
    # below the end of vc, the run gets no shorter by nnp alone
    assert graph.end({"nnp": {STALL: 1.0, WORK: 1.0}}) == 60
    assert graph.end({"nnp": {STALL: 1.0, WORK: 1.0}, "vc": {STALL: 1.0}}) == 40


def test_an_event_in_the_middle_of_work_moves_with_the_work_before_it() -> None:
    """cp starts vc in cycle 50, after 30 cycles of a stall, and stalls again after that."""
    logs = {
        "cp": log((0, 20, WORK), (20, 50, STALL), (50, 60, WORK), (60, 90, STALL)),
        "vc": log((50, 150, WORK)),
    }
    graph = RunGraph(logs)
    assert graph.end() == 150
    assert graph.end({"cp": {STALL: 1.0}}) == 120
    assert graph.end({"cp": {STALL: 0.5}}) == 135


def test_a_wait_that_does_not_take_place_leaves_the_order_of_each_core() -> None:
    """Two turns of dma and vc, one after the other; without the waits for dma they overlap."""
    logs = {
        "cp": log(
            (0, 10, WORK), (10, 40, wait("dma")), (40, 50, WORK), (50, 100, wait("vc")),
            (100, 110, WORK), (110, 140, wait("dma")), (140, 150, WORK), (150, 200, wait("vc")),
            (200, 205, WORK),
        ),
        "dma": log((10, 40, WORK), (110, 140, WORK)),
        "vc": log((50, 100, WORK), (150, 200, WORK)),
    }  # fmt: skip
    graph = RunGraph(logs)
    waits = {
        name: [i for i, item in enumerate(logs["cp"].waits) if item.charge.whom == name]
        for name in ("dma", "vc")
    }
    assert graph.end() == 205
    assert graph.end(dropped=[("cp", n) for n in waits["dma"]]) == 145
    # vc is the last one to end: its own work stays
    assert graph.end(dropped=[("cp", n) for n in [*waits["dma"], *waits["vc"]]]) == 120


def test_cores_with_several_units_lose_the_mean_of_their_units() -> None:
    made = ChargeLog(100)
    made.add(0, 100, WORK, 300)  # of four units
    made.add(0, 100, STALL, 100)
    made.close(100)
    graph = RunGraph({"pe[0]": made})
    assert graph.end({"pe[0]": {STALL: 1.0}}) == 75


# Against the emulator --------------------------------------------------------------------------

LOOP = """
        .device tiny
        .core   vc
        li      s0, 0x80010000
        li      s2, {turns}
1:      {loop}
        addi    s0, s0, {step}
        addi    s2, s2, -1
        bnez    s2, 1b
        li      a0, 0
        li      a7, 93
        ecall
"""


def loads_of(turns: int, together: int) -> ChargedRun:
    """A loop that loads several vectors and then uses them."""
    loads = [f"vld vr{k}, {16 * k}(s0)" for k in range(together)]
    uses = [f"vadd.b vr{k}, vr{k}, vr{k}" for k in range(together)]
    return charged(LOOP.format(turns=turns, step=16 * together, loop="\n".join(loads + uses)))


def share_of(run: ChargedRun, core: str, cause: str) -> dict[Charge, float]:
    return {charge: 1.0 for _, charge in run.logs[core].cycles if charge.cause == cause}


def test_a_stall_that_vanishes_is_what_the_unrolled_program_saves() -> None:
    slow, fast = loads_of(60, 1), loads_of(12, 5)
    graph = RunGraph(slow.logs)
    saved = graph.cycles - fast.accounts[0].cycles
    assert saved > 900
    price = graph.cycles - graph.end({"vc": share_of(slow, "vc", "loads")})
    assert price == pytest.approx(saved, rel=0.1)


TURNS = """
        .device tiny
        .equ    UNIT, 0x10000000
        .core   cp
_start: li      s0, 20
1:      la      a0, take
        dma.copy zero, a0
        {wait}
        li      t0, {work}
2:      addi    t0, t0, -1
        bnez    t0, 2b
        addi    s0, s0, -1
        bnez    s0, 1b
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
take:   .word   UNIT, 0x80010000, {bytes}, 1, 0, 0
"""


@cache
def turns(bytes_: int, work: int, wait: str) -> ChargedRun:
    return charged(TURNS.format(bytes=bytes_, work=work, wait=wait))


@pytest.mark.parametrize(("bytes_", "work"), [(512, 40), (2048, 20), (1024, 80)])
def test_a_wait_that_vanishes_is_what_the_overlapped_program_saves(bytes_: int, work: int) -> None:
    """cp waits for each transfer at once, or works meanwhile and waits in the end."""
    slow, fast = turns(bytes_, work, "dma.wait zero"), turns(bytes_, work, "")
    graph = RunGraph(slow.logs)
    waits = [("cp", number) for number in range(len(slow.logs["cp"].waits))]
    saved = graph.cycles - fast.accounts[0].cycles
    assert graph.cycles - graph.end(dropped=waits) == pytest.approx(saved, rel=0.1)


def test_without_a_change_the_replay_ends_with_the_run() -> None:
    program = macaw.assemble(SIX_CORES / "six_cores.s")
    inputs = {name: make_six_cores.tensors()[name] for name in ("x", "d", "e")}
    job = make_job(program, configuration_of(program, None), inputs)
    run = charge_job(job, 8730)
    graph = RunGraph(run.logs)
    assert len(graph.work) == 6
    assert graph.end() == graph.cycles == run.accounts[0].cycles
    # A coarse log knows less exactly when cycles vanish, and nothing else is different.
    coarse = RunGraph(charge_job(job, 400_000).logs)
    assert coarse.end() == graph.cycles
    for core in ("cp", "pe[0]", "dma"):
        gone = {core: {charge: 0.5 for _, charge in run.logs[core].cycles}}
        assert coarse.end(gone) == pytest.approx(graph.end(gone), rel=0.02)
