"""Divides one product among several islands, by rows or by columns of its result.

Each island computes a region of C and the functions that follow, in its own layout and tiling. If
the product is divided by rows, each island reads its rows of A and all of B. By columns, it reads
its columns of B and all of A. The dma brings the inputs of one island after the other. So the sizes
of the regions are such that all islands end at the same time. For that, an island's time is
estimated as a linear function of its region's size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import combinations

from macaw.isa.fim_circuit import OUTER
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.graph import PRODUCT
from macaw.lowering.fim.plan import Option
from macaw.lowering.fim.shape import Region, Shape

LEAST = 600  # a product that takes fewer cycles on its best island is not divided
# The grain: regions begin at a multiple of this number of columns or rows, so that no tile is in
# two regions. A tile has at most four rows, but 16 in the layout outer.
GRAIN, FINE_GRAIN = 16, 4
FAR = 4  # islands that take this factor times the best island's cycles get no region
TRIED = 2  # number of groups of islands that are tried by rows, and by columns
# The same for products of windows. Windows overlap, so the estimate of a region's copies is worse.
TRIED_OF_WINDOWS = 4

# Returns the best option of an island in a layout for a region of the result, or None.
Ask = Callable[[int, int, Region], Option | None]


def split_options(
    shape: Shape, options: Sequence[Option], ask: Ask, tried: int = TRIED
) -> Iterator[Option]:
    """Yield options in which several islands share a product.

    `shape` is the shape of the product. `options` are the options with which a single island
    computes the whole product. `ask` returns the best option of an island for a region. `tried` is
    the number of groups of islands that are tried for a division by rows, and also the number for a
    division by columns.
    """
    best: dict[int, Option] = {}
    for option in sorted(options, key=lambda option: option.total):
        if option.island is not None:
            best.setdefault(option.island, option)
    fastest = list(best.values())
    if len(fastest) < 2 or fastest[0].total < LEAST:
        return
    near = [option for option in fastest if option.total < FAR * fastest[0].total]
    groups = [group for n in range(2, len(near) + 1) for group in combinations(near, n)]
    for by_rows in (True, False):
        shared = (_Sharing(shape, group, by_rows) for group in groups)
        possible = [row for row in shared if len(row.regions) == len(row.options)]
        for row in nsmallest(tried, possible, key=lambda row: row.end):
            regions = zip(row.options, row.regions, strict=True)
            parts = [ask(option.island or 0, option.layout, region) for option, region in regions]
            if None not in parts:
                yield _together([part for part in parts if part is not None])


class _Sharing:
    """A group of islands that share a product, in the order in which the dma brings their inputs.

    `options` has the option of each island for the whole product, `regions` the islands' regions of
    the result. If an island would get nothing of the result, there are fewer regions than options.
    `end` is the estimated cycle in which the last results are fetched.
    """

    def __init__(self, shape: Shape, group: Sequence[Option], by_rows: bool) -> None:
        self.options = sorted(group, key=lambda option: option.bring)
        # By rows, a region has all of B and a part of A; by columns, it is the other way round.
        parts = []  # cycles to bring the divided operand, and to bring the one that regions share
        for option in self.options:
            of_a, of_b = _parts_of_bring(shape, option)
            parts.append((of_a, of_b) if by_rows else (of_b, of_a))
        fixed = [whole for _, whole in parts]
        rates = [
            (divided, max(1, option.compute))
            for option, (divided, _) in zip(self.options, parts, strict=True)
        ]
        compute_end = _equal_end(fixed, rates)
        sizes = _sizes(fixed, rates, compute_end)
        self.end = compute_end + max(option.fetch for option in group)
        outer = any(option.layout == OUTER for option in group)
        grain = FINE_GRAIN if by_rows and not outer else GRAIN
        self.regions = _regions(shape, sizes, by_rows, grain) if min(sizes) > 0 else []


def _parts_of_bring(shape: Shape, option: Option) -> tuple[float, float]:
    """Return the cycles of an option's `bring` for A and for B, estimated from their sizes.

    A constant that stays in the banks takes none.
    """
    a, b = next(task for task in option.tasks if task.kind == PRODUCT).inputs
    stays = option.residency is not None
    of_a, of_b = (
        0 if stays and tensor.data is not None else side
        for tensor, side in ((a, shape.m), (b, shape.n))
    )
    share = of_b / max(1, of_a + of_b)
    return option.bring * (1 - share), option.bring * share


def _sizes(fixed: Sequence[float], rates: Sequence[tuple[float, int]], end: float) -> list[float]:
    """Return the sizes of regions whose islands end in cycle `end`, as shares of the result.

    Each island first waits for the copies of the islands before it. For each island, `fixed` has
    the cycles to copy the operand that all islands read whole. `rates` has two numbers for each
    island: the cycles to copy the whole other operand, and the cycles to compute the whole result.
    An island whose region is the share s of the result takes s times these cycles.
    """
    sizes, time = [], 0.0
    for always, (bring, compute) in zip(fixed, rates, strict=True):
        time += always
        size = (end - time) / (bring + compute)
        time += size * bring
        sizes.append(size)
    return sizes


def _equal_end(fixed: Sequence[float], rates: Sequence[tuple[float, int]]) -> float:
    """Return the cycle in which all islands end if their regions together are the whole result.

    `fixed` and `rates` have the cycles of each island, as in `_sizes`, which returns the sizes of
    regions that end in a given cycle. The sum of these sizes is a linear function of the cycle. So
    the sums for two cycles determine the cycle for which the sum is 1, the whole result.
    """
    at_zero, at_one = (sum(_sizes(fixed, rates, end)) for end in (0.0, 1.0))
    return (1 - at_zero) / (at_one - at_zero)


def _regions(shape: Shape, sizes: Sequence[float], by_rows: bool, grain: int) -> list[Region]:
    """Divide the result by rows or by columns into regions with the shares `sizes` of the result.

    Regions begin at multiples of `grain` rows or columns. A size that is rounded to zero has no
    region.
    """
    total = shape.m if by_rows else shape.n
    regions, first, done = [], 0, 0.0
    for number, size in enumerate(sizes):
        done += size
        last = round(total * done / grain) * grain
        last = total if number == len(sizes) - 1 else min(last, total)
        if last > first:
            if by_rows:
                regions.append(Region(first, last - first, 0, shape.n, shape.n))
            else:
                regions.append(Region(0, shape.m, first, last - first, shape.n))
        first = last
    return regions


def _together(parts: Sequence[Option]) -> Option:
    """Return one option in which several islands share a product.

    Its `bring` and `fetch` are sums over `parts`. `clock` predicts when the option ends if there
    are no other steps. `compute` is this time minus `bring` and `fetch`, but at least 1.
    """
    bring, fetch = (sum(getattr(part, name) for part in parts) for name in ("bring", "fetch"))
    whole = replace(
        parts[0],
        bring=bring,
        fetch=fetch,
        reorder=sum(part.reorder for part in parts),
        constants=sum(part.constants for part in parts),
        residency=None,
        until_last_start=0,
        slack=tuple(map(sum, zip(*(part.slack for part in parts), strict=True))),
        job=None,
        parts=tuple(parts),
    )
    return replace(whole, compute=max(1, simulate([whole]).clock.end - bring - fetch))
