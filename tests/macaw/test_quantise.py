"""`macaw quantise` and `macaw.quantise`: models that other programs accept, and messages."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import macaw
from macaw.cli import run_command
from macaw.errors import InputError
from macaw.lowering.onnx.network import (
    FloatLayer,
    PoolLayer,
    ProductLayer,
    SumLayer,
    TableLayer,
    WeightLayer,
)
from macaw.lowering.onnx.reference import evaluate
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import network_of, outputs_of, runtime_outputs

pytestmark = pytest.mark.once

RANDOM = np.random.default_rng(11)
F32 = np.float32
ROOT = Path(__file__).parents[2]


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(F32)


def network(batch=1):
    """A network of convolutions, other nodes that follow them in real networks, and a product."""
    nodes = [
        NODE("Conv", ["x", "w1"], ["c1"], name="first", pads=[1] * 4),
        NODE("BatchNormalization", ["c1", "g", "o", "m", "v"], ["n1"], name="norm"),
        NODE("HardSwish", ["n1"], ["h1"], name="swish"),
        NODE("Conv", ["h1", "w2", "b2"], ["c2"], name="depth", group=8, pads=[1] * 4),
        NODE("GlobalAveragePool", ["c2"], ["p"], name="mean"),
        NODE("Conv", ["p", "w3", "b3"], ["e"], name="excite"),
        NODE("HardSigmoid", ["e"], ["s"], name="gate", alpha=1 / 6),
        NODE("Mul", ["c2", "s"], ["f"], name="scaled"),
        NODE("Add", ["f", "h1"], ["a"], name="join"), NODE("Relu", ["a"], ["r"], name="relu"),
        NODE("MaxPool", ["r"], ["q"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        NODE("Flatten", ["q"], ["t"], name="flat"), NODE("MatMul", ["t", "w4"], ["l"], name="dense"),
        NODE("Add", ["l", "b4"], ["z"], name="bias"), NODE("Softmax", ["z"], ["y"], name="classes"),
    ]  # fmt: skip
    random = np.random.default_rng(3)

    def normal(*shape, size=1.0):
        return (random.standard_normal(shape) * size).astype(F32)

    constants = {
        "w1": normal(8, 3, 3, 3, size=0.2), "g": normal(8) + 1, "o": normal(8), "m": normal(8), "v": random.uniform(0.5, 2, 8).astype(F32),
        "w2": normal(8, 1, 3, 3, size=0.3), "b2": normal(8), "w3": normal(8, 8, 1, 1, size=0.5), "b3": normal(8),
        "w4": normal(128, 5, size=0.1), "b4": normal(5),
    }  # fmt: skip
    return model(
        nodes, {"x": (batch, 3, 8, 8)}, {"y": ((batch, 5), TensorProto.FLOAT)}, 17, **constants
    )


DATA = numbers(4, 3, 8, 8)


def error(result, made, samples=DATA):
    """The largest difference of probabilities between Macaw's evaluator and onnxruntime."""
    found = [outputs_of(result.model, x=x[None])[0] for x in samples]
    wanted = [runtime_outputs(made, x=x[None])[0] for x in samples]
    return np.abs(np.array(found) - np.array(wanted)).max()


LIMITS = {"int8": 0.12, "int16": 0.001}


@pytest.mark.few(5)
@pytest.mark.parametrize("element_type", ["int8", "int16"])
@pytest.mark.parametrize("scales", ["power-of-two", "real"])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("method", ["mse", "minmax"])
def test_models_are_accepted_and_near(element_type, scales, per_channel, method):
    made = network()
    result = macaw.quantise(
        made, DATA, element_type=element_type, scales=scales, per_channel=per_channel, method=method
    )
    onnx.checker.check_model(result.model, full_check=True)
    ours = [outputs_of(result.model, x=x[None])[0] for x in DATA]
    theirs = [runtime_outputs(result.model, x=x[None])[0] for x in DATA]
    assert (
        np.abs(np.array(ours) - np.array(theirs)).max() < LIMITS[element_type] / 2
    )  # floats there
    assert error(result, made) < LIMITS[element_type]
    assert {row.output for row in result.losses} == {element_type}


