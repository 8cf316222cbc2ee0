"""The debugger and a compiled network: layers and tensors by their names in the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.debugger.commands.completion import completions
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugging import DebuggerFiles
from macaw.isa.config import load
from tests.debugger.asked import inputs
from tests.lowering.net.models import ModelBuilder
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once

DEVICE = load("tiny").changed({"pe.clusters": 1})  # few plans to compare
LAYERS = ["/stem/Conv", "/sum/Add", "/point/Conv", "/classes/Gemm"]


@pytest.fixture(scope="module")
def network() -> macaw.CompiledNetwork:
    """A network on `tiny` whose convolution `point` has the place of `stem` in the arena."""
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.conv("stem", 2, 3, padding=1)
    builder.add("sum", "in_dq")
    builder.conv("point", 2, 1)
    builder.flatten()
    builder.gemm("classes", 3)
    return macaw.compile(builder.model(), device=DEVICE)


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("networks")
    network.write(path / "net")
    image = np.random.default_rng(2).normal(size=(1, 2, 4, 4)).astype(np.float32)
    np.save(path / "x.npy", image)
    return path


@pytest.fixture
def session(network, folder) -> macaw.Session:
    inputs = network.device_inputs({"x": np.load(folder / "x.npy")})
    return macaw.debug(network.program, inputs)


@pytest.fixture
def say(folder) -> Callable[..., str]:
    def batch(*lines: str, status: int = 0) -> str:
        words = [word for line in lines for word in ("-e", line)]
        done = run_here(("debug", "net", "-i", "x=x.npy", "--batch", *words), folder)
        assert done.returncode == status
        return done.stdout + done.stderr

    return batch


def cycles(session: macaw.Session) -> list[int | None]:
    return [item.cycles for item in session.layers()]


def states(session: macaw.Session) -> list[str]:
    return [item.state for item in session.layers()]


def test_the_cycles_of_layers_are_those_of_run(network, folder, session):
    run = network.run(x=np.load(folder / "x.npy"))
    assert states(session) == ["to come"] * 4
    session.cont()
    assert states(session) == ["done"] * 4
    assert cycles(session) == [layer.cycles for layer in run.layers]
    assert [item.layer.name for item in session.layers()] == LAYERS


def test_layers_are_right_at_each_moment_also_after_going_back(session):
    session.cont()
    begins = [item.begin for item in session.layers()]
    middle = begins[1] + 20
    session.goto(middle)
    assert states(session) == ["done", "running", "to come", "to come"]
    assert cycles(session) == [begins[1] - begins[0], 20, None, None]
    session.checkpoint()
    session.goto(begins[3] + 5)
    assert states(session) == ["done", "done", "done", "running"]
    session.checkpoint()
    session.goto(begins[0] + 5)
    session.goto(begins[3] + 6)  # from the checkpoint: the layers between are not run again
    assert cycles(session) == [end - begin for begin, end in pairwise((*begins, begins[3] + 6))]
    session.goto(3)
    assert states(session) == ["to come"] * 4
    session.break_('"/sum/Add"')
    session.cont()
    assert session.last_stop.where.layer == "/sum/Add"
    session.set("$pc", session.program.symbol("all_done").value)  # layers are left out
    session.cont()
    assert states(session) == ["done", "done", "not seen", "not seen"]
    session.run()
    assert states(session)[:2] == ["done", "running"]


def test_the_reference_engine_notes_the_same(network, folder):
    inputs = network.device_inputs({"x": np.load(folder / "x.npy")})
    found = []
    for engine in ("fast", "reference"):
        session = macaw.debug(network.program, inputs, engine=engine)
        session.cont()
        found.append([(item.begin, item.cycles) for item in session.layers()])
    assert found[0] == found[1]


def test_breakpoints_by_the_names_of_nodes(say):
    for name in ('"/point/Conv"', "'/point/Conv'", "/point/Conv", "point_Conv"):
        text = say(f"break {name} if device.cycle > 5", "continue")
        assert f"break 1: {name} by cp" in text.splitlines()[2]
        assert text.endswith(", layer /point/Conv\n")
    text = say(
        'tbreak "/classes/Gemm"', 'until "/point/Conv"', "continue", "clear /point/Conv", status=1
    )
    assert "there is no breakpoint at /point/Conv" in text
    assert text.count("layer /point/Conv") == text.count("layer /classes/Gemm") == 1


def test_names_that_are_wrong(say, folder):
    text = say('break "/pont/Conv"', status=1)
    assert "error: no layer is called '/pont/Conv'; did you mean /point/Conv" in text
    text = say('break "xyz"', status=1)
    assert "no layer is called 'xyz'; `info layers` lists them" in text
    assert "nothing is called" in say("print stam", status=1)
    (folder / "a.s").write_text(".core cp\n_start: ebreak\n")
    for line, message in (
        ("info layers", "the program is no compiled network"),
        ("info tensors", "the program is no compiled network"),
        ("catch layer", "the program has no layers: it is no compiled network"),
        ('break "a"', "the program has no layers, so none is called 'a'"),
    ):
        done = run_here(("debug", "a.s", "--batch", "-e", line), folder)
        assert message in done.stderr


def test_catch_layer_stops_at_each(session):
    session.catch("layer")
    stops = [session.cont() for _ in range(5)]
    assert [stop.where.layer for stop in stops] == [*LAYERS, None]
    assert [stop.reason for stop in stops] == ["event"] * 4 + ["exit"]
    back = session.cont_back()
    assert back.where.layer == "/classes/Gemm"
    with pytest.raises(ValueError, match="executes nothing"):
        session.catch("layer", at="pe[0]")


def test_tensors_by_their_names(network, folder, session):
    run = network.run(x=np.load(folder / "x.npy"))
    session.break_("all_done")
    session.cont()
    for name in ("in_q", "point_relu"):
        expected = np.moveaxis(run.tensors[name][0], 0, -1)
        np.testing.assert_array_equal(session.read(f'"{name}"'), expected)
    np.testing.assert_array_equal(session.read('"/classes/Gemm"'), run.tensors["y"][0])
    np.testing.assert_array_equal(session.read("/classes/Gemm"), run.tensors["y"][0])
    assert session.read("'/classes/Gemm'[1] + 1") == run.tensors["y"][0, 1] + 1
    assert session.read('"point_relu".u16[0]') == session.read("point_relu.u16[0]")


def test_the_state_of_tensors(session):
    def state(name: str) -> str:
        return next(item.state for item in session.model_tensors() if item.name == name)

    names = [item.name for item in session.model_tensors()]
    assert names == ["in_q", "stem_relu", "sum", "point_relu", "y"]
    assert (state("in_q"), state("sum")) == ("input", "to come")
    session.advance('"/sum/Add"')
    assert (state("stem_relu"), state("sum"), state("y")) == ("there", "in work", "to come")
    session.cont()
    assert state("stem_relu") == "overwritten by /point/Conv"
    assert (state("in_q"), state("sum"), state("y")) == ("input", "there", "there")


def test_of_several_layers_the_first_one_overwrites_a_tensor() -> None:
    """Convolutions in a row store their results in two places by turns.

    Layers c2 and c4 both store into the place of c0's result; c2 is the one that overwrites it.
    """
    builder = ModelBuilder(0, (1, 2, 4, 4))
    for number in range(6):
        builder.conv(f"c{number}", 2, 1)
    network = macaw.compile(builder.model(), device=DEVICE)
    debug = macaw.debug(
        network.program, network.device_inputs({"x": np.zeros((1, 2, 4, 4), np.float32)})
    )
    debug.cont()
    tensors = {item.name: item for item in debug.model_tensors()}
    places = {debug.program.symbol(f"c{number}_relu").value for number in (0, 2, 4)}
    assert len(places) == 1
    assert [tensors[f"c{number}_relu"].state for number in (0, 2, 4)] == [
        "overwritten by /c2/Conv", "overwritten by /c4/Conv", "there",
    ]  # fmt: skip


def test_the_tables(say):
    text = say('break "/sum/Add"', "continue", "info layers", "info layers Conv", "info tensors")
    assert "1 of 4 layers done" in text
    rows = [line.split() for line in text.splitlines()]
    assert [row[1] for row in rows if row[:1] == [">"]] == ["/sum/Add"]
    assert sum(row[:1] == ["/stem/Conv"] for row in rows) == 2
    assert "images are stored as (height, width, channels)" in text
    assert ["sum", "sum", "int8", "4", "x", "4", "x", "2"] in [row[:8] for row in rows]


def test_the_columns_of_the_tables(network, session):
    """A stop at the third layer: the first two are done, the second began where the first ended."""
    session.break_('"/point/Conv"')
    session.cont()
    say = Interpreter(session, DebuggerFiles()).execute
    layers = say("info layers")
    assert layers.title == "2 of 4 layers done"
    assert layers.columns == tuple(
        ", layer, symbol, operation, core, state, begin, cycles, predicted".split(", ")
    )
    begins = [item.begin for item in session.layers()]
    assert [row[:3] for row in layers.rows] == [
        ("", "/stem/Conv", "stem_Conv"), ("", "/sum/Add", "sum_Add"),
        (">", "/point/Conv", "point_Conv"), ("", "/classes/Gemm", "classes_Gemm"),
    ]  # fmt: skip
    assert [row[4:8] for row in layers.rows] == [
        ("pe", "done", begins[0], begins[1] - begins[0]),
        ("vc", "done", begins[1], begins[2] - begins[1]),
        ("pe", "running", begins[2], 0), ("pe", "to come", None, None),
    ]  # fmt: skip
    assert [row[8] for row in layers.rows] == [layer.predicted for layer in network.layers]
    # a text of the name or of the operation, as in the column
    operation = layers.rows[1][3]
    assert say("info layers oint").rows == layers.rows[2:3]
    chosen = say(f"info layers {operation}")
    assert chosen.rows == tuple(row for row in layers.rows if operation in row[3])
    assert chosen.title == layers.title
    tensors = say("info tensors")
    assert [(row[0], row[3], row[5], row[6]) for row in tensors.rows] == [
        ("in_q", "4 x 4 x 2", None, "input"), ("stem_relu", "4 x 4 x 2", "/stem/Conv", "overwritten by /point/Conv"),
        ("sum", "4 x 4 x 2", "/sum/Add", "there"), ("point_relu", "4 x 4 x 2", "/point/Conv", "in work"),
        ("y", "3", "/classes/Gemm", "to come"),
    ]  # fmt: skip
    for row in tensors.rows:
        address = session.program.symbol(row[1]).value
        assert (row[2], row[4]) == ("int32" if row[0] == "y" else "int8", f"{address:#010x}")
    assert say("info tensors relu").rows == tensors.rows[1:4:2]


def test_backtrace_frames_and_causes_name_the_layer(say):
    text = say('break "/point/Conv"', "continue", "backtrace")
    first, second = text.splitlines()[-2:]
    assert first.split()[-1] == "/point/Conv"
    assert second.startswith("#1")
    assert second.split()[-1] == "-"
    text = say('break "/point/Conv"', "continue", "frame 0")
    assert any(line.startswith("#0") and "layer /point/Conv" in line for line in text.splitlines())
    text = say("continue", 'why "/sum/Add"[0, 0, 0] depth 1')
    assert ", layer /sum/Add" in text


def test_causes_name_the_tensor_of_the_layer_that_wrote_the_bytes(say, network):
    """Causes name the tensor of the layer that wrote the bytes.

    The results of `point` and `stem` have the same place; that of `point` is declared later.
    """
    program = network.program
    places = {item.name: item.address for item in (*program.tensors, *program.arrays)}
    assert places["stem_relu"] == places["point_relu"]
    text = say("continue", 'why "/point/Conv"[0, 0, 0] depth 1')
    assert "dst=point_relu[0, 0, 0]" in text
    assert "stem_relu" not in text
    text = say('break "/sum/Add"', "continue", 'why "/stem/Conv"[0, 0, 0] depth 1')
    assert "dst=stem_relu[0, 0, 0]" in text
    assert "point_relu" not in text


def some_of(cause):
    """Yield a cause, and causes of some values that each step read: the first two and the last."""
    yield cause
    below = inputs(cause)
    for item in (*below[:2], *below[2:][-1:]):
        yield from some_of(item)


UNIT = 0x1000_0000
EXTERNAL = 0x8000_0000


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_causes_name_arrays_of_the_layer_that_uses_them(network, folder, engine):
    """Causes name the arrays of the layer that uses them.

    All layers share the memory of a unit, and each has its own arrays there. The values, names,
    elements and layers in the answers of `why` are compared with the run's tensors and the cycles
    of layers.
    """
    arrays = network.device_inputs({"x": np.load(folder / "x.npy")})
    session = macaw.debug(network.program, arrays, engine=engine)
    session.cont()
    tensors = network.run(x=np.load(folder / "x.npy")).tensors
    symbols = {network.symbols[name]: name for name in tensors}
    layers = {item.layer.name: item for item in session.layers()}
    (cause,) = session.why('"/classes/Gemm"[1]')
    seen: dict[str, set[str]] = {}
    kinds = set()
    for item in some_of(cause):
        name, _, rest = item.name.partition("[")
        place = tuple(int(x) for x in rest.partition("]")[0].split(",")) if rest else ()
        if name in symbols:  # a tensor of the network, stored as (height, width, channels)
            tensor = tensors[symbols[name]]
            stored = np.moveaxis(tensor[0], 0, -1) if tensor.ndim == 4 else tensor[0]
            assert np.isscalar(stored[place])
            kinds.add(name)
            if isinstance(item.value, int):  # of vc's vectors, the causes have bytes as text
                assert item.value == stored[place], item
        if item.where is not None and item.where.layer is not None:
            layer = layers[item.where.layer]
            assert layer.begin is not None
            assert layer.cycles is not None
            assert layer.begin <= item.cycle <= layer.begin + layer.cycles
            if item.memory is not None and UNIT <= item.memory[0] < EXTERNAL:
                seen.setdefault(item.where.layer, set()).add(name)
    assert kinds == symbols.keys()
    tiles = {"x_tile", "w_tile", "result"}
    assert seen == {
        "/classes/Gemm": tiles,
        "/point/Conv": {*tiles, "start"},
        "/stem/Conv": {*tiles, "start"},
    }


def test_causes_name_the_source_of_a_layers_weights(say):
    """Causes name the source of a layer's weights.

    Each layer of the array has a label `w`. Code that layers share belongs to the layer that runs.
    """
    text = say("continue", 'why "/classes/Gemm"[0] depth 12')
    weights = re.findall(r"of the program net/(\w+)\.s:6 \(w\+", text)
    assert set(weights) == {"classes_Gemm", "point_Conv"}
    assert ".inc:12, layer /classes/Gemm" in text
    assert ".inc:12, layer /point/Conv" in text
    assert "dst=w_tile[0] (units 0 to 1, half 0)" in text
    assert ".s:35, layer" not in text  # main.s


def test_json_has_the_layer(folder):
    words = ("debug", "net", "-i", "x=x.npy", "--json", "-e", "catch layer", "-e", "continue")
    done = run_here(words, folder)
    assert json.loads(done.stdout.splitlines()[1])["stopped"]["where"]["layer"] == "/stem/Conv"


def test_completion(session):
    assert completions(session, 'break "/st') == ['"/stem/Conv"']
    assert completions(session, "break /s") == ["/stem/Conv", "/sum/Add"]
    assert '"point_relu"' in completions(session, 'print "po')
    assert completions(session, "catch lay") == ["layer"]
    assert completions(session, "info la") == ["layers"]


def test_inputs_by_the_names_of_the_model(folder, network):
    words = ("debug", "net", "--batch", "-e", "continue")
    done = run_here((*words, "-i", "y=x.npy"), folder)
    assert "the model has no input 'y'" in done.stderr
    done = run_here(words, folder)
    assert "the input 'x' is missing" in done.stderr
    integers = network.device_inputs({"x": np.load(folder / "x.npy")})
    np.save(folder / "in_q.npy", integers["in_q"])
    done = run_here((*words, "-i", "in_q=in_q.npy"), folder)
    assert "exit with code 0" in done.stdout
