"""Weight stationary products: weights stay in the PEs while rows of activations come and go.

Weights are loaded apart from the computation (seed 000 ¶145). One exe takes a tile's weights once;
its queue rotates (rq), and each iteration of its sequence multiplies them with one row of
activations while the next row comes into the other part of the input buffer. Or, if the buffer
holds them, all rows come before the first product: one segment, and no cluster waits for
another. The sums of all rows wait in the output queue; then they leave together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from macaw.isa.config import Configuration
from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import (
    join_arrays,
    join_exes,
    join_sequences,
    merge_exes,
    most_parts,
)
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import WEIGHT, Mapping
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import partition
from macaw.lowering.plan import MOST_SEGMENTS, Plan, Tile
from macaw.lowering.row_program import (
    FINAL,
    HOLD,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    arrays,
    list_names,
    lists,
    sequences,
    to_clusters,
)
from macaw.lowering.transfers import UNIT, Transfer, activations_of


class HeldPlan(Plan):
    """A weight stationary product; its groups are rows of activations, one accumulator each."""

    @property
    def lanes(self) -> int:
        """Each row's sums lie by themselves."""
        return 1

    @property
    def products(self) -> int:
        """One exe computes the whole tile."""
        return 1

    @property
    def weight_segment(self) -> int:
        """Weights come first."""
        return 0

    @property
    def turns(self) -> bool:
        """Rows of activations come into two places in turn; else each has its own."""
        return (self.tile.m + 1) * self.blocks > BLOCKS

    @property
    def buffered(self) -> int:
        """The row that is multiplied and the one that comes."""
        return min(self.tile.m, 2)

    @property
    def segments(self) -> int:
        """Segments of the product's exe: weights, activations but the first row, beginnings."""
        return 1 + self.tile.m * (1 + self.begins_here)

    def check(self) -> None:
        """Raise `LowerError` for a tile that the device cannot hold."""
        tile, parts = self.tile, most_parts(self)
        if tile.members > 1:
            raise LowerError("weights stay: rows of activations come one by one")
        if self.turns and tile.m % 2 and tile.m > 1:
            raise LowerError(f"{tile.m} rows of {tile.k} activations in two parts of the buffer")
        queue = self.config["pe.output_queue"] // BLOCKS * (BLOCKS - self.begins_here)
        if tile.m > queue:
            raise LowerError(f"{tile.m} sums a PE, the output queue holds {queue}")
        if max(parts, self.segments) > MOST_SEGMENTS:
            raise LowerError(f"{tile.m} rows of activations, an exe has too few segments")
        super().check()