def test_the_layers_are_integers_under_their_names():
    result = macaw.quantise(network(), DATA)
    layers = network_of(result.model).layers
    kinds = {layer.name: type(layer) for layer in layers}
    assert kinds["first"] is kinds["depth"] is kinds["excite"] is kinds["dense"] is WeightLayer
    assert kinds["swish"] is kinds["gate"] is TableLayer
    assert (kinds["mean"], kinds["scaled"], kinds["join"], kinds["pool"]) == (
        PoolLayer,
        ProductLayer,
        SumLayer,
        PoolLayer,
    )
    assert [layer.operator for layer in layers if isinstance(layer, FloatLayer)] == [
        "QuantizeLinear",
        "DequantizeLinear",
        "Softmax",
    ]
    assert result.floats == ("classes",)
    first = next(layer for layer in layers if layer.name == "first")
    assert first.output.shifts is not None
    names = {node.name for node in result.model.graph.node}
    assert {"first", "swish", "depth", "join", "dense", "classes"} <= names


def test_scales_of_channels():
    result = macaw.quantise(network(), DATA, per_channel=True, scales="real")
    (first, *_) = [layer for layer in network_of(result.model).layers if layer.name == "first"]
    assert first.output.multipliers.shape == (8,)
    assert np.abs(first.weights.reshape(8, -1)).max(1).min() > 40  # each channel uses its range
    result = macaw.quantise(network(), DATA, scales="real")
    (first, *_) = [layer for layer in network_of(result.model).layers if layer.name == "first"]
    assert first.output.multipliers.shape == ()


def test_minmax_saturates_nothing_and_mse_may():
    x = np.concatenate([np.full(20_000, 0.05), [8.0]]).astype(F32).reshape(1, -1)
    made = model(
        [NODE("MatMul", ["x", "w"], ["y"])],
        {"x": x.shape},
        {"y": ((1, 2), TensorProto.FLOAT)},
        w=np.ones((20_001, 2), F32),
    )
    (row, *_) = macaw.quantise(made, x, method="minmax").losses
    assert row.scale == 2.0**-3  # 8 / 2^-3 = 64; 2^-4 would need 128
    (row, *_) = macaw.quantise(made, x, method="mse").losses
    assert row.scale is not None
    assert row.scale < 2.0**-3


def test_mixed_types():
    result = macaw.quantise(
        network(),
        DATA,
        layers={"depth": "int16", "classes": "float", "norm": "int16"},
        keep_float=["HardSigmoid"],
    )
    kinds = {row.name: (row.input, row.output) for row in result.losses}
    assert kinds["first"] == ("int16", "int16")  # `norm` was folded into it
    assert kinds["depth"] == ("int8", "int16")
    assert kinds["swish"] == ("int16", "int8")
    assert "gate" in result.floats
    onnx.checker.check_model(result.model, full_check=True)
    assert error(result, network()) < 0.1


def test_products_of_two_activations_and_rough_functions_stay_float():
    """Products of two activations and rough functions stay float by default."""
    nodes = [
        NODE("MatMul", ["x", "w"], ["a"]), NODE("MatMul", ["x", "v"], ["b"]), NODE("Transpose", ["b"], ["t"], perm=[1, 0]),
        NODE("MatMul", ["a", "t"], ["s"], name="scores"), NODE("Gelu", ["a"], ["g"], name="gelu"), NODE("MatMul", ["s", "g"], ["y"], name="last"),
    ]  # fmt: skip
    made = model(
        nodes, {"x": (4, 8)}, {"y": ((4, 8), TensorProto.FLOAT)}, w=numbers(8, 8), v=numbers(8, 8)
    )
    data = numbers(3, 4, 8)
    assert macaw.quantise(made, data).floats == ("scores", "gelu", "last")
    result = macaw.quantise(made, data, layers=dict.fromkeys(("scores", "gelu", "last"), "int8"))
    kinds = {layer.name: type(layer) for layer in network_of(result.model).layers}
    assert (kinds["scores"], kinds["gelu"], kinds["last"]) == (
        ProductLayer,
        TableLayer,
        ProductLayer,
    )
    onnx.checker.check_model(result.model, full_check=True)


