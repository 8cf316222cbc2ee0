"""Weight stationary products: the bus carries each weight once a tile (seed 000 ¶145)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.isa import config
from macaw.lowering.choose import choose
from macaw.lowering.cost import cost
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import WEIGHT
from macaw.lowering.operation import Product
from macaw.lowering.plan import Tile
from macaw.lowering.weight_stationary import BufferedPlan, LoopPlan, make_product_plan
from tests.lowering.running import run

pytestmark = pytest.mark.once

BASE, TINY = config.load("base"), config.load("tiny")
RNG = np.random.default_rng(7)
M, N, K = 64, 64, 128  # split d: 16 outputs a row, 16 rows of activations a cluster
W, X = (RNG.integers(1, 10, shape).astype(np.int8) for shape in ((N, K), (M, K)))


def bus(done: Any, counter: str) -> int:
    """The sum of a counter over the buses of all rows."""
    return sum(values[counter] for values in done.counters.values() if "macs" in values)


def test_the_bus_carries_weights_once_a_tile() -> None:
    """A weight stationary plan needs fewer than half of the bus beats of an input stationary plan.

    The plans have the same split; in the first, each cluster has 16 rows of activations.
    """
    product = Product(M, W)
    held, weight = run(product, BASE, "weight", "d", Tile(16, 1, 16, K), X)
    _, stay = run(product, BASE, "input", "d", Tile(4, 4, 16, K), X)
    for done in (weight, stay):
        np.testing.assert_array_equal(done.outputs["y"], X.astype(int) @ W.T.astype(int))
    assert bus(weight, "bus_beats") < 0.5 * bus(stay, "bus_beats")
    # 4 rows. Weights: a record of each of 16 outputs, index and value (3 bytes) an entry, the same
    # for all clusters. Activations: a segment of 128 bytes for each of 4 clusters, 16 times.
    weights, activations = 16 * (2 + 3 * K), 16 * 4 * K
    rest = bus(weight, "bus_bytes") - 4 * (weights + activations)
    assert 0 < rest < 4 * 128  # command bytes and three sequences
    # Input stationary: four groups of rows, each with all weights.
    assert bus(stay, "bus_bytes") > 4 * (4 * weights + activations)
    assert cost(held).cycles == pytest.approx(weight.cycles, rel=0.05)


@pytest.mark.parametrize("split", ["b", "d"])
@pytest.mark.parametrize("bias", [False, True])
def test_all_rows_of_activations_before_the_first_product(split: str, bias: bool) -> None:
    """If one segment brings all rows of activations, results are NumPy's, cycles as predicted."""
    product = Product(M, W, RNG.integers(-99, 99, N) if bias else None)
    plan, done = run(product, BASE, "weight", split, Tile(16, 1, 16, K), X, whole=True)
    assert product.bias is not None or not bias
    wanted = X.astype(int) @ W.T.astype(int) + (0 if product.bias is None else product.bias)
    np.testing.assert_array_equal(done.outputs["y"], wanted)
    assert done.counters["dma"]["bytes"] == cost(plan).traffic.total
    assert cost(plan).cycles == pytest.approx(done.cycles, rel=0.05)


