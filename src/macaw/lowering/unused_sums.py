"""Writes zeros to sums that no accumulator stores, in memory that layers of a network share.

A segment of sums has a sum for each accumulator of a PE, but a tile may use fewer of them. The
others are added, too. In a program of one layer they are zeros; in a network they would be what a
layer before has left.
"""

from __future__ import annotations

from macaw.lowering.plan import ProductPlan
from macaw.lowering.row_program import arrays
from macaw.lowering.transfers import PONG, Transfer

ZERO_SUMS = "zero_sums"  # label of a row of zeros in external memory
_ARRAYS = ("chain", "partial", "gathered")  # stored accumulator by accumulator, loaded all at once


def zero_row_bytes(plan: ProductPlan) -> int:
    """Return the bytes of a row of zeros: the sums of all accumulators of a cluster."""
    return plan.pes * plan.lanes * plan.sum_size


def zero_fills(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers that write zeros to such arrays, in both halves of all units."""
    if plan.lanes <= plan.tile.members:
        return []
    row = zero_row_bytes(plan)
    return [
        Transfer(
            f"{array.name} + EVERY_UNIT + {half:#x}",
            ZERO_SUMS,
            row,
            array.size // row,
            row,
            0,
            "sums that no accumulator stores",
        )
        for array in arrays(plan)
        if array.name in _ARRAYS
        for half in (0, PONG)
    ]
