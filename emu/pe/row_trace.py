"""What a row tells its trace block. An instruction of it is an exe, from its first beat to its end.

The compute units are the MACs of its PEs: a use is a product added. They work from the first
cycle of a mac to its last one; the array of them, the whole row, is at use in every cycle
in which a mac of some cluster is at work, whatever its PEs do then. Both are told when
a mac has ended, so a record that is looked at while one is at work has nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.pe.state import FREE, MAC, RUNNING, STORE, Op, Packet, Run

if TYPE_CHECKING:
    from macaw.emu.pe.fast.lockstep_group import Gang
    from macaw.emu.pe.row import Row

NOBODY = -1  # number of what is not traced: configs and markers


class Tracing:
    """The trace of a row. What is told counts in device cycles; times here are the row's."""

    def __init__(self, row: Row) -> None:
        self.row, self.state = row, row.state
        self.ended: list[int] = []  # exes that are over in this cycle

    # Exes

    def begin(self, packet: Packet, now: int) -> None:
        """The first beat of an exe goes in cycle `now`."""
        row = self.row
        packet["number"] = self.state.begun
        self.state.latest = packet["address"]
        self.state.begun += 1
        if row.tracing:
            row.trace.begin(now * row.divider, packet["number"])

    def left(self, run: Run) -> None:
        """A cluster has done its part of an exe."""
        runs = (other for control in self.row.controls for other in control.runs)
        if all(other["number"] != run["number"] for other in runs):
            self.ended.append(run["number"])

    def end(self, now: int) -> None:
        """What was over before cycle `now` has ended: its records may go to memory now."""
        row, ended, self.ended = self.row, self.ended, []
        for number in ended:
            row.trace.end(now * row.divider, number)
        row.trace.forget(row.oldest_work(now))

    def mark(self, packet: Packet, begins: bool, cycle: int) -> None:
        """A marker was on the bus in `cycle`. Raises `Fault` (bad mask)."""
        row = self.row
        row.mark(begins, packet["buffer"], cycle * row.divider, (cycle + 1) * row.divider)

    # Macs

    def mac_begins(self, cluster: int) -> None:
        """A mac begins in a cluster."""
        self.state.macs_before[cluster] = self.state.macs[cluster].sum()

    def mac_ended(self, cluster: int, run: Run, op: Op) -> None:
        """A mac has ended."""
        trace, divider, number = self.row.trace, self.row.divider, run["number"]
        begin, until = op["start"], op["end"] + 1
        uses = int(self.state.macs[cluster].sum() - self.state.macs_before[cluster])
        self.state.macs_before[cluster] = 0
        if uses:
            trace.occurred("unit", begin * divider, until * divider, uses, number)
        trace.worked([begin], [until], number)

    def macs_ended(self, gang: Gang, places: list[int]) -> None:
        """The clusters at some places of a gang leave it, with all that they have multiplied."""
        trace, divider, number = self.row.trace, self.row.divider, gang.run["number"]
        if not gang.mac_times or not trace.records(number):
            return
        begin, until, uses = (times[:, places] for times in gang.uses)
        some = uses > 0
        if some.any():
            first, last = int(begin[some].min()), int(until[some].max())
            trace.occurred("unit", first * divider, last * divider, int(uses.sum()), number)
        trace.worked(begin.reshape(-1).tolist(), until.reshape(-1).tolist(), number)

    def oldest_mac(self, now: int) -> int:
        """The first cycle of the macs that are at work or may begin from `now` on."""
        for control in self.row.controls:
            if not self.state.computing[control.cluster]:
                continue
            for run in control.runs:
                for op in run["ops"]:
                    if op["unit"] == MAC and op["state"] == RUNNING:
                        now = min(now, op["start"])
        return now

    # Memory

    def storing(self, cluster: int) -> int:
        """The number of the exe whose results a cluster stores."""
        buffer = self.state.units[cluster][STORE]
        run = None if buffer == FREE else self.row.controls[cluster].run_of(buffer)
        return NOBODY if run is None else run["number"]

    def reload(self) -> None:
        """Go on from the declared state: beats may have been asked for."""
        packet, returning = self.state.packet, self.state.returning
        read, write = self.row.ports
        read.instruction = NOBODY if packet is None else packet["number"]
        write.instruction = NOBODY if returning == FREE else self.storing(returning)
        self.ended = []
