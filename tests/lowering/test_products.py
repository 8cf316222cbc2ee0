"""Random products, devices, tiles, mappings and splits give NumPy's results and predicted bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from macaw.isa.config import Configuration
from macaw.layer_lowering import lower
from macaw.lowering.choose import choose
from macaw.lowering.cost import traffic
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS, partition
from macaw.lowering.plan import Tile
from macaw.lowering.row_program import unit_bytes
from macaw.lowering.weight_stationary import make_product_plan
from tests.lowering.running import element_types, run

pytestmark = pytest.mark.once


@dataclass(frozen=True)
class Case:
    """A product, and the way to lower it."""

    product: Product
    config: Configuration
    mapping: str
    split: str
    tile: Tile
    x: NDArray[Any]
    whole: bool  # with all activations of a tile at once


@st.composite
def cases(draw: st.DrawFn) -> Case:
    types, elements = draw(element_types())
    config = Configuration(
        "drawn",
        {
            "pe.rows": draw(st.integers(1, 3)),
            "pe.clusters": draw(st.integers(1, 3)),
            "pe.pes": draw(st.integers(1, 5)),
            **types,
            "pe.input_buffer": draw(st.sampled_from([64, 256, 4096])),
        },
    )
    m, n, k = (draw(st.integers(1, 13)) for _ in "MNK")
    mapping, split = draw(st.sampled_from(sorted(MAPPINGS))), draw(st.sampled_from(sorted(SPLITS)))
    part = partition(split, config["pe.rows"], config["pe.clusters"], (m, n, k))
    members = 1 if mapping == "weight" else draw(st.integers(1, min(4, part.length("M"))))
    groups = 1 if mapping == "output" else draw(st.integers(1, part.length("M") // members))
    tile = Tile(
        groups,
        members,
        draw(st.integers(1, min(config["pe.pes"], part.length("N")))),
        draw(st.integers(1, part.length("K"))),
    )
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    weights = rng.integers(-9, 10, (n, k)) * (rng.random((n, k)) < draw(st.sampled_from([0.2, 1])))
    product = Product(
        m,
        weights.astype(elements.weight),
        rng.integers(-99, 100, n) if draw(st.booleans()) else None,
        draw(st.sampled_from(["none", "relu"])),
        draw(st.sampled_from([None, 0, 3])),
        elements=elements,
    )
    x = rng.integers(-9, 10, (m, k)).astype(elements.activation)
    whole = mapping == "weight" and draw(st.booleans())
    return Case(product, config, mapping, split, tile, x, whole)


def wanted(product: Product, x: NDArray[Any], bits: int) -> NDArray[Any]:
    """The product by Python's own numbers and by SciPy, without code under test."""
    sums = x.astype(object) @ product.weights.T.astype(object)
    sparse = csr_array(product.weights.astype(np.int64)) @ csr_array(x.astype(np.int64)).T
    assert (sparse.T.toarray() == sums).all()
    if product.bias is not None:
        sums = sums + product.bias.astype(object)
    if product.activation == "relu":
        sums = np.vectorize(lambda value: max(value, 0), otypes=[object])(sums)
    shift = product.shift
    if shift is not None:
        high = (1 << bits - 1) - 1
        # round() takes halves to the even number; these quotients are exact in floating point.
        scale = np.vectorize(
            lambda value: min(max(round(value / 2**shift), -high - 1), high),
            otypes=[object],
        )
        sums = scale(sums)
    return sums


@settings(max_examples=35)
@given(case=cases())
def test_products_equal_numpys_and_bytes_are_those_predicted(case: Case) -> None:
    """Random products equal NumPy's and move the predicted bytes (seed 000 ¶85)."""
    try:
        how = case.config, case.mapping, case.split, case.tile
        plan, done = run(case.product, *how, case.x, whole=case.whole)
    except LowerError:
        assume(False)
    assert case.product.elements is not None
    bits = 8 * np.dtype(case.product.elements.result).itemsize
    assert (done.outputs["y"] == wanted(case.product, case.x, bits)).all()
    assert done.counters["dma"]["bytes"] == traffic(plan).total


@settings(max_examples=60)
@given(case=cases())
def test_rounds_of_weights_are_the_weights(case: Case) -> None:
    """The rounds of all parts together have each weight of the matrix once."""
    try:
        plan = make_product_plan(
            case.product.validated(case.config),
            case.config,
            MAPPINGS[case.mapping],
            case.split,
            case.tile,
            whole=False,
            part=None,
        )
    except LowerError:
        assume(False)
    assert (plan.weight_counts == np.count_nonzero(plan.weight_rounds, axis=-1)).all()
    rounds, (rows, clusters) = plan.weight_rounds, plan.weight_owners
    total: NDArray[np.int64] = np.zeros((plan.product.n, plan.product.k), int)
    times: NDArray[np.int64] = np.zeros((plan.product.n, plan.product.k), int)
    for p in range(rows):
        for q in range(clusters):
            for i in range(plan.count("N")):
                n = plan.partition.start("N", p, q) + plan.tile_start("N", i)
                for j in range(plan.count("K")):
                    k = plan.partition.start("K", p, q) + plan.tile_start("K", j)
                    part: NDArray[Any] = rounds[i, j, p, q * plan.pes : q * plan.pes + plan.tile.n]
                    assert not rounds[
                        i, j, p, q * plan.pes + plan.tile.n : (q + 1) * plan.pes
                    ].any()
                    total[n : n + plan.tile.n, k : k + plan.tile.k] += part
                    times[n : n + plan.tile.n, k : k + plan.tile.k] += part != 0
    # Where outputs are computed twice, all their weights are there as often.
    often = times.max(axis=1, keepdims=True)
    assert (total == plan.product.weights * often).all()


@pytest.mark.usefixtures("few_plans")
def test_an_operation_a_hundred_times_as_large_as_a_unit() -> None:
    """Operands of 116 KiB pass through a unit whose halves hold 1 KiB (seed 000 ¶84)."""
    config = Configuration("small", {"pe.rows": 1, "pe.clusters": 2, "mem.unit_half_bytes": 1024})
    m, n, k = 4, 32, 3300
    rng = np.random.default_rng(3)
    weights = (rng.integers(-9, 10, (n, k)) * (rng.random((n, k)) < 0.02)).astype(np.int8)
    assert weights.nbytes + m * k > 100 * 1024
    found = lower("spmm", weights, rows=m, shift=2, device=config)
    plan = found.choice.selection.plan
    assert unit_bytes(plan) <= 1024
    assert plan.steps > 20
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external


def test_what_does_not_fit_is_said() -> None:
    config = Configuration("small", {"mem.unit_half_bytes": 1024, "pe.pes": 1024})
    product = Product(4, np.ones((1024, 8), np.int8)).validated(config)
    with pytest.raises(LowerError) as error:
        choose(product, config)
    assert str(error.value) == (
        "no tile fits half of a unit, 1024 bytes, with its packets and sequences"
    )
