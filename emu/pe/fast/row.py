"""The fast engine of a row: the state of the reference in every cycle, without simulating each.

Macs are planned when they begin (`mac_plan`); a cycle in which only planned macs work is not
simulated. Their effects are written into the state when they end, or earlier if the state is read:
`sync` leaves exactly the state of the reference. Macs that may fault, saturate or meet a value that
is not finite run cycle by cycle in the reference's data path, together with all other macs of the
row, so that faults come in the same cycle with the same state.

Clusters that do the same form a lockstep group (`lockstep_group`). Their control units and PEs are
simulated again only when the bus needs it or when their runs are over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import NEVER
from macaw.emu.faults import Fault
from macaw.emu.pe.fast.balanced_plan import BalancedPlan, settle
from macaw.emu.pe.fast.feed_burst import Stream
from macaw.emu.pe.fast.lockstep_detect import gang_of
from macaw.emu.pe.fast.lockstep_group import Gang
from macaw.emu.pe.fast.lockstep_split import break_up
from macaw.emu.pe.fast.mac_plan import Plan, Unplannable
from macaw.emu.pe.fast.special_units import FastSpecial
from macaw.emu.pe.row import Row
from macaw.emu.pe.state import FREE, Packet, Segment

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.endpoints import Endpoint


class FastRow(Row):
    """Fast engine of a row."""

    def __init__(self, device: Device, row: int) -> None:
        super().__init__(device, row)
        self.special: FastSpecial = FastSpecial(self, self.datapath.adder)
        self._plans: dict[int, Plan] = {}  # by cluster
        self._open: list[BalancedPlan] = []  # of these, those that are not settled
        # Beats that the bus will bring with nobody else there.
        self._stream: Stream | None = None
        self._gang: Gang | None = None
        self.gangs = self.broken = 0  # how many there have been, and how many broke up
        self._loose: set[int] = set()  # clusters with a mac that cannot be planned
        self._acted = 0  # the last cycle in which the row had something to do
        self._computed = 0  # the first one after it that the PEs have not had

    # The contract

    @property
    def next_address(self) -> int | None:
        """The oldest run's first instruction that is not done, or the packet on the bus."""
        if self._gang is not None:
            self._catch_up()
        return super().next_address

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """A beat was on the bus, or on the return bus; see `Row`."""
        scheduled = self.time
        super().granted(port, data, time, ready)
        if scheduled <= self.time or self.listeners or port is not self._read_port:
            return
        stream = Stream.after(self, time // self.divider)
        if stream is not None:
            self._stream = stream
            self.device.memory.banks.exclusive[stream.half] = self._disturbed
            self.time = min(scheduled, stream.end * self.divider)

    def counters(self) -> dict[str, int]:
        """The table's counters."""
        self._catch_up()
        return super().counters()

    def sync(self) -> None:
        """Bring the declared state up to date."""
        self._catch_up()
        super().sync()

    def reload(self) -> None:
        """Go on from the declared state."""
        super().reload()
        self._plans, self._open, self._loose = {}, [], set()
        self._stream = self._gang = None
        self.special.reload()
        self._acted = self.state.reached - 1
        self._computed = self.special.begun = self.state.reached

    def oldest_work(self, now: int) -> int:
        """The first cycle of the macs of which the trace has not been told before cycle `now`."""
        oldest = super().oldest_work(now)
        return oldest if self._gang is None else min(oldest, self._gang.began)

    # A cycle

    def _cycle(self, now: int) -> None:
        self._end_stream(now)
        if self.special.waits:
            self.special.catch_up(now, ended=True)
        self._acted = self._computed = self.special.begun = now
        self.deciding = 0
        super()._cycle(now)

    def _control(self, now: int) -> None:
        if self._gang is not None:
            self._gang.leave(now)
            self._try_bus = True
            if not self._gang.left:
                self._gang = None
        elif min(self.state.due) <= now and not self.listeners and self.device.focus is not self:
            self._gang = gang_of(self, now)
            if self._gang is not None:
                self.gangs += 1
                self._try_bus = True
        if min(self.state.due) <= now:
            super()._control(now)
        self.deciding = self.shape.clusters

    def _multiply(self, now: int) -> None:
        super()._multiply(now)
        self._computed = now + 1

    def _compute(self, now: int) -> None:
        at_work: list[int] = self.state.computing.nonzero()[0].tolist()
        if not self._loose:
            new = [cluster for cluster in at_work if cluster not in self._plans]
            if new:
                self._plan(new, now)
        if self._loose:
            super()._compute(now)
            self._loose = {cluster for cluster in self._loose if self.state.computing[cluster]}
        else:
            self._end_macs(now)

    def _plan(self, clusters: list[int], now: int) -> None:
        balanced = [cluster for cluster in clusters if self.state.balancing[cluster]]
        plain = [cluster for cluster in clusters if cluster not in balanced]
        try:
            if plain:
                self._plans.update(dict.fromkeys(plain, Plan(self.datapath, plain, now)))
            if balanced:
                plan = BalancedPlan(self.datapath, balanced, now)
                self._plans.update(dict.fromkeys(balanced, plan))
                self._open.append(plan)
        except Unplannable:
            self._loose = set(clusters)
            self._write(list(self._plans), now)

    def _end_macs(self, now: int) -> None:
        if any(plan.first_end() <= now for plan in self._open):
            self._settle()
        ended = [cluster for cluster, plan in self._plans.items() if plan.ends[cluster] == now]
        ended.sort()
        self._write(ended, now + 1)
        for cluster in ended:
            self.controls[cluster].mac_ended(now)

    def _settle(self) -> None:
        """Find when balanced macs end, those of all rows with them."""
        rows = [core for core in self.device.order if isinstance(core, FastRow)]
        settle([plan for row in rows for plan in row._open])
        for row in rows:
            row._open.clear()

    def _write(self, clusters: list[int], now: int) -> None:
        """Bring planned macs to the start of cycle `now`; their plans are over."""
        plans: dict[Plan, list[int]] = {}
        for cluster in clusters:
            plans.setdefault(self._plans.pop(cluster), []).append(cluster)
        for plan, some in plans.items():
            plan.write(some, now)
        if self._open:
            self._open = [plan for plan in self._open if plan not in plans]

    # A gang and the bus

    def accepts(self, packet: Packet) -> bool:
        """Whether the packet's buffer is free in all its clusters."""
        if self._gang is not None and not self._gang.left.isdisjoint(packet["clusters"]):
            if self._gang.keeps_out(packet):
                return False
            self._break_up()
        return super().accepts(packet)

    def may_still_write(self, order: int, segment: Segment) -> bool:
        """Whether a run of a packet before `order` has yet to store into bytes of a segment."""
        if self._gang is not None:
            if order == self._gang.order:
                return False  # there are no others
            self._break_up()
        return super().may_still_write(order, segment)

    def ready(self, packet: Packet, number: int) -> bool:
        """Whether all clusters can take a segment of the packet on the bus."""
        if self._gang is not None and self._gang.takes(packet):
            return self._gang.opens(number) <= self._acted
        return super().ready(packet, number)

    def begin_segment(self, packet: Packet) -> None:
        """The first bytes of a segment are on the bus."""
        if self._gang is not None and self._gang.takes(packet):
            self._gang.hear(self._acted, False, "begin_segment", packet)
            return
        super().begin_segment(packet)

    def segment_first(self, packet: Packet, number: int, cycle: int) -> None:
        """The first beat of a segment was on the bus in `cycle`."""
        gang = self._gang
        if gang is None or not gang.takes(packet):
            super().segment_first(packet, number, cycle)
            return
        gang.hear(self._acted, True, "segment_first", packet, number, cycle)
        self._go_on(gang.segment_first, number, cycle)

    def segment_last(self, packet: Packet, number: int, cycle: int) -> None:
        """The last beat of a segment was on the bus in `cycle`; its contents are in place."""
        gang = self._gang
        if gang is None or not gang.takes(packet):
            super().segment_last(packet, number, cycle)
            return
        gang.hear(self._acted, True, "segment_last", packet, number, cycle)
        self._go_on(gang.segment_last, number, cycle)

    def _go_on(self, what: Callable[[int, int], None], number: int, cycle: int) -> None:
        try:
            what(number, cycle)
        except (Unplannable, Fault):
            self._break_up()

    def targets(self, packet: Packet, number: int) -> NDArray[np.int32]:
        """Where the ld of each cluster puts a dense segment, (clusters, PEs)."""
        if self._gang is not None and self._gang.takes(packet):
            shape = len(packet["clusters"]), self.shape.pes
            return np.full(shape, self._gang.target(number), np.int32)
        return super().targets(packet, number)

    def _break_up(self, now: int = NEVER) -> None:
        """End the gang: in the middle of the present cycle, or at the start of cycle `now`."""
        gang, self._gang = self._gang, None
        assert gang is not None  # who calls this has looked
        self.broken += 1
        clusters, computed = range(self.shape.clusters), min(now, self._computed)
        at = {cluster: self._acted + (cluster < self.deciding) for cluster in clusters}
        if now < NEVER:
            at, computed = dict.fromkeys(clusters, now), now
        for cluster, start in break_up(gang, at, computed):
            if not gang.balances:
                self._plans[cluster] = Plan(self.datapath, [cluster], start)
                continue
            plan = BalancedPlan(self.datapath, [cluster], start)
            self._plans[cluster] = plan
            self._open.append(plan)

    def _schedule(self, now: int) -> None:
        state, gang = self.state, self._gang
        idle = state.beat is None and state.returning == FREE
        if idle and gang is not None and gang.next_event(now) == NEVER:
            self._break_up()  # it waits for something that is not foreseen
        super()._schedule(now)

    # The present

    def _catch_up(self) -> None:
        """Bring everything to the present cycle: nothing is planned then."""
        nothing = self._stream is None and self._gang is None
        if nothing and not self._plans and not self.special.waits:
            return
        device, divider = self.device, self.divider
        now = -(-device.frontier(self) // divider)
        if self._stream is not None:
            last = now - 1
            if (
                last >= self._stream.first
                and last * divider == device.cycle
                and not device.arbitrated
            ):
                self._act_in(last)  # its beat waits for the grant
            else:
                self._end_stream(now)
                self.time = min(self.time, now * divider)
        # In the middle of a cycle, if that one faults or is looked at, some have had it, some not.
        between = now <= self._acted + 1
        if self._gang is not None:
            self._break_up(NEVER if between else now)
            due = min(self.state.due)
            if due < NEVER:
                self.time = min(self.time, max(due, now, self._acted + 1) * divider)
        if self._plans or self.special.waits:
            present = max(now, self._acted + 1)
            self.state.reached = max(self.state.reached, present)
            self.time = min(self.time, present * divider)
            self._write(list(self._plans), self._computed if between else now)
            self.special.catch_up(self.special.begun if between else now, ended=False)

    def _act_in(self, cycle: int) -> None:
        """Simulate a cycle that was to be left out."""
        self.time = cycle * self.divider
        self._cycle(cycle)

    def _disturbed(self, time: int) -> None:
        """Somebody asks for our half in device cycle `time`: beat by beat from now on."""
        cycle = -(-time // self.divider)
        self._end_stream(cycle)
        self.time = cycle * self.divider

    def _end_stream(self, now: int) -> None:
        """Bring the bus to the start of cycle `now`."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            banks = self.device.memory.banks
            banks.exclusive.pop(stream.half, None)
            beats = stream.write(self, now)
            if beats:
                last = stream.first + beats - 1
                self.state.reached = max(self.state.reached, last + 1)
                time = last * self.divider
                banks.count_exclusive(self._read_port, stream.half, time, reads=beats)

    def _computes(self) -> bool:
        """Whether the PEs have to be looked at in the next cycle."""
        state: Any = self.state
        return int(state.computing.sum()) > len(self._plans)

    def _next_end(self) -> int:
        ends = [plan.ends[cluster] for cluster, plan in self._plans.items()]
        if self._gang is not None:
            ends.append(self._gang.next_event(self._acted))
        return min(ends, default=NEVER)
