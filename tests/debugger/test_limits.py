"""Limits and ranges of the debugger's answers: what is just inside, and what is outside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw import api
from macaw.asm.source import Source
from macaw.debugger.call_stack import MOST_FRAMES
from macaw.debugger.commands import source_listing
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.source_listing import LINES
from macaw.debugger.commands.text import answer_text
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.programs import of_source, session

# A function that calls itself a0 times; each call keeps one return address on the stack.
DEEP = """
        .core   cp
_start: li      a0, {}
        call    f
        ebreak
f:      addi    sp, sp, -16
        sw      ra, 12(sp)
        addi    a0, a0, -1
        beqz    a0, 1f
        call    f
1:      nop
        ebreak
"""


@pytest.mark.parametrize("calls", [1, 2, MOST_FRAMES - 2, MOST_FRAMES - 1, MOST_FRAMES, 99])
def test_the_innermost_frames_are_found(calls: int) -> None:
    debug = of_source(DEEP.format(calls))
    debug.advance("test.s:11")
    frames = [str(one.symbol).split("+")[0] for one in debug.call_stack()]
    assert frames == [*["f"] * calls, "_start"][:MOST_FRAMES]


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
@pytest.mark.parametrize("calls", [1, 2, 5])
def test_each_call_of_a_recursion_is_found_before_and_after_it_stores_the_link(
    calls: int, offset: int
) -> None:
    debug = of_source(DEEP.format(5))
    debug.break_(f"f+{offset}")
    for _ in range(calls):
        debug.cont()
    frames = [str(one.symbol).split("+")[0] for one in debug.call_stack()]
    assert frames == [*["f"] * calls, "_start"]


COUNT = 57  # lines of the source


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    path = tmp_path_factory.mktemp("limits") / "long.s"
    lines = [
        " .core cp",
        "_start: nop",
        *[f" addi a0, a0, {n}" for n in range(3, COUNT)],
        " ebreak",
    ]
    path.write_text("\n".join(lines) + "\n")
    program = api.assemble(path, device="tiny")
    session = Session(program, configuration_of(program), {})
    return Interpreter(session, DebuggerFiles())


def numbers(listed: Interpreter, line: str) -> list[int]:
    """The numbers of the lines that a command lists; none if it refuses."""
    answer = listed.execute(line)
    assert answer.kind in ("table", "error"), answer
    return [int(row[1]) for row in answer.rows] if answer.kind == "table" else []


def within(first: int, last: int) -> list[int]:
    return list(range(max(1, first), min(COUNT, last) + 1))


@pytest.mark.parametrize("line", [1, 2, 5, 6, 7, LINES - 1, LINES, LINES + 1, 30, 50, 56, 57])
def test_ranges_of_list(listed: Interpreter, line: int) -> None:
    """`list` with one place shows ten lines; `list` with a range A,B shows the lines A to B."""
    assert numbers(listed, f"list ,{line}") == within(line - LINES + 1, line)
    assert numbers(listed, f"list {line},") == within(line, line + LINES - 1)
    around = max(1, line - LINES // 2)
    assert numbers(listed, f"list {line}") == within(around, around + LINES - 1)
    after = min(COUNT, around + LINES - 1) + 1
    assert numbers(listed, "list") == within(after, after + LINES - 1)
    for more in (0, 1, 12):
        assert numbers(listed, f"list {line},{line + more}") == within(line, line + more)
        assert numbers(listed, f"list {line},+{more}") == within(line, line + more)
    assert numbers(listed, "list -") == (within(line - LINES, line - 1) if line > 1 else [])
    assert not numbers(listed, f"list {line},{line - 1}")


def test_list_shows_at_most_a_number_of_lines(
    listed: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_listing, "MOST", 20)
    for last in (22, 23, 57):
        assert numbers(listed, f"list 4,{last}") == within(4, min(last, 23))
        assert numbers(listed, f"list 4,+{last - 4}") == within(4, min(last, 23))


def said(debug: Interpreter, line: str) -> str:
    return answer_text(debug.execute(line)).strip()


@pytest.mark.parametrize("stripped", [False, True], ids=["symbols", "stripped"])
def test_each_address_of_a_tensor_has_a_name(stripped: bool) -> None:
    """`info symbol` names each byte of a tensor, also in a program without symbols."""
    text = " .device tiny\n .core cp\n_start: ebreak\n .input x, int8, 5\n .output y, int16, 2, 3\n"
    program = api.assemble(Source(text, "test.s"))
    if stripped:
        program = replace(program, symbols=())
    debug = Interpreter(Session(program, configuration_of(program), {}), DebuggerFiles())
    for tensor in program.tensors:
        for offset in range(tensor.size):
            name = tensor.name + (f"+{offset}" if offset else "")
            address = tensor.address + offset
            assert said(debug, f"info symbol {address}") == f"{address:#010x} is {name}"
        end = tensor.address + tensor.size
        if stripped:
            assert said(debug, f"info symbol {end}") == f"no symbol is at {end:#010x}"


@pytest.mark.parametrize(
    ("folder", "place"),
    [("fim_dot", "dot.s:42"), ("nnp_mlp", "nnp_mlp.s:40"), ("vector_dot", "dot.s:41")],
)
def test_another_engine_between_two_stops_changes_no_stop(folder: str, place: str) -> None:
    """Stops are the same if the session changes to the reference engine between two stops.

    A watch on an island needs this engine. The breakpoint of the last stop is not hit again.
    """

    def stops(before: int) -> list[tuple[int, int, int, int]]:
        """Position, address and hits of each stop; the watch is added after `before` stops."""
        debug = session(folder)
        point = debug.points.add("break", place)
        found = []
        for number in range(6):
            if number == before:
                debug.points.add("watch", "fim[0].instructions < 0")
            if debug.cont().reason == "exit":
                break
            assert debug.device.engine == ENGINES[-1 if number >= before else 0]
            address = debug.where().address
            assert address is not None
            found.append((*debug.device.position, address, point.hits))
        return found

    first = stops(0)
    assert first
    for before in (1, 2):
        assert stops(before) == first


@pytest.mark.parametrize(
    ("name", "cycle", "edit"),
    [
        ("nnp_mlp", 100, "set nnp.leaving = -1"),
        ("layer", 60, "set pe[0].q1_count = -1"),
        ("layer", 60, "set pe[0].computing = -1"),
    ],
)
def test_a_run_from_an_impossible_state_is_an_error_and_the_session_stays(
    name: str, cycle: int, edit: str
) -> None:
    debug = session(name)
    commands = Interpreter(debug, DebuggerFiles())
    for line in (f"stepc {cycle}", edit, "stepc"):
        assert commands.execute(line).kind != "error"
    for line in ("goto 500", "continue"):
        answer = commands.execute(line)
        assert answer.kind == "error"
        assert f"the last edit, '{edit}', at cycle {cycle} may have made" in answer.message
        assert debug.device.position == (cycle + 1, 0)
    assert commands.execute("reverse-stepc 2").kind == "stop"
    stop = commands.execute("continue").stopped
    assert stop is not None
    assert stop.reason == "exit"
