"""`annotate`: the shares of lines and instructions, in its answer and in the code panel."""

from __future__ import annotations

import re

import pytest

import macaw
from macaw.asm.source import Source
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.views import draw
from macaw.debugger.views.area import ASCII, UNICODE, Area
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import session
from tests.debugger.screens import Screen

pytestmark = pytest.mark.once

# 10 turns: a mul of 3 cycles, an addition, and a branch that takes 2 cycles if it is taken
LOOP = """        .device tiny
        .core   cp
_start: li      a0, 10
loop:   mul     a1, a0, a0
        addi    a0, a0, -1
        bnez    a0, loop
        li      a7, 93
        ecall
"""


def of_text(text: str) -> macaw.Session:
    return macaw.debug(macaw.assemble(Source(text, "loop.s")))


def do(chosen: macaw.Session, line: str):
    return Interpreter(chosen, DebuggerFiles()).execute(line)


def panel(screen: Screen, width: int, signs=UNICODE) -> list[str]:
    frame = screen.builder.frame(["code"])
    return [row.plain for row in draw("code", frame, Area(width, 40, signs))]


def test_by_hand() -> None:
    answer = do(of_text(LOOP), "annotate")
    assert answer.title == "cycles of the run: 62"
    assert answer.rows == (
        ("48.4%", 30, "loop.s:4", ""),
        ("30.6%", 19, "loop.s:6", ""),
        ("16.1%", 10, "loop.s:5", ""),
        ("1.6%", 1, "loop.s:3", ""),
        ("1.6%", 1, "loop.s:7", ""),
        ("1.6%", 1, "loop.s:8", ""),
    )


def test_costs_are_those_of_the_command() -> None:
    chosen = session("layer")
    costs = chosen.line_costs(1_000_000)
    found = macaw.annotate(chosen.program, chosen._debuggee.inputs)
    assert costs.cycles == found.cycles
    assert dict(costs.lines) == {
        (x.file, x.number): x.run for x in found.lines if x.number and x.run
    }
    nothing = sum(line.run for line in found.lines if not line.number)
    assert sum(costs.instructions.values()) == found.cycles - nothing
    assert costs.is_complete
    assert (chosen.device.cycle, chosen.output) == (0, [])


def test_the_code_panel() -> None:
    screen = Screen(of_text(LOOP))
    before = panel(screen, 80)
    screen.do("annotate")
    rows = panel(screen, 80)
    assert [row[:9] for row in rows] == [
        "  1.6% ▒ ", " 48.4% █ ", " 16.1% ▓ ", " 30.6% █ ", "  1.6% ▒ ", "  1.6% ▒ ",
    ]  # fmt: skip
    assert [row[:2] for row in panel(screen, 40)] == ["▒ ", "█ ", "▓ ", "█ ", "▒ ", "▒ "]
    assert [row[:9] for row in panel(screen, 80, ASCII)][1] == " 48.4% # "
    screen.do("annotate off")
    assert panel(screen, 80) == before


def test_shares_of_packets_and_steps() -> None:
    """Cycles of packets and steps are added up over the rows that run copies of one list."""
    screen = Screen(session("digits_mlp"))
    screen.do("annotate", "stepc 1300", "focus pe[1,0].3")
    rows = panel(screen, 100)
    lines = {number: share for row in rows if (match := re.match(
        r"\s*([\d.]+%)?.*digits_mlp\.s:(\d+)", row)) for share, number in [match.groups()]}  # fmt: skip
    costs = screen.interpreter.context.costs
    assert costs is not None
    by_number = {number: cycles for (_, number), cycles in costs.lines.items()}
    for number, share in lines.items():
        assert (share or "") == costs.share_text(by_number.get(int(number), 0))
    assert lines["44"] == "5.4%"


@pytest.mark.parametrize(
    ("text", "line", "title"),
    [
        (LOOP, "annotate 20", "cycles of the run: 20, which is not complete: cycle limit"),
        ("        .device tiny\n        .core cp\n1: j 1b\n", "annotate 100",
         "cycles of the run: 100, which is not complete: cycle limit"),
        ("        .device tiny\n        .core cp\n        nop\n        lw a0, 1(zero)\n", "annotate",
         "which is not complete: loop.s:4:9: cp: misaligned access"),
    ],
)  # fmt: skip
def test_runs_that_do_not_end(text: str, line: str, title: str) -> None:
    assert title in do(of_text(text), line).title


def test_edits_are_not_repeated_and_the_session_stays() -> None:
    chosen = of_text(LOOP)
    chosen.stepi(1)
    chosen.set("a0", 3)
    before = chosen.device.cycle
    assert do(chosen, "annotate").title == "cycles of the run: 62"
    assert (chosen.device.cycle, chosen.read("a0")) == (before, 3)


def test_a_request_to_stop_ends_the_run() -> None:
    chosen = of_text(LOOP)
    chosen.interrupt()
    costs = chosen.line_costs(1_000_000)
    assert not costs.is_complete
    assert costs.cycles < 62
    assert "interrupt" in costs.reason
    assert not chosen.interrupts.pending
    assert chosen.line_costs(1_000_000).is_complete


@pytest.mark.parametrize("line", ["annotate 0", "annotate on", "annotate x", "annotate 5 6"])
def test_errors(line: str) -> None:
    answer = do(of_text(LOOP), line)
    assert answer.kind == "error"
