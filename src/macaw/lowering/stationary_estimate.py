"""Estimates the cycles of weight stationary tiles of a product at once.

The estimates follow the rules of the cost model, but leave out cycles that are equal for all tiles.
They rank the tiles; `macaw.lowering.cost` then predicts the cycles of the best ones.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import BLOCKS
from macaw.lowering.cost import QUEUE_SUMS, STATIONARY_TURN, dispatch_delay
from macaw.lowering.mapping import WEIGHT
from macaw.lowering.operation import Product
from macaw.lowering.partition import Partition
from macaw.lowering.plan import MOST_SEGMENTS, Tile
from macaw.lowering.processor_cycles import IterationCycles
from macaw.lowering.sizes import even_sizes, even_tile
from macaw.lowering.tile_estimate import Numbers, Reals, TileEstimate
from macaw.lowering.weight_stationary import WeightStationaryPlan
from macaw.lowering.widths import onchip_cycles


@dataclass(frozen=True)
class RowGrid:
    """The sizes of the tiles of a product that an estimate compares.

    `rows` and `k` are arrays of equal shape with a number for each tile: rows of activations, and
    inputs. `whole` says for each tile whether the PEs load all rows before they multiply the first
    one. All tiles have `n` outputs.
    """

    rows: Numbers
    k: Numbers  # inputs
    whole: NDArray[np.bool_]
    n: int

    def tile(self, index: int) -> tuple[Tile, bool]:
        """Return the tile with index `index`, and whether its rows are loaded at once."""
        tile = Tile(int(self.rows[index]), 1, self.n, int(self.k[index]))
        return tile, bool(self.whole[index])


def row_grid(config: Configuration, part: Partition) -> RowGrid:
    """Return the weight stationary tiles to try for a part of a product.

    A tile's rows of activations may alternate between two parts of the input buffer. This needs an
    even number of rows, so for each odd number the result also has the next even number.
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
    """Return the estimated cycles of each tile of a grid, infinite for a tile that cannot fit.

    The result has the grid's shape. `density` is the share of activations that are not zero.
    """
    return _Estimate(config, part, density, product, grid).cycles


