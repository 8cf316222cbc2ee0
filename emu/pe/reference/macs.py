"""Simulates the macs of a row cycle by cycle."""

from __future__ import annotations

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.reference.datapath import Datapath
from macaw.emu.pe.state import MAC
from macaw.emu.waits import NEVER


class CycleMacs:
    """The macs of a row, simulated in every cycle by the data path."""

    def __init__(self, context: RowContext, controls: ClusterControls) -> None:
        self.state, self.clusters, self.controls = context.state, context.clusters, controls
        self.datapath = Datapath(context.arrays, context.adder)

    def cycle(self, now: int) -> None:
        """Simulate cycle `now` of the PEs. Raises `Fault`."""
        if not np.count_nonzero(self.state.computing):
            return
        try:
            clusters = self.datapath.cycle()
        except Fault as fault:
            cluster = fault.values.get("cluster", 0)
            fault.address = self.clusters[int(cluster)].running_address(MAC)
            raise
        for number in clusters:
            self.controls.units[number].end_mac(now)

    @property
    def needs_next_cycle(self) -> bool:
        """Whether any cluster executes a mac."""
        return bool(np.count_nonzero(self.state.computing))

    def next_end(self) -> int:
        """Return NEVER, because every cycle of a mac is simulated."""
        return NEVER
