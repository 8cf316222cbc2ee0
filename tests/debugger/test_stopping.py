"""The answers to commands about points and going back, line by line."""

from __future__ import annotations

import json

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import STORE_LOOP

pytestmark = pytest.mark.once


def interpreter(source=STORE_LOOP):
    return Interpreter(of_source(source), DebuggerFiles())


def said(debug, *lines):
    """The first line of each command's answer; of a table, the last line."""
    found = []
    for line in lines:
        answer = debug.execute(line)
        texts = answer_text(answer).splitlines()
        found.append(" ".join(texts[-1 if answer.kind == "table" else 0].split()))
    return found


def test_a_transcript():
    debug = interpreter()
    assert said(
        debug,
        "break loop if s0 % 10 == 0 ignore 1",
        "watch mem[data+4] by cp if mem[data+4] == 36",
        "continue",
        "print s0",
        "c",
        "p s0",
        "step 2",
        "rs",
        "reverse-next",
        "rsi 3",
        "reverse-continue",
        "p s0",
        "until test.s:8",
        "condition 1 s0 == 3",
        "delete 2",
        "c",
        "c",
    ) == [
        "break 1: loop if s0 % 10 == 0 ignore 1, 0x0001000c test.s:5",
        "watch 2: mem[data+4] by cp if mem[data+4] == 36",
        "breakpoint at cycle 63",  # 3 + 10 rounds of 6
        "s0 = 30",
        "watch at cycle 71",  # the store of the twelfth
        "s0 = 29",
        "2 steps done at cycle 73",
        "step done at cycle 72",
        "watch at cycle 71",  # behind the act that changed it
        "3 steps done at cycle 67",
        "breakpoint at cycle 63",
        "s0 = 30",
        "arrived at cycle 66",
        "break 1: loop if s0 == 3",
        "deleted 2",
        "breakpoint at cycle 225",  # 3 + 37 rounds
        "exit with code 0 at cycle 244",
    ]


def test_commands_of_a_point_are_done_at_its_stops_and_may_go_on():
    debug = interpreter()
    debug.execute("break loop if s0 < 4")
    debug.execute("commands print s0; continue")
    answer = debug.execute("run")
    texts = [one.rows[0][-1] for one in answer.answers if one.kind == "table"]
    assert [int(str(text)) for text in texts] == [3, 2, 1]
    assert [one.kind for one in answer.answers] == ["table", "stop"] * 3
    assert answer.answers[-1].stopped.reason == "exit"
    json.dumps(answer.json())
    debug.execute("commands 1")
    debug.execute("end")
    assert not debug.session.points.get(1).commands


def test_points_are_saved_as_commands(tmp_path):
    debug = interpreter()
    for line in (
        "tbreak loop",
        "break test.s:7 if s0 == 5 ignore 2",
        "commands print s0; print s1",
        "awatch mem[data] by cp",
        "disable last",
        "catch queue-full at pe[0] if device.cycle > 3",
        'dprintf loop+4, "%d and %d", s0, mem[data+4]',
    ):
        assert debug.execute(line).kind == "done", line
    path = tmp_path / "points"
    assert debug.execute(f"save breakpoints {path}").kind == "done"
    other = interpreter()
    other.execute(f"source {path}")
    assert other.execute("info breakpoints").rows == debug.execute("info breakpoints").rows
    assert [(x.commands, x.values, x.temporary) for x in other.session.points] == [
        (x.commands, x.values, x.temporary) for x in debug.session.points
    ]


def test_a_dprintf_prints_into_the_output():
    debug = interpreter()
    debug.execute('dprintf loop if, "x"')
    debug.execute('dprintf loop, "s0 is %d", s0')
    debug.execute("break loop if s0 == 39")
    debug.execute("run")
    assert debug.take_output()["dprintf"] == "s0 is 40\ns0 is 39\n"


