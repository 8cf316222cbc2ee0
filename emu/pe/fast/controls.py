"""The control units of a row in the fast engine, which simulates clusters in lockstep together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.fast.lockstep_detect import lockstep_group, needs_bus
from macaw.emu.pe.fast.lockstep_group import BusCall, LockstepGroup
from macaw.emu.pe.fast.lockstep_split import split, sums_call
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.macs import PlannedMacs
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import PSUMS, slices_of
from macaw.emu.pe.state import Packet, Segment
from macaw.emu.waits import NEVER


class LockstepControls(ClusterControls):
    """The control units of a row; those of the lockstep group `group` are simulated together.

    `group` is None if no clusters form a group. `next_packet` returns the packet on the bus if a
    group may take its segments in advance (`lockstep_iterations.repetition`).
    """

    # The row sets these three.
    macs: PlannedMacs
    next_packet: Callable[[], Packet | None]  # of `lockstep_iterations.repetition`
    coming_packet: Callable[[], Packet | None]  # of `Distribution`

    def __init__(self, units: RowUnits) -> None:
        super().__init__(units)
        self.trace = units.trace
        self.group: LockstepGroup | None = None
        # how many groups have formed, and how many of them have split
        self.groups = self.splits = 0
        self.acted = 0  # the last cycle that the row simulated

    # Methods for the row

    def act(self, now: int) -> bool:
        """Make the group and the control units act in cycle `now`.

        Return whether a control unit acted, or a group existed before or was formed in this cycle.
        Raises `Fault`.
        """
        acted = False
        core, due = self.context.core, self.state.due
        if self.group is not None:
            self.group.leave(now)
            acted = True
            if not self.group.members:
                self._forget_work(self.group)
                self.group = None
        elif min(due) <= now and not core.listeners and core.device.focus is not core:
            self.group = lockstep_group(self, self.trace, now, self.next_packet, self.coming_packet)
            if self.group is not None:
                self.groups += 1
                acted = True
        if min(due) <= now:
            acted |= super().act(now)
        self.acting = self.shape.clusters
        return acted

    def next_event(self, now: int) -> int:
        """Return the first cycle after `now` in which the group must be simulated, or NEVER."""
        return NEVER if self.group is None else self.group.next_event(now)

    def oldest_mac(self, now: int) -> int:
        """Return the first cycle of the earliest mac that is not yet reported to the trace.

        If there is none, the result is `now`.
        """
        oldest = super().oldest_mac(now)
        if self.group is None:
            return oldest
        self.group.exes_ended = now, oldest
        return min(oldest, self.group.began)

    def _forget_work(self, group: LockstepGroup) -> None:
        """Allow the trace to drop its data about the macs of `group`.

        The group no longer reports macs, and all of them have been reported.
        """
        if group.exes_ended is not None:
            now, oldest = group.exes_ended
            self.trace.forget(min(oldest, group.macs.oldest(now)))

    def split(self, now: int = NEVER) -> None:
        """Split the group at the start of cycle `now`.

        Without `now` the split is in the middle of the current cycle. The control units act one
        after the other. Those before the one that acts now have finished this cycle; this one and
        those after it are then at the start of this cycle.
        """
        group, self.group = self.group, None
        assert group is not None  # the caller has checked that there is a group
        self.splits += 1
        clusters = range(self.shape.clusters)
        if now < NEVER:
            at, computed = dict.fromkeys(clusters, now), now
        else:
            at = {cluster: self.acted + (cluster < self.acting) for cluster in clusters}
            computed = self.macs.computed
        for cluster, start in split(group, at, computed):
            self.macs.plans.add([cluster], group.balances, start)
        self._forget_work(group)

    # Methods for the bus

    def accepts(self, packet: Packet) -> bool:
        """Return whether all buffers that a packet needs are free in all clusters of the packet.

        If the packet is a config for clusters of the group, and their runs do not use the packet's
        buffer, this splits the group.
        """
        if self._meets_group(packet):
            assert self.group is not None  # the packet goes to its clusters
            if self.group.keeps_out(packet):
                return False
            if command_of(packet).parses:
                self.split()
        return super().accepts(packet)

    def _meets_group(self, packet: Packet) -> bool:
        """Return whether a packet is for clusters that belong to the group."""
        return self.group is not None and not self.group.members.isdisjoint(packet["clusters"])

    def open(self, packet: Packet, address: int) -> None:
        """Reserve the buffer of an exe packet in all clusters of the packet. Raises `Fault`.

        `address` is the address of the packet. A lockstep group continues if the new runs can do
        nothing but wait for the bus. Otherwise this method splits the group.
        """
        super().open(packet, address)
        if self._meets_group(packet):
            runs = (self.clusters[cluster].run_for(packet) for cluster in packet["clusters"])
            if not all(needs_bus(run) for run in runs):
                self.split()

    def activate(self, packet: Packet, cycle: int) -> None:
        """Allow the runs of an exe packet to start: its command byte was on the bus in `cycle`.

        For clusters of a group this only records the call, to repeat it when the group splits.
        """
        group = self.group
        if group is None or group.members.isdisjoint(packet["clusters"]):
            super().activate(packet, cycle)
            return
        group.activations.append((packet, cycle))
        for cluster in packet["clusters"]:
            if cluster not in group.members:
                self.units[cluster].activate(packet, cycle)

        def activate(unit: ControlUnit) -> None:
            if unit.cluster.number in packet["clusters"]:
                unit.activate(packet, cycle)

        self._record(group, activate)

    def may_still_write(self, order: int, segment: Segment, now: int) -> bool:
        """Return whether a run of an earlier packet may still write bytes of `segment`.

        `now` is the present cycle. A packet is earlier if its number is lower than `order`, the
        number of the segment's packet. If the group cannot decide, this method splits the
        group, and the clusters' control units decide.
        """
        if self.group is not None:
            if order == self.group.order:
                return False  # no other clusters have runs
            if not self.group.triggers:
                self.split()
        return super().may_still_write(order, segment, now)

    def can_take(self, packet: Packet, segment: int, now: int) -> bool:
        """Return whether all clusters of a packet can take segment `segment` in cycle `now`.

        The packet is on the bus. It may be for clusters of the lockstep group, although another
        packet started the group. Then the method returns False if the group's runs certainly still
        use the space that the segment needs. Otherwise it splits the group, and the control units
        decide. Raises `Fault` if the bus may never send the segment.
        """
        if self.group is not None:
            if self.group.takes(packet):
                return self.group.opens(segment) <= self.acted
            if self._meets_group(packet):
                if self.group.reserves(packet, segment):
                    return False
                self.split()
        return super().can_take(packet, segment, now)

    def _taker(self, packet: Packet) -> LockstepGroup | None:
        """Return the group if its runs take the segments of a packet; otherwise None.

        If the packet is for clusters of the group, but another run of theirs takes its segments,
        this also splits the group. That happens if the bus began the packet's segment before the
        group formed.
        """
        group = self.group
        if group is None or group.takes(packet):
            return group
        if self._meets_group(packet):
            self.split()
        return None

    def begin_segment(self, packet: Packet) -> None:
        """Occupy the loader in each cluster of a packet whose next segment begins on the bus.

        For a group this only records the call.
        """
        group = self._taker(packet)
        if group is None:
            super().begin_segment(packet)
            return
        call = BusCall(self.acted, False, lambda unit: unit.begin_segment(packet))
        group.bus_calls.append([call])

    def first_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Tell the clusters of a packet that the first beat of a segment was on the bus in
        `cycle`.
        """
        group = self._taker(packet)
        if group is None:
            super().first_beat(packet, segment, cycle)
            return
        self._record(group, lambda unit: unit.first_beat(packet, segment, cycle))
        self._extend(lambda: group.first_beat(segment, cycle))

    def last_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Tell the clusters of a packet that the last beat of a segment was on the bus in `cycle`.

        The contents of the segment are already in the PEs.
        """
        group = self._taker(packet)
        if group is None:
            super().last_beat(packet, segment, cycle)
            return
        self._record(group, lambda unit: unit.last_beat(packet, segment, cycle))
        self._extend(lambda: group.last_beat(segment, cycle))

    def fill_dense(self, packet: Packet, segment: int, data: bytes) -> None:
        """Write the `data` of a segment of activations or partial sums of a packet to the PEs.

        All bytes of the segment have arrived. Raises `Fault`. If a lockstep group takes partial
        sums, it adds them to its own accumulators. It also records this call, because the control
        units must repeat it if the group splits.
        """
        group = self._taker(packet)
        if group is None or packet["segments"][segment]["type"] != PSUMS:
            super().fill_dense(packet, segment, data)
            return
        values = self.loading.dense_values(packet, segment, data)
        parts = [slices_of(self.shape, cluster, packet, segment) for cluster in group.clusters]
        sums = values[np.array(parts)]
        call = sums_call(group, group.target(segment), sums)
        try:
            group.load(segment, sums)
        except Unplannable:
            self.split()
            super().fill_dense(packet, segment, data)
        else:
            self._record(group, call)

    def end_stream(self, now: int) -> None:
        """End the group's stream: compute the times of the steps that follow it.

        A stream is a list of segments that the group took into account before the bus sent them.
        All these segments are in the PEs now. If the group must split, it does so at the start of
        cycle `now` (`split`).
        """
        assert self.group is not None  # it cannot end before the stream
        self.group.stream = None
        self._extend(self.group.extend, now)

    def _record(self, group: LockstepGroup, call: Callable[[ControlUnit], None]) -> None:
        group.bus_calls.append([BusCall(self.acted, True, call)])

    def _extend(self, extend: Callable[[], None], now: int = NEVER) -> None:
        """Call `extend`, which computes the group's times from the data that the bus has delivered.

        This splits the group at the start of cycle `now` (`split`) if `extend` raises `Unplannable`
        or `Fault`.
        """
        try:
            extend()
        except (Unplannable, Fault):
            self.split(now)

    def targets(self, packet: Packet, segment: int) -> NDArray[np.int32]:
        """Return the element address at which each PE stores the first element of a dense segment.

        The shape is (clusters, PEs); the first axis counts the clusters of the packet.
        """
        if self.group is not None and self.group.takes(packet):
            shape = len(packet["clusters"]), self.shape.pes
            return np.full(shape, self.group.target(segment), np.int32)
        return super().targets(packet, segment)
