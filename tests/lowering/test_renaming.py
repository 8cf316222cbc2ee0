"""Other names of a model's tensors and nodes change neither its results nor its cycles.

Lowering makes names of its own from those of the model (`y_bias`, `y_1`), and labels of sources.
The new names are such names, words of the assembly language, and texts that no label may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import pytest

import macaw
from tests.lowering.fim.random_models import random_model as random_island_model
from tests.lowering.net.random_networks import random_device, random_model
from tests.lowering.nnp.random_models import random_model as random_nnp_model

WORDS = (
    "x y w b h c v0 v1 v2 t a A Y 1 2x $t x.1 x-1 x:0 a/b ä add main _start zero ra x1 pe fim nnp"
    " layer array loop x_tile y_tile weights results zeros kernel_parts Dram InitialVrf v_relu act"
    " rz gio stack record X_DEPTH INDEX loop_1 array_1 fim0 island_0"
).split() + ["a b", "é" * 40, "n" * 200]
ENDINGS = (
    "_bias _product _sum _sums _real _0 _1 _2 _3 _least _greatest _clip _a _b _rows _q _scale _zero"
    " _w _tile _start _end _x _y _in _out _columns _part _left _right _h _c _windows _gather"
    " _weights _shift _table _layer"
).split()
Results = tuple[list[Any], int]  # the outputs in their order, and the cycles


def other_names(names: list[str], random: np.random.Generator) -> Iterator[str]:
    """Different names without end. Some are the first of `names`, or begin like them."""
    begins = [*random.choice(WORDS, max(1, len(names) // 3)), *names[:3]]
    given = set[str]()
    while True:
        name = f"{random.choice(begins)}{random.choice(['', *ENDINGS])}"
        if name in given:
            name = f"{random.choice(WORDS)}{random.choice(ENDINGS)}{len(given)}"
        given.add(name)
        yield name


def renamed(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """A copy of a model with other names; some of its nodes have no name, or that of a tensor."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph, random = copy.graph, np.random.default_rng(seed)
    values = [*graph.initializer, *graph.input]
    old = [name for node in graph.node for name in node.output if name]
    old = list(dict.fromkeys([*old, *(value.name for value in values)]))
    new = dict(zip(old, other_names(old, random), strict=False))
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
        node.output[:] = [new.get(name, name) for name in node.output]
        node.name = str(random.choice(["", *new.values()]))
    for value in [*values, *graph.output, *graph.value_info]:
        value.name = new.get(value.name, value.name)
    return copy


def same_inputs(model: onnx.ModelProto, dtype: str = "f4") -> dict[str, Any]:
    """The same numbers for each model with inputs of these shapes."""
    random = np.random.default_rng(5)
    shapes = {
        value.name: [size.dim_value for size in value.type.tensor_type.shape.dim]
        for value in model.graph.input
    }
    return {name: random.normal(size=shape).astype(dtype) / 2 for name, shape in shapes.items()}


def on_the_array(seed: int) -> tuple[onnx.ModelProto, Callable[[onnx.ModelProto], Results]]:
    def run(model: onnx.ModelProto) -> Results:
        found = macaw.compile(model, device=random_device(seed)).run(same_inputs(model))
        return [found.outputs[value.name] for value in model.graph.output], found.cycles

    return random_model(seed), run


def on_nnp(seed: int) -> tuple[onnx.ModelProto, Callable[[onnx.ModelProto], Results]]:
    def run(model: onnx.ModelProto) -> Results:
        found = macaw.compile(model, device="base", core="nnp").run(same_inputs(model))
        return [found.outputs[value.name] for value in model.graph.output], found.cycles

    return random_nnp_model(np.random.default_rng(seed)), run


def on_islands(seed: int) -> tuple[onnx.ModelProto, Callable[[onnx.ModelProto], Results]]:
    def run(model: onnx.ModelProto) -> Results:
        found = macaw.lower_graph(model, device="base")
        arrays = zip(found.graph.inputs, same_inputs(model, "f2").values(), strict=True)
        inputs = {x.name: array.reshape(found.graph.shape(x)) for x, array in arrays}
        done = macaw.run(found.assemble(), inputs)
        return list(done.outputs.values()), done.cycles

    return random_island_model(np.random.default_rng(seed)), run


@pytest.mark.few(3)
@pytest.mark.usefixtures("few_plans", "short_search")
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", [on_the_array, on_nnp, on_islands])
def test_other_names_change_nothing(kind: Callable[..., Any], seed: int) -> None:
    model, run = kind(seed)
    outputs, cycles = run(model)
    others, other_cycles = run(renamed(model, seed))
    assert cycles == other_cycles
    for one, other in zip(outputs, others, strict=True):
        np.testing.assert_array_equal(one, other)


def test_names_are_other_ones_and_meet_those_of_the_lowering() -> None:
    pairs = []
    for model in map(random_model, range(10)):
        old, new = model.graph.initializer, renamed(model, 1).graph.initializer
        assert len({tensor.name for tensor in new}) == len(old)
        pairs += [(one.name, other.name) for one, other in zip(old, new, strict=True)]
    assert sum(one == other for one, other in pairs) < len(pairs) / 10
    assert any(name.endswith(("_bias", "_1", "_sum")) for _, name in pairs)