def test_all_rows_at_once_are_chosen_where_they_cost_less() -> None:
    """All rows of activations come at once where this costs less.

    A broadcast of all rows takes few beats. A segment for each cluster takes many beats, which come
    while the PEs multiply.
    """
    large = config.load("large")
    weights = (RNG.integers(1, 10, (256, 256)) * (RNG.random((256, 256)) < 0.05)).astype(np.int8)
    product = Product(256, weights).validated(large)
    taken = {
        split: choose(product, large, mapping="weight", split=split).selection.plan
        for split in "ah"
    }
    assert not isinstance(taken["a"], BufferedPlan)
    assert isinstance(taken["h"], BufferedPlan)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("split", "rows", "k"),
    [("b", 16, K), ("d", 16, K), ("d", 16, K // 2), ("c", 8, K // 4), ("h", 8, K // 4)],
)
@pytest.mark.parametrize("bias", [False, True])
def test_an_input_stationary_loop_over_the_rows_of_a_tile(
    split: str, rows: int, k: int, bias: bool
) -> None:
    """One exe multiplies all rows that the PEs hold: equal results, and predicted cycles.

    With several tiles of k, each row starts with a partial sum of its own.
    """
    product = Product(M, W, RNG.integers(-99, 99, N) if bias else None)
    plan, done = run(product, BASE, "input", split, Tile(rows, 1, 16, k), X, whole=True)
    assert isinstance(plan, LoopPlan)
    wanted = X.astype(int) @ W.T.astype(int) + (0 if product.bias is None else product.bias)
    np.testing.assert_array_equal(done.outputs["y"], wanted)
    assert done.counters["dma"]["bytes"] == cost(plan).traffic.total
    assert cost(plan).cycles == pytest.approx(done.cycles, rel=0.1)


def test_an_input_stationary_loop_loads_weights_once_a_tile() -> None:
    """With a loop over rows, the bus carries the weights of a tile once, and activations once."""
    product = Product(M, W)
    _, loop = run(product, BASE, "input", "d", Tile(16, 1, 8, K), X, whole=True)
    np.testing.assert_array_equal(loop.outputs["y"], X.astype(int) @ W.T.astype(int))
    # 4 rows, each with two tiles of 8 outputs. Each PE, with or without an output, has a record.
    weights, activations = 16 * (2 * 2 + 3 * K), 16 * 4 * K
    rest = bus(loop, "bus_bytes") - 4 * (weights + activations)
    assert 0 < rest < 4 * 128  # command bytes and three sequences


def test_a_loop_over_rows_is_chosen_where_it_costs_at_most_2_percent_more() -> None:
    """A plan that loads weights once a tile is chosen before a plan that loads them again.

    The model predicts for the other one up to 2% less, with activations that are not zero. But half
    of the activations are zero, so the plan that was chosen takes fewer cycles.
    """
    large = config.load("large")
    rng = np.random.default_rng(1)
    weights, x = (
        (rng.integers(1, 10, (rows, 256)) * (rng.random((rows, 256)) < 0.5)).astype(np.int8)
        for rows in (256, 128)
    )
    product = Product(128, weights).validated(large)
    chosen = choose(product, large, mapping="input", split="d").selection
    tile = Tile(4, 2, 16, 256)
    again, done = run(product, large, "input", "d", tile, x)
    assert isinstance(chosen.plan, LoopPlan)
    assert cost(again).cycles < chosen.cost.cycles < 1.02 * cost(again).cycles
    _, loop = run(product, large, "input", "d", chosen.plan.tile, x, whole=True)
    assert loop.cycles < done.cycles


def test_partial_sums_leave_before_new_activations_come() -> None:
    """Raw sums of a tile of m go out and come back for the next tile of k (seed 000 ¶85, ¶145).

    The product has two tiles of k and two of m.
    """
    product = Product(M, W[:16], RNG.integers(-99, 99, 16))
    plan, done = run(product, BASE, "weight", "a", Tile(2, 1, 16, K // 2), X)
    assert plan.returns_sums
    assert not plan.keeps_sums_on_chip
    assert product.bias is not None
    wanted = X.astype(int) @ W[:16].T.astype(int) + product.bias
    np.testing.assert_array_equal(done.outputs["y"], wanted)
    assert done.counters["dma"]["bytes"] == cost(plan).traffic.total


@pytest.mark.parametrize(
    ("tile", "m", "message"),
    [
        (Tile(1, 2, 4, 4), 4, "weights stay: rows of activations come one by one"),
        (Tile(15, 1, 4, 600), 60, "15 rows of 600 activations in two parts of the buffer"),
        (Tile(242, 1, 4, 4), 1000, "242 sums a PE, the output queue holds 240"),
        (Tile(126, 1, 4, 4), 1000, "126 rows of activations, an exe has too few segments"),
    ],
)
def test_what_does_not_fit(tile: Tile, m: int, message: str) -> None:
    product = Product(m, np.ones((4, 600), np.int8), np.ones(4, np.int8)).validated(BASE)
    with pytest.raises(LowerError) as error:
        make_product_plan(product, BASE, WEIGHT, "b", tile, whole=False, part=None)
    assert str(error.value) == message


def test_packets_of_many_rows_have_come_before_cp_writes_into_them() -> None:
    """cp waits for the packet lists to arrive before it writes into their packets.

    With 56 segments an exe, their transfer takes longer than cp's first load.
    """
    m, n, k = 112, 5, 81
    weights = RNG.integers(-9, 10, (n, k)).astype(np.int8)
    x = RNG.integers(-9, 10, (m, k)).astype(np.int8)
    _, done = run(Product(m, weights), TINY, "weight", "g", Tile(56, 1, 3, 41), x)
    np.testing.assert_array_equal(done.outputs["y"], x.astype(int) @ weights.T.astype(int))
