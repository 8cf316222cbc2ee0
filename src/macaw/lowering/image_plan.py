"""Convolutions on the array: tiles and plans.

A tile is `rows` × `columns` outputs of an image in `tile.n` channels a cluster, from `tile.k` input
channels. The PEs hold the part of the padded image below it (the slab), channel by channel behind
each other; the weight queue rotates (rq), the base of mac steps over the slab, and each loopback
leaves one sum in the output queue (seed 000 ¶112, ¶122, ¶131). A depthwise convolution takes the
channels of its outputs alone: weights of the other channels are zeros, which are not stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import most_parts
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import INPUT, Mapping
from macaw.lowering.partition import partition
from macaw.lowering.plan import MOST_SEGMENTS, Plan, Tile


@dataclass(frozen=True)
class ImageTile(Tile):
    """What one cluster computes in an iteration: `groups` output rows, `columns` of each."""

    columns: int = 1

    @property
    def outputs(self) -> int:
        """Output positions, and so results of a PE."""
        return self.groups * self.columns


@dataclass(frozen=True)
class ImagePlan(Plan):
    """A convolution on a device by one mapping, split and tile."""

    product: Convolution
    tile: ImageTile

    # The slab

    @property
    def slab_rows(self) -> int:
        """Image rows below a tile."""
        return (self.tile.groups - 1) * self.product.stride[0] + self.product.kernel[0]

    @property
    def slab_columns(self) -> int:
        """Image columns below a tile."""
        return (self.tile.columns - 1) * self.product.stride[1] + self.product.kernel[1]

    @property
    def slab_channels(self) -> int:
        """Channels of a slab."""
        return self.tile.n if self.product.depthwise else self.tile.k

    @property
    def slab(self) -> int:
        """Activations of a slab."""
        return self.slab_rows * self.slab_columns * self.slab_channels

    @property
    def by_columns(self) -> bool:
        """Output positions are taken column after column, as their results shall lie."""
        return self.product.out_layout != "hwc"

    @property
    def loops(self) -> tuple[int, int]:
        """Output positions of the inner loop, and of the outer one."""
        sides = self.tile.columns, self.tile.groups
        return sides[::-1] if self.by_columns else sides

    @property
    def steps_of_base(self) -> tuple[int, int]:
        """What the base of mac steps by: from position to position, besides at the inner's end."""
        column = self.product.stride[1] * self.slab_channels
        row = self.product.stride[0] * self.slab_columns * self.slab_channels
        inner, outer = (row, column) if self.by_columns else (column, row)
        return inner, outer - self.loops[0] * inner

    # What a plan says

    @property
    def columns(self) -> int:
        """Tiles side by side."""
        return -(-self.product.columns // self.tile.columns)

    def count(self, dim: str) -> int:
        """Tiles of a part; in M rows of tiles and tiles side by side."""
        return super().count(dim) * (self.columns if dim == "M" else 1)

    @property
    def pitches(self) -> dict[str, int]:
        """Elements from one to the next."""
        product = self.product
        (x_row, x_column, x_channel), y = product.x_pitches, product.y_pitches
        return {
            "X_ROW": product.stride[0] * x_row,
            "X_COLUMN": product.stride[1] * x_column,
            "X_DEPTH": x_channel,
            "Y_ROW": y[0],
            "Y_COLUMN": y[1],
            "Y_DEPTH": y[2],
        }

    @property
    def constants(self) -> dict[str, int]:
        """Columns, and the bytes of a bias."""
        return {
            "COLUMNS": self.columns,
            "TILE_X": self.tile.columns,
            "LAST_X": self.product.columns - self.tile.columns,
            "BIAS": self.partition.rows * self.bias_bytes if self.product.bias is not None else 0,
        }

    @property
    def bias_bytes(self) -> int:
        """Bytes of what the sums of one output position of a row begin with."""
        return self.summing * self.pes * self.sum_size

    @property
    def positions(self) -> int:
        """Output positions of a tile."""
        return self.tile.outputs

    @property
    def starts(self) -> int:
        """Output positions whose sums begin with something of their own; a bias is one for all."""
        return self.tile.outputs if self.returns else 1

    @property
    def pads(self) -> bool:
        """x is copied into a frame of zeros first."""
        return max(self.product.padding) > 0

    @property
    def depth(self) -> str:
        """A depthwise tile takes the channels of its outputs."""
        return "N" if self.product.depthwise else "K"

    @property
    def holds(self) -> bool:
        """The slab stays in the PEs for all n."""
        return self.mapping is INPUT and not self.product.depthwise

    @property
    def in_accumulators(self) -> bool:
        """Never: each loopback moves its sum out."""
        return False

    @property
    def products(self) -> int:
        """One exe computes the whole tile."""
        return 1

    @property
    def weight_segment(self) -> int:
        """The slab comes before the weights, unless the PEs hold it."""
        return 0 if self.holds else 1

    @property
    def carries(self) -> bool:
        """Sums of several tiles of k stay on chip."""
        return self.returns

    @property
    def shares_activations(self) -> bool:
        """Clusters take one slab: those that divide n, unless each has its own channels."""
        return super().shares_activations and (
            not self.product.depthwise or self.partition.clusters == 1
        )

    @property
    def partial_bytes(self) -> int:
        """Bytes of a row's sums of an iteration."""
        return self.tile.outputs * self.bias_bytes

    @property
    def start_bytes(self) -> int:
        """Bytes of what a row's sums begin with."""
        return self.starts * self.bias_bytes

    # Weights

    @cached_property
    def weight_rounds(self) -> NDArray[np.generic]:
        """(n tiles, k tiles, rows, slots, places of the slab up to the kernel's last)."""
        tile, (rows, clusters) = self.tile, self.weight_owners
        height, width = self.product.kernel
        shape = (self.count("N"), self.count("K"), rows, clusters, self.pes)
        plane = (height, self.slab_columns, self.slab_channels)
        rounds = np.zeros(shape + plane, self.product.weights.dtype)
        for p, q, i, n, j, k, own in self._rounds():
            part = self.product.kernels[n : n + tile.n]
            target = rounds[i, j, p, q, : tile.n, :, :width]
            if self.product.depthwise:
                for pe in range(tile.n):
                    target[pe, :, :, pe] = part[pe, :, :, 0]
            else:
                target[..., own - k :] = part[..., own : k + tile.k]
        return rounds.reshape(*shape[:3], clusters * self.pes, -1)

    def start_sums(self) -> NDArray[np.generic]:
        """What sums begin with: (n tiles or 1, rows, slots)."""
        bias = self.product.bias
        shape = (1 if bias is None else self.count("N"), self.partition.rows)
        sums = np.zeros(
            (*shape, self.summing, self.pes), np.dtype(self.types.sum).newbyteorder("<")
        )
        if bias is not None:
            rows = 1 if self.joins_rows else shape[1]
            for i, p, q in np.ndindex(shape[0], rows, self.summing):
                n = self.partition.start("N", p, q) + self.tile_start("N", i)
                sums[i, p, q, : self.tile.n] = bias[n : n + self.tile.n]
        return sums.reshape(*shape, self.summing * self.pes)

    # Limits

    def check(self) -> None:
        """Raise `LowerError` for a tile that the device cannot hold."""
        tile, part, config = self.tile, self.partition, self.config
        for dim in "MNK":
            if not 1 <= tile.length(dim) <= part.length(dim):
                raise LowerError(f"a tile of {tile.length(dim)} in {dim}")
        if self.returns and self.mapping.inner != "K":
            raise LowerError("sums of several tiles of k go to the next iteration: k is innermost")
        if tile.n > self.pes:
            raise LowerError(f"a tile of {tile.n} outputs")
        self.check_buffers()
        queue = config["pe.output_queue"] // BLOCKS * (BLOCKS - 1 if self.begins_here else BLOCKS)
        if tile.outputs > queue:
            raise LowerError(f"{tile.outputs} outputs a PE")
        segments = max(self.starts if self.begins_here else 0, most_parts(self))
        if segments > MOST_SEGMENTS:
            raise LowerError(f"{tile.outputs} outputs a PE, an exe has too few segments")

    def check_buffers(self) -> None:
        """Raise `LowerError` if slab or weights do not fit their buffers."""
        if self.slab > self.config["pe.input_buffer"]:
            raise LowerError(f"a slab of {self.slab} activations")
        if self.weight_counts.max(initial=0) > self.config["pe.weight_queue"]:
            raise LowerError("more weights of an output than the weight queue holds")


def make_image_plan(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    split: str,
    tile: ImageTile,
    kind: type[ImagePlan] = ImagePlan,
) -> ImagePlan:
    """The plan of a checked convolution. Raises `LowerError` for a tile that does not fit."""
    extents = (product.m, product.n, product.k)
    part = partition(split, config["pe.rows"], config["pe.clusters"], extents)
    plan = kind(product, config, mapping, part, tile)
    plan.check()
    return plan
