"""Plans depthwise convolutions in which each PE computes a channel, with the image in its weight
queue.

For each output row the queue takes a strip: the image rows that the kernel needs, column by column.
The window advances by columns. The kernel is in the input buffer, and its zeros are skipped (seed
000 ¶131). If the image is stored as (channels, width, height), a strip is transferred column by
column, else element by element.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import final_sequences
from macaw.lowering.errors import LowerError
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.image_program import (
    POSITIONS,
    out_words,
    result_array,
    results_words,
    start_array,
)
from macaw.lowering.operation import Types
from macaw.lowering.plan import MOST_SEGMENTS, ProductPlan
from macaw.lowering.row_program import (
    FINAL,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    arrays,
    list_sizes,
    lists,
    sequences,
    to_clusters,
)
from macaw.lowering.transfers import (
    UNIT,
    Transfer,
    activation_grid,
    activations_of,
    input_name,
    owner_name,
    results_of,
)


class SlidingWindowPlan(ImagePlan):
    """A plan of a depthwise convolution whose windows slide over strips in the weight queues.

    A strip has the image rows that the kernel needs for one output row, column by column.
    """

    @property
    def variant(self) -> str:
        """The text that reports add to the name of the mapping: ", sliding window"."""
        return ", sliding window"

    @property
    def pads_in_unit(self) -> bool:
        """Whether the on-chip units add the padding: no, the dma makes a padded copy of x."""
        return False

    @property
    def window(self) -> int:
        """The number of elements in the kernel's window."""
        return prod(self.product.kernel)

    @property
    def strip(self) -> int:
        """The number of elements in a strip, the image rows of an output row."""
        return self.slab_columns * self.product.kernel[0]

    @property
    def loops(self) -> tuple[int, int]:
        """The number of positions in an output row, and the number of strips (output rows)."""
        return self.tile.columns, self.tile.groups

    @property
    def shares_activations(self) -> bool:
        """Whether clusters use the same activations: never, because each PE has its own channel."""
        return False

    @property
    def dense(self) -> bool:
        """Whether weights are stored with zeros: yes, because kernels are in the input buffer."""
        return True

    @property
    def operand_types(self) -> tuple[str, str]:
        """The element types in the PEs' weight queues (the image) and input buffers (kernels)."""
        return self.types.activation, self.types.weight

    @property
    def weight_segment(self) -> int:
        """0, because the weights are the first data segment of the packet that multiplies."""
        return 0

    @cached_property
    def weight_rounds(self) -> NDArray[np.generic]:
        """The kernels, column by column, in shape (n tiles, 1, rows, PEs of a row, window)."""
        rows, clusters = self.weight_owners
        shape = (self.count("N"), 1, rows, clusters, self.pes, self.window)
        rounds = np.zeros(shape, self.product.weights.dtype)
        columns = self.product.kernels[..., 0].transpose(0, 2, 1).reshape(self.product.n, -1)
        for p, q, i, n, j, _, _ in self._rounds():
            rounds[i, j, p, q, : self.tile.n] = columns[n : n + self.tile.n]
        return rounds.reshape(*shape[:3], clusters * self.pes, self.window)

    @cached_property
    def weight_bytes(self) -> NDArray[np.int64]:
        """The bytes of kernels that a row loads for a tile, in shape (n tiles, 1, rows).

        The first axis counts tiles in dimension N, the last one rows of the PE array.
        """
        rows, clusters = self.weight_owners
        size = clusters * self.pes * self.window * Types.size(self.types.weight)
        return np.full((self.count("N"), 1, rows), size, np.int64)

    def check_buffers(self) -> None:
        """Raise `LowerError` if a tile's data are too many for the PEs' buffers or for a packet."""
        if self.tile.taps not in (None, self.product.kernel):
            raise LowerError("a window slides over whole kernels")
        if self.window > self.config["pe.input_buffer"]:
            raise LowerError(f"a kernel of {self.window} weights")
        if self.tile.groups * self.strip > self.config["pe.weight_queue"]:
            raise LowerError(f"{self.tile.groups} strips of {self.strip} activations")
        if 1 + self.tile.groups + self.has_start_sums > MOST_SEGMENTS:
            raise LowerError(f"{self.tile.groups} strips, an exe has too few segments")


@arrays.register
def _arrays(plan: SlidingWindowPlan) -> list[Array]:
    tile, types = plan.tile, plan.types
    shape = (tile.groups, plan.slots, plan.slab_columns, plan.product.kernel[0])
    rounds = plan.weight_rounds.shape[3:]
    tiles = [
        Array("x_tile", types.activation, shape, "(output row, PE, column, row of the kernel)"),
        Array("w_tile", types.weight, rounds, "kernels, column after column"),
    ]
    if plan.has_start_sums:
        tiles.append(start_array(plan))
    return [*tiles, result_array(plan)]


