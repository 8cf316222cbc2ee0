"""Expressions: the assembler's expressions, names of state, and assignments."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw import api
from macaw.asm import expressions as of_sources
from macaw.asm.elf import write as write_elf
from macaw.debugger import grammar
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.expressions import ExpressionError, compile_expression
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.programs import of_source, session

pytestmark = pytest.mark.once

EMPTY = of_source(".core cp\n_start: ebreak\n")


class Numbers:
    """A context of expressions in which no name has a value."""

    def warn(self, message, node, hint="", *, name):
        pass


NUMBERS = st.one_of(
    st.integers(0, 70), st.integers(0, 2**64 - 1), st.sampled_from([2**31, 2**32, 2**63])
)
OPERATORS = [sign for sign in of_sources.BINARY if sign not in ("/", "%")]
TREES = st.recursive(
    NUMBERS.map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda x: f"({' '.join(x)})"),
        st.tuples(st.sampled_from("-~!+"), inner).map(lambda x: f"{x[0]}({x[1]})"),
        st.tuples(inner, st.sampled_from("/%"), st.integers(1, 99).map(str)).map(
            lambda x: f"({' '.join(x)})"
        ),
    ),
    max_leaves=9,
)


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_numbers_are_the_assemblers(text):
    wanted = of_sources.evaluate(grammar.parse(text), Numbers())  # type: ignore[arg-type]
    found = compile_expression(EMPTY._debuggee, text)
    assert found.value() == wanted
    if found.live:
        assert eval(found.live, found.names) == wanted


UNARY: dict[str, Callable[..., Any]] = {
    "-": np.negative,
    "+": np.positive,
    "~": np.invert,
    "!": lambda a: a == 0,
}
BINARY: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "&&": np.logical_and, "||": np.logical_or,
    **{sign: lambda a, b, of=of: -of(a, b).astype(int) for sign, of in {
        "==": np.equal, "!=": np.not_equal, "<>": np.not_equal, "<": np.less,
        "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    }.items()},
}  # fmt: skip


@pytest.mark.parametrize("text", ["x[1]", "x[0, 1:9]", "x[2:7, 3]", "x[4:5, 0:6]"])
def test_operators_take_arrays_element_by_element(text):
    """Operators work element by element on rows and slices of a tensor, as in NumPy."""
    debug = session("digits_mlp")
    x = np.array(debug.read("x"), np.int64)  # noqa: F841
    value = eval(text)
    assert len(np.unique(value)) > 1
    assert (debug.read(text) == value).all()
    for sign, function in UNARY.items():
        assert (debug.read(f"{sign}{text}") == function(value)).all(), sign
    for sign, function in BINARY.items():
        for number in (0, 3):
            wanted = function(value, number)
            assert (debug.read(f"{text} {sign} {number}") == wanted).all(), sign
        assert (debug.read(f"{text} {sign} -{text}") == function(value, -value)).all(), sign


def test_products_of_state_wrap_at_64_bits():
    debug = session("digits_mlp")
    debug.set("pe[0].begun", 4)
    assert debug.read(f"pe[0].begun * {1 << 61}") == -(1 << 63)
    assert debug.read(f"pe[0].begun * {1 << 60}") == 1 << 62


@pytest.mark.parametrize("name", ["cp.a0", "cp.s11"])
def test_a_register_viewed_as_a_type(name):
    """A register can be viewed as another type: the bits of binary32 -1.5 are BFC00000."""
    debug = session("digits_mlp")
    assert debug.set(name, -0x40400000) == -0x40400000
    assert debug.read(f"{name}.f32") == -1.5
    assert debug.read(f"{name}.f32 * 2") == -3
    assert debug.read(f"{name}.u32") == 0xBFC00000
    assert debug.read(f"{name}.i32") == -0x40400000
    assert debug.read(f"{name}.u8").tolist() == [0, 0, 0xC0, 0xBF]
    assert debug.read(f"{name}.i16").tolist() == [0, 0xBFC0 - 0x10000]
    assert debug.read(f"max({name}.u8)") == 0xC0


@pytest.fixture(scope="module", params=ENGINES)
def digits(request):
    debug = session("digits_mlp", request.param)
    debug.goto(1700)
    return debug


def test_state_by_its_names(digits):
    device = digits.device
    device.sync()
    row = device.cores["pe[1]"].state
    a0 = int(device.cores["cp"].state.x[10])
    value = digits.read
    assert value("cp.a0") == value("$a0") == value("a0") == value("cp.x10") == a0
    assert value("pe[1,2].3.q1.level") == row.q1_count[2, 3]
    assert value("pe[1,2].3.q1.capacity") == 8
    assert value("pe[1,2].3.q1.high") == row.q1_high[2, 3]
    assert value("pe[1,2].3.acc0") == row.accumulators[2, 3, 0]
    assert value("pe[1,2].3.input.level") == row.block_loaded[2, 3].sum()
    assert value("pe[1,2].3.macs") == row.macs[2, 3]
    assert value("pe[1].macs") == row.macs.sum() > 0
    assert value("sum(pe[*,*].*.macs)") == sum(
        device.cores[f"pe[{number}]"].state.macs.sum() for number in range(4)
    )
    assert value("sum(pe[*].macs) == sum(pe[*,*].*.macs)") == -1
    assert value("pe[1,2].due") == row.due[2]
    assert value("dma.transfers.level") == len(device.cores["dma"].state.transfers)
    assert value("nnp.chain.iteration") == 0
    assert value("cp.status") & 1 == 1
    assert value("device.cycle") == 1700
    assert value("cp.reads") == device.counters()["cp"]["reads"]


def test_memory_tensors_and_symbols(digits):
    value, peek = digits.read, digits.device.memory.peek
    start = digits.program.symbol("_start").value
    assert value("_start") == start
    (word,) = struct.unpack("<I", peek(start + 4, 4))
    assert value("mem[_start+4]") == word
    assert value("mem[_start+4].i16[1]") == struct.unpack("<hh", peek(start + 4, 4))[1]
    x = digits._debuggee.inputs["x"]
    assert (value("x[3]") == x[3]).all(), "as in NumPy and in `data=(x[3])`: a row"
    assert (value("x[3:5]") == x[3:5]).all()
    assert value("x[2,5]") == x[2, 5]
    assert (value("x[2,0:9]") == x[2, :9]).all()
    assert (value("x") == x).all()
    assert value("x+1") == digits.program.tensor("x").address + 1
    assert value("sizeof(x)") == x.nbytes
    assert value("sum(x)") == x.sum()
    assert value("max(x, 1000)") == 1000


def test_bytes_as_types():
    debug = session("vector_dot")
    debug.goto(40)
    raw = debug.device.cores["vc"].state.vr[3].tobytes()
    assert debug.read("vc.vr3").tobytes() == raw
    assert debug.read("vc.vr3.u8[2]") == raw[2]
    assert (debug.read("vc.vr3.i32") == np.frombuffer(raw, "<i4")).all()
    assert debug.set("vc.vr3.f32[1]", "1.5") == 1.5
    assert debug.read("vc.vr3.u32[1]") == 0x3FC00000


def test_registers_of_the_array_are_compared():
    debug = session("layer")
    debug.goto(160)
    debug.set_focus("pe[0,0].1")
    held = debug.read("acc0")
    assert (type(held), held) == (int, debug.device.cores["pe[0]"].state.accumulators[0, 1, 0])
    assert held != 0
    assert [debug.read(f"acc0 == {x}") for x in (held, held + 1)] == [-1, 0]
    assert debug.read("!acc0") == 0
    # Of units that are left open, each has the register.
    sums = debug.device.cores["pe[0]"].state.accumulators
    np.testing.assert_array_equal(debug.read("pe[0].acc0"), sums[:, :, 0])
    np.testing.assert_array_equal(debug.read("pe[0].acc0 == 0"), -(sums[:, :, 0] == 0).astype(int))
    np.testing.assert_array_equal(debug.read("pe[0,1].acc2"), sums[1, :, 2])
    assert debug.read("pe[0].returned.u8 < pe[1].returned").shape == (4,)


@pytest.mark.parametrize(
    "name",
    "words headers origins registers steps strides scalar_sums scalar_held segment_entries".split(),
)
def test_instruction_buffers_are_those_of_the_cluster(name):
    debug = session("layer")
    debug.goto(120)
    whole = getattr(debug.device.cores["pe[0]"].state, name)[1]
    for place in ("pe[0,1]", "pe[0,1].2"):
        np.testing.assert_array_equal(debug.read(f"{place}.{name}"), whole)


def test_units_by_the_names_of_their_levels():
    debug = session("fim_dot")
    debug.goto(600)
    field = debug.device.cores["fim[0]"].state.rz
    assert field[0].any()
    whole = debug.read("fim[0].bank[*].rz")
    np.testing.assert_array_equal(whole, field)  # not a first byte of each
    assert debug.set_focus("fim[0].bank[1]") == debug.set_focus("fim[0].1")
    assert debug.set_focus("pe[0].cluster[1].pe[2]") == debug.set_focus("pe[0,1].2")
    debug.set_focus("fim[0]")
    np.testing.assert_array_equal(debug.read("bank[0].rz.u8"), field[0].view(np.uint8))
    np.testing.assert_array_equal(debug.read("bank[*].rz"), field)
    for text, message in {
        "bank[9].rz": "fim[0] has no bank 9",
        "bank[0]": "is a place; name something of it",
        "bank": "nothing is called|has no 'bank'",
        "rz.i9": "has no 'i9'",
    }.items():
        with pytest.raises(ExpressionError, match=message.replace("[", r"\[")):
            debug.read(text)


def test_what_is_set_is_there_and_the_run_goes_on_with_it():
    debug = session("layer")
    debug.cont()
    right = debug.read("y")
    debug.goto(2)
    assert debug.set("cp.s1", -5) == -5
    assert debug.set("pe[0,0].3.acc2", "2 * 50") == 100
    assert debug.set("mem[x].i8[4]", -3) == debug.read("x[4]") == -3
    assert (debug.set("x[0:4]", 1) == np.ones(4)).all()
    places = debug.set_focus("pe[*,0].*")
    assert (debug.set("acc3", 9) == np.full(len(places), 9)).all()
    debug.set("acc3", 0)
    state = debug.device.hash()
    debug.cont()
    assert (debug.read("y") != right).any()
    changed = debug.read("y")
    # The edit is a part of this run: going back does not lose it.
    debug.goto(2)
    assert debug.device.hash() == state
    debug.cont()
    assert (debug.read("y") == changed).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["zero", "x[0]", "x.u8[1]", "x"])
@pytest.mark.parametrize("core", ["cp", "vc"])
def test_the_register_zero_drops_what_is_set(core, name, engine):
    debug = of_source(".core cp\n_start: mv a0, zero\nebreak\n", engine=engine)
    debug.set(f"{core}.{name}", 5)
    assert debug.read(f"{core}.zero") == debug.read_register(core, "x", 0) == 0
    debug.stepi()
    assert debug.read("cp.a0") == 0
    assert debug.read(f"{core}.gp") == (5 if name == "x" else 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "the line ends where an operand should be"),
        ("vc.x99", "vc has no 'x99'; did you mean"),
        ("foo", "nothing is called 'foo'"),
        ("_strat", "did you mean _start"),
        ("vc.", "a name is needed after '.'"),
        ("x.", "a name is needed after '.'"),
        ("vc..x5", "a name is needed after '.'"),
        (".a0", "nothing is called '.a0'; did you mean a0"),
        ("pe[1,0].3", "is a place; name something of it"),
        ("pe[7].macs", r"there is no pe\[7\]"),
        ("mem[-4]", "read of 4 bytes at 0xfffffffc"),
        ("mem", "memory is looked at by an address"),
        ("mem[0].u9", "'u9' is no type"),
        ("1/0", "division by zero"),
        ("5 % (1-1)", "division by zero"),
        ("x[80,0]", "x has no element 80,0, it has 80 × 64"),
        ("x[1,2,3]", "x has 2 dimensions"),
        ("vc.vr3.u8[16]", "has no element 16"),
        ("vc.vr3[0:3].u16", "does not divide"),
        ("slot(x, 0)", "there is no function 'slot' here"),
        ("nosuch(1)", "there is no function 'nosuch'"),
        ("pe[1,0].return_turn[0]", "has no element 0"),
        ('"text"', "an expression is needed"),
        ("1e999 - 1e999 + (", "an operand"),
        ("x[1][2]", "unexpected '.', expected an operator or the end"),
        ("1 2", "unexpected '2', expected an operator or the end"),
        ("1.5 & x", "& takes whole numbers"),
        ("x << 0.5", "<< takes whole numbers"),
        ("~(1.5 * x)", "~ takes whole numbers"),
        ("nnp.next[0]", "nnp.next has no parts"),
        ("x[1e999, 0]", "a subscript is a whole number"),
        ("x[0, 0:1.5]", "a subscript is a whole number"),
        ("mem[0.5]", "a subscript is a whole number"),
        ("mem[0:8]", "memory is looked at by one address"),
        ("%lo(1e9)", "what %lo takes is a whole number"),
        ("", "the line ends where an operand should be"),
        ("mean(1, 2", "the line ends"),
        ("mean(1, 2, 3)[0]", "unexpected '.'"),
        ("abs(1, 2)", "abs takes one value"),
        ("max(x[0:0, 0])", "max of nothing"),
        ("max(pe[0].packet)", "that is no number"),
        ("sizeof(nosuch)", "no symbol is called 'nosuch'"),
        ("sizeof(x, y)", "there is no function 'sizeof' here"),
        ("length(x)", "there is no function 'length' here"),
        ("mem[0].u8[0].u8", r"after mem\[\] come a type and an index, no more"),
        ("x[0].u8", "after x come subscripts, no more"),
        ("pe[1.5].macs", r"a place has numbers or \* in its brackets"),
        ("pe[-1].macs", r"a place has numbers or \* in its brackets"),
        ("pe[0].packet.u8", "packet has no bytes to be looked at as uint8"),
        ("dma.beats.high", "dma.beats has no high-water mark"),
        ("nnp.matrix_codes", r"nnp.matrix_codes is a memory; look at it by mem\[\]"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(ExpressionError, match=message):
        at_start().read(text)


@cache
def at_start():
    """One session for all mistakes, which change nothing."""
    return session("digits_mlp")


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("1 + 2", 3, "nothing that can be set"),
        ("cp.a0", 1 << 33, "does not fit"),
        ("cp.a0", 1.5, "whole numbers"),
        ("_start", 3, "nothing that can be set"),
        ("cp.instructions", 3, "nothing that can be set"),
        ("x[0]", 300, "does not fit"),
        ("mem[0x90000000]", 1, "external memory is"),
        ("pe[0].packet", 1, "packet cannot be set"),
        ("cp.running", 1.5, "cp.running holds a whole number"),
    ],
)
def test_what_cannot_be_set(text, value, message):
    debug = session("digits_mlp")
    before = debug.device.hash()
    with pytest.raises(ExpressionError, match=message):
        debug.set(text, value)
    assert debug.device.hash() == before


def test_capacities_of_several_queues(digits):
    """The level of several queues is a sum, and so is their capacity."""
    value = digits.read
    clusters, pes = digits._debuggee.config["pe.clusters"], digits._debuggee.config["pe.pes"]
    assert value("pe[1].q1.capacity") == 8 * clusters * pes
    assert value("pe[1,2].q1.capacity") == 8 * pes
    assert value("pe[1].input.capacity") == clusters * value("pe[1,2].input.capacity")
    row = digits.device.cores["pe[1]"].state
    assert value("pe[1].q1.level") == row.q1_count.sum() <= value("pe[1].q1.capacity")


ARRAYS = """
        .device tiny
        .core cp
