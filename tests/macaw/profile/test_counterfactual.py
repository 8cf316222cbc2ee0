"""The end of a run without some of its cycles: by hand, and against real programs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu.charges import Charge, CoreLog
from macaw.emu.moves import Move
from macaw.execution import configuration_of
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.counterfactual import CoreWork, LoggedWait, RunGraph
from macaw.profiling.recording import make_job
from tests.macaw.profile.programs import six_cores

pytestmark = pytest.mark.once

WORK, STALL = Charge("work", 0), Charge("loads", 4)


def log(*charges: tuple[int, int, Charge]) -> CoreLog:
    """The log of a core with charges (begin, end, charge) in their order."""
    made = CoreLog()
    for begin, until, charge in charges:
        made.add(begin, charge)
        made.add(until, None)
    return made


def graph_of(logs: dict[str, CoreLog]) -> RunGraph:
    """The graph of a run that ends with its last charge."""
    return RunGraph(logs, max(log.begins[-1] for log in logs.values()), moves=None, readers=None)


def wait(whom: str, at: int = 0) -> Charge:
    return Charge("cores", at, whom)


def charged(text: str, inputs: dict[str, np.ndarray] | None = None) -> ChargedRun:
    program = macaw.assemble(Source(text, "case.s"))
    job = make_job(program, configuration_of(program, None), inputs or {})
    return charge_job(job)


# The work of a core ----------------------------------------------------------------------------


def test_work_is_what_is_neither_idle_nor_a_wait() -> None:
    made = log((0, 8, WORK), (8, 34, STALL), (40, 44, wait("vc")), (44, 50, WORK))
    work = CoreWork(made, 50)
    assert work.busy == [(0, 34), (44, 50)]
    assert work.busy_cycles == 40
    assert work.waits == [LoggedWait(40, 44, wait("vc"))]


def test_what_is_after_the_run_is_left_out() -> None:
    made = log((0, 10, WORK), (10, 20, STALL), (30, 40, WORK), (45, 60, wait("vc")))
    work = CoreWork(made, 35)
    assert work.busy == [(0, 20), (30, 35)]
    assert work.waits == []
    assert work.taken({WORK: 1.0}, [0, 5, 10, 20, 30, 35, 50]).tolist() == [
        0,
        5,
        10,
        10,
        10,
        15,
        15,
    ]


def test_a_core_without_charges_has_no_work() -> None:
    assert CoreWork(CoreLog(), 35).busy == []
    assert RunGraph(
        {"cp": log((0, 35, WORK)), "vc": CoreLog()}, 35, moves=None, readers=None
    ).work.keys() == {"cp"}


# By hand ---------------------------------------------------------------------------------------


def test_work_with_slack_may_get_shorter_without_an_effect() -> None:
    """Work with slack can be removed without an effect on the run.

    vc and nnp start together; cp waits for both, and nnp takes 60 cycles longer.
    """
    logs = {
        "cp": log((0, 10, WORK), (10, 110, wait("vc, nnp")), (110, 120, WORK)),
        "vc": log((5, 20, WORK), (20, 40, STALL)),
        "nnp": log((6, 56, WORK), (56, 100, STALL)),
    }
    graph = graph_of(logs)
    assert graph.end() == graph.cycles == 120
    assert graph.end({"vc": {STALL: 1.0}}) == 120
    assert graph.end({"nnp": {STALL: 0.5}}) == 98
    # below the end of vc, the run gets no shorter by nnp alone
    assert graph.end({"nnp": {STALL: 1.0, WORK: 1.0}}) == 60
    assert graph.end({"nnp": {STALL: 1.0, WORK: 1.0}, "vc": {STALL: 1.0}}) == 40


def test_an_event_in_the_middle_of_work_moves_with_the_work_before_it() -> None:
    """An event in the middle of work moves with the work before it.

    cp starts vc in cycle 50, after 30 cycles of a stall, and stalls again later.
    """
    logs = {
        "cp": log((0, 20, WORK), (20, 50, STALL), (50, 60, WORK), (60, 90, STALL)),
        "vc": log((50, 150, WORK)),
    }
    graph = graph_of(logs)
    assert graph.end() == 150
    assert graph.end({"cp": {STALL: 1.0}}) == 120
    assert graph.end({"cp": {STALL: 0.5}}) == 135


def test_a_wait_that_does_not_take_place_leaves_the_order_of_each_core() -> None:
    """Without some waits, work of other cores overlaps, but each core keeps its order.

    dma and vc work twice, one after another; without cp's waits for the dma, they overlap.
    """
    logs = {
        "cp": log(
            (0, 10, WORK), (10, 40, wait("dma")), (40, 50, WORK), (50, 100, wait("vc")),
            (100, 110, WORK), (110, 140, wait("dma")), (140, 150, WORK), (150, 200, wait("vc")),
            (200, 205, WORK),
        ),
        "dma": log((10, 40, WORK), (110, 140, WORK)),
        "vc": log((50, 100, WORK), (150, 200, WORK)),
    }  # fmt: skip
    graph = graph_of(logs)
    waits = {
        name: [i for i, item in enumerate(graph.work["cp"].waits) if item.charge.whom == name]
        for name in ("dma", "vc")
    }
    assert graph.end() == 205
    assert graph.end(dropped=[("cp", n) for n in waits["dma"]]) == 175
    # vc is the last one to end: its own work stays
    assert graph.end(dropped=[("cp", n) for n in [*waits["dma"], *waits["vc"]]]) == 170


TURN_LOGS = {
    "cp": log(
        (0, 10, WORK), (10, 50, wait("dma")), (50, 60, WORK), (60, 100, wait("vc")),
        (100, 110, WORK), (110, 150, wait("dma")), (150, 160, WORK), (160, 200, wait("vc")),
        (200, 205, WORK),
    ),
    "dma": log((10, 50, WORK), (110, 150, WORK)),
    "vc": log((60, 100, WORK), (160, 200, WORK)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("second", "wanted"),
    [
        # vc works from 50 on, when the first data are there, and then from 110 on, when cp starts
        # it: at 90 the second data could be there, because the dma paused from 50 to 100.
        (Move(110, end=150, used={"vc": 160}, is_inward=True), 155),
        # vc itself made the second data, 35 cycles after its start, so cp sends them at 100.
        (Move(110, end=150, used={"vc": 160}, made={"vc": 95}), 185),
        # nobody uses the second data, so only the dma ends with them
        (Move(110, end=150, is_inward=True, is_outward=True), 155),
    ],
)
@pytest.mark.parametrize("readers", [{"vc"}, set()])
def test_work_starts_no_earlier_than_its_data(second: Move, wanted: int, readers: set[str]) -> None:
    """Without cp's waits for the dma, vc still waits for the data that it uses.

    If it is not known what vc reads, data that go to the chip are for its next work.
    """
    first = Move(10, end=50, used={"vc": 60} if readers else {}, is_inward=True)
    moves = {"dma": [first, second]}
    graph = RunGraph(TURN_LOGS, 205, moves, {"dma": readers})
    waits = [
        ("cp", n) for n, item in enumerate(graph.work["cp"].waits) if item.charge.whom == "dma"
    ]
    assert graph.end() == 205
    assert graph.end(dropped=waits) == wanted


def test_a_wait_for_a_core_that_waits_is_for_what_that_one_waited_for() -> None:
    """cp waits for the dma, which after its work waits for nnp; if nnp is done sooner, so is cp."""
    logs = {
        "cp": log((0, 10, WORK), (10, 110, wait("dma")), (110, 120, WORK)),
        "dma": log((5, 20, WORK), (20, 105, wait("nnp"))),
        "nnp": log((6, 56, WORK), (56, 100, STALL)),
    }
    graph = graph_of(logs)
    assert graph.end() == 120
    assert graph.end({"nnp": {STALL: 1.0}}) == 76
    assert graph.end({"nnp": {STALL: 1.0, WORK: 1.0}}) == 40  # the dma ends in cycle 20


def test_cores_with_several_units_lose_the_mean_of_their_units() -> None:
    made = CoreLog()
    made.divide(0, 100, {WORK: 3, STALL: 1})
    made.add(100, None)
    assert (
        RunGraph({"pe[0]": made}, 100, moves=None, readers=None).end({"pe[0]": {STALL: 1.0}}) == 75
    )


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
    """The charged run of a loop that loads several vectors and then uses them."""
    loads = [f"vld vr{k}, {16 * k}(s0)" for k in range(together)]
    uses = [f"vadd.b vr{k}, vr{k}, vr{k}" for k in range(together)]
    return charged(LOOP.format(turns=turns, step=16 * together, loop="\n".join(loads + uses)))


def share_of(run: ChargedRun, core: str, cause: str) -> dict[Charge, float]:
    return {charge: 1.0 for charge in run.charges[core] if charge.cause == cause}


def test_a_stall_that_vanishes_is_what_the_unrolled_program_saves() -> None:
    slow, fast = loads_of(60, 1), loads_of(12, 5)
    graph = RunGraph(slow.logs, slow.cycles, moves=None, readers=None)
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
    """Removing a wait from the graph saves the cycles that the overlapped program saves.

    One program waits for each transfer at once; the other works meanwhile and waits at the end.
    """
    slow, fast = turns(bytes_, work, "dma.wait zero"), turns(bytes_, work, "")
    graph = RunGraph(slow.logs, slow.cycles, moves=None, readers=None)
    waits = [("cp", number) for number in range(len(graph.work["cp"].waits))]
    saved = graph.cycles - fast.accounts[0].cycles
    assert graph.cycles - graph.end(dropped=waits) == pytest.approx(saved, rel=0.1)


def test_without_a_change_the_replay_ends_with_the_run() -> None:
    program, inputs = six_cores()
    job = make_job(program, configuration_of(program, None), inputs)
    run = charge_job(job)
    graph = RunGraph(run.logs, run.cycles, moves=None, readers=None)
    assert len(graph.work) == 6
    assert graph.end() == graph.cycles == run.cycles


# Who made and used the data of transfers -------------------------------------------------------

FLOW = """
        .device tiny
        .input  x, int8, 64
        .output y, int8, 64
        .equ    UNIT, 0x10000000
        .core   cp
