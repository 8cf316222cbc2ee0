"""Estimates the cycles of all tiles of a convolution at once, without reading single weights.

The estimates rank tiles; `macaw.lowering.cost` then predicts the cycles of the best tiles. The
estimates use the rules of the cost model with two differences. They take the mean number of weights
of an output, not the largest number in each tile. They leave out cycles that are equal for all
tiles.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import BLOCKS
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import IMAGE_TURN, QUEUE_SUMS, dispatch_delay
from macaw.lowering.image_plan import ImagePlan, ImageTile
from macaw.lowering.mapping import WEIGHT, Mapping
from macaw.lowering.partition import Partition
from macaw.lowering.plan import MOST_SEGMENTS
from macaw.lowering.processor_cycles import IterationCycles
from macaw.lowering.sizes import even_sizes, even_tile
from macaw.lowering.tile_estimate import Numbers, Reals, TileEstimate
from macaw.lowering.widths import onchip_cycles


@dataclass(frozen=True)
class TileGrid:
    """The sizes of the tiles of a convolution that an estimate compares.

    `groups`, `columns` and `k` are arrays of equal shape with a number for each tile: rows of
    output positions, columns of output positions, and input channels. All tiles have `n` output
    channels, and take a part of size `taps` (height, width) of the kernel.
    """

    groups: Numbers  # rows of output positions
    columns: Numbers  # columns of output positions
    k: Numbers  # input channels
    n: int
    taps: tuple[int, int]

    def tile(self, index: int) -> ImageTile:
        """Return the tile with index `index`."""
        rows, columns = int(self.groups[index]), int(self.columns[index])
        return ImageTile(rows, 1, self.n, int(self.k[index]), columns, self.taps)


def kernel_cuts(product: Convolution, config: Configuration) -> list[tuple[int, int]]:
    """Return the sizes (height, width) to try for the parts of a kernel that does not fit the PEs.

    There are at most three widths, the largest that fit, and at most three heights for each.
    """
    most = min(config["pe.weight_queue"], config["pe.input_buffer"])
    cuts = []
    for width in [size for size in even_sizes(product.kernel[1]) if size <= most][:3]:
        heights = [size for size in even_sizes(product.kernel[0]) if size * width <= most]
        cuts += [(height, width) for height in heights[:3]]
    return cuts


def tile_grid(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    taps: tuple[int, int] | None,
) -> TileGrid:
    """Return the tiles to try for the part of a convolution that one cluster computes.

    `taps` is the size of the kernel's part that a tile takes; None means the whole kernel. For each
    number of columns and of channels, there are two tiles: the one with the most rows that fit the
    buffers, and one with about half as many rows.
    """
    n, taps = even_tile(part.length("N"), config["pe.pes"]), taps or product.kernel
    length = part.length("K")
    depths = even_sizes(length) if mapping.inner == "K" else [length]
    k, columns = (
        axis.reshape(-1) for axis in np.meshgrid(depths, even_sizes(product.columns), indexing="ij")
    )
    width = (columns - 1) * product.stride[1] + taps[1]
    line = width * (n if product.depthwise else k)  # activations in a row of the slab
    high = config["pe.input_buffer"] // line - taps[0]
    highest = np.minimum(high // product.stride[0] + 1, config["pe.output_queue"] // columns)
    highest = np.clip(highest, 0, part.length("M"))
    heights = np.concatenate([highest, -(-highest // 2)])
    some = heights > 0
    counts = -(-part.length("M") // np.maximum(heights, 1))
    groups = -(-part.length("M") // counts)
    return TileGrid(groups[some], np.tile(columns, 2)[some], np.tile(k, 2)[some], n, taps)


def estimates(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    part: Partition,
    grid: TileGrid,
    density: float,
) -> NDArray[np.float64]:
    """Return the estimated cycles of each tile of a grid, infinite for a tile that cannot fit.

    The result has the grid's shape. `density` is the share of activations that are not zero.
    """
    return _Estimate(config, part, density, product, mapping, grid).cycles


@dataclass(frozen=True)
class _Estimate(TileEstimate):
    """The numbers from which the cycles of a convolution's tiles are estimated.

    Each array has one number for each tile of `grid`. The slab of a tile is the part of the padded
    image that the tile needs.
    """

    product: Convolution
    mapping: Mapping
    grid: TileGrid

    @property
    def cycles(self) -> NDArray[np.float64]:
        """The cycles of the whole convolution for each tile; infinite if the tile does not fit."""
        rows, moved = self.row_cycles * self.config["pe.divider"], self.moved_sums
        rows = rows + dispatch_delay(self.config)
        transfers, dma = self.dma_transfers_and_cycles
        control = IterationCycles.of(self.config)
        code = control.step + control.transfer * transfers
        turn = np.maximum(np.maximum(rows + 22, dma + control.store), code) + control.turn
        again = (moved + 16) * (self.tiles_k - 1) / self.tiles_k
        turn = turn + np.where(self.several, again, 0)
        if self.some.reduces_rows:
            sums = self.part.rows * self.outputs * self.sum_bytes / self.width
            adding = (sums + 12 * self.outputs) * self.config["pe.divider"]
            turn = turn + (moved + 44 + adding) / self.tiles_k
        guess = self.tiles * self.tiles_n * self.tiles_k * turn + dma
        return np.asarray(np.where(self.cannot_fit, np.inf, guess), np.float64)

    @cached_property
    def some(self) -> ImagePlan:
        """The plan of an arbitrary tile, for the numbers that are the same for all tiles."""
        tile = ImageTile(1, 1, self.grid.n, self.part.length("K"))
        return ImagePlan(self.product, self.config, self.mapping, self.part, tile)

    @property
    def n(self) -> int:
        """The number of outputs (N) of a tile; tile sizes differ only in their other numbers."""
        return self.grid.n

    # Numbers of tiles

    @cached_property
    def tiles(self) -> Reals:
        """The number of tiles into which the output positions of a part are divided.

        The tiles of all images count.
        """
        high = -(-self.part.length("M") // self.grid.groups)
        return high * -(-self.product.columns // self.grid.columns) * self.product.image_count

    @cached_property
    def tiles_k(self) -> Reals:
        """The number of tiles whose sums add up to one result.

        It is the number of tiles of input channels, times the number of the kernel's parts.
        """
        sides = zip(self.product.kernel, self.grid.taps, strict=True)
        shares = [-(-whole // cut) for whole, cut in sides]
        return -(-self.part.length("K") // self.grid.k) * prod(shares)

    # Sizes of a tile

    @property
    def outputs(self) -> Numbers:
        """The number of output positions of each tile."""
        return self.grid.groups * self.grid.columns

    @cached_property
    def slab_rows(self) -> Numbers:
        """The number of rows of the padded image that each tile needs (the rows of its slab)."""
        return (self.grid.groups - 1) * self.product.stride[0] + self.grid.taps[0]

    @cached_property
    def slab_columns(self) -> Numbers:
        """The number of columns of the padded image that each tile needs (columns of its slab)."""
        return (self.grid.columns - 1) * self.product.stride[1] + self.grid.taps[1]

    @property
    def channels(self) -> Numbers | int:
        """The number of channels of the image that each tile needs (the channels of its slab)."""
        return self.grid.n if self.product.depthwise else self.grid.k

    @cached_property
    def slab(self) -> Reals:
        """The number of activations that each tile needs (the size of its slab)."""
        return self.slab_rows * self.slab_columns * self.channels

    @property
    def slabs(self) -> int:
        """The number of different slabs that a row of the array uses in an iteration.

        It is 1 if all clusters of the row use the same slab.
        """
        return 1 if self.some.shares_activations else self.part.clusters

    @property
    def slab_share(self) -> float:
        """The share of iterations that load a slab.

        It is less than 1 if the PEs keep a slab for several tiles of outputs.
        """
        return 1 / self.tiles_n if self.some.holds_activations else 1.0

    @cached_property
    def entries(self) -> Reals:
        """The mean number of nonzero weights that one output has in a tile."""
        entries = np.count_nonzero(self.product.weights) / self.product.n * self.grid.k
        entries = entries / self.product.k
        return entries * prod(self.grid.taps) / prod(self.product.kernel)

    @property
    def sum_bytes(self) -> int:
        """The bytes of the sums of one output position, all PEs of a row together."""
        return self.some.summing_clusters * self.some.pes * self.some.sum_size

    @property
    def moved_sums(self) -> Reals:
        """The dma's cycles after an iteration to copy its partial sums to the units' other half."""
        return onchip_cycles(self.config, self.outputs * self.sum_bytes * self.part.rows)

    # Rows

    @cached_property
    def row_cycles(self) -> Reals:
        """The cycles of a row in an iteration: it loads weights and slab, computes and stores."""
        some, clusters, outputs = self.some, self.part.clusters, self.outputs
        pes, width = some.pes, self.width
        finishing = len(some.functions) * outputs * pes / int(self.config["sfu.rate"])
        stored = (self.result + (self.tiles_k - 1) * some.sum_size) / self.tiles_k
        storing = clusters * pes * outputs * stored / width
        loading = (self.weights + self.slab_share * self.slabs * self.slab * self.size) / width
        rows = loading + outputs * self.position_cycles + finishing / self.tiles_k + storing
        if some.reduces_clusters:
            parts = clusters + self.several
            rows = rows + outputs * (parts * (max(1.0, pes * some.sum_size / width) + 1) + 8)
        return rows

    @property
    def position_cycles(self) -> Reals:
        """The cycles in which a row of the array computes one position of the output image."""
        each = self.loads + IMAGE_TURN
        if self.some.reduces_clusters:
            return each
        starting = np.maximum(each, self.sum_bytes / self.width) + QUEUE_SUMS
        begins = self.product.bias is not None
        return np.where(self.several, starting, each + QUEUE_SUMS * begins)

    # The dma

    @property
    def dma_transfers_and_cycles(self) -> tuple[Reals, Reals]:
        """The number of dma transfers in one iteration, and the cycles that they take.

        Both are means over all iterations. Of a slab, only the part inside the image is loaded.
        """
        part, some, outputs = self.part, self.some, self.outputs
        lines, cycles = self.slab_lines_and_cycles()
        weight_rows = 1 if some.rows_share_weights else part.rows
        whole = self.grid.columns == self.product.columns
        runs = np.where(whole, 1, self.grid.groups) * some.summing_clusters
        runs = runs * (1 if some.reduces_rows else part.rows)
        transfers = lines * self.slab_share + weight_rows + runs / self.tiles_k
        again = np.minimum(1.0, 2 / self.tiles) if self.mapping is WEIGHT else 1.0
        cycles = cycles + again * weight_rows * self.moving(self.weights)
        stores = runs * outputs / np.where(whole, 1, self.grid.groups)
        line = self.grid.n * self.result
        cycles = cycles + stores * self.moving_row(line) / self.tiles_k
        return transfers, transfers * self.start + cycles

    def slab_lines_and_cycles(self) -> tuple[Reals, Reals]:
        """Return the number of transfers that load slabs in an iteration, and their cycles.

        The first number is for an iteration that loads slabs. The cycles are those in which bytes
        move, and a mean over all iterations, including those that load no slabs.
        """
        product, part, size = self.product, self.part, self.size
        slab_rows, slab_columns, channels = self.slab_rows, self.slab_columns, self.channels
        high = -(-part.length("M") // self.grid.groups) * (part.parts("M") * slab_rows)
        wide = -(-product.columns // self.grid.columns) * slab_columns
        pads = product.padding[0] + product.after[0], product.padding[1] + product.after[1]
        inside = np.maximum(high - pads[0], 1) / high, np.maximum(wide - pads[1], 1) / wide
        whole = channels == product.channels
        lines = np.where(whole, 1 + product.paired, slab_rows) * self.slabs
        lines = lines * (1 if self.some.rows_share_activations else part.rows)
        lines = np.where(whole, lines, lines * inside[0])
        line = np.where(whole, slab_columns * channels, channels) * size
        cycles = self.slab_share * lines * slab_rows * slab_columns * inside[1] * channels * size
        cycles = cycles / line
        cycles = np.where(whole, cycles * inside[0] / (1 + product.paired), cycles / slab_rows)
        cycles = cycles * self.moving_row(line)
        if product.copies_input:
            outside = 2 * part.parts("M") * slab_rows / high + 2 * slab_columns / wide
            copy = self.start + self.moving(self.slabs * self.slab * size)
            cycles = cycles + np.minimum(1.0, outside) * self.slab_share * copy
        return lines, cycles

    # Room

    @property
    def cannot_fit(self) -> NDArray[np.bool_]:
        """A mask of the tiles that are too large for a queue, a buffer or half of a memory unit."""
        config, outputs, reduces = self.config, self.outputs, self.some.reduces_clusters
        blocks = BLOCKS - (self.several | (self.product.bias is not None)) * (not reduces)
        queue = blocks * (config["pe.output_queue"] // BLOCKS)
        results = outputs * self.part.clusters * self.some.pes * self.result
        room = self.slabs * self.slab * self.size + self.weights + results
        bad: NDArray[np.bool_]
        bad = (outputs > queue) | (self.entries > config["pe.weight_queue"])
        bad |= (self.slab > config["pe.input_buffer"]) | (room > config["mem.unit_half_bytes"])
        if not reduces:
            bad |= self.several & (outputs > MOST_SEGMENTS)
        return bad
