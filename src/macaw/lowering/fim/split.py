"""Divides one product among several islands, by rows or by columns of its result.

Each island computes a region of C and the functions that follow, in its own layout and tiling. If
the product is divided by rows, each island reads its rows of A and all of B. By columns, it reads
its columns of B and all of A. The sizes of the regions are in proportion to the islands' speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.plan import Option
from macaw.lowering.fim.shape import Region, Shape

LEAST = 600  # a product that takes fewer cycles on its best island is not divided
GRAIN = 16  # regions begin at multiples of so many rows or columns: no tile is in two regions
FAR = 4  # islands that take so many times the cycles of the best one get no region

# Returns the best option of an island in a layout for a region of the result, or None.
Ask = Callable[[int, int, Region], Option | None]


def split_options(shape: Shape, options: Sequence[Option], ask: Ask) -> Iterator[Option]:
    """Yield options in which several islands share a product.

    `options` are those of single islands for the whole product.
    """
    best: dict[int, Option] = {}
    for option in sorted(options, key=lambda option: option.total):
        if option.island is not None:
            best.setdefault(option.island, option)
    fastest = list(best.values())
    if len(fastest) < 2 or fastest[0].total < LEAST:
        return
    near = [option for option in fastest if option.total < FAR * fastest[0].total]
    for count in range(2, len(near) + 1):
        for by_rows in (True, False):
            regions = _regions(shape, near[:count], by_rows)
            if len(regions) < count:
                continue
            parts = [
                ask(option.island or 0, option.layout, region)
                for option, region in zip(near, regions, strict=False)
            ]
            if None not in parts:
                yield _together([part for part in parts if part is not None])


def _regions(shape: Shape, options: Sequence[Option], by_rows: bool) -> list[Region]:
    """Return a region for each option, of a size in proportion to its speed, or fewer regions."""
    total = shape.m if by_rows else shape.n
    speeds = [1 / max(1, option.compute) for option in options]
    regions, first, done = [], 0, 0.0
    for number, speed in enumerate(speeds):
        done += speed
        last = round(total * done / sum(speeds) / GRAIN) * GRAIN
        last = total if number == len(speeds) - 1 else min(last, total)
        if last > first:
            if by_rows:
                regions.append(Region(first, last - first, 0, shape.n, shape.n))
            else:
                regions.append(Region(0, shape.m, first, last - first, shape.n))
        first = last
    return regions


def _together(parts: Sequence[Option]) -> Option:
    """Return one option in which several islands share a product.

    Its `bring` and `fetch` are the sums of those of `parts`. Its `compute` is the rest of the
    predicted time of the whole option.
    """
    bring, fetch = (sum(getattr(part, name) for part in parts) for name in ("bring", "fetch"))
    whole = replace(
        parts[0],
        bring=bring,
        fetch=fetch,
        reorder=sum(part.reorder for part in parts),
        residency=None,
        until_last_start=0,
        job=None,
        parts=tuple(parts),
    )
    return replace(whole, compute=max(1, simulate([whole]).clock.end - bring - fetch))
