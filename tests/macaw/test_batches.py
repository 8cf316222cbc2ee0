"""Models compiled for several samples: `macaw compile --batch N`, and models with a batch."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

import macaw
from macaw.isa.config import load
from macaw.lowering.onnx.batches import with_batch
from tests.lowering.net.models import ModelBuilder, residual_model, small_model
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once


def images(count: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(count, 3, 8, 8)).astype(np.float32)


def two_layers() -> onnx.ModelProto:
    """A model of a convolution and a product, which is compiled quickly."""
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.conv("stem", 4, 3, stride=2, padding=1)
    builder.flatten()
    builder.gemm("classes", 10)
    return builder.model()


# A quarter of the array of base: the compiler compares fewer plans.
QUARTER = load("base").changed({"pe.rows": 2, "pe.clusters": 2})


@pytest.mark.parametrize(("make", "device"), [(small_model, QUARTER), (residual_model, "tiny")])
def test_each_image_of_a_batch_equals_onnxruntime(make, device):
    alone, x = make(), images(3)
    session = onnxruntime.InferenceSession(alone.SerializeToString())
    wanted = np.concatenate([session.run(None, {"x": x[i : i + 1]})[0] for i in range(3)])
    network = macaw.compile(alone, device=device, batch=3)
    assert onnx.load_from_string(network.model) == make(0, 3)  # so this one need not be compiled
    run = network.run(x=x)
    assert all(layer.equal for layer in run.layers)
    np.testing.assert_array_equal(run.outputs["y"], wanted)
    predicted = sum(layer.report.predicted for layer in run.layers)
    assert predicted == pytest.approx(sum(layer.cycles for layer in run.layers), rel=0.2)


def test_an_estimate_counts_the_products_of_all_samples():
    one, four = (macaw.estimate(two_layers(), device="tiny", batch=n) for n in (1, 4))
    for single, several in zip(one.layers, four.layers, strict=True):
        assert several.macs == 4 * single.macs
    assert one.cycles < four.cycles < 4 * one.cycles  # weights are loaded once


def test_a_batch_that_onnx_cannot_count():
    for make in (macaw.estimate, macaw.compile):
        with pytest.raises(macaw.InputError, match=r"^a batch of more than 9,223"):
            make(two_layers(), device="tiny", batch=2**63)


def test_the_command(tmp_path):
    onnx.save(two_layers(), tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", images(2))
    words = ("compile", "m.onnx", "-o", "net", "--batch", "2", "--device", "tiny")
    assert run_here(words, tmp_path).returncode == 0
    result = run_here(("run", "net", "-i", "x=x.npy", "--layers"), tmp_path)
    assert result.returncode == 0
    assert "2 of 2 layers equal" in result.stdout


@pytest.mark.parametrize("core", [None, "nnp"])
def test_a_batch_of_sequences_on_nnp(core):
    """A batch along the second axis of an LSTM gives the results of single samples."""
    rng = np.random.default_rng(1)
    nodes = [
        NODE("Transpose", ["x"], ["t"], "turn", perm=[1, 0, 2]),
        NODE("LSTM", ["t", "W", "R"], ["", "h"], "lstm", hidden_size=4),
        NODE("Squeeze", ["h", "first"], ["y"], "last"),
    ]
    constants = {"W": rng.normal(size=(1, 16, 6)) / 3, "R": rng.normal(size=(1, 16, 4)) / 3}
    constants = {name: array.astype(np.float32) for name, array in constants.items()}
    made = onnx_model(nodes, {"x": (1, 5, 6)}, {"y": ((1, 4), 1)}, **constants, first=np.array([0]))
    device = load("tiny").changed({"nnp.host_format": "fp32"})
    several = macaw.compile(made, device=device, core=core, batch=3)
    alone = macaw.compile(made, device=device, core=core)
    x = rng.normal(size=(3, 5, 6)).astype(np.float32)
    wanted = np.concatenate([alone.run(x=x[i : i + 1]).outputs["y"] for i in range(3)])
    np.testing.assert_array_equal(several.run(x=x).outputs["y"], wanted)
    straight = onnx_model(nodes[1:2], {"t": (1, 1, 6)}, {"h": ((1, 1, 4), 1)}, **constants)
    with pytest.raises(macaw.InputError) as error:
        macaw.compile(straight, device=device, core=core, batch=3)
    assert str(error.value).startswith("node lstm (LSTM): it mixes the 3 samples of a batch")


def real(nodes, shape, result, batch=3, dims=None, **constants) -> macaw.CompiledNetwork:
    made = onnx_model(nodes, {"x": shape}, result, **constants)
    network = macaw.compile(made, device="tiny", batch=batch, dims=dims)
    assert isinstance(network, macaw.CompiledNetwork)
    return network


def test_functions_of_real_numbers():
    nodes = [NODE("Softmax", ["x"], ["y"], "soft", axis=1)]
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    run = real(nodes, (1, 4), ["y"]).run(x=x)
    assert all(layer.equal for layer in run.layers)
    made = onnx_model(nodes, {"x": (3, 4)}, ["y"])
    (expected,) = ReferenceEvaluator(made).run(None, {"x": x})
    assert isinstance(expected, np.ndarray)
    np.testing.assert_allclose(run.outputs["y"], expected, atol=1e-6)


@pytest.mark.parametrize("keep", [0, 1])
def test_a_mean_over_the_images_of_a_batch(keep):
    """The mean over axis 0 has the elements in the model's order, also without this axis."""
    nodes = [NODE("Relu", ["x"], ["r"]), NODE("ReduceMean", ["r", "axes"], ["y"], keepdims=keep)]
    shape = (1, 3, 4, 5)[1 - keep :]
    made = onnx_model(nodes, {"x": (2, 3, 4, 5)}, {"y": (shape, 1)}, axes=np.array([0]))
    x = np.random.default_rng(2).normal(size=(4, 2, 3, 4, 5)).astype(np.float32)
    quantised = macaw.quantise(made, x, layers={"r": "int8", "y": "int8"})
    run = macaw.compile(quantised.model, device="tiny").run(x=x[0])
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    session = onnxruntime.InferenceSession(quantised.model.SerializeToString())
    (wanted,) = session.run(None, {"x": x[0]})
    np.testing.assert_array_equal(run.outputs["y"], wanted)


