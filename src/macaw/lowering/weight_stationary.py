"""Plans weight stationary products: weights stay in the PEs while rows of activations stream past.

Weights are loaded separately from the computation (seed 000 ¶145). One packet (an exe) loads the
weights of a tile once, and they stay in the PEs' weight queues (`state=rq`). The packet starts an
instruction sequence, each iteration of which multiplies the weights by one row of activations,
while the next row is loaded into the other part of the input buffer. If all rows fit into the
buffer, they are loaded in one segment before the first product, and no cluster waits for another.
The sums of all rows wait in the output queue and are stored together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import BLOCKS, OUT, PACKET, SEGMENT
from macaw.lowering.cluster_reduction import (
    cluster_reduction_exes,
    final_sequences,
    finishing_lists_by_position,
    iteration_lists,
    iteration_sizes,
    most_summands,
    reduction_arrays,
)
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import INPUT, WEIGHT, Mapping
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import Partition, partition
from macaw.lowering.plan import MOST_SEGMENTS, ProductPlan, Tile
from macaw.lowering.row_program import (
    FINAL,
    HOLD,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    arrays,
    finishing_lists,
    list_sizes,
    lists,
    sequences,
    to_clusters,
)
from macaw.lowering.transfers import Transfer, activation_unit, activations_of


class WeightStationaryPlan(ProductPlan):
    """A plan of a weight stationary product. It multiplies one row of activations at a time.

    So each group of rows in a tile (`Tile.groups`) has one row.
    """

    @property
    def lanes(self) -> int:
        """The number of sums that a PE has at one position: one."""
        return 1

    @property
    def products(self) -> int:
        """The number of packets in a list that multiply by weights: 1, for the whole tile."""
        return 1

    @property
    def weight_segment(self) -> int:
        """0, because the weights are the first data segment of the packet that multiplies."""
        return 0

    @property
    def start_positions(self) -> int:
        """The number of rows of activations for which start values of sums are stored.

        It is 1 if sums start with a bias, and all rows of the tile if they start with partial sums.
        """
        return self.tile.m if self.returns_sums else 1

    @property
    def start_bytes(self) -> int:
        """The bytes of the biases or partial sums with which the sums of a row start."""
        return self.partial_bytes // self.tile.m * self.start_positions

    def start_sums(self) -> NDArray[np.generic]:
        """Return the sums with which a tile starts: the bias, or zeros.

        The shape is (n tiles, start rows, start positions, summing clusters · PEs, accumulators).
        The properties `start_rows`, `start_positions` and `summing_clusters` have these lengths.
        Without a bias the first axis has length 1.
        """
        return super().start_sums()[:, :, : self.start_positions]

    @property
    def alternates(self) -> bool:
        """Whether rows of activations alternate between two parts of the input buffer.

        If not, each row has its own part.
        """
        return (self.tile.m + 1) * self.blocks > BLOCKS

    @property
    def buffered_rows(self) -> int:
        """The number of rows in the input buffer: the row being multiplied and the next one."""
        return min(self.tile.m, 2)

    @property
    def segments(self) -> int:
        """The number of data segments of the packet that multiplies.

        There is one segment for the weights, and one for each row of activations except the first,
        which an earlier packet loads. A bias or partial sums, if the packet adds them, take one
        segment if they are the same for all rows, else one for each row.
        """
        return self.tile.m + self.adds_start_sums * self.start_positions

    def check(self) -> None:
        """Raise `LowerError` if the tile does not fit the device."""
        tile, parts = self.tile, most_summands(self)
        if tile.members > 1:
            raise LowerError("weights stay: rows of activations come one by one")
        if self.alternates and tile.m % 2 and tile.m > 1:
            raise LowerError(f"{tile.m} rows of {tile.k} activations in two parts of the buffer")
        queue = self.config["pe.output_queue"] // BLOCKS * (BLOCKS - self.adds_start_sums)
        if tile.m > queue:
            raise LowerError(f"{tile.m} sums a PE, the output queue holds {queue}")
        if max(parts, self.segments) > MOST_SEGMENTS:
            raise LowerError(f"{tile.m} rows of activations, an exe has too few segments")
        super().check()


class BufferedPlan(WeightStationaryPlan):
    """A weight stationary plan with all rows of activations of a tile in the input buffer."""

    @property
    def alternates(self) -> bool:
        """Whether rows alternate between two parts of the buffer: never, each has its own part."""
        return False

    @property
    def blocks(self) -> int:
        """The number of blocks of the input buffer that all rows take."""
        block = int(self.config["pe.input_buffer"]) // BLOCKS
        return -(-self.tile.m * self.tile.k // block)

    @property
    def buffered_rows(self) -> int:
        """The factor by which `check` multiplies `blocks`: 1, because `blocks` is for all rows."""
        return 1

    @property
    def segments(self) -> int:
        """The number of data segments of the packet that multiplies.

        They are the weights, all activations, and a bias or partial sums if the packet adds them.
        """
        return 2 + self.adds_start_sums * self.start_positions

    @property
    def variant(self) -> str:
        """The text that reports add to the mapping: ", all activations of a tile at once"."""
        return f"{super().variant}, all activations of a tile at once"


class LoopPlan(BufferedPlan):
    """An input stationary plan that multiplies the rows of activations of a tile in a loop.

    The activations stay in the input buffer for all tiles of outputs; each tile's weights are
    loaded once.
    """

    @property
    def segments(self) -> int:
        """The number of data segments of the packet that multiplies.

        They are the weights, and a bias or partial sums if the packet adds them.
        """
        return 1 + self.adds_start_sums * self.start_positions

    @property
    def variant(self) -> str:
        """The text that reports add to the name of the mapping: ", rows in a loop"."""
        return f"{self.product.form}{', balanced' * self.balance}, rows in a loop"


def make_product_plan(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    tile: Tile,
    whole: bool,
    part: Partition | None,
) -> ProductPlan:
    """Return the plan of a validated product. Raises `LowerError` if the tile does not fit.

    With `whole`, the PEs load all activations of a tile into their input buffers before they
    multiply them. `part` is the partition of the product; None means the division of the product by
    `split` over all rows and clusters.
    """
    if part is None:
        part = partition(
            split, config["pe.rows"], config["pe.clusters"], (product.m, product.n, product.k)
        )
    kinds = {WEIGHT: (WeightStationaryPlan, BufferedPlan), INPUT: (ProductPlan, LoopPlan)}
    kind = kinds.get(mapping, (ProductPlan, ProductPlan))[whole]
    plan = kind(product, config, mapping, part, tile)
    plan.check()
    return plan


@arrays.register
def _arrays(plan: WeightStationaryPlan) -> list[Array]:
    tiles = arrays.dispatch(ProductPlan)(plan)
    own = [item for item in tiles if item.name not in ("chain", "gathered")]
    own = [
        replace(item, shape=(plan.start_positions, *item.shape[1:]))
        if item.name == "start"
        else item
        for item in own
    ]
    return [*own, *reduction_arrays(plan)]


@arrays.register
def _whole_arrays(plan: BufferedPlan) -> list[Array]:
    first, *others = _arrays(plan)
    rows, clusters, inputs = first.shape
    shape = clusters, rows, inputs
    return [Array(first.name, first.dtype, shape, "(cluster, row, input)"), *others]


@activations_of.register
def _whole_activations(plan: BufferedPlan, p: int, q: int) -> list[Transfer]:
    size = Types.size(plan.types.activation)
    rows = plan.tile.k * size
    place = f"x_tile + {activation_unit(plan, p) + q * plan.tile.m * rows:#x}"
    transfers = activations_of.dispatch(ProductPlan)(plan, p, q)
    return [replace(item, dst=place, dst_stride=rows) for item in transfers]


@sequences.register
def _sequences(plan: WeightStationaryPlan) -> list[Sequence]:
    held = "all rows of activations" if plan.holds_activations else "the first row of activations"
    hold = Sequence("hold", HOLD, ["ld activations"], what=held)
    result = [hold, _product(plan)] if _has_hold(plan) else [_product(plan)]
    what = f"the sums of all {plan.tile.m} rows of activations at once"
    raw = "raw sums of all rows of activations at once"
    return result + final_sequences(plan, what, raw)


def _has_hold(plan: WeightStationaryPlan) -> bool:
    """Return whether a separate packet loads activations before the packet that multiplies."""
    return plan.holds_activations or not isinstance(plan, BufferedPlan)


def _product(plan: WeightStationaryPlan) -> Sequence:
    tile, whole = plan.tile, isinstance(plan, BufferedPlan)
    body, options = ["ld weights"], [f".loop inner={tile.m}"]
    if whole:
        body += ["ld activations"] * (not plan.holds_activations)
        options.append(f".step mac.base, inner={tile.k}")
    if plan.adds_start_sums:
        body.append(f"ld psums, base={BLOCKS - 1}")  # results use the earlier blocks
    body.append(f"mac base=0, acc=0{plan.mac_options}")
    if tile.m > 1 and not whole:
        body.append(f"ld activations, base={plan.blocks}")
        name = f"ld[{1 + plan.adds_start_sums}]"
        step = plan.blocks * (int(plan.config["pe.input_buffer"]) // BLOCKS)
        if plan.alternates:
            options = [
                f".loop inner=2, outer={tile.m // 2}",
                f".step mac.base, inner={step}, outer={-2 * step}",
                f".step {name}.base, inner={-step}, outer={2 * step}",
            ]
        else:
            options += [f".step mac.base, inner={step}", f".step {name}.base, inner={step}"]
    body.append("spu nonsf, src=0, dst=0")
    options += [".step spu.dst, inner=1", f".then ib={FINAL}"]
    what = "a row of activations an iteration; the weights stay"
    if whole:
        what = f"{what}, and all rows have come"
    return Sequence("product0", PRODUCT, body, ", state=rq, pipeline=4", what, tuple(options))


@lists.register
def _lists(plan: WeightStationaryPlan) -> list[Packets]:
    return iteration_lists(plan, partial(_exes, plan), "an iteration")


finishing_lists.register(WeightStationaryPlan, finishing_lists_by_position)


@list_sizes.register
def _list_sizes(plan: WeightStationaryPlan) -> list[int]:
    product = PACKET.size + plan.segments * SEGMENT.size + OUT.size
    hold = _has_hold(plan) * (PACKET.size + SEGMENT.size + OUT.size)
    return iteration_sizes(plan, product + hold)


def _exes(plan: WeightStationaryPlan, name: str, raw: bool) -> Iterator[Exe]:
    """Yield the exe packets of an iteration. With `raw`, they store raw sums, else results."""
    yield from _own_exes(plan, name, raw)
    if plan.reduces_clusters:
        yield from cluster_reduction_exes(plan, raw)


def _own_exes(plan: WeightStationaryPlan, name: str, raw: bool) -> Iterator[Exe]:
    """Yield the exe packets of an iteration, but not those that add the sums of clusters.

    With `raw`, or if clusters add their sums, these packets store raw sums, else results.
    """
    tile, clusters = plan.tile, plan.partition.clusters
    to = to_clusters(plan, range(clusters))
    words = "" if plan.shares_activations else " by_cluster"
    data = [f"weights w_tile {'by_pe' if plan.shares_weights else 'sliced'}"]
    whole, label = isinstance(plan, BufferedPlan), f"{name}_product0"
    if plan.holds_activations:
        yield Exe(HOLD, (f"x_tile{words}",), to=to, what="not if the PEs have them")
        label = f"{name}_again: {label}"
    elif whole:
        data.append(f"x_tile{words}")
    else:
        yield Exe(HOLD, (f"x_tile[0]{words}",), to=to)
    for row in range(tile.m):
        if plan.adds_start_sums and row < plan.start_positions:
            data.append(f"psums start[{row}] sliced")
        if row + 1 < tile.m and not whole:
            data.append(f"x_tile[{row + 1}]{words}")
    target = "chain" if plan.reduces_clusters else "partial" if raw else "result"
    dtype = plan.types.result if target == "result" else plan.types.sum
    size = Types.size(dtype)
    out = f"{target}[0], stride={size}, step={plan.slots * size}, count={tile.m}"
    flag = "last" if target == "result" else "shift"
    yield Exe(PRODUCT, tuple(data), out, to, flag, label)
