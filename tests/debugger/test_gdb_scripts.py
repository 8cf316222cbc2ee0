"""Commands with lines of commands, convenience values, and steps over calls, as in GDB."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw import api
from macaw.asm.source import Source
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.session import Session
from macaw.debugger.user_values import MOST, UserValues, add_printed, printed_access
from macaw.debugging import DebuggerFiles
from macaw.execution import configuration_of
from tests.debugger.programs import of_source
from tests.debugger.sources import CALLS

DATA = CALLS + "        .data\ny:      .byte 1, 2, 255, 4, 5, 6, 7, 8\n"


@pytest.fixture
def debug(tmp_path: Path) -> Interpreter:
    path = tmp_path / "test.s"
    path.write_text(DATA)
    program = api.assemble(path, device="tiny")
    session = Session(program, configuration_of(program), {})
    return Interpreter(session, DebuggerFiles(), allow_shell=True)


def run(debug: Interpreter, *lines: str) -> list[str]:
    """Execute lines; return the texts of their answers that are not empty."""
    texts = [answer_text(debug.execute(line), line) for line in lines]
    return [text for text in texts if text]


# Lines up to `end`


def test_commands_of_a_point_are_lines_up_to_end(debug: Interpreter) -> None:
    assert run(
        debug, "break double", "commands 1", "print a0", "if a0 > 3", "print 77", "end", "end"
    )
    assert debug.session.points.get(1).commands == ("print a0", "if a0 > 3", "print 77", "end")
    first, second = run(debug, "continue", "continue")
    assert first.splitlines()[-1] == "a0 = 3"
    assert second.splitlines()[-2:] == ["a0 = 24", "77 = 77"]
    assert run(debug, "commands 1", "end") == ["0 commands of point 1"]
    assert debug.session.points.get(1).commands == ()


def test_commands_without_a_point_are_refused_at_once(debug: Interpreter) -> None:
    assert run(debug, "commands")[0].startswith("error: there are no points")
    assert run(debug, "commands 7")[0].startswith("error: there is no point 7")
    assert not debug.in_block


def test_a_silent_point_does_not_show_its_stop(debug: Interpreter) -> None:
    run(debug, "break double", "commands", "silent", "print a0", "end")
    assert run(debug, "continue") == ["a0 = 3"]
    answer = debug.execute("continue")
    assert answer.stopped is not None  # for JSON and the screen
    assert answer.stopped.reason == "breakpoint"


def test_a_silent_point_does_not_show_the_stops_between_its_runs(debug: Interpreter) -> None:
    run(debug, "break double", "commands", "silent", "print a0", "continue", "end", "display s0")
    shown = run(debug, "continue")[0].splitlines()
    assert shown[:3] == ["a0 = 3", "a0 = 24", "a0 = 48"]
    assert sum(line.startswith("1: s0") for line in shown) == 1
    assert "breakpoint" not in "".join(shown)
    assert shown[3].startswith("exit with code 96")


@pytest.mark.parametrize(
    "resume",
    [("continue",), ("if 1", "continue", "end"), ("go-on",)],
    ids=["in a block", "in a block of a block", "in a command of one's own"],
)
def test_commands_of_a_point_follow_a_run_that_its_commands_began(
    debug: Interpreter, resume: tuple[str, ...]
) -> None:
    run(debug, "define go-on", "print 88", "continue", "end", "break double")
    run(debug, "commands", "silent", "if a0 != 48", *resume, "else", "print a0", "end", "end")
    answer = debug.execute("continue")
    assert answer_text(answer, "").splitlines()[-1] == "a0 = 48"
    assert "breakpoint" not in answer_text(answer, "")
    assert debug.session.points.get(1).hits == 3


def test_an_empty_line_repeats_what_the_user_typed(debug: Interpreter) -> None:
    run(debug, "break double", "commands", "print a0", "end")
    shown = [run(debug, line)[0].splitlines()[-1] for line in ("continue", "", "")]
    assert shown == ["a0 = 3", "a0 = 24", "a0 = 48"]
    run(debug, "delete", "start", "define two", "stepi", "print 1", "end")
    assert len(debug.execute("two").answers) == len(debug.execute("").answers) == 2
    run(debug, "if 1", "stepi", "end")
    assert run(debug, "") == []
    assert debug.session.core.retired == 3


@pytest.mark.parametrize("point", ["tbreak double", "tcatch fault"])
def test_a_temporary_point_executes_its_commands_once(debug: Interpreter, point: str) -> None:
    run(debug, "set pc = 3" if "fault" in point else "set s0 = 0", point)
    run(debug, "commands", "silent", "print 5 * 5", "end")
    assert run(debug, "continue") == ["5 * 5 = 25"]
    assert run(debug, "info breakpoints") == ["none"]
    assert not run(debug, "continue")[0].startswith("5 * 5")


@pytest.mark.parametrize("leave", [("quit",), ("if 1", "quit", "end")])
def test_a_command_of_a_point_can_end_the_debugger(
    debug: Interpreter, leave: tuple[str, ...]
) -> None:
    run(debug, "break double", "commands", *leave, "print 7 * 1111111", "end")
    answer = debug.execute("continue")
    assert answer.leaves
    assert "7777777" not in answer_text(answer, "")


def test_define_makes_a_command_with_arguments(debug: Interpreter) -> None:
    assert run(debug, "define pair", "print $arg0", "print $arg1 + $argc", "end") == [
        "pair is 2 lines"
    ]
    assert run(debug, "pair 3 4") == ["3 = 3\n4 + 2 = 6"]
    assert run(debug, "pair 3") == [
        "3 = 3\nerror: pair, line 2: $arg1 is missing: the call has 1 word"
    ]
    assert run(debug, "document pair", "Print two things.", "end", "help pair") == [
        "help pair shows 1 line",
        "pair\nPrint two things.",
    ]
    assert run(debug, "show user pair") == ["pair:\n  print $arg0\n  print $arg1 + $argc"]
    assert run(debug, "define print")[0].startswith("error: print is a command")
    assert run(debug, "define 3x")[0].startswith("error: '3x' is no name of a command")
    assert run(debug, "document none")[0].startswith("error: no command of your own")
    assert run(debug, "define again", "again", "end", "again")[-1].count("go deeper than 16") == 1


def test_a_command_of_ones_own_can_ask_how_many_arguments_it_has(debug: Interpreter) -> None:
    lines = ["if $argc == 2", "print $arg0 + $arg1", "else", "print $arg0", "end"]
    run(debug, "define one-or-two", *lines, "end", "define pass-on", "one-or-two $arg*", "end")
    assert run(debug, "one-or-two 3", "pass-on 3 4") == ["3 = 3", "3 + 4 = 7"]
    assert run(debug, "pass-on") == [
        "error: pass-on, line 1: one-or-two, line 5: if, line 1: "
        "$arg0 is missing: the call has 0 words"
    ]
    assert run(debug, "print $arg0")[0].startswith("error: $arg0 has no value")


def test_an_error_in_a_command_of_ones_own_names_its_line(debug: Interpreter) -> None:
    run(debug, "define two", "print 1", "print nothing", "end")
    assert "error: two, line 2: nothing is called 'nothing'" in run(debug, "two")[0]


def test_alias_adds_the_words_of_the_call(debug: Interpreter) -> None:
    assert run(debug, "alias hex = print/x", "hex 255", "alias h2 print") == [
        "hex is print/x",
        "255 = 0xff",
        "error: that is no alias\n  alias h2 print\n  ^^^^^\nhint: alias NAME = COMMAND",
    ]


def test_if_has_an_else_and_nests(debug: Interpreter) -> None:
    lines = ["if 0", "print 1", "else", "if 1", "print 2", "else", "print 3", "end", "end"]
    assert run(debug, *lines) == ["2 = 2"]
    assert run(debug, "if nothing", "end")[0].startswith("error: nothing is called 'nothing'")


def test_while_counts_with_a_variable(debug: Interpreter) -> None:
    run(debug, "set $n = 0", "while $n < 3", "print $n", "set $n = $n + 1", "end")
    assert run(debug, "print $n", "show values") == [
        "$n = 3",
        "$1 = 0\n$2 = 1\n$3 = 2\n$4 = 3",
    ]


def test_a_block_without_end_is_an_error(debug: Interpreter, tmp_path: Path) -> None:
    script = tmp_path / "s"
    script.write_text("print 1\ndefine foo\nprint 2\n")
    text = run(debug, f"source {script}")[0]
    assert "'define foo' lacks its `end`" in text
    assert not debug.in_block
    debug.execute("while 1")
    assert debug.in_block
    last = debug.end_input()
    assert last is not None
    assert last.message == "'while 1' lacks its `end`"
    assert debug.end_input() is None


def test_python_takes_lines(debug: Interpreter) -> None:
    assert run(debug, "python", "for n in range(2):", "    print(n)", "end") == ["0\n1"]


def test_folders_and_completion(debug: Interpreter, tmp_path: Path) -> None:
    before = os.getcwd()  # noqa: PTH109
    try:
        assert run(debug, f"cd {tmp_path}", "pwd") == [str(tmp_path), str(tmp_path)]
        assert run(debug, "cd none/at/all")[0].startswith("error: none/at/all: No such file")
    finally:
        os.chdir(before)
    assert run(debug, "complete info reg") == ["info registers"]


# Values


def test_printed_values_have_numbers(debug: Interpreter) -> None:
    assert run(debug, "print $")[0].startswith("error: $ is no value that `print` has shown, it")
    run(debug, "print 10", "print 20", "print 30")
    assert run(debug, "print $", "print $$2", "print $1 + $2") == [
        "$ = 30", "$$2 = 20", "$1 + $2 = 30",
    ]  # fmt: skip
    assert run(debug, "print") == ["$ = 30"]
    assert run(debug, "print $9")[0].startswith(
        "error: $9 is no value that `print` has shown, it has"
    )


def test_old_printed_values_are_dropped() -> None:
    values = UserValues()
    for number in range(MOST + 3):
        add_printed(values, number, dtype=None)
    access = printed_access(values, "4")
    assert access is not None
    assert (access.read(), len(values.printed)) == (3, MOST)
    with pytest.raises(ValueError, match=r"it has shown \$4 to \$10003"):
        printed_access(values, "3").read()  # type: ignore[union-attr]


def test_variables(debug: Interpreter) -> None:
    assert run(debug, "print $n")[0].startswith("error: $n has no value; set $n = V gives it one")
    run(debug, "set $n = 5", "print $m = 6")
    assert run(debug, "print $n * $m", "show convenience") == [
        "$n * $m = 30", "$n = 5\n$m = 6",
    ]  # fmt: skip
    run(debug, "break double if a0 > $n", "continue")
    assert run(debug, "print a0", "print $bpnum") == ["a0 = 24", "$bpnum = 1"]
    assert run(debug, "print $_exitcode")[0].startswith("error: $_exitcode has no value yet")
    run(debug, "delete", "continue")
    assert run(debug, "print $_exitcode") == ["$_exitcode = 96"]
    assert run(debug, "set $_exitcode = 3")[0] == "error: $_exitcode is nothing that can be set"


def test_x_sets_the_last_address(debug: Interpreter) -> None:
    run(debug, "x/4xb y")
    assert run(debug, "print/x $_", "print $__") == ["$_ = 0x80000003", "$__ = 4"]


def test_setting_a_variable_is_no_edit(debug: Interpreter) -> None:
    run(debug, "stepi 5", "checkpoint", "reverse-stepi 3", "set $n = 1", "goto 5")
    assert run(debug, "info checkpoints")[0].count("\n") == 2  # the checkpoint is still there


BYTES = np.array([1, 2, 255, 4, 5, 6, 7, 8], np.uint8).tobytes()
TYPES = {"u8": "<u1", "i8": "<i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4",
         "char": "<i1", "short": "<i2", "int": "<i4", "long": "<i4", "unsigned": "<u4"}  # fmt: skip
DEBUG = Interpreter(of_source(DATA), DebuggerFiles())


@given(st.sampled_from(sorted(TYPES)), st.integers(0, 4), st.integers(1, 4))
@settings(max_examples=60)
def test_contents_of_memory_are_those_of_numpy(name: str, offset: int, count: int) -> None:
    dtype = np.dtype(TYPES[name])
    count = max(1, min(count, (8 - offset) // dtype.itemsize))
    expected = np.frombuffer(BYTES, dtype, count, offset)
    session = DEBUG.session
    assert session.read(f"{{{name}}}(y+{offset})") == expected[0]
    assert list(session.read(f"{{{name}}}(y+{offset})@{count}")) == list(expected)
    assert session.read(f"&{{{name}}}(y+{offset})") == 0x8000_0000 + offset


def test_operators_on_memory(debug: Interpreter) -> None:
    (word,) = np.frombuffer(BYTES[:4], "<u4")
    assert run(debug, "print *y") == [f"*y = {word}"]
    assert run(debug, "print &y.u8[2]", "print &again") == [
        "&y.u8[2] = 0x80000002 <y+2>",
        f"&again = {debug.session.program.symbol('again').value:#010x} <again>",
    ]
    run(debug, "set {char}(y+1) = -1", "set y.u8[4]@2 = 9")
    assert list(debug.session.read("y.u8")) == [1, 255, 255, 4, 9, 9, 7, 8]
    for text, message in (
        ("&a0", "a0 is not in memory, it has no address"),
        ("&3", "only memory has an address"),
        ("y@x", "after @ comes a number from 1 to 1,048,576"),
        ("{foo}y", "'foo' is no type, there are u8, u16"),
        ("*1.5", "*1.5: an address is a whole number"),
    ):
        assert run(debug, f"print {text}")[0].startswith(f"error: {message}"), text


def test_a_watch_may_name_memory_by_its_address(debug: Interpreter) -> None:
    run(debug, "watch *0x80000004")
    debug.session.set("mem[0x80000004]", 3)
    assert debug.session.points.get(1).text == "*0x80000004"


# Steps


def test_nexti_is_stepi_without_the_instructions_of_called_functions() -> None:
    mine, theirs = of_source(DATA), of_source(DATA)
    places = []
    while mine.core.running:
        mine.nexti()
        places.append(mine.core.next_address)
    # The oracle: single steps with the depth of calls, from the source. `call` is auipc and jalr.
    lines, depth, expected = DATA.splitlines(), 0, []
    while theirs.core.running:
        at, where = theirs.core.next_address, theirs.where()
        theirs.stepi()
        text = lines[(where.line or 1) - 1]
        is_jump = theirs.core.next_address != (at or 0) + 4
        depth += (" call" in text and is_jump) - (text.strip() == "ret")
        if depth == 0:
            expected.append(theirs.core.next_address)
    assert places == expected
    assert len(expected) < mine.core.retired


def test_reverse_nexti_goes_the_way_back() -> None:
    session = of_source(DATA)
    forward = [session.device.position]
    for _ in range(12):
        session.nexti()
        forward.append(session.device.position)
    back = []
    for _ in range(12):
        session.nexti_back()
        back.append(session.device.position)
    assert back == forward[-2::-1]
    assert session.nexti_back().at_start


def test_reverse_finish_stops_before_the_call(debug: Interpreter) -> None:
    run(debug, "break deep", "continue")
    inside = debug.session.where().symbol
    run(debug, "delete", "next 3")
    stop = debug.session.finish_back()
    assert inside == "deep"
    assert stop.where is not None
    assert stop.where.line == CALLS.splitlines().index("        call deep") + 1
    run(debug, "start")
    assert debug.session.finish_back().at_start


def test_until_does_not_go_back_in_a_loop(debug: Interpreter) -> None:
    end = CALLS.splitlines().index("        bnez s0, again") + 1
    run(debug, f"until {end}", "until")
    where = debug.session.where()
    assert where.line == end + 1


def test_errors_of_steps_and_frames(debug: Interpreter) -> None:
    assert run(debug, "down") == ["error: this is the innermost call\n  down\n  ^^^^"]
    run(debug, "break deep", "continue")
    assert run(debug, "up", "up")[1].startswith("error: this is the outermost call")
    assert run(debug, "frame 7")[0].startswith("error: there are 2 calls, #0 to #1")
    assert run(debug, "jump nowhere")[0].startswith("error: nothing is called 'nowhere'")
    run(debug, "frame 1")
    middle = debug.execute("list").rows[5]
    assert middle[2] == "        mv   s0, a0"
    assert debug.context.frame == 1
    run(debug, "stepi")
    assert debug.context.frame == 0


def test_lists_that_go_on_and_back(debug: Interpreter) -> None:
    first = debug.execute("list 10,12").rows
    assert [row[1] for row in first] == [10, 11, 12]
    assert [row[1] for row in debug.execute("list").rows][:1] == [13]
    assert [row[1] for row in debug.execute("list 15,+2").rows] == [15, 16, 17]
    assert [row[1] for row in debug.execute("list -").rows] == list(range(5, 15))
    for line, message in (
        ("list 12,10", "12,10 is no range of lines in one file"),
        ("list none.s:3", "no source of the program is called 'none.s'"),
        ("list 1,", ""),
    ):
        answer = debug.execute(line)
        assert answer.message == message
    assert debug.execute("list -").message.endswith("test.s begins there")


def test_the_default_program_is_listed() -> None:
    """`list` shows cp's default program, in which the run starts, although no user wrote it."""
    text = "        .device tiny\n        .core vc\n        li a7, 93\n        ecall\n"
    program = api.assemble(Source(text, "end.s"))
    session = Session(program, configuration_of(program), {})
    rows = Interpreter(session, DebuggerFiles()).execute("list 16").rows
    own = (
        (Path(__file__).parents[2] / "asm" / "forms" / "default_cp.s")
        .read_text("utf-8")
        .splitlines()
    )
    assert [row[2] for row in rows] == own[10:20]
    assert [row[1] for row in rows if row[0]] == [16]


