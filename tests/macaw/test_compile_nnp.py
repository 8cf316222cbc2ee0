"""Models on nnp: `macaw compile --core nnp`, `macaw run FOLDER`, `macaw.native_tiles`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import macaw
from tests.lowering.net.models import small_model
from tests.lowering.onnx.models import NODE, model
from tests.macaw.command_runs import run_here

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(3, 6)).astype(np.float32)


def perceptron() -> onnx.ModelProto:
    weights = RANDOM.normal(size=(5, 6)).astype(np.float32) / 2
    nodes = [
        NODE("Gemm", ["x", "W", "b"], ["h"], "dense", transB=1),
        NODE("Softmax", ["h"], ["y"], "shares", axis=-1),
    ]
    return model(nodes, {"x": (3, 6)}, {"y": ((3, 5), 1)}, W=weights, b=weights[:, 0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("nnp")
    onnx.save(perceptron(), path / "m.onnx")
    np.save(path / "x.npy", X)
    words = ["compile", "m.onnx", "--core", "nnp", "--device", "tiny", "-o", "net"]
    done = run_here(words, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "layer   operation  output  tiles  steps",
        "dense   Gemm       3 × 5       4      1",
        "shares  Softmax    3 × 5       0      1",
        "2 layers, 15 instructions",
        "MatrixRf 4 of 64, AddSubVrf0 2 of 256",
        "wrote net",
    ]
    return path


def test_names_with_brackets_are_printed(tmp_path):
    """Names of nodes with brackets are printed unchanged, though they look like markup of rich."""
    nodes = [NODE("Tanh", ["x"], ["h"], "[bold]a"), NODE("Relu", ["h"], ["y"], "[/red]b")]
    onnx.save(model(nodes, {"x": (2, 3)}, {"y": ((2, 3), 1)}), tmp_path / "m.onnx")
    words = ["compile", "m.onnx", "--core", "nnp", "--device", "tiny", "-o", "net"]
    done = run_here(words, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["[bold]a", "[/red]b"]


def test_a_folder_runs(folder):
    done = run_here(["run", "net", "-i", "x=x.npy", "-o", "y=y.npy"], folder)
    assert (done.returncode, done.stdout) == (0, "")
    network = macaw.load_network(folder / "net")
    assert isinstance(network, macaw.NnpNetwork)
    assert repr(network) == "<network net for nnp of tiny: 2 layers>"
    y = np.load(folder / "y.npy")
    np.testing.assert_array_equal(y, network.run(x=X).outputs["y"])
    np.testing.assert_allclose(y, network.expected({"x": X})["y"], atol=1e-3)
    np.testing.assert_array_equal(y, network.run(x=X, engine="reference").outputs["y"])


def test_networks_are_shown_as_one_line(tmp_path):
    """The file of a model may have a name with an end of line, which is then the network's name."""
    path = tmp_path / "two\nlines.onnx"
    onnx.save(model([NODE("Tanh", ["x"], ["y"])], {"x": (2, 3)}, {"y": ((2, 3), 1)}), path)
    network = macaw.compile(path, device="tiny", core="nnp")
    assert repr(network) == "<network two\\nlines for nnp of tiny: 1 layer>"
    path.write_bytes(small_model().SerializeToString())
    for made in (macaw.estimate(path, device="tiny"), macaw.compile(path, device="tiny")):
        assert " two\\nlines for tiny: " in repr(made)


def test_layers_compare_the_outputs_with_floating_point(folder):
    done = run_here(["run", "net", "-i", "x=x.npy", "--layers"], folder)
    heading, row, last = done.stdout.splitlines()
    assert heading.split() == ["output", "shape", "greatest", "largest", "error"]
    assert row.split()[:4] == ["y", "3", "×", "5"]
    assert float(row.split()[-1]) < 1e-3
    assert last.endswith("cycles; errors are differences from ONNX's reference in floating point")
    report = json.loads(run_here(["run", "net", "-i", "x=x.npy", "--json"], folder).stdout)
    assert report["core"] == "nnp"
    assert report["outputs"][0]["error"] < 1e-3


