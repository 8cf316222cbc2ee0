"""Two runs side by side: the first difference, its causes in both, and commands for each run."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from macaw.debugger.both_runs import both_runs
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugging import DebuggerFiles, join_runs
from tests.debugger.programs import PROGRAMS, of_source
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once

SOURCE = """
        .device tiny
        .output y, int32, 4
        .core cp
_start: li   s0, 4
        li   a1, 10
        la   s3, y
loop:   addi a1, a1, {step}
        slli a2, a1, 1
        sw   a2, (s3)
        addi s3, s3, 4
        addi s0, s0, -1
        bnez s0, loop
        la   a0, copy
        dma.copy zero, a0
        dma.wait zero
        li   a7, 93
        li   a0, 0
        ecall
        .section .data.cp
        .balign 4
copy:   .word 0x10000, y, {size}, 1, 0, 0
"""


def pair(one=(3, 4), two=(5, 4), engines=("fast", "fast")):
    """Two runs of SOURCE side by side; `one` and `two` are (step, size of a transfer in bytes)."""
    runs = [
        Interpreter(of_source(SOURCE.format(step=step, size=size), engine), DebuggerFiles())
        for (step, size), engine in zip((one, two), engines, strict=True)
    ]
    join_runs(runs[0], runs[1], "a.s", "b.s")
    return runs


def test_both_sides_of_two_runs():
    """The panel of both runs has cycles, differences, places, instructions and stops.

    A core that has ended is idle.
    """
    this, other = pair()
    this.session.cont()
    other.session.stepi(1)
    found = both_runs(this.session, this.context.other)
    assert found.names == ("a.s", "b.s")
    sides = {row.name: (row.this, row.other) for row in found.rows}
    assert next(iter(sides)) == "cycle"
    assert list(sides)[-3:] == ["at", "instruction", "stop"]
    assert sides["a1"] == ("22", "0")
    assert sides["s0"] == ("0", "4")
    assert sides["at"][0] == "idle"
    assert sides["at"][1] == "0x00010004 <_start+4> test.s:6"
    assert sides["instruction"] == ("-", "li a1, 10")
    assert "zero" not in sides
    assert found.message.endswith(" registers and queues of cp are equal")
    alone = both_runs(this.session, None)
    assert alone.message == "there is no other run: macaw debug FILE --against FILE starts two"


def test_the_first_difference_of_a_tensor():
    this, other = pair()
    answer = this.execute("compare y")
    assert answer.title == "the first difference of y is y[0]"
    assert answer.columns == ("", "a.s", "b.s")
    rows = {row[0]: row[1:] for row in answer.rows}
    assert rows["value"] == ("26", "30")
    assert rows["by"] == ("cp", "cp")
    assert rows["instruction"] == ("sw a2, 0(s3)", "sw a2, 0(s3)")
    assert all("test.s:10" in x for x in rows["at"])
    assert (this.session.read("y[0]"), other.session.read("y[0]")) == (26, 30)
    assert answer.finds_differences
    record = json.loads(json.dumps(answer.json()))["data"]
    assert (record["element"], record["subject"]) == ("y[0]", "memory")
    again = this.execute("compare y")
    assert again.title.endswith("y[1]"), "it goes on from where both stand"
    assert this.execute("reverse-stepi").kind == "stop", "and back"
    assert this.session.device.position == other.session.device.position


def test_the_first_difference_of_registers_names_the_instruction():
    this, _ = pair()
    rows = {row[0]: row[1:] for row in this.execute("compare registers cp").rows}
    assert rows["cp.a1"] == ("13", "15")
    assert rows["instruction"] == ("addi a1, a1, 3", "addi a1, a1, 5")
    assert [x.rpartition(":")[2] for x in rows["after"]] == ["8", "8"]


def test_transfers_and_cycles():
    this, _ = pair((3, 4), (3, 8))
    answer = this.execute("compare transfers")
    rows = {row[0]: row[1:] for row in answer.rows}
    assert rows["row_bytes"] == ("4", "8")
    assert answer.title == "the first difference of transfers is in dma, number 0"
    assert answer_text(this.execute("compare y from 0")).startswith(
        "no difference of y up to the ends"
    )
    rows = {row[0]: row[1:] for row in this.execute("compare memory from 0").rows}
    assert rows["by"] == (None, "dma"), "one run copies four bytes more"


def test_equal_runs_have_no_difference():
    this, _ = pair((3, 4), (3, 4), ("fast", "reference"))
    for text in ("memory", "registers", "cycles", "packets", "transfers", "y"):
        answer = this.execute(f"compare {text}")
        assert answer.lines[0].startswith(f"no difference of {text} up to the ends of both runs (")
        assert not answer.finds_differences
    this.execute("continue")
    answer = this.execute("compare y")
    assert answer.message == "both runs have ended; `goto 0` goes back to their start"


def test_programs_of_other_layouts_share_their_tensors():
    one = of_source(SOURCE.format(step=3, size=4))
    two = of_source(
        SOURCE.format(step=5, size=4).replace("        ecall", "        nop\n        ecall")
    )
    this, other = (Interpreter(run, DebuggerFiles()) for run in (one, two))
    join_runs(this, other, "a.s", "b.s")
    answer = this.execute("compare memory")
    assert answer.title == "the first difference of memory is y[0]"


def test_what_only_one_run_does():
    this, _ = pair()
    more = SOURCE.format(step=3, size=4).replace("_start: li   s0, 4", "_start: li   s0, 3")
    other = Interpreter(of_source(more), DebuggerFiles())
    join_runs(this, other, "a.s", "b.s")
    answer = this.execute("compare y")
    assert answer.title == "y[3] is written once more in one run"
    assert {row[0]: row[1:] for row in answer.rows}["value"] == ("44", None)
    join_runs(other, this, "b.s", "a.s")
    other.execute("goto 0")
    answer = other.execute("compare y")
    assert {row[0]: row[1:] for row in answer.rows}["value"] == (None, "44")


def test_why_against_the_other_run():
    this, _ = pair()
    this.execute("continue")
    answer = this.execute("why y[2] against other")
    text = answer_text(answer)
    assert text.startswith("y[2] differs:\n  y[2] = 38 / 50: cp sw a2, 0(s3) at cycle ")
    assert (
        "the first step with different instructions is\n  a.s: cp.a1 = 19: cp addi a1, a1, 3 "
        in text
    )
    assert "\n  b.s: cp.a1 = 25: cp addi a1, a1, 5 at cycle " in text
    assert answer.finds_differences
    assert answer.data["reason"] == "instruction"
    assert this.execute("why cp.s0 against other").lines == ("cp.s0 is equal in both runs",)
    assert this.execute("why nothing against other").kind == "error"


def test_thread_apply_executes_a_command_once_in_each_run():
    this, other = pair()
    other.execute("set a1 = 70")
    text = answer_text(this.execute("thread apply cp stepi 2"))
    assert [run.session.core.retired for run in (this, other)] == [2, 2]
    assert text.count("2 steps done") == 1
    text = answer_text(this.execute("thread apply cp print s0 + a1"))
    assert text.splitlines() == ["core 0, cp:", "s0 + a1 = 14"]
    text = answer_text(this.execute("thread apply all stepi nonsense"))
    assert text.count("error:") == 1


def test_a_command_for_one_run_is_needed():
    this, _ = pair()
    for name in ("other", "this", "both"):
        assert answer_text(this.execute(name)).startswith("error: a command is needed")


def test_a_step_without_a_single_value_has_none_in_the_answer():
    this, _ = pair((3, 16), (5, 16))
    this.execute("continue")
    text = answer_text(this.execute("why y against other"))
    assert "None" not in text
    assert text.splitlines()[1].strip().startswith("y[0]")


def test_lines_for_both_for_either_and_for_one():
    this, other = pair()
    assert this.execute("break 10").lines == ("break 1: test.s:10, 0x00010018 test.s:10",), (
        "one answer if both are equal"
    )
    assert other.session.points.all.keys() == {1}
    this.execute("continue")
    text = answer_text(this.execute("print a2"))
    assert text == "a.s:\na2 = 26\nb.s:\na2 = 30"
    assert answer_text(this.execute("other print a2")) == "a2 = 30"
    assert answer_text(this.execute("this print a2")) == "a2 = 26"
    this.execute("set a2 = 1")
    assert (this.session.read("a2"), other.session.read("a2")) == (1, 30)
    record = json.loads(json.dumps(this.execute("print a2").json()))
    assert (record["run"], record["answers"][-1]["run"]) == ("a.s", "b.s")
    this.execute("both set a2 = 7")
    assert (this.session.read("a2"), other.session.read("a2")) == (7, 7)
    this.execute("other stepi 2")
    assert this.session.device.position != other.session.device.position
    assert this.execute("both nothing").kind == "error"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare", "an expression is needed"),
        ("compare nothing", "nothing is called 'nothing'"),
        (
            "compare a0",
            "a0 is no memory; registers, packets, transfers, cycles can be compared too",
        ),
        ("compare memory y", "compare memory takes nothing more"),
        ("compare registers nobody", "no core is called 'nobody', there are .*"),
    ],
)
def test_what_cannot_be_compared(line, message):
    this, _ = pair()
    assert re.fullmatch(message, this.execute(line).message)


@pytest.mark.parametrize("line", ["compare y", "other stepi", "both stepi", "why y against other"])
def test_without_another_run(line):
    run = Interpreter(of_source(SOURCE.format(step=3, size=4)), DebuggerFiles())
    answer = run.execute(line)
    assert answer.message == "there is no other run"
    assert answer.hint == "macaw debug FILE --against FILE starts two runs"
    assert run.execute("this stepi").kind == "stop"


def test_a_comparison_is_interrupted_or_too_long(monkeypatch):
    this, _ = pair((3, 4), (3, 4))
    this.session.interrupt()
    assert this.execute("compare y").message == "the comparison was interrupted"
    monkeypatch.setattr("macaw.debugger.comparison.first_difference.MOST", 3)
    monkeypatch.setattr("macaw.debugger.comparison.first_difference.FIRST_CHUNK", 30)
    answer = this.execute("compare cycles")
    assert answer.message == "no difference in the first 3 items; go on from a later cycle"


def test_cores_that_only_one_device_has():
    this, other = pair((3, 4), (3, 4))
    text = SOURCE.format(step=3, size=4).replace(".device tiny", "")
    from macaw import api
    from macaw.asm.source import Source
    from macaw.debugger.session import Session
    from macaw.execution import configuration_of

    program = api.assemble(Source(text, "test.s"))
    large = Session(program, configuration_of(program), {}, "fast")
    join_runs(this, Interpreter(large, DebuggerFiles()), "tiny", "large")
    del other
    assert this.execute("compare registers").lines[0].startswith("no difference of registers")


def test_a_tensor_with_the_name_of_a_subject():
    text = SOURCE.replace("output y", "output cycles").replace(", y", ", cycles")
    runs = [Interpreter(of_source(text.format(step=x, size=4)), DebuggerFiles()) for x in (3, 5)]
    this, other = runs
    join_runs(this, other, "a.s", "b.s")
    answer = this.execute("compare cycles")
    assert answer.title == "the first difference of cycles is cycles[0]"
    assert ("value", "26", "30") in answer.rows
    for subject in ("cycles *", "cycles cp"):
        (line,) = this.execute(f"compare {subject} from 0").lines
        assert line.startswith(f"no difference of {subject} up to the ends of both runs (")
    answer = this.execute("compare registers * from 0")
    assert answer.title.startswith("the first difference of registers is in cp")


def test_the_command_line(tmp_path):
    """`--against` accepts another source, input, device and engine; the exit status is 1."""
    folder = PROGRAMS / "wrong_shift"
    text = (folder / "wrong_shift.s").read_text("utf-8")
    for file in folder.glob("*.npy"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "a.s").write_text(text, "utf-8")
    (tmp_path / "b.s").write_text(text.replace("relu, shift=5", "relu, shift=8"), "utf-8")
    x = np.load(folder / "x.npy")
    x[2, 3] += 1
    np.save(tmp_path / "x2.npy", x)
    head = ["debug", "a.s", "-i", "x=x.npy", "--batch"]
    more = ["--against", "b.s", "-e", "compare y", "-e", "why y[1, 0] against other"]
    result = run_here([*head, *more], tmp_path)
    assert result.returncode == 1, result.stderr
    assert "the first difference of y is y[1, 0]\n" in result.stdout
    assert "    with shift = 5 of 0x80000159 <finish1+5> a.s:30: " in result.stdout
    assert "    with shift = 8 of 0x80000159 <finish1+5> b.s:30: " in result.stdout
    result = run_here([*head, "--against-input", "x=x2.npy", "-e", "compare y"], tmp_path)
    assert "the first difference of y is y[2, 2]\n" in result.stdout
    assert "a.s " in result.stdout
    assert "x2.npy" in result.stdout
    result = run_here([*head, "--against-engine", "reference", "-e", "compare cycles"], tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("no difference of cycles up to the ends of both runs")
    registers = "compare registers pe[0]"
    result = run_here([*head, "--against-device", "base", "-e", registers], tmp_path)
    assert result.returncode == 1
    assert re.search(r"\npe\[0\].accumulators +2 x 4 x 4 elements +\d+ x ", result.stdout)
    assert "array(" not in result.stdout
    result = run_here([*head, "--against-engine", "none", "-e", "compare y"], tmp_path)
    assert result.returncode == 2
    assert "no engine is called 'none', there are fast, reference" in result.stderr
