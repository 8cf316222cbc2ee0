"""Convolutions: what they are, and their tiles.

A tile is `rows` × `columns` outputs of an image in `tile.n` channels a cluster, from `tile.k` input
channels. The PEs hold the part of the padded image below it (the slab), channel by channel behind
each other; the weight queue rotates (rq), the base of mac steps over the slab, and each loopback
leaves one sum in the output queue (seed 000 ¶112, ¶122, ¶131). A depthwise convolution takes the
channels of its outputs alone: weights of the other channels are zeros, which are not stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.config import Configuration
from isa.pe import BLOCKS
from lower.errors import LowerError
from lower.mapping import INPUT, Mapping
from lower.operation import Product
from lower.partition import partition
from lower.plan import MOST_SEGMENTS, Plan, Tile

# How an image lies in memory, its axes outermost first. Sliding windows take images column first.
LAYOUTS = {"hwc": "(height, width, channels)", "cwh": "(channels, width, height)"}


@dataclass(frozen=True, eq=False)
class Convolution(Product):
    """Images (height, width, channels) by kernels to (rows, columns, outputs).

    `layout` says how the image lies, `out_layout` how the results do: `hwc`, or `cwh`.

    `weights` are (outputs, kernel height · kernel width · channels); of a depthwise convolution
    (channels, kernel height · kernel width). `m` is the number of output rows.
    """

    width: int = 1
    height: int = 1
    channels: int = 1
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)  # above and below, left and right
    depthwise: bool = False
    layout: str = "hwc"
    out_layout: str = "hwc"

    @property
    def k(self) -> int:
        """Input channels of an output."""
        return 1 if self.depthwise else self.channels

    @property
    def columns(self) -> int:
        """Columns of the outputs."""
        return (self.width + 2 * self.padding[1] - self.kernel[1]) // self.stride[1] + 1

    @property
    def padded(self) -> tuple[int, int]:
        """Height and width of the image with its frame of zeros."""
        return self.height + 2 * self.padding[0], self.width + 2 * self.padding[1]

    @cached_property
    def kernels(self) -> NDArray[Any]:
        """Weights as (outputs, kernel height, kernel width, channels of an output)."""
        return self.weights.reshape(self.n, *self.kernel, self.k)

    @cached_property
    def weights_before(self) -> NDArray[np.int64]:
        """How many weights of an output that are not zero lie before an input channel."""
        before = np.zeros((self.n, self.k + 1), np.int64)
        np.cumsum(np.count_nonzero(self.kernels, axis=(1, 2)), axis=1, out=before[:, 1:])
        return before

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of activations and results."""
        image, results = (self.height, self.width, self.channels), (self.m, self.columns, self.n)
        return (
            image if self.layout == "hwc" else image[::-1],
            results if self.out_layout == "hwc" else results[::-1],
        )

    def pitches(self, layout: str, image: tuple[int, int, int]) -> tuple[int, int, int]:
        """Elements from a row, column and channel of a (height, width, channels) to the next."""
        height, width, channels = image
        return (width * channels, channels, 1) if layout == "hwc" else (1, height, width * height)

    @property
    def x_pitches(self) -> tuple[int, int, int]:
        """Of the image with its frame: by row, column and channel."""
        return self.pitches(self.layout, (*self.padded, self.channels))

    @property
    def y_pitches(self) -> tuple[int, int, int]:
        """Of the results: by row, column and channel."""
        return self.pitches(self.out_layout, (self.m, self.columns, self.n))

    @property
    def macs(self) -> int:
        """Products of a dense computation, padding included."""
        return self.m * self.columns * self.weights.size

    def describe(self) -> str:
        """What it is, in words."""
        size = " × ".join(map(str, self.kernel))
        return (
            f"{'depthwise ' if self.depthwise else ''}convolution {size}, stride"
            f" {self.stride[0]} × {self.stride[1]}, padding {self.padding[0]} × {self.padding[1]},"
            f" of {self.height} × {self.width} × {self.channels} to {self.n} channels"
        )

    def checked(self, config: Configuration) -> Convolution:
        """The same with weights and bias of the device's types. Raises `LowerError`."""
        plain = Product(
            self.m, self.weights, self.bias, self.activation, self.shift, self.vector
        ).checked(config)
        return replace(self, weights=plain.weights, bias=plain.bias)


