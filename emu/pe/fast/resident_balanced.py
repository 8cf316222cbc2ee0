"""Balanced macs over resident weights (`resident_weights`), for any bases.

Sums do not depend on who adds a product. Cycles and counters come from `queue_occupancy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from macaw.emu.pe.fast.balanced_state import After, after
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.queue_occupancy import DEEPEST, Flow, laid_out
from macaw.emu.pe.fast.resident_weights import Counts, Ints, Weights, Whole
from macaw.emu.pe.reference.datapath import Datapath


@dataclass(frozen=True)
class BalancedWhole(Whole):
    """Whole macs that balance; (bases, clusters, PEs) of all arrays of `done`."""

    done: After
    handed: Ints  # whether a PE gets or gives a sum at the end

    balances: ClassVar[bool] = True

    def counts(self, some: slice) -> Counts:
        """What some of them add to the counters."""
        done, handed = self.done.part(some), self.handed[some]
        return Counts(
            {
                "macs": done.taken,
                "cycles_mac": done.taken,
                "effectual_loads": done.found,
                "loads_given": done.gave,
                "loads_taken": done.got,
                "cycles_filling": done.filling,
                "cycles_no_load": done.busy - done.taken - done.filling,
                "cycles_handing": handed,
                "cycles_early": self.cycles[some, :, None] - done.busy - handed,
            },
            gone=done.moved + done.gave,
            most=done.most,
        )


class BalancedWeights(Weights):
    """The same weights, of macs with `balance`. Raises `Unplannable` as its plan does."""

    def __init__(self, datapath: Datapath, clusters: Sequence[int], entries: Ints) -> None:
        if datapath.shape.direct or datapath.shape.load_queue_1 > DEEPEST:
            raise Unplannable
        super().__init__(datapath, clusters, entries)

    def multiply(self, bases: Sequence[int], limits: Ints) -> Whole:
        """Macs of these bases; see `find`."""
        hit, sums = self.find(bases, limits)
        shape, pes = sums.shape, self.shape.pes
        bits = hit.view(np.uint8)
        pairs = laid_out((bits[0::2] + bits[1::2]).T)
        entries = np.tile(self.entries, len(bases))
        begin = np.arange(entries.size) * pairs.shape[1]
        none = np.zeros(entries.size, np.uint8)
        has_left = begin // pairs.shape[1] % pes != 0
        flow = Flow(
            self.shape,
            pairs.reshape(-1),
            begin,
            begin + (entries + 1) // 2,
            none,
            none,
            none,
            has_left,
        )
        done = after(flow.run(None), none > 0, entries, none > 0, pes).shaped(shape)
        owners = done.gave > 0
        handed = owners.copy()
        handed[..., :-1] |= owners[..., 1:]
        last = np.maximum(done.last, 0)
        return BalancedWhole(
            cycles=last + 1 + owners.any(axis=2),
            sums=sums,
            taken=done.taken,
            busy=done.busy,
            first=done.filling,
            most=done.most,
            done=done,
            handed=handed.astype(np.int64),
        )
