"""The public session (`macaw.debug`): registers and memory as bits, steps in a range, listeners."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import macaw
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.point import PointError
from macaw.debugger.stops import EditRecord, SessionError, StopRecord
from tests.debugger.programs import of_source, session
from tests.debugger.sources import CALLS, STORE_LOOP, VERY_LONG_LOOP, line_of_calls

INPUT = """
        .input x, int8, 2
        .core cp
_start: la a0, x
        lb s0, 0(a0)
        li a7, 93
        ecall
"""
TRACED = """
        .core cp
_start: csrwi trace_num, 20
        csrwi trace_step, 30
        csrwi trace_begin, 4
        csrwi trace_mode, 1
        li   s0, 3
        csrr a1, cycle
        csrr a2, e_cu0
again:  addi s0, s0, -1
        bnez s0, again
        li   a7, 93
        ecall
"""


@pytest.mark.parametrize("kind", ["path", "Source", "Program"])
def test_a_program_is_a_path_a_source_or_a_program(kind, tmp_path):
    path = tmp_path / "in.s"
    path.write_text(INPUT)
    program = {"path": path, "Source": macaw.Source(INPUT, "in.s"), "Program": macaw.load(path)}[
        kind
    ]
    debug = macaw.debug(program, x=np.array([[1, 2], [7, 8]], np.int8), item=1, device="tiny")
    assert isinstance(debug, macaw.Session)
    assert debug.last_stop.reason == "start"
    assert debug.cont().reason == "exit"
    assert debug.read("s0") == 7


def test_what_does_not_fit_is_refused_in_words():
    source = macaw.Source(INPUT, "in.s")
    with pytest.raises(macaw.InputError, match=r"^1 input not given: x \(int8, 2\)$"):
        macaw.debug(source)
    with pytest.raises(macaw.InputError, match=r"^input x is given twice, in the mapping and"):
        macaw.debug(source, {"x": [1, 2]}, x=[1, 2])
    with pytest.raises(macaw.InputError, match=r"^no engine is called 'quick'$"):
        macaw.debug(source, x=[1, 2], engine="quick")
    with pytest.raises(macaw.InputError, match=r"^item 2 is out of range, 0 to 0$"):
        macaw.debug(source, x=np.ones((1, 2), np.int8), item=2)


def test_bits_of_registers_are_those_of_expressions():
    vectors = session("vector_dot")
    vectors.break_(
        "*" + hex(next(x.address for x in vectors.program.sections if x.core == "vc") + 40)
    )
    vectors.cont()
    assert vectors.threads[:2] == ("cp", "vc")
    for number in range(32):
        assert (
            vectors.read_register("vc", "x", number) == vectors.read(f"vc.x{number}") & 0xFFFFFFFF
        )
    for number in range(16):
        raw = vectors.read(f"vc.vr{number}").tobytes()
        assert vectors.read_register("vc", "vr", number) == int.from_bytes(raw, "little")
    assert vectors.read_register("vc", "pc", 0) == vectors.device.cores["vc"].next_address
    assert vectors.registers("vc")["sp"] == vectors.read("vc.sp")
    assert vectors.registers("vc")["pc"] == vectors.device.cores["vc"].next_address
    assert "pc" not in vectors.registers("pe[0]") if "pe[0]" in vectors.device.cores else True


def test_counting_registers_are_read_without_an_effect():
    debug = of_source(TRACED)
    debug.stepi(5)
    rows = debug.device.cores["cp"].table.specials
    before = debug.device.hash()
    bits = {row.name: debug.read_register("cp", "csr", row.address) for row in rows}
    assert debug.device.hash() == before
    assert (bits["instret"], bits["mhartid"], bits["trace_mode"]) == (5, 0, 1)
    debug.stepi()
    assert bits["cycle"] == debug.read("a1") > 0
    count = debug.read_register("cp", "csr", next(x.address for x in rows if x.name == "e_cu0"))
    debug.stepi()
    assert count == debug.read("a2") > 0
    counted = debug.cont().cycle
    plain = of_source(TRACED)
    assert plain.cont().cycle == counted
    assert plain.device.hash() == debug.device.hash(), "no read was counted by the trace"


def test_a_register_that_is_not_there_is_refused():
    debug = of_source(CALLS)
    for core, file, number, text in (
        ("vx", "x", 1, "no core is called 'vx'"),
        ("cp", "x", 32, "cp has no register 32 of 'x'; of x, pc, csr"),
        ("cp", "vr", 0, "cp has no register 0 of 'vr'"),
        ("cp", "csr", 0x123, "cp has no control and status register 0x123"),
    ):
        with pytest.raises(SessionError, match=f"^{text}"):
            debug.read_register(core, file, number)
    with pytest.raises(SessionError, match=r"^cp: control and status registers cannot be set"):
        debug.write_register("cp", "csr", 0xC00, 1)
    assert debug.read_register("vc", "pc", 0) is None
    with pytest.raises(SessionError, match=r"^vc is idle: it has no pc$"):
        debug.write_register("vc", "pc", 0, 0x10000)


def test_changes_are_edits_that_replays_and_scripts_repeat():
    debug = of_source(STORE_LOOP)
    debug.stepi(5)
    here = debug.device.position
    address = debug.program.symbol("_start").value
    debug.write_register("cp", "x", 8, 0xFFFFFFF0)
    debug.write_register("vc", "vr", 3, 0x0102 << 112)
    debug.write_memory(0x8000_1001, b"abcdefg")
    debug.write_memory(0x8000_2000, bytes(1000))
    assert debug.read_memory(0x8000_1001, 8) == b"abcdefg\0"
    assert debug.read("vc.vr3")[14:].tolist() == [2, 1]
    commands = [edit.command for edit in debug.checkpoints[-1].edits]
    assert commands[0] == "set cp.s0 = -16"
    assert commands[17:21] == [
        "set mem[0x80001001].u8 = 0x61", "set mem[0x80001002].u16 = 0x6362",
        "set mem[0x80001004].u32 = 0x67666564", "",
    ]  # fmt: skip
    state = debug.device.hash()
    debug.stepi(7)
    debug.goto(0)
    assert debug.read("s0") != -16
    debug.goto(*here)
    assert (debug.read("s0"), debug.device.hash()) == (-16, state)
    with pytest.raises(SessionError, match=r"^read of 4 bytes at 0x7ffffffe"):
        debug.read_memory(0x7FFFFFFE, 4)
    with pytest.raises(SessionError, match=r"^write of 2 bytes at 0x"):
        debug.write_memory(0x7FFFFFFF, b"ab")
    assert debug.read_memory(address, 4) == debug.device.memory.peek(address, 4)


def test_a_step_in_a_range_ends_where_the_core_leaves_it():
    debug = of_source(CALLS)
    place = {
        name: debug.program.symbol(name).value for name in ("_start", "again", "double", "deep")
    }
    stop = debug.step_range(place["_start"], place["again"])
    assert (stop.reason, stop.done, stop.in_call) == ("step", 3, True)
    assert debug.core.next_address == place["double"]
    debug.restart_program()
    stop = debug.step_range(place["_start"], place["again"], over=True)
    assert (stop.done > 10, stop.in_call, debug.core.next_address) == (True, False, place["again"])
    stop = debug.step_range(place["again"], place["again"] + 4)
    assert (stop.done, debug.core.next_address) == (1, place["again"] + 4)
    debug.break_("again", "s0 == 5")
    stop = debug.step_range(place["again"], place["again"] + 8)
    assert (stop.reason, debug.read("s0")) == ("breakpoint", 5)


@pytest.mark.parametrize("over", [False, True])
def test_a_step_in_a_range_that_is_never_left_can_be_interrupted(over):
    debug = of_source(VERY_LONG_LOOP)
    timer = threading.Timer(0.2, debug.interrupt)
    timer.start()
    stop = debug.step_range(0, 1 << 32, over=over)
    timer.join()
    assert stop.reason == "interrupt"
    assert stop.done > 100


def test_a_step_without_a_count_is_one_step():
    """Without arguments, each method for steps takes one step, and lines enter calls."""
    debug = of_source(CALLS)
    for step in (debug.stepi, debug.stepc, debug.nexti, debug.step):
        assert step().done == 1
    debug.goto(30)
    for back in (debug.stepi_back, debug.stepc_back, debug.nexti_back, debug.back):
        assert back().done == 1
    double, line = debug.program.symbol("double").value, line_of_calls("twice a0")
    debug.restart_program()
    debug.step(2)
    assert debug.core.next_address == double
    debug.advance(str(line))
    where = debug.back().where
    assert where is not None
    assert where.line == line_of_calls("        ret")
    array = session("digits_mlp")
    ends = [array.stepx().cycle for _ in range(3)]
    assert [array.last_stop.done, array.stepx_back().cycle] == [1, ends[1]]
    assert ends[0] < ends[1]


def test_a_step_without_arguments_is_for_all_focused_cores_and_no_other():
    """In cycle 1,400 all four rows run, and cp waits."""
    debug = session("digits_mlp")
    debug.goto(1400)
    assert debug.device.position == (1400, 0)
    debug.set_focus("pe[*]")
    before = {core.name: core.retired for core in debug.device.order}
    debug.stepi()
    after = {core.name: core.retired for core in debug.device.order}
    assert all(after[f"pe[{row}]"] > before[f"pe[{row}]"] for row in range(4))
    assert after["cp"] == before["cp"]


def test_a_point_and_a_checkpoint_without_arguments():
    """A breakpoint stops at each hit and stays; checkpoints get the next free numbers."""
    debug = of_source(CALLS)
    point = debug.break_("again")
    assert (point.kind, point.ignore) == ("break", 0)
    assert debug.checkpoint() == 1
    debug.stepi()
    assert debug.checkpoint() == 2


def test_a_range_of_bytes_is_watched_by_kind_of_access():
    source = ".core cp\n_start: la a0, t\nlw a1, 4(a0)\nsb a1, 9(a0)\nli a2, 3\nsb a2, 6(a0)\nebreak\n.data\nt: .word 1, 2, 3\n"
    debug = of_source(source)
    base = debug.program.symbol("t").value
    debug.watch_range(base + 4, 3, "read")
    assert debug.cont().hits[0].values == {"access": "read", "address": base + 4, "size": 4}
    debug.points.clear()
    debug.watch_range(base + 4, 4)
    hit = debug.cont().hits[0]
    assert (hit.old, hit.new, hit.by) == (2, 0x30002, "cp")
    debug.points.clear()
    debug.watch_range(base + 8, 4, "access")
    assert debug.cont_back().hits[0].values["access"] == "write"
    with pytest.raises(SessionError, match=r"^an access is write, read, access, not 'x'$"):
        debug.watch_range(base, 4, "x")
    with pytest.raises(PointError, match=r"^a span of memory has a start and an end after it"):
        debug.watch_range(base, 0)
    with pytest.raises(PointError, match=r"^a span of memory has 1,048,576 numbers at most$"):
        debug.watch_range(base, 1 << 21)
    with pytest.raises(PointError, match=r"^read of 4 bytes at 0x20000000"):
        debug.watch_range(0x2000_0000, 4)


def test_several_numbers_of_memory_are_read_and_set():
    debug = of_source(".core cp\n_start: ebreak\n.data\nt: .word 1, 2, 3\n")
    assert debug.read("mem[t].i32[0:3]").tolist() == [1, 2, 3]
    debug.set("mem[t + 4].i16[0:2]", np.array([-1, 5]))
    assert debug.read("mem[t].i32[1:2]").tolist() == [5 << 16 | 0xFFFF]
    with pytest.raises(ExpressionError, match=r"^read of 8 bytes at 0x7ffffffe"):
        debug.read("mem[0x7ffffffe].u32[0:2]")


def test_listeners_get_each_record():
    debug = of_source(CALLS)
    records: list[StopRecord | EditRecord] = []
    debug.on_moved.append(records.append)
    debug.stepi(2)
    debug.set("a0", 9)
    debug.stepi_back()
    debug.goto(0)
    assert [type(x).__name__ for x in records] == [
        "StopRecord",
        "EditRecord",
        "StopRecord",
        "StopRecord",
    ]
    assert records[1].json() == {"cycle": 1, "turn": 1, "commands": ["set a0 = 9"]}
    debug.on_moved.clear()
    debug.stepi()
    assert len(records) == 4


def test_a_focus_can_last_for_one_call():
    debug = of_source(CALLS)
    with debug.focused("vc"):
        assert debug.core.name == "vc"
        assert debug.registers()["sp"] == debug.read("vc.sp")
    assert debug.core.name == "cp"
    debug.catch("fault")
    assert debug.locate("deep").addresses == (debug.program.symbol("deep").value,)
    debug.advance("double")
    assert [where.symbol for where in debug.call_stack()] == ["double", "_start+12"]


@pytest.mark.parametrize("wrong", [1.5, "3", None])
def test_a_step_and_a_cycle_are_whole_numbers(wrong):
    debug = of_source(CALLS)
    debug.stepi(2)
    before = debug.device.hash()
    calls = debug.goto, debug.step, debug.stepi, debug.nexti, debug.stepc, debug.stepx, debug.back
    for call in (*calls, debug.stepi_back, debug.stepc_back, lambda turn: debug.goto(1, turn)):
        with pytest.raises(SessionError, match=r" is a whole number, not "):
            call(wrong)
    assert debug.device.hash() == before


@pytest.mark.parametrize("wrong", [12, None])
def test_texts_are_strings(wrong):
    debug = of_source(CALLS)
    with pytest.raises(ValueError, match=rf"^a location is a string, such as '12', not {wrong}$"):
        debug.break_(wrong)
    for call in (debug.read, debug.watch, debug.why):
        with pytest.raises(ValueError, match=r"^an expression is a string, not a value of type"):
            call(wrong)


def test_numbers_of_numpy_are_numbers():
    debug, plain = session("layer"), session("layer")
    records: list[StopRecord | EditRecord] = []
    debug.on_moved.append(records.append)
    plain.set("a0", 9)
    debug.set("a0", np.int64(9))
    assert records[0].json() == {"cycle": 0, "turn": 0, "commands": ["set a0 = 9"]}
    for name, number in (("goto", 60), ("stepc", 250), ("stepc_back", 200), ("stepi", 100)):
        stop, expected = getattr(debug, name)(np.uint8(number)), getattr(plain, name)(number)
        assert json.loads(json.dumps(stop.json())) == expected.json()
        assert debug.device.hash() == plain.device.hash()