def test_a_mean_of_a_single_number():
    """A ReduceMean of a tensor without axes is its input, with the scale of the result."""
    nodes = [
        NODE("DequantizeLinear", ["x", "s"], ["a"]), NODE("ReduceMean", ["a"], ["b"]),
        NODE("QuantizeLinear", ["b", "t", "z"], ["y"]),
    ]  # fmt: skip
    constants = {"s": np.float32(0.5), "t": np.float32(0.25), "z": np.int8(0)}
    made = onnx_model(nodes, {"x": ((), 3)}, {"y": ((), 3)}, **constants)
    run = macaw.compile(made, device="tiny").run(x=np.int8(21))
    assert run.outputs["y"] == 42


@pytest.mark.parametrize(
    ("nodes", "constants", "text"),
    [
        ([NODE("Softmax", ["x"], ["y"], "a", axis=0)], {}, "it is over axis 0"),
        ([NODE("Concat", ["x", "x"], ["y"], "a", axis=0)], {}, "its result y has the shape (6, 4)"),
        (
            [NODE("Reshape", ["x", "s"], ["y"], "a")],
            {"s": np.array([4, 1])},
            "its result y has the shape (4, 1)",
        ),
    ],
)
def test_a_node_that_mixes_samples_is_refused(nodes, constants, text):
    with pytest.raises(macaw.InputError) as caught:
        real(nodes, (1, 4), ["y"], **constants)
    operator = nodes[0].op_type
    message = f"node a ({operator}): it mixes the 3 samples of a batch: {text}"
    assert str(caught.value) == message
    assert caught.value.hint == "a model of one sample, and one run for each sample"


