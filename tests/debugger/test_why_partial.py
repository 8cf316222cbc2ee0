"""`why` finds the same causes in a record of only the end of a run, or extends the record."""

from __future__ import annotations

from typing import Any

import pytest

from macaw.debugger.causes import record as record_module
from macaw.debugger.causes.cause_text import tree
from macaw.debugger.causes.record import _late_starts
from macaw.debugger.history import Checkpoint
from macaw.debugger.session import Session
from tests.debugger.programs import of_source, session
from tests.debugger.running import printed

pytestmark = pytest.mark.once


def causes(debug: Session, question: str, depth: int, partial: bool) -> list[dict[str, object]]:
    """The tree of causes of `question`, found in a new record.

    The record may be partial if `partial` is true; else it has the whole run.
    """
    search = debug.causes
    search._record = None
    finder = None if partial else search.finder()
    return tree(search.causes_of(question, finder), depth)


def agreed(debug: Session, question: str, depth: int = 7) -> bool:
    """Assert that both records give the same causes; return whether a partial one sufficed."""
    found = causes(debug, question, depth, partial=True)
    sufficed = debug.causes.record(whole=False).is_partial
    assert found == causes(debug, question, depth, partial=False), question
    return sufficed


def at(debug: Session, end: int, share: float, before: float) -> None:
    """Go to cycle `share` * `end`, with a checkpoint `before` * `end` cycles earlier."""
    debug.goto(0)
    debug.stepc(max(1, int(end * (share - before))))
    debug.checkpoint()
    debug.stepc(max(1, int(end * before)))


# Programs, and questions: outputs, registers, queues and buffers.
CASES = {
    "layer": ("y[0]", "y[3]", "pe[0].0.0.accumulators[0]", "pe[0].0.1.output[0]", "cp.a0", "cp.a1"),
    "vector_dot": ("y[0]", "vc.vr0", "vc.vr3", "vc.a0", "vc.t0"),
    "sparse_by_cp": ("y[0]", "bytes[0]", "cp.a0", "cp.t0"),
}


@pytest.mark.parametrize("name", CASES)
def test_partial_records_answer_as_whole_ones(name):
    debug = session(name)
    debug.cont()
    end = debug.device.cycle
    sufficed = 0
    for share, before in ((0.5, 0.2), (1.0, 0.02)):
        at(debug, end, share, before)
        for question in CASES[name]:
            sufficed += agreed(debug, question, depth=0)
        agreed(debug, CASES[name][0])
    assert sufficed


WORDS = """
        .core cp
_start: li   a1, 7
        la   a0, first
        sw   a1, (a0)
        la   a0, there
        dma.copy zero, a0
        dma.wait zero
        addi a2, a1, 1
        la   a0, second
        sw   a2, (a0)
        sw   zero, 4(a0)
        li   a7, 93
        li   a0, 0
        ecall
        .data
first:  .word 0
fixed:  .word 5
        .balign 4096
second: .word 0, 9
        .balign 4
there:  .word y, first, 8, 1, 0, 0
        .output y, int32, 2
"""


def test_what_came_before_the_record_widens_it():
    """If a value was written before the record begins, the record is extended."""
    debug = of_source(WORDS)
    while debug.stepi().reason == "step":
        debug.checkpoint()
    for question in (
        "y[0]",
        "y[1]",
        "mem[second].i32",
        "mem[second+4].i32",
        "mem[fixed].i32",
        "cp.a2",
    ):
        agreed(debug, question)


def test_a_page_of_the_program_that_is_never_written_needs_no_whole_record():
    debug = of_source("""
        .core cp
_start: la   a0, numbers
        lw   a1, 0(a0)
        addi a2, a1, 1
        li   a7, 93
        li   a0, 0
        ecall
        .data
numbers: .word 6, 7
""")
    debug.stepi(2)
    debug.checkpoint()
    debug.stepi(2)
    assert agreed(debug, "mem[numbers].i32")
    assert agreed(debug, "cp.a2", depth=1)
    (cause,) = debug.why("cp.a2")
    (loaded,) = (x for x in cause.causes if not x.setting)
    assert {x.how for x in loaded.causes} >= {"program"}


def starts(points: list[Checkpoint], end: int) -> list[int]:
    return [point.position[0] for point in _late_starts(points, end)]


def test_the_starts_of_records_grow():
    """Each longer record repeats about eight times as much of the run as the record before.

    Here checkpoints are 10 cycles apart, and the run takes the same time between all of them.
    """
    no_state: Any = None  # only the positions are looked at
    points = [Checkpoint((n, 0), no_state, {}, 1.0) for n in range(0, 1010, 10)]
    assert starts(points, 1010) == [920, 1000]
    assert starts(points, 1004) == [920, 990], "4 cycles are less than half of 10"
    assert starts(points, 1005) == [920, 1000]
    assert starts(points[:2], 100) == [10]
    assert starts(points[:1], 100) == []
    assert starts([], 100) == []


def test_steps_far_back_may_be_too_many(monkeypatch):
    """If a run has more steps than a record can hold, `why` finds near causes and says so."""
    debug = of_source(WORDS)
    debug.stepi(6)
    debug.checkpoint()
    debug.cont()
    monkeypatch.setattr(record_module, "MOST", debug.causes.record(whole=True).count - 4)
    debug.causes._record = None
    (cause,) = debug.why("y[0]")
    assert cause.how == "transfer 1"
    text = printed(debug, "why y[0]")
    assert "could not be recorded: it has more than" in text
