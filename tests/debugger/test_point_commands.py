"""Commands that set and change points, and commands of commands: each answer, default and limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from macaw.debugger.commands import answers, points, scripting
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.points import point_text, split_values
from macaw.debugger.commands.running import ENDED
from macaw.debugger.commands.text import answer_text
from macaw.debugger.point import Point
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import CALLS

Say = Callable[[str], str]


@pytest.fixture
def debug() -> Interpreter:
    return Interpreter(of_source(CALLS), DebuggerFiles())


@pytest.fixture
def say(debug: Interpreter) -> Say:
    """A function that executes a command and returns the first line of its answer."""

    def execute(line: str) -> str:
        return (answer_text(debug.execute(line), line).splitlines() or [""])[0]

    return execute


SET = """
break | break 1: *0x10000, 0x00010000 test.s:7
break +1 | break 2: test.s:8, 0x00010004 test.s:8
break -6 | break 3: test.s:1, 0x00010000 test.s:7
break -7 | error: test.s has no line 0
break 1 | break 4: test.s:1, 0x00010000 test.s:7
advance -7 | error: test.s has no line 0
break +1234567890 | error: +1234567890 is 0x499602d2, where the program has nothing; *+1234567890 allows it
tbreak double if a0 > 3 ignore 2 | tbreak 5: double if a0 > 3 ignore 2, 0x00010030 test.s:16
break again at cp if s0 == 3 ignore 1 | break 6: again at cp if s0 == 3 ignore 1, 0x00010020 test.s:12
print $bpnum | $bpnum = 6
clear | deleted 1, 3, 4
clear | error: there is no breakpoint at *0x10000
clear double | deleted 5
delete 5-4 | error: 4 is too small, 5 is the least
delete 6-6 | deleted 6
disable 6 | error: there is no point 6
enable last | enabled 2
ignore last 3 | break 2: test.s:8 ignore 3
ignore last 0 | break 2: test.s:8
ignore last -1 | error: -1 is no number of times
ignore 99 1 | error: there is no point 99
condition 2 a0 == 1 | break 2: test.s:8 if a0 == 1
condition last | break 2: test.s:8
commands last print 1; ;print 2; | 2 commands of point 2
delete | deleted 2
delete last | error: there are no points
delete | deleted nothing
watch s0 by cp if s0 == 1 | watch 7: s0 by cp if s0 == 1
rwatch s0 | rwatch 8: s0
awatch s1 by cp | awatch 9: s1 by cp
catch stall at cp if a0 == 1 | catch 10: stall at cp if a0 == 1
tcatch stall | tcatch 11: stall
rbreak ^de | break 12: deep, 0x00010038 test.s:18
rbreak zz | error: no label of code matches
rbreak ( | error: '(' is no regular expression: missing ), unterminated subpattern at position 0
dprintf double, "a \\"x\\" %d\\n", a0 | dprintf 13: double, "a \\"x\\" %d", a0, 0x00010030 test.s:16
dprintf double "x" | error: that is no dprintf
disable 8-10 12 | disabled 8, 9, 10, 12
enable | enabled 7, 8, 9, 10, 11, 12, 13
delete last 7 13 | deleted 13, 7
"""  # fmt: skip


def test_a_session_of_points(say: Say) -> None:
    """Each line is a command and the first line of its answer, in one session."""
    for row in filter(None, SET.splitlines()):
        line, _, answer = row.replace("\\\\", "\\").partition(" | ")
        assert say(line) == answer


def test_points_have_the_changes_of_their_commands(debug: Interpreter, say: Say) -> None:
    say("tcatch stall at cp if a0 == 2")
    say("catch stall at cp if a0 == 3")
    say("tbreak deep ignore 4")
    say("break deep at cp if a0 == 5")
    say('dprintf deep, "%d %d", a0, mem[a1 + (2)] ')
    say("disable 2")
    found = [
        (x.kind, x.temporary, x.enabled, x.condition, x.ignore, x.place, x.values)
        for x in debug.session.points.all.values()
    ]
    assert found == [
        ("catch", True, True, "a0 == 2", 0, "cp", ()),
        ("catch", False, False, "a0 == 3", 0, "cp", ()),
        ("tbreak", True, True, "", 4, "", ()),
        ("break", False, True, "a0 == 5", 0, "cp", ()),
        ("dprintf", False, True, "", 0, "", ("a0", "mem[a1 + (2)]")),
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        (", a", ["a"]),
        (",a, b ,c", ["a", "b", "c"]),
        (", m[1, 2], f(3, (4, 5)), d", ["m[1, 2]", "f(3, (4, 5))", "d"]),
        (", a,", ["a"]),
        (""", "a, \\"(", 'x,y', ',', b""", ['"a, \\"("', "'x,y'", "','", "b"]),
    ],
)
def test_values_are_between_the_commas_outside_of_brackets(text: str, values: list[str]) -> None:
    assert split_values(text) == values