def test_pools_between_a_real_layer_and_integers_are_integers():
    """A max pool between a real layer and an integer layer is computed on integers.

    Nothing is lost: the maximum of rounded numbers is the rounded maximum. A pool stays real if the
    user wants it, or if the network returns its result.
    """
    nodes = [
        NODE("Conv", ["x", "w"], ["a"], name="first"), NODE("LRN", ["a"], ["n"], name="norm", size=3),
        NODE("MaxPool", ["n"], ["p"], name="pool", kernel_shape=[2, 2]), NODE("Conv", ["p", "v"], ["b"], name="second"),
        NODE("LRN", ["b"], ["m"], name="last", size=3), NODE("MaxPool", ["m"], ["y"], name="end", kernel_shape=[2, 2]),
    ]  # fmt: skip
    shape = ((1, 4, 3, 3), TensorProto.FLOAT)
    made = model(
        nodes, {"x": (1, 3, 5, 5)}, {"y": shape}, w=numbers(4, 3, 1, 1), v=numbers(4, 4, 1, 1)
    )
    data = numbers(3, 3, 5, 5)
    result = macaw.quantise(made, data)
    assert result.floats == ("norm", "last", "end")
    kinds = {layer.name: type(layer) for layer in network_of(result.model).layers}
    assert kinds["pool"] is PoolLayer
    assert error(macaw.quantise(made, data, element_type="int16"), made, data) < 0.02
    wide = macaw.quantise(made, data, layers={"second": "int16"})
    assert {row.name: row.output for row in wide.losses}["pool"] == "int16"
    for keep_float in (["pool"], ["MaxPool"]):
        floats = macaw.quantise(made, data, keep_float=keep_float).floats
        assert floats == ("norm", "pool", "last", "end")


def test_moved_numbers_between_a_real_layer_and_integers_are_integers():
    """If only a layer of integers reads a Transpose of LRN's result, the Transpose is of integers."""
    nodes = [
        NODE("LRN", ["x"], ["n"], name="norm", size=3), NODE("Transpose", ["n"], ["t"], name="turn", perm=[0, 1, 3, 2]),
        NODE("Conv", ["t", "v"], ["y"], name="last"),
    ]  # fmt: skip
    shape = ((1, 4, 5, 5), TensorProto.FLOAT)
    made = model(nodes, {"x": (1, 3, 5, 5)}, {"y": shape}, v=numbers(4, 3, 1, 1))
    result = macaw.quantise(made, numbers(3, 3, 5, 5))
    assert result.floats == ("norm",)


@pytest.mark.parametrize("operator", ["Pad", "Gather", "GatherElements"])
def test_numbers_that_are_moved_keep_their_scale(operator):
    """A Pad, Gather or GatherElements of integers is of integers; it may have a type of its own."""
    places = {
        "Pad": np.array([0, 0, 1, 0, 0, 0, 2, 1]),
        "Gather": np.array([0, 0]),
        "GatherElements": np.zeros((1, 2, 2, 2), np.int64),
    }
    nodes = [
        NODE("Conv", ["x", "w"], ["a"], name="first"), NODE(operator, ["a", "places"], ["b"], name="it"),
        NODE("Relu", ["b"], ["y"], name="relu"),
    ]  # fmt: skip
    made = model(nodes, {"x": (1, 3, 4, 4)}, w=numbers(4, 3, 1, 1), places=places[operator])
    data = numbers(3, 3, 4, 4)
    result = macaw.quantise(made, data)
    assert result.floats == ()
    scales = {row.name: row.scale for row in result.losses}
    assert scales["it"] == scales["first"]
    wide = macaw.quantise(made, data, layers={"it": "int16"})
    assert {row.name: row.output for row in wide.losses}["it"] == "int16"


def test_losses_are_those_of_the_integers():
    """The reported losses equal the losses of the quantised model.

    `own` is the loss if only this layer is rounded.
    """
    result = macaw.quantise(network(), DATA)
    rows = {row.name: row for row in result.losses}
    assert rows["first"].own == pytest.approx(rows["first"].whole, abs=0.5)
    assert rows["join"].own > rows["join"].whole
    assert rows["pool"].own > 30
    found = network_of(result.model)
    integers = [evaluate(found, {"x": x[None]})["x_quantized"] for x in DATA]
    noise = np.concatenate(integers).astype(float) * rows["x_quantize"].scale - DATA
    assert rows["x_quantize"].own == pytest.approx(
        10 * np.log10(np.square(DATA).sum() / np.square(noise).sum()), abs=0.01
    )


def test_biases_are_corrected():
    """Biases are corrected: the mean error of a layer with coarse weights becomes smaller."""
    weights = np.abs(numbers(64, 4)) * 0.01
    weights[0] = 3.0
    made = model(
        [NODE("MatMul", ["x", "w"], ["y"], name="it")],
        {"x": (1, 64)},
        {"y": ((1, 4), TensorProto.FLOAT)},
        w=weights.astype(F32),
    )
    data = (RANDOM.uniform(0.5, 1, (10, 64))).astype(F32)
    plain, corrected = (
        macaw.quantise(made, data, method=method).losses[-1] for method in ("minmax", "mse")
    )
    assert abs(corrected.error) < abs(plain.error) / 3


