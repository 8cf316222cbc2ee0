"""Operations that vc or the array can compute: both give equal integers; the faster is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import load
from macaw.lowering import reference
from macaw.lowering.choose import choose
from macaw.lowering.net import layer_plans
from macaw.lowering.net.alternatives import array_product
from macaw.lowering.net.layer_plans import plan_layers
from macaw.lowering.net.network import NetTensor, Network, ProductLayer, VectorLayer
from macaw.lowering.net.program import network_program
from macaw.lowering.net.report import layer_report
from macaw.lowering.net.vector.operations import (
    AveragePool,
    ElementwiseProduct,
    GlobalAveragePool,
    Rescale,
    Sum,
    Table,
)
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.operation import Elements
from tests.fuzzing import sessions
from tests.lowering.net.networks import assembled

pytestmark = pytest.mark.usefixtures("few_plans")


def network_of(operation: Any) -> Network:
    """A network with this operation as its only layer."""
    names = ("a", "b")[: len(operation.inputs)]
    shapes = dict(zip(names, operation.inputs, strict=True)) | {"y": operation.result}
    tensors = {name: NetTensor(name, "int8", shape) for name, shape in shapes.items()}
    return Network("one", tensors, (VectorLayer("only", names, "y", operation),), names, ("y",))


@settings(sessions)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 20)),
    st.sampled_from([1.0, 0.37, 2.5, 2.0**-3]),
    st.integers(0, 99),
)
def test_a_mean_is_a_depthwise_convolution(image, scale, seed):
    """A mean over an image equals, by NumPy, the depthwise convolution that replaces it."""
    operation = GlobalAveragePool("int8", image, scale)
    product = array_product(operation, load("base"))
    assert product is not None
    x = np.random.default_rng(seed).integers(-128, 128, image).astype(np.int8)
    config = load("base")
    found = reference.result(product.validated(config), config, x)
    np.testing.assert_array_equal(found, compute(operation, x))


def test_windows_of_equal_counts_alone():
    image = (6, 8, 3)
    config = load("base")
    plain = AveragePool("int8", image, (2, 2), (2, 2))
    assert array_product(plain, config) is not None
    padded = AveragePool("int8", image, (3, 3), (1, 1), (1, 1, 1, 1))
    assert array_product(padded, config) is None
    counted = AveragePool("int8", image, (3, 3), (1, 1), (1, 1, 1, 1), counts_pads=True)
    product = array_product(counted, config)
    assert product is not None
    x = np.arange(-72, 72, dtype=np.int8).reshape(image)
    np.testing.assert_array_equal(
        reference.result(product.validated(config), config, x), compute(counted, x)
    )
    assert array_product(AveragePool("int16", image, (2, 2), (2, 2)), config) is None


@pytest.mark.parametrize(("image", "core"), [((2, 96, 200), "pe"), ((2, 2, 512), "vc")])
def test_the_core_that_takes_less(image, core):
    operation = GlobalAveragePool("int8", image, 0.7)
    config, network = load("base"), network_of(operation)
    (item,) = plan_layers(network, config)
    assert isinstance(item.layer, ProductLayer if core == "pe" else VectorLayer)
    report = layer_report(item, network.tensors, config)
    assert (report.core, report.operator, report.macs) == (core, "globalaveragepool", 0)
    assert report.bound == -(-(np.prod(image) + image[2]) // 32)  # bytes of the tensors alone
    x = np.random.default_rng(1).integers(-128, 128, image).astype(np.int8)
    program = network_program(network, config)
    run = macaw.run(assembled(program), {program.symbols["a"]: x})
    np.testing.assert_array_equal(run.outputs[program.symbols["y"]], compute(operation, x))


@pytest.mark.few(3)
@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("shape", "device"), [((3, 20, 40), "base"), ((6, 5, 7), "tiny"), ((1, 9, 33), "tiny")]
)
def test_a_product_by_channels_reads_its_weights(shape, device, engine):
    """On the array, a product by channels reads its second input as weights, also zeros.

    The weights of the first run do not stay for the second.
    """
    operation = ElementwiseProduct("int8", shape, 0.013, by_channel=True)
    config = load(device)
    product = array_product(operation, config)
    assert product is not None
    choice = choose(product.validated(config), config)
    network = network_of(operation)
    layer = ProductLayer("only", ("a", "b"), "y", product)
    program = network_program(replace(network, layers=(layer,)), config)
    assembly = assembled(program)
    rng = np.random.default_rng(5)
    for _ in range(2):
        a, b = (rng.integers(-128, 128, some).astype(np.int8) for some in operation.inputs)
        b[rng.random(b.shape) < 0.2] = 0
        inputs = {program.symbols["a"]: a, program.symbols["b"]: b}
        run = macaw.run(assembly, inputs, engine=engine)
        found = run.outputs[program.symbols["y"]]
        np.testing.assert_array_equal(found, compute(operation, a, b))
        assert abs(choice.selection.cost.cycles - run.cycles) < 0.2 * run.cycles


def _elementwise(seed: int) -> list[Any]:
    """Random operations on single elements that the array can compute, with any shapes."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(1, 19, rng.integers(1, 4)))
    clip = [None, (-128, 127), (0, 127), (-9, 40)][rng.integers(4)]
    first, *others = (2.0 ** int(place) for place in rng.integers(-4, 3, 2))
    sign = 1 if rng.random() < 0.7 else -1
    entries = tuple(int(entry) for entry in rng.integers(-128, 128, 256))
    return [
        Sum("int8", shape, (first, sign * others[0]), clip),
        Table("int8", shape, entries),
        Rescale("int8", shape, sign * float(rng.uniform(0.01, 3)), clip),
    ]


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 60))]
)
def test_operations_on_elements_are_convolutions(seed, monkeypatch):
    """Operations on single elements run on the array as convolutions, with vc's results.

    The test makes vc's predicted cycles infinite, so that the array is always chosen.
    """
    monkeypatch.setattr(layer_plans, "cycles", lambda operation, config: 1 << 40)
    config = load(["base", "tiny"][seed % 2])
    rng = np.random.default_rng(seed)
    for operation in _elementwise(seed):
        network = network_of(operation)
        program = network_program(network, config)
        assert program.plans[0].choice is not None
        values = [rng.integers(-128, 128, some).astype(np.int8) for some in operation.inputs]
        inputs = {program.symbols[name]: x for name, x in zip(network.inputs, values, strict=True)}
        run = macaw.run(assembled(program), inputs)
        found = run.outputs[program.symbols["y"]]
        np.testing.assert_array_equal(found, compute(operation, *values), str(operation))