def test_other_commands_take_the_folder(folder):
    assert run_here(["concord", "net/main.s", "-o", "m.py"], folder).returncode == 0
    debugged = run_here(["debug", "net", "-i", "x=x.npy", "--batch"], folder, text="continue\n")
    assert "exit with code 0" in debugged.stdout
    profiled = run_here(["profile", "net", "-i", "x=x.npy"], folder)
    assert "bottleneck: nnp" in profiled.stdout


@pytest.mark.once
def test_reports(folder):
    words = ["compile", "m.onnx", "--core", "nnp", "-o", "other", "--report"]
    assert run_here([*words, "csv"], folder).stdout.splitlines()[:3] == [
        "name,operator,shape,tiles,steps", "dense,Gemm,3x5,1,1", "shares,Softmax,3x5,0,1",
    ]  # fmt: skip
    report = json.loads(run_here([*words, "json"], folder).stdout)
    assert report["layers"][0]["tiles"] == 1
    assert report["memories"]["MatrixRf"] == [1, 1024]


def test_inputs_are_checked(folder):
    network = macaw.load_network(folder / "net")
    for inputs, message in (
        ({}, "the input 'x' is missing"),
        ({"z": X}, "the model has no input 'z' (it has x)"),
        ({"x": X[:2]}, "the input 'x' is float32, 2 × 6; the model takes float32, 3 × 6"),
        ({"x": X * np.float32(1e6)}, "no finite number of float16 (nnp.host_format)"),
    ):
        with pytest.raises(macaw.InputError) as caught:
            network.run(inputs)
        error = caught.value
        assert message.rstrip(")") in f"{error} ({error.hint})"


def test_unknown_outputs_cores_and_damaged_folders(folder):
    done = run_here(["run", "net", "-i", "x=x.npy", "-o", "z=z.npy"], folder)
    assert "the model has no output 'z'" in done.stderr
    with pytest.raises(macaw.InputError, match="no core 'pe' computes whole networks"):
        macaw.compile(perceptron(), core="pe")
    damaged = folder / "damaged"
    macaw.load_network(folder / "net").write(damaged)
    (damaged / "net.json").write_text('{"format": 1, "core": "nnp", "sources": ["main.s"]}')
    with pytest.raises(macaw.InputError, match="is no description of a network"):
        macaw.load_network(damaged)
    (folder / "file").write_text("")
    with pytest.raises(macaw.InputError, match=r"cannot make .*file: File exists"):
        macaw.load_network(folder / "net").write(folder / "file")


def test_a_run_that_stops(folder):
    done = run_here(["run", "net", "-i", "x=x.npy", "--max-cycles", "50"], folder)
    assert done.returncode != 0
    assert "50" in done.stderr


# --- the tiler ---


def test_tiles_by_hand():
    matrix = np.arange(15).reshape(5, 3)
    tiles = macaw.native_tiles(matrix, 2)
    assert tiles.shape == (6, 2, 2)
    np.testing.assert_array_equal(tiles[1], [[2, 0], [5, 0]])
    np.testing.assert_array_equal(tiles[5], [[14, 0], [0, 0]])
    np.testing.assert_array_equal(macaw.from_native_tiles(tiles, (5, 3)), matrix)
    vectors = macaw.native_vectors(matrix, 2)
    np.testing.assert_array_equal(vectors[:3], [[0, 1], [2, 0], [3, 4]])
    np.testing.assert_array_equal(macaw.from_native_vectors(vectors, (5, 3)), matrix)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: macaw.native_tiles(np.zeros(3), 2), "shape (3,), not rows and columns"),
        (lambda: macaw.native_vectors(np.zeros((0, 2)), 2), "shape (0, 2), not rows and columns"),
        (lambda: macaw.from_native_tiles(np.zeros((4, 2)), (2, 2)), "not (tiles, native, native)"),
        (lambda: macaw.from_native_tiles(np.zeros((4, 2, 2)), (5, 3)), "takes 6 tiles, not 4"),
        (lambda: macaw.from_native_tiles(np.zeros((4, 0, 0)), (2, 2)), "shape (4, 0, 0), not"),
        (lambda: macaw.from_native_vectors(np.zeros(4), (2, 2)), "not (vectors, native)"),
        (lambda: macaw.from_native_vectors(np.zeros((4, 2)), (5, 3)), "take 10 native vectors, not 4"),
        (lambda: macaw.from_native_vectors(np.zeros((4, 0)), (2, 2)), "shape (4, 0), not"),
    ],
)  # fmt: skip
def test_wrong_shapes(call, message):
    with pytest.raises(macaw.InputError) as caught:
        call()
    assert message in str(caught.value)


