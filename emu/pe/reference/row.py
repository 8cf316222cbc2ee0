"""The reference engine of a row: it simulates each cycle in which something can change.

It skips all other cycles.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.origins import Origins
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.reference.macs import CycleMacs
from macaw.emu.pe.row import Row
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.special_units import SpecialUnits
from macaw.emu.system import System


class ReferenceRow(Row):
    """The reference engine of a row."""

    macs: CycleMacs

    def __init__(self, device: System, row: int) -> None:
        super().__init__(device, row)
        self.special = SpecialUnits(self.context, self.queues)
        units = RowUnits(self.context, self.queues, self.special)
        self.controls = ClusterControls(units)
        self.macs = CycleMacs(self.context, self.controls)
        self.assemble(units)

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record where values come from, products included. Return the records.

        `number` returns how many events the device has announced to listeners so far.
        """
        origins = super().remember(number)
        assert self.context.provenance is not None  # the call above has just made it
        self.macs.datapath.on_multiply = self.context.provenance.add_products
        return origins