def test_the_operands_of_a_point() -> None:
    point = Point(1, "break", "f", condition="c", ignore=2, by="x", place="y")
    assert point_text(point) == "f by x at y if c ignore 2"
    assert point_text(point, condition=False) == "f by x at y ignore 2"
    assert point_text(point, ignore=False) == "f by x at y if c"
    point = Point(1, "dprintf", "f", form='a "b"', values=("c", "d"))
    assert point_text(point) == 'f, "a \\"b\\"", c, d'


def test_info_shows_points_with_some_numbers(say: Say, debug: Interpreter) -> None:
    for line in ("break deep", "watch a0", "break double", "watch a1"):
        say(line)

    def shown(line: str) -> list[object]:
        return [row[0] for row in debug.execute(line).rows]

    assert shown("info breakpoints") == [1, 2, 3, 4]
    assert shown("info b 1 3-4") == [1, 3, 4]
    assert shown("info watchpoints 1-2") == [2]
    assert say("info breakpoints all") == "error: 'all' is no number"


@pytest.mark.parametrize("what", ["frame", "source", "sources", "program", "display"])
def test_info_of_one_thing_takes_no_operand(say: Say, what: str) -> None:
    assert say(f"info {what} 2") == f"error: info {what} takes nothing more"


def test_commands_keep_texts_with_semicolons_and_indented_lines(say: Say, tmp_path: Path) -> None:
    say("break deep")
    say("commands printf \"a; b %d\\n\", ';'; print a0")
    assert say("break double") == "break 2: double, 0x00010030 test.s:16"
    lines = ("  silent", "if a0 == 3", '  printf "c; d\\n"', "end", "  print a0")
    for line in ("commands", *lines, "end"):
        say(line)
    assert say(f"save breakpoints {tmp_path / 'points'}").startswith("2 points in ")
    again = Interpreter(of_source(CALLS), DebuggerFiles())
    again.execute(f"source {tmp_path / 'points'}")
    wanted = [("printf \"a; b %d\\n\", ';'", "print a0"), lines]
    assert [point.commands for point in again.session.points] == wanted
    answer = again.execute("continue")
    assert answer_text(answer, "").splitlines() == ["c; d", "a0 = 3"]
    answer = again.execute("continue")  # `deep`
    assert answer_text(answer, "").splitlines()[-2:] == ["a; b 59", "a0 = 24"]