def test_a_dprintf_prints_texts_and_several_lines():
    debug = interpreter()
    debug.execute(r'dprintf loop, "%s:\t%d\n\\%c\n", "s0, \"now\"", s0, s0')
    (row,) = debug.execute("info breakpoints").rows
    assert row[-1] == r'loop, "%s:\t%d\n\\%c", "s0, \"now\"", s0, s0'
    debug.execute("break loop if s0 == 39")
    debug.execute("run")
    assert debug.take_output()["dprintf"] == 's0, "now":\t40\n\\(\ns0, "now":\t39\n\\\'\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("break nowhere", "nothing is called 'nowhere'"),
        ("watch 3 + 4", "3 + 4 never changes"),
        (
            "watch loop",
            "loop is an address, which never changes; `watch *loop` watches the word there",
        ),
        ("rwatch cp.retired", "rwatch is of memory, registers and queues"),
        ("catch rain", "no event is called 'rain'"),
        ("condition 7 s0", "there is no point 7"),
        ("ignore 7 1", "there is no point 7"),
        ("commands 7 run", "there is no point 7"),
        ("delete 7", "there is no point 7"),
        ("enable last", "there are no points"),
        ("commands", "there are no points"),
        ("dprintf loop", "that is no dprintf"),
        ('dprintf loop, "%1000000000d", s0', "%1000000000d: a width is a number, 1000 at most"),
        ('dprintf loop, "%.1001f", s0', "a width is a number"),
        (f'dprintf loop, "%.{"9" * 5000}f", s0', "a width is a number"),
        ('dprintf loop, "%*d", s0, s0', "a width is a number"),
        ("until nowhere", "nothing is called 'nowhere'"),
        ("advance x.s:3", "the program has no lines of x.s"),
    ],
)
def test_what_cannot_be(line, message):
    answer = interpreter().execute(line)
    assert answer.kind == "error"
    assert message in answer.message


def test_completion_knows_events():
    debug = interpreter()
    assert debug.complete("catch queue-") == ["queue-empty", "queue-full"]
    assert "dma-done" in debug.complete("catch ")


def test_points_of_another_focus_say_of_which():
    debug = interpreter()
    debug.execute("watch s1 if s1 > 3")
    assert debug.execute("info breakpoints").rows[0][-1] == "s1 if s1 > 3"
    debug.execute("focus vc")
    assert debug.execute("info breakpoints").rows[0][-1] == "s1 if s1 > 3 (of cp)"
    assert debug.execute("run").stopped.hits[0].by == "cp"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('"%d%%", s0 * 2', "80%"),
        ('"%#x %d", -1, -1', "0xffffffff -1"),
        ('"%x", -1 << 40', "ffffff0000000000"),
        ('"%s and %.1f", s0, 1.5', "40 and 1.5"),
        ('"half %d", 8 / (s0 - 40)', "half %d: division by zero"),
        ('"%d", 1e308 * 10', "%d: %d takes a whole number, not inf"),
        ('"%c", 0xd800', "%c: %c takes the number of a character, and 55296 is a surrogate's"),
        ('"%hhx %lu", -1, -1', "ff 4294967295"),
    ],
)
def test_what_a_dprintf_prints(text, printed):
    debug = interpreter()
    debug.execute(f"dprintf loop, {text}")
    debug.execute("tbreak loop+4")
    debug.execute("run")
    assert debug.session.last_stop.reason == "breakpoint"
    assert debug.take_output() == {"dprintf": f"{printed}\n"}
    debug.execute("start")
    debug.execute("stepi 5")
    assert debug.take_output() == {"dprintf": f"{printed}\n"}  # also what was printed again


def test_the_commands_of_the_next_stop_replace_the_rest():
    """After `continue` in a point's commands, the commands of the next stop run, not the rest."""
    debug = interpreter(STORE_LOOP.replace("s0, 40", "s0, 3"))
    debug.execute("break loop")
    debug.execute("commands print s0; continue; print s1")
    answers = debug.execute("continue").answers
    assert [(one.kind, [str(row[0]) for row in one.rows]) for one in answers] == [
        ("table", ["s0"]), ("stop", []),
    ] * 3  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["step", "stepi", "stepx", "stepc", "nexti"]
    + ["back", "stepi_back", "stepx_back", "stepc_back", "nexti_back"],
)
def test_a_step_without_a_count_is_one_step(name):
    debug = session("layer")
    debug.cont(until=(100, 0))
    places = []
    for words in ((), (1,), (2,)):
        debug.goto(100)
        getattr(debug, name)(*words)
        places.append(debug.device.position)
    assert places[0] == places[1] != places[2]
