"""Layers of mixed networks run on fim islands if the user names them, all others on other cores."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import onnx.reference
import onnxruntime
import pytest

import macaw
from macaw.isa.config import load
from macaw.isa.fim_circuit import DOT, OUTER
from macaw.lowering.net.network import IslandLayer
from macaw.networks.report import records
from tests.lowering.net.models import ModelBuilder
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once

# A row of one cluster: fewer plans to compare, and no layer on islands needs the array.
ONE_CLUSTER = {"pe.rows": 1, "pe.clusters": 1}
TINY = load("tiny").changed(ONE_CLUSTER)
BASE = load("base").changed(ONE_CLUSTER)


def attention_model(seed=0, channels=8, side=6, batch=1):
    """Convolutions make Q, K and V of an image; softmax(Q Kᵀ) V becomes an image again."""
    builder = ModelBuilder(seed, (batch, 3, side, side))
    builder.conv("stem", channels, 3, padding=1)
    start, shape, scale = builder.value, builder.shape, builder.scale
    rows = builder.constant("rows", np.array([batch, channels, side * side]))
    image = builder.constant("image_shape", np.array(shape))
    names = {}
    for name in "qkv":
        builder.value, builder.shape, builder.scale = start, shape, scale
        builder.conv(name, channels, 1, relu=False, scale=2.0**-5)
        names[name] = builder.node("Reshape", [builder.value, rows], f"{name}_rows")
    turned = [
        builder.node("Transpose", [names[name]], f"{name}_turned", perm=[0, 2, 1]) for name in "qv"
    ]
    scores = builder.node("MatMul", [turned[0], names["k"]], "scores")
    soft = builder.node("Softmax", [scores], "soft", axis=-1)
    mixed = builder.node("MatMul", [soft, turned[1]], "mixed")
    back = builder.node("Transpose", [mixed], "back", perm=[0, 2, 1])
    builder.value = builder.node("Reshape", [back, image], "image")
    builder.shape = shape
    builder.quantise("image", 2.0**-5)
    builder.conv("last", 4, 1)
    return builder.model()


def sample(shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture(scope="module")
def attention():
    """A network with both products on islands, its run, and its input."""
    network = macaw.compile(
        attention_model(side=4), device=BASE, islands=["MatMul"], name="attention"
    )
    x = sample((1, 3, 4, 4))
    return network, network.run(x=x), x


def test_array_vc_and_islands_compute_one_network(attention):
    network, run, x = attention
    cores = {layer.name: layer.core for layer in network.layers}
    assert cores["/scores/MatMul"] == cores["/mixed/MatMul"] == "fim"
    assert cores["/soft/Softmax"] == "vc"
    assert cores["/q/Conv"] == "pe"
    assert all(result.equal for result in run.layers)
    (answer,) = onnx.reference.ReferenceEvaluator(network.model).run(None, {"x": x})
    wanted = np.asarray(answer)
    np.testing.assert_allclose(run.outputs["y"], wanted, atol=2.0**-4)  # a step of its integers
    assert np.mean(run.outputs["y"] != wanted) < 0.05
    assert 0.1 < run.busy["fim"] < 0.5


def test_a_result_in_another_order_is_not_equal(attention):
    """A layer is not equal if the definition adds in the order of another layout."""
    network, _, x = attention
    parts = {
        name: tuple(replace(part, layout=OUTER if part.layout == DOT else DOT) for part in row)
        for name, row in network.islands.parts.items()
    }
    other = replace(network, islands=replace(network.islands, parts=parts))
    equal = {layer.report.name: layer.equal for layer in other.run(x=x).layers}
    assert equal["/stem/Conv"]
    assert equal["v_turned"]
    assert not equal["/mixed/MatMul"]


def products_model():
    """The two products of an attention of 36 positions and 8 channels, without the other layers."""
    builder = ModelBuilder(0, (1, 36, 8))
    left = builder.node("Tanh", [builder.value], "tanh")
    turned = builder.node("Transpose", [left], "turned", perm=[0, 2, 1])
    scores = builder.node("MatMul", [left, turned], "scores")
    builder.value = builder.node("MatMul", [scores, left], "mixed")
    return builder.model()


def results_on_islands(device, name):
    """The results of the products that `name` calls, on islands of the device."""
    network = macaw.compile(products_model(), device=device, islands=[name])
    run = network.run(x=sample((1, 36, 8)))
    return [result for result in run.layers if result.report.core == "fim"]


def test_predictions_of_layers_on_islands():
    """Predictions are near the cycles; bytes and products are those of the tensors."""
    results = results_on_islands(BASE, "MatMul")
    assert len(results) == 2
    for result in results:
        assert result.cycles == pytest.approx(result.report.predicted, rel=0.02)
        assert result.report.macs == 36 * 36 * 8
        assert result.report.external_bytes == 4 * (2 * 36 * 8 + 36 * 36)
        # 16 banks; 16 lanes of islands 0 and 1, 8 lanes of island 3; the dma moves 32 bytes a cycle
        assert result.report.bound == max(-(-36 * 36 * 8 // (16 * 40)), 7488 // 32)
        assert result.report.operator == "matmul"
        assert result.report.limiter == "dma"


@pytest.mark.parametrize("costs", [(8, 2), (1, 20)])
def test_predictions_with_other_costs_of_cp(costs):
    alu, jump = costs
    device = BASE.changed({"cp.alu_cycles": alu, "cp.branch_taken_cycles": jump})
    (layer,) = results_on_islands(device, "/scores/MatMul")
    assert layer.cycles == layer.report.predicted


def test_engines_agree(attention):
    network, run, x = attention
    other = network.run(x=x, engine="reference")
    assert other.cycles == run.cycles
    assert all(np.array_equal(other.tensors[name], y) for name, y in run.tensors.items())


def test_a_folder_runs_like_the_network(attention, tmp_path):
    """net.json has the layers for islands and the order of their sums, so a run plans nothing."""
    network, run, x = attention
    network.write(tmp_path / "net")
    again = macaw.load_network(tmp_path / "net")
    assert isinstance(again, macaw.CompiledNetwork)
    assert records(again) == records(network)
    assert again.islands == network.islands
    found = again.run(x=x)
    assert all(result.equal for result in found.layers)
    np.testing.assert_array_equal(found.outputs["y"], run.outputs["y"])
    assert all("_answer" not in vars(layer.product) for layer in again.network.layers
               if hasattr(layer, "product"))  # fmt: skip
    text = (tmp_path / "net" / "scores_MatMul.s").read_text()
    assert text.startswith("# scores_MatMul.s - matmul 16×8 by 8×16: island ")
    file = tmp_path / "net" / "net.json"
    description = json.loads(file.read_text())
    del description["islands"]["parts"]
    file.write_text(json.dumps(description))
    with pytest.raises(macaw.InputError, match=r"net\.json is no description of a network"):
        macaw.load_network(tmp_path / "net")


def test_zeros_are_counted_with_layers_on_islands():
    """With samples, `estimate` predicts the same as `compile` for each layer, also on islands."""
    model, data = attention_model(side=4), sample((2, 1, 3, 4, 4))
    network = macaw.compile(model, device=TINY, islands=["/scores/MatMul"], data=data)
    assert [layer.core for layer in network.layers].count("fim") == 1
    predicted = macaw.estimate(model, device=TINY, islands=["/scores/MatMul"], data=data)
    assert predicted.layers == network.layers


def test_without_names_no_layer_is_on_islands():
    network = macaw.compile(integer_product().model(), device=TINY)
    assert "fim" not in {layer.core for layer in network.layers}
    assert network.islands.names == ()


PRODUCTS = [  # shapes of both factors, and the number of products
    ((1, 3, 4, 5), (1, 3, 5, 6), 3),
    ((1, 3, 4, 5), (5, 2), 1),
    ((1, 1, 4, 5), (1, 3, 5, 2), 3),
    ((3, 4, 5), (5, 6), 1),
    ((4, 5), (3, 5, 2), 3),
    ((2, 1, 3, 5), (2, 2, 5, 7), 4),
    ((1, 1, 1), (1, 1), 1),
]


@pytest.mark.parametrize(("a", "b", "count"), PRODUCTS)
def test_products_of_stacks_of_matrices(a, b, count):
    """Products of stacks of matrices are exact, also with repeated and constant matrices."""
    builder = ModelBuilder(0, (1, *a))
    left = builder.node("Sigmoid", [builder.value], "sigmoid")
    left = builder.node("Reshape", [left, builder.constant("a", np.array(a))], "first")
    second = builder.constant("second", builder.rng.normal(size=b).astype(np.float32))
    builder.value = builder.node("MatMul", [left, second], "product")
    builder.shape = np.matmul(np.zeros(a), np.zeros(b)).shape
    network = macaw.compile(builder.model(), device=TINY, islands=["/product/MatMul", "MatMul"])
    x = sample((1, *a))
    run = network.run(x=x)
    assert all(layer.equal for layer in run.layers)
    assert [layer.report.core for layer in run.layers].count("fim") == 1
    (wanted,) = onnxruntime.InferenceSession(network.model).run(None, {"x": x})
    np.testing.assert_allclose(run.outputs["y"], wanted, rtol=1e-5, atol=1e-6)
    (layer,) = (x for x in network.network.layers if hasattr(x, "product"))
    assert len(layer.product.graph.tasks) == count


def integer_product() -> ModelBuilder:
    """A model of the product of a tensor of integers and its transpose, quantised again."""
    builder = ModelBuilder(0, (1, 2, 4, 6))
    first = builder.value
    builder.value = builder.node("Transpose", [first], "turned", perm=[0, 1, 3, 2])
    builder.quantise("turned", builder.scale)
    builder.value = builder.node("MatMul", [first, builder.value], "product")
    builder.shape = (1, 2, 4, 4)
    builder.quantise("product", 2.0**-1)
    return builder


def test_products_of_integers_are_the_same_on_islands_and_on_vc():
    """Islands and vc give equal products of integers, because binary32 holds their sums exactly."""
    model, x = integer_product().model(), sample((1, 2, 4, 6))
    runs = [
        macaw.compile(model, device=TINY, islands=names).run(x=x) for names in ((), ("MatMul",))
    ]
    cores = [{layer.report.core for layer in run.layers} for run in runs]
    assert ["fim" in found for found in cores] == [False, True]
    assert all(layer.equal for run in runs for layer in run.layers)
    np.testing.assert_array_equal(runs[0].outputs["y"], runs[1].outputs["y"])


def test_batches():
    """Each sample of a batch has its own product; the user may name one of two layers."""
    network = macaw.compile(attention_model(batch=2, side=4), device=TINY,
                            islands=["/mixed/MatMul"])  # fmt: skip
    run = network.run(x=sample((2, 3, 4, 4)))
    assert all(layer.equal for layer in run.layers)
    found = {layer.report.name: layer.report.core for layer in run.layers}
    assert (found["/scores/MatMul"], found["/mixed/MatMul"]) == ("vc", "fim")


def test_a_bias_and_a_limit_stay_on_vc():
    builder = ModelBuilder(0, (2, 3, 4))
    weights = builder.constant("w", builder.rng.normal(size=(4, 5)).astype(np.float32))
    start = builder.node("Sigmoid", [builder.value], "sigmoid")
    builder.value = builder.node("MatMul", [start, weights], "product")
    bias = builder.constant("b", builder.rng.normal(size=5).astype(np.float32))
    builder.value = builder.node("Add", [builder.value, bias], "sum")
    builder.value = builder.node("Relu", [builder.value], "relu")
    builder.shape = (2, 3, 5)
    network = macaw.compile(builder.model(), device=TINY, islands=["MatMul"])
    run = network.run(x=sample((2, 3, 4)))
    assert [layer.report.core for layer in run.layers][-3:] == ["fim", "vc", "vc"]
    assert all(layer.equal for layer in run.layers)


@pytest.mark.parametrize("name", ["fim_b0", "fim_blocks0", "a", "copies"])
def test_a_tensor_may_have_the_name_of_a_label_of_the_layers_source(name):
    """Tensors and layers of the model may have the names of labels in the source of the layer."""
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4, 4])
    nodes = [
        onnx.helper.make_node("Tanh", ["x"], [name], "tanh"),
        onnx.helper.make_node("Transpose", [name], ["turned"], "turn"),
        onnx.helper.make_node("MatMul", [name, "turned"], ["y"], name),
    ]
    graph = onnx.helper.make_graph(nodes, "test", [x], [y])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    made.ir_version = 10
    network = macaw.compile(made, device=TINY, islands=["MatMul"])
    assert all(layer.equal for layer in network.run(x=sample((4, 3))).layers)


def test_layers_share_the_instructions_of_islands():
    """Two layers on an island of 800 words get plans of at most 400 words each.

    On an island of 4,096 words, the plans have 497 and 995 words.
    """
    device = TINY.changed({"fim.instructions": 800})
    network = macaw.compile(products_model(), device=device, islands=["MatMul"])
    assert all(layer.equal for layer in network.run(x=sample((1, 36, 8))).layers)
    for layer in network.assignment.network.layers:
        if isinstance(layer, IslandLayer):
            assert sum(step.option.job.words for step in layer.product.plan.steps) <= 400


CHOICES = "islands can compute /scores/MatMul, /mixed/MatMul"
REFUSALS = [  # islands, settings, message, hint
    (
        ["/scores/MatMul"], {"fim.island.0.formats": "fp16"},
        "node /scores/MatMul (MatMul): it computes real numbers in binary32, and no island has fp32",
        "add fp32 to fim.island.N.formats",
    ),
    (
        ["MatMul"], {"fim.island.0.functions": "add relu"},
        "node /scores/MatMul (MatMul): nothing can do c = a · b (36 x 8 x 36)",
        "island 0 has no mul, but add, relu; island 1 has no fp32, but fp16; island 1 has no"
        " arrangement outer, but elementwise, dot; island 1 has no arrangement tensor, but"
        " elementwise, dot",
    ),
    (
        ["MatMul"], {"mem.local_bytes": 1 << 17},
        "node /scores/MatMul (MatMul): copies go through 144256 bytes of cp's local memory,"
        " mem.local_bytes is 131072",
        "",
    ),
    (["Attention"], {}, "no layer and no operator is called 'Attention'", CHOICES),
    (
        ["/q/Conv"], {},
        "node /q/Conv (Conv): beside other cores, islands compute only products of two tensors",
        CHOICES,
    ),
    (
        ["MatMul", "Softmax"], {},
        "node /soft/Softmax (Softmax): beside other cores, islands compute only products of two"
        " tensors",
        CHOICES,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("names", "settings", "message", "hint"), REFUSALS)
def test_refusals(names, settings, message, hint):
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(attention_model(), device=TINY.changed(settings), islands=names)
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_an_estimate_lists_what_islands_refuse():
    """The estimate lists a refused product as a node; a wrong name is an error."""
    device = TINY.changed({"fim.island.0.formats": "fp16"})
    found = macaw.estimate(attention_model(side=4), device=device, islands=["/scores/MatMul"])
    assert [x.name for x in found.refusals] == ["/scores/MatMul"]
    with pytest.raises(macaw.InputError, match="no layer and no operator is called 'Attention'"):
        macaw.estimate(attention_model(side=4), device=device, islands=["Attention"])


def test_a_product_of_too_many_matrices_is_refused():
    builder = ModelBuilder(0, (1, 65, 1, 2))
    turned = builder.node("Transpose", [builder.value], "turned", perm=[0, 1, 3, 2])
    builder.value = builder.node(
        "MatMul", [builder.node("Tanh", [builder.value], "t"), turned], "p"
    )
    builder.shape = (1, 65, 1, 1)
    with pytest.raises(macaw.InputError, match=r"\(MatMul\): islands would compute 65 products"):
        macaw.compile(builder.model(), device=TINY, islands=["MatMul"])


def test_another_core_has_no_layers_on_islands():
    with pytest.raises(macaw.InputError, match="nnp computes the whole network: `islands` is for"):
        macaw.compile(attention_model(), device=TINY, islands=["MatMul"], core="nnp")


def test_profile_and_debugger_name_layers_on_islands(attention, tmp_path):
    """`macaw profile` counts the islands in a layer's cycles; `break` stops at a layer's start."""
    network, run, x = attention
    network.write(tmp_path / "net")
    np.save(tmp_path / "x.npy", x)
    done = run_here(("profile", "net", "-i", "x=x.npy", "--layers"), tmp_path)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("/")]
    rows = {line[0]: line for line in lines}
    cycles = {result.report.name: result.cycles for result in run.layers}
    assert rows["/scores/MatMul"][1] == f"{cycles['/scores/MatMul']:,}"
    assert float(rows["/scores/MatMul"][-1].rstrip("%")) > 5  # of the islands
    assert rows["/soft/Softmax"][-1] == "0.0%"
    script = ("-e", 'break "/scores/MatMul"', "-e", "continue", "-e", "info layers scores")
    done = run_here(("debug", "net", "-i", "x=x.npy", "--batch", *script), tmp_path)
    assert ", layer /scores/MatMul" in done.stdout
    assert re.search(r"> +/scores/MatMul +scores_MatMul +matmul +fim +running", done.stdout)