class WholePlan(HeldPlan):
    """The same with all rows of activations in the input buffer, one behind the other."""

    @property
    def turns(self) -> bool:
        """Each row has a place of its own."""
        return False

    @property
    def blocks(self) -> int:
        """Blocks of the input buffer that all rows take."""
        block = int(self.config["pe.input_buffer"]) // BLOCKS
        return -(-self.tile.m * self.tile.k // block)

    @property
    def buffered(self) -> int:
        """They count as one."""
        return 1

    @property
    def segments(self) -> int:
        """Segments of the product's exe."""
        return 2 + self.tile.m * self.begins_here

    @property
    def manner(self) -> str:
        """What is to be said besides mapping and split."""
        return ", all activations of a tile at once"


def make_product_plan(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    tile: Tile,
    whole: bool = False,
) -> Plan:
    """The plan of a checked product; `whole`: with all activations of a tile at once.

    Raises `LowerError` for a tile that the device cannot hold.
    """
    extents = (product.m, product.n, product.k)
    part = partition(split, config["pe.rows"], config["pe.clusters"], extents)
    kind = Plan if mapping is not WEIGHT else WholePlan if whole else HeldPlan
    plan = kind(product, config, mapping, part, tile)
    plan.check()
    return plan


@arrays.register
def _arrays(plan: HeldPlan) -> list[Array]:
    tiles = arrays.dispatch(Plan)(plan)
    return [item for item in tiles if item.name not in ("chain", "gathered")] + join_arrays(plan)


@arrays.register
def _whole_arrays(plan: WholePlan) -> list[Array]:
    first, *others = _arrays(plan)
    rows, clusters, inputs = first.shape
    shape = clusters, rows, inputs
    return [Array(first.name, first.dtype, shape, "(cluster, row, input)"), *others]


@activations_of.register
def _whole_activations(plan: WholePlan, p: int, q: int) -> list[Transfer]:
    size = Types.size(plan.types.operand)
    rows = plan.tile.k * size
    place = f"x_tile + {p * UNIT + q * plan.tile.m * rows:#x}"
    transfers = activations_of.dispatch(Plan)(plan, p, q)
    return [replace(item, dst=place, dst_stride=rows) for item in transfers]


@sequences.register
def _sequences(plan: HeldPlan) -> list[Sequence]:
    tile, product = plan.tile, plan.product
    hold = Sequence("hold", HOLD, ["ld activations"], what="the first row of activations")
    result = [_product(plan)] if isinstance(plan, WholePlan) else [hold, _product(plan)]
    special, header = [], ""
    if product.activation != "none":
        header += f", activation={product.activation}"
        special.append("spu activation, src=0, dst=0")
    if product.shift is not None:
        header += f", shift={product.shift}"
        special.append("spu requantise, src=0, dst=0")
    final = [*special, "st base=0"]
    if plan.joined:
        what = "raw sums of all rows of activations at once"
        result.append(Sequence("final", FINAL, ["st base=0"], what=what))
    else:
        what = f"the sums of all {tile.m} rows of activations at once"
        result.append(Sequence("final", FINAL, final, header, what))
    return result + join_sequences(plan, header, final)


def _product(plan: HeldPlan) -> Sequence:
    tile, whole = plan.tile, isinstance(plan, WholePlan)
    body, options = ["ld weights"], [f".loop inner={tile.m}"]
    if whole:
        body.append("ld activations")
        options.append(f".step mac.base, inner={tile.k}")
    if plan.begins_here:
        body.append(f"ld psums, base={BLOCKS - 1}")  # results fill the blocks before
    body.append("mac base=0, acc=0")
    if tile.m > 1 and not whole:
        body.append(f"ld activations, base={plan.blocks}")
        name = f"ld[{1 + plan.begins_here}]"
        step = plan.blocks * (int(plan.config["pe.input_buffer"]) // BLOCKS)
        if plan.turns:
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
def _lists(plan: HeldPlan) -> list[Packets]:
    more, last = list_names(plan)
    result = []
    if more != last:
        result.append(Packets(more, list(_exes(plan, more, raw=True)), "before the last k"))
    what = "the last k" if more != last else "an iteration"
    result.append(Packets(last, list(_exes(plan, last, raw=plan.joins_rows)), what))
    if plan.joins_rows:
        result.append(Packets("merge", list(merge_exes(plan)), "row 0, when all rows are done"))
    return result


def _exes(plan: HeldPlan, name: str, raw: bool) -> Iterator[Exe]:
    """What an iteration does; its sums leave `raw` or as results."""
    tile, clusters = plan.tile, plan.partition.clusters
    to = to_clusters(plan, range(clusters))
    words = "" if plan.shares_activations else " by_cluster"
    data = [f"weights w_tile {'by_pe' if plan.shares_weights else 'sliced'}"]
    whole = isinstance(plan, WholePlan)
    if whole:
        data.append(f"x_tile{words}")
    else:
        yield Exe(HOLD, (f"x_tile[0]{words}",), to=to)
    for row in range(tile.m):
        if plan.begins_here:
            data.append(f"psums start[{row}] sliced")
        if row + 1 < tile.m and not whole:
            data.append(f"x_tile[{row + 1}]{words}")
    target = "chain" if plan.joins_clusters else "partial" if raw else "result"
    dtype = plan.types.result if target == "result" else plan.types.sum
    size = Types.size(dtype)
    out = f"{target}[0], stride={size}, step={plan.slots * size}, count={tile.m}"
    flag = "last" if target == "result" else "shift"
    yield Exe(PRODUCT, tuple(data), out, to, flag, f"{name}_product0")
    if plan.joins_clusters:
        yield from join_exes(plan, raw)