@dataclass(frozen=True)
class _Estimate(TileEstimate):
    """The numbers from which the cycles of a product's tiles are estimated.

    Each array has one number for each tile of `grid`.
    """

    product: Product
    grid: RowGrid

    @property
    def cycles(self) -> NDArray[np.float64]:
        """The cycles of the whole product for each tile; infinite if the tile does not fit."""
        transfers, loading, storing = self.dma_transfers_and_cycles
        alone = self.tiles > 1  # the dma moves partial sums while rows compute
        partial, rows = self.partial_cycles, self.row_cycles * self.config["pe.divider"]
        rows = rows + dispatch_delay(self.config)
        control = IterationCycles.of(self.config)
        dma = loading + storing + np.where(alone, partial, 0)
        code = control.step + control.transfer * transfers
        after = np.where(alone, 0, partial / 2)  # what follows the work of an iteration
        if self.some.reduces_rows:
            sums = self.part.rows * self.grid.rows
            moved = sums * self.some.summing_clusters * self.some.pes * self.some.sum_size
            adding = moved / self.width + 12 * self.grid.rows
            joins = onchip_cycles(self.config, moved) + 44 + adding * self.config["pe.divider"]
            after = after + joins / self.tiles_k
        turn = np.maximum(np.maximum(rows, dma + control.store), code) + after + control.turn
        # The first iteration overlaps only loads, the last one only stores.
        begin = np.maximum(np.maximum(rows, loading + control.store), code) + after + control.turn
        steps = self.tiles * self.tiles_n * self.tiles_k
        end = np.maximum(rows, control.store + np.where(steps > 1, dma - loading, 0)) + after
        guess = np.maximum(steps - 2, 0) * turn + np.where(steps > 1, begin, 0) + end + dma
        return np.asarray(np.where(self.cannot_fit, np.inf, guess), np.float64)

    @cached_property
    def some(self) -> WeightStationaryPlan:
        """The plan of an arbitrary tile, for the numbers that are the same for all tiles."""
        tile = Tile(1, 1, self.grid.n, self.part.length("K"))
        return WeightStationaryPlan(self.product, self.config, WEIGHT, self.part, tile)

    @property
    def n(self) -> int:
        """The number of outputs (N) of a tile; tile sizes differ only in their other numbers."""
        return self.grid.n

    # Numbers of tiles

    @cached_property
    def tiles(self) -> Numbers:
        """The number of tiles into which the rows of activations are divided."""
        return -(-self.part.length("M") // self.grid.rows)

    @cached_property
    def tiles_k(self) -> Numbers:
        """The number of tiles into which the inputs (k) are divided."""
        return -(-self.part.length("K") // self.grid.k)

    # Sizes of a tile

    @property
    def clusters(self) -> int:
        """The number of clusters of a row with different activations; 1 if all use the same."""
        return 1 if self.some.shares_activations else self.part.clusters

    @cached_property
    def entries(self) -> Reals:
        """The mean number of nonzero weights that one output has in a tile."""
        entries = np.count_nonzero(self.product.weights) / self.product.n * self.grid.k
        return entries / self.product.k

    @property
    def sum_bytes(self) -> int:
        """The bytes of the sums for one row of activations."""
        return self.some.slots * self.some.sum_size

    @property
    def adds(self) -> NDArray[np.bool_]:
        """Whether the packets that multiply also add a bias or partial sums.

        They never do if clusters add their sums.
        """
        begins = self.several | (self.product.bias is not None)
        return begins & (not self.some.reduces_clusters)

    # Rows

    @property
    def row_cycles(self) -> Reals:
        """The cycles of a row of the array in one iteration.

        The row loads the weights, multiplies the rows of activations one by one, and stores the
        results or partial sums.
        """
        some, rows, width, whole = self.some, self.grid.rows, self.width, self.grid.whole
        row = self.clusters * self.grid.k * self.size / width
        first = row * np.where(whole, rows, 1) + self.weights / width + 8
        stored = (self.result + (self.tiles_k - 1) * some.sum_size) / self.tiles_k
        finishing = 0 if some.reduces_clusters else len(some.functions) * rows * some.pes
        work: Reals = first + rows * self.product_cycles(row)
        work = work + finishing / self.config["sfu.rate"] / self.tiles_k
        work = work + some.slots * rows * stored / width + 12
        if some.reduces_clusters:
            parts = self.part.clusters + (self.several | (self.product.bias is not None))
            work = work + rows * (parts * (max(1.0, some.pes * some.sum_size / width) + 1) + 8)
        return work

    def product_cycles(self, row: Reals) -> Reals:
        """Return the cycles in which a PE multiplies one row of activations by its weights.

        The next row is loaded at the same time, which takes `row` cycles.
        """
        begins = np.where(self.several & self.adds, self.sum_bytes / self.width, 0.0)
        loading = np.where(self.grid.whole, 0, row)
        each: Reals = np.maximum(self.loads + 2, begins + loading) + STATIONARY_TURN
        return each + np.where(self.adds & ~self.several, QUEUE_SUMS, 0)

    # The dma

    @property
    def dma_transfers_and_cycles(self) -> tuple[Reals, Reals, Reals]:
        """The dma's work in an iteration: number of transfers, cycles of loads, cycles of stores.

        The cycles do not include those in which the bytes of partial sums move (`partial_cycles`).
        """
        some, rows = self.some, self.grid.rows
        loads_x = self.clusters * (1 if some.rows_share_activations else self.part.rows)
        loads_w = 1 if some.rows_share_weights else self.part.rows
        stored = some.summing_clusters * (1 if some.reduces_rows else self.part.rows) / self.tiles_k
        again = np.minimum(1.0, 2 / self.tiles)
        line, end = self.grid.k * self.size, self.grid.n * self.result
        loads, stores = loads_x + loads_w + self.several, stored + self.several
        loading = loads_x * rows * self.moving_row(line)
        loading = loading + again * loads_w * self.moving(self.weights)
        storing = stored * rows * self.moving_row(end)
        return loads + stores, loading + loads * self.start, storing + stores * self.start

    @property
    def partial_cycles(self) -> Reals:
        """The cycles in an iteration in which the dma moves partial sums."""
        rows = 2 * (self.tiles_k - 1) / self.tiles_k * self.part.rows * self.grid.rows
        return np.where(self.several, self.moving(rows * self.sum_bytes), 0)

    # Room

    @property
    def cannot_fit(self) -> NDArray[np.bool_]:
        """A mask of the tiles that are too large for a queue, buffer, packet or half of a unit."""
        config, rows, k, whole = self.config, self.grid.rows, self.grid.k, self.grid.whole
        block = config["pe.input_buffer"] // BLOCKS
        blocks = np.where(whole, -(-rows * k // block), np.minimum(rows, 2) * -(-k // block))
        queue = (BLOCKS - self.adds) * (config["pe.output_queue"] // BLOCKS)
        segments = np.where(whole, 2, rows) + np.where(self.several, rows, 1) * self.adds
        results = self.some.slots * rows * self.result
        room = self.clusters * rows * k * self.size + self.weights + results
        bad: NDArray[np.bool_]
        bad = (blocks > BLOCKS) | (rows > queue) | (segments > MOST_SEGMENTS)
        bad |= (self.entries > config["pe.weight_queue"]) | (room > config["mem.unit_half_bytes"])
        bad |= whole & (rows == 1)
        return bad
