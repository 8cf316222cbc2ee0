"""Layers on islands share memories; what does not fit is refused, never found by the assembler."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import macaw
from macaw.isa.config import load
from macaw.lowering.fim.program import CODE, words_of_islands
from macaw.lowering.net.island_room import check_room
from macaw.lowering.net.network import IslandLayer

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
    """A layer gets at least 64 words; three layers of 41 words fit 128 words, four do not."""
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
    """The device has 400 words, of which each of two layers may have 200."""
    message = refusal(chain(2, 8, 12), {"fim.instructions": 400})
    assert message == (
        "node m0 (MatMul): the 12 steps of island 1 have 756 words; each of the 2 layers on"
        " islands may have 200 of 400 (fim.instructions)"
    )
