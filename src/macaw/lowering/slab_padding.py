"""Makes the padding of an image in the units: zeros first, then the pixels inside the image.

The image in external memory has no frame of zeros. A slab is the part of the padded image that a
tile needs. For each slab, cp finds out which of its rows and columns are inside the image, and the
dma copies only these into the on-chip units. If some are outside, the dma first fills the slabs of
all units with zeros.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.listing import Listing
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_registers import INDEX, START
from macaw.lowering.transfers import activation_grid, activation_unit, owner_name

ZEROS = "zeros"  # label of a line of zeros in external memory
_PARTS = "kernel_parts"  # label of the table of the parts of a kernel
# Words of the record of a slab: a transfer, x, the place of the slab, and its first image row.
_RECORD = ("DST", "SRC", "BYTES", "LINES", "", "", "BASE", "SLAB", "ROW")
_NEXT = 4 * len(_RECORD)
_PART = 12  # bytes of an entry of the table of parts


@dataclass(frozen=True)
class PaddedSlabs:
    """How much of the slabs of a plan is inside the image.

    A slab is the part of the padded image that a tile needs.
    """

    plan: ImagePlan

    @property
    def whole_lines(self) -> bool:
        """Whether a slab has all channels of the image.

        Then one transfer can move several rows of the slab.
        """
        return self.plan.slab_channels == self.plan.product.channels

    @property
    def size(self) -> int:
        """The number of bytes of an activation."""
        return Types.size(self.plan.types.activation)

    @property
    def line(self) -> int:
        """The number of bytes of a row of a slab."""
        return self.plan.slab_columns * self.plan.slab_channels * self.size

    @property
    def unit_slabs(self) -> int:
        """The number of slabs in an on-chip unit: 1 if all clusters share it, else one for each."""
        return 1 if self.plan.shares_activations else self.plan.partition.clusters

    def first_row(self, p: int, q: int) -> int:
        """Return the image row with which the first slab of cluster q of row p begins."""
        product = self.plan.product
        return self.plan.partition.start("M", p, q) * product.stride[0] - product.padding[0]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The image row at which each slab begins, as an array with three axes.

        The axes are the parts of the kernel, the pairs (row, cluster) of the array with separate
        slabs, and the tiles of dimension M.
        """
        plan = self.plan
        tiles = -(-plan.partition.length("M") // plan.tile.groups)
        starts = np.array([plan.tile_start("M", index) for index in range(tiles)], np.int64)
        slabs = np.array([self.first_row(p, q) for p, q in activation_grid(plan)], np.int64)
        parts = np.array([row for row, _ in plan.kernel_parts], np.int64)
        return slabs[:, None] + starts * plan.product.stride[0] + parts[:, None, None]

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """The image column at which each slab begins: (parts of the kernel, tiles side by side)."""
        product, width = self.plan.product, self.plan.tile.columns
        starts = np.minimum(np.arange(self.plan.columns) * width, product.columns - width)
        parts = np.array([column for _, column in self.plan.kernel_parts], np.int64)
        return np.asarray(starts * product.stride[1] - product.padding[1] + parts[:, None])

    @cached_property
    def _rows_inside(self) -> NDArray[np.int64]:
        """How many rows of each slab are inside the image, in the shape of `_rows`."""
        return _inside(self._rows, self.plan.slab_rows, self.plan.product.height)

    @cached_property
    def _columns_inside(self) -> NDArray[np.int64]:
        """How many columns of each slab are inside the image, in the shape of `_columns`."""
        return _inside(self._columns, self.plan.slab_columns, self.plan.product.width)

    @property
    def _repeats(self) -> int:
        """How many slabs the dma loads for one position in the image and one part of the kernel.

        It loads one for each image, each tile of input channels, and each tile of output channels.
        If the PEs keep a slab for all tiles of output channels, these tiles need only one load.
        """
        plan = self.plan
        outputs = 1 if plan.holds_activations else plan.count("N")
        return plan.input_tiles * outputs * plan.images

    @cached_property
    def zeroed_share(self) -> float:
        """The share of slab loads before which the dma fills the slabs with zeros."""
        plan, product = self.plan, self.plan.product
        loads = plan.columns * (plan.count("M") // (plan.columns * plan.images))
        rows, columns = self._rows, self._columns
        above = (rows.min(axis=1) < 0) | (rows.max(axis=1) + plan.slab_rows > product.height)
        beside = (columns < 0) | (columns + plan.slab_columns > product.width)
        outside = int((above[:, :, None] | beside[:, None]).sum())
        return outside / (loads * len(plan.kernel_parts))

    @property
    def zero_bytes(self) -> int:
        """The bytes of zeros that the dma moves into the units in all iterations.

        A multicast to several units counts once.
        """
        plan = self.plan
        tiles = plan.count("M") // plan.images * len(plan.kernel_parts)
        return (
            round(self.zeroed_share * tiles * self._repeats)
            * self.unit_slabs
            * plan.slab
            * self.size
        )

    @property
    def activation_bytes(self) -> int:
        """The bytes of activations that the dma moves into the units in all iterations."""
        rows, columns = self._rows_inside.sum(axis=(1, 2)), self._columns_inside.sum(axis=1)
        pixels = int((rows * columns).sum())
        return pixels * self._repeats * self.plan.slab_channels * self.size

    @property
    def inside(self) -> float:
        """The share of a tile's products whose activations are inside the image.

        It is a mean over all iterations. In each of them the cluster with the largest share counts,
        because the others wait for it.
        """
        plan, product = self.plan, self.plan.product
        groups = (plan.tile.groups, product.stride[0], plan.taps[0])
        rows = _taps_inside(self._rows, groups, product.height)
        positions = (plan.tile.columns, product.stride[1], plan.taps[1])
        columns = _taps_inside(self._columns, positions, product.width)
        return float((rows.max(axis=1).mean(axis=-1) * columns.mean(axis=-1)).mean())

    def mean_transfers(self) -> tuple[float, float, float]:
        """Return (transfers, rows of a transfer, bytes of a row) for a load of slabs.

        The number of transfers is the mean over all loads: slabs without a pixel of the image need
        none. The other numbers are means over the slabs that have pixels.
        """
        rows, columns = self._rows_inside, self._columns_inside
        some_rows, some_columns = (rows > 0).mean(axis=(1, 2)), (columns > 0).mean(axis=1)
        slabs = float((some_rows * some_columns).mean())  # the share of slabs with pixels
        if not slabs:
            return 0.0, 0.0, 0.0
        height = float((rows.mean(axis=(1, 2)) * some_columns).mean()) / slabs
        width = float((some_rows * columns.mean(axis=1)).mean()) / slabs
        transfers = slabs * len(activation_grid(self.plan))
        pixel = self.plan.slab_channels * self.size
        if self.whole_lines:
            return transfers, height, width * pixel
        return transfers * height, width, pixel


def padded_slabs(plan: ProductPlan) -> PaddedSlabs | None:
    """Return a description of a plan's slabs if the on-chip units add their padding, else None."""
    return PaddedSlabs(plan) if isinstance(plan, ImagePlan) and plan.pads_in_unit else None


def _inside(first: NDArray[np.int64], length: int, extent: int) -> NDArray[np.int64]:
    """Return how many of `length` rows or columns from `first` on are in [0, `extent`)."""
    count = np.minimum(first + length, extent) - np.maximum(first, 0)
    return np.asarray(np.maximum(count, 0), np.int64)


def _taps_inside(
    first: NDArray[np.int64], outputs: tuple[int, int, int], extent: int
) -> NDArray[np.float64]:
    """Return for each tile the share of its windows' rows or columns that is in [0, `extent`).

    `first` has the row or column at which the first window of each tile begins. `outputs` has the
    number of a tile's windows, the distance between them, and their length, which is the kernel's.
    The result has the shape of `first`.
    """
    count, stride, taps = outputs
    places = first[..., None, None] + stride * np.arange(count)[:, None] + np.arange(taps)
    return np.asarray(((places >= 0) & (places < extent)).mean(axis=(-2, -1)), np.float64)


def write_padded_slabs(out: Listing, plan: ImagePlan, name: str, add: str) -> None:
    """Write the table `name` with a record for each slab, with which cp starts the transfers.

    `add` is text that is appended to each target address; it adds the offset of a half of the
    on-chip units.
    """
    slabs, product = PaddedSlabs(plan), plan.product
    pixel, channels = plan.slab_channels * slabs.size, product.channels * slabs.size
    target = f"x_tile + EVERY_UNIT{add}"
    lines = slabs.unit_slabs * plan.slab_rows
    zeros = (target, ZEROS, slabs.line, lines, slabs.line, 0, 0, 0, 0)
    out.put(f".word {', '.join(map(str, zeros))}", "zeros, then a slab each", label=name)
    strides = (slabs.line, product.width * channels) if slabs.whole_lines else (pixel, channels)
    for p, q in activation_grid(plan):
        channel = plan.partition.start(plan.depth, p, q)
        place = activation_unit(plan, p) + q * plan.slab * slabs.size
        words = (
            0,
            0,
            pixel,
            0,
            *strides,
            f"x + {channel * slabs.size}",
            f"x_tile + {place:#x}{add}",
        )
        owner = owner_name(p, q, activation_grid(plan))
        what = f"{owner}: channel {channel} on, from this row of the image"
        out.put(f".word {', '.join(map(str, words))}, {slabs.first_row(p, q)}", what)


def write_kernel_parts(out: Listing, plan: ImagePlan) -> None:
    """Write the table of the kernel's parts, if the kernel is cut into parts.

    It has the first row, column and channel (in bytes) for each part and each tile of inputs.
    """
    slabs = PaddedSlabs(plan)
    if len(plan.kernel_parts) == 1:
        return
    out.comment(
        "Parts of the kernel and tiles of inputs: first row, column and channel (in bytes)."
    )
    out.put("", label=_PARTS)
    for y, x in plan.kernel_parts:
        for index in range(plan.input_tiles):
            out.put(f".word {y}, {x}, {plan.tile_start('K', index) * slabs.size}")


def write_padded_loads(out: Listing, plan: ImagePlan) -> None:
    """Write cp's code that loads the slabs of a tile, with zeros for pixels outside the image."""
    product = plan.product
    for place, name in enumerate(_RECORD):
        if name not in ("", "DST", "SRC", "BYTES", "BASE"):
            out.put(f".equ {name}, {4 * place}")
    out.block(
        f"""
        li t0, {product.stride[0]} # rows of the image from a row of outputs to the next
        mul a2, {START["M"]}, t0
        li t0, {product.stride[1]}
        mul a3, s6, t0
        li t0, {_parameter(product.padding[1])}
        sub a3, a3, t0 # the first column of the slab in the image
        """
    )
    _depth(out, plan)
    _zeros(out, plan)
    _columns_inside(out, plan)
    _loads(out, plan)


def write_padded_rows(out: Listing, plan: ImagePlan) -> None:
    """Write the end of cp's loop over slabs, which copies the rows inside the image."""
    _copy_rows(out, plan)
    out.block("6: addi a1, a1, -1\nbnez a1, 7b\n8:")


def _parameter(number: int) -> str:
    """Return a number as text that `shared_code` can replace by a parameter.

    `shared_code` does not replace the text `0`, so 0 is written as `0x0`.
    """
    return str(number) if number else "0x0"


def _zeros(out: Listing, plan: ImagePlan) -> None:
    """Write cp's code that fills the slabs with zeros if any is partly outside the image."""
    product = plan.product
    first = [PaddedSlabs(plan).first_row(p, q) for p, q in activation_grid(plan)]
    out.block(
        f"""
        lw a0, X(s8)
        li t0, {_parameter(min(first))} # the least first row
        add t0, t0, a2
        bltz t0, 1f
        li t1, {_parameter(product.height - plan.slab_rows - max(first))}
        bgt a2, t1, 1f
        bltz a3, 1f
        li t1, {_parameter(product.width - plan.slab_columns)}
        ble a3, t1, 2f
1:      dma.copy zero, a0 # some are outside: zeros
2:
        """
    )


def _columns_inside(out: Listing, plan: ImagePlan) -> None:
    """Write cp's code that finds out which columns of the slabs are inside the image.

    Register a4 gets the number of these columns. For the first of them, a3 gets the byte offset in
    a row of the image plus the offset in a6, and a5 gets the byte offset in a row of the slab. If
    there are no such columns, the code jumps to the end.
    """
    product, size = plan.product, PaddedSlabs(plan).size
    out.block(
        f"""
        li a5, 0
        bgez a3, 1f
        neg a5, a3 # columns of the slab before the image
1:      add a3, a3, a5
        li t0, {plan.slab_columns}
        sub a4, t0, a5
        li t0, {product.width}
        sub t0, t0, a3
        ble a4, t0, 1f
        mv a4, t0 # columns inside
1:      blez a4, 8f
        li t0, {product.channels * size} # bytes of a pixel
        mul a3, a3, t0
        add a3, a3, a6
        li t0, {plan.slab_channels * size}
        mul a5, a5, t0
        """
    )


def _loads(out: Listing, plan: ImagePlan) -> None:
    """Write the start of cp's loop over the slabs.

    In each round, register t2 gets the number of the slab's rows inside the image. For the first of
    these rows, t0 gets the address in the image, and t1 the address in the slab.
    """
    slabs, product = PaddedSlabs(plan), plan.product
    out.block(
        f"""
        li a1, {len(activation_grid(plan))}
7:      addi a0, a0, {_NEXT}
        lw t0, ROW(a0)
        add t0, t0, a2
        li t1, 0
        bgez t0, 1f
        neg t1, t0 # rows of the slab before the image
1:      add t0, t0, t1
        li t2, {plan.slab_rows}
        sub t2, t2, t1
        li t6, {product.height}
        sub t6, t6, t0
        ble t2, t6, 1f
        mv t2, t6 # rows inside
1:      blez t2, 6f
        li t6, {product.width * product.channels * slabs.size}
        mul t0, t0, t6
        add t0, t0, a3
        lw t6, BASE(a0)
        add t0, t0, t6
        li t6, {slabs.line}
        mul t1, t1, t6
        add t1, t1, a5
        lw t6, SLAB(a0)
        add t1, t1, t6
        """
    )


def _copy_rows(out: Listing, plan: ImagePlan) -> None:
    """Write cp's code that copies rows of the image into a slab.

    Register t2 has the number of rows, t0 the address in the image, and t1 the address in the slab.
    If a slab has all channels, one transfer copies all rows. Otherwise each row takes a transfer.
    """
    slabs, product = PaddedSlabs(plan), plan.product
    if slabs.whole_lines:
        out.block(
            f"""
        sw t2, LINES(a0)
        li t6, {plan.slab_channels * slabs.size}
        mul t6, t6, a4
        sw t6, BYTES(a0)
        sw t0, SRC(a0)
        sw t1, DST(a0)
        dma.copy zero, a0
            """
        )
    else:
        out.block(
            f"""
        sw a4, LINES(a0)
5:      sw t0, SRC(a0)
        sw t1, DST(a0)
        dma.copy zero, a0
        li t6, {product.width * product.channels * slabs.size}
        add t0, t0, t6
        li t6, {slabs.line}
        add t1, t1, t6
        addi t2, t2, -1
        bnez t2, 5b
            """
        )


def _depth(out: Listing, plan: ImagePlan) -> None:
    """Write cp's code that sets register a6 to the byte offset in x at which the tile's data begin.

    The offset is that of the tile's image, plus that of the tile's first channel. If the kernel is
    cut into parts, the code also adds the part's first row to a2, and its first column to a3.
    """
    if len(plan.kernel_parts) > 1:
        out.block(
            f"""
        la t0, {_PARTS}
        li t1, {_PART}
        mul t1, {INDEX["K"]}, t1
        add t0, t0, t1
        lw t1, 0(t0)
        add a2, a2, t1
        lw t1, 4(t0)
        add a3, a3, t1
        lw a6, 8(t0)
            """
        )
        if plan.depth == "N":  # the table has only offsets for tiles of K
            out.block(f"li t0, X_DEPTH\nmul t0, {START['N']}, t0\nadd a6, a6, t0")
    else:
        out.block(f"li t0, X_DEPTH\nmul a6, {START[plan.depth]}, t0")
    if plan.images > 1:
        out.block("li t0, X_IMAGE\nmul t0, a7, t0\nadd a6, a6, t0")