_start: la      a0, take
        dma.copy zero, a0
        dma.wait zero
        li      t0, 2
        la      t1, work
        core.start t0, t1
        li      t0, 4
        core.wait t0
        la      a0, give
        dma.copy zero, a0
        la      a0, back
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
take:   .word   UNIT, x, 64, 1, 0, 0
give:   .word   y, UNIT + 128, 64, 1, 0, 0
back:   .word   UNIT + 256, y, 64, 1, 0, 0
        .core   vc
work:   li      t0, UNIT
        vld     vr0, 16(t0)
        vst     vr0, 128(t0)
        vst     vr0, 144(t0)
        li      a0, 0
        li      a7, 93
        ecall
"""


def test_who_made_and_used_the_data_of_transfers() -> None:
    """vc reads what the first transfer brought and stores what the second takes away.

    The third transfer brings back what the second has moved, and nobody uses that.
    """
    run = charged(FLOW, {"x": np.zeros(64, np.int8)})
    take, give, back = run.moves["dma"]
    ends = RunGraph(run.logs, run.cycles, moves=None, readers=None).work["vc"]
    ((begin, end),) = ends.busy
    assert take.used.keys() == {"vc"}
    assert take.end < begin <= take.used["vc"] <= end
    assert (take.made, take.sources, take.is_inward, take.is_outward) == ({}, set(), True, False)
    assert give.made.keys() == {"vc"}
    assert take.used["vc"] < give.made["vc"] <= end < give.begin
    assert (give.used, give.is_inward, give.is_outward) == ({}, False, True)
    assert (back.made, back.sources, back.used) == ({}, {give}, {})
    assert "vc" in run.readers["dma"]
