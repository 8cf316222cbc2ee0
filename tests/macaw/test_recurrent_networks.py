"""Recurrent layers of mixed networks run on nnp, all other layers on other cores."""

from __future__ import annotations

import re

import numpy as np
import onnx.reference
import pytest
from onnx import TensorProto, helper

import macaw
from macaw.networks.report import records
from tests.lowering.nnp.random_models import Draft
from tests.lowering.nnp.running import in_binary64, inputs_of
from tests.lowering.onnx.models import NODE
from tests.macaw.recurrent_models import DEVICES, model, recurrent_model

pytestmark = pytest.mark.once

PARTS = frozenset(("nnp", "vc"))


def sound_model(seed: int = 0) -> tuple[onnx.ModelProto, np.ndarray]:
    """A convolution, an LSTM over its columns and a product; and samples of the input."""
    random = np.random.default_rng(seed)
    rows, columns, channels, hidden = 8, 5, 4, 24
    nodes = [
        NODE("Conv", ["image", "k", "kb"], ["c"], "conv", pads=[1, 1, 1, 1]),
        NODE("Relu", ["c"], ["a"], "relu"),
        NODE("Reshape", ["a", "flat"], ["rows"], "rows"),
        NODE("Transpose", ["rows"], ["x"], "turn", perm=[2, 0, 1]),
        NODE("LSTM", ["x", "W", "R", "B"], ["", "h"], "lstm", hidden_size=hidden),
        NODE("Squeeze", ["h", "first"], ["last"], "last"),
        NODE("Gemm", ["last", "G", "gb"], ["classes"], "classes", transB=1),
    ]
    shapes = {
        "k": (channels, 1, 3, 3), "kb": (channels,), "W": (1, 4 * hidden, channels * rows),
        "R": (1, 4 * hidden, hidden), "B": (1, 8 * hidden), "G": (5, hidden), "gb": (5,),
    }  # fmt: skip
    constants = {
        name: (random.normal(size=shape) / 4).astype(np.float32) for name, shape in shapes.items()
    }
    constants |= {"flat": np.array([1, channels * rows, columns]), "first": np.array([0])}
    image = (1, 1, rows, columns)
    made = model(nodes, {"image": image}, {"classes": (1, 5)}, constants)
    return made, random.normal(size=(8, *image)).astype(np.float32)


@pytest.fixture(scope="module")
def sound():
    made, samples = sound_model()
    quantised = macaw.quantise(made, samples).model
    network = macaw.compile(quantised, device=DEVICES["base"], name="sound")
    return network, network.run(image=samples[0]), quantised, samples[0]


def test_array_and_nnp_compute_one_network(sound):
    network, run, quantised, image = sound
    cores = {layer.name: layer.core for layer in network.layers}
    assert cores["conv"] == cores["classes"] == "pe"
    assert cores["lstm"] == "nnp"
    assert all(result.equal for result in run.layers)
    (answer,) = onnx.reference.ReferenceEvaluator(quantised).run(None, {"image": image})
    expected = np.asarray(answer)
    np.testing.assert_allclose(run.outputs["classes"], expected, atol=0.04 * np.abs(expected).max())
    assert 0.2 < run.busy["nnp"] < 0.8


