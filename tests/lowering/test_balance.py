"""Balancing is used where the cost model says that it pays (seed 000 ¶98-102)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import macaw
from macaw.emu.engines import ENGINES
from macaw.isa.config import Configuration, load
from macaw.layer_lowering import lower
from macaw.lowering import reference
from macaw.lowering.choose import choose
from macaw.lowering.convolution import convolution
from macaw.lowering.cost import cost
from macaw.lowering.layer_source import layer_source
from macaw.lowering.operation import Product
from macaw.lowering.plan import ProductPlan
from tests.lowering.running import made

pytestmark = pytest.mark.once

RNG = np.random.default_rng(7)


def skewed(shape: tuple[int, ...], densities: list[float]) -> NDArray[np.int8]:
    """Weights whose outputs have these shares of nonzero weights, cyclically."""
    density = np.resize(densities, shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return (RNG.integers(1, 9, shape) * (RNG.random(shape) < density)).astype(np.int8)


def runs(plan: ProductPlan, x: NDArray[Any], engine: str = "fast") -> Any:
    """Run the plan's program; its outputs must be NumPy's."""
    run = macaw.run(made(layer_source(plan, "p", reasons=())), engine=engine, x=x)
    np.testing.assert_array_equal(run.outputs["y"], reference.result(plan.product, plan.config, x))
    return run


LAYERS = {
    "product": lambda: Product(32, skewed((32, 96), [0.1, 0.8])),
    "convolution": lambda: convolution(skewed((8, 3, 3, 12), [0.05, 0.9]), (10, 10), padding=(1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_written_for_channels_of_unequal_weights(name: str) -> None:
    """Balancing makes channels with unequal weights 1.5 times as fast, as predicted (F51)."""
    config = load("tiny")
    product = LAYERS[name]().validated(config)
    choice = choose(product, config)
    plan = choice.selection.plan
    assert plan.balance
    assert ", balanced" in choice.reasons()[0]
    assert ", balance" in layer_source(plan, "p", reasons=()).source
    x = reference.random_activations(product, config, 0)
    cycles = [runs(item, x).cycles for item in (plan, replace(plan, balance=False))]
    assert cycles[1] >= 1.4 * cycles[0]
    for item, measured in zip((plan, replace(plan, balance=False)), cycles, strict=True):
        assert cost(item).cycles == pytest.approx(measured, rel=0.15)


@pytest.mark.usefixtures("few_plans")
def test_it_is_left_out_where_it_does_not_pay() -> None:
    """Lowering does not balance equal channels or few nonzero activations.

    It does not balance arrays of design 5a or of floating-point numbers either.
    """
    weights = skewed((16, 48), [0.1, 0.8])
    tiny = load("tiny")
    cases: tuple[dict[str, Any], ...] = (
        {"weights": skewed((16, 48), [1.0])},
        {"density": 0.3},
        {"device": tiny.changed({"pe.design": "5a"})},
        {"device": tiny.changed({"pe.element": "fp32"})},
    )
    for words in cases:
        found = lower("spmm", **{"weights": weights, "rows": 16, "device": tiny, **words})
        assert not found.choice.selection.plan.balance, words
        assert ", balance" not in found.source


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(
    mapping=st.sampled_from(["input", "weight", "output"]),
    split=st.sampled_from("abcdefghi"),
    pes=st.integers(1, 5),
    image=st.booleans(),
    seed=st.integers(0, 1 << 32),
)
def test_random_plans_with_balancing(
    mapping: str, split: str, pes: int, image: bool, seed: int
) -> None:
    """Any plan may be balanced: results are NumPy's, and both engines take the same cycles."""
    rng = np.random.default_rng(seed)
    config = Configuration("drawn", {"pe.rows": 2, "pe.clusters": 2, "pe.pes": pes})
    n, k = int(rng.integers(1, 12)), int(rng.integers(1, 20))
    shape = (n, 3, 3, k) if image else (n, k)
    weights = rng.integers(-9, 10, shape) * (rng.random(shape) < 0.5)
    bias = rng.integers(-99, 100, n) if rng.random() < 0.5 else None
    product: Product = Product(int(rng.integers(1, 14)), weights, bias, "relu", 3)
    if image:
        product = convolution(weights, (5, 6), bias=bias, activation="relu", shift=3)
    product = product.validated(config)
    plan = replace(
        choose(product, config, mapping=mapping, split=split).selection.plan, balance=True
    )
    x = rng.integers(-9, 10, product.shapes[0]).astype(np.int8)
    assert len({runs(plan, x, engine).cycles for engine in ENGINES}) == 1
