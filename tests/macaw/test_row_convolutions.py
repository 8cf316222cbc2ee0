"""Networks on sequences: convolutions, squares, concatenations; inputs that become constants."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

import macaw
from tests.lowering.onnx.models import NODE, model
from tests.macaw.command_runs import run_here

FLOAT = TensorProto.FLOAT


def sound_model(channels=3, length=11, outputs=5, kernel=3, **attributes) -> onnx.ModelProto:
    """A model of a convolution with a bias, a Relu, and the square of each element."""
    random = np.random.default_rng(1)
    group = attributes.get("group", 1)
    constants = {
        "w": random.normal(size=(outputs, channels // group, kernel)).astype(np.float32),
        "b": random.normal(size=outputs).astype(np.float32),
        "two": np.float32(2),
    }
    nodes = [
        NODE("Conv", ["x", "w", "b"], ["c"], "conv", **attributes),
        NODE("Relu", ["c"], ["r"], "relu"),
        NODE("Pow", ["r", "two"], ["y"], "square"),
    ]
    return model(nodes, {"x": (1, channels, length)}, ["y"], **constants)


def sound(made: onnx.ModelProto, seed: int = 0) -> np.ndarray:
    shape = [dim.dim_value for dim in made.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"pads": [1, 2]},
        {"strides": [2], "pads": [2, 0]},
        {"dilations": [2], "channels": 1, "length": 9, "outputs": 1},
        {"kernel": 1, "length": 1},
    ],
)
def test_real_numbers_on_vc(attributes):
    made = sound_model(**attributes)
    x = sound(made)
    network = macaw.compile(made, device="tiny")
    run = network.run(x=x)
    assert all(result.equal for result in run.layers)
    assert {layer.core for layer in network.layers} == {"vc"}
    assert "conv" in {layer.name for layer in network.layers}
    expected = np.asarray(next(iter(ReferenceEvaluator(made).run(None, {"x": x}))))
    np.testing.assert_allclose(run.outputs["y"], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(network.evaluate({"x": x})["y"], run.outputs["y"])


@pytest.mark.once
@pytest.mark.parametrize("attributes", [{}, {"pads": [1, 2], "strides": [2]}])
def test_integers_on_the_array(attributes):
    made = sound_model(**attributes)
    samples = np.stack([sound(made, seed) for seed in range(6)])
    quantised = macaw.quantise(made, samples, per_channel=True, scales="real").model
    network = macaw.compile(quantised, device="tiny")
    run = network.run(x=samples[0])
    assert all(result.equal for result in run.layers)
    assert {layer.name: layer.core for layer in network.layers}["conv"] == "pe"
    expected = np.asarray(next(iter(ReferenceEvaluator(made).run(None, {"x": samples[0]}))))
    np.testing.assert_allclose(run.outputs["y"], expected, atol=0.05 * expected.max())


def test_groups_are_refused():
    made = sound_model(channels=4, outputs=4, group=2)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(made, device="tiny")
    text = "node conv (Conv): a convolution over one dimension in 2 groups"
    assert (str(caught.value), caught.value.hint) == (text, "two dimensions")


def test_weights_that_are_computed_are_refused():
    nodes = [NODE("Conv", ["x", "w"], ["y"], "conv")]
    made = model(nodes, {"x": (1, 2, 8), "w": (3, 2, 3)}, ["y"])
    with pytest.raises(macaw.InputError, match=r"conv \(Conv\): its weights or biases are no cons"):
        macaw.compile(made, device="tiny")


def test_a_batch():
    rng = np.random.default_rng(2)
    constants = {"w": rng.normal(size=(3, 2, 3)).astype(np.float32)}
    made = model([NODE("Conv", ["x", "w"], ["y"], "conv")], {"x": (2, 2, 8)}, ["y"], **constants)
    x = rng.normal(size=(2, 2, 8)).astype(np.float32)
    run = macaw.compile(made, device="tiny").run(x=x)
    assert all(layer.equal for layer in run.layers)
    (expected,) = ReferenceEvaluator(made).run(None, {"x": x})
    assert isinstance(expected, np.ndarray)
    np.testing.assert_allclose(run.outputs["y"], expected, rtol=1e-5, atol=1e-6)


def scaled_model() -> onnx.ModelProto:
    """A model of two states, joined along the first axis and multiplied by the input `rate`."""
    nodes = [
        NODE("Concat", ["a", "b"], ["both"], "join", axis=0),
        NODE("Cast", ["rate"], ["factor"], "cast", to=FLOAT),
        NODE("Mul", ["both", "factor"], ["y"], "scale"),
    ]
    inputs = {"a": (1, 2, 4), "b": (2, 2, 4), "rate": ((), TensorProto.INT64)}
    return model(nodes, inputs, ["y"])


def test_a_constant_input_and_a_join_along_the_first_axis(tmp_path):
    network = macaw.compile(scaled_model(), device="tiny", constants={"rate": 3})
    a, b = np.ones((1, 2, 4), np.float32), np.full((2, 2, 4), 2, np.float32)
    np.testing.assert_array_equal(network.run(a=a, b=b).outputs["y"], np.concatenate([a, b]) * 3)
    network.write(tmp_path / "net")
    again = macaw.load_network(tmp_path / "net")
    assert isinstance(again, macaw.CompiledNetwork)
    np.testing.assert_array_equal(again.evaluate({"a": a, "b": b})["y"], np.concatenate([a, b]) * 3)


@pytest.mark.parametrize(
    ("constants", "text"),
    [
        ({"speed": 3}, "the model has no input 'speed'"),
        ({"rate": 0.5}, "the input rate: the constant is no int64"),
    ],
)
def test_constants_that_do_not_fit(constants, text):
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(scaled_model(), constants=constants)
    assert str(caught.value) == text


def test_the_option_constant(tmp_path):
    onnx.save(scaled_model(), tmp_path / "scaled.onnx")
    words = ["compile", "scaled.onnx", "-o", "net", "--device", "tiny", "--constant"]
    assert run_here([*words, "rate=3"], tmp_path).returncode == 0
    answer = run_here([*words, "rate"], tmp_path)
    assert answer.returncode == 2
    assert "--constant 'rate' is not of the form NAME=NUMBER" in answer.stderr


@pytest.mark.parametrize(
    ("constants", "text"),
    [
        ({"w": (4, 3, 3)}, "weights (4, 3, 3) in 1 groups for the image (1, 2, 8)"),
        ({"w": (4, 2, 3), "b": (3,)}, "its bias is not of shape (4,)"),
    ],
)
def test_constants_that_do_not_fit_are_refused(constants, text):
    arrays = {name: np.ones(shape, np.float32) for name, shape in constants.items()}
    nodes = [NODE("Conv", ["x", *arrays], ["y"], "conv")]
    made = model(nodes, {"x": (1, 2, 8)}, ["y"], **arrays)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(made, device="tiny")
    assert str(caught.value) == f"node conv (Conv): {text}"


def test_a_convolution_of_a_constant_is_refused():
    node = NODE("Conv", ["image", "x"], ["y"], "conv")
    made = model([node], {"x": (4, 2, 3)}, ["y"], image=np.ones((1, 2, 8), np.float32))
    with pytest.raises(macaw.InputError, match=r"^node conv \(Conv\): it computes real numbers"):
        macaw.compile(made, device="tiny")


def test_a_power_with_more_dimensions_is_no_square():
    nodes = [NODE("Pow", ["x", "two"], ["y"], "square")]
    made = model(nodes, {"x": (1, 11)}, ["y"], two=np.full((1, 1, 1), 2, np.float32))
    with pytest.raises(macaw.InputError, match="square"):
        macaw.compile(made, device="tiny")