def test_prediction_of_a_layer_on_nnp(sound):
    _, run, _, _ = sound
    (result,) = (item for item in run.layers if item.report.core == "nnp")
    assert result.cycles == pytest.approx(result.report.predicted, abs=1)
    assert result.report.limiter == "nnp"
    # 5 steps of 4 gates: 24 × 32 weights for the input, 24 × 24 for the state
    assert result.report.macs == 5 * 4 * (24 * 32 + 24 * 24)
    # at least a vector for each step, of 32 numbers of 4 bytes, in and one out
    assert result.report.bound == max(-(-result.report.macs // (4 * 8 * 32)), 6 * 32 * 4 // 32)


def test_engines_agree(sound):
    network, run, _, image = sound
    other = network.run(image=image, engine="reference")
    assert other.cycles == run.cycles
    assert all(np.array_equal(other.tensors[name], x) for name, x in run.tensors.items())


def test_a_folder_runs_like_the_network(sound, tmp_path):
    network, run, _, image = sound
    network.write(tmp_path / "net")
    again = macaw.load_network(tmp_path / "net")
    assert isinstance(again, macaw.CompiledNetwork)
    assert records(again) == records(network)
    np.testing.assert_array_equal(again.run(image=image).outputs["classes"], run.outputs["classes"])
    text = (tmp_path / "net" / "lstm.s").read_text()
    assert "# lstm.s - LSTM on nnp: 5 to 1 native vectors of 32." in text


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(i, marks=pytest.mark.long) for i in range(6, 100))])  # fmt: skip
def test_random_recurrent_layers(seed):
    random = np.random.default_rng(seed)
    made = recurrent_model(random)
    inputs = inputs_of(made, random)
    network = macaw.compile(made, device=DEVICES["tiny" if seed % 2 else "base"])
    run = network.run(inputs)
    assert all(result.equal for result in run.layers)
    assert {layer.core for layer in network.layers} == PARTS
    for result in run.layers:
        if result.report.core == "nnp":
            assert result.cycles == pytest.approx(result.report.predicted, abs=1)
    for name, wide in in_binary64(made, inputs).items():
        np.testing.assert_allclose(
            run.outputs[name], wide, atol=0.02 * max(0.1, np.abs(wide).max())
        )


def test_two_layers_share_nnp():
    """Two layers run on nnp one after the other, though the first leaves values in registers."""
    random = np.random.default_rng(5)
    draft = Draft(random)
    draft.shape, draft.value = (7, 2, 5), draft.input(7, 2, 5)
    draft.recurrent()
    draft.put("Tanh", [draft.value], draft.shape)
    draft.recurrent()
    made = model(draft.nodes, draft.inputs, {draft.value: draft.shape}, draft.constants)
    inputs = inputs_of(made, random)
    run = macaw.compile(made, device=DEVICES["tiny"]).run(inputs)
    assert [result.report.core for result in run.layers].count("nnp") == 2
    assert all(result.equal for result in run.layers)


def refusal(nodes, inputs, outputs, constants, device=DEVICES["tiny"]):
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(model(nodes, inputs, outputs, constants), device=device)
    return str(caught.value), caught.value.hint


def weights(gates, inputs=3, hidden=2):
    zeros = np.zeros((1, gates * hidden, 1), np.float32)
    return {"W": zeros.repeat(inputs, 2), "R": zeros.repeat(hidden, 2)}


def test_host_format_of_other_cores():
    nodes = [NODE("GRU", ["x", "W", "R"], ["", "h"], "cell", hidden_size=2)]
    answer = refusal(nodes, {"x": (4, 1, 3)}, {"h": (1, 1, 2)}, weights(3), "tiny")
    assert answer == (
        "node cell (GRU): nnp computes it, and nnp has fp16 between its chains; the other cores"
        " have binary32",
        'nnp.host_format = "fp32"',
    )


def test_refused_modes_name_the_node():
    nodes = [NODE("GRU", ["x", "W", "R"], ["", "h"], "cell", hidden_size=2, clip=1.0)]
    text, _ = refusal(nodes, {"x": (4, 1, 3)}, {"h": (1, 1, 2)}, weights(3))
    assert text == "node cell (GRU): clip is not supported"


def test_a_function_of_a_result_of_several_steps():
    """A function's input may be Y, the result of all steps of an RNN, with shape (4, 1, 1, 2)."""
    nodes = [
        NODE("RNN", ["x", "W", "R"], ["y"], "cell", hidden_size=2),
        NODE("Tanh", ["y"], ["z"], "function"),
    ]
    made = model(nodes, {"x": (4, 1, 3)}, {"y": (4, 1, 1, 2), "z": (4, 1, 1, 2)}, weights(1))
    x = np.random.default_rng(3).normal(size=(4, 1, 3)).astype(np.float32)
    run = macaw.compile(made, device=DEVICES["tiny"]).run(x=x)
    assert all(layer.equal for layer in run.layers)
    np.testing.assert_allclose(np.tanh(run.outputs["y"]), run.outputs["z"], atol=1e-6)


def test_inputs_of_other_types():
    nodes = [NODE("RNN", ["x", "W", "R"], ["", "h"], "cell", hidden_size=2)]
    constants = {name: array.astype(np.float16) for name, array in weights(1).items()}
    shapes = {"x": (4, 1, 3)}
    made = model(nodes, shapes, {"h": (1, 1, 2)}, constants)
    for row in (*made.graph.input, *made.graph.output):
        row.type.tensor_type.elem_type = TensorProto.FLOAT16
    with pytest.raises(macaw.InputError, match=r"node cell \(RNN\): its input x is of float16"):
        macaw.compile(made, device=DEVICES["tiny"])


