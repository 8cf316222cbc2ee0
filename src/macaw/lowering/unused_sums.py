"""Writes zeros to partial sums that a tile does not use.

A segment of partial sums has one sum for each accumulator of a PE. If a tile uses fewer
accumulators, the PE still adds the sums for the others. In a program of one layer, the memory there
contains zeros. In a network, layers share the memory, so without this module it would contain data
of an earlier layer.
"""

from __future__ import annotations

from macaw.lowering.plan import ProductPlan
from macaw.lowering.row_program import arrays
from macaw.lowering.transfers import PONG, Transfer

ZERO_SUMS = "zero_sums"  # label of a row of zeros in external memory
_ARRAYS = ("chain", "partial", "gathered")  # accumulators are stored separately, loaded together


def zero_row_bytes(plan: ProductPlan) -> int:
    """Return the bytes of a row of zeros: a sum for each accumulator of each PE of a cluster."""
    return plan.pes * plan.lanes * plan.sum_size


def zero_fills(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers that write zeros to unused sums, in both halves of all units."""
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