def test_the_limits_of_a_range_and_of_a_pattern(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """`1-1000` is 1,000 points, as many as one command may name."""
    assert say("delete 1-1000") == "error: there is no point 1"
    assert say("delete 1-1001") == "error: 1-1001 is too many points"
    monkeypatch.setattr(points, "MOST_OF_PATTERN", 2)
    assert say("rbreak ^d") == "break 1: double, 0x00010030 test.s:16"
    monkeypatch.setattr(points, "MOST_OF_PATTERN", 1)
    assert say("rbreak ^d") == "error: 2 labels match, at most 1 are set at once"


def test_where_the_core_is_at_no_instruction(say: Say) -> None:
    say("focus pe[0]")
    assert say("break") == "error: the focused core is at no instruction"
    assert say("break +1") == "error: the focused core is at no line of a source"
    assert say("advance -1") == "error: the focused core is at no line of a source"
    assert say("clear") == "error: the focused core is at no instruction"


def test_displays_are_enabled_and_disabled(debug: Interpreter, say: Say) -> None:
    assert say("disable display") == "disabled displays none"
    for name in ("a0", "a1", "a2"):
        say(f"display {name}")
    assert say("enable display 4") == "error: there is no display 4"
    assert say("disable display 1 3") == "disabled displays 1, 3"
    assert say("enable display 3") == "enabled display 3"
    assert debug.execute("info display").rows == (
        (1, "no", None, "a0"), (2, "yes", None, "a1"), (3, "yes", None, "a2"),
    )  # fmt: skip
    assert say("disable display") == "disabled displays 1, 2, 3"


def test_a_watch_of_another_focus_names_it(debug: Interpreter, say: Say) -> None:
    say("watch retired")
    say("break deep")
    say("focus pe[0]")
    say("watch retired")
    table = debug.execute("info breakpoints")
    assert table.columns == ("number", "kind", "enabled", "hits", "what")
    assert [row[4] for row in table.rows] == ["retired (of cp)", "deep", "retired"]
    assert [row[0] for row in debug.execute("info watchpoints").rows] == [1, 3]


# Commands of commands


def run(debug: Interpreter, *lines: str) -> str:
    """The last answer to several lines."""
    text = ""
    for line in lines:
        text = answer_text(debug.execute(line), line)
    return text


def test_a_while_ends_at_its_limits(debug: Interpreter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `while` whose condition is false after the last allowed round has no error."""
    monkeypatch.setattr(scripting, "MOST_ROUNDS", 3)
    monkeypatch.setattr(answers, "MOST_ANSWERS", 4)
    count = ("while $n < {}", "print $n", "set $n = $n + 1", "end")
    lines = [line.format(2) for line in count]
    assert run(debug, "set $n = 0", *lines) == "\n".join(
        ["$n = 0", "$n = 1", "$n = 1", "$n = 2"]  # `print` and `set` by turns
    )
    for most in (3, 4):
        lines = [line.format(most) for line in count]
        text = run(debug, "set $n = 0", *lines)
        assert text.startswith("error: the condition was still true after 3 rounds")
        assert run(debug, "print $n") == "$n = 3"
    # an answer contains the last of its answers
    monkeypatch.setattr(scripting, "MOST_ROUNDS", 9)
    lines = [line.format(5) for line in count]
    assert run(debug, "set $n = 0", *lines) == "\n".join(["$n = 3", "$n = 4", "$n = 4", "$n = 5"])
    assert run(debug, "set $n = 0", "if 1", *["print $n"] * 6, "end") == "\n".join(["$n = 0"] * 4)


@pytest.mark.parametrize("last", ["print 6", "delete 99"])
@pytest.mark.parametrize("word", ["commands 1", "define mine"])
def test_an_answer_has_the_last_of_many_answers(
    debug: Interpreter, monkeypatch: pytest.MonkeyPatch, word: str, last: str
) -> None:
    """An answer has at most `MOST_ANSWERS` answers, also if the last command has an error."""
    monkeypatch.setattr(answers, "MOST_ANSWERS", 4)
    debug.execute("break double")
    run(debug, word, *(f"print {n}" for n in range(1, 6)), last, "end")
    answer = debug.execute("mine" if word == "define mine" else "continue")
    expected = [f"{n} = {n}" for n in range(1, 7)]
    if last == "delete 99" and word == "define mine":
        assert answer.message == "mine, line 6: there is no point 99"
        del expected[-1]  # the answer to `mine` is the error itself
    elif last == "delete 99":
        expected[-1] = "error: there is no point 99"
    assert [answer_text(item, "") for item in answer.answers] == expected[-4:]


def test_leaving_in_a_block_ends_it(debug: Interpreter) -> None:
    run(debug, "set $n = 0", "while 1", "set $n = $n + 1", "quit", "set $n = 9")
    answer = debug.execute("end")
    assert answer.leaves
    assert run(debug, "print $n") == "$n = 1"
    for line in ("if 0", "print 1", "else", "print 2"):
        debug.execute(line)
    answer = debug.execute("end")
    assert not answer.leaves
    assert (answer.kind, [x.kind for x in answer.answers]) == ("done", ["table"])


@pytest.mark.parametrize("word", ["if 1", "while 1", "define mine"])
def test_an_error_in_a_block_has_its_line_and_hint(debug: Interpreter, word: str) -> None:
    text = run(debug, word, "print 1", "delete last", "end")
    if word == "define mine":
        assert text == "mine is 2 lines"
        text = run(debug, "mine")
    name = "mine" if word == "define mine" else word.split()[0]
    *_, last = lines = text.splitlines()
    assert f"error: {name}, line 2: there are no points" in lines
    assert last == "hint: break LOC makes one"


@pytest.mark.parametrize("name", ["a-b", "_9", "A_z-0"])
def test_names_of_commands(debug: Interpreter, name: str) -> None:
    assert run(debug, f"define {name}", "print 1", "end") == f"{name} is 1 line"
    assert run(debug, name) == "1 = 1"


@pytest.mark.parametrize("name", ["-a", "9", "a.b", "é"])
def test_what_is_no_name_of_a_command(debug: Interpreter, name: str) -> None:
    assert run(debug, f"define {name}").startswith(f"error: '{name}' is no name of a command")


@pytest.mark.parametrize("text", ["hx = print/x", "-a hx=print/x", "-a -- hx  =  print/x"])
def test_an_alias_of_gdbs_forms(debug: Interpreter, text: str) -> None:
    assert run(debug, f"alias {text}") == "hx is print/x"
    assert run(debug, "hx 255") == "255 = 0xff"
    assert run(debug, "alias print = x").startswith("error: print is a command of the debugger")
    assert run(debug, "alias p = x").startswith("error: p is a command of the debugger")


@pytest.mark.parametrize("name", ["bookmark", "rec", "lay"])
def test_a_command_of_your_own_may_have_a_name_of_gdb(debug: Interpreter, name: str) -> None:
    run(debug, f"define {name}", "print a0 + zz", "end")
    assert run(debug, name).splitlines()[0] == f"error: {name}, line 1: nothing is called 'zz'"
    run(debug, f"define {name}", f"{name}", "end")
    assert "go deeper than" in run(debug, name)
    run(debug, f"define {name}", "print 3 + $arg0", "end")
    assert run(debug, f"{name} 1") == "3 + 1 = 4"


def test_a_new_definition_keeps_the_help(debug: Interpreter) -> None:
    run(debug, "define mine", "print 1", "end", "document mine", "What it does.", "end")
    assert run(debug, "define mine", "print 2", "print 3", "end") == "mine is 2 lines"
    assert run(debug, "help mine") == "mine\nWhat it does."
    assert run(debug, "mine") == "2 = 2\n3 = 3"


@pytest.mark.parametrize(
    "lines",
    [
        ("while 1", "continue", "end"),
        ("break double", "commands", "while 1", "continue", "end", "end", "run"),
    ],
)
def test_a_loop_ends_when_it_continues_a_program_that_has_ended(
    debug: Interpreter, lines: tuple[str, ...]
) -> None:
    answer = [debug.execute(line) for line in lines][-1]
    assert "error: while: the program had ended before" in answer_text(answer, "")
    assert answer.has_failed


def test_a_loop_may_run_the_program_again_and_again(debug: Interpreter) -> None:
    for line in ("set $i = 0", "while $i < 3", "run", "set $i = $i + 1"):
        debug.execute(line)
    assert not debug.execute("end").has_failed
    assert debug.session.read("$i") == 3


def test_commands_of_ones_own_are_completed_and_found(debug: Interpreter) -> None:
    run(debug, "define hx", "print 1", "end", "define hy", "print 2", "end")
    run(debug, "document hy", "What it does.", "end")
    assert run(debug, "complete hx") == "hx"
    assert debug.complete("help h")[-2:] == ["hx", "hy"]
    assert debug.complete("document h") == ["hx", "hy"]
    assert debug.execute("apropos hx").rows == (("hx", "print 1"),)
    assert debug.execute("apropos what it does.").rows == (("hy", "What it does."),)


def test_an_alias_of_no_command_is_an_error(debug: Interpreter) -> None:
    assert debug.execute("alias qq = nosuch 3").message == "no command is called 'nosuch'"
    assert run(debug, "alias ib = info breakpoints") == "ib is info breakpoints"
    assert run(debug, "alias ic = ib") == "ic is ib"
    assert run(debug, "ic") == "none"


@pytest.mark.parametrize("line", ["define step", "define a.b", "define hook-a", "document step"])
def test_the_mark_of_a_wrong_name_is_at_the_name(debug: Interpreter, line: str) -> None:
    mark = debug.execute(line).mark
    assert mark is not None
    assert line[mark.begin : mark.end] == line.split()[1]


def test_commands_of_a_point_that_several_units_hit_are_executed_once() -> None:
    debug = Interpreter(session("layer"), DebuggerFiles())
    run(debug, "break layer", "commands", "echo here", "end")
    answer = debug.execute("continue")
    assert answer.stopped is not None
    assert len(answer.stopped.hits) == 2
    assert [answer_text(item, "") for item in answer.answers] == ["here"]


@pytest.mark.parametrize("line", ["finish", "until", "until again", "advance again"])
def test_a_run_of_a_program_that_has_ended_says_so(say: Say, debug: Interpreter, line: str) -> None:
    say("continue")
    assert debug.execute(line).lines == (ENDED,)
    say("while 1")
    say(line)
    assert answer_text(debug.execute("end"), "").startswith(f"error: while: {ENDED}")


def test_jump_changes_nothing_after_the_end(say: Say, debug: Interpreter) -> None:
    say("continue")
    before = debug.session.read("cp.pc")
    assert say("jump again") == f"error: {ENDED}"
    assert debug.session.read("cp.pc") == before


def test_there_is_no_line_0(say: Say) -> None:
    for place in ("0", "test.s:0"):
        assert say(f"break {place}") == "error: test.s has no line 0"