def test_tables_and_json(tmp_path):
    result = macaw.quantise(network(), DATA)
    lines = result.table()
    assert lines[0].split() == "layer operator types scale own dB dB mean error".split()
    assert max(map(len, lines)) <= 120
    assert max(map(len, result.table(80))) <= 80
    assert lines == result.table(120)
    long = replace(result, losses=tuple(replace(row, name="n" * 200) for row in result.losses))
    assert max(map(len, long.table())) == 120
    assert lines[-1] == "11 layers on integers, 1 floating-point: classes"
    rows = json.loads(result.to_json())
    assert [row["name"] for row in rows["layers"]] == [row.name for row in result.losses]
    assert rows["floats"] == ["classes"]
    result.write(tmp_path / "q.onnx")
    assert onnx.load(tmp_path / "q.onnx") == result.model


def test_several_inputs_and_constants():
    nodes = [
        NODE("MatMul", ["a", "w"], ["p"]),
        NODE("Mul", ["b", "k"], ["q"]),
        NODE("Add", ["p", "q"], ["y"]),
    ]
    made = model(
        nodes,
        {"a": ("n", 4), "b": ("n", 3), "k": (1,)},
        {"y": (("n", 3), TensorProto.FLOAT)},
        w=numbers(4, 3),
    )
    data = {"a": numbers(6, 4), "b": numbers(6, 3)}
    result = macaw.quantise(made, data, constants={"k": 2.0})
    assert [row.name for row in result.model.graph.input] == ["a", "b"]
    assert result.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    result = macaw.quantise(made, data, constants={"k": 2.0}, dims={"n": 3})
    assert result.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3
    whole = {"a": numbers(2, 3, 4), "b": numbers(2, 3, 3)}  # an axis of samples of its own
    result = macaw.quantise(made, whole, constants={"k": 2.0})
    assert result.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3


def test_a_bias_that_needs_a_larger_scale_of_weights():
    """A large bias makes the scale of int16 weights larger, so that the bias fits in 32 bits."""
    w, b = numbers(8, 3) * F32(1e-6), np.array([1, -2, 3], F32)
    made = model(
        [NODE("Gemm", ["x", "w", "b"], ["y"], name="it")],
        {"x": (1, 8)},
        {"y": ((1, 3), TensorProto.FLOAT)},
        w=w,
        b=b,
    )
    for per_channel in (False, True):
        result = macaw.quantise(made, numbers(4, 8), element_type="int16", per_channel=per_channel)
        assert outputs_of(result.model, x=np.zeros((1, 8), F32))[0] == pytest.approx(
            b[None], rel=1e-3
        )


@pytest.mark.parametrize("shape", [(4,), (1, 4), (1,), (1, 1), (), (4, 1), (4, 4)])
def test_each_shape_of_the_c_of_a_gemm(shape):
    """A C with one number for each column, or a single number, becomes a bias; others stay C."""
    nodes = [NODE("Gemm", ["x", "w", "c"], ["g"], name="it"), NODE("Add", ["g", "d"], ["y"])]
    made = model(
        nodes, {"x": (4, 5)}, {"y": ((4, 4), TensorProto.FLOAT)},
        w=numbers(5, 4), c=numbers(*shape), d=numbers(4),
    )  # fmt: skip
    data = numbers(3, 4, 5)
    result = macaw.quantise(made, data, element_type="int16")
    has_rows = shape in ((4, 1), (4, 4))
    assert ("it" in result.floats) == has_rows
    x = data[0]
    wanted = runtime_outputs(made, x=x)[0]
    np.testing.assert_allclose(runtime_outputs(result.model, x=x)[0], wanted, atol=2e-3)
    np.testing.assert_allclose(outputs_of(result.model, x=x)[0], wanted, atol=2e-3)


