"""Layers on islands share memories; `compile` refuses layers that do not fit, with the reason."""

from __future__ import annotations

import json
import shutil

import numpy as np
import onnx
import pytest

import macaw
from macaw.isa.config import load
from macaw.lowering.fim.program import CODE, words_of_islands
from macaw.lowering.net.island_room import check_room
from macaw.lowering.net.network import IslandLayer
from tests.lowering.net.models import ModelBuilder

pytestmark = pytest.mark.once

BASE = load("base")


def chain(count: int, rows: int, matrices: int = 1, depth: int = 0) -> onnx.ModelProto:
    """A model that multiplies x by k, the product by k again, and so on: layers m0, m1, ..."""
    depth = depth or rows
    shapes = {"x": [matrices, rows, depth], "k": [matrices, depth, depth]}
    names = ["x", *(f"s{number}" for number in range(count - 1)), "y"]
    nodes = [
        onnx.helper.make_node("MatMul", [names[number], "k"], [names[number + 1]], f"m{number}")
        for number in range(count)
    ]
    inputs, (output,) = (
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
         for name, shape in row.items()]
        for row in (shapes, {"y": shapes["x"]})
    )  # fmt: skip
    graph = onnx.helper.make_graph(nodes, "chain", inputs, [output])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def refusal(model: onnx.ModelProto, settings: dict[str, int]) -> str:
    """The message with which `compile` refuses a model; the estimate must not be complete."""
    device = BASE.changed(settings)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(model, device=device, islands=["MatMul"])
    found = macaw.estimate(model, device=device, islands=["MatMul"])
    assert not found.is_complete
    assert found.problem in ("", str(caught.value))
    return str(caught.value)


def test_instructions_of_all_layers_are_summed():
    """The words of all layers are added up: three layers of 41 words fit 128 words, four do not."""
    device = BASE.changed({"fim.instructions": 128})
    network = macaw.compile(chain(3, 8), device=device, islands=["MatMul"])
    ones = np.ones((1, 8, 8), np.float32)
    assert all(layer.equal for layer in network.run(x=ones, k=ones).layers)
    assert refusal(chain(4, 8), {"fim.instructions": 128}) == (
        "layer m3 does not fit: the layers on islands have 164 words on island 1, fim.instructions"
        " is 128"
    )


def test_local_memory_of_all_layers_is_summed():
    room = 8 << 10
    message = refusal(chain(4, 16), {"mem.local_bytes": CODE + room})
    assert message == (
        "layer m2 does not fit: the layers on islands copy through 12,288 bytes of cp's local"
        " memory; beside cp's code, there is room for 8,192 (mem.local_bytes)"
    )


@pytest.mark.parametrize(("name", "rows", "matrices"), [("base", 20, 2), ("tiny", 7, 3)])
def test_words_of_a_plan_are_those_of_the_assembler(name, rows, matrices, tmp_path):
    network = macaw.compile(chain(2, rows, matrices), device=name, islands=["MatMul"])
    network.write(tmp_path)
    program = macaw.assemble(*(tmp_path / source for source in network.sources))
    found = {x.name: len(x.data) // 4 for x in program.sections if x.name.startswith(".fim.")}
    words: dict[str, int] = {}
    for layer in network.assignment.network.layers:
        assert isinstance(layer, IslandLayer)
        for island, count in words_of_islands(layer.product.plan).items():
            words[f".fim.{island}"] = words.get(f".fim.{island}", 0) + count
    assert words == found
    check_room(network.assignment.network, network.config)


def test_a_refusal_names_the_share_of_a_layer_and_the_whole():
    """A refusal names the words that one layer may have, here 200, and those of the island, 400."""
    message = refusal(chain(2, 8, 12), {"fim.instructions": 400})
    assert message == (
        "node m0 (MatMul): the 12 steps of island 1 have 756 words; each of the 2 layers on"
        " islands may have 200 of 400 (fim.instructions)"
    )


def test_an_estimate_with_samples_lists_what_islands_refuse():
    """With samples and without, an estimate lists a refused product once, with the reason."""
    model, device = chain(1, 8, 12), BASE.changed({"fim.instructions": 400})
    ones = np.ones((1, 12, 8, 8), np.float32)
    found = [
        macaw.estimate(model, device=device, islands=["m0"], data=data)
        for data in (None, {"x": ones, "k": ones})
    ]
    reason = "the 12 steps of island 1 have 756 words, fim.instructions is 400"
    assert [[(x.name, x.reason) for x in y.refusals] for y in found] == [[("m0", reason)]] * 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a network with two layers on islands, of two matrices each."""
    path = tmp_path_factory.mktemp("net")
    macaw.compile(chain(2, 8, 2), device=BASE, islands=["MatMul"]).write(path)
    return path


def _first(description, place, value):
    description["islands"]["parts"]["m0"][0][place] = value


DAMAGES = [  # what happens to net.json, a part of the message
    (lambda x: x.update(islands=[]), "list indices must be"),
    (lambda x: x["islands"].update(parts=[]), "the parts of layers on islands are no object"),
    (lambda x: x["islands"].update(parts={}), "islands are m0, m1, but there are parts of none"),
    (lambda x: x["islands"].update(names="MatMul"), "islands are no list of names"),
    (lambda x: x["islands"].update(names=["m0"]), "islands are m0, but there are parts of m0, m1"),
    (lambda x: x["islands"]["parts"].update(m0=[[1]]), "layer m0 on islands are no lists of 7"),
    (lambda x: _first(x, 0, 99), "the part [99, 0, 8, 0, 0, 8, 0] is not in the product of"),
    (lambda x: _first(x, 3, 5), "is not in the product of layer m0"),
    (lambda x: _first(x, 1, -1), "is not in the product of layer m0"),
    (lambda x: _first(x, 5, 9), "is not in the product of layer m0"),
    (lambda x: _first(x, 6, 9), "is not in the product of layer m0"),
    (lambda x: _first(x, 1, float("inf")), "the parts of layer m0 on islands are no lists"),
    (lambda x: x.update(layers=[1]), "has no attribute"),
    (lambda x: x.update(dims=[1]), "has no attribute"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_a_damaged_description_is_an_error_of_input(folder, tmp_path, damage, message):
    shutil.copytree(folder, tmp_path / "net")
    file = tmp_path / "net" / "net.json"
    description = json.loads(file.read_text())
    damage(description)
    file.write_text(json.dumps(description))
    with pytest.raises(macaw.InputError, match=r"net\.json is no description") as caught:
        macaw.load_network(tmp_path / "net")
    assert message in str(caught.value)


def test_a_node_inside_of_a_layer_is_named_with_its_layer():
    builder = ModelBuilder(0, (1, 3, 4, 4))
    builder.conv("stem", 4, 3)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device=BASE, islands=["/stem_relu/Relu"])
    assert str(caught.value) == "node /stem_relu/Relu is part of layer /stem/Conv"
    none = "the model has no MatMul of two tensors without constant weights of integers"
    assert caught.value.hint == none


@pytest.mark.parametrize(
    ("count", "hint"), [(2, "m0, m1"), (8, "m0, m1, m2, m3, m4, m5 and 2 more")]
)
def test_a_hint_lists_the_layers_that_islands_can_compute(count, hint):
    with pytest.raises(macaw.InputError, match="no layer and no operator is called 'mm'") as caught:
        macaw.compile(chain(count, 8), device=BASE, islands=["mm"])
    assert caught.value.hint == f"islands can compute {hint}"
