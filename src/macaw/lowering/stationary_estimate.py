"""Estimates the cycles of weight stationary tiles of a product at once.

As in `macaw.lowering.image_estimate`, the estimates rank tiles by the rules of the cost model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import BLOCKS, ENTRY, WEIGHTS_RECORD
from macaw.lowering.cost import (
    CP_STEP,
    CP_STORE,
    CP_TRANSFER,
    CP_TURN,
    QUEUE_SUMS,
    STATIONARY_TURN,
)
from macaw.lowering.mapping import WEIGHT
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import Partition
from macaw.lowering.plan import MOST_SEGMENTS, Tile
from macaw.lowering.sizes import even_sizes, even_tile
from macaw.lowering.weight_stationary import WeightStationaryPlan

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class RowGrid:
    """Tiles of a product, as arrays of equal shape: their rows of activations and their inputs.

    All have `n` outputs. `whole` says whether all rows are loaded before the first product.
    """

    rows: Numbers
    k: Numbers
    whole: NDArray[np.bool_]
    n: int

    def tile(self, index: int) -> tuple[Tile, bool]:
        """Return the tile with index `index`, and whether its rows are loaded at once."""
        tile = Tile(int(self.rows[index]), 1, self.n, int(self.k[index]))
        return tile, bool(self.whole[index])


def row_grid(config: Configuration, part: Partition) -> RowGrid:
    """Return the weight stationary tiles to try for a part of a product.

    If rows alternate between two parts of the input buffer, their number must be even. So for each
    odd number the next even number is tried, too.
    """
    length = part.length("M")
    sizes = [size for size in even_sizes(length) if size <= config["pe.output_queue"]]
    even = [min(size + size % 2, length - length % 2) for size in sizes]
    rows = [size for size in dict.fromkeys([*sizes, *even]) if size]
    grid = np.meshgrid(rows, even_sizes(part.length("K")), [False, True], indexing="ij")
    flat = [axis.reshape(-1) for axis in grid]
    return RowGrid(
        flat[0], flat[1], flat[2].astype(bool), even_tile(part.length("N"), config["pe.pes"])
    )


def row_estimates(
    product: Product, config: Configuration, part: Partition, grid: RowGrid, density: float
) -> NDArray[np.float64]:
    """Return the estimated cycles of each tile of a grid; infinite if it cannot fit."""
    # The plan of one tile has the numbers that are the same for all tiles.
    some = WeightStationaryPlan(product, config, WEIGHT, part, Tile(1, 1, grid.n, part.length("K")))
    types, width = some.types, int(config["dist.bus_bytes"])
    size, sum_size = Types.size(types.operand), some.sum_size
    rows, k, n, whole = grid.rows, grid.k, grid.n, grid.whole
    tiles = -(-part.length("M") // rows)
    tiles_n, tiles_k = -(-part.length("N") // n), -(-part.length("K") // k)
    several = tiles_k > 1  # whether partial sums return
    # Rows: load the weights, multiply the rows of activations one by one, store.
    entries = np.count_nonzero(product.weights) / product.n * k / product.k
    owners = 1 if some.shares_weights else part.clusters
    weights = owners * some.pes * (WEIGHTS_RECORD.size + (ENTRY.size + size) * entries)
    loads = np.maximum(entries * density, entries / 2)
    if config["pe.design"] != "5b":
        loads = entries
    clusters = 1 if some.shares_activations else part.clusters
    row = clusters * k * size / width
    sums = some.slots * sum_size
    adds = (several | (product.bias is not None)) & (not some.reduces_clusters)
    begins = np.where(several & adds, sums / width, 0.0)
    each = np.maximum(loads + 2, begins + np.where(whole, 0, row)) + STATIONARY_TURN
    each = each + np.where(adds & ~several, QUEUE_SUMS, 0)
    first = row * np.where(whole, rows, 1) + weights / width + 8
    kinds = len(some.functions)
    result = Types.size(types.result)
    stored = (result + (tiles_k - 1) * sum_size) / tiles_k
    finishing = 0 if some.reduces_clusters else kinds * rows * some.pes / config["sfu.rate"]
    work = first + rows * each + finishing / tiles_k + some.slots * rows * stored / width + 12
    if some.reduces_clusters:
        parts = part.clusters + (several | (product.bias is not None))
        work = work + rows * (parts * (max(1.0, some.pes * sum_size / width) + 1) + 8)
    # The dma and cp.
    bus = min(int(config["dma.width"]), int(config["mem.external_width"]))
    loads_x = clusters * (1 if some.rows_share_activations else part.rows)
    loads_w = 1 if some.rows_share_weights else part.rows
    stores = some.summing_clusters * (1 if some.reduces_rows else part.rows)
    again = np.minimum(1.0, 2 / tiles)
    line, end = k * size, n * result
    beats = (
        loads_x * rows * (1 + (line - np.gcd(line, bus)) / bus) + again * loads_w * weights / bus
    )
    beats = beats + stores * rows * (1 + (end - np.gcd(end, bus)) / bus) / tiles_k
    partial = np.where(several, 2 * (tiles_k - 1) / tiles_k * part.rows * rows * sums / bus, 0)
    transfers = loads_x + loads_w + stores / tiles_k + 2 * several
    start = config["dma.setup"] + config["mem.external_latency"] + config["mem.onchip_latency"]
    dma = transfers * (start + 1) + beats + np.where(tiles > 1, partial, 0)
    turn = np.maximum(np.maximum(work, dma + CP_STORE), CP_STEP + CP_TRANSFER * transfers)
    turn = turn + CP_TURN + np.where(tiles > 1, 0, partial / 2)
    if some.reduces_rows:
        moved = part.rows * rows * some.summing_clusters * some.pes * sum_size
        turn = turn + (moved / bus + 44 + moved / width + 12 * rows) / tiles_k
    # Tiles that cannot fit.
    block = config["pe.input_buffer"] // BLOCKS
    blocks = np.where(whole, -(-rows * k // block), np.minimum(rows, 2) * -(-k // block))
    queue = (BLOCKS - adds) * (config["pe.output_queue"] // BLOCKS)
    segments = np.where(whole, 2, rows) + np.where(several, rows, 1) * adds
    room = clusters * rows * k * size + weights + some.slots * rows * result
    bad = (blocks > BLOCKS) | (rows > queue) | (segments > MOST_SEGMENTS)
    bad |= (entries > config["pe.weight_queue"]) | (room > config["mem.unit_half_bytes"])
    bad |= whole & (rows == 1)
    guess = tiles * tiles_n * tiles_k * turn + dma
    return np.asarray(np.where(bad, np.inf, guess), np.float64)
