"""Messages of commands with slightly wrong arguments, which generated walks have found wrong."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.dap.sources import content, file_of
from macaw.debugger.dap.threads import source_record
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from macaw.execution import configuration_of
from tests.debugger.programs import of_source
from tests.debugger.running import printed
from tests.debugger.transcripts import program_and_inputs
from tests.fuzz.debugger_lines import Kept
from tests.small_programs import PROGRAMS, program

pytestmark = pytest.mark.once


def session(name: str) -> Session:
    loaded = program(name)
    return Session(loaded, configuration_of(loaded), PROGRAMS[name].inputs)


@cache
def cp() -> Session:
    """One session for all lines that change nothing."""
    return session("cp")


def errors(debug: Session, line: str) -> str:
    answer = Interpreter(debug, Kept()).execute(line)
    assert answer.kind == "error", answer
    return answer.message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("13", "the register op of fim[0] takes 0 to 12, not 13"),
        ("-1", "the register op of fim[0] takes 0 to 12, not 4294967295"),
        ("1 << 32", "4294967296 does not fit fim[0].op, 0 to 4294967295"),
    ],
)
def test_a_value_that_a_register_of_the_device_refuses_is_an_error(value, message):
    debug = session("fim")
    assert errors(debug, f"set fim[0].op = {value}") == message
    assert debug.read("fim[0].op") == 0
    printed(debug, "set fim[0].op = 12")
    assert debug.read("fim[0].op") == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"%d"', "the format takes 1 value, not 0"),
        ('"%d %s"', "the format takes 2 values, not 0"),
        ('"no", s0', "the format takes 0 values, not 1"),
        ('"%5.2q", s0', "%5.2q is no conversion; those are %d %i %u %x %X %o %c %e %E %f %F %g %G %s and %%"),
        ('"100%", s0', "a % without a letter: %% prints the sign"),
        ('"%*d", s0', "%*d: a width is a number, 1000 at most"),
        ('"%5%"', "%5% is no conversion: %% prints the sign"),
        ('"%-%"', "%-% is no conversion: %% prints the sign"),
        ('"%l%"', "%l% is no conversion: %% prints the sign"),
        ('"%5lld %lq", s0', "%lq is no conversion; those are %d %i %u %x %X %o %c %e %E %f %F %g %G %s and %%"),
        ('"%lhd", s0', "%lhd is no conversion; before d come h, hh, l, ll, z, j, t, or none"),
        ('"%Lf", s0', "%Lf is no conversion; before f come h, hh, l, ll, z, j, t, or none"),
        ('"%5hhs", s0', "%5hhs is no conversion; hh comes before diuxXo"),
        ('"%h", s0', "%h is no conversion; those are %d %i %u %x %X %o %c %e %E %f %F %g %G %s and %%"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["printf ", "dprintf loop, "])
def test_a_format_is_checked_before_it_prints(command, text, message):
    debug = session("cp")
    assert errors(debug, command + text) == message
    assert not debug.points.all


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"%d", y', "%d takes one number, %s takes any value"),
        ('"%x", 1.5', "%x takes a whole number, not 1.5"),
        ('"%c", 1.5', "%c takes a whole number, not 1.5"),
        ('"%c", -1', "%c takes the number of a character, 0 to 1114111"),
        ('"%d", 1e308 * 10', "%d takes a whole number, not inf"),
        ('"%c", 0xd800', "%c takes the number of a character, and 55296 is a surrogate's"),
        ('"%c", 0xdfff', "%c takes the number of a character, and 57343 is a surrogate's"),
        ('"%ld", y', "%ld takes one number, %s takes any value"),
        ('"%5hx", 1.5', "%5hx takes a whole number, not 1.5"),
    ],
)
def test_a_value_that_a_format_cannot_print(text, message):
    assert errors(cp(), f"printf {text}") == message


def test_formats_that_c_and_python_share():
    debug = session("cp")
    values = [7, -7, 255, 0, 65]
    for form in ("%d", "%5d", "%-5d|", "%+d", "%05d", "%i", "%s", "%e", "%.3f", "%G"):
        for value in values:
            assert printed(debug, f'printf "{form}", {value}') == form % value
    assert printed(debug, 'printf "%#o", 255') == "0377"
    assert printed(debug, 'printf "%d %s %%", 2.75, 2.75') == "2 2.75 %"
    assert printed(debug, 'printf "%x", -2') == f"{-2 & 0xFFFFFFFF:x}"
    for number in (0xD7FF, 0xE000):  # the neighbours of the surrogates
        assert printed(debug, f'printf "%c", {number}') == chr(number)


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("%u", "-1", "4294967295"),
        ("%u", "-2147483648", "2147483648"),
        ("%5u|", "7", "    7|"),
        ("%u", "-1 << 40", "18446742974197923840"),  # 2 ** 64 - 2 ** 40
        ("%u", "-2.75", "4294967294"),
        ("%ld", "5", "5"),
        ("%lld", "-5", "-5"),
        ("%-4lu|", "5", "5   |"),
        ("%zu", "-1", "4294967295"),
        ("%jx", "255", "ff"),
        ("%ti", "-7", "-7"),
        ("%ls", "5", "5"),
        ("%lc", "65", "A"),
        ("%.2lf", "1.5", "1.50"),
        ("%hx", "0x12345", "2345"),
        ("%hhX", "-1", "FF"),
        ("%ho", "-1", "177777"),
        ("%hhu", "300", "44"),
        ("%hd", "0x18000", "-32768"),
        ("%hhd", "200", "-56"),
        ("%hhi", "-129", "127"),
        ("%ld %% %lu%%", "1, 2", "1 % 2%"),
    ],
)
def test_a_format_prints_as_c_does(form, value, text):
    """The texts are those of C's printf for a 32-bit `long`, by hand."""
    assert printed(cp(), f'printf "{form}", {value}') == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r'"%s|%5s|%-5s|\n", "text", "a,\"b", "c("', 'text| a,"b|c(   |'),
        ("\"%c%c%d\", ',', '(', s0", ",(0"),
        (r'"%.2s", "one\ttwo"', "on"),
    ],
)
def test_a_format_prints_texts(line, text):
    assert printed(cp(), f"printf {line}") == text


