"""The command language: usages as grammar, answers to lines, errors with their place."""

from __future__ import annotations

import json

import pytest

from macaw.debugger.commands.interpreter import LONGEST, Interpreter
from macaw.debugger.commands.table import COMMANDS, GROUPS, find
from macaw.debugger.commands.text import answer_text
from macaw.debugger.commands.usage import UsageError, match, next_operands, pieces
from macaw.debugging import DebuggerFiles
from macaw.terminal.plain_answers import plain_answer_text
from tests.debugger.programs import of_source
from tests.debugger.sources import HELLO, LONG_LOOP


def interpreter(source=LONG_LOOP, **more):
    return Interpreter(of_source(source), DebuggerFiles(), **more)


def given_by(usage, text):
    return [(one.what, one.text) for one in match(usage, text)]


BREAK = "break LOC [if E] [ignore N]"


@pytest.mark.parametrize(
    ("usage", "text", "wanted"),
    [
        (BREAK, "layer.s:12", [("LOC", "layer.s:12")]),
        (BREAK, "loop if vc.x5 > (3 if 1) ignore 4",
         [("LOC", "loop"), ("word", "if"), ("E", "vc.x5 > (3 if 1)"), ("word", "ignore"), ("N", "4")]),
        (BREAK, "a ignore 2", [("LOC", "a"), ("word", "ignore"), ("N", "2")]),
        ("watch E [by PLACES]", "y[3, 1] + 'by' by pe[*,0]",
         [("E", "y[3, 1] + 'by'"), ("word", "by"), ("PLACES", "pe[*,0]")]),
        ("dump E FILE", "y[1:3, 2] out.npy", [("E", "y[1:3, 2]"), ("FILE", "out.npy")]),
        ("dump E FILE", "y 'a file.npy'", [("E", "y"), ("FILE", "a file.npy")]),
        ("set E = V", "vc.x5 = 3 + 4", [("E", "vc.x5"), ("word", "="), ("V", "3 + 4")]),
        ("set E = V", "a0=3==4", [("E", "a0"), ("word", "="), ("V", "3==4")]),
        ("set E = V", "y[a==1]= -4", [("E", "y[a==1]"), ("word", "="), ("V", "-4")]),
        ("set E = V", "a0 =4", [("E", "a0"), ("word", "="), ("V", "4")]),
        ("delete [N...]", "1 2 3", [("N", "1"), ("N", "2"), ("N", "3")]),
        ("delete [N...]", "", []),
        ("stepi [N] [--only|--all]", "--all", [("word", "--all")]),
        ("commands [N] [TEXT]", "3 print x", [("N", "3"), ("TEXT", "print x")]),
        ("info registers|queues", "reg", [("word", "registers")]),
    ],
)  # fmt: skip
def test_a_usage_reads_a_line(usage, text, wanted):
    assert given_by(usage, text) == wanted


@pytest.mark.parametrize(
    ("usage", "text", "message", "at"),
    [
        ("set E = V", "a0 == 4", "give =", 7),
        (BREAK, "", "a place to stop at: a line, FILE:LINE, a symbol or *ADDRESS is needed", 0),
        (BREAK, "a if", "an expression is needed", 4),
        ("goto CYCLE", "", "a cycle is needed", 0),
        ("run", "7", "'7' is too much: the command takes nothing", 0),
        ("layout NAME", "a b", "'b' is too much: the command takes nothing more", 2),
        ("info registers|queues", "x", "'x' is not one of registers, queues", 0),
        ("info registers|queues", "", "give registers, queues", 0),
        ("source FILE", "'a", "a quotation mark is not closed", 0),
    ],
)
def test_what_does_not_fit_says_where(usage, text, message, at):
    with pytest.raises(UsageError) as error:
        match(usage, text)
    assert str(error.value) == message
    assert error.value.at[0] == at


@pytest.mark.parametrize("usage", ["a [N", "a WHAT"])
def test_a_usage_that_is_none_is_refused(usage):
    with pytest.raises(ValueError, match=r"lacks its \]|no operand is called WHAT"):
        pieces(usage)


def test_what_may_come_next():
    assert next_operands(BREAK, "") == ("LOC",)
    assert next_operands(BREAK, "loop ") == ("if", "ignore", "LOC")
    assert next_operands("stepi [N] [--only|--all]", "5 -") == ("--only", "--all")


def test_numbers_have_a_least_value():
    run = interpreter()
    for line, number, least in [
        ("goto -1", -1, 0),
        ("stepi 0", 0, 1),
        ("break loop ignore -2", -2, 0),
    ]:
        text = answer_text(run.execute(line))
        assert f"{number} is too small, {least} is the least" in text
    assert run.execute("goto 0").kind == "stop"


