"""Describes tiles and plans of convolutions on the array.

A tile is `groups` rows × `columns` columns of output positions. A cluster computes `tile.n` output
channels of these positions from `tile.k` input channels. The PEs store the part of the padded image
that the tile needs (the slab), channel after channel.

Each iteration of the instruction sequence computes one position (seed 000 ¶112, ¶122, ¶131). The
weights stay in the queue (`state=rq`), and the address of the first activation for `mac`, its base,
advances in the slab. At the end of an iteration the sum moves to the output queue. In a depthwise
convolution, each output depends on one channel only: weights of other channels are zero and not
stored.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import most_summands
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import INPUT, Mapping
from macaw.lowering.partition import Partition, partition
from macaw.lowering.plan import MOST_SEGMENTS, ProductPlan, Tile


@dataclass(frozen=True)
class ImageTile(Tile):
    """The work of a cluster in an iteration: outputs at `groups` rows of `columns` positions.

    `taps` is the height and width of the part of the kernel by which the cluster multiplies; None
    stands for the whole kernel.
    """

    columns: int = 1
    taps: tuple[int, int] | None = None

    @property
    def outputs(self) -> int:
        """The number of output positions, which is the number of results of a PE."""
        return self.groups * self.columns


@dataclass(frozen=True)
class ImagePlan(ProductPlan):
    """A plan of a convolution: its mapping, split and tile on a device."""

    product: Convolution
    tile: ImageTile

    # Parts of the kernel: a kernel that does not fit the device is cut, and partial sums are added

    @property
    def taps(self) -> tuple[int, int]:
        """The height and width of the part of the kernel that a tile takes."""
        return self.tile.taps or self.product.kernel

    @cached_property
    def kernel_parts(self) -> list[tuple[int, int]]:
        """The first row and column of each part of the kernel.

        A kernel that is too large for the PEs is cut into parts of the same size. If necessary, the
        last parts begin earlier and overlap other parts.
        """
        starts = [
            [min(first, length - part) for first in range(0, length, part)]
            for length, part in zip(self.product.kernel, self.taps, strict=True)
        ]
        return [(row, column) for row in starts[0] for column in starts[1]]

    def own_taps(self, index: int) -> tuple[slice, slice]:
        """Return the rows and columns of the kernel that belong to part `index` alone.

        Parts may overlap; then the earlier part has the weights that are in both.
        """
        rows, columns = (
            -(-length // part) for length, part in zip(self.product.kernel, self.taps, strict=True)
        )
        place = divmod(index, columns)
        assert place[0] < rows
        pairs = zip(place, self.taps, self.product.kernel, strict=True)
        own = [slice(at * part, min((at + 1) * part, length)) for at, part, length in pairs]
        return own[0], own[1]

    # The slab

    @property
    def pads_in_unit(self) -> bool:
        """Whether the on-chip units add the padding of zeros, so that x needs no padded copy."""
        return self.product.copies_input

    @property
    def copies_input(self) -> bool:
        """Whether the dma first makes a copy of x with its padding of zeros."""
        return self.product.copies_input and not self.pads_in_unit

    @property
    def source_size(self) -> tuple[int, int]:
        """The (height, width) of the image from which slabs are loaded: x, or its padded copy."""
        product = self.product
        return (product.height, product.width) if self.pads_in_unit else product.padded

    @property
    def x_pitches(self) -> tuple[int, int, int]:
        """The distances to the next row, column and channel of the source image, in elements.

        The source image has the size `source_size`. If two tensors form it, one has the even rows
        of the image, the other the odd rows. The distance to the next image row is then half of the
        distance between rows of a tensor.
        """
        size = (*self.source_size, self.product.channels)
        row, column, channel = self.product.pitches(self.product.layout, size)
        return row // 2 if self.product.paired else row, column, channel

    @cached_property
    def slab_rows(self) -> int:
        """The number of rows of the padded image that a tile needs."""
        return (self.tile.groups - 1) * self.product.stride[0] + self.taps[0]

    @cached_property
    def slab_columns(self) -> int:
        """The number of columns of the padded image that a tile needs."""
        return (self.tile.columns - 1) * self.product.stride[1] + self.taps[1]

    @property
    def slab_channels(self) -> int:
        """The number of channels of the image that a tile needs."""
        return self.tile.n if self.product.depthwise else self.tile.k

    @cached_property
    def slab(self) -> int:
        """The number of activations in a slab, the part of the padded image that a tile needs."""
        return self.slab_rows * self.slab_columns * self.slab_channels

    @property
    def by_columns(self) -> bool:
        """Whether positions are computed column by column, because results are stored like that."""
        return self.product.out_layout != "hwc"

    @property
    def loops(self) -> tuple[int, int]:
        """How often the inner and the outer loop of the instruction sequence run.

        Together they run over the positions of a tile, row by row or column by column.
        """
        sides = self.tile.columns, self.tile.groups
        return sides[::-1] if self.by_columns else sides

    @property
    def steps_of_base(self) -> tuple[int, int]:
        """How far the operand `base` of `mac` moves in the slab, in elements.

        It moves by the first number after each position. At the end of an inner loop it also moves
        by the second number, which may be negative.
        """
        column = self.product.stride[1] * self.slab_channels
        row = self.product.stride[0] * self.slab_columns * self.slab_channels
        inner, outer = (row, column) if self.by_columns else (column, row)
        return inner, outer - self.loops[0] * inner

    # Numbers of the plan

    @property
    def columns(self) -> int:
        """The number of tiles side by side in the output image."""
        return -(-self.product.columns // self.tile.columns)

    def count(self, dim: str) -> int:
        """Return the number of tiles of a part in dimension M, N or K.

        The number for M includes the tiles side by side and the tiles of all images. The number for
        K includes the tiles of all parts of the kernel.
        """
        return self._counts[dim]

    @cached_property
    def _counts(self) -> dict[str, int]:
        several = {"M": self.columns * self.images, "N": 1, "K": len(self.kernel_parts)}
        return {dim: super(ImagePlan, self).count(dim) * several[dim] for dim in several}

    @property
    def input_offsets(self) -> list[int]:
        """The offsets in x, in elements, at which the tiles of inputs (k) begin.

        The list has all tiles of input channels for the first part of the kernel, then all for the
        second part, and so on. In two cases it is empty, and cp computes the offsets: if the kernel
        is not cut into parts, and if the on-chip units add the padding.
        """
        parts = self.kernel_parts
        if len(parts) == 1 or self.pads_in_unit:
            return []
        row, column, channel = self.x_pitches
        tiles = [self.tile_start("K", index) * channel for index in range(self.input_tiles)]
        return [y * row + x * column + tile for y, x in parts for tile in tiles]

    @cached_property
    def images(self) -> int:
        """The number of images that the iterations process, one after the other."""
        return self.product.image_count

    @property
    def pitches(self) -> dict[str, int]:
        """The distances, in elements, from one row, column or channel to the next in x and y.

        The keys are the names of the constants in cp's code.
        """
        product = self.product
        (x_row, x_column, x_channel), y = self.x_pitches, product.y_pitches
        return {
            "X_ROW": product.stride[0] * x_row,
            "X_COLUMN": product.stride[1] * x_column,
            "X_DEPTH": x_channel,
            "Y_ROW": y[0],
            "Y_COLUMN": y[1],
            "Y_DEPTH": y[2],
            "X_IMAGE": prod(self.source_size) * product.channels,
            "Y_IMAGE": product.image_pitches[1],
        }

    @property
    def constants(self) -> dict[str, int]:
        """The constants that cp's code for images needs, by name."""
        return {
            "COLUMNS": self.columns,
            "IMAGE_TILES": self.count("M") // self.images,
            "TILE_X": self.tile.columns,
            "LAST_X": self.product.columns - self.tile.columns,
            "BIAS": self.start_rows * self.bias_bytes if self.product.bias is not None else 0,
        }

    @property
    def bias_bytes(self) -> int:
        """The number of bytes of the biases or partial sums of a row for one output position."""
        return self.summing_clusters * self.pes * self.sum_size

    @property
    def positions(self) -> int:
        """The number of output positions of a tile."""
        return self.tile.outputs

    @property
    def lanes(self) -> int:
        """The number of sums that a PE has at one position: one."""
        return 1

    @cached_property
    def start_positions(self) -> int:
        """The number of output positions for which start values of sums are stored.

        It is 1 if sums start with a bias, which is the same for all positions.
        """
        return self.tile.outputs if self.returns_sums else 1

    @property
    def depth(self) -> str:
        """The dimension whose tile selects the input channels to load: "K", or "N" if depthwise.

        In a depthwise convolution each output depends on one channel.
        """
        return "N" if self.product.depthwise else "K"

    @property
    def holds_activations(self) -> bool:
        """Whether the slab stays in the PEs for all tiles of outputs."""
        return self.mapping is INPUT and not self.product.depthwise

    @property
    def in_accumulators(self) -> bool:
        """Whether sums stay in the accumulators from iteration to iteration of the array: never.

        At the end of a position its sum moves to the output queue.
        """
        return False

    @property
    def products(self) -> int:
        """The number of packets in a list that multiply by weights: 1, for the whole tile."""
        return 1

    @property
    def weight_segment(self) -> int:
        """The number of data segments before the weights in the packet that multiplies.

        It is 1, for the slab, or 0 if the PEs already have the slab.
        """
        return 0 if self.holds_activations else 1

    @property
    def keeps_sums_on_chip(self) -> bool:
        """Whether partial sums stay on chip: always, if there are any."""
        return self.returns_sums

    @property
    def shares_activations(self) -> bool:
        """Whether all clusters of a row use the same slab (part of the image for a tile)."""
        return super().shares_activations and (
            not self.product.depthwise or self.partition.clusters == 1
        )

    @property
    def rows_share_activations(self) -> bool:
        """Whether all rows use the same slab, the part of the image that a tile needs."""
        return super().rows_share_activations and not self.product.depthwise

    @property
    def partial_bytes(self) -> int:
        """The bytes of the partial sums of one row of the array in an iteration."""
        return self.tile.outputs * self.bias_bytes

    @property
    def start_bytes(self) -> int:
        """The bytes of the biases or partial sums of one row of the array in an iteration.

        The row's sums start with these values.
        """
        return self.start_positions * self.bias_bytes

    # Weights

    @cached_property
    def weight_rounds(self) -> NDArray[np.generic]:
        """The weights in the order in which the table of weights lists them; cp reads this table.

        The shape is (n tiles, k tiles, rows, PEs of a row, elements). If a part of the kernel has h
        rows, a PE has a weight for each element of the first h rows of its slab. The weight is zero
        for an element that the kernel does not cover.
        """
        tile, (rows, clusters), tiles = self.tile, self.weight_owners, self.input_tiles
        height, width = self.taps
        shape = (self.count("N"), self.count("K"), rows, clusters, self.pes)
        plane = (height, self.slab_columns, self.slab_channels)
        rounds = np.zeros(shape + plane, self.product.weights.dtype)
        for index, (row, column) in enumerate(self.kernel_parts):
            y, x = self.own_taps(index)
            for p, q, i, n, j, k, own in self._rounds():
                part = self.product.kernels[n : n + tile.n, y, x]
                all_taps = rounds[i, index * tiles + j, p, q, : tile.n]
                target = all_taps[:, y.start - row : height, x.start - column : width]
                if self.product.depthwise:
                    for pe in range(tile.n):
                        target[pe, :, :, pe] = part[pe, :, :, 0]
                else:
                    target[..., own - k :] = part[..., own : k + tile.k]
        return rounds.reshape(*shape[:3], clusters * self.pes, -1)

    @property
    def weight_counts(self) -> NDArray[np.int64]:
        """The numbers of nonzero weights, in shape (n tiles, k tiles, rows, PEs of a row)."""
        parts = len(self.kernel_parts)
        if parts == 1:
            return super().weight_counts
        kept = self.product.weight_counts
        owners = self.weight_owners
        key = (self.partition, self.tile.n, self.tile.k, owners, self.pes, self.taps)
        if key not in kept:
            counts = [self.count_weights(self._taps_before(index)) for index in range(parts)]
            kept[key] = np.concatenate(counts, axis=1)
        return kept[key]

    def _taps_before(self, index: int) -> NDArray[np.int64]:
        """Return numbers of nonzero weights in part number `index` of the kernel.

        For each output and each c from 0 to k, it is the number of weights for channels below c. So
        the shape is (outputs, k + 1). Weights that also belong to an earlier part are not counted.
        """
        before = np.zeros((self.product.n, self.product.k + 1), np.int64)
        taps = self.product.kernels[:, *self.own_taps(index)]
        np.cumsum(np.count_nonzero(taps, axis=(1, 2)), axis=1, out=before[:, 1:])
        return before

    def start_sums(self) -> NDArray[np.generic]:
        """Return the biases with which sums start, in shape (n tiles, start rows, PEs of a row).

        There is one start row for each row of the array, or one for all if all start with the same
        sums. Without a bias the first axis has length 1 and all numbers are zero. If rows compute
        parts of the same sums, only row 0 has the biases, and the others have zeros.
        """
        bias = self.product.bias
        shape = (1 if bias is None else self.count("N"), self.start_rows)
        sums = np.zeros(
            (*shape, self.summing_clusters, self.pes), np.dtype(self.types.sum).newbyteorder("<")
        )
        if bias is not None:
            rows = 1 if self.reduces_rows else shape[1]
            for i, p, q in np.ndindex(shape[0], rows, self.summing_clusters):
                n = self.partition.start("N", p, q) + self.tile_start("N", i)
                sums[i, p, q, : self.tile.n] = bias[n : n + self.tile.n]
        return sums.reshape(*shape, self.summing_clusters * self.pes)

    # Limits

    def check(self) -> None:
        """Raise `LowerError` if the tile does not fit the device."""
        tile, part, config = self.tile, self.partition, self.config
        for dim in "MNK":
            if not 1 <= tile.length(dim) <= part.length(dim):
                raise LowerError(f"a tile of {tile.length(dim)} in {dim}")
        if self.returns_sums and self.mapping.inner != "K":
            raise LowerError("sums of several tiles of k go to the next iteration: k is innermost")
        if tile.n > self.pes:
            raise LowerError(f"a tile of {tile.n} outputs")
        self.check_buffers()
        queue = (
            config["pe.output_queue"] // BLOCKS * (BLOCKS - 1 if self.adds_start_sums else BLOCKS)
        )
        if tile.outputs > queue:
            raise LowerError(f"{tile.outputs} outputs a PE")
        segments = max(self.start_positions if self.adds_start_sums else 0, most_summands(self))
        if segments > MOST_SEGMENTS:
            raise LowerError(f"{tile.outputs} outputs a PE, an exe has too few segments")

    def check_buffers(self) -> None:
        """Raise `LowerError` if slab or weights do not fit into their buffers."""
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
    kind: type[ImagePlan],
    part: Partition | None,
) -> ImagePlan:
    """Return the plan of a validated convolution. Raises `LowerError` if the tile does not fit.

    `kind` is the class of the plan. `part` is the partition of the convolution; None means
    the division of the convolution by `split` over all rows and clusters.
    """
    if part is None:
        part = partition(
            split, config["pe.rows"], config["pe.clusters"], (product.m, product.n, product.k)
        )
    plan = kind(product, config, mapping, part, tile)
    plan.check()
    return plan
