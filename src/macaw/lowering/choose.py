"""Choose the mapping, split and tile of an operation by the cost model, and explain the choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch

import macaw.lowering.image_program  # noqa: F401 - it registers the rows and transfers of an ImagePlan
from macaw.isa.config import Configuration
from macaw.isa.pe import ACCUMULATORS, BLOCKS
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import Cost, cost
from macaw.lowering.errors import LowerError
from macaw.lowering.image_plan import ImagePlan, ImageTile, make_image_plan
from macaw.lowering.mapping import MAPPINGS, OUTPUT, WEIGHT, Mapping
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS, Partition, partition
from macaw.lowering.plan import ProductPlan, Tile
from macaw.lowering.row_program import unit_bytes
from macaw.lowering.size_refusal import refusal
from macaw.lowering.sliding_window import SlidingWindowPlan
from macaw.lowering.weight_stationary import make_product_plan

GROUPS = (1, 2, 4, 8, 16)  # groups of rows of activations in a tile, to try
STATIONARY_GROUPS = (2, 4, 8, 16, 32, 64, 120, 240)  # the same for weight stationary plans
PREFERRED = 1.02  # cycles of the preferred mapping, at most, in relation to the best one


@dataclass(frozen=True)
class Candidate:
    """A plan of an operation, and the cost that the model predicts for it."""

    plan: ProductPlan
    cost: Cost


@dataclass(frozen=True)
class Choice:
    """The result of `choose`: the selected plan and the other candidates.

    `others` has the best candidate of each mapping and split, cheapest first; the selected one is
    among them. `preferred` is the name of the mapping that the device prefers (`lower.preferred`).
    """

    selection: Candidate
    others: tuple[Candidate, ...]
    preferred: str

    def reasons(self) -> list[str]:
        """Return lines of text that explain why this plan was selected."""
        plan, price = self.selection.plan, self.selection.cost
        lines = [
            f"{plan.mapping.name} stationary, split {plan.partition.split}{plan.variant}:"
            f" {price.cycles:,} cycles and {price.traffic.external:,} bytes of external memory"
            f" predicted; iterations wait for {price.bottleneck}.",
        ]
        best = self.others[0]
        if best is not self.selection:
            lines.append(
                f"{best.plan.mapping.name} stationary, split {best.plan.partition.split}, would"
                f" take {best.cost.cycles:,} cycles; {self.preferred} stationary is preferred"
                " (lower.preferred) where it costs at most 2% more."
            )
        for mapping in MAPPINGS.values():
            plans_of = [item for item in self.others if item.plan.mapping is mapping]
            if plans_of and mapping is not plan.mapping and plans_of[0] is not best:
                lines.append(_comparison(plans_of[0], self.selection))
        return lines


def _comparison(other: Candidate, choice: Candidate) -> str:
    plan, price = other.plan, other.cost
    more = price.cycles / choice.cost.cycles
    return (
        f"{plan.mapping.name} stationary, split {plan.partition.split}: {price.cycles:,} cycles"
        f" ({more:.2f} times), {price.traffic.external:,} bytes; waits for {price.bottleneck}."
    )


def choose(
    product: Product,
    config: Configuration,
    *,
    operation: str = "spmm",
    mapping: str | None = None,
    split: str | None = None,
    density: float = 1.0,
) -> Choice:
    """Return the plan with the least predicted cycles. Raises `LowerError` if none fits.

    The preferred mapping is selected if it costs at most 2% more. `product` must be a result of its
    method `validated`. `density` is the share of activations that are not zero. A `mapping` or
    `split` restricts the search.
    """
    tensors, external = product.tensor_bytes(config), config["mem.external_bytes"]
    if tensors > external:
        raise LowerError(
            f"activations and results are {tensors:,} bytes, external memory has {external:,}",
            "a larger mem.external_bytes",
        )
    mappings = list(MAPPINGS.values()) if mapping is None else [MAPPINGS[mapping]]
    splits = list(SPLITS) if split is None else [split]
    best = []
    for kind in mappings:
        for letter in splits:
            candidates = [
                Candidate(plan, cost(plan, density))
                for plan in plans(product, config, kind, letter)
            ]
            if candidates:
                best.append(min(candidates, key=_key))
    if not best:

        def fits(other: Configuration) -> bool:
            several = (
                plans(product, other, kind, letter) for kind in mappings for letter in splits
            )
            return any(True for each in several for _ in each)

        raise refusal(config, fits)
    best.sort(key=_key)
    preferred = str(config[f"lower.preferred.{operation}"])
    near = (item for item in best if item.cost.cycles <= PREFERRED * best[0].cost.cycles)
    candidate = next((item for item in near if item.plan.mapping.name == preferred), best[0])
    return Choice(candidate, tuple(best), preferred)


def _key(item: Candidate) -> tuple[int, int]:
    return item.cost.cycles, item.cost.traffic.external


@singledispatch
def plans(
    product: Product, config: Configuration, mapping: Mapping, split: str
) -> Iterator[ProductPlan]:
    """Yield plans of a mapping and split that fit the device.

    The rows of activations in a tile may be grouped in several ways. For each way, the plans have
    the two longest tiles of k that fit. With weights stationary, there are also plans whose input
    buffer takes all rows of a tile at once.
    """
    extents = (product.m, product.n, product.k)
    part = partition(split, config["pe.rows"], config["pe.clusters"], extents)
    outputs = even_tile(part.length("N"), config["pe.pes"])
    for groups, members in _rows(part, mapping):
        count = 0
        rows = min(groups, 2) if mapping is WEIGHT else groups * members  # in the buffer
        for k in _inputs(part, config, rows):
            tile = Tile(groups, members, outputs, k)
            plan = _fitting(product, config, mapping, split, tile)
            if plan is not None:
                yield plan
                count += 1
            if mapping is WEIGHT and groups > 1:
                plan = _fitting(product, config, mapping, split, tile, whole=True)
                if plan is not None:
                    yield plan
            if count == 2:
                break


@plans.register
def _image_plans(
    product: Convolution, config: Configuration, mapping: Mapping, split: str
) -> Iterator[ProductPlan]:
    """Yield plans of a convolution that fit the device.

    Plans with sliding windows are for depthwise convolutions only, image plans for the layout `hwc`
    only. They divide k into the fewest parts that fit. Several tile widths are tried, each with as
    many rows as fit.
    """
    if product.depthwise:
        yield from _kind_plans(product, config, mapping, split, SlidingWindowPlan)
    if product.layout == "hwc":
        yield from _kind_plans(product, config, mapping, split, ImagePlan)


def _kind_plans(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    split: str,
    kind: type[ImagePlan],
) -> Iterator[ImagePlan]:
    part = partition(
        split, config["pe.rows"], config["pe.clusters"], (product.m, product.n, product.k)
    )
    outputs = even_tile(part.length("N"), config["pe.pes"])
    length, count = part.length("K"), 0
    for chunks in range(1, length + 1):
        k = -(-length // chunks)
        if chunks > 1 and (mapping.inner != "K" or k == -(-length // (chunks - 1))):
            continue
        for side in dict.fromkeys((1, 2, 3, 4, 6, 8, 16, product.columns)):
            if side <= product.columns:
                columns = -(-product.columns // side)
                tile = ImageTile(part.length("M"), 1, outputs, k, columns)
                plan = _tallest(product, config, mapping, split, tile, kind)
                if plan is not None:
                    yield plan
                    count += 1
        if count:
            return


def _tallest(
    product: Convolution,
    config: Configuration,
    mapping: Mapping,
    split: str,
    tile: ImageTile,
    kind: type[ImagePlan],
) -> ImagePlan | None:
    """Return the plan of class `kind` with the most rows in a tile; None if not even one row fits.

    `tile` has the largest number of rows to try; its other sizes stay. The rows are reduced step by
    step until the plan fits the device.
    """
    length = rows = tile.groups
    while True:
        rows = even_tile(length, rows)
        shorter = replace(tile, groups=rows)
        try:
            plan = make_image_plan(product, config, mapping, split, shorter, kind)
        except LowerError:
            plan = None
        if plan is not None and unit_bytes(plan) <= config["mem.unit_half_bytes"]:
            return plan
        if rows == 1:
            return None
        rows = max(1, min(rows - 1, rows * 3 // 4))


def even_tile(length: int, most: int) -> int:
    """Return the size of tiles that divide `length` into the fewest tiles of at most `most`.

    Of all such sizes it is the least, so the tiles are as equal as possible.
    """
    return -(-length // -(-length // most))


def _rows(part: Partition, mapping: Mapping) -> Iterable[tuple[int, int]]:
    """Return the pairs (groups, members) to try for a tile.

    A tile has `groups` groups of rows of activations, with `members` rows in each group.
    """
    length = part.length("M")
    if mapping is WEIGHT:  # one by one, alternating between two places
        even = [groups for groups in STATIONARY_GROUPS if groups < length]
        return [(groups, 1) for groups in (*even, length, length - length % 2) if groups]
    most = min(length, ACCUMULATORS)
    sizes = []
    for members in dict.fromkeys((most, even_tile(length, most), min(most, 3), min(most, 2))):
        for groups in GROUPS if mapping is not OUTPUT else GROUPS[:1]:
            if groups * members <= min(length, BLOCKS):
                sizes.append((groups, members))
    return sizes


def _inputs(part: Partition, config: Configuration, rows: int) -> Iterator[int]:
    """Yield tile lengths of k to try, the longest first; a tile has `rows` rows of activations."""
    block = config["pe.input_buffer"] // BLOCKS
    length, last = part.length("K"), 0
    most = min(length, BLOCKS // rows * block)
    tiles = -(-length // most)
    while True:
        k = -(-length // tiles)
        if k != last:
            yield k
        if k == 1:
            return
        last, tiles = k, max(tiles + 1, tiles * 5 // 4)


def _fitting(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    tile: Tile,
    *,
    whole: bool = False,
) -> ProductPlan | None:
    """Return the plan for a tile, or None if the device cannot hold it.

    If `whole`, the input buffer takes all activations of the tile at once.
    """
    try:
        plan = make_product_plan(product, config, mapping, split, tile, whole)
    except LowerError:
        return None
    return plan if unit_bytes(plan) <= config["mem.unit_half_bytes"] else None
