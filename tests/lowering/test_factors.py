"""Results with scales by channel and with tables, in all mappings and splits, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import load
from macaw.lowering import reference
from macaw.lowering.candidates import plans
from macaw.lowering.choose import choose
from macaw.lowering.convolution import convolution
from macaw.lowering.cost import cost
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS
from macaw.lowering.row_program import shifts_products
from tests.fuzzing import sessions
from tests.lowering.running import made


def random_product(draw: Callable[..., Any], rng: np.random.Generator) -> Product:
    """A product or convolution with scales, a table, or both."""
    outputs = draw(st.integers(1, 20))
    bias = rng.integers(-50, 50, outputs).astype(np.int32) if draw(st.booleans()) else None
    kind = draw(st.sampled_from(["spmv", "spmm", "conv2d", "depthwise"]))
    if kind in ("spmv", "spmm"):
        weights = rng.integers(-8, 9, (outputs, draw(st.integers(1, 120)))).astype(np.int8)
        rows = 1 if kind == "spmv" else draw(st.integers(1, 12))
        product: Product = Product(rows, weights, bias, vector=kind == "spmv")
    else:
        side, channels = draw(st.integers(1, 3)), draw(st.integers(1, 8))
        shape = (outputs, side, side) if kind == "depthwise" else (outputs, side, side, channels)
        product = convolution(
            rng.integers(-8, 9, shape).astype(np.int8),
            (draw(st.integers(side, 7)), draw(st.integers(side, 7))),
            padding=(draw(st.integers(0, 1)),) * 2,
            depthwise=kind == "depthwise",
            bias=bias,
        )
    form = draw(st.sampled_from(["scales", "table", "scales and table", "scales and relu"]))
    scales = (rng.random(outputs) * 2.0 ** -rng.integers(0, 9)).astype(np.float32)
    return replace(
        product,
        scales=scales if "scales" in form else None,
        shift=None if "scales" in form else 5,
        table=rng.integers(-128, 128, 256).astype(np.int8) if "table" in form else None,
        activation="relu" if "relu" in form else "none",
    )


@settings(sessions, max_examples=max(20, sessions.max_examples))
@given(st.data())
def test_results_and_bytes(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    config = load("tiny")
    product = random_product(data.draw, rng).validated(config)
    mapping = data.draw(st.sampled_from([None, *MAPPINGS]))
    split = data.draw(st.sampled_from([None, *SPLITS]))
    try:
        choice = choose(product, config, mapping=mapping, split=split)
    except LowerError:
        assume(False)
    x = rng.integers(-128, 128, product.shapes[0]).astype(np.int8)
    run = macaw.run(made(layer_source(choice.selection.plan, "p", reasons=())), x=x)
    np.testing.assert_array_equal(run.outputs["y"], reference.result(product, config, x))
    traffic = choice.selection.cost.traffic
    assert run.counters["dma"]["bytes"] == traffic.total


@pytest.mark.parametrize("mapping", ["input", "output"])
def test_several_tiles_of_inputs(mapping: str) -> None:
    """Only the last of several tiles of inputs loads factors; cp finds the packets in both lists.

    The plans have one or two packets with weights in a list.
    """
    rng = np.random.default_rng(5)
    config = load("tiny").changed({"pe.input_buffer": 64})
    product = replace(
        Product(8, rng.integers(-8, 9, (8, 40)).astype(np.int8)),
        scales=np.linspace(0.01, 0.1, 8, dtype=np.float32),
    ).validated(config)
    x = rng.integers(-128, 128, product.shapes[0]).astype(np.int8)
    groups = set()
    for plan in plans(product, config, MAPPINGS[mapping], "b", (2, 2), 1.0, inf, False):
        if not shifts_products(plan) or plan.products in groups:
            continue
        groups.add(plan.products)
        run = macaw.run(made(layer_source(plan, "p", reasons=())), x=x)
        np.testing.assert_array_equal(run.outputs["y"], reference.result(product, config, x))
        assert run.counters["dma"]["bytes"] == cost(plan).traffic.total
    assert groups == ({1} if mapping == "output" else {1, 2})


def test_a_scale_by_hand():
    """By hand: 100 · 0.125 = 12.5 and 108 · 0.125 = 13.5 are ties; 4000 saturates; -1 gives -0."""
    weights = np.array([[1], [1], [1], [1]], np.int8)
    bias = np.array([0, 8, 3900, -101], np.int32)
    scales = np.array([0.125, 0.125, 0.5, 0.25], np.float32)
    product = replace(Product(1, weights, bias, vector=True), scales=scales)
    config = load("tiny")
    plan = choose(product.validated(config), config, operation="spmv").selection.plan
    run = macaw.run(made(layer_source(plan, "p", reasons=())), x=np.array([100], np.int8))
    assert run.outputs["y"].tolist() == [12, 14, 127, 0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"scales": np.ones(2, np.float32), "shift": 1}, "there are both a shift and scales"),
        ({"scales": np.ones(3, np.float32)}, r"the scales are float32 of shape \(3,\)"),
        ({"scales": np.ones(2)}, r"the scales are float64 of shape \(2,\)"),
        ({"scales": np.array([1, np.inf], np.float32)}, "a scale is no finite number"),
        ({"table": np.zeros(256, np.int8)}, "a table is for int8 after a shift or scales"),
        ({"table": np.zeros(8, np.int8), "shift": 1}, r"the table is int8 of shape \(8,\)"),
    ],
)
def test_refusals(changes, text):
    product = replace(Product(1, np.ones((2, 3), np.int8)), **changes)
    with pytest.raises(LowerError, match=text):
        product.validated(load("tiny"))


def test_scales_are_for_integers():
    product = replace(Product(1, np.ones((2, 3))), scales=np.ones(2, np.float32))
    with pytest.raises(LowerError, match="scales for sums of floating-point numbers"):
        product.validated(load("tiny").changed({"pe.element": "fp32"}))
