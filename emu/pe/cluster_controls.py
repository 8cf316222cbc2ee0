"""The control units of all clusters of a row, and the methods that the row and its bus call.

Both engines share these methods. The fast engine overrides them for clusters in lockstep. For all
other clusters it uses the methods here, cycle by cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.state import Packet, Segment
from macaw.emu.waits import NEVER


class ClusterControls:
    """The control units of a row: `units` has one for each cluster."""

    def __init__(self, units: RowUnits) -> None:
        self.context = units.context
        self.state, self.shape = self.context.state, self.context.shape
        self.clusters, self.loading = units.context.clusters, units.loading
        self.units = [ControlUnit(cluster, units) for cluster in self.clusters]
        # The cluster whose control unit acts now; the number of clusters if all have acted.
        self.acting = self.shape.clusters

    # Methods for the row

    def act(self, now: int) -> bool:
        """Make the control units that are due in cycle `now` act. Return whether there were any.

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
        """Simulate one cycle of the parsers. Return whether a parser finished its config.

        If the parsers of several clusters are in the same state, one of them parses for all these
        clusters.
        """
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
        """Return the first cycle of the earliest mac that is not yet reported to the trace.

        If there is none, the result is `now`.
        """
        return self.units[0].units.trace.oldest_mac(now)

    def next_event(self, now: int) -> int:
        """Return the next cycle after `now` in which a lockstep group acts; NEVER without a group.

        This class has no groups, so the result is NEVER. The cycles in which single control units
        act are in `state.due`.
        """
        return NEVER

    # Methods for the bus

    def accepts(self, packet: Packet) -> bool:
        """Return whether all buffers that a packet needs are free in all clusters of the packet."""
        return all(self.units[cluster].has_free_buffer(packet) for cluster in packet["clusters"])

    def open(self, packet: Packet, address: int) -> None:
        """Reserve the buffer of an exe packet in all clusters of the packet.

        `address` is the address of the packet. Raises `Fault`.
        """
        units = [self.units[cluster] for cluster in packet["clusters"]]
        equal = units[0].lifecycle.equal_clusters(packet["clusters"], packet["buffer"])
        for unit, same in zip(units, equal, strict=True):
            before = units[0] if same and unit is not units[0] else None
            unit.open(packet, address, before)

    def activate(self, packet: Packet, cycle: int) -> None:
        """Allow the runs of an exe packet to start: its command byte was on the bus in `cycle`."""
        for cluster in packet["clusters"]:
            self.units[cluster].activate(packet, cycle)

    def may_still_write(self, order: int, segment: Segment, now: int) -> bool:
        """Return whether a run of an earlier packet may still write bytes of `segment`.

        `now` is the present cycle. A packet is earlier if its number is lower than `order`, the
        number of the segment's packet.
        """
        return any(cluster.may_still_write(order, segment, now) for cluster in self.clusters)

    def can_take(self, packet: Packet, segment: int, now: int) -> bool:
        """Return whether all clusters of a packet can take segment `segment` in cycle `now`.

        The packet is on the bus. Raises `Fault` if the bus may never send the segment.
        """
        units = (self.units[cluster] for cluster in packet["clusters"])
        return all(unit.can_take(packet, segment, now) for unit in units)

    def begin_segment(self, packet: Packet) -> None:
        """Occupy the loader in each cluster of a packet whose next segment begins on the bus."""
        for cluster in packet["clusters"]:
            self.units[cluster].begin_segment(packet)

    def first_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Tell the clusters of a packet that the first beat of a segment was on the bus in
        `cycle`.
        """
        for cluster in packet["clusters"]:
            self.units[cluster].first_beat(packet, segment, cycle)

    def last_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Tell the clusters of a packet that the last beat of a segment was on the bus in `cycle`.

        The contents of the segment are already in the PEs.
        """
        for cluster in packet["clusters"]:
            self.units[cluster].last_beat(packet, segment, cycle)

    def fill_dense(self, packet: Packet, segment: int, data: bytes) -> None:
        """Write the `data` of a segment of activations or partial sums of a packet to the PEs.

        All bytes of the segment have arrived. Raises `Fault`.
        """
        self.loading.fill_dense(packet, segment, data, self.targets(packet, segment))

    def targets(self, packet: Packet, segment: int) -> NDArray[np.int32]:
        """Return the element address at which each PE stores the first element of a dense segment.

        The shape is (clusters, PEs); the first axis counts the clusters of the packet.
        """
        targets = []
        for cluster in packet["clusters"]:
            run, op = self.clusters[cluster].taker(packet, segment)
            targets.append(self.state.registers[cluster, run["buffer"], op["place"], 0])
        return np.array(targets)
