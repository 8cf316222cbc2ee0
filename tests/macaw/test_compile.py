"""Compiled models: `macaw.compile`, `macaw compile`, `macaw run FOLDER --layers`."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import macaw
from macaw import files
from macaw.isa.config import load
from macaw.lowering.net.network import ProductLayer
from macaw.lowering.onnx import reference
from macaw.networks import report as network_report
from tests.lowering.net.models import ModelBuilder, real_model, residual_model, small_model
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.lowering.onnx.running import runtime_outputs
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once


# Fewer rows and clusters: the compiler compares fewer plans.
ROWS = {"tiny": 2, "base": 1}


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_here(words, cwd)


@pytest.fixture(scope="module")
def compiled() -> macaw.CompiledNetwork:
    return macaw.compile(small_model(), name="small")


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(1, 3, 8, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def run(compiled, image) -> macaw.NetworkRun:
    return compiled.run(x=image)


@pytest.fixture(scope="module")
def folder(compiled, image, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("networks")
    compiled.write(path / "net")
    np.save(path / "x.npy", image)
    return path


def test_every_layer_equals_the_reference_evaluator(compiled, image, run):
    expected = reference.evaluate(compiled.network, {"x": image})
    assert [layer.equal for layer in run.layers] == [True] * 4
    assert [layer.report.tensor for layer in run.layers] == [
        "stem_relu", "depth", "point_relu", "y",
    ]  # fmt: skip
    for name in ("in_q", "stem_relu", "depth", "point_relu"):
        np.testing.assert_array_equal(run.tensors[name], expected[name])
    np.testing.assert_array_equal(run.outputs["y"], expected["y"])
    assert repr(run).startswith(f"<run: {run.cycles:,} cycles, 4 layers; y ")
    assert "\n" not in repr(run)


def test_a_program_names_no_temporary_file(compiled, image):
    """The names of sources and included files are those that `write` would write."""
    program = compiled.program
    assert program.source_files == tuple(compiled.sources)
    included = {name for source in compiled.sources.values() for name in source.texts}
    assert {line.file for line in program.lines} <= included | set(compiled.sources)
    with pytest.raises(macaw.RunError, match=r"cp at \S+ \(main\.s:\d+\)"):
        compiled.run(x=image, max_cycles=20)


def test_scales_of_channels_tables_and_all_that_convolutions_have():
    device = load("tiny").changed({"pe.clusters": 1})
    network = macaw.compile(real_model(), device=device)
    image = np.random.default_rng(7).normal(size=(1, 4, 9, 9)).astype(np.float32)
    run = network.run(x=image)
    assert [layer.equal for layer in run.layers] == [True] * 6
    assert [layer.report.operator for layer in run.layers] == [
        "conv 3×3", "conv 3×3 + table", "concat", "conv 3×3 + table", "globalaveragepool", "product",
    ]  # fmt: skip
    layers = network.assignment.network.layers
    products = {x.name: x.product for x in layers if isinstance(x, ProductLayer)}
    assert products["/stem/Conv"].scales is not None
    assert len(set(products["/stem/Conv"].scales)) == 8
    assert products["/groups/Conv"].table is not None
    expected = reference.evaluate(network.network, {"x": image})
    assert expected["six"].max() == round(0.4 / 0.09)
    np.testing.assert_array_equal(run.outputs["y"], expected["y"])


@pytest.mark.parametrize("device", ["tiny", "base"])
def test_a_residual_network(image, device):
    narrow = load(device).changed({"pe.rows": ROWS[device], "pe.clusters": 1})
    network = macaw.compile(residual_model(), device=narrow)
    run = network.run(x=image)
    assert [layer.equal for layer in run.layers] == [True] * 9
    mean = {"tiny": "vc", "base": "pe"}[device]  # where it takes fewer cycles
    cores = f"pe pe vc vc vc vc pe {mean} pe".split()
    assert [layer.report.core for layer in run.layers] == cores
    expected = reference.evaluate(network.network, {"x": image})
    assert len(np.unique(expected["sum_relu"])) > 15
    np.testing.assert_array_equal(run.outputs["y"], expected["y"])
    assert 0 < run.busy["vc"] < 1
    for layer in run.layers:
        if layer.report.core == "vc":
            assert layer.report.predicted == pytest.approx(layer.cycles, rel=0.15)


def test_the_outputs_equal_those_of_onnxruntime(compiled, image, run):
    """The outputs equal onnxruntime's.

    Scales are powers of two and the integers s8×s8, so both round to the same numbers.
    """
    session = onnxruntime.InferenceSession(compiled.model)
    (wanted,) = session.run(None, {"x": image})
    np.testing.assert_array_equal(run.outputs["y"], wanted)


def test_both_engines_take_the_same_cycles(compiled, image, run):
    fast, slow = run, compiled.run(x=image, engine="reference")
    assert fast.layers == slow.layers
    assert fast.cycles == slow.cycles


def test_the_cycles_of_the_layers_are_those_of_the_program(compiled, run):
    integers = run.tensors["in_q"][0].transpose(1, 2, 0)
    whole = macaw.run(compiled.program, {compiled.symbols["in_q"]: integers})
    assert whole.cycles - 10 < run.cycles < whole.cycles  # the exit follows
    assert sum(layer.cycles for layer in run.layers) < run.cycles  # packets come first
    np.testing.assert_array_equal(whole.outputs["y"] * np.float32(2.0**-9), run.outputs["y"][0])


def test_a_folder_is_the_network(compiled, folder, image, run):
    again = macaw.load_network(folder / "net")
    assert isinstance(again, macaw.CompiledNetwork)
    assert again.layers == compiled.layers
    assert again.run(x=image).layers == run.layers
    with pytest.raises(macaw.InputError, match=r"the network's files are in .* already"):
        again.write(folder / "other")


def test_a_full_disk_leaves_no_half_of_a_folder(compiled, tmp_path, monkeypatch):
    """The first files of the network stood in the folder, without the others."""
    names = []
    write = files.replace_file

    @contextmanager
    def fill(path):
        names.append(Path(path).name)
        if names[-1] == "net.json":
            raise macaw.InputError(f"cannot write {path}: No space left on device")
        with write(path) as stream:
            yield stream

    monkeypatch.setattr(files, "replace_file", fill)
    with pytest.raises(macaw.InputError, match=r"net\.json: No space left"):
        compiled.write(tmp_path / "new" / "net")
    assert len(names) > 5
    assert not list(tmp_path.iterdir())


def test_a_layer_is_wrong_if_its_weights_are(compiled, folder, image, tmp_path):
    compiled.write(tmp_path / "net")
    path = tmp_path / "net" / "depth_Conv.w.npy"
    weights = np.load(path)
    place = tuple(np.argwhere(weights)[0])
    weights[place] -= 60 * np.sign(weights[place])
    np.save(path, weights)
    changed = macaw.load_network(tmp_path / "net")
    assert isinstance(changed, macaw.CompiledNetwork)
    run = changed.run(x=image)
    assert [layer.equal for layer in run.layers][:2] == [True, False]
    text = network_report.summary(compiled, run)
    assert "the first that differs is /depth/Conv" in text


def test_the_report_in_three_forms(compiled, run):
    report = json.loads(network_report.json_text(compiled, run))
    assert report["network"] == "small"
    assert report["device"] == "base"
    assert set(report["busy"]) == {"pe", "dma", "vc", "cp"}
    rows = list(csv.DictReader(io.StringIO(network_report.csv_text(compiled, run))))
    assert [row["name"] for row in rows] == [layer["name"] for layer in report["layers"]]
    assert [int(row["measured"]) for row in rows] == [layer.cycles for layer in run.layers]
    predicted = list(csv.DictReader(io.StringIO(network_report.csv_text(compiled))))
    assert "measured" not in predicted[0]
    for row, layer in zip(predicted, compiled.layers, strict=True):
        assert int(row["bound"]) == layer.bound <= layer.predicted


def test_the_bound_by_hand(compiled):
    """A layer's bound in cycles, by hand: products / 256 PEs, or bytes / 32 if this is greater.

    Each weight that is not 0 has 3 bytes; the bytes of inputs and outputs are added.
    """
    stem = compiled.layers[0]
    weights = np.count_nonzero(
        onnx.numpy_helper.to_array(
            next(x for x in small_model().graph.initializer if x.name == "stem_w")
        )
    )
    assert stem.macs == 16 * weights
    assert stem.bound == max(-(-16 * weights // 256), -(-(192 + 128 + 3 * weights) // 32))


def test_the_bound_of_a_slow_array(compiled):
    slow = macaw.compile(
        small_model(), device=macaw.configuration("base").changed({"pe.divider": 8})
    )
    stem = slow.layers[0]
    assert stem.bound == 8 * -(-stem.macs // 256) > compiled.layers[0].bound


def test_the_table_has_the_columns_that_fit(compiled, run):
    narrow = network_report.layer_table(compiled, run, 60)
    wide = network_report.layer_table(compiled, run, 160)
    headings = [str(column.header) for column in wide.columns]
    assert headings[0] == "layer"
    assert headings[-1] == "equal"
    assert len(narrow.columns) < len(wide.columns) == 12


def test_the_command(folder, image):
    onnx.save(small_model(), folder / "model.onnx")
    (folder / "narrow.toml").write_text("[pe]\nrows = 1\nclusters = 1\n")
    words = ("compile", "model.onnx", "-o", "made", "--device", "narrow.toml")
    done = command(*words, cwd=folder)
    assert done.returncode == 0
    assert "wrote made" in done.stdout
    assert "4 layers" in done.stdout
    assert (folder / "made" / "net.json").is_file()
    done = command("run", "made", "-i", "x=x.npy", "-o", "y=y.npy", "--layers", cwd=folder)
    assert done.returncode == 0
    assert "4 of 4 layers equal the reference" in done.stdout
    np.testing.assert_array_equal(
        np.load(folder / "y.npy"), macaw.load_network(folder / "net").run(x=image).outputs["y"]
    )
    done = command("run", "made", "-i", "x=x.npy", cwd=folder)
    assert done.stdout.startswith("y (float32, 1 × 10)\n")
    done = command("run", "made", "-i", "x=x.npy", "--json", cwd=folder)
    assert len(json.loads(done.stdout)["layers"]) == 4


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run", "net"], "the input 'x' is missing"),
        (["run", "net", "-i", "z=x.npy"], "the model has no input 'z'"),
        (["run", "net", "-i", "x=x.npy", "-o", "z=y.npy"], "the model has no output 'z'"),
        (["run", "net", "-i", "x=x.npy", "--stats"], "--stats does not go with a compiled network"),
        (["run", "a.s", "--layers"], "--layers is for the folder of a compiled network"),
        (["run", "net", "-i", "x=x.npy", "--max-cycles", "100"], "cycle limit"),
        (["compile", "x.npy"], "x.npy is no ONNX model"),
        (["compile", "model.onnx", "--dim", "N=2"], "the model calls no dimension 'N'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_the_command_refuses(folder, arguments, text):
    (folder / "a.s").write_text(".core cp\n_start: ebreak\n")
    onnx.save(small_model(), folder / "model.onnx")
    done = command(*arguments, cwd=folder)
    assert done.returncode in (1, 2)
    assert text in done.stderr + done.stdout


def test_inputs_of_other_types_are_refused(compiled, image):
    with pytest.raises(macaw.InputError, match="the model takes float32, 1 × 3 × 8 × 8"):
        compiled.run(x=image[0])
    with pytest.raises(macaw.InputError, match="the input 'x' is float64"):
        compiled.run(x=image.astype(np.float64))
    with pytest.raises(macaw.InputError, match=r"^x is an array without a mask"):
        compiled.run(x=np.ma.masked_array(image, mask=True))
    with pytest.raises(
        macaw.InputError, match=r"^x is an array of numbers, not \[\[1\], \[2, 3\]\]$"
    ):
        compiled.run(x=[[1], [2, 3]])


def refusal(builder: ModelBuilder) -> str:
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model())
    return str(caught.value)


def test_refusals_name_the_node_and_the_reason():
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.conv("a", 4, 3)
    builder.value = builder.node("LogSoftmax", [builder.value], "soft")
    assert refusal(builder).startswith(
        "node /soft/LogSoftmax (LogSoftmax): it computes real numbers"
    )
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.conv("a", 4, 3)
    image = builder.value
    builder.conv("b", 4, 1)
    builder.value = builder.node("Sum", [builder.value, image, image], "sum")
    builder.quantise("sum", 0.5)
    assert refusal(builder).startswith("node /sum/Sum (Sum): a sum of 3 tensors")


def test_a_network_of_one_table(image):
    """A network with only x + x becomes a table; no layer is for the array."""
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.value = builder.node("Add", [builder.value, builder.value], "twice")
    builder.quantise("twice", builder.scale)
    run = macaw.compile(builder.model()).run(x=image)
    assert [layer.report.operator for layer in run.layers] == ["table"]
    steps = np.clip(np.rint(image / np.float32(2.0**-5)), -128, 127)
    np.testing.assert_array_equal(run.outputs["y"], np.clip(2 * steps, -128, 127) / 32)


@pytest.mark.parametrize("operator", ["Add", "Sub", "Sum", "Mul"])
def test_a_tensor_of_int16_and_itself(operator):
    """A sum, difference and product of an int16 tensor with itself are right."""
    nodes = [NODE(operator, ["x", "x"], ["y"], "twice")]
    made = onnx_model(nodes, {"x": (1, 3, 5, 4)}, {"y": ((1, 3, 5, 4), 1)})
    data = np.random.default_rng(5).normal(size=(4, 3, 5, 4)).astype(np.float32)
    quantised = macaw.quantise(made, data, layers={"twice": "int16"})
    run = macaw.compile(quantised.model, device="tiny").run(x=data[:1])
    assert [layer.equal for layer in run.layers] == [True]
    (wanted,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": data[:1]})
    np.testing.assert_allclose(run.outputs["y"], wanted, atol=2e-3)


@pytest.mark.parametrize("shape", [(1, 3, 4, 5), (2, 2, 3, 6)])
@pytest.mark.parametrize("after", [[], [NODE("Softmax", ["p"], ["y"])]])
def test_a_product_of_tensors_with_four_dimensions(shape, after):
    """The array multiplies the rows of an image, as of attention heads, by a matrix."""
    rng = np.random.default_rng(7)
    nodes = [NODE("MatMul", ["x", "w"], ["p" if after else "y"], "product"), *after]
    weights = rng.normal(size=(shape[-1], 7)).astype(np.float32)
    made = onnx_model(nodes, {"x": shape}, {"y": ((*shape[:-1], 7), 1)}, w=weights)
    data = rng.normal(size=(4, *shape)).astype(np.float32)
    quantised = macaw.quantise(made, data).model
    run = macaw.compile(quantised, device="tiny").run(x=data[0])
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    assert "product" in [layer.report.operator for layer in run.layers]
    (wanted,) = runtime_outputs(quantised, x=data[0])
    np.testing.assert_allclose(run.outputs["y"], wanted, atol=2e-6)


@pytest.mark.parametrize(
    ("operator", "shape"), [("Identity", (1, 3, 8, 8)), ("Reshape", (1, 24, 8))]
)
def test_an_output_may_have_the_bytes_of_an_input(operator, shape, tmp_path):
    """An output that is an input of the model under another name or shape is an output, too."""
    nodes = [
        NODE(operator, ["x", "s"][: 1 + (operator == "Reshape")], ["same"], "a"),
        NODE("Conv", ["x", "w"], ["y"], "conv"),
    ]
    rng = np.random.default_rng(6)
    constants = {"w": rng.normal(size=(2, 3, 1, 1)).astype(np.float32), "s": np.array([1, 24, -1])}
    outputs = {"same": (shape, 1), "y": ((1, 2, 8, 8), 1)}
    made = onnx_model(nodes, {"x": (1, 3, 8, 8)}, outputs, **constants)
    data = rng.normal(size=(4, 3, 8, 8)).astype(np.float32)
    quantised = macaw.quantise(made, data)
    network = macaw.compile(quantised.model, device="tiny")
    run = network.run(x=data[:1])
    for name, wanted in zip(outputs, runtime_outputs(quantised.model, x=data[:1]), strict=True):
        np.testing.assert_array_equal(run.outputs[name], wanted)
    network.write(tmp_path / "net")
    np.save(tmp_path / "x.npy", data[:1])
    words = ("run", "net", "-i", "x=x.npy", "-o", "same=same.npy")
    assert run_here(words, tmp_path).returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "same.npy"), run.outputs["same"])


def test_columns_that_cannot_be_are_refused(compiled, tmp_path):
    """Wrong `columns` in net.json are refused.

    An entry maps a symbol to the whole tensor, the first column and the number of columns.
    """
    compiled.write(tmp_path)
    description = json.loads((tmp_path / "net.json").read_text("utf-8"))
    for columns in ([7], {"x": ["y", 0]}, {"x": ["y", 0, "3"]}, {"x": 5}):
        text = json.dumps({**description, "columns": columns})
        (tmp_path / "net.json").write_text(text, "utf-8")
        with pytest.raises(macaw.InputError, match=r"net\.json is no description of a network"):
            macaw.load_network(tmp_path)
        with pytest.raises(macaw.InputError, match=r"net\.json is no description of a network"):
            macaw.load(*(tmp_path / name for name in description["sources"]))


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(macaw.InputError, match=r"^cannot read [^ ]*net\.json: No such file"):
        macaw.load_network(tmp_path)
    (tmp_path / "net.json").write_text("{}")
    with pytest.raises(macaw.InputError, match=r"net\.json is no description of a network"):
        macaw.load_network(tmp_path)
    (tmp_path / "net.json").write_text("{")
    with pytest.raises(macaw.InputError, match="is no JSON"):
        macaw.load_network(tmp_path)


def test_errors_of_a_network_name_no_temporary_file() -> None:
    builder = ModelBuilder(3, (1, 1100))
    builder.gemm("classes", 1000)
    small = load("tiny").changed({"mem.external_bytes": 1 << 20})
    network = macaw.compile(builder.model(), device=small)
    with pytest.raises(macaw.AssemblyError, match=r"^classes_Gemm\.s:\d+:\d+: error: \.data grows"):
        _ = network.program
