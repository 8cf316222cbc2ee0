"""Reports the work of a row to its trace block. An instruction of the trace is an exe.

An exe is a packet that makes clusters execute an instruction buffer. It lasts from its first beat
to its end. The compute units are the MACs of the PEs. Each product is one use of a compute unit, in
the cycles from the start to the end of its mac. The "array" of the trace is the whole row. It works
in every cycle in which some cluster executes a mac. A mac is reported when it has ended. So a
record that is read during a mac does not contain that mac.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.state import FREE, MAC, RUNNING, STORE, UNNUMBERED, Op, Packet, Run

Ints = NDArray[np.int64]


class RowTrace:
    """The reports of one row.

    Times here are cycles of the row. The trace block gets device cycles, except for the work of the
    array, which it counts in cycles of the row.
    """

    def __init__(self, context: RowContext) -> None:
        self.context, self.core, self.state = context, context.core, context.state
        self.divider = context.shape.divider
        self.ended_exes: list[int] = []  # the numbers of exes whose last run ended in this cycle

    # Exes

    def begin(self, packet: Packet, now: int) -> None:
        """Give an exe its number and report its start; its first beat is sent in cycle `now`."""
        packet["number"] = self.state.begun
        self.state.latest = packet["address"]
        self.state.begun += 1
        if self.core.tracing:
            self.core.trace.begin(now * self.divider, packet["number"])

    def end_run(self, run: Run) -> None:
        """Record the end of a run. An exe ends when its last run ends."""
        runs = (other for cluster in self.context.clusters for other in cluster.runs)
        if all(other["number"] != run["number"] for other in runs):
            self.ended_exes.append(run["number"])

    def end_exes(self, now: int, oldest: int) -> None:
        """Report the exes that ended before cycle `now`, so that their records can be written.

        Then drop the data about macs before cycle `oldest`, the first cycle of the earliest mac
        that is not reported yet.
        """
        numbers, self.ended_exes = self.ended_exes, []
        for number in numbers:
            self.core.trace.end(now * self.divider, number)
        self.forget(oldest)

    def forget(self, oldest: int) -> None:
        """Drop the trace block's data about the array's work before cycle `oldest`.

        `oldest` is the first cycle of the earliest mac that is not reported yet.
        """
        self.core.trace.forget(oldest)

    def mark(self, packet: Packet, begins: bool, cycle: int) -> None:
        """Report the marker `packet`, which was on the bus in `cycle`. Raises `Fault` (bad mask).

        `begins` says whether the trace begins or ends to record at the marker.
        """
        time, until = cycle * self.divider, (cycle + 1) * self.divider
        self.core.mark(begins, packet["buffer"], time, until)

    # Macs

    def begin_mac(self, cluster: int) -> None:
        """Record the start of a mac in a cluster."""
        self.state.macs_before[cluster] = self.state.macs[cluster].sum()

    def end_mac(self, cluster: int, run: Run, op: Op) -> None:
        """Report a mac that has ended: step `op` of a run of a cluster."""
        trace, divider, number = self.core.trace, self.divider, run["number"]
        begin, until = op["start"], op["end"] + 1
        uses = int(self.state.macs[cluster].sum() - self.state.macs_before[cluster])
        self.state.macs_before[cluster] = 0
        if uses:
            trace.count_occurrence("unit", begin * divider, until * divider, uses, number)
        trace.count_work([begin], [until], number)

    def end_macs(self, number: int, begin: Ints, until: Ints, uses: Ints) -> None:
        """Report many macs of exe `number` that have ended.

        The arrays have one element for each mac: the first cycle (`begin`), the cycle after the
        last one (`until`) and the number of products (`uses`).
        """
        trace, divider = self.core.trace, self.divider
        has_uses = uses > 0
        if has_uses.any():
            first, last = int(begin[has_uses].min()), int(until[has_uses].max())
            trace.count_occurrence("unit", first * divider, last * divider, int(uses.sum()), number)
        trace.count_work(begin.reshape(-1).tolist(), until.reshape(-1).tolist(), number)

    def oldest_mac(self, now: int) -> int:
        """Return the first cycle of the earliest mac that is being executed.

        If there is none, the result is `now`.
        """
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
        """Return the number of the exe whose results a cluster stores; `UNNUMBERED` if none."""
        buffer = self.state.units[cluster][STORE]
        run = None if buffer == FREE else self.context.clusters[cluster].run_of(buffer)
        return UNNUMBERED if run is None else run["number"]

    def reload(self) -> None:
        """Continue from the declared state, in which a beat may be waiting for memory."""
        packet, returning = self.state.packet, self.state.returning
        memory = self.context.memory
        memory.read_port.instruction = UNNUMBERED if packet is None else packet["number"]
        store = UNNUMBERED if returning == FREE else self.storing(returning)
        memory.return_port.instruction = store
        self.ended_exes = []
