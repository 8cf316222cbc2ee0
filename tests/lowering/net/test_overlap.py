"""vc pools rows of an image while the array still computes the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import macaw
from benchmarks.networks import compiled, first_weights, light
from macaw.isa.config import load
from macaw.lowering import reference
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.net import overlap
from macaw.lowering.net.layer_plan import LayerPlan
from macaw.lowering.net.layer_plans import fitting_plans
from macaw.lowering.net.network import NetTensor, Network, ProductLayer, VectorLayer
from macaw.lowering.net.program import NetworkProgram, network_program
from macaw.lowering.net.report import layer_report
from macaw.lowering.net.vector.operations import AveragePool, MaxPool, Pool, Rescale
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles as predicted_alone
from macaw.lowering.plan import ProductPlan
from macaw.lowering.progress import iterations_left
from tests.lowering.net.networks import assembled

pytestmark = pytest.mark.usefixtures("few_plans")


def network_of(product: Convolution, pool: Pool) -> Network:
    """A network with a convolution and a pool of its results."""
    shapes = {"x": product.shapes[0], "image": pool.image, "y": pool.result}
    tensors = {name: NetTensor(name, "int8", shape) for name, shape in shapes.items()}
    layers = (
        ProductLayer("conv", ("x",), "image", product),
        VectorLayer("pool", ("image",), "y", pool),
    )
    return Network("two", tensors, layers, ("x",), ("y",))


def random_layers(rng: np.random.Generator) -> tuple[Convolution, Pool]:
    """A random convolution, and a pool of overlapping or separate windows."""
    size = tuple(int(rng.integers(5, 14)) for _ in range(2))
    inputs, outputs = (int(count) for count in rng.integers(1, 13, 2))
    kernel = int(rng.choice([1, 3]))
    product = convolution(
        rng.integers(-20, 21, (outputs, kernel, kernel, inputs)).astype(np.int8),
        (size[0], size[1]),
        padding=(kernel // 2, kernel // 2),
        shift=6,
    )
    windows, stride = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    pads = (1, 1, 1, 1) if rng.random() < 0.5 else (0, 0, 0, 0)
    image, window = product.shapes[1], (windows, windows)
    if rng.random() < 0.7:
        return product, MaxPool("int8", image, window, (stride, stride), pads)
    average = AveragePool(
        "int8", image, window, (stride, stride), pads, scale=0.7, counts_pads=False
    )
    return product, average


def run(program: NetworkProgram, x: Any, engine: str) -> macaw.Run:
    """The run of a program with its input."""
    return macaw.run(assembled(program), {program.symbols["x"]: x}, engine=engine)


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 100))]
)
def test_no_row_is_read_too_early(seed, monkeypatch):
    """Overlapped layers give right results on both engines, so no row is read too early.

    The test forces the overlap, also where it does not pay.
    """
    monkeypatch.setattr(overlap, "_WORTH", -9.0)
    monkeypatch.setattr("macaw.lowering.net.layer_plans.array_product", lambda *_: None)
    rng = np.random.default_rng(seed)
    config = load(["tiny", "base"][seed % 2])
    product, pool = random_layers(rng)
    program = network_program(network_of(product, pool), config)
    assert [item.overlap is not None for item in program.plans] == [False, True]
    assert "call    pool.start" in program.sources["main.s"].source
    x = rng.integers(-128, 128, product.shapes[0]).astype(np.int8)
    image = reference.result(product.validated(config), config, x)
    runs = [run(program, x, engine) for engine in ("fast", "reference")]
    for item in runs:
        np.testing.assert_array_equal(item.outputs[program.symbols["y"]], compute(pool, image))
    assert runs[0].cycles == runs[1].cycles


def large_convolution() -> Convolution:
    """A convolution whose rows are complete in seven steps."""
    rng = np.random.default_rng(3)
    weights = rng.integers(-9, 10, (64, 3, 3, 4)).astype(np.int8)
    return convolution(weights, (56, 56), padding=(1, 1), shift=5)


def large() -> Network:
    """A network with the large convolution, and a pool that takes longer."""
    pool = MaxPool("int8", (56, 56, 64), (3, 3), (2, 2), (1, 1, 1, 1))
    return network_of(large_convolution(), pool)


def plan_of(item: LayerPlan) -> ProductPlan:
    """The plan of a layer that runs on the array."""
    assert item.choice is not None
    return item.choice.selection.plan


def test_it_saves_cycles_as_predicted(monkeypatch):
    config, network = load("base"), large()
    program = network_program(network, config)
    first, second = program.plans
    assert first.reports_progress
    assert second.overlap is not None
    x = np.random.default_rng(4).integers(-128, 128, (56, 56, 4)).astype(np.int8)
    cycles = run(program, x, "fast").cycles
    predicted = sum(layer_report(item, network.tensors, config).predicted for item in program.plans)
    assert abs(predicted - cycles) < 0.1 * cycles
    monkeypatch.setattr(overlap, "_WORTH", 9.0)  # never
    apart = network_program(network, config)
    assert apart.plans[1].overlap is None
    assert "pool.start" not in apart.sources["main.s"].source
    assert cycles < 0.8 * run(apart, x, "fast").cycles


@pytest.mark.long
def test_the_array_and_vc_work_at_once_on_resnet50():
    """The array and vc overlap the first convolution and pool of ResNet-50, with random weights."""
    case = light("resnet50", 0.0)
    graph = case.model.graph
    nodes = list(graph.node)
    last = next(place for place, node in enumerate(nodes) if node.op_type == "MaxPool")
    del graph.node[last + 1 :]
    graph.output[0].name = nodes[last].output[0]
    graph.output[0].type.tensor_type.ClearField("shape")
    used = {name for node in graph.node for name in node.input}
    kept = [item for item in graph.initializer if item.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    network = macaw.compile(macaw.quantise(case.model, case.samples[1:]).model)
    run = network.run({graph.input[0].name: case.samples[:1]})
    assert [layer.equal for layer in run.layers] == [True, True]
    first, pool = run.layers
    assert first.busy["pe"] > 0.95
    assert first.busy["vc"] > 0.5  # it also counts while it asks for the next row
    assert first.busy["cp"] > 0.02
    operation = MaxPool("int8", (112, 112, 64), (3, 3), (2, 2), (1, 1, 1, 1))
    assert pool.cycles < 0.4 * predicted_alone(operation, load("base"))


@pytest.mark.long
def test_fetching_the_first_weights_earlier_would_save_little():
    """Fetching each layer's first weights earlier would save few of SqueezeNet's cycles."""
    network, _ = compiled(light("squeezenet", 0.0), 1, "base")
    plans, _ = fitting_plans(network.assignment.network, network.config)
    saved = sum(first_weights(plan_of(item)) for item in plans[1:] if item.choice is not None)
    total = sum(layer.predicted for layer in network.layers)
    assert (saved, total) == (41237, 2205011)


def test_rows_of_all_clusters_are_complete_in_turn():
    """Rows of all clusters are complete in turn.

    Each of four clusters has 14 of 56 rows, and computes two rows in each of seven iterations.
    """
    plan = plan_of(fitting_plans(large(), load("base"))[0][0])
    assert (plan.steps, plan.partition.dims[1], plan.tile.groups) == (7, "M", 2)
    assert iterations_left(plan) == [5 - row % 14 // 2 for row in range(56)]


def test_the_result_has_bytes_of_its_own_while_the_image_is_computed():
    """The pool's result shares no bytes with tensors that the array still reads meanwhile."""
    network = large()
    tensors = network.tensors | {name: NetTensor(name, "int8", (56, 56, 4)) for name in ("before",)}
    tensors |= {"z": NetTensor("z", "int8", (28, 28, 64))}
    rng = np.random.default_rng(5)
    one = convolution(rng.integers(-9, 10, (4, 1, 1, 4)).astype(np.int8), (56, 56), shift=4)
    more = convolution(rng.integers(-9, 10, (64, 1, 1, 64)).astype(np.int8), (28, 28), shift=4)
    _, pool = network.layers
    layers = (
        ProductLayer("first", ("x",), "before", one),
        ProductLayer("conv", ("before",), "image", large_convolution()),
        pool,
        ProductLayer("last", ("y",), "z", more),
    )
    program = network_program(Network("four", tensors, layers, ("x",), ("z",)), load("base"))
    assert program.plans[2].overlap is not None
    places = {
        name: range(program.arena.offsets[name], program.arena.offsets[name] + tensors[name].size)
        for name in ("before", "image", "y")
    }
    for name in ("before", "image"):
        assert places["y"].stop <= places[name].start or places[name].stop <= places["y"].start