def test_names_prefixes_and_aliases():
    assert find("c").name == "continue"
    assert find("cont").name == "continue"
    assert all(find(name).name == row.name for row in COMMANDS.values() for name in row.names)
    names = [name for row in COMMANDS.values() for name in row.names]
    assert len(names) == len(set(names))


def test_help_knows_every_command():
    run = interpreter()
    whole = run.execute("help")
    heads = [line for line in whole.lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == [f"{meaning}:" for meaning in GROUPS.values()]
    assert {row.group for row in COMMANDS.values()} == set(GROUPS)
    listed = [line.split()[0] for line in whole.lines if line.startswith("  ")]
    assert sorted(listed) == sorted(COMMANDS)
    for row in COMMANDS.values():
        assert row.meaning in answer_text(run.execute(f"help {row.name}"))


def test_an_empty_line_repeats_what_repeats():
    run = interpreter()
    first = run.execute("stepi 2").stopped
    second = run.execute("").stopped
    assert (first.done, second.done) == (2, 2)
    assert second.cycle > first.cycle
    run.execute("history")
    assert run.execute("").kind == "done"
    assert run.session.device.cycle == second.cycle


def test_a_transcript_forth_and_back():
    """Commands that go forward and back return the session's records of the stops."""
    run = interpreter(LONG_LOOP.replace("10000000", "10"))
    assert run.execute("stepi 3").stopped.where.symbol == "loop+8"
    assert run.execute("checkpoint").lines[0].startswith("checkpoint 1 at cycle ")
    ended = run.execute("continue").stopped
    assert (ended.reason, ended.exit_code) == ("exit", 7)
    assert run.execute("restart 1").stopped.where.symbol == "loop+8"
    assert run.execute("goto 0").stopped.at_start
    assert run.execute("r").stopped == ended
    assert run.execute("reverse-stepc").stopped.cycle == ended.cycle - 1
    assert run.execute("start").stopped.reason == "start"
    assert run.execute("focus dma").lines == ("focus dma",)
    assert run.execute("focus").lines == ("focus dma",)


ERRORS = {
    "foo": "no command is called 'foo'",
    "re": "'re' may be ",
    "st": "'st' may be start, stepi, stepc",
    "goto x": "'x' is no number",
    "goto -1": "-1 is too small, 0 is the least",
    "stepi 0": "0 is too small, 1 is the least",
    "restart 7": "there is no checkpoint 7",
    "run/x": "run takes nothing after a slash",
    "focus abc": "no core is called 'abc'",
    "source /no/such": "cannot read /no/such: No such file or directory",
    "shell ls": "shell is not allowed here",
    "python 1": "python is not allowed here",
    "y" * (LONGEST + 1): f"a line of {LONGEST + 1} characters is too long",
    "info mem 1.5": "1.5 is no address",
    "break *1.5": "*1.5 is no address",
    "x/+ 5": "'+' is no format",
}


@pytest.mark.once
@pytest.mark.parametrize("line", ERRORS, ids=lambda line: line[:20])
def test_errors(line):
    answer = interpreter().execute(line)
    assert answer.kind == "error"
    assert answer.message.startswith(ERRORS[line])
    assert json.loads(json.dumps(answer.json()))["message"] == answer.message
    assert answer_text(answer, line).startswith("error: ")


def test_an_error_points_at_its_place():
    line = "finish 3"
    assert answer_text(interpreter().execute(line), line).splitlines()[1:] == [
        "  finish 3", "         ^", "hint: usage: finish",
    ]  # fmt: skip


def test_scripts(tmp_path):
    inner = tmp_path / "inner"
    inner.write_text("# nothing\n\nstepi 2\nquit\nstepi\n")
    outer = tmp_path / "outer"
    outer.write_text(f"stepi\nsource {inner}\nstepi\n")
    run = interpreter()
    answer = run.execute(f"source {outer}")
    assert answer.leaves
    assert run.session.core.retired == 3
    outer.write_text(f"stepi\nsource {outer}\n")
    assert "deeper than 16" in run.execute(f"source {outer}").message
    inner.write_text("stepi\nbad\n")
    assert run.execute(f"source {inner}").message == f"{inner}:2: no command is called 'bad'"
    inner.write_bytes(b"\xff")
    assert "is no UTF-8 text" in run.execute(f"source {inner}").message
    inner.write_bytes(b"#" * ((1 << 20) + 1))
    assert "it is longer than 1048576 bytes" in run.execute(f"source {inner}").message


def test_a_script_that_fails_tells_what_it_has_done(tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("echo one\nstepi\nbad\necho never\n")
    outer.write_text(f"echo begin\nsource {inner}\necho never\n")
    answer = interpreter().execute(f"source {outer}")
    assert answer_text(answer).splitlines() == [
        "begin",
        "one",
        "step done at cycle 0",
        "  cp at 0x00010004 <_start+4> test.s:3",
        f"error: {outer}:2: {inner}:3: no command is called 'bad'",
        "hint: help lists them",
    ]


def test_the_error_of_a_script_marks_nothing_in_the_line_that_runs_it(tmp_path):
    script = tmp_path / "it's"
    script.write_text("echo one\n  x/zz 5\n")
    answer = interpreter().execute(f"source {script}")
    assert (answer.message, answer.mark) == (f"{script}:2: 'zz' is no format", None)
    assert " at " not in plain_answer_text(answer, f"source {script}").partition("hint")[0]


def test_a_script_ends_where_it_is_interrupted(tmp_path):
    script = tmp_path / "script"
    run = interpreter(".core cp\n_start: j _start\n")
    script.write_text("continue\necho never\n")
    run.session.interrupt()
    answer = run.execute(f"source {script}")
    assert answer.message == f"{script}:1: interrupted, the rest is not done"
    assert [one.stopped.reason for one in answer.answers] == ["interrupt"]
    run.session.points.add("tbreak", "_start", commands=("stepc",))
    script.write_text("stepc 5\ngoto 0\ncontinue\necho never\n")
    run.on_answer = lambda line, answer: line == "goto 0" and run.session.interrupt()
    answer = run.execute(f"source {script}")
    assert "interrupted" in answer.message
    assert len(answer.answers) == 3


def test_the_system_and_python_when_allowed():
    run = interpreter(allow_shell=True)
    assert run.execute("shell echo a; exit 3").lines == ("a", "exit status 3")
    (long,) = run.execute("shell head -c 70000 /dev/zero | tr '\\0' x").lines
    assert long == "x" * (1 << 16)
    assert run.execute("python print(session.device.cycle)").lines == ("0",)
    assert run.execute("python 1/0").message == "ZeroDivisionError: division by zero"
    assert [len(line) for line in run.execute("python print('a' * 65_537)").lines] == [65_536]


def test_completion():
    run = interpreter()
    assert run.complete("che") == ["checkpoint"]
    assert run.complete("focus d") == ["dma"]
    assert run.complete("stepi --") == ["--all", "--only"]
    assert "checkpoint" in run.complete("help ch")
    assert run.complete("layout a") == ["auto"]
    assert run.complete("zoom reg") == run.complete("panel reg") == ["registers"]
    assert run.complete("nothing at all") == []
    assert "source " not in run.complete("source ")


def test_white_space_after_a_word_completes_the_next_word():
    run = interpreter()
    assert run.execute("complete zoom ").lines[:2] == ("zoom against", "zoom code")
    assert run.execute("complete info mem").lines == ("info mem",)
    assert run.execute("complete info ").lines[0] == "info address"
    assert run.execute("complete ").lines == run.execute("complete").lines != ()
    assert run.history[-1] == "complete"


def test_completion_of_files(tmp_path, monkeypatch):
    run = interpreter()
    (tmp_path / "deep").mkdir()
    (tmp_path / "digits.s").touch()
    here = str(tmp_path)
    assert run.complete(f"source {here}/d") == [f"{here}/deep/", f"{here}/digits.s"]
    assert run.complete(f"source {here}/di") == [f"{here}/digits.s"]
    assert run.complete(f"source {here}/") == [f"{here}/deep/", f"{here}/digits.s"]
    assert run.complete(f"source {here}/none/d") == []
    assert run.complete("source \ud800/d") == run.complete("source \0/d") == []  # no paths
    monkeypatch.chdir(tmp_path)
    assert run.complete("source deep/") == []
    assert run.complete("source ") == run.complete("source d") == ["deep/", "digits.s"]
    monkeypatch.setattr("macaw.debugger.commands.completion.MOST_FILES", 1)
    assert run.complete("source d") == ["deep/"]
    assert run.complete("source di") == ["digits.s"]  # the bound is for files that match


def test_after_the_end_an_answer_says_what_else_can_be_done():
    run = interpreter(HELLO)
    last = "the program had ended before: run starts it again, reverse-continue goes back"
    first = answer_text(run.execute("continue"))
    assert first.startswith("exit with code 3 at cycle ")
    assert last not in first
    for line in ("continue", "continue 3", "stepi", "next", "stepc 2"):
        assert answer_text(run.execute(line)).splitlines()[-1] == last, line
    run.execute("reverse-stepi")
    assert last not in answer_text(run.execute("continue"))
    assert last not in answer_text(run.execute("run"))
