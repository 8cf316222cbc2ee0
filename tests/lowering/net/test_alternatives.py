"""Means that the array computes: the same integers as on vc, where they take fewer cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import load
from macaw.lowering import reference
from macaw.lowering.net.alternatives import mean_product
from macaw.lowering.net.layer_plans import plan_layers
from macaw.lowering.net.network import NetTensor, Network, ProductLayer, VectorLayer
from macaw.lowering.net.program import network_program
from macaw.lowering.net.report import layer_report
from macaw.lowering.net.vector.operations import AveragePool, GlobalAveragePool, Rescale
from macaw.lowering.net.vector.reference import compute
from tests.fuzzing import sessions
from tests.lowering.net.networks import assembled


def network_of(operation: Any) -> Network:
    """A network of one layer."""
    tensors = {
        "a": NetTensor("a", "int8", operation.inputs[0]),
        "b": NetTensor("b", "int8", operation.result),
    }
    return Network("one", tensors, (VectorLayer("mean", ("a",), "b", operation),), ("a",), ("b",))


@settings(sessions)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 20)),
    st.sampled_from([1.0, 0.37, 2.5, 2.0**-3]),
    st.integers(0, 99),
)
def test_a_mean_is_a_depthwise_convolution(image, scale, seed):
    """The definition of the one, computed by NumPy, equals that of the other."""
    operation = GlobalAveragePool("int8", image, scale)
    product = mean_product(operation)
    assert product is not None
    x = np.random.default_rng(seed).integers(-128, 128, image).astype(np.int8)
    config = load("base")
    found = reference.result(product.validated(config), config, x)
    np.testing.assert_array_equal(found, compute(operation, x))


def test_windows_of_equal_counts_alone():
    image = (6, 8, 3)
    plain = AveragePool("int8", image, (2, 2), (2, 2))
    assert mean_product(plain) is not None
    padded = AveragePool("int8", image, (3, 3), (1, 1), (1, 1, 1, 1))
    assert mean_product(padded) is None
    counted = AveragePool("int8", image, (3, 3), (1, 1), (1, 1, 1, 1), counts_pads=True)
    product = mean_product(counted)
    assert product is not None
    config, x = load("base"), np.arange(-72, 72, dtype=np.int8).reshape(image)
    np.testing.assert_array_equal(
        reference.result(product.validated(config), config, x), compute(counted, x)
    )
    assert mean_product(AveragePool("int16", image, (2, 2), (2, 2))) is None
    assert mean_product(Rescale("int8", image, 0.5)) is None


@pytest.mark.parametrize(("image", "core"), [((2, 96, 200), "pe"), ((2, 2, 512), "vc")])
def test_the_core_that_takes_less(image, core):
    operation = GlobalAveragePool("int8", image, 0.7)
    config, network = load("base"), network_of(operation)
    (item,) = plan_layers(network, config)
    assert isinstance(item.layer, ProductLayer if core == "pe" else VectorLayer)
    report = layer_report(item, config)
    assert (report.core, report.operator, report.macs) == (core, "globalaveragepool", 0)
    assert report.bound == -(-(np.prod(image) + image[2]) // 32)  # bytes of the tensors alone
    x = np.random.default_rng(1).integers(-128, 128, image).astype(np.int8)
    run = macaw.run(assembled(network_program(network, config)), {"a": x})
    np.testing.assert_array_equal(run.outputs["b"], compute(operation, x))