def test_an_image_with_other_rows_is_not_read_early(monkeypatch):
    """A pool does not start early if the array writes its image with rows of another width.

    The array rescales the tensor as an image of equal size, but wider rows.
    """
    monkeypatch.setattr(overlap, "_WORTH", -9.0)
    monkeypatch.setattr("macaw.lowering.net.layer_plans.cycles", lambda *_: 1 << 40)
    shape = (32, 33, 31)
    rescale, pool = Rescale("int8", shape, 0.5), MaxPool("int8", shape, (2, 2), (2, 2))
    names = {"x": shape, "image": shape, "y": pool.result}
    tensors = {name: NetTensor(name, "int8", size) for name, size in names.items()}
    layers = (
        VectorLayer("rescale", ("x",), "image", rescale),
        VectorLayer("pool", ("image",), "y", pool),
    )
    program = network_program(Network("two", tensors, layers, ("x",), ("y",)), load("base"))
    assert program.plans[0].choice is not None
    x = np.random.default_rng(6).integers(-128, 128, shape).astype(np.int8)
    found = run(program, x, "fast").outputs[program.symbols["y"]]
    np.testing.assert_array_equal(found, compute(pool, compute(rescale, x)))


def test_other_layers_do_not_overlap():
    """Layers in the wrong order do not overlap, nor does a convolution of two images."""
    network, config = large(), load("base")
    plans, _ = fitting_plans(network, config)
    conv, pool = plans
    assert overlap.overlapped((pool, conv), network, config) == (pool, conv)
    assert iterations_left(plan_of(conv)) is not None
    product = convolution(np.ones((3, 1, 1, 2), np.int8), (4, 4), images=2, shift=1)
    two = Network("images", {}, (ProductLayer("c", ("x",), "y", product),), ("x",), ("y",))
    item = fitting_plans(two, config)[0][0]
    assert iterations_left(plan_of(item)) is None
