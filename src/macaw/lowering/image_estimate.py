"""Estimates the cycles of all tiles of a convolution at once, without reading single weights.

The estimates rank tiles; `macaw.lowering.cost` then predicts the cycles of the best ones. They use
the rules of the cost model. But they take the mean number of weights of an output, not the largest
number in each tile, and they leave out what is the same for all tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import BLOCKS, ENTRY, WEIGHTS_RECORD
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import (
    CP_STEP,
    CP_STORE,
    CP_TRANSFER,
    CP_TURN,
    IMAGE_TURN,
    QUEUE_SUMS,
)
from macaw.lowering.image_plan import ImagePlan, ImageTile
from macaw.lowering.mapping import WEIGHT, Mapping
from macaw.lowering.operation import Types
from macaw.lowering.partition import Partition
from macaw.lowering.plan import MOST_SEGMENTS
from macaw.lowering.sizes import even_sizes, even_tile

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class TileGrid:
    """Tiles of a convolution, as arrays of equal shape: their rows, columns and input channels.

    All have `n` output channels, and take a part of size `taps` (height, width) of the kernel.
    """

    groups: Numbers
    columns: Numbers
    k: Numbers
    n: int
    taps: tuple[int, int]

    def tile(self, index: int) -> ImageTile:
        """Return the tile with index `index`."""
        rows, columns = int(self.groups[index]), int(self.columns[index])
        return ImageTile(rows, 1, self.n, int(self.k[index]), columns, self.taps)


def kernel_cuts(product: Convolution, config: Configuration) -> list[tuple[int, int]]:
    """Return the sizes of parts of a kernel to try, if the kernel does not fit the device.

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
    taps: tuple[int, int] | None = None,
) -> TileGrid:
    """Return the tiles to try for a part of an image, with a part of size `taps` of the kernel.

    For each number of columns and of channels, these are the highest tile that fits the buffers and
    one of about half its height.
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
    """Return the estimated cycles of each tile of a grid; infinite if it cannot fit."""
    # The plan of one tile has the numbers that are the same for all tiles.
    some = ImagePlan(product, config, mapping, part, ImageTile(1, 1, grid.n, part.length("K")))
    types, width = some.types, int(config["dist.bus_bytes"])
    size, sum_size = Types.size(types.operand), some.sum_size
    groups, columns, k, n = grid.groups, grid.columns, grid.k, grid.n
    outputs = groups * columns
    tiles = -(-part.length("M") // groups) * -(-product.columns // columns) * product.image_count
    shares = [-(-whole // cut) for whole, cut in zip(product.kernel, grid.taps, strict=True)]
    tiles_n, tiles_k = -(-part.length("N") // n), -(-part.length("K") // k) * prod(shares)
    steps = tiles * tiles_n * tiles_k
    several = tiles_k > 1  # whether partial sums return
    # Rows: load weights and slab, compute one position after the other, store.
    slab_rows = (groups - 1) * product.stride[0] + grid.taps[0]
    slab_columns = (columns - 1) * product.stride[1] + grid.taps[1]
    channels = n if product.depthwise else k
    slab = slab_rows * slab_columns * channels
    entries = np.count_nonzero(product.weights) / product.n * k / product.k
    entries = entries * prod(grid.taps) / prod(product.kernel)
    owners = 1 if some.shares_weights else part.clusters
    weights = owners * some.pes * (WEIGHTS_RECORD.size + (ENTRY.size + size) * entries)
    slabs = 1 if some.shares_activations else part.clusters
    share = 1 / tiles_n if some.holds_activations else 1.0
    loads = np.maximum(entries * density, entries / 2)
    if config["pe.design"] != "5b":
        loads = entries
    each = loads + IMAGE_TURN
    sums = some.summing_clusters * some.pes * sum_size  # cycles of one position
    if not some.reduces_clusters:
        starting = np.maximum(each, sums / width) + QUEUE_SUMS
        begins = bool(product.bias is not None)
        each = np.where(several, starting, each + QUEUE_SUMS * begins)
    kinds = len(some.functions)
    finishing = kinds * outputs * some.pes / int(config["sfu.rate"]) / tiles_k
    result = Types.size(types.result)
    stored = (result + (tiles_k - 1) * sum_size) / tiles_k
    storing = part.clusters * some.pes * outputs * stored / width
    rows = (weights + share * slabs * slab * size) / width + outputs * each + finishing + storing
    if some.reduces_clusters:
        parts = part.clusters + several
        rows = rows + outputs * (parts * (max(1.0, some.pes * sum_size / width) + 1) + 8)
    start = config["dma.setup"] + config["mem.external_latency"] + config["mem.onchip_latency"]
    # The dma and cp: transfers with their starts, and beats. Zeros of the padding are not loaded.
    high = -(-part.length("M") // groups) * (part.parts("M") * slab_rows)
    wide = -(-product.columns // columns) * slab_columns
    pads = product.padding[0] + product.after[0], product.padding[1] + product.after[1]
    inside = np.maximum(high - pads[0], 1) / high, np.maximum(wide - pads[1], 1) / wide
    lines = np.where(channels == product.channels, 1 + product.paired, slab_rows) * slabs
    lines = lines * (1 if some.rows_share_activations else part.rows)
    lines = np.where(channels == product.channels, lines, lines * inside[0])
    weight_rows = 1 if some.rows_share_weights else part.rows
    runs = np.where(columns == product.columns, 1, groups) * some.summing_clusters
    runs = runs * (1 if some.reduces_rows else part.rows)
    transfers = lines * share + weight_rows + runs / tiles_k
    line = np.where(channels == product.channels, slab_columns * channels, channels) * size
    bus = min(int(config["dma.width"]), int(config["mem.external_width"]))
    beats = share * lines * slab_rows * slab_columns * inside[1] * channels * size / line
    beats = np.where(
        channels == product.channels, beats * inside[0] / (1 + product.paired), beats / slab_rows
    )
    beats = beats * (1 + (line - np.gcd(line, bus)) / bus)
    if product.copies_input:
        outside = np.minimum(1.0, 2 * part.parts("M") * slab_rows / high + 2 * slab_columns / wide)
        beats = beats + outside * share * (start + slabs * slab * size / bus)
    again = np.minimum(1.0, 2 / tiles) if mapping is WEIGHT else 1.0
    beats = beats + again * weight_rows * weights / bus
    stores = runs * outputs / np.where(columns == product.columns, 1, groups)
    beats = beats + stores * (1 + (n * result - np.gcd(n * result, bus)) / bus) / tiles_k
    dma = transfers * (start + 1) + beats
    code = CP_STEP + CP_TRANSFER * transfers
    turn = np.maximum(np.maximum(rows + 22, dma + CP_STORE), code) + CP_TURN
    moved = outputs * sums * part.rows / bus  # partial sums of all rows, copied from half to half
    turn = turn + np.where(several, (moved + 16) * (tiles_k - 1) / tiles_k, 0)
    if some.reduces_rows:
        turn = turn + (moved + 44 + part.rows * outputs * sums / width + 12 * outputs) / tiles_k
    # Tiles that cannot fit.
    blocks = BLOCKS - (several | (product.bias is not None)) * (not some.reduces_clusters)
    queue = blocks * (config["pe.output_queue"] // BLOCKS)
    room = slabs * slab * size + weights + outputs * part.clusters * some.pes * result
    bad = (outputs > queue) | (entries > config["pe.weight_queue"])
    bad |= (slab > config["pe.input_buffer"]) | (room > config["mem.unit_half_bytes"])
    if not some.reduces_clusters:
        bad |= several & (outputs > MOST_SEGMENTS)
    guess = steps * turn + dma
    return np.asarray(np.where(bad, np.inf, guess), np.float64)
