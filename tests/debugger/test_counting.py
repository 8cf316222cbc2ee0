"""Counters of cores and groups of the trace, in tables and in a panel."""

from __future__ import annotations

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.frame_builder import FrameBuilder
from macaw.debugging import DebuggerFiles
from macaw.isa.trace import GROUP
from tests.debugger.programs import of_source

SOURCE = """
        .core cp
_start: li   s0, 5
        la   s3, data
        trace_begin 1
loop:   addi s1, s1, 3
        lw   s2, (s3)
        addi s0, s0, -1
        bnez s0, loop
        trace_end 1
        li   a7, 93
        ecall
        .data
data:   .word 1
"""


@pytest.fixture
def run():
    return Interpreter(of_source(SOURCE), DebuggerFiles())


def rows(run):
    return {row[1]: row[2:] for row in run.execute("info perf cp").rows}


def test_groups_of_the_trace_and_what_has_come(run):
    """The rows show each register of the trace and its change since the last stop.

    By hand: each round of the loop has two uses of the ALU and a beat.
    """
    run.execute("break test.s:9")  # `bnez`, before it
    run.execute("continue")
    first = rows(run)
    assert first["e_cu1"] == (2, 2, "uses")
    assert first["e_bus1"] == (1, 1, "beats")
    assert first["t_begin1"][::2] == (4, "cycle")
    assert "e_cu0" not in first
    run.execute("continue 2")
    second = rows(run)
    assert second["e_cu1"] == (6, 4, "uses")
    assert second["e_bus1"] == (3, 2, "beats")
    assert second["t_begin1"] == (4, 0, "cycle")
    assert second["external_reads"] == (3, 2, "beats")


def test_they_are_what_the_registers_say(run):
    run.execute("stepi 13")
    found = rows(run)
    core = run.session.core
    for row in GROUP:
        for group in range(core.trace.groups):
            name = f"{row.name}{group}"
            assert found.get(name, (0,))[0] == core.read_trace(name)


def test_the_panel_has_their_change_since_the_last_stop(run):
    builder = FrameBuilder(run, run.arrangement)
    builder.note_stop()
    for _ in range(2):
        run.execute("stepi 8")
        builder.note_stop()
    found = {row.name: row for row in builder.counters() if row.core == "cp"}
    assert (found["e_cu1"].value, found["e_cu1"].change) == (6, 4)
    assert (found["instructions"].value, found["instructions"].change) == (16, 8)
    assert found["t_rd_end1"].unit == "cycle"
