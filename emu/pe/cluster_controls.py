"""The control units of all clusters of a row, as the row and its bus use them.

These are the calls that the engines share. The fast engine extends them where clusters go in
lockstep, and falls back to the calls here, cycle by cycle, for everything else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.state import Packet, Segment
from macaw.emu.waits import NEVER


class ClusterControls:
    """The control units, `units`, by cluster."""

    def __init__(self, units: RowUnits) -> None:
        self.context = units.context
        self.state, self.shape = self.context.state, self.context.shape
        self.clusters = units.context.clusters
        self.units = [ControlUnit(cluster, units) for cluster in self.clusters]
        # The cluster whose control unit acts now; the number of clusters if all have acted.
        self.acting = self.shape.clusters

    # The row's calls

    def act(self, now: int) -> bool:
        """Let the control units that are due in cycle `now` act. Gives whether any did.

        Raises `Fault`.
        """
        acted = False
        for unit, due in zip(self.units, self.state.due, strict=True):
            if due <= now:
                number = unit.cluster.number
                self.state.due[number] = NEVER
                self.acting = number
                unit.step(now)
                acted = True
        self.acting = self.shape.clusters
        return acted

    def parse(self) -> bool:
        """A cycle of the parsers; whether one of them ended. Clusters with equal input share it."""
        parsers = self.state.parsers
        if not any(parsers):
            return False
        any_ended = False
        remaining = [cluster for cluster, parser in enumerate(parsers) if parser is not None]
        while remaining:
            first = parsers[remaining[0]]
            equal = [cluster for cluster in remaining if parsers[cluster] == first]
            remaining = [cluster for cluster in remaining if cluster not in equal]
            any_ended |= self.units[equal[0]].parser.parse(equal)
        return any_ended

    def oldest_mac(self, now: int) -> int:
        """The first cycle, up to `now`, of the macs that the trace does not contain yet."""
        return self.units[0].units.trace.oldest_mac(now)

    def next_event(self, now: int) -> int:
        """The first cycle after `now`, beside those in `due`, in which a cluster acts, or NEVER."""
        return NEVER

    # The bus's calls

    def accepts(self, packet: Packet) -> bool:
        """Whether the packet's buffer is free in all its clusters."""
        return all(self.units[cluster].has_free_buffer(packet) for cluster in packet["clusters"])

    def open(self, packet: Packet, address: int) -> None:
        """Reserve the buffer of an exe's packet in its clusters. Raises `Fault`."""
        units = [self.units[cluster] for cluster in packet["clusters"]]
        equal = units[0].lifecycle.equal_clusters(packet["clusters"], packet["buffer"])
        for unit, same in zip(units, equal, strict=True):
            before = units[0] if same and unit is not units[0] else None
            unit.open(packet, address, before)

    def may_still_write(self, order: int, segment: Segment) -> bool:
        """Whether a run of a packet before `order` has yet to store into bytes of a segment."""
        return any(cluster.may_still_write(order, segment) for cluster in self.clusters)

    def can_take(self, packet: Packet, segment: int) -> bool:
        """Whether all clusters can take a segment of the packet on the bus."""
        return all(self.units[cluster].can_take(packet, segment) for cluster in packet["clusters"])

    def begin_segment(self, packet: Packet) -> None:
        """The first bytes of a segment are on the bus."""
        for cluster in packet["clusters"]:
            self.units[cluster].begin_segment(packet)

    def first_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """The first beat of a segment was on the bus in `cycle`."""
        for cluster in packet["clusters"]:
            self.units[cluster].first_beat(packet, segment, cycle)

    def last_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """The last beat of a segment was on the bus in `cycle`; its contents are in place."""
        for cluster in packet["clusters"]:
            self.units[cluster].last_beat(packet, segment, cycle)

    def targets(self, packet: Packet, segment: int) -> NDArray[np.int32]:
        """Where the ld of each cluster puts a dense segment, (clusters, PEs)."""
        targets = []
        for cluster in packet["clusters"]:
            run, op = self.clusters[cluster].taker(packet, segment)
            targets.append(self.state.registers[cluster, run["buffer"], op["place"], 0])
        return np.array(targets)
