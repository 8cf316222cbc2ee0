"""Two runs side by side on other cores than cp: packets, queues, vectors, and how runs end.

A test also compares two sessions of one program whose steps have different counts.
"""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.debugger.both_runs import both_runs
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.commands.two_runs import other_of
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles, join_runs
from macaw.execution import configuration_of
from tests.debugger.programs import loaded, of_source

pytestmark = pytest.mark.once

# Sums of the array pass through an activation.
ARRAY = """
        .device tiny
        .output y, int8, 8
        .core   pe, row=0
sums:   .word   1, 2, 3, 4, 5, 6, 7, 8
more:   .word   9, 2, 3, 4, 5, 6, 7, 8
        .seq    s, activation=relu, shift=0
          ld    psums
          spu   nonsf
          spu   activation, src=0, dst=1
          st    base=1
        .endseq
        config  ib=0, s
        exe     ib=0, last, data=(psums sums sliced), out=y
"""
VECTOR = """
        .device tiny
        .core   vc
        la      a1, data
        vld     vr1, (a1)
        li      a0, 0
        li      a7, 93
        ecall
        .balign 16
data:   .half   1, 2, 3, 4, 5, 6, 7, 8
"""
CONTROL = """
        .device tiny
        .output y, int32, 2
        .core   cp
_start: la      s1, y
        li      a2, 5
        sw      a2, 0(s1)
        {more}
        li      a7, 93
        li      a0, 0
        ecall
"""


def side_by_side(one: str, two: str) -> tuple[Interpreter, Interpreter]:
    this, other = (Interpreter(of_source(x), DebuggerFiles()) for x in (one, two))
    join_runs(this, other, "a.s", "b.s")
    return this, other


def compared(one: str, two: str, text: str) -> tuple[Answer, dict[str, tuple[object, ...]]]:
    answer = side_by_side(one, two)[0].execute(f"compare {text}")
    return answer, {str(row[0]): tuple(row[1:]) for row in answer.rows}


def test_packets_differ_in_a_member_of_a_segment() -> None:
    answer, rows = compared(ARRAY, ARRAY.replace("psums sums", "psums more"), "packets")
    assert answer.title == "the first difference of packets is in pe[0], number 1"
    assert {name: rows[name] for name in ("by", "instruction")} == {
        "by": ("pe[0]", "pe[0]"), "instruction": ("packet exe ib=0, last",) * 2,
    }  # fmt: skip
    one, two = rows["segments[0].offset"]
    assert int(str(two)) - int(str(one)) == 8 * 4
    assert set(rows) == {"segments[0].offset", "by", "cycle", "at", "instruction"}


def test_nnp_stores_in_external_memory_without_a_port() -> None:
    """`compare n` finds the first vector of the results that the array of nnp has written."""
    program, inputs = loaded("six_cores")
    changed = inputs["d"].copy()
    changed[1, 0] += 1
    runs = [
        Session(program, configuration_of(program), inputs | {"d": d})
        for d in (inputs["d"], changed)
    ]
    this, other = (Interpreter(run, DebuggerFiles()) for run in runs)
    join_runs(this, other, "a", "b")
    answer = this.execute("compare n")
    rows = {row[0]: row[1:] for row in answer.rows}
    results = [macaw.run(program, inputs | {"d": d}).outputs["n"] for d in (inputs["d"], changed)]
    differences = np.argwhere(results[0] != results[1])
    assert differences[0][0] == 1
    first = tuple(differences[0])
    assert answer.title == f"the first difference of n is n[{first[0]}, {first[1]}]"
    assert rows["by"] == ("nnp", "nnp")
    assert [float(x) for x in rows["value"]] == [float(result[first]) for result in results]


def test_registers_of_vectors_have_their_lanes() -> None:
    _, rows = compared(VECTOR, VECTOR.replace("3, 4, 5", "3, 9, 5"), "registers vc")
    assert {name: value for name, value in rows.items() if "vr1" in name} == {
        "vc.vr1[6]": ("4", "9")
    }
    assert rows["instruction"] == ("vld vr1, 0(a1)",) * 2


