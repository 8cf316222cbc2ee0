"""Computes balanced macs over resident weights (`resident_weights`) for many base addresses.

The sums are the same as without balance, because an integer sum does not depend on which PE adds a
product. Cycles and counters come from `queue_occupancy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.balancing import participants
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.balanced_state import progress
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.queue_occupancy import DEEPEST, QueueOccupancy, padded
from macaw.emu.pe.fast.resident_weights import Ints, ResidentMacs, ResidentWeights


class BalancedResidentWeights(ResidentWeights):
    """Resident weights for macs with `balance`.

    Raises `Unplannable` for design 5a, which has no load queue 1, or if load queue 1 is too deep.
    """

    def __init__(self, context: RowContext, clusters: Sequence[int], entries: Ints) -> None:
        if context.shape.direct or context.shape.load_queue_1 > DEEPEST:
            raise Unplannable
        super().__init__(context, clusters, entries)

    def multiply(self, activations: NDArray[Any]) -> ResidentMacs:
        """Compute the macs that read `activations`.

        The array `activations` has the shape (entries, macs, PEs of all clusters).
        """
        hit, sums = self.find(activations)
        shape, pes = sums.shape, self.shape.pes
        bits = hit.view(np.uint8)
        pairs = padded((bits[0::2] + bits[1::2]).T)
        entries = np.tile(self.entries, len(sums))
        begin = np.arange(entries.size) * pairs.shape[1]
        none = np.zeros(entries.size, np.uint8)
        has_left = begin // pairs.shape[1] % pes != 0
        occupancy = QueueOccupancy(
            self.shape,
            pairs.reshape(-1),
            begin,
            begin + (entries + 1) // 2,
            none,
            none,
            none,
            has_left,
        )
        outcome, last = progress(occupancy.run(None), none > 0, entries, none > 0, pes)
        outcome = outcome.reshape(shape)
        owners = np.asarray(outcome.loads_given) > 0
        cycles = np.maximum(last.reshape(shape[:-1]), 0) + 1 + owners.any(axis=2)
        outcome.handing_cycles = participants(owners).astype(np.int64)
        outcome.mac_cycles = np.broadcast_to(cycles[:, :, None], shape)
        return ResidentMacs(cycles, sums, outcome, balances=True)