@pytest.mark.parametrize(
    "operation",
    [
        Sum("int8", (4,), (0.5, 0.3)),
        Sum("int8", (4,), (1.0, 2.0**-7)),
        Sum("int8", (4,), (1.0, 128.0)),
        Sum("int8", (4,), (1.0, 0.0)),
        Sum("int8", (4,), (2.0**-40, 2.0**-40)),
        Sum("int16", (4,), (1.0, 1.0)),
    ],
)
def test_what_the_array_cannot_do_exactly_stays_on_vc(operation):
    assert array_product(operation, load("base")) is None


def test_an_array_with_other_types_takes_int8_as_int8():
    operation = Sum("int8", (4,), (1.0, 1.0))
    wide = array_product(operation, load("base").changed({"pe.element": "int16"}))
    assert wide is not None
    assert wide.elements == Elements("int8", "int8", "int8")
    assert array_product(operation, load("base").changed({"pe.element": "fp16"})) is None


def test_the_array_adds_large_tensors():
    """The array, not vc, adds large tensors.

    The report has the operation's name and its own shape; predicted cycles are near the run's.
    """
    operation = Sum("int8", (28, 28, 64), (0.5, 2.0), (0, 127))
    config, network = load("base"), network_of(operation)
    (item,) = plan_layers(network, config)
    report = layer_report(item, network.tensors, config)
    assert (report.core, report.operator, report.shape) == ("pe", "sum", (28, 28, 64))
    assert report.bound == 3 * 28 * 28 * 64 // 32
    program = network_program(network, config)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, some).astype(np.int8) for some in operation.inputs)
    run = macaw.run(assembled(program), {program.symbols["a"]: a, program.symbols["b"]: b})
    np.testing.assert_array_equal(run.outputs[program.symbols["y"]], compute(operation, a, b))
    assert abs(report.predicted - run.cycles) < 0.1 * run.cycles


def test_products_of_whole_tensors_stay_on_vc():
    config = load("base")
    assert array_product(ElementwiseProduct("int8", (3, 4, 5), 0.5), config) is None
    assert array_product(ElementwiseProduct("int8", (4, 5), 0.5, by_channel=True), config) is None