_start: li   a7, 93
        ecall
        .section .data.cp
        .balign 4
table:  .array int16, 2, 3
shared: .npy "w.npy"
plain:  .word 5
"""


def test_arrays_of_a_part_have_their_type_and_shape(tmp_path):
    array = np.arange(6, dtype=np.int16).reshape(2, 3) - 3
    np.save(tmp_path / "w.npy", array.astype(np.float32) / 2)
    source = tmp_path / "arrays.s"
    source.write_text(ARRAYS)
    program = api.load(str(source))
    debug = Session(program, configuration_of(program))
    address = program.symbol("table").value
    assert debug.read("table").shape == (2, 3)
    debug.set("table", array)
    np.testing.assert_array_equal(debug.read("table"), array)
    assert [debug.read(x) for x in ("table[1, 2]", "table[0, 0]")] == [2, -3]
    assert debug.read("shared[1, 1]") == 0.5
    with pytest.raises(ExpressionError, match="'i7' is no type"):
        debug.read("table.i7")
    # Its address, and other types in which it can be read.
    assert debug.read("table + 2") == address + 2
    assert debug.read("mem[table + 2].i16") == -2
    assert debug.read("table.u16[0]") == 0xFFFD
    assert debug.read("sizeof(table)") == 12
    assert debug.read("plain") == program.symbol("plain").value, "of a number without a type"
    with pytest.raises(ExpressionError, match="table has 2 dimensions"):
        debug.read("table[0, 0, 0]")


def test_an_executable_without_debug_information_does_not_say_types(tmp_path):
    np.save(tmp_path / "w.npy", np.zeros((2, 3), np.float32))
    (tmp_path / "arrays.s").write_text(ARRAYS)
    program = api.load(str(tmp_path / "arrays.s"))
    assert [(x.name, x.dtype, x.shape) for x in program.arrays] == [
        ("table", "int16", (2, 3)),
        ("shared", "float32", (2, 3)),
    ]
    (tmp_path / "arrays.elf").write_bytes(write_elf(program))
    assert api.load(str(tmp_path / "arrays.elf")).arrays == program.arrays
    (tmp_path / "arrays.elf").write_bytes(write_elf(program, lines=False))
    again = api.load(str(tmp_path / "arrays.elf"))
    assert again.arrays == ()
    debug = Session(again, configuration_of(again))
    assert debug.read("table") == program.symbol("table").value
    assert debug.read("table.i16").shape == (6,)


def test_a_unit_beside_the_focused_one():
    """An index replaces the focused unit of its level, so `bank[2]` is in the focused island."""
    run = Interpreter(session("fim_mlp"), DebuggerFiles())
    run.execute("goto 3000")
    run.execute("focus fim[0].3")
    beside = run.execute("print bank[2].rop").rows[0][1]
    assert beside == run.execute("print fim[0].2.rop").rows[0][1]
    assert any(beside)
    assert beside != run.execute("print rop").rows[0][1]


def test_all_cores_learn_of_a_new_area_for_records(monkeypatch):
    """If the area for records changes, the session tells all cores.

    The fast dma then decides again whether bursts can move its transfer.
    """
    debug = session("layer")
    informed = []
    for core in debug.device.order:
        monkeypatch.setattr(core, "areas_changed", lambda name=core.name: informed.append(name))
    debug.set("vc.trace_spill", 0x80010000)
    assert set(informed) == {core.name for core in debug.device.order}
