"""Assigns rows of banks to the jobs whose constants stay in the banks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from macaw.isa.fim_islands import Geometry
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.bank_images import BankImage
from macaw.lowering.fim.plan import Step


def with_rows(steps: Iterable[Step], rows: int) -> tuple[Step, ...]:
    """Return the steps with a first row for each job whose constants stay in the banks.

    These jobs get reserved rows, one job after the other; jobs with the same constants get the same
    rows. A bank has `rows` rows, and the reserved ones are the last.
    """
    used: dict[int | None, int] = {}  # rows by island
    first: dict[tuple[int | None, Hashable], int] = {}
    placed = []
    for step in steps:
        option = step.option
        residency = option.residency
        if residency is not None:
            key = option.island, residency.key
            if key not in first:
                first[key] = rows - residency.budget + used.get(option.island, 0)
                used[option.island] = used.get(option.island, 0) + residency.rows
            option = replace(option, job=option.job.at_row(first[key]))
        placed.append(replace(step, option=option))
    return tuple(placed)


@dataclass(frozen=True)
class PlacedImage:
    """Constants that the loader writes to banks of an island, starting at a given row.

    `number` counts the jobs with such constants, in the order of the plan.
    """

    number: int  # counts the jobs with such constants, in the order of the plan
    island: int
    row: int
    image: BankImage


def images(steps: Iterable[Step]) -> Iterator[PlacedImage]:
    """Yield the constants that stay in the banks, in the order of the steps.

    If several steps share constants, these are yielded once.
    """
    seen: set[tuple[int | None, Hashable]] = set()
    number = 0
    for step in steps:
        residency, island = step.option.residency, step.option.island
        if residency is None or island is None or (island, residency.key) in seen:
            continue
        seen.add((island, residency.key))
        for image in step.option.job.images():
            yield PlacedImage(number, island, step.option.job.row, image)
        number += 1


def reserved_rows(budget: float, memory: Geometry) -> int:
    """Return the number of rows of each bank that are reserved for constants that stay.

    If `budget` is an integer, it is a number of bytes on each island. If it is a float, it is a
    share of the rows, from 0.0 to 1.0. `memory` has the sizes of the banks. Raises `LowerError` for
    a negative number of bytes, and for a share outside of this range.
    """
    if isinstance(budget, float):
        if not 0 <= budget <= 1:
            raise LowerError(f"a share of {budget:g} of the banks", "a share is 0.0 to 1.0")
        return int(memory.rows * budget)
    if budget < 0:
        raise LowerError(f"constants of {budget} bytes in the banks", "0 bytes at least")
    return min(memory.rows, budget // (memory.banks * memory.row_bytes))


def resident_bytes(steps: Iterable[Step]) -> int:
    """Return the number of bytes of constants that stay in the banks of all islands."""
    return sum(placed.image.size for placed in images(steps))
