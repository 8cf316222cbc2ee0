"""Load balancing between neighbours: the rules that both engines share.

At the end of a balanced mac, owners get the sums that their neighbours made.

The left neighbour has added the loads that it got to its helper accumulator. The owner sends its
own sum to the adder of the left PE through selectors 516 and 520, and gets the total back (seed
000 ¶101-102). It takes one cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.state import State

# Places that the left neighbour must have free: two for its own loads, one for the given one.
FREE_PLACES = 3

Mask = NDArray[np.bool_]


def hand_over(state: State, adder: Adder, clusters: Mask) -> Mask:
    """Complete the sums of all owners in `clusters` (clusters,).

    Gives the PEs that take part, (clusters, PEs). Raises `Fault` (accumulator overflow).
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
    """Which PEs give or get a sum, if PEs gave `given` loads away, (..., PEs)."""
    owners = loads_given > 0
    owners[..., :-1] |= owners[..., 1:].copy()
    return np.asarray(owners)
