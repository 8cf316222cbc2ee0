"""Programs with bfloat16: inputs, outputs, .npy files, the debugger, and lowered graphs."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.asm.data import read_npy
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.dap.inspection import Inspection
from macaw.debugger.dap.variables import VALUE, Container
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles, join_runs
from macaw.emu.faults import DeviceError
from macaw.files import read_archive, read_array
from macaw.isa.config import load
from tests.lowering.fim.running import modelled
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once
BF16 = ml_dtypes.bfloat16
SOURCE = """
        .device aim
        .input  a, bfloat16, 16, at=island0
        .output y, bfloat16, 16, at=island0
        .core   fim, island=0
        .block  banks=0
          mmr   format, bf16
          mmr   op, mul
          act   0
          rop <- iosa[0]
          rz  <- rop * iosa[0]
          iosa[1] <- rz
          mmr   op, {function}
        end
"""
X = (np.random.default_rng(5).normal(size=16) * 1e12).astype(BF16)
SQUARES = (X * X).astype(np.float32)


def source(folder: Path, function: str = "add") -> Path:
    path = folder / "p.s"
    path.write_text(SOURCE.format(function=function))
    return path


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_each_kind_of_input_gives_the_same_squares(tmp_path: Path, engine: str) -> None:
    program = macaw.assemble(source(tmp_path))
    loaded = macaw.load(source(tmp_path))
    for given in (X, X.view("V2"), X.astype(np.float32), X.astype(np.float64).tolist()):
        for item in (program, loaded):
            found = macaw.run(item, a=given, engine=engine).outputs["y"]
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found.view("u4"), SQUARES.view("u4"))
    batch = macaw.run(program, a=np.stack([X, X + X]), engine=engine)
    assert batch.outputs["y"].shape == (2, 16)


def test_numbers_that_are_none_of_bfloat16(tmp_path: Path) -> None:
    program = macaw.assemble(source(tmp_path))
    hint = "macaw.round_bfloat16(array) rounds numbers; float32 holds the result"
    for given, what in (
        (np.full(16, 1.001, np.float32), "float32 and has other numbers"),
        (np.ones(16), "float64"),
        (X.view(np.uint16), "uint16"),
    ):
        with pytest.raises(macaw.InputError) as caught:
            macaw.run(program, a=given)
        assert caught.value.message == f"input a is bfloat16, the array given is {what}"
        assert caught.value.hint == hint
    found = macaw.run(program, a=[1.001] * 16).outputs["y"]
    assert found.tolist() == [1.0] * 16  # a list is rounded, as for other floating-point types
    device = macaw.Device(macaw.configuration("aim"))
    device.load(program)
    with pytest.raises(DeviceError, match="tensor a is bfloat16, the array is float64"):
        device.write_tensor("a", np.ones(16))


def test_files_of_ml_dtypes(tmp_path: Path) -> None:
    """`.npy` and `-i` take files with the type V2, as numpy.save writes arrays of ml_dtypes."""
    np.save(tmp_path / "x.npy", X)
    array = read_npy((tmp_path / "x.npy").read_bytes())
    assert (array.dtype, array.shape, array.data) == ("bfloat16", (16,), X.tobytes())
    path, out = source(tmp_path), tmp_path / "y.npy"
    done = run_here(["run", "p.s", "-i", "a=x.npy", "-o", "y=y.npy"], tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(out), SQUARES)
    text = path.read_text().replace(".input  a, bfloat16, 16, at=island0", "")
    text = text.replace("end\n", 'end\n.section .fim.0.bank0.row0\n.npy "x.npy"\n')
    path.write_text(text.replace(".output y, bfloat16, 16, at=island0", ""))
    constants = macaw.run(path).device.memory.peek(0x4000_0020, 32)
    np.testing.assert_array_equal(np.frombuffer(constants, BF16).astype(np.float32), SQUARES)


def test_arrays_of_an_archive(tmp_path: Path) -> None:
    """A .npz file gives the same numbers as a .npy file."""
    np.savez(tmp_path / "x.npz", x=X, y=SQUARES)
    np.save(tmp_path / "x.npy", X)
    found = read_archive(tmp_path / "x.npz")
    assert {name: array.dtype for name, array in found.items()} == {"x": "f4", "y": "f4"}
    np.testing.assert_array_equal(found["x"], X.astype(np.float32))
    np.testing.assert_array_equal(found["x"], read_array(tmp_path / "x.npy"))
    np.testing.assert_array_equal(found["y"], SQUARES)


def test_the_debugger_shows_and_sets_numbers(tmp_path: Path) -> None:
    program = macaw.load(source(tmp_path))
    session = Session(program, macaw.configuration("aim"), {"a": X})
    run = Interpreter(session, DebuggerFiles())
    values = X.astype(np.float32).tolist()
    assert session.read("a[3]") == values[3]
    assert session.read("a").tolist() == values
    assert session.read("a[2:4]").tolist() == values[2:4]
    assert session.read("mem[0x40000000].bf16") == values[0]
    assert session.read("mem[0x40000000].bf16[2:5]").tolist() == values[2:5]
    assert run.execute("x/3bf16 a").rows[0][1:] == tuple(values[:3])
    rows = run.execute("x/1tiles_bf16 a").rows
    assert [number for row in rows for number in row[1:]] == values
    run.execute("set a[1] = 1.003")  # less than half-way to 1.0078125
    run.execute("set a[2] = 1.006")
    assert session.read("a[1:3]").tolist() == [1.0, 1.0078125]
    run.execute("set mem[0x40000006].bf16 = 257")
    assert session.read("a[3]") == 256
    run.execute("continue")
    assert session.read("y[1:4]").tolist() == [1.0, 1.015625, 65536.0]
    assert session.read("fim[0].rz.bf16[0,1:4]").tolist() == [1.0, 1.015625, 65536.0]
    registers = run.execute("info registers fim[0].0").rows
    assert next(row for row in registers if row[1] == "rop")[4][3] == 256.0
    assert run.execute("print/bf16 0x43803f80").rows[0][1] == [1.0, 256.0]


def test_the_debugger_names_the_type_and_shows_its_bits(tmp_path: Path) -> None:
    """A view shows the 16 bits of a number; answers name the type, and `diff` an address."""
    session = Session(macaw.load(source(tmp_path)), macaw.configuration("aim"), {"a": X})
    run = Interpreter(session, DebuggerFiles())
    bits = X.view("u2").tolist()
    assert run.execute("print/u16 a[0:3]").rows[0][1] == bits[:3]
    assert run.execute("print/u16 a[2]").rows[0][1] == bits[2]
    assert run.execute("print/u8 a[2]").rows[0][1] == [bits[2] & 255, bits[2] >> 8]
    assert run.execute("print/bf16 a[0:3]").rows[0][1] == X[:3].astype(np.float32).tolist()
    assert run.execute("display/u16 a[0:2]").rows[0][2] == bits[:2]
    assert run.execute("display").answers[0].rows[0][2] == bits[:2]
    assert run.execute("output/u16 a[0:2]").lines == (str(bits[:2]),)
    assert run.execute("print/u32 a").kind == "error"
    place = session.program.tensors[0].address
    for text in ("whatis a", "ptype a"):
        assert run.execute(text).rows == (("a", f"bfloat16[16], 32 bytes at {place:#010x}"),)
    path = tmp_path / "a.npy"
    assert run.execute(f"dump a {path}").lines == (f"bfloat16, 16, as float32 to {path}",)
    assert run.execute(f"diff a {path}").lines == (f"a is equal to {path}, bfloat16, 16",)
    assert run.execute(f"load a {path}").lines == (f"a is bfloat16, 16 of {path}",)
    changed = np.load(path)
    changed[5] *= 2
    np.save(path, changed)
    title = run.execute(f"diff a {path}").title
    assert f"the first is a[5] at {place + 10:#010x}" in title
    np.save(path, changed[:3])
    message = run.execute(f"diff a {path}").message
    assert message == "a is bfloat16, 16, the file holds float32, 3"
    assert run.execute(f"load a {path}").message == message


def test_variables_of_an_editor(tmp_path: Path) -> None:
    session = Session(macaw.load(source(tmp_path)), macaw.configuration("aim"), {"a": X})
    inspection = Inspection(session)
    place = session.focus[0]
    for text, kind in (("a", "bfloat16[16]"), ("a[2:4]", "bfloat16[2]")):
        record = inspection.record(Container(VALUE, place, text), False)
        assert record["type"] == kind


def test_the_command_run_names_the_declared_type(tmp_path: Path) -> None:
    source(tmp_path)
    np.save(tmp_path / "x.npy", X)
    done = run_here(["run", "p.s", "-i", "a=x.npy"], tmp_path)
    assert done.stdout.startswith("y (bfloat16, 16)\n"), done.stderr


def test_a_comparison_of_what_circuits_store_and_of_nothing(tmp_path: Path) -> None:
    """`compare y` names the word that stores y. Nothing writes the input a, so it compares nothing."""
    run, other = (
        Interpreter(
            Session(macaw.load(source(tmp_path)), macaw.configuration("aim"), {"a": given}),
            DebuggerFiles(),
        )
        for given in (X, X + X)
    )
    join_runs(run, other, "a", "b")
    answer = run.execute("compare a")
    assert answer.kind == "error"
    assert answer.message == (
        "nothing of a was compared: no write to it was observed in either run"
    )
    answer = run.execute("compare y")
    rows = {row[0]: row[1:] for row in answer.rows}
    assert answer.title == "the first difference of y is y[0]"
    values = [float(x) for x in rows["value"]]
    assert values == pytest.approx([float(SQUARES[0]), 4 * float(SQUARES[0])], rel=1e-6)
    assert rows["by"] == ("fim[0]", "fim[0]")
    assert rows["instruction"] == ("iosa[1] <- rz", "iosa[1] <- rz")
    stored = run.session.read("y[0]"), other.session.read("y[0]")
    assert values == pytest.approx(stored, rel=1e-6), "both runs stop after the store"


def test_origins_of_a_number(tmp_path: Path) -> None:
    """`why` shows operands and results as numbers, and compares elements with a file."""
    program = macaw.load(source(tmp_path))
    run = Interpreter(Session(program, macaw.configuration("aim"), {"a": X}), DebuggerFiles())
    run.execute("continue")
    lines = run.execute("why y[2]").lines
    number, square = float(X[2]), float(SQUARES[2])
    assert lines[0].startswith(f"y[2] = {square}: fim[0] iosa[1] <- rz at cycle 60")
    rop = f"rop fim[0,0].rop.bf16[2] = {number}: fim[0] rop <- iosa[0]"
    assert any(rop in line for line in lines)
    assert lines[-1] == f"    iosa a[2] = {number}: an input"
    wrong = SQUARES.copy()
    wrong[5] *= 2
    np.save(tmp_path / "good.npy", X * X)
    np.save(tmp_path / "bad.npy", wrong)
    first = run.execute(f"why y against {tmp_path / 'bad.npy'}").lines[0]
    assert first.startswith(f"y[5] = {SQUARES[5].item()}, {tmp_path / 'bad.npy'} has")
    assert f"{wrong[5].item()}: fim[0] iosa[1] <- rz at cycle 60" in first
    answer = run.execute(f"why y against {tmp_path / 'good.npy'}")
    assert answer.lines == (f"y agrees with {tmp_path / 'good.npy'}",)


AIM = load("aim").changed({"fim.islands": 2})  # two of its eight equal islands


def model(element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """A layer: relu(x W + b), then tanh, in a floating-point type of ONNX."""
    random = np.random.default_rng(7)
    constants = [
        numpy_helper.from_array(
            random.normal(size=shape).astype(helper.tensor_dtype_to_np_dtype(element)), name
        )
        for name, shape in (("w", (40, 24)), ("b", (24,)))
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Tanh", ["r"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, element, shape)
        for name, shape in (("x", (5, 40)), ("y", (5, 24)))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("element", [TensorProto.FLOAT, TensorProto.BFLOAT16])
def test_a_graph_on_islands_like_aim(element: int) -> None:
    """By default a graph has the format of the islands; predictions are exact, both engines agree."""
    found = macaw.lower_graph(model(element), device=AIM)
    assert re.search(r"\.input +x, bfloat16, 5, 40", found.source)
    assert all(array.dtype == "V2" for array in found.files.values())
    x = np.random.default_rng(8).normal(size=(5, 40)).astype(BF16)
    wanted = modelled(found.plan, found.graph, {"x": x})["y"]
    program = found.assemble()
    for engine in ("fast", "reference"):
        run = macaw.run(program, x=x, engine=engine)
        np.testing.assert_array_equal(run.outputs["y"], wanted)
        assert run.cycles == found.cycles
    measured = found.measure({"x": np.asarray(x, np.float32)})
    assert 0 < measured.error < 0.05
    assert found.measure(seed=1).cycles == found.cycles


def test_a_format_that_no_island_has() -> None:
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower_graph(model(), device="aim", number_format="fp8")
    assert caught.value.hint == "there are fp16, fp32, bf16, int8"
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower_graph(model(), device="aim", number_format="fp32")
    assert "island 0 has no fp32, but bf16" in caught.value.hint


def test_a_constant_beyond_the_range() -> None:
    made = model()
    made.graph.initializer[1].CopyFrom(
        numpy_helper.from_array(np.full(24, 3.4e38, np.float32), "b")
    )
    with pytest.raises(macaw.InputError, match=r"3\.4e\+38 is too large for bf16"):
        macaw.lower_graph(made, device=AIM)
    made.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.full(24, 1e38, np.float32), "b"))
    assert macaw.lower_graph(made, device=AIM).cycles  # fp16 has no such numbers
    with pytest.raises(macaw.InputError, match="is too large for fp16"):
        macaw.lower_graph(made, device="base")