@sequences.register
def _sequences(plan: SlidingWindowPlan) -> list[Sequence]:
    body = ["ld activations", "ld weights"]
    if plan.has_start_sums:
        # Results use the earlier blocks; the data of one segment stay for all positions.
        body.append(f"ld psums, base={BLOCKS - 1}")
    body += ["mac base=0, acc=0", "spu nonsf, src=0, dst=0"]
    inner, outer = plan.loops
    options = (f".loop inner={inner}, outer={outer}", ".step spu.dst, inner=1", f".then ib={FINAL}")
    pop = plan.product.kernel[0] * plan.product.stride[1]
    header = f", state=sw, pipeline=4, window={plan.window}, pop={pop}"
    what = "an output position an iteration"
    return [
        Sequence("product0", PRODUCT, body, header, what, options),
        *final_sequences(plan, POSITIONS, POSITIONS),
    ]


@lists.register
def _lists(plan: SlidingWindowPlan) -> list[Packets]:
    tile = plan.tile
    data = [f"activations w_tile {'by_pe' if plan.shares_weights else 'sliced'}"]
    data.append("weights x_tile[0] sliced")
    if plan.has_start_sums:
        data.append("psums start[0] sliced")
    data += [f"weights x_tile[{place}] sliced" for place in range(1, tile.groups)]
    to = to_clusters(plan, range(plan.partition.clusters))
    exe = Exe(PRODUCT, tuple(data), out_words(plan, "result"), to, "last", "last_product0")
    return [Packets("last", [exe], "an iteration")]


@list_sizes.register
def _list_sizes(plan: SlidingWindowPlan) -> list[int]:
    return list_sizes.dispatch(ProductPlan)(plan)


@activations_of.register
def _activations_of(plan: SlidingWindowPlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers of the strips for the channels of cluster q of row p."""
    product, tile, size = plan.product, plan.tile, Types.size(plan.types.activation)
    row, column, channel = (pitch * size for pitch in product.x_pitches)
    source = input_name(plan)
    m = plan.partition.start("M", p, q) * product.stride[0]
    n = plan.partition.start("N", p, q)
    part = f"image from row {m}, channel {n} on"
    what = f"{owner_name(p, q, activation_grid(plan))}: {part}"
    transfers = []
    for strip in range(tile.groups):
        src = (m + strip * product.stride[0]) * row + n * channel
        dst = p * UNIT + (strip * plan.slots + q * plan.pes) * plan.strip * size
        transfers += _strip(plan, source, src, dst, (row, column, channel))
    first = transfers[0]
    return [Transfer(**{**vars(first), "what": what}), *transfers[1:]]


def _strip(
    plan: SlidingWindowPlan, source: str, src: int, dst: int, pitches: tuple[int, int, int]
) -> list[Transfer]:
    """Return the transfers that load a strip for each channel of a tile.

    The first strip begins at byte `src` after the symbol `source`, and goes to byte `dst` of the
    space for strips in the on-chip unit. `pitches` has the distances, in bytes, to the next row,
    column and channel of the image.
    """
    product, size = plan.product, Types.size(plan.types.activation)
    row, column, channel = pitches
    height, columns, strip = product.kernel[0], plan.slab_columns, plan.strip * size
    run = height * size
    if product.layout == "cwh" and columns == product.padded[1]:  # channels are consecutive
        rows = columns * plan.tile.n
        return [Transfer(f"x_tile + {dst:#x}", f"{source} + {src}", run, rows, run, column)]
    transfers = []
    for item in range(plan.tile.n):
        to, of = dst + item * strip, src + item * channel
        if product.layout == "cwh":
            transfers.append(
                Transfer(f"x_tile + {to:#x}", f"{source} + {of}", run, columns, run, column)
            )
            continue
        transfers += [
            Transfer(
                f"x_tile + {to + y * size:#x}",
                f"{source} + {of + y * row}",
                size,
                columns,
                run,
                column,
            )
            for y in range(height)
        ]
    return transfers


@results_of.register
def _results_of(plan: SlidingWindowPlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers that store the outputs of cluster q of row p."""
    if not plan.by_columns:
        return results_of.dispatch(ImagePlan)(plan, p, q)
    product, tile, size = plan.product, plan.tile, Types.size(plan.types.result)
    row, column, channel = (pitch * size for pitch in product.y_pitches)
    start = plan.partition.start("M", p, q) * row + plan.partition.start("N", p, q) * channel
    place = p * UNIT + q * plan.pes * tile.outputs * size
    if tile.groups == 1 and tile.columns == product.columns:  # channels are consecutive
        whole = tile.n * tile.columns
        to, of, what = f"y + {start}", f"result + {place:#x}", results_words(plan, p, q)
        return [Transfer(to, of, size, whole, column, size, what)]
    return [
        Transfer(
            f"y + {start + item * channel + line * row}",
            f"result + {place + (item * tile.outputs + line * tile.columns) * size:#x}",
            size,
            tile.columns,
            column,
            size,
            results_words(plan, p, q) if not item + line else "",
        )
        for item in range(tile.n)
        for line in range(tile.groups)
    ]
