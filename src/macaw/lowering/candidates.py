"""Finds plans of an operation that fit the device, so that the cost model can compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import singledispatch
from math import gcd, inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import macaw.lowering.image_program  # noqa: F401 - it registers the rows and transfers of an ImagePlan
from macaw.isa.config import Configuration
from macaw.isa.pe import ACCUMULATORS, BLOCKS
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.image_estimate import TileGrid, estimates, kernel_cuts, tile_grid
from macaw.lowering.image_plan import ImagePlan, ImageTile, make_image_plan
from macaw.lowering.mapping import INPUT, OUTPUT, WEIGHT, Mapping
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import Partition, partition
from macaw.lowering.plan import ProductPlan, Tile
from macaw.lowering.row_program import unit_bytes
from macaw.lowering.sizes import even_sizes, even_tile
from macaw.lowering.sliding_window import SlidingWindowPlan
from macaw.lowering.stationary_estimate import row_estimates, row_grid
from macaw.lowering.weight_stationary import make_product_plan

GROUPS = (1, 2, 4, 8, 16)  # numbers of groups of rows of activations in a tile to try
TRIES = 6  # the most tiles, those with the lowest estimates, whose cost is predicted
ALIGNED = 16  # bytes: the alignment of the outputs of a cluster
# A plan is not tried if its estimate is more than this factor times the lowest cost so far.
LATER = 1.3

Plan = TypeVar("Plan", bound=ProductPlan)


def array_partition(product: Product, split: str, size: tuple[int, int]) -> Partition:
    """Return how `split` divides a product among at most `size` (rows, clusters) of the array."""
    return partition(split, *size, (product.m, product.n, product.k))


def _partitions(
    product: Product, config: Configuration, split: str, size: tuple[int, int], aligns: bool
) -> list[Partition]:
    """Return the partitions to try for a split and a size (rows, clusters): one or two.

    The first is that of `array_partition`. With `aligns`, the second one is an aligned partition,
    unless it is equal to the first. The dma moves the outputs of a cluster in pieces of a few
    bytes, and a piece that crosses the border of a beat takes longer. In an aligned partition fewer
    pieces cross such a border: a part's number of outputs is a multiple of the greatest common
    divisor of `pe.pes` and the number of results in 16 bytes.
    """
    part = array_partition(product, split, size)
    if not aligns:
        return [part]
    grain = gcd(ALIGNED // Types.size(product.types(config).result), int(config["pe.pes"]))
    aligned = partition(split, *size, part.extents, max(1, grain))
    return [part] if aligned.length("N") == part.length("N") else [part, aligned]


def least_cycles(
    product: Product, config: Configuration, split: str, size: tuple[int, int], density: float
) -> float:
    """Return a lower bound of the cycles of any plan's multiplications.

    The plans use at most `size` (rows, clusters). `density` is the share of activations that are
    not zero.
    """
    if isinstance(product, Convolution) and product.matrix is not None:
        product = product.matrix
    part = array_partition(product, split, size)
    rows = part.length("M")
    if isinstance(product, Convolution):
        rows *= product.columns * product.image_count
    entries = np.count_nonzero(product.weights) / product.n * part.length("K") / product.k
    share = max(density, 0.5) if config["pe.design"] == "5b" else 1.0
    return float(rows * -(-part.length("N") // config["pe.pes"]) * entries * share)


@singledispatch
def plans(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    size: tuple[int, int],
    density: float,
    limit: float,
    aligns: bool,
) -> Iterator[ProductPlan]:
    """Yield plans that fit the device, for a mapping and a split.

    They use at most `size` (rows, clusters) of the array. For the weight stationary mapping, the
    function yields at most `TRIES` plans: those with the fewest estimated cycles. For the others,
    it tries several numbers of rows of activations in a tile; for each number it yields the two
    plans with the most inputs (k) in a tile. For the input stationary mapping, it then yields plans
    that multiply the rows of a tile in a loop (`_loop_plans`). `density` is the share of
    activations that are not zero. Plans that probably take more than `limit` cycles may be left
    out. With `aligns`, the function then does the same for an aligned partition (`_partitions`).
    """
    for part in _partitions(product, config, split, size, aligns):
        yield from _product_plans(product, config, mapping, part, density, limit)


def _product_plans(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    density: float,
    limit: float,
) -> Iterator[ProductPlan]:
    """Yield plans of a matrix product that fit the device, for a mapping and a partition.

    `density` is the share of activations that are not zero. Weight stationary plans come in the
    order of their estimated cycles; plans that probably take more than `limit` cycles are left out.
    For the other mappings, `density` and `limit` have no effect.
    """
    if mapping is WEIGHT:
        yield from _stationary_plans(product, config, part, density, limit)
        return
    outputs = even_tile(part.length("N"), config["pe.pes"])
    for groups, members in _rows(part, mapping):
        count = 0
        for k in _inputs(part, config, groups * members):
            tile = Tile(groups, members, outputs, k)
            plan = _fitting(product, config, mapping, part, tile)
            if plan is not None:
                yield plan
                count += 1
            if count == 2:
                break
    if mapping is INPUT:
        yield from _loop_plans(product, config, part)


def _loop_plans(product: Product, config: Configuration, part: Partition) -> Iterator[ProductPlan]:
    """Yield input stationary plans that multiply the rows of a tile in a loop, at most `TRIES`.

    The plans differ in the number of rows of activations in a tile. The inputs (k) are divided into
    as few tiles as the input buffer allows.
    """
    outputs, length = even_tile(part.length("N"), config["pe.pes"]), part.length("K")
    count = 0
    for rows in even_sizes(part.length("M")):
        most = min(length, config["pe.input_buffer"] // rows)
        tile = Tile(rows, 1, outputs, even_tile(length, most)) if most else None
        plan = tile and _fitting(product, config, INPUT, part, tile, whole=True)
        if plan:
            yield plan
            count += 1
        if count == TRIES:
            return


def _stationary_plans(
    product: Product, config: Configuration, part: Partition, density: float, limit: float
) -> Iterator[ProductPlan]:
    """Yield the weight stationary plans with the lowest estimated cycles, at most `TRIES`.

    `density` is the share of activations that are not zero. Plans whose estimate is much greater
    than `limit` cycles are left out.
    """
    grid = row_grid(config, part)
    guesses = row_estimates(product, config, part, grid, density)

    def fitting(index: int) -> ProductPlan | None:
        tile, whole = grid.tile(index)
        return _fitting(product, config, WEIGHT, part, tile, whole=whole)

    yield from _least(guesses, limit, fitting)


def _least(
    guesses: NDArray[np.float64], limit: float, fitting: Callable[[int], Plan | None]
) -> Iterator[Plan]:
    """Yield the plans with the lowest estimated cycles, at most `TRIES`.

    `guesses` has the estimates of possible plans; those above `LATER` times `limit` are left out.
    `fitting` takes an index in `guesses`. It returns the plan with this estimate, or None if the
    plan does not fit the device.
    """
    count = 0
    for index in np.argsort(guesses, kind="stable"):
        if not guesses[index] <= LATER * limit or count == TRIES:
            return
        plan = fitting(index)
        if plan is not None:
            yield plan
            count += 1


@plans.register
def _image_plans(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    split: str,
    size: tuple[int, int],
    density: float,
    limit: float,
    aligns: bool,
) -> Iterator[ProductPlan]:
    """Yield plans of a convolution that fit the device, for a mapping and a split.

    There are plans with slabs (`ImagePlan`) for the layout `hwc`, plans with sliding windows for
    depthwise convolutions, and plans of a matrix product for a 1 × 1 convolution. They use at most
    `size` (rows, clusters) of the array. `density` is the share of activations that are not zero.
    Plans that probably take more than `limit` cycles may be left out. With `aligns`, plans of an
    aligned partition follow (`_partitions`).
    """
    if product.matrix is not None and mapping is WEIGHT:
        yield from plans(product.matrix, config, mapping, split, size, density, limit, aligns)
    for part in _partitions(product, config, split, size, aligns):
        yield from _plans_of_image(product, config, mapping, part, density, limit)


def _plans_of_image(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    density: float,
    limit: float,
) -> Iterator[ProductPlan]:
    """Yield plans that fit the device, for a convolution, a mapping and a partition.

    `density` is the share of activations that are not zero. Plans that probably take more than
    `limit` cycles may be left out.
    """
    if product.layout == "hwc":
        cuts = [] if product.paired else kernel_cuts(product, config)
        for taps in (None, *cuts):
            grid = tile_grid(product, config, mapping, part, taps)
            guesses = estimates(product, config, mapping, part, grid, density)
            count = 0

            def tallest(index: int, grid: TileGrid = grid) -> ImagePlan | None:
                return _tallest(product, config, mapping, part, grid.tile(index), ImagePlan)

            for plan in _least(guesses, limit, tallest):
                yield plan
                count += 1
            limit = min(limit, guesses.min(initial=inf))
            if (taps is None and count) or mapping.inner != "K":
                break  # the kernel need not be cut, or cannot be cut
    if product.depthwise and not product.paired:
        yield from _sliding_plans(product, config, mapping, part, limit)


def _sliding_plans(
    product: Convolution, config: Configuration, mapping: Mapping, part: Partition, limit: float
) -> Iterator[ImagePlan]:
    """Yield plans with sliding windows, one for each number of output columns in a tile.

    Each tile has as many rows as fit (`_tallest`). There are no plans if the dma alone would take
    more than `limit` cycles.
    """
    if product.layout == "hwc":  # the dma moves strips element by element
        moved = product.m * product.kernel[0] * product.width * product.channels
        if moved * config["dma.divider"] > limit:
            return
    outputs = even_tile(part.length("N"), config["pe.pes"])
    for columns in even_sizes(product.columns):
        tile = ImageTile(part.length("M"), 1, outputs, part.length("K"), columns)
        plan = _tallest(product, config, mapping, part, tile, SlidingWindowPlan)
        if plan is not None:
            yield plan


def _tallest(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    tile: ImageTile,
    kind: type[ImagePlan],
) -> ImagePlan | None:
    """Return a plan of class `kind` with many rows in a tile; None if not even one row fits.

    `tile` has the largest number of rows to try; its other sizes stay. The function reduces the
    rows by about a quarter at a time, until the plan fits the device.
    """
    length = rows = tile.groups
    while True:
        rows = even_tile(length, rows)
        shorter = replace(tile, groups=rows)
        try:
            plan = make_image_plan(product, config, mapping, part.split, shorter, kind, part)
        except LowerError:
            plan = None
        if plan is not None and unit_bytes(plan) <= config["mem.unit_half_bytes"]:
            return plan
        if rows == 1:
            return None
        rows = max(1, min(rows - 1, rows * 3 // 4))


def _rows(part: Partition, mapping: Mapping) -> Iterable[tuple[int, int]]:
    """Return the pairs (groups, members) to try for a tile of a part.

    A tile has `groups` groups of `members` rows of activations. Each member of a group has its own
    accumulator in a PE, so `members` is at most the number of accumulators.
    """
    length = part.length("M")
    most = min(length, ACCUMULATORS)
    pairs = []
    for members in dict.fromkeys((most, even_tile(length, most), min(most, 3), min(most, 2))):
        for groups in GROUPS if mapping is not OUTPUT else GROUPS[:1]:
            if groups * members <= min(length, BLOCKS):
                pairs.append((groups, members))
    return pairs


def _inputs(part: Partition, config: Configuration, rows: int) -> Iterator[int]:
    """Yield the numbers of inputs (k) to try for tiles with `rows` rows of activations.

    The largest number is the first; it is limited by the input buffer.
    """
    block = config["pe.input_buffer"] // BLOCKS
    length, last = part.length("K"), 0
    most = min(length, BLOCKS // rows * block)
    tiles = -(-length // most)
    while True:
        k = -(-length // tiles)
        if k != last:
            yield k
        if k == 1:
            return
        last, tiles = k, max(tiles + 1, tiles * 5 // 4)


def _fitting(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    tile: Tile,
    *,
    whole: bool = False,
) -> ProductPlan | None:
    """Return the plan for a tile, or None if it does not fit the device.

    With `whole`, the input buffer takes all activations of the tile at once.
    """
    try:
        plan = make_product_plan(product, config, mapping, part.split, tile, whole, part)
    except LowerError:
        return None
    return plan if unit_bytes(plan) <= config["mem.unit_half_bytes"] else None
