"""Predicts the cycles of the packets that add the partial sums of clusters and of rows.

The packets are those of `cluster_reduction`. The model uses the timing rules of docs/timing-pe.md.
"""

from __future__ import annotations

from math import ceil

from macaw.lowering.cluster_reduction import (
    adds_in_loops,
    cluster_summands,
    positions_of_exe,
    row_summands,
)
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.widths import bus_width

MOVE = 1  # for one total of a loop that adds sums: moving it to the output queue
ADDING_EXE = 10  # for an exe that adds sums of several positions: its begin and end


def cluster_reduction_cycles(plan: ProductPlan, raw: bool) -> float:
    """Return the cycles in which cluster 0 adds its row's sums and stores the totals.

    With `raw`, it stores the totals as they are, else as results.
    """
    return _adding_cycles(plan, cluster_summands(plan), raw)


def row_reduction_cycles(plan: ProductPlan) -> float:
    """Return the cycles in which row 0 adds the sums of all rows, and stores the results."""
    return _adding_cycles(plan, row_summands(plan), raw=False)


def _adding_cycles(plan: ProductPlan, summands: int, raw: bool) -> float:
    """Return the cycles in which a row adds `summands` sums to each total, and stores the totals.

    With `raw`, the row stores the totals as they are, else as results.
    """
    config, many = plan.config, positions_of_exe(plan, summands)
    kinds, rate = 0 if raw else len(plan.functions), config["sfu.rate"]
    bus = plan.summing_clusters * plan.pes * plan.sum_size / bus_width(config)
    adding = summands * (max(1.0, bus) + 1)
    if not adds_in_loops(plan):
        moving = 5.0 if raw else 5 + max(3.5, kinds * ceil(plan.pes / rate))
        return float(plan.positions * (adding + moving))
    special = kinds * (ceil(many * plan.pes / rate) + config["sfu.latency"])
    size = Types.size(plan.types.sum if raw else plan.types.result)
    beats = many * plan.summing_clusters * ceil(plan.pes * size / bus_width(config))
    exes = ceil(plan.positions / many)
    return float(exes * (many * (adding + MOVE) + special + beats + ADDING_EXE))