def test_finding_memory_and_lines(debug: Interpreter) -> None:
    assert run(debug, 'find y, +8, "\x05\x06"', "print $numfound") == [
        "0x80000004 <y+4>", "$numfound = 1",
    ]  # fmt: skip
    assert run(debug, "find/h y, y+7, 0x0201") == ["0x80000000 <y>"]
    assert run(debug, "find/b1 y, +8, 5") == ["0x80000004 <y+4>"]
    for line, message in (
        ("find y", "a range and a value are needed"),
        ("find y, +0, 1", "y, +0 is no range of 1 to 268,435,456 bytes"),
        ("find/b y, +8, 300", "300 does not fit 1 byte"),
        ("find/q y, +8, 3", "'q' is no format of find"),
        ("find/b1000000 y, +8, 3", "'b1000000' is no format of find"),
        ("find 0x70000000, +8, 3", "read of 8 bytes at 0x70000000"),
        ("search [", "'[' is no regular expression"),
        (f"rbreak {'(' * 5000}", f"'{'(' * 40}...' is no regular expression: too many groups"),
        ("search a{99999999999}", "'a{99999999999}' is no regular expression: the repetition"),
        ("rbreak [[no]&&such]", "no label of code matches"),  # of which Python's `re` warns
        ("search nothing-like-it", "no further line of /"),
        ("rbreak nothing-like-it", "no label of code matches"),
        ("clear again", "there is no breakpoint at again"),
        ("thread 77", "no core is called '77'"),
        ("thread apply", "a core and a command are needed"),
        ("disassemble/q", "'q' is no format of disassemble"),
        ("disassemble 8,4", "8,4 is no range"),
        ("printf hello", "that is no format with values"),
        ('printf "%d"', "the format takes 1 value, not 0"),
        ("show nothing", "show has no 'nothing'"),
        ("info address", "the name of a symbol is needed"),
        ("info symbol", "an address is needed"),
        ("enable display 3", "there is no display 3"),
    ):
        assert run(debug, line)[0].startswith(f"error: {message}"), line


def test_displays_are_switched_off_and_on(debug: Interpreter) -> None:
    run(debug, "display a0", "display/i $pc", "disable display 1")
    assert [line[0] for line in run(debug, "stepi")[0].splitlines()[2:]] == ["2"]
    assert run(debug, "info display") == [
        "number  enabled  format  expression\n"
        "     1  no       -       a0\n"
        "     2  yes      i       $pc"
    ]
    run(debug, "enable display")
    assert [line[0] for line in run(debug, "display")[0].splitlines()] == ["1", "2"]


def test_clear_and_ranges_of_points(debug: Interpreter) -> None:
    run(debug, "break double", "break deep", "break again", "break again if a0 == 3")
    assert run(debug, "clear again", "delete 1-2", "info breakpoints") == [
        "deleted 3, 4", "deleted 1, 2", "none",
    ]  # fmt: skip
    assert run(debug, "delete 1-9999")[0].startswith("error: 1-9999 is too many points")