def test_a_text_is_printed_only_by_s():
    assert errors(cp(), 'printf "%d", "text"') == "%d takes one number, %s takes any value"
    assert errors(cp(), 'printf "%s", "text" + 1') == "an expression is needed here"


def test_lists_of_different_lengths_are_no_value():
    debug = session("pe")
    printed(debug, "focus pe[0,1].2")
    debug.goto(164)
    printed(debug, "stepi 2")
    for line in ("whatis", "print", "why"):
        message = errors(debug, f"{line} pe[0,0].*.weight_queue.entries")
        assert message.endswith("the units have different numbers of values: name one unit")


def test_a_list_of_lists_of_different_lengths_is_no_array(tmp_path, monkeypatch):
    """`fim[0].blocks` has one list for each island, with one entry for each of its blocks."""
    monkeypatch.chdir(tmp_path)
    program, inputs = program_and_inputs("stuck.s")
    debug = Session(program, configuration_of(program), inputs)
    debug.goto(120)
    wrong = "a value whose lists have different lengths is no array"
    for line in ("print sum(fim[0].blocks)", "print fim[0].blocks == 1", "x fim[0].blocks"):
        assert errors(debug, line) == wrong
    assert errors(debug, "heat fim[0].blocks") == f"heat fim[0].blocks: {wrong}"
    np.save("r.npy", np.zeros(3))
    assert (
        wrong
        in Interpreter(debug, DebuggerFiles()).execute("why fim[0].blocks against r.npy").message
    )
    assert "fim[0].blocks" in printed(debug, "watch fim[0].blocks if fim[0].blocks")
    assert f"in the condition of point 1: {wrong}" in printed(debug, "reverse-step")


def test_a_symbol_with_dots_is_a_place():
    debug = session("pe")  # whose cp executes code that Macaw has added
    address = debug.program.symbol("default.wait").value
    assert debug.read("default.wait") == address
    assert debug.read("default.wait + 4") == address + 4
    assert f"{address:#010x}" in printed(debug, "break default.wait")
    assert printed(debug, "info address _list.0").startswith("_list.0 is at 0x10000000")
    assert "default.wait" in printed(debug, "continue")
    assert len(printed(debug, "rbreak ^default").splitlines()) > 3
    message = errors(debug, "print default.nowhere")
    assert message.startswith("nothing is called 'default'")