def test_a_fault_names_the_line_of_the_source():
    """A fault of a network that was not read from a folder names no temporary file."""
    network = macaw.compile(perceptron(), core="nnp", device="tiny")
    with pytest.raises(macaw.RunError) as caught:
        network.run(x=X * np.nan)
    assert str(caught.value).startswith("main.s:")


def test_inputs_of_the_reference():
    """`run` and `expected` take arrays with any order of bytes, and refuse inputs that do not fit."""
    network = macaw.compile(perceptron(), core="nnp", device="tiny")
    swapped = {"x": X.astype(">f4")}
    np.testing.assert_array_equal(network.run(swapped).outputs["y"], network.run(x=X).outputs["y"])
    np.testing.assert_array_equal(network.expected(swapped)["y"], network.expected({"x": X})["y"])
    for inputs, message in (
        ({}, "the input 'x' is missing"),
        ({"x": X.T}, "the input 'x' is float32, 6 × 3; the model takes float32, 3 × 6"),
        ({"x": X, "z": X}, "the model has no input 'z'"),
    ):
        with pytest.raises(macaw.InputError) as caught:
            network.expected(inputs)
        assert str(caught.value) == message


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_the_reference_has_the_activations_of_the_model(operator, direction):
    """`expected` computes recurrent layers with their own activations, which ONNX's ignores.

    `defined` are the formulas of ONNX's documentation, for one item of a batch at a time.
    """
    gates, names = {
        "RNN": (1, ["Relu"]), "GRU": (3, ["Sigmoid", "Relu"]), "LSTM": (4, ["Sigmoid", "Relu", "Tanh"])
    }[operator]  # fmt: skip
    count = 2 if direction == "bidirectional" else 1
    sizes = {"W": (gates * 5, 6), "R": (gates * 5, 5), "B": (gates * 10,)}
    weights = {
        name: (RANDOM.normal(size=(count, *size)) / 2).astype(np.float32)
        for name, size in sizes.items()
    }
    node = NODE(
        operator, ["x", "W", "R", "B"], ["y"], hidden_size=5, direction=direction,
        activations=names * count,
    )  # fmt: skip
    shape = (4, count, 2, 5)
    made = model([node], {"x": (4, 2, 6)}, {"y": (shape, 1)}, **weights)
    network = macaw.compile(made, core="nnp", device="tiny")
    x = RANDOM.normal(size=(4, 2, 6)).astype(np.float32)
    expected = network.expected({"x": x})["y"]
    wanted = np.zeros(shape)
    for way in range(count):
        times = range(4)[:: -1 if direction == "reverse" or way else 1]
        own = [weights[name][way] for name in ("W", "R", "B")]
        for item in range(2):
            for time, state in zip(times, defined(operator, x[times, item], *own), strict=True):
                wanted[time, way, item] = state
    np.testing.assert_allclose(expected, wanted, atol=1e-5)
    np.testing.assert_allclose(network.run(x=x).outputs["y"], wanted, atol=0.01)


def defined(operator, steps, w, r, b):
    """Yield the state after each step of a layer with Relu in the place of its first Tanh."""
    h, c = np.zeros(5), np.zeros(5)
    own, other = np.split(b, 2)
    for x in steps:
        if operator == "RNN":
            h = np.maximum(w @ x + own + r @ h + other, 0)
        elif operator == "GRU":
            z, reset = np.split(1 / (1 + np.exp(-(w @ x + own + r @ h + other)[:10])), 2)
            new = (w @ x + own + other)[10:] + r[10:] @ (reset * h)
            h = (1 - z) * np.maximum(new, 0) + z * h
        else:
            i, o, f = np.split(1 / (1 + np.exp(-(w @ x + own + r @ h + other)[:15])), 3)
            c = f * c + i * np.maximum((w @ x + own + r @ h + other)[15:], 0)
            h = o * np.tanh(c)
        yield h
