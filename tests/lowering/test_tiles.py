"""The tiles, parts of the array and forms of an operation that lowering tries, and their gain."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import macaw
from macaw.emu.engines import ENGINES
from macaw.isa.config import Configuration, load
from macaw.layer_lowering import lower
from macaw.lowering.candidates import array_partition
from macaw.lowering.choose import choose
from macaw.lowering.convolution import Convolution, PointwiseProduct, convolution
from macaw.lowering.cost import cost
from macaw.lowering.errors import LowerError
from macaw.lowering.image_estimate import estimates, tile_grid
from macaw.lowering.image_plan import ImagePlan, make_image_plan
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import OUTPUT, WEIGHT, Mapping
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS
from macaw.lowering.plan import Tile
from macaw.lowering.row_program import unit_bytes
from macaw.lowering.sizes import even_sizes, even_tile
from macaw.lowering.stationary_estimate import row_estimates, row_grid
from macaw.lowering.weight_stationary import make_product_plan
from tests.lowering.running import made

pytestmark = pytest.mark.once

RNG = np.random.default_rng(5)


def integers(*shape: int, zeros: float = 0.0) -> NDArray[np.int8]:
    """Random weights or activations from 1 to 8; `zeros` of them (a fraction) are zero."""
    return (RNG.integers(1, 9, shape) * (RNG.random(shape) >= zeros)).astype(np.int8)


# Sizes


@given(st.integers(1, 3000))
def test_even_sizes_cover_a_length_with_the_fewest_elements_twice(length: int) -> None:
    sizes = even_sizes(length)
    assert sizes[0] == length
    assert sizes[-1] == 1
    assert sizes == sorted(set(sizes), reverse=True)
    for size in sizes:
        tiles = -(-length // size)
        assert size == -(-length // tiles), "no smaller size covers it with that many tiles"
    assert {length // tiles for tiles in range(1, 17) if length % tiles == 0} <= set(sizes)


@given(st.integers(1, 500), st.integers(1, 500))
def test_an_even_tile_is_the_least_of_the_fewest(length: int, most: int) -> None:
    size = even_tile(length, most)
    assert size <= most
    assert -(-length // size) == -(-length // most)
    assert size == 1 or -(-length // (size - 1)) > -(-length // size)


# Estimates


def image(seed: int) -> Convolution:
    """A random convolution, some of whose weights are zero."""
    rng = np.random.default_rng(seed)
    kernel = int(rng.choice([1, 3, 5]))
    shape = (int(rng.integers(1, 40)), kernel, kernel, int(rng.integers(1, 60)))
    weights = rng.integers(-9, 10, shape) * (rng.random(shape) < rng.choice([0.4, 1.0]))
    side = int(rng.integers(6, 30)), int(rng.integers(6, 30))
    bias = rng.integers(-9, 10, shape[0]) if rng.random() < 0.5 else None
    padding = (kernel // 2, kernel // 2)
    words = {"activation": "relu", "shift": 4, "padding": padding, "bias": bias}
    return convolution(weights.astype(np.int8), side, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(("device", "split", "mapping"), [
    ("tiny", "a", WEIGHT), ("tiny", "e", OUTPUT), ("base", "d", OUTPUT), ("base", "b", WEIGHT),
])  # fmt: skip
def test_the_least_estimates_have_nearly_the_least_costs(
    device: str, split: str, mapping: Mapping
) -> None:
    """Of the six tiles with the least estimates, one costs at most 10% more than the best.

    When a plan is chosen, costs are predicted for six tiles only.
    """
    config = load(device)
    worse = []
    for seed in range(6):
        product = image(seed).validated(config)
        part = array_partition(product, split, (config["pe.rows"], config["pe.clusters"]))
        grid = tile_grid(product, config, mapping, part, taps=None)
        guesses = estimates(product, config, mapping, part, grid, 1.0)
        costs = []
        for index in np.argsort(guesses, kind="stable"):
            try:
                tile = grid.tile(index)
                plan = make_image_plan(product, config, mapping, split, tile, ImagePlan, part=None)
            except LowerError:
                continue
            if unit_bytes(plan) <= config["mem.unit_half_bytes"]:
                costs.append(cost(plan).cycles if guesses[index] < inf else inf)
        assert min(costs) < inf
        worse.append(min(costs[:6]) / min(costs))
    assert max(worse) <= 1.1
    assert np.median(worse) <= 1.02


@pytest.mark.parametrize(("device", "split"), [("tiny", "b"), ("base", "d"), ("base", "h")])
def test_the_least_estimates_of_products_have_nearly_the_least_costs(
    device: str, split: str
) -> None:
    config = load(device)
    worse = []
    for m, n, k in ((100, 33, 70), (7, 200, 300), (260, 64, 64)):
        product = Product(m, integers(n, k, zeros=0.3), integers(n).astype(np.int64))
        product = product.validated(config)
        part = array_partition(product, split, (config["pe.rows"], config["pe.clusters"]))
        grid = row_grid(config, part)
        guesses = row_estimates(product, config, part, grid, 1.0)
        costs = []
        for index in np.argsort(guesses, kind="stable"):
            tile, whole = grid.tile(index)
            try:
                plan = make_product_plan(product, config, WEIGHT, split, tile, whole, part=None)
            except LowerError:
                continue
            if unit_bytes(plan) <= config["mem.unit_half_bytes"]:
                costs.append(cost(plan).cycles)
        worse.append(min(costs[:6]) / min(costs))
    assert max(worse) <= 1.1


@pytest.mark.parametrize(("device", "width", "split"), [
    ("tiny", 4, "b"), ("tiny", 4, "d"), ("tiny", 32, "a"), ("base", 1, "h"),
])  # fmt: skip
def test_estimates_of_products_are_near_their_costs(device: str, width: int, split: str) -> None:
    """Estimates of products are near predicted costs for each tile, also for bad ones.

    In some cases the dma is the limit, in others the array.
    """
    config, rng = load(device).changed({"dma.width": width}), np.random.default_rng(3)
    for m, n, k in ((256, 8, 60), (120, 16, 100)):
        weights = (rng.integers(1, 9, (n, k)) * (rng.random((n, k)) >= 0.2)).astype(np.int8)
        product = Product(m, weights).validated(config)
        part = array_partition(product, split, (config["pe.rows"], config["pe.clusters"]))
        grid = row_grid(config, part)
        guesses = row_estimates(product, config, part, grid, 1.0)
        ratios = []
        for index in np.flatnonzero(guesses < inf)[::17]:
            tile, whole = grid.tile(index)
            try:
                plan = make_product_plan(product, config, WEIGHT, split, tile, whole, part=None)
            except LowerError:
                continue
            if unit_bytes(plan) <= config["mem.unit_half_bytes"]:
                ratios.append(guesses[index] / cost(plan).cycles)
        assert len(ratios) > 20
        assert min(ratios) >= 0.75
        assert max(ratios) <= 1.17  # costs include the program, which is short if rows add in loops
        assert 0.9 <= np.median(ratios) <= 1.03


# Parts of the array


@pytest.mark.long
def test_a_larger_device_is_never_slower() -> None:
    """A product takes no longer on `large` than on `base`.

    Without multicasts, it took up to 1.9 times as long.
    """
    weights, x = integers(128, 128, zeros=0.5), integers(128, 128, zeros=0.5)
    taken = {}
    for device in ("base", "large"):
        found = lower("spmm", weights, rows=128, device=device, density=0.5)
        measured = found.measure(x)
        assert measured.equal
        assert found.cost.cycles == pytest.approx(measured.cycles, rel=0.1)
        taken[device] = measured.cycles
    assert taken["large"] <= 1.03 * taken["base"]  # as exact as the predictions are


@pytest.mark.parametrize("shape", [(8, 8, 8), (3, 100, 10)])
def test_more_rows_are_never_predicted_to_cost_more(shape: tuple[int, int, int]) -> None:
    """A larger array is not predicted to be slower: plans for half of it are candidates, too."""
    m, n, k = shape
    product = Product(m, integers(n, k))
    cycles = []
    for rows in (1, 2, 4):
        config = load("base").changed({"pe.rows": rows})
        cycles.append(choose(product.validated(config), config).others[0].cost.cycles)
    assert all(more <= 1.02 * fewer for fewer, more in pairwise(cycles))


def test_fewer_rows_take_fewer_cycles_where_they_are_chosen() -> None:
    """A small product uses few rows, which is faster: 16 rows would wait for their transfers."""
    weights = integers(16, 64)
    found = lower("spmm", weights, rows=16, device="large", mapping="weight")
    part = found.choice.selection.plan.partition
    assert part.rows * part.clusters < 16
    whole = lower("spmm", weights, rows=16, device="large", mapping="weight", split="a")
    assert whole.choice.selection.plan.partition.rows == 16
    assert found.measure().cycles < whole.measure().cycles


# Forms


@settings(max_examples=6, deadline=None)
@given(
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    side=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    shape=st.tuples(st.integers(1, 20), st.integers(1, 30)),
    seed=st.integers(0, 1 << 32),
    device=st.sampled_from([(1, 2, 3), (3, 2, 4), (2, 4, 2)]),
    split=st.sampled_from(sorted(SPLITS)),
)
def test_a_pointwise_convolution_is_a_matrix_product(
    stride: tuple[int, int],
    side: tuple[int, int],
    shape: tuple[int, int],
    seed: int,
    device: tuple[int, int, int],
    split: str,
) -> None:
    """A pointwise convolution has the results, bytes and cycles of a product.

    With a stride, skipped pixels are not loaded. Along a single pixel, nothing is skipped.
    """
    rng = np.random.default_rng(seed)
    names = ("pe.rows", "pe.clusters", "pe.pes")
    config = Configuration("drawn", dict(zip(names, device, strict=True)))
    weights = rng.integers(-9, 10, (shape[0], 1, 1, shape[1])).astype(np.int8)
    bias = rng.integers(-99, 100, shape[0]) if rng.random() < 0.5 else None
    product = convolution(weights, side, stride=stride, bias=bias, activation="relu", shift=3)
    matrix = product.validated(config).matrix
    assert matrix is not None
    part = array_partition(matrix, split, device[:2])
    rows, columns = part.length("M"), part.length("K")
    tile = Tile(int(rng.integers(1, rows + 1)), 1, even_tile(part.length("N"), device[2]), columns)
    try:
        plan = make_product_plan(
            matrix, config, WEIGHT, split, tile, bool(rng.random() < 0.5), part=None
        )
    except LowerError:
        assume(False)
    skips = any(min(pair) > 1 for pair in zip(stride, side, strict=True))
    assert plan.copies_input == skips
    x = rng.integers(-9, 10, (*side, shape[1])).astype(np.int8)
    program = made(layer_source(plan, "p", reasons=()))
    runs = [macaw.run(program, engine=engine, x=x) for engine in ENGINES]
    sums = x[:: stride[0], :: stride[1]].astype(int) @ weights[:, 0, 0].T.astype(int)
    sums = np.maximum(sums if bias is None else sums + bias, 0)
    for run in runs:
        np.testing.assert_array_equal(run.outputs["y"], np.clip(np.rint(sums / 8), -128, 127))
        assert run.counters["dma"]["bytes"] == cost(plan).traffic.total
    assert len({run.cycles for run in runs}) == 1


def test_pointwise_convolutions_are_chosen_as_products() -> None:
    """A pointwise convolution is lowered as a product of matrices.

    In a product, weights stay for many rows of activations; a slab has few pixels of 256 channels.
    """
    weights = integers(64, 1, 1, 256)
    words: dict[str, Any] = {"bias": integers(64).astype(int), "activation": "relu", "shift": 9}
    found = lower("conv2d", weights, image=(14, 14), device="base", **words)
    assert isinstance(found.choice.selection.plan.product, PointwiseProduct)
    assert "as a matrix product" in found.reasons()[0]
    measured = found.measure()
    assert measured.equal
    assert found.cost.cycles == pytest.approx(measured.cycles, rel=0.1)


@pytest.mark.usefixtures("few_plans")
@pytest.mark.parametrize("layout", ["hwc", "cwh"])
def test_an_image_of_one_row_takes_no_longer_than_one_of_one_column(layout: str) -> None:
    """An image of one row takes the cycles of an image of one column.

    The two images are equal in memory. If all tiles are narrow, one row takes 70 times as long.
    """
    weights, line = integers(8, 3, 2), (900, 2)
    cycles = []
    for kernel, side in (((1, 3), (1, 900)), ((3, 1), (900, 1))):
        found = lower("conv2d", weights.reshape(8, *kernel, 2), image=side, device="base",
                      padding=(kernel[0] // 2, kernel[1] // 2), out_layout=layout)  # fmt: skip
        x = integers(*line)
        run = macaw.run(found.assemble(), x=x.reshape(*side, 2))
        padded = np.pad(x.astype(int), ((1, 1), (0, 0)))
        wanted = sum(padded[i : i + 900] @ weights[:, i].T.astype(int) for i in range(3))
        wanted = np.asarray(wanted).reshape(*side, 8)
        wanted = wanted if layout == "hwc" else wanted.transpose(2, 1, 0)
        np.testing.assert_array_equal(run.outputs["y"], wanted)
        assert found.cost.cycles == pytest.approx(run.cycles, rel=0.15)
        cycles.append(run.cycles)
    assert cycles[0] == pytest.approx(cycles[1], rel=0.01)
    assert cycles[0] < 9000


def test_the_message_of_a_turned_image_names_its_own_sides() -> None:
    found = convolution(np.ones((1, 1, 3, 1), np.int8), (1, 20), stride=(1, 2), padding=(0, 1))
    assert found.turned
    assert found.describe() == (
        "convolution 1 × 3, stride 1 × 2, padding 0 × 1, of 1 × 20 × 1 to 1 channel"
    )