@pytest.mark.parametrize("operator", ["MatMul", "Add"])
def test_batches_along_different_axes_are_refused(operator):
    """The batch of z would belong to the channels of x if there are as many as samples."""
    node = NODE(operator, ["x", "z"], ["y"], "a")
    made = onnx_model([node], {"x": (1, 3, 4, 4), "z": (1, 4, 4)}, ["y"])
    text = f"node a ({operator}): it mixes the 3 samples of a batch: its inputs have their batches"
    with pytest.raises(macaw.InputError, match=re.escape(text)):
        macaw.compile(made, batch=3)


@pytest.mark.parametrize(
    ("node", "constants", "shape", "version", "text"),
    [
        (
            NODE("Slice", ["x", "c", "d", "e", "f"], ["y"], "a"),
            {"c": [-1], "d": [-9], "e": [-2], "f": [-1]},
            (1, 4),
            21,
            "it reverses axis 0",
        ),
        (NODE("Softmax", ["t"], ["y"], "a", axis=0), {}, (1, 4), 11, "it is over axis 0"),
        (NODE("LogSoftmax", ["t"], ["y"], "a"), {}, (1, 4, 2), 12, "it is over axis 1"),
        (
            NODE("Expand", ["x", "c"], ["y"], "a"),
            {"c": [1, 3, 4]},
            (1, 4),
            21,
            "its result y has the shape (3, 3, 4)",
        ),
    ],
)
def test_samples_that_change_places_are_refused(node, constants, shape, version, text):
    """Nodes whose results have the shape of a batch, but mix its samples, are refused."""
    turned = NODE("Transpose", ["x"], ["t"], perm=[*range(1, len(shape)), 0])
    arrays = {name: np.array(numbers) for name, numbers in constants.items()}
    made = onnx_model([turned, node], {"x": shape}, ["y"], version, **arrays)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(made, batch=3)
    message = f"node a ({node.op_type}): it mixes the 3 samples of a batch: {text}"
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("node", "constant"),
    [
        (NODE("Concat", ["x", "c"], ["y"], "a", axis=1), np.ones((1, 2), np.float32)),
        (NODE("Squeeze", ["x", "c"], ["y"], "a"), np.array([0])),
        (NODE("Add", ["x", "c"], ["y"], "a"), np.ones((2, 4), np.float32)),
    ],
)
def test_a_node_for_one_sample_is_refused(node, constant):
    """The message has no text of ONNX's rules, which name no batch."""
    with pytest.raises(macaw.InputError) as caught:
        real([node], (1, 4), ["y"], c=constant)
    message = f"node a ({node.op_type}): it can compute one sample, but no batch of 3"
    assert str(caught.value) == message
    assert caught.value.hint == "a model of one sample, and one run for each sample"


def test_inputs_without_a_batch_are_refused():
    nodes = [NODE("Relu", ["x"], ["y"], "a")]
    with pytest.raises(macaw.InputError, match="the input x has no batch of 3: its shape is 2×4"):
        real(nodes, (2, 4), ["y"])
    with pytest.raises(macaw.InputError, match="a batch of 3, and its dimension b is 5"):
        real(nodes, ("b", 4), ["y"], dims={"b": 5})


def test_a_batch_of_one_has_its_size_in_the_model():
    """With a batch of one, the named dimension is 1, and the caller sets the other dimensions."""
    x = {"x": ("N", 3, "L")}
    net = onnx_model([NODE("Relu", ["x"], ["y"])], x, {"y": (("N", 3, "L"), 1)})
    one, rest = with_batch(net, 1, {"L": 5})
    dims = one.graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_value, dims[2].dim_param, rest) == (1, "L", {"L": 5})