def test_unused_results_alone_on_nnp():
    """With `--core nnp`, a recurrent node may leave out its result Y."""
    nodes = [NODE("RNN", ["x", "W", "R"], ["", "h"], "cell", hidden_size=2)]
    made = model(nodes, {"x": (4, 1, 3)}, {"h": (1, 1, 2)}, weights(1))
    assert macaw.compile(made, device="tiny", core="nnp").layers[0].steps == 4


def test_tensors_called_like_views_of_layers():
    """Tensors of the model may have the names x and y, which sources of layers use for views."""
    nodes = [
        helper.make_node("Tanh", ["input"], ["x"], name="one"),
        helper.make_node("RNN", ["x", "W", "R"], ["", "y"], name="cell", hidden_size=2),
        helper.make_node("Sigmoid", ["y"], ["z"], name="two"),
    ]
    made = model(nodes, {"input": (4, 1, 3)}, {"z": (1, 1, 2)}, weights(1))
    random = np.random.default_rng(0)
    run = macaw.compile(made, device=DEVICES["tiny"]).run(inputs_of(made, random))
    assert all(result.equal for result in run.layers)


@pytest.mark.parametrize("name", ["vectors", "matrices", "nnp_data"])
def test_a_tensor_may_have_the_name_of_a_label_of_the_layers_source(name):
    """A tensor may have the name of a label in the layer's source.

    The input has whole native vectors, so the layer reads it without a copy.
    """
    nodes = [
        NODE("Tanh", ["t"], [name], "tanh"),
        NODE("LSTM", [name, "W", "R"], ["", "h"], "lstm", hidden_size=32),
    ]
    random = np.random.default_rng(1)
    constants = {x: random.normal(size=(1, 128, 32)).astype(np.float32) / 8 for x in "WR"}
    made = model(nodes, {"t": (1, 1, 32)}, {"h": (1, 1, 32)}, constants)
    network = macaw.compile(made, device=DEVICES["base"])
    assert all(item.equal for item in network.run(t=np.ones((1, 1, 32), np.float32)).layers)


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ({"W": (1, 20, 3)}, "W has the shape (1, 20, 3), not (1, 20, 4)"),
        ({"R": (1, 16, 5)}, "R has the shape (1, 16, 5), not (1, 20, 5)"),
        ({"B": (1, 20)}, "B has the shape (1, 20), not (1, 40)"),
    ],
)
def test_weights_of_another_shape_are_refused(shapes, text):
    nodes = [NODE("LSTM", ["x", "W", "R", "B"], ["", "h"], "lstm", hidden_size=5)]
    usual = {"W": (1, 20, 4), "R": (1, 20, 5), "B": (1, 40)}
    constants = {name: np.ones(shape, np.float32) for name, shape in (usual | shapes).items()}
    made = model(nodes, {"x": (2, 1, 4)}, {"h": (1, 1, 5)}, constants)
    with pytest.raises(macaw.InputError, match=re.escape(text)):
        macaw.compile(made, device=DEVICES["tiny"])


@pytest.mark.parametrize("name", ["y", "result"])
def test_a_node_without_a_name_may_have_a_result_called_like_a_label(name):
    """A node without a name may have a result with the name of a label.

    The layer gets another symbol, which no tensor in its source has.
    """
    nodes = [
        NODE("LSTM", ["x", "W", "R"], [name, "h"], hidden_size=5),
        NODE("Squeeze", [name, "axis"], ["z"], "squeeze"),
    ]
    random = np.random.default_rng(1)
    constants = {"W": random.normal(size=(1, 20, 3)), "R": random.normal(size=(1, 20, 5))}
    constants = {key: array.astype(np.float32) for key, array in constants.items()}
    outputs = {"h": (1, 1, 5), "z": (3, 1, 5)}
    made = model(nodes, {"x": (3, 1, 3)}, outputs, constants | {"axis": np.array([1])})
    network = macaw.compile(made, device=DEVICES["tiny"])
    assert all(item.equal for item in network.run(x=np.ones((3, 1, 3), np.float32)).layers)
