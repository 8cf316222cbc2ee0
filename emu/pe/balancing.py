"""Load balancing between neighbours: the rules that both engines share.

A load refers to a weight and an activation to multiply. The PE that has both is the load's owner;
it may give the load to its left neighbour. During a balanced mac, a PE multiplies the loads that
its right neighbour gave it, and adds their products to a helper accumulator. At the end of the mac,
the helper sum is added to the sum of the loads' owner. For this, the owner sends its own sum to the
adder of its left neighbour through selectors 516 and 520, and receives the total (seed 000
¶101-102). This takes one cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.state import State

# The number of free entries that the left neighbour's load queue must have: two for its own loads,
# one for the given load.
FREE_PLACES = 3

Mask = NDArray[np.bool_]


def hand_over(state: State, adder: Adder, clusters: Mask) -> Mask:
    """Add the helper sums to the sums of their owners, in the clusters of the mask `clusters`.

    A helper sum is what the left neighbour has added up for a PE, the owner. `clusters` has shape
    (clusters,); `adder` adds the sums in `state`. Return a mask of shape (clusters, PEs) of the PEs
    that take part: each owner, and the left neighbour that helped it. Raises `Fault` (accumulator
    overflow).
    """
    owners = (state.given > 0) & clusters[:, None]
    taking_part = participants(owners)
    cluster, pe = np.nonzero(owners)
    number = state.mac_sum[cluster, pe]
    own, helped = (
        state.accumulators[cluster, pe, number],
        state.helpers[cluster, pe - 1, number],
    )
    total, overflow = adder.total(own, helped)
    if overflow is not None and overflow.any():
        at = int(np.flatnonzero(overflow)[0])
        raise Fault(
            "accumulator overflow",
            f"cluster {cluster[at]}, PE {pe[at]}: accumulator {number[at]} holds {own[at]!s},"
            f" and {helped[at]!s} is handed over",
            {"cluster": int(cluster[at]), "pe": int(pe[at]), "accumulator": int(number[at])},
        )
    state.accumulators[cluster, pe, number] = total
    state.helpers[cluster, pe - 1, number] = 0
    state.given[clusters] = 0
    state.handing &= ~clusters
    return taking_part


def participants(loads_given: NDArray[Any]) -> Mask:
    """Return a mask of the PEs that take part when helper sums are added to their owners' sums.

    These are the PEs that gave loads away, and the left neighbour of each. `loads_given`, of shape
    (..., PEs), is the number of loads that each PE gave away; the mask has the same shape.
    """
    owners = loads_given > 0
    owners[..., :-1] |= owners[..., 1:].copy()
    return np.asarray(owners)