def convolution(
    weights: NDArray[Any],
    image: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    depthwise: bool = False,
    bias: NDArray[Any] | None = None,
    activation: str = "none",
    shift: int | None = None,
    layout: str = "hwc",
    out_layout: str = "hwc",
) -> Convolution:
    """The convolution of images (height, width) by `weights`. Raises `LowerError`.

    `weights` are (outputs, kernel height, kernel width, channels), of a depthwise convolution
    (channels, kernel height, kernel width).
    """
    wanted = 3 if depthwise else 4
    if weights.ndim != wanted or not weights.size:
        names = "(channels, height, width)" if depthwise else "(outputs, height, width, channels)"
        raise LowerError(f"the weights have the shape {weights.shape}", f"kernels {names}")
    if min(image) < 1:
        raise LowerError(f"an image of {image[0]} × {image[1]} pixels")
    if min(stride) < 1 or min(padding) < 0:
        raise LowerError(f"a stride of {stride} and a padding of {padding}")
    for name in (layout, out_layout):
        if name not in LAYOUTS:
            raise LowerError(f"no layout '{name}'", "there are " + ", ".join(LAYOUTS))
    if layout != "hwc" and not depthwise:
        raise LowerError("conv2d takes images as hwc", "its results may be cwh")
    kernel = (int(weights.shape[1]), int(weights.shape[2]))
    spans = [size + 2 * pad for size, pad in zip(image, padding, strict=True)]
    if spans[0] < kernel[0] or spans[1] < kernel[1]:
        raise LowerError(
            f"a kernel of {kernel[0]} × {kernel[1]} is larger than the image,"
            f" {spans[0]} × {spans[1]} with its padding"
        )
    outputs = int(weights.shape[0])
    return Convolution(
        (spans[0] - kernel[0]) // stride[0] + 1,
        weights.reshape(outputs, -1),
        bias,
        activation,
        shift,
        width=image[1],
        height=image[0],
        channels=outputs if depthwise else int(weights.shape[3]),
        kernel=kernel,
        stride=stride,
        padding=padding,
        depthwise=depthwise,
        layout=layout,
        out_layout=out_layout,
    )


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
        return self.slots * self.sum_size

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
            (*shape, self.partition.clusters, self.pes), np.dtype(self.types.sum).newbyteorder("<")
        )
        if bias is not None:
            for i, p, q in np.ndindex(*sums.shape[:3]):
                n = self.partition.start("N", p, q) + self.tile_start("N", i)
                sums[i, p, q, : self.tile.n] = bias[n : n + self.tile.n]
        return sums.reshape(*shape, self.slots)

    # Limits

    def check(self) -> None:
        """Raise `LowerError` for a tile that the device cannot hold."""
        tile, part, config = self.tile, self.partition, self.config
        for dim in "MNK":
            if not 1 <= tile.length(dim) <= part.length(dim):
                raise LowerError(f"a tile of {tile.length(dim)} in {dim}")
        if self.returns and self.mapping.inner != "K":
            raise LowerError("sums of several tiles of k go to the next iteration: k is innermost")
        if "K" in part.dims:
            raise LowerError("the parts of a convolution are of M or N")
        if tile.n > self.pes:
            raise LowerError(f"a tile of {tile.n} outputs")
        self.check_buffers()
        queue = config["pe.output_queue"] // BLOCKS * (BLOCKS - 1 if self.begins else BLOCKS)
        if tile.outputs > queue:
            raise LowerError(f"{tile.outputs} outputs a PE")
        if self.begins and tile.outputs > MOST_SEGMENTS:
            raise LowerError(f"{tile.outputs} outputs a PE, each begins with a sum of its own")

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


def reference(product: Convolution, x: NDArray[Any], whole: type) -> NDArray[Any]:
    """Sums of the convolution without bias, by shifted images: (rows, columns, outputs)."""
    if product.layout != "hwc":
        x = x.T
    (above, left), (down, right) = product.padding, product.stride
    image: NDArray[Any] = np.pad(x.astype(whole), ((above, above), (left, left), (0, 0)))
    kernels: NDArray[Any] = product.kernels.astype(whole)
    sums: NDArray[Any] = np.zeros((product.m, product.columns, product.n), whole)
    for dy in range(product.kernel[0]):
        for dx in range(product.kernel[1]):
            rows = image[dy : dy + (product.m - 1) * down + 1 : down]
            part = rows[:, dx : dx + (product.columns - 1) * right + 1 : right]
            if product.depthwise:
                sums += part * kernels[:, dy, dx, 0]
            else:
                sums += part @ kernels[:, dy, dx].T
    return sums