def test_two_colons_in_a_subscript_are_no_scope_of_c():
    assert "file or function" not in errors(session("vc"), "print x[::2]")
    assert "file or function" in errors(session("vc"), "print main::x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x cp.s:3", "unexpected ':', expected an operator or the end"),
        ("info symbol cp.s:3", "unexpected ':', expected an operator or the end"),
        ("info mem cp.s:3", "unexpected ':', expected an operator or the end"),
        ("find y, +8, 1.5", "1.5 is no whole number"),
        ("find 1.5, +8, 1", "1.5 is no address"),
        ("stepi x", "'x' is no number"),
        ("goto 9 turn 99", "no core has the number 99"),
        ("print/2x a0", "print shows one value, without a count"),
        ("stepi -1", "'-1' is no number"),
        ("delete last x 1", "'x' is no number"),
        ("break -3 at dma", "dma executes nothing at cp.s:10"),
        ("finish 1", "'1' is too much: the command takes nothing"),
        ("layout auto 2", "'2' is too much: the command takes nothing more"),
        ("disassemble y", "no code of the program is at 0x80000040"),
        ("frame 1", "there is one call, #0"),
        ("ignore 1 y", "y is no number of times"),
    ],
)
def test_messages(line, message):
    assert errors(cp(), line) == message


def test_an_error_in_the_condition_of_an_event_is_said_once():
    debug = session("cp")
    printed(debug, "catch dma-done if y[0, 0] > 1 / (cp.a0 - cp.a0)")
    text = printed(debug, "continue")
    assert text.count("in the condition of point 1: division by zero") == 1


def test_only_a_core_with_a_pc_jumps():
    debug = session("pe")
    debug.goto(160)
    printed(debug, "focus pe[0]")
    assert errors(debug, "jump 20") == "pe[0] has no pc that jump could set"
    assert debug.device.cycle == 160


def test_a_register_of_nnp_with_an_illegal_value_is_a_fault():
    debug = session("nnp")
    debug.goto(25)
    printed(debug, "set nnp.cols = 0")
    stop = debug.cont()
    assert stop.reason == "fault"
    assert stop.fault is not None
    assert stop.fault["message"] == "cols is at least 1, not 0"


def test_an_editor_can_open_code_that_macaw_has_added():
    debug = session("pe")
    (line,) = {x.file for x in debug.program.line_table if x.file.startswith("<")}
    path = Path(source_record(line)["path"])
    text = path.read_text("utf-8")
    assert "default.first:" in text
    named = {"source": {"path": str(path)}}
    assert file_of(debug, named) == line
    assert content(debug, named)["content"] == text


def test_one_cycle_is_over_and_two_are():
    debug = session("cp")
    for limit, text in ((1, "1 cycle is over"), (2, "2 cycles are over")):
        assert f"cycle limit: {text};" in printed(debug, f"annotate {limit}")


def test_a_register_with_a_pointer_to_external_memory_is_an_address():
    debug = session("cp")
    debug.goto(100)
    y = debug.program.tensors[0].address
    assert debug.read("s3") == y + 4 - (1 << 32)  # a signed number
    debug.set("mem[s3].i16[0]", 77)
    assert debug.read("mem[s3].i16") == debug.read("{short}s3") == debug.read("y[0, 2]") == 77
    assert printed(debug, "x/dh s3").split()[-1] == "77"
    assert f"{y + 4:#010x}" in printed(debug, "find/h s3, +2, 77")
    assert printed(debug, "info symbol s3") == f"{y + 4:#010x} is y+4"
    assert f"{y + 4:#010x}" in printed(debug, "break *s3")
    assert "is no range" in errors(debug, "disassemble loop,+-4")
    assert printed(debug, "find/g y, +64, -1") == "nothing was found"