QUANTISED = macaw.quantise(network(), DATA[:1]).model
WRONG = [
    ({"method": "best"}, "no method is called 'best'"),
    ({"scales": "reals"}, "no kind of scales is called 'reals'"),
    ({"element_type": "int4"}, "no type is called 'int4'"),
    ({"layers": {"frist": "int16"}}, "no layer is called 'frist'"),
    ({"layers": {"first": "int4"}}, "the layer first: no type 'int4'"),
    ({"layers": {"classes": "int8"}}, r"node classes \(Softmax\): it has no rule for integers"),
    ({"keep_float": ["Convolution"]}, "no layer and no operator is called 'Convolution'"),
    ({"dims": {"n": 3}}, "the model calls no dimension 'n'"),
    ({"data": {"z": DATA}}, "the model has no input 'z'"),
    ({"data": {}}, "there are no data for the input x"),
    ({"data": numbers(3, 8)}, r"the data of the input x: an array of the shape \(3, 8\)"),
    ({"data": numbers(2, 3, 8, 9)}, r"the input x: a shape of \(1, 3, 8, 9\), the model says \(1, 3, 8, 8\)"),
    ({"data": np.full((1, 3, 8, 8), np.nan)}, "the data of the input x: not all numbers are finite"),
    ({"data": np.zeros((0, 3, 8, 8))}, "the data of the input x: there are no samples"),
    ({"constants": {"x": DATA[:1]}}, "the model has 0 inputs: "),
    ({"model": QUANTISED}, "the model is quantised already"),
    ({"model": network(3)}, "4 rows are no multiple of the input's 3"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_refused(changes, message):
    arguments = {"model": network(), "data": DATA, **changes}
    with pytest.raises(InputError, match=message):
        macaw.quantise(**arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(network(), "m.onnx")
    np.save("x.npy", DATA)
    return tmp_path


def test_the_command(folder, capsys):
    assert (
        run_command(
            [
                "quantise",
                "m.onnx",
                "--data",
                "x.npy",
                "-o",
                "q.onnx",
                "--per-channel",
                "--layer",
                "depth=int16",
            ]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("layer ")
    assert next(line for line in lines if line.startswith("depth ")).split()[2] == "int8>int16"
    assert lines[-1].endswith("floating-point: classes")
    onnx.checker.check_model(onnx.load("q.onnx"), full_check=True)
    assert (
        run_command(
            [
                "quantise",
                "m.onnx",
                "--data",
                "x=x.npy",
                "-o",
                "q.onnx",
                "--json",
                "--keep-float",
                "Softmax",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["floats"] == ["classes"]


COMMANDS = [
    (["--data", "x.npy", "-o", "m.onnx"], "m.onnx is an input: it is not overwritten"),
    (["-o", "q.onnx"], "Missing option '--data'.\nhint: --data [NAME=]FILE: "),
    (["--data", "=x.npy", "-o", "q.onnx"], "--data '=x.npy': the name or the file is empty, NAME=FILE"),
    (["--data", "a=x.npy", "--data", "x.npy", "-o", "q.onnx"], "--data 'x.npy': several inputs need names, NAME=FILE"),
    (["--data", "x=x.npy", "--data", "x=x.npy", "-o", "q.onnx"], "--data gives x twice"),
    (["--data", "x.npy", "-o", "q.onnx", "--layer", "depth"], "--layer 'depth' is not of the form NAME=TYPE"),
    (["--data", "x.npy", "-o", "q.onnx", "--constant", "k=one"], "--constant 'k=one' is not of the form NAME=NUMBER"),
    (["--data", "x.npy", "-o", "q.onnx", "--dim", "n"], "--dim 'n' is not of the form NAME=N"),
    (["--data", "no.npy", "-o", "q.onnx"], "no.npy"),
    (["--data", "x.npy", "-o", "q.onnx", "--constant", "k=1.5"], "the model has no input 'k'"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), COMMANDS)
def test_wrong_commands(words, message, folder, capsys):
    assert run_command(["quantise", "m.onnx", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_package_is_named(folder, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("onnx", "macaw.lowering.onnx"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"^an ONNX model needs the package onnx$") as caught:
        macaw.quantise("m.onnx", DATA)
    assert caught.value.hint == "pip install 'macaw-npu[onnx]'"


PAGES = [ROOT / "docs" / name for name in ("networks.md", "cli.md")]
SHOWN = [
    line.split()[1:]
    for page in PAGES
    for line in page.read_text("utf-8").splitlines()
    if line.startswith("    macaw quantise m.onnx")
]


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_commands_of_the_pages(words, folder):
    assert run_command(words) == 0
    onnx.checker.check_model(onnx.load("q.onnx"))


def test_the_pages_have_commands():
    assert len(SHOWN) >= 5


def test_what_only_a_concatenation_reads_has_its_scale():
    """A value that only a concatenation reads gets the scale of the result, so nothing is rescaled.

    A value with another reader, a moved value and an output keep their own scales.
    """
    nodes = [
        NODE("Conv", ["x", name], [f"c{name}"], name=name)
        for name in ("small", "large", "both", "source")
    ]
    nodes += [
        NODE("MaxPool", ["csource"], ["moved"], kernel_shape=[1, 1]),
        NODE("Concat", ["moved", "csmall", "clarge"], ["inner"], axis=1),
        NODE("Concat", ["inner", "cboth"], ["y"], axis=1),
        NODE("Relu", ["cboth"], ["z"]),
    ]
    weights = {"small": 0.01, "large": 9.0, "both": 0.3, "source": 0.1}
    random = np.random.default_rng(5)  # of its own: the tests after it keep their numbers
    made = model(
        nodes,
        {"x": (1, 2, 4, 4)},
        ("y", "z"),
        **{
            name: (size * random.standard_normal((2, 2, 1, 1))).astype(F32)
            for name, size in weights.items()
        },
    )
    result = macaw.quantise(made, random.standard_normal((1, 2, 4, 4)).astype(F32))
    given = {item.name: onnx.numpy_helper.to_array(item) for item in result.model.graph.initializer}
    scales = {
        node.input[0].removesuffix("_real"): float(given[node.input[1]])
        for node in result.model.graph.node
        if node.op_type == "QuantizeLinear"
    }
    assert scales["csmall"] == scales["clarge"] == scales["inner"] == scales["y"]
    assert scales["cboth"] < scales["y"]
    assert scales["moved"] == scales["csource"] < scales["y"]


def test_constants_without_dimensions_stay_so():
    """Constants keep their shapes: an index without dimensions, and a factor of shape (1, 1)."""
    nodes = [
        NODE("MatMul", ["x", "w"], ["p"]), NODE("Relu", ["p"], ["r"]), NODE("Mul", ["r", "k"], ["m"]),
        NODE("Gather", ["m", "i"], ["g"], axis=0), NODE("Exp", ["g"], ["y"]),
    ]  # fmt: skip
    made = model(
        nodes,
        {"x": (2, 4)},
        {"y": ((3,), TensorProto.FLOAT)},
        w=numbers(4, 3),
        i=np.int64(1),
        k=np.full((1, 1), 0.5, F32),
    )
    x = numbers(1, 2, 4)
    result = macaw.quantise(made, x)
    onnx.checker.check_model(result.model, full_check=True)
    assert outputs_of(result.model, x=x[0])[0] == pytest.approx(
        runtime_outputs(made, x=x[0])[0], rel=0.1
    )
    made = model(
        [NODE("Mul", ["x", "k"], ["y"])],
        {"x": (4,)},
        {"y": ((4,), TensorProto.FLOAT)},
        k=np.full((1,), 0.5, F32),
    )
    assert len(macaw.quantise(made, numbers(2, 4), layers={"y": "int8"}).losses) == 2


def test_nodes_may_share_a_name_and_products_may_be_of_vectors():
    nodes = [
        NODE("Exp", ["x"], ["e"], name="it"), NODE("MatMul", ["e", "w"], ["p"], name="it"), NODE("Sqrt", ["e"], ["q"], name="it"),
        NODE("Add", ["p", "q"], ["s"], name="it"), NODE("MatMul", ["s", "v"], ["y"], name="it"),
    ]  # fmt: skip
    made = model(nodes, {"x": (4,)}, {"y": ((), TensorProto.FLOAT)}, w=numbers(4, 4), v=numbers(4))
    x = numbers(3, 4)
    result = macaw.quantise(made, x)
    assert [row.name for row in result.losses if row.operator == "MatMul"] == ["it_2"]
    (wanted,) = outputs_of(made, x=x[0])
    assert outputs_of(result.model, x=x[0])[0] == pytest.approx(wanted, abs=0.5)
    assert runtime_outputs(result.model, x=x[0])[0] == pytest.approx(wanted, abs=0.5)


def test_an_output_may_be_a_constant():
    """A constant that is an output stays an output of the quantised model."""
    nodes = [NODE("Conv", ["x", "w"], ["y"]), NODE("Identity", ["w"], ["k"])]
    outputs = {"y": ((1, 2, 4, 4), TensorProto.FLOAT), "k": ((2, 3, 1, 1), TensorProto.FLOAT)}
    made = model(nodes, {"x": (1, 3, 4, 4)}, outputs, w=numbers(2, 3, 1, 1))
    result = macaw.quantise(made, numbers(2, 3, 4, 4))
    onnx.checker.check_model(result.model, full_check=True)
    x = numbers(1, 3, 4, 4)
    np.testing.assert_array_equal(
        runtime_outputs(result.model, x=x)[1], runtime_outputs(made, x=x)[1]
    )
