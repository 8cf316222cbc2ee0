"""`print`, `x`, `info`, `list`, `disassemble`, `display` and data files agree with the state."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text, table_lines, value_lines
from macaw.debugger.frame_builder import FrameBuilder
from macaw.debugging import DebuggerFiles
from macaw.emu.faults import Fault
from tests.debugger.programs import of_source, session

pytestmark = pytest.mark.once

DATA = """
        .core cp
_start: la   a0, numbers
        lw   a1, 0(a0)
loop:   addi s1, s1, 3
        bnez s1, loop
        .data
numbers: .word 0x41424344, -2, 3, 4, 5, 6, 7, 8
halves: .half 0x3c00, 0xc000, 0x7bff, 0, 0x3800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
text:   .asciz "hello"
        .asciz "you"
        .output y, int16, 2, 3
"""


@pytest.fixture
def run():
    return Interpreter(of_source(DATA), DebuggerFiles())


@pytest.fixture(scope="module")
def digits():
    found = Interpreter(session("digits_mlp"), DebuggerFiles())
    found.execute("goto 1700")
    return found


def value(run, line):
    answer = run.execute(line)
    assert answer.kind == "table", answer
    return answer.rows[0][-1]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("print 7 * 6", 42),
        ("print/x 255", "0xff"),
        ("print/x -1", "0xffffffff"),
        ("print/xg -1", "0xffffffffffffffff"),
        ("print/o 8", "0o10"),
        ("print/t 5", "0b101"),
        ("print/u -1", 0xFFFF_FFFF),
        ("print/d 0xffffffff", -1),
        ("print/db 0x80", -128),
        ("print/c 65", "65 'A'"),
        ("print/f 3", 3.0),
        ("print/fw 0x3fc00000", 1.5),
        ("print/fh 0x3c00", 1.0),
        ("print/a loop", "0x0001000c <loop>"),
        ("print/a numbers + 4", "0x80000000 <numbers>".replace("0000 <numbers>", "0004 <numbers+4>")),
        ("print/u8 0x01020304", [4, 3, 2, 1]),
        ("print/i64 -2", -2),
        ("print/f64 0x3ff00000 << 32", 1.0),
        ("print/x y", ["0x0"] * 6),
        ("print y", [[0, 0, 0], [0, 0, 0]]),
        ("print/i16 0xffff0001", [1, -1]),
        ("p mem[numbers].u8", 0x44),
        ("print/z 5", "0x00000005"),
        ("print/z -1", "0xffffffff"),
        ("print/x mem[numbers].i8 = -1", "0xff"),
        ("print/z mem[numbers].i16 = -2", "0xfffe"),
        ("print/z mem[numbers].i16 = 5", "0x0005"),
        ("print/o mem[numbers].i8 = -1", "0o377"),
        ("print/t mem[numbers].i8 = -128", "0b10000000"),
        ("print/x mem[numbers].i64 = -1", "0xffffffffffffffff"),
        ("print/d mem[numbers].u8 = 255", -1),
        ("print/u mem[numbers].i16 = -1", 0xFFFF),
        ("print/xw mem[numbers].i8 = -1", "0xffffffff"),
        ("print/x mem[numbers].i8 - 256 * 256", "0xffff0044"),
        ("whatis mem[numbers].i8", "int8, 1 byte at 0x80000000"),
        ("whatis mem[numbers].f16", "float16, 2 bytes at 0x80000000"),
        ("whatis mem[numbers].i8 + 1", "whole number of 64 bits"),
        ("whatis y", "int16[2, 3], 12 bytes at 0x80000080"),
        ("whatis y[0, 1]", "int16, 2 bytes at 0x80000082"),
    ],
)  # fmt: skip
def test_print(run, line, wanted):
    assert value(run, line) == wanted


def test_memory_by_units(run):
    session = run.session
    base = session.program.symbol("numbers").value
    words = np.frombuffer(session.device.memory.peek(base, 32), "<u4")
    first = run.execute("x/6xw numbers")
    assert [cell for row in first.rows for cell in row[1:] if cell] == [
        f"{x:#x}" for x in words[:6]
    ]
    assert first.rows[1][0] == f"{base + 16:#010x} <numbers+16>"
    run.execute("x/xw numbers+20")
    assert run.execute("x").rows[0][1] == "0x7"  # it goes on, one by one
    assert run.execute("").rows[0][1] == "0x8"
    run.execute("x/2xw numbers")
    assert run.execute("x").rows[0][1:] == ("0x3", "0x4")  # as many as before
    assert run.execute("").rows[0][1:] == ("0x5", "0x6")
    assert run.execute("x/2dw numbers").rows[0][1:] == (0x41424344, -2)
    assert run.execute("x/3f16 halves").rows[0][1:] == (1.0, -2.0, 65504.0)
    assert run.execute("x/2fh halves").rows[0][1:] == (1.0, -2.0)
    assert run.execute("x/4c numbers").rows[0][1] == "68 'D'"
    assert [row[1] for row in run.execute("x/2s text").rows] == ["'hello'", "'you'"]
    assert run.execute("x/s").rows[0][0] == f"{session.program.symbol('text').value + 10:#010x}"


def test_instructions_as_they_are_encoded(run):
    rows = run.execute("x/4i _start").rows
    assert [row[2] for row in rows] == [
        "auipc a0, 0x7fff0", "mv a0, a0", "lw a1, 0(a0)", "addi s1, s1, 3",
    ]  # fmt: skip
    assert [row[0] for row in rows] == ["=>", "", "", ""]
    assert run.execute("x/i").rows[0][2] == "bnez s1, loop"
    around = run.execute("disassemble")
    assert around.rows[0][3] == "test.s:3"
    assert run.execute("disassemble loop").rows[0][2] == "addi s1, s1, 3"


def test_instructions_of_other_cores(digits):
    digits.execute("focus pe[0]")
    rows = digits.execute("disassemble").rows
    assert [row[0] for row in rows].count("=>") == 1
    assert all(row[3].endswith(tuple(f"digits_mlp.s:{n}" for n in range(50, 140))) for row in rows)
    address = rows[2][1].split()[0]  # two bytes at least: the next byte is in the same piece
    for begin in (address, f"{address} + 1"):
        assert digits.execute(f"disassemble {begin}").rows[0][1:] == rows[2][1:]
    digits.execute("focus cp")


def test_displays_come_with_stops(run):
    assert value(run, "display s1") == 0
    run.execute("display/x pc")
    run.execute("display nothing")
    first = run.execute("stepi 4")
    assert first.answers[0].rows == ((1, "s1", 3), (2, "pc", "0x10010"))
    assert run.execute("display").answers[0].rows[0][2] == 3
    assert run.execute("undisplay 1 1").lines == ("1 display left",)
    assert run.execute("undisplay 1").message == "there is no display 1"
    for name in ("s1", "s2", "s3"):
        run.execute(f"display {name}")
    assert run.execute("disable display 3-4").lines == ("disabled displays 3, 4",)
    assert run.execute("undisplay 3-5").lines == ("1 display left",)
    assert run.execute("undisplay 1-1001").message == "1-1001 is too many displays"
    run.execute("undisplay")
    assert run.execute("stepi").answers == ()


def test_a_display_that_has_no_value_now_says_why(run):
    run.execute("display 12 / (s1 - 3)")
    assert run.execute("stepi 4").answers[0].rows[0][2] == "(division by zero)"


def test_info_cores_registers_and_queues(digits):
    device = digits.session.device
    device.sync()
    rows = digits.execute("info cores").rows
    assert [row[1] for row in rows] == list(device.cores)
    waits = device.cores["cp"].waiting
    assert rows[0][-1] == f"waits for {waits.on}"
    registers = digits.execute("info registers").rows
    held = device.cores["cp"].state.x
    assert [row[4] & 0xFFFF_FFFF for row in registers[:32]] == [int(x) for x in held]
    assert [row[1] for row in registers[:3]] == ["zero", "ra", "sp"]
    assert digits.execute("info registers a0").rows[0][1] == int(held[10])
    state = device.cores["pe[1]"].state
    queues = {row[1]: row for row in digits.execute("info queues pe[1,2].3").rows}
    assert queues["q1"][2:] == (
        int(state.q1_count[2, 3]), 8, int(state.q1_high[2, 3]),
    )  # fmt: skip
    assert answer_text(digits.execute("info queues cp")).splitlines() == [
        "none",
        "cores with queues: dma, nnp, pe[0], pe[1], pe[2], pe[3]",
    ]
    assert "is too" not in answer_text(digits.execute("info registers pe[0,0].1"))
    assert "registers are too many" in digits.execute("info registers pe[*,*].*").message


def test_info_perf_says_what_has_come(run):
    run.execute("stepi 3")
    before = {row[:2]: row for row in run.execute("info perf cp").rows}
    run.execute("stepi 2")
    after = {row[:2]: row for row in run.execute("info perf cp").rows}
    key = ("cp", "instructions")
    assert (before[key][2], after[key][2:4]) == (3, (5, 2))


def test_a_table_of_labels_has_its_greatest_number_of_rows(monkeypatch):
    labels = "".join(f"label{n:02}: nop\n" for n in range(9))
    run = Interpreter(of_source(f".core cp\n_start: ebreak\n{labels}"), DebuggerFiles())
    assert len(run.execute("info functions label").rows) == 9
    monkeypatch.setattr("macaw.debugger.commands.program_information.MOST", 4)
    rows = run.execute("info functions label").rows
    assert [row[2] for row in rows] == [f"label0{n}" for n in range(4)]


def test_no_address_after_a_tensor_has_its_name(run):
    """`info symbol` names the bytes of a tensor, and none after its end."""
    first = run.session.program.tensor("y").address
    for distance, name in ((0, "y"), (11, "y+11"), (12, ""), (16, "")):
        place = f"{first + distance:#010x}"
        (line,) = run.execute(f"info symbol {place}").lines
        assert line == (f"{place} is {name}" if name else f"no symbol is at {place}")


def test_info_symbols_memory_and_groups(run, digits):
    names = [row[4] for row in run.execute("info symbols hal").rows]
    assert names == ["halves"]
    assert [row[3] for row in run.execute("info mem").rows if row[3] == "y"] == ["y"]
    assert run.execute("info mem 0x10").lines == ("0x00000010: cp's local memory is 0x00000000 to 0x00ffffff",) \
        or "local memory" in run.execute("info mem 0x10").lines[0]  # fmt: skip
    groups = digits.execute("info groups")
    assert sum(row[0] for row in groups.rows) == len(digits.session.device.order)
    assert re.fullmatch(r"(\d+@\S+ ?)+", groups.title)
    assert digits.execute("info checkpoints all").rows[0][1] == 0


def test_list_goes_on(digits):
    first = digits.execute("list 10").rows
    assert first[0][1] == 5
    assert digits.execute("").rows[0][1] == first[-1][1] + 1
    digits.execute("stepi")
    here = digits.session.where()
    assert ("=>", here.line) in [row[:2] for row in digits.execute("list").rows]
    assert digits.execute("list digits_mlp.s:20").rows[0][1] == 15
    assert digits.execute("list _start").kind == "table"


def test_values_to_files_and_back(run, tmp_path):
    path = tmp_path / "y.npy"
    wanted = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.save(path, wanted)
    assert "int16, 2 x 3" in run.execute(f"load y {path}").lines[0]
    np.testing.assert_array_equal(run.session.device.read_tensor("y"), wanted)
    other = tmp_path / "other.npy"
    assert run.execute(f"dump y {other}").lines == (f"int16, 2 x 3 to {other}",)
    np.testing.assert_array_equal(np.load(other), wanted)
    assert np.load(other).dtype == np.int16
    assert run.execute(f"diff y {path}").lines == (f"y is equal to {path}, int16, 2 x 3",)
    assert run.execute("set y[1, 2] = -9").rows == (("y[1, 2]", -9),)
    answer = run.execute(f"diff y {path}")
    place = run.session.program.tensor("y").address + 10
    assert answer.title == (f"1 of 6 elements differ, the first is y[1, 2] at {place:#010x} <y+10>")
    assert answer.rows == (("y[1, 2]", 5, -9),)
    halves = np.array([0x3C00, 0xC000, 0x7BFF, 0, 0x3800, *[0] * 10, 2], np.uint16)
    np.save(tmp_path / "halves.npy", halves.reshape(4, 4))
    answer = run.execute(f"diff halves.u16 {tmp_path / 'halves.npy'}")
    assert answer.rows == (("halves.u16[15]", 2, 1),), "elements in the order of the file's"
    assert run.execute(answer.rows[0][0].replace("halves", "print halves")).rows[0][1] == 1
    run.execute("set y = 7")
    assert run.session.device.read_tensor("y").tolist() == [[7] * 3] * 2


def test_a_value_that_was_set_stays_when_going_back(run):
    run.execute("stepi 2")
    run.execute("set s1 = 100")
    run.execute("stepi 4")
    run.execute("reverse-stepc 2")
    assert value(run, "print s1") >= 100


LONG = "9" * 5000  # digits: more than Python reads
ERRORS = {
    "set y[0, 0] = y": ("y[0, 0] cannot hold that value", None),
    "print/f16 vc.vr0.u8[2]": ("the value does not divide into numbers of float16", 0),
    f"x/{LONG} numbers": ("is no number", 0),
    f"list {LONG}": ("is no number", 0),
    f"list test.s:{LONG}": ("is no number", 0),
    f"until {LONG}": ("the number does not fit 64 bits", 0),
    "undisplay (2)": ("'(2)' is no number", 0),
    "print": ("$ is no value that `print` has shown", 5),
    "print nothing": ("nothing is called 'nothing'", 6),
    "print 1 + + *": ("the line ends where an operand should be", 13),
    "print 4 / (2 - 2)": ("division by zero", 6),
    "print/k 1": ("'k' is no format", 0),
    "print/i 1": ("a value has no format 'i'", 0),
    "print/fb 1": ("", None),
    "x": ("x needs an address the first time", 0),
    "x/4fb numbers": ("a floating-point number has 2, 4 or 8 bytes", 0),
    "x/99999999 numbers": ("99999999 units are out of range, 1 to 65536", 0),
    "x 0x7fffffff": ("read of 4 bytes at 0x7fffffff: the device has no memory there", 0),
    "x/i 0x90000000": ("no code of the program is at 0x90000000", 0),
    "x y + 0.5": ("y + 0.5 is no address", 2),
    "set 4 = 5": ("4 is nothing that can be set", None),
    "set a0 = 1.5": ("", None),
    "load y /none.npy": ("cannot read /none.npy: No such file or directory", 0),
    "dump y /none/y.npy": ("cannot write /none/y.npy: No such file or directory", 0),
    "info": ("give cores, registers", 4),
    "info mem zz": ("nothing is called 'zz'", None),
    "list zz": ("nothing is called 'zz'", 0),
    "list zz:7": ("no source of the program is called 'zz'", 0),
    "list 999999": ("test.s", 0),
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors(run, line):
    message, place = ERRORS[line]
    answer = run.execute(line)
    if not message:  # what it says depends on the kind of the value
        json.dumps(answer.json())
        return
    assert answer.kind == "error", answer
    assert message in answer.message
    if place is not None:
        assert answer.mark.begin == place
    assert answer_text(answer, line)


def test_rows_of_an_array_stand_below_each_other():
    rows = list(value_lines([("y", [[7, -12]] * 11)]))
    assert rows[0] == "y ="
    assert rows[1] == "   [0] [  7, -12]"
    assert rows[11] == "  [10] [  7, -12]"


def test_an_empty_column_without_a_name_is_left_out():
    columns = ("core", "", "value")
    empty = table_lines(columns, [("cp", None, 1), ("vc", None, 22)])
    assert list(empty) == ["core  value", "cp        1", "vc       22"]
    filled = table_lines(columns, [("cp", None, 1), ("vc", "x5", 22)])
    assert list(filled) == ["core      value", "cp    -       1", "vc    x5     22"]


def test_the_part_of_an_island_that_is_not_the_first():
    debug = Interpreter(session("fim_gru"), DebuggerFiles())
    place = debug.session.program.symbol("blocks").value
    rows = debug.execute("x/3i blocks+8").rows
    assert [row[1].partition(" ")[0] for row in rows] == [
        f"{place + 8 + 4 * at:#010x}" for at in range(3)
    ]
    debug.execute("break blocks+8")
    debug.execute("continue")
    code = FrameBuilder(debug, debug.arrangement)
    debug.execute("focus fim[1]")
    assert [row.address for row in code.code().rows if row.current] == [place + 8]


def test_a_line_of_x_has_16_bytes(run):
    rows = run.execute("x/20xb numbers").rows
    assert [sum(cell is not None for cell in row[1:]) for row in rows] == [16, 4]
    assert rows[0][1:5] == ("0x44", "0x43", "0x42", "0x41")


def test_a_text_that_ends_where_its_memory_ends(run):
    """A text that ends with the last byte of a memory is printed completely.

    `x/s` usually reads more bytes at once than remain there.
    """
    device = run.session.device
    end = 0x80000000
    while True:  # the first address after external memory
        try:
            device.memory.peek(end, 1)
        except Fault:
            break
        end += 1 << 16
    device.memory.poke(end - 5, b"last\0")
    assert run.execute(f"x/s {end - 5}").rows[0][-1].strip("'\"") == "last"
    device.memory.poke(end - 5, b"lasts")
    assert run.execute(f"x/s {end - 5}").kind == "error"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "'plain'"),
        ("it's äö\n".encode(), '"it\'s äö\\n"'),
        (b"\x93\x08", r"'\x93\x08'"),
        (rb"\x93", r"'\\x93'"),
        (b"", "''"),
    ],
)
def test_a_text_in_memory_is_shown_with_its_bytes_that_are_no_characters(run, data, text):
    run.session.write_memory(run.session.program.tensor("y").address, data + bytes(1))
    assert run.execute("x/s y").rows[0][-1] == text


CODE_AND_DATA = """
        .core cp
_start: ebreak
table:  .array int8, 4
after:  nop
        .section .data.cp
text:   .ascii "abc"
        .core vc
work:   ret
        .core pe, row=0
packets: config ib=0, seq
w:      .array int8, 4
b:      .byte 1
        .seq seq
        spu  nonsf, src=0, dst=0
        .endseq
        .data
d:      .word 1
"""


def test_labels_of_data_are_no_code():
    """A core's sections may have code and data; a breakpoint stops only at code."""
    run = Interpreter(of_source(CODE_AND_DATA), DebuggerFiles())
    code = ["_list.0", "_start", "after", "packets", "seq", "work"]
    assert sorted(row[2] for row in run.execute("info functions").rows) == code
    assert [row[2] for row in run.execute("info functions ^t").rows] == []
    data = ["b", "d", "table", "text", "w"]
    assert sorted(row[2] for row in run.execute("info variables").rows) == data
    lines = run.execute("rbreak ^[a-z]").lines
    assert sorted(line.split()[2].rstrip(",") for line in lines) == code[2:]
    assert run.execute("rbreak ^text$").message == "no label of code matches"