def test_numbers_of_several_places_have_as_many_bits_as_their_type():
    debug = session("pe")
    debug.set("pe[0,1].0.acc0", -2)
    parts = [printed(debug, f"print/z pe[0,{unit}].0.acc0.i8") for unit in range(2)]
    first, second = (part.partition(" = ")[2].strip("[]") for part in parts)
    assert second.split(", ")[0] == f"{-2 & 0xFF:#04x}"
    together = printed(debug, "print/z pe[0,*].0.acc0.i8").partition(" = ")[2].strip("[]")
    assert together.startswith(f"{first}, {second}")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["print/x (y[0])"], "0xff"),
        (["print/x ((y[0]))"], "0xff"),
        (["print/x (y[0]) + 0"], "0xffffffff"),  # C's int
        (["print y[0]", "print/x"], "0xff"),
        (["print y[0]", "print/x $"], "0xff"),
        (["print y[0]", "print -1", "print/x $1"], "0xff"),
        (["print y[0]", "print -1", "print/x $$"], "0xff"),
        (["print -1", "print y[0]", "print/x $$"], "0xffffffff"),
        (["print y[0]", "print/x ($)"], "0xff"),
        (["set $v = y", "print/z $v"], "[0xff, 0x05]"),
        (["set $v = y[1]", "print/z $v"], "0x05"),
        (["set $v = y[0]", "set $w = $v", "print/t $w"], "0b11111111"),
        (["set $v = y[0]", "set $v = -1", "print/x $v"], "0xffffffff"),
        (["print $v = y[0]", "print/x $1"], "0xff"),
        (["print/a y"], "[0x000000ff, 0x00000005]"),
        (["print/a -1"], "0xffffffff"),
        (["set $_ = y[0]", "x/1xb &y", "print/x $_ * 0 - 1", "print/x $_"], "0x80000000"),
    ],
)
def test_a_value_keeps_the_bits_of_its_type(lines, text):
    source = "        .core cp\n        ecall\n        .data\n        .output y, int8, 2\n"
    debug = Interpreter(of_source(source), Kept())
    debug.execute("set y[0] = -1")
    debug.execute("set y[1] = 5")
    *_, last = [answer_text(debug.execute(line)) for line in lines]
    assert last.partition(" = ")[2] == text


def test_a_value_that_was_never_printed_has_no_type():
    debug = session("cp")
    assert errors(debug, "display/x $9").startswith("$9 is no value that `print` has shown")


def test_parentheses_around_what_is_set_change_nothing():
    debug = session("cp")
    printed(debug, "set (s0) = 77")
    assert debug.read("s0") == 77


def test_a_register_has_its_sign_also_if_its_core_gives_no_list_of_values(monkeypatch):
    """A core of a user need not be `Instrumented`."""
    debug = session("cp")
    printed(debug, "set s0 = -5")
    monkeypatch.setattr("macaw.debugger.state_paths.live_values", lambda core, file: None)
    assert printed(debug, "print s0 * 2") == "s0 * 2 = -10"
    printed(debug, "set s0 = 0x7fffffff")
    assert printed(debug, "print s0") == "s0 = 2147483647"


def test_pc_is_the_next_instruction_of_a_core_without_a_register_pc():
    debug = session("pe")
    debug.set_focus("pe[0]")
    assert errors(debug, "x/i $pc") == "pe[0] is idle: it has no next instruction"
    debug.catch("exe")
    stop = debug.cont()
    debug.set_focus("pe[0]")
    address = debug.core.next_address
    assert stop.reason == "event"
    assert debug.read("$pc") == address
    assert f"=>  {address:#010x}" in printed(debug, "x/i $pc")
    assert errors(debug, "set $pc = 4") == "$pc is nothing that can be set"


def test_a_variable_with_the_name_of_a_file_of_registers_sets_no_registers():
    debug = session("cp")
    message = "x is all registers x of cp, no variable; cp.x can be set"
    assert errors(debug, "set $x = 1") == f"${message}"
    assert errors(debug, "set x = 1") == message
    assert debug.read("sp") > 1
    printed(debug, "set $x[5] = 1")
    printed(debug, "set $a0 = 2")
    assert (debug.read("t0"), debug.read("a0")) == (1, 2)
