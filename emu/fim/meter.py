"""The meter of an island: it counts the operations of circuits, and the columns that they use."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.emu.core import Core, Event
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.core import IslandCore
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.isa.activities import adding, computing
from macaw.isa.fim_circuit import ARRANGEMENTS, COLUMN_BYTES, FORMATS, FUNCTIONS

BANKS = "banks"
# By occurrence: the activity of a column, and whether it is written.
_COLUMNS = {
    "reads": ("dram_bank", False),
    "writes": ("dram_bank", True),
    "external_reads": ("dram", False),
    "external_writes": ("dram", True),
}


class IslandMeter(Meter):
    """Counts the activities of words and of host operations, by the address of the word."""

    core: IslandCore

    def __init__(self, core: IslandCore, memory: MeteredMemory) -> None:
        super().__init__(core, memory)
        self.rows = 0

    def hear(self, event: Event) -> None:
        if event.kind == "instruction":
            self.address = int(event.values["address"])
            self.add("commands", 1, self.address)
        elif event.kind == "used":
            self.address = int(event.values["address"])
            of, times = str(event.values["of"]), int(event.values["times"])
            if of in _COLUMNS:
                activity, writes = _COLUMNS[of]
                self.add(activity, times * COLUMN_BYTES, self.address, BANKS, writes)
            elif of == "unit" and self.core.batch_mode is not None:
                self._compute(self.core.batch_mode, times)

    def _compute(self, mode: Mode, products: int) -> None:
        """Count the operations of ALUs that computed `products` products or results in `mode`."""
        number = FORMATS[mode.format]
        work = ARRANGEMENTS[mode.arrange].work(number.lanes)
        times = products // work.products
        activity = computing(FUNCTIONS[mode.op].arithmetic, number.name)
        self.add(activity, products, self.address)
        sums = work.products - work.results + work.results * int(mode.accumulates)
        self.add(adding("int32" if number.is_integer else number.name), times * sums, self.address)

    def acted(self) -> None:
        rows = self.core.counts["activations"] + self.core.counts["channel_rows"]
        self.add("dram_rows", rows - self.rows, self.address)
        self.rows = rows

    def close(self) -> None:
        self.acted()

    @property
    def row_use(self) -> tuple[int, int] | None:
        counts = self.core.counts
        columns = counts["column_reads"] + counts["column_writes"] + counts["host_columns"]
        return columns, self.rows

    @property
    def peak_operations(self) -> float:
        core = self.core
        return 2 * core.abilities.lanes * core.geometry.banks / core.divider

    @property
    def peak_bytes(self) -> Mapping[str, float]:
        core = self.core
        period = max(core.dram.timings.t_ccdl, core.divider)
        return {BANKS: core.geometry.banks * COLUMN_BYTES / period}


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of an island."""
    assert isinstance(core, IslandCore)
    return IslandMeter(core, memory)