def test_values_that_differ_from_their_begin() -> None:
    this, _ = side_by_side(ARRAY, ARRAY.replace(".word   1,", ".word   9,"))
    assert this.execute("compare y").title == "the first difference of y is y[0]"
    answer = this.execute("why y[0] against other")
    text = answer_text(answer)
    for step in ("st base=1", "spu activation, src=0, dst=1", "spu nonsf", "ld psums, base=0"):
        assert f" = 1 / 9: pe[0] {step}" in text
    assert "the values differ from their begin:\n  a.s: " in text
    assert [line.endswith("of the program test.s:5") for line in answer.lines[-2:]] == [True] * 2
    assert answer.data["reason"] == "origin"
    assert answer.data["detail"] is None


def test_equal_outputs_of_runs_that_end_otherwise() -> None:
    plain = CONTROL.format(more="")
    answer, _ = compared(plain, CONTROL.format(more="nop"), "y")
    first = "no difference of y up to the ends of both runs (1 compared)"
    ends = [line.rpartition(" ") for line in answer.lines[1:]]
    assert [end[0] for end in ends] == ["  a.s: exit at cycle", "  b.s: exit at cycle"]
    assert int(ends[1][2]) - int(ends[0][2]) == 1
    assert answer.lines[0] == first
    answer, _ = compared(plain, CONTROL.format(more="sh a2, 5(s1)"), "y")
    assert answer.lines[0] == first
    assert [line.split(" at ")[0] for line in answer.lines[1:]] == ["  a.s: exit", "  b.s: fault"]


def test_a_part_of_an_element_is_shown_as_bytes() -> None:
    answer, rows = compared(CONTROL.format(more=""), CONTROL.format(more="sb a2, 5(s1)"), "y")
    assert answer.title == "y[1] is written once more in one run"
    assert rows["value"] == (None, "0x05")
    answer, rows = compared(
        CONTROL.format(more="sh a2, 4(s1)"), CONTROL.format(more="li a2, 0x305\n sh a2, 4(s1)"), "y"
    )
    assert answer.title == "the first difference of y is y[1]"
    assert rows["value"] == ("0x0005", "0x0305")


def test_the_panel_has_queues_and_registers_that_differ() -> None:
    """The panel shows queues and registers that differ: one run has sums after `ld psums`."""
    this, other = side_by_side(ARRAY, ARRAY)
    for run in (this, other):
        run.session.set_focus("pe[0]")
    cycle = 80
    while not this.session.read("acc0").any():
        this.session.goto(cycle := cycle + 1)
    other.session.goto(*this.session.device.position)
    seen = both_runs(this.session, other_of(this.context))
    assert {row.name for row in seen.rows} == {"cycle", "at", "instruction", "stop"}
    equal = int(seen.message.split()[0])
    other.session.goto(cycle - 1)
    seen = both_runs(this.session, other_of(this.context))
    rows = {row.name: (row.this, row.other) for row in seen.rows}
    assert rows["acc0"] == ("1 2 3 4 5 6 7 8", "0 0 0 0 0 0 0 0")
    assert rows["output.level"] == ("8", "0")
    assert rows["cycle"][1] == str(cycle - 1)
    assert seen.message == f"{equal - 2} registers and queues of pe[0] are equal"


def test_the_panel_of_a_unit_that_the_other_device_does_not_have() -> None:
    """The other device has fewer PEs: its side has a dash for each register and queue of the PE."""
    this, other = side_by_side(CONTROL.format(more=""), CONTROL.format(more=""))
    program = other.session.program
    fewer = configuration_of(program).changed({"pe.pes": 2})
    other = Interpreter(Session(program, fewer, {}), DebuggerFiles())
    join_runs(this, other, "a", "b")
    this.session.set_focus("pe[0,0].3")
    seen = both_runs(this.session, other_of(this.context))
    names = [*(f"acc{n}" for n in range(4))]
    names += [f"{queue}.level" for queue in ("weights", "input", "q1", "q2", "output")]
    rows = [(row.name, row.this, row.other) for row in seen.rows]
    assert rows[1:-3] == [(name, "0", "-") for name in names]
    assert seen.message == "0 registers and queues of pe[0,0].3 are equal"


def test_a_count_of_steps_is_as_many_steps_also_of_clusters_in_one_cycle() -> None:
    """`stepi 5` equals five single steps, also if both clusters execute in one cycle."""
    one, many = (of_source(ARRAY) for _ in range(2))
    for run in (one, many):
        run.set_focus("pe[0]")
        run.goto(80)
    for _ in range(5):
        one.stepi()
    assert many.stepi(5).done == 5
    assert many.device.position == one.device.position
