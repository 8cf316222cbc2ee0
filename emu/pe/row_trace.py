"""What a row reports to its trace block. An instruction of it is an exe, from first beat to end.

The compute units are the MACs of its PEs; a use is a product added. They work from the first cycle
of a mac to its last one. The array, which is the whole row, works in every cycle in which some
cluster has a mac at work. Both are reported when a mac has ended, so a record that is read while a
mac is at work does not contain it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.state import FREE, MAC, RUNNING, STORE, UNNUMBERED, Op, Packet, Run

Ints = NDArray[np.int64]


class RowTrace:
    """The reports of a row. The trace counts device cycles; times here are cycles of the row."""

    def __init__(self, context: RowContext) -> None:
        self.context, self.core, self.state = context, context.core, context.state
        self.divider = context.shape.divider
        self.ended_exes: list[int] = []  # exes whose last run ended in this cycle

    # Exes

    def begin(self, packet: Packet, now: int) -> None:
        """The first beat of an exe goes in cycle `now`."""
        packet["number"] = self.state.begun
        self.state.latest = packet["address"]
        self.state.begun += 1
        if self.core.tracing:
            self.core.trace.begin(now * self.divider, packet["number"])

    def end_run(self, run: Run) -> None:
        """A run ended; with the last run of an exe the exe ends too."""
        runs = (other for cluster in self.context.clusters for other in cluster.runs)
        if all(other["number"] != run["number"] for other in runs):
            self.ended_exes.append(run["number"])

    def end_exes(self, now: int, oldest: int) -> None:
        """Report the exes that ended before cycle `now`: their records may go to memory now.

        `oldest` is the first cycle of the macs that are not reported yet.
        """
        numbers, self.ended_exes = self.ended_exes, []
        for number in numbers:
            self.core.trace.end(now * self.divider, number)
        self.core.trace.forget(oldest)

    def mark(self, packet: Packet, begins: bool, cycle: int) -> None:
        """A marker was on the bus in `cycle`. Raises `Fault` (bad mask)."""
        time, until = cycle * self.divider, (cycle + 1) * self.divider
        self.core.mark(begins, packet["buffer"], time, until)

    # Macs

    def begin_mac(self, cluster: int) -> None:
        """A mac begins in a cluster."""
        self.state.macs_before[cluster] = self.state.macs[cluster].sum()

    def end_mac(self, cluster: int, run: Run, op: Op) -> None:
        """A mac has ended."""
        trace, divider, number = self.core.trace, self.divider, run["number"]
        begin, until = op["start"], op["end"] + 1
        uses = int(self.state.macs[cluster].sum() - self.state.macs_before[cluster])
        self.state.macs_before[cluster] = 0
        if uses:
            trace.count_occurrence("unit", begin * divider, until * divider, uses, number)
        trace.count_work([begin], [until], number)

    def end_macs(self, number: int, begin: Ints, until: Ints, uses: Ints) -> None:
        """Many macs of exe `number` have ended: arrays of one shape, an element a mac.

        `until` is the cycle after the last one, `uses` the products.
        """
        trace, divider = self.core.trace, self.divider
        has_uses = uses > 0
        if has_uses.any():
            first, last = int(begin[has_uses].min()), int(until[has_uses].max())
            trace.count_occurrence("unit", first * divider, last * divider, int(uses.sum()), number)
        trace.count_work(begin.reshape(-1).tolist(), until.reshape(-1).tolist(), number)

    def oldest_mac(self, now: int) -> int:
        """The first cycle of the macs that are at work or may begin from `now` on."""
        for cluster in self.context.clusters:
            if not self.state.computing[cluster.number]:
                continue
            for run in cluster.runs:
                for op in run["ops"]:
                    if op["unit"] == MAC and op["state"] == RUNNING:
                        now = min(now, op["start"])
        return now

    # Memory

    def storing(self, cluster: int) -> int:
        """The number of the exe whose results a cluster stores, or `UNNUMBERED`."""
        buffer = self.state.units[cluster][STORE]
        run = None if buffer == FREE else self.context.clusters[cluster].run_of(buffer)
        return UNNUMBERED if run is None else run["number"]

    def reload(self) -> None:
        """Continue from the declared state: beats may be waiting for memory."""
        packet, returning = self.state.packet, self.state.returning
        memory = self.context.memory
        memory.read_port.instruction = UNNUMBERED if packet is None else packet["number"]
        store = UNNUMBERED if returning == FREE else self.storing(returning)
        memory.return_port.instruction = store
        self.ended_exes = []
