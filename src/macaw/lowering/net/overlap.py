"""Lets the SIMD core vc begin with a pool while the array still computes the image.

This is possible if the pool reads the result of the layer before it, and the array computes that
layer. vc takes the rows in the order in which the array stores them (`macaw.lowering.progress`).
The layer of the array gets the plan with which both layers together take the least time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from macaw.isa.config import Configuration
from macaw.lowering.choose import Candidate
from macaw.lowering.net.layer_plan import LayerPlan, Overlap
from macaw.lowering.net.network import Network, VectorLayer
from macaw.lowering.net.vector.operations import AveragePool, MaxPool
from macaw.lowering.net.vector.source import cycles
from macaw.lowering.processor_cycles import ProcessorCycles
from macaw.lowering.progress import iterations_left

_JOIN = 2  # instructions of cp in the subroutine that waits for vc
_WORTH = 0.1  # the least share of the pool's cycles to save; it is not 0 because vc slows the dma


def overlapped(
    plans: Sequence[LayerPlan], network: Network, config: Configuration
) -> tuple[LayerPlan, ...]:
    """Return the plans of all layers.

    Where it is worthwhile, the plan of a pool says how the pool overlaps the layer before, and that
    layer may get another plan.
    """
    result = list(plans)
    for place in range(1, len(plans)):
        result[place - 1 : place + 1] = _pair(result[place - 1], result[place], network, config)
    return tuple(result)


def _pair(
    before: LayerPlan, pool: LayerPlan, network: Network, config: Configuration
) -> tuple[LayerPlan, LayerPlan]:
    """Return the plans of two consecutive layers; the second overlaps if that saves enough cycles.

    `before` and `pool` are the plans so far. They are returned unchanged if the second layer is no
    pool of the first one's result, or if the array does not compute the first layer.
    """
    choice = before.choice
    if choice is None or not isinstance(pool.layer, VectorLayer):
        return before, pool
    operation = pool.layer.operation
    source, image = network.home(pool.layer.inputs[0]), network.home(before.layer.output)
    if not isinstance(operation, MaxPool | AveragePool) or source != image:
        return before, pool
    alone = cycles(operation, config)
    least = choice.selection.cost.cycles + (1 - _WORTH) * alone
    for candidate in choice.others:
        overlap = _overlap(candidate, operation, alone, config)
        if overlap is not None and candidate.cost.cycles + overlap.cycles < least:
            least = candidate.cost.cycles + overlap.cycles
            before = replace(
                before, choice=replace(choice, selection=candidate), reports_progress=True
            )
            pool = replace(pool, overlap=overlap)
    return before, pool


def _overlap(
    candidate: Candidate, pool: MaxPool | AveragePool, alone: int, config: Configuration
) -> Overlap | None:
    """Return how a pool overlaps a layer with the plan of `candidate`, or None if it cannot.

    `alone` is the number of cycles that the pool takes without overlapping.
    """
    plan, end = candidate.plan, 0.0
    limits, made = iterations_left(plan), plan.product.shapes[1]
    # an image of single elements may have the same bytes in other rows
    if limits is None or len(limits) != pool.image[0] or prod(made) != prod(pool.image):
        return None
    rows = [min(limits[row] for row in pool.window(0, i)) for i in range(pool.result[0])]
    for limit in sorted(rows, reverse=True):
        stored = (plan.steps - limit) / (plan.steps + 1) * candidate.cost.cycles
        end = max(end, stored) + alone / len(rows)
    cp = ProcessorCycles.of(config)
    join = cp.call + _JOIN * cp.instruction + 1  # cp continues a cycle after vc's end
    return Overlap(tuple(limits), round(max(end - candidate.cost.cycles, 0)) + join)
