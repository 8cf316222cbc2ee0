"""The data that the units of a row share: state, clusters, memory and the core."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.pe_arrays import PeArrays
from macaw.emu.pe.provenance import RowProvenance
from macaw.emu.pe.state import Shape
from macaw.emu.pe.unit_memory import UnitMemory


class RowContext:
    """The data of one row. `core` gives the time, the listeners, the trace and the number of ended
    steps.
    """

    def __init__(self, core: Core, shape: Shape, memory: UnitMemory) -> None:
        self.core, self.state, self.shape, self.memory = core, core.state, shape, memory
        self.clusters = [Cluster(self.state, shape, number) for number in range(shape.clusters)]
        self.arrays = PeArrays(self.state, shape)
        self.adder = Adder(shape.sum_type, shape.overflow)
        # The record of values' origins, if `Core.remember` was called.
        self.provenance: RowProvenance | None = None
